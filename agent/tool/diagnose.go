package tool

import (
	"context"
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Limits on the diagnosis of an empty result.
const (
	maxConditions = 8               // maximum number of conditions in a query to diagnose
	maxProbes     = 6               // probes for one query
	probeTime     = 5 * time.Second // maximum time for one probe
	shownProbe    = 120             // maximum number of characters shown per condition
)

// probe is a query with one of its conditions removed, as an ASK query.
type probe struct{ condition, query string }

// diagnosis is the result of probing a query without rows: the conditions whose removal produces rows, and the
// conditions whose removal does not.
type diagnosis struct {
	Rows, None []string
	All        bool // every condition was tried
}

// diagnose runs a query that returned nothing without each of its conditions in turn, and reports which of them removes
// the rows. It returns "" if the query is not simple enough (see [Dialect.probes]), if the run is close to one of its
// limits, or if no probe could be evaluated. A probe that fails ends the diagnosis. diagnose returns an error only if
// ctx is done or the trajectory cannot be written.
func (env *Env) diagnose(ctx context.Context, query string) (string, error) {
	if !env.Diagnose || !env.TimeFor(maxProbes*probeTime) {
		return "", nil
	}
	probes, all := env.Dialect.probes(query)
	d := diagnosis{All: all}
	for _, p := range probes {
		found, err := env.try(ctx, p.query)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case event.IsWriteError(err):
			return "", err
		case err != nil:
			d.All = false
		case found:
			d.Rows = append(d.Rows, p.condition)
		default:
			d.None = append(d.None, p.condition)
		}
		if err != nil {
			break // do not query a slow or busy graph five more times
		}
	}
	if len(d.Rows)+len(d.None) == 0 {
		return "", nil
	}
	return say("diagnosis", d), nil
}

// try runs an ASK query within the time limit for a probe.
func (env *Env) try(ctx context.Context, query string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	t, err := env.Graph.Query(ctx, env.Dialect.InLanguage(query, env.Language.Code))
	if err != nil {
		return false, err
	}
	if !t.Ask {
		return false, kg.Errorf(kg.QueryFailed, "an ASK returned a table")
	}
	return t.Boolean, nil
}

// probes returns variants of the query that each lack one condition, starting with the last condition, since conditions
// are usually added at the end; all reports whether every condition is covered. The query must be a conjunction of two
// to eight conditions, each of which is one triple, FILTER, MINUS, VALUES or UNION. OPTIONAL, BIND and the label
// service may also occur. For any other query, or if HAVING, OFFSET or LIMIT 0 may have removed the rows, probes
// returns nothing.
func (d Dialect) probes(query string) (out []probe, all bool) {
	q, err := d.parse(query)
	if err != nil || q.Form != sparql.Select || len(q.Named) > 0 || q.Body == nil || q.Body.Where == nil {
		return nil, false
	}
	if b := q.Body; b.Having != nil || b.Offset != nil || b.Values != nil || b.Limit != nil && b.Limit.N == 0 {
		return nil, false
	}
	patterns, conditions, triples, ok := conjunction(q)
	if !ok || len(conditions) < 2 || len(conditions) > maxConditions {
		return nil, false
	}
	for _, c := range slices.Backward(conditions) {
		if len(out) == maxProbes || triples == 1 && c.triple { // a query without its only triple matches nothing useful
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(patterns), func(p sparql.Pattern) bool { return p == c.pattern })
		rest = withoutOpenFilters(rest)
		ask := *q
		ask.Form, ask.Body = sparql.Ask, &sparql.SelectQuery{Where: &sparql.Group{Patterns: rest}}
		out = append(out, probe{render.Clip(render.Fold(c.text), shownProbe), sparql.Print(&ask,
			sparql.PrintOptions{NoComments: true})})
	}
	return out, len(out) == len(conditions)
}

// withoutOpenFilters removes the filters that test a variable that no pattern binds. They would remove every row.
func withoutOpenFilters(patterns []sparql.Pattern) []sparql.Pattern {
	var bound sparql.VarSet
	bound.AddGroup(&sparql.Group{Patterns: patterns})
	return slices.DeleteFunc(patterns, func(p sparql.Pattern) bool {
		f, ok := p.(*sparql.Filter)
		open := false
		if ok {
			sparql.Inspect(f.Expr, func(n sparql.Node) bool {
				e, is := n.(*sparql.Expr)
				open = open || is && e.Variable() != "" && !bound.Has(e.Variable())
				return is && e.Group == nil // EXISTS has variables of its own
			})
		}
		return open
	})
}

// condition is a pattern that can remove rows, and its text.
type condition struct {
	pattern sparql.Pattern
	text    string
	triple  bool
}

// conjunction splits the outer group of a query: each triple becomes a separate pattern, and the label service is
// removed. ok is false if the group is not a simple conjunction.
func conjunction(q *sparql.Query) (patterns []sparql.Pattern, conditions []condition, triples int, ok bool) {
	text := func(s sparql.Span) string { return q.Text[s.Start:s.End] }
	add := func(p sparql.Pattern, s string, triple bool) {
		patterns = append(patterns, p)
		conditions = append(conditions, condition{p, s, triple})
	}
	for _, p := range q.Body.Where.Patterns {
		switch p := p.(type) {
		case *sparql.Triples:
			// A blank node would be a different node in each triple.
			if p.Subject.Kind != sparql.Var && p.Subject.Kind != sparql.Const {
				return nil, nil, 0, false
			}
			for _, prop := range p.Properties {
				for _, o := range prop.Objects {
					triples++
					one := &sparql.Triples{Subject: p.Subject, Properties: []*sparql.Property{{Path: prop.Path,
						Objects: []*sparql.Term{o}}}}
					add(one, text(p.Subject.Span)+" "+text(prop.Path.Span)+" "+text(o.Span), true)
				}
			}
		case *sparql.Filter, *sparql.Minus, *sparql.Values, *sparql.Union:
			add(p, text(p.Pos()), false)
		case *sparql.Optional, *sparql.Bind, *sparql.Hint:
			patterns = append(patterns, p)
		case *sparql.Service:
			if p.Kind() != sparql.LabelService {
				return nil, nil, 0, false
			}
		default:
			return nil, nil, 0, false
		}
	}
	return patterns, conditions, triples, triples > 0
}
