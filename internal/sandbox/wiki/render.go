package wiki

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// renderOptions contains the information that the renderer needs from the wiki.
type renderOptions struct {
	queryURL string                    // the part of a "Try it!" link before the percent-encoded query
	exists   func(title string) bool   // reports whether a page exists; if nil, all pages exist
	isBot    func(user string) bool    // reports whether to mark a user's signatures; if nil, none are marked
	reply    func(c commentEnd) string // returns HTML to add after each signed comment; may be nil
}

// commentEnd is the end of a signed comment.
type commentEnd struct {
	offset  int    // offset of the end of the comment's last line in the page's wikitext
	prefix  string // the list characters at the start of that line
	user    string // the user who signed the comment; "" if the signature has no valid name
	heading string // of the thread, without markup; "" before the first thread
}

// document is rendered wikitext.
type document struct {
	html      string
	templates []string // names, in order of first use
	links     []string // external links
}

// maxDepth limits the nesting of templates, tables, lists, and links in labels.
const maxDepth = 20

// render returns wikitext as HTML. All text is escaped; only tags that the renderer itself writes are HTML. Wikitext
// that render does not understand is shown as text.
//
// Like MediaWiki's old parser, it works in two passes. The first replaces templates and literal tags with markers, each
// a number between two DEL characters (U+007F, which the text itself cannot contain). Every line break that is left is
// part of the page's structure. The second pass renders the lines, including the links and quotes within them, and
// replaces the markers with their HTML.
func render(text string, o renderOptions) document {
	r := &renderer{o: o, anchors: map[string]int{}}
	prepared := r.prepare(text, 0)
	body := r.blocks(r.split(prepared, r.ends), 0)
	if r.inThread {
		body += "</section>\n"
	}
	return document{html: body, templates: r.templates, links: r.links}
}

type renderer struct {
	o         renderOptions
	markers   []marker
	ends      []int // source offset of each newline that the first pass wrote, and of the end
	templates []string
	links     []string
	anchors   map[string]int
	inThread  bool
	thread    string // the thread's heading, without markup
}

// marker contains the rendered HTML that the second pass writes in place of a marker in the text.
type marker struct {
	html  string
	block bool // whether it must be outside paragraphs
}

// mark saves HTML for the second pass and returns its marker.
func (r *renderer) mark(html string, block bool) string {
	r.markers = append(r.markers, marker{html, block})
	return "\x7f" + strconv.Itoa(len(r.markers)-1) + "\x7f"
}

// prepare is the first pass. At depth 0, it records where each line ends in the source.
func (r *renderer) prepare(text string, depth int) string {
	masked := blank(text)
	spans := braceSpans(masked)
	lits := literals(text)
	var b strings.Builder
	for i := 0; i < len(text); {
		switch {
		case len(lits) > 0 && i > lits[0][0]:
			lits = lits[1:] // the literal was inside a template
		case len(spans) > 0 && i == spans[0][0]:
			b.WriteString(r.template(text[i:spans[0][1]], depth))
			i, spans = spans[0][1], spans[1:]
		case len(lits) > 0 && i == lits[0][0]:
			b.WriteString(r.literal(text[i:lits[0][1]]))
			i, lits = lits[0][1], lits[1:]
		case text[i] == '\x7f':
			i++
		case text[i] == '<' && invisibleTag.MatchString(text[i:min(len(text), i+longestInvisible)]):
			i += len(invisibleTag.FindString(text[i:min(len(text), i+longestInvisible)]))
		default:
			if text[i] == '\n' && depth == 0 {
				r.ends = append(r.ends, i)
			}
			b.WriteByte(text[i])
			i++
		}
	}
	if depth == 0 {
		r.ends = append(r.ends, len(text))
	}
	return b.String()
}

// invisibleTag matches tags for transclusion and translation, which are not shown on the page.
var invisibleTag = regexp.MustCompile(`(?i)^</?(?:noinclude|onlyinclude|languages|translate)\s*/?>`)

// longestInvisible is greater than the length of any such tag.
const longestInvisible = 24

