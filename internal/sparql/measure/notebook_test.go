package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each case tests one of the notebook's rules. The counts were made by hand: clauses, relations, subjects, predicates,
// objects, literals.
func TestNotebookMetrics(t *testing.T) {
	for _, c := range []struct {
		rule, query string
		want        [6]int
	}{
		{"one triple", "SELECT ?a WHERE { ?a wdt:P1 wd:Q1. }", [6]int{2, 1, 1, 1, 1, 0}},
		{"a WHERE is inserted", "select ?a { ?a wdt:P1 wd:Q1 }", [6]int{2, 1, 1, 1, 1, 0}},
		{"and before a brace on the next line", "SELECT ?a\n{ ?a wdt:P1 wd:Q1 }", [6]int{2, 1, 1, 1, 1, 0}},
		{"but not after a clause of two lines", "SELECT ?a\n ?b { ?a wdt:P1 ?b }", [6]int{}},
		{"ASK without WHERE counts only its modifiers", "ASK { wd:Q1 wdt:P1 wd:Q2 } LIMIT 1", [6]int{1, 0, 0, 0, 0, 0}},
		{"ASK with WHERE", "ASK WHERE { wd:Q1 wdt:P1 wd:Q2 }", [6]int{2, 1, 1, 1, 1, 0}},
		{"an empty body", "SELECT ?a WHERE { } LIMIT 1", [6]int{1, 0, 0, 0, 0, 0}},
		{"modifiers, in any spelling, also in comments and words",
			"SELECT ?a WHERE { ?a wdt:P1 ?b } group by ?a Having (?n > 1) ORDER  BY ?limit LIMIT 3 # no limit",
			[6]int{8, 1, 1, 1, 1, 0}},
		{"predicates: paths up to white space, a slash between spaces",
			"SELECT ?a WHERE { ?a wdt:P1/wdt:P2* ?b. ?a (wdt:P1 / wdt:P2) ?b. ?a p:P1/ps:P1|wdt:P2+ ?c. ?a rdfs:label ?d. ?a schema:about ?e. }", [6]int{6, 5, 1, 5, 4, 0}},
		{"predicates: the star is part of the name", "SELECT ?a WHERE { ?a wdt:P1 ?b. ?a wdt:P1* ?b }",
			[6]int{3, 2, 1, 2, 1, 0}},
		{"predicates: no second slash or star between spaces, no inverse, no other prefix, no two parentheses",
			"SELECT ?a WHERE { ?a wdt:P1 / wdt:P2 / wdt:P3 ?b. ?a wdt:P1 * ?b. ?a ^wdt:P1 ?b. ?a wikibase:rank ?b. ?a a ?b. ?a ((wdt:P1)) ?b }", [6]int{1, 0, 0, 0, 0, 0}},
		{"full IRIs, no paths of them", "SELECT ?a WHERE { <http://e/Q1> <http://e/P1> ?a. <http://e/Q1> <http://e/P1>/<http://e/P2> ?a. ?a <http://e/P1>* <http://e/Q2> }",
			[6]int{2, 1, 1, 1, 1, 0}},
		{"objects: double-quoted strings and digits are literals, [] is one, other brackets are none",
			`SELECT ?a WHERE { ?a wdt:P1 "x"@en. ?a wdt:P2 12. ?a wdt:P3 []. ?a p:P4 [ ps:P4 wd:Q1 ]. ?a wdt:P5 'y'. }`,
			[6]int{4, 3, 1, 3, 1, 2}},
		{"objects: punctuation is part of an item",
			"SELECT ?a WHERE { ?a wdt:P1 wd:Q1. ?a wdt:P1 wd:Q1 . ?a wdt:P1 wd:Q1}", [6]int{4, 2, 1, 1, 2, 0}},
		{"a semicolon on the line", "SELECT ?a WHERE { ?a wdt:P1 ?b; wdt:P2 ?c; wdt:P3 ?d }", [6]int{2, 1, 1, 1, 1, 0}},
		{"a semicolon makes the item before it a subject",
			"SELECT ?a WHERE { ?a wdt:P1 wd:Q1; wdt:P2 wd:Q2; wdt:P3 ?d }", [6]int{3, 2, 2, 2, 2, 0}},
		{"only the first continuation of a statement over several lines",
			"SELECT ?a WHERE {\n  ?a wdt:P1 ?b;\n     wdt:P2 ?c;\n     wdt:P3 ?d.\n  ?d wdt:P4 ?e ;\n wdt:P5 \"v\" .\n}",
			[6]int{5, 4, 2, 4, 3, 1}},
		{"none without an indent, or with a line break before the semicolon",
			"SELECT ?a WHERE {\n?a wdt:P1 ?b; wdt:P2 ?c.\n ?c wdt:P1 ?b\n ; wdt:P2 ?e.\n}", [6]int{3, 2, 2, 1, 1, 0}},
		{"VALUES of one variable", "SELECT ?a WHERE { values ?x { wd:Q1 wd:Q2 wd: \"s\" 8 } VALUES (?x ?y) { (wd:Q1 wdt:P1) } } # values of {wd:Q9}", [6]int{2, 0, 0, 0, 3, 2}},
		{"FILTER without a parenthesis does not count",
			`SELECT ?a WHERE { FILTER NOT EXISTS { ?a wdt:P1 ?b } FILTER regex(?b, "x") }`, [6]int{2, 1, 1, 1, 1, 0}},
		{"FILTER: the next parentheses belong to it, too; a decimal is two numbers",
			`SELECT ?a WHERE { FILTER(?b > 1.5 && ?b2 < wd:Q7) BIND("z 9" AS ?c) }`, [6]int{3, 0, 0, 0, 3, 3}},
		{"FILTER: the same spelling is read from its first occurrence each time",
			`SELECT ?a WHERE { FILTER(?a > "1"^^xsd:date) FILTER(?b) filter (?c) }`, [6]int{8, 0, 0, 0, 3, 1}},
		{"OPTIONAL and MINUS count again, but not their relations",
			"SELECT ?a WHERE { ?a wdt:P1 ?b OPTIONAL { ?a wdt:P2 ?c } minus{?a wdt:P3 wd:Q1 } }", [6]int{8, 3, 1, 3,
				3, 0}},
		{"MINUS without the space before its brace: another object", "SELECT ?a WHERE { MINUS{?a wdt:P3 wd:Q1} }",
			[6]int{4, 2, 1, 1, 2, 0}},
		{"nested ones: everything up to the first closing brace",
			"SELECT ?a WHERE { OPTIONAL { ?a wdt:P2 ?c OPTIONAL { ?c wdt:P3 ?d } } }", [6]int{6, 2, 2, 2, 2, 0}},
		{"no continuation where OPTIONAL starts", "SELECT ?a WHERE { OPTIONAL {\n ?a wdt:P1 ?b;\n wdt:P2 ?c } }",
			[6]int{5, 2, 1, 2, 2, 0}},
		{"a sub-query is a body", "SELECT ?a WHERE { { SELECT ?a WHERE { ?a wdt:P1 ?b } } ?a wdt:P2 ?c }",
			[6]int{4, 2, 1, 2, 2, 0}},
		{"its OPTIONAL counts once", "SELECT ?a { { SELECT ?a { ?a wdt:P1 ?b OPTIONAL { ?a wdt:P2 ?c } } } }",
			[6]int{4, 2, 1, 2, 2, 0}},
		{"its text is deleted everywhere",
			"SELECT ?a WHERE { { SELECT ?a WHERE { ?a wdt:P1 ?b } } { ?a wdt:P1 ?b } }", [6]int{3, 1, 1, 1, 1, 0}},
		{"a second sub-query stays", "SELECT ?a WHERE { { SELECT ?a WHERE { ?a wdt:P1 ?b } } { SELECT ?a WHERE { ?a wdt:P2 ?b } } }", [6]int{4, 2, 1, 2, 1, 0}},
		{"the columns of a cut sub-query read as a triple",
			"SELECT ?a WHERE { { SELECT ?a ?b ?c WHERE { ?a wdt:P1 ?b } } }", [6]int{4, 2, 1, 2, 2, 0}},
		{"a WITH block is a query, sets are united",
			"SELECT ?a\nWITH { SELECT ?a WHERE { ?a wdt:P1 ?b } LIMIT 5 } AS %x WHERE { INCLUDE %x. ?a wdt:P1 ?b }",
			[6]int{5, 1, 1, 1, 1, 0}},
		{"WITH on the line of SELECT hides the rest",
			"SELECT ?a WITH { SELECT ?a WHERE { ?a wdt:P1 ?b } LIMIT 5 } AS %x WHERE { INCLUDE %x. ?a wdt:P2 ?b } LIMIT 3",
			[6]int{4, 1, 1, 1, 1, 0}},
		{"names in other writing systems", "SELECT ?é WHERE { ?é wdt:P1\u00a0?ж_1 }", [6]int{2, 1, 1, 1, 1, 0}},
		{"braces that do not close", "SELECT ?a WHERE { ?a wdt:P1 ?b WITH {", [6]int{2, 1, 1, 1, 1, 0}},
		{"nothing", "", [6]int{}},
	} {
		if got := six(Notebook(c.query)); got != c.want {
			t.Errorf("%s: got %v, want %v\n%s", c.rule, got, c.want, c.query)
		}
	}
}

