package agent

import (
	"context"
	"errors"
	"time"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// Limits bound one run. A zero field takes its default, for tokens, money and time that is "no limit".
//
// Actions are counted as in the SPINACH paper (section 4.2 and footnote 7): Counted is how many steps may stand in the state, Total how many actions may be
// asked for in all; the difference is spent on refused actions and on steps that a rollback abandons. A refusal that finds no spare action
// left is paid from the counted ones, so that a run never takes more than Total actions.
type Limits struct {
	Counted      int           // actions in the state, default 15
	Total        int           // actions asked for in all, refused and abandoned ones included, default 30
	FormatErrors int           // unreadable turns in a row that end the run, default 4
	Tokens       int           // input and output tokens of all calls
	USD          float64       // money of all calls
	Time         time.Duration // wall time from start to end
}

// Defaults of the paper, and ours for what it leaves open.
const (
	defaultCounted      = 15
	defaultTotal        = 30
	defaultFormatErrors = 4
)

func (l Limits) withDefaults() Limits {
	if l.Counted <= 0 {
		l.Counted = defaultCounted
	}
	if l.Total <= 0 {
		l.Total = max(defaultTotal, l.Counted)
	}
	if l.FormatErrors <= 0 {
		l.FormatErrors = defaultFormatErrors
	}
	return l
}

// fields is the form in which the limits stand in the trajectory's start event.
func (l Limits) fields() map[string]any {
	return map[string]any{"counted": l.Counted, "total": l.Total, "format_errors": l.FormatErrors, "tokens": l.Tokens, "usd": l.USD,
		"seconds": l.Time.Seconds()}
}

// left tells, with counted steps in the state and actions asked for so far, up to which step the state can still grow, and how many refused or abandoned
// actions can be borne before each further one costs one of those steps.
func (l Limits) left(counted, actions int) (most, spare int) {
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

// errOutOfTime is the cause of a context that the run's own time limit ended.
var errOutOfTime = errors.New("the time limit of the run has passed")

// deadline returns a context that ends with the run's time limit, so that a call in flight ends too.
func (m *meter) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if m.limits.Time <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, m.limits.Time, errOutOfTime)
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
func (m *meter) check(now time.Time, p phase, counted int) *halt {
	l := m.limits
	switch tokens := m.usage.InputTokens + m.usage.OutputTokens; {
	case l.Time > 0 && now.Sub(m.start) >= l.Time:
		return halting(OutOfTime, errOutOfTime, "the limit of %s has passed", l.Time)
	case l.Tokens > 0 && tokens >= l.Tokens:
		return halting(OutOfTokens, spent(llm.InputTokens, float64(tokens), float64(l.Tokens)), "%d tokens used, the limit is %d", tokens, l.Tokens)
	case l.USD > 0 && m.usage.USD >= l.USD:
		return halting(RequestMoney, spent(llm.USD, m.usage.USD, l.USD), "%.4f US dollars used, the limit is %.4f", m.usage.USD, l.USD)
	case p == helping:
		return nil
	case m.formatErrors >= l.FormatErrors:
		return halting(ModelFailed, ErrUnreadable, "the model wrote no readable action %d times in a row", m.formatErrors)
	case counted >= l.Counted:
		return halting(OutOfActions, nil, "%d steps in the state, the limit is %d", counted, l.Counted)
	case m.actions >= l.Total:
		return halting(OutOfActions, nil, "%d actions taken in all, the limit is %d", m.actions, l.Total)
	}
	return nil
}

// spent is the cause of an ending by a limit of the request.
func spent(m llm.Measure, reached, limit float64) *llm.BudgetError {
	return &llm.BudgetError{Account: llm.RequestAccount, Measure: m, Reached: reached, Limit: limit}
}
