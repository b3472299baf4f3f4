package lookup

import (
	"math"
	"slices"
	"strings"

	"github.com/kljensen/snowball"
)

// stemmers are the languages that words are reduced to stems in; others are taken as English, whose rules hardly touch
// words of other languages.
var stemmers = map[string]string{"en": "english", "es": "spanish", "fr": "french", "ru": "russian", "sv": "swedish", "nb": "norwegian", "no": "norwegian", "hu": "hungarian"}

// stems returns the words of a text without their endings.
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

// Weights of the ranking by stems, chosen on the labelled queries of testdata/quality.golden.
const (
	weightName  = 0.55 // of how well the best name and the query cover each other
	weightCover = 0.25 // of how much of the query is in names and infos together
	weightShape = 0.20 // of shared groups of three letters in the best name
	inInfo      = 0.4  // a word in an info, where a word in a name is 1
	begun       = 0.7  // a stem that is the beginning of another
	common      = 0.1  // the weight of a word such as "of", where others weigh by their rareness
	popular     = 0.04 // for the most popular entry, against ties
)

// commonWords say little about what is looked for.
var commonWords = strings.Fields("a an and are as at be been by did do does for from had has have he her his how i in is it its of on or she " +
	"than that the their them they this to was were what when where which who whom whose why will with")

// stemmed is an entry as stems.
type stemmed struct {
	names [][]string
	infos []string // distinct stems of all infos
	grams []map[string]bool
}

// semantic is what ranking by meaning needs of some entries.
type semantic struct {
	entries []Entry
	docs    []stemmed
	in      map[string]int // stem to the number of entries with it
	most    float64        // highest score
	vectors []vector
}

func newSemantic(entries []Entry) *semantic {
	s := &semantic{entries: entries, docs: make([]stemmed, len(entries)), in: map[string]int{}}
	for i := range entries {
		e, d := &entries[i], &s.docs[i]
		var all []string
		for _, n := range append([]string{e.Label}, e.Aliases...) {
			st := stems(n, e.Language)
			d.names = append(d.names, st)
			d.grams = append(d.grams, grams(strings.Join(Words(n), " ")))
			all = append(all, st...)
		}
		for _, n := range e.Infos {
			d.infos = append(d.infos, stems(n, e.Language)...)
		}
		slices.Sort(d.infos)
		d.infos = slices.Compact(d.infos)
		all = append(all, d.infos...)
		slices.Sort(all)
		for _, st := range slices.Compact(all) {
			s.in[st]++
		}
		s.most = max(s.most, e.Score)
	}
	return s
}

// grams are the groups of three letters of a folded text, its words with a blank around.
func grams(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		rs := []rune(" " + w + " ")
		for i := 0; i+3 <= len(rs); i++ {
			out[string(rs[i:i+3])] = true
		}
	}
	return out
}

// alikeAny is how much one of the stems is like a stem.
func alikeAny(stem string, others []string) (most float64) {
	for _, o := range others {
		most = max(most, alike(stem, o))
	}
	return most
}

// alike is 1 for the same stem, and less when one is the beginning of the other, as "direct" is of "director".
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

func (s *semantic) weight(stem string) float64 {
	if slices.Contains(commonWords, stem) {
		return common
	}
	return math.Log(1+float64(len(s.entries))/float64(1+s.in[stem])) / math.Log(2+float64(len(s.entries)))
}

// byStems returns the likeness of entry i to the query, 0 to a little over 1, and its best name.
func (s *semantic) byStems(q *stemQuery, i int) (likeness float64, name int) {
	d := &s.docs[i]
	best, shape := 0.0, 0.0
	for j, n := range d.names {
		both, own := 0.0, 0.0
		for _, st := range n {
			w := s.weight(st)
			own += w
			both += w * alikeAny(st, q.stems)
		}
		f, g := 0.0, dice(q.grams, d.grams[j])
		if both > 0 {
			f = 2 * both / (own + q.weight)
		}
		if f*weightName+g*weightShape > best*weightName+shape*weightShape {
			best, shape, name = f, g, j
		}
	}
	cover := 0.0
	for k, st := range q.stems {
		found := inInfo * alikeAny(st, d.infos)
		for _, n := range d.names {
			found = max(found, alikeAny(st, n))
		}
		cover += found * q.weights[k]
	}
	if best == 0 && cover == 0 && shape < 0.4 {
		return 0, 0
	}
	if q.weight > 0 {
		cover /= q.weight
	}
	likeness = weightName*min(best, 1) + weightCover*cover + weightShape*shape
	if s.most > 0 {
		likeness += popular * math.Log1p(max(s.entries[i].Score, 0)) / math.Log1p(s.most)
	}
	return likeness, name
}

// stemQuery is a query as stems.
type stemQuery struct {
	stems   []string
	weights []float64
	weight  float64
	grams   map[string]bool
}

func (s *semantic) query(text, language string) *stemQuery {
	q := &stemQuery{grams: grams(strings.Join(Words(text), " "))}
	for _, st := range stems(text, language) {
		if slices.Contains(q.stems, st) {
			continue
		}
		w := s.weight(st)
		q.stems, q.weights = append(q.stems, st), append(q.weights, w)
		q.weight += w
	}
	return q
}

// dice is twice the number of shared groups over the number of all.
func dice(a, b map[string]bool) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	n := 0
	for g := range a {
		if b[g] {
			n++
		}
	}
	return 2 * float64(n) / float64(len(a)+len(b))
}