func six(m Metrics) [6]int {
	return [6]int{m.Clauses, m.Relations, m.Subjects, m.Predicates, m.Objects, m.Literals}
}

func TestNotebookPattern(t *testing.T) {
	a := NotebookPattern("SELECT ?a {\n ?a wdt:P31 wd:Q5; rdfs:label \"Q7\"@en FILTER(?x > 3.5) }")
	b := NotebookPattern("SELECT ?bc { ?bc wdt:P279 wd:Q42; rdfs:label 'it'@en FILTER(?y>12)}")
	if want := "SELECTV{Vwdt:Pwd:Q;rdfs:labelS@enFILTER(V>N)}"; a != want || b != want {
		t.Errorf("got\n%s\n%s\nwant\n%s", a, b, want)
	}
	if got := fmt.Sprint(NotebookProperties("wd:P1 <http://e/prop/P22> ?P3x P1 xP4")); got != "[P1 P22 P1]" {
		t.Errorf("properties %s", got)
	}
}

// The averages that the notebook itself computes for four files, exact to the last digit: clauses, relations, subjects,
// predicates, objects and literals, and the numbers of distinct properties and distinct patterns.
func TestNotebookOnSharedData(t *testing.T) {
	for _, c := range []struct{ file, key, want string }{
		{"dev.json", "sparql", "155: 9.09 4.18 1.75 3.63 4.80 0.48; 176; 155"},
		{"qald10-outputs.json", "gold_sparql", "387: 2.37 1.27 1.19 1.18 1.32 0.04; 172; 185"},
		{"qald9plus-train.json", "sparql", "371: 2.90 1.50 1.23 1.44 1.55 0.05; 128; 181"},
		{"wwq-dev.json", "sparql", "454: 2.32 1.26 1.23 1.24 1.32 0.04; 92; 47"},
	} {
		text, err := os.ReadFile(shared(t, "data/spinach/"+c.file))
		if err != nil {
			t.Fatal(err)
		}
		var items []map[string]any
		if err := json.Unmarshal(text, &items); err != nil {
			t.Fatal(err)
		}
		var sum [6]float64
		properties, patterns := set{}, set{}
		for _, it := range items {
			q := it[c.key].(string)
			for i, v := range six(Notebook(q)) {
				sum[i] += float64(v)
			}
			properties.add(NotebookProperties(q)...)
			patterns[NotebookPattern(q)] = true
		}
		got := fmt.Sprintf("%d:", len(items))
		for _, s := range sum {
			got += fmt.Sprintf(" %.2f", s/float64(len(items)))
		}
		if got += fmt.Sprintf("; %d; %d", len(properties), len(patterns)); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.file, got, c.want)
		}
	}
}

