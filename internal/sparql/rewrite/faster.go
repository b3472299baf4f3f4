package rewrite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Slow describes the engine and the graph for which [Faster] writes queries.
type Slow struct {
	Prefixes   map[string]string // the graph's prefixes, in addition to Wikidata's
	Blazegraph bool              // whether the engine supports named subqueries and the hint that keeps the textual order
}

// Faster returns faster forms of a query that took too long, with the best guess first: patterns with a known subject
// or object come first or in a separate subquery, and labels are looked up only for the rows of the result. The rows
// are the same, except that different rows may be cut off if there is a LIMIT and no order, or if ORDER BY has ties.
// Faster returns no queries if it cannot find a faster form.
func Faster(query string, o Slow) ([]Result, error) {
	var out []Result
	for _, anchors := range []bool{true, false} {
		q, err := sparql.ParseWith(query, o.Prefixes)
		if err != nil {
			return nil, err
		}
		if q.Form != sparql.Select && q.Form != sparql.Ask || q.Body.Where == nil {
			return nil, nil
		}
		f := &faster{rewriter: rewriter{q: q, used: map[string]bool{}}, o: o}
		f.collectNames()
		f.labelsLast()
		if anchors {
			f.anchorsApart()
		}
		f.inOrder()
		text := sparql.Print(q, sparql.PrintOptions{})
		if _, err := sparql.ParseWith(text, o.Prefixes); err != nil || len(f.notes) == 0 {
			continue
		}
		if !slices.ContainsFunc(out, func(r Result) bool { return r.Text == text }) {
			out = append(out, Result{Text: text, Notes: f.notes})
		}
	}
	return out, nil
}

type faster struct {
	rewriter
	o    Slow
	core *sparql.SelectQuery // the SELECT with the pattern, once labels have been moved outside
}

// labelsLast looks up labels only for the rows of the result: the rest of the query becomes a sub-select.
func (f *faster) labelsLast() {
	b := f.q.Body
	f.core = b
	at := slices.IndexFunc(b.Where.Patterns, isLabelService)
	if f.q.Form != sparql.Select || at < 0 || b.Star || b.Values != nil || len(b.Where.Patterns) < 2 {
		return
	}
	service := b.Where.Patterns[at]
	p, ok := f.labelParts(service.(*sparql.Service))
	if !ok {
		return
	}
	pattern := &sparql.Group{Patterns: slices.DeleteFunc(b.Where.Patterns,
		func(x sparql.Pattern) bool { return x == service })}
	inner := &sparql.SelectQuery{Distinct: b.Distinct, Reduced: b.Reduced, Items: p.items, Where: pattern,
		GroupBy: p.groups, Having: b.Having, OrderBy: b.OrderBy, Limit: b.Limit, Offset: b.Offset}
	outer := *b
	outer.Where = groupOf(groupOf(&sparql.SubSelect{Query: inner}), service)
	outer.GroupBy, outer.Having, outer.Limit, outer.Offset = nil, nil, nil, nil
	if p.byLabel || b.Limit == nil && b.Offset == nil {
		inner.OrderBy = nil
	}
	outer.Items = nil
	for _, it := range b.Items { // computed columns are computed in the sub-select
		outer.Items = append(outer.Items, &sparql.SelectItem{Var: it.Var})
	}
	f.q.Body, f.core = &outer, inner
	f.note("labels are looked up for the rows of the result only")
}

// labelParts contains the parts that remain in the inner query when labels are looked up last.
type labelParts struct {
	items   []*sparql.SelectItem
	groups  *sparql.GroupBy
	byLabel bool // the query is ordered by labels
}

// labelParts returns the parts of the query that do not need labels. ok is false if the rows, groups or limits depend
// on labels.
func (f *faster) labelParts(service *sparql.Service) (p labelParts, ok bool) {
	b := f.q.Body
	visible := b.Where.Visible()
	var labels []string
	if rest := service.Rest(); len(rest) > 0 {
		return p, false
	}
	var bases []string
	shown := map[string]bool{}
	for _, it := range b.Items {
		base, is := sparql.LabelBase(it.Var)
		if is && it.Expr == nil && !slices.Contains(visible, it.Var) {
			labels, bases = append(labels, it.Var), append(bases, base)
			continue
		}
		shown[it.Var] = true
		p.items = append(p.items, it)
	}
	if len(labels) == 0 || len(p.items) == 0 {
		return p, false
	}
	for _, base := range bases {
		if shown[base] {
			continue
		}
		// an additional column would change which rows are distinct and which come first
		if b.Grouped() || b.Limit != nil || b.Offset != nil || !slices.Contains(visible, base) {
			return p, false
		}
		shown[base] = true
		p.items = append(p.items, &sparql.SelectItem{Var: base})
	}
	if f.usesLabels(labels) {
		return p, false
	}
	if p.groups, ok = withoutLabels(b.GroupBy, labels); !ok {
		return p, false
	}
	p.byLabel, ok = orderedBy(b, labels, shown)
	return p, ok
}

