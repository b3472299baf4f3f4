package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Options are the settings of an [Engine] that are the same for all questions. The zero value is good.
type Options struct {
	MaxTokens int                   // tokens that an action may have, default 2000 (the paper's 700 cuts long queries off)
	PruneOver int                   // bytes of JSON from which on an entry page is pruned by the model; default 1500, -1 for always
	Services  func(iri string) bool // addresses that SERVICE may name besides Wikidata's own services; nil: none
	Diagnose  bool                  // try an empty query without each of its conditions, so that the model learns which one loses the rows: up to 6 more queries
}

// Engine answers questions. It holds no state of a question: any number may be asked at the same time.
type Engine struct {
	lg      *slog.Logger
	model   Model
	graph   Graph
	labeler Labeler
	now     func() time.Time
	opts    Options
	preset  preset
}

// New returns an engine with SPINACH's five actions and limits. labeler may be nil: then numbers in results stay without labels and unseen numbers unchecked.
// now is the clock for limits and time stamps.
func New(lg *slog.Logger, model Model, graph Graph, labeler Labeler, now func() time.Time, opts Options) *Engine {
	if opts.MaxTokens <= 0 {
		opts.MaxTokens = 2000
	}
	if opts.PruneOver == 0 {
		opts.PruneOver = 1500
	}
	return &Engine{lg: lg, model: model, graph: graph, labeler: labeler, now: now, opts: opts, preset: spinachPreset}
}

// run is one question on its way.
type run struct {
	*Engine
	q      Question
	log    *event.Branch
	graph  Graph   // records what passes
	labels Labeler // records what passes; nil when there is none
	dialect
	meter meter
	state state
	lang  language
	known map[string]bool // Q and P numbers seen in the question, its history or an observation
	down  int             // failures of the graph's service in a row

	refusals int  // refused actions of the whole run
	unseen   bool // the query that is published holds numbers that were not seen before
}

// Ask looks for the query that answers q. Every event goes to rec before the next one happens.
//
// Whatever ends the work in an orderly way is an Outcome: an answer, or a reason why there is none. The error is for what must stop the caller: ctx is done
// (cancelled by the caller, not the run's own time limit), or the trajectory could not be written. The Outcome that comes with an error holds what was reached
// and must not be published.
func (e *Engine) Ask(ctx context.Context, q Question, rec Recorder, limits Limits) (out *Outcome, err error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, errors.New("agent: the question is empty")
	}
	q.Text, q.History = render.Clip(q.Text, maxQuestion), q.History[max(0, len(q.History)-maxHistory):]
	r := &run{Engine: e, q: q, log: event.NewLog(rec, e.now, 0).Branch(0), known: map[string]bool{}, dialect: newDialect(e.opts.Services)}
	r.meter = meter{limits: limits.WithDefaults(), start: e.now()}
	r.graph = &recordingGraph{Graph: e.graph, r: r}
	if e.labeler != nil {
		r.labels = &recordingLabeler{labeler: e.labeler, r: r}
	}
	out = &Outcome{}
	defer func() {
		if p := recover(); p != nil {
			e.lg.Error("agent: panic", "question", q.ID, "panic", p, "stack", string(debug.Stack()))
			out.Answer, err = nil, fmt.Errorf("agent: internal fault while answering: %v", p)
		}
		err = errors.Join(err, r.end(ctx, out, err))
	}()
	if err := r.record(ctx, Event{Event: "start", Format: event.Format, Question: &q, Preset: e.preset.name, Limits: r.meter.limits.Fields()}); err != nil {
		return out, err
	}
	bounded, cancel := r.meter.deadline(ctx)
	defer cancel()
	err = r.answer(bounded, out)
	return out, r.settle(ctx, bounded, out, err)
}

