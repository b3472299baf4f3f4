package bot_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
)

func TestOperator(t *testing.T) {
	w := started(t)
	w.wiki.post("News", "An announcement about cats", "Bob")
	w.clock.pass(time.Hour)
	w.cfg.Posting = bot.Propose
	w.round()
	w.want("Cats:proposed News:skipped")
	ctx, now := t.Context(), w.clock.now()
	cats, news := w.entries()[0].Key, w.entries()[1].Key
	if _, err := bot.Approve(ctx, w.store, now, news, "Olga"); err == nil || !strings.Contains(err.Error(), "skipped") {
		t.Errorf("approving a skipped entry: %v", err)
	}
	if _, err := bot.Approve(ctx, w.store, now, "sb-zz", "Olga"); !errors.Is(err, bot.ErrNoEntry) {
		t.Errorf("approving nothing: %v", err)
	}
	if _, err := bot.Find(ctx, w.store, "sb-"); err == nil || !strings.Contains(err.Error(), "2 entries") {
		t.Errorf("an unclear key: %v", err)
	}
	if _, err := bot.Reject(ctx, w.store, now, cats, "wrong cats"); err != nil {
		t.Fatal(err)
	}
	if _, err := bot.Retry(ctx, w.store, now, news); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.want("Cats:rejected News:proposed")
	if _, err := bot.Retry(ctx, w.store, now, cats); err != nil {
		t.Fatal(err)
	}
	w.round()
	for _, key := range []string{cats, news} {
		if _, err := bot.Approve(ctx, w.store, now, key, "Olga"); err != nil {
			t.Fatal(err)
		}
	}
	w.round()
	w.want("Cats:posted News:posted")
	for what, f := range map[string]func() (*bot.Entry, error){
		"reject": func() (*bot.Entry, error) { return bot.Reject(ctx, w.store, now, cats, "") },
		"retry":  func() (*bot.Entry, error) { return bot.Retry(ctx, w.store, now, cats) },
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s of a posted entry", what)
		}
	}
}

func TestMoves(t *testing.T) {
	for _, s := range bot.States() {
		if bot.Posted.May(s) != (s == bot.Posted) {
			t.Errorf("posted may become %s", s)
		}
		if s != bot.Approved && s != bot.Posting && s.May(bot.Posting) {
			t.Errorf("%s may become posting without an approval", s)
		}
		if (s == bot.Skipped || s == bot.Rejected || s == bot.GaveUp || s == bot.Noticed) && s.May(bot.Approved) {
			t.Errorf("%s may become approved", s)
		}
	}
}

func TestDiff(t *testing.T) {
	for _, c := range [][3]string{
		{"a", "a", ""},
		{"a\nb\nc\nd\ne\nf", "a\nb\nc\nd\nX\ne\nf", "@@ -2,5 +2,6 @@\n b\n c\n d\n+X\n e\n f\n"},
		{"a\nb", "a\nc", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"a", "a\nb", "@@ -1,1 +1,2 @@\n a\n+b\n"},
	} {
		if got := bot.Diff(c[0], c[1]); got != c[2] {
			t.Errorf("Diff(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc", "a\nX\nc")
	f.Add("", "x")
	f.Add("a\n", "a")
	f.Fuzz(func(t *testing.T, before, after string) {
		d := bot.Diff(before, after)
		if (d == "") != (before == after) {
			t.Fatalf("Diff(%q, %q) = %q", before, after, d)
		}
		if d == "" {
			return
		}
		// Applying the hunk to before gives after.
		var a, b, n, m int
		if _, err := fmt.Sscanf(d, "@@ -%d,%d +%d,%d @@", &a, &n, &b, &m); err != nil {
			t.Fatal(err)
		}
		old := strings.Split(before, "\n")
		var was, is []string
		for _, l := range strings.Split(strings.TrimSuffix(d[strings.Index(d, "@@\n")+3:], "\n"), "\n") {
			if l[0] != '+' {
				was = append(was, l[1:])
			}
			if l[0] != '-' {
				is = append(is, l[1:])
			}
		}
		if len(was) != n || len(is) != m || strings.Join(was, "\n") != strings.Join(old[a-1:a-1+n], "\n") {
			t.Fatalf("the hunk %q does not fit %q", d, before)
		}
		got := append(append(append([]string{}, old[:a-1]...), is...), old[a-1+n:]...)
		if strings.Join(got, "\n") != after {
			t.Fatalf("Diff(%q, %q) = %q", before, after, d)
		}
	})
}

// An operator's word while the bot works on the entry: the bot yields, and the round goes on.
func TestOperatorIsFaster(t *testing.T) {
	w := started(t)
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.clock.pass(time.Hour)
	w.solver.onSolve = func() {
		if e := w.entries()[0]; e.State == bot.Accepted {
			if _, err := bot.Reject(t.Context(), w.store, w.clock.now(), e.Key, "no"); err != nil {
				t.Error(err)
			}
		}
	}
	w.round()
	w.want("Cats:rejected Dogs:posted")
	w.wantReplies("Cats", 0)
}
