package sparql

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// PrintOptions controls how [Print] writes a query. The zero value is the canonical layout.
type PrintOptions struct {
	// Label returns the label of a Q, P or L ID, or "". If it is set, the labels of the IDs on a line are added as a
	// comment at the end of the line. Labels are untrusted: line breaks and control characters are removed.
	Label func(id string) string
	// ID returns the ID to pass to Label for an IRI, or "" if the IRI does not have a label. If ID is nil, the IDs are
	// Wikidata's.
	ID func(iri string) string
	// Replace writes labels instead of IDs in names, as in wdt:[instance of], for annotators. The result is not SPARQL.
	Replace bool
	// OneLine prints everything on one line, without comments.
	OneLine bool
	// NoComments omits comments.
	NoComments bool
	// Parens puts parentheses around sums and products such as a - b + c, which some engines parse as a - (b + c).
	Parens bool

	posting bool // see PostingForm
	expand  bool // write constants as full IRIs; see sameMeaning
}

// lineWidth is the maximum width, in characters, of a line that contains a whole group, list of values or property
// list.
const lineWidth = 100

// String returns the query in the canonical layout: two spaces per level, one statement per line, the predicates of one
// subject aligned, a space before dots and semicolons, keywords in upper case, double quotation marks. Comments are
// kept, blank lines are not. The layout depends only on the tree, so parsing and printing the result again does not
// change it.
func (q *Query) String() string { return Print(q, PrintOptions{}) }

// Print returns the query as text in the given form, with a line break at the end (except with OneLine).
func Print(q *Query, o PrintOptions) string {
	p := &printer{o: o, b: make([]byte, 0, len(q.Text)+len(q.Text)/4+64)}
	if q.Form == Update {
		return strings.TrimSpace(q.Text)
	}
	p.query(q)
	if o.OneLine {
		return strings.TrimSpace(string(p.b))
	}
	p.endLine()
	return string(append(p.b, '\n'))
}

// id returns the ID to use when requesting an IRI's label.
func (o *PrintOptions) id(iri string) string {
	if o.ID != nil {
		return o.ID(iri)
	}
	return rdf.EntityID(iri)
}

type printer struct {
	o     PrintOptions
	b     []byte
	line  int       // offset of the current line in b
	trail []Comment // comments to write at the end of the current line
	told  []string  // labels inside the VALUES table that ends on the current line
	ids   []string  // IDs on the current line, if labels were requested
	limit int       // the maximum offset in b during try; otherwise 0
	over  bool      // the text passed to try does not fit on one line
}

func (p *printer) s(s string) { p.b = append(p.b, s...) }

// nl ends the line and starts a new, indented one.
func (p *printer) nl(indent int) {
	if p.limit > 0 {
		p.over = true
		return
	}
	if p.o.OneLine {
		if n := len(p.b); n > 0 && p.b[n-1] != ' ' {
			p.s(" ")
		}
		return
	}
	p.endLine()
	if len(p.b) > 0 {
		p.b = append(p.b, '\n')
	}
	p.line = len(p.b)
	for range indent {
		p.b = append(p.b, ' ')
	}
}

// column returns the width of the current line so far, in characters.
func (p *printer) column() int { return utf8.RuneCount(p.b[p.line:]) }

// endLine writes the comments and labels that belong to the current line.
func (p *printer) endLine() {
	var parts []string
	if len(p.trail) > 0 {
		for _, c := range p.trail {
			if p.repeats(c.Text) {
				continue
			}
			parts = append(parts, p.commentText(c.Text))
		}
		p.trail = p.trail[:0]
	}
	p.told = nil
	if len(p.ids) > 0 {
		parts = p.labeled(parts)
		p.ids = p.ids[:0]
	}
	if len(parts) > 0 {
		if len(p.b) > p.line {
			p.s(" ")
		}
		p.s(strings.Join(parts, " "))
	}
}

// repeats reports whether a comment after a VALUES table only lists the labels that have been added inside it.
func (p *printer) repeats(comment string) bool {
	listed := strings.FieldsFunc(strings.TrimLeft(comment, "# "), func(r rune) bool { return r == ',' || r == ';' })
	return len(p.told) > 0 && !slices.ContainsFunc(listed, func(s string) bool {
		return !slices.Contains(p.told, strings.TrimSpace(s))
	})
}

// after saves comments for the end of the current line.
func (p *printer) after(cs []Comment) {
	if len(cs) == 0 || p.o.OneLine || p.o.NoComments {
		return
	}
	if p.limit > 0 {
		p.over = true
		return
	}
	p.trail = append(p.trail, cs...)
}

func (p *printer) afterNotes(n *Notes) {
	if n != nil {
		p.after(n.After)
	}
}

