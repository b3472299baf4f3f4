package embedded

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/benchdata"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// adder returns a function that adds triples to b and panics if a triple is invalid.
func adder(b *Builder) func(s, p, o rdf.Term) {
	return func(s, p, o rdf.Term) {
		if err := b.Add(s, p, o); err != nil {
			panic(err)
		}
	}
}

// benchGraph is the same graph that tools/graphbench loads into other engines.
func benchGraph(testing.TB) *Graph {
	b := NewBuilder()
	benchdata.Triples(adder(b))
	return b.Graph(Options{Timeout: -1, Now: time.Now})
}

// ownQueries use features of the dialect that other engines do not support.
var ownQueries = []benchdata.Query{
	{Name: "label-service", Text: `SELECT ?x ?xLabel { ?x wdt:P17 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language "de,en" } }`},
}

// BenchmarkQuery runs one query of each class and produces its result rows.
func BenchmarkQuery(b *testing.B) {
	g := benchGraph(b)
	for _, q := range slices.Concat(benchdata.Classes, benchdata.More, ownQueries) {
		b.Run(q.Name, func(b *testing.B) {
			rows := 0
			for b.Loop() {
				tab, err := g.Query(context.Background(), q.Text)
				if err != nil {
					b.Fatal(err)
				}
				rows = len(tab.Rows)
			}
			b.ReportMetric(float64(rows), "rows")
		})
	}
}

// BenchmarkLoadSlice measures loading the reference slice (527,007 triples, gzipped).
func BenchmarkLoadSlice(b *testing.B) {
	path := sharedDir(b, "data", "slice", "wikidata-slice.nt.gz")
	for b.Loop() {
		if _, err := Load(Options{}, path); err != nil {
			b.Fatal(err)
		}
	}
}
