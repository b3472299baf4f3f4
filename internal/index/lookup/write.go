// This file has over 500 lines: the parts of the file format are written one after another, and each depends on the one
// before it. The readers are in file.go, format.go, image.go and part.go.

package lookup

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"
)

func floatBits(f float64) uint64             { return math.Float64bits(f) }
func jsonUnmarshal(b []byte, into any) error { return json.Unmarshal(b, into) }

// DefaultMemory is the number of bytes of postings that a [writer] keeps in memory at once.
const DefaultMemory = 256 << 20

// Limits on an entry; longer strings are truncated, and additional aliases and infos are dropped.
const (
	maxLabel = 4 << 10
	maxInfo  = 8 << 10
	maxList  = 1000
)

// writer builds an index. Entries can be added in any order; only the distinct words and a bounded number of postings
// are in memory, so an index can be many times larger than memory. Everything else is in temporary stores. A writer
// must be used by only one goroutine.
type writer struct {
	temp     func() (store, error)
	memory   uint64
	header   Header
	embedder Embedder
	spools   map[Type]*spool
	progress func(stage string, done, of int)
}

// spool contains the entries of one type in the order in which they were added.
type spool struct {
	store  store
	w      *bufio.Writer
	n      uint32
	last   float64
	sorted bool
	bytes  uint64
}

// newWriter returns a writer that puts temporary data in stores created by temp. The caller must remove them.
func newWriter(temp func() (store, error)) *writer {
	return &writer{temp: temp, memory: DefaultMemory, spools: map[Type]*spool{}, progress: func(string, int, int) {}}
}

// Add adds an entry. Invalid UTF-8 in its strings is replaced. Add returns an error if the entry has no IRI.
func (w *writer) Add(e Entry) error {
	if e.IRI == "" {
		return fmt.Errorf("%q has no IRI", e.Label)
	}
	kind := e.kind()
	s := w.spools[kind]
	if s == nil {
		st, err := w.temp()
		if err != nil {
			return err
		}
		s = &spool{store: st, w: bufio.NewWriterSize(st, 1<<20), sorted: true}
		w.spools[kind] = s
	}
	if s.n == math.MaxUint32 {
		return fmt.Errorf("an index can contain at most %d entries of a type", uint32(math.MaxUint32))
	}
	if math.IsNaN(e.Score) {
		e.Score = 0
	}
	e.clean()
	s.sorted = s.sorted && (s.n == 0 || e.Score <= s.last)
	s.last = e.Score
	s.n++
	return s.put(&e)
}

