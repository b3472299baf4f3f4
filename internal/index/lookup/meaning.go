package lookup

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// maxSemantic is the maximum number of entries of a type that are ranked by meaning at once. With more entries, specify
// candidates with Among, or search by words.
const maxSemantic = 200_000

// liked is an entry with its similarity to a query.
type liked struct {
	at, name int
	likeness float64
	exact    bool
}

// byMeaning ranks the allowed entries, using vectors if there are any and e is not nil.
func (s *semantic) byMeaning(ctx context.Context, q Query, allowed func(e *Entry) bool, e Embedder,
	vectors []vector) (out []liked, p Page, err error) {
	p.Ranked = ByStems
	var likeness func(i int) (float64, int)
	if e != nil && len(vectors) > 0 {
		vs, err := e.Embed(ctx, []string{q.Text})
		switch {
		case ctx.Err() != nil:
			return nil, p, ctx.Err()
		case err != nil:
			p.Note = "the embedding model failed, so that hits are ranked by words alone: " + err.Error()
		case len(vs) != 1 || len(vs[0]) != len(vectors[0].b):
			p.Note = "the embedding model returned a vector of a different length than in the index, so hits are ranked by words alone"
		default:
			p.Ranked = ByVectors
			likeness = s.byVectors(vs[0], vectors)
		}
	}
	sq := s.query(q.Text, q.Language)
	if cosines := likeness; cosines == nil {
		likeness = func(i int) (float64, int) { return s.byStems(sq, i) }
	} else { // combine the two rankings, because equal words are better evidence than any model
		likeness = func(i int) (float64, int) {
			c, name := cosines(i)
			l, byName := s.byStems(sq, i)
			if l > c {
				name = byName
			}
			return (c + l) / 2, name
		}
	}
	a := prepare(q)
	held := false
	for i := range s.entries {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, p, ctx.Err()
		}
		if !allowed(&s.entries[i]) {
			continue
		}
		l := liked{at: i}
		if l.likeness, l.name = likeness(i); l.likeness <= 0 {
			continue
		}
		for j, n := range append([]string{s.entries[i].Label}, s.entries[i].Aliases...) {
			if !l.exact && slices.Equal(Words(n), a.all) {
				l.exact, l.name = true, j
			}
		}
		held = held || s.entries[i].held()
		out = append(out, l)
	}
	if held && !a.held {
		out = s.unheld(out)
	}
	slices.SortStableFunc(out, func(a, b liked) int {
		return cmp.Or(-cmpBool(a.exact, b.exact), cmp.Compare(b.likeness, a.likeness), cmp.Compare(s.entries[b.at].Score,
			s.entries[a.at].Score))
	})
	return out, p, nil
}

// unheld removes entries that are held back, except exact matches, unless there are no other entries.
func (s *semantic) unheld(all []liked) []liked {
	if !slices.ContainsFunc(all, func(l liked) bool { return !s.entries[l.at].held() }) {
		return all
	}
	return slices.DeleteFunc(all, func(l liked) bool { return s.entries[l.at].held() && !l.exact })
}

func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// hit converts a result of byMeaning to a hit.
func (s *semantic) hit(l liked) Hit {
	e := s.entries[l.at]
	h := Hit{Entry: e, Name: e.Label, Match: Meaning, Similarity: min(l.likeness, 1)}
	if l.name > 0 {
		h.Name = e.Aliases[l.name-1]
	}
	if l.exact {
		h.Match = Exact
	}
	return h
}

// vector is the direction of a name's embedding vector, with one byte per dimension.
type vector struct {
	entry, name int
	b           []byte // each an int8
}

// quantize scales a vector so that its component with the largest absolute value becomes 127 or -127; only the
// direction matters.
func quantize(v []float32) []byte {
	most := float32(0)
	for _, x := range v {
		most = max(most, float32(math.Abs(float64(x))))
	}
	out := make([]byte, len(v))
	if most == 0 || math.IsNaN(float64(most)) || math.IsInf(float64(most), 0) {
		return out
	}
	for i, x := range v {
		out[i] = byte(int8(math.Round(float64(x / most * 127))))
	}
	return out
}

// byVectors returns a function that returns an entry's most similar name and its cosine similarity with the query.
func (s *semantic) byVectors(q []float32, vectors []vector) func(i int) (float64, int) {
	best := make([]float64, len(s.entries))
	names := make([]int, len(s.entries))
	qb := quantize(q)
	for _, v := range vectors {
		if c := cosine(qb, v.b); c > best[v.entry] {
			best[v.entry], names[v.entry] = c, v.name
		}
	}
	return func(i int) (float64, int) { return best[i], names[i] }
}

