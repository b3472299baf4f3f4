package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// LookName is the action that shows pages of several entities at once.
const LookName = "look"

// Limits of look. The limits on lists are based on measurements; see tools/used.
const (
	maxLooks      = 6
	pageOut       = 40 // properties on a page
	pageRest      = 10 // further properties, without values
	pageIn        = 4  // properties that lead to the entity
	pageValues    = 4  // values of a property
	pageTriples   = 4000
	pageIncoming  = 1000 // maximum number of triples leading to an entity that are examined
	pageValueText = 80   // characters of a value

	pageStatements = 50 // statements of a property if only these are requested
)

type lookArgs struct {
	IDs      []string `json:"ids" about:"such as Q42 or P39"`
	Property *string  `json:"property" about:"only this property: up to 50 statements"`
	KG       *string  `json:"kg" about:"name of the graph"`
}

var lookTool = typed(&Tool{Name: LookName, Text: "best_look.md", FromText: arguments("ids...")}, look)

// look implements look(ids, property). For each entity, it shows the description, the properties with their first
// values and value counts, and the properties that lead to the entity. If a property is specified, it shows all
// statements of that property instead.
func look(ctx context.Context, env *Env, a lookArgs) (Result, error) {
	env, err := env.at(a.KG)
	if err != nil {
		return wrong(err)
	}
	if len(a.IDs) == 0 || len(a.IDs) > maxLooks {
		return wrong(fmt.Errorf("ids has %d, and 1 to %d are allowed", len(a.IDs), maxLooks))
	}
	var iris []string
	for _, id := range a.IDs {
		iri, err := env.iriOf(id)
		if err != nil {
			return wrong(err)
		}
		if !slices.Contains(iris, iri) {
			iris = append(iris, iri)
		}
	}
	var texts []string
	if property := strings.TrimSpace(deref(a.Property)); property != "" {
		for _, id := range a.IDs {
			res, err := env.statementsOf(ctx, id, property, 1, pageStatements)
			if err != nil || res.Failure != "" {
				return res, err
			}
			texts = append(texts, res.Text)
		}
		return Result{Text: strings.Join(texts, "\n")}, nil
	}
	pages, err := env.pagesOf(ctx, iris)
	if err != nil {
		return env.failed(ctx, err)
	}
	names, err := env.namesOf(ctx, pages.terms(env))
	if err != nil {
		return Result{}, err
	}
	if names.behind, err = env.behind(ctx, pages.nameless()); err != nil {
		return Result{}, err
	}
	described, err := env.described(ctx, iris)
	if err != nil {
		return Result{}, err
	}
	for _, p := range pages {
		head := names.iri(p.iri)
		if d := described[p.iri]; d != "" {
			head += ": " + d
		}
		texts = append(texts, head)
		texts = append(texts, names.page(p)...)
	}
	return Result{Text: strings.Join(texts, "\n")}, nil
}

// page contains what a graph has about an entity: its properties with their values, in the graph's order, and the
// properties that lead to it, the most used first, each with its number of triples.
type page struct {
	iri     string
	out, in []pageRow
	more    bool // more triples lead to the entity than were examined
}

// pageRow is a property on a page.
type pageRow struct {
	property string // IRI of the property itself, rather than one of its predicates
	role     bool   // the property leads from a statement, as a qualifier
	values   []rdf.Term
	n        int
}

type pages []*page

// direct returns the prefix of the predicates that lead from an entity directly to a value, or "" if the graph has
// none.
func (env *Env) direct() string {
	if env.Source.Explain.IsWikibase() {
		return rdf.Direct
	}
	return ""
}

// leadingOnly returns a filter for the predicates ?p that lead to an entity once for each statement: direct ones and
// qualifiers.
func leadingOnly(direct string) string {
	return " FILTER(STRSTARTS(STR(?p), " + rdf.Quote(direct) + ") || STRSTARTS(STR(?p), " + rdf.Quote(qualifier) + "))"
}

// pagesOf reads the pages of all entities with two queries. If the graph takes too long, the properties that lead to an
// entity may be missing. Errors come from the graph.
func (env *Env) pagesOf(ctx context.Context, iris []string) (pages, error) {
	out := make(pages, len(iris))
	at := map[string]*page{}
	var nodes, incoming []string
	only, leading := "", ""
	if d := env.direct(); d != "" {
		only = " FILTER(STRSTARTS(STR(?p), " + rdf.Quote(d) + "))"
		leading = leadingOnly(d)
	}
	for i, iri := range iris {
		out[i] = &page{iri: iri}
		at[iri] = out[i]
		nodes = append(nodes, "<"+iri+">")
		incoming = append(incoming, fmt.Sprintf("{ SELECT (<%[1]s> AS ?item) ?p (COUNT(*) AS ?n) (SAMPLE(?s) AS ?v) WHERE "+
			"{ { SELECT ?s ?p WHERE { ?s ?p <%[1]s> .%[2]s } LIMIT %[3]d } } GROUP BY ?p }", iri, leading, pageIncoming))
	}
	t, err := env.Graph.Query(ctx, "SELECT ?item ?p ?v WHERE { VALUES ?item { "+strings.Join(nodes, " ")+
		" } ?item ?p ?v ."+only+fmt.Sprintf(" } LIMIT %d", pageTriples))
	if err != nil {
		return nil, err
	}
	for i := range t.Rows {
		if p := at[termAt(t, i, "item").Value]; p != nil {
			p.add(&p.out, env.rowOf(termAt(t, i, "p").Value), termAt(t, i, "v"), 1)
		}
	}
	t, err = env.Graph.Query(ctx, "SELECT ?item ?p ?n ?v WHERE { "+strings.Join(incoming, " UNION ")+" }")
	if err != nil {
		if ctx.Err() != nil || event.IsWriteError(err) {
			return nil, err
		}
		return out, nil
	}
	for i := range t.Rows {
		if p := at[termAt(t, i, "item").Value]; p != nil && termAt(t, i, "p").Bound() {
			p.add(&p.in, env.rowOf(termAt(t, i, "p").Value), termAt(t, i, "v"), int(countAt(t, i, "n")))
		}
	}
	for _, p := range out {
		total := 0
		for _, r := range p.in {
			total += r.n
		}
		p.more = total >= pageIncoming
		slices.SortStableFunc(p.in, func(a, b pageRow) int { return b.n - a.n })
	}
	return out, nil
}