// The notebook's own six counts for each query of four files.
func TestNotebookQueryByQuery(t *testing.T) {
	type place struct {
		file string
		n    int
	}
	queries := map[place]string{}
	for _, c := range []struct{ file, key string }{{"dev.json", "sparql"}, {"qald10-outputs.json", "gold_sparql"},
		{"qald9plus-train.json", "sparql"}, {"wwq-dev.json", "sparql"}} {
		text, err := os.ReadFile(shared(t, "data/spinach/"+c.file))
		if err != nil {
			t.Fatal(err)
		}
		var items []map[string]any
		if err := json.Unmarshal(text, &items); err != nil {
			t.Fatal(err)
		}
		for n, it := range items {
			queries[place{c.file, n}] = it[c.key].(string)
		}
	}
	text, err := os.ReadFile(shared(t, "data/spinach/notebook-counts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	counted := 0
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); counted++ {
		var c struct {
			File                                                        string
			N                                                           int
			Clauses, Relations, Subjects, Predicates, Objects, Literals int
		}
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		q := queries[place{c.File, c.N}]
		want := [6]int{c.Clauses, c.Relations, c.Subjects, c.Predicates, c.Objects, c.Literals}
		if got := six(Notebook(q)); got != want {
			t.Errorf("%s %d: got %v, want %v\n%s", c.File, c.N, got, want, q)
		}
	}
	if counted != 1367 {
		t.Errorf("%d queries, want 1,367", counted)
	}
}

// Counting never takes more than a few passes over the text, plus one for each different spelling of the white space
// between FILTER and its parenthesis.
func BenchmarkNotebookHostile(b *testing.B) {
	for name, q := range map[string]string{
		"filters": "SELECT ?a WHERE { " + strings.Repeat("FILTER(?a) ", 20_000) + "}",
		"nested":  strings.Repeat("SELECT ?a WHERE { ", 20_000),
		"selects": strings.Repeat("SELECT ?a ", 20_000),
		"with":    strings.Repeat("WITH { ?a wdt:P1 ?b } ", 20_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(q)))
			for b.Loop() {
				Notebook(q)
			}
		})
	}
}

// shared returns the path of a file in the reference data, or skips the test if there is none.
func shared(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("SPINACHBOT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared")
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no reference data (set SPINACHBOT_SHARED): %v", err)
	}
	return path
}
