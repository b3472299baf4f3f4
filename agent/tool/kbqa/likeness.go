package kbqa

import (
	"strings"
	"unicode"
)

// Likeness returns the similarity of two names, from 0 (nothing in common) to 1 (equal, ignoring case and punctuation).
// It is the Sørensen-Dice coefficient of the names' trigrams.
func Likeness(a, b string) float64 {
	x, y := trigrams(a), trigrams(b)
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	common := 0
	for t := range x {
		if y[t] {
			common++
		}
	}
	return 2 * float64(common) / float64(len(x)+len(y))
}

// trigrams returns the sequences of three letters in a name, with a space before and after each word.
func trigrams(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range WordsOf(s) {
		r := []rune(" " + w + " ")
		for i := range len(r) - 2 {
			out[string(r[i:i+3])] = true
		}
	}
	return out
}

// WordsOf returns the words in a name, in lower case.
func WordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Meant returns the similarity of a predicate's words to a search text, which may contain alternatives:
// "birthdate/natal day".
func Meant(semantic, words string) float64 {
	best := 0.0
	for _, s := range strings.FieldsFunc(semantic, func(r rune) bool { return strings.ContainsRune("/,;|", r) }) {
		best = max(best, Likeness(s, words))
	}
	return best
}
