package rewrite_test

import (
	"fmt"
	"log"

	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// A query for Wikidata's query service is rewritten for any engine.
func ExampleQuery() {
	r, err := rewrite.Query("SELECT ?cat { hint:Query hint:optimizer 'None' . ?cat wdt:P31 wd:Q146 }",
		rewrite.Standard, rewrite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(r.Text)
	for _, n := range r.Notes {
		fmt.Println("note:", n)
	}
	// Output:
	// PREFIX wd: <http://www.wikidata.org/entity/>
	// PREFIX wdt: <http://www.wikidata.org/prop/direct/>
	// SELECT ?cat WHERE {
	//   ?cat wdt:P31 wd:Q146 .
	// }
	// note: optimizer hints removed
	// note: prefixes declared: wd, wdt
}
