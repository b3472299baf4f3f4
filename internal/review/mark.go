package review

import (
	"strings"

	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/internal/console"
)

// mark returns s in the given style for the screen. It highlights the IDs that the gold query uses and the IDs that the
// model has not been shown.
func (t *Terminal) mark(s string, l policy.Look, style console.Style) string {
	marks := map[string]func(string) string{}
	for _, id := range l.Unseen {
		marks[id] = func(id string) string { return t.Screen.In(console.Yellow, id) }
	}
	if t.Gold.SPARQL != "" && l.Mentions != nil {
		used := map[string]bool{}
		for _, m := range l.Mentions(t.Gold.SPARQL) {
			used[m.Key] = true
		}
		for _, m := range l.Mentions(s) {
			if used[m.Key] {
				marks[m.Written] = t.used
			}
		}
	}
	var b strings.Builder
	plain := 0 // offset of the first byte not yet written
	flush := func(to int) {
		for i, line := range strings.Split(s[plain:to], "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			if style != "" {
				line = t.Screen.In(style, line)
			}
			b.WriteString(line)
		}
		plain = to
	}
	for at := 0; at < len(s); {
		id := longest(marks, s[at:])
		if id == "" || at > 0 && wordByte(s[at-1]) && wordByte(id[0]) || at+len(id) < len(s) && wordByte(s[at+len(id)]) {
			at++
			continue
		}
		flush(at)
		b.WriteString(marks[id](id))
		at += len(id)
		plain = at
	}
	flush(len(s))
	return b.String()
}

func longest(marks map[string]func(string) string, s string) (out string) {
	for id := range marks {
		if len(id) > len(out) && strings.HasPrefix(s, id) {
			out = id
		}
	}
	return out
}

// wordByte reports whether c continues an ID.
func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// used marks an ID in the gold query with a color or, if colors are off, with characters that no query contains.
func (t *Terminal) used(id string) string {
	if colored := t.Screen.In(console.Green, id); colored != id {
		return colored
	}
	return "«" + id + "»"
}
