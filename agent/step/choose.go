package step

import (
	"strings"
)

// Key returns a key for comparing proposals. It depends on the proposal's calls, and is "" for a turn that cannot be
// read.
func (p Proposal) Key() string {
	if p.Problem != nil {
		return ""
	}
	var keys []string
	for _, c := range p.Turn.Calls {
		keys = append(keys, c.Tool.KeyOf(c.Args))
	}
	return strings.Join(keys, "\n")
}

// Fruitful reports whether the turn produced something: one of its calls found something, or the run ended with an
// answer or with a statement that there is none.
func (c Child) Fruitful() bool {
	switch c.Outcome {
	case Ended:
		return c.Final.Answer != nil || c.State.GaveUp()
	case Carried:
		for _, k := range c.State.steps {
			if k.turn == c.State.turns && k.Failure == "" && !k.fruitless {
				return true
			}
		}
	case Unreadable, Refused:
	}
	return false
}

// GaveUp reports whether the last step said that there is no answer.
func (s State) GaveUp() bool {
	if len(s.steps) == 0 {
		return false
	}
	last := s.steps[len(s.steps)-1].call
	if last.Tool == nil || !last.Tool.Ends() {
		return false
	}
	end, err := last.Tool.End(last.Args)
	return err == nil && end.NoAnswer
}
