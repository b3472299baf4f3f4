package sparql

import (
	"errors"
	"strings"
	"testing"
)

// The error for a misspelled keyword or prefix suggests the word that was probably meant; no other error does.
func TestInstead(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT ?x { ?x wdt:P31 wd:Q5 } LIMT 3":                      "LIMIT",
		"SELECT ?x { ?x WDT:P31 wd:Q5 }":                             "wdt:P31",
		"SELECT ?x { ?x rdfss:label \"a\" }":                         "rdfs:label",
		"SELECT ?x { ?x foo:bar wd:Q5 }":                             "",
		"SELECT ?x { ?x P31 wd:Q5 }":                                 "",
		"SELECT ?x { ?x WDT:" + strings.Repeat("P", 50) + " wd:Q5 }": "",
	} {
		_, err := Parse(query)
		var all Errors
		if !errors.As(err, &all) || all.First().Instead != want {
			t.Errorf("%s: %#v, want %q instead", query, err, want)
		}
	}
}

// TestMistakes checks that errors for common mistakes have a position, the text that was found, and a hint on what to
// do.
func TestMistakes(t *testing.T) {
	tests := []struct {
		name, query  string
		line, column int
		says, hint   string // substrings of the message and the hint
	}{
		{"missing brace", "SELECT ?x WHERE {\n  ?x wdt:P31 wd:Q5 .", 2, 21, "brace opened at line 1, column 17",
			"add the missing }"},
		{"brace too many", "SELECT ?x { ?x wdt:P31 wd:Q5 } }", 1, 32, "found \"}\"", "one closing brace too many"},
		{"missing dot", "SELECT ?x {\n?x wdt:P31 wd:Q5\n?x wdt:P21 ?y }", 3, 1, "a dot is missing", "semicolon"},
		{"modifier inside", "SELECT ?x { ?x wdt:P31 wd:Q5 LIMIT 5 }", 1, 30, "LIMIT", "is a brace missing before it"},
		{"= for AS", "SELECT (COUNT(?x) = ?n) { ?x wdt:P31 wd:Q5 }", 1, 23, "AS ?name", "name"},
		{"no alias", "SELECT (COUNT(?x)) { ?x wdt:P31 wd:Q5 }", 1, 18, "AS ?name", "name the expression"},
		{"not grouped", "SELECT ?x ?y (COUNT(*) AS ?n) { ?x wdt:P31 ?y } GROUP BY ?x", 1, 11,
			"?y is projected but neither grouped nor aggregated", "add ?y to GROUP BY"},
		{"undeclared prefix", "SELECT ?x { ?x foo:bar wd:Q5 }", 1, 16, "\"foo:\" is not declared", "PREFIX foo: <…>"},
		{"prefix in capitals", "SELECT ?x { ?x WDT:P31 wd:Q5 }", 1, 16, "\"WDT:\" is not declared",
			"do you mean wdt:P31?"},
		{"bare P number", "SELECT ?x { ?x P31 wd:Q5 }", 1, 16, "P31", "wdt:P31 as a predicate"},
		{"bare Q number", "SELECT ?x { ?x wdt:P31 Q5 }", 1, 24, "Q5", "wd:Q5"},
		{"quoted IRI", "SELECT ?x { ?x \"http://schema.org/about\" ?y }", 1, 16, "a predicate",
			"<http://schema.org/about>"},
		{"misspelt keyword", "SELECT ?x { ?x wdt:P31 wd:Q5 . FITLER(?x = 1) }", 1, 32, "FITLER", "do you mean FILTER?"},
		{"typographic quotes", "SELECT ?x { ?x rdfs:label “a” }", 1, 27, "typographic", "plain quotation marks"},
		{"no-break space", "SELECT ?x { ?x\u00a0wdt:P31 wd:Q5 }", 1, 15, "special space", "ordinary space"},
		{"open string", "SELECT ?x { ?x rdfs:label \"a }\n}", 1, 27, "does not end on its line",
			"close the quotation mark"},
		{"unknown escape", `SELECT ?x { ?x rdfs:label "a\d" }`, 1, 29, "unknown escape", `\\`},
		{"commas", "SELECT ?x, ?y { ?x wdt:P31 ?y }", 1, 10, "the pattern in braces", "spaces, not commas"},
		{"single &", "SELECT ?x { FILTER(?x & ?y) }", 1, 23, "single &", "&&"},
		{"missing object", "SELECT ?x { ?x wdt:P31 . }", 1, 24, "an object", "belong together"},
		{"row too short", "SELECT ?x { VALUES (?x ?y) { (1) } }", 1, 30, "1 values for 2 variables", "UNDEF"},
		{"path range", "SELECT ?x { ?x wdt:P279{1,2} ?y }", 1, 24, "{n,m}", "wdt:P279/wdt:P279?"},
		{"twice projected", "SELECT ?x ?x { ?x wdt:P31 ?y }", 1, 11, "projected twice", "leave it out"},
		{"blank node in two patterns", "SELECT ?x { _:a wdt:P31 ?x OPTIONAL { _:a wdt:P21 ?y } }", 1, 39,
			"_:a is used in two", "?a"},
		{"characters, not bytes", "SELECT ?x { ?x rdfs:label \"äöü\" ] }", 1, 33, "found \"]\"", ""},
		{"empty", "", 1, 1, "the query ends", ""},
		{"= for AS in BIND", "SELECT ?x { BIND(?y + 1 = ?x) }", 1, 29, "AS ?name", "AS, not ="},
		{"alias without AS", "SELECT (COUNT(*) ?n) { }", 1, 18, "AS ?name", "AS ?n"},
		{"expression without parentheses", "SELECT COUNT(*) AS ?n { }", 1, 8, "COUNT", "(COUNT(…) AS ?name)"},
		{"word for &&", "SELECT ?x { FILTER(?x and ?y) }", 1, 23, "and", "&&"},
		{"<>", "SELECT ?x { FILTER(?x <> ?y) }", 1, 23, "<>", "!="},
		{"OR between groups", "SELECT ?x { { } OR { } }", 1, 17, "OR", "UNION"},
		{"UNION behind the pattern", "SELECT ?x { } UNION { }", 1, 15, "UNION", "inside the pattern"},
		{"condition without parentheses", "SELECT ?x { FILTER ?x = 3 }", 1, 20, "condition", "FILTER(?x"},
		{"sort key without parentheses", "SELECT ?x { } ORDER BY DESC ?x", 1, 29, "parentheses", "DESC(?x)"},
		{"commas in VALUES", "SELECT ?x { VALUES ?x { wd:Q1, wd:Q2 } }", 1, 30, "a value", "spaces, not commas"},
		{"unknown function", "SELECT ?x { FILTER(FOO(?x)) }", 1, 20, "FOO", "no function FOO"},
		{"language without quotes", "SELECT ?x { FILTER(LANG(?x) = en) }", 1, 31, "en", "\"en\""},
		{"an IRI for a condition", "SELECT ?x { ?x wdt:P31 ?y } ORDER BY wdt:P31 ?x", 1, 46,
			"arguments in parentheses", ""},
		{"HAVING about no group", "SELECT ?x { ?x wdt:P31 ?y } GROUP BY ?x HAVING (?y > 1)", 1, 49,
			"?y is used with aggregates", "GROUP BY"},
		{"no columns", "SELECT { ?x wdt:P31 wd:Q5 }", 1, 8, "a variable", "SELECT *"},
		{"prefix without colon", "PREFIX wd <http://a/> ASK { }", 1, 8, "colon", "PREFIX wd: <…>"},
		{"RDF-star", "SELECT ?x { << ?x wdt:P31 wd:Q5 >> pq:P580 ?s }", 1, 13, "found \"<\"", "pq:"},
		{"depth", "SELECT ?x " + strings.Repeat("{", 600), 1, 511, "nested too deeply", ""},
	}
	for _, x := range tests {
		_, err := Parse(x.query)
		var es Errors
		if !errors.As(err, &es) {
			t.Errorf("%s: no error", x.name)
			continue
		}
		e := es.First()
		if e.Line != x.line || e.Column != x.column || !strings.Contains(e.Message, x.says) ||
			!strings.Contains(e.Hint, x.hint) {
			t.Errorf("%s: got %v", x.name, e)
		}
	}
}

