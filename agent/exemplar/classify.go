package exemplar

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// classes is a naive Bayes classifier over words and word pairs (multinomial, as in Manning, Raghavan and Schütze,
// Introduction to Information Retrieval, section 13.2), in which the weight of a word decreases with the number of
// kinds of questions that contain it. Names and numbers are masked, since a question's topic does not determine its
// kind.
type classes struct {
	names  []string
	prior  map[string]int            // number of questions of each kind
	counts map[string]map[string]int // features of each kind
	totals map[string]int
	kinds  map[string]int // number of kinds in which a feature occurs
}

// smooth is added to each count, so that no kind has zero probability.
const smooth = 0.3

func learn(questions []Labelled) *classes {
	c := &classes{prior: map[string]int{}, counts: map[string]map[string]int{}, totals: map[string]int{},
		kinds: map[string]int{}}
	for _, q := range questions {
		if c.prior[q.Type]++; c.prior[q.Type] == 1 {
			c.names = append(c.names, q.Type)
			c.counts[q.Type] = map[string]int{}
		}
		for _, f := range features(q.Question) {
			if c.counts[q.Type][f]++; c.counts[q.Type][f] == 1 {
				c.kinds[f]++
			}
			c.totals[q.Type]++
		}
	}
	slices.Sort(c.names)
	return c
}

// of returns the most likely kind. Among equally likely kinds, it returns the first in alphabetical order.
func (c *classes) of(question string) string {
	best, name := math.Inf(-1), ""
	all := 0
	for _, n := range c.prior {
		all += n
	}
	fs := features(question)
	for _, k := range c.names {
		score := math.Log(float64(c.prior[k]) / float64(all))
		for _, f := range fs {
			if n := c.kinds[f]; n > 0 { // words that do not occur in any question are ignored
				weight := math.Log(float64(len(c.names)+1) / float64(n))
				score += weight * math.Log((float64(c.counts[k][f])+smooth)/(float64(c.totals[k])+smooth*float64(len(c.kinds))))
			}
		}
		if score > best {
			best, name = score, k
		}
	}
	return name
}

// features returns a question's words and pairs of adjacent words. Every number becomes "0". A capitalized word other
// than the first is taken for a name and becomes "X"; consecutive names become a single "X".
func features(question string) []string {
	words := []string{"^"}
	for i, w := range strings.FieldsFunc(question, func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	}) {
		first := []rune(w)[0]
		switch {
		case strings.ContainsFunc(w, unicode.IsDigit):
			w = "0"
		case unicode.IsUpper(first) && i > 0:
			w = "X"
		default:
			w = strings.ToLower(w)
		}
		if (w == "X" || w == "0") && words[len(words)-1] == w {
			continue
		}
		words = append(words, w)
	}
	var out []string
	for i, w := range words {
		if i > 0 {
			out = append(out, w, words[i-1]+" "+w)
		}
	}
	return out
}
