package evalrun

import (
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Parting is the first step at which two trajectories part.
type Parting struct {
	Step int    `json:"step"` // 1-based; 0 when the trajectories are the same, or one is missing
	A    string `json:"a"`    // the step there: "search_wikidata(bakery)"; empty when this one had ended
	B    string `json:"b"`
	// SameAction says that both made the same action and saw something else: the graph differs, not the agent.
	SameAction bool `json:"same_action,omitempty"`
}

// stepsOf lists the steps that were carried out, those that were rolled back later included.
func stepsOf(events []agent.Event) []agent.Step {
	var out []agent.Step
	for _, e := range events {
		if e.Event == "step" && e.Step != nil {
			out = append(out, *e.Step)
		}
	}
	return out
}

// part compares two trajectories step by step: actions by name and argument (queries up to layout), then observations.
func part(a, b []agent.Step) Parting {
	for i := 0; i < len(a) || i < len(b); i++ {
		p := Parting{Step: i + 1}
		if i < len(a) {
			p.A = call(a[i])
		}
		if i < len(b) {
			p.B = call(b[i])
		}
		if i >= len(a) || i >= len(b) || a[i].Action != b[i].Action || argument(a[i]) != argument(b[i]) {
			return p
		}
		if a[i].Observation != b[i].Observation {
			p.SameAction = true
			return p
		}
	}
	return Parting{}
}

func argument(s agent.Step) string {
	if s.Action == "execute_sparql" {
		return sparql.NormalForm(s.Argument)
	}
	return strings.Join(strings.Fields(s.Argument), " ")
}

func call(s agent.Step) string {
	return fmt.Sprintf("%s(%s)", s.Action, cut(strings.Join(strings.Fields(s.Argument), " "), 120))
}

// cut shortens a text to n characters.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
