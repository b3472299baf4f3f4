package faithful

import (
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word or a figure.
type token struct {
	text, folded string
	figure       bool
	decade       bool    // covers the years that start with the same three digits
	scale        float64 // factor of a figure before "million" and the like
	number       int     // value of a number in words: 45 for "cuarenta y cinco"; 0 for other words
	part         int     // index of its part of the sentence; commas and the like separate the parts
}

var decade = regexp.MustCompile(`^[12]\d\d0(s|er|ern|ér)$`)

// scales are words that multiply the figure before them.
var scales = map[string]float64{"thousand": 1e3, "tausend": 1e3, "mille": 1e3, "mil": 1e3, "million": 1e6, "millions": 1e6,
	"millionen": 1e6, "mio": 1e6, "millones": 1e6, "millón": 1e6, "milioni": 1e6, "milhões": 1e6, "miljoen": 1e6,
	"milhão": 1e6, "milione": 1e6, "milion": 1e6, "miliony": 1e6, "milionów": 1e6, "миллион": 1e6, "миллиона": 1e6,
	"миллионов": 1e6, "тысяч": 1e3, "тысячи": 1e3, "tysięcy": 1e3, "tysiące": 1e3, "duizend": 1e3,
	"mln": 1e6, "млн": 1e6, "miljoner": 1e6, "mld": 1e9, "млрд": 1e9, "тыс": 1e3, "tys": 1e3,
	"billion": 1e9, "ألف": 1e3, "مليون": 1e6, "مليار": 1e9, "miliardi": 1e9, "miljard": 1e9, "mil millones": 1e9, "bilhões": 1e9,
	"miliardów": 1e9, "миллиардов": 1e9, "миллиарда": 1e9, "trillion": 1e12, "milliarden": 1e9, "milliarde": 1e9, "milliards": 1e9, "milliard": 1e9, "mrd": 1e9, "万": 1e4, "億": 1e8, "亿": 1e8}

// tokens splits a text into words and figures. A letter after a digit joins both into one word (1st, 4x4), except in
// scripts without spaces.
func tokens(s string) []token {
	var out []token
	part, rest := 0, spaced(s)
	for t := range cut(rest) {
		between, after, _ := strings.Cut(rest, t)
		if rest = after; strings.ContainsAny(between, partMarks) {
			part++
		}
		digits := strings.TrimRightFunc(t, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) })
		letters := t[len(digits):]
		if digits != "" {
			letters = strings.TrimLeft(letters, string(tatweel))
		}
		switch {
		case len(digits) == 4 && decade.MatchString(t): // the 1990s
			out = append(out, token{text: t, folded: t[:4], figure: true, decade: true, part: part})
		case digits != "" && (letters == "" || unicase(letters)):
			f := token{text: digits, folded: digits, part: part, figure: strings.Trim(digits, "0123456789.,'’ \u00a0\u202f-−") == ""}
			if !f.figure {
				f.text, f.folded, letters = t, fold(t), ""
			}
			if first, _ := utf8.DecodeRuneInString(letters); scales[string(first)] > 0 {
				f.scale = scales[string(first)]
				letters = strings.TrimPrefix(letters, string(first))
			}
			out = append(out, f)
			if letters != "" {
				out = append(out, token{text: letters, folded: fold(letters), part: part})
			}
		default:
			f := fold(t)
			if strings.HasSuffix(t, string(tatweel)) && utf8.RuneCountInString(f) <= 2 { // a prefix of the figure after it
				continue
			}
			if n := len(out); scales[f] > 0 && n > 0 && out[n-1].figure {
				out[n-1].scale = scales[f]
				continue
			}
			out = append(out, token{text: t, folded: f, part: part})
		}
	}
	return out
}

// partMarks separate the parts of a sentence.
const partMarks = ",;:()–—،؛、，；：（）"