var tagParts = regexp.MustCompile(`(?is)^<([a-z]+)([^>]*)>(.*?)(?:</[a-z]+\s*>)?$`)
var langAttr = regexp.MustCompile(`(?i)\blang\s*=\s*["']?([a-z0-9]+)`)

// literal renders a literal tag. A comment renders as nothing.
func (r *renderer) literal(src string) string {
	m := tagParts.FindStringSubmatch(src)
	if strings.HasPrefix(src, "<!--") || m == nil || strings.HasSuffix(m[2], "/") {
		return ""
	}
	content := strings.ReplaceAll(m[3], "\x7f", "")
	switch strings.ToLower(m[1]) {
	case "nowiki":
		return r.mark(escapeKeepingEntities(content), false)
	case "pre":
		return r.mark("<pre>"+escapeKeepingEntities(strings.TrimPrefix(content, "\n"))+"</pre>", true)
	case "math":
		return r.mark("<code>"+html.EscapeString(content)+"</code>", false)
	}
	shown := html.EscapeString
	if lang := langAttr.FindStringSubmatch(m[2]); lang != nil && strings.EqualFold(lang[1], "sparql") {
		shown = highlight
	}
	content = strings.Trim(content, "\n")
	if strings.Contains(strings.ToLower(m[2]), "inline") {
		return r.mark(`<code class="mw-highlight">`+shown(content)+"</code>", false)
	}
	return r.mark(`<div class="mw-highlight"><pre>`+shown(content)+"</pre></div>", true)
}

// escapeKeepingEntities escapes text but keeps character entities.
func escapeKeepingEntities(s string) string { return html.EscapeString(html.UnescapeString(s)) }

// line is a line in the second pass.
type line struct {
	text string
	end  int // offset of its end in the source; -1 inside tables and templates
}

// split splits prepared text into lines. If ends is nil, the lines have no offsets.
func (r *renderer) split(s string, ends []int) []line {
	parts := strings.Split(s, "\n")
	out := make([]line, len(parts))
	for i, p := range parts {
		out[i] = line{p, -1}
		if i < len(ends) {
			out[i].end = ends[i]
		}
	}
	return out
}

// blocks renders lines: headings, lists, tables, preformatted lines, paragraphs.
func (r *renderer) blocks(ls []line, depth int) string {
	var b strings.Builder
	for i := 0; i < len(ls); {
		text := ls[i].text
		list := listPrefix(text)
		switch level, from, to := headingAt(text); {
		case strings.TrimSpace(text) == "":
			i++
		case level > 0:
			b.WriteString(r.heading(level, strings.TrimSpace(text[from:to]), depth))
			i++
		case strings.HasPrefix(strings.TrimLeft(text[len(list):], " "), "{|") && tableEnd(ls[i:]) > 0 && list == "":
			n := tableEnd(ls[i:])
			b.WriteString(r.table(ls[i:i+n], depth))
			i += n
		case list != "":
			n, items := r.items(ls[i:], depth)
			b.WriteString(r.list(items, 0))
			i += n
		case strings.HasPrefix(text, "----"):
			b.WriteString("<hr>\n")
			i++
		case text[0] == ' ' && !strings.Contains(text, "\x7f"):
			n := preformatted(ls[i:])
			b.WriteString("<pre>")
			for _, l := range ls[i : i+n] {
				b.WriteString(r.inline(l.text[1:], 0) + "\n")
			}
			b.WriteString("</pre>\n")
			i += n
		default:
			n := paragraph(ls[i:])
			b.WriteString(r.paragraph(ls[i : i+n]))
			i += n
		}
	}
	return b.String()
}

func headingAt(text string) (level, from, to int) {
	if text == "" || text[0] != '=' {
		return 0, 0, 0
	}
	return headingLine(text)
}

func listPrefix(s string) string { return s[:len(s)-len(strings.TrimLeft(s, ":*#;"))] }

// preformatted returns the number of leading lines that start with a space.
func preformatted(ls []line) int {
	n := 0
	for n < len(ls) && strings.HasPrefix(ls[n].text, " ") && strings.TrimSpace(ls[n].text) != "" {
		n++
	}
	return n
}

