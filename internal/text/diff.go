package text

import (
	"fmt"
	"slices"
	"strings"
)

// DiffLine is a line in a diff of two texts.
type DiffLine struct {
	Sign string // "-" if only in the first text, "+" if only in the second, " " if in both
	Text string
}

// maxDiff limits the size of the table for a comparison. If the parts that differ have more lines than that, all of
// their lines are reported as removed and added.
const maxDiff = 2000

// Diff compares two texts line by line using their longest common subsequence. same reports whether two lines are
// equal. For equal lines, Diff returns the line from the second text.
func Diff(before, after []string, same func(a, b string) bool) []DiffLine {
	head := 0
	for head < len(before) && head < len(after) && same(before[head], after[head]) {
		head++
	}
	a, b := before[head:], after[head:]
	tail := 0
	for tail < len(a) && tail < len(b) && same(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	var out []DiffLine
	add := func(sign string, lines []string) {
		for _, l := range lines {
			out = append(out, DiffLine{sign, l})
		}
	}
	add(" ", after[:head])
	x, y := a[:len(a)-tail], b[:len(b)-tail]
	if len(x) > maxDiff || len(y) > maxDiff {
		add("-", x)
		add("+", y)
	} else {
		out = append(out, subsequence(x, y, same)...)
	}
	add(" ", b[len(b)-tail:])
	return out
}

func subsequence(a, b []string, same func(a, b string) bool) []DiffLine {
	// common[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if same(a[i], b[j]) {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []DiffLine
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && same(a[i], b[j]):
			out = append(out, DiffLine{" ", b[j]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, DiffLine{"-", a[i]})
			i++
		default:
			out = append(out, DiffLine{"+", b[j]})
			j++
		}
	}
	return out
}

// around is the number of unchanged lines shown around a change.
const around = 3

// Unified returns a unified diff from before to after. It has a single hunk, from the first to the last line that
// differs, with three lines of context. If the texts are equal, Unified returns "".
func Unified(before, after string) string {
	if before == after {
		return ""
	}
	lines := Diff(strings.Split(before, "\n"), strings.Split(after, "\n"), func(a, b string) bool { return a == b })
	differs := func(l DiffLine) bool { return l.Sign != " " }
	from := max(0, slices.IndexFunc(lines, differs)-around)
	end := len(lines)
	for end > 0 && !differs(lines[end-1]) {
		end--
	}
	hunk := lines[from:min(len(lines), end+around)]
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
