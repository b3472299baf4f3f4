package wiki

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counter is a deterministic source of bytes for tests.
type counter struct{ n atomic.Int64 }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c.n.Add(1))
	}
	return len(p), nil
}

// ticker is a clock that advances one minute each time it is read.
func ticker() func() time.Time {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Minute)
		return now
	}
}

func openTest(t *testing.T, file string) *Wiki {
	t.Helper()
	w, err := Open(slog.New(slog.DiscardHandler), Config{File: file, Now: ticker(), Random: new(counter),
		Accounts: []Account{{Name: "SpinachBot", Password: "pw", Groups: []string{"bot"}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// TestSurvivesCrash truncates the file at every byte offset, as a crash while writing might. Complete revisions must
// still exist, and saving must still work.
func TestSurvivesCrash(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wiki.jsonl")
	w := openTest(t, file)
	for i := range 3 {
		if _, err := w.save(change{title: "Wikidata:X", text: fmt.Sprint("text ", i, "\n\u2028 ü"), user: "A",
			create: true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.save(change{title: "Wikidata:X", text: "y", user: "A"}); err == nil {
		t.Error("saved in a closed wiki")
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n <= len(whole); n++ {
		if err := os.WriteFile(file, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		complete := strings.Count(string(whole[:n]), "\n")
		w := openTest(t, file)
		if got := len(w.History("Wikidata:X")); got != complete {
			t.Fatalf("cut at %d: %d revisions, want %d", n, got, complete)
		}
		if _, err := w.save(change{title: "Wikidata:X", text: "after", user: "B", create: true}); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		again := openTest(t, file)
		if p := again.Page("wikidata:x"); p == nil || p.Text != "after" || p.ID != int64(complete)+1 {
			t.Fatalf("cut at %d: page %+v", n, p)
		}
		_ = again.Close()
	}
}

func TestForeignFileIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes.txt")
	for _, text := range []string{"my notes\n", "{\"id\":5,\"page\":\"X\"}\n", "{}\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(slog.New(slog.DiscardHandler), Config{File: file, Now: time.Now, Random: new(counter)})
		if err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: %v", text, err)
		}
		if b, _ := os.ReadFile(file); string(b) != text {
			t.Error("the file was changed")
		}
	}
}

func TestSeed(t *testing.T) {
	w := openTest(t, "")
	for range 2 {
		if err := w.Seed("Wikidata:X", "hello ~~~~", "Setup"); err != nil {
			t.Fatal(err)
		}
	}
	revs := w.History("Wikidata:X")
	if len(revs) != 1 || revs[0].Text != "hello [[User:Setup|Setup]] ([[User talk:Setup|talk]]) 09:01, 1 March 2026 (UTC)" {
		t.Errorf("%+v", revs[0])
	}
	if err := w.Seed("a|b", "x", "Setup"); !errors.Is(err, errInvalidTitle) {
		t.Error(err)
	}
}

// If one side is unchanged, merging returns the other. The order of the sides does not matter. Changes that are far
// apart are both kept.
func TestMergeLaws(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	change := func(ls []string) []string {
		var out []string
		for _, l := range ls {
			switch rnd.IntN(12) {
			case 0:
			case 1:
				out = append(out, l, fmt.Sprint("new ", rnd.IntN(3)))
			case 2:
				out = append(out, l+"*")
			default:
				out = append(out, l)
			}
		}
		return out
	}
	join := func(ls []string) string { return strings.TrimRight(strings.Join(ls, "\n"), "\n ") }
	merged, conflicts := 0, 0
	for range 3000 {
		var base []string
		for range rnd.IntN(30) {
			base = append(base, fmt.Sprint("line ", rnd.IntN(12)))
		}
		b, m, o := join(base), join(change(base)), join(change(base))
		if got, ok := merge3(b, m, b); !ok || got != m {
			t.Fatalf("merge with the base: %q, %v; want %q", got, ok, m)
		}
		if got, ok := merge3(b, b, o); !ok || got != o {
			t.Fatalf("merge of nothing: %q, %v; want %q", got, ok, o)
		}
		if got, ok := merge3(b, m, m); !ok || got != m {
			t.Fatalf("merge of the same: %q, %v", got, ok)
		}
		one, ok1 := merge3(b, m, o)
		two, ok2 := merge3(b, o, m)
		if ok1 != ok2 || one != two {
			t.Fatalf("the order matters: %q %v, %q %v", one, ok1, two, ok2)
		}
		if ok1 {
			merged++
		} else {
			conflicts++
		}
	}
	if merged < 300 || conflicts < 300 {
		t.Errorf("a lopsided test: %d merged, %d conflicts", merged, conflicts)
	}
	if got, ok := merge3("a\nb\nc\nd\ne", "a\nB\nc\nd\ne", "a\nb\nc\nD\ne"); !ok || got != "a\nB\nc\nD\ne" {
		t.Errorf("far changes: %q, %v", got, ok)
	}
	if _, ok := merge3("a\nb\nc", "a\nB\nc", "a\nb\nC"); ok {
		t.Error("changes that touch were merged")
	}
}

// match returns a common subsequence. For short texts, a brute-force search confirms that it is one of the longest.
func TestMatchIsLongest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		a, b := make([]string, rnd.IntN(9)), make([]string, rnd.IntN(9))
		for i := range a {
			a[i] = string(rune('a' + rnd.IntN(3)))
		}
		for i := range b {
			b[i] = string(rune('a' + rnd.IntN(3)))
		}
		n, last := 0, -1
		for i, j := range match(a, b) {
			if j < 0 {
				continue
			}
			if a[i] != b[j] || j <= last {
				t.Fatalf("%q %q: bad pair %d-%d", a, b, i, j)
			}
			n, last = n+1, j
		}
		if want := longest(a, b); n != want {
			t.Fatalf("%q %q: %d pairs, want %d", a, b, n, want)
		}
	}
}

// longest returns the length of the longest common subsequence, computed from its definition.
func longest(a, b []string) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	if a[0] == b[0] {
		return 1 + longest(a[1:], b[1:])
	}
	return max(longest(a[1:], b), longest(a, b[1:]))
}

func TestTitles(t *testing.T) {
	for in, want := range map[string]string{
		"wikidata:request_a_query": "Wikidata:Request a query", "Project: x": "Wikidata:X",
		"user talk:élan": "User talk:Élan", "q42": "Q42", "foo:bar": "Foo:bar",
		" a  b_": "A b",
	} {
		if got, err := normalize(in); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", " ", "a|b", "a[", "<x>", "a\nb\x00", "User:", strings.Repeat("x", 256), "a\xff"} {
		if got, err := normalize(in); err == nil {
			t.Errorf("%q was taken for %q", in, got)
		}
	}
}

func TestVisitorNames(t *testing.T) {
	w := openTest(t, "")
	for in, want := range map[string]string{"anna": "Anna", " Anna_Maria  Ü ": "Anna Maria Ü", "李": "李"} {
		if got, err := w.visitorName(in); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "spinachBot", "spinachbot", "a|b", "a]]", "{{x}}", "a/b", "1.2.3.4", "::1", "a\u202eb",
		"a~~~~", "<b>", strings.Repeat("x", 41), "a\xff", "a\u200bb", "x''y"} {
		if got, err := w.visitorName(in); err == nil {
			t.Errorf("%q was taken as %q", in, got)
		}
	}
}

func FuzzSections(f *testing.F) {
	for _, s := range []string{"a\n== b ==\nc", "<!--\n==x==", "{{a|\n==b==\n}}", "<nowiki>\n==x==\n</nowiki>\n=y=",
		"======", "=\n==\n==="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hs := headings(text)
		at := 0
		for i, h := range hs {
			if h.start < at || h.end < h.start || h.end > len(text) || h.level < 1 || h.level > 6 {
				t.Fatalf("heading %d: %+v", i, h)
			}
			at = h.end
			if start, end, ok := sectionRange(text, i+1); ok != !h.hidden || ok && (start != h.start || end < h.end) {
				t.Fatalf("section %d: %d to %d, %v", i+1, start, end, ok)
			}
		}
		if _, end, ok := sectionRange(text, 0); !ok || end > len(text) {
			t.Fatal("no lead")
		}
	})
}
