package sparql_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// A query is parsed and printed in the canonical layout. Wikidata's prefixes need not be declared.
func ExampleParse() {
	q, err := sparql.Parse("select ?cat {?cat wdt:P31 wd:Q146;wdt:P569 ?born} order by desc(?born) limit 5")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(q)
	// Output:
	// SELECT ?cat WHERE {
	//   ?cat wdt:P31 wd:Q146 ;
	//        wdt:P569 ?born .
	// }
	// ORDER BY DESC(?born)
	// LIMIT 5
}

// If a query does not parse, each mistake is reported as an error.
func ExampleParse_mistake() {
	_, err := sparql.Parse("SELECT ?cat {\n  ?cat wdt:P31 Q146 .\n}")
	var mistakes sparql.Errors
	if errors.As(err, &mistakes) {
		first := mistakes.First()
		fmt.Printf("line %d, column %d: %s\n%s\n", first.Line, first.Column, first.Message, first.Hint)
	}
	// Output:
	// line 2, column 16: found "Q146" where an object should be
	// write the prefix too: wd:Q146
}

// The triples in a query, with property lists and semicolons expanded.
func ExampleInspect() {
	q, err := sparql.Parse("ASK { ?cat wdt:P31 wd:Q146 ; wdt:P21 wd:Q43445 }")
	if err != nil {
		log.Fatal(err)
	}
	sparql.Inspect(q, func(n sparql.Node) bool {
		if t, ok := n.(*sparql.Triples); ok {
			for _, t := range t.Triples() {
				fmt.Println(t.Subject.Name, t.Path.Term.Written(), t.Object.Written())
			}
		}
		return true
	})
	// Output:
	// cat wdt:P31 wd:Q146
	// cat wdt:P21 wd:Q43445
}

// Labels are added as end-of-line comments.
func ExamplePrint() {
	labels := map[string]string{"P31": "instance of", "Q146": "house cat"}
	q, err := sparql.Parse("SELECT ?cat { ?cat wdt:P31 wd:Q146 }")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(sparql.Print(q, sparql.PrintOptions{Label: func(id string) string { return labels[id] }}))
	// Output:
	// SELECT ?cat WHERE {
	//   ?cat wdt:P31 wd:Q146 . # instance of; house cat
	// }
}
