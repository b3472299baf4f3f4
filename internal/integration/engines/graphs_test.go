//go:build integration

package engines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/endpoint"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
	"github.com/spinachbot/spinachbot/internal/kg/registry"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// asked opens an engine as a graph, as kg add and --kg do, using only the endpoint's responses.
func (e *engine) asked(t *testing.T) (*endpoint.Graph, *registry.Entry) {
	t.Helper()
	address := fmt.Sprintf("http://127.0.0.1:%d/sparql", e.port)
	rt, err := politehttp.NewTransport(politehttp.Options{Hosts: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := remote.New(slog.New(slog.DiscardHandler), remote.Config{Address: address,
		UserAgent: "SpinachBot-test/1 (https://example.org/contact)", Timeout: 30 * time.Second,
		Retry: politehttp.Policy{Attempts: 1}}, rt, politehttp.NewManualClock(time.Unix(0, 0)), func() float64 { return 0 },
		remote.NewMemoryStore())
	if err != nil {
		t.Fatal(err)
	}
	p, err := registry.Ask(t.Context(), s.Query)
	if err != nil {
		t.Fatalf("%s: %v", e.name, err)
	}
	for _, n := range p.Notes {
		t.Logf("%s: %s", e.name, n)
	}
	entry, err := registry.EntryOf(e.name, address, p)
	if err != nil {
		t.Fatalf("%s: %v", e.name, err)
	}
	g, err := endpoint.New(endpoint.Options{Graph: entry.Description, Query: s.Query})
	if err != nil {
		t.Fatal(err)
	}
	return g, entry
}

// libraryFile writes a non-Wikidata graph of 200,000 triples.
func libraryFile(t *testing.T) (l *kgtest.Library, file string) {
	t.Helper()
	l, file = kgtest.NewLibrary(7, 21_500), filepath.Join(t.TempDir(), "library.nt")
	var nt bytes.Buffer
	if err := l.Write(&nt); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nt.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return l, file
}

// TestAnyGraph checks that forty questions about a graph of 200,000 triples with its own vocabulary return the same
// rows on the embedded graph, Oxigraph and Virtuoso. The entries are created from each engine's own responses.
func TestAnyGraph(t *testing.T) {
	l, file := libraryFile(t)
	mine, err := embedded.Load(embedded.Options{}, file)
	if err != nil {
		t.Fatal(err)
	}
	book := l.Books[slices.IndexFunc(l.Books, func(b kgtest.Book) bool {
		return b.Name != "" && b.NameD != "" &&
			len(b.Loans) > 0
	})]
	for _, name := range []string{"oxigraph", "virtuoso"} {
		t.Run(name, func(t *testing.T) {
			g, entry := startEngine(t, name, []string{file}).asked(t)
			d := entry.Description
			if !slices.Equal(d.Labels, []string{"v:called"}) || !slices.Equal(d.Descriptions, []string{"v:about"}) ||
				!slices.Equal(slices.Sorted(slices.Values(d.Languages)), []string{"de", "en"}) ||
				len(d.Prefixes) != 2+len(registry.WithPrefixes(kg.Description{}).Prefixes) ||
				d.Statements != kg.Compound || d.Prefixes["v"] != kgtest.LibraryVocabulary ||
				d.Prefixes["thing"] != kgtest.LibraryThings {
				t.Errorf("the entry: %s", entry.Text())
			}
			for _, q := range kgtest.LibraryQuestions() {
				want, err := mine.Query(t.Context(), kgtest.LibraryPrefixes+q.Query)
				if err != nil {
					t.Fatal(err)
				}
				got, err := g.Query(t.Context(), q.Query)
				if err != nil {
					t.Errorf("%s: %v\n%s", q.Name, err, q.Query)
				} else if a, b := kgtest.RowTexts(got), kgtest.RowTexts(want); a != b {
					t.Errorf("%s: got %d rows, want %d\n%s\n%.300s\n%.300s", q.Name, len(got.Rows), len(want.Rows), q.Query, a, b)
				}
			}
			id := fmt.Sprint("thing:book", book.N)
			res, err := g.Find(t.Context(), kg.FindQuery{Text: book.Name, Type: kg.Item, Limit: 3})
			if err != nil || len(res.Hits) == 0 || res.Hits[0].ID != id || res.Hits[0].Label != book.Name {
				t.Errorf("find %q: %+v, %v", book.Name, res, err)
			}
			res, err = g.Find(t.Context(), kg.FindQuery{Text: "publisher", Type: kg.Property, Limit: 3})
			if err != nil || len(res.Hits) == 0 || res.Hits[0].ID != "v:publisher" || res.Hits[0].Uses != int64(len(l.Books)) {
				t.Errorf("find a property: %+v, %v", res, err)
			}
			page, err := g.Entity(t.Context(), id, "en")
			if err != nil || page.Label != book.Name {
				t.Fatalf("page: %+v, %v", page, err)
			}
			same(t, page, func() (*kg.Entity, error) {
				local, err := endpoint.New(endpoint.Options{Graph: d, Query: mine.Query})
				if err != nil {
					return nil, err
				}
				return local.Entity(t.Context(), id, "en")
			})
		})
	}
}

// same compares an entity page with the page from another graph. The names of blank nodes may differ.
func same(t *testing.T, page *kg.Entity, other func() (*kg.Entity, error)) {
	t.Helper()
	want, err := other()
	if err != nil {
		t.Fatal(err)
	}
	text := func(e *kg.Entity) string {
		for i := range e.Claims {
			for j := range e.Claims[i].Statements {
				if s := &e.Claims[i].Statements[j]; s.Value.ID == "a node without a name" {
					s.Value.Term.Value = "blank"
				}
			}
			slices.SortFunc(e.Claims[i].Statements, func(a, b kg.Statement) int {
				return strings.Compare(fmt.Sprint(a),
					fmt.Sprint(b))
			})
		}
		data, err := json.MarshalIndent(e, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if a, b := text(page), text(want); a != b {
		t.Errorf("the pages differ:\n%s\n%s", a, b)
	}
}

// TestWikidataElsewhere checks that the agent gets the same results from a copy of Wikidata on another engine as from
// the embedded graph.
func TestWikidataElsewhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data.ttl")
	if err := os.WriteFile(file, []byte(kgtest.Data), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"oxigraph", "virtuoso"} {
		t.Run(name, func(t *testing.T) {
			g, entry := startEngine(t, name, []string{file}).asked(t)
			if !entry.IsWikibase() || !slices.Equal(entry.Labels, []string{"rdfs:label"}) {
				t.Errorf("the entry: %s", entry.Text())
			}
			kgtest.Run(t, func(*testing.T) kgtest.Graph { return g })
			kgtest.RunFind(t, func(*testing.T) kgtest.Finder { return g })
		})
	}
}
