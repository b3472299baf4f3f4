package bot_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/bottest"
	"github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/testutil"
)

// Both stores return the same results for the same random sequence of calls.
func TestMemoryIsLikeTheStore(t *testing.T) {
	ctx := t.Context()
	real, err := store.Open(ctx, filepath.Join(testutil.Folder(t), "bot.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	fake := bottest.NewMemory()
	rng := rand.New(rand.NewPCG(1, 2))
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	pick := func(n int) string { return fmt.Sprint("x", rng.IntN(n)) }
	var held *job.Claim
	for range 600 {
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
		if rng.IntN(2) == 0 && held != nil {
			e.Claim, twin.Claim = held, held
		}
		switch rng.IntN(5) {
		case 3:
			w := []job.Want{{Key: pick(20)}, {Scope: pick(2)}, {Kinds: []string{bot.Judging}}}[rng.IntN(3)]
			who := pick(2)
			mine, err := real.Claim(ctx, who, w, at, time.Hour)
			its, ferr := fake.Claim(ctx, who, w, at, time.Hour)
			a[0], a[1] = results(mine, err)
			b[0], b[1] = results(its, ferr)
			if err == nil {
				held = mine
			}
		case 4:
			if held == nil {
				continue
			}
			due := at.Add(time.Duration(rng.IntN(3)-1) * time.Minute)
			_, a[0] = results(0, real.Renew(ctx, held, time.Hour))
			_, b[0] = results(0, fake.Renew(ctx, held, time.Hour))
			if rng.IntN(2) == 0 {
				_, a[1] = results(0, real.GiveBack(ctx, held, due))
				_, b[1] = results(0, fake.GiveBack(ctx, held, due))
			}
		case 0:
			a[0], a[1] = results(real.Add(ctx, e))
			b[0], b[1] = results(fake.Add(ctx, &twin))
		case 1:
			_, a[0] = results(0, real.Update(ctx, e))
			_, b[0] = results(0, fake.Update(ctx, &twin))
		case 2:
			f := bot.Filter{Page: pick(2)}
			switch rng.IntN(9) {
			case 7:
				f.Any = &bot.Seen{Authors: []string{pick(2)}, Texts: []string{pick(3)}}
			case 6:
				f.Newest = 1 + rng.IntN(3)
			case 5:
				f.Author = pick(2)
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
		if d := gocmp.Diff(a, b) + gocmp.Diff(*e, twin); d != "" {
			t.Fatal(d)
		}
	}
}

// results formats a value and the ledger error returned with it.
func results[T any](v T, err error) (any, any) {
	switch {
	case err == nil:
		return v, ""
	case errors.Is(err, bot.ErrNoEntry):
		return v, "no entry"
	case errors.Is(err, bot.ErrChanged):
		return v, "changed"
	case errors.Is(err, job.ErrNone):
		return v, "none"
	case errors.Is(err, job.ErrLost):
		return v, "lost"
	}
	return v, err.Error()
}
