package faithful

import (
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// TestScaledWords checks number words before "million" in a question, a query and a sentence.
func TestScaledWords(t *testing.T) {
	rows := [][]rdf.Term{{item("Q99"), decimal("39538223")}, {item("Q1439"), decimal("29145505")}}
	for _, tt := range []struct {
		language, question, query, text string
		ok                              bool
	}{
		{"pt", "Quais estados têm mais de dez milhões de habitantes?", "", "Dois estados têm mais de dez milhões.", true},
		{"pt", "Quais estados são grandes?", "FILTER(?n > 10000000)", "Dois estados têm mais de dez milhões.", true},
		{"pt", "Quais estados têm mais de dez milhões de habitantes?", "", "Dois estados têm mais de vinte milhões.", false},
		{"en", "Which states have more than ten million people?", "", "Two states have more than ten million people.", true},
		{"en", "Which states have more than ten million people?", "", "Two states have more than ten thousand people.", false},
		{"ru", "В каких штатах больше десяти миллионов?", "FILTER(?n > 10000000)", "В двух штатах больше 10 миллионов.", true},
		{"de", "Welche Staaten haben viele Einwohner?", "", "California hat vierzig Millionen Einwohner.", true},
		{"de", "Welche Staaten haben viele Einwohner?", "", "California hat dreißig Millionen Einwohner.", false},
	} {
		e := Evidence{Language: tt.language, Question: tt.question, Query: "SELECT ?state ?n { " + tt.query + " }",
			Labels: map[string]string{"Q99": "California", "Q1439": "Texas"},
			Table:  &kg.Table{Vars: []string{"state", "n"}, Rows: rows}}
		if faults := New(e).Faults(tt.text); (len(faults) == 0) != tt.ok {
			t.Errorf("%s: %+v", tt.text, faults)
		}
	}
}