// clean truncates strings that are too long and drops empty ones.
func (e *Entry) clean() {
	tidy := func(t string, limit int) string {
		t = strings.ToValidUTF8(t, "\ufffd")
		if len(t) > limit {
			t = strings.ToValidUTF8(t[:limit], "")
		}
		return t
	}
	e.IRI, e.Label = strings.ToValidUTF8(e.IRI, "\ufffd"), tidy(e.Label, maxLabel)
	list := func(in []string, limit int, keep func(string) bool) (out []string) {
		for _, t := range in {
			if t = tidy(t, limit); keep(t) && len(out) < maxList && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
		return out
	}
	e.Aliases = list(e.Aliases, maxLabel, func(t string) bool { return t != e.Label && strings.TrimSpace(t) != "" })
	e.Infos = list(e.Infos, maxInfo, func(t string) bool { return t != "" })
}

// put writes an entry to the spool: its length, followed by its record, with the complete IRI and the language as
// strings.
func (s *spool) put(e *Entry) error {
	b := appendText(nil, e.IRI)
	b = appendText(b, e.Language)
	b = encodeRecord(b, &record{Entry: *e}, 0, 0)
	head := binary.AppendUvarint(nil, uint64(len(b)))
	s.bytes += uint64(len(head) + len(b))
	if _, err := s.w.Write(head); err != nil {
		return err
	}
	_, err := s.w.Write(b)
	return err
}

func (s *spool) each(ctx context.Context, f func(raw []byte) error) (err error) {
	if err := s.w.Flush(); err != nil {
		return err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(s.store, 0, int64(s.bytes)), 1<<20)
	var raw []byte
	for i := uint32(0); i < s.n; i++ {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		raw = slices.Grow(raw[:0], int(n))[:n]
		if _, err := io.ReadFull(r, raw); err != nil {
			return err
		}
		if err := f(raw); err != nil {
			return err
		}
	}
	return nil
}

// unspool decodes an entry written by put.
func unspool(raw []byte) Entry {
	c := cursor{raw}
	iri, lang := c.text(), c.text()
	r := decodeRecord(&c, nil, nil)
	r.IRI, r.Language = iri, lang
	return r.Entry
}

// sort sorts the spool by score, keeping the order of entries with equal scores.
func (s *spool) sort(ctx context.Context, temp func() (store, error)) (*spool, error) {
	type place struct {
		score  float64
		at     uint64
		length uint32
	}
	places := make([]place, 0, s.n)
	at := uint64(0)
	if err := s.each(ctx, func(raw []byte) error {
		head := uint64(len(binary.AppendUvarint(nil, uint64(len(raw)))))
		places = append(places, place{unspool(raw).Score, at + head, uint32(len(raw))})
		at += head + uint64(len(raw))
		return nil
	}); err != nil {
		return nil, err
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(b.score, a.score) })
	st, err := temp()
	if err != nil {
		return nil, err
	}
	out := &spool{store: st, w: bufio.NewWriterSize(st, 1<<20), n: s.n, sorted: true, bytes: s.bytes}
	var raw []byte
	for i, p := range places {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		raw = slices.Grow(raw[:0], int(p.length))[:p.length]
		if _, err := s.store.ReadAt(raw, int64(p.at)); err != nil {
			return nil, err
		}
		if _, err := out.w.Write(binary.AppendUvarint(nil, uint64(p.length))); err != nil {
			return nil, err
		}
		if _, err := out.w.Write(raw); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w *writer) finish(ctx context.Context, out store) (h Header, err error) {
	defer guard(&err)
	buf := bufio.NewWriterSize(out, 1<<20)
	sw, err := newSectionWriter(buf)
	if err != nil {
		return h, err
	}
	sw.dir.Header = w.header
	for _, kind := range []Type{Entity, Property} {
		s := w.spools[kind]
		if s == nil {
			continue
		}
		if !s.sorted {
			w.progress("sorting", 0, int(s.n))
			if s, err = s.sort(ctx, w.temp); err != nil {
				return h, err
			}
		}
		p := &partWriter{writer: w, ctx: ctx, kind: kind, in: s, out: sw, flush: buf.Flush, back: out}
		if err := p.write(); err != nil {
			return h, err
		}
		if kind == Property {
			sw.dir.Properties = int(p.size.Entries)
		} else {
			sw.dir.Entities = int(p.size.Entries)
		}
		sw.dir.Names += int(p.size.Names)
		sw.dir.Parts[kind] = p.size
	}
	at := sw.at
	raw, err := json.Marshal(sw.dir)
	if err != nil {
		return h, err
	}
	trailer := binary.LittleEndian.AppendUint64(nil, at)
	trailer = binary.LittleEndian.AppendUint64(trailer, uint64(len(raw)))
	trailer = binary.LittleEndian.AppendUint32(trailer, crc32.Checksum(raw, castagnoli))
	trailer = append(append(trailer, 0, 0, 0, 0), magic...)
	if _, err := buf.Write(append(raw, trailer...)); err != nil {
		return h, err
	}
	return sw.dir.Header, buf.Flush()
}

// partWriter writes the sections of one type.
type partWriter struct {
	*writer
	ctx   context.Context
	kind  Type
	in    *spool
	out   *sectionWriter
	flush func() error
	back  store // out, to read from
	size  partSize

	words    map[string]uint32 // maps words to numbers, in order of appearance
	counts   []uint32          // number of names that contain each word, by word number
	names    store             // names as word numbers
	namesLen uint64
	postings uint64
	order    []string // words, sorted
	final    []uint32 // maps a word's number to its position in sorted order
	hashes   []uint32 // hashes of IRIs
	forward  section
}

func (p *partWriter) write() error {
	for _, step := range []func() error{p.records, p.dictionary, p.forwards, p.invert, p.exact, p.iris, p.vectors} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// records writes the records and collects the words.
func (p *partWriter) records() error {
	var err error
	if p.names, err = p.temp(); err != nil {
		return err
	}
	names := bufio.NewWriterSize(p.names, 1<<20)
	p.words = map[string]uint32{}
	namespaces, languages := tableOf(&p.size.Namespaces), tableOf(&p.size.Languages)
	recordAt := make([]byte, 0, p.in.n/recordBlock*8+8)
	held := make([]byte, p.in.n/8+1)
	p.hashes = make([]uint32, 0, p.in.n)
	p.out.begin(p.kind, "records")
	begin := p.out.at
	var b, nb []byte
	err = p.in.each(p.ctx, func(raw []byte) error {
		r := record{Entry: unspool(raw), first: p.size.Names}
		if p.size.Entries%recordBlock == 0 {
			recordAt = binary.LittleEndian.AppendUint64(recordAt, p.out.at-begin)
		}
		if r.held() {
			held[p.size.Entries/8] |= 1 << (p.size.Entries % 8)
		}
		ns, _ := splitIRI(r.IRI)
		b = encodeRecord(b[:0], &r, namespaces(ns), languages(r.Language))
		if _, err := p.out.Write(b); err != nil {
			return err
		}
		p.hashes = append(p.hashes, uint32(hashText(r.IRI)))
		nb = p.learn(nb[:0], &r)
		p.namesLen += uint64(len(nb))
		p.size.Entries++
		if p.size.Entries%65536 == 0 {
			p.progress("reading", int(p.size.Entries), int(p.in.n))
		}
		_, err := names.Write(nb)
		return err
	})
	if err != nil {
		return err
	}
	if err := names.Flush(); err != nil {
		return err
	}
	if err := p.section("recordAt", recordAt); err != nil {
		return err
	}
	return p.section("held", held)
}

// tableOf returns a function that numbers strings by first appearance.
func tableOf(list *[]string) func(string) int {
	at := map[string]int{}
	*list = []string{}
	return func(s string) int {
		i, ok := at[s]
		if !ok {
			i = len(*list)
			at[s] = i
			*list = append(*list, s)
		}
		return i
	}
}

// learn appends each of an entry's names to b as varints: the entry, the number of words, and the words, which are
// numbered in order of appearance.
func (p *partWriter) learn(b []byte, r *record) []byte {
	var ids, distinct []uint32
	add := func(text string) {
		words := Words(text)
		if len(words) == 0 || p.size.Names == math.MaxUint32 {
			return
		}
		ids, distinct = ids[:0], distinct[:0]
		for _, t := range words {
			id, ok := p.words[t]
			if !ok {
				id = uint32(len(p.counts))
				p.words[strings.Clone(t)] = id
				p.counts = append(p.counts, 0)
			}
			ids = append(ids, id)
			if !slices.Contains(distinct, id) {
				distinct = append(distinct, id)
				p.counts[id]++
				p.postings++
			}
		}
		b = binary.AppendUvarint(b, uint64(p.size.Entries))
		b = appendIDs(b, ids)
		p.size.Names++
	}
	add(r.Label)
	for _, a := range r.Aliases {
		add(a)
	}
	return b
}

func appendIDs(b []byte, ids []uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(ids)))
	for _, id := range ids {
		b = binary.AppendUvarint(b, uint64(id))
	}
	return b
}

