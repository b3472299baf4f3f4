package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/leader"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// opener opens a test's store; every call opens the same store.
type opener func(t *testing.T) *Store

// sharedURL is the name of the setting with the URL of a PostgreSQL database for tests. The integration run sets it.
const sharedURL = "STORE_TEST_DATABASE_URL"

// each runs a test against an SQLite file and, if configured, against a PostgreSQL database.
func each(t *testing.T, test func(t *testing.T, open opener)) {
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "new", "folder with ? and #", "bot.db")
		test(t, func(t *testing.T) *Store { return open(t, path) })
	})
	if os.Getenv(sharedURL) == "" {
		return
	}
	t.Run("shared", func(t *testing.T) {
		address := emptySchema(t)
		test(t, func(t *testing.T) *Store { return openShared(t, address) })
	})
}

func openShared(t *testing.T, address string) *Store {
	t.Helper()
	s, err := OpenShared(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// emptySchema creates a schema for one test and returns a URL through which only that schema is visible.
func emptySchema(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(os.Getenv(sharedURL))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	name := fmt.Sprintf("test_%d", time.Now().UnixNano())
	if _, err := db.Exec("CREATE SCHEMA " + name); err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

func TestLedger(t *testing.T) { each(t, testLedger) }

func testLedger(t *testing.T, open opener) {
	ctx := t.Context()
	s := open(t)
	posted := day.Add(-time.Hour)
	full := entry("sb-2", bot.Posting, day.Add(time.Second))
	full.Time = &posted
	full.Save = &bot.Save{BaseRev: 7, Section: 3, First: day, At: day.Add(time.Minute)}
	full.Draft = &bot.Draft{Reply: forum.Reply{Short: "ü \" \x00 日本", Rows: [][]forum.Cell{{{ID: "Q42"}}}},
		Turn: agent.Turn{Question: "?", Steps: []agent.Step{{N: 1, Action: "stop"}}}, Made: day}
	first := entry("sb-1", bot.Accepted, day)
	for _, e := range []*bot.Entry{first, full} {
		if added, err := s.Add(ctx, e); err != nil || !added || e.Version != 1 {
			t.Fatalf("add %s: %v %v, version %d", e.Key, added, err, e.Version)
		}
	}
	if added, err := s.Add(ctx, entry("sb-1", bot.Skipped, day)); err != nil || added {
		t.Errorf("the same key again: added %v, %v", added, err)
	}
	if _, err := s.Entry(ctx, "sb-9"); !errors.Is(err, bot.ErrNoEntry) {
		t.Errorf("missing entry: %v", err)
	}
	got, err := s.Entry(ctx, "sb-2")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(full, got); d != "" {
		t.Errorf("an entry comes back changed: %s", d)
	}

	mine, theirs := *first, *first
	mine.State = bot.Proposed
	if err := s.Update(ctx, &mine); err != nil || mine.Version != 2 {
		t.Fatalf("update: %v, version %d", err, mine.Version)
	}
	theirs.State = bot.Rejected
	if err := s.Update(ctx, &theirs); !errors.Is(err, bot.ErrChanged) || theirs.Version != 1 {
		t.Errorf("an update from an old version: %v", err)
	}
	if err := s.Update(ctx, entry("sb-9", bot.Posted, day)); !errors.Is(err, bot.ErrNoEntry) {
		t.Errorf("update of a missing entry: %v", err)
	}

	// All data survives a restart.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t)
	for name, c := range map[string]struct {
		f    bot.Filter
		want string
	}{
		"all, oldest first": {bot.Filter{}, "sb-1 sb-2"},
		"page":              {bot.Filter{Page: "Wikidata:Request a query"}, "sb-1 sb-2"},
		"other page":        {bot.Filter{Page: "X"}, ""},
		"state":             {bot.Filter{States: []bot.State{bot.Proposed}}, "sb-1"},
		"states":            {bot.Filter{States: []bot.State{bot.Posting, bot.Posted}}, "sb-2"},
		"thread":            {bot.Filter{Thread: "c-A-1"}, "sb-1 sb-2"},
		"text":              {bot.Filter{Text: "bb"}, ""},
		"saved":             {bot.Filter{SavedSince: day.Add(time.Minute)}, "sb-2"},
		"saved later":       {bot.Filter{SavedSince: day.Add(time.Minute + 1000)}, ""},
		"author seen":       {bot.Filter{Any: &bot.Seen{Authors: []string{"X", "A"}}}, "sb-1 sb-2"},
		"text seen":         {bot.Filter{Any: &bot.Seen{Texts: []string{"bb", "aa"}}, Newest: 1}, "sb-2"},
		"others seen":       {bot.Filter{Any: &bot.Seen{Authors: []string{"aa"}, Texts: []string{"A"}}}, ""},
		"newest":            {bot.Filter{Newest: 1}, "sb-2"},
		"newest, all":       {bot.Filter{Newest: 3}, "sb-1 sb-2"},
		"none seen":         {bot.Filter{Any: &bot.Seen{}}, ""},
		"hostile seen":      {bot.Filter{Any: &bot.Seen{Texts: []string{"') OR 1=1 --"}}}, ""},
		"hostile":           {bot.Filter{Thread: "' OR 1=1 --"}, ""},
	} {
		es, err := s.Entries(ctx, c.f)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, e := range es {
			keys = append(keys, e.Key)
		}
		if got := strings.Join(keys, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// If many goroutines update the same version of an entry, even through several stores, exactly one succeeds.
func TestUpdateOnce(t *testing.T) { each(t, testUpdateOnce) }

func testUpdateOnce(t *testing.T, open opener) {
	stores := []*Store{open(t), open(t)}
	e := entry("sb-1", bot.Proposed, day)
	if _, err := stores[0].Add(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	results := make(chan error, 20)
	for i := range 20 {
		wg.Go(func() {
			mine := *e
			mine.Reason = fmt.Sprint(i)
			results <- stores[i%2].Update(context.Background(), &mine)
		})
	}
	wg.Wait()
	close(results)
	won := 0
	for err := range results {
		if err == nil {
			won++
		} else if !errors.Is(err, bot.ErrChanged) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d updates from the same version succeeded", won)
	}
}

func TestNotesAndSums(t *testing.T) { each(t, testNotesAndSums) }

func testNotesAndSums(t *testing.T, open opener) {
	ctx := t.Context()
	s := open(t)
	if v, ok, err := s.Get(ctx, "ban"); v != nil || ok || err != nil {
		t.Errorf("no note: %q %v %v", v, ok, err)
	}
	for _, v := range [][]byte{[]byte("one"), nil, {0, 255}} {
		if err := s.Put(ctx, "ban", v); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.Get(ctx, "ban"); string(got) != string(v) || !ok || err != nil {
			t.Errorf("note %q: %q %v %v", v, got, ok, err)
		}
	}
	for range 2 {
		if err := s.AddSpent(ctx, "2026-11-20", llm.Usage{Calls: 1, InputTokens: 10, OutputTokens: 5,
			USD: 0.25}); err != nil {
			t.Fatal(err)
		}
	}
	if u, err := s.Spent(ctx, "2026-11-20"); u != (llm.Usage{Calls: 2, InputTokens: 20, OutputTokens: 10, USD: 0.5}) ||
		err != nil {
		t.Errorf("sum: %+v %v", u, err)
	}
	if u, err := s.Spent(ctx, "2026-11-21"); u != (llm.Usage{}) || err != nil {
		t.Errorf("another day: %+v %v", u, err)
	}
}

// A lease has one holder at a time. A holder that slept past the expiration of its lease is detected, even if it holds
// the next lease too.
func TestLease(t *testing.T) { each(t, testLease) }

func testLease(t *testing.T, open opener) {
	ctx := t.Context()
	a, b := open(t), open(t)
	first, held, err := a.Acquire(ctx, "bot", "a", time.Hour)
	if err != nil || !held || first.Fence != 1 {
		t.Fatalf("first: %+v %v %v", first, held, err)
	}
	if l, held, err := b.Acquire(ctx, "bot", "b", time.Hour); err != nil || held || l.Holder != "a" {
		t.Errorf("while it is held: %+v %v %v", l, held, err)
	}
	if l, held, err := a.Acquire(ctx, "bot", "a", time.Microsecond); err != nil || !held || l.Fence != 1 {
		t.Errorf("renewed: %+v %v %v", l, held, err)
	}
	time.Sleep(5 * time.Millisecond)
	second, held, err := b.Acquire(ctx, "bot", "b", time.Hour)
	if err != nil || !held || second.Fence != 2 {
		t.Fatalf("after its end: %+v %v %v", second, held, err)
	}

	late, now := a.Under(first), b.Under(second)
	if _, err := late.Add(ctx, entry("sb-1", bot.Accepted, day)); !errors.Is(err, leader.ErrLost) {
		t.Errorf("an entry added too late: %v", err)
	}
	e := entry("sb-1", bot.Accepted, day)
	if added, err := now.Add(ctx, e); !added || err != nil {
		t.Fatalf("%v %v", added, err)
	}
	old := *e
	if err := late.Update(ctx, &old); !errors.Is(err, leader.ErrLost) || old.Version != 1 {
		t.Errorf("an entry changed too late: %v", err)
	}
	if err := late.Put(ctx, "x", nil); !errors.Is(err, leader.ErrLost) {
		t.Errorf("a note written too late: %v", err)
	}
	if err := now.Update(ctx, e); err != nil || e.Version != 2 {
		t.Errorf("under the lease: %v", err)
	}
	if err := now.Update(ctx, &old); !errors.Is(err, bot.ErrChanged) {
		t.Errorf("an old version under the lease: %v", err)
	}

	if err := a.Release(ctx, first); err != nil { // a no longer holds the lease
		t.Fatal(err)
	}
	if _, held, _ := a.Acquire(ctx, "bot", "a", time.Hour); held {
		t.Error("a lost lease was released")
	}
	if err := b.Release(ctx, second); err != nil {
		t.Fatal(err)
	}
	if l, held, err := a.Acquire(ctx, "bot", "a", time.Hour); err != nil || !held || l.Fence != 3 {
		t.Errorf("after its release: %+v %v %v", l, held, err)
	}
}

// If many processes request a lease at the same time, exactly one gets it, and each handover gets a new fence.
func TestLeaseOnce(t *testing.T) { each(t, testLeaseOnce) }

func testLeaseOnce(t *testing.T, open opener) {
	stores := []*Store{open(t), open(t)}
	for round := range 3 {
		var wg sync.WaitGroup
		got := make(chan leader.Lease, 20)
		for i := range 20 {
			wg.Go(func() {
				l, held, err := stores[i%2].Acquire(context.Background(), "bot", fmt.Sprint(round, i), time.Hour)
				if err != nil {
					t.Error(err)
				}
				if held {
					got <- l
				}
			})
		}
		wg.Wait()
		close(got)
		if len(got) != 1 {
			t.Fatalf("%d hold the lease", len(got))
		}
		l := <-got
		if l.Fence != int64(round+1) {
			t.Errorf("fence %d, want %d", l.Fence, round+1)
		}
		if err := stores[0].Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChange(t *testing.T) { each(t, testChange) }

// If many goroutines change a note, even through several stores, no change is lost.
func testChange(t *testing.T, open opener) {
	stores := []*Store{open(t), open(t)}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			err := stores[i%2].Change(context.Background(), "n", func(old []byte) ([]byte, error) { return append(old, 'x'), nil })
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	no := errors.New("no")
	if err := stores[0].Change(t.Context(), "n", func([]byte) ([]byte, error) { return []byte("y"), no }); err != no {
		t.Errorf("an error of f: %v", err)
	}
	if err := stores[0].Change(t.Context(), "n", func([]byte) ([]byte, error) { return nil, nil }); err != nil {
		t.Error(err)
	}
	if v, _, err := stores[1].Get(t.Context(), "n"); err != nil || string(v) != strings.Repeat("x", 20) {
		t.Errorf("%q %v", v, err)
	}
}

// A ledger can be moved to an empty database only once. Afterwards, the file cannot be opened.
func TestMove(t *testing.T) {
	if os.Getenv(sharedURL) == "" {
		t.Skip("needs a PostgreSQL database; make integration starts one")
	}
	ctx := t.Context()
	path, address := filepath.Join(t.TempDir(), "bot.db"), emptySchema(t)
	from, to := open(t, path), openShared(t, address)
	posted := day.Add(-time.Hour)
	for i := range 50 {
		e := entry(fmt.Sprint("sb-", i), bot.States()[i%len(bot.States())], day.Add(time.Duration(i)))
		e.Time, e.Question = &posted, "ü \" \x00 日本"
		if _, err := from.Add(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	for _, note := range [][]byte{{}, {0, 255}} {
		if err := from.Put(ctx, fmt.Sprint("n", len(note)), note); err != nil {
			t.Fatal(err)
		}
	}
	if err := from.AddSpent(ctx, "2026-11-20", llm.Usage{Calls: 3, USD: 0.1}); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Claim(ctx, "", job.Want{}, day.Add(time.Hour), job.Forever); err != nil {
		t.Fatal(err)
	}
	want, err := from.Entries(ctx, bot.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // in the second iteration, everything already exists
		if m, err := Move(ctx, from, to); err != nil || m != (Moved{50, 2, 1, 50, 0}) {
			t.Fatalf("%+v %v", m, err)
		}
		if err := from.Forget(ctx, movedNote); err != nil { // as if the first iteration had crashed before this point
			t.Fatal(err)
		}
	}
	got, err := to.Entries(ctx, bot.Filter{})
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	if waiting, err := to.Jobs(ctx, job.Want{}, job.Waiting); err != nil || len(waiting) != 30 {
		t.Errorf("%d jobs are waiting, of which one was claimed: %v", len(waiting), err)
	}
	if err := to.Put(ctx, "n0", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := Move(ctx, from, to); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("to a database with another ledger: %v", err)
	}
	if err := from.Put(ctx, movedNote, nil); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(ctx, path); !errors.Is(err, ErrMoved) {
		s.Close()
		t.Errorf("a moved file opens: %v", err)
	}
}

func TestBadAddresses(t *testing.T) {
	for address, want := range map[string]string{"": "cannot be reached", "postgres://u:hush@127.0.0.1:1/x": "cannot be reached",
		"http://u:hush@host/": "not the address", "postgres://u:hush@host:port/x": "not the address"} {
		t.Setenv("PGHOST", "127.0.0.1")
		t.Setenv("PGPORT", "1")
		s, err := OpenShared(t.Context(), address)
		if err == nil {
			s.Close()
			t.Errorf("%q opens", address)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, want %q without the password", address, err, want)
		}
		if bad := CheckAddress(address); errors.Is(bad, ErrAddress) != (want == "not the address") {
			t.Errorf("%q: checked: %v", address, bad)
		}
	}
}

// TestSnapshot checks that a copy made while the ledger is being written shows the ledger at a single moment.
func TestSnapshot(t *testing.T) { each(t, testSnapshot) }

func testSnapshot(t *testing.T, opener opener) {
	ctx := t.Context()
	s := opener(t)
	a, b := entry("sb-1", bot.Accepted, day), entry("sb-2", bot.Accepted, day)
	for _, e := range []*bot.Entry{a, b} {
		if _, err := s.Add(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Put(ctx, "n", []byte{}); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			err := s.Update(context.Background(), a) // a is always at the same version as b or one version ahead
			if err == nil {
				err = s.Update(context.Background(), b)
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	for i := range 5 {
		to := filepath.Join(t.TempDir(), fmt.Sprint(i, ".db"))
		if err := s.Snapshot(ctx, to); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(to + "-wal"); err == nil {
			t.Error("the copy is in two files")
		}
		got, err := open(t, to).Entries(ctx, bot.Filter{})
		if err != nil || len(got) != 2 {
			t.Fatalf("%v %v", got, err)
		}
		if d := got[0].Version - got[1].Version; d != 0 && d != 1 {
			t.Errorf("versions %d and %d never existed at the same time", got[0].Version, got[1].Version)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestCopyFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a ? # folder")
	s := open(t, filepath.Join(dir, "bot.db"))
	if _, err := s.Add(t.Context(), entry("sb-1", bot.Accepted, day)); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "copy.db")
	if err := CopyFile(t.Context(), filepath.Join(dir, "bot.db"), to); err != nil {
		t.Fatal(err)
	}
	if got, err := open(t, to).Entry(t.Context(), "sb-1"); err != nil || got.State != bot.Accepted {
		t.Errorf("%+v %v", got, err)
	}
	if err := CopyFile(t.Context(), filepath.Join(dir, "none.db"), filepath.Join(dir, "x.db")); err == nil {
		t.Error("a file that does not exist was copied")
	}
}
