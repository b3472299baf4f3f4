package endpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/cache"
	"github.com/spinachbot/spinachbot/internal/kg/finder"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Limits on searches without an index.
const (
	mostFound      = 200    // entities that a query returns for ranking
	mostProperties = 5000   // properties that are searched
	mostAmong      = 10_000 // candidates
	mostNames      = 60     // entities whose uses are counted
)

// names searches the graph's labels with queries: first for names that equal the text, then for names that contain all
// its words, then for entities without a label whose IRIs contain the words. The results are ranked as in an index.
// Properties are listed once and searched in memory. Without an index, typos in entity names are not tolerated, and a
// search of a large graph may time out.
type names struct {
	g       *Graph
	entries *cache.Cache[string, []lookup.Entry] // entries by IRI; empty for an IRI that is not in the graph

	mu         sync.Mutex
	properties []lookup.Entry
	byName     *lookup.Memory // property index; nil until the properties are listed
	listed     time.Time      // when they were listed
}

// Search implements lookup.Searcher.
func (n *names) Search(ctx context.Context, q lookup.Query) (lookup.Page, error) {
	if q.Among != nil {
		all, err := n.fetch(ctx, q.Among)
		if err != nil {
			return lookup.Page{}, err
		}
		return lookup.NewMemory(all).Search(ctx, q)
	}
	var entries []lookup.Entry
	if q.Type != lookup.Property {
		iris, err := n.candidates(ctx, q.Text)
		if err != nil {
			return lookup.Page{}, err
		}
		if entries, err = n.fetch(ctx, iris); err != nil {
			return lookup.Page{}, err
		}
	}
	if q.Type != lookup.Entity {
		properties, m, err := n.list(ctx)
		if err != nil {
			return lookup.Page{}, err
		}
		if q.Type == lookup.Property {
			return m.Search(ctx, q)
		}
		property := map[string]bool{}
		for _, e := range properties {
			property[e.IRI] = true
		}
		entries = append(slices.DeleteFunc(entries, func(e lookup.Entry) bool { return property[e.IRI] }), properties...)
	}
	return lookup.NewMemory(entries).Search(ctx, q)
}

// Get implements lookup.Searcher.
func (n *names) Get(ctx context.Context, iri, language string) (lookup.Entry, bool, error) {
	found, err := n.GetMany(ctx, []string{iri}, language)
	e, ok := found[iri]
	return e, ok, err
}

// GetMany implements finder.Many.
func (n *names) GetMany(ctx context.Context, iris []string, language string) (map[string]lookup.Entry, error) {
	all, err := n.fetch(ctx, iris)
	if err != nil {
		return nil, err
	}
	out := map[string]lookup.Entry{}
	for _, e := range all {
		if old, ok := out[e.IRI]; !ok || lookup.Prefer(e.Language, language) < lookup.Prefer(old.Language, language) {
			out[e.IRI] = e
		}
	}
	return out, n.weigh(ctx, out)
}

// weigh counts the uses of Wikidata properties if entries contains few of them. If it contains many, their order
// matters less.
func (n *names) weigh(ctx context.Context, entries map[string]lookup.Entry) error {
	var ids []string
	for iri, e := range entries {
		if e.Type == lookup.Property && len(ids) <= labelBatch {
			ids = append(ids, rdf.EntityID(iri))
		}
	}
	if len(ids) == 0 || len(ids) > labelBatch || !n.g.o.Graph.IsWikibase() {
		return nil
	}
	facts, err := n.g.facts(ctx, ids)
	if err != nil {
		return err
	}
	for id, f := range facts {
		e := entries[rdf.Entity+id]
		e.Uses, e.Score, e.External = f.Uses, float64(f.Uses), f.Datatype == "external-id"
		entries[rdf.Entity+id] = e
	}
	return nil
}