// usesLabels reports whether the query uses labels in an expression or refers to them in its pattern.
func (f *faster) usesLabels(labels []string) bool {
	b := f.q.Body
	found := false
	look := func(n sparql.Node) bool {
		if t, ok := n.(*sparql.Term); ok && t.Kind == sparql.Var {
			found = found || slices.Contains(labels, t.Name)
		}
		return true
	}
	sparql.Inspect(b.Where, look)
	for _, it := range b.Items {
		sparql.Inspect(it.Expr, look)
	}
	sparql.Inspect(b.Having, look)
	return found
}

// withoutLabels removes labels from GROUP BY if the entity they belong to is also a key. ok is false if a label's
// entity is not a key.
func withoutLabels(g *sparql.GroupBy, labels []string) (out *sparql.GroupBy, ok bool) {
	if g == nil {
		return nil, true
	}
	out = &sparql.GroupBy{}
	for _, k := range g.Keys {
		name := k.Expr.Variable()
		if !slices.Contains(labels, name) {
			out.Keys = append(out.Keys, k)
			continue
		}
		base, _ := sparql.LabelBase(name)
		if !isKey(g, base) {
			return nil, false
		}
	}
	return out, true
}

// orderedBy reports whether the query is ordered by labels. ok is false if the query also has a limit, in which case
// the labels determine which rows are kept, or if its order depends on anything other than the columns.
func orderedBy(b *sparql.SelectQuery, labels []string, shown map[string]bool) (byLabel, ok bool) {
	if b.OrderBy == nil {
		return false, true
	}
	for _, k := range b.OrderBy.Keys {
		simple := true
		sparql.Inspect(k.Expr, func(n sparql.Node) bool {
			switch x := n.(type) {
			case *sparql.Expr:
				simple = simple && x.Kind != sparql.ExprAggregate && x.Kind != sparql.ExprExists
			case *sparql.Term:
				if x.Kind == sparql.Var {
					byLabel = byLabel || slices.Contains(labels, x.Name)
					simple = simple && (shown[x.Name] || slices.Contains(labels, x.Name))
				}
			}
			return true
		})
		if !simple {
			return false, false
		}
	}
	return byLabel, !byLabel || b.Limit == nil && b.Offset == nil
}

func isLabelService(p sparql.Pattern) bool {
	s, ok := p.(*sparql.Service)
	return ok && s.Kind() == sparql.LabelService
}

// joined returns how many patterns at the start of a group may be reordered: joins do not depend on the order, but
// OPTIONAL, MINUS and BIND depend on what comes before them.
func joined(g *sparql.Group) int {
	for i, p := range g.Patterns {
		switch x := p.(type) {
		case *sparql.Triples, *sparql.Filter, *sparql.Values, *sparql.Union, *sparql.Group, *sparql.GraphPattern,
			*sparql.Hint, *sparql.Include:
		case *sparql.Service:
			if x.Kind() != sparql.LabelService {
				return i
			}
		default:
			return i
		}
	}
	return len(g.Patterns)
}

// anchorsApart moves the triples with a constant subject or object into a separate subquery, which is evaluated first.
func (f *faster) anchorsApart() {
	g := f.core.Where
	var anchors []sparql.Pattern
	n := joined(g)
	for _, p := range g.Patterns[:n] {
		if t, ok := p.(*sparql.Triples); ok && anchored(t) {
			anchors = append(anchors, p)
		}
	}
	var v sparql.VarSet
	for _, p := range anchors {
		v.AddTriples(p.(*sparql.Triples))
	}
	others := slices.ContainsFunc(g.Patterns, func(p sparql.Pattern) bool {
		switch p.(type) {
		case *sparql.Filter, *sparql.Service, *sparql.Hint:
			return false
		}
		return !slices.Contains(anchors, p)
	})
	if len(anchors) == 0 || !others || len(v.Names()) == 0 || f.core.Star {
		return
	}
	inner := &sparql.SelectQuery{Where: groupOf(sorted(anchors, map[string]bool{})...)}
	for _, name := range v.Names() {
		inner.Items = append(inner.Items, &sparql.SelectItem{Var: name})
	}
	var first sparql.Pattern = groupOf(&sparql.SubSelect{Query: inner})
	if f.o.Blazegraph {
		name := f.freshSubquery("anchors")
		f.q.Named = append(f.q.Named, &sparql.NamedSubquery{Name: name, Query: inner})
		first = &sparql.Include{Name: name}
	}
	g.Patterns = slices.DeleteFunc(g.Patterns, func(p sparql.Pattern) bool { return slices.Contains(anchors, p) })
	g.Patterns = append([]sparql.Pattern{first}, g.Patterns...)
	f.note("what is known is looked up first, in a subquery")
}

