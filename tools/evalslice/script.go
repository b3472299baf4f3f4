package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/text"
)

// writeScript writes the script for the scripted model, with an answer to every question that is not in the log. It
// uses the gold query and cycles through eight kinds of runs, so that a benchmark run has right and wrong answers,
// repetitions, early stops, a service that sometimes fails, and missing answers.
func writeScript(w io.Writer, items []dataset.Item, recorded map[string]bool) (n int) {
	seen := map[string]bool{}
	for _, it := range items {
		key := text.Fold(it.Question)
		if recorded[key] || seen[key] {
			continue
		}
		seen[key] = true
		query := escapeLines(strings.TrimSpace(it.SPARQL))
		fmt.Fprintf(w, "== request\n%s\n== language\nEnglish\n== report\nHere is what the graph says.\n== extract\n%s\n",
			escapeLines(key), query)
		for i, a := range actions(n%8, query, key) {
			fail := ""
			if n%40 == 5 && i == 1 {
				fail = " fail 503 429"
			}
			fmt.Fprintf(w, "== act %d%s\nThought: Step %d.\nAction: %s\n", i+1, fail, i+1, a)
		}
		fmt.Fprintln(w)
		n++
	}
	return n
}

// escapeLines prevents lines in s from being parsed as headers of the script.
func escapeLines(s string) string {
	return strings.TrimPrefix(strings.ReplaceAll("\n"+s, "\n==", "\n\\=="), "\n")
}

func actions(kind int, query, question string) []string {
	word, _, _ := strings.Cut(strings.TrimLeft(question, " "), " ")
	search := "search_wikidata(" + word + ")"
	run := "execute_sparql(\n" + query + "\n)"
	ten := "execute_sparql(\nSELECT ?item WHERE { ?item wdt:P31 wd:Q6256 . } LIMIT 7\n)"
	empty := "execute_sparql(\nSELECT ?item WHERE { ?item wdt:P31 wd:Q6256 ; wdt:P31 wd:Q5 . }\n)"
	switch kind {
	case 1: // a different query
		return []string{search, ten, "stop()"}
	case 2: // early stops until no actions are left, then the extraction
		return []string{search, "stop()"}
	case 3: // an empty result, then the correct query
		return []string{search, empty, run, "stop()"}
	case 4: // no answer
		return []string{search, "get_wikidata_entry(Q5)", empty, "stop(no answer: nothing fits)"}
	case 6: // an entry, examples, the query, a check, and a stop on the query
		return []string{"get_wikidata_entry(Q5)", "get_property_examples(P31)", run, ten, "stop(step 3)"}
	}
	return []string{search, run, "stop()"}
}
