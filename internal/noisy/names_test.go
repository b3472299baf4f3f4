package noisy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// TestNamesOfAnotherGraph checks that plans, made-up names and misreadings use the graph's own IRIs if the graph is not
// Wikidata.
func TestNamesOfAnotherGraph(t *testing.T) {
	r := New(Options{Graph: &kg.Description{Statements: kg.Compound,
		Prefixes: map[string]string{"v": "http://library.example/v#",
			"thing": "http://library.example/thing/", "rdfs": "http://www.w3.org/2000/01/rdf-schema#"}}})
	const query = `SELECT ?b WHERE { ?b a v:Book ; v:publisher/v:seat thing:town3 ; rdfs:label ?l . FILTER(?x = "1"^^xsd:date) }`
	items, properties := r.identifiers(query)
	if !slices.Equal(items, []string{"v:Book", "thing:town3"}) || !slices.Equal(properties, []string{"v:publisher",
		"v:seat"}) {
		t.Errorf("items %q, properties %q", items, properties)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	tn := &turn{Reader: r, rnd: rnd, req: llm.Request{Facts: &llm.Facts{}}}
	if wrong := tn.madeUp(query); wrong == query || !strings.Contains(wrong, "9") {
		t.Errorf("made up: %s", wrong)
	}
	if wrong, ok := r.misread(query, rnd); !ok || wrong == query {
		t.Errorf("misread: %q", wrong)
	}
}
