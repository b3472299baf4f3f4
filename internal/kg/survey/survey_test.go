package survey_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/kg/survey"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

var wikibase = &kg.Description{Statements: kg.Wikibase, Prefixes: rdf.Prefixes, Types: []string{"wdt:P31"},
	Subclass: "wdt:P279"}

func load(t *testing.T, turtle string) *embedded.Graph {
	t.Helper()
	b := embedded.NewBuilder()
	if err := b.Read("data.ttl", strings.NewReader(`@prefix wd: <http://www.wikidata.org/entity/> .
		@prefix wdt: <http://www.wikidata.org/prop/direct/> . @prefix p: <http://www.wikidata.org/prop/> .
		@prefix ps: <http://www.wikidata.org/prop/statement/> . @prefix wikibase: <http://wikiba.se/ontology#> .
		`+turtle)); err != nil {
		t.Fatal(err)
	}
	return b.Graph(embedded.Options{})
}

// TestHierarchy checks that superclasses are followed for the requested number of steps, that cycles terminate, and
// that subclasses are listed.
func TestHierarchy(t *testing.T) {
	g := load(t, `wd:Q1 wdt:P31 wd:Q2 . wd:Q2 wdt:P279 wd:Q3 . wd:Q3 wdt:P279 wd:Q4 , wd:Q2 . wd:Q4 wdt:P279 wd:Q5 . wd:Q6 wdt:P279 wd:Q2 .`)
	e := func(id string) string { return rdf.Entity + id }
	got, err := survey.Hierarchy(context.Background(), wikibase, g.Query, e("Q1"), 2)
	want := &survey.Classes{Types: []string{e("Q2")}, Wider: map[string][]string{e("Q2"): {e("Q3")}, e("Q3"): {e("Q2"),
		e("Q4")}}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	got, err = survey.Hierarchy(context.Background(), wikibase, g.Query, e("Q2"), 1)
	if err != nil || got.Members != 1 || cmp.Diff([]string{e("Q3"), e("Q6")}, got.Narrower) != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestHierarchyIsBounded checks that if a graph has a huge number of classes, each step takes only one query, and no
// more classes than the limit are returned.
func TestHierarchyIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		for j := range 30 {
			b.WriteString("wd:Q" + strings.Repeat("1", i%9+1) + " wdt:P279 wd:Q9" + strings.Repeat("2", j%9+1) + " , wd:Q8" +
				strings.Repeat("3", j%7+1) +
				strings.Repeat("4", i%5+1) + " . ")
		}
	}
	g, n := load(t, b.String()), 0
	c, err := survey.Hierarchy(context.Background(), wikibase, func(ctx context.Context, q string) (*kg.Table, error) {
		n++
		return g.Query(ctx, q)
	}, rdf.Entity+"Q1", 5)
	if err != nil || n > 1+5+2 || len(c.Wider[rdf.Entity+"Q1"]) > survey.MaxWider {
		t.Errorf("%d queries, %d classes, %v", n, len(c.Wider[rdf.Entity+"Q1"]), err)
	}
}

// TestFailuresAreTheGraphs checks that the failure of any query is returned.
func TestFailuresAreTheGraphs(t *testing.T) {
	g := load(t, `wd:Q1 wdt:P31 wd:Q2 ; p:P31 <http://www.wikidata.org/entity/statement/a> . <http://www.wikidata.org/entity/statement/a> ps:P31 wd:Q2 .`)
	for fail := range 6 {
		n := 0
		query := func(ctx context.Context, q string) (*kg.Table, error) {
			if n++; n == fail+1 {
				return nil, kg.Errorf(kg.Timeout, "slow")
			}
			return g.Query(ctx, q)
		}
		calls := map[string]func() error{
			"hierarchy": func() error {
				_, err := survey.Hierarchy(context.Background(), wikibase, query, rdf.Entity+"Q1", 1)
				return err
			},
			"statements": func() error {
				_, err := survey.Statements(context.Background(), wikibase, query, rdf.Entity+"Q1", rdf.Entity+"P31")
				return err
			},
			"property": func() error {
				m := shape.Of(wikibase, rdf.Entity+"Q2")
				_, err := survey.Property(context.Background(), wikibase, query, rdf.Entity+"P31", &m)
				return err
			},
		}
		for name, call := range calls {
			n = 0
			if err := call(); n > fail && kg.KindOf(err) != kg.Timeout {
				t.Errorf("%s: query %d failed, and the error is %v", name, fail+1, err)
			}
		}
	}
}
