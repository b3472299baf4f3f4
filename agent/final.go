package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// labelledRows is how many rows at the head of the answer get labels, for the preview in the reply.
const labelledRows = 25

// stop carries out an accepted stop. done is false when the last query turned out to be unfit for publishing: then the model has been told and goes on.
func (r *run) stop(ctx context.Context, t turn) (end ending, done bool, err error) {
	if t.action.noAnswer {
		end = ending{Ending: Ending{Reason: NotFound, Detail: strings.TrimSpace(strings.TrimPrefix(t.action.argument, sayingNoAnswer))}}
		return end, true, r.recordStop(ctx, t)
	}
	i := r.state.stoppedOn(t.action)
	answer, err := r.publish(ctx, r.state.steps[i].Argument)
	if err == nil {
		r.unseen = r.state.steps[i].unseen
		return ending{answer: answer}, true, r.recordStop(ctx, t)
	}
	var u *unfit
	if !errors.As(err, &u) {
		return ending{}, false, err
	}
	r.state.steps[i].unfit = u.text
	ref := r.state.judge(t.action, "")
	if ref == nil || r.meter.check(r.now(), acting, len(r.state.steps)) != nil {
		return ending{Ending: Ending{Reason: CannotPublish, Detail: u.text, Cause: u.cause}}, true, nil
	}
	return ending{}, false, r.refuse(ctx, t, ref)
}

// recordStop adds the stop to the steps and to the trajectory.
func (r *run) recordStop(ctx context.Context, t turn) error {
	r.state.taken++
	k := kept{Step: Step{N: r.state.taken, Thought: t.thought, Action: actStop, Argument: t.action.argument}}
	r.state.add(k)
	return r.record(ctx, Event{Event: "step", Step: &k.Step})
}

// unfit says, in words for the model, why a query cannot be published: it has no posting form, or its last run failed or gave nothing.
type unfit struct {
	text  string
	kind  kg.Kind // of the failed run
	cause error   // of the failed check or run, nil for an empty result
}

func (u *unfit) Error() string { return u.text }

// publish makes the last run (ARCHITECTURE.md, invariant 4): the query loses an exploring LIMIT 10 at its end, gets its posting form, and that very text, with only
// [AUTO_LANGUAGE] replaced, is run. A query that cannot be published is an *unfit error; every other error ends the run.
// Where only the removal of LIMIT 10 makes the result too large or too slow, the query is published with it.
func (r *run) publish(ctx context.Context, query string) (*Answer, error) {
	short, cut := r.dialect.trimLimit(query)
	if !cut || asksForTen(r.q.Text, query) {
		return r.publishOne(ctx, query)
	}
	answer, err := r.publishOne(ctx, short)
	var u *unfit
	if errors.As(err, &u) && (u.kind == kg.Timeout || u.kind == kg.TooLarge || u.kind == kg.TooGreedy) {
		return r.publishOne(ctx, query)
	}
	return answer, err
}

// asksForTen reports whether LIMIT 10 is the question's own: it sorts, and the question says ten. Then it is no exploring limit.
func asksForTen(question, query string) bool {
	if !strings.Contains(strings.ToUpper(query), "ORDER") {
		return false
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(question), func(c rune) bool { return !(unicode.IsLetter(c) || unicode.IsDigit(c)) }) {
		if slices.Contains([]string{"10", "ten", "zehn", "dix", "diez", "dieci", "dez", "tien", "tio", "ti", "dziesięć", "десять"}, w) {
			return true
		}
	}
	return false
}

// finalTries is how often the last run is made when the graph's service fails it.
const finalTries = 2

func (r *run) publishOne(ctx context.Context, query string) (*Answer, error) {
	if err := r.dialect.check(query); err != nil {
		return nil, &unfit{text: say("unfit_form", err.Error()), kind: kg.KindOf(err), cause: err}
	}
	ids := r.dialect.identifiers(query)
	labels := r.labelsOf(ctx, ids)
	posting, err := r.dialect.postingForm(query, func(id string) string { return labels[id] })
	if err != nil {
		return nil, &unfit{text: say("unfit_form", err.Error()), cause: err}
	}
	ran := r.dialect.inLanguage(posting, r.lang.code)
	table, at, err := r.lastRun(ctx, ran)
	if err != nil {
		return nil, err
	}
	all := r.labelsOf(ctx, unionIDs(ids, tableIDs(table, labelledRows)))
	return &Answer{SPARQL: posting, Ran: ran, Table: table, RanAt: at, Endpoint: table.Source, Labels: all}, nil
}

