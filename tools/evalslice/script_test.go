package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// The scripted model can parse the script, whatever the questions and queries look like. Questions that are in the log,
// and duplicates, are omitted.
func TestWriteScript(t *testing.T) {
	var items []dataset.Item
	for _, q := range []string{"Who?", "== request", "What  for?", "Who?", "a", "b", "c", "d", "e", "f", "recorded one"} {
		items = append(items, dataset.Item{Question: q, SPARQL: "SELECT ?x {\n== act 1\n?x ?p ?o }"})
	}
	var b bytes.Buffer
	if n := writeScript(&b, items, map[string]bool{"recorded one": true}); n != 9 {
		t.Errorf("%d questions, want 9", n)
	}
	s, err := llm.ParseScript(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	if got := s.Requests(); len(got) != 9 || got[1] != "== request" || !slices.Contains(got, "What for?") {
		t.Errorf("requests: %q", got)
	}
}
