// This file has over 500 lines because it contains both the reader of one entry type's words, which does not copy them,
// and all the ways to look up words.

package lookup

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// part contains the entries of one type in an index, which are read in place. Damaged data causes a panic, from which
// guard recovers.
type part struct {
	size partSize
	kind Type
	records, recordAt, held, forward, forwardAt, words, wordAt, count, heads, postings, postingAt,
	exactAt, exact, iriAt, iri, vectors []byte
	levels []uint32 // index at which each level of heads begins
	bounds bounds
}

// newPart finds a part's sections and checks that their sizes are consistent.
func newPart(b []byte, d *directory, kind Type) (*part, error) {
	p := &part{size: d.Parts[kind], kind: kind, bounds: defaultBounds}
	byName := map[string]*[]byte{"records": &p.records, "recordAt": &p.recordAt, "held": &p.held, "forward": &p.forward,
		"forwardAt": &p.forwardAt, "words": &p.words, "wordAt": &p.wordAt, "count": &p.count, "heads": &p.heads,
		"postings": &p.postings, "postingAt": &p.postingAt, "exactAt": &p.exactAt, "exact": &p.exact, "iriAt": &p.iriAt,
		"iri": &p.iri, "vectors": &p.vectors}
	for _, s := range d.Sections {
		if into := byName[s.Name]; s.Part == kind && into != nil {
			*into = b[s.Offset : s.Offset+s.Length]
		}
	}
	entries, names, words := uint64(p.size.Entries), uint64(p.size.Names), uint64(p.size.Words)
	blocks := func(n, per uint64) int { return int((n + per - 1) / per * 8) }
	heads := uint64(0)
	for n := words; ; n = (n + headFan - 1) / headFan {
		p.levels = append(p.levels, uint32(heads))
		heads += n
		if n <= 1 {
			break
		}
	}
	fits := len(p.recordAt) == blocks(entries, recordBlock) && len(p.held) == int(entries/8+1) &&
		len(p.forwardAt) == int(names+1)*4 && len(p.wordAt) == int(words+1)*4 && len(p.count) == int(words+1)*8 &&
		len(p.postingAt) == int(words+1)*8 && len(p.heads) == int(heads)*4 && len(p.exact) == int(names)*4 &&
		len(p.iri) == int(entries)*4 && bucketsFit(p.exactAt) && bucketsFit(p.iriAt)
	if !fits {
		return nil, damaged("the sizes of its sections are inconsistent")
	}
	return p, nil
}

// bucketsFit reports whether the section has a valid length: the number of buckets must be a power of two, and one more
// value marks the end.
func bucketsFit(at []byte) bool {
	n := len(at)/4 - 1
	return len(at)%4 == 0 && n > 0 && bits.OnesCount(uint(n)) == 1
}

func u32(b []byte, i uint32) uint32 { return binary.LittleEndian.Uint32(b[uint64(i)*4:]) }
func u64(b []byte, i uint32) uint64 { return binary.LittleEndian.Uint64(b[uint64(i)*8:]) }

// rng is a range of words.
type rng struct{ lo, hi uint32 }

func (r rng) has(w uint32) bool { return w >= r.lo && w < r.hi }

func (p *part) word(i uint32) []byte { return p.words[u32(p.wordAt, i):u32(p.wordAt, i+1)] }

