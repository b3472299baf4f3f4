package sparql

// block writes a group on several lines, from its opening brace to its closing brace.
func (p *printer) block(g *Group, indent int) {
	if p.over {
		return
	}
	p.s("{")
	if g.Notes != nil {
		p.after(g.Notes.Before)
	}
	p.after(g.Open())
	for _, x := range g.Patterns {
		p.pattern(x, indent+2)
	}
	p.lead(g.Close(), indent+2)
	p.nl(indent)
	p.s("}")
	p.afterNotes(g.Notes)
}

// braces writes a group on the current line if it is short and simple, and otherwise as a block.
func (p *printer) braces(g *Group, indent int) {
	if p.simple(g) && p.try(func() { p.inline(g, indent) }) {
		p.afterNotes(g.Notes)
		return
	}
	p.block(g, indent)
}

// simple reports whether a group may be written on one line: it has at most one statement and no comments.
func (p *printer) simple(g *Group) bool {
	if !p.o.OneLine && !p.o.NoComments && (len(g.Open())+len(g.Close()) > 0 || g.Notes != nil &&
		len(g.Notes.Before) > 0) {
		return false
	}
	if len(g.Patterns) == 0 {
		return true
	}
	if len(g.Patterns) > 1 {
		return false
	}
	switch x := g.Patterns[0].(type) {
	case *Triples:
		if len(x.Properties) > 0 && (p.noted(x.Properties[0].Notes) || p.noted(x.Properties[0].Objects[0].Notes())) {
			return false
		}
		return !p.noted(x.Notes)
	case *Filter:
		return !p.noted(x.Notes) && x.Expr.Kind != ExprExists
	case *Bind:
		return !p.noted(x.Notes)
	case *Include:
		return !p.noted(x.Notes)
	}
	return false
}

func (p *printer) inline(g *Group, indent int) {
	p.s("{ ")
	for _, x := range g.Patterns {
		if t, ok := x.(*Triples); ok {
			p.triplesLine(t, indent)
		} else {
			p.patternLine(x, indent)
		}
		p.s(" ")
	}
	p.s("}")
}

// pattern writes a pattern on separate lines.
func (p *printer) pattern(x Pattern, indent int) {
	if p.over {
		return
	}
	switch x := x.(type) {
	case *Triples:
		p.triples(x, indent)
		return
	case *Hint:
		p.leadNotes(x.Notes, indent)
		p.triples(x.Triples, indent)
		p.afterNotes(x.Notes)
		return
	case *SubSelect:
		p.leadNotes(x.Notes, indent)
		p.subQuery(x.Query, indent)
		p.afterNotes(x.Notes)
		return
	}
	n := *x.notes()
	if g, ok := x.(*Group); !ok || !p.noted(g.Notes) {
		p.leadNotes(n, indent)
	} else {
		p.lead(g.Notes.Before, indent)
		p.nl(indent)
		p.groupLine(g, indent)
		return
	}
	p.nl(indent)
	p.patternLine(x, indent)
	if _, ok := x.(*Group); !ok {
		p.afterNotes(n)
	}
}

// groupLine writes a group whose preceding comments have already been written.
func (p *printer) groupLine(g *Group, indent int) {
	bare := *g
	bare.Notes = &Notes{After: g.Notes.After}
	p.braces(&bare, indent)
}

// patternLine writes a pattern at the current position, without its own comments.
func (p *printer) patternLine(x Pattern, indent int) {
	switch x := x.(type) {
	case *Group:
		p.braces(x, indent)
	case *Filter:
		p.filter(x, indent)
	case *Bind:
		p.s("BIND(")
		p.expr(x.Expr, 0, indent+2)
		p.s(" AS ?" + x.Var + ")")
	case *Values:
		p.values(x, indent)
	case *Optional:
		p.s("OPTIONAL ")
		p.braces(x.Group, indent)
	case *Minus:
		p.s("MINUS ")
		p.braces(x.Group, indent)
	case *GraphPattern:
		p.s("GRAPH ")
		p.term(x.Name, indent)
		p.s(" ")
		p.braces(x.Group, indent)
	case *Service:
		p.s("SERVICE ")
		if x.Silent {
			p.s("SILENT ")
		}
		p.term(x.Name, indent)
		p.s(" ")
		p.braces(x.Group, indent)
	case *Include:
		p.s("INCLUDE %" + x.Name)
	case *Union:
		p.union(x, indent)
	case *SubSelect:
		p.subQuery(x.Query, indent)
	}
}

func (p *printer) union(u *Union, indent int) {
	for i, b := range u.Branches {
		if i > 0 {
			p.leadNotes(b.Notes, indent)
			p.nl(indent)
			p.s("UNION ")
		}
		if b.Notes != nil && i > 0 {
			p.groupLine(b, indent)
		} else {
			p.braces(b, indent)
		}
	}
}

func (p *printer) filter(f *Filter, indent int) {
	p.s("FILTER")
	if f.Expr.Kind == ExprExists {
		p.s(" ")
		p.expr(f.Expr, 0, indent)
		return
	}
	p.s("(")
	p.expr(f.Expr, 0, indent+2)
	p.s(")")
}

