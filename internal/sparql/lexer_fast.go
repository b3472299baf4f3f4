package sparql

import "unicode/utf8"

// fill reads as many tokens as buf holds, or up to and including tEOF, and returns their number. It does what read does: the tokens of which nearly all
// queries consist (punctuation, ASCII variables and names, words) in one loop, the others through read.
func (l *lexer) fill(buf []token) int {
	text := l.text
	for n := range buf {
		t := &buf[n]
		i := l.pos
		for i < len(text) && class[text[i]]&cSpace != 0 {
			i++
		}
		if i == len(text) || l.pos == 0 || text[i] == '#' || !l.fast(t, i) {
			if l.read(t); t.kind == tEOF {
				return n + 1
			}
		}
	}
	return len(buf)
}

// fast reads a token of the usual kinds at i, or reports that it is none. It sets the fields one by one: a literal would be made elsewhere and copied,
// for which the processor has to wait.
func (l *lexer) fast(t *token, i int) bool {
	text := l.text
	c := text[i]
	j := i + 1
	switch {
	case class[c]&cSingle != 0:
		t.kind, t.kw, t.start, t.end, t.comments = kind(c), kwNone, int32(i), int32(j), int32(len(l.comments))
	case c == '.':
		if j < len(text) && class[text[j]]&cDigit != 0 {
			return false
		}
		t.kind, t.kw, t.start, t.end, t.comments = '.', kwNone, int32(i), int32(j), int32(len(l.comments))
	case c == '?':
		for j < len(text) && class[text[j]]&(cLetter|cDigit) != 0 {
			j++
		}
		if j == i+1 || j < len(text) && (text[j] >= utf8.RuneSelf || text[j] == '\\') {
			return false
		}
		t.kind, t.kw, t.start, t.end, t.comments = tVar, kwNone, int32(i), int32(j), int32(len(l.comments))
	case class[c]&cDigit != 0:
		for j < len(text) && class[text[j]]&cDigit != 0 {
			j++
		}
		if j < len(text) && (text[j] == '.' || text[j]|0x20 == 'e') {
			return false
		}
		t.kind, t.kw, t.start, t.end, t.comments = tInteger, kwNone, int32(i), int32(j), int32(len(l.comments))
	case class[c]&cLetter != 0:
		for j < len(text) && class[text[j]]&(cLetter|cDigit) != 0 {
			j++
		}
		if j < len(text) && class[text[j]]&cOpen != 0 {
			return text[j] == ':' && c != '_' && l.fastName(t, i, j)
		}
		kw := lookup(text[i:j])
		if kw == kwNone {
			return false
		}
		t.kind, t.kw, t.start, t.end, t.comments = tWord, kw, int32(i), int32(j), int32(len(l.comments))
	default:
		return false
	}
	l.pos = j
	return true
}

// fastName reads a prefixed name whose colon is known, or reports that it is not of the simple kind.
func (l *lexer) fastName(t *token, start, colon int) bool {
	text := l.text
	j := colon + 1
	if j < len(text) && text[j] == '-' {
		return false
	}
	for j < len(text) && class[text[j]]&cName != 0 {
		j++
	}
	if j < len(text) && class[text[j]]&cOpen != 0 {
		if text[j] != '.' || j+1 < len(text) && class[text[j+1]]&(cName|cOpen) != 0 {
			return false
		}
	}
	t.kind, t.kw, t.escaped, t.start, t.end, t.colon, t.comments = tName, kwNone, false, int32(start), int32(j), int32(colon), int32(len(l.comments))
	l.pos = j
	return true
}
