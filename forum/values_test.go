package forum

import (
	"strings"
	"testing"
)

// Dates before the year 1, values that nobody knows, files and lexemes are shown as people write them.
func TestValues(t *testing.T) {
	for _, tt := range []struct {
		language string
		cell     Cell
		want     string
	}{
		{"en", Cell{Text: "-0043-03-15", Kind: "day"}, "15 March 44 BC"},
		{"en", Cell{Text: "-0003-02-29", Kind: "day"}, "29 February 4 BC"},
		{"es", Cell{Text: "-9", Kind: "year"}, "10 a. C."},
		{"en", Cell{Text: "1952", Kind: "year"}, "1952"},
		{"de", Cell{Kind: "unknown"}, "unbekannter Wert"},
		{"en", Cell{Text: "Schön a b.jpg", Kind: "file"}, "[[:commons:File:Schön a b.jpg|Schön a b.jpg]]"},
		{"en", Cell{Text: "a]] {{x}}.jpg", Kind: "file"}, "a&#93;&#93; &#123;&#123;x&#125;&#125;.jpg"},
		{"en", Cell{ID: "L1883"}, "[[Lexeme:L1883|L1883]]"},
	} {
		r := Reply{Language: tt.language, Short: "S.", Query: "SELECT ?a ?b { }", Vars: []string{"a", "b"},
			Rows: [][]Cell{{tt.cell, {Text: "x"}}}, Total: 1, Signature: "~~~~"}
		w, err := Compose(r, ":")
		if err != nil || !strings.Contains(w, "\n| "+tt.want+" || x\n") {
			t.Errorf("%s %+v: %v, want %q in\n%s", tt.language, tt.cell, err, tt.want, w)
		}
	}
}

// Lists have the language's own comma.
func TestListComma(t *testing.T) {
	r := Reply{Language: "ja", Short: "S.", Query: "ASK { }", Signature: "~~~~",
		Steps: []Step{{Kind: StepNames, Things: []Cell{{ID: "Q1"}, {ID: "Q2"}}}, {Kind: StepNames}}}
	w, err := Compose(r, ":")
	if err != nil || !strings.Contains(w, "[[Q1]]、[[Q2]]") || !strings.Contains(w, "1ステップ") {
		t.Errorf("%v\n%s", err, w)
	}
}
