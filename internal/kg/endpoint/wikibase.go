package endpoint

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/entity"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/store"
	"github.com/spinachbot/spinachbot/internal/kg/finder"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Limits on the data fetched for a Wikibase entity.
const (
	mostTriples    = 20_000
	mostCandidates = 300 // entities fetched for a search
)

// fetched collects triples from a Wikibase. They are read in the same way as the embedded graph's triples.
type fetched struct {
	g     *Graph
	b     *store.Builder
	nodes map[string]bool // items and properties whose names are fetched
}

func (g *Graph) fetch() *fetched {
	return &fetched{g: g, b: store.NewBuilder(), nodes: map[string]bool{}}
}

func (f *fetched) reader() *entity.Reader {
	return entity.NewReader(f.b.Build(), "graph "+f.g.o.Graph.Name)
}

// triples runs a query with the columns s, p and o. If the column s is missing, the given subject is used.
func (f *fetched) triples(ctx context.Context, subject rdf.Term, query string) error {
	rows, err := f.g.rows(ctx, query)
	if err != nil {
		return err
	}
	for _, r := range rows {
		s, ok := r["s"]
		if !ok {
			s = subject
		}
		if err := f.b.Add(s, r["p"], r["o"]); err != nil {
			return kg.Errorf(kg.Down, "the endpoint's answer contains something that is not a triple")
		}
		for _, t := range []rdf.Term{r["p"], r["o"]} {
			if id := rdf.EntityID(t.Value); t.IsIRI() && id != "" && id[0] != 'L' {
				f.nodes[rdf.Entity+id] = true
			}
		}
	}
	return nil
}

// entity fetches an entity's own triples, its statements and their values.
func (f *fetched) entity(ctx context.Context, iri string, langs []string) error {
	e := "<" + iri + ">"
	statement := e + ` ?c ?s . FILTER(STRSTARTS(STR(?c), "` + rdf.Prop + `P"))`
	for _, q := range []string{
		"SELECT ?p ?o WHERE { " + e + " ?p ?o . FILTER(!isLiteral(?o) || LANG(?o) IN (\"\", " + quoted(langs) + ")) }",
		"SELECT ?s ?p ?o WHERE { " + statement + " ?s ?p ?o }",
		"SELECT DISTINCT ?s ?p ?o WHERE { " + strings.ReplaceAll(statement, "?s", "?t") +
			` ?t ?d ?s . FILTER(STRSTARTS(STR(?s), "` + rdf.Prefixes["wdv"] + `")) ?s ?p ?o }`,
	} {
		if err := f.triples(ctx, rdf.IRI(iri), q+" LIMIT "+strconv.Itoa(mostTriples)); err != nil {
			return err
		}
	}
	return nil
}

// names fetches the values of the given predicates for entities, such as their labels and, for hits, their aliases,
// descriptions and any other data shown.
func (f *fetched) names(ctx context.Context, iris []string, predicates []string, langs []string) error {
	for part := range slices.Chunk(iris, labelBatch) {
		q := fmt.Sprintf("SELECT ?s ?p ?o WHERE { VALUES ?s { %s } VALUES ?p { %s } ?s ?p ?o . FILTER(!isLiteral(?o) || LANG(?o) IN (\"\", %s)) } LIMIT %d",
			list(part), list(predicates), quoted(langs), mostTexts)
		if err := f.triples(ctx, rdf.Term{}, q); err != nil {
			return err
		}
	}
	return nil
}

var (
	labelPredicates = []string{rdf.RDFSLabel, rdf.Wikibase + "propertyType"}
	hitPredicates   = []string{rdf.RDFSLabel, rdf.SKOSAltLabel, rdf.SchemaDesc, rdf.Wikibase + "propertyType",
		rdf.Wikibase + "sitelinks"}
)

// wikibasePage fetches an entity with its statements and returns a reader for them. It follows a redirect.
func (g *Graph) wikibasePage(ctx context.Context, id, lang string) (*entity.Reader, error) {
	if !rdf.ValidID(id) || id[0] == 'L' {
		return nil, kg.Errorf(kg.BadID, "%.60q is not the ID of an item or property, such as Q42 or P31", id)
	}
	f, langs := g.fetch(), g.chain(lang)
	iri := rdf.Entity + id
	same, err := g.rows(ctx, "SELECT ?o WHERE { <"+iri+"> <"+rdf.Prefixes["owl"]+"sameAs> ?o } LIMIT 1")
	if err != nil {
		return nil, err
	}
	if len(same) == 1 && rdf.EntityID(same[0]["o"].Value) != "" && plainIRI(same[0]["o"].Value) {
		if err := f.b.Add(rdf.IRI(iri), rdf.IRI(rdf.Prefixes["owl"]+"sameAs"), same[0]["o"]); err != nil {
			return nil, err
		}
		iri = same[0]["o"].Value
	}
	if err := f.entity(ctx, iri, langs); err != nil {
		return nil, err
	}
	delete(f.nodes, iri) // its names have already been fetched
	if err := f.names(ctx, sortedKeys(f.nodes), labelPredicates, langs); err != nil {
		return nil, err
	}
	return f.reader(), nil
}

