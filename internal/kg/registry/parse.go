package registry

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Mistake is an error in a file, with its line (1-based; 0 if unknown) and a key such as graphs.company.labels.
type Mistake struct {
	File    string
	Line    int
	Key     string
	Message string
}

// Mistakes contains all mistakes in a file, in line order.
type Mistakes []Mistake

// Error lists the mistakes, one per line.
func (m Mistakes) Error() string {
	var lines []string
	for _, x := range m {
		s := x.File
		if x.Line > 0 {
			s += fmt.Sprintf(":%d", x.Line)
		}
		if x.Key != "" {
			s += ": " + x.Key
		}
		lines = append(lines, s+": "+x.Message)
	}
	return strings.Join(lines, "\n")
}

// MaxFile is the maximum size of a file in bytes.
const MaxFile = 4 << 20

// reader reads a file and collects its mistakes.
type reader struct {
	file     string
	mistakes Mistakes
}

func (r *reader) wrong(n *yaml.Node, key, format string, args ...any) {
	line := 0
	if n != nil {
		line = n.Line
	}
	r.mistakes = append(r.mistakes, Mistake{r.file, line, key, fmt.Sprintf(format, args...)})
}

// parse reads the graphs in a file. It rejects YAML aliases (*name), which can make a small file expand to a huge one.
func parse(file string, data []byte) ([]*Entry, error) {
	r := &reader{file: file}
	var doc yaml.Node
	switch err := yaml.Unmarshal(data, &doc); {
	case len(data) > MaxFile:
		r.wrong(nil, "", "the file is larger than %d MB", MaxFile>>20)
	case err != nil:
		r.syntax(err)
	case len(doc.Content) == 0:
		r.wrong(nil, "", "the file is empty; it must have a key \"graphs\"")
	default:
		entries := r.document(doc.Content[0])
		if len(r.mistakes) == 0 {
			return entries, nil
		}
	}
	slices.SortStableFunc(r.mistakes, func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
	return nil, r.mistakes
}

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

// syntax records an error from the YAML library, whose text contains the line number.
func (r *reader) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		_, _ = fmt.Sscan(m[1], &line)
		text = m[2]
	}
	r.mistakes = append(r.mistakes, Mistake{r.file, line, "", "not YAML: " + text})
}

// document reads the top level of the file.
func (r *reader) document(n *yaml.Node) []*Entry {
	var out []*Entry
	r.mapping(n, "", func(key string, k, v *yaml.Node) {
		if key != "graphs" {
			r.wrong(k, key, "unknown key; the only one here is graphs")
			return
		}
		r.mapping(v, "graphs", func(name string, k, v *yaml.Node) {
			if !graphName.MatchString(name) {
				r.wrong(k, "graphs."+name, "a graph's name has small letters, digits and hyphens, up to 40")
				return
			}
			if name == embedded {
				r.wrong(k, "graphs."+name, "this name is reserved for the graph that comes with the program")
				return
			}
			out = append(out, r.entry(name, k, v))
		})
	})
	return out
}

