package faithful

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// cutPattern specifies what cut yields, if longRun has been applied.
var cutPattern = regexp.MustCompile(`[-−]?\d+(?:[ \x{00a0}\x{202f}.,'’]\d{3})*(?:[.,\x{e000}\x{e001}]\d+)?(?:\pL[\pL\pM\d]*)?|[\pL\pM][\pL\pM\d_]*(?:[-:.\x{e000}][\pL\d][\pL\pM\d]*)*`)

// longRun matches a mark and more than three digits, which are not a group of thousands. In its place, marks are written
// that cutPattern does not accept there.
var longRun = regexp.MustCompile(`[ \x{00a0}\x{202f}.,'’]\d{4,}`)

var marks = strings.NewReplacer(" ", "\ue002", "\u00a0", "\ue003", "\u202f", "\ue004", ".", "\ue000", ",", "\ue001", "'", "\ue005", "’", "\ue006")

var unmarked = strings.NewReplacer("\ue002", " ", "\ue003", "\u00a0", "\ue004", "\u202f", "\ue000", ".", "\ue001", ",", "\ue005", "'", "\ue006", "’")

func specified(s string) (out []string) {
	for _, w := range cutPattern.FindAllString(longRun.ReplaceAllStringFunc(s, marks.Replace), -1) {
		out = append(out, unmarked.Replace(w))
	}
	return out
}

func TestCut(t *testing.T) {
	check := func(s string) {
		t.Helper()
		if got, want := slices.Collect(cut(s)), specified(s); !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, want %q", s, got, want)
		}
	}
	for _, s := range []string{"", "-", "1,234,567.89", "1,2345", "0.0000254", "1 2345", "1.234,5", "−12 345km²", "1990s", "4x4", "-3-4", "wd:Q42.P31",
		"a--b", "x.", "e.g.", "l’eau", "l'eau", "snake_case-x_y", "e\u0301te\u0301", "12\u00a0345", "12\u202f345,6", "\xffa\xff1\xff",
		"1\u0301", "٣٤", "東京23区", "1 000 00", "１２"} {
		check(s)
	}
	pieces := strings.Split("0|7|12|345|6789|a|Zé|\u0301|_|-|−|:|.|,|'|’| |\u00a0|\u202f|東|¿|\xe2|\xff|٣", "|")
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a fixed seed
	for range 20_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		check(b.String())
	}
}

// A compound of two supported words is supported.
func TestCompounds(t *testing.T) {
	for _, tt := range []struct {
		language, label, question, text string
		kept                            bool
	}{
		{"en", "place of birth", "Where were they born?", "The query groups them by birthplace.", true},
		{"en", "place of death", "Where were they born?", "The query groups them by birthplace.", false},
		{"de", "Sterbeort", "Welches Jahr und welcher Tod?", "Die Abfrage gibt das Todesjahr aus.", true},
		{"de", "Sterbeort", "Welches Jahr?", "Die Abfrage gibt das Todesjahr aus.", false},
		{"de", "Sterbeort", "Welches Opfer?", "Die Abfrage gibt die Todesopfer aus.", false},
	} {
		c := New(Evidence{Language: tt.language, Question: tt.question, Query: "SELECT ?x { ?x wdt:P1 ?y }",
			Labels: map[string]string{"P1": tt.label}, Table: &kg.Table{Vars: []string{"x"}}})
		if got := c.Keep(tt.text) == tt.text; got != tt.kept {
			t.Errorf("%+v: %v", tt, c.Faults(tt.text))
		}
	}
}
