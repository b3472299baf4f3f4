// Package wrap decides where words in a table may be broken, and estimates the width of strings.
package wrap

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsBreak reports whether a line may be broken at a character.
func IsBreak(r rune) bool { return strings.ContainsRune(" -（\u200b", r) || wide(r) }

// Pixels returns the approximate width of a string in a 16-pixel sans-serif font.
func Pixels(s string) float64 {
	px := 0.0
	for _, r := range s {
		switch {
		case unicode.IsMark(r):
		case strings.ContainsRune("ijltfrI.,;:'’|!()[]-/ \u00a0\u202f", r):
			px += 5
		case strings.ContainsRune("mwMW@%", r):
			px += 13
		case unicode.IsUpper(r):
			px += 11
		case wide(r):
			px += 16
		default:
			px += 8.9
		}
	}
	return px
}

// wide reports whether a character is from a script without spaces, in which a line may be broken at any character.
func wide(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// longWord matches a word, or letters and digits without a space between them.
var longWord = regexp.MustCompile(`[\pL\pM\pN_]+`)

// maxSoft is the maximum number of letters in a word that is split into syllables.
const maxSoft = 30

// Soften returns escaped text in which words with more than the given number of letters have soft hyphens between
// syllables. If such a word is an identifier or not a word at all, the text is returned unchanged, and hard is true:
// the cell needs a style that lets words be broken anywhere.
func Soften(escaped string, letters int) (text string, hard bool) {
	if letters == 0 {
		return escaped, false
	}
	text = longWord.ReplaceAllStringFunc(escaped, func(w string) string {
		parts, soft := Pieces(w, letters)
		hard = hard || !soft
		return strings.Join(parts, "&shy;")
	})
	if hard {
		return escaped, true
	}
	return text, false
}

// Pieces splits a word with more than the given number of letters into pieces of about the same length. A piece may be
// slightly longer if no syllable begins within that number of letters. soft reports whether the pieces are syllables,
// which need a hyphen between them. Words in a script whose letters are joined are not split.
func Pieces(word string, letters int) (parts []string, soft bool) {
	runes := []rune(word)
	if len(runes) <= letters || strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Arabic, r) }) {
		return []string{word}, true
	}
	soft = len(runes) <= maxSoft && !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
	})
	for len(runes) > letters {
		at := len(runes) / ((len(runes) + letters - 1) / letters)
		if soft {
			at = cmp.Or(boundary(runes, letters), syllable(runes, at, letters))
		}
		if at == len(runes) {
			break
		}
		parts, runes = append(parts, string(runes[:at])), runes[at:]
	}
	return append(parts, string(runes)), soft
}

// boundary returns the index at which the final element of a compound begins, or 0 if it is unknown or above most.
func boundary(word []rune, most int) int {
	for _, last := range lastParts {
		before, ok := strings.CutSuffix(strings.ToLower(string(word)), last)
		if n := utf8.RuneCountInString(before); ok && n >= minPiece && n <= most {
			return n
		}
	}
	return 0
}

// lastParts are final elements of German and Dutch compounds in table headers. Without them, syllable would break such
// a compound elsewhere.
var lastParts = strings.Fields("angehörigkeit ausgabe datum einheit jaar jahr land naam name nummer " +
	"plaats punkt sprache staat stadt titel zahl zeit")

// minPiece is the minimum number of letters before a soft hyphen.
const minPiece = 3

// syllable returns the index nearest to at, but not above most, at which a syllable begins: at a consonant before a
// vowel, or at several consonants that start a syllable together. If there is none, it returns the word's length if
// that is only slightly more than most, and at otherwise.
func syllable(word []rune, at, most int) int {
	for d := range at {
		for _, i := range []int{at + d, at - d} {
			if i < minPiece || i+1 >= len(word) || vowel(word[i]) || !vowel(word[i+1]) {
				continue
			}
			for n := longestOnset; n > 1; n-- {
				if i+1 >= n && slices.Contains(onsets, strings.ToLower(string(word[i+1-n:i+1]))) {
					i += 1 - n
					break
				}
			}
			if i >= minPiece && i <= most {
				return i
			}
		}
	}
	if len(word) < most+minPiece {
		return len(word)
	}
	return at
}

// onsets contains groups of consonants that start a syllable together.
var onsets = strings.Fields("bl br ch cl cr dr fl fr gl gr kl kn kr ph pl pr qu sch schl schm schn schr schw sh sl st th tr wr")

// longestOnset is the maximum number of letters in one of the onsets.
const longestOnset = 4

func vowel(r rune) bool {
	return strings.ContainsRune("aeiouyàáâãäåèéêëìíîïòóôõöøùúûüýæœąęаеёиоуыэюяіїє", unicode.ToLower(r))
}

var digitGroups = regexp.MustCompile(`\b[1-9]\d{0,2}(?: \d{3})+\b`)

// Numbers returns text in which numbers such as 12 345 are not broken.
func Numbers(s string) string {
	return digitGroups.ReplaceAllStringFunc(s, func(n string) string { return strings.ReplaceAll(n, " ", "\u00a0") })
}

// breaks marks the places where a URL may wrap, since browsers do not wrap URLs on their own.
var breaks = strings.NewReplacer("/", "/<wbr>", ".", "<wbr>.", "_", "_<wbr>", "=", "=<wbr>", "%", "<wbr>%", ":", ":<wbr>")

// Address marks the places where an address may be broken: after its punctuation, and, in a run of letters and digits,
// after the first twelve of every fifteen.
func Address(address string) string {
	var b strings.Builder
	copied, run := 0, 0
	for i, r := range []byte(address) {
		if r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' {
			run = 0
			continue
		}
		if run++; run == 15 {
			b.WriteString(address[copied:i-2] + "<wbr>")
			copied, run = i-2, 0
		}
	}
	b.WriteString(address[copied:])
	return breaks.Replace(b.String())
}
