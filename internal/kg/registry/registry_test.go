package registry_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/registry"
)

func TestBuiltIn(t *testing.T) {
	r := registry.New()
	want := []string{"wikidata", "wikidata-scholarly", "wikidata-qlever", "dbpedia", "dblp", "uniprot", "osm", "orkg",
		"freebase", "imdb"}
	if !slices.Equal(r.Names(), want) {
		t.Errorf("got %q", r.Names())
	}
	for i, e := range r.Entries() {
		if e.Unconfirmed != (i >= 3) || !e.BuiltIn() || e.Title == e.Name || e.About == "" || e.Endpoint != e.Address {
			t.Errorf("%+v", e)
		}
		for _, p := range slices.Concat(e.Labels, e.Aliases, e.Descriptions, e.Types) {
			if _, ok := e.Expand(p); !ok {
				t.Errorf("%s: %s is not a property", e.Name, p)
			}
		}
	}
	if _, err := r.Named("dbpdia"); err == nil || !strings.Contains(err.Error(), "dbpedia") ||
		!strings.Contains(err.Error(), "KG_FILE") {
		t.Errorf("an unknown name: %v", err)
	}
}

// design is the example in the design notes.
const design = `graphs:                      # KG_FILE; every key is checked, with file and line
  company:
    endpoint: http://127.0.0.1:8890/sparql
    dialect: standard        # wdqs | qlever | standard
    prefixes: {c: "http://example.org/c/"}
    labels: [rdfs:label, skos:prefLabel]
    descriptions: [rdfs:comment]
    types: [rdf:type]        # Wikidata: wdt:P31
    subclass: rdfs:subClassOf
    languages: [en, de]
    statements: none         # wikibase | compound | none
    index: index/company     # from index build
    text2sparql: ["https://text2sparql.aksw.org/2026/corporate/"]
  dbpedia:
    endpoint: https://mirror.example/sparql
    timeout: 90s
    headers: {X-Api-Key: $DBPEDIA_KEY}
    params: {default-graph-uri: "http://dbpedia.org", key: $DBPEDIA_PARAM}
`

func TestRead(t *testing.T) {
	r, err := registry.Read("conf/kg.yaml", []byte(design))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Named("company")
	if err != nil || c.Index != "conf/index/company" || c.Prefixes["c"] != "http://example.org/c/" ||
		c.Prefixes["rdfs"] == "" || c.Prefixes["wdt"] != "" ||
		!slices.Equal(c.Labels, []string{"rdfs:label", "skos:prefLabel"}) || c.Statements != kg.Plain ||
		c.File != "conf/kg.yaml" || c.Line != 2 || len(c.Text2SPARQL) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	d, err := r.Named("dbpedia")
	if err != nil || d.BuiltIn() || d.Timeout != 90*time.Second {
		t.Errorf("an entry with a built-in name must replace it: %+v, %v", d, err)
	}
	env := map[string]string{"DBPEDIA_KEY": "geheim"}
	lookup := func(k string) (string, bool) { v, ok := env[k]; return v, ok }
	if _, _, err := d.Secrets(lookup); err == nil || !strings.Contains(err.Error(), "DBPEDIA_PARAM") ||
		strings.Contains(err.Error(), "geheim") {
		t.Errorf("a variable that is not set: %v", err)
	}
	env["DBPEDIA_PARAM"] = "auch"
	h, p, err := d.Secrets(lookup)
	if err != nil || h["X-Api-Key"] != "geheim" || p["key"] != "auch" || p["default-graph-uri"] != "http://dbpedia.org" {
		t.Errorf("%v, %v, %v", h, p, err)
	}
}

