package lookup

import (
	"math"
	"slices"
	"strings"

	"github.com/kljensen/snowball"
)

// stemmers maps languages to the names of their stemmers. All other languages use the English stemmer, which leaves
// most of their words unchanged.
var stemmers = map[string]string{"en": "english", "es": "spanish", "fr": "french", "ru": "russian", "sv": "swedish",
	"nb": "norwegian", "no": "norwegian", "hu": "hungarian"}

// stems returns the stems of the words in a string.
func stems(text, language string) []string {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	with, ok := stemmers[base]
	if !ok {
		with = "english"
	}
	out := Words(text)
	for i, w := range out {
		if s, err := snowball.Stem(w, with, false); err == nil && s != "" {
			out[i] = s
		}
	}
	return out
}

// Weights for ranking by stems, tuned on the labeled queries in testdata/quality.golden.
const (
	weightName  = 0.55 // weight of the overlap between the best name and the query
	weightCover = 0.35 // weight of the share of the query that occurs in names or infos
	weightShape = 0.20 // weight of shared trigrams in the best name
	inInfo      = 0.6  // weight of a word in an info; a word in a name has weight 1
	begun       = 0.7  // weight of a stem that is a prefix of another stem
	wrong       = 0.8  // weight of a stem with a wrong letter
	common      = 0.1  // weight of a word such as "of"; other words are weighted by rarity
	least       = 0.08 // entries less similar to the query do not match
	popular     = 0.04 // bonus for the most popular entry, to break ties
)

// commonWords are words that reveal little about what a query is meant to find.
var commonWords = strings.Fields("a an and are as at be been by did do does for from had has have he her his how i in is it its of on or she " +
	"than that the their them they this to was were what when where which who whom whose why will with")

// stemmed is an entry in which words are replaced with the numbers of their stems.
type stemmed struct {
	names []stemmedName
	infos []int32 // distinct stems of all infos
}

type stemmedName struct {
	stems  []int32
	weight float64  // total weight of the stems
	grams  []uint32 // ascending
}

// semantic contains the data needed for ranking entries by meaning.
type semantic struct {
	entries []Entry
	docs    []stemmed
	stems   []string
	number  map[string]int32
	in      []int // for each stem, the number of entries that contain it
	weights []float64
	most    float64 // highest score
	vectors []vector
}

func newSemantic(entries []Entry) *semantic {
	s := &semantic{entries: entries, docs: make([]stemmed, len(entries)), number: map[string]int32{}}
	last := []int{} // for each stem, the last entry for which it was counted, plus one
	ids := func(i int, text, language string) []int32 {
		var out []int32
		for _, st := range stems(text, language) {
			n, ok := s.number[st]
			if !ok {
				n = int32(len(s.stems))
				s.number[strings.Clone(st)] = n
				s.stems, s.in, last = append(s.stems, st), append(s.in, 0), append(last, 0)
			}
			if last[n] != i+1 {
				last[n] = i + 1
				s.in[n]++
			}
			out = append(out, n)
		}
		return out
	}
	for i := range entries {
		e, d := &entries[i], &s.docs[i]
		for _, n := range append([]string{e.Label}, e.Aliases...) {
			d.names = append(d.names, stemmedName{stems: ids(i, n, e.Language), grams: grams(Words(n))})
		}
		for _, n := range e.Infos {
			d.infos = append(d.infos, ids(i, n, e.Language)...)
		}
		slices.Sort(d.infos)
		d.infos = slices.Compact(d.infos)
		s.most = max(s.most, e.Score)
	}
	s.weights = make([]float64, len(s.stems))
	for n, st := range s.stems {
		s.weights[n] = s.weight(st, s.in[n])
	}
	for i := range s.docs {
		for j := range s.docs[i].names {
			n := &s.docs[i].names[j]
			for _, st := range n.stems {
				n.weight += s.weights[st]
			}
		}
	}
	return s
}

