package explain_test

import (
	"fmt"
	"log"

	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/explain"
)

func ExampleQuery() {
	labels := map[string]string{"P31": "instance of", "Q146": "house cat", "P569": "date of birth"}
	q, err := sparql.Parse("SELECT ?cat { ?cat wdt:P31 wd:Q146 ; wdt:P569 ?born } ORDER BY ?born LIMIT 5")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(explain.Query(q, func(id string) string { return labels[id] }))
	// Output:
	// Lists ?cat.
	// Conditions:
	//   - ?cat: instance of (P31) → house cat (Q146)
	//   - ?cat: date of birth (P569) → ?born
	// Sorted by ?born.
	// At most 5 rows.
}
