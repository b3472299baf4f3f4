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

// BudgetStore keeps what an endpoint allows us over restarts: small JSON values under keys of this package.
// internal/store implements it; [MemoryStore] is the one for tests and single runs.
type BudgetStore interface {
	// Get returns the value under key, false when there is none.
	Get(ctx context.Context, key string) ([]byte, bool, error)
	// Put stores value under key; it is durable when it returns.
	Put(ctx context.Context, key string, value []byte) error
}

// Pace is the account of an endpoint that budgets its users' query time and errors, as token buckets. The zero Pace has
// no buckets.
type Pace struct {
	Time      time.Duration // capacity of the time bucket; each query takes its running time out of it
	TimeRate  time.Duration // refill per minute
	Errors    int           // capacity of the error bucket; each answer of 400 or more, and each broken one, takes one
	ErrorRate int           // refill per minute
	Calls     int           // capacity of the bucket of requests; each takes one
	CallRate  int           // refill per minute; in no minute there are more than both together
}

// DefaultPace is the query service's rule for one address and User-Agent: 120 s of query time and 60 errors, refilled
// at 60 s and 30 a minute. The refill is lowered to 50 s and 25 a minute so that our own limit is always the stricter
// one. Source: wikidata-query-rdf, ThrottlingFilterConfig; production may differ.
func DefaultPace() Pace {
	return Pace{Time: 120 * time.Second, TimeRate: 50 * time.Second, Errors: 60, ErrorRate: 25}
}

// longestQuery is booked for a query whose end we did not live to see.
const longestQuery = 60 * time.Second

// gate is the way to one endpoint: it lets one request through at a time, when the endpoint's budgets allow it and no
// ban is on.
type gate struct {
	endpoint string
	pace     Pace
	store    BudgetStore
	clock    politehttp.Clock
	turn     chan struct{} // holds one token: whose turn it is
	st       account       // owned by the holder of the turn
}

// account is the persistent state of a gate.
type account struct {
	TimeLeft    float64   `json:"time_left"` // seconds
	ErrorsLeft  float64   `json:"errors_left"`
	CallsLeft   float64   `json:"calls_left"`
	At          time.Time `json:"at"`           // when the buckets had this content
	NotBefore   time.Time `json:"not_before"`   // from Retry-After
	BannedUntil time.Time `json:"banned_until"` // from a 403
	Running     bool      `json:"running"`      // a query is out; still true at the next start if we died meanwhile
}

func newGate(endpoint string, pace Pace, store BudgetStore, clock politehttp.Clock) *gate {
	g := &gate{endpoint: endpoint, pace: pace, store: store, clock: clock, turn: make(chan struct{}, 1)}
	g.turn <- struct{}{}
	return g
}

func (g *gate) key() string { return "endpoint " + g.endpoint }

// enter waits for the turn and for the budgets. On success the caller must call leave. Errors: Banned and RateLimited
// with RetryAfter, ctx's.
func (g *gate) enter(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-g.turn:
	}
	err := g.admit(ctx)
	if err != nil {
		g.turn <- struct{}{}
	}
	return err
}

func (g *gate) admit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := g.load(ctx); err != nil {
		return err
	}
	now := g.clock.Now()
	if left := g.st.BannedUntil.Sub(now); left > 0 {
		return &kg.Error{Kind: kg.Banned, RetryAfter: left,
			Message: fmt.Sprintf("the endpoint has banned us until %s; nothing is sent before",
				g.st.BannedUntil.UTC().Format(time.RFC3339))}
	}
	if wait := g.wait(now); wait > 0 {
		deadline, has := ctx.Deadline()
		if wait > maxWait || (has && now.Add(wait).After(deadline)) {
			return &kg.Error{Kind: kg.RateLimited, RetryAfter: wait, Message: fmt.Sprintf("the endpoint wants us to wait %s",
				wait.Round(time.Second))}
		}
		if err := g.clock.Sleep(ctx, wait); err != nil {
			return err
		}
		g.refill(g.clock.Now())
	}
	if g.pace == (Pace{}) {
		return nil
	}
	g.st.CallsLeft--
	g.st.Running = true
	return g.save(ctx)
}

// load reads the account; another process may have changed it.
func (g *gate) load(ctx context.Context) error {
	now := g.clock.Now()
	data, ok, err := g.store.Get(ctx, g.key())
	if err != nil {
		return fmt.Errorf("reading the account of %s: %w", g.endpoint, err)
	}
	fresh := account{TimeLeft: g.pace.Time.Seconds(), ErrorsLeft: float64(g.pace.Errors),
		CallsLeft: float64(g.pace.Calls), At: now}
	if g.st = fresh; !ok {
		return nil
	}
	if json.Unmarshal(data, &g.st) != nil {
		g.st = fresh // an unreadable account starts again from zero: the endpoint keeps its own
		return nil
	}
	g.refill(now)
	if g.st.Running {
		g.st.TimeLeft -= longestQuery.Seconds()
		g.st.Running = false
	}
	return nil
}

// refill adds what the buckets gained since the account was last brought up to date.
func (g *gate) refill(now time.Time) {
	minutes := max(now.Sub(g.st.At).Minutes(), 0)
	g.st.TimeLeft = min(g.st.TimeLeft+minutes*g.pace.TimeRate.Seconds(), g.pace.Time.Seconds())
	g.st.ErrorsLeft = min(g.st.ErrorsLeft+minutes*float64(g.pace.ErrorRate), float64(g.pace.Errors))
	g.st.CallsLeft = min(g.st.CallsLeft+minutes*float64(g.pace.CallRate), float64(g.pace.Calls))
	g.st.At = now
}

// wait says how long until a request may be sent: a second of query time, one error and one call must be left.
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

// leave books what a request took and what the endpoint said about later ones, and passes the turn on.
// An error is one of keeping the account: the request itself is done.
func (g *gate) leave(ctx context.Context, took time.Duration, failure *kg.Error) error {
	defer func() { g.turn <- struct{}{} }()
	now := g.clock.Now()
	g.refill(now)
	g.st.Running = false
	g.st.TimeLeft -= took.Seconds()
	changed := g.pace != (Pace{})
	if failure != nil {
		g.st.ErrorsLeft--
		switch failure.Kind {
		case kg.Banned:
			g.st.BannedUntil, changed = now.Add(failure.RetryAfter), true
		case kg.RateLimited:
			g.st.NotBefore, changed = now.Add(failure.RetryAfter), true
		}
	}
	if !changed {
		return nil
	}
	return g.save(context.WithoutCancel(ctx))
}

func (g *gate) save(ctx context.Context) error {
	data, err := json.Marshal(g.st)
	if err != nil {
		return err
	}
	if err := g.store.Put(ctx, g.key(), data); err != nil {
		return fmt.Errorf("keeping the account of %s: %w", g.endpoint, err)
	}
	return nil
}

// MemoryStore is a [BudgetStore] in memory.
type MemoryStore struct {
	mu     sync.Mutex
	values map[string][]byte
}

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore { return &MemoryStore{values: map[string][]byte{}} }

// Get returns the value under key.
func (m *MemoryStore) Get(_ context.Context, key string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.values[key]
	return v, ok, nil
}

// Put stores value under key.
func (m *MemoryStore) Put(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key] = append([]byte(nil), value...)
	return nil
}