// grams returns the trigrams in the given words, with a space before and after each word, as hashes in ascending order.
func grams(words []string) (out []uint32) {
	for _, w := range words {
		rs := []rune(" " + w + " ")
		for i := 0; i+3 <= len(rs); i++ {
			out = append(out, (uint32(rs[i])*0x9e3779b1^uint32(rs[i+1]))*0x85ebca6b^uint32(rs[i+2]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// alike returns 1 for equal stems, a smaller number if one is a prefix of the other, as with "direct" and "director",
// and 0 otherwise.
func alike(a, b string) float64 {
	if a == b {
		return 1
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) >= 4 && len(b)-len(a) <= 4 && strings.HasPrefix(b, a) {
		return begun
	}
	return 0
}

func abs(n int) int { return max(n, -n) }

// weight returns the weight of a stem that occurs in the given number of entries.
func (s *semantic) weight(stem string, in int) float64 {
	if slices.Contains(commonWords, stem) {
		return common
	}
	return math.Log(1+float64(len(s.entries))/float64(1+in)) / math.Log(2+float64(len(s.entries)))
}

// stemQuery is a query that is split into stems.
type stemQuery struct {
	weights []float64
	weight  float64
	grams   []uint32
	like    []float64 // for each stem in the entries, its similarity to the most similar query stem
	to      []int16   // for each stem in the entries, the index of the most similar query stem
	found   []float64 // for byStems
}

func (s *semantic) query(text, language string) *stemQuery {
	q := &stemQuery{grams: grams(Words(text)), like: make([]float64, len(s.stems)), to: make([]int16, len(s.stems))}
	var asked []string
	var unknown []bool // not in any entry, so it may be misspelled
	for _, st := range stems(text, language) {
		if slices.Contains(asked, st) {
			continue
		}
		in := 0
		n, known := s.number[st]
		if known {
			in = s.in[n]
		}
		unknown = append(unknown, !known)
		w := s.weight(st, in)
		asked, q.weights, q.weight = append(asked, st), append(q.weights, w), q.weight+w
	}
	for n, st := range s.stems {
		for k, a := range asked {
			l := alike(st, a)
			if l == 0 && unknown[k] && abs(len(a)-len(st)) <= 2 && near(a, st, false) {
				l = wrong
			}
			if l > q.like[n] {
				q.like[n], q.to[n] = l, int16(k)
			}
		}
	}
	q.found = make([]float64, len(asked))
	return q
}

// byStems returns the similarity of entry i to the query, from 0 to slightly above 1, and its best name.
func (s *semantic) byStems(q *stemQuery, i int) (likeness float64, name int) {
	d := &s.docs[i]
	clear(q.found)
	see := func(st int32, worth float64) {
		if l := q.like[st] * worth; l > q.found[q.to[st]] {
			q.found[q.to[st]] = l
		}
	}
	best := 0.0
	for j := range d.names {
		n := &d.names[j]
		both := 0.0
		for _, st := range n.stems {
			if q.like[st] > 0 {
				both += s.weights[st] * q.like[st]
				see(st, 1)
			}
		}
		f := 2 * both / max(n.weight+q.weight, 1e-9)
		if v := weightName*min(f, 1) + weightShape*dice(q.grams, n.grams); v > best {
			best, name = v, j
		}
	}
	for _, st := range d.infos {
		see(st, inInfo)
	}
	cover := 0.0
	for k, l := range q.found {
		cover += l * q.weights[k]
	}
	likeness = best + weightCover*cover/max(q.weight, 1e-9)
	if likeness < least {
		return 0, 0
	}
	if s.most > 0 {
		likeness += popular * math.Log1p(max(s.entries[i].Score, 0)) / math.Log1p(s.most)
	}
	return likeness, name
}

// dice returns the Dice coefficient: twice the number of shared trigrams divided by the total number of trigrams in
// both.
func dice(a, b []uint32) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	n := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			n, i, j = n+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return 2 * float64(n) / float64(len(a)+len(b))
}