// lastRun runs the text that is published, again when the graph's service fails, and says when.
func (r *run) lastRun(ctx context.Context, text string) (*kg.Table, time.Time, error) {
	for try := 1; ; try++ {
		at := r.now()
		table, err := r.graph.Query(ctx, text)
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
		case passing(kind) && try < finalTries:
			continue
		case passing(kind):
			return nil, at, event.Halting(GraphFailed, err, "the final query could not be run: %v", err)
		case kind == kg.Timeout || kind == kg.TooLarge || kind == kg.TooGreedy:
			return nil, at, &unfit{text: say("unfit_greedy", nil), kind: kind, cause: err}
		}
		return nil, at, &unfit{text: say("unfit_run", render.Clip(err.Error(), 500)), kind: kind, cause: err}
	}
}

// tableIDs returns the Q and P numbers in the first n rows.
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

// extract asks the model, once the actions are used up, for the query that the steps support (SPINACH's "extract final SPARQL", systems.md A.1.1, S21), and
// publishes it when it runs, returns something and uses only numbers that were seen. Otherwise the run ends as it was.
func (r *run) extract(ctx context.Context, end ending) (ending, error) {
	user := llm.Message{Role: llm.User, Content: say("extract_user", map[string]any{"Question": r.q.Text, "Language": r.lang.name, "Earlier": r.questionsBefore(),
		"Steps": r.state.stepsKept()})}
	text, ok, err := r.help(ctx, "extract", "", r.opts.MaxTokens, system("extract", nil), user)
	var h *event.Halt
	if errors.As(err, &h) && h.Reason == NoModel { // a scripted model without that section
		return end, nil
	}
	query := unquote(text)
	if err != nil || !ok || query == "" || strings.EqualFold(strings.Trim(query, ". "), "none") {
		return end, err
	}
	if unseen := r.unseenIn(query); len(unseen) > 0 {
		end.Detail += "; the extracted query holds numbers that were never seen: " + strings.Join(unseen, ", ")
		return end, nil
	}
	answer, err := r.publish(ctx, query)
	var u *unfit
	if errors.As(err, &u) {
		end.Detail += "; the extracted query cannot be published: " + u.text
		return end, nil
	}
	return ending{answer: answer, extracted: true}, err
}

// reportNotes are the searcher's thoughts and what came of the actions, a line each, for whoever writes the report: the result alone does not show what was
// assumed, nor what is missing in it.
func (s *state) reportNotes() []string {
	var out []string
	for i, k := range s.steps {
		out = append(out, say("note_step", map[string]any{"N": i + 1, "Thought": k.Thought, "Action": k.Action, "Argument": k.Argument, "Came": k.came, "Short": k.short}))
	}
	return out
}

// maxReport is how many characters a report may have; one to three sentences are asked for.
const maxReport = 2000

// report asks the model for the short answer in the asker's language. Without one the reply has its fixed sentences only: a failure here loses nothing.
func (r *run) report(ctx context.Context, out *Outcome) error {
	if out.Answer == nil && (out.Reason == NoModel || out.Reason.Budget() || out.Reason == OutOfTime || out.Reason.Transient()) {
		return nil
	}
	data := map[string]any{"Question": r.q.Text, "Language": r.lang.name, "Earlier": r.questionsBefore(), "Why": render.Clip(render.Fold(out.Detail), 300), "Steps": r.state.stepsKept()}
	if a := out.Answer; a != nil {
		data["SPARQL"], data["Result"] = a.SPARQL, r.preset.rows.Table(a.Table, a.Labels)
		data["Notes"] = r.state.reportNotes()
	}
	text, ok, err := r.help(ctx, "report", "", 1500, system("report", map[string]any{"Language": r.lang.name}),
		llm.Message{Role: llm.User, Content: say("report_user", data)})
	var h *event.Halt
	if errors.As(err, &h) {
		return nil // the answer stands without it
	}
	if ok {
		out.Report = render.Clip(strings.TrimSpace(render.Clean(text)), maxReport)
	}
	return err
}
