package bot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/text"
)

// diffContext is the number of unchanged lines shown around a change.
const diffContext = 3

// Diff shows how before becomes after, as a unified diff of one hunk: from the first line that differs to the last one,
// with three lines around. Equal texts have no diff: "".
func Diff(before, after string) string {
	if before == after {
		return ""
	}
	lines := text.Diff(strings.Split(before, "\n"), strings.Split(after, "\n"),
		func(a, b string) bool { return a == b })
	differs := func(l text.DiffLine) bool { return l.Sign != " " }
	from := max(0, slices.IndexFunc(lines, differs)-diffContext)
	end := len(lines)
	for end > 0 && !differs(lines[end-1]) {
		end--
	}
	hunk := lines[from:min(len(lines), end+diffContext)]
	var s strings.Builder
	removed, added := 0, 0
	for _, l := range hunk {
		if l.Sign != "+" {
			removed++
		}
		if l.Sign != "-" {
			added++
		}
		s.WriteString(l.Sign + l.Text + "\n")
	}
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@\n%s", from+1, removed, from+1, added, s.String())
}
