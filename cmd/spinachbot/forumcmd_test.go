package main

import (
	"strings"
	"testing"
)

func TestReadPageRefuses(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"binary":    {"\x7fELF\x02\x00\x00", "not text: it contains a zero byte at offset 5"},
		"Latin-1":   {"== Stra\xdfe ==", "not UTF-8"},
		"too long":  {strings.Repeat("x", 2<<20+1), "longer than 2 MB"},
		"the limit": {strings.Repeat("x", 2<<20), ""},
		"empty":     {"", ""},
	} {
		text, _, err := readPage("-", strings.NewReader(c.in), 2<<20)
		switch {
		case c.want == "" && (err != nil || string(text) != c.in):
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}
