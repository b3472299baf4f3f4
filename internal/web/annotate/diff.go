package annotate

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/text"
)

// diffLines compares two queries line by line. Spaces at the beginning and the end of a line do not matter.
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
