package event

import "github.com/spinachbot/spinachbot/internal/llm"

// A reviewer's verdicts on a turn.
const (
	Accepted = "accepted" // the turn is run as the model wrote it
	Edited   = "edited"   // the turn is run as the reviewer rewrote it
	Skipped  = "skipped"  // the reviewer gives up on the question
	WentBack = "back"     // an earlier turn is reviewed again
)

// Review is a reviewer's decision on one of the model's turns before it is run.
type Review struct {
	Verdict string       `json:"verdict"`
	By      string       `json:"by,omitempty"`     // the reviewer's name
	Before  *llm.Message `json:"before,omitempty"` // what the model wrote
	After   *llm.Message `json:"after,omitempty"`  // for an edited turn: the message that the model sees as its own
	Text    string       `json:"text,omitempty"`   // for an edited turn: what the reviewer wrote
}

// ReviewCount measures the effort spent on a review, counted as in the Interactive-KBQA paper (appendix A.5): only
// along the kept path, excluding abandoned turns.
type ReviewCount struct {
	Turns         int       `json:"turns"` // utterances after the question: the model's turns and the observations
	Interventions int       `json:"interventions"`
	Back          int       `json:"back"`    // number of returns to an earlier turn; not counted in the paper
	Skipped       bool      `json:"skipped"` // the reviewer gave up on the question
	By            []string  `json:"by,omitempty"`
	Usage         llm.Usage `json:"usage"` // usage of all calls to the model, including abandoned ones
}

// CountReview measures the effort spent on reviewing a run; ok is false if the run was not reviewed.
func CountReview(events []Event) (c ReviewCount, ok bool) {
	kept := map[int]bool{}
	at := 0
	for _, e := range events { // the kept path leads to the last event before the end
		if e.Event != "end" {
			at = e.ID
		}
	}
	for _, e := range Path(events, at) {
		kept[e.ID] = true
	}
	said := map[string]bool{}
	for _, e := range events {
		if e.Event == "model" && e.Response != nil {
			c.Usage.Add(e.Response.Usage)
		}
		if kept[e.ID] && e.Event == "step" && e.Step != nil {
			c.Turns++
			if e.Step.Observation != "" {
				c.Turns++
			}
		}
		if e.Event != "review" || e.Review == nil {
			continue
		}
		ok = true
		if by := e.Review.By; by != "" && !said[by] {
			said[by] = true
			c.By = append(c.By, by)
		}
		switch {
		case e.Review.Verdict == WentBack:
			c.Back++
		case e.Review.Verdict == Skipped:
			c.Skipped = true
		case kept[e.ID] && e.Review.Verdict == Edited:
			c.Interventions++
		}
	}
	return c, ok
}