// cut yields the words and figures in a text, as written. A figure consists of digits, possibly in groups of three, and
// may have decimals, a sign before it and letters after it. A word has letters and digits, and may have parts joined by
// hyphens, colons and periods. A regular expression for this (see TestCut) takes seconds for a megabyte of text.
func cut(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(s); {
			r, size := utf8.DecodeRuneInString(s[i:])
			n := 0
			switch {
			case digit(r):
				n = figure(s[i:])
			case r == '-' || r == '−':
				if n = figure(s[i+size:]); n > 0 {
					n += size
				}
			case letter(r):
				n = word(s[i:])
			}
			if n > 0 && !yield(s[i:i+n]) {
				return
			}
			i += max(n, size)
		}
	}
}

// figure returns the length of the unsigned figure at the start of s, or 0 if there is none.
func figure(s string) int {
	n := span(s, digit)
	if n == 0 {
		return 0
	}
	for {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !strings.ContainsRune(" \u00a0\u202f.,'’", r) || span(s[n+size:min(len(s), n+size+4)], digit) != 3 {
			break
		}
		n += size + 3
	}
	if n < len(s) && (s[n] == '.' || s[n] == ',') {
		if k := span(s[n+1:], digit); k > 0 {
			n += 1 + k
		}
	}
	if r, size := utf8.DecodeRuneInString(s[n:]); unicode.IsLetter(r) {
		n += size + span(s[n+size:], letterOrDigit)
	}
	return n
}

// word returns the length of the word at the start of s.
func word(s string) int {
	n := span(s, func(r rune) bool { return letterOrDigit(r) || r == '_' })
	for n < len(s) && (s[n] == '-' || s[n] == ':' || s[n] == '.') {
		r, size := utf8.DecodeRuneInString(s[n+1:])
		if !unicode.IsLetter(r) && !digit(r) {
			break
		}
		n += 1 + size + span(s[n+1+size:], letterOrDigit)
	}
	return n
}

// span returns the length of the longest prefix of s whose characters all satisfy f.
func span(s string, f func(rune) bool) int {
	for i, r := range s {
		if !f(r) {
			return i
		}
	}
	return len(s)
}

func digit(r rune) bool         { return '0' <= r && r <= '9' }
func letter(r rune) bool        { return unicode.IsLetter(r) || unicode.IsMark(r) }
func letterOrDigit(r rune) bool { return letter(r) || digit(r) }

// spaced inserts spaces into scripts without spaces: between Latin words and Chinese or Japanese words, and between
// figures and the letters before them.
func spaced(s string) string {
	var b strings.Builder
	copied, before := 0, rune(0)
	for i, r := range s {
		if r >= utf8.RuneSelf || before >= utf8.RuneSelf { // at least one of the two is not ASCII
			if wide(before) && unicode.Is(unicode.Latin, r) || unicode.Is(unicode.Latin, before) && wide(r) ||
				'0' <= r && r <= '9' && (unicode.Is(unicode.Lo, before) || before == tatweel) {
				b.WriteString(s[copied:i])
				b.WriteByte(' ')
				copied = i
			}
		}
		before = r
	}
	if copied == 0 {
		return s
	}
	return b.String() + s[copied:]
}

// wide reports whether r is a Chinese or Japanese letter.
func wide(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// tatweel is the dash that lengthens the line between Arabic letters, or joins a prefix to a figure: لـ15.
const tatweel = 'ـ'

func fold(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(s, string(tatweel), "")), " "))
}

// unicase reports whether a text starts in a script without capital letters, in which a name looks like any other word.
func unicase(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.Is(unicode.Lo, r)
}

