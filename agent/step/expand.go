// Package step performs one step of an exploration: given a state, it asks the model, runs the action, and returns the
// resulting states. It does not loop, and it does not decide what happens if there are several children; that is up to
// a policy.
//
//	expand.go   Runner.Expand: one step, and its halves Propose and Carry
//	choose.go   results of samples, for policies that choose among several
//	branch.go   parallel work on states, for tree searches
//	open.go     the first turn of runs that start by judging a post
//	judge.go    scoring states with a judge
//	state.go    states, which are values
//	rule.go     which actions are rejected: repetitions and stops without a result
//	try.go      independent attempts: how they start, end and differ
//	compare.go  choosing among answers with different results
//	features.go indications of how likely an answer is to be right
//	publish.go  the final run of the query to publish
//	call.go     calls to the model
//	facts.go    what a call is about, as data
//	limits.go   all limits, checked in one place
package step

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Model completes chat requests. internal/llm implements it; its errors are llm.ErrNoModel, *llm.BudgetError,
// llm.ErrContextLength, llm.ErrNoTools, *llm.Error and ctx's error. Tests use llm's scripted model as a fake.
type Model interface {
	Complete(ctx context.Context, req llm.Request) (*llm.Response, error)
}

// Runner expands the states of one question. Its fields do not change once the first turn has begun, so it is safe for
// concurrent use.
type Runner struct {
	Log       *slog.Logger
	Model     Model
	Sources   tool.Sources // the graphs, the main one first
	Now       func() time.Time
	Preset    *preset.Preset
	Dialect   tool.Dialect
	Question  event.Question
	Language  tool.Language
	Events    *event.Log
	Meter     *Meter
	Exemplars string          // worked dialogues in the prompt
	Notebook  tool.Notebook   // for a preset that takes notes; nil for others
	NoTools   *atomic.Bool    // set if the model's server turns out not to support tool calls; may be nil
	NoStrict  *atomic.Bool    // set if the model's server turns out not to support strict schemas; may be nil
	Live      func(llm.Delta) // if not nil, receives the model's text while it is being written
	Runs      int             // number of independent attempts, for policies that make several; the policy decides if 0
	Variants  []Variant       // how successive attempts differ; if nil, see [Runner.Try]
	// reports whether an answer is known to be right, which ends a tree search; nil if the correct answer is not known
	Right func(ctx context.Context, a *Answer) bool
}

// speak returns the preset's protocol, or the protocol for servers that do not support tool calls.
func (r *Runner) speak() protocol.Protocol {
	if r.NoTools != nil && r.NoTools.Load() {
		return r.Preset.SpeakWithoutTools()
	}
	p := r.Preset.Speak()
	if n, ok := p.(protocol.Native); ok && n.Strict && r.NoStrict != nil && r.NoStrict.Load() {
		n.Strict = false
		return n
	}
	return p
}

// lacks examines a failed call that used the protocol p. If the model's server does not support a feature, lacks
// records this and reports whether the call may succeed without the feature.
func (r *Runner) lacks(p protocol.Protocol, err error) bool {
	n, native := p.(protocol.Native)
	switch {
	case native && n.Strict && r.NoStrict != nil && errors.Is(err, llm.ErrNoStrict):
		r.NoStrict.Store(true)
		r.Log.Info("agent: the model's server does not support strict schemas, continuing without them", "question", r.Question.ID)
		return true
	case native && r.NoTools != nil && errors.Is(err, llm.ErrNoTools):
		r.NoTools.Store(true)
		r.Log.Info("agent: the model's server does not support tool calls, continuing with text", "question", r.Question.ID)
		return true
	}
	return false
}

//go:embed texts.tmpl
var textFiles embed.FS

var texts = render.MustTexts(textFiles, "texts.tmpl")

func say(name string, data any) string { return texts.Say(name, data) }

// say renders the text with this name for the model: the preset's text, if it has one, or the default text.
func (r *Runner) say(name string, data any) string { return r.Preset.Own(name, data, say) }

// Start returns the state of an exploration that starts at the event with ID at. The IDs in the question, in the
// earlier turns and in the rules are treated as seen.
func (r *Runner) Start(at int) State {
	s := State{at: at, root: at, messages: 2}
	s = r.seeing(s, strings.Join(r.Question.Entities, "\n"), nil)
	s = r.seeing(s, r.Question.Text+"\n"+strings.Join(r.Preset.Rules.Known, " ")+"\n"+r.Exemplars+"\n"+r.Preset.Say("act.tmpl", map[string]any{}), nil)
	if r.Preset.Judges() {
		for _, p := range r.Question.Opening.Posts {
			s = r.seeing(s, p.Whole(), nil)
		}
	}
	for _, t := range r.Question.History {
		s = r.seeing(s, t.Question+"\n"+t.SPARQL, nil)
		for _, x := range t.Steps {
			s = r.seeing(s, x.Observation, nil)
		}
	}
	return s
}

