package lookup

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Memory is a [Searcher] for entries in memory. It is safe for concurrent use.
type Memory struct {
	entries []Entry // by decreasing score
	names   [][]name
	byIRI   map[string][]int32

	image    func() *image    // nil unless there are many entries; built on first use
	meaning  func() *semantic // built on first use
	embedder Embedder
	mu       sync.Mutex
	vectors  []vector
	failed   bool // the vectors could not be created
}

// name is a label or alias with its words.
type name struct {
	text  string
	words []string
}

var _ Searcher = (*Memory)(nil)

// NewMemory returns a searcher for the entries. Equally good matches with the same score keep the order of the entries.
// Searches by meaning rank by stems; see [Memory.Embed].
func NewMemory(entries []Entry) *Memory {
	m := &Memory{entries: slices.Clone(entries), byIRI: make(map[string][]int32, len(entries))}
	slices.SortStableFunc(m.entries, func(a, b Entry) int { return cmp.Compare(b.Score, a.Score) })
	m.names = make([][]name, len(m.entries))
	for i := range m.entries {
		e := &m.entries[i]
		e.clean()
		m.byIRI[e.IRI] = append(m.byIRI[e.IRI], int32(i))
		for _, t := range append([]string{e.Label}, e.Aliases...) {
			if w := Words(t); len(w) > 0 {
				m.names[i] = append(m.names[i], name{t, w})
			}
		}
	}
	m.image = sync.OnceValue(m.makeImage)
	m.meaning = sync.OnceValue(func() *semantic { return newSemantic(m.entries) })
	return m
}

// manyEntries is the number of entries at which searching an image becomes faster than examining the entries one by
// one.
const manyEntries = 20_000

// makeImage returns an image of the entries, or nil if there are too few of them or if they cannot be written.
func (m *Memory) makeImage() *image {
	if len(m.entries) < manyEntries {
		return nil
	}
	w := newWriter(func() (store, error) { return &memoryStore{}, nil })
	for i := range m.entries {
		if w.Add(m.entries[i]) != nil { // an entry without an IRI
			return nil
		}
	}
	var out memoryStore
	if _, err := w.finish(context.Background(), &out); err != nil {
		return nil
	}
	im, err := newImage(out.b)
	if err != nil {
		return nil
	}
	return im
}

// maxEmbedded is the maximum number of names that a Memory embeds for searches by meaning.
const maxEmbedded = 5000

// Embed enables vectors for searches by meaning. The first search by meaning computes the names' vectors. With more
// than a few thousand names, stems are used instead. Embed must be called before the first search.
func (m *Memory) Embed(e Embedder) *Memory {
	m.embedder = e
	return m
}

// Len returns the number of entries.
func (m *Memory) Len() int { return len(m.entries) }

// Get returns the entry for an IRI in the language that [Prefer] ranks first.
func (m *Memory) Get(_ context.Context, iri, language string) (Entry, bool, error) {
	e, ok := m.get(iri, language)
	return e, ok, nil
}

func (m *Memory) get(iri, language string) (Entry, bool) {
	at := m.byIRI[iri]
	if len(at) == 0 {
		return Entry{}, false
	}
	return m.entries[slices.MinFunc(at, func(a, b int32) int {
		return cmp.Compare(Prefer(m.entries[a].Language, language), Prefer(m.entries[b].Language, language))
	})], true
}

// found is a matching entry, identified by its index.
type found struct {
	rank  rank
	entry int32
	name  int32
}

func compareFound(a, b found) int {
	return cmp.Or(a.rank.compare(b.rank), cmp.Compare(a.entry, b.entry))
}

// Search returns a page of hits.
func (m *Memory) Search(ctx context.Context, q Query) (Page, error) {
	q, err := q.normal()
	if err != nil {
		return Page{}, err
	}
	if q.Meaning {
		return m.byMeaning(ctx, q)
	}
	if im := m.image(); im != nil {
		return im.search(ctx, q, nil)
	}
	a := prepare(q)
	var all []found
	held := false
	for _, i := range m.candidates(q) {
		if i%1024 == 0 && ctx.Err() != nil {
			return Page{}, ctx.Err()
		}
		if f, ok := m.best(&a, i); ok {
			all = append(all, f)
			if m.entries[i].held() && f.rank.tier > tierExact {
				held = true
			}
		}
	}
	if !a.held && held {
		all = m.hold(all)
	}
	all = m.weak(&a, all)
	slices.SortFunc(all, compareFound)
	p := Page{Ranked: ByWords}
	p.cut(q, len(all), func(i int) Hit {
		f := all[i]
		return Hit{Entry: m.entries[f.entry], Name: m.names[f.entry][f.name].text, Match: f.rank.match()}
	}, m.get)
	return p, nil
}

