package ask

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// missingData is the data for the page that explains why something is not in a result.
type missingData struct {
	Base    string // URL of the result
	Words   string // what the reader entered
	Thing   Cell   // what was found
	Others  []Cell // other things with the same name
	Columns []string
	Column  string
	Row     int  // the row that contains the thing, or 0
	Fits    bool // all conditions hold, so LIMIT, grouping or ordering excludes it
	Fails   []failing
	Open    string   // editor URL for the query without any of the conditions in Fails, if no single removal is enough
	Changes []string // brief descriptions of changes to the query that would include the thing
	Reason  string   // message key if there is no explanation
}

// failing is a condition that does not hold for a thing.
type failing struct {
	Text string
	Only bool   // whether the thing would be in the result if only this condition were dropped
	Has  []Cell // values that the thing has for the condition's property or variables
	None bool   // the thing has no value for the property in the condition
	Open string // editor URL for the query with this condition removed, if that includes the thing

	condition condition
}

// missing explains why a thing is not in the result: which of the query's conditions do not hold for it, and which
// small changes to the query would include it.
func (s *Server) missing(w http.ResponseWriter, r *http.Request, find find) error {
	f, err := find(r)
	if err != nil {
		return err
	}
	if f.Table.Ask {
		return refuse(http.StatusNotFound, "ask.noresult")
	}
	if !s.clients.may(s.client(r)) {
		return refuse(http.StatusTooManyRequests, "ask.often")
	}
	ctx, cancel := context.WithTimeout(r.Context(), reasonTime)
	defer cancel()
	d := &missingData{Base: f.base, Words: strings.TrimSpace(text.Clip(text.OneLine(text.Clean(r.URL.Query().Get("item"))), 200)),
		Columns: itemColumns(f.Event), Column: r.URL.Query().Get("column")}
	src, err := s.Graph(ctx, f.KG)
	if err != nil {
		return err
	}
	if err := s.whyMissing(ctx, src, f.Event, d, layout.LanguageOf(r)); err != nil {
		s.Log.Info("explaining why something is missing failed", "result", f.base, "item", d.Words, "error", err)
		d.Reason = "ask.missing.failed"
	}
	for i := range d.Fails {
		d.Fails[i].Has = written([][]Cell{d.Fails[i].Has}, s.Site.Texts(r).Decimal)[0]
	}
	s.pages.Show(w, r, http.StatusOK, "missing", layout.Page{Title: s.Site.Say(r, "ask.missing.title"), Section: f.section,
		Styles: []string{"ask/ask.css"}, Data: d})
	return nil
}

// itemColumns returns the columns of a result that contain things.
func itemColumns(f *agent.Event) []string {
	var out []string
	for i, v := range f.Table.Vars {
		if slices.ContainsFunc(f.Table.Rows, func(row []rdf.Term) bool { return row[i].IsIRI() }) {
			out = append(out, v)
		}
	}
	return out
}

func (s *Server) whyMissing(ctx context.Context, src *agent.Source, f *agent.Event, d *missingData, lang string) error {
	switch {
	case d.Words == "":
		return nil
	case !src.Explain.IsWikibase():
		d.Reason = "ask.missing.graph"
		return nil
	case len(d.Columns) == 0:
		d.Reason = "ask.missing.column"
		return nil
	}
	if !slices.Contains(d.Columns, d.Column) {
		d.Column = d.Columns[0]
		for _, c := range f.Columns {
			if slices.Contains(d.Columns, c) {
				d.Column = c
				break
			}
		}
	}
	if err := d.find(ctx, src, lang); err != nil || d.Thing.ID == "" {
		d.Reason = "ask.missing.unknown"
		return err
	}
	thing := rdf.IRI(rdf.Entity + d.Thing.ID)
	at := slices.Index(f.Table.Vars, d.Column)
	if d.Row = slices.IndexFunc(f.Table.Rows, func(row []rdf.Term) bool { return row[at] == thing }) + 1; d.Row > 0 {
		return nil
	}
	t, err := takeApart(cmp.Or(f.Ran, f.SPARQL))
	if err != nil {
		return err
	}
	if !t.binds(d.Column) {
		d.Reason = "ask.missing.column"
		return nil
	}
	try := &trial{ctx: ctx, src: src, t: t, bound: map[string]rdf.Term{d.Column: thing}}
	if err := try.conditions(d); err != nil {
		return err
	}
	try.variants(d, cmp.Or(f.Ran, f.SPARQL))
	if err := try.relax(d); err != nil {
		return err
	}
	for i := range d.Fails {
		d.Fails[i].Has = s.labeled(ctx, f.KG, lang, [][]Cell{d.Fails[i].Has})[0]
	}
	return nil
}

// find looks up the thing that the reader entered.
func (d *missingData) find(ctx context.Context, src *agent.Source, lang string) error {
	q := kg.SearchQuery{Text: d.Words, Language: lang, Type: kg.Item, Limit: 6}
	found, err := src.Graph.Search(ctx, q)
	if err != nil {
		return err
	}
	for i, hit := range found.Hits {
		if !rdf.ValidID(hit.ID) {
			continue
		}
		shown := text.OneLine(text.Clean(cmp.Or(hit.Label, hit.ID)))
		if hit.Description != "" {
			shown += " (" + text.OneLine(text.Clean(hit.Description)) + ")"
		}
		c := Cell{Kind: "item", ID: hit.ID, Text: shown, URL: entityURL(hit.ID)}
		if i == 0 {
			d.Thing = c
		} else {
			d.Others = append(d.Others, c)
		}
	}
	return nil
}

// trial tests parts of a query on one thing.
type trial struct {
	ctx   context.Context
	src   *agent.Source
	t     *taken
	bound map[string]rdf.Term
}

