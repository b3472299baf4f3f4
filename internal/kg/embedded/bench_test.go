package embedded

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// benchGraph has about 300,000 triples in Wikidata's shape: items with a class, a country, a person, labels in two languages, numbers and dates, and a tree of
// classes. docs/benchmarks.md has the figures of other engines on the same data.
func benchGraph(b testing.TB) *Graph {
	r := rand.New(rand.NewPCG(1, 2))
	bd := NewBuilder()
	item := func(n int) rdf.Term { return rdf.IRI(fmt.Sprintf("%sQ%d", rdf.Entity, n+1)) }
	prop := func(n int) rdf.Term { return rdf.IRI(fmt.Sprintf("%sP%d", rdf.Direct, n)) }
	label, alias := rdf.IRI(rdf.RDFSLabel), rdf.IRI(rdf.SKOSAltLabel)
	const items, classes = 33_000, 400
	for n := 1; n < classes; n++ {
		bd.add(item(n), prop(279), item(r.IntN(n)))
	}
	for n := range items {
		bd.add(item(n), prop(31), item(r.IntN(classes)))
		bd.add(item(n), prop(17), item(r.IntN(200)))
		bd.add(item(n), prop(50), item(r.IntN(items)))
		bd.add(item(n), label, rdf.LangString(fmt.Sprintf("item number %d", n), "en"))
		bd.add(item(n), label, rdf.LangString(fmt.Sprintf("Nummer %d", n), "de"))
		bd.add(item(n), prop(1082), rdf.Typed(fmt.Sprint(r.IntN(1_000_000)), rdf.XSDDecimal))
		bd.add(item(n), prop(569), rdf.Typed(fmt.Sprintf("%04d-%02d-01T00:00:00Z", 1500+r.IntN(500), 1+r.IntN(12)), rdf.XSDDateTime))
		if n%2 == 0 {
			bd.add(item(n), prop(18), rdf.IRI(fmt.Sprintf("http://commons.wikimedia.org/%d", n)))
			bd.add(item(n), alias, rdf.LangString(fmt.Sprintf("no. %d", n), "en"))
		}
	}
	return bd.Graph(Options{Timeout: -1, Now: time.Now})
}

// benchQueries are the classes of targets.md and some of ours.
var benchQueries = []struct{ name, query string }{
	{"star", "SELECT ?x ?c ?k ?n { ?x wdt:P31 ?c ; wdt:P17 ?k ; wdt:P1082 ?n }"},
	{"3-hop", "SELECT ?a ?d { ?a wdt:P50 ?b . ?b wdt:P50 ?c . ?c wdt:P50 ?d }"},
	{"group-count", "SELECT ?k (COUNT(*) AS ?n) { ?x wdt:P17 ?k } GROUP BY ?k ORDER BY DESC(?n)"},
	{"path", "SELECT ?x { ?x wdt:P31/wdt:P279* wd:Q2 }"},
	{"optional", "SELECT ?x ?i { ?x wdt:P17 wd:Q5 OPTIONAL { ?x wdt:P18 ?i } }"},
	{"optional-all", "SELECT ?x ?i { ?x wdt:P31 ?c OPTIONAL { ?x wdt:P18 ?i } }"},
	{"regex", `SELECT ?x { ?x rdfs:label ?l FILTER(REGEX(?l, "number 1.*9$")) }`},
	{"contains", `SELECT ?x { ?x rdfs:label ?l FILTER(CONTAINS(?l, "999")) }`},
	{"label-service", `SELECT ?x ?xLabel { ?x wdt:P17 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language "de,en" } }`},
	{"label-optional", `SELECT ?x ?l { ?x wdt:P17 ?k OPTIONAL { ?x rdfs:label ?l FILTER(LANG(?l) = "en") } }`},
	{"top-ten", "SELECT ?x ?n { ?x wdt:P1082 ?n } ORDER BY DESC(?n) LIMIT 10"},
	{"sort", "SELECT ?x ?d { ?x wdt:P569 ?d } ORDER BY ?d"},
	{"dates", `SELECT (COUNT(*) AS ?n) { ?x wdt:P569 ?d FILTER(YEAR(?d) > 1900) }`},
	{"distinct", "SELECT DISTINCT ?c ?k { ?x wdt:P31 ?c ; wdt:P17 ?k }"},
	{"minus", "SELECT (COUNT(*) AS ?n) { ?x wdt:P31 ?c MINUS { ?x wdt:P18 ?i } }"},
	{"lookup", "SELECT ?c { wd:Q42 wdt:P31 ?c }"},
}

// BenchmarkQuery measures one query of each class, result rows included.
func BenchmarkQuery(b *testing.B) {
	g := benchGraph(b)
	for _, q := range benchQueries {
		b.Run(q.name, func(b *testing.B) {
			rows := 0
			for b.Loop() {
				tab, err := g.Query(context.Background(), q.query)
				if err != nil {
					b.Fatal(err)
				}
				rows = len(tab.Rows)
			}
			b.ReportMetric(float64(rows), "rows")
		})
	}
}

// BenchmarkLoadSlice measures reading the reference slice (527,007 triples, gzip).
func BenchmarkLoadSlice(b *testing.B) {
	path := sharedDir(b, "data", "slice", "wikidata-slice.nt.gz")
	for b.Loop() {
		if _, err := Load(Options{}, path); err != nil {
			b.Fatal(err)
		}
	}
}
