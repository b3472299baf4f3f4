package faithful

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Items without a label in a text's language have names in Latin letters, but a Russian or Arabic text writes these
// names in Cyrillic or Arabic letters. Such names are compared by their consonants; each Latin letter may represent
// several consonants.

// cyrillic and arabic map letters to the consonants they represent; letters not listed are vowels or silent.
var (
	cyrillic = consonants("б b в v г g д d ж s з s к k л l м m н n п p р r с s т t ф f х k ц s ч s ш s щ s ґ g ђ d ј - љ l њ n џ s ћ s")
	arabic   = consonants("ب b پ b ت t ث t ج g چ s ح k خ k د d ذ d ر r ز s ژ s س s ش s ص s ض d ط t ظ s غ g ف v ڤ v ق k ك k گ g ل l م m ن n")
)

func consonants(list string) map[rune]string {
	out, pairs := map[rune]string{}, strings.Fields(list)
	for i := 1; i < len(pairs); i += 2 {
		r, _ := utf8.DecodeRuneInString(pairs[i-1])
		out[r] = strings.Trim(pairs[i], "-")
	}
	return out
}

// latin lists the possible sounds of groups of Latin letters, longest group first; "-" means silent.
var latin = []struct {
	letters string
	sounds  []string
}{
	{"tsch", []string{"s"}}, {"sch", []string{"s", "sk"}}, {"ch", []string{"k", "s"}}, {"sh", []string{"s"}}, {"th", []string{"t", "s"}},
	{"ph", []string{"f"}}, {"kh", []string{"k"}}, {"gh", []string{"g", ""}}, {"ck", []string{"k"}}, {"qu", []string{"kv", "k"}},
	{"ts", []string{"s", "ts"}}, {"tz", []string{"s"}}, {"dj", []string{"ds"}},
	{"b", []string{"b"}}, {"c", []string{"k", "s"}}, {"ç", []string{"s"}}, {"d", []string{"d"}}, {"f", []string{"f"}}, {"g", []string{"g", "s", "ds"}},
	{"h", []string{"", "k", "g"}}, {"j", []string{"", "s", "ds", "g", "k"}}, {"k", []string{"k"}}, {"l", []string{"l"}}, {"m", []string{"m"}},
	{"n", []string{"n"}}, {"p", []string{"p"}}, {"q", []string{"k"}}, {"r", []string{"r"}}, {"s", []string{"s"}}, {"t", []string{"t"}},
	{"v", []string{"v", "f"}}, {"w", []string{"v", ""}}, {"x", []string{"ks", "s"}}, {"z", []string{"s"}},
}

const (
	maxSounds  = 64 // maximum number of ways to read a name
	minSounds  = 3  // minimum number of consonants in a standalone word
	wholeNames = 4  // minimum number of consonants in a multiword name
)

// sounds returns the possible readings of the consonants of a word in Latin letters.
func sounds(word string) []string {
	out := []string{""}
	for rest := withoutMarks(word); rest != ""; {
		_, size := utf8.DecodeRuneInString(rest)
		var next []string
		for _, l := range latin {
			if strings.HasPrefix(rest, l.letters) {
				size, next = len(l.letters), l.sounds
				break
			}
		}
		rest = rest[size:]
		if next == nil {
			continue
		}
		var longer []string
		for _, before := range out {
			for _, s := range next {
				if len(longer) < maxSounds {
					longer = append(longer, once(before+s))
				}
			}
		}
		out = longer
	}
	return out
}

// once collapses runs of the same letter.
func once(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if i == 0 || s[i] != s[i-1] {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// caseEnding matches a noun's case ending.
var caseEnding = regexp.MustCompile(`(ом|ем|ём|ым|им|ого|его|ами|ями|ах|ях|ов|ев)$`)

// spelled reports whether a word in Cyrillic or Arabic letters may be a transliteration of a word in Latin letters, and
// returns the number of matching consonants.
func spelled(word, name string) (consonants int, ok bool) {
	var table map[rune]string
	readings := []string{word}
	switch first, _ := utf8.DecodeRuneInString(word); {
	case unicode.Is(unicode.Cyrillic, first):
		table = cyrillic
		if short := caseEnding.ReplaceAllString(word, ""); short != word {
			readings = append(readings, short)
		}
	case unicode.Is(unicode.Arabic, first):
		table = arabic
		readings = arabicStems(word)
	}
	if first, _ := utf8.DecodeRuneInString(name); table == nil || !unicode.Is(unicode.Latin, first) {
		return 0, false
	}
	for _, said := range readings {
		var b strings.Builder
		for _, r := range said {
			b.WriteString(table[r])
		}
		heard := once(b.String())
		if heard == "" || silent(said, table) != vowel(name) && !strings.HasPrefix(name, "h") && !strings.HasPrefix(name, "j") {
			continue
		}
		for _, s := range sounds(name) {
			if isArabic := len(table) == len(arabic); isArabic { // Arabic has neither p nor a letter for v besides f
				s = once(strings.NewReplacer("p", "b", "f", "v").Replace(s))
			}
			if s == heard {
				return len(heard), true
			}
		}
	}
	return 0, false
}

// silent reports whether a word starts with a vowel.
func silent(word string, table map[rune]string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	_, consonant := table[first]
	return !consonant
}

// withoutMarks returns a word in lower case, without accents and with ß replaced by ss.
func withoutMarks(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsMark(r) {
			return -1
		}
		return r
	}, norm.NFD.String(strings.NewReplacer("ß", "ss", "ø", "o", "ł", "l", "đ", "d", "æ", "a", "œ", "o", "ı", "i").Replace(word)))
}

func vowel(name string) bool {
	first, _ := utf8.DecodeRuneInString(withoutMarks(name))
	return strings.ContainsRune("aeiouyw", first)
}

// transliterated returns the number of leading tokens that form a name in a different script, or 0.
func transliterated(toks []token, words []string) int {
	total := 0
	for i, w := range words {
		n, ok := spelled(toks[i].folded, w)
		if !ok {
			return 0
		}
		total += n
	}
	if total < wholeNames && (len(words) > 1 || total < minSounds) {
		return 0
	}
	return len(words)
}
