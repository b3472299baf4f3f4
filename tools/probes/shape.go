package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// shape checks the columns of an answer as the agent does, and scores the results of following the feedback.
func (b *bench) shape(ctx context.Context, question, query string, want, got *kg.Table, right bool) error {
	if got.Ask || want.Ask {
		return nil
	}
	announced := tool.WithoutLabels(want.Vars, want.Vars)
	f1, err := b.score(ctx, want, got, score.MetricFair)
	if err != nil {
		return err
	}
	for _, f := range step.ShapeFaults(question, got, nil, announced) {
		s := b.shapes[right][f.Kind]
		if s == nil {
			s = &sum{}
			b.shapes[right][f.Kind] = s
		}
		s.moved++
		for _, t := range b.reshaped(ctx, query, got, f, len(announced)) {
			then, err := b.score(ctx, want, t, score.MetricFair)
			if err != nil {
				return err
			}
			if then > f1 {
				s.better++
				break
			}
		}
		if b.verbose {
			fmt.Fprintf(b.out, "%v %.2f, %s: %s\n  %v\n", right, f1, f.Kind, question, got.Vars)
		}
	}
	return nil
}

// reshaped returns the results that a model may reach by following the feedback on its columns.
func (b *bench) reshaped(ctx context.Context, query string, got *kg.Table, f step.ShapeFault, n int) []*kg.Table {
	var out []*kg.Table
	switch f.Kind {
	case step.ShapeMore: // as many columns as were announced, in order
		for _, list := range choices(f.Columns, n) {
			out = append(out, (&step.Answer{Table: got, Columns: list}).Answers())
		}
	case step.ShapeLabel: // the item instead of its name
		q, err := sparql.Parse(query)
		if err != nil {
			return nil
		}
		for _, it := range q.Body.Items {
			if it.Var == f.Column && it.Expr == nil {
				it.Var = f.Item
			}
		}
		if t, err := b.graph.Query(ctx, sparql.Print(q, sparql.PrintOptions{NoComments: true})); err == nil {
			out = append(out, t)
		}
	case step.ShapeFewer, step.ShapeNumber: // a missing column cannot be made up
	}
	return out
}

// choices returns the ways to choose n elements of a list, in list order.
func choices(list []string, n int) (out [][]string) {
	if n == 0 {
		return [][]string{nil}
	}
	for i := 0; i+n <= len(list); i++ {
		for _, rest := range choices(list[i+1:], n-1) {
			out = append(out, append([]string{list[i]}, rest...))
		}
	}
	return out
}

func (b *bench) shapeTable(right bool) error {
	t := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nshape\tshown\tbetter\t")
	for _, k := range []step.ShapeKind{step.ShapeLabel, step.ShapeMore, step.ShapeFewer, step.ShapeNumber} {
		if s := b.shapes[right][k]; s != nil {
			fmt.Fprintf(t, "%s\t%d\t%d\t\n", k, s.moved, s.better)
		}
	}
	return t.Flush()
}
