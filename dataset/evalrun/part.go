package evalrun

import (
	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Parting is the first step at which two trajectories differ.
type Parting struct {
	Step int `json:"step"` // 1-based; 0 if the trajectories are the same or one is missing
	// each run's step at that point, such as "search_wikidata(bakery)", clipped so that the difference is visible;
	// empty if the run has ended
	A string `json:"a"`
	B string `json:"b"`
	// SameAction means that the trajectories have the same action but different observations: the graph differs, not the
	// agent. In that case, A and B end with the observation.
	SameAction bool `json:"same_action,omitempty"`
}

// maxCall is the maximum number of characters of a step that are shown.
const maxCall = 120

// stepsOf lists the executed steps, including those that were later rolled back.
func stepsOf(events []agent.Event) []agent.Step {
	var out []agent.Step
	for _, e := range events {
		if e.Event == "step" && e.Step != nil {
			out = append(out, *e.Step)
		}
	}
	return out
}

// part compares two trajectories step by step: actions by name and argument (ignoring query layout), then observations.
func part(a, b []agent.Step) Parting {
	for i := 0; i < len(a) || i < len(b); i++ {
		p := Parting{Step: i + 1}
		var callA, callB string
		if i < len(a) {
			callA = call(a[i])
		}
		if i < len(b) {
			callB = call(b[i])
		}
		p.A, p.B = text.ClipApart(callA, callB, maxCall)
		if i >= len(a) || i >= len(b) || a[i].Action != b[i].Action || argument(a[i]) != argument(b[i]) {
			return p
		}
		if a[i].Observation != b[i].Observation {
			p.SameAction = true
			p.A, p.B = text.ClipApart(callA+" → "+text.Fold(a[i].Observation),
				callB+" → "+text.Fold(b[i].Observation), maxCall)
			return p
		}
	}
	return Parting{}
}

func argument(s agent.Step) string {
	if s.Action == "execute_sparql" {
		return sparql.NormalForm(s.Argument)
	}
	return text.Fold(s.Argument)
}

func call(s agent.Step) string {
	return s.Action + "(" + text.Fold(s.Argument) + ")"
}
