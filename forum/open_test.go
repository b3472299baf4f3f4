package forum

import (
	"strings"
	"testing"
)

// TestOpen: one line in the reply's language; what comes from outside is no markup, and what has no sentence is left
// out.
func TestOpen(t *testing.T) {
	all := []Open{{Kind: "subclasses", Name: "city [[x]]", Come: 3}, {Kind: "nothing"}, {Kind: "limit", Come: 500, More: true},
		{Kind: "ranks"}}
	for _, tt := range []struct{ lang, said, want string }{
		{"en", "", "Left open: the subclasses of city &#91;&#91;x&#93;&#93; (3 more); rows after the LIMIT (at least 500 more)."},
		{"de", "", "Offen geblieben: die Unterklassen von city &#91;&#91;x&#93;&#93; (3 mehr); Zeilen nach dem LIMIT (mindestens 500 mehr)."},
		{"fr", "", "Reste ouvert : les sous-classes de city &#91;&#91;x&#93;&#93; (3 de plus); les lignes après LIMIT (au moins 500 de plus)."},
		{"en", "Terms before 1900.", "Left open: Terms before 1900; the subclasses of city"},
	} {
		got, err := Compose(Reply{Language: tt.lang, Short: "x", Query: "ASK { }", Signature: "~~~~", Open: all,
			LeftOpen: tt.said}, ":")
		if err != nil || !strings.Contains(got, "\n:"+tt.want) {
			t.Errorf("%s (%v), want %s", got, err, tt.want)
		}
	}
	got, err := Compose(Reply{Short: "x", Query: "ASK { }", Signature: "~~~~", Open: []Open{{Kind: "nothing"}}}, ":")
	if err != nil || strings.Contains(got, "Left open") {
		t.Errorf("%s, %v", got, err)
	}
}
