//go:build integration

package engines

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/graphs/kindtest"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// TestPresets checks that each preset works both on the built-in slice and on another graph of 200,000 triples: in
// process, on Oxigraph and on Virtuoso, with the entry that kg add writes. Forty questions must return the same rows
// everywhere.
func TestPresets(t *testing.T) {
	_, file := libraryFile(t)
	slice := builtIn(t)
	for i, f := range slice {
		var err error
		if slice[i], err = filepath.Abs(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		name      string
		files     []string
		prefixes  string
		questions []kgtest.Question
	}{
		{"slice", slice, "", kgtest.SliceQuestions()},
		{"library", []string{file}, kgtest.LibraryPrefixes, kgtest.LibraryQuestions()[:20]},
	} {
		g, err := embedded.Load(embedded.Options{}, x.files...)
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range []string{"in process", "oxigraph", "virtuoso"} {
			t.Run(x.name+" "+place, func(t *testing.T) {
				var s *tool.Source
				var err error
				if place == "in process" {
					s, err = kindtest.Opener(t.TempDir()).Data(t.Context(), g, false)
				} else {
					e := startEngine(t, place, x.files)
					var entry string
					s, entry, err = kindtest.Add(t.Context(), t.TempDir(), fmt.Sprintf("http://127.0.0.1:%d/sparql", e.port))
					t.Log(entry)
				}
				if err != nil {
					t.Fatal(err)
				}
				problems, err := kindtest.Check(t.Context(), s, x.questions, func(q kgtest.Question, got *kg.Table) (string,
					error) {
					return differs(t, g, x.prefixes+q.Query, got)
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range problems {
					t.Error(p)
				}
			})
		}
	}
}

// differs compares the rows of a query by value with those of the in-memory graph.
func differs(t *testing.T, g *embedded.Graph, query string, got *kg.Table) (string, error) {
	t.Helper()
	q, err := sparql.Parse(query)
	if err != nil {
		return "", err
	}
	want, err := g.Query(t.Context(), query)
	if err != nil {
		return "", err
	}
	l := laxityOf(q)
	l.limited = false // every ORDER BY is a total order, so the engine cannot choose the rows
	return difference(resultOf(want, l), resultOf(got, l), l), nil
}
