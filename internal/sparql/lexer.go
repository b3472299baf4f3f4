package sparql

import (
	"strings"
	"unicode/utf8"
)

// kind is the kind of a token; for single-character punctuation, it is the character itself.
type kind uint8

const (
	tEOF kind = iota
	tIRI
	tName    // prefix:local
	tVar     // ?x or $x
	tBlank   // _:x
	tString  // with any of the four kinds of quotation marks
	tInteger // numbers have no sign
	tDecimal
	tDouble
	tLang    // @en
	tWord    // keyword, function name, a
	tPercent // %name
	tHat2    // ^^
	tOr      // ||
	tAnd     // &&
	tNE      // !=
	tLE      // <=
	tGE      // >=
	tBad     // text that is not a token; see lexer.err
)

type token struct {
	kind       kind
	kw         keyword
	start, end int32 // bytes
	colon      int32 // for tName: the offset of the colon
	comments   int32 // number of comments that end before this token
}

// lexer splits text into tokens (SPARQL 1.1, section 19.8). It never fails: text that is not a token becomes a tBad
// token with its Error in err.
type lexer struct {
	text     string
	pos      int
	comments []Comment
	err      *Error
}

// Character classes, as bits. Non-ASCII bytes are in no class.
const (
	cSpace  = 1 << iota
	cDigit  // 0-9
	cLetter // A-Z a-z _
	cName   // letters, digits, _ and -
)

var class = func() (t [256]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		t[c] |= cLetter | cName
		t[c-32] |= cLetter | cName
	}
	t['_'] |= cLetter | cName
	for c := '0'; c <= '9'; c++ {
		t[c] |= cDigit | cName
	}
	t['-'] |= cName
	for _, c := range " \t\n\r\f" {
		t[c] |= cSpace
	}
	return t
}()

// next returns the next token; at the end of the text, it keeps returning the end token.
func (l *lexer) next() token {
	l.skip()
	t := token{kind: tEOF, start: int32(l.pos), comments: int32(len(l.comments))}
	if l.pos < len(l.text) {
		l.scan(&t)
	}
	t.end = int32(l.pos)
	return t
}

// skip skips white space and comments.
func (l *lexer) skip() {
	own := l.pos == 0
	if l.pos == 0 && strings.HasPrefix(l.text, "\ufeff") {
		l.pos = len("\ufeff")
	}
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; c {
		case ' ', '\t', '\f':
			l.pos++
		case '\n', '\r':
			own = true
			l.pos++
		case '#':
			start := l.pos
			for l.pos < len(l.text) && l.text[l.pos] != '\n' && l.text[l.pos] != '\r' {
				l.pos++
			}
			l.comments = append(l.comments,
				Comment{Span{int32(start), int32(l.pos)}, strings.TrimRight(l.text[start:l.pos], " \t\f"), own})
		default:
			return
		}
	}
}

func (l *lexer) scan(t *token) {
	c := l.text[l.pos]
	switch {
	case c >= utf8.RuneSelf || class[c]&cLetter != 0:
		l.word(t)
	case class[c]&cDigit != 0:
		l.number(t)
	default:
		l.punctuation(t, c)
	}
}

func (l *lexer) at(i int) byte {
	if i < len(l.text) {
		return l.text[i]
	}
	return 0
}

// operators lists the tokens that consist of two punctuation marks.
var operators = map[string]kind{"<=": tLE, ">=": tGE, "!=": tNE, "||": tOr, "&&": tAnd, "^^": tHat2}

