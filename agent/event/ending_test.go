package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

func (c *Cause) kind() CauseKind {
	if c == nil {
		return ""
	}
	return c.Kind
}

func retryIn(err error) time.Duration {
	var asks interface{ RetryIn() time.Duration }
	if !errors.As(err, &asks) {
		return 0
	}
	return asks.RetryIn()
}

// TestCauseSurvivesTheFile checks that a program learns the same from an error that was written to a file and read
// back.
func TestCauseSurvivesTheFile(t *testing.T) {
	for _, err := range []error{
		llm.ErrNoModel, llm.ErrContextLength, llm.ErrNoTools, llm.ErrNoStrict, llm.ErrBudget, ErrUnreadable, ErrOutOfTime, context.Canceled,
		context.DeadlineExceeded, errors.New("x"),
		&llm.BudgetError{Account: llm.DayAccount, Measure: llm.USD, Reached: 1.5, Limit: 1},
		&llm.Error{Status: 503, Code: "busy", Message: "later", Transient: true}, &llm.Error{Message: "none", Transient: true,
			Refused: true},
		kg.Errorf(kg.Timeout, "slow"), &kg.Error{Kind: kg.Banned, Message: "no more", RetryAfter: time.Hour},
		&llm.Error{Status: 429, Message: "slowly", Transient: true, RetryAfter: time.Minute},
	} {
		want := CauseOf(fmt.Errorf("wrapped: %w", err))
		b, jerr := json.Marshal(Event{Event: "end", Cause: want})
		var e Event
		if jerr = errors.Join(jerr, json.Unmarshal(b, &e)); jerr != nil {
			t.Fatal(jerr)
		}
		back := e.Cause.Err()
		if d := cmp.Diff(want, CauseOf(back)); d != "" && want.Kind != CauseBudget {
			t.Errorf("%v: %s", err, d)
		}
		if a, b := retryIn(err), retryIn(back); a != b {
			t.Errorf("%v: to be retried in %s, read back as %s", err, a, b)
		}
		if a, b := EndingOf(err).Reason, EndingOf(back).Reason; a != b {
			t.Errorf("%v: ends with %s, read back as %s", err, a, b)
		}
	}
	if CauseOf(nil) != nil || (*Cause)(nil).Err() != nil {
		t.Error("no error has a cause")
	}
}

// TestOldEndings reads end events from the first version, which had only a reason and a message.
func TestOldEndings(t *testing.T) {
	const budget = "the budget for the language model is used up: the next call could bring "
	for _, tt := range []struct {
		reason, detail string
		want           Reason
		cause          CauseKind
		service        bool
	}{
		{"", "", Answered, "", false},
		{"", "context canceled", Canceled, CauseCanceled, false},
		{"money", budget + "this day (UTC) to $1.2000 of $1.0000", DayMoney, CauseBudget, false},
		{"money", budget + "this run to $1.2000 of $1.0000", RunMoney, CauseBudget, false},
		{"money", budget + "this question to $1.2000 of $1.0000", RequestMoney, CauseBudget, false},
		{"money", budget + "this question to 12 of 10 output tokens", OutOfTokens, CauseBudget, false},
		{"money", "0.5000 US dollars used, the limit is 0.5000", RequestMoney, CauseBudget, false},
		{"money", "100 tokens used, the limit is 100", OutOfTokens, CauseBudget, false},
		{"model_failed", "the model wrote no readable action 4 times in a row", ModelFailed, CauseUnreadable, false},
		{"model_failed", "the request is longer than the model's context: 9000 tokens", ModelFailed, CauseContextLength,
			false},
		{"model_failed", "language model: status 503 busy", ModelFailed, CauseModel, true},
		{"no_model", "no language model is configured for this request", NoModel, CauseNoModel, false},
		{"graph_failed", "the graph did not answer (down), 3 times in a row", GraphFailed, "", true},
		{"not_found", "nothing", NotFound, "", false},
	} {
		end := Event{Event: "end", Reason: tt.reason, Detail: tt.detail}.Ending()
		if end.Reason != tt.want || CauseOf(end.Cause).kind() != tt.cause || end.ServiceFailed() != tt.service ||
			end.Detail != tt.detail {
			t.Errorf("%s %q: %+v of %T", tt.reason, tt.detail, end, end.Cause)
		}
	}
}
