// Package kgtest is the conformance suite for knowledge graphs. It tests what the agent expects of every graph. The
// tests of each implementation call [Run] with a graph that contains the facts in [Data]: internal/kg/embedded calls
// the graph directly, and internal/kg/wikidata calls it over HTTP.
//
// It is the only non-test package that imports testing.
package kgtest

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Data is a Turtle document with a few facts in Wikidata's RDF model: statements with ranks and qualifiers, labels in
// English, German, French and mul, an unknown value, a novalue, an external identifier, a quantity with a unit, and a
// BC date.
//
//go:embed data.ttl
var Data string

// Graph is the interface that the suite tests. It has the methods of agent.Graph and agent.Labeler.
type Graph interface {
	Search(ctx context.Context, q kg.SearchQuery) (*kg.SearchResult, error)
	Entity(ctx context.Context, id, lang string) (*kg.Entity, error)
	Examples(ctx context.Context, property, lang string) ([]kg.Example, error)
	Query(ctx context.Context, query string) (*kg.Table, error)
	Labels(ctx context.Context, ids []string, languages []string) (map[string]string, error)
}

// Run runs the suite. open returns a graph that contains exactly the triples in [Data].
func Run(t *testing.T, open func(t *testing.T) Graph) {
	t.Run("Search", func(t *testing.T) { testSearch(t, open(t)) })
	t.Run("SearchLimit", func(t *testing.T) { testSearchLimit(t, open(t)) })
	t.Run("Entity", func(t *testing.T) { testEntity(t, open(t)) })
	t.Run("Values", func(t *testing.T) { testValues(t, open(t)) })
	t.Run("Ranks", func(t *testing.T) { testRanks(t, open(t)) })
	t.Run("BadNumbers", func(t *testing.T) { testBadNumbers(t, open(t)) })
	t.Run("Examples", func(t *testing.T) { testExamples(t, open(t)) })
	t.Run("Labels", func(t *testing.T) { testLabels(t, open(t)) })
	t.Run("Query", func(t *testing.T) { testQuery(t, open(t)) })
	t.Run("QueryFailures", func(t *testing.T) { testQueryFailures(t, open(t)) })
	t.Run("Canceled", func(t *testing.T) { testCanceled(t, open(t)) })
}

func testSearch(t *testing.T, g Graph) {
	for _, tt := range []struct {
		name, text, lang string
		typ              kg.Type
		// if the ID is "", there must be no hits; otherwise, the first hit's ID, Label, Datatype and MatchType are compared
		want kg.Hit
	}{
		{"label", "Douglas Adams", "en", kg.Item, kg.Hit{ID: "Q42", Label: "Douglas Adams", MatchType: "label"}},
		{"any case", "douglas ADAMS", "en", kg.Item, kg.Hit{ID: "Q42", Label: "Douglas Adams", MatchType: "label"}},
		{"prefix", "Julius Cae", "en", kg.Item, kg.Hit{ID: "Q1048", Label: "Julius Caesar", MatchType: "label"}},
		{"not within", "Caesar", "en", kg.Item, kg.Hit{}},
		{"alias", "Douglas Noel", "en", kg.Item, kg.Hit{ID: "Q42", Label: "Douglas Adams", MatchType: "alias"}},
		{"German", "Deutschl", "de", kg.Item, kg.Hit{ID: "Q183", Label: "Deutschland", MatchType: "label"}},
		{"German finds English too", "human settl", "de", kg.Item, kg.Hit{ID: "Q486972", Label: "human settlement",
			MatchType: "label"}},
		{"English does not find German", "Deutschl", "en", kg.Item, kg.Hit{}},
		{"property", "capital", "en", kg.Property, kg.Hit{ID: "P36", Label: "capital", Datatype: "wikibase-item",
			MatchType: "label"}},
		{"property's datatype", "date of birth", "en", kg.Property, kg.Hit{ID: "P569", Label: "date of birth",
			Datatype: "time", MatchType: "label"}},
		{"no property among items", "date of birth", "en", kg.Item, kg.Hit{}},
		{"number", "Q64", "en", kg.Item, kg.Hit{ID: "Q64", Label: "Berlin", MatchType: "entityId"}},
		{"number in lower case", "q64", "en", kg.Item, kg.Hit{ID: "Q64", Label: "Berlin", MatchType: "entityId"}},
		{"nothing", "Zanzibar", "en", kg.Item, kg.Hit{}},
		{"exact before prefix", "Douglas", "en", kg.Item, kg.Hit{ID: "Q463035", Label: "Douglas", MatchType: "label"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := g.Search(t.Context(), kg.SearchQuery{Text: tt.text, Language: tt.lang, Type: tt.typ, Limit: 8})
			if err != nil {
				t.Fatal(err)
			}
			var got kg.Hit
			if len(res.Hits) > 0 {
				h := res.Hits[0]
				got = kg.Hit{ID: h.ID, Label: h.Label, Datatype: h.Datatype, MatchType: h.MatchType}
				if h.Type != tt.typ {
					t.Errorf("type %q, want %q", h.Type, tt.typ)
				}
			}
			if got.ID != tt.want.ID || got.Label != tt.want.Label || got.Datatype != tt.want.Datatype ||
				got.MatchType != tt.want.MatchType {
				t.Errorf("search %q in %s: first hit %+v, want %+v", tt.text, tt.lang, got, tt.want)
			}
		})
	}
}

