package check_test

import (
	"fmt"
	"log"

	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/check"
)

func ExampleQuery() {
	q, err := sparql.Parse("SELECT ?cat ?catLabel { ?cat wdt:P31 wd:Q146 }")
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range check.Query(q, nil) {
		fmt.Printf("%d:%d %s: %s\n", p.Line, p.Column, p.Kind, p.Message)
	}
	// Output:
	// 1:13 unbound: ?catLabel is never bound: the query has no label service
}
