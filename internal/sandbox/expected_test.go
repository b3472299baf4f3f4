package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// expectation is the result that the final query of a script must return, worked out by hand from the facts.
type expectation struct {
	Snippet string     `json:"snippet"`
	Vars    []string   `json:"vars"`
	Ordered bool       `json:"ordered"`
	Rows    [][]string `json:"rows"`

	Answerable *bool `json:"answerable"` // false if no query returns the answer
}

func readExpectations(t *testing.T) []expectation {
	t.Helper()
	b, err := files.ReadFile("data/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []expectation
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// lastQueries returns the last query that each script executes, keyed by the script's snippet.
func lastQueries(t *testing.T) map[string]string {
	t.Helper()
	b, err := files.ReadFile("data/script.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, part := range strings.Split(string(b), "\n== request\n")[1:] {
		snippet, rest, _ := strings.Cut(part, "\n== ")
		if i := strings.LastIndex(rest, "Action: execute_sparql("); i >= 0 {
			q := rest[i+len("Action: execute_sparql("):]
			if j := strings.Index(q, "\n== "); j >= 0 {
				q = q[:j]
			}
			out[strings.Join(strings.Fields(snippet), " ")] = q[:strings.LastIndex(q, ")")]
		}
	}
	return out
}

func builtin(t *testing.T) *embedded.Graph {
	t.Helper()
	g, err := Graph(embedded.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func cell(t rdf.Term) string {
	if id := rdf.EntityID(t.Value); t.IsIRI() && id != "" {
		return id
	}
	return t.Value
}

func rowsOf(t *testing.T, table *kg.Table, vars []string) []string {
	t.Helper()
	index := map[string]int{}
	for i, v := range table.Vars {
		index[v] = i
	}
	var out []string
	for _, row := range table.Rows {
		var cells []string
		for _, v := range vars {
			i, ok := index[v]
			if !ok {
				t.Fatalf("the result has no ?%s, only %v", v, table.Vars)
			}
			cells = append(cells, cell(row[i]))
		}
		out = append(out, strings.Join(cells, " | "))
	}
	return out
}

func TestScriptedQueriesGiveTheTruth(t *testing.T) {
	g, queries := builtin(t), lastQueries(t)
	for _, x := range readExpectations(t) {
		if x.Answerable != nil && !*x.Answerable {
			continue
		}
		t.Run(x.Snippet[:min(40, len(x.Snippet))], func(t *testing.T) {
			q, ok := queries[strings.Join(strings.Fields(x.Snippet), " ")]
			if !ok {
				t.Fatal("no script has this request")
			}
			table, err := g.Query(context.Background(), strings.ReplaceAll(q, "[AUTO_LANGUAGE]", "en"))
			if err != nil {
				t.Fatalf("%v\n%s", err, q)
			}
			if table.Ask {
				if got := fmt.Sprint(table.Boolean); len(x.Rows) != 1 || x.Rows[0][0] != got {
					t.Errorf("got %s, want %v", got, x.Rows)
				}
				return
			}
			got := rowsOf(t, table, x.Vars)
			var want []string
			for _, r := range x.Rows {
				want = append(want, strings.Join(r, " | "))
			}
			if !x.Ordered {
				sort.Strings(got)
				sort.Strings(want)
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s\ngot:\n%s\nwant:\n%s", q, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}