func (p *partWriter) section(name string, b []byte) error {
	p.out.begin(p.kind, name)
	_, err := p.out.Write(b)
	return err
}

// dictionary sorts the words and writes them.
func (p *partWriter) dictionary() error {
	p.order = make([]string, 0, len(p.words))
	for w := range p.words {
		p.order = append(p.order, w)
	}
	slices.Sort(p.order)
	p.size.Words = uint32(len(p.order))
	p.final = make([]uint32, len(p.order))
	counts := make([]uint32, len(p.order))
	at := make([]byte, 0, 4*len(p.order)+4)
	cum := make([]byte, 0, 8*len(p.order)+8)
	length, sum := uint32(0), uint64(0)
	p.out.begin(p.kind, "words")
	for i, w := range p.order {
		id := p.words[w]
		p.final[id], counts[i] = uint32(i), p.counts[id]
		at = binary.LittleEndian.AppendUint32(at, length)
		cum = binary.LittleEndian.AppendUint64(cum, sum)
		length += uint32(len(w))
		sum += uint64(counts[i])
		if _, err := io.WriteString(p.out, w); err != nil {
			return err
		}
	}
	p.words, p.order, p.counts = nil, nil, counts
	if err := p.section("wordAt", binary.LittleEndian.AppendUint32(at, length)); err != nil {
		return err
	}
	return p.section("count", binary.LittleEndian.AppendUint64(cum, sum))
}

