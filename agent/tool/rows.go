package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// RowsName is the action that shows more rows of an earlier result.
const RowsName = "rows"

// Limits on the rows per call.
const (
	usualRows = 25
	maxRows   = 100
)

type rowsArgs struct {
	Step  int  `json:"step" about:"number of the step whose query had the result"`
	From  *int `json:"from" about:"first row, from 1; 1 when left out"`
	Count *int `json:"count" about:"number of rows, at most 100; 25 when left out"`
}

var rowsTool = typed(&Tool{Name: RowsName, Text: "rows.md", FromText: arguments("step", "from", "count")}, rows)

// rows implements rows(step, from, count). It shows rows of a stored result.
func rows(ctx context.Context, env *Env, a rowsArgs) (Result, error) {
	from, count := 1, usualRows
	if a.From != nil {
		from = *a.From
	}
	if a.Count != nil {
		count = *a.Count
	}
	if from < 1 || count < 1 {
		return wrong(errors.New("from and count are at least 1"))
	}
	count = min(count, maxRows)
	if env.Table == nil {
		return wrong(errors.New("earlier results are not kept here; run the query again with OFFSET and LIMIT"))
	}
	t := env.Table(a.Step)
	switch {
	case t == nil:
		return wrong(fmt.Errorf("step %d has no result that is kept; name the step of a query that returned rows", a.Step))
	case t.Ask:
		return wrong(fmt.Errorf("the result of step %d is a truth value", a.Step))
	case from > len(t.Rows):
		return wrong(fmt.Errorf("the result of step %d has %d rows", a.Step, len(t.Rows)))
	}
	last := min(from-1+count, len(t.Rows))
	part := &kg.Table{Vars: t.Vars, Rows: t.Rows[from-1 : last]}
	w := render.Window{Whole: maxRows, Head: 1}
	text := w.Table(part, env.namesIn(ctx, part, w))
	return Result{Text: say("rows_of", map[string]any{"Step": a.Step, "From": from, "To": last, "Total": len(t.Rows)}) +
		"\n" + text}, nil
}
