package kbqa

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// MissingDates rewrites a query for Freebase so that a missing start or end date is treated as a match. In Freebase, a
// missing end date usually means that something is still true. A triple whose predicate ends in .from or .to, together
// with the filters in its group that compare its variable with a constant, becomes a filter that is also true if there
// is no matching triple. If the variable is also used elsewhere (in the result, in another triple, or with a different
// start or end date), the triple is left unchanged.
func MissingDates(query string) string {
	q, err := sparql.Parse(query)
	if err != nil || q.Body == nil || q.Body.Where == nil {
		return query
	}
	changed := false
	sparql.Groups(q.Body.Where, func(g *sparql.Group) {
		g.Patterns = splitFilters(g.Patterns)
		for _, d := range datesOf(q, g) {
			changed = d.relax(q, g) || changed
		}
	})
	if !changed {
		return query
	}
	return sparql.Print(q, sparql.PrintOptions{})
}

// date is a triple whose object is a start or end date.
type date struct {
	triples  *sparql.Triples
	property *sparql.Property
	variable string
}

// datesOf returns the triples in a group whose object is a start or end date.
func datesOf(q *sparql.Query, g *sparql.Group) []date {
	var out []date
	for _, p := range g.Patterns {
		t, ok := p.(*sparql.Triples)
		if !ok || t.Subject.Kind != sparql.Var && t.Subject.Kind != sparql.Const {
			continue
		}
		for _, prop := range t.Properties {
			iri := prop.Path.IRI()
			if (strings.HasSuffix(iri, ".from") || strings.HasSuffix(iri, ".to")) && len(prop.Objects) == 1 &&
				prop.Objects[0].Kind == sparql.Var && prop.Span.End > 0 {
				out = append(out, date{t, prop, prop.Objects[0].Name})
			}
		}
	}
	return out
}

// relax moves the triple and its conditions into a filter, if possible, and reports whether it did.
func (d date) relax(q *sparql.Query, g *sparql.Group) bool {
	text := func(n sparql.Node) string { s := n.Pos(); return q.Text[s.Start:s.End] }
	mentions := func(s string) int {
		return len(regexp.MustCompile(`[?$]`+regexp.QuoteMeta(d.variable)+`\b`).FindAllString(s, -1))
	}
	var conditions []string
	var gone []sparql.Pattern
	used := 1 // one use is in the triple itself
	for _, p := range g.Patterns {
		f, ok := p.(*sparql.Filter)
		if !ok || f.Expr.Span.End == 0 || mentions(text(f.Expr)) == 0 {
			continue
		}
		gone = append(gone, f)
		used += mentions(text(f.Expr))
		conditions = append(conditions, "("+text(f.Expr)+")")
	}
	if len(conditions) == 0 || mentions(q.Text) != used {
		return false
	}
	triple := text(d.triples.Subject) + " " + text(d.property)
	filter := "FILTER(NOT EXISTS { " + triple + " } || EXISTS { " + triple + " . FILTER(" + strings.Join(conditions,
		" && ") + ") })"
	prologue, _ := Selects(q)
	parsed, err := sparql.Parse(prologue + "\nASK { " + filter + " }")
	if err != nil {
		return false
	}
	d.triples.Properties = slices.DeleteFunc(d.triples.Properties,
		func(p *sparql.Property) bool { return p == d.property })
	g.Patterns = slices.DeleteFunc(g.Patterns, func(p sparql.Pattern) bool {
		return slices.Contains(gone, p) || p == sparql.Pattern(d.triples) && len(d.triples.Properties) == 0
	})
	added := parsed.Body.Where.Patterns[0].(*sparql.Filter)
	added.Span, added.Expr.Span = sparql.Span{}, sparql.Span{} // the filter has no position in the query's text
	g.Patterns = append(g.Patterns, added)
	return true
}

// splitFilters splits each filter whose expression is a conjunction into one filter for each operand.
func splitFilters(patterns []sparql.Pattern) []sparql.Pattern {
	var out []sparql.Pattern
	for _, p := range patterns {
		f, ok := p.(*sparql.Filter)
		if !ok {
			out = append(out, p)
			continue
		}
		for _, c := range conjuncts(f.Expr) {
			out = append(out, &sparql.Filter{Span: c.Span, Expr: c})
		}
	}
	return out
}

// conjuncts returns the operands of the conjunctions in an expression.
func conjuncts(e *sparql.Expr) []*sparql.Expr {
	if e.Kind == sparql.ExprBinary && e.Op == "&&" && len(e.Args) == 2 {
		return append(conjuncts(e.Args[0]), conjuncts(e.Args[1])...)
	}
	return []*sparql.Expr{e}
}
