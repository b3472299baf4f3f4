package wiki

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// inline renders inline text: quotes, links, the few allowed HTML tags, entities and markers. It escapes everything
// else.
func (r *renderer) inline(s string, depth int) string {
	if depth > maxDepth {
		return html.EscapeString(strings.ReplaceAll(s, "\x7f", ""))
	}
	w := &inlineWriter{}
	for i := 0; i < len(s); {
		n := 0
		switch c := s[i]; {
		case c == '\x7f':
			n = r.marker(w, s[i:])
		case c == '\'' && strings.HasPrefix(s[i:], "''"):
			n = len(s[i:]) - len(strings.TrimLeft(s[i:], "'"))
			w.quotes(n)
		case c == '[' && strings.HasPrefix(s[i:], "[["):
			n = r.wikilink(w, s[i:], depth)
		case c == '[':
			n = r.bracketLink(w, s[i:], depth)
		case c == 'h' && (i == 0 || !isNameByte(s[i-1])):
			n = r.bareLink(w, s[i:])
		case c == '<':
			if n = r.foldedList(w, s[i:], depth); n == 0 {
				n = w.tag(s[i:])
			}
		case c == '&':
			n = w.entity(s[i:])
		}
		if n == 0 {
			n = 1
			w.b.WriteString(html.EscapeString(s[i : i+1]))
		}
		i += n
	}
	w.closeAll()
	return w.b.String()
}

// foldedTable matches a list in a collapsed HTML table with a title, which the bot writes in a one-line reply.
var foldedTable = regexp.MustCompile(`^<table class="wikitable mw-collapsible mw-collapsed"[^<>]*><tr><th>([^\n]*?)</th></tr><tr><td><ol><li>([^\n]*?)</li></ol>([^\n]*?)</td></tr></table>`)

// foldedList renders a list that foldedTable matches and returns its length, or 0 if there is none.
func (r *renderer) foldedList(w *inlineWriter, s string, depth int) int {
	if !strings.HasPrefix(s, "<table class=") {
		return 0
	}
	m := foldedTable.FindStringSubmatch(s)
	if m == nil {
		return 0
	}
	w.b.WriteString(`<details class="steps"><summary>` + r.inline(m[1], depth+1) + "</summary><ol>")
	for item := range strings.SplitSeq(m[2], "</li><li>") {
		w.b.WriteString("<li>" + r.inline(item, depth+1) + "</li>")
	}
	w.b.WriteString("</ol>" + r.inline(m[3], depth+1) + "</details>")
	return len(m[0])
}

func (r *renderer) marker(w *inlineWriter, s string) int {
	end := strings.IndexByte(s[1:], '\x7f')
	if end < 0 {
		return len(s)
	}
	if n, err := strconv.Atoi(s[1 : 1+end]); err == nil && n >= 0 && n < len(r.markers) {
		w.b.WriteString(r.markers[n].html)
	}
	return end + 2
}

var itemTitle = regexp.MustCompile(`^(?:d:|:d:|:)?(?:Special:EntityPage/)?((?:Property:)?[PQL][1-9]\d{0,11})$`)

// interwiki matches the prefixes of links to Commons and to Wikipedias.
var interwiki = regexp.MustCompile(`^:(commons|[a-z]{2,3}(?:-[a-z]+)*):([^:\s].*)$`)

// maxLink is the maximum length of a link's wikitext. It limits the cost of unclosed brackets.
const maxLink = 2000

