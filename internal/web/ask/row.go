package ask

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// Limits on an explanation.
const (
	maxSolutions  = 20 // maximum number of solutions examined for a row
	maxStatements = 12 // maximum number of thing-property pairs to look up
	reasonTime    = 30 * time.Second
)

// rowData is the data for the page that explains a row.
type rowData struct {
	Base    string // URL of the result
	N       int
	Columns []string
	Cells   []Cell
	Facts   []*fact
	More    bool // not all facts that led to the row are shown
	Reason  string
}

// fact is a triple in the graph that led to a row, with its statement, if any.
type fact struct {
	Subject, Property, Object Cell
	Path                      string // the path as written in the query, if it is more than a single property
	Statements                []*statement

	subject, property string
	object            rdf.Term
}

type statement struct {
	Value      Cell
	Rank       string // preferred, normal, deprecated
	Qualifiers []pair
	References [][]pair

	refs map[string]*[]pair
}

type pair struct{ Property, Value Cell }

// row explains a row of the result: which statements in the graph, with their ranks, qualifiers and references, led to
// it.
func (s *Server) row(w http.ResponseWriter, r *http.Request, find find) error {
	n := number(r.PathValue("n"), 0)
	f, err := find(r)
	if err != nil {
		return err
	}
	if n < 1 || n > len(f.Table.Rows) {
		return refuse(http.StatusNotFound, "ask.noresult")
	}
	if !s.clients.may(s.client(r)) {
		return refuse(http.StatusTooManyRequests, "ask.often")
	}
	ctx, cancel := context.WithTimeout(r.Context(), reasonTime)
	defer cancel()
	res := resultOf(f.Table)
	d := &rowData{Base: f.base, N: n, Columns: res.Columns}
	lang := layout.LanguageOf(r)
	d.Cells = s.labeled(ctx, f.KG, lang, res.Rows[n-1:n])[0]
	src, err := s.Graph(ctx, f.KG)
	if err != nil {
		return err
	}
	if err := d.explain(ctx, src, f.Event, n-1); err != nil {
		s.Log.Info("explaining a row failed", "result", f.base, "row", n, "error", err)
		d.Reason = "ask.row.failed"
	} else if len(d.Facts) == 0 {
		d.Reason = "ask.row.none"
	}
	d.label(s.labels(ctx, f.KG, lang, d.ids()))
	decimal := s.Site.Texts(r).Decimal
	d.Cells = written([][]Cell{d.Cells}, decimal)[0]
	d.cells(func(c *Cell) { c.write(decimal) })
	s.pages.Show(w, r, http.StatusOK, "row", layout.Page{Title: s.Site.Say(r, "ask.row.title", "count", n), Section: f.section,
		Styles: []string{"ask/ask.css"}, Data: d})
	return nil
}

// explain finds the facts that led to row i of a result.
func (d *rowData) explain(ctx context.Context, src *agent.Source, f *agent.Event, i int) error {
	t, err := takeApart(cmp.Or(f.Ran, f.SPARQL))
	if err != nil {
		return err
	}
	bound := map[string]rdf.Term{}
	for j, v := range f.Table.Vars {
		if term := f.Table.Rows[i][j]; t.binds(v) && (term.IsIRI() || term.IsLiteral()) {
			bound[v] = term
		}
	}
	table, err := src.Graph.Query(ctx, t.solutions(t.patterns, bound, maxSolutions+1))
	if err != nil {
		return err
	}
	d.More = len(table.Rows) > maxSolutions
	for _, row := range table.Rows[:min(len(table.Rows), maxSolutions)] {
		here := map[string]rdf.Term{}
		for k, v := range bound {
			here[k] = v
		}
		for j, v := range table.Vars {
			if row[j].Bound() {
				here[v] = row[j]
			}
		}
		d.facts(t, here)
	}
	if !src.Explain.IsWikibase() {
		return nil
	}
	return d.statements(ctx, src)
}