// splitWords splits a variable's name into words.
func splitWords(s string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s, "_", " ") {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// articles may be omitted at the start of a name, and are not names by themselves.
var articles = map[string]bool{"the": true, "a": true, "an": true, "der": true, "die": true, "das": true, "le": true, "la": true,
	"les": true, "l": true, "el": true, "los": true, "las": true, "il": true, "lo": true, "gli": true, "i": true, "o": true, "os": true,
	"as": true, "de": true, "het": true}

// nameWords returns the words of a name, without a leading article.
func nameWords(name string) []string {
	var out []string
	for _, t := range tokens(name) {
		if len(out) == 0 && articles[t.folded] {
			continue
		}
		out = append(out, t.folded)
	}
	return out
}

// found is a name from the result that occurs in a sentence, at tokens from ≤ i < to.
type found struct {
	from, to int
	rows     map[int]bool
	counts   map[int]bool // see rowName
	head     bool
}

// find finds names from the result in a sentence, longest first. For a person, the last word of the name is enough.
// A name that occurs in different forms in several rows matches all of these rows.
func (c *Checker) find(toks []token) []found {
	var out []found
	for i := 0; i < len(toks); {
		length, rows, counts, head := 0, map[int]bool{}, map[int]bool{}, false
		exact := 0 // number of tokens of the longest name that is written exactly as in the result
		for _, n := range c.names {
			exact = max(exact, exactly(toks[i:], n.words))
		}
		for _, n := range c.names {
			k := c.formed(toks[i:], n)
			switch {
			case k == 0 || k < length:
			case k == exact && exactly(toks[i:], n.words) == 0: // Niger, if Nigeria is in the result, too
			case k > length:
				length, rows, counts, head = k, map[int]bool{}, map[int]bool{}, false
				fallthrough
			default:
				head = head || n.head
				for r := range n.counts {
					counts[r] = true
				}
				for r := range n.rows {
					rows[r] = true
				}
			}
		}
		if length == 0 {
			length, rows, counts, head = c.begun(toks[i:])
		}
		if length > 0 {
			out = append(out, found{i, i + length, rows, counts, head})
		}
		i += max(length, 1)
	}
	return out
}

// exactly returns the number of tokens at the start of toks if they are the words of a name without any ending, or 0.
func exactly(toks []token, words []string) int {
	same := func(t token, w string) bool { return t.folded == w }
	if len(toks) < len(words) || !slices.EqualFunc(toks[:len(words)], words, same) {
		return 0
	}
	return len(words)
}

// formed returns the number of tokens at the start of toks that form a name or, for a person, its last word, or 0.
func (c *Checker) formed(toks []token, n rowName) int {
	if k := c.matches(toks, n.words); k > 0 {
		return k
	}
	last := len(n.words) - 1
	switch {
	case n.whole:
		return c.inflected(toks, n.words)
	case last > 0 && last < 5 && startsUpper(toks[0].text) &&
		(c.same(toks[0].folded, n.words[last]) || transliterated(toks[:1], n.words[last:]) > 0):
		return 1
	}
	return 0
}

// begun finds the longest beginning of a multiword name, such as LSU Tigers for LSU Tigers men's basketball. The
// beginning must consist of at least two words, and the first must have a capital letter.
func (c *Checker) begun(toks []token) (length int, rows, counts map[int]bool, head bool) {
	rows, counts = map[int]bool{}, map[int]bool{}
	if !startsUpper(toks[0].text) {
		return 0, rows, counts, false
	}
	for _, n := range c.names {
		k := 0
		for k < len(n.words)-1 && k < len(toks) && toks[k].folded == n.words[k] {
			k++
		}
		if k < 2 || k < length || toks[k-1].figure {
			continue
		}
		if k > length {
			length, rows, counts, head = k, map[int]bool{}, map[int]bool{}, false
		}
		head = head || n.head
		maps.Copy(counts, n.counts)
		maps.Copy(rows, n.rows)
	}
	return length, rows, counts, head
}

// matches returns the number of tokens at the start of toks that form the name, or 0 if they do not form it.
func (c *Checker) matches(toks []token, words []string) int {
	if len(toks) < len(words) {
		return 0
	}
	for i, w := range words {
		inflected := i == len(words)-1 || endings[c.language] != ""
		if toks[i].folded != w && (!inflected || !c.same(toks[i].folded, w)) {
			return transliterated(toks, words)
		}
	}
	return len(words)
}

// same reports whether a word is a name, possibly with an ending, as in Deutschlands or Poland's. In languages that
// inflect names, the ending may differ, as in Франции for Франция.
func (c *Checker) same(word, name string) bool {
	if word == name {
		return true
	}
	if anyID.MatchString(strings.ToUpper(name)) { // Q8170 is not Q817
		return false
	}
	if rest, ok := strings.CutPrefix(word, name); ok && len(name) >= 4 && len(rest) <= 2 {
		return true
	}
	if len(name) >= minAccents && withoutMarks(word) == withoutMarks(name) { // Nigéria for the label Nigeria
		return true
	}
	if c.language == "ar" {
		return slices.Contains(arabicStems(word), arabicLetters.Replace(name))
	}
	vowels := endings[c.language]
	if vowels == "" {
		return false
	}
	stem := []rune(name)
	for n := 0; n < 2 && len(stem) > minStem && strings.ContainsRune(vowels, stem[len(stem)-1]); n++ {
		stem = stem[:len(stem)-1]
	}
	rest, ok := strings.CutPrefix(word, string(stem))
	return ok && len(stem) >= minStem && utf8.RuneCountInString(rest) <= maxEnding
}

// endings lists the letters that a name's ending may consist of, for languages that inflect names.
var endings = map[string]string{"ru": "аеёиоуыэюяйь", "pl": "aąeęioóuy"}

const (
	minAccents = 5 // minimum number of letters in a name for accents to be ignored

	minStem   = 3 // minimum number of letters in a name without its ending
	maxEnding = 4 // maximum number of letters in a changed ending
)

// vocabulary is a set of folded words and, for scripts that do not use spaces, of pairs of letters.
type vocabulary map[string]bool

func (v vocabulary) add(s string) {
	for _, t := range tokens(s) {
		if t.figure {
			continue
		}
		v[t.folded] = true
		for _, part := range strings.FieldsFunc(t.folded, func(r rune) bool { return r == '-' || r == ':' || r == '.' || r == '_' }) {
			v[part] = true
		}
		if letters := []rune(t.folded); unicase(t.text) {
			for i := range letters {
				if i > 0 {
					v[string(letters[i-1:i+1])] = true
				}
				alone := func(k int) bool { return k < 0 || k >= len(letters) || unicode.Is(unicode.Hiragana, letters[k]) }
				if unicode.Is(unicode.Han, letters[i]) && alone(i-1) && alone(i+1) { // a one-letter word: 川の
					v[string(letters[i])] = true
				}
			}
		}
	}
}

// has reports whether a word, or a word with the same stem, is known. Two words have the same stem if they share a
// prefix of at least four letters and the rest of the longer word has at most four letters.
func (v vocabulary) has(word string) bool {
	if v[word] {
		return true
	}
	letters := []rune(word)
	if len(letters) < 4 || unicase(word) {
		return false
	}
	for w := range v {
		if k := common(letters, []rune(w)); k >= 4 && k >= max(len(letters), utf8.RuneCountInString(w))-4 {
			return true
		}
	}
	return false
}

func common(a, b []rune) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

const maxPiece = 6 // maximum number of letters in a plain word in a script without spaces

// covers reports whether every letter in a word in a script without spaces is part of a known letter pair or of a plain
// word in the language. Hiragana, which is used for endings, does not need support.
func (c *Checker) covers(word string) bool {
	letters := []rune(word)
	ok := make([]bool, len(letters))
	for i, r := range letters {
		ok[i] = ok[i] || unicode.Is(unicode.Hiragana, r) || r == 'ー' || c.known[string(r)] || c.stock.has(string(r))
		for n := 2; n <= maxPiece && i+n <= len(letters); n++ {
			if piece := string(letters[i : i+n]); c.known[piece] || c.parts[piece] || c.stock.has(piece) {
				for k := i; k < i+n; k++ {
					ok[k] = true
				}
			}
		}
	}
	for _, known := range ok {
		if !known {
			return false
		}
	}
	return true
}

// inflected returns the number of tokens that form a name, or 0 if they do not form it. Each word may have a different
// ending, as in Vereinigten Staaten, but must not be the name of a country: Italien is not a form of Italienisch.
func (c *Checker) inflected(toks []token, words []string) int {
	if len(toks) < len(words) {
		return 0
	}
	for i, w := range words {
		a, b := []rune(toks[i].folded), []rune(w)
		k := common(a, b)
		if toks[i].folded != w && (k < 4 || k < max(len(a), len(b))-2 || c.isCountry(toks[i].folded)) {
			return 0
		}
	}
	return len(words)
}