// wikilink renders [[target|label]] and returns its length, or 0 if it is not a link. Links to items and properties
// point to Wikidata.
func (r *renderer) wikilink(w *inlineWriter, s string, depth int) int {
	end := strings.Index(s[:min(len(s), maxLink)], "]]")
	if end < 0 || strings.Contains(s[2:end], "[[") {
		return 0
	}
	for strings.HasPrefix(s[end:], "]]]") { // the bracket belongs to the label
		end++
	}
	target, label, piped := strings.Cut(s[2:end], "|")
	target = strings.TrimSpace(html.UnescapeString(target))
	page, fragment, hasFragment := strings.Cut(target, "#")
	if !piped || strings.TrimSpace(label) == "" {
		label = strings.TrimPrefix(target, ":")
	}
	shown := r.inline(label, depth+1)
	var href, class string
	switch m := itemTitle.FindStringSubmatch(page); {
	case m != nil:
		href, class = "https://www.wikidata.org/wiki/"+m[1], "external"
	case piped && interwiki.MatchString(page):
		m := interwiki.FindStringSubmatch(page)
		host := m[1] + ".wikipedia.org"
		if m[1] == "commons" {
			host = "commons.wikimedia.org"
		}
		href, class = "https://"+host+pagePath(m[2]), "external"
	case page == "" && hasFragment:
		href = "#" + strings.ReplaceAll(fragment, " ", "_")
	default:
		title, err := normalize(page)
		if err != nil {
			return 0
		}
		if strings.HasPrefix(title, "Category:") && !strings.HasPrefix(target, ":") {
			return end + 2 // a category, which this wiki does not show
		}
		href = pagePath(title)
		if hasFragment {
			href += "#" + url.PathEscape(strings.ReplaceAll(fragment, " ", "_"))
		}
		if r.o.exists != nil && !strings.HasPrefix(title, "Special:") && !r.o.exists(title) {
			class = "new"
		}
	}
	w.link(href, class, shown)
	return end + 2
}

func pagePath(title string) string {
	return "/wiki/" + strings.ReplaceAll(url.PathEscape(strings.ReplaceAll(title, " ", "_")), "%2F", "/")
}

var bracketed = regexp.MustCompile(`^\[(https?://[^\s\[\]<>"\x7f]+)(?:[ \t]+([^\]\n]*))?\]`)

// bracketLink renders [address label].
func (r *renderer) bracketLink(w *inlineWriter, s string, depth int) int {
	if !strings.HasPrefix(s, "[http") {
		return 0
	}
	end := strings.IndexAny(s[:min(len(s), maxLink)], "]\n")
	if end < 0 || s[end] == '\n' {
		return 0
	}
	m := bracketed.FindStringSubmatch(s[:end+1])
	if m == nil {
		return 0
	}
	address := html.UnescapeString(m[1])
	if u, err := url.Parse(address); err != nil || u.Host == "" {
		return 0
	}
	r.links = append(r.links, address)
	label := "[" + strconv.Itoa(len(r.links)) + "]"
	if strings.TrimSpace(m[2]) != "" {
		label = r.inline(m[2], depth+1)
	}
	w.link(address, "external", label)
	return len(m[0])
}

var bare = regexp.MustCompile(`^https?://[^\s\[\]<>"'\x7f|{}]+`)

// bareLink renders a URL in running text, without the punctuation after it.
func (r *renderer) bareLink(w *inlineWriter, s string) int {
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
		return 0
	}
	m := strings.TrimRight(bare.FindString(s[:min(len(s), maxLink)]), ".,;:!?)")
	if u, err := url.Parse(html.UnescapeString(m)); m == "" || err != nil || u.Host == "" {
		return 0
	}
	address := html.UnescapeString(m)
	r.links = append(r.links, address)
	w.link(address, "external", html.EscapeString(address))
	return len(m)
}

// inlineWriter writes inline HTML and keeps its elements balanced.
type inlineWriter struct {
	b    strings.Builder
	open []string // elements, outermost first
}

// link writes an anchor. The caller must have built or checked the URL; link escapes it.
func (w *inlineWriter) link(href, class, shown string) {
	w.b.WriteString(`<a href="` + html.EscapeString(href) + `"`)
	if class != "" {
		w.b.WriteString(` class="` + class + `"`)
	}
	if class == "external" {
		w.b.WriteString(` rel="nofollow noopener noreferrer"`)
	}
	w.b.WriteString(">" + shown + "</a>")
}