// Outcome describes what happened to a turn that the model wrote.
type Outcome int

// The outcomes.
const (
	Carried    Outcome = iota // the action was run: the state has one more step
	Unreadable                // the turn could not be read; in the new state, the model is told so
	Refused                   // the action was rejected; see [Runner.Refuse]
	Ended                     // the run ends here
)

// Child is a state that was created from a previous state.
type Child struct {
	State   State
	Outcome Outcome
	Refusal *Refusal // for a rejected action
	Final   *Final   // for an end
	// result of the last query executed on the way to the child, or nil
	Table *kg.Table
}

// Final is how an exploration ended: with an answer, or without one.
type Final struct {
	Votes    Votes           // for a search with several attempts
	Rivals   []Option        // if the attempts differ: the distinct answers, ordered by number of attempts
	Settled  bool            // whether [Runner.Settle] has processed this Final
	Features *event.Features // if nil, [Runner.Features] determines them

	Answer  *Answer
	Attempt *Answer // if there is no answer: the query that came closest; its table may be empty or nil
	Guessed bool    // the model did not end with the answer; the search used the best query it found
	Text    string  // the model's text for the asker, if its tool allows one
	Ending  event.Ending
}

// Expand asks the model for n samples (at least one) of the next action in s and runs each of them. It does not modify
// s. An error ends the run: it is an *event.Halt, ctx's error, or a failure to write the log.
func (r *Runner) Expand(ctx context.Context, s State, n int) ([]Child, error) {
	proposals, err := r.Propose(ctx, s, n)
	if err != nil {
		return nil, err
	}
	var out []Child
	for _, p := range proposals {
		c, err := r.Carry(ctx, p)
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}

// Proposal is what the model wants to do next, before it is run. A reviewer may change its Turn, and a policy may
// choose among several proposals.
type Proposal struct {
	Turn    protocol.Turn
	Problem *protocol.Problem // why the turn cannot be read, or nil

	state  State // the state when the model was called
	choice llm.Choice
}

// Propose is the first half of [Runner.Expand]: it asks for n samples but does not run them. Errors are as for
// Expand.
func (r *Runner) Propose(ctx context.Context, s State, n int) ([]Proposal, error) {
	b, p := r.Events.Branch(s.at), r.Preset
	req := llm.Request{Purpose: "act", Part: strconv.Itoa(len(s.steps) - s.given() + 1),
		Temperature: p.Sampling.Temperature,
		TopP:        p.Sampling.TopP, MaxTokens: p.Sampling.MaxTokens, Stop: p.Sampling.Stop, Seed: p.Sampling.Seed,
		Facts: r.Facts(s)}
	if n > 1 {
		req.N = n
	}
	req.Live = r.Live
	resp, speaker, err := r.propose(ctx, b, req, s)
	for r.lacks(speaker, err) {
		resp, speaker, err = r.propose(ctx, b, req, s)
	}
	if err != nil {
		return nil, err
	}
	choices := resp.Choices
	if len(choices) == 0 {
		choices = []llm.Choice{{}}
	}
	s.at = b.At()
	var out []Proposal
	for _, ch := range choices {
		if len(ch.Content) > maxTurn {
			ch.Content, ch.FinishReason = strings.ToValidUTF8(ch.Content[:maxTurn], ""), "length"
		}
		turn, problem := speaker.Read(ch, p.Toolset())
		out = append(out, Proposal{Turn: turn, Problem: problem, state: s, choice: ch})
	}
	return out, nil
}

// maxTurn is the maximum number of bytes read from one of the model's messages. It is more than enough for the longest
// query and the thoughts about it.
const maxTurn = 200_000

// propose calls the model, using a protocol that the server supports.
func (r *Runner) propose(ctx context.Context, b *event.Branch, req llm.Request, s State) (*llm.Response,
	protocol.Protocol, error) {
	p := r.speak()
	show := r.Preset.Show
	show.Graphs = len(r.Sources)
	p.Prepare(&req, r.Preset.Toolset(), show)
	resp, err := r.complete(ctx, b, req, func(short bool) []llm.Message {
		if short {
			return p.Messages(r.conversation(s.shortened()))
		}
		return p.Messages(r.conversation(s))
	})
	return resp, p, err
}

// Carry is the second half of [Runner.Expand]: it runs a proposal. If a turn has several calls, calls after a rejected
// call, after an end or beyond a limit are skipped. Errors are as for Expand.
func (r *Runner) Carry(ctx context.Context, p Proposal) (Child, error) {
	s, b := p.state, r.Events.Branch(p.state.at)
	if p.Problem != nil {
		return r.unreadable(ctx, b, s, p)
	}
	if c, same := r.sameReply(s, p.Turn); same {
		return c, nil
	}
	if s.stuck++; s.reply != replyOf(p.Turn) {
		s.stuck = 0
	}
	s.formatErrors, s.reply, s.warned = 0, replyOf(p.Turn), false
	s.turns++
	s.messages += 1 + len(p.Turn.Calls)
	var c Child
	for i, call := range p.Turn.Calls {
		if i > 0 && r.Check(s) != nil {
			break
		}
		var err error
		table := c.Table
		if c, err = r.carry(ctx, b, s, p.Turn, call); err != nil {
			return c, err
		}
		if c.Table == nil {
			c.Table = table
		}
		if c.Outcome != Carried {
			return c, nil
		}
		s = c.State
	}
	c.State = r.counted(c.State)
	return c, nil
}

// counted adds a note to an append-only conversation when few steps are left.
func (r *Runner) counted(s State) State {
	most, _ := left(r.Meter.limits, len(s.steps), s.actions)
	if hint := r.hurry(most - len(s.steps)); r.Preset.Rules.Append && len(hint) > 0 && len(s.steps) > 0 {
		var last *kept
		s, last = s.changed(len(s.steps) - 1)
		last.notes = append(slices.Clip(last.notes), hint...)
	}
	return s
}

// carry judges a call and either runs or rejects it.
func (r *Runner) carry(ctx context.Context, b *event.Branch, s State, turn protocol.Turn,
	call protocol.Call) (Child, error) {
	s.actions++
	if call.Problem != nil {
		return r.handBack(ctx, b, s, turn, call)
	}
	if call.Tool.Ends() {
		return r.end(ctx, b, s, turn, call)
	}
	key := call.Tool.KeyOf(call.Args)
	if ref := s.judge(r.Preset.Rules, key); ref != nil {
		return r.refuseRepeat(ctx, b, s, turn, call, ref)
	}
	s.again = 0
	next, res, err := r.perform(ctx, b, s, r.env(b, s), turn, call)
	if err != nil {
		return Child{}, err
	}
	if announced := tool.Returns(call.Tool, call.Args); announced != nil {
		next.returns = announced
	}
	if call.Tool.Final && next.steps[len(next.steps)-1].result {
		return r.finish(ctx, b, next, turn)
	}
	c := next.served(call, res)
	c.Table = res.Table
	return c, nil
}

// perform runs a call's tool and adds the step to the state and to the log.
func (r *Runner) perform(ctx context.Context, b *event.Branch, s State, env *tool.Env, turn protocol.Turn,
	call protocol.Call) (State, tool.Result, error) {
	key := call.Tool.KeyOf(call.Args)
	began := r.Now()
	res, unseen, held, err := r.guarded(ctx, env, s, call)
	if err != nil {
		return s, res, err
	}
	most := maxObservation
	if n := r.Preset.Show.Chars; n > 0 {
		most = min(most, n)
	}
	if limited := render.Clip(res.Text, most); limited != res.Text {
		res.Text = limited + "\n" + r.say("cut", most)
	}
	s.taken++
	elapsed := r.Now().Sub(began)
	k := kept{call: call, turn: s.turns, reasoning: turn.Reasoning, key: key, result: res.Found, query: res.Query,
		transient: tool.Passing(res.Failure) || held, pause: res.RetryAfter, unseen: unseen,
		fruitless: res.Empty || call.Tool.Query && !res.Found,
		brief:     res.Summary(call.Tool), short: res.Short, advice: res.Advice,
		Step: event.Step{N: s.taken, Thought: turn.Thought, Action: call.Tool.Name, Argument: call.Shown,
			Observation: res.Text, KG: res.KG, Failure: res.Failure,
			Rows: res.Rows, Elapsed: elapsed, MS: elapsed.Milliseconds()}}
	if k.query == "" && call.Tool.Query {
		k.query = call.Shown
	}
	if r.Preset.Rules.Shape || r.Preset.Toolset().Find(tool.RowsName) != nil {
		k.table = firstRows(res.Table)
	}
	if turn.More {
		k.notes = append(k.notes, r.say("only_first", nil))
	}
	if err := b.Record(ctx, event.Event{Event: "step", Step: &k.Step}); err != nil {
		return s, res, err
	}
	k.event, s.at = b.At(), b.At()
	s = r.seeing(s, res.Text, res.Shown)
	return s.with(k), res, nil
}

// maxTable is the maximum number of rows in a result that are kept for later steps.
const maxTable = 5000

// firstRows returns a table cut to its first maxTable rows.
func firstRows(t *kg.Table) *kg.Table {
	if t == nil || len(t.Rows) <= maxTable {
		return t
	}
	cut := *t
	cut.Rows = slices.Clone(t.Rows[:maxTable])
	return &cut
}

// maxObservation is the maximum number of characters kept in an observation.
const maxObservation = 16_000

// env returns the environment of a tool called in s.
func (r *Runner) env(b *event.Branch, s State) *tool.Env {
	sources := r.Sources.Recorded(b)
	env := &tool.Env{
		Log: r.Log, Sources: sources, Question: r.Question, Language: r.Language,
		Dialect: r.Dialect, Show: r.Preset.Show, Generate: r.Preset.Generate, Notebook: r.Notebook,
		Diagnose: r.Preset.Diagnose, Rescue: r.Preset.Rules.Rescue, TimeFor: r.Meter.timeFor,
		Seen: s.known.has,
		Advised: func(a tool.Advice) bool {
			for _, k := range s.steps {
				if k.advice == a {
					return true
				}
			}
			return false
		},
		Table: func(n int) *kg.Table {
			if n < 1 || n > len(s.steps) {
				return nil
			}
			return s.steps[n-1].table
		},
		Help: func(ctx context.Context, t tool.Task) (string, bool, error) { return r.Help(ctx, b, t) },
	}
	return env.On(sources.Main())
}

// conversation returns what the model is shown in s: the question, with the earlier turns, and every step. Messages
// about rejected, unreadable or abandoned turns keep their original positions.
func (r *Runner) conversation(s State) protocol.Conversation {
	l := r.limits(s)
	most, spare := left(l, len(s.steps), s.actions)
	var counter []string
	if r.Preset.Rules.Count {
		counter = append(r.hurry(most-len(s.steps)), r.say("counter", map[string]any{"Next": len(s.steps) + 1,
			"Most": most, "Spare": spare}))
	}
	notes := func(after int) []string {
		var out []string
		for _, n := range s.notes {
			if n.after == after {
				out = append(out, n.text)
			}
		}
		if after != len(s.steps) || s.bad != nil {
			return out
		}
		if s.hint != "" {
			out = append(out, s.hint)
		}
		return append(out, counter...)
	}
	c := protocol.Conversation{System: r.Preset.System(preset.Situation{Counted: l.Counted, Given: s.given(),
		Graphs: r.Sources.Descriptions(), Notes: r.Sources.Notes(), Exemplars: r.Exemplars}), Notes: notes(0), Bad: s.bad,
		Question: r.asked()}
	if s.bad != nil {
		c.BadNotes = append([]string{s.hint}, counter[max(0, len(counter)-1):]...)
	}
	asides := func(after int) {
		for _, a := range s.asides {
			if a.after == after {
				c.Steps = append(c.Steps, protocol.Exchange{Bad: &a.bad, Notes: []string{a.note}})
			}
		}
	}
	asides(0)
	for i, k := range s.steps {
		observation := k.Observation
		if r.Preset.Rules.Number {
			observation = r.say("numbered", map[string]any{"N": i + 1, "Text": k.Observation})
		}
		c.Steps = append(c.Steps, protocol.Exchange{Turn: k.turn, Thought: k.Thought, Reasoning: k.reasoning,
			ID: k.call.ID, Action: k.Action, Argument: k.Argument,
			Args: k.call.Args, Observation: observation, Given: k.given, Notes: append(append([]string(nil), k.notes...),
				notes(i+1)...)})
		asides(i + 1)
	}
	return c
}

// asked returns the question as shown to the model: with the earlier turns, or with the thread whose last post was
// judged.
func (r *Runner) asked() string {
	if r.Preset.Judges() {
		return r.Preset.Say("thread_user", r.Question.Opening)
	}
	return r.Preset.Say("question_user", map[string]any{"Question": r.Question.Text, "Entities": r.Question.Entities,
		"Language": r.Language.Name, "Earlier": r.Question.History})
}

// hurry returns what the model is told if few steps are left.
func (r *Runner) hurry(left int) []string {
	switch left {
	case 1:
		return []string{r.say("last_left", nil)}
	case 2, 3:
		return []string{r.say("few_left", left)}
	}
	return nil
}
