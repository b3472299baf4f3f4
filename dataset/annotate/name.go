package annotate

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// CleanName normalizes an annotator's name. The error is a [Refusal].
func CleanName(name string) (string, error) {
	name = norm.NFC.String(strings.Join(strings.Fields(name), " "))
	switch n := len([]rune(name)); {
	case n == 0:
		return "", RefusedName
	case n > 40:
		return "", RefusedLongName
	}
	for _, c := range name {
		if !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.IsDigit(c) && !strings.ContainsRune(" -_.'()", c) {
			return "", RefusedLetters
		}
	}
	return name, nil
}
