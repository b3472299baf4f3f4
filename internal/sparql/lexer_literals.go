package sparql

import (
	"strings"
	"unicode/utf8"
)

// number scans an unsigned number (rules 146 to 148).
func (l *lexer) number(t *token) {
	i := l.digits(l.pos)
	t.kind = tInteger
	if l.at(i) == '.' {
		if j := l.digits(i + 1); j > i+1 {
			i = j
			t.kind = tDecimal
		} else if l.exponent(i+1) > 0 {
			i++
		}
	}
	if e := l.exponent(i); e > 0 {
		i = e
		t.kind = tDouble
	}
	l.pos = i
}

func (l *lexer) digits(i int) int {
	for i < len(l.text) && l.text[i] >= '0' && l.text[i] <= '9' {
		i++
	}
	return i
}

// exponent returns the end of an exponent at i, or 0.
func (l *lexer) exponent(i int) int {
	if c := l.at(i); c != 'e' && c != 'E' {
		return 0
	}
	i++
	if c := l.at(i); c == '+' || c == '-' {
		i++
	}
	if j := l.digits(i); j > i {
		return j
	}
	return 0
}

// str scans a string literal with the quotation mark q, without a language tag or datatype.
func (l *lexer) str(t *token, q byte) {
	t.kind = tString
	i := l.pos + 1
	if l.at(i) == q && l.at(i+1) == q {
		l.long(t, q)
		return
	}
	for i < len(l.text) {
		switch l.text[i] {
		case q:
			l.pos = i + 1
			return
		case '\\':
			i += 2
			continue
		case '\n', '\r':
			l.bad(t, i-l.pos, "a string that does not end on its line",
				"close the quotation mark, or use three of them for a text of several lines")
			return
		}
		i++
	}
	l.bad(t, len(l.text), "a string that does not end", "close the quotation mark")
}

func (l *lexer) long(t *token, q byte) {
	for i := l.pos + 3; i < len(l.text); i++ {
		switch {
		case l.text[i] == '\\':
			i++
		case l.text[i] == q && l.at(i+1) == q && l.at(i+2) == q:
			l.pos = i + 3
			return
		}
	}
	l.bad(t, len(l.text), "a string in three quotation marks that does not end", "close it with three quotation marks")
}

// Shorten returns the first line of s, truncated to about 40 bytes, for use in a message.
func Shorten(s string) string {
	const limit = 40
	if i := strings.IndexAny(s, "\n\r"); i >= 0 {
		s = s[:i]
	}
	if len(s) <= limit {
		return s
	}
	n := limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
