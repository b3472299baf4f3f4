package sparql

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLabel is the maximum length of a label in a comment, in characters.
const maxLabel = 80

// CleanLabel makes an untrusted label safe for a comment: one line, no control or directional characters, no markup,
// and limited length.
func CleanLabel(s string) string {
	var b strings.Builder
	n, space := 0, true // leading white space is dropped
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || r == '\u0085':
			if !space {
				b.WriteByte(' ')
				space = true
			}
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			continue
		}
		if n++; n > maxLabel {
			b.WriteString("…")
			break
		}
		space = false
		b.WriteRune(plainMark(r))
	}
	return strings.TrimSpace(b.String())
}

// plainMark replaces wiki markup characters and characters that separate labels.
func plainMark(r rune) rune {
	switch r {
	case '{', '[', '<':
		return '('
	case '}', ']', '>':
		return ')'
	case '|':
		return '/'
	case '~':
		return '-'
	case ';':
		return ','
	case '#':
		return '♯'
	}
	return r
}

// labelOf returns the label of the ID that t names.
func (p *printer) labelOf(t *Term) string {
	if t.Kind != Const || !t.IsIRI() {
		return ""
	}
	if id := p.o.id(t.Value().Value); id != "" {
		return CleanLabel(p.o.Label(id))
	}
	return ""
}

// labeled adds the labels of the IDs on a line to the line's comments. A label that a comment already contains as a
// whole word is not repeated, so annotating an annotated line changes nothing.
func (p *printer) labeled(comments []string) []string {
	if p.o.Replace || p.o.OneLine {
		return comments
	}
	old := strings.Join(comments, " ")
	var fresh []string
	seen := map[string]bool{}
	for _, id := range p.ids {
		l := CleanLabel(p.o.Label(id))
		if l == "" || seen[l] {
			continue
		}
		seen[l] = true
		if !containsWord(old, l) {
			fresh = append(fresh, l)
		}
	}
	if len(fresh) == 0 {
		return comments
	}
	s := "# " + strings.Join(fresh, "; ")
	if p.o.posting {
		s = postingComment(s)
	}
	if len(comments) == 0 {
		return []string{s}
	}
	// one comment: # Rhine – change this for another river
	rest := strings.TrimLeft(comments[0], "# ")
	return append([]string{s + " – " + rest}, comments[1:]...)
}

// containsWord reports whether s contains word with no letter or digit directly before or after it.
func containsWord(s, word string) bool {
	for i := 0; ; {
		j := strings.Index(s[i:], word)
		if j < 0 {
			return false
		}
		start, end := i+j, i+j+len(word)
		if !letterBefore(s[:start]) && !letterAfter(s[end:]) {
			return true
		}
		i = start + 1
	}
}

func letterBefore(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && wordRune(r)
}

func letterAfter(s string) bool {
	for _, r := range s {
		return wordRune(r)
	}
	return false
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