// answer does the work: language, exploration, final query, report.
func (r *run) answer(ctx context.Context, out *Outcome) error {
	r.learn(r.q.Text)
	r.learn(say("act.tmpl", map[string]any{}))
	for _, t := range r.q.History {
		r.learn(t.Question + "\n" + t.SPARQL)
		for _, s := range t.Steps {
			r.learn(s.Observation)
		}
	}
	if err := r.findLanguage(ctx); err != nil {
		return err
	}
	r.state.root = r.log.At()
	end, err := r.explore(ctx)
	if err == nil && end.answer == nil && end.Reason == OutOfActions {
		end, err = r.extract(ctx, end)
	}
	if err != nil {
		return err
	}
	out.Answer, out.Ending = end.answer, end.Ending
	if end.answer != nil {
		out.Confidence = r.confidence(end)
		if err := r.record(ctx, Event{Event: "final", SPARQL: end.answer.SPARQL, Ran: end.answer.Ran, Table: end.answer.Table,
			Endpoint: end.answer.Endpoint}); err != nil {
			return err
		}
	}
	return r.report(ctx, out)
}

// settle turns what ended the run into the outcome, or into the caller's error. An answer that was already found survives a limit that passes after it.
func (r *run) settle(outer, bounded context.Context, out *Outcome, err error) error {
	var h *event.Halt
	switch {
	case err == nil:
		return nil
	case outer.Err() != nil:
		return outer.Err()
	case bounded.Err() != nil && errors.Is(context.Cause(bounded), event.ErrOutOfTime) && !event.IsWriteError(err):
		h = event.Halting(OutOfTime, event.ErrOutOfTime, "the limit of %s has passed", r.meter.limits.Time)
	case !errors.As(err, &h):
		return err
	}
	if out.Answer == nil {
		out.Ending = h.Ending
	}
	return nil
}

// end completes the outcome and writes the last event, on every way out.
func (r *run) end(ctx context.Context, out *Outcome, err error) error {
	out.Language, out.Steps = r.lang.code, r.state.stepsKept()
	out.Usage, out.Elapsed = r.meter.usage, r.now().Sub(r.meter.start)
	if err != nil {
		out.Ending = event.Stopped(err)
	}
	if event.IsWriteError(err) {
		return nil // it is in err already
	}
	return r.record(ctx, Event{Event: "end", Reason: string(out.Reason), Detail: out.Detail, Cause: event.CauseOf(out.Cause), Report: out.Report,
		Language: out.Language, Confidence: out.Confidence, Usage: &out.Usage})
}

// ending is how the exploration ended.
type ending struct {
	Ending
	answer    *Answer
	extracted bool // the query was written after the exploration
}

// explore is the loop of the paper (section 4.2): ask for an action, judge it, carry it out or refuse it, until the model stops or a limit is reached.
func (r *run) explore(ctx context.Context) (ending, error) {
	for {
		if h := r.meter.check(r.now(), acting, len(r.state.steps)); h != nil {
			return ending{Ending: h.Ending}, nil
		}
		t, err := r.act(ctx)
		if err != nil {
			return ending{}, err
		}
		if t == nil {
			continue // unreadable: the model has been told, or will be with the next call
		}
		r.meter.actions++
		key := t.action.name + " " + t.action.normalise(r.dialect)
		if ref := r.state.judge(t.action, key); ref != nil {
			if err := r.refuse(ctx, *t, ref); err != nil {
				return ending{}, err
			}
			continue
		}
		if t.action.name != actStop {
			if err := r.step(ctx, *t, key); err != nil {
				return ending{}, err
			}
			continue
		}
		end, done, err := r.stop(ctx, *t)
		if done || err != nil {
			return end, err
		}
	}
}

// act asks the model for the next action. A turn that cannot be read gives nil: it is handed back with the next call, with what is wrong.
func (r *run) act(ctx context.Context) (*turn, error) {
	text, finish, err := r.complete(ctx, acting, llm.Request{Purpose: "act", Part: strconv.Itoa(len(r.state.steps) + 1), Temperature: r.preset.temperature, TopP: r.preset.topP, MaxTokens: r.opts.MaxTokens},
		func(short bool) []llm.Message {
			s := &r.state
			if short {
				s = s.shortened()
			}
			return actMessages(r.preset, r.meter.limits, r.meter.actions, r.asked(), s)
		})
	if err != nil {
		return nil, err
	}
	t, err := parseTurn(text)
	if err == nil && finish == "length" && t.action.name == actExecute && !t.more { // half a query
		err = &unreadable{}
	}
	var bad *unreadable
	if errors.As(err, &bad) {
		if finish == "length" {
			bad.text = "bad_cut"
		}
		r.meter.formatErrors++
		r.state.badTurn, r.state.fleeting = text, say(bad.text, bad.data)
		if text == "" {
			r.state.badTurn = "(nothing)"
		}
		r.lg.Debug("agent: unreadable turn", "question", r.q.ID, "why", bad.text)
		return nil, nil
	}
	r.meter.formatErrors = 0
	return &t, err
}