// facts adds the triples in one solution.
func (d *rowData) facts(t *taken, bound map[string]rdf.Term) {
	for _, tr := range triplesOf(t.patterns) {
		f := factOf(tr, bound)
		if f == nil || slices.ContainsFunc(d.Facts, func(o *fact) bool {
			return o.subject == f.subject && o.Property == f.Property && o.object == f.object && o.Path == f.Path
		}) {
			continue
		}
		d.Facts = append(d.Facts, f)
	}
}

// triplesOf returns the triples in patterns, including those in groups, OPTIONAL and UNION. It ignores other patterns,
// such as MINUS, whose triples must not hold.
func triplesOf(patterns []sparql.Pattern) (out []sparql.Triple) {
	for _, p := range patterns {
		switch p := p.(type) {
		case *sparql.Triples:
			out = append(out, p.Triples()...)
		case *sparql.Optional:
			out = append(out, triplesOf(p.Group.Patterns)...)
		case *sparql.Group:
			out = append(out, triplesOf(p.Patterns)...)
		case *sparql.Union:
			for _, b := range p.Branches {
				out = append(out, triplesOf(b.Patterns)...)
			}
		}
	}
	return out
}

// factOf converts a triple to a fact, replacing variables with their values in bound. It returns nil if the triple is
// not a fact about a thing or did not match.
func factOf(tr sparql.Triple, bound map[string]rdf.Term) *fact {
	term := func(x *sparql.Term) rdf.Term {
		if x.Kind == sparql.Var {
			return bound[x.Name]
		}
		return x.Value()
	}
	subject := term(tr.Subject)
	if !subject.IsIRI() || isStatement(subject.Value) || tr.Path == nil {
		return nil
	}
	f := &fact{object: term(tr.Object), subject: subject.Value, Subject: cellOf(subject)}
	f.Object = cellOf(f.object)
	path := tr.Path
	if path.Kind != sparql.PathTerm {
		f.Path = pathText(path)
		for len(path.Args) > 0 && path.Kind != sparql.PathInverse && path.Kind != sparql.PathNegated {
			path = path.Args[0]
		}
		f.object = rdf.Term{} // the object is the value of the whole path, not of its first step
	}
	iri := path.IRI()
	if path.Kind == sparql.PathTerm && iri == "" && path.Term != nil {
		iri = term(path.Term).Value
	}
	if iri == "" || iri == rdf.RDFSLabel || iri == rdf.SKOSAltLabel || !f.object.Bound() && f.Path == "" {
		return nil
	}
	f.property, f.Property = rdf.EntityID(iri), cellOf(rdf.IRI(iri))
	if isStatement(f.object.Value) { // p:P39 ?st: the statement itself identifies the value
		f.Object = Cell{}
	}
	return f
}

const statementPrefix = "http://www.wikidata.org/entity/statement/"

func isStatement(iri string) bool { return strings.HasPrefix(iri, statementPrefix) }

// pathText returns a path in human-readable form.
func pathText(p *sparql.Path) string {
	q := sparql.Query{Form: sparql.Ask, Body: &sparql.SelectQuery{Where: &sparql.Group{Patterns: []sparql.Pattern{
		&sparql.Triples{Subject: &sparql.Term{Kind: sparql.Var, Name: "s"}, Properties: []*sparql.Property{{Path: p,
			Objects: []*sparql.Term{{Kind: sparql.Var, Name: "o"}}}}}}}}}
	s := sparql.Print(&q, sparql.PrintOptions{OneLine: true})
	_, s, _ = strings.Cut(s, "?s ")
	s, _, _ = strings.Cut(s, " ?o")
	return s
}

// statements looks up the statements that the facts come from.
func (d *rowData) statements(ctx context.Context, src *agent.Source) error {
	n := 0
	for _, f := range d.Facts {
		item := rdf.EntityID(f.subject)
		if item == "" || f.property == "" {
			continue
		}
		if n++; n > maxStatements {
			d.More = true
			return nil
		}
		table, err := src.Graph.Query(ctx, statementQuery(item, f.property))
		if err != nil {
			return err
		}
		f.read(table)
	}
	return nil
}