// forwards writes the names with the final word numbers.
func (p *partWriter) forwards() error {
	at := make([]byte, 0, 4*uint64(p.size.Names)+4)
	p.out.begin(p.kind, "forward")
	begin := p.out.at
	var b []byte
	err := p.eachName(p.names, 0, p.namesLen, func(entry uint64, ids []uint32) error {
		at = binary.LittleEndian.AppendUint32(at, uint32(p.out.at-begin))
		for i, id := range ids {
			ids[i] = p.final[id]
		}
		b = appendIDs(binary.AppendUvarint(b[:0], entry), ids)
		_, err := p.out.Write(b)
		return err
	})
	if err != nil {
		return err
	}
	p.forward = *p.out.cur
	p.final = nil
	if p.forward.Length > math.MaxUint32 {
		return errors.New("there are too many names for one index; split them, or use OpenSearch")
	}
	return p.section("forwardAt", binary.LittleEndian.AppendUint32(at, uint32(p.forward.Length)))
}

// eachName calls f for each name in a store, as words.
func (p *partWriter) eachName(from store, at, length uint64, f func(entry uint64, ids []uint32) error) error {
	r := bufio.NewReaderSize(io.NewSectionReader(from, int64(at), int64(length)), 1<<20)
	var ids []uint32
	for i := uint32(0); i < p.size.Names; i++ {
		if i%65536 == 0 && p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		entry, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		ids = ids[:0]
		for ; n > 0; n-- {
			id, err := binary.ReadUvarint(r)
			if err != nil {
				return err
			}
			ids = append(ids, uint32(id))
		}
		if err := f(entry, ids); err != nil {
			return err
		}
	}
	return nil
}

// written calls f for each name in the section written by forwards.
func (p *partWriter) written(f func(name uint32, ids []uint32) error) error {
	if err := p.flush(); err != nil {
		return err
	}
	name := uint32(0)
	return p.eachName(p.back, p.forward.Offset, p.forward.Length, func(_ uint64, ids []uint32) error {
		name++
		return f(name-1, ids)
	})
}

// gather collects the values that each emits for the keys 0 to len(counts)-1. The values are sorted by key; values with
// the same key are kept in the order in which they were emitted. gather makes as many passes over the values as the
// memory limit requires.
func (p *partWriter) gather(counts []uint32, each func(emit func(key, value uint32)) error, use func(key uint32,
	values []uint32) error) error {
	for from := 0; from < len(counts); {
		sum, to := uint64(0), from
		for to < len(counts) && (to == from || (sum+uint64(counts[to]))*4 <= p.memory) {
			sum += uint64(counts[to])
			to++
		}
		values := make([]uint32, sum)
		next := make([]uint64, to-from+1)
		for k := from; k < to; k++ {
			next[k-from+1] = next[k-from] + uint64(counts[k])
		}
		if err := each(func(key, value uint32) {
			if k := int(key); k >= from && k < to {
				values[next[k-from]] = value
				next[k-from]++
			}
		}); err != nil {
			return err
		}
		end := uint64(0)
		for k := from; k < to; k++ {
			if err := use(uint32(k), values[end:end+uint64(counts[k])]); err != nil {
				return err
			}
			end += uint64(counts[k])
		}
		from = to
		p.progress("sorting words", from, len(counts))
	}
	return nil
}