// holds reports whether the patterns have a solution for the thing.
func (x *trial) holds(patterns []sparql.Pattern) (bool, error) {
	table, err := x.src.Graph.Query(x.ctx, x.t.solutions(patterns, x.bound, 1))
	return !table.Empty(), err
}

// maxConditions is the maximum number of a query's conditions that are tested.
const maxConditions = 12

// conditions finds the conditions that do not hold for the thing.
func (x *trial) conditions(d *missingData) error {
	ok, err := x.holds(x.t.patterns)
	if err != nil {
		return err
	}
	if ok {
		d.Fits = true
		return nil
	}
	for _, c := range x.t.conditions[:min(len(x.t.conditions), maxConditions)] {
		alone := true
		if c.triple != nil && uses(c.triple, d.Column) {
			if alone, err = x.holds([]sparql.Pattern{c.pattern}); err != nil {
				return err
			}
		}
		only := false
		if rest := x.t.without(c.pattern); len(rest) > 0 {
			if only, err = x.holds(rest); err != nil && kg.KindOf(err) != kg.SyntaxError {
				return err
			}
		}
		if alone && !only {
			continue
		}
		f := failing{Text: c.Text, Only: only, condition: c}
		if c.triple == nil && only {
			f.Has, err = x.compared(c)
		} else {
			f.Has, f.None, err = x.has(c.triple)
		}
		if err != nil {
			return err
		}
		d.Fails = append(d.Fails, f)
	}
	return nil
}

// relax adds editor links for queries that include the thing: without one condition if that is enough, and otherwise
// without all conditions that do not hold.
func (x *trial) relax(d *missingData) error {
	rest := x.t.patterns
	var all []condition
	enough := false
	for i := range d.Fails {
		f := &d.Fails[i]
		if f.Only {
			f.Open, enough = x.editor(f.condition), true
		}
		all = append(all, f.condition)
		rest = slices.DeleteFunc(slices.Clone(rest), func(p sparql.Pattern) bool { return p == f.condition.pattern })
	}
	if enough || len(all) < 2 || len(rest) == 0 {
		return nil
	}
	ok, err := x.holds(rest)
	if ok {
		d.Open = x.editor(all...)
	}
	if kg.KindOf(err) == kg.SyntaxError {
		return nil
	}
	return err
}

// maxAddress is the maximum length of an editor link in bytes; proxies may reject longer links.
const maxAddress = 8000

// editor returns the editor URL for the query with the given conditions removed, or "" if it would be too long.
func (x *trial) editor(without ...condition) string {
	a := "/editor?" + url.Values{"graph": {x.src.Name()}, "q": {x.t.relaxed(without)}}.Encode()
	if len(a) > maxAddress {
		return ""
	}
	return a
}

func uses(t *sparql.Triple, name string) bool {
	return t.Subject.Kind == sparql.Var && t.Subject.Name == name || t.Object.Kind == sparql.Var && t.Object.Name == name
}

// has returns the thing's values for the property in a condition; none reports whether there are no such values.
func (x *trial) has(t *sparql.Triple) (has []Cell, none bool, err error) {
	if t == nil || t.Subject.Kind != sparql.Var || !x.bound[t.Subject.Name].Bound() || t.Path == nil {
		return nil, false, nil
	}
	p := t.Path
	for p.Kind == sparql.PathSeq && len(p.Args) > 0 {
		p = p.Args[0]
	}
	if p.IRI() == "" {
		return nil, false, nil
	}
	table, err := x.src.Graph.Query(x.ctx, "SELECT DISTINCT ?value WHERE { "+x.bound[t.Subject.Name].String()+" "+
		rdf.IRI(p.IRI()).String()+" ?value . } LIMIT 5")
	if err != nil {
		return nil, false, err
	}
	for _, row := range table.Rows {
		has = append(has, cellOf(row[0]))
	}
	return has, len(has) == 0, nil
}

// compared returns the thing's values for the variables in a condition that is not a triple, such as a filter.
func (x *trial) compared(c condition) ([]Cell, error) {
	table, err := x.src.Graph.Query(x.ctx, x.t.solutions(x.t.without(c.pattern), x.bound, 3))
	if err != nil {
		return nil, err
	}
	var out []Cell
	used := variables(c.Text)
	for i, v := range table.Vars {
		for _, row := range table.Rows {
			if cell := cellOf(row[i]); slices.Contains(used, v) && !x.bound[v].Bound() && cell.Kind != "" &&
				!slices.Contains(out, cell) {
				out = append(out, cell)
			}
		}
	}
	return out, nil
}

// variants lists the changes to a query that would include the thing. Variants that cannot be run are omitted.
func (x *trial) variants(d *missingData, query string) {
	e := &x.src.Explain
	expand := func(names []string) (out []string) {
		for _, n := range names {
			if iri, ok := e.Expand(n); ok {
				out = append(out, iri)
			}
		}
		return out
	}
	o := variant.Options{Wikidata: true, Types: expand(e.Types), Labels: expand(e.Labels)}
	if sub := expand([]string{e.Subclass}); len(sub) > 0 {
		o.Subclass = sub[0]
	}
	all, err := variant.Of(query, o)
	if err != nil {
		return
	}
	for _, v := range all[:min(len(all), maxConditions)] {
		t, err := takeApart(v.SPARQL)
		if err != nil || !t.binds(d.Column) || v.Kind == variant.Limit || v.Kind == variant.Ties {
			continue
		}
		other := *x
		other.t = t
		if ok, err := other.holds(t.patterns); ok && !d.Fits {
			d.Changes = append(d.Changes, v.What)
		} else if errors.Is(err, context.DeadlineExceeded) {
			return
		}
	}
}
