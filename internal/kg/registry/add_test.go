package registry_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
	"github.com/spinachbot/spinachbot/internal/kg/registry"
)

// library returns a small non-Wikidata graph.
func library(t *testing.T, books int) *embedded.Graph {
	t.Helper()
	var nt bytes.Buffer
	if err := kgtest.NewLibrary(1, books).Write(&nt); err != nil {
		t.Fatal(err)
	}
	return graph(t, "library.nt", nt.String())
}

func graph(t *testing.T, name, text string) *embedded.Graph {
	t.Helper()
	b := embedded.NewBuilder()
	if err := b.Read(name, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return b.Graph(embedded.Options{})
}

// TestAsk checks that Ask can describe a graph with a custom vocabulary from the data alone.
func TestAsk(t *testing.T) {
	p, err := registry.Ask(t.Context(), library(t, 400).Query)
	if err != nil {
		t.Fatal(err)
	}
	want := kg.Description{Dialect: "standard", Statements: kg.Compound, Labels: []string{"v:called"},
		Descriptions: []string{"v:about"},
		Types:        []string{"rdf:type"}, Subclass: "rdfs:subClassOf", Languages: []string{"en", "de"},
		Prefixes: map[string]string{"v": kgtest.LibraryVocabulary, "thing": kgtest.LibraryThings}}
	if !reflect.DeepEqual(p.Description, want) {
		t.Errorf("got  %+v\nwant %+v", p.Description, want)
	}
	if p.Classes[0] != (registry.Count{IRI: kgtest.LibraryVocabulary + "Book", N: 400}) || p.Triples < 3000 ||
		len(p.Notes) > 0 {
		t.Errorf("largest class %v, %d triples, notes %q", p.Classes[0], p.Triples, p.Notes)
	}
	p, err = registry.Ask(t.Context(), graph(t, "data.ttl", kgtest.Data).Query)
	if err != nil {
		t.Fatal(err)
	}
	want = kg.Description{Dialect: "standard", Statements: kg.Wikibase, Labels: []string{"rdfs:label"},
		Aliases:      []string{"skos:altLabel"},
		Descriptions: []string{"schema:description"}, Types: []string{"wdt:P31"}, Subclass: "wdt:P279",
		Languages: []string{"en", "de", "fr", "mul"}, Prefixes: map[string]string{}}
	if !reflect.DeepEqual(p.Description, want) {
		t.Errorf("got  %+v\nwant %+v", p.Description, want)
	}
}

// TestAskBadEndpoints checks that Ask fails if the endpoint never responds, and that it describes what it can if the
// endpoint answers only some questions.
func TestAskBadEndpoints(t *testing.T) {
	g := library(t, 100)
	down := kg.Errorf(kg.Down, "the connection failed")
	if _, err := registry.Ask(t.Context(), func(context.Context, string) (*kg.Table, error) {
		return nil,
			down
	}); err == nil {
		t.Error("an endpoint that is down: want its error")
	}
	p, err := registry.Ask(t.Context(), func(ctx context.Context, q string) (*kg.Table, error) {
		if strings.Contains(q, "COUNT") && !strings.Contains(q, "LIMIT 100000") {
			return nil, kg.Errorf(kg.Timeout, "too slow")
		}
		return g.Query(ctx, q)
	})
	if err != nil || p.Triples != -1 || !slices.Equal(p.Description.Labels, []string{"v:called"}) || len(p.Notes) == 0 {
		t.Errorf("an endpoint that cannot count: %+v, %v", p, err)
	}
	empty, err := registry.Ask(t.Context(), graph(t, "x.nt", "").Query)
	if err != nil || !slices.ContainsFunc(empty.Notes, func(s string) bool { return strings.Contains(s, "empty") }) {
		t.Errorf("an empty graph: %+v, %v", empty, err)
	}
	bare, err := registry.Ask(t.Context(), graph(t, "x.nt", "<x:a> <x:p> <x:b> .\n").Query)
	if err != nil || len(bare.Description.Labels) != 0 || len(bare.Notes) < 2 {
		t.Errorf("a graph without labels and classes: %+v, %v", bare, err)
	}
}

// TestAdd checks that the existing content of the file is kept byte for byte, and that the new entry can be read.
func TestAdd(t *testing.T) {
	p, err := registry.Ask(t.Context(), library(t, 100).Query)
	if err != nil {
		t.Fatal(err)
	}
	e, err := registry.EntryOf("lib", "http://127.0.0.1:1/sparql?x=\"'y", p)
	if err != nil {
		t.Fatal(err)
	}
	for name, before := range map[string]string{
		"no file":       "",
		"comments only": "# my graphs\n\n",
		"one entry":     "# my graphs\ngraphs:\n  a: # the first\n    endpoint: http://x/ # here\n\n# the end\n",
		"deep indents":  "graphs:\n      a:\n             endpoint: 'http://x/'\n             labels:\n             - rdfs:label\n",
		"no last line":  "graphs:\n  a: {endpoint: http://x/}",
		"Windows":       "graphs:\r\n  a:\r\n    endpoint: http://x/\r\n",
	} {
		after, err := registry.Add("f.yaml", []byte(before), e, "added today\nby hand: no")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.HasPrefix(string(after), before) {
			t.Errorf("%s: changed to\n%s", name, after)
		}
		r, err := registry.Read("f.yaml", after)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, after)
			continue
		}
		got, err := r.Named("lib")
		if err != nil || got.Address != e.Address || !slices.Equal(got.Labels, []string{"v:called"}) ||
			got.Prefixes["thing"] != kgtest.LibraryThings || got.Statements != kg.Compound {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, before := range map[string]string{
		"the name is taken": "graphs:\n  lib:\n    endpoint: http://x/\n", "braces": "graphs: {a: {endpoint: http://x/}}\n",
		"mistakes":               "graphs:\n  a: 3\n",
		"an end of the document": "graphs:\n  a:\n    endpoint: http://x/\n...\n",
	} {
		if after, err := registry.Add("f.yaml", []byte(before), e, ""); err == nil {
			t.Errorf("%s: want an error, got\n%s", name, after)
		}
	}
	for _, name := range []string{"", "Lib", "a b", "embedded", strings.Repeat("x", 41)} {
		if _, err := registry.EntryOf(name, "http://x/", p); err == nil {
			t.Errorf("name %q: want an error", name)
		}
	}
}

func TestNameFor(t *testing.T) {
	for address, want := range map[string]string{
		"https://sparql.uniprot.org/sparql/": "uniprot-2", "http://127.0.0.1:8890/sparql": "local-8890",
		"http://localhost/sparql": "local", "https://dbpedia.org/sparql": "dbpedia",
		"https://www.orkg.org/x": "orkg", "http://[::1]:77/": "local-77", "https://xn--bcher-kva.example/": "xn-bcher-kva",
		"nonsense": "graph",
	} {
		if got := registry.NameFor(address, []string{"uniprot"}); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// The numbers for kgtest.Data were counted by hand; those for the library follow from its generator.
func TestLacks(t *testing.T) {
	d := kg.Description{Statements: kg.Wikibase, Labels: []string{"rdfs:label"},
		Descriptions: []string{"schema:description"}, Types: []string{"wdt:P31"}}
	got, err := registry.Lacks(t.Context(), graph(t, "data.ttl", kgtest.Data).Query, &d)
	want := []string{
		"Of 6 things looked at, 16% have no description.", // only Bonn has none, among Q42, Q183, Q64, Q1048, Q7207, Q586
		"Statements have no references.",
		"There are no links to articles (schema:about).",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	bare := "<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P31> <http://www.wikidata.org/entity/Q5> .\n"
	got, err = registry.Lacks(t.Context(), graph(t, "bare.nt", bare).Query, &d)
	if err != nil || len(got) != 10 || got[0] != "Of 1 things looked at, 100% have no label; look for such things by what they are related to." ||
		!slices.Contains(got, "There are no statement nodes (p:, ps:): only the direct values (wdt:).") ||
		!slices.Contains(got, "Quantities have no units.") {
		t.Errorf("got %d: %q, %v", len(got), got, err)
	}
	down := kg.Errorf(kg.Down, "the connection failed")
	if _, err := registry.Lacks(t.Context(), func(context.Context, string) (*kg.Table, error) { return nil, down },
		&d); kg.KindOf(err) != kg.Down {
		t.Errorf("an endpoint that is down: %v", err)
	}
}

func TestKeep(t *testing.T) {
	dir, e := t.TempDir(), &registry.Entry{}
	e.Name, e.Endpoint = "x", "http://x/"
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	if _, ok := registry.Recall(dir, e, at); ok {
		t.Error("nothing was kept")
	}
	m := registry.Measurement{Endpoint: "http://x/", At: at, Lacks: []string{"It has no ranks."}}
	if err := registry.Keep(dir, e, m); err != nil {
		t.Fatal(err)
	}
	if got, ok := registry.Recall(dir, e, at.Add(time.Hour)); !ok || !reflect.DeepEqual(got, m) {
		t.Errorf("got %+v, %v", got, ok)
	}
	if _, ok := registry.Recall(dir, e, at.Add(registry.MaxAge+time.Hour)); ok {
		t.Error("too old")
	}
	e.Endpoint = "http://y/"
	if _, ok := registry.Recall(dir, e, at); ok {
		t.Error("another endpoint")
	}
}

// TestWriteFile checks that WriteFile preserves symbolic links and the file mode.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := registry.WriteFile(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	info, serr := os.Lstat(file)
	if err != nil || serr != nil || string(data) != "new" || info.Mode() != 0o640 {
		t.Errorf("%q, %v, %v", data, info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("%d files are left", len(left))
	}
	if err := registry.WriteFile(filepath.Join(dir, "none", "x"), nil); err == nil {
		t.Error("a folder that does not exist: want an error")
	}
}
