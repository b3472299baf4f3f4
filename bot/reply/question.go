package reply

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
)

// Question returns the question to the poster, with what each of two readings finds: in the model's words, followed by
// a sentence if they lack the numbers, or in our own words if the model has none and the program knows the second
// reading. It returns "" if there is nothing to ask.
func Question(out *agent.Outcome, language string) string {
	if len(out.Readings) != 2 {
		return out.Asks
	}
	first, second := out.Readings[0], out.Readings[1]
	t := forum.Texts(language)
	if t == nil {
		return out.Asks
	}
	if p := second.Probe; out.Asks == "" && p != nil {
		point := forum.PointWords(t, Point(out, *p))
		if point == "" {
			return ""
		}
		return t.Text("asks_point", "first", first.Count, "point", point, "second", second.Count)
	}
	found := numbers(out.Asks)
	if out.Asks == "" || found[first.Count] && found[second.Count] {
		return out.Asks
	}
	return out.Asks + " " + t.Text("asks_counts", "first", first.Count, "second", second.Count)
}

// numbers are the whole numbers in a text, with or without separators of thousands.
func numbers(s string) map[int]bool {
	out := map[int]bool{}
	for _, m := range wholeNumber.FindAllString(s, -1) {
		digits := strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return r
			}
			return -1
		}, m)
		if n, err := strconv.Atoi(digits); err == nil {
			out[n] = true
		}
	}
	return out
}

var wholeNumber = regexp.MustCompile(`\d{1,3}(?:[., \x{a0}\x{202f}]\d{3})+|\d+`)