func cosine(a, b []byte) float64 {
	var ab, aa, bb int64
	for i := range a {
		x, y := int32(int8(a[i])), int32(int8(b[i]))
		ab += int64(x * y)
		aa += int64(x * x)
		bb += int64(y * y)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(ab) / math.Sqrt(float64(aa)*float64(bb))
}

// embedBatch is the number of strings embedded in one call.
const embedBatch = 64

// texts returns the strings to embed for an entry: the label with its first info, and each alias.
func (e *Entry) texts() []string {
	label := e.Label
	if len(e.Infos) > 0 {
		label += ": " + e.Infos[0]
	}
	return append([]string{label}, e.Aliases...)
}

// embed computes the vectors for entries in batches.
func embed(ctx context.Context, by Embedder, entries []Entry, progress func(done int)) (out []vector, err error) {
	var texts []string
	var of []vector
	flush := func() error {
		vs, err := by.Embed(ctx, texts)
		if err != nil {
			return fmt.Errorf("embed names with %s: %w", by.Model(), err)
		}
		if len(vs) != len(texts) {
			return fmt.Errorf("embed names with %s: got %d vectors for %d strings", by.Model(), len(vs), len(texts))
		}
		for i, v := range vs {
			if len(v) == 0 || len(out) > 0 && len(v) != len(out[0].b) {
				return fmt.Errorf("embed names with %s: its vectors differ in length", by.Model())
			}
			of[i].b = quantize(v)
			out = append(out, of[i])
		}
		texts, of = texts[:0], of[:0]
		return nil
	}
	for i := range entries {
		for j, t := range entries[i].texts() {
			texts, of = append(texts, t), append(of, vector{entry: i, name: j})
			if len(texts) == embedBatch {
				if err := flush(); err != nil {
					return nil, err
				}
			}
		}
		progress(i + 1)
	}
	if len(texts) > 0 {
		err = flush()
	}
	return out, err
}

// encodeVectors returns the vectors section: the vectors' length and count (uint32 each), followed by each vector's
// entry and name (uint32 each) and its components (one byte each).
func encodeVectors(vs []vector) []byte {
	if len(vs) == 0 {
		return nil
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(vs[0].b)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(vs)))
	for _, v := range vs {
		out = binary.LittleEndian.AppendUint32(out, uint32(v.entry))
		out = binary.LittleEndian.AppendUint32(out, uint32(v.name))
		out = append(out, v.b...)
	}
	return out
}

// decodeVectors decodes the output of encodeVectors. It adds base to the entry numbers.
func decodeVectors(b []byte, base int, entries []Entry) (out []vector) {
	if len(b) == 0 {
		return nil
	}
	c := cursor{b}
	u := func() uint32 { return binary.LittleEndian.Uint32(c.take(4)) }
	long, n := uint64(u()), uint64(u())
	if long == 0 || n*(long+8) != uint64(len(c.b)) {
		panic(errVarint)
	}
	out = make([]vector, n)
	for i := range out {
		v := vector{entry: base + int(u()), name: int(u()), b: c.take(long)}
		if v.entry >= len(entries) || v.name > len(entries[v.entry].Aliases) {
			panic(errVarint)
		}
		out[i] = v
	}
	return out
}

func (im *image) byMeaning(ctx context.Context, q Query, e Embedder) (Page, error) {
	if len(Words(q.Text)) == 0 {
		return Page{Ranked: ByStems}, nil
	}
	s, model, err := im.semantic(ctx, q)
	if err != nil {
		return Page{}, err
	}
	if s == nil {
		q.Meaning = false
		p, err := im.search(ctx, q, e)
		p.Note = tooManyForMeaning
		return p, err
	}
	note := ""
	if e != nil && len(s.vectors) > 0 && e.Model() != model {
		note = fmt.Sprintf("the index has vectors of the model %s, and %s is set up, so that hits are ranked by words alone; build the index again",
			model, e.Model())
		e = nil
	}
	all, p, err := s.byMeaning(ctx, q, q.allows(), e, s.vectors)
	if err != nil {
		return Page{}, err
	}
	p.Note = cmp.Or(p.Note, note)
	p.cut(q, len(all), func(i int) Hit { return s.hit(all[i]) }, im.in)
	return p, nil
}

// semantic returns the data that a query needs: data for all entries of its type, cached for later queries, or, if
// there are too many entries, only for the query's candidates. In the second case, it returns nil if the query has no
// candidates or too many.
func (im *image) semantic(ctx context.Context, q Query) (s *semantic, model string, err error) {
	total := 0
	for _, p := range im.parts {
		if q.Type == Any || q.Type == p.kind {
			total += int(p.size.Entries)
		}
	}
	if total > maxSemantic {
		if q.Among == nil || len(q.Among) > maxSemantic {
			return nil, "", nil
		}
		var entries []Entry
		for _, p := range im.parts {
			for _, iri := range q.Among {
				p.entriesOf(iri, func(i uint32) { entries = append(entries, p.record(i).Entry) })
			}
		}
		return newSemantic(entries), "", nil
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	if im.meaning[q.Type] == nil {
		var entries []Entry
		var vectors []vector
		for _, p := range im.parts {
			if q.Type != Any && q.Type != p.kind {
				continue
			}
			base := len(entries)
			for i := uint32(0); i < p.size.Entries; i++ {
				if i%4096 == 0 && ctx.Err() != nil {
					return nil, "", ctx.Err()
				}
				entries = append(entries, p.record(i).Entry)
			}
			vectors = append(vectors, decodeVectors(p.vectors, base, entries)...)
		}
		s := newSemantic(entries)
		s.vectors = vectors
		im.meaning[q.Type] = s
	}
	return im.meaning[q.Type], im.dir.Model, nil
}
