package embedded

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// TestFormats checks that the same triple can be read in all formats.
func TestFormats(t *testing.T) {
	zip := func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(s))
		_ = w.Close()
		return b.String()
	}
	dir := t.TempDir()
	nt, ttl := "<x:a> <x:p> _:n .\n_:n <x:q> 1 .", "@prefix : <x:> . :a :p [ :q 1 ] ."
	nt = strings.Replace(nt, " 1 ", ` "1"^^<http://www.w3.org/2001/XMLSchema#integer> `, 1)
	var paths []string
	for name, text := range map[string]string{"a.nt": nt, "b.ttl": ttl, "c.nt.gz": zip(nt), "d.ttl.gz": zip(ttl)} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := Load(Options{}, path)
		if err != nil || g.Len() != 2 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		runCases(t, g, []queryCase{{name, "SELECT ?v { <x:a> <x:p> [ <x:q> ?v ] }", "1"}})
		paths = append(paths, path)
	}
	// Blank nodes in different documents are different nodes.
	if g, err := Load(Options{}, paths...); err != nil || g.Len() != 8 {
		t.Errorf("all together: %v", err)
	}
	for name, text := range map[string]string{"x.json": "{}", "x.nt.gz": "not gzip", "x.ttl": "@prefix : <x:> . :a :b",
		"x.nt": "nonsense"} {
		if err := NewBuilder().Read(name, strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want an error that names the file", name, err)
		}
	}
	if _, err := Load(Options{}, filepath.Join(dir, "missing.nt")); err == nil {
		t.Error("a missing file is not an error")
	}
	if err := NewBuilder().Add(rdf.String("a"), rdf.IRI("x:p"), rdf.IRI("x:b")); err == nil {
		t.Error("a literal subject is not an error")
	}
}
