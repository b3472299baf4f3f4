// Package benchdata generates the data for benchmarking SPARQL engines: a graph of 300,001 triples structured like
// Wikidata's, and queries for it. Every engine receives the same triples: the benchmarks in package embedded build them
// in process, and tools/graphbench writes them as N-Triples for other engines.
package benchdata

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Numbers of items and classes; a class is also an item. An item has eight triples on average; a class has one more.
const (
	items   = 37_450
	classes = 401
)

// Size is the number of triples.
const Size = 300_001

// Triples calls add once for every triple, always in the same order. The triples describe a class tree and items. Each
// item has a class, a country, a person, labels in two languages, a number and a date; half of the items also have an
// image and an alias.
func Triples(add func(s, p, o rdf.Term)) {
	r := rand.New(rand.NewPCG(1, 2))
	item := func(n int) rdf.Term { return rdf.IRI(rdf.Entity + "Q" + strconv.Itoa(n+1)) }
	prop := func(n int) rdf.Term { return rdf.IRI(rdf.Direct + "P" + strconv.Itoa(n)) }
	label, alias := rdf.IRI(rdf.RDFSLabel), rdf.IRI(rdf.SKOSAltLabel)
	for n := 1; n < classes; n++ {
		add(item(n), prop(279), item(r.IntN(n)))
	}
	for n := range items {
		add(item(n), prop(31), item(r.IntN(classes)))
		add(item(n), prop(17), item(r.IntN(200)))
		add(item(n), prop(50), item(r.IntN(items)))
		add(item(n), label, rdf.LangString(fmt.Sprintf("item number %d", n), "en"))
		add(item(n), label, rdf.LangString(fmt.Sprintf("Nummer %d", n), "de"))
		add(item(n), prop(1082), rdf.Typed(strconv.Itoa(r.IntN(1_000_000)), rdf.XSDDecimal))
		add(item(n), prop(569), rdf.Typed(fmt.Sprintf("%04d-%02d-01T00:00:00Z", 1500+r.IntN(500), 1+r.IntN(12)),
			rdf.XSDDateTime))
		if n%2 == 0 {
			add(item(n), prop(18), rdf.IRI(fmt.Sprintf("http://commons.wikimedia.org/%d", n)))
			add(item(n), alias, rdf.LangString(fmt.Sprintf("no. %d", n), "en"))
		}
	}
	add(item(0), alias, rdf.LangString("the first item", "en"))
}

// WriteNTriples writes all triples as N-Triples (RDF 1.1 N-Triples, section 3).
func WriteNTriples(w io.Writer) error {
	var err error
	Triples(func(s, p, o rdf.Term) {
		if err == nil {
			_, err = fmt.Fprintf(w, "%s %s %s .\n", s, p, o)
		}
	})
	return err
}

// Query is a query and the name of its query class.
type Query struct{ Name, Text string }

// Classes contains one query for each of the seven query classes used to compare engines.
var Classes = []Query{
	{"star", "SELECT ?x ?c ?k ?n { ?x wdt:P31 ?c ; wdt:P17 ?k ; wdt:P1082 ?n }"},
	{"3-hop", "SELECT ?a ?d { ?a wdt:P50 ?b . ?b wdt:P50 ?c . ?c wdt:P50 ?d }"},
	{"group-count", "SELECT ?k (COUNT(*) AS ?n) { ?x wdt:P17 ?k } GROUP BY ?k ORDER BY DESC(?n)"},
	{"path", "SELECT ?x { ?x wdt:P31/wdt:P279* wd:Q2 }"},
	{"optional", "SELECT ?x ?i { ?x wdt:P31 ?c OPTIONAL { ?x wdt:P18 ?i } }"},
	{"regex", `SELECT ?x { ?x rdfs:label ?l FILTER(REGEX(?l, "number 1.*9$")) }`},
	{"contains", `SELECT ?x { ?x rdfs:label ?l FILTER(CONTAINS(?l, "999")) }`},
}

// More contains additional queries that every engine supports.
var More = []Query{
	{"optional label", `SELECT ?x ?l { ?x wdt:P17 ?k OPTIONAL { ?x rdfs:label ?l FILTER(LANG(?l) = "en") } }`},
	{"top ten", "SELECT ?x ?n { ?x wdt:P1082 ?n } ORDER BY DESC(?n) LIMIT 10"},
	{"sort", "SELECT ?x ?d { ?x wdt:P569 ?d } ORDER BY ?d"},
	{"dates", `SELECT (COUNT(*) AS ?n) { ?x wdt:P569 ?d FILTER(YEAR(?d) > 1900) }`},
	{"numbers", `SELECT (COUNT(*) AS ?n) (AVG(?v) AS ?m) { ?x wdt:P1082 ?v FILTER(?v > 500000) }`},
	{"distinct", "SELECT DISTINCT ?c ?k { ?x wdt:P31 ?c ; wdt:P17 ?k }"},
	{"minus", "SELECT (COUNT(*) AS ?n) { ?x wdt:P31 ?c MINUS { ?x wdt:P18 ?i } }"},
	{"not exists", "SELECT (COUNT(*) AS ?n) { ?x wdt:P31 ?c FILTER NOT EXISTS { ?x wdt:P18 ?i } }"},
	{"equal values", "SELECT (COUNT(*) AS ?n) { ?a wdt:P31 wd:Q7 ; wdt:P1082 ?x . ?b wdt:P17 wd:Q5 ; wdt:P569 ?y FILTER(?x = YEAR(?y)) }"},
	{"lookup", "SELECT ?c { wd:Q42 wdt:P31 ?c }"},
}

// Prefixes declares the prefixes used in the queries, for engines that do not predeclare them.
func Prefixes() string {
	var b strings.Builder
	for _, p := range []string{"wd", "wdt", "rdfs"} {
		fmt.Fprintf(&b, "PREFIX %s: <%s>\n", p, rdf.Prefixes[p])
	}
	return b.String()
}
