package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/index/opensearch/played"
)

// TestOpenSearch checks that an entry in KG_FILE is used to build and search an OpenSearch index, with a login from the
// environment.
func TestOpenSearch(t *testing.T) {
	t.Chdir(t.TempDir())
	server := played.New()
	address := httptest.NewServer(server)
	defer address.Close()
	server.Login = "reader:geheim"
	table := "label\tscore\tsynonyms\tid\tinfos\nBerlin\t46\tGerman capital\t<http://e/Q64>\tcity\n" +
		"Bern\t30\t\t<http://e/Q70>\tcity\n"
	graph := "graphs:\n  company:\n    endpoint: " + libraryServer(t) +
		"\n    opensearch: {address: " + address.URL + ", index: names, login: $SEARCH_LOGIN}\n"
	for name, text := range map[string]string{"t.tsv": table, "graphs.yaml": graph,
		"bare.yaml": "graphs: {company: {endpoint: \"" + address.URL + "\"}}"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	environ := []string{"KG_FILE=graphs.yaml", "SEARCH_LOGIN=reader:geheim"}
	steps := []struct {
		environ []string
		args    string
		code    int
		wants   []string
	}{
		{environ, "index search --kg company berl", 1, []string{"no such index [names]"}},
		{environ, "index build --into company --entities t.tsv", 0, []string{"/names: 2 entities and 0 properties with 3 names"}},
		{environ, "index search --kg company berl", 0, []string{"1. Berlin, also known as German capital <http://e/Q64>"}},
		{environ, "index search --kg company capital german", 0, []string{"1. Berlin"}},
		{environ, "kg show company", 0, []string{"opensearch:", "login: $SEARCH_LOGIN"}},
		{environ, "index search --kg company --verify", 2, []string{"OpenSearch checks its own data"}},
		{environ, "index search --kg embedded a", 2, []string{"is built in"}},
		{environ, "index search --kg company --index x a", 2, []string{"--index DIR, or a graph"}},
		{environ, "index build --into company --out x --entities t.tsv", 2, []string{"leave out --out"}},
		{environ, "index build --into wikidata --entities t.tsv", 2, []string{"has no opensearch key"}},
		{environ[:1], "index search --kg company berl", 1,
			[]string{"requires user:password in the environment variable SEARCH_LOGIN"}},
		{[]string{"KG_FILE=graphs.yaml", "SEARCH_LOGIN=reader:wrong"}, "index search --kg company berl", 1, []string{"status 401"}},
		{[]string{"KG_FILE=bare.yaml"}, "index search --kg company a", 2, []string{"has no index"}},
	}
	for _, s := range steps {
		out, errs, code := invoke(t, s.environ, strings.Fields(s.args)...)
		for _, want := range s.wants {
			if !strings.Contains(out+errs, want) || strings.Contains(out+errs, "geheim") {
				t.Errorf("%s: no %q, or a secret, in\n%s%s", s.args, want, out, errs)
			}
		}
		if code != s.code {
			t.Errorf("%s: exit %d, want %d: %s%s", s.args, code, s.code, out, errs)
		}
	}
	if len(server.Indices) != 1 {
		t.Errorf("%d indexes", len(server.Indices))
	}
	address.Close()
	if out, errs, code := invoke(t, environ, "kg", "check", "company"); code != 1 ||
		!strings.Contains(out, "its index: OpenSearch does not respond") {
		t.Errorf("OpenSearch is gone: exit %d: %s%s", code, out, errs)
	}
	if out, errs, code := invoke(t, environ, "index", "search", "--kg", "company", "a"); code != 4 {
		t.Errorf("OpenSearch is gone: exit %d: %s%s", code, out, errs)
	}
}

// TestVoIDKey checks that a graph's own description is read from a file, from a URL, and from its standard location.
func TestVoIDKey(t *testing.T) {
	t.Chdir(t.TempDir())
	const description = `@prefix void: <http://rdfs.org/ns/void#> .
[] void:class <http://library.example/vocabulary/Book> ; void:entities 7 ;
  void:propertyPartition [ void:property <http://library.example/vocabulary/inVoID> ; void:triples 7 ] .`
	library := libraryServer(t)
	to, err := url.Parse(strings.TrimSuffix(library, "/sparql"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/sparql":
			proxy.ServeHTTP(w, r)
		case r.Header.Get("X-Key") != "geheim":
			w.WriteHeader(http.StatusForbidden)
		default: // /.well-known/void, /about.ttl
			_, _ = w.Write([]byte(description))
		}
	}))
	defer site.Close()
	if err := os.WriteFile("void.ttl", []byte(description), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string]string{"file": "void: void.ttl", "address": "void: " + site.URL + "/about.ttl",
		"usual": "about: x"} {
		graph := "graphs:\n  " + name + ":\n    endpoint: " + site.URL + "/sparql\n    headers: {X-Key: $KEY}\n    " + keys + "\n"
		if err := os.WriteFile("graphs.yaml", []byte(graph), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, code := invoke(t, []string{"KG_FILE=graphs.yaml", "KEY=geheim"}, "kg", "shape", "--kg", name,
			"<http://library.example/vocabulary/Book>")
		if code != 0 || !strings.Contains(out, "inVoID") {
			t.Errorf("%s: exit %d: %s%s", name, code, out, errs)
		}
	}
}
