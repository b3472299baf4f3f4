package tool

import (
	"context"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// maxWhy is the maximum number of queries run to find the reason for an empty result, in addition to those run by
// [Env.diagnose].
const maxWhy = 12

// emptiness contains what is known about why a query has no rows.
type emptiness struct {
	Alone []aloneCondition // conditions that have no matches even on their own
	Apart bool             // each condition has matches, but nothing satisfies all of them
}

// aloneCondition is a condition that has no matches even on its own. Reason is "" if each part of the condition has
// matches; otherwise, it is the reason: the property is not used, the entity is never the property's subject, nothing
// leads to the entity, or the opposite direction has matches.
type aloneCondition struct {
	Condition, Reason     string
	Subject, Object, Path string
}

// why explains why a query returned no rows: it reports the conditions that have no matches even on their own, with the
// reasons, or that each condition has matches but nothing satisfies all of them. It returns "" if the query is not a
// simple conjunction, if the run is close to a limit, or if the graph fails. The result includes the findings of
// [Env.diagnose]; errors are as for diagnose.
func (env *Env) why(ctx context.Context, query string) (string, error) {
	if !env.TimeFor((maxWhy + maxProbes) * probeTime) {
		return "", nil
	}
	asks := 0
	ask := func(q string) (bool, bool, error) {
		if asks++; asks > maxWhy {
			return false, false, nil
		}
		found, err := env.try(ctx, q)
		if err == nil {
			return found, true, nil
		}
		if ctx.Err() != nil {
			return false, false, ctx.Err()
		}
		if event.IsWriteError(err) {
			return false, false, err
		}
		asks = maxWhy // stop querying a slow or busy graph
		return false, false, nil
	}
	var e emptiness
	all := true
	q, conditions := env.Dialect.lone(query)
	for _, c := range conditions {
		found, known, err := ask(askOf(q, c.pattern))
		if err != nil {
			return "", err
		}
		all = all && known && found
		if !known || found {
			continue
		}
		a, err := reason(q, c, ask)
		if err != nil {
			return "", err
		}
		e.Alone = append(e.Alone, a)
	}
	e.Apart = all && len(conditions) > 1
	rest := ""
	if len(e.Alone) == 0 {
		var err error
		if rest, err = env.diagnose(ctx, query); err != nil {
			return "", err
		}
	}
	if len(e.Alone) == 0 && !e.Apart {
		return rest, nil
	}
	text := say("why", e)
	if rest != "" {
		text += " " + rest
	}
	return text, nil
}

// lone returns the triples in a query that is a simple conjunction; see [Dialect.probes].
func (d Dialect) lone(query string) (*sparql.Query, []condition) {
	q, err := d.parse(query)
	if err != nil || q.Form != sparql.Select || len(q.Named) > 0 || q.Body == nil || q.Body.Where == nil {
		return nil, nil
	}
	_, conditions, _, ok := conjunction(q)
	if !ok || len(conditions) > maxConditions {
		return nil, nil
	}
	var out []condition
	for _, c := range conditions {
		if c.triple {
			c.text = render.Clip(render.Fold(c.text), shownProbe)
			out = append(out, c)
		}
	}
	return q, out
}

// askOf returns an ASK query for patterns, with the query's prologue.
func askOf(q *sparql.Query, patterns ...sparql.Pattern) string {
	ask := *q
	ask.Form, ask.Body = sparql.Ask, &sparql.SelectQuery{Where: &sparql.Group{Patterns: patterns}}
	return sparql.Print(&ask, sparql.PrintOptions{NoComments: true})
}

// reason determines why a triple has no match. It examines only plain predicates.
func reason(q *sparql.Query, c condition, ask func(string) (bool, bool, error)) (aloneCondition, error) {
	t := c.pattern.(*sparql.Triples)
	path, object := t.Properties[0].Path, t.Properties[0].Objects[0]
	out := aloneCondition{Condition: c.text, Path: writtenIn(q, path.Span), Subject: writtenIn(q, t.Subject.Span),
		Object: writtenIn(q, object.Span)}
	if path.IRI() == "" {
		return out, nil
	}
	one := func(s *sparql.Term, p *sparql.Path, o *sparql.Term) *sparql.Triples {
		return &sparql.Triples{Subject: s, Properties: []*sparql.Property{{Path: p, Objects: []*sparql.Term{o}}}}
	}
	anyone := func(name string) *sparql.Term { return &sparql.Term{Kind: sparql.Var, Name: name} }
	anyPath := &sparql.Path{Kind: sparql.PathTerm, Term: anyone("anyPredicate")}
	type try struct {
		reason string
		on     bool // whether to run this query
		want   bool // the reason applies if the query returns this
		triple *sparql.Triples
	}
	for _, x := range []try{
		{"unused", true, false, one(anyone("anySubject"), path, anyone("anyObject"))},
		{"reversed", object.Kind != sparql.Const || object.IsIRI(), true, one(object, path, t.Subject)},
		{"no_subject", t.Subject.IsIRI(), false, one(t.Subject, path, anyone("anyObject"))},
		{"no_object", object.IsIRI(), false, one(anyone("anySubject"), anyPath, object)},
	} {
		if !x.on || x.reason == "reversed" && t.Subject.Kind != sparql.Const && object.Kind != sparql.Const {
			continue
		}
		found, known, err := ask(askOf(q, x.triple))
		if err != nil || !known {
			return out, err
		}
		if found == x.want {
			out.Reason = x.reason
			return out, nil
		}
	}
	return out, nil
}

func writtenIn(q *sparql.Query, s sparql.Span) string {
	return render.Clip(render.Fold(q.Text[s.Start:s.End]), 60)
}
