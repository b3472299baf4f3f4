// Package examples finds solved questions similar to a new question, for the agent's prompts: items from any benchmark
// file, candidates from a harvest, and the items that annotators made from candidates.
//
//	examples.go   a pool of solved questions and its searches
//	kept.go       vectors that are computed once and kept
//	without.go    examples that must not be shown: the questions of the benchmark being run, and their near-duplicates
package examples

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/index/bm25"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Embedder computes a vector for each string. All vectors have the same length. The model should support the languages
// of the questions and examples: an English-only model finds little for questions in other languages (arXiv
// 2512.14277).
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Pool is a set of solved questions. A single goroutine fills it; after that, it is read-only and may be searched by
// any number of goroutines.
//
// Questions are ranked by BM25 over the folded words of their wordings or, with [Pool.ByMeaning], by the cosine
// similarity of their vectors. Among examples with the same query, a search finds only the best.
type Pool struct {
	docs   []doc
	words  bm25.Index
	broken []string

	lg       *slog.Logger
	embedder Embedder
	failed   atomic.Bool // the embedder has failed

	mu      sync.Mutex
	vectors [][]float32 // of unit length, one per text in docs; nil if not yet computed
	owner   []int       // index of each vector's example
}

// doc is an example with its searchable strings.
type doc struct {
	event.Example
	url   string
	texts []string // wordings of the question
}

// Add adds the items of a benchmark that have a query. source is the benchmark's display name. Items whose query is not
// SPARQL are omitted; see [Pool.Broken].
func (p *Pool) Add(source string, items []dataset.Item) {
	for _, it := range items {
		if strings.TrimSpace(it.SPARQL) != "" && strings.TrimSpace(it.Question) != "" && !readable(it.SPARQL) {
			p.broken = append(p.broken, it.ID)
			continue
		}
		p.add(doc{Example: event.Example{ID: it.ID, Source: source, Question: strings.TrimSpace(it.Question),
			SPARQL: strings.TrimSpace(it.SPARQL), Heading: it.Title}, url: it.URL,
			texts: append([]string{it.Question, it.Title}, it.Paraphrases...)})
	}
}

// Broken returns the IDs of the items that were omitted because their query cannot be parsed.
func (p *Pool) Broken() []string { return p.broken }

