package faithful

import "strings"

// arabicLetters maps Arabic letters that are often confused to one letter, and removes vowel marks.
var arabicLetters = strings.NewReplacer("أ", "ا", "إ", "ا", "آ", "ا", "ٱ", "ا", "ى", "ي", "ة", "ه", "ؤ", "و", "ئ", "ي", "ـ", "",
	"\u064b", "", "\u064c", "", "\u064d", "", "\u064e", "", "\u064f", "", "\u0650", "", "\u0651", "", "\u0652", "", "\u0670", "")

// Arabic attaches articles, prepositions, conjunctions, possessives and plural endings to words.
var (
	arabicBefore = []string{"", "ال", "و", "ف", "ب", "ل", "ك", "س", "وال", "فال", "بال", "كال", "لل", "ولل", "وب", "ول", "وس"}
	arabicAfter  = []string{"", "ها", "هم", "هن", "هما", "نا", "ات", "ان", "ين", "ون", "وا", "يه", "ه", "ي", "ا", "ت", "تها", "ته", "اتها", "يا"}
)

const minArabic = 3 // minimum number of letters in a word without its affixes

// arabicStems returns the possible stems of a word: its forms with possible affixes removed.
func arabicStems(word string) []string {
	word = arabicLetters.Replace(word)
	var out []string
	for _, before := range arabicBefore {
		bare, ok := strings.CutPrefix(word, before)
		if !ok {
			continue
		}
		for _, after := range arabicAfter {
			stem, ok := strings.CutSuffix(bare, after)
			if ok && (len([]rune(stem)) >= minArabic || before+after == "") {
				out = append(out, stem)
			}
		}
	}
	return out
}

// arabicWords is a set of words, keyed by stem.
type arabicWords map[string]bool

func (a arabicWords) add(word string) {
	for _, s := range append(arabicStems(word), arabicRoots(word)...) {
		a[s] = true
	}
}

func (a arabicWords) has(word string) bool {
	for _, s := range append(arabicStems(word), arabicRoots(word)...) {
		if a[s] {
			return true
		}
	}
	return false
}

// arabicRoots returns the possible roots of a word: its stems without the prefixes of verbs and participles, and
// without vowels. Thus تجاور and المجاورة count as one word, and so do عاصمة and عواصم.
func arabicRoots(word string) []string {
	var out []string
	for _, stem := range arabicStems(word) {
		for _, before := range []string{"", "ت", "ي", "م", "ن", "است", "مت", "يست"} {
			bare, ok := strings.CutPrefix(stem, before)
			if !ok {
				continue
			}
			bare = strings.TrimSuffix(bare, "ه")
			for _, root := range []string{strings.ReplaceAll(bare, "ا", ""), arabicVowels.Replace(bare)} { // و and ي may be either
				if len([]rune(root)) >= minArabic {
					out = append(out, "√"+root)
				}
			}
		}
	}
	return out
}

var arabicVowels = strings.NewReplacer("ا", "", "و", "", "ي", "")

// arabicNumber combines a unit with the word after it: إحدى عشرة is 11, خمسة وأربعون is 45. It returns 0 if the two
// words are not a number.
func (c *Checker) arabicNumber(unit, next string) int {
	n := c.numeral(unit)
	if one := arabicLetters.Replace(unit); one == "احد" || one == "احدي" || one == "واحد" || one == "واحده" {
		n = 1
	}
	if n < 1 || n > 9 {
		return 0
	}
	if c.numeral(next) == 10 {
		return 10 + n
	}
	if tens, ok := strings.CutPrefix(next, "و"); ok && c.numeral(tens) >= 20 && c.numeral(tens) < 100 {
		return c.numeral(tens) + n
	}
	return 0
}

// arabicKnown returns the words that an Arabic text may contain: those in the question, the query, the names and the
// word list.
func (c *Checker) arabicKnown() arabicWords {
	if c.arabic != nil {
		return c.arabic
	}
	c.arabic = arabicWords{}
	for _, v := range []map[string]bool{c.known, c.parts, c.stock.more} {
		for w := range v {
			if len([]rune(w)) > 2 || !unicase(w) { // excludes letter pairs from scripts without spaces
				c.arabic.add(w)
			}
		}
	}
	if c.stock.list != nil {
		for w := range c.stock.list.words {
			c.arabic.add(w)
		}
	}
	return c.arabic
}
