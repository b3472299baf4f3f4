package wiki

import (
	"html"
	"regexp"
	"strings"
)

// item is one line of a list, or a table in a list.
type item struct {
	prefix string
	html   string
}

// items returns the items of the list at the start of ls, and the number of lines in the list. If a table starts on a
// list line, all of the table's lines belong to that item.
func (r *renderer) items(ls []line, depth int) (n int, out []item) {
	for n < len(ls) {
		l := ls[n]
		prefix := listPrefix(l.text)
		if prefix == "" {
			break
		}
		if len(prefix) > maxDepth {
			prefix = prefix[:maxDepth]
		}
		rest := l.text[len(listPrefix(l.text)):]
		if strings.HasPrefix(strings.TrimLeft(rest, " "), "{|") {
			if k := tableEnd(ls[n:]); k > 0 {
				rows := append([]line{{rest, -1}}, ls[n+1:n+k]...)
				out = append(out, item{prefix, r.table(rows, depth)})
				n += k
				continue
			}
		}
		content := r.signedLine(strings.TrimSpace(rest))
		if prefix[len(prefix)-1] == ';' {
			content = "<strong>" + content + "</strong>"
		}
		out = append(out, item{prefix, content + r.afterComment(l, prefix)})
		n++
	}
	return n, out
}

// list renders items whose prefixes have the same first depth characters. As in MediaWiki, a more deeply nested line
// belongs to the preceding item.
func (r *renderer) list(items []item, depth int) string {
	var b strings.Builder
	for i := 0; i < len(items); {
		open, close, li := listTags(items[i].prefix[depth])
		b.WriteString(open)
		kind := items[i].prefix[depth]
		for i < len(items) && listTag(items[i].prefix[depth]) == listTag(kind) {
			j := i + 1
			for j < len(items) && len(items[j].prefix) > depth+1 && listTag(items[j].prefix[depth]) == listTag(kind) {
				j++
			}
			b.WriteString("<" + li + ">")
			nested := items[i:j]
			if len(items[i].prefix) == depth+1 {
				b.WriteString(items[i].html)
				nested = nested[1:]
			}
			if len(nested) > 0 {
				b.WriteString(r.list(nested, depth+1))
			}
			b.WriteString("</" + li + ">\n")
			i = j
		}
		b.WriteString(close)
	}
	return b.String()
}

// listTag returns the list element for a list character.
func listTag(c byte) byte {
	if c == ';' {
		return ':'
	}
	return c
}

func listTags(c byte) (open, close, li string) {
	switch c {
	case '*':
		return "<ul>", "</ul>\n", "li"
	case '#':
		return "<ol>", "</ol>\n", "li"
	}
	return "<dl>", "</dl>\n", "dd"
}

// maxTable is the maximum number of lines in a table.
const maxTable = 1000

