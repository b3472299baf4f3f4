package lookup

import (
	"cmp"
	"slices"
	"strings"
)

// rank describes how well a name matches a query. Lower tiers are better; within a tier, more matched words are better,
// and then more whole words.
type rank struct{ tier, matched, whole uint8 }

// The tiers. A name is better than all names in later tiers.
const (
	tierText  = iota // the same text, ignoring case
	tierExact        // the same words
	tierFull         // all words
	tierNear         // the same words except for one letter
	tierTypo         // all words, one of them with one letter wrong
	tierSome         // some words
	tiers
)

// few is the number of hits at which weaker hits are no longer needed.
const few = 3

// enough reports whether there are enough hits in better tiers to leave out the hits in tier. Only exact matches, and
// full and typo matches that are not held back, are counted.
func enough(tier uint8, exact, full, typo int) bool {
	switch {
	case tier <= tierFull:
		return false
	case exact > 0 || full >= few:
		return true
	}
	return tier == tierSome && full+typo >= few
}

func (r rank) compare(s rank) int {
	return cmp.Or(cmp.Compare(r.tier, s.tier), cmp.Compare(s.matched, r.matched), cmp.Compare(s.whole, r.whole))
}

func (r rank) match() Match {
	switch r.tier {
	case tierText, tierExact:
		return Exact
	case tierFull:
		return Full
	case tierNear, tierTypo:
		return Typo
	}
	return Some
}

// asked is a query's text, prepared for matching.
type asked struct {
	text  string   // lowercase, without leading or trailing whitespace
	words []string // distinct words, at most maxAsked
	all   []string // all words, in the order of the text
	weak  []bool   // for each word, whether it is weak; see Weak
	held  bool     // include entries that are held back
}

// maxAsked is the maximum number of query words that are used.
const maxAsked = 16

// idWords are the words that a query uses to request external identifiers.
var idWords = []string{"id", "ids", "identifier", "identifiers"}

func prepare(q Query) asked {
	a := asked{text: strings.ToLower(strings.TrimSpace(q.Text)), all: Words(q.Text), held: q.External}
	for _, w := range a.all {
		if len(a.words) < maxAsked && !slices.Contains(a.words, w) {
			a.words = append(a.words, w)
		}
		a.held = a.held || slices.Contains(idWords, w)
	}
	a.weak = Weak(a.words)
	return a
}

// Weak marks the query words that have no meaning on their own, such as "of". If that applies to all words, it marks
// none.
func Weak(words []string) []bool {
	out := make([]bool, len(words))
	for i, w := range words {
		out[i] = slices.Contains(commonWords, w)
	}
	if !slices.Contains(out, false) {
		clear(out)
	}
	return out
}

// rankName ranks a name, given as text and as words; ok is false if no word matches.
func (a *asked) rankName(text string, name []string) (r rank, ok bool) {
	if slices.Equal(a.all, name) {
		r = rank{tierExact, uint8(len(a.words)), uint8(len(a.words))}
		if strings.ToLower(strings.TrimSpace(text)) == a.text {
			r.tier = tierText
		}
		return r, true
	}
	wrong, some := -1, rank{tier: tierSome} // some ignores weak words
	for i, w := range a.words {
		whole := slices.Contains(name, w)
		if !whole && !slices.ContainsFunc(name, func(n string) bool { return strings.HasPrefix(n, w) }) {
			wrong = i
			continue
		}
		r.count(whole)
		if !a.weak[i] {
			some.count(whole)
		}
	}
	switch len(a.words) - int(r.matched) {
	case 0:
		r.tier = tierFull
	case 1:
		if r.tier = a.tierOfTypo(a.words[wrong], name); r.tier == tierSome {
			return some, some.matched > 0
		}
		r.matched++
	default:
		return some, some.matched > 0
	}
	return r, r.matched > 0
}

func (r *rank) count(whole bool) {
	r.matched++
	if whole {
		r.whole++
	}
}

// tierOfTypo returns the tier of a name that matches all words but one.
func (a *asked) tierOfTypo(wrong string, name []string) uint8 {
	if !slices.ContainsFunc(name, func(n string) bool { return near(wrong, n, true) }) {
		return tierSome
	}
	if len(a.all) == len(name) {
		same := true
		for i, w := range a.all {
			same = same && (w == name[i] || w == wrong && near(w, name[i], false))
		}
		if same {
			return tierNear
		}
	}
	return tierTypo
}