// candidates returns the indexes of the entries that the query allows, in order.
func (m *Memory) candidates(q Query) []int32 {
	var out []int32
	take := func(i int32) {
		if q.Type == Any || m.entries[i].kind() == q.Type {
			out = append(out, i)
		}
	}
	if q.Among == nil {
		for i := range m.entries {
			take(int32(i))
		}
		return out
	}
	for _, iri := range q.Among {
		for _, i := range m.byIRI[iri] {
			take(i)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// best returns the match with the entry's best name or, if several names are equally good, with the first of them.
func (m *Memory) best(a *asked, i int32) (f found, ok bool) {
	for j, n := range m.names[i] {
		if r, matches := a.rankName(n.text, n.words); matches && (!ok || r.compare(f.rank) < 0) {
			f, ok = found{r, i, int32(j)}, true
		}
	}
	return f, ok
}

// hold removes entries that are held back. If no other entry matches all words, it keeps those that do.
func (m *Memory) hold(all []found) []found {
	only := !slices.ContainsFunc(all, func(f found) bool {
		return f.rank.tier < tierSome && (!m.entries[f.entry].held() || f.rank.tier <= tierExact)
	})
	return slices.DeleteFunc(all, func(f found) bool {
		return m.entries[f.entry].held() && f.rank.tier > tierExact && (!only || f.rank.tier == tierSome)
	})
}

// weak removes weak matches if there are good matches of the same type.
func (m *Memory) weak(a *asked, all []found) []found {
	type sums struct{ exact, full, typo int }
	n := map[Type]*sums{Entity: {}, Property: {}}
	for _, f := range all {
		e := &m.entries[f.entry]
		s := n[e.kind()]
		switch {
		case f.rank.tier <= tierExact:
			s.exact++
		case e.held() && !a.held:
		case f.rank.tier == tierFull:
			s.full++
		case f.rank.tier <= tierTypo:
			s.typo++
		}
	}
	return slices.DeleteFunc(all, func(f found) bool {
		s := n[m.entries[f.entry].kind()]
		return enough(f.rank.tier, s.exact, s.full, s.typo)
	})
}

func (m *Memory) byMeaning(ctx context.Context, q Query) (Page, error) {
	if len(Words(q.Text)) == 0 {
		return Page{Ranked: ByStems}, nil
	}
	if len(m.entries) > maxSemantic && (q.Among == nil || len(q.Among) > maxSemantic) {
		q.Meaning = false
		p, err := m.Search(ctx, q)
		p.Note = tooManyForMeaning
		return p, err
	}
	s := m.meaning()
	vectors, note := m.embed(ctx)
	all, p, err := s.byMeaning(ctx, q, q.allows(), m.embedder, vectors)
	if err != nil {
		return Page{}, err
	}
	p.Note = cmp.Or(p.Note, note)
	p.cut(q, len(all), func(i int) Hit { return s.hit(all[i]) }, m.get)
	return p, nil
}

const tooManyForMeaning = "there are too many names to rank by meaning; they are ranked by words"

// embed computes the vectors once. note describes what went wrong, if anything.
func (m *Memory) embed(ctx context.Context) (vs []vector, note string) {
	if m.embedder == nil {
		return nil, ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for i := range m.names {
		n += len(m.names[i])
	}
	if m.vectors != nil || m.failed || n > maxEmbedded {
		return m.vectors, ""
	}
	vs, err := embed(ctx, m.embedder, m.entries, func(int) {})
	if err != nil {
		m.failed = ctx.Err() == nil
		return nil, "the embedding model failed, so that hits are ranked by words alone: " + err.Error()
	}
	m.vectors = vs
	return vs, ""
}
