package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Limits are hard limits; a zero field means no limit.
type Limits struct {
	Calls        int
	InputTokens  int
	OutputTokens int
	USD          float64
}

// exceeded returns an error for the first of the account's limits that u exceeds, or nil.
func (l Limits) exceeded(a AccountName, u Usage) *BudgetError {
	const eps = 1e-9 // floating-point sums of prices are inexact
	over := func(m Measure, reached, limit float64) *BudgetError {
		if limit > 0 && reached > limit+eps {
			return &BudgetError{Account: a, Measure: m, Reached: reached, Limit: limit}
		}
		return nil
	}
	return cmp.Or(
		over(Calls, float64(u.Calls), float64(l.Calls)),
		over(InputTokens, float64(u.InputTokens), float64(l.InputTokens)),
		over(OutputTokens, float64(u.OutputTokens), float64(l.OutputTokens)),
		over(USD, u.USD, l.USD))
}

// AccountName names the account that a limit belongs to.
type AccountName string

// The accounts that a limit can belong to.
const (
	DayAccount     AccountName = "day"     // all calls on one UTC day
	RunAccount     AccountName = "run"     // all calls in one benchmark run
	RequestAccount AccountName = "request" // all calls for one question
)

// Measure is what a limit counts.
type Measure string

// What the fields of [Limits] count.
const (
	Calls        Measure = "calls"
	InputTokens  Measure = "input_tokens"
	OutputTokens Measure = "output_tokens"
	USD          Measure = "usd"
)

// BudgetError means that a call was not made because it could exceed a limit. It is an [ErrBudget].
type BudgetError struct {
	Account AccountName `json:"account"`
	Measure Measure     `json:"measure"`
	Reached float64     `json:"reached"` // the maximum that the account could reach if the call were made
	Limit   float64     `json:"limit"`
}

// Error describes the limit.
func (e *BudgetError) Error() string {
	whose := map[AccountName]string{DayAccount: "this day (UTC)", RunAccount: "this run",
		RequestAccount: "this question"}[e.Account]
	amount := fmt.Sprintf("%.0f of %.0f %s", e.Reached, e.Limit, strings.ReplaceAll(string(e.Measure), "_", " "))
	if e.Measure == USD {
		amount = fmt.Sprintf("$%.4f of $%.4f", e.Reached, e.Limit)
	}
	return fmt.Sprintf("%v: the next call could bring %s to %s", ErrBudget, whose, amount)
}

// Unwrap returns [ErrBudget].
func (e *BudgetError) Unwrap() error { return ErrBudget }

// DayStore records what was spent on each UTC day, and keeps the records across restarts. internal/store implements it;
// [MemoryDays] is for tests and single runs.
type DayStore interface {
	// Spent returns the total for a day such as "2026-11-20", or the zero Usage for a day without calls.
	Spent(ctx context.Context, day string) (Usage, error)
	// AddSpent adds u to the day's total. The fields of u may be negative, to return a reservation. When AddSpent returns,
	// the change is durable.
	AddSpent(ctx context.Context, day string, u Usage) error
}

// Budget limits what is spent per day. The maximum cost of each attempt is booked before the attempt is sent, and
// corrected to the actual cost afterward, so the limit is never exceeded, even by many concurrent calls in any number
// of processes. After a crash, the maximum stays booked. A Budget is safe for concurrent use.
type Budget struct {
	mu     sync.Mutex
	store  DayStore
	now    func() time.Time
	limits Limits
}

// NewBudget returns a budget that keeps its accounts in store. The limits apply to each UTC day.
func NewBudget(store DayStore, now func() time.Time, daily Limits) *Budget {
	return &Budget{store: store, now: now, limits: daily}
}

// Today returns what was spent on the current UTC day, including the reservations of running calls.
func (b *Budget) Today(ctx context.Context) (Usage, error) { return b.store.Spent(ctx, b.day()) }

func (b *Budget) day() string { return b.now().UTC().Format(time.DateOnly) }