// words returns the words in a string in a form that a query can search for.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// candidates returns the IRIs of entities whose names equal the text or contain its words.
func (n *names) candidates(ctx context.Context, text string) ([]string, error) {
	d := n.g.o.Graph
	text = strings.Join(strings.Fields(text), " ")
	named := n.g.properties(slices.Concat(d.Labels, d.Aliases))
	literals := []string{rdf.Quote(text)}
	for _, l := range n.g.chain("") {
		if l != "" {
			literals = append(literals, rdf.Quote(text)+"@"+l)
		}
	}
	pattern := "VALUES ?p { " + list(named) + " } ?x ?p ?l ."
	queries := []string{
		fmt.Sprintf("SELECT DISTINCT ?x WHERE { VALUES ?l { %s } %s FILTER(isIRI(?x)) } LIMIT %d", strings.Join(literals,
			" "), pattern, mostFound),
	}
	if ws := words(text); len(ws) > 0 {
		label, iri := make([]string, len(ws)), make([]string, len(ws))
		for i, w := range ws {
			label[i] = "CONTAINS(LCASE(STR(?l)), " + rdf.Quote(w) + ")"
			iri[i] = "CONTAINS(LCASE(STR(?x)), " + rdf.Quote(w) + ")"
		}
		queries = append(queries, fmt.Sprintf("SELECT DISTINCT ?x WHERE { %s FILTER(isIRI(?x) && %s) } LIMIT %d", pattern,
			strings.Join(label, " && "), mostFound))
		if types := n.g.properties(d.Types); len(types) > 0 && !d.IsWikibase() {
			queries = append(queries, fmt.Sprintf("SELECT DISTINCT ?x WHERE { VALUES ?t { %s } ?x ?t ?c . FILTER(isIRI(?x) && %s) } LIMIT %d",
				list(types), strings.Join(iri, " && "), mostFound))
		}
	}
	var out []string
	for i, q := range queries {
		rows, err := n.g.rows(ctx, q)
		if err != nil {
			if i > 0 && len(out) > 0 && ctx.Err() == nil { // the service cannot run this search; keep earlier hits
				n.g.o.Log.DebugContext(ctx, "a search was cut short", "graph", d.Name, "err", err)
				break
			}
			return nil, err
		}
		for _, r := range rows {
			if x := r["x"].Value; plainIRI(x) && !slices.Contains(out, x) && (!d.IsWikibase() || strings.HasPrefix(x, rdf.Entity+
				"Q")) {
				out = append(out, x)
			}
		}
		if len(out) >= mostFound {
			break
		}
	}
	return out, nil
}