// paragraph returns the number of lines in the first paragraph.
func paragraph(ls []line) int {
	n := 1
	for n < len(ls) {
		t := ls[n].text
		level, _, _ := headingAt(t)
		if strings.TrimSpace(t) == "" || level > 0 || listPrefix(t) != "" || t[0] == ' ' || strings.HasPrefix(t, "----") ||
			strings.HasPrefix(t, "{|") && tableEnd(ls[n:]) > 0 {
			break
		}
		n++
	}
	return n
}

func (r *renderer) paragraph(ls []line) string {
	var parts []string
	for _, l := range ls {
		parts = append(parts, l.text)
	}
	text := strings.Join(parts, "\n")
	tag := "p"
	if r.hasBlock(text) {
		tag = "div"
	}
	return "<" + tag + ">" + r.signedLine(text) + "</" + tag + ">\n" + r.afterComment(ls[len(ls)-1], "")
}

// hasBlock reports whether a marker in the text represents block HTML.
func (r *renderer) hasBlock(text string) bool {
	parts := strings.Split(text, "\x7f")
	for i := 1; i < len(parts); i += 2 {
		if n, err := strconv.Atoi(parts[i]); err == nil && n < len(r.markers) && r.markers[n].block {
			return true
		}
	}
	return strings.Contains(text, "<div") || strings.Contains(text, "<table")
}

// trailingSignature matches a signature and timestamp at the end of a line: links to the author's pages, then the
// timestamp.
var trailingSignature = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:(?:--|–|—)\s*)?\[\[(?:user|user talk|special:contributions/):?([^\[\]|/]*)[^\[\]]*\]\](?:[^\[\]\n\pL]{0,20}\[\[[^\[\]\n]*\]\])*[^\[\]\n\pL]{0,20}\d\d:\d\d, \d{1,2} \pL+ \d{4}[\x{200e}\x{200f}]? \(UTC\)[^\pL\n\[]{0,20}$`)
})

// signedLine renders a line of running text. A signature at the end of the line gets its own class.
func (r *renderer) signedLine(text string) string {
	m := trailingSignature().FindStringSubmatchIndex(text)
	if m == nil || strings.Contains(text[m[0]:], "\x7f") {
		return r.inline(text, 0)
	}
	class := "sig"
	if user, err := normalize("User:" + text[m[2]:m[3]]); err == nil && r.o.isBot != nil &&
		r.o.isBot(strings.TrimPrefix(user, "User:")) {
		class = "sig bot"
	}
	return r.inline(text[:m[0]]+r.mark(`<span class="`+class+`">`+r.inline(text[m[0]:], 1)+"</span>", false), 0)
}

// afterComment returns the HTML to add after l if l ends a signed comment.
func (r *renderer) afterComment(l line, prefix string) string {
	if r.o.reply == nil || l.end < 0 {
		return ""
	}
	m := trailingSignature().FindStringSubmatch(l.text)
	if m == nil {
		return ""
	}
	c := commentEnd{offset: l.end, prefix: prefix, heading: r.thread}
	if user, err := normalize("User:" + m[1]); err == nil {
		c.user = strings.TrimPrefix(user, "User:")
	}
	return r.o.reply(c)
}

// heading renders a heading. A level-2 heading on the page itself starts a thread.
func (r *renderer) heading(level int, text string, depth int) string {
	inner := r.inline(text, 0)
	id := strings.Join(strings.Fields(stripTags.ReplaceAllString(inner, "")), "_")
	id = html.UnescapeString(id)
	r.anchors[id]++
	if n := r.anchors[id]; n > 1 {
		id += "_" + strconv.Itoa(n)
	}
	tag := "h" + strconv.Itoa(level)
	out := "<" + tag + ` id="` + html.EscapeString(id) + `">` + inner + "</" + tag + ">\n"
	if level > 2 || depth > 0 {
		return out
	}
	r.thread = strings.Join(strings.Fields(html.UnescapeString(stripTags.ReplaceAllString(inner, ""))), " ")
	if r.inThread {
		out = "</section>\n<section class=\"thread\">\n" + out
	} else {
		out = "<section class=\"thread\">\n" + out
	}
	r.inThread = true
	return out
}

var stripTags = regexp.MustCompile(`<[^>]*>`)
