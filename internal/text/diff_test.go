package text

import (
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

// A diff has both texts in it, whatever they are.
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