// fetch returns entries for the IRIs that are in the graph, one entry for each language in which an IRI has a name.
func (n *names) fetch(ctx context.Context, iris []string) ([]lookup.Entry, error) {
	if len(iris) > mostAmong {
		return nil, fmt.Errorf("%w: at most %d candidates can be searched without an index, and there are %d; narrow the query, or build an index",
			lookup.ErrQuery, mostAmong, len(iris))
	}
	var out []lookup.Entry
	var missing []string
	for _, iri := range iris {
		if !plainIRI(iri) {
			continue
		}
		if es, ok := n.entries.Get(iri); ok {
			out = append(out, es...)
		} else {
			missing = append(missing, iri)
		}
	}
	for part := range slices.Chunk(missing, labelBatch) {
		es, err := n.batch(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, iri := range part {
			n.entries.Put(iri, es[iri])
			out = append(out, es[iri]...)
		}
	}
	return out, nil
}

// batch requests the names, classes and uses of a few IRIs.
func (n *names) batch(ctx context.Context, iris []string) (map[string][]lookup.Entry, error) {
	d := n.g.o.Graph
	parts := make([]map[string][]rdf.Term, 3)
	for i, names := range [][]string{d.Labels, d.Aliases, d.Descriptions} {
		var err error
		if parts[i], err = n.g.texts(ctx, iris, n.g.properties(names), nil); err != nil {
			return nil, err
		}
	}
	classes, known, err := n.classes(ctx, iris)
	if err != nil {
		return nil, err
	}
	uses := n.uses(ctx, iris)
	out := map[string][]lookup.Entry{}
	for _, iri := range iris {
		es := map[string]*lookup.Entry{}
		var order []string
		in := func(lang string) *lookup.Entry {
			if es[lang] == nil {
				es[lang] = &lookup.Entry{IRI: iri, Type: lookup.Entity, Language: lang, Uses: -1}
				order = append(order, lang)
			}
			return es[lang]
		}
		for _, l := range parts[0][iri] {
			if e := in(l.Lang); e.Label == "" {
				e.Label = l.Value
			} else if e.Label != l.Value {
				e.Aliases = append(e.Aliases, l.Value)
			}
		}
		for _, l := range parts[1][iri] {
			e := in(l.Lang)
			e.Aliases = append(e.Aliases, l.Value)
		}
		if len(order) == 0 && known[iri] {
			in("").Label = finder.NameOf(iri)
		}
		for _, lang := range order {
			e := es[lang]
			if u, ok := uses[iri]; ok {
				e.Uses, e.Score = u, float64(u)
			}
			if id := rdf.EntityID(iri); d.IsWikibase() && strings.HasPrefix(id, "P") {
				e.Type, e.Uses = lookup.Property, -1 // uses of the property's entity say nothing about uses of the property
			}
			for _, t := range parts[2][iri] {
				if t.Lang == lang || t.Lang == "" || len(order) == 1 {
					e.Infos = append(e.Infos, t.Value)
					break
				}
			}
			e.Infos = append(e.Infos, classes[iri]...)
			out[iri] = append(out[iri], *e)
		}
	}
	return out, nil
}

// classes returns the names of the entities' classes, and the set of IRIs that the graph contains data about.
func (n *names) classes(ctx context.Context, iris []string) (names map[string][]string, known map[string]bool,
	err error) {
	known, names = map[string]bool{}, map[string][]string{}
	types := n.g.properties(n.g.o.Graph.Types)
	if len(types) == 0 {
		return names, known, nil
	}
	rows, err := n.g.rows(ctx, fmt.Sprintf("SELECT ?x ?c WHERE { VALUES ?x { %s } VALUES ?t { %s } ?x ?t ?c } LIMIT %d",
		list(iris), list(types), mostTexts))
	if err != nil {
		return nil, nil, err
	}
	of := map[string][]string{}
	all := map[string]bool{}
	for _, r := range rows {
		known[r["x"].Value] = true
		if c := r["c"]; c.IsIRI() && plainIRI(c.Value) && len(of[r["x"].Value]) < 3 {
			of[r["x"].Value] = append(of[r["x"].Value], c.Value)
			all[c.Value] = true
		}
	}
	labels, err := n.g.labelsOf(ctx, sortedKeys(all), n.g.chain("en"))
	if err != nil {
		return nil, nil, err
	}
	for x, cs := range of {
		for _, c := range cs {
			if l := labels[c]; l != "" {
				names[x] = append(names[x], l)
			} else {
				names[x] = append(names[x], finder.NameOf(c))
			}
		}
	}
	return names, known, nil
}

// uses counts, for each IRI, the triples that have it as their object. IRIs whose triples could not be counted are
// absent, which affects only the order of hits.
func (n *names) uses(ctx context.Context, iris []string) map[string]int64 {
	out := map[string]int64{}
	for part := range slices.Chunk(iris, mostNames) {
		rows, err := n.g.rows(ctx, "SELECT ?x (COUNT(*) AS ?n) WHERE { VALUES ?x { "+list(part)+" } ?s ?p ?x } GROUP BY ?x")
		if err != nil {
			n.g.o.Log.DebugContext(ctx, "uses are unknown", "graph", n.g.o.Graph.Name, "err", err)
			return out
		}
		for _, iri := range part {
			out[iri] = 0
		}
		for _, r := range rows {
			out[r["x"].Value] = number(r["n"])
		}
	}
	return out
}

// list returns the graph's properties, which are requested at most once an hour.
func (n *names) list(ctx context.Context) ([]lookup.Entry, *lookup.Memory, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := n.g.o.Now(); n.byName != nil && now.Before(n.listed.Add(keep)) {
		return n.properties, n.byName, nil
	}
	uses, external, err := n.predicates(ctx)
	if err != nil {
		return nil, nil, err
	}
	var entries []lookup.Entry
	iris := sortedKeys(uses)
	found, err := n.fetch(ctx, iris)
	if err != nil {
		return nil, nil, err
	}
	named := map[string]bool{}
	for _, e := range found {
		named[e.IRI] = true
		e.Type, e.Uses, e.Score, e.External = lookup.Property, uses[e.IRI], float64(uses[e.IRI]), external[e.IRI]
		entries = append(entries, e)
	}
	for _, iri := range iris {
		if !named[iri] {
			entries = append(entries, lookup.Entry{IRI: iri, Type: lookup.Property, Label: finder.NameOf(iri), Uses: uses[iri],
				Score: float64(uses[iri])})
		}
	}
	n.properties, n.byName, n.listed = entries, lookup.NewMemory(entries), n.g.o.Now()
	return n.properties, n.byName, nil
}

// predicates returns the graph's properties and how often each is used, or -1 if that is unknown. On a Wikibase, it
// returns the property entities, and reports which of them contain external identifiers. If the graph is too large to
// count uses, it requests only declared properties.
func (n *names) predicates(ctx context.Context) (uses map[string]int64, external map[string]bool, err error) {
	uses, external = map[string]int64{}, map[string]bool{}
	queries := []string{
		"SELECT ?x (COUNT(*) AS ?n) WHERE { ?s ?x ?o } GROUP BY ?x ORDER BY DESC(?n)",
		"SELECT DISTINCT ?x WHERE { VALUES ?t { " + list([]string{rdf.Prefixes["rdf"] + "Property",
			rdf.Prefixes["owl"] + "ObjectProperty",
			rdf.Prefixes["owl"] + "DatatypeProperty"}) + " } ?x a ?t }",
	}
	if n.g.o.Graph.IsWikibase() {
		queries = []string{"SELECT ?x ?d WHERE { ?x a <" + rdf.Wikibase + "Property> . OPTIONAL { ?x <" + rdf.Wikibase +
			"propertyType> ?d } }"}
	}
	limit := mostProperties
	if n.g.o.Graph.IsWikibase() {
		limit = 4 * mostProperties
	}
	for _, q := range queries {
		rows, err := n.g.rows(ctx, fmt.Sprintf("%s LIMIT %d", q, limit))
		if k := kg.KindOf(err); k == kg.Timeout || k == kg.TooGreedy || k == kg.QueryFailed {
			if q != queries[len(queries)-1] && ctx.Err() == nil {
				continue
			}
		}
		if err != nil {
			return nil, nil, err
		}
		for _, r := range rows {
			x := r["x"].Value
			if !r["x"].IsIRI() || !plainIRI(x) {
				continue
			}
			uses[x] = -1
			if t, ok := r["n"]; ok {
				uses[x] = number(t)
			}
			external[x] = r["d"].Value == rdf.Wikibase+"ExternalId"
		}
		break
	}
	return uses, external, nil
}
