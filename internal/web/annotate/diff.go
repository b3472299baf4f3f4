package annotate

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/text"
)

// diffLines compares two queries line by line. It ignores spaces at the start and end of lines.
func diffLines(before, after string) []text.DiffLine {
	return text.Diff(splitLines(before), splitLines(after),
		func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) })
}

func splitLines(s string) []string {
	s = strings.Trim(s, "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
