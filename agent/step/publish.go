package step

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// labelledRows is the number of rows at the start of the answer that get labels, for the preview in the reply.
const labelledRows = 30

// Answer is a query with its result. SPARQL is the posting form (ARCHITECTURE.md, invariant 4) with [AUTO_LANGUAGE]
// still in it. Ran is the query that was run, which is the same except for [AUTO_LANGUAGE]. Table is its result; RanAt
// and Endpoint are the time and the endpoint of the run.
type Answer struct {
	SPARQL   string
	Ran      string
	KG       string // name of the graph
	Table    *kg.Table
	RanAt    time.Time
	Endpoint string
	// labels of the Q and P IDs in the query and in the table's first rows, in the asker's language
	Labels map[string]string
	Graph  *kg.Description // how nodes are named; nil for a Wikibase
	// the columns that answer the question, according to the model; the others are for display. If nil, the model did not
	// name any, and all columns are used
	Columns []string
	Headers map[string]string // table headers of some of the columns, in the asker's language; may be nil
	Assumed string            // the interpretation that the model chose, in the asker's language; may be empty
	Open    string            // what the model left open, also in the asker's language
}

// Names returns how the answer's nodes are named.
func (a *Answer) Names() render.Names { return render.Names{Graph: a.Graph, Labels: a.Labels} }

// unfit explains to the model why a query cannot be published: it cannot be written in a form that can be posted, or
// its final run failed or returned nothing.
type unfit struct {
	text    string
	kind    kg.Kind // kind of error if the final run failed
	cause   error   // error of the failed check or run; nil for an empty result
	attempt *Answer // the rejected answer, with an empty table, or without a table if the run failed
}

func (u *unfit) Error() string { return u.text }

// publish performs the final run (ARCHITECTURE.md, invariant 4) on the graph named kg, or on the main graph if kg is
// "". If the preset's rules require it, publish removes a LIMIT 10 at the end of the query, which was meant for
// exploring. It converts the query to its posting form and runs exactly that text, with only [AUTO_LANGUAGE] replaced.
// If the query cannot be published, the error is an *unfit; all other errors end the run. If the query becomes too
// large or too slow only because LIMIT 10 was removed, it is published with the limit.
func (r *Runner) publish(ctx context.Context, b *event.Branch, s State, query, kg string) (*Answer, error) {
	env := r.env(b, s)
	source, err := env.Sources.Named(kg)
	if err != nil {
		return nil, &unfit{text: r.say("unfit_graph", err.Error()), cause: err, attempt: &Answer{SPARQL: query, KG: kg}}
	}
	env = env.On(source)
	short, cut := env.Dialect.TrimLimit(query)
	if !cut || !r.Preset.Rules.TrimLimit || asksForTen(r.Question.Text, query) {
		return r.publishAny(ctx, env, query)
	}
	answer, err := r.publishAny(ctx, env, short)
	var u *unfit
	if errors.As(err, &u) && greedy(u.kind) {
		return r.publishAny(ctx, env, query)
	}
	return answer, err
}

// publishAny publishes a query or, if the preset's rules allow it, an alternative form that runs: a faster form if the
// query takes too long, or, if the query was sent to a second service, the form in that service's dialect. The
// published text is the text that was run.
func (r *Runner) publishAny(ctx context.Context, env *tool.Env, query string) (*Answer, error) {
	a, err := r.publishOne(ctx, env, query)
	var u *unfit
	if !r.Preset.Rules.Rescue || err != nil && (!errors.As(err, &u) || u.kind != kg.Timeout) {
		return a, err
	}
	if err != nil {
		if a, err = r.publishFaster(ctx, env, query); a == nil && err == nil {
			u.text = r.say("unfit_slow", env.Dialect.Slow(query))
			return nil, u
		}
	}
	if err != nil || a.Table.Asked == "" {
		return a, err
	}
	ported, err := r.publishOne(ctx, env, a.Table.Asked)
	if errors.As(err, &u) { // the query ran a moment ago: keep the answer, in the form for the first service
		return a, nil
	}
	return ported, err
}

// publishFaster tries a slow query's faster forms in order and publishes the first that returns a result, or returns
// nil if none does in the time left.
func (r *Runner) publishFaster(ctx context.Context, env *tool.Env, query string) (*Answer, error) {
	for _, f := range env.Dialect.Faster(query) {
		if !env.TimeFor(tool.FasterTime) {
			break
		}
		a, err := r.publishOne(ctx, env, f.Text)
		var u *unfit
		if err == nil || !errors.As(err, &u) {
			return a, err
		}
	}
	return nil, nil
}

// greedy reports whether a query failed because it was too expensive for the graph.
func greedy(k kg.Kind) bool { return k == kg.Timeout || k == kg.TooLarge || k == kg.TooGreedy }