func (l *lexer) punctuation(t *token, c byte) {
	switch c {
	case '?', '$':
		if n := l.varName(l.pos + 1); n > l.pos+1 {
			t.kind, l.pos = tVar, n
			return
		}
	case '"', '\'':
		l.str(t, c)
		return
	case '<':
		if n := l.iri(l.pos + 1); n > 0 {
			t.kind, l.pos = tIRI, n
			return
		}
	case '.':
		if class[l.at(l.pos+1)]&cDigit != 0 {
			l.number(t)
			return
		}
	case ':':
		t.colon = int32(l.pos)
		l.pos = l.local(l.pos + 1)
		t.kind = tName
		return
	case '@':
		if n := l.lang(l.pos + 1); n > l.pos+1 {
			t.kind, l.pos = tLang, n
			return
		}
		l.bad(t, 1, "@ without a language tag", "")
		return
	case '%':
		if n := l.varName(l.pos + 1); n > l.pos+1 {
			t.kind, l.pos = tPercent, n
			return
		}
	}
	if k, ok := operators[l.text[l.pos:min(l.pos+2, len(l.text))]]; ok {
		t.kind = k
		l.pos += 2
		return
	}
	switch {
	case c == '&':
		l.bad(t, 1, "a single & is not an operator", "write && for \"and\"")
	case strings.IndexByte("?$<>!|^.%{}()[];,*/+-=", c) < 0:
		l.bad(t, 1, "a character that SPARQL does not allow here", "")
	default:
		t.kind = kind(c)
		l.pos++
	}
}

// bad makes t an error token of n bytes.
func (l *lexer) bad(t *token, n int, message, hint string) {
	t.kind = tBad
	l.pos = min(l.pos+n, len(l.text))
	p := positionIn(l.text, int(t.start))
	l.err = &Error{Line: p.Line, Column: p.Column, Offset: p.Offset, Found: Shorten(l.text[t.start:l.pos]),
		Message: message, Hint: hint}
}

// lang returns the end of a language tag that starts at i.
func (l *lexer) lang(i int) int {
	for i < len(l.text) && l.text[i] < utf8.RuneSelf && (class[l.text[i]]&cName != 0 && l.text[i] != '_') {
		i++
	}
	return i
}

// varName returns the end of a variable name that starts at i: PN_CHARS_U and digits (rule 166).
func (l *lexer) varName(i int) int {
	for i < len(l.text) {
		c := l.text[i]
		switch {
		case c < utf8.RuneSelf && class[c]&(cLetter|cDigit) != 0:
			i++
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(l.text[i:])
			if !nameRune(r) {
				return i
			}
			i += n
		case c == '\\':
			n := l.codepoint(i)
			if n == 0 {
				return i
			}
			i += n
		default:
			return i
		}
	}
	return i
}

