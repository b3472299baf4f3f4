package sparql

import (
	"slices"
	"strings"
	"testing"
)

func TestIdentifiers(t *testing.T) {
	q, err := Parse("SELECT DISTINCT ?x { ?x p:P39/ps:P39 wd:Q1 ; pq:P580 5 ; wdt:P31/wdt:P279* <http://www.wikidata.org/entity/Q5> . MINUS { ?x psv:P39 'a' } } # wd:Q9")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, i := range Identifiers(q) {
		ids = append(ids, i.ID+":"+strings.Join(i.Prefixes, "+"))
	}
	if got := strings.Join(ids, " "); got != "P39:p+ps+psv Q1:wd P580:pq P31:wdt P279:wdt Q5:wd" {
		t.Errorf("identifiers: %s", got)
	}
}

// TestTriples checks that property lists and collections are expanded as in SPARQL 1.1, sections 4.2.3 and 4.2.4.
func TestTriples(t *testing.T) {
	q, err := Parse("SELECT * { ?x wdt:P1 [ wdt:P2 ?y ; wdt:P3 1 , 2 ] ; a (wd:Q1 ()) . }")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range q.Body.Where.Patterns[0].(*Triples).Triples() {
		p := f.Path.Term.Written()
		if p == "" {
			p = f.Path.Term.Value().Value[strings.LastIndexByte(f.Path.Term.Value().Value, '#')+1:]
		}
		got = append(got, termText(f.Subject)+" "+p+" "+termText(f.Object))
	}
	nil_ := "<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>"
	want := []string{"?x wdt:P1 _:.1", "_:.1 wdt:P2 ?y",
		`_:.1 wdt:P3 "1"^^<http://www.w3.org/2001/XMLSchema#integer>`,
		`_:.1 wdt:P3 "2"^^<http://www.w3.org/2001/XMLSchema#integer>`,
		"?x a _:.2.0", "_:.2.0 first <http://www.wikidata.org/entity/Q1>", "_:.2.0 rest _:.2.1", "_:.2.1 first " + nil_,
		"_:.2.1 rest " + nil_}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func termText(t *Term) string {
	switch t.Kind {
	case Var:
		return "?" + t.Name
	case Const:
		return t.Value().String()
	}
	return "_:" + t.Name
}
