package wiki

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// args contains a template's parameters: named ones under their names, the others under "1", "2", …
type args map[string]string

// template expands one {{…}} into predefined text. It expands only the templates that the forum uses, and leaves others
// as typed.
func (r *renderer) template(src string, depth int) string {
	if depth > maxDepth {
		return r.mark("<code>"+html.EscapeString(src)+"</code>", false)
	}
	name, a := parseTemplate(src)
	if name != "!" && name != "=" && !slices.Contains(r.templates, name) {
		r.templates = append(r.templates, name)
	}
	switch name {
	case "!":
		return "|"
	case "=":
		return "="
	case "SPARQL", "SPARQL2", "SPARQL5", "Wdquery":
		q := queryText(first(a, "query", "1"))
		return r.mark(`<div class="query"><div class="mw-highlight"><pre>`+highlight(q)+`</pre></div>`+r.tryIt(q, "Try it!")+
			"</div>", true)
	case "SPARQL Inline":
		q := queryText(first(a, "query", "1"))
		return r.mark(r.tryIt(q, "query"), false)
	case "Q", "P":
		return r.entity(name, a["1"])
	case "Ping", "Reply to", "Re", "Reply":
		return r.ping(a)
	case "Section resolved":
		return r.mark(`<div class="resolved"><strong>Resolved.</strong> This request is settled and may be archived. `+
			r.signedLine(r.prepare(a["1"], depth+1))+"</div>", true)
	case "Unsigned", "Unsigned2":
		user, when := a["1"], a["2"]
		if name == "Unsigned2" {
			user, when = when, user
		}
		return r.prepare("<small>– The preceding comment was left unsigned by [[User:"+user+"|"+user+"]] ([[User talk:"+user+
			"|talk]]) "+when+"</small>", depth+1)
	case "Outdent", "Od":
		return r.mark(`<span class="outdent-template" title="outdented">↤</span>`, false)
	case "Nobots", "Bots", "Autoarchive resolved section":
		return ""
	case "Wikidata:Request a query/Header":
		return r.mark(`<p class="header">Ask here for a SPARQL query that you cannot write yourself.</p>`, true)
	case "Tl":
		return r.mark("<code>"+html.EscapeString("{{"+a["1"]+"}}")+"</code>", false)
	}
	return r.mark(`<code class="unknown">`+html.EscapeString(strings.ReplaceAll(src, "\x7f", ""))+"</code>", false)
}

// tryIt returns the link that runs a query.
func (r *renderer) tryIt(query, label string) string {
	address := r.o.queryURL + encodeComponent(query)
	r.links = append(r.links, address)
	return `<a class="try" href="` + html.EscapeString(address) + `">` + label + "</a>"
}

// encodeComponent works like urlencode with PATH in MediaWiki: it percent-encodes everything except letters, digits and
// -_.~.
func encodeComponent(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

var entityNumber = regexp.MustCompile(`^[QPqp]?([1-9]\d{0,11})$`)

// entity returns a link to the item or property with the given ID.
func (r *renderer) entity(kind, id string) string {
	m := entityNumber.FindStringSubmatch(strings.TrimSpace(id))
	if m == nil {
		return r.mark(html.EscapeString("{{"+kind+"|"+strings.ReplaceAll(id, "\x7f", "")+"}}"), false)
	}
	path := kind + m[1]
	if kind == "P" {
		path = "Property:" + path
	}
	return r.mark(`<a class="external" rel="nofollow noopener noreferrer" href="https://www.wikidata.org/wiki/`+path+`">`+
		kind+m[1]+"</a>", false)
}

// ping renders the names of the users it mentions.
func (r *renderer) ping(a args) string {
	var names []string
	for _, k := range []string{"1", "2", "3", "4", "5"} {
		if title, err := normalize("User:" + a[k]); err == nil && strings.TrimSpace(a[k]) != "" {
			names = append(names, `<a href="`+html.EscapeString(pagePath(title))+`">`+html.EscapeString(strings.TrimPrefix(title,
				"User:"))+"</a>")
		}
	}
	return r.mark(`<span class="ping">@`+strings.Join(names, ", ")+":</span>", false)
}

// parseTemplate splits {{name|a|b=c}}. It ignores pipes and equals signs inside templates, links and literal tags.
// Named parameters are trimmed.
func parseTemplate(src string) (name string, a args) {
	inner := src[2 : len(src)-2]
	masked := maskNested(inner)
	parts := cutAt(inner, masked, '|')
	name = strings.TrimSpace(strings.ReplaceAll(stripComments(parts[0]), "_", " "))
	if len(name) > len("template:") && strings.EqualFold(name[:len("template:")], "template:") {
		name = strings.TrimSpace(name[len("template:"):])
	}
	if name != "" {
		name = upperFirst(name)
	}
	a = args{}
	n := 0
	at := len(parts[0]) + 1
	for _, p := range parts[1:] {
		m := masked[at : at+len(p)]
		at += len(p) + 1
		if eq := strings.IndexByte(m, '='); eq >= 0 {
			a[strings.TrimSpace(p[:eq])] = strings.TrimSpace(p[eq+1:])
			continue
		}
		n++
		a[string(rune('0'+min(n, 9)))] = p
	}
	return name, a
}

// maskNested blanks out parts whose pipes and equals signs do not belong to the template itself.
func maskNested(s string) string {
	b := []byte(blank(s))
	hide := func(from, to int) {
		for i := from; i < to; i++ {
			b[i] = ' '
		}
	}
	for _, span := range braceSpans(string(b)) {
		hide(span[0], span[1])
	}
	for at := 0; ; {
		start := bytes.Index(b[at:], []byte("[["))
		if start < 0 {
			return string(b)
		}
		start += at
		end := bytes.Index(b[start:], []byte("]]"))
		if end < 0 {
			return string(b)
		}
		hide(start, start+end)
		at = start + end + 2
	}
}

// cutAt splits s at each position where the mask contains the byte.
func cutAt(s, mask string, sep byte) []string {
	var out []string
	start := 0
	for i := 0; i < len(mask); i++ {
		if mask[i] == sep {
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

func first(a args, names ...string) string {
	for _, n := range names {
		if v, ok := a[n]; ok {
			return v
		}
	}
	return ""
}

var pipeWords = strings.NewReplacer("{{!}}", "|", "{{=}}", "=")

// queryText returns the query in a parameter.
func queryText(s string) string {
	s = pipeWords.Replace(stripComments(s))
	for _, tag := range []string{"<nowiki>", "</nowiki>", "<nowiki/>", "<nowiki />"} {
		s = strings.ReplaceAll(s, tag, "")
	}
	return strings.TrimSpace(strings.ReplaceAll(s, "\x7f", ""))
}

func stripComments(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "<!--")
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		n := strings.Index(s[i:], "-->")
		if n < 0 {
			return b.String()
		}
		s = s[i+n+3:]
	}
}
