package sparql

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescapeString resolves the escapes in a string's content (rule 160 and codepoint escapes); bad is the offset of an
// unknown escape, or -1.
func unescapeString(s string) (out string, bad int) {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 >= len(s) {
			return "", i
		}
		if r, n := codepointAt(s, i); n > 0 {
			b.WriteRune(r)
			i += n - 1
			continue
		}
		j := strings.IndexByte(`tbnrf"'\`, s[i+1])
		if j < 0 {
			return "", i
		}
		b.WriteByte("\t\b\n\r\f\"'\\"[j])
		i++
	}
	return b.String(), -1
}

// codepointAt decodes a codepoint escape at s[i:]; n is 0 if there is none.
func codepointAt(s string, i int) (r rune, n int) {
	if i+1 >= len(s) || s[i] != '\\' {
		return 0, 0
	}
	switch s[i+1] {
	case 'u':
		n = 6
	case 'U':
		n = 10
	default:
		return 0, 0
	}
	if i+n > len(s) {
		return 0, 0
	}
	v, err := strconv.ParseUint(s[i+2:i+n], 16, 32)
	if err != nil || !utf8.ValidRune(rune(v)) {
		return 0, 0
	}
	return rune(v), n
}

// unescapeCodepoints resolves codepoint escapes and leaves everything else unchanged.
func unescapeCodepoints(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return unescape(s, false)
}

// unescapeName resolves codepoint escapes and the backslash escapes in local names (rule 173).
func unescapeName(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return unescape(s, true)
}

func unescape(s string, local bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if r, n := codepointAt(s, i); n > 0 {
			b.WriteRune(r)
			i += n - 1
			continue
		}
		if local && s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// plainPunctuation resolves codepoint escapes for punctuation outside strings, names and comments, such as \u007C\u007C
// for ||, which people use to get around wiki templates (SPARQL 1.1, section 19.2). Everything else is left unchanged.
// Positions in the result differ from those in text after the first resolved escape.
func plainPunctuation(text string) string {
	if !strings.Contains(text, `\u00`) {
		return text
	}
	var b strings.Builder
	done := 0
	l := lexer{text: text}
	for t := l.next(); t.kind != tEOF; t = l.next() {
		if t.kind != tBad || text[t.start] != '\\' {
			continue
		}
		r, n := codepointAt(text, int(t.start))
		if n == 0 || r >= utf8.RuneSelf {
			continue
		}
		b.WriteString(text[done:t.start])
		b.WriteRune(r)
		done = int(t.start) + n
		l.pos = done
	}
	b.WriteString(text[done:])
	return b.String()
}