// quotes handles a run of n apostrophes: two for italics, three for bold, five for both. Any other number of
// apostrophes is text.
func (w *inlineWriter) quotes(n int) {
	switch {
	case n == 4:
		w.b.WriteString("&#39;")
		n = 3
	case n > 5:
		w.b.WriteString(strings.Repeat("&#39;", n-5))
		n = 5
	}
	switch {
	case n == 2:
		w.toggle("i")
	case n == 3:
		w.toggle("b")
	case slices.Index(w.open, "b") > slices.Index(w.open, "i"): // close the inner element first
		w.toggle("b")
		w.toggle("i")
	default:
		w.toggle("i")
		w.toggle("b")
	}
}

func (w *inlineWriter) toggle(tag string) {
	if !w.close(tag) {
		w.start(tag, "")
	}
}

func (w *inlineWriter) start(tag, attrs string) {
	w.open = append(w.open, tag)
	w.b.WriteString("<" + tag + attrs + ">")
}

// close ends the innermost element with the given name. Elements inside it are closed and reopened.
func (w *inlineWriter) close(tag string) bool {
	at := len(w.open) - 1
	for at >= 0 && w.open[at] != tag {
		at--
	}
	if at < 0 {
		return false
	}
	inner := append([]string(nil), w.open[at+1:]...)
	for i := len(w.open) - 1; i >= at; i-- {
		w.b.WriteString("</" + w.open[i] + ">")
	}
	w.open = w.open[:at]
	for _, t := range inner {
		w.start(t, "")
	}
	return true
}

func (w *inlineWriter) closeAll() {
	for i := len(w.open) - 1; i >= 0; i-- {
		w.b.WriteString("</" + w.open[i] + ">")
	}
	w.open = nil
}

var (
	tagPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^<(/?)([a-zA-Z]{1,10})((?:\s[^<>]{0,500})?)(/?)>`)
	})
	classAttr = regexp.MustCompile(`(?i)\bclass\s*=\s*"([a-z0-9 _-]{1,100})"`)
)

// allowed contains the tags that text may use; the value is true for void elements.
var allowed = map[string]bool{
	"b": false, "i": false, "u": false, "s": false, "del": false, "ins": false, "small": false,
	"wbr": true, "big": false, "sub": false,
	"sup": false, "code": false,
	"kbd": false, "samp": false, "tt": false, "var": false, "em": false, "strong": false, "span": false, "div": false,
	"q": false, "cite": false,
	"abbr": false, "blockquote": false, "br": true,
}

const maxOpen = 12

// tag writes an allowed tag without its attributes, except a class that starts with mw-.
func (w *inlineWriter) tag(s string) int {
	m := tagPattern().FindStringSubmatch(s)
	if m == nil {
		return 0
	}
	name := strings.ToLower(m[2])
	void, ok := allowed[name]
	switch {
	case !ok:
		return 0
	case void:
		w.b.WriteString("<" + name + ">")
	case m[1] == "/":
		if !w.close(name) {
			return 0
		}
	case m[4] == "/" || strings.HasSuffix(m[3], "/"): // <span/>: empty
	case len(w.open) >= maxOpen:
		return 0
	default:
		attrs := ""
		if c := classAttr.FindStringSubmatch(m[3]); c != nil && strings.HasPrefix(c[1], "mw-") {
			attrs = ` class="` + c[1] + `"`
		}
		w.start(name, attrs)
	}
	return len(m[0])
}

var entityPattern = regexp.MustCompile(`^&(?:[a-zA-Z][a-zA-Z0-9]{1,30}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});`)

// entity writes the character that an entity represents, re-escaped.
func (w *inlineWriter) entity(s string) int {
	m := entityPattern.FindString(s)
	if m == "" {
		return 0
	}
	plain := html.UnescapeString(m)
	if plain == m || plain == "\x7f" || plain == "\x00" {
		return 0
	}
	w.b.WriteString(html.EscapeString(plain))
	return len(m)
}
