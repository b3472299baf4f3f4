package agent

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"

	"github.com/google/go-cmp/cmp"
)

// A header that the model wrote is used only if the question, the query and the rows support its figures and names.
func TestHeaders(t *testing.T) {
	a := &Answer{SPARQL: "SELECT ?m ?h { ?m wdt:P31 wd:Q8502 ; wdt:P2044 ?h }",
		Labels: map[string]string{"Q8502": "Berg", "P2044": "Höhe über dem Meeresspiegel", "Q1": "Zugspitze"},
		Table: &kg.Table{Vars: []string{"m", "h", "x"},
			Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1"), rdf.Typed("2962", rdf.XSDDecimal), rdf.String("x")}}}}
	c := Checker("Welche Berge sind in Bayern am höchsten?", a, "de")
	want := map[string]string{"m": "Berg", "h": "Höhe (m)", "x": "Anteil (%)"}
	if d := cmp.Diff(want, headers(c, want)); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"Berg mit 3000 Metern", "Berg\nHöhe", strings.Repeat("Berg ", 9)} {
		if got := headers(c, map[string]string{"m": bad}); len(got) > 0 {
			t.Errorf("%v", got)
		}
	}
	c = Checker("Which mountains in Bavaria are the highest?", a, "en") // in German, names cannot be told from nouns
	if got := headers(c, map[string]string{"m": "climbed by Reinhold Messner", "h": "height"}); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// Labels may contain colons and commas that no space follows.
func TestLabelsIn(t *testing.T) {
	got := LabelsIn([]Step{{Observation: "UTC−05:00 (Q5390): time zone\n- | Punjabi (Q58635) | 3\nexamples: Florida (Q812) → Eastern Time Zone (Q941023), 2,4-D (Q209222)\nDanube (Q1653) has no statement of basin country (P205).\nQ1: one; Q2 (no label)\n" +
		"  property has part(s) (P527): part of this subject\nP2670 (has part(s) of the class)"}})
	want := map[string]string{"P527": "has part(s)", "P2670": "has part(s) of the class", "Q5390": "UTC−05:00", "Q812": "Florida", "Q941023": "Eastern Time Zone", "Q209222": "2,4-D", "Q1": "one", "Q58635": "Punjabi", "Q1653": "Danube", "P205": "basin country"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// In Japanese, there is no space between the sentences that are kept.
func TestNotesWithoutSpaces(t *testing.T) {
	a := &Answer{SPARQL: "SELECT ?m { ?m wdt:P31 wd:Q8502 }", Table: &kg.Table{Vars: []string{"m"}, Rows: [][]rdf.Term{{rdf.String("富士山")}}}}
	if got := named(Checker("山は？", a, "ja"), "山です。富士山だけ。99件。"); got != "山です。富士山だけ。" {
		t.Error(got)
	}
}