// invert writes the names that contain each word.
func (p *partWriter) invert() error {
	heads := make([]uint32, 0, len(p.counts))
	at := make([]byte, 0, 8*len(p.counts)+8)
	length := uint64(0)
	p.out.begin(p.kind, "postings")
	var b []byte
	each := func(emit func(key, value uint32)) error {
		return p.written(func(name uint32, ids []uint32) error {
			for i, id := range ids {
				if !slices.Contains(ids[:i], id) {
					emit(id, name)
				}
			}
			return nil
		})
	}
	if err := p.gather(p.counts, each, func(_ uint32, names []uint32) error {
		heads = append(heads, names[0])
		at = binary.LittleEndian.AppendUint64(at, length)
		b = b[:0]
		before := uint32(0)
		for _, n := range names {
			b = binary.AppendUvarint(b, uint64(n-before))
			before = n
		}
		length += uint64(len(b))
		_, err := p.out.Write(b)
		return err
	}); err != nil {
		return err
	}
	p.counts = nil
	if err := p.section("postingAt", binary.LittleEndian.AppendUint64(at, length)); err != nil {
		return err
	}
	var hb []byte
	for level := heads; ; {
		for _, h := range level {
			hb = binary.LittleEndian.AppendUint32(hb, h)
		}
		if len(level) <= 1 {
			break
		}
		up := make([]uint32, 0, len(level)/headFan+1)
		for c := range slices.Chunk(level, headFan) {
			up = append(up, slices.Min(c))
		}
		level = up
	}
	return p.section("heads", hb)
}

// buckets writes values in buckets, by the hash of their key.
func (p *partWriter) buckets(name string, n uint32, each func(emit func(hash, value uint32)) error) error {
	mask := uint32(1)<<bits.Len32(n/4) - 1
	counts := make([]uint32, uint64(mask)+1)
	if err := each(func(h, _ uint32) { counts[h&mask]++ }); err != nil {
		return err
	}
	at := make([]byte, 0, 4*len(counts)+4)
	sum := uint32(0)
	for _, c := range counts {
		at = binary.LittleEndian.AppendUint32(at, sum)
		sum += c
	}
	if err := p.section(name+"At", binary.LittleEndian.AppendUint32(at, sum)); err != nil {
		return err
	}
	p.out.begin(p.kind, name)
	var b []byte
	return p.gather(counts, func(emit func(k, v uint32)) error {
		return each(func(h, v uint32) { emit(h&mask, v) })
	}, func(_ uint32, values []uint32) error {
		b = b[:0]
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		_, err := p.out.Write(b)
		return err
	})
}

// exact writes the hash table that finds names by their words.
func (p *partWriter) exact() error {
	return p.buckets("exact", p.size.Names, func(emit func(h, v uint32)) error {
		return p.written(func(name uint32, ids []uint32) error {
			emit(hashIDs(ids), name)
			return nil
		})
	})
}

// iris writes the hash table that finds entries by IRI.
func (p *partWriter) iris() error {
	defer func() { p.hashes = nil }()
	return p.buckets("iri", p.size.Entries, func(emit func(h, v uint32)) error {
		for i, h := range p.hashes {
			emit(h, uint32(i))
		}
		return nil
	})
}

// fewToEmbed is the number of entity names above which none of them are embedded; property names are always embedded.
const fewToEmbed = 20_000

// vectors embeds the names.
func (p *partWriter) vectors() error {
	if p.embedder == nil || p.kind != Property && p.size.Names > fewToEmbed {
		return nil
	}
	var entries []Entry
	if err := p.in.each(p.ctx, func(raw []byte) error {
		entries = append(entries, unspool(raw))
		return nil
	}); err != nil {
		return err
	}
	vs, err := embed(p.ctx, p.embedder, entries, func(done int) { p.progress("embedding", done, len(entries)) })
	if err != nil {
		return err
	}
	p.out.dir.Model = p.embedder.Model()
	return p.section("vectors", encodeVectors(vs))
}

// hashText and hashIDs compute FNV-1a hashes and then mix the bits.
func hashText(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h ^ h>>29
}

func hashIDs(ids []uint32) uint32 {
	h := uint64(14695981039346656037)
	for _, id := range ids {
		h = (h ^ uint64(id)) * 1099511628211
		h ^= h >> 31
	}
	return uint32(h ^ h>>29)
}
