package forum

import "strings"

// texts keeps the strings of a page one behind the other in a few large pieces, which cost less than an allocation each.
type texts struct{ b strings.Builder }

// textPiece is the size of a piece in bytes: what a comment's text keeps alive at most, beside itself.
const textPiece = 32 << 10

// keep makes a string of bytes.
func (t *texts) keep(b []byte) string {
	if len(b) > textPiece/4 {
		return string(b)
	}
	if t.b.Cap()-t.b.Len() < len(b) {
		t.b.Reset() // the strings made so far keep the piece
		t.b.Grow(textPiece)
	}
	from := t.b.Len()
	t.b.Write(b)
	return t.b.String()[from:]
}

// block hands out places for values by the dozen.
type block[T any] struct{ free []T }

// place returns a place of its own with the value.
func (b *block[T]) place(v T) *T {
	if len(b.free) == 0 {
		b.free = make([]T, 64)
	}
	p := &b.free[0]
	b.free = b.free[1:]
	*p = v
	return p
}

// memory remembers what was found out about strings. A page has few names and asks for them again and again: the last ones are found without hashing.
type memory[T any] struct {
	recent [64]remembered[T]
	all    map[string]T
}

type remembered[T any] struct {
	key   string
	value T
	ok    bool
}

func newMemory[T any]() memory[T] { return memory[T]{all: map[string]T{}} }

// slot is where a string is looked for first.
func (m *memory[T]) slot(key string) *remembered[T] {
	if key == "" {
		return &m.recent[0]
	}
	return &m.recent[(len(key)*5+int(key[0])*3+int(key[len(key)-1])+int(key[len(key)/2])*7)%len(m.recent)]
}

func (m *memory[T]) get(key string) (T, bool) {
	s := m.slot(key)
	if s.ok && s.key == key {
		return s.value, true
	}
	v, ok := m.all[key]
	if ok {
		*s = remembered[T]{key, v, true}
	}
	return v, ok
}

func (m *memory[T]) put(key string, v T) {
	m.all[key] = v
	*m.slot(key) = remembered[T]{key, v, true}
}
