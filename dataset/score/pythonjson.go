package score

import "bufio"

// pythonJSON reads JSON as Python's json module writes it by default. Outside strings, it replaces NaN, Infinity, and
// -Infinity with null, because JSON does not allow them.
type pythonJSON struct {
	r                *bufio.Reader
	inText, escaping bool
	rest             []byte // unread part of a null
}

// Read returns the text up to the next NaN, Infinity, or -Infinity, or null instead of one of these words.
func (f *pythonJSON) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		if _, err := f.r.Peek(1); err != nil {
			return 0, err
		}
		if !f.inText && f.skipWord() {
			f.rest = []byte("null")
		}
	}
	if len(f.rest) > 0 {
		n := copy(p, f.rest)
		f.rest = f.rest[n:]
		return n, nil
	}
	buf, _ := f.r.Peek(min(f.r.Buffered(), len(p)))
	n := 0
	for n < len(buf) && (n == 0 || f.inText || !mayBegin(buf[n])) {
		f.pass(buf[n])
		n++
	}
	copy(p, buf[:n])
	return f.r.Discard(n)
}

// mayBegin reports whether NaN, Infinity, or -Infinity starts with c.
func mayBegin(c byte) bool { return c == 'N' || c == 'I' || c == '-' }

// pass records whether the bytes after c are in a string.
func (f *pythonJSON) pass(c byte) {
	switch {
	case f.escaping:
		f.escaping = false
	case f.inText && c == '\\':
		f.escaping = true
	case c == '"':
		f.inText = !f.inText
	}
}

func (f *pythonJSON) skipWord() bool {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if b, _ := f.r.Peek(len(word)); string(b) == word {
			_, _ = f.r.Discard(len(word))
			return true
		}
	}
	return false
}
