package ask

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/text"
)

// completion is a string that could be inserted at the cursor.
type completion struct {
	Insert string `json:"insert"`
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
}

// completions is the response to a request for completions. Each item replaces the last From characters before the
// cursor.
type completions struct {
	From  int          `json:"from"`
	Items []completion `json:"items"`
}

// keywords are the keywords of SPARQL queries, and functions with their opening parenthesis.
var keywords = strings.Fields(`SELECT DISTINCT REDUCED WHERE OPTIONAL UNION MINUS FILTER BIND VALUES SERVICE GROUP ORDER BY
	HAVING LIMIT OFFSET ASC DESC ASK CONSTRUCT DESCRIBE PREFIX AS EXISTS NOT IN UNDEF GRAPH WITH INCLUDE
	COUNT( SUM( AVG( MIN( MAX( SAMPLE( GROUP_CONCAT( STR( LANG( LANGMATCHES( DATATYPE( BOUND( IRI( URI( BNODE( RAND( ABS(
	CEIL( FLOOR( ROUND( CONCAT( STRLEN( UCASE( LCASE( ENCODE_FOR_URI( CONTAINS( STRSTARTS( STRENDS( STRBEFORE( STRAFTER(
	YEAR( MONTH( DAY( HOURS( MINUTES( SECONDS( NOW( COALESCE( IF( REGEX( SUBSTR( REPLACE( ISIRI( ISBLANK( ISLITERAL( ISNUMERIC( STRDT( STRLANG(`)

var (
	atVariable = regexp.MustCompile(`[?$]([A-Za-z0-9_]*)$`)
	atName     = regexp.MustCompile(`(?:^|[\s(){}|/^!;,.])([A-Za-z][A-Za-z0-9-]*):([\p{L}\p{N}_'-]*)$`)
	atWord     = regexp.MustCompile(`(?:^|[\s(){}|/^!;,.])(\p{L}[\p{L}\p{N}_]*)$`)
)

const mostItems = 12

// complete finds completions at the cursor: variables in the query, entities and properties by name, and keywords.
func (s *Server) complete(ctx context.Context, src *agent.Source, in *editing, lang string) any {
	out := completions{Items: []completion{}}
	before := in.Before
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	if m := atVariable.FindStringSubmatch(before); m != nil {
		out.From = utf8.RuneCountInString(m[0])
		for _, name := range variables(in.Query) {
			if strings.HasPrefix(strings.ToLower(name), strings.ToLower(m[1])) && name != m[1] {
				out.Items = append(out.Items, completion{Insert: "?" + name, Label: "?" + name})
			}
		}
		return out
	}
	if m := atName.FindStringSubmatch(before); m != nil {
		out.From = utf8.RuneCountInString(m[1]) + 1 + utf8.RuneCountInString(m[2])
		out.Items = s.named(ctx, src, m[1], m[2], lang)
		return out
	}
	m := atWord.FindStringSubmatch(before)
	if m == nil {
		return out
	}
	out.From = utf8.RuneCountInString(m[1])
	for _, k := range keywords {
		if strings.HasPrefix(k, strings.ToUpper(m[1])) && k != strings.ToUpper(m[1]) {
			out.Items = append(out.Items, completion{Insert: k, Label: k})
		}
	}
	for _, p := range slices.Sorted(maps.Keys(rdf.Prefixes)) {
		if strings.HasPrefix(p, m[1]) && len(out.Items) < mostItems {
			out.Items = append(out.Items, completion{Insert: p + ":", Label: p + ":", Detail: rdf.Prefixes[p]})
		}
	}
	if len(m[1]) > 2 && len(out.Items) < mostItems {
		out.Items = append(out.Items, s.named(ctx, src, "wdt", m[1], lang)...)
	}
	out.Items = out.Items[:min(len(out.Items), mostItems)]
	return out
}

// variables returns the names of the variables in the text, without duplicates, in alphabetical order.
func variables(query string) []string {
	var out []string
	for t := range sparql.Tokens(query) {
		if name := strings.TrimLeft(t.Text, "?$"); t.Kind == sparql.TokenVar && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// named finds entities or properties whose names start with the given text, in which underscores stand for spaces.
func (s *Server) named(ctx context.Context, src *agent.Source, prefix, words, lang string) []completion {
	ns, known := rdf.Prefixes[prefix]
	if iri, ok := src.Explain.Prefixes[prefix]; ok {
		ns, known = iri, true
	}
	words = strings.TrimSpace(strings.ReplaceAll(words, "_", " "))
	if !known || words == "" {
		return []completion{}
	}
	q := kg.SearchQuery{Text: words, Language: lang, Type: kg.Item, Limit: mostItems}
	if src.Explain.IsWikibase() && ns != rdf.Entity {
		q.Type = kg.Property
	}
	found, err := src.Graph.Search(ctx, q)
	if err != nil {
		s.Log.Info("looking up completions in the editor failed", "error", err)
		return []completion{}
	}
	out := []completion{}
	for _, hit := range found.Hits {
		insert := hit.ID
		if rdf.ValidID(hit.ID) {
			insert = prefix + ":" + hit.ID
		}
		out = append(out, completion{Insert: insert, Label: text.OneLine(text.Clean(cmp.Or(hit.Label, hit.ID))),
			Detail: strings.TrimSpace(hit.ID + " " + text.OneLine(text.Clean(hit.Description)))})
	}
	return out
}
