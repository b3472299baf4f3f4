// Package bottest provides an in-memory ledger for tests and simulations of the bot.
package bottest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/job"
)

// Memory is a [bot.Store] in memory. It is safe for concurrent use. TestMemoryIsLikeTheStore in package bot compares it
// with the real store.
type Memory struct {
	mu      sync.Mutex
	keys    []string
	entries map[string]*bot.Entry
	notes   map[string][]byte
	jobs    map[string]*row
	// Clock is the clock used for leases.
	Clock func() time.Time
	// Strict makes Memory encode entries as JSON, so that in-place changes to a draft are lost, as they would be on disk.
	Strict bool
}

// clone copies an entry. Unless Strict is set, drafts, times and slices are shared, which is safe because the bot
// replaces or appends to them but never changes their elements.
func (m *Memory) clone(e *bot.Entry) *bot.Entry {
	c := *e
	if m.Strict {
		raw, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		c = bot.Entry{Version: e.Version}
		if err := json.Unmarshal(raw, &c); err != nil {
			panic(err)
		}
		return &c
	}
	c.Claim, c.Others, c.History = nil, slices.Clip(e.Others), slices.Clip(e.History)
	if e.Save != nil {
		save := *e.Save
		c.Save = &save
	}
	return &c
}

type row struct {
	job.Job
	fence int64
	ends  time.Time
}

// before reports whether r should be claimed before s.
func (r *row) before(s *row) bool {
	return cmp.Or(r.Due.Compare(s.Due), r.Created.Compare(s.Created), cmp.Compare(r.Key, s.Key)) < 0
}

// NewMemory returns an empty ledger.
func NewMemory() *Memory {
	return &Memory{entries: map[string]*bot.Entry{}, notes: map[string][]byte{}, jobs: map[string]*row{}, Clock: time.Now}
}

func (m *Memory) holds(c *job.Claim) bool {
	r := m.jobs[c.Key]
	return r != nil && r.State == job.Running && r.fence == c.Fence && m.Clock().Before(r.ends)
}

func (m *Memory) until(lease time.Duration) time.Time {
	if lease == job.Forever {
		return always
	}
	return m.Clock().Add(lease)
}

var always = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Claim implements [job.Queue].
func (m *Memory) Claim(ctx context.Context, holder string, w job.Want, now time.Time,
	lease time.Duration) (*job.Claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var best *row
	for _, k := range m.keys {
		r := m.jobs[k]
		free := r.State == job.Waiting && (!r.Due.After(now) || r.Due.Sub(now) > job.MaxWait) ||
			r.State == job.Running && (r.Holder == holder || !m.Clock().Before(r.ends))
		if free && (w.Key == "" || w.Key == k) && (w.Scope == "" || w.Scope == r.Scope) &&
			(w.Kinds == nil || slices.Contains(w.Kinds, r.Kind)) && (best == nil || r.before(best)) {
			best = r
		}
	}
	if best == nil || ctx.Err() != nil {
		return nil, cmp.Or(ctx.Err(), job.ErrNone)
	}
	best.State, best.Holder, best.ends = job.Running, holder, m.until(lease)
	best.fence++
	best.Attempts++
	return &job.Claim{Key: best.Key, Kind: best.Kind, Holder: holder, Fence: best.fence}, nil
}

// Renew implements [job.Queue].
func (m *Memory) Renew(_ context.Context, c *job.Claim, lease time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.holds(c) {
		return job.ErrLost
	}
	m.jobs[c.Key].ends = m.until(lease)
	return nil
}

// GiveBack implements [job.Queue].
func (m *Memory) GiveBack(_ context.Context, c *job.Claim, due time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.jobs[c.Key]; r != nil && r.fence == c.Fence && r.State == job.Running {
		r.State, r.ends = job.Waiting, time.Time{}
		if !due.IsZero() {
			r.Attempts--
			r.Due = due
		}
	}
	return nil
}

func (m *Memory) note(e *bot.Entry) {
	j, old := e.Job(), m.jobs[e.Key]
	if old == nil {
		old = &row{}
		m.jobs[e.Key] = old
	}
	if old.State == job.Running && j.State == job.Waiting && (e.Claim != nil || old.Kind == j.Kind) {
		j.State = job.Running
	} else {
		old.ends = time.Time{}
	}
	j.Attempts, j.Holder = old.Attempts, old.Holder
	if j.State == job.Waiting && (old.State == job.Done || old.State == job.Failed) {
		j.Attempts = 0
	}
	old.Job = j
}

// Entry implements [bot.Ledger].
func (m *Memory) Entry(ctx context.Context, key string) (*bot.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	e, ok := m.entries[key]
	if !ok {
		return nil, bot.ErrNoEntry
	}
	return m.clone(e), nil
}

// Entries implements [bot.Ledger].
func (m *Memory) Entries(ctx context.Context, f bot.Filter) ([]*bot.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var out []*bot.Entry
	for _, k := range m.keys {
		e := m.entries[k]
		saved := !f.SavedSince.IsZero() && (e.Save == nil || e.Save.At.Before(f.SavedSince))
		if f.Page != "" && f.Page != e.Page || f.Thread != "" && f.Thread != e.Thread || f.Text != "" &&
			f.Text != e.Text ||
			saved || f.Author != "" && f.Author != e.Author || f.Origin != nil && *f.Origin != e.Origin() ||
			len(f.States) > 0 && !slices.Contains(f.States, e.State) ||
			f.Any != nil && !slices.Contains(f.Any.Authors, e.Author) && !slices.Contains(f.Any.Texts, e.Text) {
			continue
		}
		out = append(out, m.clone(e))
	}
	if f.Newest > 0 {
		out = out[max(0, len(out)-f.Newest):]
	}
	return out, nil
}

// Add implements [bot.Ledger].
func (m *Memory) Add(ctx context.Context, e *bot.Entry) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.entries[e.Key]; ok || ctx.Err() != nil {
		return false, ctx.Err()
	}
	m.keys = append(m.keys, e.Key)
	e.Version = 1
	m.write(e)
	return true, nil
}

// Update implements [bot.Ledger].
func (m *Memory) Update(ctx context.Context, e *bot.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch old, ok := m.entries[e.Key]; {
	case ctx.Err() != nil:
		return ctx.Err()
	case e.Claim != nil && !m.holds(e.Claim):
		return job.ErrLost
	case !ok:
		return bot.ErrNoEntry
	case old.Version != e.Version:
		return bot.ErrChanged
	}
	e.Version++
	m.write(e)
	return nil
}

func (m *Memory) write(e *bot.Entry) {
	m.entries[e.Key] = m.clone(e)
	m.note(e)
}

// Get implements [bot.Notes].
func (m *Memory) Get(_ context.Context, key string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.notes[key]
	return v, ok, nil
}

// Put implements [bot.Notes].
func (m *Memory) Put(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes[key] = value
	return nil
}

// Change implements [bot.Notes].
func (m *Memory) Change(_ context.Context, key string, f func([]byte) ([]byte, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, err := f(m.notes[key])
	if err == nil && value != nil {
		m.notes[key] = value
	}
	return err
}

// Close does nothing.
func (m *Memory) Close() error { return nil }