// freshSubquery returns a name that no named subquery has yet.
func (f *faster) freshSubquery(name string) string {
	for f.q.NamedByName()[name] != nil {
		name += "_"
	}
	return name
}

// anchored reports whether each triple in a statement has a constant subject or object, a plain predicate, and no blank
// node that other statements may refer to.
func anchored(t *sparql.Triples) bool {
	for _, x := range t.Triples() {
		if x.Subject.Kind != sparql.Const && x.Object.Kind != sparql.Const || x.Path.Kind != sparql.PathTerm ||
			x.Path.Term.Kind == sparql.Var || labeled(x.Subject) || labeled(x.Object) {
			return false
		}
	}
	return true
}

// labeled reports whether a term is a labeled blank node, such as _:b.
func labeled(t *sparql.Term) bool {
	return t.Kind == sparql.BlankNode && !strings.HasPrefix(t.Name, ".")
}

// inOrder puts the triples in the order that [sorted] chooses, and makes Blazegraph keep that order.
func (f *faster) inOrder() {
	g := f.core.Where
	known := map[string]bool{}
	var triples, first []sparql.Pattern
	for _, p := range g.Patterns[:joined(g)] {
		switch p.(type) {
		case *sparql.Triples:
			triples = append(triples, p)
		case *sparql.Values, *sparql.Group, *sparql.Include:
			first = append(first, p)
			for v := range sparql.Certain(groupOf(p), f.q.NamedByName()) {
				known[v] = true
			}
		}
	}
	out := append(slices.Clone(first), sorted(triples, known)...)
	for _, p := range g.Patterns {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if !slices.Equal(out, g.Patterns) {
		f.note("what is known comes first")
	}
	g.Patterns = out
	hinted := slices.ContainsFunc(g.Patterns, func(p sparql.Pattern) bool { _, ok := p.(*sparql.Hint); return ok })
	if f.o.Blazegraph && len(f.notes) > 0 && !hinted {
		g.Patterns = append(g.Patterns, &sparql.Hint{Triples: triple(iriTerm(rdf.Prefixes["hint"]+"Query"),
			rdf.Prefixes["hint"]+"optimizer", stringTerm("None"))})
		f.note("the order of the text is kept (hint:optimizer \"None\")")
	}
}

// sorted orders statements so that as many of each statement's values as possible are known from those before it.
func sorted(patterns []sparql.Pattern, known map[string]bool) []sparql.Pattern {
	left := slices.Clone(patterns)
	var out []sparql.Pattern
	for len(left) > 0 {
		best := slices.MinFunc(left, func(a, b sparql.Pattern) int {
			return cmp.Compare(cost(a.(*sparql.Triples), known), cost(b.(*sparql.Triples), known))
		})
		left = slices.Delete(left, slices.Index(left, best), slices.Index(left, best)+1)
		out = append(out, best)
		var v sparql.VarSet
		v.AddTriples(best.(*sparql.Triples))
		for _, name := range v.Names() {
			known[name] = true
		}
	}
	return out
}

// cost estimates how much the engine must read to evaluate a statement. It is the cost of the cheapest triple: lower if
// the subject or object is known, higher for paths and for classes, which have many members.
func cost(t *sparql.Triples, known map[string]bool) int {
	isKnown := func(x *sparql.Term) bool { return x.Kind == sparql.Const || x.Kind == sparql.Var && known[x.Name] }
	least := 0
	for i, x := range t.Triples() {
		ends := 0
		if isKnown(x.Subject) {
			ends++
		}
		if isKnown(x.Object) {
			ends++
		}
		c := [...]int{1000, 100, 1}[ends]
		if isKnown(x.Subject) && ends == 1 {
			c = 10 // an entity has few values for a property
		}
		class := x.Path.IRI() == rdf.Direct+"P31" || x.Path.IRI() == rdf.RDFType
		if class && ends == 1 && !isKnown(x.Subject) {
			c = 300
		}
		if x.Path.Kind != sparql.PathTerm {
			c *= 4
		}
		if i == 0 || c < least {
			least = c
		}
	}
	return least
}
