// Package lookup finds entities and properties of a graph by the words of their names, or by meaning.
//
// An [Entry] describes one entity, a [Query] is a search, and a [Page] has its hits. [Memory] keeps entries in memory:
// a handful of candidates for one question, or a few hundred thousand. [File] reads an index file made by [Create],
// with up to a few hundred million names. Many processes may have it open, and it may be replaced while they read. Both
// return the same hits.
//
// # By words
//
// Names are compared as folded words ([Words]): in lower case, without diacritics or punctuation, and in any order. A
// word of the query matches a word of a name that equals it or begins with it. The names that match all words come
// first; among these, names with more equal words; among these, names with the higher score. This is the ranking of the
// GRASP paper (section 3.4): each label and alias is ranked separately, and an entity takes the rank of its best name.
// A name that equals the whole query comes before all of these. If no name equals the query and fewer than three names
// have all its words, they are followed by names that have them once a letter is changed, removed, added or swapped
// with its neighbor. If there are still fewer than three hits, names that have only some of the words follow.
//
// # By meaning
//
// The stems and the trigrams of the words in names and descriptions are compared. With an [Embedder], the query's
// vector is also compared with the vectors of names, which counts as much; a label's vector includes the description.
// This works for properties and for candidates, up to a few hundred thousand.
//
// # What is held back
//
// Identifiers of other databases and entities that are mostly noise ([Entry.External], [Entry.Noise]) are left out,
// unless the query is the whole name of one, contains the word "ID", requests them, or finds nothing else.
package lookup

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Type distinguishes entities from properties.
type Type string

// The types. Any is for queries only.
const (
	Any      Type = ""
	Entity   Type = "entity"
	Property Type = "property"
)

// Entry is an entity as an index describes it in one language. Entries of one IRI in several languages are one hit.
type Entry struct {
	IRI      string // without angle brackets
	Type     Type   // Any counts as Entity
	Label    string
	Language string   // language of label, aliases and infos, such as "en"; "" if unknown
	Aliases  []string // other names
	Infos    []string // descriptions, classes and similar text that helps people tell entities apart
	Score    float64  // orders equally good matches: number of uses, of sitelinks, …
	Uses     int64    // how often the graph uses it; -1 if unknown
	External bool     // a property that contains identifiers of another database
	Noise    bool     // rarely wanted: a category, a scholarly article, an entity without a label
}

// Query is a search query.
type Query struct {
	Text     string
	Type     Type     // Any: both
	Language string   // language of the hits' labels and descriptions, if the index has it, see [Prefer]
	Offset   int      // number of hits to skip, for paging
	Limit    int      // 1 to MaxHits with Offset; 0 means DefaultLimit
	Among    []string // only these IRIs; nil means all, and an empty list none; unknown IRIs are ignored
	Meaning  bool     // rank by meaning, not by words, if the searcher can; see Page.Ranked
	External bool     // include external identifiers and noise, which are otherwise held back
}

// Limits of a query.
const (
	DefaultLimit = 10
	MaxHits      = 1000 // maximum of offset and limit together
	MaxText      = 1000 // maximum number of bytes of a query's text that are used
)

// Match is the way in which a name matched.
type Match string

// The ways of matching, best first.
const (
	Exact   Match = "exact"   // the name is the query, apart from case, diacritics and punctuation
	Full    Match = "words"   // all words of the query, each whole or as the beginning of a word
	Typo    Match = "typo"    // all words, one of them with one letter wrong
	Some    Match = "some"    // some of the words
	Meaning Match = "meaning" // by meaning
)

// Hit is an entry that was found.
type Hit struct {
	Entry
	Name       string  // the name that matched: the label or an alias
	Match      Match   // how
	Similarity float64 // for Meaning, 0 to 1 among the hits of one query
}

// How a page was ranked.
const (
	ByWords   = "words"
	ByVectors = "vectors" // by an embedding model
	ByStems   = "stems"   // by meaning without a model
)

// Page is a part of the hits, best first.
type Page struct {
	Hits   []Hit
	More   bool   // there are more hits after these
	Ranked string // ByWords, ByVectors, ByStems
	Note   string // what the user should know, for example that the embedding model failed and stems were used; usually ""
}

// Searcher finds entries. [Memory] and [File] implement it.
type Searcher interface {
	// Search returns a page of hits. An empty string finds nothing. The errors are ErrQuery, ErrCorrupt, and that of ctx.
	Search(ctx context.Context, q Query) (Page, error)
	// Get returns the entry of an IRI in the language that [Prefer] prefers.
	Get(ctx context.Context, iri, language string) (entry Entry, found bool, err error)
}

// Embedder converts each string into a vector. All vectors have the same length.
type Embedder interface {
	Model() string // name of the model: vectors of two models cannot be compared
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// ErrQuery means that the query cannot be answered as it is. The error's text explains why.
var ErrQuery = errors.New("wrong query")

// normal checks a query and fills in defaults.
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

// held reports whether the entry is left out unless requested.
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

// Prefer returns the rank of a language for someone who asked for a certain one: 0 for the requested language, then
// English, then "mul" (Wikidata's code for all languages), then any other.
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

// cut fills the page with the requested part of n hits, each IRI once, with its entry in the best language that get
// has. done reports whether there are more hits than fit on the page.
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
