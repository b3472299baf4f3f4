package bot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/store"
)

// memory is a bot.Store without a disk, for the tests that need thousands of them. TestMemoryIsLikeTheStore holds it to
// the real one.
type memory struct {
	keys    []string
	entries map[string]string // JSON
	version map[string]int64
	notes   map[string][]byte
}

func newMemory() *memory {
	return &memory{entries: map[string]string{}, version: map[string]int64{}, notes: map[string][]byte{}}
}

func (m *memory) Entry(ctx context.Context, key string) (*bot.Entry, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	raw, ok := m.entries[key]
	if !ok {
		return nil, bot.ErrNoEntry
	}
	e := new(bot.Entry)
	err := json.Unmarshal([]byte(raw), e)
	e.Version = m.version[key]
	return e, err
}

func (m *memory) Entries(ctx context.Context, f bot.Filter) ([]*bot.Entry, error) {
	var out []*bot.Entry
	for _, k := range m.keys {
		e, err := m.Entry(ctx, k)
		if err != nil {
			return nil, err
		}
		saved := !f.SavedSince.IsZero() && (e.Save == nil || e.Save.At.Before(f.SavedSince))
		if f.Page != "" && f.Page != e.Page || f.Thread != "" && f.Thread != e.Thread || f.Text != "" &&
			f.Text != e.Text ||
			saved || f.Origin != nil && *f.Origin != e.Origin() ||
			len(f.States) > 0 && !slices.Contains(f.States, e.State) {
			continue
		}
		out = append(out, e)
	}
	return out, nil
}

func (m *memory) Add(ctx context.Context, e *bot.Entry) (bool, error) {
	if _, ok := m.entries[e.Key]; ok || ctx.Err() != nil {
		return false, ctx.Err()
	}
	m.keys = append(m.keys, e.Key)
	e.Version = 1
	return true, m.write(e)
}

func (m *memory) Update(ctx context.Context, e *bot.Entry) error {
	switch v, ok := m.version[e.Key]; {
	case ctx.Err() != nil:
		return ctx.Err()
	case !ok:
		return bot.ErrNoEntry
	case v != e.Version:
		return bot.ErrChanged
	}
	e.Version++
	return m.write(e)
}

func (m *memory) write(e *bot.Entry) error {
	raw, err := json.Marshal(e)
	m.entries[e.Key], m.version[e.Key] = string(raw), e.Version
	return err
}

func (m *memory) Get(_ context.Context, key string) ([]byte, bool, error) {
	v, ok := m.notes[key]
	return v, ok, nil
}

func (m *memory) Put(_ context.Context, key string, value []byte) error {
	m.notes[key] = value
	return nil
}

func (m *memory) Close() error { return nil }

// The same random calls give the same results on both stores.
func TestMemoryIsLikeTheStore(t *testing.T) {
	ctx := t.Context()
	real, err := store.Open(ctx, filepath.Join(t.TempDir(), "bot.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	fake := newMemory()
	rng := rand.New(rand.NewPCG(1, 2))
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	pick := func(n int) string { return fmt.Sprint("x", rng.IntN(n)) }
	for range 300 {
		e := &bot.Entry{Key: pick(20), Page: pick(2), Thread: pick(3), Text: pick(3), State: bot.States()[rng.IntN(4)],
			Version: int64(rng.IntN(4)),
			Author:  pick(2), Created: at}
		if stamp := at.Add(time.Duration(rng.IntN(2)) * time.Minute); rng.IntN(3) > 0 {
			e.Time = &stamp
		}
		if rng.IntN(2) == 0 {
			e.Save = &bot.Save{At: at.Add(time.Duration(rng.IntN(5)) * time.Minute)}
		}
		twin := *e
		var a, b [4]any
		switch rng.IntN(3) {
		case 0:
			a[0], a[1] = results(real.Add(ctx, e))
			b[0], b[1] = results(fake.Add(ctx, &twin))
		case 1:
			_, a[0] = results(0, real.Update(ctx, e))
			_, b[0] = results(0, fake.Update(ctx, &twin))
		case 2:
			f := bot.Filter{Page: pick(2)}
			switch rng.IntN(6) {
			case 4:
				origin := e.Origin()
				f.Origin = &origin
			case 0:
				f.Thread = pick(3)
			case 1:
				f.Text = pick(3)
			case 2:
				f.States = []bot.State{bot.States()[rng.IntN(4)], bot.States()[rng.IntN(4)]}
			case 3:
				f.SavedSince = at.Add(time.Duration(rng.IntN(5)) * time.Minute)
			}
			a[0], a[1] = results(real.Entries(ctx, f))
			b[0], b[1] = results(fake.Entries(ctx, f))
			a[2], a[3] = results(real.Entry(ctx, e.Key))
			b[2], b[3] = results(fake.Entry(ctx, e.Key))
		}
		if d := cmp.Diff(a, b) + cmp.Diff(*e, twin); d != "" {
			t.Fatal(d)
		}
	}
}

// results returns a value and which of the ledger's errors came with it.
func results[T any](v T, err error) (any, any) {
	switch {
	case err == nil:
		return v, ""
	case errors.Is(err, bot.ErrNoEntry):
		return v, "no entry"
	case errors.Is(err, bot.ErrChanged):
		return v, "changed"
	}
	return v, err.Error()
}