var (
	graphName    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
	prefixName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	indexName    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,99}$`)
	languageCode = regexp.MustCompile(`^[a-z]{2,12}(-[a-zA-Z0-9]{1,12}){0,3}$`)
	envName      = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)
	secretName   = regexp.MustCompile(`(?i)key|token|secret|passw|auth|credential|sig`)
)

// mapping calls f for each key of a mapping. Duplicate keys, and anything that is not a mapping, are mistakes.
func (r *reader) mapping(n *yaml.Node, key string, f func(key string, k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, key, "want key: value lines, not %s", kindOf(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		path := strings.TrimPrefix(key+"."+k.Value, ".")
		switch {
		case k.Kind != yaml.ScalarNode || k.Tag == "!!merge":
			r.wrong(k, key, "a key must be a word")
		case seen[k.Value] > 0:
			r.wrong(k, path, "the key is a duplicate of the one in line %d", seen[k.Value])
		case v.Kind == yaml.AliasNode:
			r.wrong(v, path, "references (*%s) are not accepted; write the value out", v.Value)
		default:
			f(k.Value, k, v)
		}
		seen[k.Value] = k.Line
	}
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "key: value lines"
	case yaml.AliasNode:
		return "a reference"
	}
	if n.Tag == "!!null" {
		return "nothing"
	}
	return fmt.Sprintf("%.40q", n.Value)
}

// keys maps the keys of an entry to the functions that read them.
var keys = map[string]func(r *reader, e *Entry, path string, v *yaml.Node){
	"title":    func(r *reader, e *Entry, path string, v *yaml.Node) { e.Title = r.text(path, v) },
	"about":    func(r *reader, e *Entry, path string, v *yaml.Node) { e.About = r.text(path, v) },
	"endpoint": func(r *reader, e *Entry, path string, v *yaml.Node) { e.Address = r.address(path, v) },
	"entities": func(r *reader, e *Entry, path string, v *yaml.Node) { e.EntityAPI = r.address(path, v) },
	"dialect": func(r *reader, e *Entry, path string, v *yaml.Node) {
		e.Dialect = r.word(path, v, "wdqs", "qlever", "standard")
	},
	"prefixes":     (*reader).prefixes,
	"labels":       func(r *reader, e *Entry, path string, v *yaml.Node) { e.Labels = r.list(path, v) },
	"aliases":      func(r *reader, e *Entry, path string, v *yaml.Node) { e.Aliases = r.list(path, v) },
	"descriptions": func(r *reader, e *Entry, path string, v *yaml.Node) { e.Descriptions = r.list(path, v) },
	"types":        func(r *reader, e *Entry, path string, v *yaml.Node) { e.Types = r.list(path, v) },
	"subclass":     func(r *reader, e *Entry, path string, v *yaml.Node) { e.Subclass = r.text(path, v) },
	"languages":    (*reader).languages,
	"statements": func(r *reader, e *Entry, path string, v *yaml.Node) {
		e.Statements = kg.Statements(r.word(path, v, string(kg.Wikibase), string(kg.Compound), string(kg.Plain)))
	},
	"index":       func(r *reader, e *Entry, path string, v *yaml.Node) { e.Index = r.path(path, v) },
	"opensearch":  (*reader).opensearch,
	"void":        func(r *reader, e *Entry, path string, v *yaml.Node) { e.VoID = r.source(path, v) },
	"text2sparql": func(r *reader, e *Entry, path string, v *yaml.Node) { e.Text2SPARQL = r.list(path, v) },
	"timeout":     (*reader).timeout,
	"headers":     (*reader).headers,
	"params":      (*reader).params,
	"unconfirmed": func(r *reader, e *Entry, path string, v *yaml.Node) {
		e.Unconfirmed = r.word(path, v, "true", "false") == "true"
	},
}

// entry reads one graph.
func (r *reader) entry(name string, k, n *yaml.Node) *Entry {
	e := &Entry{File: r.file, Line: k.Line}
	e.Name, e.Dialect, e.Statements = name, "standard", kg.Plain
	at := map[string]*yaml.Node{}
	path := "graphs." + name
	r.mapping(n, path, func(key string, k, v *yaml.Node) {
		read, ok := keys[key]
		if !ok {
			r.wrong(k, path+"."+key, "unknown key; the keys are: %s", strings.Join(keyNames(), ", "))
			return
		}
		at[key] = v
		read(r, e, path+"."+key, v)
	})
	if n.Kind == yaml.MappingNode && at["endpoint"] == nil {
		r.wrong(k, path+".endpoint", "the key is missing: the address of the query service")
	}
	if e.EntityAPI != "" && e.Statements != kg.Wikibase {
		r.wrong(at["entities"], path+".entities", "only a graph with statements: wikibase has an api.php")
	}
	if e.Index != "" && at["opensearch"] != nil {
		r.wrong(at["opensearch"], path+".opensearch", "the graph also has a key index; keep only one of them")
	}
	if len(e.Labels) == 0 {
		e.Labels = []string{"rdfs:label"}
	}
	switch {
	case len(e.Types) > 0:
	case e.Statements == kg.Wikibase:
		e.Types = []string{"wdt:P31"}
		e.Subclass = cmp.Or(e.Subclass, "wdt:P279")
	default:
		e.Types = []string{"rdf:type"}
	}
	e.Title = cmp.Or(e.Title, name)
	e.Endpoint = politehttp.ShownURL(e.Address)
	e.Description = WithPrefixes(e.Description)
	for _, part := range []struct {
		key   string
		names []string
	}{{"labels", e.Labels}, {"aliases", e.Aliases}, {"descriptions", e.Descriptions}, {"types", e.Types},
		{"subclass", []string{e.Subclass}}} {
		for i, s := range part.names {
			if iri, ok := e.Expand(s); s != "" && (!ok || !strings.Contains(iri, ":")) {
				r.wrong(item(at[part.key], i), path+"."+part.key,
					"%q is not a property: use a prefix that the entry declares, or a full IRI", s)
			}
		}
	}
	return e
}

// item returns the node for a key's ith value.
func item(n *yaml.Node, i int) *yaml.Node {
	if n != nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
		return n.Content[i]
	}
	return n
}

func keyNames() []string {
	var out []string
	for k := range keys {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// text reads a single-line value.
func (r *reader) text(path string, v *yaml.Node) string {
	s := strings.TrimSpace(v.Value)
	switch {
	case v.Kind != yaml.ScalarNode || s == "":
		r.wrong(v, path, "want a text, not %s", kindOf(v))
	case strings.ContainsAny(s, "\n\r"):
		r.wrong(v, path, "want one line")
	case len(s) > 500:
		r.wrong(v, path, "longer than 500 characters")
	default:
		return s
	}
	return ""
}

func (r *reader) word(path string, v *yaml.Node, words ...string) string {
	s := r.text(path, v)
	if s != "" && !slices.Contains(words, s) {
		r.wrong(v, path, "%.40q is not one of: %s", s, strings.Join(words, ", "))
		return ""
	}
	return s
}

func (r *reader) list(path string, v *yaml.Node) []string {
	if v.Kind != yaml.SequenceNode {
		r.wrong(v, path, "want a list, such as [a, b], not %s", kindOf(v))
		return nil
	}
	var out []string
	for _, n := range v.Content {
		s := r.text(path, n)
		if s == "" {
			continue
		}
		if slices.Contains(out, s) {
			r.wrong(n, path, "%q occurs twice", s)
			continue
		}
		out = append(out, s)
	}
	return out
}

// address reads an http or https URL. Messages never show its secrets.
func (r *reader) address(path string, v *yaml.Node) string {
	s := r.text(path, v)
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		r.wrong(v, path, "%q is not an http or https address", politehttp.ShownURL(s))
		return ""
	}
	if u.User != nil || u.Fragment != "" {
		r.wrong(v, path, "an address has no user, password or fragment here; name an environment variable that holds the secret in headers, params or, for OpenSearch, login")
		return ""
	}
	for name := range u.Query() {
		if secretName.MatchString(name) {
			r.wrong(v, path, "the parameter %q looks like a secret; put it in params, as an environment variable: {%s: $NAME}",
				name, name)
			return ""
		}
	}
	return s
}

// path reads a path, which is relative to the folder that contains the file.
func (r *reader) path(path string, v *yaml.Node) string {
	s := r.text(path, v)
	if s == "" || filepath.IsAbs(s) {
		return s
	}
	return filepath.Join(filepath.Dir(r.file), s)
}

// source reads a URL or a path.
func (r *reader) source(path string, v *yaml.Node) string {
	if strings.Contains(v.Value, "://") {
		return r.address(path, v)
	}
	return r.path(path, v)
}

func (r *reader) prefixes(e *Entry, path string, v *yaml.Node) {
	e.Prefixes = map[string]string{}
	r.mapping(v, path, func(name string, k, v *yaml.Node) {
		ns := r.text(path+"."+name, v)
		switch {
		case !prefixName.MatchString(name):
			r.wrong(k, path, "%.40q cannot be a prefix; write it without the colon", name)
		case ns == "":
		case !strings.Contains(ns, ":") || strings.ContainsAny(ns, " <>\"{}|\\^`"):
			r.wrong(v, path+"."+name, "%.80q is not an IRI", ns)
		default:
			e.Prefixes[name] = ns
		}
	})
}

