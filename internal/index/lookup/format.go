package lookup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// An index file consists of a header, consecutive sections, a directory of the sections, and a trailer. Integers are
// little-endian; v stands for an unsigned varint.
//
//	header     magic (8 bytes), version (uint32), zero (uint32)
//	directory JSON: the file's [Header], and for each section its part, name, offset, length and CRC-32C
//	trailer    offset and length of the directory (uint64 each), its CRC-32C (uint32), zero (uint32), magic (8 bytes)
//
// A part contains the entries of one type, in order of decreasing score; an entry's number is its position. Names are
// numbered across all entries, with each entry's label before its aliases. Words are numbered in byte order. A part has
// these sections:
//
//	records    the entries, see encodeRecord
//	recordAt   uint64: start of each block of 16 records
//	held       one bit per entry: 1 if it is held back
//	forward    names as words: v entry, v number of words, v words
//	forwardAt  uint32: start of each name, and the end
//	words      the words, concatenated
//	wordAt     uint32: start of each word, and the end
//	count      uint64: number of postings before each word, and the total
//	heads      uint32: the lowest name of each word; then the lowest of every 16 of these, and so on until one is left
//	postings   a word's names, ascending: v first name, v differences
//	postingAt  uint64: start of each word's postings, and the end
//	exactAt    uint32: start of each bucket in "exact", and the end; the number of buckets is a power of two
//	exact      uint32: names by hash of their word numbers
//	iriAt      the same for "iri"
//	iri        uint32: entries by hash of their IRI
//	vectors    see encodeVectors; only if the index was built with an embedding model
//
// Everything is read in place, so opening a file takes milliseconds, regardless of its size.
const (
	magic   = "SBlabels"
	version = 1

	recordBlock = 16
	headFan     = 16

	headerSize  = 16
	trailerSize = 32
	maxDir      = 1 << 24
)

// ErrCorrupt means that the file is not an index, is damaged, or was written by a different version of the program.
var ErrCorrupt = errors.New("unusable index")

// Header describes the contents of an index file.
type Header struct {
	Entities   int    `json:"entities"`
	Properties int    `json:"properties"`
	Names      int    `json:"names"`           // labels and aliases
	Model      string `json:"model,omitempty"` // name of the embedding model whose vectors the file contains
	Source     string `json:"source,omitempty"`
	Built      string `json:"built,omitempty"` // build time in RFC 3339 format
}

type section struct {
	Part   Type   `json:"part"`
	Name   string `json:"name"`
	Offset uint64 `json:"offset"`
	Length uint64 `json:"length"`
	CRC    uint32 `json:"crc"`
}

type directory struct {
	Header
	Parts    map[Type]partSize `json:"parts"`
	Sections []section         `json:"sections"`
}

