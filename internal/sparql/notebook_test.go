package sparql

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Each rule of the notebook, counted by hand: clauses, relations, subjects, predicates, objects, literals.
func TestNotebookMetrics(t *testing.T) {
	for _, c := range []struct {
		rule, query string
		want        [6]int
	}{
		{"one triple", "SELECT ?a WHERE { ?a wdt:P1 wd:Q1. }", [6]int{2, 1, 1, 1, 1, 0}},
		{"a WHERE is put in", "select ?a { ?a wdt:P1 wd:Q1 }", [6]int{2, 1, 1, 1, 1, 0}},
		{"ASK without WHERE counts its modifiers only", "ASK { wd:Q1 wdt:P1 wd:Q2 } LIMIT 1", [6]int{1, 0, 0, 0, 0, 0}},
		{"ASK with WHERE", "ASK WHERE { wd:Q1 wdt:P1 wd:Q2 }", [6]int{2, 1, 1, 1, 1, 0}},
		{"modifiers, in any spelling, also in comments", "SELECT ?a WHERE { ?a wdt:P1 ?b } group by ?a Having (?n > 1) ORDER  BY ?a LIMIT 3 # no limit", [6]int{7, 1, 1, 1, 1, 0}},
		{"predicates: two steps, star, brackets, spaces", "SELECT ?a WHERE { ?a wdt:P1/wdt:P2* ?b. ?a (wdt:P1 / wdt:P2 *) ?b. ?a p:P1/ps:P1 ?c. ?a rdfs:label ?d. ?a schema:about ?e. }", [6]int{6, 5, 1, 4, 4, 0}},
		{"predicates: not three steps, plus, a star inside, inverse, other prefixes", "SELECT ?a WHERE { ?a wdt:P1/wdt:P2/wdt:P3 ?b. ?a wdt:P1+ ?b. ?a wdt:P1*/wdt:P2 ?b. ?a ^wdt:P1 ?b. ?a wikibase:rank ?b. ?a a ?b. }", [6]int{1, 0, 0, 0, 0, 0}},
		{"full IRIs, told apart by the first step", "SELECT ?a WHERE { <http://e/Q1> <http://e/P1> ?a. <http://e/Q1> <http://e/P1>/<http://e/P2>* ?a. ?a <http://e/P1>/(<http://e/P2>*) <http://e/Q2> }", [6]int{4, 3, 2, 1, 2, 0}},
		{"objects: strings and numbers are literals, a bracket is one object", `SELECT ?a WHERE { ?a wdt:P1 "x"@en. ?a wdt:P2 12. ?a wdt:P3 []. ?a p:P4 [ ps:P4 wd:Q1 ]. ?a wdt:P5 'y'. }`, [6]int{5, 4, 1, 4, 1, 2}},
		{"a semicolon on the line", "SELECT ?a WHERE { ?a wdt:P1 ?b; wdt:P2 ?c; wdt:P3 ?d; wdt:P4 ?e. }", [6]int{3, 2, 2, 2, 2, 0}},
		{"a semicolon with a space before", "SELECT ?a WHERE { ?a wdt:P1 ?b ; wdt:P2 ?c ; wdt:P3 ?d . }", [6]int{2, 1, 1, 1, 1, 0}},
		{"one continuation in a statement of lines, the last", "SELECT ?a WHERE {\n  ?a wdt:P1 ?b;\n     wdt:P2 ?c;\n     wdt:P3 ?d.\n  ?d wdt:P4 ?e ;\n wdt:P5 \"v\" .\n}", [6]int{5, 4, 2, 4, 3, 1}},
		{"VALUES", "SELECT ?a WHERE { values ?x { wd:Q1 wd:Q2 \"s 7\" 8 } VALUES (?x ?y) { (wd:Q1 wdt:P1) } }", [6]int{3, 0, 0, 0, 2, 2}},
		{"FILTER without a bracket is none", `SELECT ?a WHERE { FILTER NOT EXISTS { ?a wdt:P1 ?b } FILTER regex(?b, "x") }`, [6]int{2, 1, 1, 1, 1, 0}},
		{"FILTER: the next brackets are its, too", `SELECT ?a WHERE { FILTER(?b > 1.5) BIND("z" AS ?c) }`, [6]int{3, 0, 0, 0, 2, 2}},
		{"FILTER: the same spelling is read from its first place each time", `SELECT ?a WHERE { FILTER(?a > "1"^^xsd:date) FILTER(?b) filter (?c) }`, [6]int{8, 0, 0, 0, 4, 1}},
		{"OPTIONAL and MINUS again, relations not", "SELECT ?a WHERE { ?a wdt:P1 ?b OPTIONAL { ?a wdt:P2 ?c } minus{?a wdt:P3 wd:Q1} }", [6]int{8, 3, 1, 3, 3, 0}},
		{"of nested ones the innermost", "SELECT ?a WHERE { OPTIONAL { ?a wdt:P2 ?c OPTIONAL { ?c wdt:P3 ?d } } }", [6]int{5, 2, 2, 2, 2, 0}},
		{"a sub-query adds no start", "SELECT ?a WHERE { { SELECT ?a WHERE { ?a wdt:P1 ?b } } ?a wdt:P2 ?c }", [6]int{3, 2, 1, 2, 2, 0}},
		{"a WITH block is a query, sets are united", "SELECT ?a WITH { SELECT ?a WHERE { ?a wdt:P1 ?b } LIMIT 5 } AS %x WHERE { INCLUDE %x. ?a wdt:P1 ?b }", [6]int{5, 2, 1, 1, 1, 0}},
		{"a projection left of a cut sub-query reads as a triple", "SELECT ?a WHERE { { SELECT ?a ?b ?c WHERE { ?a wdt:P1 ?b } } }", [6]int{3, 2, 1, 2, 2, 0}},
		{"names in other scripts", "SELECT ?é WHERE { ?é wdt:P1 ?ж_1 }", [6]int{2, 1, 1, 1, 1, 0}},
		{"braces that do not close", "SELECT ?a WHERE { ?a wdt:P1 ?b WITH {", [6]int{2, 1, 1, 1, 1, 0}},
		{"nothing", "", [6]int{}},
	} {
		m := NotebookMetrics(c.query)
		if got := [6]int{m.Clauses, m.Relations, m.Subjects, m.Predicates, m.Objects, m.Literals}; got != c.want {
			t.Errorf("%s: got %v, want %v\n%s", c.rule, got, c.want, c.query)
		}
	}
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

// The figures of the notebook itself, recomputed by others with its own program, to the last digit (systems.md C.4): averages of clauses, relations,
// subjects, predicates, objects and literals, distinct properties, distinct patterns.
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
		properties, patterns := map[string]bool{}, map[string]bool{}
		for _, it := range items {
			q := it[c.key].(string)
			m := NotebookMetrics(q)
			for i, v := range []int{m.Clauses, m.Relations, m.Subjects, m.Predicates, m.Objects, m.Literals} {
				sum[i] += float64(v)
			}
			add(properties, NotebookProperties(q))
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

// slowFilters is the rule of FILTER with a pass over the text for every FILTER.
func (n *notebook) slowFilters(text string) {
	for _, spelling := range nbFilter.FindAllString(text, -1) {
		start := strings.Index(text, spelling) + len(spelling) - 1
		depth, longest := 0, start
		for i := start; i < len(text); i++ {
			switch text[i] {
			case '(':
				depth++
			case ')':
				if depth--; depth == 0 {
					n.clauses++
					longest = i + 1
				}
			}
		}
		add(n.objects, nbInFilter.FindAllString(text[start:longest], -1))
		n.constants(text[start:longest])
	}
}

// FILTERs are counted in one pass as they are one by one, brackets and FILTERs in strings and unpaired quotes included.
func TestNotebookFiltersAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	pieces := []string{"FILTER(", "FILTER (", "filter(", "FILTER  (", "Filter\n(", "(", ")", ")", ")", "?a", "?b ", " 12", " 3.5", `"x 7"`, `"()"`, `"`, "xsd:date", " && "}
	for range 20_000 {
		var b strings.Builder
		for range 1 + r.IntN(30) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		fast, slow := newNotebook(), newNotebook()
		fast.filters(b.String())
		slow.slowFilters(b.String())
		if fast.clauses != slow.clauses || !maps.Equal(fast.objects, slow.objects) || !maps.Equal(fast.literals, slow.literals) {
			t.Fatalf("%s\n%+v, one by one %+v", b.String(), fast, slow)
		}
	}
}

// BenchmarkNotebookHostile shows that the faulty FILTER rule and nested sub-queries cost no more than a few passes over the text.
func BenchmarkNotebookHostile(b *testing.B) {
	var spellings strings.Builder
	for i := range 20_000 {
		spellings.WriteString("FILTER" + strings.NewReplacer("0", " ", "1", "\n", "2", "\t", "3", "\r").Replace(strconv.FormatInt(int64(i), 4)) + "(?a) ")
	}
	for name, q := range map[string]string{
		"spellings": "SELECT ?a WHERE { " + spellings.String() + "}",
		"filters":   "SELECT ?a WHERE { " + strings.Repeat("FILTER(?a) ", 20_000) + "}",
		"nested":    strings.Repeat("SELECT ?a WHERE { ", 20_000),
		"with":      strings.Repeat("WITH { ?a wdt:P1 ?b } ", 20_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(q)))
			for b.Loop() {
				NotebookMetrics(q)
			}
		})
	}
}