// TestBareAddress checks that an IRI without angle brackets is reported as one mistake, not one for each of its parts.
func TestBareAddress(t *testing.T) {
	_, err := Parse("SELECT ?x { ?x http://www.wikidata.org/prop/direct/P31 wd:Q5 . ?x wdt:P21 }")
	var es Errors
	if !errors.As(err, &es) || len(es) != 2 || es[0].Hint != "an IRI is written in angle brackets: <http://…>" ||
		es[1].Column != 75 {
		t.Errorf("%v", es)
	}
}

// TestSeveralMistakes checks that parsing continues after a mistake, and that errors that only result from an earlier
// one are not reported.
func TestSeveralMistakes(t *testing.T) {
	_, err := Parse("SELECT ?x {\n  ?x wdt:P31 .\n  ?x wdt:P21 wd:Q1 .\n  FILTER(?x = )\n  OPTIONAL { ?x foo:bar ?y }\n  ?x wdt:P1 ?z\n}")
	var es Errors
	if !errors.As(err, &es) || len(es) != 3 {
		t.Fatalf("got %v", err)
	}
	for i, line := range []int{2, 4, 5} {
		if es[i].Line != line {
			t.Errorf("mistake %d at line %d, want %d: %v", i, es[i].Line, line, es[i])
		}
	}
}