func testSearchLimit(t *testing.T, g Graph) {
	all, err := g.Search(t.Context(), kg.SearchQuery{Text: "d", Language: "en", Type: kg.Item, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	ids := hitIDs(all)
	if slices.Sort(ids); !slices.Equal(ids, []string{"Q42", "Q463035"}) || all.More {
		t.Errorf("items that start with d: %v, more %v; want Q42 once (by label and alias) and Q463035", ids, all.More)
	}
	one, err := g.Search(t.Context(), kg.SearchQuery{Text: "d", Language: "en", Type: kg.Item, Limit: 1})
	if err != nil || len(one.Hits) != 1 || !one.More {
		t.Errorf("limit 1: %+v, %v; want one hit and more", one, err)
	}
}

func hitIDs(r *kg.SearchResult) []string {
	var ids []string
	for _, h := range r.Hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func testEntity(t *testing.T, g Graph) {
	e, err := g.Entity(t.Context(), "Q42", "en")
	if err != nil {
		t.Fatal(err)
	}
	aliases := slices.Sorted(slices.Values(e.Aliases))
	if e.ID != "Q42" || e.Type != kg.Item || e.Label != "Douglas Adams" ||
		e.Description != "English writer and humorist" ||
		!slices.Equal(aliases, []string{"DNA", "Douglas Noel Adams"}) {
		t.Errorf("head of the page: %+v", e)
	}
	// a server based on triples has the number of sitelinks but not their names, so its API returns none
	if e.Sitelinks != 120 && e.Sitelinks != 0 {
		t.Errorf("%d sitelinks, want 120, or 0 if the source does not report them", e.Sitelinks)
	}
	var props []string
	for _, c := range e.Claims {
		props = append(props, c.Property.ID+" "+c.Property.Label+" "+c.Datatype)
	}
	want := []string{"P27 country of citizenship wikibase-item", "P31 instance of wikibase-item",
		"P69 educated at wikibase-item",
		"P569 date of birth time", "P735 given name wikibase-item"} // in numeric order; P214 is omitted
	if !slices.Equal(props, want) {
		t.Errorf("properties\n%q, want\n%q", props, want)
	}
	if v := theValue(t, e, "P735"); v.Label != "Douglas" || v.Term != rdf.IRI(rdf.Entity+"Q463035") {
		t.Errorf("a value with a mul label only: %+v", v)
	}
	de, err := g.Entity(t.Context(), "Q64", "de")
	if err != nil {
		t.Fatal(err)
	}
	if v := theValue(t, de, "P31"); v.Label != "Stadt" {
		t.Errorf("German label of a value: %+v", v)
	}
	p, err := g.Entity(t.Context(), "P36", "en")
	if err != nil || p.Type != kg.Property || p.Datatype != "wikibase-item" || p.Label != "capital" {
		t.Errorf("page of a property: %+v, %v", p, err)
	}
}

func statements(t *testing.T, e *kg.Entity, property string) []kg.Statement {
	t.Helper()
	for _, c := range e.Claims {
		if c.Property.ID == property {
			return c.Statements
		}
	}
	t.Fatalf("%s has no %s", e.ID, property)
	return nil
}

func theValue(t *testing.T, e *kg.Entity, property string) kg.Value {
	t.Helper()
	s := statements(t, e, property)
	if len(s) != 1 {
		t.Fatalf("%s has %d values of %s, want one", e.ID, len(s), property)
	}
	return s[0].Value
}

func testValues(t *testing.T, g Graph) {
	for _, tt := range []struct {
		id, property string
		want         kg.Value
	}{
		{"Q42", "P31", kg.Value{Term: rdf.IRI(rdf.Entity + "Q5"), Label: "human"}},
		{"Q42", "P569", kg.Value{Term: rdf.Typed("1952-03-11T00:00:00Z", rdf.XSDDateTime), Precision: 11}},
		{"Q1048", "P570", kg.Value{Term: rdf.Typed("-0043-03-13T00:00:00Z", rdf.XSDDateTime), Precision: 11}},
		{"Q64", "P2046", kg.Value{Term: rdf.Typed("891.12", rdf.XSDDecimal), Unit: "Q712226", UnitLabel: "square kilometre"}},
		{"Q64", "P625", kg.Value{Term: rdf.Typed("Point(13.38333 52.51667)", rdf.GeoWKT)}},
		{"Q7207", "P40", kg.Value{None: true}},
		{"Q6691", "P570", kg.Value{Unknown: true}},
	} {
		t.Run(tt.id+" "+tt.property, func(t *testing.T) {
			e, err := g.Entity(t.Context(), tt.id, "en")
			if err != nil {
				t.Fatal(err)
			}
			if got := theValue(t, e, tt.property); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func testRanks(t *testing.T, g Graph) {
	e, err := g.Entity(t.Context(), "Q183", "en")
	if err != nil {
		t.Fatal(err)
	}
	s := statements(t, e, "P36")
	if len(s) != 2 || s[0].Value.Label != "Berlin" || s[0].Rank != kg.Preferred || s[1].Value.Label != "Bonn" ||
		s[1].Rank != kg.Normal {
		t.Errorf("capitals, best rank first: %+v", s)
	}
	if q := s[1].Qualifiers; len(q) != 1 || q[0].Property != (kg.PropertyRef{ID: "P582", Label: "end time"}) ||
		len(q[0].Values) != 1 ||
		q[0].Values[0] != (kg.Value{Term: rdf.Typed("1990-10-03T00:00:00Z", rdf.XSDDateTime), Precision: 11}) {
		t.Errorf("qualifiers of the former capital: %+v", q)
	}
	if e, err = g.Entity(t.Context(), "Q42", "en"); err != nil {
		t.Fatal(err)
	}
	s = statements(t, e, "P27")
	if len(s) != 2 || s[0].Value.Label != "United Kingdom" || s[1].Rank != kg.Deprecated {
		t.Errorf("citizenships, the deprecated one last: %+v", s)
	}
	q := slices.Clone(statements(t, e, "P69")[0].Qualifiers)
	slices.SortFunc(q, func(a, b kg.Qualifier) int { return strings.Compare(a.Property.ID, b.Property.ID) })
	if len(q) != 2 || q[0].Property.ID != "P580" || q[0].Values[0].Precision != 9 ||
		q[0].Values[0].Term.Value != "1971-01-01T00:00:00Z" {
		t.Errorf("a year has precision 9: %+v", q)
	}
}

func testBadNumbers(t *testing.T, g Graph) {
	for _, tt := range []struct {
		id   string
		want kg.Kind
	}{{"", kg.BadID}, {"42", kg.BadID}, {"Q042", kg.BadID}, {"Q1|Q2", kg.BadID}, {"Douglas Adams", kg.BadID},
		{"Q999999", kg.NotFound}, {"P999999", kg.NotFound}} {
		if e, err := g.Entity(t.Context(), tt.id, "en"); kg.KindOf(err) != tt.want {
			t.Errorf("Entity(%q): %+v, %v; want kind %s", tt.id, e, err, tt.want)
		}
	}
	for id, want := range map[string]kg.Kind{"Q42": kg.BadID, "P": kg.BadID, "P999999": kg.NotFound} {
		if ex, err := g.Examples(t.Context(), id, "en"); kg.KindOf(err) != want {
			t.Errorf("Examples(%q): %+v, %v; want kind %s", id, ex, err, want)
		}
	}
}

func testExamples(t *testing.T, g Graph) {
	ex, err := g.Examples(t.Context(), "P36", "en")
	want := kg.Example{Subject: kg.PropertyRef{ID: "Q183", Label: "Germany"}, Value: kg.Value{Term: rdf.IRI(rdf.Entity +
		"Q64"), Label: "Berlin"}}
	if err != nil || len(ex) != 1 || ex[0] != want {
		t.Errorf("got %+v, %v; want %+v", ex, err, want)
	}
	if ex, err = g.Examples(t.Context(), "P36", "de"); err != nil || len(ex) != 1 || ex[0].Subject.Label != "Deutschland" {
		t.Errorf("German: %+v, %v", ex, err)
	}
	if ex, err = g.Examples(t.Context(), "P31", "en"); err != nil || len(ex) != 0 {
		t.Errorf("a property without examples: %+v, %v", ex, err)
	}
}

func testLabels(t *testing.T, g Graph) {
	got, err := g.Labels(t.Context(), []string{"Q183", "Q5", "Q463035", "P36", "Q183", "Q999999", "nonsense", ""},
		[]string{"fr", "mul", "en"})
	want := map[string]string{"Q183": "Allemagne", "Q5": "human", "Q463035": "Douglas", "P36": "capital"}
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %v, %v; want %v", got, err, want)
	}
	for id, l := range want {
		if got[id] != l {
			t.Errorf("%s: %q, want %q", id, got[id], l)
		}
	}
	if got, err = g.Labels(t.Context(), nil, []string{"en"}); err != nil || len(got) != 0 {
		t.Errorf("no numbers: %v, %v", got, err)
	}
	if got, err = g.Labels(t.Context(), []string{"Q30"}, []string{"de"}); err != nil || len(got) != 0 {
		t.Errorf("no label in the only language: %v, %v", got, err)
	}
}
