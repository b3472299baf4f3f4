package kindtest_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/graphs/kindtest"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/httpapi"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

func builtin(t *testing.T) *embedded.Graph {
	t.Helper()
	g, err := sandbox.Graph(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func library(t *testing.T) *embedded.Graph {
	t.Helper()
	var nt bytes.Buffer
	if err := kgtest.NewLibrary(7, 2000).Write(&nt); err != nil {
		t.Fatal(err)
	}
	b := embedded.NewBuilder()
	if err := b.Read("library.nt", &nt); err != nil {
		t.Fatal(err)
	}
	return b.Graph(embedded.Options{})
}

// TestPresets asks forty questions with every preset, both about a Wikibase and about a graph that is not a Wikibase.
// Each graph is used in process, and over HTTP with the entry written by kg add. The answers must have the same rows as
// on the in-memory graph. In a sample, half of the questions are asked in process, and the others over HTTP.
func TestPresets(t *testing.T) {
	for name, x := range map[string]struct {
		graph     *embedded.Graph
		prefixes  string
		questions []kgtest.Question
	}{
		"slice":   {builtin(t), "", kgtest.SliceQuestions()},
		"library": {library(t), kgtest.LibraryPrefixes, kgtest.LibraryQuestions()[:20]},
	} {
		srv := httptest.NewServer(httpapi.NewSPARQL(slog.New(slog.DiscardHandler), x.graph, 5))
		defer srv.Close()
		for place, open := range map[string]func(context.Context) (*tool.Source, error){
			"in process": func(ctx context.Context) (*tool.Source, error) {
				return kindtest.Opener(t.TempDir()).Data(ctx, x.graph, name == "slice")
			},
			"over HTTP": func(ctx context.Context) (*tool.Source, error) {
				s, _, err := kindtest.Add(ctx, t.TempDir(), srv.URL+"/sparql")
				return s, err
			},
		} {
			t.Run(name+" "+place, func(t *testing.T) {
				s, err := open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				rows, questions := 0, x.questions
				if every := corpus.Pick(2, 1); every > 1 {
					questions = nil
					for i, q := range x.questions {
						if (i%every == 0) == (place == "in process") {
							questions = append(questions, q)
						}
					}
				}
				problems, err := kindtest.Check(t.Context(), s, questions, func(q kgtest.Question, got *kg.Table) (string,
					error) {
					want, err := x.graph.Query(t.Context(), x.prefixes+q.Query)
					if err != nil {
						return "", err
					}
					rows += len(want.Rows)
					if a, b := kgtest.RowTexts(got), kgtest.RowTexts(want); a != b {
						return fmt.Sprintf("got\n%.500s\nwant\n%.500s", a, b), nil
					}
					return "", nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range problems {
					t.Error(p)
				}
				if rows < 15*len(questions) {
					t.Errorf("only %d rows were compared", rows)
				}
			})
		}
	}
}
