package variant

import (
	"slices"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// place is a triple in a group where more matches mean more rows.
type place struct {
	group  *sparql.Group
	triple *sparql.Triples // with one property and one object
}

func (p place) subject() *sparql.Term { return p.triple.Subject }
func (p place) path() *sparql.Path    { return p.triple.Properties[0].Path }
func (p place) object() *sparql.Term  { return p.triple.Properties[0].Objects[0] }

func (p place) setPath(path *sparql.Path) bool {
	p.triple.Properties[0].Path = path
	return true
}

func (p place) remove() bool { return drop(p.group, p.triple) }

func drop(g *sparql.Group, p sparql.Pattern) bool {
	i := slices.Index(g.Patterns, p)
	if i < 0 {
		return false
	}
	g.Patterns = slices.Delete(g.Patterns, i, i+1)
	return true
}

// copy parses the query again and splits its statements into single triples.
func (w *writer) copy() *sparql.Query {
	q, err := sparql.ParseWith(w.text, w.o.Prefixes)
	if err != nil {
		return &sparql.Query{} // cannot happen: the same text was parsed before
	}
	positive(q.Body.Where, func(g *sparql.Group) {
		var out []sparql.Pattern
		for _, p := range g.Patterns {
			t, ok := p.(*sparql.Triples)
			if !ok || !flat(t) {
				out = append(out, p)
				continue
			}
			for _, prop := range t.Properties {
				for _, o := range prop.Objects {
					out = append(out, &sparql.Triples{Span: t.Span, Subject: t.Subject,
						Properties: []*sparql.Property{{Span: prop.Span, Path: prop.Path, Objects: []*sparql.Term{o}}}})
				}
			}
		}
		g.Patterns = out
	})
	return q
}

// flat reports whether a statement has neither blank nodes nor collections. If so, it can be split.
func flat(t *sparql.Triples) bool {
	plain := func(t *sparql.Term) bool { return t.Kind == sparql.Var || t.Kind == sparql.Const }
	for _, p := range t.Properties {
		if slices.ContainsFunc(p.Objects, func(o *sparql.Term) bool { return !plain(o) }) {
			return false
		}
	}
	return plain(t.Subject) && len(t.Properties) > 0
}

// positive calls f for the groups in which more matches mean more rows, outermost first. These do not include the
// groups of OPTIONAL, MINUS and EXISTS, or of sub-selects with aggregates or limits.
func positive(g *sparql.Group, f func(*sparql.Group)) {
	f(g)
	for _, p := range g.Patterns {
		switch x := p.(type) {
		case *sparql.Group:
			positive(x, f)
		case *sparql.GraphPattern:
			positive(x.Group, f)
		case *sparql.Union:
			for _, b := range x.Branches {
				positive(b, f)
			}
		case *sparql.SubSelect:
			s := x.Query
			if s.Where != nil && !s.Grouped() && s.Having == nil && s.Limit == nil && s.Offset == nil {
				positive(s.Where, f)
			}
		}
	}
}

// places returns the triples that may be changed, in an order that is the same for every copy.
func places(q *sparql.Query) []place {
	var out []place
	positive(q.Body.Where, func(g *sparql.Group) {
		for _, p := range g.Patterns {
			if t, ok := p.(*sparql.Triples); ok && flat(t) {
				out = append(out, place{g, t})
			}
		}
	})
	return out
}

// at returns a function that changes the i-th triple of a copy.
func at(i int, change func(place) bool) func(*sparql.Query) bool {
	return func(q *sparql.Query) bool { return change(places(q)[i]) }
}

// uses counts, for each variable, the patterns, keys and expressions that use it. Plain projections of a variable are
// ignored.
func uses(q *sparql.Query) map[string]int {
	out := map[string]int{}
	sparql.Inspect(q, func(n sparql.Node) bool {
		switch x := n.(type) {
		case *sparql.Term:
			if x.Kind == sparql.Var {
				out[x.Name]++
			}
		case *sparql.Bind:
			out[x.Var]++
		case *sparql.Values:
			for _, v := range x.Vars {
				out[v]++
			}
		case *sparql.SubSelect:
			for _, v := range x.Query.Columns() {
				out[v]++
			}
		case *sparql.Include: // the variables that it binds are unknown here
			for v := range out {
				out[v]++
			}
		}
		return true
	})
	return out
}

// bound reports whether a triple in the group other than p uses the variable, and whether one uses it together with a
// constant, which keeps the query from reading everything.
func (p place) bound(name string) (other, anchored bool) {
	for _, x := range p.group.Patterns {
		t, ok := x.(*sparql.Triples)
		if !ok || t == p.triple || !flat(t) {
			continue
		}
		o := place{p.group, t}
		if o.subject().Kind == sparql.Var && o.subject().Name == name {
			other, anchored = true, anchored || o.object().Kind == sparql.Const
		}
		if o.object().Kind == sparql.Var && o.object().Name == name {
			other, anchored = true, anchored || o.subject().Kind == sparql.Const
		}
	}
	return other, anchored
}

// vars returns the variables in an expression, including those in EXISTS.
func vars(e *sparql.Expr) []string {
	var v sparql.VarSet
	sparql.Inspect(e, func(n sparql.Node) bool {
		if t, ok := n.(*sparql.Term); ok && t.Kind == sparql.Var {
			v.Add(t.Name)
		}
		return true
	})
	return v.Names()
}

// shown reports whether the query projects the variable itself or its label.
func shown(q *sparql.Query, name string) bool {
	return q.Form == sparql.Select && (q.Body.Star || slices.ContainsFunc(q.Body.Items,
		func(it *sparql.SelectItem) bool {
			base, _ := sparql.LabelBase(it.Var)
			return it.Expr == nil && (it.Var == name || base == name)
		}))
}

// Constructors of new nodes.

func variable(name string) *sparql.Term { return &sparql.Term{Kind: sparql.Var, Name: name} }
func iri(s string) *sparql.Term         { return sparql.NewConst(rdf.IRI(s), "") }
func step(s string) *sparql.Path        { return &sparql.Path{Kind: sparql.PathTerm, Term: iri(s)} }
func some(k sparql.PathKind, args ...*sparql.Path) *sparql.Path {
	return &sparql.Path{Kind: k, Args: args}
}

func triple(s *sparql.Term, p *sparql.Path, o *sparql.Term) *sparql.Triples {
	return &sparql.Triples{Subject: s, Properties: []*sparql.Property{{Path: p, Objects: []*sparql.Term{o}}}}
}

func term(t *sparql.Term) *sparql.Expr { return &sparql.Expr{Kind: sparql.ExprTerm, Term: t} }

func call(op string, args ...*sparql.Expr) *sparql.Expr {
	return &sparql.Expr{Kind: sparql.ExprBuiltin, Op: op, Args: args}
}

func binary(op string, a, b *sparql.Expr) *sparql.Expr {
	return &sparql.Expr{Kind: sparql.ExprBinary, Op: op, Args: []*sparql.Expr{a, b}}
}

// name returns the IRI as it appears in Variant.What: as a prefixed name, if possible.
func (w *writer) name(t *sparql.Term) string { return rdf.Shorten(t.Value().Value) }

// fresh returns an unused variable name.
func (w *writer) fresh(base string) string {
	for w.uses[base] > 0 {
		base += "_"
	}
	return base
}