// lead writes each comment on a line of its own.
func (p *printer) lead(cs []Comment, indent int) {
	if len(cs) == 0 || p.o.OneLine || p.o.NoComments {
		return
	}
	for _, c := range cs {
		p.nl(indent)
		if p.over {
			return
		}
		p.s(p.commentText(c.Text))
	}
}

func (p *printer) leadNotes(n *Notes, indent int) {
	if n != nil {
		p.lead(n.Before, indent)
	}
}

// noted reports whether the notes contain anything that will be printed.
func (p *printer) noted(n *Notes) bool {
	return n != nil && !p.o.OneLine && !p.o.NoComments && len(n.Before)+len(n.Open)+len(n.After) > 0
}

// try runs f, which writes on the current line. If the line becomes too long or needs a line break, nothing is written
// and try returns false.
func (p *printer) try(f func()) bool {
	if p.limit > 0 { // already trying: the outer attempt decides whether the text fits
		f()
		return true
	}
	if p.o.OneLine {
		f()
		return true
	}
	n, ids := len(p.b), len(p.ids)
	p.limit = n + 4*(lineWidth-p.column()) // a limit in bytes; characters are counted below
	if p.limit > n {
		f()
	} else {
		p.over = true
	}
	p.limit = 0
	ok := !p.over && p.column() <= lineWidth
	p.over = false
	if !ok {
		p.b, p.ids = p.b[:n], p.ids[:ids]
	}
	return ok
}

// full reports whether an attempt to fit text on one line has already failed.
func (p *printer) full() bool {
	if p.limit > 0 && len(p.b) > p.limit {
		p.over = true
	}
	return p.over
}

func (p *printer) query(q *Query) {
	p.lead(q.Header, 0)
	for _, d := range q.Prologue {
		p.leadNotes(d.Notes, 0)
		p.nl(0)
		if d.Base {
			p.s("BASE ")
		} else {
			p.s("PREFIX " + d.Prefix + ": ")
		}
		p.iriRef(d.IRI)
		p.afterNotes(d.Notes)
	}
	for _, n := range q.Named {
		if n.First {
			p.named(n)
		}
	}
	p.leadNotes(q.Body.Notes, 0)
	p.nl(0)
	p.head(q)
	own := false
	if q.Body.Notes != nil {
		own = p.afterHead(q.Body.Notes, 0)
	}
	for _, d := range q.Datasets {
		p.leadNotes(d.Notes, 0)
		p.nl(0)
		p.s("FROM ")
		if d.Named {
			p.s("NAMED ")
		}
		p.term(d.IRI, 0)
		p.afterNotes(d.Notes)
		own = true
	}
	for _, n := range q.Named {
		if !n.First {
			p.named(n)
			own = true
		}
	}
	if q.Form != Describe || q.Body.Where.Span != (Span{}) || len(q.Body.Where.Patterns) > 0 {
		p.where(q.Body, q.Form, 0, own)
	}
	p.modifiers(q.Body, 0)
	p.lead(q.Tail, 0)
}

// afterHead writes comments that follow a query's head and reports whether they end its line.
func (p *printer) afterHead(n *Notes, indent int) bool {
	if len(n.After) == 0 || p.o.OneLine || p.o.NoComments {
		return false
	}
	for _, c := range n.After {
		if c.Own {
			p.lead([]Comment{c}, indent)
		} else {
			p.after([]Comment{c})
		}
	}
	return true
}

func (p *printer) head(q *Query) {
	switch q.Form {
	case Select:
		p.selectHead(q.Body, 0)
	case Ask:
		p.s("ASK")
	case Construct:
		p.s("CONSTRUCT")
		if q.Short {
			return
		}
		p.s(" {")
		p.after(q.Braces[0])
		for _, t := range q.Template {
			p.triples(t, 2)
		}
		p.lead(q.Braces[1], 2)
		p.nl(0)
		p.s("}")
	case Describe:
		p.s("DESCRIBE")
		if q.Body.Star {
			p.s(" *")
		}
		for _, r := range q.Resources {
			p.s(" ")
			p.term(r, 2)
		}
	}
}

func (p *printer) selectHead(s *SelectQuery, indent int) {
	p.s("SELECT")
	switch {
	case s.Distinct:
		p.s(" DISTINCT")
	case s.Reduced:
		p.s(" REDUCED")
	}
	if s.Star {
		p.s(" *")
	}
	broken := false
	for _, it := range s.Items {
		broken = p.listItem(it.Notes, broken, indent+2)
		if it.Expr == nil {
			p.s("?" + it.Var)
		} else {
			p.s("(")
			p.expr(it.Expr, 0, indent+2)
			p.s(" AS ?" + it.Var + ")")
		}
		p.afterNotes(it.Notes)
	}
}