// wikibaseSearch finds entities by name prefix: it fetches entities whose names start with the text, or that the index
// finds, and searches them in the same way as the embedded graph.
func (g *Graph) wikibaseSearch(ctx context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
	text := strings.ToLower(strings.Join(strings.Fields(q.Text), " "))
	if text == "" {
		return &kg.SearchResult{}, nil
	}
	langs, first := g.chain(q.Language), "Q"
	typ := lookup.Entity
	if q.Type == kg.Property {
		first, typ = "P", lookup.Property
	}
	var iris []string
	if id := strings.ToUpper(text); rdf.ValidID(id) && id[0] != 'L' {
		iris = append(iris, rdf.Entity+id)
	}
	if g.o.Index != nil {
		page, err := g.o.Index.Search(ctx, lookup.Query{Text: text, Type: typ, Limit: mostCandidates, External: true})
		if err != nil {
			return nil, kg.Errorf(kg.Down, "the label index cannot be read: %v", err)
		}
		for _, h := range page.Hits {
			iris = append(iris, h.IRI)
		}
	} else {
		rows, err := g.rows(ctx, fmt.Sprintf(`SELECT DISTINCT ?x WHERE { VALUES ?p { %s } ?x ?p ?l . FILTER(LANG(?l) IN (%s) && STRSTARTS(LCASE(STR(?l)), %s) && STRSTARTS(STR(?x), "%s")) } LIMIT %d`,
			list([]string{rdf.RDFSLabel, rdf.SKOSAltLabel}), quoted(langs), rdf.Quote(text), rdf.Entity+first, mostCandidates))
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			iris = append(iris, r["x"].Value)
		}
	}
	iris = slices.DeleteFunc(iris, func(iri string) bool { return !plainIRI(iri) })
	f := g.fetch()
	if err := f.names(ctx, iris, hitPredicates, langs); err != nil {
		return nil, err
	}
	return f.reader().Search(ctx, q)
}

// facts returns the graph's data about Wikidata properties: their datatypes and how they are used.
func (g *Graph) facts(ctx context.Context, ids []string) (map[string]finder.Facts, error) {
	out := map[string]finder.Facts{}
	f := g.fetch()
	var entities, predicates []string
	for _, id := range ids {
		if !rdf.ValidID(id) {
			continue
		}
		entities = append(entities, rdf.Entity+id)
		for _, v := range finder.Variants() {
			predicates = append(predicates, rdf.Prefixes[v]+id)
		}
	}
	if err := f.names(ctx, entities, labelPredicates, []string{"en"}); err != nil {
		return nil, err
	}
	r := f.reader()
	variants, most := map[string][]string{}, map[string]int64{}
	for part := range slices.Chunk(predicates, labelBatch) {
		rows, err := g.rows(ctx, "SELECT ?p (COUNT(*) AS ?n) WHERE { VALUES ?p { "+list(part)+" } ?s ?p ?o } GROUP BY ?p")
		if err != nil {
			g.o.Log.DebugContext(ctx, "uses of properties are unknown", "graph", g.o.Graph.Name, "err", err)
			break
		}
		for _, row := range rows {
			id, v, n := rdf.EntityID(row["p"].Value), finder.Variant(row["p"].Value), number(row["n"])
			if n <= 0 {
				continue
			}
			variants[id] = append(variants[id], v)
			if v == "wdt" || v == "p" || v == "pq" {
				most[id] = max(most[id], n)
			}
		}
	}
	for _, id := range ids {
		facts := finder.Facts{Datatype: r.Datatype(id), Uses: -1}
		for _, v := range finder.Variants() {
			if slices.Contains(variants[id], v) {
				facts.Variants, facts.Uses = append(facts.Variants, v), most[id]
			}
		}
		out[id] = facts
	}
	return out, nil
}

// number reads a count. It returns -1 for anything else.
func number(t rdf.Term) int64 {
	n, err := strconv.ParseInt(t.Value, 10, 64)
	if err != nil {
		return -1
	}
	return n
}
