package rewrite

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// QLever evaluates the group of an OPTIONAL or EXISTS separately, with its filters. The filters do not see the
// variables in the outer pattern, although the standard says that they should (SPARQL 1.1, sections 6.3 and 18.6). If a
// filter uses such a variable, the outer pattern is repeated in the group, as a sub-select of distinct rows. If all
// variables in the sub-select always have values, each outer row matches exactly one of its rows, so the result stays
// the same.

// outside repeats the outer patterns that filters in OPTIONAL and EXISTS need.
func (r *rewriter) outside(s *sparql.SelectQuery) {
	sparql.Groups(s.Where, func(g *sparql.Group) {
		for i, p := range slices.Clone(g.Patterns) {
			switch x := p.(type) {
			case *sparql.Optional:
				r.bring(g.Patterns[:i], x.Group)
			case *sparql.Filter:
				for _, in := range sparql.ChildGroups(x) {
					r.bring(g.Patterns, in)
				}
			}
		}
	})
}

// bring repeats the given patterns inside a group whose filters use variables that only these patterns contain.
func (r *rewriter) bring(from []sparql.Pattern, into *sparql.Group) {
	outer, inner := sparql.VarSet{}, sparql.VarSet{}
	outer.AddGroup(&sparql.Group{Patterns: from})
	inner.AddGroup(into)
	var lacks []string
	for _, p := range into.Patterns {
		f, ok := p.(*sparql.Filter)
		if !ok {
			continue
		}
		for _, v := range variables(f.Expr) {
			if outer.Has(v) && !inner.Has(v) && !slices.Contains(lacks, v) {
				lacks = append(lacks, v)
			}
		}
	}
	if len(lacks) == 0 {
		return
	}
	names := "?" + strings.Join(lacks, ", ?")
	b := bringer{known: map[string]bool{}}
	for _, p := range from {
		b.add(p)
	}
	again := r.repeat(&b)
	if again == nil || slices.ContainsFunc(lacks, func(v string) bool { return !b.known[v] }) {
		r.note("QLever does not see %s from outside in a FILTER of OPTIONAL or EXISTS; its result may differ", names)
		return
	}
	r.note("the pattern that binds %s repeated inside OPTIONAL or EXISTS, because QLever's filters see only their own group",
		names)
	sub := &sparql.Group{Patterns: []sparql.Pattern{&sparql.SubSelect{Query: again}}}
	if _, alone := into.Patterns[0].(*sparql.SubSelect); alone {
		into.Patterns[0] = &sparql.Group{Patterns: into.Patterns[:1:1]}
	}
	into.Patterns = append([]sparql.Pattern{sub}, into.Patterns...)
}

// variables returns the variables in an expression, including those in its groups.
func variables(e *sparql.Expr) []string {
	v := sparql.VarSet{}
	sparql.Inspect(e, func(n sparql.Node) bool {
		if t, ok := n.(*sparql.Term); ok && t.Kind == sparql.Var {
			v.Add(t.Name)
		}
		return true
	})
	return v.Names()
}

// bringer collects the patterns to repeat. It may omit any of them: additional rows are harmless, since they do not
// match any outer row.
type bringer struct {
	kept  []sparql.Pattern
	known map[string]bool // variables that have a value in every row, or depend only on such variables
}

func (b *bringer) add(p sparql.Pattern) {
	switch x := p.(type) {
	case *sparql.Bind:
		if !b.follows(x.Expr) {
			return
		}
		b.known[x.Var] = true
	case *sparql.Filter:
		if !b.follows(x.Expr) {
			return
		}
	case *sparql.Triples, *sparql.Values, *sparql.Group, *sparql.Union:
		if !steady(x) {
			return
		}
		for v := range sparql.Certain(&sparql.Group{Patterns: []sparql.Pattern{x}}, nil) {
			b.known[v] = true
		}
	default: // OPTIONAL, MINUS, SERVICE, GRAPH
		return
	}
	b.kept = append(b.kept, p)
}

// follows reports whether the known variables determine the value of an expression.
func (b *bringer) follows(e *sparql.Expr) bool {
	return steady(e) && len(sparql.ChildGroups(&sparql.Filter{Expr: e})) == 0 &&
		!slices.ContainsFunc(variables(e), func(v string) bool { return !b.known[v] })
}

// steady reports whether a part of a query returns the same rows each time and can be repeated in the query. Blank
// nodes cannot be repeated.
func steady(n sparql.Node) bool {
	ok := true
	sparql.Inspect(n, func(n sparql.Node) bool {
		switch x := n.(type) {
		case *sparql.Term:
			ok = ok && (x.Kind == sparql.Var || x.Kind == sparql.Const)
		case *sparql.Service, *sparql.Include, *sparql.Hint:
			ok = false
		case *sparql.SelectQuery:
			ok = ok && x.Limit == nil && x.Offset == nil
		case *sparql.Expr:
			ok = ok && !slices.Contains([]string{"RAND", "UUID", "STRUUID", "BNODE", "SAMPLE", "GROUP_CONCAT"}, x.Op)
		}
		return ok
	})
	return ok
}

// maxRepeated limits how much text, in bytes, is parsed again for repeated patterns.
const maxRepeated = 1 << 20

// repeat returns a sub-select over copies of the kept patterns, or nil if there are none.
func (r *rewriter) repeat(b *bringer) *sparql.SelectQuery {
	q := &sparql.Query{Prologue: r.q.Prologue, Body: &sparql.SelectQuery{Distinct: true,
		Where: &sparql.Group{Patterns: b.kept}}}
	for _, v := range q.Body.Where.Visible() {
		if b.known[v] {
			q.Body.Items = append(q.Body.Items, &sparql.SelectItem{Var: v})
		}
	}
	if len(q.Body.Items) == 0 {
		return nil
	}
	text := q.String()
	if r.repeated += len(text); r.repeated > maxRepeated {
		return nil
	}
	again, err := sparql.ParseWith(text, r.o.Prefixes)
	if err != nil {
		return nil
	}
	return again.Body
}