// codepoint returns the length of a codepoint escape (\uXXXX, \UXXXXXXXX) at i, or 0.
func (l *lexer) codepoint(i int) int {
	n := 0
	switch l.at(i + 1) {
	case 'u':
		n = 4
	case 'U':
		n = 8
	default:
		return 0
	}
	if i+2+n > len(l.text) {
		return 0
	}
	for _, c := range []byte(l.text[i+2 : i+2+n]) {
		if !isHex(c) {
			return 0
		}
	}
	return 2 + n
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// nameRune reports whether r is a character in PN_CHARS (rules 164 to 167).
func nameRune(r rune) bool {
	switch {
	case r < 0x80:
		return class[r]&cName != 0
	case r == utf8.RuneError:
		return false
	case r < 0xC0:
		return r == 0xB7
	case r < 0x2000:
		return r != 0xD7 && r != 0xF7 && r != 0x37E
	case r < 0x2070:
		return r == 0x200C || r == 0x200D || r == 0x203F || r == 0x2040
	case r < 0x2190:
		return true
	case r < 0x2C00, r > 0x2FEF && r < 0x3001:
		return false
	case r >= 0xD800 && r < 0xF900, r >= 0xFDD0 && r < 0xFDF0, r > 0xFFFD && r < 0x10000, r > 0xEFFFF:
		return false
	}
	return true
}

// iri returns the end of an IRI reference whose content starts at i, or 0 if there is none.
func (l *lexer) iri(i int) int {
	for i < len(l.text) {
		switch c := l.text[i]; {
		case c == '>':
			return i + 1
		case c <= ' ' || c == '<' || c == '"' || c == '{' || c == '}' || c == '|' || c == '^' || c == '`':
			return 0
		case c == '\\':
			n := l.codepoint(i)
			if n == 0 {
				return 0
			}
			i += n
		default:
			i++
		}
	}
	return 0
}

// word scans a keyword, a prefixed name or a blank node's label.
func (l *lexer) word(t *token) {
	start, i, ascii := l.pos, l.pos, true
	for i < len(l.text) { // letters, digits and _
		c := l.text[i]
		if c >= utf8.RuneSelf {
			ascii = false
			break
		}
		if class[c]&(cLetter|cDigit) == 0 {
			break
		}
		i++
	}
	if ascii && l.at(i) != ':' && l.at(i) != '-' && l.at(i) != '.' && l.at(i) != '\\' {
		t.kind, l.pos = tWord, i
		if t.kw = lookup(l.text[start:i]); t.kw == kwNone {
			if n := glued(l.text[start:i]); n > 0 {
				t.kw, l.pos = lookup(l.text[start:start+n]), start+n
			}
		}
		return
	}
	end := l.name(i)
	if l.at(end) == ':' {
		t.kind, t.colon = tName, int32(end)
		l.pos = l.local(end + 1)
		if end == start+1 && l.text[start] == '_' {
			t.kind = tBlank
			if l.pos = l.name(end + 1); l.pos == end+1 || l.text[end+1] == '-' || l.text[end+1] == '.' {
				l.pos = end + 1
				l.bad(t, 0, "a blank node needs a label after _:", "")
			}
		}
		return
	}
	if i > start { // the ASCII part is a word
		t.kind, l.pos = tWord, i
		t.kw = lookup(l.text[start:i])
		return
	}
	if end > i { // a word that starts with a non-ASCII character
		t.kind, l.pos = tWord, end
		return
	}
	l.strange(t)
}

// strange reports a non-ASCII character that cannot be part of a name.
func (l *lexer) strange(t *token) {
	r, n := utf8.DecodeRuneInString(l.text[l.pos:])
	switch r {
	case '“', '”', '„', '«', '»', '‘', '’':
		l.bad(t, n, "a typographic quotation mark", `write plain quotation marks: "…"`)
	case '\u00a0', '\u200b', '\u202f', '\u2009':
		l.bad(t, n, "a special space character", "replace it with an ordinary space")
	case '–', '—', '−':
		l.bad(t, n, "a dash where a minus sign or hyphen should be", "write -")
	case utf8.RuneError:
		l.bad(t, n, "bytes that are not valid UTF-8", "")
	default:
		l.bad(t, n, "a character that SPARQL does not allow here", "")
	}
}

// name returns the end of the run of PN_CHARS and dots that starts at i, excluding any dots at its end.
func (l *lexer) name(i int) int {
	last := i
	for i < len(l.text) {
		c := l.text[i]
		switch {
		case c < utf8.RuneSelf && class[c]&cName != 0:
			i++
			last = i
		case c == '.':
			i++
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(l.text[i:])
			if !nameRune(r) {
				return last
			}
			i += n
			last = i
		case c == '\\' && l.codepoint(i) > 0:
			i += l.codepoint(i)
			last = i
		default:
			return last
		}
	}
	return last
}

// local returns the end of a local name (PN_LOCAL, rules 169 to 173) that starts at i; it may be empty.
func (l *lexer) local(i int) int {
	start, last := i, i
	for i < len(l.text) {
		c := l.text[i]
		switch {
		case c < utf8.RuneSelf && class[c]&cName != 0:
			if c == '-' && i == start {
				return last
			}
			i++
			last = i
		case c == ':':
			i++
			last = i
		case c == '.':
			if i == start {
				return last
			}
			i++
		case c == '%' && isHex(l.at(i+1)) && isHex(l.at(i+2)):
			i += 3
			last = i
		case c == '\\':
			n := l.codepoint(i)
			if n == 0 && strings.IndexByte("_~.-!$&'()*+,;=/?#@%", l.at(i+1)) >= 0 && i+1 < len(l.text) {
				n = 2
			}
			if n == 0 {
				return last
			}
			i += n
			last = i
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(l.text[i:])
			if !nameRune(r) {
				return last
			}
			i += n
			last = i
		default:
			return last
		}
	}
	return last
}
