package examples

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
)

// Held is a set of questions that must not be shown, such as the benchmark being run. Their near-duplicates must not be
// shown either. An example is held back if it and an item in the set have
//
//   - the same ID, unless the ID is just a number or a number with a split name ("17", "test_4"), which any benchmark
//     may contain;
//   - the same heading on the same page, or the same heading as an item without a page;
//   - the same wording, ignoring case, accents, and punctuation, or nearly the same wording: nine out of ten words;
//   - the same query, ignoring layout, prefixes, comments, variable names, and statement order ([sparql.Canonical]); or
//     the same pattern with the same Q and P IDs; or similar query text, as for near-duplicates in a harvest
//     ([harvest.SimilarText]).
//
// An example with the same pattern but different IDs is not held back: it shows how to answer that kind of question,
// but not the answer itself.
type Held struct {
	ids, places, headings, questions, queries, patterns map[string]bool
	wordings, contents                                  overlaps[string]
	texts                                               overlaps[uint64]
}

// Reason is the reason why an example is held back.
type Reason string

// The reasons, in the order checked.
const (
	SameID      Reason = "same ID"
	SamePlace   Reason = "same discussion"
	SameWords   Reason = "same question"
	LikeWords   Reason = "nearly the same question"
	SameQuery   Reason = "same query"
	SamePattern Reason = "same pattern and numbers"
	LikeText    Reason = "similar query"
	LikeContent Reason = "the same question in other words" // returned only by [Held.Near]
)

// minWording is the minimum Jaccard similarity of the words in near-duplicate questions.
const minWording = 0.9

// Hold returns a Held that holds back items and their near-duplicates.
func Hold(items []dataset.Item) *Held {
	h := &Held{ids: map[string]bool{}, places: map[string]bool{}, headings: map[string]bool{},
		questions: map[string]bool{}, queries: map[string]bool{}, patterns: map[string]bool{}}
	h.Add(items...)
	return h
}

// Add adds more items to be held back.
func (h *Held) Add(items ...dataset.Item) {
	for _, it := range items {
		d := doc{url: it.URL}
		d.ID, d.SPARQL, d.Heading = it.ID, it.SPARQL, it.Title
		h.ids[foldID(d.ID)] = true
		h.places[d.place()] = true
		if d.url == "" {
			h.headings[d.heading()] = true
		}
		for _, q := range append([]string{it.Question}, it.Paraphrases...) {
			ws := wordSet(q)
			h.questions[strings.Join(lookupWords(q), " ")] = true
			h.wordings.add(ws)
			h.contents.add(contentOf(q))
		}
		f := formOf(d.SPARQL)
		h.queries[f.text] = true
		h.patterns[f.pattern] = true
		h.texts.add(f.shingles)
	}
	for _, m := range []map[string]bool{h.ids, h.places, h.headings, h.questions, h.queries, h.patterns} {
		delete(m, "")
	}
}

// why returns the reason that an example is withheld, or "" if it is not withheld.
func (h *Held) why(d *doc) Reason {
	switch {
	case h.ids[foldID(d.ID)]:
		return SameID
	case h.places[d.place()], h.headings[d.heading()]:
		return SamePlace
	}
	for _, t := range d.wordings() {
		if why := h.Wording(t); why != "" {
			return why
		}
	}
	return h.query(d.SPARQL)
}

// minContent is the minimum Jaccard similarity at which [Held.Near] considers two questions near, ignoring stop words
// such as "which" and "list" and treating singular and plural as the same word.
const minContent = 0.8

// contentOf returns the content words used by [Held.Near], or none if there are fewer than two.
func contentOf(question string) []string {
	ws := harvest.Words(question)
	slices.Sort(ws)
	if ws = slices.Compact(ws); len(ws) < 2 {
		return nil
	}
	return ws
}

// Near returns the reason that a discussion or run is too similar to an item in the set to be used for training, or ""
// if it is not. This rule is stricter than the one for showing examples: a rephrased question is near, too, and all
// attempted queries are checked.
func (h *Held) Near(id string, questions, queries []string) Reason {
	if h.ids[foldID(id)] {
		return SameID
	}
	for _, q := range questions {
		if why := h.Wording(q); why != "" {
			return why
		}
		if h.contents.has(contentOf(q), minContent) {
			return LikeContent
		}
	}
	for _, q := range queries {
		if why := h.query(q); why != "" {
			return why
		}
	}
	return ""
}

// Wording returns a reason if a question has the same or nearly the same wording as an item in the set, and ""
// otherwise.
func (h *Held) Wording(question string) Reason {
	switch {
	case h.questions[strings.Join(lookupWords(question), " ")]:
		return SameWords
	case h.wordings.has(wordSet(question), minWording):
		return LikeWords
	}
	return ""
}

// query returns the reason that a query is too similar, or "" if it is not.
func (h *Held) query(query string) Reason {
	f := formOf(query)
	switch {
	case h.queries[f.text]:
		return SameQuery
	case h.patterns[f.pattern]:
		return SamePattern
	case h.texts.has(f.shingles, harvest.MinSimilar):
		return LikeText
	}
	return ""
}