func TestGuard(t *testing.T) {
	allow := func(iri string) bool { return iri == "https://query.wikidata.org/subgraph/scholarly_articles" }
	tests := []struct {
		query string
		says  string // "" if the query is allowed
	}{
		{"SELECT ?x { ?x wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }", ""},
		{"SELECT ?x { SERVICE wdsubgraph:scholarly_articles { ?x wdt:P31 wd:Q13442814 } }", ""},
		{"SELECT ?x { SERVICE <http://127.0.0.1:8080/sparql> { ?x ?y ?z } }",
			"SERVICE <http://127.0.0.1:8080/sparql> is not allowed"},
		{"SELECT ?x { OPTIONAL { { SELECT * { FILTER EXISTS { SERVICE SILENT <http://a> { } } } } } }",
			"SERVICE <http://a> is not allowed"},
		{"SELECT ?x WITH { SELECT ?x { SERVICE <http://a> { } } } AS %a { INCLUDE %a }",
			"SERVICE <http://a> is not allowed"},
		{"SELECT (EXISTS { SERVICE <http://a> { } } AS ?b) { }", "SERVICE <http://a> is not allowed"},
		{"SELECT ?x { } ORDER BY EXISTS { SERVICE <http://a> { } }", "SERVICE <http://a> is not allowed"},
		{"SELECT ?x { } GROUP BY ?x HAVING (EXISTS { SERVICE <http://a> { } })", "SERVICE <http://a> is not allowed"},
		{"BASE <http://127.0.0.1/> SELECT ?x { SERVICE <sparql> { } }",
			"SERVICE <http://127.0.0.1/sparql> is not allowed"},
		{"PREFIX wikibase: <http://evil/> SELECT ?x { SERVICE wikibase:label { } }",
			"SERVICE <http://evil/label> is not allowed"},
		{"SELECT ?x { BIND(<http://a> AS ?s) SERVICE ?s { ?x ?y ?z } }", "must not be a variable"},
		{"SELECT ?x FROM <http://169.254.169.254/> { ?x ?y ?z }", "FROM <http://169.254.169.254/> is not allowed"},
		{"DESCRIBE <http://a> FROM NAMED <http://b>", "FROM <http://b> is not allowed"},
		{"SELECT ?x { SERVICE wikibase:mwapi { bd:serviceParam wikibase:endpoint 'www.wikidata.org' } }", ""},
		{"SELECT ?x { SERVICE wikibase:mwapi { bd:serviceParam wikibase:endpoint 'evil.org/?.wikidata.org' } }",
			"only ask Wikimedia's wikis"},
		{"SELECT ?x { SERVICE wikibase:mwapi { bd:serviceParam wikibase:endpoint 'evilwikidata.org' } }",
			"only ask Wikimedia's wikis"},
		{"SELECT ?x { SERVICE wikibase:mwapi { bd:serviceParam wikibase:endpoint ?e } }", "only ask Wikimedia's wikis"},
		{"INSERT DATA { wd:Q1 a wd:Q2 }", "this is an update (INSERT)"},
		{"PREFIX a: <b> DELETE WHERE { ?x ?y ?z }", "this is an update (DELETE)"},
		{"WITH <http://g> DELETE { ?x ?y ?z } WHERE { }", "this is an update"},
		{"drop all", "this is an update (DROP)"},
	}
	for _, x := range tests {
		q, err := Parse(x.query)
		if err != nil {
			t.Errorf("%s: %v", x.query, err)
			continue
		}
		err = Guard(q, allow)
		if (err == nil) != (x.says == "") || err != nil && !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: got %v", x.query, err)
		}
	}
}
