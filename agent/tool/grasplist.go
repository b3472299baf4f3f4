package tool

import (
	"context"
	"errors"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// graspListArgs are the arguments of the list tool.
type graspListArgs struct {
	KG       *string `json:"kg" about:"graph"`
	Subject  *string `json:"subject"`
	Property *string `json:"property"`
	Object   *string `json:"object" about:"entity or literal"`
	Page     *int    `json:"page" about:"from 1"`
	// GRASP added this argument in 2026.
	Unclipped *bool `json:"unclipped" about:"show long texts in full"`
}

// graspList is GRASP's list(kg, subject, property, object): triples, the most useful ones first, and each property once
// before any is repeated. Unlike in GRASP, a value is shown with the qualifiers of its statement.
var graspList = keyed(&Tool{Name: "list", Text: "grasp_list.md", Input: "subject"}, nil, runGraspList)

func runGraspList(ctx context.Context, env *Env, a graspListArgs) (Result, error) {
	env, err := env.onGraph(a.KG)
	if err != nil {
		return wrong(err)
	}
	page, err := pageOf(a.Page)
	if err != nil {
		return wrong(err)
	}
	n := env.Show.perPage()
	q := event.TriplesQuery{Limit: n, Offset: (page - 1) * n}
	for _, at := range []struct {
		name  string
		value *string
		term  *rdf.Term
	}{{"subject", a.Subject, &q.Subject}, {"property", a.Property, &q.Property}, {"object", a.Object, &q.Object}} {
		if *at.term, err = env.place(at.name, at.value); err != nil {
			return wrong(err)
		}
	}
	if q.Subject.Bound() && q.Property.Bound() && q.Object.Bound() {
		return wrong(errors.New("subject, property and object are all given; leave at least one out, or use execute " +
			"with an ASK"))
	}
	list, err := env.explorer().Triples(ctx, q)
	if err != nil {
		return env.failed(ctx, err)
	}
	return env.triples(ctx, q, list, page, deref(a.Unclipped))
}

// triples formats one page of a list of triples.
func (env *Env) triples(ctx context.Context, q event.TriplesQuery, list *event.Triples, page int,
	whole bool) (Result, error) {
	terms := []rdf.Term{q.Subject, q.Property, q.Object}
	for _, r := range list.Rows {
		terms = append(append(terms, r[:]...), owner(r[0]))
	}
	statements, more, err := env.statements(ctx, list.Rows, !q.Subject.Bound())
	if err != nil {
		return Result{}, err
	}
	names := env.named(ctx, append(terms, more...))
	if whole {
		names.Cell = wholeCell
	}
	var fixed []string
	t := &kg.Table{}
	var places []int // the positions shown as columns
	for i, name := range []string{"subject", "property", "object"} {
		if f := terms[i]; f.Bound() {
			fixed = append(fixed, name+" "+names.Term(f))
			continue
		}
		places = append(places, i)
		t.Vars = append(t.Vars, name)
	}
	head := map[string]any{"Total": list.Total, "More": list.More, "Fixed": fixed, "Page": page,
		"Pages": min(graspPages, (list.Total+env.Show.perPage()-1)/env.Show.perPage())}
	if len(list.Rows) == 0 {
		return Result{Text: say("grasp_list_none", head)}, nil
	}
	for _, r := range list.Rows {
		row := make([]rdf.Term, 0, len(places))
		for _, i := range places {
			row = append(row, r[i])
		}
		t.Rows = append(t.Rows, row)
	}
	frame := render.Frame{Rows: render.Window{Whole: len(t.Rows)}, Columns: render.Window{Whole: len(t.Vars)}}
	said := map[rdf.Term]bool{}
	rows := names.Body(t, frame, func(row, column int) string {
		of := owner(list.Rows[row][0])
		switch at := places[column]; {
		case at == 0 && of.Bound():
			return " of " + names.Term(of) + statements[row].text(names, said)
		case at == 2 && (q.Subject.Bound() || !of.Bound()):
			return statements[row].text(names, said)
		}
		return ""
	})
	return Result{Text: say("grasp_list", head) + "\n" + rows, Shown: shownIRIs(append(terms, more...))}, nil
}

// wholeCell is the maximum number of characters of a cell that are shown if its full text was requested.
const wholeCell = 2000

// explorer returns the graph's explorer.
func (env *Env) explorer() Explorer {
	if env.Source.Explore != nil {
		return env.Source.Explore
	}
	return explorer{env.Source}
}
