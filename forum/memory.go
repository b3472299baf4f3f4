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
