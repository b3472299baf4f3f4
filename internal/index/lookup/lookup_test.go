package lookup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// people is a small set of names with the differences that matter for the ranking.
var people = []Entry{
	{IRI: "q:einstein", Label: "Albert Einstein", Language: "en", Aliases: []string{"Einstein", "A. Einstein"},
		Infos: []string{"physicist"}, Score: 300, Uses: 300},
	{IRI: "q:einstein", Label: "Альберт Эйнштейн", Language: "ru", Score: 300, Uses: 300},
	{IRI: "q:albert", Label: "Albert", Language: "en", Score: 20, Uses: -1},
	{IRI: "q:prince", Label: "Prince Albert", Language: "en", Score: 900, Uses: 900},
	{IRI: "q:albertville", Label: "Albertville", Language: "en", Score: 80, Uses: 80},
	{IRI: "q:eastman", Label: "Eastman", Language: "en", Score: 1000, Uses: 10},
	{IRI: "q:college", Label: "Albert Einstein College of Medicine", Language: "en", Score: 40, Uses: 40},
	{IRI: "q:c", Label: "C", Score: 5}, {IRI: "q:cpp", Label: "C++", Score: 90},
	{IRI: "q:duck", Label: "Duck Soup", Score: 3}, {IRI: "q:duckpainting", Label: "Duck", Score: 500, Noise: true},
	{IRI: "q:ucs", Label: "University of the Arts", Score: 60}, {IRI: "q:sao", Label: "São Tomé", Score: 10},
	{IRI: "p:imdb", Type: Property, Label: "IMDb ID", Score: 70, External: true},
	{IRI: "p:director", Type: Property, Label: "director", Aliases: []string{"directed by"}, Score: 400},
	{IRI: "p:zed", Type: Property, Label: "Zedlexikon ID", Aliases: []string{"Zedlexikon entry"}, Score: 4,
		External: true},
}

func iris(p Page) string {
	var s []string
	for _, h := range p.Hits {
		_, name, _ := strings.Cut(h.IRI, ":")
		s = append(s, name)
	}
	return strings.Join(s, " ")
}

// searches contains queries with their hits, which were derived by hand from the package documentation.
var searches = []struct {
	name string
	q    Query
	want string
}{
	{"a word and a beginning, a whole word, a beginning", Query{Text: "Albert E"},
		"einstein college prince albert eastman albertville"},
	{"the name as a whole, then whole words by score", Query{Text: "albert"},
		"albert prince einstein college albertville"},
	{"an alias as a whole", Query{Text: "EINSTEIN"}, "einstein college"},
	{"order of words does not matter", Query{Text: "einstein albert"}, "einstein college prince albert albertville"},
	{"words in the middle", Query{Text: "of arts"}, "ucs"},
	{"diacritics", Query{Text: "sao tome"}, "sao"},
	{"diacritics in the query", Query{Text: "Älbért", Limit: 1}, "albert"},
	{"a wrong letter", Query{Text: "Albrt Einstein", Limit: 2}, "einstein college"},
	{"a letter too many in a single word", Query{Text: "Eaastman"}, "eastman"},
	{"two neighbors swapped, the word not finished", Query{Text: "Eatsm"}, "eastman"},
	{"short words have no typos", Query{Text: "Duk"}, ""},
	{"the same text before the same words", Query{Text: "c++", Limit: 2}, "cpp c"},
	{"the same text before the same words, the other", Query{Text: "C", Limit: 2}, "c cpp"},
	{"another language finds it, once", Query{Text: "Эйнштейн"}, "einstein"},
	{"noise is held back", Query{Text: "duc"}, "duck"},
	{"noise by its whole name", Query{Text: "duck"}, "duckpainting duck"},
	{"noise on request", Query{Text: "duc", External: true}, "duckpainting duck"},
	{"external IDs are held back, unless nothing else is found", Query{Text: "zedlex"}, "zed"},
	{"external IDs on request by word", Query{Text: "imdb id", Limit: 1}, "imdb"},
	{"types", Query{Text: "d", Type: Property}, "director"},
	{"types, nothing", Query{Text: "director", Type: Entity}, ""},
	{"among", Query{Text: "albert", Among: []string{"q:college", "q:albert", "q:unknown"}}, "albert college"},
	{"among none", Query{Text: "albert", Among: []string{}}, ""},
	{"second page", Query{Text: "albert", Offset: 2, Limit: 2}, "einstein college"},
	{"no text", Query{Text: "  "}, ""},
	{"nonsense", Query{Text: "xyzzy"}, ""},
}

func TestMemorySearch(t *testing.T) {
	m := NewMemory(people)
	for _, c := range searches {
		p, err := m.Search(context.Background(), c.q)
		if got := iris(p); err != nil || got != c.want {
			t.Errorf("%s: %q found %q (%v), want %q", c.name, c.q.Text, got, err, c.want)
		}
	}
}

func TestHit(t *testing.T) {
	m := NewMemory(people)
	p, err := m.Search(context.Background(), Query{Text: "эйнштейн", Language: "en"})
	if err != nil || len(p.Hits) != 1 {
		t.Fatal(p, err)
	}
	h := p.Hits[0]
	if h.Label != "Albert Einstein" || h.Name != "Альберт Эйнштейн" || h.Match != Full || h.Uses != 300 || p.More {
		t.Errorf("got %+v, more %v", h, p.More)
	}
	p, _ = m.Search(context.Background(), Query{Text: "albert", Limit: 2})
	if !p.More || p.Hits[0].Match != Exact || p.Hits[0].Uses != -1 {
		t.Errorf("got %+v", p)
	}
	if e, ok, _ := m.Get(context.Background(), "q:einstein", "ru"); !ok || e.Language != "ru" {
		t.Errorf("got %+v", e)
	}
	if _, ok, _ := m.Get(context.Background(), "q:nobody", ""); ok {
		t.Error("found an unknown IRI")
	}
}