// maxObservation is how many characters of an observation are kept.
const maxObservation = 16_000

// step carries out an action and adds it to the state.
func (r *run) step(ctx context.Context, t turn, key string) error {
	began := r.now()
	res, err := r.do(ctx, t.action)
	if err != nil {
		return err
	}
	if limited := render.Clip(res.text, maxObservation); limited != res.text {
		res.text = limited + "\n" + say("cut", maxObservation)
	}
	r.state.taken++
	elapsed := r.now().Sub(began)
	k := kept{key: key, result: res.found, transient: passing(res.failure), unseen: res.unseen, came: res.came(t.action), short: res.short,
		Step: Step{N: r.state.taken, Thought: t.thought, Action: t.action.name,
			Argument: t.action.argument, Observation: res.text, Failure: res.failure, Rows: res.rows, Elapsed: elapsed, MS: elapsed.Milliseconds()}}
	if t.more {
		k.notes = append(k.notes, say("only_first", nil))
	}
	r.learn(res.text)
	if err := r.record(ctx, Event{Event: "step", Step: &k.Step}); err != nil {
		return err
	}
	k.event = r.log.At()
	r.state.add(k)
	return r.watchService(res.failure)
}

// maxDown is how many failures of the graph's service in a row end a run.
const maxDown = 3

// watchService ends the run when the graph's service does not come back, or has banned us.
func (r *run) watchService(k kg.Kind) error {
	if !passing(k) {
		r.down = 0
		return nil
	}
	if r.down++; r.down >= maxDown || k == kg.Banned {
		return event.Halting(GraphFailed, kg.Errorf(k, "the graph did not answer"), "the graph did not answer (%s), %d times in a row", k, r.down)
	}
	return nil
}

// refuse tells the model why its action is not carried out, and returns to an earlier state when it was refused before in the turn before: see [state.refuse].
func (r *run) refuse(ctx context.Context, t turn, ref *refusal) error {
	r.refusals++
	gone := r.state.refuse(ref)
	ref.data["Action"], ref.data["Argument"] = t.action.name, t.action.argument
	r.state.badTurn, r.state.fleeting = "", say(ref.text, ref.data)
	if len(gone) > 0 {
		r.state.fleeting = ""
		from := len(r.state.steps) + 1
		r.log.Back(r.state.at())
		r.state.addNote(say("abandoned", map[string]any{"From": from, "To": from + len(gone) - 1, "Steps": summaries(gone)}))
	}
	to := r.state.lastNumber()
	refused := &Step{Thought: t.thought, Action: t.action.name, Argument: t.action.argument}
	return r.record(ctx, Event{Event: "rollback", To: &to, Reason: ref.kind, Step: refused})
}

// summary is an abandoned step as the note names it.
type summary struct{ Action, Argument, Came string }

func summaries(steps []kept) []summary {
	var out []summary
	for _, k := range steps {
		out = append(out, summary{Action: k.Action, Argument: k.Argument, Came: k.came})
	}
	return out
}

// learn notes the numbers that the model has been shown.
func (r *run) learn(text string) {
	for _, id := range render.IDs(text) {
		r.known[id] = true
	}
}

// How much of a question and its history is shown: a post can be as long as a page.
const (
	maxQuestion = 16_000 // characters
	maxHistory  = 6      // earlier turns, the latest
)

func (r *run) asked() asked {
	return asked{Question: r.q.Text, Language: r.lang.name, Earlier: r.q.History}
}
