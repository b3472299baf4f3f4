package step

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Limits on running an answer's query a second time, with labels.
const (
	labelledTime = 20 * time.Second // time that the run must have left
	maxLabelled  = 5000             // maximum number of rows
)

// WithLabels returns an answer whose query also selects the labels of its items, for a reader who opens the query on
// Wikidata's query page. It returns the answer unchanged if the preset does not ask for labels, the question is not
// from a wiki page, labels cannot be added to the query, or the rows would change.
func (r *Runner) WithLabels(ctx context.Context, s State, a *Answer) *Answer {
	if !r.Preset.Rules.Labels || r.Question.Thread == nil || a.Table == nil || a.Table.Ask ||
		len(a.Table.Rows) > maxLabelled || !r.Meter.timeFor(labelledTime) {
		return a
	}
	env := r.env(r.Events.Branch(s.at), s)
	source, err := env.Sources.Named(a.KG)
	if err != nil {
		return a
	}
	env = env.On(source)
	columns := append(entityColumns(a.Table), itemColumns(ctx, env, a)...)
	text := env.Dialect.WithLabels(a.SPARQL, columns, env.Language.Code)
	if text == a.SPARQL {
		return a
	}
	labelled, err := r.publishOne(ctx, env, text)
	var u *unfit
	if errors.As(err, &u) && len(a.Table.Rows) == 0 && u.attempt.Table != nil { // as empty as before
		labelled, err = u.attempt, nil
	}
	if err != nil || !slices.Equal(sortedRows(a.Table, a.Table.Vars), sortedRows(labelled.Table, a.Table.Vars)) {
		return a
	}
	labelled.Columns, labelled.Headers, labelled.Assumed, labelled.Open = a.Columns, a.Headers, a.Assumed, a.Open
	return labelled
}

// entityColumns returns the columns that contain items or properties.
func entityColumns(t *kg.Table) []string {
	var out []string
	for i, name := range t.Vars {
		if slices.ContainsFunc(t.Rows, func(row []rdf.Term) bool {
			return i < len(row) && row[i].IsIRI() && rdf.EntityID(row[i].Value) != ""
		}) {
			out = append(out, name)
		}
	}
	return out
}

// itemColumns returns the empty columns whose values would be items: columns whose values would have statements, and
// columns for the values of a property whose datatype is item. Another graph, or the same one on another day, may have
// such values. If the graph fails, the columns for the values of a property are omitted.
func itemColumns(ctx context.Context, env *tool.Env, a *Answer) (out []string) {
	subjects, properties := env.Dialect.Subjects(a.SPARQL), env.Dialect.Properties(a.SPARQL)
	empty := map[string][]string{} // columns by property
	for i, name := range a.Table.Vars {
		valued := slices.ContainsFunc(a.Table.Rows, func(row []rdf.Term) bool { return i < len(row) && row[i].Bound() })
		switch p := properties[name]; {
		case valued:
		case slices.Contains(subjects, name):
			out = append(out, name)
		case p != "":
			empty[p] = append(empty[p], name)
		}
	}
	if len(empty) == 0 {
		return out
	}
	t, err := env.Graph.Query(ctx, "SELECT ?p WHERE { VALUES ?p { wd:"+strings.Join(slices.Sorted(maps.Keys(empty)), " wd:")+
		" } ?p wikibase:propertyType wikibase:WikibaseItem }")
	if err != nil {
		return out
	}
	for _, row := range t.Rows {
		if len(row) > 0 {
			out = append(out, empty[rdf.EntityID(row[0].Value)]...)
		}
	}
	return out
}

// sortedRows returns the given columns of a table as text, sorted.
func sortedRows(t *kg.Table, columns []string) []string {
	var at []int
	for _, c := range columns {
		at = append(at, slices.Index(t.Vars, c))
	}
	var out []string
	for _, row := range t.Rows {
		var b strings.Builder
		for _, i := range at {
			if i >= 0 && i < len(row) {
				b.WriteString(row[i].String())
			}
			b.WriteByte('\x00')
		}
		out = append(out, b.String())
	}
	slices.Sort(out)
	return out
}
