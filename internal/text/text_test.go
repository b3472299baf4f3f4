package text

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äö…"}, {"abc", 0, "…"},
	} {
		if got := Clip(c.s, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

func TestClipApart(t *testing.T) {
	for _, c := range []struct{ a, b, wantA, wantB string }{
		{"short", "other", "short", "other"}, {"same", "same", "same", "same"},
		{"abcdefghijklmnop 1", "abcdefghijklmnop 2", "…p 1", "…p 2"},
		{"äbcdefghijklmnop", "äbcdefghijklmno", "…nop", "…no"},
		{"xbcdefghijklmnop", "ybcdefghijklmnop", "xbcdefg…", "ybcdefg…"},
	} {
		if a, b := ClipApart(c.a, c.b, 8); a != c.wantA || b != c.wantB {
			t.Errorf("%q and %q: %q and %q, want %q and %q", c.a, c.b, a, b, c.wantA, c.wantB)
		}
	}
}

func TestFold(t *testing.T) {
	if got := Fold(" a\n\t b  c "); got != "a b c" {
		t.Errorf("Fold: %q", got)
	}
	if got := OneLine(" a\x00\x1b[31m\n b\u0085c "); got != "a [31m b c" {
		t.Errorf("OneLine: %q", got)
	}
}

func TestCount(t *testing.T) {
	var got []string
	for _, n := range []int{0, 1, 2, 999, 1000, 1234567, -1234, -100} {
		got = append(got, Count(n, "query"))
	}
	const want = "0 queries|1 query|2 queries|999 queries|1,000 queries|1,234,567 queries|-1,234 queries|-100 queries"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

func TestJSONError(t *testing.T) {
	for in, want := range map[string]string{
		`{"n":1`: "it is not JSON, or ends too early, at byte 6", ``: "it is not JSON, or ends too early, at byte 0",
		`nonsense`:  "it is not JSON, or ends too early, at byte 2",
		`{"n":"x"}`: `the member "n" is a JSON string, which does not belong there`,
		`[]`:        "the value is a JSON array, which does not belong there",
	} {
		var v struct {
			N int `json:"n"`
		}
		if err := json.Unmarshal([]byte(in), &v); err == nil || JSON(err).Error() != want {
			t.Errorf("%s: %q, want %q", in, JSON(err), want)
		}
	}
	dec := json.NewDecoder(strings.NewReader(`{"n":1,"m":2}`))
	dec.DisallowUnknownFields()
	var v struct{ N int }
	if err := dec.Decode(&v); err == nil || JSON(err).Error() != `the member "m" is unknown` {
		t.Errorf("an unknown member: %q", JSON(err))
	}
}
