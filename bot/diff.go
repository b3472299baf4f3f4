package bot

import (
	"fmt"
	"strings"
)

// diffContext is the number of unchanged lines shown around a change.
const diffContext = 3

// Diff shows how before becomes after, as a unified diff of one hunk: what is equal at the start and at the end is left out except for three lines, what lies between is
// shown as removed and added lines. It is always a true diff; it is a smallest one when, as in a reply, lines were only added in one place. It is "" for equal texts.
func Diff(before, after string) string {
	if before == after {
		return ""
	}
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, end := max(0, head-diffContext), min(tail, diffContext)
	var s strings.Builder
	fmt.Fprintf(&s, "@@ -%d,%d +%d,%d @@\n", from+1, len(a)-tail+end-from, from+1, len(b)-tail+end-from)
	write := func(sign string, lines []string) {
		for _, l := range lines {
			s.WriteString(sign)
			s.WriteString(l)
			s.WriteByte('\n')
		}
	}
	write(" ", a[from:head])
	write("-", a[head:len(a)-tail])
	write("+", b[head:len(b)-tail])
	write(" ", a[len(a)-tail:len(a)-tail+end])
	return s.String()
}
