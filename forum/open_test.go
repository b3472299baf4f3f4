package forum

import (
	"strings"
	"testing"
)

// TestOpen checks that the line with the open questions is in the reply's language, that external text is not
// interpreted as markup, and that kinds without a sentence are omitted.
func TestOpen(t *testing.T) {
	all := []Open{{Kind: "subclasses", Name: "city [[x]]", Come: 3}, {Kind: "nothing"}, {Kind: "limit", Come: 500, More: true},
		{Kind: "ranks"}}
	for _, tt := range []struct{ lang, assumed, said, want string }{
		{"en", "", "", "A different choice would change the result: the subclasses of city &#91;&#91;x&#93;&#93; (3 more rows); rows after the LIMIT (at least 500 more rows)."},
		{"de", "", "", "Eine andere Lesart würde das Ergebnis ändern: die Unterklassen von „city &#91;&#91;x&#93;&#93;“ (3 Zeilen mehr); Zeilen, die das LIMIT abschneidet (mindestens 500 Zeilen mehr)."},
		{"fr", "", "", "Le résultat serait différent avec les sous-classes de «\u00a0city &#91;&#91;x&#93;&#93;\u00a0» (3 lignes de plus)\u00a0; les lignes au-delà de LIMIT (au moins 500 lignes de plus)."},
		{"en", "Cities of today.", "Terms before 1900.", "Assumption: Cities of today.\n:Note: Terms before 1900.\n:A different choice would change the result"},
	} {
		got, err := Compose(Reply{Language: tt.lang, Short: "x", Query: "ASK { }", Signature: "~~~~", Open: all,
			Assumed: tt.assumed, LeftOpen: tt.said}, ":")
		if err != nil || !strings.Contains(got, "\n:"+tt.want) {
			t.Errorf("%s (%v), want %s", got, err, tt.want)
		}
	}
	got, err := Compose(Reply{Short: "x", Query: "ASK { }", Signature: "~~~~", Open: []Open{{Kind: "nothing"}}}, ":")
	if err != nil || strings.Contains(got, "would change the result") {
		t.Errorf("%s, %v", got, err)
	}
}

// If one interpretation replaces a class with a named one, the reply omits the class's other interpretations.
func TestOneReadingOfAClass(t *testing.T) {
	got, err := Compose(Reply{Short: "x", Query: "ASK { }", Signature: "~~~~", Open: []Open{{Kind: "class", Name: "country", Other: "state", Gone: 3},
		{Kind: "class", Name: "country", Come: 6}, {Kind: "class", Name: "city", Come: 6}}}, ":")
	if want := "A different choice would change the result: state instead of country (3 fewer rows); another reading of city (6 more rows)."; err != nil || !strings.Contains(got, want) {
		t.Errorf("%s, %v", got, err)
	}
}
