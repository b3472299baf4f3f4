package evalrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/llm"
	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
)

// The account rejects calls that could exceed the limit, always accepts corrections, and keeps its total across
// sessions, even after an incomplete line.
func TestAccount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	days := llm.NewMemoryDays()
	open := func() *Account {
		a, err := OpenAccount(dir, 1, days)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a
	}
	book := func(a *Account, calls int, usd float64) error {
		return a.AddSpent(t.Context(), "2026-01-01", llm.Usage{Calls: calls, USD: usd})
	}
	a := open()
	if err := errors.Join(book(a, 1, 0.75), book(a, 0, -0.5)); err != nil || a.Sum().USD != 0.25 {
		t.Fatal(a.Sum(), err)
	}
	if err := book(a, 1, 0.875); !errors.Is(err, llm.ErrBudget) || !a.Full() || a.Sum().USD != 0.25 {
		t.Error(a.Sum(), err)
	}
	f, err := os.OpenFile(filepath.Join(dir, spentFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"calls":1,"usd":0.`)
	f.Close()
	b := open()
	if b.Sum().USD != 0.25 || b.Full() {
		t.Error(b.Sum())
	}
	if err := book(b, 1, 0.75); err != nil || b.Sum().USD != 1 {
		t.Error(b.Sum(), err)
	}
	if c := open(); c.Sum().USD != 1 {
		t.Error(c.Sum())
	}
	if day, err := days.Spent(t.Context(), "2026-01-01"); err != nil || day.USD != 1 {
		t.Error(day, err)
	}
}

// paidModel is a model that books a dollar per call.
type paidModel struct{ a *Account }

func (m paidModel) Complete(ctx context.Context, _ llm.Request) (*llm.Response, error) {
	u := llm.Usage{Calls: 1, USD: 1}
	if err := m.a.AddSpent(ctx, "2026-01-01", u); err != nil {
		return nil, err
	}
	return &llm.Response{Usage: u}, nil
}

// A run stops cleanly at its cost limit: paid results are kept, and a higher limit continues the run.
func TestBudget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	items := bench("answer ROWS a | ROWS a", "answer ROWS b | ROWS b", "answer ROWS c | ROWS c",
		"answer ROWS d | ROWS d")
	for _, c := range []struct {
		limit float64
		items int
		err   error
	}{{2.5, 2, ErrBudget}, {2.5, 2, ErrBudget}, {9, 4, nil}} {
		w := newWorld(t, dir, items)
		account, err := OpenAccount(dir, c.limit, llm.NewMemoryDays())
		if err != nil {
			t.Fatal(err)
		}
		w.Account = account
		w.Model = func(dataset.Item) agent.Model { return paidModel{account} }
		w.New = func(p Parts) ask.Asker {
			a := w.asker
			a.p = p
			return &a
		}
		sum, err := Run(t.Context(), w.Config)
		if !errors.Is(err, c.err) || sum.Items != c.items || sum.Missing != 4-c.items || sum.Answered != c.items {
			t.Errorf("limit %v: %v, %s", c.limit, err, asJSON(t, sum))
		}
		if got := account.Sum().USD; got != float64(c.items) {
			t.Errorf("limit %v: $%v spent", c.limit, got)
		}
		account.Close()
	}
}
