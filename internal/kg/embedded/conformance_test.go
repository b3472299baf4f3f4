package embedded_test

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
)

// TestConformance runs the test suites that every knowledge graph must pass.
func TestConformance(t *testing.T) {
	open := func(t *testing.T) *embedded.Graph {
		b := embedded.NewBuilder()
		if err := b.Read("data.ttl", strings.NewReader(kgtest.Data)); err != nil {
			t.Fatal(err)
		}
		return b.Graph(embedded.Options{})
	}
	kgtest.Run(t, func(t *testing.T) kgtest.Graph { return open(t) })
	kgtest.RunFind(t, func(t *testing.T) kgtest.Finder { return open(t) })
}