// asksForTen reports whether LIMIT 10 comes from the question, because the query sorts its rows and the question asks
// for ten. If so, the limit was not just for exploring.
func asksForTen(question, query string) bool {
	return strings.Contains(strings.ToUpper(query), "ORDER") && saysTen(question)
}

// saysTen reports whether a question names the number ten.
func saysTen(question string) bool {
	for _, w := range strings.FieldsFunc(strings.ToLower(question),
		func(c rune) bool { return !(unicode.IsLetter(c) || unicode.IsDigit(c)) }) {
		if slices.Contains([]string{"10", "ten", "zehn", "dix", "diez", "dieci", "dez", "tien", "tio", "ti",
			"dziesięć", "десять"}, w) {
			return true
		}
	}
	return false
}

// finalTries is the number of attempts at the final run if the graph's service fails.
const finalTries = 2

func (r *Runner) publishOne(ctx context.Context, env *tool.Env, query string) (*Answer, error) {
	d, name := env.Dialect, env.Source.Name()
	a := &Answer{SPARQL: query, Ran: query, KG: name, Graph: env.Dialect.Graph}
	if err := d.Check(query); err != nil {
		return nil, &unfit{text: r.say("unfit_form", err.Error()), kind: kg.KindOf(err), cause: err, attempt: a}
	}
	ids := d.Identifiers(query)
	labels := env.LabelsOf(ctx, ids)
	label := func(id string) string { return labels[id] }
	viewed, column := d.WithView(query)
	posting, err := d.PostingForm(viewed, label)
	if err != nil {
		return nil, &unfit{text: r.say("unfit_form", err.Error()), cause: err, attempt: a}
	}
	a.SPARQL, a.Ran = posting, d.InLanguage(posting, r.Language.Code)
	a.Table, a.RanAt, err = r.lastRun(ctx, env, a.Ran)
	if a.Table != nil { // even if it is empty
		a.Endpoint = a.Table.Source
	}
	if column != "" && mostlyEmpty(a.Table, column) { // a view would hide most rows
		if plain, err := d.PostingForm(query, label); err == nil {
			a.SPARQL, a.Ran = plain, d.InLanguage(plain, r.Language.Code)
		}
	}
	var u *unfit
	if errors.As(err, &u) {
		u.attempt = a
	}
	if err != nil {
		return nil, err
	}
	a.Labels = env.LabelsOf(ctx, unionIDs(ids, tableIDs(env, a.Table, labelledRows)))
	return a, nil
}

// mostlyEmpty reports whether most rows of a result have no value in a column.
func mostlyEmpty(t *kg.Table, column string) bool {
	if t == nil {
		return false
	}
	at, empty := slices.Index(t.Vars, column), 0
	for _, row := range t.Rows {
		if at < 0 || at >= len(row) || !row[at].Bound() {
			empty++
		}
	}
	return 2*empty > len(t.Rows)
}

// lastRun runs the text to be published, retrying if the graph's service fails. It returns the result and the time at
// which the query was run.
func (r *Runner) lastRun(ctx context.Context, env *tool.Env, text string) (*kg.Table, time.Time, error) {
	for try := 1; ; try++ {
		at := r.Now()
		table, err := env.Graph.Query(ctx, text)
		if err == nil && !table.At.IsZero() { // branches of a search share results
			at = table.At
		}
		kind := kg.KindOf(err)
		switch {
		case err == nil && table.Empty():
			return table, at, &unfit{text: r.say("unfit_empty", nil)}
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
		case greedy(kind):
			return nil, at, &unfit{text: r.say("unfit_greedy", nil), kind: kind, cause: err}
		}
		return nil, at, &unfit{text: r.say("unfit_run", render.Clip(err.Error(), 500)), kind: kind, cause: err}
	}
}

// tableIDs returns the IDs in the first n rows.
func tableIDs(env *tool.Env, t *kg.Table, n int) []string {
	var out []string
	for _, row := range t.Rows[:min(n, len(t.Rows))] {
		for _, c := range row {
			if id := env.Dialect.ID(c); id != "" && !slices.Contains(out, id) {
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

// Extract asks the model, after the actions are used up, for the query that the steps in s support (SPINACH's "extract
// final SPARQL"). It publishes the query if it runs, returns a result and contains only IDs that were seen. Otherwise,
// it returns f with the reason added.
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
		f.Ending.Detail += "; the extracted query contains IDs that the model has not been shown: " +
			strings.Join(unseen, ", ")
		return s, f, false, nil
	}
	answer, err := r.publish(ctx, b, s, query, "")
	s.at = b.At()
	var u *unfit
	if errors.As(err, &u) {
		f.Ending.Detail += "; the extracted query cannot be published: " + u.text
		return s, f, false, nil
	}
	return s, Final{Answer: answer}, answer != nil, err
}
