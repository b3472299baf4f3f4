package harvest

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/index/bm25"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Earlier is the part of a staged candidate that is kept in the index: its location, the question, and the query that
// answered it.
type Earlier struct {
	ID       string
	Page     string
	Heading  string
	Month    string // YYYY-MM
	Question string // the heading and the request, as written
	SPARQL   string // the cleaned query
	RanAt    time.Time
}

// Similar finds earlier discussions whose words are similar to those in a question. It is built once and then only
// read.
//
// A discussion is a document made of its heading, its request, and the labels of the IDs in its query. Documents are
// ranked by BM25, with heading words counted twice. Words shorter than two letters, and words that occur in most
// requests ("list", "query", "please", …), carry no meaning and are ignored. A discussion is found only if it shares at
// least two words with the question and these words make up at least [minCover] of the question's weight, because a
// wrong link is worse than no link.
type Similar struct {
	docs  []Earlier
	words bm25.Index
}

const (
	minCover = 0.35
	minWords = 2
)

// emptyWords carry no information about what a request asks for.
var emptyWords = words(`a an and any all are as at be been but by can could do does for from get give had has have help hello hi how i if in into is it its like list
me my need no not of on one only or out please query request show sparql thank thanks that the their them there these they this to want was we what when where which who whose why will with
would you your wikidata item items property properties hallo bitte danke eine einen einem einer ein der die das den dem des und oder ist sind war wie was wer welche welcher alle mit von für auf
im in zu nicht ich abfrage suche liste bonjour merci le la les un une des du de et ou est sont qui que quels quelle quelles quel avec pour dans sur je requête liste tous toutes`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// tokens returns the significant words in a string, in order and in lower case. In scripts that do not separate
// words, the words are letter bigrams.
func tokens(s string) (out []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(s),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) }) {
		r := []rune(w)
		switch {
		case len(r) < 2 || emptyWords[w]:
		case unicode.In(r[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			for i := 0; i+2 <= len(r); i++ {
				out = append(out, string(r[i:i+2]))
			}
		default:
			out = append(out, stem(w))
		}
	}
	return out
}

// Words returns the words in a string that are used to find discussions; see [Similar].
func Words(s string) []string { return tokens(s) }

// stem removes only the most common plural endings from an English word: rivers becomes river, and countries becomes
// country.
func stem(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") &&
		!strings.HasSuffix(w, "is"):
		return w[:len(w)-1]
	}
	return w
}

// Add adds a staged candidate with rows to the index; it ignores other candidates.
func (x *Similar) Add(c *dataset.Candidate) {
	if c.Stage != dataset.Staged || c.Result == nil || c.Result.Rows == 0 {
		return
	}
	request := ""
	if len(c.Conversation.Comments) > 0 {
		request = c.Conversation.Comments[0].Text
	}
	count := map[string]float64{}
	add := func(text string, weight float64) {
		for _, w := range tokens(text) {
			count[w] += weight
		}
	}
	add(c.Provenance.Heading, 2)
	add(text.Clip(request, 4000), 1)
	for _, id := range slices.Concat(c.Entities, c.Properties) {
		add(c.Labels[id], 1)
	}
	x.docs = append(x.docs, Earlier{
		ID: c.ID, Page: c.Provenance.Page, Heading: c.Provenance.Heading, Month: c.Provenance.Month,
		Question: strings.TrimSpace(c.Provenance.Heading + "\n" + text.Clip(request, 1000)),
		SPARQL:   c.Cleaned, RanAt: c.Result.RanAt,
	})
	x.words.Add(count)
}

// Len returns the number of discussions in the index.
func (x *Similar) Len() int { return len(x.docs) }

// Find returns the n earlier discussions that are most similar to a question, best first, or fewer if fewer are
// similar. Of those with the same query, it returns only the latest.
func (x *Similar) Find(question string, n int) []Earlier {
	var order []bm25.Match
	for _, m := range x.words.Rank(tokens(question)) {
		if m.Words >= minWords && m.Cover >= minCover {
			order = append(order, m)
		}
	}
	slices.SortStableFunc(order, func(a, b bm25.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(x.docs[b.Doc].Month, x.docs[a.Doc].Month))
	})
	var out []Earlier
	at := map[string]int{} // maps a query to its index in out
	for _, m := range order {
		e := x.docs[m.Doc]
		i, known := at[e.SPARQL]
		switch {
		case known && e.Month > out[i].Month:
			out[i] = e
		case !known && len(out) < n:
			at[e.SPARQL] = len(out)
			out = append(out, e)
		}
	}
	return out
}