// least returns the first word in a range that does not sort before text.
func (p *part) least(in rng, text string) uint32 {
	lo, hi := in.lo, in.hi
	for lo < hi {
		if mid := lo + (hi-lo)/2; string(p.word(mid)) < text {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// afterAll, appended to a string, sorts after any other continuation of it, since this byte does not occur in UTF-8.
const afterAll = "\xff"

// begun returns the words in a range that start with text.
func (p *part) begun(in rng, text string) rng {
	lo := p.least(in, text)
	return rng{lo, p.least(rng{lo, in.hi}, text+afterAll)}
}

// whole returns the word in a range that equals text.
func (p *part) whole(in rng, text string) (uint32, bool) {
	i := p.least(in, text)
	return i, i < in.hi && string(p.word(i)) == text
}

func (p *part) all() rng { return rng{0, p.size.Words} }

// total returns the number of postings for a range of words.
func (p *part) total(r rng) uint64 { return u64(p.count, r.hi) - u64(p.count, r.lo) }

// near returns the words that are near a word, as defined by the near function, and the ranges of words that start with
// a string near it.
func (p *part) near(word string) (whole []uint32, begun []rng) {
	w := []rune(word)
	if len(w) < minTypo {
		return nil, nil
	}
	prefix := len(w) > minTypo
	try := func(in rng, head string, rest []rune) {
		if in.lo >= in.hi {
			return
		}
		text := head + string(rest)
		id := p.least(in, text)
		if id >= in.hi || !strings.HasPrefix(string(p.word(id)), text) {
			return // most attempts end here
		}
		if len(p.word(id)) == len(text) && text != word {
			whole = append(whole, id)
		}
		if prefix && len(rest) > 0 {
			begun = append(begun, rng{id, p.least(rng{id, in.hi}, text+afterAll)})
		}
	}
	in := p.all()
	for i := 0; i <= len(w) && in.lo < in.hi; i++ {
		head := string(w[:i])
		if i < len(w) {
			if i+1 == len(w) || w[i] != w[i+1] { // of repeated letters, try only the last one
				try(in, head, w[i+1:])
			}
			if i+1 < len(w) && w[i] != w[i+1] {
				try(in, head+string(w[i+1])+string(w[i]), w[i+2:])
			}
		}
		p.nextLetters(in, head, w[min(i, len(w)-1)], func(c rune, sub rng) {
			if i < len(w) && c == w[i] {
				return
			}
			grown := head + string(c)
			if sameScript(c, w[0]) {
				try(sub, grown, w[i:])
			}
			if i < len(w) && sameScript(c, w[i]) {
				try(sub, grown, w[i+1:])
			}
		})
		if i < len(w) {
			in = p.begun(in, head+string(w[i]))
		}
	}
	return whole, begun
}

// nextLetters calls f for each letter that follows head in the words in the range, with the range of words that start
// with head and this letter. If head is empty, letters that are not in the script of like are skipped, since there can
// be thousands.
func (p *part) nextLetters(in rng, head string, like rune, f func(c rune, sub rng)) {
	if head == "" {
		lo, hi := scriptRange(like)
		in = rng{p.least(in, lo), in.hi}
		in.hi = p.least(in, hi)
	}
	for in.lo < in.hi {
		w := p.word(in.lo)
		if len(w) <= len(head) {
			in.lo++
			continue
		}
		c, n := utf8.DecodeRune(w[len(head):])
		end := p.least(in, string(w[:len(head)+n])+afterAll)
		if end <= in.lo { // only in a damaged file
			panic(errVarint)
		}
		f(c, rng{in.lo, end})
		in.lo = end
	}
}

// list iterates over the names that contain a word.
type list struct {
	c    cursor
	name uint32
}

func (p *part) list(word uint32) list {
	return list{c: cursor{p.postings[u64(p.postingAt, word):u64(p.postingAt, word+1)]}}
}

func (l *list) next() (uint32, bool) {
	if len(l.c.b) == 0 {
		return 0, false
	}
	l.name += uint32(l.c.uvarint())
	return l.name, true
}

// meet iterates over the names that several lists have in common, in ascending order. It ends early when its budget of
// names to read is used up.
type meet struct {
	lists  []list
	budget int
}

func (p *part) meet(words []uint32, budget int) *meet {
	m := &meet{budget: budget}
	for i, w := range words {
		l := p.list(w)
		if i > 0 {
			l.next()
		}
		m.lists = append(m.lists, l)
	}
	return m
}

func (m *meet) next() (uint32, bool) {
	lead := &m.lists[0]
	if _, ok := lead.next(); !ok {
		return 0, false
	}
	for i := 1; i < len(m.lists); {
		l := &m.lists[i]
		switch {
		case l.name == lead.name:
			i++
		case l.name < lead.name:
			if !m.skip(l, lead.name) {
				return 0, false
			}
		default:
			if !m.skip(lead, l.name) {
				return 0, false
			}
			i = 1
		}
	}
	return lead.name, true
}

// skip advances a list to the first name that is not before the given one.
func (m *meet) skip(l *list, name uint32) bool {
	for l.name < name {
		if _, ok := l.next(); !ok {
			return false
		}
		m.budget--
	}
	return m.budget >= 0
}

// argmin returns the word with the lowest first name in a nonempty range.
func (p *part) argmin(r rng) uint32 {
	best, at := uint32(math.MaxUint32), r.lo
	look := func(level int, i uint32) {
		if h := u32(p.heads, p.levels[level]+i); h < best {
			best = h
			// Descend to the word whose first name this is.
			for l := level; l > 0; l-- {
				for j := i * headFan; ; j++ {
					if j >= (i+1)*headFan {
						panic(errVarint)
					}
					if u32(p.heads, p.levels[l-1]+j) == h {
						i = j
						break
					}
				}
			}
			at = i
		}
	}
	lo, hi := r.lo, r.hi
	for level := 0; lo < hi; level++ {
		if level == len(p.levels)-1 {
			look(level, lo)
			break
		}
		for ; lo < hi && lo%headFan != 0; lo++ {
			look(level, lo)
		}
		for ; lo < hi && hi%headFan != 0; hi-- {
			look(level, hi-1)
		}
		lo, hi = lo/headFan, hi/headFan
	}
	if !r.has(at) {
		panic(errVarint)
	}
	return at
}

// union iterates over the names that contain any of the words in several ranges, in ascending order, each name once.
// The ranges are not merged in advance: only words whose names are reached are read.
type union struct {
	p     *part
	heap  []node // contains no pointers, so moving nodes does not involve the garbage collector
	lists []list
	last  uint32
	any   bool
}

// node is the next name of a list, or the lowest first name of a range of words.
type node struct {
	name uint32
	word uint32
	of   rng   // if list is -1, the range of words with name as their lowest first name
	list int32 // index in lists
}

func (p *part) union(ranges []rng) *union {
	u := &union{p: p}
	for _, r := range ranges {
		u.pushRange(r)
	}
	return u
}

func (u *union) pushRange(r rng) {
	if r.lo < r.hi {
		w := u.p.argmin(r)
		u.push(node{name: u32(u.p.heads, w), word: w, of: r, list: -1})
	}
}

func (u *union) push(n node) {
	u.heap = append(u.heap, n)
	for i := len(u.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if u.heap[up].name <= u.heap[i].name {
			break
		}
		u.heap[up], u.heap[i] = u.heap[i], u.heap[up]
		i = up
	}
}

// settle moves the root of the heap down to its correct position.
func (u *union) settle() {
	h := u.heap
	if len(h) == 0 {
		return
	}
	n, i := h[0], 0
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].name < h[c].name {
			c++
		}
		if h[c].name >= n.name {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = n
}

func (u *union) next() (uint32, bool) {
	for len(u.heap) > 0 {
		n := u.heap[0]
		at := n.list
		if at < 0 {
			at = int32(len(u.lists))
			u.lists = append(u.lists, u.p.list(n.word))
			u.lists[at].next()
		}
		if name, ok := u.lists[at].next(); ok {
			u.heap[0] = node{name: name, word: n.word, list: at}
		} else {
			end := len(u.heap) - 1
			u.heap[0] = u.heap[end]
			u.heap = u.heap[:end]
		}
		u.settle()
		if n.list < 0 {
			u.pushRange(rng{n.of.lo, n.word})
			u.pushRange(rng{n.word + 1, n.of.hi})
		}
		if !u.any || n.name != u.last {
			u.any, u.last = true, n.name
			return n.name, true
		}
	}
	return 0, false
}

// name returns a name's entry and words. It reuses the memory of ids, which must have a capacity of maxWords+2.
func (p *part) name(name uint32, ids []uint32) (entry uint32, _ []uint32) {
	b := p.forward[u32(p.forwardAt, name):u32(p.forwardAt, name+1)]
	ids = ids[:cap(ids)]
	n, v, shift := 0, uint32(0), 0
	for _, c := range b { // most of a search's time is spent here
		v |= uint32(c&0x7f) << shift
		shift += 7
		if c < 0x80 {
			if n == len(ids) {
				panic(errVarint)
			}
			ids[n] = v
			n, v, shift = n+1, 0, 0
		}
	}
	ids = ids[:n]
	// The first two numbers are the entry and the number of words that follow.
	if len(ids) < 2 || int(ids[1]) != len(ids)-2 || ids[0] >= p.size.Entries {
		panic(errVarint)
	}
	return ids[0], ids[2:]
}

func (p *part) isHeld(entry uint32) bool { return p.held[entry/8]&(1<<(entry%8)) != 0 }

// record reads an entry.
func (p *part) record(entry uint32) record {
	if entry >= p.size.Entries {
		panic(errVarint)
	}
	c := cursor{p.records[u64(p.recordAt, entry/recordBlock):]}
	for i := entry % recordBlock; i > 0; i-- {
		skipRecord(&c)
	}
	r := decodeRecord(&c, p.size.Namespaces, p.size.Languages)
	r.Type = p.kind
	return r
}

// text returns the entry's name with the given number.
func (r *record) text(name uint32) string {
	i := int(name - r.first)
	if len(Words(r.Label)) == 0 {
		i++
	}
	if i == 0 {
		return r.Label
	}
	return r.Aliases[i-1]
}

// names returns how many names an entry has.
func (r *record) names() uint32 {
	n := uint32(len(r.Aliases))
	if len(Words(r.Label)) > 0 {
		n++
	}
	return n
}

func recordHead(c *cursor) (r record, namespace uint64) {
	bits := c.take(1)[0]
	r.External, r.Noise = bits&bitExternal != 0, bits&bitNoise != 0
	r.first = uint32(c.uvarint())
	if bits&bitWhole != 0 {
		r.Score = float64(c.uvarint())
	} else {
		r.Score = math.Float64frombits(binary.LittleEndian.Uint64(c.take(8)))
	}
	if bits&bitSame != 0 {
		r.Uses = int64(r.Score)
	} else {
		r.Uses = int64(c.uvarint()) - 1
	}
	return r, c.uvarint()
}

func skipRecord(c *cursor) {
	recordHead(c)
	c.take(c.uvarint())
	c.uvarint()
	c.take(c.uvarint())
	c.skipTexts()
	c.skipTexts()
}

// decodeRecord decodes the output of encodeRecord. If the tables are nil, it omits the namespace and the language.
func decodeRecord(c *cursor, namespaces, languages []string) record {
	r, ns := recordHead(c)
	r.IRI = c.text()
	lang := c.uvarint()
	if namespaces != nil {
		if ns >= uint64(len(namespaces)) || lang >= uint64(len(languages)) {
			panic(errVarint)
		}
		r.IRI, r.Language = namespaces[ns]+r.IRI, languages[lang]
	}
	r.Label = c.text()
	r.Aliases = c.texts()
	r.Infos = c.texts()
	return r
}

// bucket calls f for the values in a hash's bucket until f returns false.
func bucket(at, values []byte, hash uint32, f func(v uint32) bool) {
	b := hash & uint32(len(at)/4-2)
	for i, end := u32(at, b), u32(at, b+1); i < end; i++ {
		if !f(u32(values, i)) {
			return
		}
	}
}

// entriesOf calls f for each entry with the given IRI.
func (p *part) entriesOf(iri string, f func(entry uint32)) {
	ns, rest := splitIRI(iri)
	bucket(p.iriAt, p.iri, uint32(hashText(iri)), func(e uint32) bool {
		if p.iriIs(e, ns, rest) {
			f(e)
		}
		return true
	})
}

// iriIs reports whether the entry has the IRI, without reading the whole record.
func (p *part) iriIs(entry uint32, namespace, rest string) bool {
	c := cursor{p.records[u64(p.recordAt, entry/recordBlock):]}
	for i := entry % recordBlock; i > 0; i-- {
		skipRecord(&c)
	}
	_, ns := recordHead(&c)
	return ns < uint64(len(p.size.Namespaces)) && string(c.take(c.uvarint())) == rest &&
		strings.Compare(p.size.Namespaces[ns], namespace) == 0
}
