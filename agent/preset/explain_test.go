package preset

import (
	"strings"
	"testing"
)

// TestExplain checks that every preset's description is derived from its data, and that every rule value has a
// description.
func TestExplain(t *testing.T) {
	for _, name := range Names() {
		p, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, f := range p.Explain() {
			if strings.Contains(f.Text, "%!") || f.Name == "" {
				t.Errorf("%s: %+v", name, f)
			}
			all.WriteString(f.Name + ": " + f.Text + "\n")
		}
		for _, want := range append([]string{"protocol: " + p.Protocol, "policies: " + p.Policies[0], "temperature", "rows"},
			p.Tools...) {
			if !strings.Contains(all.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, all.String())
			}
		}
	}
	p := Default()
	seed := 42
	p.Rules = Rules{Repeat: "loop", Stop: "refuse", NoAction: "end", Guard: "known", Salvage: true, Messages: 77}
	p.Sampling.N, p.Sampling.Stop, p.Sampling.Seed = 6, []string{"\nObservation"}, &seed
	p.Feedback.Rounds, p.Notes.N, p.Show.Hits, p.Parallel = 2, 16, 11, true
	var all strings.Builder
	for _, f := range p.Explain() {
		all.WriteString(f.Text + "\n")
	}
	for _, want := range []string{"77 messages", "the next one ends the run", "is refused",
		"a turn without an action ends", "no result has shown",
		"the last query at a limit", "6 samples", `"\nObservation"`, "seed 42", "at most 2 times",
		"16 approved lessons", "11 hits", "several calls per turn"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%q is missing in\n%s", want, all.String())
		}
	}
	for rule, texts := range map[string][]string{"repeat": {RepeatRestore, RepeatRefuse, RepeatNone, RepeatLoop, RepeatEnd},
		"stop":      {StopRestore, StopRefuse, StopAccept},
		"no_action": {"nudge", "end"}, "guard": {GuardOff, GuardName, GuardLookUp, GuardRefuse, GuardKnown}} {
		for _, v := range texts {
			if _, ok := ruleTexts[rule][v]; !ok || len(ruleTexts[rule]) != len(texts) {
				t.Errorf("rule %s has no text for %q", rule, v)
			}
		}
	}
}