// Besides finds examples in a pool that are not held back. For a single question, it is cheaper than [Pool.Without],
// because it compares only examples that would be shown.
type Besides struct {
	Pool *Pool
	Held *Held
}

// FindExamples implements tool.Examples.
func (b *Besides) FindExamples(ctx context.Context, q event.ExampleQuery) ([]event.Example, error) {
	return b.Pool.find(ctx, q, func(d *doc) bool { return b.Held.why(d) != "" })
}

// Without returns a copy of the pool without the examples that h holds back, and how many were held back for each
// reason.
func (p *Pool) Without(h *Held) (*Pool, map[Reason]int) {
	out := &Pool{lg: p.lg, embedder: p.embedder}
	gone := map[Reason]int{}
	for _, d := range p.docs {
		if why := h.why(&d); why != "" {
			gone[why]++
			continue
		}
		out.add(d)
	}
	return out, gone
}

// wordings returns the wordings of the question, without labels.
func (d *doc) wordings() []string {
	if d.Page != "" {
		return []string{d.Question, d.Heading + " " + d.Question}
	}
	return append([]string{d.Question}, d.texts...)
}

// place returns a string that identifies the discussion that an example comes from, or "" if the discussion is unknown.
func (d *doc) place() string {
	if d.url == "" || strings.TrimSpace(d.Heading) == "" {
		return ""
	}
	return d.url + "#" + d.heading()
}

// heading returns the folded heading of the discussion, or "" if there is none.
func (d *doc) heading() string { return strings.Join(lookupWords(d.Heading), " ") }

// generic matches IDs that any benchmark may use.
var generic = regexp.MustCompile(`^((train|dev|val|valid|validation|test|question|q|item|id)?[-_ #]?[0-9]{1,8})?$`)

// foldID returns an ID in the form used for comparisons, or "" for a generic ID.
func foldID(id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	if generic.MatchString(id) {
		return ""
	}
	return id
}

// lookupWords returns the folded words of a string, in order.
func lookupWords(s string) (out []string) {
	for chunk := range slices.Chunk(strings.Fields(s), 16) {
		out = append(out, lookup.Words(strings.Join(chunk, " "))...)
	}
	return out
}

func wordSet(s string) []string {
	ws := lookupWords(s)
	slices.Sort(ws)
	return slices.Compact(ws)
}

// form is a query in the form used for comparisons.
type form struct {
	text     string   // "" if there is no query
	pattern  string   // with the Q and P IDs; "" if the query does not parse or has no IDs
	shingles []uint64 // sorted
}

var (
	prologue = regexp.MustCompile(`(?mi)^\s*(prefix\s+\S*:\s*<[^>]*>|base\s+<[^>]*>)\s*`)
	variable = regexp.MustCompile(`[?$]\w+`)
	entities = strings.NewReplacer(
		"<http://www.wikidata.org/entity/statement/", "<wds:", "<http://www.wikidata.org/entity/", "<wd:",
		"<http://www.wikidata.org/prop/direct/", "<wdt:", "<http://www.wikidata.org/prop/statement/", "<ps:",
		"<http://www.wikidata.org/prop/qualifier/", "<pq:", "<http://www.wikidata.org/prop/", "<p:")
	short = regexp.MustCompile(`<((?:wds?|wdt|ps|pq|p):[A-Z][0-9]+)>`)
)

func formOf(query string) form {
	var f form
	if strings.TrimSpace(query) == "" {
		return f
	}
	q, err := sparql.Parse(query)
	if err == nil {
		query = q.String()
		ids := sparql.Identifiers(q)
		if names := append(sparql.IDs(ids, false), sparql.IDs(ids, true)...); len(names) > 0 {
			slices.Sort(names)
			f.pattern = measure.Shape(q) + " " + strings.Join(slices.Compact(names), " ")
		}
	}
	query = short.ReplaceAllString(entities.Replace(prologue.ReplaceAllString(query, "")), "$1")
	f.shingles = harvest.Shingles(query)
	if err == nil {
		f.text = sparql.Canonical(q)
		return f
	}
	names := map[string]string{}
	f.text = variable.ReplaceAllStringFunc(sparql.NormalForm(query), func(v string) string {
		if names[v[1:]] == "" {
			names[v[1:]] = "?" + string(rune('a'+len(names)%26)) + strings.Repeat("'", len(names)/26)
		}
		return names[v[1:]]
	})
	return f
}

// overlaps finds sets that nearly equal a given set. It uses an index of their members, which is exact, unlike a
// sketch.
type overlaps[K comparable] struct {
	size []int
	in   map[K][]int32
}

func (o *overlaps[K]) add(set []K) {
	if len(set) == 0 {
		return
	}
	if o.in == nil {
		o.in = map[K][]int32{}
	}
	for _, k := range set {
		o.in[k] = append(o.in[k], int32(len(o.size)))
	}
	o.size = append(o.size, len(set))
}

// has reports whether any added set's Jaccard similarity to set is least or higher.
func (o *overlaps[K]) has(set []K, least float64) bool {
	both := map[int32]int{}
	for _, k := range set {
		for _, i := range o.in[k] {
			both[i]++
		}
	}
	for i, n := range both {
		if float64(n) >= least*float64(len(set)+o.size[i]-n) {
			return true
		}
	}
	return false
}
