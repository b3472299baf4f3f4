package forum

import (
	"net/url"
	"slices"
	"sort"
	"strings"

	"github.com/spinachbot/spinachbot/forum/queryscan"
	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// mark returns the placeholder for a query in a comment's text. The placeholder is shielded from [strip].
func (f found) mark() string { return queryMark + f.label }

var queryMark = shield("[query]")

// maxLinks is the maximum number of external links that are kept for a comment.
const maxLinks = 100

// queriesIn returns the queries in a part of the page, in order: templates, highlighted and preformatted code, links to
// query services, and bare SPARQL. urls are the URLs of all external links outside of code and HTML comments. Both
// results are valid until the next call.
func (p *parser) queriesIn(start, end int) (out []found, urls []wikitext.Span) {
	out, urls = p.found[:0], p.urls[:0]
	rest := p.rest[:0] // text between the nodes
	pos, skip := start, -1
	i := p.node // comments are usually parsed in order
	if i > 0 && p.doc.Nodes[i-1].Start >= start {
		i = sort.Search(i, func(i int) bool { return p.doc.Nodes[i].Start >= start })
	}
	for i < len(p.doc.Nodes) && p.doc.Nodes[i].Start < start {
		i++
	}
	for ; i < len(p.doc.Nodes) && p.doc.Nodes[i].Start < end; i++ {
		n := &p.doc.Nodes[i]
		if n.Start < skip || n.Kind == wikitext.Heading {
			continue
		}
		cut := n.End
		switch n.Kind {
		case wikitext.Template:
			if !p.is(n, queryTemplate) {
				continue // a query may be in an argument
			}
			f, ok := p.q.taken[n.Start]
			if !ok {
				continue
			}
			f.end = min(f.end, end)
			out = append(out, f)
		case wikitext.Tag:
			if f, ok := p.codeTag(n); ok {
				out = append(out, f)
			} else if n.Name == "ref" || n.Name == "poem" || n.Name == "includeonly" {
				continue
			}
		case wikitext.Param:
			continue
		}
		if n.Start > pos {
			rest = append(rest, wikitext.Span{Start: pos, End: n.Start})
		}
		pos, skip = max(pos, cut), cut
	}
	if pos < end {
		rest = append(rest, wikitext.Span{Start: pos, End: end})
	}
	p.rest, p.node = rest, i
	codes := p.codeElements(start, end, out)
	if len(codes) > 0 {
		out = append(out, codes...)
	}
	for _, s := range rest {
		links := p.links(s.Start, s.End, &urls)
		out = append(out, links...)
		from := s.Start
		for _, l := range links {
			if l.SPARQL == "" {
				continue
			}
			out = append(out, p.bareQueries(from, l.start, codes)...)
			from = l.end
		}
		out = append(out, p.bareQueries(from, s.End, codes)...)
	}
	slices.SortStableFunc(out, func(a, b found) int { return a.start - b.start })
	p.found, p.urls = out, urls
	return out, urls
}

// codeTag returns the query in a <syntaxhighlight lang="sparql">, <source>, <pre> or <nowiki> tag.
func (p *parser) codeTag(n *wikitext.Node) (found, bool) {
	q := n.Inner.In(p.text)
	switch n.Name {
	case "syntaxhighlight", "source":
		attrs := strings.ToLower(n.Attrs.In(p.text))
		if !strings.Contains(attrs, "sparql") && !queryscan.LooksLikeQuery(q) {
			return found{}, false
		}
	case "pre", "nowiki":
		if strings.IndexByte(q, '<') >= 0 {
			q = nowikiTags.Replace(q)
		}
		q = decodeEntities(q)
		if !queryscan.LooksLikeQuery(q) || !queryscan.Balanced(q) {
			return found{}, false
		}
	default:
		return found{}, false
	}
	q = strings.TrimSpace(q)
	return found{Query: Query{Kind: "code", Name: n.Name, SPARQL: q}, start: n.Start, end: n.End}, q != ""
}

// codeElements finds queries in <code>…</code>, which is not an extension tag: its content is wikitext.
func (p *parser) codeElements(start, end int, taken []found) []found {
	var out []found
	for i := start; i < end; {
		k := strings.Index(p.text[i:end], "<code")
		if k < 0 {
			return out
		}
		open := i + k
		gt := strings.IndexByte(p.text[open:end], '>')
		stop := strings.Index(p.text[open:end], "</code>")
		if gt < 0 || stop < gt {
			return out
		}
		i = open + stop + len("</code>")
		if overlaps(taken, open, i) {
			continue
		}
		q := nowikiTags.Replace(wikitext.StripComments(p.text[open+gt+1 : open+stop]))
		for _, br := range []string{"<br>", "<br/>", "<br />"} {
			q = strings.ReplaceAll(q, br, "\n")
		}
		q = strings.TrimSpace(decodeEntities(q))
		if queryscan.StartsQuery(q) && queryscan.LooksLikeQuery(q) && queryscan.Balanced(q) {
			out = append(out, found{Query: Query{Kind: "code", Name: "code", SPARQL: q}, start: open, end: i})
		}
	}
	return out
}

// overlaps reports whether a range overlaps any range in a sorted list of disjoint ranges.
func overlaps(list []found, start, end int) bool {
	k := sort.Search(len(list), func(k int) bool { return list[k].end > start })
	return k < len(list) && list[k].start < end
}

// links finds links that contain a query, and adds the URLs of all links to urls.
func (p *parser) links(start, end int, urls *[]wikitext.Span) []found {
	var out []found
	s := p.text[:end]
	for i := start; i < end; {
		k := strings.Index(s[i:], "//")
		if k < 0 {
			return out
		}
		at := i + k
		i = at + 2
		for _, scheme := range []string{"https:", "http:"} {
			if at-len(scheme) >= start && strings.EqualFold(s[at-len(scheme):at], scheme) {
				at -= len(scheme)
				break
			}
		}
		if s[at] == '/' && (at == start || s[at-1] != '[') {
			continue
		}
		stop := urlEnd(s, at)
		i = max(i, stop)
		if len(*urls) < maxLinks {
			*urls = append(*urls, wikitext.Span{Start: at, End: stop})
		}
		q, host, ok := queryOfURL(s[at:stop])
		if !ok && !p.n.short(s[at:stop], host) {
			continue
		}
		f := found{Query: Query{Kind: "link", Name: host, SPARQL: q, URL: s[at:stop]}, start: at, end: stop}
		if !ok { // its text is kept
			out = append(out, f)
			continue
		}
		if at > start && s[at-1] == '[' {
			if k := strings.IndexByte(s[stop:lineEnd(s, stop)], ']'); k >= 0 {
				f.start, f.end = at-1, stop+k+1
				if label := strings.TrimSpace(s[stop : stop+k]); label != "" {
					f.label = " " + shield(strip(label))
				}
			}
		}
		out = append(out, f)
		i = max(i, f.end)
	}
	return out
}

// urlEnd finds the end of an external link's URL as MediaWiki does (Parser::EXT_LINK_URL_CLASS), excluding punctuation
// that ends a sentence. A pipe ends a URL that is not in square brackets, because it may separate a template's
// arguments.
func urlEnd(s string, i int) int {
	j, bracket := i, i > 0 && s[i-1] == '['
	for j < len(s) && s[j] > ' ' && s[j] != 0x7f && strings.IndexByte("[]<>\"", s[j]) < 0 && (s[j] != '|' || bracket) {
		if (s[j] == '{' || s[j] == '}' || s[j] == '\'') && j+1 < len(s) && s[j+1] == s[j] {
			break
		}
		j++
	}
	if bracket {
		return j
	}
	for j > i && strings.IndexByte(",;.:!?", s[j-1]) >= 0 {
		j--
	}
	if j > i && s[j-1] == ')' && strings.IndexByte(s[i:j], '(') < 0 {
		j--
	}
	return j
}

// short reports whether a URL is a short link, that is, a path on a shortener's host.
func (n *names) short(raw, host string) bool {
	if !n.shortLinks[host] {
		return false
	}
	_, path, _ := strings.Cut(raw[strings.Index(raw, "//")+2:], "/")
	return path != "" && path[0] != '#' && path[0] != '?'
}

// QueryFromURL decodes the query in a URL. The query is the text after "#" in links to the Wikidata Query Service and
// similar services, or the value of a "query" or "sparql" parameter. ok is false for other URLs, such as short links.
func QueryFromURL(u string) (sparql string, ok bool) {
	if !strings.Contains(u, "//") {
		return "", false
	}
	sparql, _, ok = queryOfURL(u)
	return sparql, ok
}

// queryOfURL decodes the query in a URL: the fragment of a link to the Wikidata Query Service (query.wikidata.org/#…,
// /embed.html#…), or a "query" or "sparql" parameter. Short links (w.wiki, tinyurl) do not contain a query.
func queryOfURL(raw string) (query, host string, ok bool) {
	rest := raw[strings.Index(raw, "//")+2:]
	host, path, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	host, _, _ = strings.Cut(host, "#")
	host = strings.ToLower(host)
	if !strings.Contains(raw, "query") && !strings.Contains(raw, "%7B") && !strings.Contains(raw, "%7b") &&
		!strings.Contains(raw, "{") {
		return "", host, false
	}
	base, fragment, _ := strings.Cut(path, "#")
	var candidates []string
	if fragment != "" {
		candidates = append(candidates, unescape(fragment, false))
	}
	_, params, _ := strings.Cut(base, "?")
	for _, list := range []string{params, fragment} {
		for kv := range strings.SplitSeq(list, "&") {
			if k, v, ok := strings.Cut(kv, "="); ok && (k == "query" || k == "sparql") {
				candidates = append(candidates, unescape(v, true))
			}
		}
	}
	for _, c := range candidates {
		c = strings.TrimSpace(c)
		if i := queryscan.FormAt(c, 0); i >= 0 && strings.IndexByte(c[i:], '{') >= 0 {
			return c, host, true
		}
	}
	return "", host, false
}

// unescape decodes HTML entities, which MediaWiki writes in URLs, and then percent-encoding. Anything else, such as a
// malformed escape, is left unchanged.
func unescape(s string, plus bool) string {
	if strings.Contains(s, "&") {
		s = queryEntities.Replace(s)
	}
	if plus {
		s = strings.ReplaceAll(s, "+", " ")
	}
	if t, err := url.PathUnescape(s); err == nil {
		return t
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if t, err := url.PathUnescape(s[i : i+3]); err == nil {
				b.WriteString(t)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// bareQueries returns the queries in body text without markup, or in a block of lines that start with a space.
func (p *parser) bareQueries(start, end int, taken []found) []found {
	var out []found
	for i := start; i < end; {
		at, prologue := p.bareStart(start, i, end)
		if at < 0 {
			return out
		}
		i = at + 6
		window := min(end, at+maxQuery)
		if p.bare -= window - at; p.bare < 0 {
			return out
		}
		stop, ok := queryscan.End(p.text[:window], at)
		if !ok || overlaps(taken, prologue, stop) {
			continue
		}
		q := unprefixed(p.text[prologue:stop])
		if !queryscan.LooksLikeQuery(q) || !queryscan.Balanced(q) || strings.Contains(q, "(UTC)") {
			continue
		}
		out = append(out, found{Query: Query{Kind: "code", SPARQL: q}, start: prologue, end: stop})
		i = stop
	}
	return out
}

// bareStart finds the next keyword that starts a query: SELECT before a variable, an asterisk, a parenthesis, DISTINCT
// or REDUCED; ASK, CONSTRUCT and DESCRIBE in capitals before a brace. prologue is the start of the PREFIX lines and
// leading comments before the keyword.
func (p *parser) bareStart(low, i, end int) (at, prologue int) {
	t := p.text[:end]
	stop := strings.IndexByte(t[i:], '{') // a query contains a group in braces
	if stop >= 0 {
		stop = i + strings.LastIndexByte(t[i:], '{')
	}
	for ; i < stop; i++ {
		if strings.IndexByte("sSACD", t[i]) < 0 { // only SELECT may be lowercase in body text
			continue
		}
		n := queryscan.FormLength(t, i)
		if n == 0 {
			continue
		}
		isSelect := n == len("select")
		rest := strings.TrimLeft(t[i+n:min(end, i+n+40)], " \t\n:*")
		switch {
		case rest == "":
			continue
		case isSelect && (strings.IndexByte("?$*(", rest[0]) >= 0 || queryscan.WordAt(rest, 0, "distinct") ||
			queryscan.WordAt(rest, 0, "reduced")):
		case !isSelect && strings.IndexByte("{?", rest[0]) >= 0:
		default:
			continue
		}
		prologue = i
		// Add the preceding lines that belong to the query to the prologue.
		for floor := min(i, max(low, p.floor(i), i-4000)); ; {
			bol := strings.LastIndexByte(t[max(floor, prologue-400):prologue], '\n') + 1 + max(floor, prologue-400)
			if bol <= floor+1 || t[bol-1] != '\n' || strings.TrimLeft(t[bol:prologue], ":* \t") != "" {
				break
			}
			low := max(floor, bol-400)
			l := strings.TrimLeft(t[low+strings.LastIndexByte(t[low:bol-1], '\n')+1:bol-1], ":* \t")
			if !queryscan.WordAt(l, 0, "prefix") && !strings.HasPrefix(l, "#defaultView") && !strings.HasPrefix(l, "#title") {
				break
			}
			prologue = bol - 1 - len(l)
		}
		return i, prologue
	}
	return -1, -1
}

// floor returns the end of the last node before an offset. A prologue cannot start before floor.
func (p *parser) floor(i int) int {
	k := sort.Search(len(p.top), func(k int) bool { return p.top[k].Start >= i })
	if k == 0 {
		return 0
	}
	return p.top[k-1].End
}

// unprefixed removes the list characters from the lines of a bare query, as well as the spaces after them, which
// MediaWiki does not show.
func unprefixed(q string) string {
	lines := strings.Split(q, "\n")
	for i, l := range lines {
		if i > 0 && l != "" && (l[0] == ':' || l[0] == '*') {
			lines[i] = strings.TrimLeft(strings.TrimLeft(l, ":*"), " \t")
		}
	}
	return strings.TrimSpace(decodeEntities(strings.Join(lines, "\n")))
}
