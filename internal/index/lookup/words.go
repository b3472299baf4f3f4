package lookup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWords is the maximum number of words used from a string; a longer name is truncated.
const maxWords = 64

// Words returns the folded words in a string, the form in which names are compared: in lowercase, with compatibility
// characters decomposed, without diacritics on Latin, Greek and Cyrillic letters (ß is ss, ø is o, æ is ae), without
// apostrophes, and split at everything except letters, digits and marks. Each Han character is a word. A string with no
// letters or digits, such as "!!!", is kept as is, as a single word.
func Words(text string) []string {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return foldWords(text)
		}
	}
	return asciiWords(text)
}

func asciiWords(text string) []string {
	var buf [24]string
	out := buf[:0]
	lower := strings.ToLower(text)
	start, quote := -1, false
	add := func(end int) {
		if start >= 0 && len(out) < maxWords {
			w := lower[start:end]
			if quote {
				w = strings.ReplaceAll(w, "'", "")
			}
			out = append(out, w)
		}
		start, quote = -1, false
	}
	for i := 0; i < len(lower); i++ {
		switch c := lower[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			if start < 0 {
				start = i
			}
		case c == '\'' && start >= 0 && i+1 < len(lower) && lower[i+1] >= 'a' && lower[i+1] <= 'z':
			quote = true
		default:
			add(i)
		}
	}
	add(len(lower))
	if len(out) == 0 {
		return symbols(lower)
	}
	return append([]string(nil), out...)
}

// symbols returns the one word that represents a string without letters or digits.
func symbols(text string) []string {
	if w := strings.Join(strings.Fields(text), ""); w != "" {
		return []string{w}
	}
	return nil
}

// spelled lists the letters that Unicode does not decompose.
var spelled = map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'ł': "l", 'þ': "th",
	'ħ': "h", 'ı': "i", 'ς': "σ"}

// accent reports whether r is a combining mark for Latin, Greek and Cyrillic letters; marks in other scripts are part
// of their words.
func accent(r rune) bool { return r >= 0x300 && r <= 0x36f }

func foldWords(text string) []string {
	var out []string
	var b strings.Builder
	wide := false // the current word contains non-ASCII characters
	end := func() {
		if b.Len() == 0 {
			return
		}
		w := b.String()
		b.Reset()
		if wide {
			w = norm.NFC.String(w)
		}
		wide = false
		if len(out) < maxWords {
			out = append(out, w)
		}
	}
	// invalid UTF-8 would prevent the next letter from being decomposed
	rs := []rune(norm.NFKD.String(strings.ToValidUTF8(text, "\ufffd")))
	for i, r := range rs {
		switch {
		case accent(r) || unicode.Is(unicode.Cf, r):
		case unicode.Is(unicode.Han, r):
			end()
			b.WriteRune(r)
			wide = true
			end()
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			r = unicode.ToLower(r)
			if s, ok := spelled[r]; ok {
				b.WriteString(s)
			} else {
				b.WriteRune(r)
			}
			wide = wide || r >= utf8.RuneSelf
		case (r == '\'' || r == '’' || r == 'ʼ') && b.Len() > 0 && i+1 < len(rs) && unicode.IsLetter(rs[i+1]):
		default:
			end()
		}
	}
	end()
	if len(out) == 0 {
		return symbols(strings.ToLower(norm.NFKC.String(text)))
	}
	return out
}

// minTypo is the minimum length, in letters, of a word in which one wrong letter is tolerated; for a prefix of a word,
// the minimum is one letter longer.
const minTypo = 4

// near reports whether word becomes name if one letter is changed, removed, added or swapped with its neighbor. If
// prefix is true, it is enough for word to become a prefix of name, provided that letters after the wrong one still
// match. A letter from a different script is not a typo. Equal words are not near.
func near(word, name string, prefix bool) bool {
	w, n := []rune(word), []rune(name)
	prefix = prefix && len(w) > minTypo
	if len(w) < minTypo || word == name {
		return false
	}
	i := 0
	for i < len(w) && i < len(n) && w[i] == n[i] {
		i++
	}
	rest := func(a, b []rune) bool { // a equals b or a prefix of b
		if len(a) == len(b) {
			return string(a) == string(b)
		}
		return prefix && len(a) > 0 && len(a) < len(b) && string(a) == string(b[:len(a)])
	}
	a, b := w[i:], n[i:]
	switch {
	case len(a) == 0:
		return len(b) == 1 && sameScript(b[0], w[0])
	case rest(a[1:], b): // an extra letter
		return true
	case len(b) == 0:
		return false
	case sameScript(a[0], b[0]) && rest(a[1:], b[1:]), sameScript(b[0], w[0]) && rest(a,
		b[1:]): // a wrong or missing letter
		return true
	}
	return len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] && rest(a[2:], b[2:])
}

// lastLatin is the first code point after Unicode's Latin blocks, which are treated as one script.
const lastLatin = 0x250

// sameScript reports whether two letters are close enough in Unicode for one to be typed instead of the other.
func sameScript(a, b rune) bool {
	if a < lastLatin || b < lastLatin {
		return a < lastLatin && b < lastLatin
	}
	return a>>8 == b>>8
}

// scriptRange returns the range of strings that start with a letter in the same script.
func scriptRange(r rune) (from, to string) {
	if r < lastLatin {
		return "", string(rune(lastLatin))
	}
	return string(max(r&^0xff, lastLatin)), string(r|0xff) + afterAll
}
