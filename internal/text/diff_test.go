package text

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func equal(a, b string) bool { return a == b }

func TestDiff(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"a b c", "a b c", " a b c"}, {"a c", "a b c", " a+b c"}, {"a b c", "a c", " a-b c"}, {"a b", "c d", "-a-b+c+d"},
		{"a x b y c", "a b z c", " a-x b-y+z c"}, {"", "a", "+a"}, {"a", "", "-a"}, {"", "", ""},
	} {
		got := ""
		for _, l := range Diff(strings.Fields(c.before), strings.Fields(c.after), equal) {
			got += l.Sign + l.Text
		}
		if got != c.want {
			t.Errorf("%q to %q: %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

func TestDiffKeepsBothTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() (out []string) {
		for range r.IntN(12) {
			out = append(out, string(rune('a'+r.IntN(4))))
		}
		return out
	}
	for range 2000 {
		a, b := some(), some()
		var before, after []string
		for _, l := range Diff(a, b, equal) {
			if l.Sign != "+" {
				before = append(before, l.Text)
			}
			if l.Sign != "-" {
				after = append(after, l.Text)
			}
		}
		if strings.Join(before, "") != strings.Join(a, "") || strings.Join(after, "") != strings.Join(b, "") {
			t.Fatalf("%v to %v: %v and %v", a, b, before, after)
		}
	}
}

func TestUnified(t *testing.T) {
	for _, c := range [][3]string{
		{"a", "a", ""},
		{"a\nb\nc\nd\ne\nf", "a\nb\nc\nd\nX\ne\nf", "@@ -2,5 +2,6 @@\n b\n c\n d\n+X\n e\n f\n"},
		{"a\nb", "a\nc", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"a", "a\nb", "@@ -1,1 +1,2 @@\n a\n+b\n"},
	} {
		if got := Unified(c[0], c[1]); got != c[2] {
			t.Errorf("Unified(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func FuzzUnified(f *testing.F) {
	f.Add("a\nb\nc", "a\nX\nc")
	f.Add("", "x")
	f.Add("a\n", "a")
	f.Fuzz(func(t *testing.T, before, after string) {
		d := Unified(before, after)
		if (d == "") != (before == after) {
			t.Fatalf("Unified(%q, %q) = %q", before, after, d)
		}
		if d == "" {
			return
		}
		// Applying the hunk to before produces after.
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
			t.Fatalf("Unified(%q, %q) = %q", before, after, d)
		}
	})
}
