package wikidata

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/httpapi"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// TestConformance tests the adapter with a server that serves the suite's facts over the services' protocols.
// Everything that the agent relies on must survive the round trip through HTTP and Wikibase's JSON.
func TestConformance(t *testing.T) {
	b := embedded.NewBuilder()
	if err := b.Read("data.ttl", strings.NewReader(kgtest.Data)); err != nil {
		t.Fatal(err)
	}
	lg := slog.New(slog.DiscardHandler)
	g := b.Graph(embedded.Options{})
	mux := http.NewServeMux()
	mux.Handle("/sparql", httpapi.NewSPARQL(lg, g, 5))
	mux.Handle("/w/api.php", httpapi.NewEntityAPI(lg, g))
	srv := httptest.NewServer(mux)
	defer srv.Close()
	kgtest.Run(t, func(t *testing.T) kgtest.Graph {
		rt, err := politehttp.NewTransport(politehttp.Options{Hosts: []string{srv.URL}})
		if err != nil {
			t.Fatal(err)
		}
		cfg := Config{SPARQL: srv.URL + "/sparql", API: srv.URL + "/w/api.php",
			UserAgent: "SpinachBot-test/1 (https://example.org/contact)"}
		c, err := New(lg, cfg, rt, politehttp.NewManualClock(noon), func() float64 { return 0 }, remote.NewMemoryStore())
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}