// TestMistakes checks that all mistakes are reported at once, with file, line and key, and that no message reveals a
// secret.
func TestMistakes(t *testing.T) {
	text := `graphs:
  Big Name:
    endpoint: http://x/
  a:
    endpoint: ftp://x/
    endpont: http://x/
    dialect: sparql
    prefixes: {"c:": "http://c/", d: nothing}
    labels: rdfs:label
  b:
    endpoint: http://x/?api_key=geheim
    labels: [nope:label, rdfs:label, rdfs:label]
    languages: [English]
    timeout: soon
    headers: {Authorization: "Bearer geheim", User-Agent: $X, X-Key: geheim}
    params: {token: geheim, query: x, y: "$not a name"}
    entities: http://x/w/api.php
    unconfirmed: perhaps
  c:
    title: ""
    about: [x]
    endpoint: http://user:geheim@x/
  d:
  embedded:
    endpoint: http://x/
  e: &anchor
    endpoint: http://x/
  f: *anchor
  e:
    endpoint: http://y/
    timeout: 2h
    statements: blazegraph
graph: {}
`
	_, err := registry.Read("kg.yaml", []byte(text))
	var ms registry.Mistakes
	if !errors.As(err, &ms) {
		t.Fatal(err)
	}
	want := []string{
		`kg.yaml:2: graphs.Big Name: a graph's name`, `kg.yaml:5: graphs.a.endpoint: "ftp://x/" is not an http`,
		`kg.yaml:6: graphs.a.endpont: unknown key; the keys are: about, aliases`,
		`kg.yaml:7: graphs.a.dialect: "sparql" is not one of: wdqs, qlever, standard`,
		`kg.yaml:8: graphs.a.prefixes: "c:" cannot be a prefix`,
		`kg.yaml:8: graphs.a.prefixes.d: "nothing" is not an IRI`, `kg.yaml:9: graphs.a.labels: want a list`,
		`kg.yaml:11: graphs.b.endpoint: the parameter "api_key" looks like a secret`,
		`kg.yaml:12: graphs.b.labels: "rdfs:label" occurs twice`,
		`kg.yaml:12: graphs.b.labels: "nope:label" is not a property`,
		`kg.yaml:13: graphs.b.languages: "English" is not a language code`, `kg.yaml:14: graphs.b.timeout: "soon"`,
		`kg.yaml:15: graphs.b.headers.Authorization: want the name of an environment variable`,
		`kg.yaml:15: graphs.b.headers: "User-Agent" cannot be set`,
		`kg.yaml:15: graphs.b.headers.X-Key: want the name of an environment variable`,
		`kg.yaml:16: graphs.b.params.token: this looks like a secret`,
		`kg.yaml:16: graphs.b.params: "query" is the query's own`, `kg.yaml:16: graphs.b.params.y: "$not a name"`,
		`kg.yaml:17: graphs.b.entities: only a graph with statements: wikibase`,
		`kg.yaml:18: graphs.b.unconfirmed: "perhaps" is not one of: true, false`,
		`kg.yaml:20: graphs.c.title: want a text`, `kg.yaml:21: graphs.c.about: want a text, not a list`,
		`kg.yaml:22: graphs.c.endpoint: an address has no user`,
		`kg.yaml:23: graphs.d: want key: value lines, not nothing`, `kg.yaml:24: graphs.embedded: this name is reserved`,
		`kg.yaml:28: graphs.f: references (*anchor) are not accepted`,
		`kg.yaml:29: graphs.e: the key is a duplicate of the one in line 26`, `kg.yaml:33: graph: unknown key`,
	}
	got := strings.Split(err.Error(), "\n")
	for i, g := range got {
		if i < len(want) && !strings.HasPrefix(g, want[i]) {
			t.Errorf("mistake %d: %s\nwant    %s", i, g, want[i])
		}
	}
	if len(got) != len(want) || strings.Contains(err.Error(), "geheim") {
		t.Errorf("%d mistakes, want %d:\n%v", len(got), len(want), err)
	}
	for text, want := range map[string]string{
		"": "kg.yaml: the file is empty", "graphs: [": "kg.yaml:1: not YAML", "a\nb: c": "kg.yaml:2: not YAML",
		"graphs:\n\t- x":           "kg.yaml:2: not YAML",
		"[]":                       "kg.yaml:1: want key: value lines, not a list",
		"graphs: x":                "kg.yaml:1: graphs: want key: value lines, not \"x\"",
		"graphs:\n  x: {}":         "kg.yaml:2: graphs.x.endpoint: the key is missing",
		strings.Repeat("#", 5<<20): "kg.yaml: the file is larger than 4 MB",
	} {
		if _, err := registry.Read("kg.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// FuzzRead checks that any file is either accepted or rejected with mistakes that all have a message.
func FuzzRead(f *testing.F) {
	f.Add(design)
	if data, err := os.ReadFile("builtin.yaml"); err == nil {
		f.Add(string(data))
	}
	f.Add("graphs: {a: {endpoint: http://x/, headers: {a: $B}}}")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := registry.Read("f", []byte(text))
		var ms registry.Mistakes
		if err != nil && (!errors.As(err, &ms) || len(ms) == 0) {
			t.Fatalf("%v", err)
		}
		for _, m := range ms {
			if m.Message == "" || m.Line < 0 {
				t.Errorf("%+v", m)
			}
		}
	})
}

// TestWikibaseDefaults checks that a Wikibase gets the usual class properties unless the file specifies others.
func TestWikibaseDefaults(t *testing.T) {
	r, err := registry.Read("f", []byte(`graphs:
  a: {endpoint: "http://x/", statements: wikibase}
  b: {endpoint: "http://x/", statements: wikibase, types: [wdt:P1], subclass: wdt:P2}
  c: {endpoint: "http://x/"}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "[wdt:P31] wdt:P279", "b": "[wdt:P1] wdt:P2", "c": "[rdf:type] "} {
		e, err := r.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(e.Types, " ", e.Subclass); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
