package reply

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
)

// TestLeftOpen: every kind of probe that stays open has a sentence in every language, with the label of its entity and
// with counts of rows; a number that would be another one has none.
func TestLeftOpen(t *testing.T) {
	for lang, begin := range map[string]string{"en": "The result would differ with ",
		"de": "Eine andere Lesart würde das Ergebnis ändern: ", "ja": "次の点を変えると結果も変わります："} {
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
	if want := ":Left open: Lakes.\n:The result would differ with things that the query counts more than once.\n"; err != nil || !strings.Contains(text, want) {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
}

// A class that replaces another one is named, so that the asker can choose.
func TestReplacedClass(t *testing.T) {
	out := &agent.Outcome{Answer: &agent.Answer{Labels: map[string]string{"Q6256": "country"}},
		Steps: []agent.Step{{Action: "look_up_question", Observation: "sovereign state (Q3624078), type of state"}}}
	probe := agent.Probe{Kind: "class", About: rdf.Entity + "Q6256", What: "wd:Q3624078 instead of wd:Q6256", Before: 57, Come: 1, Gone: 28}
	for _, tt := range []struct{ what, want string }{
		{"wd:Q3624078 instead of wd:Q6256", "sovereign state instead of country"},
		{"wd:Q99 instead of wd:Q6256", "Q99 instead of country"},
		{"without the class wd:Q6256", "another reading of country"},
	} {
		probe.What = tt.what
		if got := forum.PointWords(forum.Texts("en"), Point(out, probe)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}

// Of a question for yes or no, another reading has no rows to count.
func TestOtherAnswer(t *testing.T) {
	out := &agent.Outcome{Answer: &agent.Answer{Table: &kg.Table{Ask: true, Boolean: true}}}
	if got := Point(out, agent.Probe{Kind: "ranks", Come: 1, Gone: 1}); got.Come != 0 || got.Gone != 0 {
		t.Errorf("%+v", got)
	}
}