// statementQuery returns a query for everything about an item's statements with one property; both arguments must be
// valid IDs.
func statementQuery(item, property string) string {
	return `SELECT ?st ?ref ?p ?o WHERE {
  wd:` + item + ` p:` + property + ` ?st .
  { ?st ?p ?o . } UNION { ?st prov:wasDerivedFrom ?ref . ?ref ?p ?o . }
} LIMIT 2000`
}

const (
	simpleValue = "http://www.wikidata.org/prop/statement/"
	qualifier   = "http://www.wikidata.org/prop/qualifier/"
	reference   = "http://www.wikidata.org/prop/reference/"
)

// read converts the rows to statements and keeps the statements with the fact's value, if that is known.
func (f *fact) read(t *kg.Table) {
	if len(t.Vars) != 4 {
		return
	}
	all := map[string]*statement{}
	keep := map[string]bool{}
	var orderly []string
	for _, row := range t.Rows {
		st := all[row[0].Value]
		if st == nil {
			st = &statement{refs: map[string]*[]pair{}}
			all[row[0].Value] = st
			orderly = append(orderly, row[0].Value)
		}
		p, o := row[2].Value, row[3]
		local := rdf.EntityID(p)
		switch {
		case row[1].Bound():
			if local != "" && p == reference+local {
				ref := st.refs[row[1].Value]
				if ref == nil {
					ref = &[]pair{}
					st.refs[row[1].Value] = ref
				}
				*ref = append(*ref, pair{cellOf(rdf.IRI(p)), cellOf(o)})
			}
		case p == simpleValue+f.property:
			st.Value = cellOf(o)
			keep[row[0].Value] = !f.object.Bound() || o == f.object || isStatement(f.object.Value) && row[0] == f.object
		case p == rdf.Wikibase+"rank":
			st.Rank = rankOf(o.Value)
		case local != "" && p == qualifier+local:
			st.Qualifiers = append(st.Qualifiers, pair{cellOf(rdf.IRI(p)), cellOf(o)})
		}
		if isStatement(f.object.Value) && row[0].Value == f.object.Value {
			keep[row[0].Value] = true
		}
	}
	for _, name := range orderly {
		st := all[name]
		if isStatement(f.object.Value) && name != f.object.Value || !keep[name] {
			continue
		}
		for _, ref := range st.refs {
			st.References = append(st.References, *ref)
		}
		slices.SortFunc(st.References, func(a, b []pair) int { return strings.Compare(a[0].Value.Text, b[0].Value.Text) })
		f.Statements = append(f.Statements, st)
	}
}

func rankOf(iri string) string {
	switch strings.TrimPrefix(iri, rdf.Wikibase) {
	case "PreferredRank":
		return "preferred"
	case "DeprecatedRank":
		return "deprecated"
	}
	return "normal"
}

// cells calls f for every cell that can have a label.
func (d *rowData) cells(f func(*Cell)) {
	for _, x := range d.Facts {
		f(&x.Subject)
		f(&x.Property)
		f(&x.Object)
		for _, st := range x.Statements {
			f(&st.Value)
			for i := range st.Qualifiers {
				f(&st.Qualifiers[i].Property)
				f(&st.Qualifiers[i].Value)
			}
			for _, ref := range st.References {
				for i := range ref {
					f(&ref[i].Property)
					f(&ref[i].Value)
				}
			}
		}
	}
}

func (d *rowData) ids() []string {
	var out []string
	d.cells(func(c *Cell) {
		if c.ID != "" && c.Text == c.ID && !slices.Contains(out, c.ID) {
			out = append(out, c.ID)
		}
	})
	return out
}

func (d *rowData) label(labels map[string]string) {
	d.cells(func(c *Cell) {
		if l := labels[c.ID]; c.Text == c.ID && l != "" {
			c.Text = text.OneLine(text.Clean(l))
		}
	})
}
