package endpoint_test

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/httpapi"
	"github.com/spinachbot/spinachbot/internal/kg/endpoint"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/rdf"
	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// wikibase describes a copy of Wikidata behind a plain SPARQL service.
var wikibase = kg.Description{Name: "copy", Dialect: "standard", Statements: kg.Wikibase, Prefixes: rdf.Prefixes,
	Labels: []string{"rdfs:label"}, Aliases: []string{"skos:altLabel"}, Descriptions: []string{"schema:description"},
	Types: []string{"wdt:P31"}}

// served serves a graph over HTTP and returns a function that queries it.
func served(t *testing.T, g *embedded.Graph) endpoint.Query {
	t.Helper()
	srv := httptest.NewServer(httpapi.NewSPARQL(slog.New(slog.DiscardHandler), g, 5))
	t.Cleanup(srv.Close)
	rt, err := politehttp.NewTransport(politehttp.Options{Hosts: []string{srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := remote.New(slog.New(slog.DiscardHandler), remote.Config{Address: srv.URL + "/sparql",
		UserAgent: "SpinachBot-test/1 (https://example.org/contact)"},
		rt, politehttp.NewManualClock(noon), func() float64 { return 0 }, remote.NewMemoryStore())
	if err != nil {
		t.Fatal(err)
	}
	return s.Query
}

// TestConformance checks that the agent gets the same results from Wikidata and from a copy of it on a plain SPARQL
// service, which has neither Wikibase's API nor the label service.
func TestConformance(t *testing.T) {
	b := embedded.NewBuilder()
	if err := b.Read("data.ttl", strings.NewReader(kgtest.Data)); err != nil {
		t.Fatal(err)
	}
	query := served(t, b.Graph(embedded.Options{}))
	open := func(t *testing.T) *endpoint.Graph {
		g, err := endpoint.New(endpoint.Options{Graph: wikibase, Query: query})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	kgtest.Run(t, func(t *testing.T) kgtest.Graph { return open(t) })
	kgtest.RunFind(t, func(t *testing.T) kgtest.Finder { return open(t) })
}
