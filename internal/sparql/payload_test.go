package sparql

import (
	"strings"
	"testing"
	"unicode"
)

// payloads contains pieces of wiki markup that an attacker might try to smuggle in.
var payloads = []string{
	"{{Delete}}", "}}", "{{", "{{{1}}}", "[[Category:Spam]]", "[[User:X]]", "]]", "~~~~", "~~~", "~~~~~", "<nowiki>",
	"</nowiki>", "<!--", "-->", "</syntaxhighlight>",
	"</SyntaxHighlight >", "<ref name=x/>", "<pre>", "-{zh:a}-", "{|", "|}", "|-", "{{!}}", "__NOTOC__",
	"<script>alert(1)</script>", "{{subst:PAGENAME}}", "&#123;&#123;x}}",
	"&lt;nowiki&gt;", "<includeonly>", "#REDIRECT [[X]]", "-{", "}-", "{{}}{{}}", "~~~~~~~~~~", "[[[[", "]]]]]",
	"{|}", "<source>", "[//evil.example x]",
}

// TestPostingForm checks that no payload survives anywhere in a query, and that the tree stays the same.
func TestPostingForm(t *testing.T) {
	quote := func(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) }
	for _, p := range payloads {
		queries := []string{
			`SELECT ?x { ?x rdfs:label "` + quote(p) + `" }`,
			`SELECT ?x { ?x rdfs:label "-` + quote(p) + `-"@en , 'a` + strings.ReplaceAll(quote(p), "'", "") + `{' }`,
			"SELECT ?x { # " + p + "\n?x ?y ?z }",
			"#" + p + "\nASK { }#" + p,
			"SELECT ?x { ?x ?y <http://e/" + strings.NewReplacer("<", "", ">", "", "{", "", "}", "", "|", "", " ",
				"").Replace(p) + "> }",
			`SELECT (GROUP_CONCAT(?x; SEPARATOR = "` + quote(p) + `") AS ?y) { ?x ?y2 ?z }`,
		}
		for _, query := range queries {
			out, err := PostingForm(query, func(id string) string { return p })
			if err != nil {
				t.Errorf("%s: %v", query, err)
				continue
			}
			low := strings.ToLower(out)
			for _, f := range []string{"{{", "}}", "[[", "]]", "~~~", "-{", "{|", "|}", "<!--", "</", "<nowiki",
				"<pre", "<ref", "<script", "<source", "<includeonly", "&#", "&lt;"} {
				if strings.Contains(low, f) {
					t.Errorf("%q is left in %q:\n%s", f, query, out)
				}
			}
			if again, err := PostingForm(out, func(id string) string { return p }); err != nil || again != out {
				t.Errorf("not stable: %v\n%s\n%s", err, out, again)
			}
		}
	}
}

func TestPostingFormKeeps(t *testing.T) {
	query := "SELECT ?x ?xLabel WHERE { ?x wdt:P31|wdt:P279 wd:Q5 ; rdfs:label \"a{{b\" . SERVICE wikibase:label { bd:serviceParam wikibase:language \"[AUTO_LANGUAGE],en\" } }"
	want := `SELECT ?x ?xLabel WHERE {
  ?x wdt:P31|wdt:P279 wd:Q5 ; # instance of; subclass of; human
     rdfs:label "a\u007B\u007Bb" .
  SERVICE wikibase:label { bd:serviceParam wikibase:language "[AUTO_LANGUAGE],en" . }
}`
	labels := map[string]string{"P31": "instance of", "P279": "subclass of", "Q5": "human"}
	got, err := PostingForm(query, func(id string) string { return labels[id] })
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if got := ReplaceAutoLanguage(got, "de"); !strings.Contains(got, `"de,en"`) ||
		len(got) != len(want)-len(AutoLanguage)+2 {
		t.Errorf("%s", got)
	}
	for _, bad := range []string{"INSERT DATA { }", "SELECT ?x {", ""} {
		if _, err := PostingForm(bad, nil); err == nil {
			t.Errorf("no error: %q", bad)
		}
	}
}

func annotate(query string, label func(id string) string) (string, error) {
	q, err := Parse(query)
	if err != nil {
		return "", err
	}
	return Print(q, PrintOptions{Label: label}), nil
}

