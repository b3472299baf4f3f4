package tool

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// TestMemoryKeeps checks that the memory keeps a response if both the call and the response are small and the result
// does not depend on the time, regardless of how the query is written.
func TestMemoryKeeps(t *testing.T) {
	big := &kg.Table{Vars: []string{"x"}, Rows: [][]rdf.Term{{rdf.IRI(strings.Repeat("x", memorySize))}}}
	for _, tt := range []struct {
		query string
		value *kg.Table
		kept  bool
	}{
		{"SELECT ?x { ?x ?y ?knows }", &kg.Table{}, true},
		{"SELECT ?x { ?x ?y ?z FILTER(?z > now()) }", &kg.Table{}, false},
		{"SELECT ?x { ?x ?y ?z FILTER(?z >\nNOW()) }", &kg.Table{}, false},
		{"SELECT ?x { ?x ?y ?z FILTER(?z >\tNOW\n()) }", &kg.Table{}, false},
		{"SELECT (UUID() AS ?x) {}", &kg.Table{}, false},
		{"SELECT ?x { ?x ?y ?z } # " + strings.Repeat("x", memorySize), &kg.Table{}, false},
		{"SELECT ?big { ?x ?y ?big }", big, false},
	} {
		m := NewMemory(time.Now)
		args, err := json.Marshal(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		for range 2 {
			_, err := remembered{m, "graph"}.answer(t.Context(), "query", args, func() (any, error) {
				asked++
				return tt.value, nil
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
		}
		if kept := asked == 1; kept != tt.kept {
			t.Errorf("%.60q: asked %d times", tt.query, asked)
		}
	}
}
