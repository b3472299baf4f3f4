package rewrite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/check"
	"github.com/spinachbot/spinachbot/internal/sparql/explain"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
)

// FuzzRewrite checks that a rewritten query parses, contains nothing that the target does not support, and does not
// change when it is rewritten again.
func FuzzRewrite(f *testing.F) {
	text, err := os.ReadFile(filepath.FromSlash("../testdata/seeds.json"))
	if err != nil {
		f.Fatal(err)
	}
	var seeds []string
	if err := json.Unmarshal(text, &seeds); err != nil {
		f.Fatal(err)
	}
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := sparql.Parse(text)
		if err != nil {
			return
		}
		check.Query(q, func(string) bool { return false })
		measure.Query(q)
		measure.Features(q)
		explain.Query(q, labelText)
		for _, to := range []Target{Standard, QLever, WDQS} {
			r, err := Query(text, to, Options{Labels: true, Entities: true})
			if err != nil {
				continue
			}
			again, err := Query(r.Text, to, Options{})
			if err != nil {
				t.Fatalf("%s: the rewritten query cannot be rewritten: %v\n%s", to, err, r.Text)
			}
			if again.Text != r.Text {
				t.Fatalf("%s: rewriting again changes the query:\n%s\n---\n%s", to, r.Text, again.Text)
			}
			if to == Standard {
				checkStandard(t, r.Text)
			}
		}
	})
}

func checkStandard(t *testing.T, text string) {
	q, err := sparql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range measure.Features(q) {
		switch f {
		case "label-service", "named-subquery", "hint", "mwapi", "around", "box", "gas", "slice", "sample":
			t.Fatalf("%s is left:\n%s", f, text)
		}
	}
}

func labelText(id string) string { return "label of " + id }
