package step

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Meter tracks what a run may use and what it has used, in total across all its states. It is safe for concurrent use.
type Meter struct {
	limits event.Limits
	now    func() time.Time
	start  time.Time

	mu      sync.Mutex
	usage   llm.Usage
	flying  int // number of calls to the model in progress
	repairs map[string]int
}

// Repairs returns how often the model was told to correct a turn, by problem, or nil if this never happened.
func (m *Meter) Repairs() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.repairs)
}

func (m *Meter) repair(k protocol.Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.repairs == nil {
		m.repairs = map[string]int{}
	}
	m.repairs[k.Name()]++
}

// NewMeter returns a meter for a run that starts now. limits must include the defaults.
func NewMeter(limits event.Limits, now func() time.Time) *Meter {
	return &Meter{limits: limits, now: now, start: now()}
}

// Limits returns the run's limits.
func (m *Meter) Limits() event.Limits { return m.limits }

// Elapsed returns the time since the run started.
func (m *Meter) Elapsed() time.Duration { return m.now().Sub(m.start) }

// Usage returns the usage of the calls to the model so far.
func (m *Meter) Usage() llm.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usage
}

// enter must be called before a call to the model. It returns an error if the finished calls and the calls in progress
// have reached the limit.
func (m *Meter) enter() *event.Halt {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.usage.Calls + m.flying; m.limits.Calls > 0 && n >= m.limits.Calls {
		return outOfCalls(n, m.limits.Calls)
	}
	m.flying++
	return nil
}

// leave ends a call started with [Meter.enter], and adds its usage.
func (m *Meter) leave(u llm.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flying--
	m.usage.Add(u)
}

func outOfCalls(made, limit int) *event.Halt {
	return event.NewHalt(event.OutOfTokens, spent(llm.Calls, float64(made), float64(limit)),
		"%d calls to the model made, the limit is %d", made, limit)
}

// Deadline returns a context that ends when the run's time limit is reached, so that a call in progress ends, too.
func (m *Meter) Deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if m.limits.Time <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, m.limits.Time, event.ErrOutOfTime)
}

// timeFor reports whether the run has enough time left for d plus the same amount of time for answering the question.
func (m *Meter) timeFor(d time.Duration) bool {
	return m.limits.Time <= 0 || m.Elapsed()+2*d <= m.limits.Time
}

// spare returns how long optional work may take: half of the run's remaining time, or 0 if the run has no time limit.
func (m *Meter) spare() time.Duration {
	if m.limits.Time <= 0 {
		return 0
	}
	return max(1, (m.limits.Time-m.Elapsed())/2)
}

// check returns the run-wide limit that forbids another call to the model, or nil if there is none.
func (m *Meter) check() *event.Halt {
	l, u := m.limits, m.Usage()
	switch tokens := u.InputTokens + u.OutputTokens; {
	case l.Time > 0 && m.Elapsed() >= l.Time:
		return event.NewHalt(event.OutOfTime, event.ErrOutOfTime, "the limit of %s has passed", l.Time)
	case l.Calls > 0 && u.Calls >= l.Calls:
		return outOfCalls(u.Calls, l.Calls)
	case l.Tokens > 0 && tokens >= l.Tokens:
		return event.NewHalt(event.OutOfTokens, spent(llm.InputTokens, float64(tokens), float64(l.Tokens)),
			"%d tokens used, the limit is %d", tokens, l.Tokens)
	case l.USD > 0 && u.USD >= l.USD:
		return event.NewHalt(event.RequestMoney, spent(llm.USD, u.USD, l.USD),
			"%.4f US dollars used, the limit is %.4f", u.USD, l.USD)
	}
	return nil
}

// spent returns the cause of a run's ending when one of the request's limits is reached.
func spent(m llm.Measure, reached, limit float64) *llm.BudgetError {
	return &llm.BudgetError{Account: llm.RequestAccount, Measure: m, Reached: reached, Limit: limit}
}

// Check returns the limit that forbids another action in s, or nil if there is none. It is the only place where a
// state's limits are checked.
func (r *Runner) Check(s State) *event.Halt {
	if h := r.Meter.check(); h != nil {
		return h
	}
	switch l := r.limits(s); {
	case s.formatErrors >= l.FormatErrors:
		return event.NewHalt(event.ModelFailed, event.ErrUnreadable,
			"the model wrote no readable action %d times in a row", s.formatErrors)
	case r.Preset.Rules.Messages > 0 && s.messages >= r.Preset.Rules.Messages:
		return event.NewHalt(event.OutOfActions, nil, "%d messages, the limit is %d", s.messages,
			r.Preset.Rules.Messages)
	case len(s.steps) >= l.Counted:
		return event.NewHalt(event.OutOfActions, nil, "%d steps in the state, the limit is %d", len(s.steps), l.Counted)
	case s.actions >= l.Total:
		return event.NewHalt(event.OutOfActions, nil, "%d actions taken in total, the limit is %d", s.actions, l.Total)
	}
	return nil
}

// limits returns the run's limits for s. Each step that the model did not request raises the step limits by one.
func (r *Runner) limits(s State) event.Limits {
	l := r.Meter.limits
	l.Counted += s.granted
	l.Total += s.granted
	return l
}

// left returns how many steps a state can reach in total, and how many more actions may be rejected or abandoned before
// each additional one costs a step. counted and actions are the numbers of its steps and of the actions requested so
// far.
func left(l event.Limits, counted, actions int) (most, spare int) {
	most = min(l.Counted, counted+l.Total-actions)
	return most, max(0, l.Total-actions-(l.Counted-counted))
}
