// Package registry finds graphs by name: the built-in ones (builtin.yaml) and those in the file named by KG_FILE. It
// reports every mistake in the file with its line number, determines the contents of an entry by querying its endpoint
// (profile.go), and measures what a graph lacks (lacks.go).
//
// The format is YAML:
//
//	graphs:
//	  company:
//	    endpoint: http://127.0.0.1:8890/sparql
//	    dialect: standard        # wdqs, qlever or standard
//	    prefixes: {c: "http://example.org/c/"}
//	    labels: [rdfs:label]
//
// parse.go lists all keys. An entry with the name of a built-in graph replaces that graph.
package registry

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Entry describes one graph. Its Description does not include measured values; see [Recall].
type Entry struct {
	kg.Description
	Address     string            // address of the query service; Description.Endpoint is the same without secrets
	EntityAPI   string            // URL of a Wikibase's api.php; "" if there is none
	Index       string            // folder or file of a label index; "" if there is none
	OpenSearch  *OpenSearch       // name index, instead of Index; nil if not used
	VoID        string            // URL or file of the graph's own description; if "", the standard location
	Timeout     time.Duration     // per query; the program's default if 0
	Headers     map[string]string // header name to "$NAME", the environment variable that contains its value
	Params      map[string]string // parameter name to its value, or to "$NAME" for the value of an environment variable
	Text2SPARQL []string          // the graph's names in the TEXT2SPARQL challenge
	Unconfirmed bool              // Address has not been verified
	File        string            // file that contains the entry; "" if built in
	Line        int
}

// OpenSearch is the location of a graph's name index in OpenSearch.
type OpenSearch struct {
	Address string
	Index   string // the alias to search
	Login   string // "$NAME", the environment variable that contains user:password; "" if there is no login
}

// Indexed reports whether the graph's names are in an index.
func (e *Entry) Indexed() bool { return e.Index != "" || e.OpenSearch != nil }

// BuiltIn reports whether the entry is built in.
func (e *Entry) BuiltIn() bool { return e.File == "" }

// Registry is a set of graphs.
type Registry struct {
	entries []*Entry // in file order, built-in ones first
}

//go:embed builtin.yaml
var builtin []byte

// New returns a registry with the built-in graphs.
func New() *Registry {
	entries, err := parse("", builtin)
	if err != nil {
		panic(err) // cannot happen: the file is embedded in the program, and a test reads it
	}
	return &Registry{entries}
}

// Read returns a registry with the built-in graphs and those in a file. The file name is used in messages and to
// resolve the paths of indexes. The error is a [Mistakes] with all mistakes in the file.
func Read(file string, data []byte) (*Registry, error) {
	r := New()
	entries, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		r.entries = slices.DeleteFunc(r.entries, func(o *Entry) bool { return o.Name == e.Name })
		r.entries = append(r.entries, e)
	}
	return r, nil
}

// Entries returns the graphs.
func (r *Registry) Entries() []*Entry { return slices.Clone(r.entries) }

// Names returns the graphs' names.
func (r *Registry) Names() []string {
	var out []string
	for _, e := range r.entries {
		out = append(out, e.Name)
	}
	return out
}

// embedded is the name of the built-in embedded graph. It has no entry.
const embedded = "embedded"

// Named returns the graph with the given name. The error lists the available names.
func (r *Registry) Named(name string) (*Entry, error) {
	for _, e := range r.entries {
		if e.Name == name {
			return e, nil
		}
	}
	if name == embedded {
		return nil, errors.New("the graph embedded is built in; it has no entry and no address")
	}
	return nil, fmt.Errorf("there is no graph %q; the graphs are: %s, %s; KG_FILE can name more, and kg add URL writes an entry",
		name, embedded, strings.Join(r.Names(), ", "))
}

// WithPrefixes returns the description with the prefixes that queries may always use: Wikidata's on a Wikibase, and
// those of common vocabularies elsewhere.
func WithPrefixes(d kg.Description) kg.Description {
	all := map[string]string{}
	for _, p := range common {
		all[p] = rdf.Prefixes[p]
	}
	if d.IsWikibase() {
		for p, ns := range rdf.Prefixes {
			all[p] = ns
		}
	}
	for p, ns := range d.Prefixes {
		all[p] = ns
	}
	d.Prefixes = all
	return d
}

// common lists the prefixes of vocabularies that most graphs use.
var common = []string{"rdf", "rdfs", "owl", "skos", "xsd", "schema", "geo", "geof", "dct", "prov"}
