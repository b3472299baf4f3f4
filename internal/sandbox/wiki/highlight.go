package wiki

import (
	"html"
	"regexp"
	"strings"
	"sync"
)

// token matches the next token in a SPARQL query. Each capture group matches one kind of token, in the order of
// tokenClass.
var token = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)(#[^\n]*)|("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')(?:@[a-zA-Z]+(?:-[a-zA-Z0-9]+)*)?|(<[^<>"{}|^\x60\\\x00-\x20]*>)|([?$][\pL\pN_]+)|([\pL][\pL\pN_.-]*:(?:[\pL\pN_][\pL\pN_-]*)?|:[\pL\pN_]+)|([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(@?[a-zA-Z][a-zA-Z_]*)`)
})

var tokenClass = []string{"", "c", "s", "u", "v", "n", "m", "k"}

// keywords lists the keywords of SPARQL 1.1 and of the query service. Other bare words are not colored.
var keywords = func() map[string]bool {
	m := map[string]bool{}
	for _, k := range strings.Fields(`select distinct reduced where order by group having limit offset asc desc optional union minus filter exists not in as bind values
		undef service silent graph from named ask construct describe prefix base a true false with include count sum min max avg sample group_concat separator
		if coalesce bound str lang langmatches datatype iri uri bnode rand abs ceil floor round concat strlen ucase lcase encode_for_uri contains strstarts strends
		strbefore strafter year month day hours minutes seconds timezone tz now uuid struuid md5 sha1 sha256 sha384 sha512 strlang strdt sameterm isiri isuri isblank
		isliteral isnumeric regex substr replace`) {
		m[k] = true
	}
	return m
}()

// highlight returns a SPARQL query as HTML with a span for each token. Removing the tags and decoding the entities
// yields the query again.
func highlight(query string) string {
	var b strings.Builder
	at := 0
	for _, m := range token().FindAllStringSubmatchIndex(query, -1) {
		b.WriteString(html.EscapeString(query[at:m[0]]))
		text := query[m[0]:m[1]]
		at = m[1]
		kind := 0
		for g := 1; g < len(tokenClass); g++ {
			if m[2*g] >= 0 {
				kind = g
				break
			}
		}
		if tokenClass[kind] == "" || tokenClass[kind] == "k" && !keywords[strings.ToLower(text)] {
			b.WriteString(html.EscapeString(text))
			continue
		}
		b.WriteString(`<span class="hl-` + tokenClass[kind] + `">` + html.EscapeString(text) + "</span>")
	}
	b.WriteString(html.EscapeString(query[at:]))
	return b.String()
}
