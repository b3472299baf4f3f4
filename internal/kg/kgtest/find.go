package kgtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Finder is the interface that [RunFind] tests. It is the same as agent/tool's Finder.
type Finder interface {
	Find(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error)
}

// RunFind tests searches for words anywhere in names, and searches among candidates. open returns a finder for [Data].
func RunFind(t *testing.T, open func(t *testing.T) Finder) {
	t.Run("Words", func(t *testing.T) { testFindWords(t, open(t)) })
	t.Run("Among", func(t *testing.T) { testFindAmong(t, open(t)) })
	t.Run("ByUse", func(t *testing.T) { testFindByUse(t, open(t)) })
	t.Run("Pages", func(t *testing.T) { testFindPages(t, open(t)) })
	t.Run("Hit", func(t *testing.T) { testFindHit(t, open(t)) })
	t.Run("Canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := open(t).Find(ctx, kg.FindQuery{Text: "Berlin", Limit: 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want the context's error", err)
		}
	})
}

// found runs a query and returns the IDs of its hits, joined by spaces.
func found(t *testing.T, g Finder, q kg.FindQuery) string {
	t.Helper()
	res, err := g.Find(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return strings.Join(hitIDs(res), " ")
}

func testFindWords(t *testing.T, g Finder) {
	for _, tt := range []struct {
		name string
		q    kg.FindQuery
		want string
	}{
		{"a word in the middle", kg.FindQuery{Text: "Caesar", Type: kg.Item}, "Q1048"},
		{"words in another order", kg.FindQuery{Text: "Noel Douglas", Type: kg.Item, Limit: 1}, "Q42"},
		{"an alias", kg.FindQuery{Text: "federal republic", Type: kg.Item}, "Q183"},
		{"a name in another language", kg.FindQuery{Text: "Quadratkilometer", Language: "en", Type: kg.Item}, "Q712226"},
		{"properties only", kg.FindQuery{Text: "birth", Type: kg.Property}, "P569"},
		{"items only", kg.FindQuery{Text: "birth", Type: kg.Item}, ""},
		{"any case", kg.FindQuery{Text: "HUMAN SETTLEMENT", Type: kg.Item, Limit: 1}, "Q486972"},
		{"an ID", kg.FindQuery{Text: "q183", Limit: 1}, "Q183"},
		{"a property's ID", kg.FindQuery{Text: "P569", Type: kg.Property}, "P569"},
		{"an ID of the other type", kg.FindQuery{Text: "P569", Type: kg.Item}, ""},
		{"nothing", kg.FindQuery{Text: "Zanzibar"}, ""},
		{"no text", kg.FindQuery{Text: " \t"}, ""},
	} {
		if tt.q.Limit == 0 {
			tt.q.Limit = 10
		}
		if got := found(t, g, tt.q); got != tt.want {
			t.Errorf("%s: found %q, want %q", tt.name, got, tt.want)
		}
	}
}

func testFindAmong(t *testing.T, g Finder) {
	item := func(id string) rdf.Term { return rdf.IRI(rdf.Entity + id) }
	among := []rdf.Term{item("Q586"), rdf.LangString("Bonn", "de"), rdf.Blank("bonn"), item("Q64"), item("P36"),
		item("Q586"),
		rdf.IRI("http://bonn.example/Bonn"), {}}
	for _, tt := range []struct {
		name string
		q    kg.FindQuery
		want []string // in any order
	}{
		{"items, literals and what has no label", kg.FindQuery{Text: "Bonn"}, []string{"Q586", `"Bonn"@de`,
			"<http://bonn.example/Bonn>"}},
		{"literals", kg.FindQuery{Text: "Bonn", Type: kg.Literal}, []string{`"Bonn"@de`}},
		{"items", kg.FindQuery{Text: "Berlin", Type: kg.Item}, []string{"Q64"}},
		{"not among the candidates", kg.FindQuery{Text: "Germany"}, nil},
	} {
		tt.q.Among, tt.q.Limit = among, 10
		got := strings.Fields(found(t, g, tt.q))
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(tt.want))) {
			t.Errorf("%s: found %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := found(t, g, kg.FindQuery{Text: "Bonn", Limit: 10, Among: []rdf.Term{}}); got != "" {
		t.Errorf("among none: found %q", got)
	}
	if _, err := g.Find(t.Context(), kg.FindQuery{Text: "Bonn", Type: kg.Literal,
		Limit: 1}); kg.KindOf(err) != kg.Refused {
		t.Errorf("literals without candidates: %v, want Refused", err)
	}
	// Predicates among the candidates are found as properties, with the candidates' variants.
	q := kg.FindQuery{Text: "capital", Type: kg.Property, Limit: 10, Among: []rdf.Term{rdf.IRI(rdf.Prefixes["ps"] + "P36"),
		rdf.IRI(rdf.Direct + "P36"), rdf.IRI(rdf.Direct + "P31"), rdf.IRI(rdf.RDFSLabel)}}
	res, err := g.Find(t.Context(), q)
	if err != nil || len(res.Hits) != 1 || res.Hits[0].ID != "P36" || !slices.Equal(res.Hits[0].Variants,
		[]string{"wdt", "ps"}) {
		t.Errorf("properties among predicates: %+v, %v; want P36 as wdt and ps", res, err)
	}
}

// testFindByUse checks that a search without text sorts the candidates by use and omits those that are not in the
// index.
func testFindByUse(t *testing.T, g Finder) {
	among := []rdf.Term{rdf.IRI(rdf.Prefixes["ps"] + "P36"), rdf.IRI(rdf.RDFSLabel), rdf.IRI(rdf.Direct + "P31"),
		rdf.String("a text"), rdf.Blank("b"), rdf.IRI(rdf.Entity + "Q586"), rdf.IRI(rdf.Entity + "Q64")}
	for _, tt := range []struct {
		q    kg.FindQuery
		want string
	}{
		{kg.FindQuery{Type: kg.Property, Limit: 10}, "P31 P36"},
		{kg.FindQuery{Type: kg.Item, Limit: 10}, "Q64 Q586"},
		{kg.FindQuery{Type: kg.Item, Limit: 1, Offset: 1}, "Q586"},
		{kg.FindQuery{Type: kg.Literal, Limit: 10}, ""},
	} {
		tt.q.Among = among
		if got := found(t, g, tt.q); got != tt.want {
			t.Errorf("%+v: found %q, want %q", tt.q, got, tt.want)
		}
	}
}

func testFindPages(t *testing.T, g Finder) {
	q := kg.FindQuery{Text: "Douglas", Type: kg.Item, Limit: 1}
	first, err := g.Find(t.Context(), q)
	if err != nil || len(first.Hits) != 1 || first.Hits[0].ID != "Q463035" || !first.More {
		t.Errorf("first page: %+v, %v; want the exact name, and more", first, err)
	}
	q.Offset = 1
	second, err := g.Find(t.Context(), q)
	if err != nil || len(second.Hits) != 1 || second.Hits[0].ID != "Q42" || second.More {
		t.Errorf("second page: %+v, %v; want Q42, and no more", second, err)
	}
	q.Offset = 2
	if third, err := g.Find(t.Context(), q); err != nil || len(third.Hits) != 0 {
		t.Errorf("third page: %+v, %v; want nothing", third, err)
	}
	q.Offset = 1 << 20
	if _, err := g.Find(t.Context(), q); kg.KindOf(err) != kg.Refused {
		t.Errorf("far beyond: %v, want Refused", err)
	}
}

func testFindHit(t *testing.T, g Finder) {
	res, err := g.Find(t.Context(), kg.FindQuery{Text: "hauptstadt", Language: "en", Type: kg.Property, Limit: 5})
	if err != nil || len(res.Hits) != 1 {
		t.Fatalf("%+v, %v; want one hit", res, err)
	}
	h := res.Hits[0]
	if h.ID != "P36" || h.Type != kg.Property || h.Label != "capital" || h.Description != "seat of government" ||
		h.Datatype != "wikibase-item" ||
		h.Term == nil || *h.Term != rdf.IRI(rdf.Entity+"P36") {
		t.Errorf("got %+v", h)
	}
	if h.Uses != 2 || !slices.Equal(h.Variants, []string{"wdt", "p", "ps", "pq"}) {
		t.Errorf("uses %d and variants %v; want the 2 statements, and wdt, p, ps, pq", h.Uses, h.Variants)
	}
	res, err = g.Find(t.Context(), kg.FindQuery{Text: "Berlin", Language: "de", Type: kg.Item, Limit: 5})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].Uses != 3 || res.Hits[0].Label != "Berlin" {
		t.Errorf("Berlin: %+v, %v; want the 3 triples that it is the object of", res, err)
	}
}
