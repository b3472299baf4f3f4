package index

import (
	"math/rand"
	"slices"
	"strings"
	"testing"
	"testing/quick"
)

func sample() *Index {
	label := func(text, lang string) Name { return Name{text, lang, false} }
	alias := func(text, lang string) Name { return Name{text, lang, true} }
	return Build([]Entry{
		{"Q64", "item", 300, []Name{label("Berlin", "en"), label("Berlin", "de")}},
		{"Q821244", "item", 40, []Name{label("Berlin", "en")}},
		{"Q155", "item", 310, []Name{label("Berlin Wall", "en"), label("Berliner Mauer", "de"), alias("The Wall", "en")}},
		{"Q90", "item", 320, []Name{label("Paris", "mul"), alias("City of Light", "en"), alias("Ville lumière", "fr")}},
		{"Q47652", "item", 80, []Name{label("Ville", "en"), label("Ville", "fr")}},
		{"Q1", "item", 1, []Name{label("  Große  Straße ", "de")}},
		{"P19", "property", 0, []Name{label("place of birth", "en"), alias("birthplace", "en"), label("Geburtsort", "de")}},
	})
}

func ids(hits []Hit) string {
	var s []string
	for _, h := range hits {
		s = append(s, h.Entry.ID)
	}
	return strings.Join(s, " ")
}

func TestSearch(t *testing.T) {
	x := sample()
	for _, c := range []struct {
		name, text, group, lang string
		limit                   int
		want                    string
		more                    bool
	}{
		{"exact before prefix, then weight", "berlin", "item", "en", 10, "Q64 Q821244 Q155", false},
		{"limit says more", "berlin", "item", "en", 2, "Q64 Q821244", true},
		{"other language", "berliner m", "item", "de", 10, "Q155", false},
		{"falls back to mul", "PARIS", "item", "fr", 10, "Q90", false},
		{"falls back to en", "city of", "item", "de", 10, "Q90", false},
		{"exact label before prefix of a heavier alias", "ville", "item", "fr", 10, "Q47652 Q90", false},
		{"exact alias", "the wall", "item", "en", 10, "Q155", false},
		{"spaces and case fold", "grosse", "item", "de", 10, "", false},
		{"ß is its own letter", "GROẞE straße", "item", "de", 10, "Q1", false},
		{"prefix only, no word inside", "wall", "item", "en", 10, "", false},
		{"group keeps kinds apart", "berlin", "property", "en", 10, "", false},
		{"property by alias", "birth", "property", "en", 10, "P19", false},
		{"nothing for nothing", "  ", "item", "en", 10, "", false},
	} {
		hits, more := x.Search(c.text, c.group, Chain(c.lang), c.limit)
		if got := ids(hits); got != c.want || more != c.more {
			t.Errorf("%s: got %q more=%v, want %q more=%v", c.name, got, more, c.want, c.more)
		}
	}
}

func TestSearchNamesTheBestMatch(t *testing.T) {
	hits, _ := sample().Search("Berlin", "item", Chain("de"), 1)
	if len(hits) != 1 || hits[0].Name != (Name{"Berlin", "de", false}) || !hits[0].Exact {
		t.Fatalf("got %+v, want the German label", hits)
	}
}

func TestChain(t *testing.T) {
	for lang, want := range map[string]string{
		"en": "en mul", "de": "de mul en", "de-AT": "de-at de mul en", "": "mul en", "gsw": "gsw de mul en", "mul": "mul en",
		"pt-br": "pt-br pt mul en",
	} {
		if got := strings.Join(Chain(lang), " "); got != want {
			t.Errorf("Chain(%q) = %q, want %q", lang, got, want)
		}
	}
}

func TestFoldLaws(t *testing.T) {
	if err := quick.Check(func(s string) bool { return Fold(Fold(s)) == Fold(s) },
		&quick.Config{Rand: rand.New(rand.NewSource(1))}); err != nil {
		t.Error(err)
	}
	for _, c := range [][2]string{{"ΣΊΣΥΦΟΣ", "σίσυφος"}, {"Éa", "éA"}, {"a \t b", "A B"}, {"x\u200e", "X"}} {
		if Fold(c[0]) != Fold(c[1]) {
			t.Errorf("Fold(%q) = %q, Fold(%q) = %q", c[0], Fold(c[0]), c[1], Fold(c[1]))
		}
	}
}

// FuzzSearch checks the search against its definition: an entity is found if and only if one of its names starts with
// the search string.
func FuzzSearch(f *testing.F) {
	f.Add("ber")
	f.Add("The W")
	x := sample()
	f.Fuzz(func(t *testing.T, text string) {
		hits, _ := x.Search(text, "item", []string{"en", "mul"}, 100)
		got := map[string]bool{}
		for _, h := range hits {
			got[h.Entry.ID] = true
		}
		for _, e := range x.entries {
			want := e.Group == "item" && Fold(text) != "" && slices.ContainsFunc(e.Names, func(n Name) bool {
				return (n.Lang == "en" || n.Lang == "mul") && strings.HasPrefix(Fold(n.Text), Fold(text))
			})
			if got[e.ID] != want {
				t.Errorf("%q: %s found=%v, want %v", text, e.ID, got[e.ID], want)
			}
		}
	})
}
