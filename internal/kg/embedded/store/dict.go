package store

import (
	"hash/maphash"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// chunkSize is the size in bytes of the chunks in which the dictionary stores its strings. With large chunks, the
// garbage collector has few objects to scan.
const chunkSize = 256 << 10

// dict maps terms to IDs and back. Terms with the same ID are the same RDF term. One goroutine fills it during loading;
// after that, it is read-only.
type dict struct {
	Text  []string // IRI, blank node label or lexical form, by ID
	Tag   []uint32 // kind in the low 2 bits, index in Tags above them
	Tags  []string // datatype IRIs and, with a leading "@", languages; index 0 means none
	byTag map[string]uint32
	table []value.ID // open addressing; the length is a power of two
	chunk strings.Builder
	bytes int64
}

func newDict() *dict {
	d := &dict{Text: []string{""}, Tag: []uint32{0}, Tags: []string{""}, byTag: map[string]uint32{"": 0},
		table: make([]value.ID, 1<<10)}
	return d
}

// Size returns the number of terms plus one. IDs run from 1 to Size()-1.
func (d *dict) Size() int { return len(d.Text) }

var seed = maphash.MakeSeed()

// Hash returns a hash of a string and a number. It differs from one run of the program to the next.
func Hash(text string, tag uint32) uint64 {
	return (maphash.String(seed, text) ^ uint64(tag)) * 0x9E3779B97F4A7C15 >> 16
}

// Lookup returns the ID of a term, or 0 if the graph does not contain it.
func (d *dict) Lookup(t rdf.Term) value.ID {
	tag := uint32(t.Kind)
	if t.Kind == rdf.LiteralKind {
		n, ok := d.byTag[value.TagOf(t)]
		if !ok {
			return 0
		}
		tag |= n << 2
	}
	n, _ := d.find(t.Value, tag)
	return n
}

// find returns the ID of the term with this text and tag, or 0 and the free slot in the table where it belongs.
func (d *dict) find(text string, tag uint32) (value.ID, uint64) {
	mask := uint64(len(d.table) - 1)
	for at := Hash(text, tag) & mask; ; at = (at + 1) & mask {
		n := d.table[at]
		if n == 0 {
			return 0, at
		}
		if d.Tag[n] == tag && d.Text[n] == text {
			return n, at
		}
	}
}

// add returns the ID of a term, adding the term if necessary. The text is copied.
func (d *dict) add(t rdf.Term) value.ID {
	tag := uint32(t.Kind)
	if t.Kind == rdf.LiteralKind {
		tag |= d.tagNumber(value.TagOf(t)) << 2
	}
	return d.addText(t.Value, tag)
}

func (d *dict) tagNumber(s string) uint32 {
	n, ok := d.byTag[s]
	if !ok {
		n = uint32(len(d.Tags))
		s = strings.Clone(s)
		d.Tags = append(d.Tags, s)
		d.byTag[s] = n
	}
	return n
}

func (d *dict) addText(text string, tag uint32) value.ID {
	n, at := d.find(text, tag)
	if n != 0 {
		return n
	}
	n = value.ID(len(d.Text))
	d.Text = append(d.Text, d.keep(text))
	d.Tag = append(d.Tag, tag)
	d.table[at] = n
	if uint64(len(d.Text))*3 > uint64(len(d.table))*2 {
		d.grow()
	}
	return n
}

// keep copies a string into the current chunk.
func (d *dict) keep(s string) string {
	d.bytes += int64(len(s))
	if len(s) > chunkSize/4 {
		return strings.Clone(s)
	}
	if d.chunk.Cap()-d.chunk.Len() < len(s) {
		d.chunk = strings.Builder{}
		d.chunk.Grow(chunkSize)
	}
	start := d.chunk.Len()
	d.chunk.WriteString(s)
	return d.chunk.String()[start:]
}

func (d *dict) grow() {
	d.table = make([]value.ID, 2*len(d.table))
	mask := uint64(len(d.table) - 1)
	for n := 1; n < len(d.Text); n++ {
		at := Hash(d.Text[n], d.Tag[n]) & mask
		for d.table[at] != 0 {
			at = (at + 1) & mask
		}
		d.table[at] = value.ID(n)
	}
}

// Kind returns the kind of the term with the given ID.
func (d *dict) Kind(n value.ID) rdf.Kind { return rdf.Kind(d.Tag[n] & 3) }

// Term returns the term with the given ID, or the zero Term for 0.
func (d *dict) Term(n value.ID) rdf.Term {
	tag := d.Tag[n]
	t := rdf.Term{Kind: rdf.Kind(tag & 3), Value: d.Text[n]}
	if s := d.Tags[tag>>2]; s != "" {
		if s[0] == '@' {
			t.Lang = s[1:]
		} else {
			t.Datatype = s
		}
	}
	return t
}