func (p *page) add(to *[]pageRow, row pageRow, v rdf.Term, n int) {
	i := slices.IndexFunc(*to, func(r pageRow) bool { return r.property == row.property && r.role == row.role })
	if i < 0 {
		i = len(*to)
		*to = append(*to, row)
	}
	r := &(*to)[i]
	if r.n += n; len(r.values) < pageValues {
		r.values = append(r.values, v)
	}
}

// rowOf returns the row for a predicate on a page, without values.
func (env *Env) rowOf(predicate string) pageRow {
	if id, ok := strings.CutPrefix(predicate, qualifier); ok && env.Source.Explain.IsWikibase() {
		return pageRow{property: rdf.Entity + id, role: true}
	}
	return pageRow{property: env.propertyIRI(predicate)}
}

// propertyIRI returns a property's entity, given its predicate: wd:P31 for wdt:P31 on a Wikibase. It returns other
// predicates unchanged.
func (env *Env) propertyIRI(predicate string) string {
	if id, ok := strings.CutPrefix(predicate, rdf.Direct); ok && env.Source.Explain.IsWikibase() {
		return rdf.Entity + id
	}
	return predicate
}

// terms returns the entities and properties on the pages that can have labels.
func (ps pages) terms(env *Env) []string {
	var all []rdf.Term
	for _, p := range ps {
		all = append(all, rdf.IRI(p.iri))
		for _, r := range append(slices.Clip(p.out), p.in...) {
			all = append(append(all, rdf.IRI(r.property)), r.values...)
		}
	}
	return irisIn(&env.Source.Explain, all...)
}

// plain reports whether a value is a string without a language tag, or a URL. Values like these are nearly always
// identifiers in other databases, files or pages.
func (n namer) plain(t rdf.Term) bool {
	if t.IsIRI() {
		return !n.entity(t.Value)
	}
	return t.Lang == "" && (t.Datatype == "" || t.Datatype == rdf.XSDString)
}

// page formats a page with one line per property. Identifiers in other databases share one line.
func (n namer) page(p *page) []string {
	var lines, rest []string
	for _, r := range p.out {
		if len(r.values) > 0 && n.plain(r.values[0]) {
			rest = append(rest, n.iri(r.property))
			continue
		}
		if len(lines) == pageOut {
			rest = append(rest, n.iri(r.property))
			continue
		}
		lines = append(lines, "  "+n.iri(r.property)+": "+n.values(r))
	}
	if len(rest) > 0 {
		lines = append(lines, "  "+say("page_rest", mostOf(rest, pageRest)))
	}
	if len(p.out) == 0 {
		lines = append(lines, "  "+say("page_nothing", nil))
	}
	if len(p.in) == 0 && strings.HasPrefix(rdf.EntityID(p.iri), "P") {
		return append(lines, "  "+say("page_property", nil))
	}
	if len(p.in) == 0 {
		return append(lines, "  "+say("page_unused", nil))
	}
	var in []string
	for _, r := range p.in {
		in = append(in, n.iri(r.property)+r.times())
	}
	return append(lines, "  "+say("page_in", map[string]any{"List": mostOf(in, pageIn), "More": p.more, "Most": pageIncoming}))
}

// times describes how often a property leads to an entity.
func (r pageRow) times() string {
	if r.role {
		return " " + say("page_role", r.n)
	}
	return fmt.Sprintf(" %d×", r.n)
}

// values formats the first values of a property and the number of remaining values.
func (n namer) values(r pageRow) string {
	if r.nameless() && len(n.behind[r.property]) > 0 {
		return fmt.Sprintf("%d× %s", r.n, n.behindText(r.property))
	}
	var out []string
	for _, v := range r.values {
		out = append(out, render.Clip(n.term(v), pageValueText))
	}
	s := strings.Join(out, ", ")
	if more := r.n - len(r.values); more > 0 {
		s += say("and_more", more)
	}
	return s
}

// described returns the descriptions of entities by IRI, if the finder has them. A non-nil error ends the run.
func (env *Env) described(ctx context.Context, iris []string) (map[string]string, error) {
	out := map[string]string{}
	var asked []kg.FindQuery
	for _, iri := range iris {
		id := env.Source.id(iri)
		q := kg.FindQuery{Text: id, Language: env.Language.Code, Limit: 1, External: true}
		if env.Source.Explain.IsWikibase() {
			if q.Type = kg.Item; strings.HasPrefix(id, "P") {
				q.Type = kg.Property
			}
		}
		asked = append(asked, q)
	}
	found, err := env.findAll(ctx, asked)
	if err != nil {
		var ge *kg.Error
		if errors.As(err, &ge) {
			return out, nil
		}
		return out, err
	}
	for i, res := range found {
		if len(res.Hits) > 0 && res.Hits[0].ID == asked[i].Text {
			out[iris[i]] = render.Clip(render.Fold(res.Hits[0].Description), 120)
		}
	}
	return out, nil
}
