package tool

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// graspExecuteArgs are the arguments of the execute tool.
type graspExecuteArgs struct {
	KG     *string `json:"kg" about:"graph"`
	SPARQL string  `json:"sparql"`
	Page   *int    `json:"page" about:"page of rows, from 1; without it you see both ends"`
}

// graspAsked returns the query and the graph in a call to execute.
func graspAsked(args json.RawMessage) (query, graph string) {
	a, err := argumentsOf[graspExecuteArgs](args)
	if err != nil {
		return "", ""
	}
	return strings.TrimSpace(render.CloseFence(render.OpenFence(a.SPARQL))), strings.TrimSpace(deref(a.KG))
}

// graspExecute is GRASP's execute(kg, sparql), with pages of rows.
var graspExecute = keyed(&Tool{Name: "execute", Text: "grasp_execute.md", Input: "sparql", Query: true,
	Asks: graspAsked},
	func(a graspExecuteArgs) string {
		return strings.TrimSpace(deref(a.KG)) + " " + strconv.Itoa(deref(a.Page)) + " " +
			Dialect{}.NormalForm(a.SPARQL)
	}, runGraspExecute)

func runGraspExecute(ctx context.Context, env *Env, a graspExecuteArgs) (Result, error) {
	env, err := env.onGraph(a.KG)
	if err != nil {
		return wrong(err)
	}
	page := deref(a.Page)
	if _, err := pageOf(a.Page); err != nil {
		return wrong(err)
	}
	query := strings.TrimSpace(render.CloseFence(render.OpenFence(a.SPARQL)))
	res, err := env.graspRun(ctx, query, page)
	if err != nil {
		return res, err
	}
	res.Query, res.KG = query, env.graphName()
	return res, nil
}

// graspRun runs a query and formats its result as a table.
func (env *Env) graspRun(ctx context.Context, query string, page int) (Result, error) {
	return env.evaluateAs(ctx, query, view{
		empty: func(t *kg.Table, why string) string {
			return say("grasp_empty", map[string]any{"Columns": len(t.Vars), "Why": why})
		},
		rows: func(t *kg.Table) Result { return env.graspRows(ctx, t, page) },
	})
}

// graspRows shows the rows of a result, or of one page of the result.
func (env *Env) graspRows(ctx context.Context, t *kg.Table, page int) Result {
	frame := render.Frame{Rows: env.Show.Rows, Columns: env.Show.columns(), Page: page}
	if rows, _ := frame.Places(t); len(rows) == 0 && !t.Ask {
		return Result{Text: say("grasp_no_page", map[string]any{"Page": page, "Rows": len(t.Rows),
			"Size": frame.Rows.Whole})}
	}
	terms := frame.Terms(t)
	names := env.named(ctx, terms)
	names.Cell = env.Show.Cell
	short := render.Short(t, render.Names{Graph: names.Graph, Labels: shortLabels(names, t)})
	return Result{Text: names.Grid(t, frame), Short: short, Shown: shownIRIs(terms)}
}

// shortLabels returns the labels in n if the result has exactly one row.
func shortLabels(n render.Names, t *kg.Table) map[string]string {
	if len(t.Rows) != 1 {
		return nil
	}
	return n.Labels
}

// columns returns a window that determines which columns are shown.
func (s Show) columns() render.Window {
	n := s.Columns
	if n <= 0 {
		n = math.MaxInt
	}
	return render.Window{Whole: n, Head: n - n/2, Tail: n / 2}
}