func TestAnnotate(t *testing.T) {
	labels := map[string]string{"P31": "instance of", "Q5": "human", "P27": "country of citizenship",
		"Q183": "Germany\nSELECT * { # ", "Q142": "France"}
	label := func(id string) string { return labels[id] }
	tests := []struct{ query, want string }{
		{"SELECT ?x { ?x wdt:P31 wd:Q5 }", "SELECT ?x WHERE {\n  ?x wdt:P31 wd:Q5 . # instance of; human\n}\n"},
		{"SELECT ?x { ?x wdt:P31 wd:Q5 . # a human\n}",
			"SELECT ?x WHERE {\n  ?x wdt:P31 wd:Q5 . # instance of – a human\n}\n"},
		{"SELECT ?x { ?x wdt:P27 wd:Q183 }",
			"SELECT ?x WHERE {\n  ?x wdt:P27 wd:Q183 . # country of citizenship; Germany SELECT * ( ♯\n}\n"},
		{"SELECT ?x { VALUES ?x { wd:Q183 wd:Q142 } }",
			"SELECT ?x WHERE {\n  VALUES ?x {\n    wd:Q183 # Germany SELECT * ( ♯\n    wd:Q142 # France\n  }\n}\n"},
		{"SELECT ?x { ?x wdt:P999 wd:Q999 }", "SELECT ?x WHERE {\n  ?x wdt:P999 wd:Q999 .\n}\n"},
		{"SELECT ?x { ?x wdt:P31/wdt:P31 wd:Q5 }",
			"SELECT ?x WHERE {\n  ?x wdt:P31/wdt:P31 wd:Q5 . # instance of; human\n}\n"},
	}
	for _, x := range tests {
		got, err := annotate(x.query, label)
		if err != nil || got != x.want {
			t.Errorf("%s: %v\n%s", x.query, err, got)
		}
		if again, _ := annotate(got, label); again != got {
			t.Errorf("annotating again changes it:\n%s", again)
		}
	}
	q, _ := Parse("SELECT ?x { ?x wdt:P31 wd:Q5 ; p:P27 ?y }")
	want := "SELECT ?x WHERE {\n  ?x wdt:[instance of] wd:[human] ;\n     p:[country of citizenship] ?y .\n}\n"
	if got := Print(q, PrintOptions{Label: label, Replace: true}); got != want {
		t.Errorf("%s", got)
	}
}

// TestLabelInLongValues checks that a label stays with its value if the other values in a long table have none.
func TestLabelInLongValues(t *testing.T) {
	text := "a name that is long enough to need its own lines"
	q, err := Parse("SELECT ?x { VALUES ?x { \"" + text + "\" wd:Q5 \"" + text + "\" \"" + text + "\" } }")
	if err != nil {
		t.Fatal(err)
	}
	row := "    \"" + text + "\"\n"
	want := "SELECT ?x WHERE {\n  VALUES ?x {\n" + row + "    wd:Q5 # human\n" + row + row + "  }\n}\n"
	human := func(string) string { return "human" }
	got := Print(q, PrintOptions{Label: human})
	if got != want {
		t.Errorf("%s", got)
	}
	if again, err := annotate(got, human); err != nil || again != got {
		t.Errorf("annotating again: %v\n%s", err, again)
	}
}

func FuzzLabel(f *testing.F) {
	for _, p := range payloads {
		f.Add(p)
	}
	f.Add("a\u2028b\r\nc\x00\u202e")
	f.Fuzz(func(t *testing.T, label string) {
		out, err := PostingForm("SELECT ?x { ?x wdt:P31 wd:Q5 }", func(string) string { return label })
		if err != nil {
			t.Fatalf("%q: %v", label, err)
		}
		if strings.Count(out, "\n") != 2 {
			t.Fatalf("a label breaks the line: %q", out)
		}
		for _, r := range out {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Fatalf("control character %U in %q", r, out)
			}
		}
	})
}

// The labels inside a VALUES table are not listed again by the comment behind it. Other comments stay.
func TestPostingFormValues(t *testing.T) {
	labels := map[string]string{"Q1": "airport", "Q2": "airfield"}
	for comment, want := range map[string]string{"airport, airfield": "}\n", "airfield": "}\n", "airport, base": "} # airport, base\n"} {
		query := "SELECT ?x {\n  VALUES ?c { wd:Q1 wd:Q2 } # " + comment + "\n  ?x wdt:P31 ?c .\n}"
		want = "SELECT ?x WHERE {\n  VALUES ?c {\n    wd:Q1 # airport\n    wd:Q2 # airfield\n  " + want + "  ?x wdt:P31 ?c .\n}"
		got, err := PostingForm(query, func(id string) string { return labels[id] })
		if err != nil || got != want {
			t.Errorf("%v\n%s", err, got)
		}
		if again, err := PostingForm(got, func(id string) string { return labels[id] }); err != nil || again != got {
			t.Errorf("%v\n%s", err, again)
		}
	}
}
