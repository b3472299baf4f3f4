package bot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// Without a model, the bot judges posts by keywords and says so.
func TestNoModelToJudge(t *testing.T) {
	for text, want := range map[string]string{
		"Test": "Cats:skipped", "I made a tool, see [[User:X]]": "Cats:skipped", "{{support}} Nice": "Cats:skipped",
		"Which cats are there":  "Cats:posted",
		"Welche Katzen gibt es": "Cats:posted", "My attempt: {{SPARQL|query=SELECT ?x WHERE { ?x wdt:P31 wd:Q146 }}}": "Cats:posted",
	} {
		w := newWorld(t)
		w.solver.terrs = []error{fmt.Errorf("triage: %w", llm.ErrNoModel)}
		w.round()
		w.wiki.post("Cats", text, "Alice")
		w.clock.pass(20 * time.Minute)
		w.round()
		w.want(want)
		if e := w.entries()[0]; want == "Cats:skipped" &&
			e.Reason != "no model to judge it, and it does not look like a request" {
			t.Errorf("%q: reason %q", text, e.Reason)
		}
	}
}

// Without a model, a comment under our reply that contains a query is not a follow-up unless it asks us something.
func TestNoModelFollowUps(t *testing.T) {
	const brought = "{{SPARQL|query=SELECT ?x WHERE { ?x wdt:P31 wd:Q146 }}}"
	for text, want := range map[string]int{
		"Here: " + brought: 1, "The query: " + brought: 1, "https://w.wiki/7Xyz": 1, "I did it by hand.": 1,
		"Here: " + brought + " Can you sort it?": 2, "@SpinachBot: " + brought: 2,
		"{{ping|1=spinachBot}} only the living ones": 2, "Only the living ones, please": 2,
	} {
		w := started(t)
		w.round()
		w.wantReplies("Cats", 1)
		w.solver.terrs = []error{llm.ErrNoModel}
		w.followUp(text, "Bob")
		w.round()
		w.wantReplies("Cats", want)
		if last := w.entries()[len(w.entries())-1]; want == 1 && !strings.Contains(last.Reason, "no model") {
			t.Errorf("%q: %s %q", text, last.State, last.Reason)
		}
	}
}
