package annotate

import "strings"

// diffLine is a line of a comparison of two texts.
type diffLine struct {
	Sign string // "-" only in the first, "+" only in the second, " " in both
	Text string
}

// maxDiff bounds the table of a comparison; longer texts are shown as all removed, all added.
const maxDiff = 2000

// diffLines compares two texts line by line by their longest common subsequence; lines that differ in white space at their ends only are equal.
func diffLines(before, after string) []diffLine {
	a, b := splitLines(before), splitLines(after)
	var out []diffLine
	if len(a) > maxDiff || len(b) > maxDiff {
		for _, l := range a {
			out = append(out, diffLine{"-", l})
		}
		for _, l := range b {
			out = append(out, diffLine{"+", l})
		}
		return out
	}
	// common[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	same := func(i, j int) bool { return strings.TrimSpace(a[i]) == strings.TrimSpace(b[j]) }
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if same(i, j) {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && same(i, j):
			out = append(out, diffLine{" ", b[j]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, diffLine{"-", a[i]})
			i++
		default:
			out = append(out, diffLine{"+", b[j]})
			j++
		}
	}
	return out
}

func splitLines(s string) []string {
	s = strings.Trim(s, "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