func (r *reader) languages(e *Entry, path string, v *yaml.Node) {
	for i, l := range r.list(path, v) {
		if !languageCode.MatchString(l) {
			r.wrong(item(v, i), path, "%.40q is not a language code such as de", l)
			continue
		}
		e.Languages = append(e.Languages, strings.ToLower(l))
	}
}

func (r *reader) timeout(e *Entry, path string, v *yaml.Node) {
	s := r.text(path, v)
	d, err := time.ParseDuration(s)
	switch {
	case s == "":
	case err != nil:
		r.wrong(v, path, "%.40q is not a duration such as 30s", s)
	case d < time.Second || d > time.Hour:
		r.wrong(v, path, "%s is not between 1s and 1h", s)
	default:
		e.Timeout = d
	}
}

// known maps well-known namespaces to their prefixes, in addition to rdf.Prefixes.
var known = map[string]string{
	"http://xmlns.com/foaf/0.1/": "foaf", "http://purl.org/dc/elements/1.1/": "dc", "http://purl.org/dc/terms/": "dct",
	"http://dbpedia.org/ontology/": "dbo", "http://dbpedia.org/resource/": "dbr", "http://dbpedia.org/property/": "dbp",
	"http://www.w3.org/2003/01/geo/wgs84_pos#": "wgs", "http://purl.org/ontology/bibo/": "bibo",
	"http://www.w3.org/ns/org#":  "org",
	"http://www.w3.org/ns/dcat#": "dcat", "http://rdfs.org/ns/void#": "void", "http://purl.org/goodrelations/v1#": "gr",
	"http://www.w3.org/ns/shacl#": "sh", "https://schema.org/": "sdo", "http://rdf.freebase.com/ns/": "fb",
	"http://www.w3.org/2006/vcard/ns#": "vcard", "http://purl.org/vocab/relationship/": "rel",
	"http://www.w3.org/2006/time#": "time",
}

// prefixOf returns the usual prefix for a namespace, or "" if there is none.
func prefixOf(ns string) string {
	for _, p := range common {
		if rdf.Prefixes[p] == ns {
			return p
		}
	}
	return known[ns]
}
