package evalrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// Account tracks the cost of a run across all its sessions and rejects any call that could exceed the run's limit. It
// is an [llm.DayStore] that wraps the daily cost store. Each reservation of a call's maximum cost, and each correction,
// is a line in spent.jsonl, so that no cost is lost in a crash. Calls cut off by a crash remain charged at their
// maximum cost.
type Account struct {
	days  llm.DayStore
	limit float64 // US dollars; no limit if 0
	mu    sync.Mutex
	file  *os.File
	sum   llm.Usage
	full  bool

	all llm.DayStore // records what all processes sharing the run have spent, under the run's name; nil if not shared
	run string
}

// Share makes the limit apply to the total for all processes that share a run. The store records what they spend under
// the run's name.
func (a *Account) Share(store llm.DayStore, run string) { a.all, a.run = store, run }

// shared charges u to the account shared by all processes. A reservation that exceeds the limit is reverted.
func (a *Account) shared(ctx context.Context, u llm.Usage, reservation bool) error {
	if err := a.all.AddSpent(ctx, a.run, u); err != nil || !reservation || a.limit <= 0 {
		return err
	}
	sum, err := a.all.Spent(ctx, a.run)
	if err == nil && sum.USD <= a.limit {
		return nil
	}
	back := llm.Usage{Calls: -u.Calls, InputTokens: -u.InputTokens, OutputTokens: -u.OutputTokens, USD: -u.USD}
	err = errors.Join(err, a.all.AddSpent(context.WithoutCancel(ctx), a.run, back))
	if err != nil {
		return err
	}
	a.full = true
	return &llm.BudgetError{Account: llm.RunAccount, Measure: llm.USD, Reached: sum.USD, Limit: a.limit}
}

// OpenAccount opens the account for the run in dir. limit is the limit for all sessions in US dollars, or 0 for no
// limit. days stores the daily costs, which have a separate limit.
func OpenAccount(dir string, limit float64, days llm.DayStore) (*Account, error) {
	a := &Account{days: days, limit: limit}
	path := folder(dir).path(spentFile)
	err := readLines(path, func(_ int, text []byte) error {
		var u llm.Usage
		if json.Unmarshal(text, &u) == nil { // skip a line that a crash cut off
			a.sum.Add(u)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the run's costs: %w", err)
	}
	if a.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("cannot write the run's costs: %w", err)
	}
	_, err = a.file.WriteString("\n") // ends a line that a crash may have cut off
	return a, err
}

// Close closes the file.
func (a *Account) Close() error { return a.file.Close() }

// Sum returns the cost of the run, with calls in progress charged at their maximum cost.
func (a *Account) Sum() llm.Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sum
}

// Full reports whether a call was rejected because of the run's limit.
func (a *Account) Full() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.full
}

// Spent returns the amount spent on a day.
func (a *Account) Spent(ctx context.Context, day string) (llm.Usage, error) {
	return a.days.Spent(ctx, day)
}

// AddSpent records u for the run and for the day. A call that could exceed the run's limit is rejected with an
// [*llm.BudgetError].
func (a *Account) AddSpent(ctx context.Context, day string, u llm.Usage) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	reservation := u.Calls > 0 // a correction concerns money already spent
	if a.limit > 0 && reservation && a.sum.USD+u.USD > a.limit {
		a.full = true
		return &llm.BudgetError{Account: llm.RunAccount, Measure: llm.USD, Reached: a.sum.USD + u.USD, Limit: a.limit}
	}
	if a.all != nil {
		if err := a.shared(ctx, u, reservation); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if err := encode(&b, u, ""); err != nil {
		return err
	}
	if _, err := a.file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("cannot write the run's costs: %w", err)
	}
	a.sum.Add(u)
	return a.days.AddSpent(ctx, day, u)
}
