package step

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// labelledRows is how many rows at the beginning of the answer get labels, for the preview in the reply.
const labelledRows = 25

// Answer is a query with its result. SPARQL is the posting form (ARCHITECTURE.md, invariant 4) with [AUTO_LANGUAGE]
// still in it; Ran is the text that was run, the same but for [AUTO_LANGUAGE]; Table its result, RanAt and Endpoint
// when and where.
type Answer struct {
	SPARQL   string
	Ran      string
	Table    *kg.Table
	RanAt    time.Time
	Endpoint string
	// labels of the Q and P IDs in the query and in the table's first rows, in the asker's language
	Labels map[string]string
}

// stop carries out an accepted stop. When the query turns out to be unfit for publishing, the stop is refused after
// all: the model is told why.
func (r *Runner) stop(ctx context.Context, b *event.Branch, s State, turn protocol.Turn,
	call protocol.Call) (Child, error) {
	stop := tool.ReadStop(call.Args)
	if stop.NoAnswer {
		return r.ended(ctx, b, s, turn, call, Final{Ending: event.Ending{Reason: event.NotFound, Detail: stop.Why}})
	}
	i := s.stoppedOn(stop)
	answer, err := r.publish(ctx, b, s, s.steps[i].Argument)
	s.at = b.At()
	if err == nil {
		s.unseen = s.steps[i].unseen
		return r.ended(ctx, b, s, turn, call, Final{Answer: answer})
	}
	var u *unfit
	if !errors.As(err, &u) {
		return Child{}, err
	}
	s.steps = slices.Clone(s.steps)
	s.steps[i].unfit = u.text
	ref := s.judgeStop(stop)
	if ref == nil || r.Check(s) != nil {
		return Child{State: s, Outcome: Ended, Final: &Final{Ending: event.Ending{Reason: event.CannotPublish,
			Detail: u.text, Cause: u.cause}}}, nil
	}
	return s.refusedChild(turn, call, ref), nil
}

// ended adds the stop to the steps and to the log.
func (r *Runner) ended(ctx context.Context, b *event.Branch, s State, turn protocol.Turn, call protocol.Call,
	f Final) (Child, error) {
	s.taken++
	k := kept{call: call, turn: s.turns, Step: event.Step{N: s.taken, Thought: turn.Thought, Action: call.Tool.Name,
		Argument: call.Shown}}
	if err := b.Record(ctx, event.Event{Event: "step", Step: &k.Step}); err != nil {
		return Child{}, err
	}
	k.event, s.at = b.At(), b.At()
	return Child{State: s.with(k), Outcome: Ended, Final: &f}, nil
}

// unfit says, in words for the model, why a query cannot be published: it has no posting form, or its last run failed
// or returned nothing.
type unfit struct {
	text  string
	kind  kg.Kind // of the failed run
	cause error   // of the failed check or run, nil for an empty result
}

func (u *unfit) Error() string { return u.text }

// publish makes the last run (ARCHITECTURE.md, invariant 4): the query loses an exploring LIMIT 10 at its end, gets
// its posting form, and that very text, with only [AUTO_LANGUAGE] replaced, is run. A query that cannot be published
// is an *unfit error; every other error ends the run. Where only the removal of LIMIT 10 makes the result too large
// or too slow, the query is published with it.
func (r *Runner) publish(ctx context.Context, b *event.Branch, s State, query string) (*Answer, error) {
	env := r.env(b, s)
	short, cut := r.Dialect.TrimLimit(query)
	if !cut || asksForTen(r.Question.Text, query) {
		return r.publishOne(ctx, env, query)
	}
	answer, err := r.publishOne(ctx, env, short)
	var u *unfit
	if errors.As(err, &u) && (u.kind == kg.Timeout || u.kind == kg.TooLarge || u.kind == kg.TooGreedy) {
		return r.publishOne(ctx, env, query)
	}
	return answer, err
}

// asksForTen reports whether LIMIT 10 is the question's own: it sorts, and the question says ten. Then it is not an
// exploring limit.
func asksForTen(question, query string) bool {
	if !strings.Contains(strings.ToUpper(query), "ORDER") {
		return false
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(question),
		func(c rune) bool { return !(unicode.IsLetter(c) || unicode.IsDigit(c)) }) {
		if slices.Contains([]string{"10", "ten", "zehn", "dix", "diez", "dieci", "dez", "tien", "tio", "ti",
			"dziesięć", "десять"}, w) {
			return true
		}
	}
	return false
}

