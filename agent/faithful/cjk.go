package faithful

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Chinese and Japanese have no spaces between words, so superlatives and names are searched for in the sentence as a
// whole.

var (
	unspaced = []struct {
		degree  degree
		pattern *regexp.Regexp
	}{
		{most, regexp.MustCompile(`(最も?|一番)(多|大|高|长|長|深|重)`)}, {least, regexp.MustCompile(`(最も?|一番)(少|小|低|短|浅|軽|轻)`)},
		{oldest, regexp.MustCompile(`(最も?|一番)(早|古|老)`)}, {youngest, regexp.MustCompile(`(最も?|一番)(晚|遅|新|近|年轻|若)`)},
		{leading, regexp.MustCompile(`(排在|列在|位居|居|名列|是)(首位|第一)|首位是`)},
	}
	// one of the highest, the second highest, not the highest
	otherUnspaced = regexp.MustCompile(`之一|ひとつ|一つ|第[二三四五六七八九十\d]|番目|次に|不是|ではな|ではあ`)
)

// orderIn returns the superlatives in a sentence that the result does not support.
func (c *Checker) orderIn(s string, toks []token, named []found) []string {
	switch {
	case c.picks && slices.ContainsFunc(toks, func(t token) bool { return aValue[t.folded] }):
		return nil // the highest of a thing's values, which the rows do not show
	case c.language == "zh" || c.language == "ja":
		return c.unspacedOrder(s)
	}
	return c.order(toks, named)
}

// unspacedOrder is [Checker.order] for Chinese and Japanese.
func (c *Checker) unspacedOrder(s string) []string {
	if c.rows < 2 || otherUnspaced.MatchString(s) {
		return nil
	}
	folded := fold(s)
	var heads []map[int]bool
	for _, n := range c.names {
		spaced, joined := strings.Join(n.words, " "), strings.Join(n.words, "")
		if n.head && (strings.Contains(folded, spaced) || strings.Contains(folded, joined)) {
			heads = append(heads, n.rows)
		}
	}
	if len(heads) == 0 {
		return nil
	}
	for _, f := range unspaced {
		said := f.pattern.FindString(s)
		if said == "" {
			continue
		}
		right := slices.ContainsFunc(c.orders(f.degree, nil), func(order []ranked) bool {
			return slices.ContainsFunc(heads, func(rows map[int]bool) bool { return at(order, rows, 1) })
		})
		if !right {
			return []string{said}
		}
	}
	return nil
}

// minUnspaced is the minimum length, in characters, of a name that is searched for inside a token.
const minUnspaced = 2

// cutNames splits the tokens of a Chinese or Japanese sentence at the names from the result: 最も多いのはスイスの becomes 最も多いのは,
// スイス and の.
func (c *Checker) cutNames(toks []token) []token {
	if c.language != "zh" && c.language != "ja" {
		return toks
	}
	var out []token
	for _, t := range toks {
		rest := t.text
		if t.figure || strings.ContainsFunc(rest, unicode.IsUpper) {
			out = append(out, t)
			continue
		}
		for rest != "" {
			at, name := c.firstName(rest)
			for _, piece := range []string{rest[:at], name} {
				if piece != "" {
					t.text, t.folded = piece, fold(piece)
					out = append(out, t)
				}
			}
			rest = rest[at+len(name):]
		}
	}
	return out
}

// firstName returns the first name in a text without spaces, the longest if several start there, and where it starts.
// If there is none, it returns "" and the length of the text.
func (c *Checker) firstName(text string) (at int, name string) {
	at = len(text)
	for _, n := range c.names {
		if len(n.words) != 1 || !unicase(n.words[0]) || utf8.RuneCountInString(n.words[0]) < minUnspaced {
			continue
		}
		i := c.standing(text, n.words[0])
		if i >= 0 && (i < at || i == at && len(n.words[0]) > len(name)) {
			at, name = i, n.words[0]
		}
	}
	return at, name
}

// longerEnds contains the characters after a country's name in the name of a language or a sea: 日本語, 印度洋.
const longerEnds = "語语洋海"

// standing returns where a name occurs in a text without being part of a longer word, or -1. A word in katakana has no
// other katakana next to it.
func (c *Checker) standing(text, name string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		first, size := utf8.DecodeRuneInString(name)
		last, _ := utf8.DecodeLastRuneInString(name)
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		if !(katakana(before) && katakana(first)) && !(katakana(last) && katakana(after)) &&
			!strings.ContainsRune(longerEnds, after) && !c.inLonger(text, name, i) {
			return i
		}
		from = i + size
	}
}

func katakana(r rune) bool { return unicode.Is(unicode.Katakana, r) || r == 'ー' }

// inLonger reports whether a name at i is part of a longer label, country or plain word, or overlaps one before it.
func (c *Checker) inLonger(text, name string, i int) bool {
	for _, w := range c.longer {
		if k := strings.Index(text, w); len(w) > len(name) && k >= 0 && k <= i && i+len(name) <= k+len(w) {
			return true
		}
	}
	if c.stock.list == nil {
		return false
	}
	for w := range c.stock.list.words {
		if utf8.RuneCountInString(w) > 1 && unicase(w) {
			if k := strings.Index(text, w); k >= 0 && k < i && k+len(w) > i {
				return true
			}
		}
	}
	return false
}
