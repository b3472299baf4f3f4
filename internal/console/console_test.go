package console

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// A log line replaces the whole progress line, and the progress line reappears below it.
func TestProgress(t *testing.T) {
	var b bytes.Buffer
	s := &Screen{w: &b, tty: true}
	s.Progress("1 of 3")
	fmt.Fprintln(s, "level=WARN")
	s.Progress("2 of 3")
	fmt.Fprint(s, "half a ")
	s.Progress("3 of 3")
	fmt.Fprint(s, "line\n")
	s.Done()
	s.Done()
	fmt.Fprintln(s, "end")
	const gone = "\r\x1b[K"
	want := "1 of 3" + gone + "level=WARN\n1 of 3" + gone + "2 of 3" + gone + "half a line\n3 of 3\nend\n"
	if b.String() != want {
		t.Errorf("%q\nwant %q", b.String(), want)
	}
}

// Removing a block removes exactly the lines that were written for it.
func TestBlock(t *testing.T) {
	var b bytes.Buffer
	s := &Screen{w: &b, tty: true}
	s.Block([]string{"one", "two", "three"})
	fmt.Fprintln(s, "log")
	s.Block([]string{"four"})
	s.Block(nil)
	s.Block([]string{"five", "six"})
	s.Done()
	const gone, up = "\r\x1b[K", "\x1b[A\x1b[K"
	want := "one\ntwo\nthree" + gone + up + up + "log\none\ntwo\nthree" + gone + up + up + "four" + gone + "five\nsix\n"
	if b.String() != want {
		t.Errorf("%q\nwant %q", b.String(), want)
	}
	b.Reset()
	s.Block(make([]string, 100)) // the buffer is treated as a 24-row terminal
	if n := strings.Count(b.String(), "\n"); n != 22 {
		t.Errorf("%d line breaks, want those of 23 rows", n)
	}
}

// Lines are never interleaved, no matter how many goroutines write at the same time.
func TestProgressConcurrent(t *testing.T) {
	var b bytes.Buffer
	s := &Screen{w: &b, tty: true}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 50 {
				s.Progress(fmt.Sprintf("progress %d", i))
				fmt.Fprintf(s, "log line of %d\n", i)
			}
		})
	}
	wg.Wait()
	s.Done()
	for l := range strings.SplitSeq(b.String(), "\n") {
		if i := strings.LastIndex(l, "\r\x1b[K"); i >= 0 {
			l = l[i+len("\r\x1b[K"):]
		}
		if l != "" && !strings.HasPrefix(l, "log line of ") && !strings.HasPrefix(l, "progress ") ||
			strings.Contains(l[min(1, len(l)):], "log line") {
			t.Fatalf("a torn line: %q", l)
		}
	}
}

func TestProgressIsCut(t *testing.T) {
	var b bytes.Buffer
	s := &Screen{w: &b, tty: true} // 80 columns wide, since the buffer has no size
	s.Progress(strings.Repeat("界", 60))
	if n := Cells(b.String()); n > 79 || n < 78 {
		t.Errorf("%d columns", n)
	}
}

func TestNoTerminal(t *testing.T) {
	var b bytes.Buffer
	s := New(&b, []string{"TERM=xterm"})
	s.Progress("1 of 3")
	fmt.Fprintln(s, s.In(Red, "plain"))
	s.Done()
	if b.String() != "plain\n" || s.Width() != 0 || s.Terminal() {
		t.Errorf("%q, width %d", b.String(), s.Width())
	}
	if New(s, nil) != s {
		t.Error("a screen over a screen")
	}
}

func TestColor(t *testing.T) {
	for _, c := range []struct {
		tty     bool
		environ string
		want    bool
	}{
		{true, "", true},
		{false, "", false},
		{true, "NO_COLOR=1", false},
		{true, "NO_COLOR=", true},
		{true, "TERM=dumb", false},
		{false, "CLICOLOR_FORCE=1", true},
		{false, "FORCE_COLOR=1", true},
		{false, "FORCE_COLOR=0", false},
		{true, "NO_COLOR=1 CLICOLOR_FORCE=1", false},
	} {
		if got := wantsColor(c.tty, strings.Fields(c.environ)); got != c.want {
			t.Errorf("terminal %t, %q: %t", c.tty, c.environ, got)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"abcdef", 0, "abcdef"},
		{"abcdef", 6, "abcdef"},
		{"abcdef", 5, "abcd…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"ab cdef", 4, "ab…"},
	} {
		if got := Cut(c.text, c.width); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	text := "one two three\nfour\n\n  kept  as it is, however long it may be\nlonger-than-ten five\n"
	want := "one two|three four||  kept  as it is, however long it may be|longer-than-ten|five"
	if got := strings.Join(Wrap(text, 10), "|"); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestIndent(t *testing.T) {
	text := "one two three\n  wd:Q1 wdt:P36 ?x .\n\nlonger-than-that-is five\n"
	for width, want := range map[int]string{
		0:  "> one two three|>   wd:Q1 wdt:P36 ?x .|> |> longer-than-that-is five",
		14: "> one two|>   three|>   wd:Q1|>     wdt:P36|>     ?x .|> |> longer-than-that-is|>   five",
	} {
		if got := strings.ReplaceAll(Indent(text, "> ", width), "\n", "|"); got != want {
			t.Errorf("%d columns: %q\nwant %q", width, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	table := &Table{
		Header: []string{"ID", "NAME", "N"},
		Rows:   [][]string{{"sb-0123456789", "東京都 is a rather long name", "1"}, {"sb-1", "Ó", "22"}},
		Fixed:  map[int]bool{0: true},
	}
	plain := func(s string) string { return s }
	for width, want := range map[int]string{
		0:  "ID             NAME                          N\nsb-0123456789  東京都 is a rather long name  1\nsb-1           Ó                             22\n",
		30: "ID             NAME         N\nsb-0123456789  東京都 is…   1\nsb-1           Ó            22\n",
	} {
		var b bytes.Buffer
		if err := table.Write(&b, width, plain); err != nil {
			t.Fatal(err)
		}
		if width > 0 {
			for l := range strings.Lines(b.String()) {
				if Cells(strings.TrimSpace(l)) > width {
					t.Errorf("%d columns: %q", Cells(l), l)
				}
			}
		}
		if b.String() != want {
			t.Errorf("width %d:\n%s\nwant\n%s", width, b.String(), want)
		}
	}
}
