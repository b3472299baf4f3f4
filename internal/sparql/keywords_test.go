package sparql

import (
	"strings"
	"testing"
)

// Every keyword is recognized in any letter case; words that only look like keywords are not.
func TestLookup(t *testing.T) {
	for k := kwNone + 1; k < keywordCount; k++ {
		w := spelling[k]
		mixed := strings.ToLower(w[:1]) + w[1:]
		for _, s := range []string{w, strings.ToLower(w), mixed} {
			if got := lookup(s); got != k {
				t.Errorf("lookup(%q) = %q, want %q", s, spelling[got], w)
			}
		}
		for _, s := range []string{w + "X", w + w, "x" + w, strings.Repeat(w, 40)} {
			if got := lookup(s); got != kwNone {
				t.Errorf("lookup(%q) = %q, want none", s, spelling[got])
			}
		}
	}
	for _, s := range []string{"", "_", "\x00", "ſelect", "SELEC\u212a", "GROUP-BY"} {
		if got := lookup(s); got != kwNone {
			t.Errorf("lookup(%q) = %q, want none", s, spelling[got])
		}
	}
}

// Prefixes keep their namespaces even if a query mixes more of them than the parser remembers. So do the empty prefix
// and a prefix that redeclares a predefined one.
func TestManyPrefixes(t *testing.T) {
	q, err := Parse(`PREFIX a: <http://a/> PREFIX b: <http://b/> PREFIX c: <http://c/> PREFIX d: <http://d/> PREFIX : <http://e/> PREFIX wd: <http://first/>
PREFIX wd: <http://mine/>
SELECT * { a:1 b:1 c:1 . d:1 :1 wd:1 . wdt:1 a:2 b:2 . wd:2 :2 a:3 }`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range q.Body.Where.Patterns {
		for _, x := range p.(*Triples).Triples() {
			got = append(got, x.Subject.Value().Value, x.Path.IRI(), x.Object.Value().Value)
		}
	}
	want := "http://a/1 http://b/1 http://c/1 http://d/1 http://e/1 http://mine/1 http://www.wikidata.org/prop/direct/1 http://a/2 http://b/2 " +
		"http://mine/2 http://e/2 http://a/3"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

// TestOpenDecimals checks that 1. is parsed as 1.0 where no statement can end, as in Blazegraph.
func TestOpenDecimals(t *testing.T) {
	q, err := Parse("SELECT ?x { VALUES (?x ?y) { (1. -2.) } FILTER(?x > 3.||?y=4.) ?x wdt:P1 5. ?y wdt:P2 6 , (7. 8.5) }")
	if err != nil {
		t.Fatal(err)
	}
	const want = "SELECT ?x WHERE { VALUES (?x ?y) { (1.0 -2.0) } FILTER(?x > 3.0 || ?y = 4.0) ?x wdt:P1 5 . ?y wdt:P2 6, ( 7.0 8.5 ) . }"
	if got := Print(q, PrintOptions{OneLine: true}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
