package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/httpapi"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
)

// libraryServer serves a graph that is not Wikidata.
func libraryServer(t *testing.T) (address string) {
	t.Helper()
	var nt bytes.Buffer
	if err := kgtest.NewLibrary(1, 300).Write(&nt); err != nil {
		t.Fatal(err)
	}
	b := embedded.NewBuilder()
	if err := b.Read("library.nt", &nt); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(httpapi.NewSPARQL(quietLogger(), b.Graph(embedded.Options{}), 5))
	t.Cleanup(srv.Close)
	return srv.URL + "/sparql"
}

// TestKG adds, lists, checks, shows, and queries a graph whose entry is never edited by hand.
func TestKG(t *testing.T) {
	t.Chdir(t.TempDir())
	address := libraryServer(t)
	csv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
	}))
	defer csv.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	gone := closed.URL + "/sparql"
	environ := []string{"KG_FILE=graphs.yaml"}
	steps := []struct {
		args  string
		code  int
		wants []string // in the output or the messages
	}{
		{"kg add " + address + " --name library", 0, []string{"class v:Book: 300", "labels: ['v:called']",
			"graphs.yaml: added the graph library"}},
		{"kg add " + address + " --name library", 1, []string{"already has a graph library", "--name"}},
		{"kg list", 0, []string{"library              standard  compound  " + address, "(graphs.yaml:3)", "(unconfirmed)"}},
		{"kg show library", 0, []string{"graphs:\n  library:\n", "thing: http://library.example/thing/"}},
		{"kg check library", 0, []string{"graphs.yaml: no mistakes", "answers within", "% have no label"}},
		{"kg show library", 0, []string{"% have no label; look for such things by what they are related to. (measured 20"}},
		{"kg shape --kg library v:House", 0, []string{"publishing house (v:House)", "v:seat"}},
		{"kg check", 0, []string{"no endpoint was queried"}},
		{"kg check nope", 2, []string{`there is no graph "nope"`, "embedded, wikidata", "library"}},
		{"kg show embedded", 2, []string{"is built in"}},
		{"index build --out ix --kg nope", 2, []string{`there is no graph "nope"`}},
		{"index build --out ix --kg embedded", 0, []string{"entities"}},
		{"index build --out iy --kg embedded --languages en,klingon,xx", 2, []string{`no language has the code "klingon", "xx"`}},
		{"index build --out iy --kg embedded --languages bat-smg,simple,eo", 0, []string{"warning: the index has no entity",
			"in the languages bat-smg, simple, eo"}},
		{"index search --index ix --verify", 0, []string{"the checksums are correct"}},
		{"index search --index ix", 2, []string{"what should be searched for?"}},
		{"kg add ftp://x/", 2, []string{"is not an http or https address"}},
		{"kg add " + address + " --name Büro", 2, []string{`"Büro" cannot be a graph's name`}},
		{"kg add " + gone + " --name gone", 4, []string{"connection refused"}},
		{"kg add " + csv.URL + " --name csv", 1, []string{"does not answer as a query service",
			"text/csv instead of SPARQL results in JSON"}},
		{"eval score --kg library,library x.json", 2, []string{"listed twice"}},
	}
	if err := os.WriteFile("x.json", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		out, errs, code := invoke(t, environ, strings.Fields(s.args)...)
		for _, want := range s.wants {
			if !strings.Contains(out+errs, want) {
				t.Errorf("%s: no %q in\n%s%s", s.args, want, out, errs)
			}
		}
		if code != s.code {
			t.Errorf("%s: exit %d, want %d: %s%s", s.args, code, s.code, out, errs)
		}
	}
	if _, errs, code := invoke(t, nil, "index", "search", "--index", "ix", " "); code != 2 || !strings.Contains(errs,
		"what should be searched for?") {
		t.Errorf("a blank query: exit %d, %s", code, errs)
	}
	dead := "graphs: {dead: {endpoint: \"" + gone + "\"}}"
	if err := os.WriteFile("dead.yaml", []byte(dead), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, code := range map[string]int{"kg shape --kg dead c:A": 4, "kg check dead": 1, "index build --out i --kg dead": 4} {
		_, errs, got := invoke(t, []string{"KG_FILE=dead.yaml"}, strings.Fields(args)...)
		if got != code || code == 4 && !strings.Contains(errs, "connection refused") {
			t.Errorf("%s: exit %d, want %d: %s", args, got, code, errs)
		}
	}
	cut := "graphs: {cut: {endpoint: \"" + address + "\", index: nowhere}}"
	if err := os.WriteFile("cut.yaml", []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := invoke(t, []string{"KG_FILE=cut.yaml"}, "kg", "check", "cut"); code != 1 ||
		!strings.Contains(out, "its index: ") {
		t.Errorf("a missing index: exit %d, %s%s", code, out, errs)
	}
	damaged, err := os.ReadFile("ix/labels.idx")
	if err != nil {
		t.Fatal(err)
	}
	damaged[len(damaged)/3] ^= 1 // in a section, not in the file's directory
	if err := os.WriteFile("damaged.idx", damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("cut.yaml", []byte(strings.Replace(cut, "nowhere", "damaged.idx", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := invoke(t, []string{"KG_FILE=cut.yaml"}, "kg", "check", "cut"); code != 1 ||
		!strings.Contains(out, "wrong checksum); build it again") {
		t.Errorf("a damaged index: exit %d, %s%s", code, out, errs)
	}
	for entry, code := range map[string]int{"": 0, ", labels: [rdfs:label]": 0, ", labels: [\"http://x.org/name\"]": 1} {
		bare := "graphs: {bare: {endpoint: \"" + address + "\"" + entry + "}}"
		if err := os.WriteFile("bare.yaml", []byte(bare), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, errs, got := invoke(t, []string{"KG_FILE=bare.yaml"}, "kg", "check", "bare"); got != code ||
			!strings.Contains(out, "labels: nothing has") {
			t.Errorf("labels that nothing has, entry %q: exit %d, want %d: %s%s", entry, got, code, out, errs)
		}
	}
	file, err := os.ReadFile("graphs.yaml")
	if err != nil || strings.Count(string(file), "endpoint:") != 1 {
		t.Errorf("%s, %v: want one entry", file, err)
	}
	out, errs, code := invoke(t, environ, "kg", "shape", "--kg", "library", "--json", "v:Book")
	var shape struct{ Members int }
	if err := json.Unmarshal([]byte(out), &shape); err != nil || code != 0 || shape.Members != 300 {
		t.Errorf("exit %d, %v: %s%s", code, err, out, errs)
	}
}

// TestWrongKGFile checks that every command that opens graphs reports all mistakes in KG_FILE at once, and that the bot
// continues.
func TestWrongKGFile(t *testing.T) {
	t.Chdir(t.TempDir())
	before := "graphs:\n  a:\n    endpont: http://x/\n  B:\n    endpoint: http://x/?token=geheim\n"
	if err := os.WriteFile("graphs.yaml", []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"KG_FILE=graphs.yaml", "OPENAI_BASE_URL=http://127.0.0.1:9/v1"}
	for _, args := range []string{"kg list", "kg check", "kg add http://127.0.0.1:1/", "config check",
		"ask --kg embedded Who?"} {
		out, errs, code := invoke(t, environ, strings.Fields(args)...)
		for _, want := range []string{"graphs.yaml:2: graphs.a.endpoint: the key is missing",
			"graphs.yaml:3: graphs.a.endpont: unknown key", "graphs.yaml:4: graphs.B:"} {
			if code != 2 || !strings.Contains(errs, want) {
				t.Errorf("%s: exit %d, no %q in\n%s%s", args, code, want, out, errs)
			}
		}
	}
	after, err := os.ReadFile("graphs.yaml")
	if err != nil || string(after) != before {
		t.Errorf("the file was changed: %s, %v", after, err)
	}
	environ[0] = "KG_FILE=" + filepath.Join("no", "graphs.yaml")
	if _, errs, code := invoke(t, environ, "kg", "list"); code != 2 || !strings.Contains(errs, filepath.Join("no",
		"graphs.yaml")) {
		t.Errorf("a missing file: exit %d, %s", code, errs)
	}
}

// TestOpenGraphs checks that each of several opened graphs has all of its parts.
func TestOpenGraphs(t *testing.T) {
	t.Chdir(t.TempDir())
	address := libraryServer(t)
	if _, errs, code := invoke(t, []string{"KG_FILE=graphs.yaml"}, "kg", "add", address, "--name", "library"); code != 0 {
		t.Fatal(errs)
	}
	cfg, _, err := config.Load(config.Source{Environ: []string{"KG_FILE=graphs.yaml"}})
	if err != nil {
		t.Fatal(err)
	}
	e := &env{stderr: os.Stderr, now: systemClock{}.Now}
	sources, err := openGraphs(context.Background(), quietLogger(), e, "library,embedded", cfg, remote.NewMemoryStore(),
		nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) != 2 || sources[0].Name() != "library" || len(sources[0].Explain.Lacks) == 0 ||
		sources[0].Explain.MeasuredAt.IsZero() {
		t.Fatalf("%+v", sources[0].Explain)
	}
	for i := range sources {
		s := &sources[i]
		if s.Labels == nil || s.Finder == nil || s.Shapes == nil {
			t.Errorf("%s lacks a part: %+v", s.Name(), s)
		}
	}
	got, err := sources[0].Graph.Query(context.Background(), "SELECT (COUNT(?b) AS ?n) WHERE { ?b a v:Book }")
	if err != nil || got.Rows[0][0].Value != "300" {
		t.Errorf("%+v, %v", got, err)
	}
}