func TestWrongQueries(t *testing.T) {
	for _, q := range []Query{{Text: "a", Limit: -1}, {Text: "a", Offset: -1}, {Text: "a", Offset: MaxHits, Limit: 1},
		{Text: "a", Type: "lexeme"}} {
		if _, err := NewMemory(nil).Search(context.Background(), q); !errors.Is(err, ErrQuery) {
			t.Errorf("%+v: got %v", q, err)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"Ångström":                    "angstrom",
		"Straße der 17. Juni":         "strasse der 17 juni",
		"Zero's O’Brien 'quoted'":     "zeros obrien quoted",
		"rock-n-roll/R&B":             "rock n roll r b",
		"北京市":                         "北 京 市",
		"ｆｕｌｌ　ｗｉｄｔｈ":                  "full width",
		"Ἀθῆναι":                      "αθηναι",
		"ΣΊΣΥΦΟΣ":                     "σισυφοσ",
		"हिन्दी":                      "हिन्दी",
		"서울":                          "서울",
		"Łódź æther Øre":              "lodz aether ore",
		"!!!":                         "!!!",
		" + / - ":                     "+/-",
		"":                            "",
		"a\u200eb":                    "ab",
		strings.Repeat("x ", 100)[:3]: "x x",
	} {
		if got := strings.Join(Words(text), " "); got != want {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
}

// FuzzWords checks that folding is idempotent, and that asciiWords and foldWords agree on ASCII text.
func FuzzWords(f *testing.F) {
	f.Add("Straße — O'Brien's №5")
	f.Add("a'b'")
	f.Fuzz(func(t *testing.T, s string) {
		w := Words(s)
		if again := Words(strings.Join(w, " ")); len(w) < maxWords && !slices.Equal(w, again) {
			t.Errorf("Words(%q) = %q, again %q", s, w, again)
		}
		if ascii := strings.ToValidUTF8(s, ""); !strings.ContainsFunc(ascii, func(r rune) bool { return r > 127 }) {
			if a, b := asciiWords(ascii), foldWords(ascii); !slices.Equal(a, b) {
				t.Errorf("%q: %q and %q", ascii, a, b)
			}
		}
	})
}

// edits returns all strings that result from changing, removing, adding or swapping one letter in a word.
func edits(w string, letters string) map[string]bool {
	out := map[string]bool{}
	for i := 0; i <= len(w); i++ {
		for _, c := range letters {
			out[w[:i]+string(c)+w[i:]] = true
			if i < len(w) {
				out[w[:i]+string(c)+w[i+1:]] = true
			}
		}
		if i < len(w) {
			out[w[:i]+w[i+1:]] = true
		}
		if i+1 < len(w) {
			out[w[:i]+w[i+1:i+2]+w[i:i+1]+w[i+2:]] = true
		}
	}
	delete(out, w)
	return out
}

func TestNearIsTheDefinition(t *testing.T) {
	var words []string
	var grow func(string)
	grow = func(w string) {
		if len(w) >= 3 {
			words = append(words, w)
		}
		if len(w) < 6 {
			grow(w + "a")
			grow(w + "b")
		}
	}
	grow("")
	for _, w := range words {
		e := edits(w, "abc")
		for _, n := range words {
			if want := len(w) >= minTypo && e[n]; near(w, n, false) != want {
				t.Fatalf("near(%q, %q) is not %v", w, n, want)
			}
		}
	}
	for _, c := range []struct {
		word, name string
		want       bool
	}{
		{"eatsm", "eastman", true}, {"einxt", "einstein", true}, {"eins", "einstein", false}, {"unix", "university", false},
		{"unive", "united", true}, {"univx", "university", false}, {"amstrd", "amsterdam", true},
	} {
		if near(c.word, c.name, true) != c.want {
			t.Errorf("near(%q, %q, prefix) is not %v", c.word, c.name, c.want)
		}
	}
}

// TestHitLanguage checks that an entity with names in several languages is shown in the asker's language, or else in
// English, or else with its default name for all languages, no matter which name was found.
func TestHitLanguage(t *testing.T) {
	var entries []Entry
	for _, l := range []string{"de", "mul", "en", "fr"} {
		entries = append(entries, Entry{IRI: "q:x", Label: "Same", Language: l, Infos: []string{l}, Aliases: []string{"in " + l}})
	}
	for _, tt := range []struct{ text, asked, left, want string }{
		{"same", "", "de mul en fr", "en"}, {"in fr", "", "de mul en fr", "en"}, {"same", "fr", "de mul en fr", "fr"},
		{"in de", "it", "de mul en fr", "en"}, {"same", "it", "de mul fr", "mul"}, {"same", "", "fr mul", "mul"},
		{"in fr", "it", "fr de", "fr"},
	} {
		kept := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return !strings.Contains(tt.left, e.Language) })
		im, _ := imageOf(t, kept)
		q, err := Query{Text: tt.text, Language: tt.asked}.normal()
		if err != nil {
			t.Fatal(err)
		}
		one, err := im.search(context.Background(), q, nil)
		two, err2 := NewMemory(kept).Search(context.Background(), q)
		for _, p := range []Page{one, two} {
			if err != nil || err2 != nil || len(p.Hits) != 1 || p.Hits[0].Language != tt.want {
				t.Errorf("%+v: %+v, %v %v", tt, p.Hits, err, err2)
			}
		}
	}
}
