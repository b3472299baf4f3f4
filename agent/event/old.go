package event

import (
	"context"
	"strings"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// Trajectories from the first version have no causes, so the kind of a failure must be read from the event's text.
// These are the messages that the first version wrote. Only this file uses them.
const (
	oldNoModel       = "no language model is configured for this request"
	oldBudget        = "the budget for the language model is used up"
	oldContextLength = "the request is longer than the model's context"
	oldDay           = "could bring this day"
	oldRun           = "could bring this run"
	oldMoney         = "US dollars used"
)

// oldError returns the error for the failed call to the model that an old event describes.
func oldError(text string) error {
	switch {
	case strings.Contains(text, oldNoModel):
		return &recordedCause{text, llm.ErrNoModel}
	case strings.Contains(text, oldBudget):
		return &recordedCause{text, oldLimit(text)}
	case strings.Contains(text, oldContextLength):
		return &recordedCause{text, llm.ErrContextLength}
	}
	return &llm.Error{Message: text}
}

// oldLimit returns the error for the budget that an old message describes. Amounts of money have a dollar sign or are
// given in US dollars.
func oldLimit(text string) *llm.BudgetError {
	e := &llm.BudgetError{Account: llm.RequestAccount, Measure: llm.OutputTokens}
	if strings.Contains(text, "$") || strings.Contains(text, oldMoney) {
		e.Measure = llm.USD
	}
	switch {
	case strings.Contains(text, oldDay):
		e.Account = llm.DayAccount
	case strings.Contains(text, oldRun):
		e.Account = llm.RunAccount
	}
	return e
}

// Ending returns how the run ended; e is its end event. In files from the first version, the reason "money" covered all
// limits on tokens and money, and an interrupted run had no reason. For these, Ending relies on the messages.
func (e Event) Ending() Ending {
	end := Ending{Reason: Reason(e.Reason), Detail: e.Detail, Cause: e.Cause.Err()}
	switch {
	case e.Cause != nil:
	case end.Reason == RequestMoney:
		end.Cause = oldLimit(e.Detail)
		end.Reason = reasonOf(end.Cause)
	case end.Reason == NoModel, end.Reason == ModelFailed && !strings.Contains(e.Detail, "wrote no readable action"):
		end.Cause = oldError(e.Detail)
	case end.Reason == ModelFailed:
		end.Cause = ErrUnreadable
	case end.Reason == Answered && e.Detail == "context canceled":
		end.Reason, end.Cause = Canceled, context.Canceled
	}
	return end
}

// oldTree arranges events from a file in the first format into a tree, since that format recorded only their order.
type oldTree struct {
	steps map[int]int // event IDs by step number
	root  int         // ID of the event from which the exploration started
	last  int
}

// place sets the event's ID and parent.
func (t *oldTree) place(e *Event) {
	e.ID, e.Parent = t.last+1, t.last
	switch {
	case e.Event == "model" && e.Request != nil && e.Request.Purpose == "act" && t.root == 0:
		t.root = t.last
	case e.Event == "step" && e.Step != nil:
		t.steps[e.Step.N] = e.ID
	case e.Event == "rollback" && e.To != nil && t.abandons(*e.To):
		e.Parent = t.root
		if at, ok := t.steps[*e.To]; ok {
			e.Parent = at
		}
		for n := range t.steps {
			if n > *e.To {
				delete(t.steps, n)
			}
		}
	}
	t.last = e.ID
}

// abandons reports whether a rollback to the step with number to abandons any steps.
func (t *oldTree) abandons(to int) bool {
	for n := range t.steps {
		if n > to {
			return true
		}
	}
	return false
}
