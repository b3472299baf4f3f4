// Package bm25 ranks documents by the words they share with a question, using Okapi BM25 (Robertson and Zaragoza, The
// Probabilistic Relevance Framework, 2009, section 3.2, with k1 1.2 and b 0.75). It is language-independent: the caller
// decides what counts as a word.
package bm25

import (
	"cmp"
	"math"
	"slices"
)

const (
	k1 = 1.2
	b  = 0.75
)

// Index is a set of documents, numbered from 0 in the order in which they were added. The zero value is an empty index.
// It is safe for concurrent reading as long as no documents are added.
type Index struct {
	length   []float64
	mean     float64
	postings map[string][]posting
}

type posting struct {
	doc int32
	n   float64
}

// Add adds a document, given as a map from words to the number of occurrences; a higher number gives a word more
// weight.
func (x *Index) Add(words map[string]float64) {
	if x.postings == nil {
		x.postings = map[string][]posting{}
	}
	doc, n := int32(len(x.length)), 0.0
	for w, k := range words {
		x.postings[w] = append(x.postings[w], posting{doc, k})
		n += k
	}
	x.mean = (x.mean*float64(doc) + n) / float64(doc+1)
	x.length = append(x.length, n)
}

// Len returns the number of documents.
func (x *Index) Len() int { return len(x.length) }

// Match is a document that shares words with a question.
type Match struct {
	Doc   int     // the document's number
	Score float64 // above 0
	Words int     // number of distinct words that it shares with the question
	Cover float64 // share of the question's words that occur here, weighted by rarity; above 0, at most 1
}

// Rank returns the documents that share a word with a question, best first; ties are in insertion order. In
// [Match.Cover], a word that occurs in no document counts like a word that occurs in one.
func (x *Index) Rank(words []string) []Match {
	words = slices.Clone(words)
	slices.Sort(words)
	hits, total := map[int32]*Match{}, 0.0
	for _, w := range slices.Compact(words) {
		ps := x.postings[w]
		df := max(float64(len(ps)), 1)
		idf := math.Log(1 + (float64(len(x.length))-df+0.5)/(df+0.5))
		total += idf
		for _, p := range ps {
			m := hits[p.doc]
			if m == nil {
				m = &Match{Doc: int(p.doc)}
				hits[p.doc] = m
			}
			m.Score += idf * p.n * (k1 + 1) / (p.n + k1*(1-b+b*x.length[p.doc]/x.mean))
			m.Cover += idf
			m.Words++
		}
	}
	out := make([]Match, 0, len(hits))
	for _, m := range hits {
		m.Cover = min(1, m.Cover/total)
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	return out
}
