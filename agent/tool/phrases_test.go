package tool

import (
	"slices"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// Vague words are looked up only in combination with adjacent words.
func TestVagueWords(t *testing.T) {
	for _, c := range []struct{ question, wanted, unwanted string }{
		{"What kind of instrument did she play?", "instrument", "kind"},
		{"Which astronomical objects were found in 1801?", "astronomical objects", "objects"},
		{"Who was the second president of Austria?", "second president", "second"},
		{"Kto jeszcze w Wikidanych gra na trąbce?", "trąbce", "Wikidanych"},
		{"Members of (G)I-dle, and (how) old are they?", "(G)I-dle", "G"},
	} {
		var texts []string
		for _, p := range phrasesOf(c.question) {
			texts = append(texts, p.text)
		}
		if !slices.Contains(texts, c.wanted) || slices.Contains(texts, c.unwanted) {
			t.Errorf("%s: searched for %q; want %q among them, not %q", c.question, texts, c.wanted, c.unwanted)
		}
	}
}

// Numbers are not names, and an ampersand can be part of a name.
func TestNumbersAndAmpersands(t *testing.T) {
	for text, want := range map[string]bool{"1999": true, "1,200": true, "Juniper 4": false, "7th": false} {
		if p := (phrase{text: text}); p.number() != want {
			t.Errorf("%s: number is %v", text, !want)
		}
	}
	if p := phrasesOf("How many books did Hale & Sons 0 publish in 1999?"); p[0].text != "Hale & Sons 0" || !p[0].name {
		t.Errorf("the first phrase is %+v", p[0])
	}
	for _, p := range phrasesOf("Which books were written by twelve people?") {
		if p.text == "twelve" || p.text == "twelve people" {
			t.Errorf("searched for %q", p.text)
		}
	}
}

// Two unused hits are shown in addition to used ones. All hits are shown if none are used or if their numbers of uses
// are unknown.
func TestWithUses(t *testing.T) {
	for _, tt := range []struct{ uses, want []int64 }{
		{[]int64{0, 5, 0, 0, 7, 0}, []int64{0, 5, 0, 7}}, {[]int64{0, 0, 0}, []int64{0, 0, 0}},
		{[]int64{-1, -1, -1}, []int64{-1, -1, -1}}, {[]int64{3, 0}, []int64{3, 0}}, {nil, nil},
	} {
		var hits []kg.Hit
		for _, n := range tt.uses {
			hits = append(hits, kg.Hit{Uses: n})
		}
		var got []int64
		for _, h := range withUses(hits) {
			got = append(got, h.Uses)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.uses, got, tt.want)
		}
	}
}

// IDs and the words of different lines do not form a name together.
func TestNamesApart(t *testing.T) {
	for _, c := range []struct{ question, wanted, unwanted string }{
		{"Density in Africa\nBonjour, what is it?", "Africa", "Africa Bonjour"},
		{"Can it be computed from P1082 and P2046?", "P1082", "P1082 and P2046"},
		{"Who flew the P51 Mustang?", "P51 Mustang", ""},
	} {
		var texts []string
		for _, p := range phrasesOf(c.question) {
			if p.name {
				texts = append(texts, p.text)
			}
		}
		if !slices.Contains(texts, c.wanted) || slices.Contains(texts, c.unwanted) {
			t.Errorf("%s: searched for %q; want %q among them, not %q", c.question, texts, c.wanted, c.unwanted)
		}
	}
}
