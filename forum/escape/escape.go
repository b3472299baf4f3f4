// Package escape makes external text safe in wikitext.
package escape

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Text makes external text safe in wikitext. The result is displayed as the same text in any context (a list line,
// a table cell, a link's label, <code>) and never becomes markup. [Clean] describes what is removed.
func Text(s string, limit int) string { return escape(Clean(s, limit)) }

// Clean returns text on one line with single spaces. It keeps at most limit characters and replaces the rest with an
// ellipsis. Control and direction characters, which can hide text or forge strip markers, are removed.
func Clean(s string, limit int) string {
	var b strings.Builder
	n, blank := 0, true
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' || r == '\u0085':
			r = ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' && r != '\u200c':
			continue
		}
		if r == ' ' && blank {
			continue
		}
		if n++; n > limit {
			b.WriteString("…")
			break
		}
		blank = r == ' '
		b.WriteRune(r)
	}
	return strings.TrimSuffix(b.String(), " ")
}

// escape replaces characters with numeric entities wherever markup could start or end.
func escape(s string) string {
	var b strings.Builder
	text := []rune(s)
	for i, r := range text {
		if r < 0x80 && markup(text, i) {
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// markup reports whether the character at i could be part of markup. It assumes only two things about the context: the
// text is never at the start of a line, and it is followed by a space or a bracket.
func markup(text []rune, i int) bool {
	r, before, after := text[i], rune(0), rune(0)
	if i > 0 {
		before = text[i-1]
	}
	if i+1 < len(text) {
		after = text[i+1]
	}
	switch r {
	case '<', '{', '}', '[', ']', '|', '~':
		return true
	case '\'', '_': // quotes, and switches such as __NOTOC__
		return before == r || after == r
	case '!', '-': // a header cell, a rule
		return before == 0 || before == r || r == '!' && after == r
	case '*', '#', ';', '=':
		return before == 0
	case ':': // a list at the start; "mailto:x" and "https://" are links, but wdt:P31 is not
		return before == 0 || after == '/' || after != ' ' && linkScheme.MatchString(string(text[max(0, i-10):i]))
	case '&':
		rest := string(text[i:min(len(text), i+40)])
		if k := strings.IndexByte(rest[1:], '&'); k >= 0 {
			rest = rest[:k+1]
		}
		// browsers read &amp without a semicolon, too
		return entity.MatchString(rest) || html.UnescapeString(rest) != rest
	case '(': // a timestamp ends with its time zone: 10:00, 5 June 2024 (UTC)
		return zone.MatchString(string(text[i:min(len(text), i+10)]))
	case ' ': // MediaWiki links RFC 2324
		return magicLink.MatchString(string(text[max(0, i-4):i]))
	}
	return false
}

var (
	entity = regexp.MustCompile(`^&(#[0-9]+|#[xX][0-9a-fA-F]+|\pL[\pL0-9]*);`)
	// time zone abbreviations; other abbreviations in parentheses, such as airport codes, are plain text
	zone = regexp.MustCompile(`^\(([A-Z]{1,4}T|UTC|MSK|MSD|MEZ|MESZ|HNE|HAE|WIB|WITA)\)`)
	// URL schemes that are not followed by slashes (from MediaWiki's default for $wgUrlProtocols)
	linkScheme = regexp.MustCompile(`(?i)(bitcoin|geo|magnet|mailto|matrix|news|sips?|sms|tel|urn|xmpp)$`)
	magicLink  = regexp.MustCompile(`(RFC|ISBN|PMID)$`)
)

// Title reports whether a string can be used as a link target as is: whether it contains only letters, marks, digits,
// spaces, and punctuation that has no special meaning in MediaWiki.
func Title(s string) bool {
	if s == "" || strings.Contains(s, "''") || strings.Contains(s, "//") || strings.Contains(s, "__") ||
		strings.Contains(s, "..") || strings.TrimSpace(s) != s {
		return false
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) &&
			!strings.ContainsRune(" -,.:;?!()'\"/’“”–—…", r) {
			return false
		}
	}
	return true
}