func (p *printer) values(v *Values, indent int) {
	p.s("VALUES ")
	if v.Single {
		p.s("?" + v.Vars[0])
	} else {
		p.s("(")
		for i, name := range v.Vars {
			if i > 0 {
				p.s(" ")
			}
			p.s("?" + name)
		}
		p.s(")")
	}
	p.s(" {")
	labels := p.labels(v)
	each := p.commented(v) || len(labels) > 1 && len(v.Rows) > 1
	if !each && p.try(func() { p.valuesInline(v, indent) }) {
		return
	}
	each = each || len(labels) > 0 // after several values, a label would seem to belong to the last one
	p.after(v.Open)
	for i, r := range v.Rows {
		switch {
		case each || !v.Single:
			p.leadNotes(r.Notes, indent+2)
			p.nl(indent + 2)
			p.row(v, r, indent+2)
			p.afterNotes(r.Notes)
			continue
		case i > 0 && p.try(func() { p.s(" "); p.row(v, r, indent+2) }):
		default:
			p.nl(indent + 2)
			p.row(v, r, indent+2)
		}
	}
	p.lead(v.Close, indent+2)
	p.nl(indent)
	if each {
		p.told = labels
	}
	p.s("}")
}

func (p *printer) valuesInline(v *Values, indent int) {
	for _, r := range v.Rows {
		if p.full() {
			return
		}
		p.s(" ")
		p.row(v, r, indent)
	}
	p.s(" }")
}

// commented reports whether there are comments inside a VALUES table.
func (p *printer) commented(v *Values) bool {
	if p.o.OneLine {
		return false
	}
	if !p.o.NoComments && len(v.Open)+len(v.Close) > 0 {
		return true
	}
	for _, r := range v.Rows {
		if p.noted(r.Notes) {
			return true
		}
	}
	return false
}

// labels returns the labels that will be added to the IDs in a VALUES table.
func (p *printer) labels(v *Values) []string {
	if p.o.OneLine || p.o.Label == nil || p.o.Replace {
		return nil
	}
	var out []string
	for _, r := range v.Rows {
		for _, c := range r.Cells {
			if l := p.labelOf(c); l != "" {
				out = append(out, l)
			}
		}
	}
	return out
}

func (p *printer) row(v *Values, r *ValuesRow, indent int) {
	if !v.Single {
		p.s("(")
	}
	for i, c := range r.Cells {
		if i > 0 {
			p.s(" ")
		}
		p.term(c, indent)
	}
	if !v.Single {
		p.s(")")
	}
}

// triples writes a statement over several lines, one per predicate, with the predicates aligned.
func (p *printer) triples(t *Triples, indent int) {
	p.leadNotes(t.Notes, indent)
	if len(t.Properties) > 0 {
		p.leadProperty(t.Properties[0], indent)
	}
	p.nl(indent)
	p.triplesLine(t, indent)
	p.afterNotes(t.Notes)
}

// leadProperty writes the comments above a property and those above its first object.
func (p *printer) leadProperty(x *Property, indent int) {
	p.leadNotes(x.Notes, indent)
	p.leadNotes(x.Objects[0].Notes(), indent)
}

func (p *printer) triplesLine(t *Triples, indent int) {
	p.term(t.Subject, indent+2)
	below := p.column() + 1
	if t.Subject.Kind == BlankList || t.Subject.Kind == Collection || below > indent+24 {
		below = indent + 4
	}
	if len(t.Properties) > 0 {
		p.s(" ")
		p.properties(t.Properties, below)
	}
	p.s(" .")
}

// properties writes a predicate-object list. Each predicate after the first starts a line indented by below.
func (p *printer) properties(ps []*Property, below int) {
	for i, x := range ps {
		if p.full() {
			return
		}
		if i > 0 {
			p.leadProperty(x, below)
			if p.limit > 0 {
				p.s(" ")
			} else {
				p.nl(below)
			}
		}
		p.property(x, below)
		if i+1 < len(ps) {
			p.s(" ;")
		}
		p.afterNotes(x.Notes)
	}
}

func (p *printer) property(x *Property, indent int) {
	p.path(x.Path, 0)
	broken := false
	for i, o := range x.Objects {
		if p.full() {
			return
		}
		n := o.Notes()
		if i == 0 && n != nil {
			n = &Notes{After: n.After}
		}
		if i > 0 {
			p.s(",")
			p.afterNotes(x.Objects[i-1].Notes())
		}
		broken = p.listItem(n, broken, indent+2)
		p.term(o, indent+2)
	}
	p.afterNotes(x.Objects[len(x.Objects)-1].Notes())
}

// bracket writes a property list in square brackets, on the current line if it fits, and otherwise with one line per
// predicate.
func (p *printer) bracket(t *Term, indent int) {
	if p.full() {
		return
	}
	if p.try(func() {
		if t.Notes() != nil {
			p.after(t.Notes().Open)
		}
		p.s("[ ")
		p.bracketLine(t, indent)
		p.s(" ]")
	}) {
		return
	}
	p.s("[")
	if t.Notes() != nil {
		p.after(t.Notes().Open)
	}
	for i, x := range t.Properties() {
		p.leadProperty(x, indent+2)
		p.nl(indent + 2)
		p.property(x, indent+2)
		if i+1 < len(t.Properties()) {
			p.s(" ;")
		}
		p.afterNotes(x.Notes)
	}
	p.nl(indent)
	p.s("]")
}

func (p *printer) bracketLine(t *Term, indent int) {
	for i, x := range t.Properties() {
		if p.full() {
			return
		}
		if i > 0 {
			p.s(" ; ")
		}
		if p.noted(x.Notes) || p.noted(x.Objects[0].Notes()) {
			p.over = p.limit > 0
		}
		p.property(x, indent)
	}
}