// finalTries is how often the last run is made when the graph's service fails it.
const finalTries = 2

func (r *Runner) publishOne(ctx context.Context, env *tool.Env, query string) (*Answer, error) {
	if err := r.Dialect.Check(query); err != nil {
		return nil, &unfit{text: say("unfit_form", err.Error()), kind: kg.KindOf(err), cause: err}
	}
	ids := r.Dialect.Identifiers(query)
	labels := env.LabelsOf(ctx, ids)
	posting, err := r.Dialect.PostingForm(query, func(id string) string { return labels[id] })
	if err != nil {
		return nil, &unfit{text: say("unfit_form", err.Error()), cause: err}
	}
	ran := r.Dialect.InLanguage(posting, r.Language.Code)
	table, at, err := r.lastRun(ctx, env, ran)
	if err != nil {
		return nil, err
	}
	all := env.LabelsOf(ctx, unionIDs(ids, tableIDs(table, labelledRows)))
	return &Answer{SPARQL: posting, Ran: ran, Table: table, RanAt: at, Endpoint: table.Source, Labels: all}, nil
}

// lastRun runs the text that is published, again when the graph's service fails, and says when.
func (r *Runner) lastRun(ctx context.Context, env *tool.Env, text string) (*kg.Table, time.Time, error) {
	for try := 1; ; try++ {
		at := r.Now()
		table, err := env.Graph.Query(ctx, text)
		kind := kg.KindOf(err)
		switch {
		case err == nil && table.Empty():
			return nil, at, &unfit{text: say("unfit_empty", nil)}
		case err == nil:
			return table, at, nil
		case ctx.Err() != nil:
			return nil, at, ctx.Err()
		case event.IsWriteError(err):
			return nil, at, err
		case tool.Passing(kind) && try < finalTries:
			continue
		case tool.Passing(kind):
			return nil, at, event.NewHalt(event.GraphFailed, err, "the final query could not be run: %v", err)
		case kind == kg.Timeout || kind == kg.TooLarge || kind == kg.TooGreedy:
			return nil, at, &unfit{text: say("unfit_greedy", nil), kind: kind, cause: err}
		}
		return nil, at, &unfit{text: say("unfit_run", render.Clip(err.Error(), 500)), kind: kind, cause: err}
	}
}

// tableIDs returns the Q and P IDs in the first n rows.
func tableIDs(t *kg.Table, n int) []string {
	var out []string
	for _, row := range t.Rows[:min(n, len(t.Rows))] {
		for _, c := range row {
			if id := rdf.EntityID(c.Value); c.IsIRI() && id != "" && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

func unionIDs(a, b []string) []string {
	out := slices.Clone(a)
	for _, id := range b {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// Extract asks the model, once the actions are used up, for the query that the steps of s support (SPINACH's "extract
// final SPARQL"), and publishes it when it runs, returns something and uses only IDs that were
// seen. Otherwise f is returned, with the reason added.
func (r *Runner) Extract(ctx context.Context, s State, f Final) (State, Final, bool, error) {
	b := r.Events.Branch(s.at)
	text, ok, err := r.Help(ctx, b, tool.Task{Purpose: "extract", MaxTokens: r.Preset.Sampling.MaxTokens,
		Data: map[string]any{"Steps": s.Steps()}})
	s.at = b.At()
	query := render.Unquote(text)
	if err != nil || !ok || query == "" || strings.EqualFold(strings.Trim(query, ". "), "none") {
		return s, f, false, err
	}
	if unseen := r.env(b, s).Unseen(query); len(unseen) > 0 {
		f.Ending.Detail += "; the extracted query contains IDs that were never seen: " + strings.Join(unseen, ", ")
		return s, f, false, nil
	}
	answer, err := r.publish(ctx, b, s, query)
	s.at = b.At()
	var u *unfit
	if errors.As(err, &u) {
		f.Ending.Detail += "; the extracted query cannot be published: " + u.text
		return s, f, false, nil
	}
	return s, Final{Answer: answer}, answer != nil, err
}
