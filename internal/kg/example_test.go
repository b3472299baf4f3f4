package kg_test

import (
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// The kind of a failure determines how to handle it.
func ExampleKindOf() {
	err := fmt.Errorf("asking the endpoint: %w", kg.Errorf(kg.Timeout, "no answer after %d s", 60))
	fmt.Println(kg.KindOf(err), kg.KindOf(err) == kg.Timeout)
	var e *kg.Error
	if errors.As(err, &e) {
		fmt.Println(e, e.Transient())
	}
	// Output:
	// timeout true
	// timeout: no answer after 60 s false
}

// This example writes a table as SPARQL JSON.
func ExampleTable_WriteJSON() {
	t := kg.Table{Vars: []string{"cat"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q146")}}}
	if err := t.WriteJSON(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"head":{"vars":["cat"]},"results":{"bindings":[{"cat":{"type":"uri","value":"http://www.wikidata.org/entity/Q146"}}]}}
}
