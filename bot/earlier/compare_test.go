package earlier_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/earlier"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

type tables map[string]*kg.Table

func (t tables) Query(_ context.Context, query string) (*kg.Table, error) {
	if found := t[query]; found != nil {
		return found, nil
	}
	return nil, errors.New("no such query")
}

func TestCompare(t *testing.T) {
	q := func(n string) rdf.Term { return rdf.IRI(rdf.Entity + n) }
	label := func(s string) rdf.Term { return rdf.Typed(s, rdf.XSDString) }
	g := tables{
		"two":     {Vars: []string{"item"}, Rows: [][]rdf.Term{{q("Q1")}, {q("Q2")}}},
		"labeled": {Vars: []string{"x", "xLabel"}, Rows: [][]rdf.Term{{q("Q2"), label("b")}, {q("Q1"), label("a")}}},
		"three":   {Vars: []string{"item"}, Rows: [][]rdf.Term{{q("Q1")}, {q("Q3")}, {q("Q2")}}},
		"yes":     {Ask: true, Boolean: true},
		"in en":   {Vars: []string{"item"}, Rows: [][]rdf.Term{{q("Q1")}}},
	}
	for _, tt := range []struct {
		ours, theirs string
		want         bot.Comparison
	}{
		{"two", "labeled", bot.Comparison{Ours: 2, Theirs: 2, Common: 2, Same: true}},
		{"two", "three", bot.Comparison{Ours: 2, Theirs: 3, Common: 2}},
		{"two", "yes", bot.Comparison{Ours: 2, Theirs: 1}},
		{"", "three", bot.Comparison{Theirs: 3}},
		{"in [AUTO_LANGUAGE]", "in en", bot.Comparison{Ours: 1, Theirs: 1, Common: 1, Same: true}},
	} {
		got, err := earlier.Comparer{Graph: g}.Compare(context.Background(), tt.ours, tt.theirs)
		if err != nil || got != tt.want {
			t.Errorf("%q and %q: %+v, %v; want %+v", tt.ours, tt.theirs, got, err, tt.want)
		}
	}
	if _, err := (earlier.Comparer{Graph: g}).Compare(context.Background(), "two", "broken"); err == nil {
		t.Error("a query that fails has no result to compare")
	}
}

type asked struct {
	tables
	n int
}

func (g *asked) Query(ctx context.Context, query string) (*kg.Table, error) {
	g.n++
	return g.tables.Query(ctx, query)
}

// A stranger's query is never sent if it is an update or makes our graph contact another host.
func TestCompareRefuses(t *testing.T) {
	for _, query := range []string{
		"SELECT * { SERVICE <http://10.0.0.1/sparql> { ?a ?b ?c } }",
		"SELECT * { ?s wdt:P1 ?x . SERVICE ?x { ?a ?b ?c } }",
		"SELECT * FROM <http://10.0.0.1/x> { ?a ?b ?c }",
		"SELECT * { ?? SERVICE <http://10.0.0.1/sparql> { ?a ?b ?c } }",
		`SELECT * { ?? \u0053ERVICE <http://10.0.0.1/sparql> { ?a ?b ?c } }`,
		"DELETE WHERE { ?a ?b ?c }",
		"SELECT * { ?a ?b ?c } #" + strings.Repeat("x", 70_000),
	} {
		g := &asked{}
		if _, err := (earlier.Comparer{Graph: g}).Compare(t.Context(), "", query); kg.KindOf(err) != kg.Refused || g.n > 0 {
			t.Errorf("%.60s: %v, sent %d times", query, err, g.n)
		}
	}
	g := &asked{}
	query := `SELECT * { ?a wdt:P31 ?b SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } }`
	if _, _ = (earlier.Comparer{Graph: g}).Compare(t.Context(), "", query); g.n != 1 {
		t.Errorf("the label service: sent %d times", g.n)
	}
}
