package faithful

import (
	"slices"
	"strings"
)

// numerals marks the numbers that are written as words, and joins those of several words: cuarenta y cinco, сорок пять.
func (c *Checker) numerals(toks []token) []token {
	out := make([]token, 0, len(toks))
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		t.number = c.numeral(t.folded)
		if t.number >= 20 && t.number < 100 && t.number%10 == 0 {
			next := i + 1
			if next < len(toks) && slices.Contains([]string{"y", "e", "et", "i"}, toks[next].folded) {
				next++
			}
			if next < len(toks) {
				if n := c.numeral(toks[next].folded); n > 0 && n < 10 {
					for _, more := range toks[i+1 : next+1] {
						t.text += " " + more.text
					}
					t.folded, t.number = fold(t.text), t.number+n
					i = next
				}
			}
		}
		out = append(out, t)
	}
	return out
}

// numeral returns the value of a number that is written as one word, or 0: forty-five, fünfundvierzig, ventidue.
func (c *Checker) numeral(word string) int {
	list := numberWords[c.language]
	if n := list[word]; n > 0 || len(list) == 0 {
		return n
	}
	unit := func(s string) int { // also the one, which is no number by itself
		if slices.Contains(ones[c.language], s) {
			return 1
		}
		if n := list[s]; n < 10 {
			return n
		}
		return 0
	}
	tens := func(s string) int {
		if n := list[s]; n >= 20 && n < 100 && n%10 == 0 {
			return n
		}
		return 0
	}
	switch c.language {
	case "de", "nl": // the unit comes first
		for _, and := range []string{"und", "en", "ën"} {
			for at, rest := 0, word; ; { // zeven|en|zestig
				before, after, ok := strings.Cut(rest, and)
				if !ok {
					break
				}
				at += len(before)
				if n, m := unit(word[:at]), tens(after); n > 0 && m > 0 {
					return m + n
				}
				at, rest = at+len(and), after
			}
		}
	case "it":
		for ten := range list {
			m := tens(ten)
			rest, ok := strings.CutPrefix(word, ten)
			if n := unit(strings.ReplaceAll(rest, "é", "e")); ok && m > 0 && n > 0 {
				return m + n
			}
			// venti, ventuno: the vowel is dropped before another
			rest, ok = strings.CutPrefix(word, ten[:len(ten)-1])
			if n := unit(rest); ok && m > 0 && (n == 1 || n == 8) {
				return m + n
			}
		}
	default:
		if before, after, ok := strings.Cut(word, "-"); ok && tens(before) > 0 && unit(after) > 0 {
			return tens(before) + unit(after)
		}
	}
	return 0
}

// ones are the words for one at the end of a number of two digits.
var ones = map[string][]string{"en": {"one"}, "de": {"ein"}, "nl": {"een", "eenen"}, "it": {"uno", "un"}}
