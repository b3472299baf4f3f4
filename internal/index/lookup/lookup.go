// Package lookup finds entities and properties in a graph by the words in their names, or by meaning.
//
// An [Entry] describes one entity, a [Query] is a search, and a [Page] contains its hits. [Memory] keeps entries in
// memory: from a handful of candidates for one question to a few hundred thousand. [File] reads an index file created
// by [Create], with up to a few hundred million names. Many processes may have the file open, and it may be replaced
// while they are reading it. Both return the same hits.
//
// # By words
//
// Names are compared as folded words ([Words]): in lowercase, without diacritics or punctuation, and in any order. A
// query word matches a word in a name if the two are equal or if the query word is a prefix of it. Names that match all
// words come first; among them, names with more equal words come first, then names with a higher score. This is the
// ranking in the GRASP paper (section 3.4): each label and alias is ranked separately, and an entity has the rank of
// its best name. A name that equals the whole query comes before all other names. If no name equals the query and fewer
// than three names match all its words, they are followed by names that match after a letter is changed, removed, added
// or swapped with its neighbor. If there are still fewer than three hits, names that match only some of the words
// follow.
//
// # By meaning
//
// The query is compared with names and descriptions by word stems and trigrams. With an [Embedder], the query's vector
// is also compared with the vectors of names, and both comparisons have the same weight; a label's vector includes the
// description. This works for properties and for candidates, up to a few hundred thousand.
//
// # What is held back
//
// External identifiers and entities that are mostly noise ([Entry.External], [Entry.Noise]) are left out, unless the
// query is the exact name of one, contains the word "ID", requests them, or finds nothing else.
package lookup

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Type distinguishes entities from properties.
type Type string

// The types. Any is only for queries.
const (
	Any      Type = ""
	Entity   Type = "entity"
	Property Type = "property"
)

// Entry is an index's description of an entity in one language. Entries for one IRI in several languages count as one
// hit.
type Entry struct {
	IRI      string // without angle brackets
	Type     Type   // Any is treated as Entity
	Label    string
	Language string // language of label, aliases and infos, such as "en"; "" if unknown
	Aliases  []string
	Infos    []string // descriptions, classes and similar text that helps users tell entities apart
	Score    float64  // for sorting equally good matches: number of uses, sitelinks, …
	Uses     int64    // number of uses in the graph; -1 if unknown
	External bool     // a property for identifiers in another database
	Noise    bool     // rarely wanted: a category, a scholarly article, an entity without a label
}

// Query is a search query.
type Query struct {
	Text     string
	Type     Type     // both types if Any
	Language string   // preferred language of the hits' labels and descriptions, see [Prefer]
	Offset   int      // number of hits to skip, for paging
	Limit    int      // at least 1, and at most MaxHits including Offset; 0 means DefaultLimit
	Among    []string // only these IRIs; all IRIs if nil, none if empty; unknown IRIs are ignored
	Meaning  bool     // rank by meaning instead of by words, if supported; see Page.Ranked
	External bool     // include external identifiers and noise, which are otherwise held back
}

// Limits on a query.
const (
	DefaultLimit = 10
	MaxHits      = 1000 // maximum sum of offset and limit
	MaxText      = 1000 // maximum length of a query's text in bytes; longer text is truncated
)

// Match is the kind of match between a query and a name.
type Match string

// The kinds of matches, best first.
const (
	Exact   Match = "exact"   // the name equals the query, ignoring case, diacritics and punctuation
	Full    Match = "words"   // all query words, each as a whole word or as a prefix of a word
	Typo    Match = "typo"    // all query words, one of them with a single-letter typo
	Some    Match = "some"    // some of the query words
	Meaning Match = "meaning" // by meaning
)

// Hit is an entry that was found.
type Hit struct {
	Entry
	Name       string  // the matching name: the label or an alias
	Match      Match   // how the name matches
	Similarity float64 // set only for Meaning: from 0 to 1, comparable among the hits for one query
}