// listItem starts an element of a list: on the same line, or on a new one if there are comments. It reports whether the
// element after it must start on a new line because a comment ends the current one.
func (p *printer) listItem(n *Notes, broken bool, indent int) bool {
	if !p.noted(n) {
		if broken {
			p.nl(indent)
		} else {
			p.s(" ")
		}
		return false
	}
	p.lead(n.Before, indent)
	if broken || len(n.Before) > 0 {
		p.nl(indent)
	} else {
		p.s(" ")
	}
	return len(n.After) > 0
}

// where writes the pattern. newLine reports whether the line with the query's head has ended.
func (p *printer) where(s *SelectQuery, f Form, indent int, newLine bool) {
	if last := len(s.Items); last > 0 && p.noted(s.Items[last-1].Notes) && len(s.Items[last-1].Notes.After) > 0 {
		newLine = true
	}
	if newLine || p.column()+len(" WHERE {") > lineWidth {
		p.nl(indent)
	} else {
		p.s(" ")
	}
	if f != Ask || newLine {
		p.s("WHERE ")
	}
	p.block(s.Where, indent)
}

func (p *printer) named(n *NamedSubquery) {
	p.leadNotes(n.Notes, 0)
	p.nl(0)
	if n.First {
		p.s("WITH %" + n.Name + " AS {")
	} else {
		p.s("WITH {")
	}
	p.subQuery(n.Query, 2)
	p.lead(n.Close, 2)
	p.nl(0)
	p.s("}")
	if !n.First {
		p.s(" AS %" + n.Name)
	}
	p.afterNotes(n.Notes)
}

func (p *printer) subQuery(s *SelectQuery, indent int) {
	p.leadNotes(s.Notes, indent)
	p.nl(indent)
	p.selectHead(s, indent)
	own := false
	if s.Notes != nil {
		own = p.afterHead(s.Notes, indent)
	}
	p.where(s, Select, indent, own)
	p.modifiers(s, indent)
}

func (p *printer) modifiers(s *SelectQuery, indent int) {
	if g := s.GroupBy; g != nil {
		p.leadNotes(g.Notes, indent)
		p.nl(indent)
		p.s("GROUP BY")
		broken := false
		for _, k := range g.Keys {
			broken = p.listItem(k.Notes, broken, indent+2)
			p.groupKey(k, indent+2)
			p.afterNotes(k.Notes)
		}
		p.afterNotes(g.Notes)
	}
	if h := s.Having; h != nil {
		p.leadNotes(h.Notes, indent)
		p.nl(indent)
		p.s("HAVING")
		for _, c := range h.Conditions {
			p.s(" (")
			p.expr(c, 0, indent+2)
			p.s(")")
		}
		p.afterNotes(h.Notes)
	}
	if o := s.OrderBy; o != nil {
		p.leadNotes(o.Notes, indent)
		p.nl(indent)
		p.s("ORDER BY")
		broken := false
		for _, k := range o.Keys {
			broken = p.listItem(k.Notes, broken, indent+2)
			p.orderKey(k, indent+2)
			p.afterNotes(k.Notes)
		}
		p.afterNotes(o.Notes)
	}
	p.count("LIMIT ", s.Limit, indent)
	p.count("OFFSET ", s.Offset, indent)
	if s.Values != nil {
		p.pattern(s.Values, indent)
	}
}

func (p *printer) groupKey(k *GroupKey, indent int) {
	plain := k.As == "" && (isTerm(k.Expr, Var) || isCall(k.Expr))
	if !plain {
		p.s("(")
	}
	p.expr(k.Expr, 0, indent)
	if k.As != "" {
		p.s(" AS ?" + k.As)
	}
	if !plain {
		p.s(")")
	}
}

func (p *printer) orderKey(k *OrderKey, indent int) {
	switch {
	case k.Descending:
		p.s("DESC")
	case k.Explicit:
		p.s("ASC")
	case isTerm(k.Expr, Var) || isCall(k.Expr):
		p.expr(k.Expr, 0, indent)
		return
	}
	p.s("(")
	p.expr(k.Expr, 0, indent)
	p.s(")")
}

func isTerm(e *Expr, k TermKind) bool { return e.Kind == ExprTerm && e.Term.Kind == k }

func isCall(e *Expr) bool {
	return e.Kind == ExprBuiltin || e.Kind == ExprFunction || e.Kind == ExprAggregate
}

func (p *printer) count(word string, c *Count, indent int) {
	if c == nil {
		return
	}
	p.leadNotes(c.Notes, indent)
	p.nl(indent)
	p.s(word + strconv.FormatInt(c.N, 10))
	p.afterNotes(c.Notes)
}
