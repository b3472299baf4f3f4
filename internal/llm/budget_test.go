package llm

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestAccounting(t *testing.T) {
	days := NewMemoryDays()
	budget := NewBudget(days, func() time.Time { return epoch }, Limits{})
	s := serve(t, failing(500, "", "x"), ok("a"), reply{}, ok("b"))
	c, _, _ := setup(t, s.URL, nil, budget)
	allow := NewAllowance(Limits{})
	ctx := WithAllowance(context.Background(), allow)
	// 1,000 input tokens at $2.50 and 100 output tokens at $10 per million cost $0.0035. The 500 costs nothing.
	if resp, err := c.Complete(ctx, hello); err != nil || !near(resp.Usage.USD, 0.0035) || resp.Usage.Calls != 1 {
		t.Fatalf("%+v %v", resp, err)
	}
	// The attempt whose connection was cut may have been billed, so it is charged at its worst case: 8 + (1+6+8) + (1+4+8)
	// = 36 input tokens and 50 output tokens.
	resp, err := c.Complete(ctx, hello)
	if err != nil {
		t.Fatal(err)
	}
	want := Usage{Calls: 2, InputTokens: 1036, OutputTokens: 150, USD: 0.0035 + (36*2.5+50*10)/1e6}
	if resp.Usage.Calls != want.Calls || resp.Usage.InputTokens != want.InputTokens ||
		resp.Usage.OutputTokens != want.OutputTokens || !near(resp.Usage.USD, want.USD) {
		t.Errorf("got %+v, want %+v", resp.Usage, want)
	}
	sum, _ := days.Spent(ctx, "2026-11-20")
	if used := allow.Used(); used.InputTokens != 2036 || sum.InputTokens != 2036 || used.Calls != 3 ||
		!near(sum.USD, used.USD) {
		t.Errorf("question %+v, day %+v", used, sum)
	}
}

func TestUsageMissing(t *testing.T) {
	s := serve(t, reply{status: 200, body: `{"choices":[{"finish_reason":"stop","message":{"content":"four"}}]}`})
	c, _, _ := setup(t, s.URL, nil, nil)
	resp, err := c.Complete(context.Background(), hello)
	if err != nil || resp.Usage.InputTokens != 36 || resp.Usage.OutputTokens != 5 {
		t.Errorf("counted by bytes: %+v %v", resp, err)
	}
}

func TestLimitsAreHard(t *testing.T) {
	worst := (36*2.5 + 50*10) / 1e6
	for _, tt := range []struct {
		name     string
		day, ask Limits
		account  AccountName
		measure  Measure
		limit    float64
	}{
		{"day in money", Limits{USD: worst - 1e-6}, Limits{}, DayAccount, USD, worst - 1e-6},
		{"day in output tokens, less than the question has", Limits{OutputTokens: 49}, Limits{OutputTokens: 50}, DayAccount,
			OutputTokens, 49},
		{"question in money", Limits{}, Limits{USD: worst - 1e-6}, RequestAccount, USD, worst - 1e-6},
		{"question in output tokens", Limits{}, Limits{OutputTokens: 49}, RequestAccount, OutputTokens, 49},
		{"question in input tokens", Limits{}, Limits{InputTokens: 35}, RequestAccount, InputTokens, 35},
	} {
		t.Run(tt.name, func(t *testing.T) {
			days := NewMemoryDays()
			s := serve(t) // nothing may be sent
			c, _, _ := setup(t, s.URL, nil, NewBudget(days, func() time.Time { return epoch }, tt.day))
			allow := NewAllowance(tt.ask)
			_, err := c.Complete(WithAllowance(context.Background(), allow), hello)
			var over *BudgetError
			if !errors.As(err, &over) || !errors.Is(err, ErrBudget) || over.Account != tt.account ||
				over.Measure != tt.measure || !near(over.Limit, tt.limit) {
				t.Errorf("got %v (%+v)", err, over)
			}
			if sum, _ := days.Spent(context.Background(), "2026-11-20"); sum != (Usage{}) || allow.Used() != (Usage{}) {
				t.Errorf("a refused call left a booking: %+v %+v", sum, allow.Used())
			}
		})
	}
	s := serve(t, ok("a"))
	c, _, _ := setup(t, s.URL, nil, NewBudget(NewMemoryDays(), func() time.Time { return epoch }, Limits{USD: worst}))
	if _, err := c.Complete(context.Background(), hello); err != nil {
		t.Errorf("exactly the limit is allowed: %v", err)
	}
}