// The ways to rank a page.
const (
	ByWords   = "words"
	ByVectors = "vectors" // by an embedding model
	ByStems   = "stems"   // by meaning without a model
)

// Page is a page of hits, best first.
type Page struct {
	Hits   []Hit
	More   bool   // there are more hits after these
	Ranked string // ByWords, ByVectors, ByStems
	Note   string // what the user should know, for example that the embedding model failed and stems were used; usually ""
}

// Searcher finds entries. [Memory] and [File] implement it.
type Searcher interface {
	// Search returns a page of hits. An empty string finds nothing. Errors are ErrQuery, ErrCorrupt, or ctx's error.
	Search(ctx context.Context, q Query) (Page, error)
	// Get returns the entry for an IRI in the language that [Prefer] ranks first.
	Get(ctx context.Context, iri, language string) (entry Entry, found bool, err error)
}

// Embedder converts each string into a vector. All vectors have the same length.
type Embedder interface {
	Model() string // name of the model: vectors from different models cannot be compared
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// ErrQuery means that the query is not valid. The error's text explains why.
var ErrQuery = errors.New("wrong query")

// normal validates a query and fills in defaults.
func (q Query) normal() (Query, error) {
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	switch {
	case q.Limit < 0 || q.Offset < 0:
		return q, fmt.Errorf("%w: limit %d and offset %d must not be negative", ErrQuery, q.Limit, q.Offset)
	case q.Limit+q.Offset > MaxHits:
		return q, fmt.Errorf("%w: at most %d hits can be paged through; offset and limit are %d together; use a longer text",
			ErrQuery, MaxHits, q.Limit+q.Offset)
	case q.Type != Any && q.Type != Entity && q.Type != Property:
		return q, fmt.Errorf("%w: there is no type %q; use entity or property", ErrQuery, q.Type)
	}
	if len(q.Text) > MaxText {
		q.Text = q.Text[:MaxText]
	}
	return q, nil
}

// kind returns the type, with Any replaced by Entity.
func (e *Entry) kind() Type {
	if e.Type == Any {
		return Entity
	}
	return e.Type
}

// held reports whether the entry is held back unless requested.
func (e *Entry) held() bool { return e.External || e.Noise }

// allows returns a function that reports whether the query allows an entry.
func (q *Query) allows() func(e *Entry) bool {
	var in map[string]bool
	if q.Among != nil {
		in = make(map[string]bool, len(q.Among))
		for _, iri := range q.Among {
			in[iri] = true
		}
	}
	return func(e *Entry) bool { return (q.Type == Any || e.kind() == q.Type) && (in == nil || in[e.IRI]) }
}

// Prefer returns the rank of a language, given the requested one: the requested language has rank 0, followed by
// English, "mul" (Wikidata's code for all languages), and all other languages.
func Prefer(language, asked string) int {
	switch {
	case asked != "" && strings.EqualFold(language, asked):
		return 0
	case strings.EqualFold(language, "en"):
		return 1
	case strings.EqualFold(language, "mul"):
		return 2
	}
	return 3
}

// cut fills the page with the requested range of the n hits, each IRI once, with its entry in the best language
// available from get. done reports whether there are more hits than fit on the page.
func (p *Page) cut(q Query, n int, hit func(i int) Hit, get func(iri, language string) (Entry, bool)) (done bool) {
	p.Hits = nil
	seen := map[string]bool{}
	for i := range n {
		h := hit(i)
		if seen[h.IRI] {
			continue
		}
		seen[h.IRI] = true
		switch {
		case len(seen) <= q.Offset:
		case len(p.Hits) == q.Limit:
			p.More = true
			return true
		default:
			if now := Prefer(h.Language, q.Language); now > 0 && (q.Language != "" || now > 1) {
				if e, ok := get(h.IRI, q.Language); ok && Prefer(e.Language, q.Language) < now {
					h.Entry = e
				}
			}
			p.Hits = append(p.Hits, h)
		}
	}
	return false
}
