package reply

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
)

// TestLeftOpen: every kind of probe that stays open has a sentence in every language, with the label of its entity and
// with counts of rows; a number that would be another one has none.
func TestLeftOpen(t *testing.T) {
	for lang, begin := range map[string]string{"en": "Another reading would change the result: ",
		"de": "Eine andere Lesart würde das Ergebnis ändern: ", "ja": "別の解釈では結果が変わります："} {
		for _, k := range variant.Kinds {
			p := event.Probe{Kind: string(k), About: rdf.Entity + "Q515", Before: 5, Come: 3}
			out := &agent.Outcome{Language: lang, Report: "x", Probed: &agent.Probed{Open: []event.Probe{p}},
				Answer: &agent.Answer{SPARQL: "ASK { }", Labels: map[string]string{"Q515": "city"}}}
			text, err := forum.Compose(New(out, "A", "O", "sb-1"), ":")
			_, line, found := strings.Cut(text, begin)
			line, _, _ = strings.Cut(line, "\n")
			if err != nil || !found || !strings.Contains(line, "(3") || k == variant.Subclasses && !strings.Contains(line, "city") {
				t.Errorf("%s, %s: %q, %v", lang, k, line, err)
			}
		}
	}
	out := &agent.Outcome{Language: "en", Report: "x", Answer: &agent.Answer{SPARQL: "ASK { }", Open: "Lakes."},
		Probed: &agent.Probed{Open: []event.Probe{{Kind: "joins", Before: 1, Come: 1, Gone: 1}}}}
	text, err := forum.Compose(New(out, "A", "O", "sb-1"), ":")
	if want := ":Left open: Lakes.\n:Another reading would change the result: things that the query counts more than once.\n"; err != nil || !strings.Contains(text, want) {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
}
