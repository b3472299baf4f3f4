package agent

import (
	"context"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// left tells, with counted steps in the state and actions asked for so far, up to which step the state can still grow, and how many refused or abandoned
// actions can be borne before each further one costs one of those steps.
func left(l Limits, counted, actions int) (most, spare int) {
	most = min(l.Counted, counted+l.Total-actions)
	return most, max(0, l.Total-actions-(l.Counted-counted))
}

// meter holds the limits of a run and what of them is used. [meter.check] is the one place where limits are compared.
type meter struct {
	limits       Limits
	start        time.Time
	usage        llm.Usage
	actions      int // asked for in all
	formatErrors int // in a row
}

// deadline returns a context that ends with the run's time limit, so that a call in flight ends too.
func (m *meter) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if m.limits.Time <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, m.limits.Time, event.ErrOutOfTime)
}

// timeFor reports whether d still fits into the run's wall time, with as much again left over for the work itself.
func (m *meter) timeFor(now time.Time, d time.Duration) bool {
	return m.limits.Time <= 0 || now.Sub(m.start)+2*d <= m.limits.Time
}

// phase tells check what is about to be done.
type phase int

const (
	acting  phase = iota // asking for an action: all limits hold
	helping              // any other call of the model: the limits of actions do not hold, so that a query can still be extracted and reported
)

// check returns the limit that forbids going on, or nil. counted is the number of steps in the state.
func (m *meter) check(now time.Time, p phase, counted int) *event.Halt {
	l := m.limits
	switch tokens := m.usage.InputTokens + m.usage.OutputTokens; {
	case l.Time > 0 && now.Sub(m.start) >= l.Time:
		return event.Halting(OutOfTime, event.ErrOutOfTime, "the limit of %s has passed", l.Time)
	case l.Tokens > 0 && tokens >= l.Tokens:
		return event.Halting(OutOfTokens, spent(llm.InputTokens, float64(tokens), float64(l.Tokens)), "%d tokens used, the limit is %d", tokens, l.Tokens)
	case l.USD > 0 && m.usage.USD >= l.USD:
		return event.Halting(RequestMoney, spent(llm.USD, m.usage.USD, l.USD), "%.4f US dollars used, the limit is %.4f", m.usage.USD, l.USD)
	case p == helping:
		return nil
	case m.formatErrors >= l.FormatErrors:
		return event.Halting(ModelFailed, event.ErrUnreadable, "the model wrote no readable action %d times in a row", m.formatErrors)
	case counted >= l.Counted:
		return event.Halting(OutOfActions, nil, "%d steps in the state, the limit is %d", counted, l.Counted)
	case m.actions >= l.Total:
		return event.Halting(OutOfActions, nil, "%d actions taken in all, the limit is %d", m.actions, l.Total)
	}
	return nil
}

// spent is the cause of an ending by a limit of the request.
func spent(m llm.Measure, reached, limit float64) *llm.BudgetError {
	return &llm.BudgetError{Account: llm.RequestAccount, Measure: m, Reached: reached, Limit: limit}
}