// Even with many concurrent calls, the booked amount never exceeds the limit.
func TestBookingInParallel(t *testing.T) {
	const limit, each = 100, 7
	b := NewBudget(NewMemoryDays(), func() time.Time { return epoch }, Limits{OutputTokens: limit})
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted := 0
	for range 50 {
		wg.Go(func() {
			if _, err := b.book(context.Background(), Usage{OutputTokens: each}); err == nil {
				mu.Lock()
				granted++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if granted != limit/each {
		t.Errorf("%d bookings of %d within %d, want %d", granted, each, limit, limit/each)
	}
}

func TestDayChanges(t *testing.T) {
	now := epoch
	b := NewBudget(NewMemoryDays(), func() time.Time { return now }, Limits{Calls: 1})
	ctx := context.Background()
	if _, err := b.book(ctx, Usage{Calls: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.book(ctx, Usage{Calls: 1}); !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(),
		"2 of 1 calls") {
		t.Errorf("second call of the day: %v", err)
	}
	now = time.Date(2026, 11, 21, 9, 30, 0, 0, time.FixedZone("east", 10*3600)) // 23:30 UTC on the 20th
	if _, err := b.book(ctx, Usage{Calls: 1}); !errors.Is(err, ErrBudget) {
		t.Errorf("the day is UTC's: %v", err)
	}
	now = epoch.Add(time.Minute) // midnight
	if _, err := b.book(ctx, Usage{Calls: 1}); err != nil {
		t.Errorf("first call of the next day: %v", err)
	}
	if u, err := b.Today(ctx); err != nil || u.Calls != 1 {
		t.Errorf("today %+v %v", u, err)
	}
}

type brokenDays struct{ *MemoryDays }

func (brokenDays) AddSpent(context.Context, string, Usage) error { return errors.New("disk full") }

func TestBudgetStoreFails(t *testing.T) {
	s := serve(t)
	c, _, _ := setup(t, s.URL, nil, NewBudget(brokenDays{NewMemoryDays()}, func() time.Time { return epoch }, Limits{}))
	if _, err := c.Complete(context.Background(), hello); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("what cannot be booked is not sent: %v", err)
	}
}

// TestJudgeModel checks that judgments use their own model and its prices, or the main model's prices if it has none.
func TestJudgeModel(t *testing.T) {
	for _, tt := range []struct {
		in, out float64
		want    float64 // 1,000 input and 100 output tokens
	}{{0, 0, 0.0035}, {1, 2, 0.0012}} {
		s := serve(t, ok("a"), ok("b"))
		c, _, _ := setup(t, s.URL, func(cfg *Config) {
			cfg.JudgeModel, cfg.JudgeInputUSD, cfg.JudgeOutputUSD = "small", tt.in, tt.out
		}, nil)
		act, err := c.Complete(t.Context(), hello)
		if err != nil {
			t.Fatal(err)
		}
		judge := hello
		judge.Purpose = Judge
		judged, err := c.Complete(t.Context(), judge)
		if err != nil {
			t.Fatal(err)
		}
		if s.bodies[0]["model"] != "gpt-4o" || s.bodies[1]["model"] != "small" {
			t.Errorf("requests %v", s.bodies)
		}
		if !near(judged.Usage.USD, tt.want) || !near(act.Usage.USD, 0.0035) {
			t.Errorf("judged for $%g, want $%g; acted for $%g", judged.Usage.USD, tt.want, act.Usage.USD)
		}
	}
}

// Several processes that share an account do not exceed its limit together.
func TestBudgetOfProcesses(t *testing.T) {
	const limit, each = 1000, 70
	days := NewMemoryDays()
	var wg sync.WaitGroup
	for range 5 {
		b := NewBudget(days, func() time.Time { return epoch }, Limits{OutputTokens: limit})
		for range 20 {
			wg.Go(func() {
				if _, err := b.book(context.Background(), Usage{OutputTokens: each}); err != nil && !errors.Is(err, ErrBudget) {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	b := NewBudget(days, func() time.Time { return epoch }, Limits{OutputTokens: limit})
	if u, err := b.Today(t.Context()); err != nil || u.OutputTokens > limit || u.OutputTokens == 0 {
		t.Errorf("%d of %d tokens are booked: %v", u.OutputTokens, limit, err)
	}
}
