package embedded_test

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
)

// TestConformance runs the suite that all knowledge graphs pass.
func TestConformance(t *testing.T) {
	kgtest.Run(t, func(t *testing.T) kgtest.Graph {
		b := embedded.NewBuilder()
		if err := b.Read("data.ttl", strings.NewReader(kgtest.Data)); err != nil {
			t.Fatal(err)
		}
		return b.Graph(embedded.Options{})
	})
}
