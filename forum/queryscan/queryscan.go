// Package queryscan implements just enough of SPARQL to find the end of a query in wikitext: strings, comments, IRIs
// and braces.
package queryscan

import "strings"

// SkipToken skips a string, an IRI or a comment that starts at i in s, so that braces in it are ignored. For a
// quotation mark or "<" that does not start a token, it skips one byte.
func SkipToken(s string, i int) int {
	switch c := s[i]; c {
	case '#':
		if k := strings.IndexByte(s[i:], '\n'); k >= 0 {
			return i + k
		}
		return len(s)
	case '"', '\'':
		if i+2 < len(s) && s[i+1] == c && s[i+2] == c {
			if k := strings.Index(s[i+3:], s[i:i+3]); k >= 0 {
				return i + 3 + k + 3
			}
			return i + 3
		}
		for j := i + 1; j < len(s) && s[j] != '\n'; j++ {
			if s[j] == '\\' {
				j++
			} else if s[j] == c {
				return j + 1
			}
		}
		return i + 1
	case '<':
		for j := i + 1; j < len(s); j++ {
			switch b := s[j]; {
			case b == '>':
				return j + 1
			case b <= ' ' || strings.IndexByte("<\"{}|^`\\", b) >= 0:
				return i + 1
			}
		}
		return i + 1
	}
	return i + 1
}

// Balanced reports whether the braces in a query are balanced. Those in literals, IRIs and comments do not count.
func Balanced(q string) bool {
	depth := 0
	for i := 0; i < len(q); {
		switch q[i] {
		case '{':
			depth++
			i++
		case '}':
			if depth--; depth < 0 {
				return false
			}
			i++
		case '"', '\'', '<', '#':
			i = SkipToken(q, i)
		default:
			i++
		}
	}
	return depth == 0
}

var queryForms = []string{"select", "ask", "construct", "describe"}

// WordAt reports whether the word w, which must be lowercase, is at i in s, ignoring case.
func WordAt(s string, i int, w string) bool {
	j := i + len(w)
	if j > len(s) || !strings.EqualFold(s[i:j], w) {
		return false
	}
	return (i == 0 || !IsWord(s[i-1])) && (j == len(s) || !IsWord(s[j]))
}

// IsWord reports whether a byte may be part of a word.
func IsWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80
}

// FormAt returns the offset after the first query form keyword at or after i that is outside comments, strings and
// IRIs, or -1 if there is none.
func FormAt(s string, i int) int {
	for i < len(s) {
		if n := FormLength(s, i); n > 0 && (i == 0 || !strings.ContainsRune("?:$", rune(s[i-1]))) {
			return i + n
		}
		i = SkipToken(s, i)
	}
	return -1
}

// FormLength returns the length of the query form keyword at i in s, or 0 if there is none.
func FormLength(s string, i int) int {
	for _, w := range queryForms {
		if WordAt(s, i, w) {
			return len(w)
		}
	}
	return 0
}

// LooksLikeQuery reports whether a string looks like a SPARQL query, that is, has a query form followed by an opening
// brace, and contains a variable or a prefixed name.
func LooksLikeQuery(s string) bool {
	i := FormAt(s, 0)
	if i < 0 {
		return false
	}
	k := strings.IndexByte(s[i:], '{')
	return k >= 0 && strings.ContainsAny(s, "?$:")
}

// StartsQuery reports whether a string starts with a comment, a prologue or a query form, as a query does.
func StartsQuery(s string) bool {
	return strings.HasPrefix(s, "#") || WordAt(s, 0, "prefix") || WordAt(s, 0, "base") || FormLength(s, 0) > 0
}

// End returns the offset after the query that starts at i: after its outermost closing brace and the solution
// modifier lines that follow it.
func End(s string, i int) (int, bool) {
	depth, seen := 0, false
	for i < len(s) {
		switch s[i] {
		case '{':
			depth++
			seen = true
			i++
		case '}':
			depth--
			i++
			if depth < 0 {
				return 0, false
			}
			if depth == 0 && seen {
				if j := afterGroup(s, i); j > i && s[j] == '{' { // a second group: WITH { … } AS %x WHERE { … }
					i = j
					continue
				}
				return modifiersEnd(s, i), true
			}
		case '"', '\'', '<', '#':
			i = SkipToken(s, i)
		default:
			i++
		}
	}
	return 0, false
}

// afterGroup returns the offset of the brace that opens another group in the same query (named subqueries), or i.
func afterGroup(s string, i int) int {
	j := i
	for j < len(s) && j < i+200 {
		switch c := s[j]; {
		case c == '{':
			if strings.Contains(strings.ToLower(s[i:j]), "where") || strings.Contains(s[i:j], "%") {
				return j
			}
			return i
		case c == '}' || c == '.' && j+1 < len(s) && s[j+1] == ' ':
			return i
		}
		j++
	}
	return i
}

var modifiers = []string{"group", "order", "having", "limit", "offset", "values"}

// modifiersEnd returns the offset after the solution modifiers that follow a group.
func modifiersEnd(s string, i int) int {
	for {
		j := i
		// list characters, if the query is in a reply
		for j < len(s) && (Blank(s[j]) || j > 0 && (s[j-1] == '\n' || s[j-1] == ':') && s[j] == ':') {
			j++
		}
		found := false
		for _, w := range modifiers {
			if found = WordAt(s, j, w); found {
				break
			}
		}
		if !found {
			return i
		}
		k := strings.IndexByte(s[j:], '\n')
		if k < 0 {
			return len(s)
		}
		if WordAt(s, j, "values") {
			if e, ok := End(s, j+6); ok {
				i = e
				continue
			}
		}
		i = j + k
	}
}

// Blank reports whether a byte is white space.
func Blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