// partSize contains a part's tables, and the counts that cannot be derived from the lengths of its sections.
type partSize struct {
	Entries    uint32   `json:"entries"`
	Names      uint32   `json:"names"`
	Words      uint32   `json:"words"`
	Namespaces []string `json:"namespaces"` // IRI prefixes
	Languages  []string `json:"languages"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sectionWriter writes the sections one after another.
type sectionWriter struct {
	w   io.Writer
	at  uint64
	dir directory
	cur *section
}

func newSectionWriter(w io.Writer) (*sectionWriter, error) {
	s := &sectionWriter{w: w, dir: directory{Parts: map[Type]partSize{}}}
	head := binary.LittleEndian.AppendUint32([]byte(magic), version)
	n, err := w.Write(append(head, 0, 0, 0, 0))
	s.at = uint64(n)
	return s, err
}

// begin starts a section, which contains everything that is written until the next call to begin.
func (s *sectionWriter) begin(part Type, name string) {
	s.dir.Sections = append(s.dir.Sections, section{Part: part, Name: name, Offset: s.at})
	s.cur = &s.dir.Sections[len(s.dir.Sections)-1]
}

func (s *sectionWriter) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.at += uint64(n)
	s.cur.Length += uint64(n)
	s.cur.CRC = crc32.Update(s.cur.CRC, castagnoli, b[:n])
	return n, err
}

// readDirectory checks the header and the trailer of an index and reads its directory.
func readDirectory(b []byte) (*directory, error) {
	switch {
	case len(b) < len(magic) || string(b[:len(magic)]) != magic:
		return nil, fmt.Errorf("%w: not a label index", ErrCorrupt)
	case len(b) < headerSize+trailerSize:
		return nil, fmt.Errorf("%w: the file is truncated; build it again", ErrCorrupt)
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != version {
		return nil, fmt.Errorf("%w: the file has format %d, but this program reads format %d; build it again", ErrCorrupt, v,
			version)
	}
	t := b[len(b)-trailerSize:]
	if string(t[24:]) != magic {
		return nil, fmt.Errorf("%w: the file is truncated; build it again", ErrCorrupt)
	}
	at, n, crc := binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint64(t[8:]), binary.LittleEndian.Uint32(t[16:])
	if n > maxDir || at > uint64(len(b)) || at+n+trailerSize != uint64(len(b)) {
		return nil, damaged("its directory is not where it should be")
	}
	raw := b[at : at+n]
	if crc32.Checksum(raw, castagnoli) != crc {
		return nil, damaged("its directory has a wrong checksum")
	}
	var d directory
	if err := jsonUnmarshal(raw, &d); err != nil {
		return nil, damaged("its directory cannot be read")
	}
	for _, s := range d.Sections {
		if s.Offset > at || s.Length > at-s.Offset {
			return nil, damaged("section " + s.Name + " lies outside the file")
		}
	}
	return &d, nil
}

func damaged(what string) error {
	return fmt.Errorf("%w: the file is damaged (%s); build it again", ErrCorrupt, what)
}

// record is an entry as stored in the file. first is the number of its first name.
type record struct {
	Entry
	first uint32
}

// Bits of a record's first byte.
const (
	bitExternal = 1 << iota
	bitNoise
	bitWhole // the score is a nonnegative integer
	bitNoLabel
	bitSame // uses equals the score
)

// encodeRecord appends a flag byte, v first name, the score (v or 8 bytes), v uses+1 unless uses equals the score, v
// namespace, the rest of the IRI, v language, the label, v number of aliases and the aliases, v number of infos and the
// infos. Strings are encoded as v length, followed by the bytes.
func encodeRecord(b []byte, r *record, namespace, language int) []byte {
	var bits byte
	set := func(on bool, bit byte) {
		if on {
			bits |= bit
		}
	}
	whole := r.Score >= 0 && r.Score < 1<<53 && r.Score == float64(uint64(r.Score))
	set(r.External, bitExternal)
	set(r.Noise, bitNoise)
	set(whole, bitWhole)
	set(len(Words(r.Label)) == 0, bitNoLabel)
	set(whole && int64(r.Score) == r.Uses, bitSame)
	b = append(b, bits)
	b = binary.AppendUvarint(b, uint64(r.first))
	if whole {
		b = binary.AppendUvarint(b, uint64(r.Score))
	} else {
		b = binary.LittleEndian.AppendUint64(b, floatBits(r.Score))
	}
	if bits&bitSame == 0 {
		b = binary.AppendUvarint(b, uint64(max(r.Uses, -1)+1))
	}
	b = binary.AppendUvarint(b, uint64(namespace))
	_, rest := splitIRI(r.IRI)
	b = appendText(b, rest)
	b = binary.AppendUvarint(b, uint64(language))
	b = appendText(b, r.Label)
	for _, list := range [][]string{r.Aliases, r.Infos} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, t := range list {
			b = appendText(b, t)
		}
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// splitIRI splits an IRI after its last slash or hash sign.
func splitIRI(iri string) (namespace, rest string) {
	for i := len(iri) - 1; i >= 0; i-- {
		if iri[i] == '/' || iri[i] == '#' {
			return iri[:i+1], iri[i+1:]
		}
	}
	return "", iri
}

// cursor reads from a section. Reading past the end panics with a runtime error or errVarint; guard turns the panic
// into ErrCorrupt.
type cursor struct {
	b []byte
}

var errVarint = errors.New("a number has no end")

func (c *cursor) uvarint() uint64 {
	if len(c.b) > 0 && c.b[0] < 0x80 {
		v := c.b[0]
		c.b = c.b[1:]
		return uint64(v)
	}
	if len(c.b) > 1 && c.b[1] < 0x80 {
		v := uint64(c.b[0]&0x7f) | uint64(c.b[1])<<7
		c.b = c.b[2:]
		return v
	}
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		panic(errVarint)
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		panic(errVarint)
	}
	t := c.b[:n]
	c.b = c.b[n:]
	return t
}

func (c *cursor) text() string { return string(c.take(c.uvarint())) }

func (c *cursor) texts() []string {
	n := c.uvarint()
	if n > uint64(len(c.b)) { // every string takes at least one byte, for its length
		panic(errVarint)
	}
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = c.text()
	}
	return out
}

func (c *cursor) skipTexts() {
	for n := c.uvarint(); n > 0; n-- {
		c.take(c.uvarint())
	}
}

// guard turns panics from a cursor, or from slicing a damaged file, into ErrCorrupt.
func guard(err *error) {
	switch r := recover().(type) {
	case nil:
	case interface {
		error
		RuntimeError()
	}:
		*err = damaged(r.Error())
	case error:
		if !errors.Is(r, errVarint) {
			panic(r)
		}
		*err = damaged(r.Error())
	default:
		panic(r)
	}
}

// store is a place where an index, or a part of an unfinished index, is written and read back.
type store interface {
	io.Writer
	io.ReaderAt
}

type memoryStore struct{ b []byte }

func (m *memoryStore) Write(p []byte) (int, error) {
	m.b = append(m.b, p...)
	return len(p), nil
}

func (m *memoryStore) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(m.b).ReadAt(p, at)
}