func (b *Budget) book(ctx context.Context, worst Usage) (day string, err error) {
	if b == nil {
		return "", nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	day = b.day()
	// Other processes may book costs at the same time, so the second check includes what they booked after the first.
	if err := b.room(ctx, day, worst); err != nil {
		return "", err
	}
	if err := b.store.AddSpent(ctx, day, worst); err != nil {
		return "", fmt.Errorf("booking the maximum cost of a model call: %w", err)
	}
	if err := b.room(ctx, day, Usage{}); err != nil {
		if rerr := b.store.AddSpent(context.WithoutCancel(ctx), day, negative(worst)); rerr != nil {
			return "", errors.Join(err, rerr)
		}
		return "", err
	}
	return day, nil
}

// room returns an error if the day's total plus more exceeds a limit.
func (b *Budget) room(ctx context.Context, day string, more Usage) error {
	if b.limits == (Limits{}) {
		return nil
	}
	spent, err := b.store.Spent(ctx, day)
	if err != nil {
		return fmt.Errorf("reading today's model costs: %w", err)
	}
	spent.Add(more)
	if over := b.limits.exceeded(DayAccount, spent); over != nil {
		return over
	}
	return nil
}

func (b *Budget) correct(ctx context.Context, day string, delta Usage) error {
	if b == nil || delta == (Usage{}) {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// The money has been spent, so it is booked even if the caller has given up.
	if err := b.store.AddSpent(context.WithoutCancel(ctx), day, delta); err != nil {
		return fmt.Errorf("booking the cost of a model call: %w", err)
	}
	return nil
}

// Allowance is the account for one question. [WithAllowance] adds it to the context of all calls for that question. An
// Allowance is safe for concurrent use.
type Allowance struct {
	mu     sync.Mutex
	limits Limits
	used   Usage
}

// NewAllowance returns an account with the given limits for one question.
func NewAllowance(l Limits) *Allowance { return &Allowance{limits: l} }

// Used returns what the question's calls have cost so far, including failed calls that may have been billed and the
// reservations of running calls.
func (a *Allowance) Used() Usage {
	if a == nil {
		return Usage{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used
}

func (a *Allowance) book(worst Usage) error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := a.used
	sum.Add(worst)
	if over := a.limits.exceeded(RequestAccount, sum); over != nil {
		return over
	}
	a.used = sum
	return nil
}

// Spend adds what a resumed run had already spent.
func (a *Allowance) Spend(u Usage) { a.correct(u) }

func (a *Allowance) correct(delta Usage) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used.Add(delta)
}

type allowanceKey struct{}

// WithAllowance returns a context whose calls are charged to a.
func WithAllowance(ctx context.Context, a *Allowance) context.Context {
	return context.WithValue(ctx, allowanceKey{}, a)
}

func allowanceOf(ctx context.Context) *Allowance {
	a, _ := ctx.Value(allowanceKey{}).(*Allowance)
	return a
}

// reservation is the maximum cost of one attempt, charged to both accounts.
type reservation struct {
	c     *Client
	model string
	allow *Allowance
	day   string
	worst Usage
}

// reserve books the maximum cost of an attempt. It counts every byte of the request as a token, since no tokenizer
// produces more tokens than bytes, and assumes that every sample has the maximum length.
func (c *Client) reserve(ctx context.Context, w openai.ChatCompletionRequest) (*reservation, error) {
	//nolint:staticcheck // max_tokens is deprecated by OpenAI only; every other server wants it
	worst := Usage{Calls: 1, InputTokens: inputBound(w), OutputTokens: (w.MaxTokens +
		w.MaxCompletionTokens) * max(w.N, 1)}
	return c.book(ctx, worst, w.Model)
}

// book charges the maximum cost of a model call to both accounts.
func (c *Client) book(ctx context.Context, worst Usage, model string) (*reservation, error) {
	worst.USD = c.price(worst, model)
	r := &reservation{c: c, model: model, allow: allowanceOf(ctx), worst: worst}
	if err := r.allow.book(worst); err != nil {
		return nil, err
	}
	day, err := c.budget.book(ctx, worst)
	if err != nil {
		r.allow.correct(negative(worst))
		return nil, err
	}
	r.day = day
	return r, nil
}

// perMessage is a generous estimate of the number of tokens that the protocol adds to a message.
const perMessage = 8

func inputBound(w openai.ChatCompletionRequest) int {
	n := perMessage
	for _, m := range w.Messages {
		n += len(m.Content) + len(m.ReasoningContent) + len(m.Role) + len(m.ToolCallID) + perMessage
		for _, c := range m.ToolCalls {
			n += len(c.ID) + len(c.Function.Name) + len(c.Function.Arguments) + perMessage
		}
	}
	for _, t := range w.Tools {
		schema, _ := t.Function.Parameters.(json.RawMessage)
		n += len(t.Function.Name) + len(t.Function.Description) + len(schema) + perMessage
	}
	return n
}

// outputBound returns an upper bound on the number of tokens in a choice: one per byte, and one for its end.
func outputBound(ch Choice) int {
	n := len(ch.Content) + len(ch.Reasoning) + 1
	for _, c := range ch.ToolCalls {
		n += len(c.ID) + len(c.Name) + len(c.Arguments) + perMessage
	}
	return n
}

// settle replaces the maximum cost with the actual cost of the attempt, which is the usage that the response reports,
// or zero if the service rejected the request or was not reached. If the response was cut off or reports no usage, the
// attempt may have been billed, so the maximum stays booked.
func (r *reservation) settle(ctx context.Context, resp *Response, callErr error,
	result politehttp.Result) (Usage, error) {
	spent := r.worst
	switch {
	case callErr == nil && resp.Usage.InputTokens+resp.Usage.OutputTokens > 0:
		spent = resp.Usage
		spent.USD = r.c.price(spent, r.model)
	case callErr == nil:
		spent.OutputTokens = 0
		for _, ch := range resp.Choices {
			spent.OutputTokens += outputBound(ch)
		}
		spent.USD, spent.Unmeasured = r.c.price(spent, r.model), 1
	case result.Status >= http.StatusMultipleChoices || notSent(callErr):
		spent = Usage{}
	default:
		spent.Unmeasured = 1
	}
	delta := spent
	delta.Add(negative(r.worst))
	r.allow.correct(delta)
	return spent, r.c.budget.correct(ctx, r.day, delta)
}

func (c *Client) price(u Usage, model string) float64 {
	in, out := c.cfg.InputUSDPerMTok, c.cfg.OutputUSDPerMTok
	if model == c.cfg.JudgeModel && model != c.cfg.Model && c.cfg.JudgeInputUSD+c.cfg.JudgeOutputUSD > 0 {
		in, out = c.cfg.JudgeInputUSD, c.cfg.JudgeOutputUSD
	}
	return (float64(u.InputTokens)*in + float64(u.OutputTokens)*out) / 1e6
}

func negative(u Usage) Usage {
	return Usage{Calls: -u.Calls, InputTokens: -u.InputTokens, OutputTokens: -u.OutputTokens, USD: -u.USD,
		Unmeasured: -u.Unmeasured}
}

// MemoryDays is a [DayStore] in memory.
type MemoryDays struct {
	mu   sync.Mutex
	days map[string]Usage
}

// NewMemoryDays returns an empty store.
func NewMemoryDays() *MemoryDays { return &MemoryDays{days: map[string]Usage{}} }

// Spent returns the day's total.
func (m *MemoryDays) Spent(_ context.Context, day string) (Usage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.days[day], nil
}

// AddSpent adds u to the day's total.
func (m *MemoryDays) AddSpent(_ context.Context, day string, u Usage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := m.days[day]
	sum.Add(u)
	m.days[day] = sum
	return nil
}
