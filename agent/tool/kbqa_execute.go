package tool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool/kbqa"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// maxResult is the maximum number of characters of a result to show, as in the paper's tools.
const maxResult = 2000

// runNamed implements ExecuteSPARQL(sparql). It shows the result, with names for nodes, as a list of values or, if
// there are several columns, as a list of tuples. A list of values is sorted and contains each value once, unless the
// query orders the values.
func (env *Env) runNamed(ctx context.Context, query string) (Result, error) {
	n := env.naming()
	query = n.Completed(query)
	if n.Dialect == kbqa.Freebase {
		query = kbqa.MissingDates(query)
	}
	t, err := env.ask(ctx, query)
	if err != nil {
		res, err := env.kbqaFailed(ctx, err)
		res.Query = cmp.Or(res.Query, query)
		return res, err
	}
	res := Result{Query: query, Table: t, Rows: len(t.Rows), Found: !t.Empty(), Empty: t.Empty()}
	switch {
	case t.Ask && t.Boolean:
		res.Text = "True"
	case t.Ask:
		res.Text = "False"
	case t.Empty():
		why, err := env.diagnose(ctx, query)
		if err != nil {
			return Result{}, err
		}
		res.Text = strings.TrimSpace("[] " + why)
	default:
		if res.Text, err = env.listed(ctx, n, query, t); err != nil {
			return env.kbqaFailed(ctx, err)
		}
	}
	res.Short = render.Clip(res.Text, 200)
	if len(t.Rows) > 1 {
		res.Short = ""
	}
	return res, nil
}

// listed formats the rows of a result as a list.
func (env *Env) listed(ctx context.Context, n kbqa.Naming, query string, t *kg.Table) (string, error) {
	names, err := env.cellNames(ctx, n, query, t)
	if err != nil {
		return "", err
	}
	var items []string
	for _, row := range t.Rows {
		var cells []string
		for i := range t.Vars {
			var c rdf.Term
			if i < len(row) {
				c = row[i]
			}
			text := "None"
			if c.Bound() {
				text = kbqa.Python(n.Cell(c, names[c]), 300)
			}
			cells = append(cells, text)
		}
		if len(cells) == 1 {
			items = append(items, cells[0])
			continue
		}
		items = append(items, "("+strings.Join(cells, ", ")+")")
	}
	q, err := sparql.Parse(query)
	if len(t.Vars) == 1 && (err != nil || q.Body.OrderBy == nil) {
		slices.Sort(items)
		items = slices.Compact(items)
	}
	text, cut := kbqa.Cut(kbqa.List(items), maxResult)
	if cut {
		text += "\n" + say("kbqa_rows", len(t.Rows))
	}
	return text, nil
}

// cellNames returns the names of the nodes in a result that are shown. Nodes without IRIs cannot be looked up directly,
// so the query is run again with the details of their columns.
func (env *Env) cellNames(ctx context.Context, n kbqa.Naming, query string, t *kg.Table) (map[rdf.Term]kbqa.Value,
	error) {
	var nodes []rdf.Term
	var blank []string // columns with nodes that have no IRI
	for _, row := range t.Rows[:min(len(t.Rows), maxNamed)] {
		for i, c := range row {
			switch {
			case c.IsIRI():
				nodes = append(nodes, c)
			case c.Kind == rdf.BlankKind && n.Dialect == kbqa.KQAPro && i < len(t.Vars) && !slices.Contains(blank, t.Vars[i]):
				blank = append(blank, t.Vars[i])
			}
		}
	}
	names, err := env.nodeNames(ctx, n, nodes)
	if err != nil {
		return nil, err
	}
	q, err := sparql.Parse(query)
	if err != nil || q.Form != sparql.Select {
		return names, nil
	}
	prologue, body := kbqa.Selects(q)
	for _, column := range blank {
		patterns, vars := n.Details(column)
		more, err := env.Graph.Query(ctx, fmt.Sprintf("%s\nSELECT DISTINCT ?%s%s WHERE {\n  { %s }\n%s}", prologue, column,
			vars, body, patterns))
		if err != nil {
			return nil, err
		}
		n.Collect(more, column, names)
	}
	return names, nil
}
