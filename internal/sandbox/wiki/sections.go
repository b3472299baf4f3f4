package wiki

import (
	"sort"
	"strconv"
	"strings"
)

// heading is a section heading in wikitext.
type heading struct {
	level      int
	text       string // between the equals signs
	start, end int    // byte offsets of the heading's line, without the newline
	hidden     bool   // whether it is in a template's parameter: it is numbered but does not start a section of this page
}

// blank replaces opaque parts, including newlines, with spaces of the same length, so that offsets stay valid.
func blank(text string) string {
	b := []byte(text)
	for _, span := range literals(text) {
		for i := span[0]; i < span[1]; i++ {
			b[i] = ' '
		}
	}
	return string(b)
}

// literals returns the byte ranges of comments and literal tags. An unclosed comment extends to the end of the text; an
// unclosed tag is not a tag.
func literals(text string) [][2]int {
	var out [][2]int
	unclosed := map[string]bool{} // tags that are not closed in the rest of the text
	for i := 0; i < len(text); {
		n := strings.IndexByte(text[i:], '<')
		if n < 0 {
			break
		}
		i += n
		end := literalEnd(text, i, unclosed)
		if end == i {
			i++
			continue
		}
		out = append(out, [2]int{i, end})
		i = end
	}
	return out
}

// literalTags are the tags whose content is not wikitext.
var literalTags = []string{"nowiki", "pre", "source", "syntaxhighlight", "math"}

// literalEnd returns the end of the comment or literal element that starts at i, or i if there is none.
func literalEnd(text string, i int, unclosed map[string]bool) int {
	if strings.HasPrefix(text[i:], "<!--") {
		if n := strings.Index(text[i+4:], "-->"); n >= 0 {
			return i + 4 + n + 3
		}
		return len(text)
	}
	for _, tag := range literalTags {
		open := tagEnd(text, i, tag)
		switch {
		case open == i:
			continue
		case text[open-2] == '/':
			return open
		case unclosed[tag]:
			return i
		}
		if n := indexFold(text[open:], "</"+tag); n >= 0 {
			if m := strings.IndexByte(text[open+n:], '>'); m >= 0 {
				return open + n + m + 1
			}
		}
		unclosed[tag] = true
		return i
	}
	return i
}

// tagEnd returns the end of the opening tag with the given name at i, or i if there is none.
func tagEnd(text string, i int, name string) int {
	j := i + 1 + len(name)
	if j >= len(text) || !strings.EqualFold(text[i+1:j], name) || isNameByte(text[j]) {
		return i
	}
	n := strings.IndexByte(text[j:min(len(text), j+1000)], '>')
	if n < 0 || strings.IndexByte(text[j:j+n], '<') >= 0 {
		return i
	}
	return j + n + 1
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// indexFold is like strings.Index for an ASCII substring, but ignores case.
func indexFold(s, needle string) int {
	for i := 0; i+len(needle) <= len(s); i++ {
		if n := strings.IndexByte(s[i:], needle[0]); n < 0 {
			return -1
		} else if i += n; i+len(needle) <= len(s) && strings.EqualFold(s[i:i+len(needle)], needle) {
			return i
		}
	}
	return -1
}

// headings returns the headings on a page, in order. MediaWiki's section n starts at headings(text)[n-1]. Headings
// inside templates also count.
func headings(text string) []heading {
	masked := blank(text)
	braces := braceSpans(masked)
	var out []heading
	for start := 0; start < len(masked); {
		end := len(masked)
		if n := strings.IndexByte(masked[start:], '\n'); n >= 0 {
			end = start + n
		}
		if masked[start] == '=' {
			if level, from, to := headingLine(masked[start:end]); level > 0 {
				out = append(out, heading{level: level, text: strings.TrimSpace(text[start+from : start+to]), start: start,
					end: end, hidden: within(braces, start)})
			}
		}
		start = end + 1
	}
	return out
}

// headingLine parses a "== text ==" line. It returns the level and the range of the text; the level is 0 if the line is
// not a heading.
func headingLine(line string) (level, from, to int) {
	line = strings.TrimRight(line, " \t")
	left := len(line) - len(strings.TrimLeft(line, "="))
	right := len(line) - len(strings.TrimRight(line, "="))
	if left == len(line) { // a line of nothing but equals signs: those in the middle are the text
		if left < 3 {
			return 0, 0, 0
		}
		level = min(6, (left-1)/2)
		return level, level, len(line) - level
	}
	level = min(6, left, right)
	return level, level, len(line) - level
}

// sectionRange returns the byte range of a section: its heading and everything up to the next heading of the same or a
// higher level. Section 0 is the text before the first heading.
func sectionRange(text string, number int) (start, end int, ok bool) {
	hs := headings(text)
	if number == 0 {
		for _, h := range hs {
			if !h.hidden {
				return 0, h.start, true
			}
		}
		return 0, len(text), true
	}
	if number < 0 || number > len(hs) || hs[number-1].hidden {
		return 0, 0, false
	}
	h := hs[number-1]
	for _, next := range hs[number:] {
		if next.level <= h.level && !next.hidden {
			return h.start, next.start, true
		}
	}
	return h.start, len(text), true
}

// replaceSection replaces a section with text; section "" is the whole page. As in MediaWiki, every section except the
// last is followed by a blank line.
func replaceSection(page, section, text string) (string, error) {
	if section == "" {
		return text, nil
	}
	n, err := strconv.Atoi(section)
	if err != nil {
		return "", errNoSection
	}
	start, end, ok := sectionRange(page, n)
	if !ok {
		return "", errNoSection
	}
	if end < len(page) {
		if text = strings.TrimRight(text, " \t\n"); text != "" || n == 0 && start != end {
			text += "\n\n"
		}
	}
	return strings.TrimRight(page[:start]+text+page[end:], " \t\n"), nil
}

// appendSection adds a new section at the end.
func appendSection(page, head, text string) string {
	if head != "" {
		text = "== " + head + " ==\n\n" + text
	}
	if page = strings.TrimRight(page, "\n"); page == "" {
		return text
	}
	return page + "\n\n" + text
}

// braceSpans returns the ranges of the outermost templates {{ … }}, in order.
func braceSpans(masked string) [][2]int {
	var out [][2]int
	var open []int
	for i := 0; i+1 < len(masked); {
		switch pair := masked[i : i+2]; {
		case pair == "{{":
			open = append(open, i)
			i += 2
		case pair == "}}" && len(open) > 0:
			start := open[len(open)-1]
			open = open[:len(open)-1]
			for len(out) > 0 && out[len(out)-1][0] > start {
				out = out[:len(out)-1]
			}
			i += 2
			out = append(out, [2]int{start, i})
		default:
			i++
		}
	}
	return out
}

// within reports whether any of the sorted ranges contains the offset.
func within(spans [][2]int, at int) bool {
	n := sort.Search(len(spans), func(i int) bool { return spans[i][1] > at })
	return n < len(spans) && spans[n][0] <= at
}
