package sparql

import "testing"

func TestReplaceAutoLanguage(t *testing.T) {
	tests := []struct{ name, text, lang, want string }{
		{"label service", `SERVICE wikibase:label { bd:serviceParam wikibase:language "[AUTO_LANGUAGE],en". }`, "de",
			`SERVICE wikibase:label { bd:serviceParam wikibase:language "de,en". }`},
		{"both quotes", `'[AUTO_LANGUAGE]' """[AUTO_LANGUAGE]"""`, "fr", `'fr' """fr"""`},
		{"comment stays", "# [AUTO_LANGUAGE]\n\"[AUTO_LANGUAGE]\"", "fr", "# [AUTO_LANGUAGE]\n\"fr\""},
		{"broken text", `SELECT & ?x “ "[AUTO_LANGUAGE]" {`, "sv", `SELECT & ?x “ "sv" {`},
		{"injection", `"[AUTO_LANGUAGE]"`, `"} DROP ALL #`, `"en"`},
		{"variant", `"[AUTO_LANGUAGE]"`, "zh-hans", `"zh-hans"`},
		{"none", "ASK {}", "de", "ASK {}"},
	}
	for _, x := range tests {
		if got := ReplaceAutoLanguage(x.text, x.lang); got != x.want {
			t.Errorf("%s: got %s, want %s", x.name, got, x.want)
		}
	}
}

func TestTrimFinalLimit(t *testing.T) {
	tests := []struct {
		in, want string
		ok       bool
	}{
		{"SELECT ?x { ?x ?p ?o }\nLIMIT 10\n", "SELECT ?x { ?x ?p ?o }", true},
		{"SELECT ?x { ?x ?p ?o } limit 10", "SELECT ?x { ?x ?p ?o }", true},
		{"SELECT ?x { ?x ?p ?o } LIMIT 100", "SELECT ?x { ?x ?p ?o } LIMIT 100", false},
		{"SELECT ?x { { SELECT ?x { ?x ?p ?o } LIMIT 10 } }", "SELECT ?x { { SELECT ?x { ?x ?p ?o } LIMIT 10 } }",
			false},
		{"SELECT ?x { ?x ?p ?o } LIMIT 10 OFFSET 5", "SELECT ?x { ?x ?p ?o }  OFFSET 5", true},
		{"SELECT ?x { ?x ?p ?o } # c\nLIMIT 10 OFFSET 5", "SELECT ?x { ?x ?p ?o } # c\n OFFSET 5", true},
		{"SELECT ?x { ?x ?p ?o } LIMIT 10 # first ten", "SELECT ?x { ?x ?p ?o }  # first ten", true},
		{"SELECT ?x { ?x ?p LIMIT 10", "SELECT ?x { ?x ?p LIMIT 10", false},
		{"SELECT ?x { ?x ?p \"LIMIT 10\" }", "SELECT ?x { ?x ?p \"LIMIT 10\" }", false},
	}
	for _, x := range tests {
		got, ok := TrimFinalLimit(x.in, 10)
		if got != x.want || ok != x.ok {
			t.Errorf("%q: got %q, %v", x.in, got, ok)
		}
	}
}

func TestNormalForm(t *testing.T) {
	a := "select ?x where { # people\n ?x wdt:P31   wd:Q5. filter(?x='a') }"
	b := "SELECT ?x {?x wdt:P31 wd:Q5 FILTER (?x = \"a\")}"
	if NormalForm(a) != NormalForm(b) {
		t.Errorf("%s\n%s", NormalForm(a), NormalForm(b))
	}
	if NormalForm(a) == NormalForm("SELECT ?x {?x wdt:P31 wd:Q6 FILTER (?x = \"a\")}") {
		t.Error("different queries have the same normal form")
	}
}
