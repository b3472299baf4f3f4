package sparql

// Inspect calls f for n and every node below it, in textual order. If f returns false for a node, Inspect does not
// visit the nodes below it. n may be a *Query, *SelectQuery or any other node; a nil node is skipped.
func Inspect(n Node, f func(Node) bool) {
	w := walker{f}
	w.node(n)
}

type walker struct{ f func(Node) bool }

func (w walker) node(n Node) {
	if isNil(n) || !w.f(n) {
		return
	}
	switch x := n.(type) {
	case *Query:
		w.query(x)
	case *NamedSubquery:
		w.node(x.Query)
	case *SelectQuery:
		w.selectQuery(x)
	case *SelectItem:
		w.node(x.Expr)
	case *GroupBy:
		each(w, x.Keys)
	case *GroupKey:
		w.node(x.Expr)
	case *Having:
		each(w, x.Conditions)
	case *OrderBy:
		each(w, x.Keys)
	case *OrderKey:
		w.node(x.Expr)
	case *Dataset:
		w.node(x.IRI)
	case *Term:
		each(w, x.Properties())
		each(w, x.Items())
	case *Property:
		w.node(x.Path)
		each(w, x.Objects)
	case *Path:
		w.node(x.Term)
		each(w, x.Args)
	case *Expr:
		w.node(x.Term)
		each(w, x.Args)
		w.node(x.Group)
	case Pattern:
		w.pattern(x)
	}
}

func (w walker) query(q *Query) {
	each(w, q.Prologue)
	each(w, q.Template)
	each(w, q.Resources)
	each(w, q.Datasets)
	each(w, q.Named)
	w.node(q.Body)
}

func (w walker) selectQuery(s *SelectQuery) {
	each(w, s.Items)
	w.node(s.Where)
	w.node(s.GroupBy)
	w.node(s.Having)
	w.node(s.OrderBy)
	w.node(s.Limit)
	w.node(s.Offset)
	w.node(s.Values)
}

func (w walker) pattern(p Pattern) {
	switch x := p.(type) {
	case *Group:
		for _, e := range x.Patterns {
			w.node(e)
		}
	case *Triples:
		w.node(x.Subject)
		each(w, x.Properties)
	case *Hint:
		w.node(x.Triples)
	case *Filter:
		w.node(x.Expr)
	case *Bind:
		w.node(x.Expr)
	case *Values:
		for _, r := range x.Rows {
			each(w, r.Cells)
		}
	case *Optional:
		w.node(x.Group)
	case *Union:
		each(w, x.Branches)
	case *Minus:
		w.node(x.Group)
	case *GraphPattern:
		w.node(x.Name)
		w.node(x.Group)
	case *Service:
		w.node(x.Name)
		w.node(x.Group)
	case *SubSelect:
		w.node(x.Query)
	}
}

func each[T Node](w walker, nodes []T) {
	for _, n := range nodes {
		w.node(n)
	}
}

// isNil reports whether n is nil or a nil pointer to a type that may be absent from the tree.
func isNil(n Node) bool {
	switch x := n.(type) {
	case nil:
		return true
	case *Expr:
		return x == nil
	case *Group:
		return x == nil
	case *GroupBy:
		return x == nil
	case *Having:
		return x == nil
	case *OrderBy:
		return x == nil
	case *Count:
		return x == nil
	case *Values:
		return x == nil
	case *Term:
		return x == nil
	case *SelectQuery:
		return x == nil
	}
	return false
}

// Groups calls f for g and the groups in it, innermost first. This includes groups in expressions (EXISTS), but not in
// sub-selects. A nil group is skipped.
func Groups(g *Group, f func(*Group)) {
	if g == nil {
		return
	}
	for _, p := range g.Patterns {
		for _, c := range ChildGroups(p) {
			Groups(c, f)
		}
	}
	f(g)
}

// ChildGroups returns the groups directly below a pattern, including those in its expressions. A sub-select has none.
func ChildGroups(p Pattern) []*Group {
	switch x := p.(type) {
	case *Group:
		return []*Group{x}
	case *Optional:
		return []*Group{x.Group}
	case *Minus:
		return []*Group{x.Group}
	case *GraphPattern:
		return []*Group{x.Group}
	case *Service:
		return []*Group{x.Group}
	case *Union:
		return x.Branches
	case *Filter:
		return exprGroups(x.Expr)
	case *Bind:
		return exprGroups(x.Expr)
	}
	return nil
}

func exprGroups(e *Expr) []*Group {
	var out []*Group
	if e.Group != nil {
		out = append(out, e.Group)
	}
	for _, a := range e.Args {
		out = append(out, exprGroups(a)...)
	}
	return out
}
