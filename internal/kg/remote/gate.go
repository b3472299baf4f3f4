package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// BudgetStore keeps an endpoint's budgets across restarts, as small JSON values under keys that this package chooses.
// internal/store implements it; [MemoryStore] is for tests and single runs.
type BudgetStore interface {
	// Change replaces the value under key with the result of f. f receives nil if there is no value, and returns nil to
	// keep the value. The replacement is atomic, and the change is durable when Change returns. f may be called more than
	// once. If f fails, Change returns its error and changes nothing.
	Change(ctx context.Context, key string, f func(old []byte) ([]byte, error)) error
}

// Pace describes, as token buckets, the budgets for query time, errors and requests that an endpoint allows its users.
// The zero Pace has no buckets.
type Pace struct {
	Time      time.Duration // capacity of the time bucket; each query uses up its running time
	TimeRate  time.Duration // refill per minute
	Errors    int           // capacity of the error bucket; each status >= 400 or broken response takes one
	ErrorRate int           // refill per minute
	Calls     int           // capacity of the request bucket; each request takes one
	CallRate  int           // refill per minute; at most Calls+CallRate requests are possible in a minute
}

// DefaultPace returns budgets slightly below those that the query service allows each address and User-Agent: 120 s of
// query time and 60 errors, refilled by 60 s and 30 errors per minute. Ours are refilled by only 50 s and 25 errors, so
// we never exceed the service's. Source: wikidata-query-rdf, ThrottlingFilterConfig; production may differ.
func DefaultPace() Pace {
	return Pace{Time: 120 * time.Second, TimeRate: 50 * time.Second, Errors: 60, ErrorRate: 25}
}

// longestQuery is the query time reserved until a query ends. The reservation keeps processes that share an account
// from spending the same time twice, and stays in place if the process dies before the query ends.
const longestQuery = 60 * time.Second

// gate guards an endpoint: it admits one request at a time, provided that the endpoint's budgets allow it and no ban is
// in effect.
type gate struct {
	endpoint string
	pace     Pace
	store    BudgetStore
	clock    politehttp.Clock
	turn     chan struct{} // contains one token; whoever holds it may send
	st       account       // owned by the token holder
}

// account is the part of a gate's state that is kept in the store.
type account struct {
	TimeLeft    float64   `json:"time_left"` // seconds
	ErrorsLeft  float64   `json:"errors_left"`
	CallsLeft   float64   `json:"calls_left"`
	At          time.Time `json:"at"`           // time at which the buckets had these levels
	NotBefore   time.Time `json:"not_before"`   // from Retry-After
	BannedUntil time.Time `json:"banned_until"` // from a 403
	Running     bool      `json:"running"`      // set during a query by earlier versions, which did not reserve query time
}

func newGate(endpoint string, pace Pace, store BudgetStore, clock politehttp.Clock) *gate {
	g := &gate{endpoint: endpoint, pace: pace, store: store, clock: clock, turn: make(chan struct{}, 1)}
	g.turn <- struct{}{}
	return g
}

// key returns the key of the account. It does not contain the values of URL parameters in the address, since the key is
// written to the store and a value may be a secret.
func (g *gate) key() string { return "endpoint " + politehttp.ShownURL(g.endpoint) }

// enter waits for its turn and for enough budget. On success, the caller must call leave. Errors have kind Banned or
// RateLimited, with RetryAfter set, or are the error of ctx.
func (g *gate) enter(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-g.turn:
	}
	admitted := false
	defer func() { // runs even after a panic in the store
		if !admitted {
			g.turn <- struct{}{}
		}
	}()
	err := g.admit(ctx)
	admitted = err == nil
	return err
}

