package faithful

import (
	"slices"
	"strconv"
	"strings"
)

// numerals marks numbers written as words, and joins those that consist of several words: cuarenta y cinco, сорок пять,
// ten million.
func (c *Checker) numerals(toks []token) []token {
	out := make([]token, 0, len(toks))
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		t.number = c.numeral(t.folded)
		if c.language == "ar" && i+1 < len(toks) {
			if n := c.arabicNumber(t.folded, toks[i+1].folded); n > 0 {
				t.text += " " + toks[i+1].text
				t.folded, t.number = fold(t.text), n
				i++
			}
		}
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
		if t.number > 0 && i+1 < len(toks) && scales[toks[i+1].folded] > 0 {
			i++
			t.text, t.scale = t.text+" "+toks[i].text, scales[toks[i].folded]
			t.folded = fold(t.text)
		}
		out = append(out, t)
	}
	return out
}

// numeral returns the value of a number written as a single word, such as forty-five, fünfundvierzig or ventidue, or 0
// if the word is not a number.
func (c *Checker) numeral(word string) int {
	list := numberWords[c.language]
	if n := list[word]; n > 0 || len(list) == 0 {
		return n
	}
	switch c.language {
	case "de", "nl":
		return c.unitFirst(word)
	case "it":
		return c.joined(word)
	}
	before, after, _ := strings.Cut(word, "-")
	return c.sum(before, after)
}

// sum returns the sum of tens and units, or 0 if the words are not tens and units.
func (c *Checker) sum(tens, unit string) int {
	list := numberWords[c.language]
	n, m := list[tens], list[unit]
	if slices.Contains(ones[c.language], unit) { // this word is not a number on its own
		m = 1
	}
	if n < 20 || n >= 100 || n%10 != 0 || m < 1 || m > 9 {
		return 0
	}
	return n + m
}

// unitFirst parses numbers such as zevenenzestig and siebenundsechzig, in which the unit comes first.
func (c *Checker) unitFirst(word string) int {
	for i := range word {
		for _, and := range []string{"und", "en", "ën"} {
			if tens, ok := strings.CutPrefix(word[i:], and); ok {
				if n := c.sum(tens, word[:i]); n > 0 {
					return n
				}
			}
		}
	}
	return 0
}

// joined parses numbers such as ventidue. Before a vowel, the tens lose their final vowel: ventuno.
func (c *Checker) joined(word string) int {
	word = strings.ReplaceAll(word, "é", "e")
	for tens := range numberWords[c.language] {
		if unit, ok := strings.CutPrefix(word, tens); ok && c.sum(tens, unit) > 0 {
			return c.sum(tens, unit)
		}
		if unit, ok := strings.CutPrefix(word, tens[:len(tens)-1]); ok && strings.IndexAny(unit, "uo") == 0 && c.sum(tens, unit) > 0 {
			return c.sum(tens, unit)
		}
	}
	return 0
}

// ones are the forms of "one" used within a two-digit number.
var ones = map[string][]string{"en": {"one"}, "de": {"ein"}, "nl": {"een", "eenen"}, "it": {"uno", "un"}}

// Says reports whether a text contains the number, which must be at least two, written in words of the given language.
func Says(text, language, number string) bool {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	want, err := strconv.Atoi(number)
	written := (&Checker{language: base}).numerals(tokens(text))
	return err == nil && want > 0 && slices.ContainsFunc(written, func(t token) bool { return t.number == want })
}
