package measure_test

import (
	"fmt"
	"log"

	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
)

// This example measures a query on its tree and with the rules of SPINACH's notebook, which miss the second triple.
func ExampleQuery() {
	const text = "SELECT ?cat { ?cat wdt:P31 wd:Q146 ; wdt:P569 ?born }"
	q, err := sparql.Parse(text)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("tree:", measure.Query(q).Relations)
	fmt.Println("notebook:", measure.Notebook(text).Relations)
	fmt.Println("shape:", measure.Shape(q))
	// Output:
	// tree: 2
	// notebook: 1
	// shape: SELECT?v{?vwdt:Pwd:Q;wdt:P?v}
}