func (g *gate) admit(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var wait time.Duration
		err := g.change(ctx, func(now time.Time) (changed bool, err error) {
			if left := g.st.BannedUntil.Sub(now); left > 0 {
				return false, &kg.Error{Kind: kg.Banned, RetryAfter: left,
					Message: fmt.Sprintf("the endpoint has banned us until %s; nothing is sent before",
						g.st.BannedUntil.UTC().Format(time.RFC3339))}
			}
			if wait = g.wait(now); wait > 0 || g.pace == (Pace{}) {
				return false, nil
			}
			g.st.CallsLeft--
			g.st.TimeLeft -= longestQuery.Seconds()
			return true, nil
		})
		if err != nil || wait <= 0 {
			return err
		}
		if deadline, has := ctx.Deadline(); wait > maxWait || has && g.clock.Now().Add(wait).After(deadline) {
			return &kg.Error{Kind: kg.RateLimited, RetryAfter: wait, Message: fmt.Sprintf("the endpoint wants us to wait %s",
				wait.Round(time.Second))}
		}
		if err := g.clock.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// change reads the account, which other processes may have changed, and writes it back if f changes it. This is atomic.
func (g *gate) change(ctx context.Context, f func(now time.Time) (changed bool, err error)) error {
	var own error
	err := g.store.Change(ctx, g.key(), func(data []byte) ([]byte, error) {
		now := g.clock.Now()
		g.load(data, now)
		var changed bool
		if changed, own = f(now); own != nil || !changed {
			return nil, own
		}
		return json.Marshal(g.st)
	})
	if err != nil && own == nil {
		return fmt.Errorf("the account of %s: %w", g.endpoint, err)
	}
	return own
}

// load reads the account from its stored form.
func (g *gate) load(data []byte, now time.Time) {
	fresh := account{TimeLeft: g.pace.Time.Seconds(), ErrorsLeft: float64(g.pace.Errors),
		CallsLeft: float64(g.pace.Calls), At: now}
	if g.st = fresh; data == nil {
		return
	}
	g.st = account{}
	if json.Unmarshal(data, &g.st) != nil {
		g.st = fresh // replace an unreadable account with a new one; the endpoint also keeps an account
		return
	}
	g.refill(now)
	if g.st.Running {
		g.st.TimeLeft -= longestQuery.Seconds()
		g.st.Running = false
	}
}

// refill adds what the buckets have gained since the account was last updated.
func (g *gate) refill(now time.Time) {
	minutes := max(now.Sub(g.st.At).Minutes(), 0)
	g.st.TimeLeft = min(g.st.TimeLeft+minutes*g.pace.TimeRate.Seconds(), g.pace.Time.Seconds())
	g.st.ErrorsLeft = min(g.st.ErrorsLeft+minutes*float64(g.pace.ErrorRate), float64(g.pace.Errors))
	g.st.CallsLeft = min(g.st.CallsLeft+minutes*float64(g.pace.CallRate), float64(g.pace.Calls))
	g.st.At = now
}

// wait returns the time until a request may be sent. Before a request, at least a second of query time, one error and
// one call must be left.
func (g *gate) wait(now time.Time) time.Duration {
	wait := max(g.st.NotBefore.Sub(now), 0)
	if g.pace.TimeRate > 0 && g.st.TimeLeft < 1 {
		wait = max(wait, time.Duration((1-g.st.TimeLeft)/g.pace.TimeRate.Minutes()*float64(time.Second))+time.Millisecond)
	}
	if g.pace.ErrorRate > 0 && g.st.ErrorsLeft < 1 {
		wait = max(wait, time.Duration((1-g.st.ErrorsLeft)/float64(g.pace.ErrorRate)*float64(time.Minute))+time.Millisecond)
	}
	if g.pace.CallRate > 0 && g.st.CallsLeft < 1 {
		wait = max(wait, time.Duration((1-g.st.CallsLeft)/float64(g.pace.CallRate)*float64(time.Minute))+time.Millisecond)
	}
	return wait
}

// leave records the cost of a request and the endpoint's instructions for later requests, and releases the token. It
// returns an error if it cannot save the account; the request itself has been made.
func (g *gate) leave(ctx context.Context, took time.Duration, failure *kg.Error) error {
	defer func() { g.turn <- struct{}{} }()
	limited := failure != nil && (failure.Kind == kg.Banned || failure.Kind == kg.RateLimited)
	if g.pace == (Pace{}) && !limited {
		return nil
	}
	return g.change(context.WithoutCancel(ctx), func(now time.Time) (bool, error) {
		if g.pace != (Pace{}) {
			g.st.TimeLeft = min(g.st.TimeLeft+longestQuery.Seconds()-took.Seconds(), g.pace.Time.Seconds())
		}
		if failure != nil {
			g.st.ErrorsLeft--
			switch failure.Kind {
			case kg.Banned:
				g.st.BannedUntil = now.Add(failure.RetryAfter)
			case kg.RateLimited:
				g.st.NotBefore = now.Add(failure.RetryAfter)
			}
		}
		return true, nil
	})
}

// MemoryStore is an in-memory [BudgetStore].
type MemoryStore struct {
	mu     sync.Mutex
	values map[string][]byte
}

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore { return &MemoryStore{values: map[string][]byte{}} }

// Change implements [BudgetStore].
func (m *MemoryStore) Change(_ context.Context, key string, f func([]byte) ([]byte, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, err := f(m.values[key])
	if err == nil && value != nil {
		m.values[key] = value
	}
	return err
}
