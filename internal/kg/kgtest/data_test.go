package kgtest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tggo/goRDFlib/graph"
	"github.com/tggo/goRDFlib/turtle"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

func TestDataIsTurtle(t *testing.T) {
	g := graph.NewGraph()
	if err := turtle.Parse(g, strings.NewReader(Data)); err != nil {
		t.Fatal(err)
	}
	if n := g.Len(); n < 200 {
		t.Errorf("%d triples", n)
	}
	// The data must declare each prefix with the namespace that the query service predefines for it.
	for _, m := range regexp.MustCompile(`@prefix (\w+): <([^>]+)>`).FindAllStringSubmatch(Data, -1) {
		if rdf.Prefixes[m[1]] != m[2] {
			t.Errorf("prefix %s: %s, the query service has %s", m[1], m[2], rdf.Prefixes[m[1]])
		}
	}
}