// tableEnd returns the number of lines in the table that starts at the first line, including its closing line, or 0 if
// the table is never closed.
func tableEnd(ls []line) int {
	depth := 0
	for i, l := range ls[:min(len(ls), maxTable)] {
		t := strings.TrimLeft(l.text, " :*#;")
		switch {
		case strings.HasPrefix(t, "{|"):
			depth++
		case strings.HasPrefix(t, "|}"):
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// row is a row in a table that is being parsed.
type row struct {
	cells []cell
}

type cell struct {
	header bool
	attrs  string
	lines  []line
}

var spanAttr = regexp.MustCompile(`(?i)\b(colspan|rowspan)\s*=\s*"?(\d{1,2})"?`)

// table renders {| … |}. A table with the mw-collapsible class becomes a <details> element whose summary is the first
// header row.
func (r *renderer) table(ls []line, depth int) string {
	if depth > maxDepth {
		return "<p>" + html.EscapeString(ls[0].text) + "</p>\n"
	}
	class := strings.ToLower(ls[0].text)
	caption := ""
	rows := []row{{}}
	for i := 1; i < len(ls)-1; i++ {
		t := strings.TrimLeft(ls[i].text, " ")
		cur := &rows[len(rows)-1]
		switch {
		case strings.HasPrefix(t, "{|") && tableEnd(ls[i:]) > 0 && len(cur.cells) > 0:
			n := tableEnd(ls[i:])
			last := &cur.cells[len(cur.cells)-1]
			last.lines = append(last.lines, ls[i:i+n]...)
			i += n - 1
		case strings.HasPrefix(t, "|+"):
			caption = r.inline(strings.TrimSpace(t[2:]), 0)
		case strings.HasPrefix(t, "|-"):
			rows = append(rows, row{})
		case strings.HasPrefix(t, "|"):
			cur.cells = append(cur.cells, cells(t[1:], false)...)
		case strings.HasPrefix(t, "!"):
			cur.cells = append(cur.cells, cells(t[1:], true)...)
		case len(cur.cells) > 0:
			last := &cur.cells[len(cur.cells)-1]
			last.lines = append(last.lines, line{ls[i].text, -1})
		}
	}
	summary := ""
	if strings.Contains(class, "mw-collapsible") {
		summary, rows = r.summary(rows)
	}
	out := r.rows(rows, caption, depth)
	if strings.Contains(class, "word-break:normal") { // the only table style that is kept
		out = strings.Replace(out, `<table class="wikitable">`, `<table class="wikitable whole">`, 1)
	}
	if summary == "" {
		return out
	}
	open := " open"
	if strings.Contains(class, "mw-collapsed") {
		open = ""
	}
	return `<details class="steps"` + open + "><summary>" + summary + "</summary>" + out + "</details>\n"
}

// summary removes the first row if it contains headers, and returns it for use as the <details> summary.
func (r *renderer) summary(rows []row) (string, []row) {
	for i, row := range rows {
		if len(row.cells) == 0 {
			continue
		}
		if !row.cells[0].header {
			return "Details", rows
		}
		var parts []string
		for _, c := range row.cells {
			parts = append(parts, r.inline(c.text(), 0))
		}
		return strings.Join(parts, " "), rows[i+1:]
	}
	return "Details", rows
}

func (c cell) text() string {
	var parts []string
	for _, l := range c.lines {
		parts = append(parts, l.text)
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// cells parses the cells on one line. It drops attributes before a single pipe, except colspan and rowspan.
func cells(s string, header bool) []cell {
	parts := splitOutside(s, "||")
	if header {
		parts = nil
		for _, p := range splitOutside(s, "!!") {
			parts = append(parts, splitOutside(p, "||")...)
		}
	}
	var out []cell
	for _, p := range parts {
		c := cell{header: header}
		if attrs, rest, ok := strings.Cut(p, "|"); ok && !strings.Contains(attrs, "[[") && !strings.Contains(attrs, "\x7f") {
			for _, m := range spanAttr.FindAllStringSubmatch(attrs, 2) {
				c.attrs += " " + strings.ToLower(m[1]) + `="` + m[2] + `"`
			}
			p = rest
		}
		c.lines = []line{{strings.TrimSpace(p), -1}}
		out = append(out, c)
	}
	return out
}

// splitOutside splits at a separator that is not inside a link.
func splitOutside(s, sep string) []string {
	var out []string
	start, depth := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "[["):
			depth++
			i++
		case strings.HasPrefix(s[i:], "]]") && depth > 0:
			depth--
			i++
		case depth == 0 && strings.HasPrefix(s[i:], sep):
			out = append(out, s[start:i])
			start = i + len(sep)
			i = start - 1
		}
	}
	return append(out, s[start:])
}

// rows renders the rows of a table. A table with a single cell becomes a box.
func (r *renderer) rows(rows []row, caption string, depth int) string {
	var b strings.Builder
	filled := 0
	var only cell
	for _, row := range rows {
		filled += len(row.cells)
		if len(row.cells) > 0 {
			only = row.cells[0]
		}
	}
	if filled == 1 && !only.header && caption == "" {
		return `<div class="box">` + r.cell(only, depth) + "</div>\n"
	}
	b.WriteString(`<div class="table"><table class="wikitable">`)
	if caption != "" {
		b.WriteString("<caption>" + caption + "</caption>")
	}
	for _, row := range rows {
		if len(row.cells) == 0 {
			continue
		}
		b.WriteString("<tr>")
		for _, c := range row.cells {
			tag := "td"
			if c.header {
				tag = `th scope="col"`
			}
			b.WriteString("<" + tag + c.attrs + ">" + r.cell(c, depth) + "</" + tag[:2] + ">")
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table></div>\n")
	return b.String()
}

// cell renders the content of a cell, as running text if it is one line, otherwise as blocks.
func (r *renderer) cell(c cell, depth int) string {
	if len(c.lines) == 1 {
		return r.inline(c.lines[0].text, 0)
	}
	return r.blocks(c.lines, depth+1)
}