var prefixes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([\pL][\pL\pN_.-]*)?:`)
})

// readable reports whether a query can be parsed. Undeclared prefixes are accepted, since other graphs may predeclare
// them.
func readable(query string) bool {
	_, err := sparql.Parse(query)
	if err == nil {
		return true
	}
	known := map[string]string{}
	for _, m := range prefixes().FindAllStringSubmatch(query, -1) {
		known[m[1]] = "urn:x:" + m[1] + ":"
	}
	_, err = sparql.ParseWith(query, known)
	return err == nil
}

// maxRequest is the maximum number of characters of a discussion's first comment that are used and shown.
const maxRequest = 1000

// AddCandidate adds a harvest's candidate if it is staged and its query returned rows.
func (p *Pool) AddCandidate(source string, c *dataset.Candidate) {
	if c.Stage != dataset.Staged || c.Result == nil || c.Result.Rows == 0 || len(c.Conversation.Comments) == 0 {
		return
	}
	request := strings.TrimSpace(text.Clip(c.Conversation.Comments[0].Text, maxRequest))
	month, err := time.Parse("2006-01", c.Provenance.Month)
	if err != nil {
		month = time.Time{}
	}
	d := doc{Example: event.Example{ID: c.ID, Source: source, Question: request, SPARQL: strings.TrimSpace(c.Cleaned),
		Page: c.Provenance.Page, Heading: c.Provenance.Heading, Month: month}, url: c.Provenance.URL,
		texts: []string{request, c.Provenance.Heading}}
	for _, id := range slices.Concat(c.Entities, c.Properties) {
		d.texts = append(d.texts, c.Labels[id])
	}
	p.add(d)
}

func (p *Pool) add(d doc) {
	if d.Question == "" || d.SPARQL == "" {
		return
	}
	count := map[string]float64{}
	for _, t := range d.texts {
		for _, w := range words(t) {
			count[w] = 1
		}
	}
	p.docs = append(p.docs, d)
	p.words.Add(count)
}

// Len returns the number of examples.
func (p *Pool) Len() int { return len(p.docs) }

// Sources lists the sources in the order added, with the number of examples in each.
func (p *Pool) Sources() []string {
	var names []string
	n := map[string]int{}
	for _, d := range p.docs {
		if n[d.Source]++; n[d.Source] == 1 {
			names = append(names, d.Source)
		}
	}
	for i, s := range names {
		names[i] = fmt.Sprintf("%s (%d)", s, n[s])
	}
	return names
}

// ByMeaning makes the pool rank examples by semantic similarity according to e's model. The first search computes the
// examples' vectors, which are kept. If e fails, examples are ranked by words from then on, and this is logged to lg.
func (p *Pool) ByMeaning(lg *slog.Logger, e Embedder) { p.lg, p.embedder = lg, e }

// minMeaning is the minimum cosine similarity of an example found by meaning, as in GRASP (section 3.5 of its paper).
const minMeaning = 0.5

type ranked struct {
	doc   int
	score float64
}

// FindExamples implements tool.Examples.
func (p *Pool) FindExamples(ctx context.Context, q event.ExampleQuery) ([]event.Example, error) {
	return p.find(ctx, q, func(*doc) bool { return false })
}

// find finds the examples for which out returns false.
func (p *Pool) find(ctx context.Context, q event.ExampleQuery, out func(*doc) bool) ([]event.Example, error) {
	if q.Limit <= 0 || q.Offset < 0 {
		return nil, nil
	}
	var order []ranked
	switch {
	case strings.TrimSpace(q.Text) == "":
		order = p.shuffled(q.Seed)
	case p.embedder != nil && !p.failed.Load():
		var err error
		if order, err = p.byMeaning(ctx, q.Text); err == nil {
			break
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !p.failed.Swap(true) {
			p.lg.Warn("solved questions are ranked by words from now on: the embedding model failed", "error", err)
		}
		fallthrough
	default:
		order = p.byWords(q.Text)
	}
	return p.page(order, q, out), nil
}

// page returns a page of an ordered list. Among examples with the same query, only the first is used.
func (p *Pool) page(order []ranked, q event.ExampleQuery, leave func(*doc) bool) []event.Example {
	var out []event.Example
	seen := map[string]bool{}
	for _, r := range order {
		d := &p.docs[r.doc]
		if seen[d.SPARQL] || leave(d) {
			continue
		}
		seen[d.SPARQL] = true
		if len(seen) <= q.Offset {
			continue
		}
		x := d.Example
		x.Score = math.Round(r.score*1000) / 1000
		if out = append(out, x); len(out) == q.Limit {
			break
		}
	}
	return out
}

// minCover is the minimum fraction of a question's weight that an example's words must cover. Below it, the question
// and the example share only words like "the".
const minCover = 0.1

func (p *Pool) byWords(text string) []ranked {
	ws := words(text)
	var out []ranked
	for _, m := range p.words.Rank(ws) {
		if m.Cover >= minCover {
			out = append(out, ranked{m.Doc, m.Cover})
		}
	}
	return out
}

// shuffled returns all examples in an order that depends only on the seed and the number of examples.
func (p *Pool) shuffled(seed uint64) []ranked {
	out := make([]ranked, len(p.docs))
	for i := range out {
		out[i].doc = i
	}
	slices.SortFunc(out, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(mix(seed^mix(uint64(a.doc)+1)), mix(seed^mix(uint64(b.doc)+1))),
			cmp.Compare(a.doc, b.doc))
	})
	return out
}

// mix is the SplitMix64 finalizer (Steele, Lea and Flood 2014): a permutation of 64-bit numbers that scatters them.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// maxBatch is the maximum number of strings embedded in one call.
const maxBatch = 128

func (p *Pool) byMeaning(ctx context.Context, text string) ([]ranked, error) {
	if err := p.embed(ctx); err != nil {
		return nil, err
	}
	vs, err := p.vectorsOf(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	best := map[int]float64{}
	for i, v := range p.vectors {
		if s := dot(v, vs[0]); s >= minMeaning && s > best[p.owner[i]] {
			best[p.owner[i]] = s
		}
	}
	out := make([]ranked, 0, len(best))
	for d, s := range best {
		out = append(out, ranked{d, min(1, s)})
	}
	slices.SortFunc(out, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score),
			cmp.Compare(a.doc, b.doc))
	})
	return out, nil
}

// embed computes the vectors of all texts, once.
func (p *Pool) embed(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.vectors != nil {
		return nil
	}
	var texts []string
	var owner []int
	for i, d := range p.docs {
		for _, t := range d.texts {
			if t = strings.TrimSpace(t); t != "" {
				texts, owner = append(texts, t), append(owner, i)
			}
		}
	}
	vectors := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, maxBatch) {
		vs, err := p.vectorsOf(ctx, batch)
		if err != nil {
			return err
		}
		vectors = append(vectors, vs...)
	}
	p.vectors, p.owner = vectors, owner
	return nil
}

// vectorsOf returns the vectors of texts, normalized to unit length.
func (p *Pool) vectorsOf(ctx context.Context, texts []string) ([][]float32, error) {
	vs, err := p.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vs) != len(texts) {
		return nil, fmt.Errorf("the embedding model returned %d vectors for %d inputs", len(vs), len(texts))
	}
	for i, v := range vs {
		n := math.Sqrt(dot(v, v))
		if n == 0 || math.IsNaN(n) || math.IsInf(n, 0) || len(v) != len(vs[0]) || p.vectors != nil &&
			len(v) != len(p.vectors[0]) {
			return nil, fmt.Errorf("the embedding model returned a vector that is zero, not finite, or of a different length")
		}
		vs[i] = make([]float32, len(v))
		for j := range v {
			vs[i][j] = float32(float64(v[j]) / n)
		}
	}
	return vs, nil
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// words returns the folded words of a string. Words of four or more letters are included twice: in full, and as the
// first five letters without a final s. This matches word forms in most inflected languages without knowledge of the
// language (McNamee, Nicholas and Mayfield, Addressing Morphological Variation in Alphabetic Languages, SIGIR 2009).
func words(s string) (out []string) {
	for chunk := range slices.Chunk(strings.Fields(s), 16) { // lookup.Words considers only the first 16 words
		for _, w := range lookup.Words(strings.Join(chunk, " ")) {
			r := []rune(w)
			if len(w) < 2 && !unicode.IsDigit(r[0]) {
				continue
			}
			if out = append(out, w); len(r) >= 4 {
				out = append(out, strings.TrimSuffix(string(r[:min(5, len(r))]), "s")+"-")
			}
		}
	}
	return out
}
