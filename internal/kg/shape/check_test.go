package shape

import (
	"errors"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

var wikidata = &kg.Description{Name: "wikidata", Statements: kg.Wikibase, Prefixes: rdf.Prefixes,
	Types: []string{"wdt:P31"}, Subclass: "wdt:P279",
	Labels: []string{"rdfs:label"}, Languages: []string{"en"}}

func pred(id string, coverage float64, targets ...string) kg.ShapePredicate {
	p := kg.ShapePredicate{Property: kg.PropertyRef{ID: id}, Coverage: coverage, Mean: 1}
	for _, t := range targets {
		p.Targets = append(p.Targets, kg.ShapeTarget{Class: kg.PropertyRef{ID: t}, Share: 1 / float64(len(targets))})
	}
	return p
}

// schema contains cities with a country, countries with a capital, and a class for which the graph does not respond.
func schema() Schema {
	shapes := map[string]*kg.Shape{
		"Q515": {Class: kg.PropertyRef{ID: "Q515", Label: "city"}, Members: 9000, Sample: 2000,
			Out: []kg.ShapePredicate{pred("P17", 1, "Q6256"), pred("P571", 0.5)}, In: []kg.ShapePredicate{pred("P36", 0.1)},
			MoreOut: 1, Rest: []string{"P138"}},
		"Q6256": {Class: kg.PropertyRef{ID: "Q6256", Label: "country"}, Members: 200, Out: []kg.ShapePredicate{pred("P36",
			0.99, "Q515")}},
		"Q5": {Class: kg.PropertyRef{ID: "Q5"}, Members: 10, MoreOut: 40, Rest: []string{"P1"}},
	}
	return Schema{Graph: wikidata, Shape: func(class string) (*kg.Shape, error) {
		id := strings.TrimPrefix(class, rdf.Entity)
		if id == "Q1" {
			return nil, errors.New("no answer")
		}
		if s := shapes[id]; s != nil {
			return s, nil
		}
		return nil, kg.Errorf(kg.NotFound, "no members")
	}, Classes: func(string) []kg.PropertyRef { return []kg.PropertyRef{{ID: "Q515", Label: "city"}} }}
}

func TestCheck(t *testing.T) {
	remote := schema()
	service := func(iri string) *Schema {
		if iri == "http://example.org/sparql" {
			return &remote
		}
		return nil
	}
	for name, tt := range map[string]struct {
		query string
		want  []string // each hint's kind, subject, and predicate or class
	}{
		"all right":            {"SELECT * { ?x wdt:P31 wd:Q515; wdt:P17 ?y; wdt:P571 ?d }", nil},
		"rare":                 {"SELECT * { ?x wdt:P31 wd:Q515; wdt:P138 ?y }", nil},
		"not on class":         {"SELECT * { ?x wdt:P31 wd:Q515; wdt:P36 ?y }", []string{"not_on_class ?x P36"}},
		"statement":            {"SELECT * { ?x wdt:P31 wd:Q515; p:P36 [ ps:P36 ?y ] }", []string{"not_on_class ?x P36"}},
		"typed by statement":   {"SELECT * { ?x p:P31/ps:P31 wd:Q515; wdt:P36 ?y }", []string{"not_on_class ?x P36"}},
		"narrower":             {"SELECT * { ?x wdt:P31/wdt:P279* wd:Q515; wdt:P36 ?y }", []string{"not_on_class ?x P36"}},
		"unknown class":        {"SELECT * { ?x wdt:P31 wd:Q7; wdt:P36 ?y }", []string{"unknown_class ?x Q7"}},
		"unknown and narrower": {"SELECT * { ?x wdt:P31/wdt:P279* wd:Q7; wdt:P36 ?y }", nil},
		"graph is silent":      {"SELECT * { ?x wdt:P31 wd:Q1; wdt:P36 ?y }", nil},
		"shape is cut":         {"SELECT * { ?x wdt:P31 wd:Q5; wdt:P36 ?y }", nil},
		"two classes":          {"SELECT * { { ?x wdt:P31 wd:Q515 } UNION { ?x wdt:P31 wd:Q6256 } ?x wdt:P36 ?y; wdt:P999 ?z }", []string{"not_on_class ?x P999"}},
		"values": {"SELECT * { VALUES ?c { wd:Q515 } ?x wdt:P31 ?c; wdt:P36 ?y }",
			[]string{"not_on_class ?x P36"}},
		"any class": {"SELECT * { ?x wdt:P31 ?c; wdt:P36 ?y }", nil},
		"inferred": {"SELECT * { ?x wdt:P31 wd:Q515; wdt:P17 ?y . ?y wdt:P17 ?z }",
			[]string{"not_on_class ?y P17"}},
		"sequence":             {"SELECT * { ?x wdt:P31 wd:Q515; wdt:P17/wdt:P571 ?z }", []string{"not_on_class  P571"}},
		"alternatives":         {"SELECT * { ?x wdt:P31 wd:Q515; wdt:P17|wdt:P36 ?z }", []string{"not_on_class ?x P36"}},
		"inverse":              {"SELECT * { ?x wdt:P31 wd:Q515; ^wdt:P36 ?y }", nil},
		"inverse of typed":     {"SELECT * { ?y ^wdt:P36 ?x . ?x wdt:P31 wd:Q515 }", []string{"not_on_class ?x P36"}},
		"star":                 {"SELECT * { ?x wdt:P31 wd:Q515; wdt:P36* ?y }", []string{"not_on_class ?x P36"}},
		"negated and variable": {"SELECT * { ?x wdt:P31 wd:Q515; !wdt:P36 ?y; ?p ?z }", nil},
		"optional and exists": {"SELECT * { ?x wdt:P31 wd:Q515 OPTIONAL { ?x wdt:P36 ?y } FILTER NOT EXISTS { ?x wdt:P37 ?z } }",
			[]string{"not_on_class ?x P36", "not_on_class ?x P37"}},
		"subselect": {"SELECT * { { SELECT ?x { ?x wdt:P31 wd:Q515 } } ?x wdt:P36 ?y }", []string{"not_on_class ?x P36"}},
		"named": {"SELECT * WITH { SELECT ?x { ?x wdt:P31 wd:Q515 } } AS %a { INCLUDE %a ?x wdt:P36 ?y }",
			[]string{"not_on_class ?x P36"}},
		"service": {"SELECT * { SERVICE <http://example.org/sparql> { ?x wdt:P31 wd:Q515; wdt:P36 ?y } }",
			[]string{"not_on_class ?x P36"}},
		"other service": {"SELECT * { SERVICE <http://example.org/other> { ?x wdt:P31 wd:Q515; wdt:P36 ?y } }", nil},
		"labels":        {`SELECT * { ?x wdt:P31 wd:Q515; rdfs:label ?l SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } }`, nil},
	} {
		q, err := sparql.Parse(tt.query)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, h := range Check(q, schema(), service) {
			what := h.Predicate
			if h.Kind == UnknownClass {
				what = h.Classes[0].ID
			}
			got = append(got, string(h.Kind)+" "+h.Subject+" "+what)
		}
		if strings.Join(got, "; ") != strings.Join(tt.want, "; ") {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestCheckPlain checks queries in the vocabulary of a graph other than Wikidata.
func TestCheckPlain(t *testing.T) {
	d := &kg.Description{Statements: kg.Plain, Prefixes: map[string]string{"c": "http://example.org/c/"},
		Types: []string{"rdf:type"}}
	s := Schema{Graph: d, Shape: func(class string) (*kg.Shape, error) {
		if class != "http://example.org/c/Firm" {
			return nil, kg.Errorf(kg.NotFound, "no members")
		}
		return &kg.Shape{Class: kg.PropertyRef{ID: "c:Firm", Label: "Firma"}, Members: 7,
			Out: []kg.ShapePredicate{pred("c:boss", 1)}}, nil
	}}
	q, err := sparql.Parse("PREFIX c: <http://example.org/c/> SELECT * { ?x a c:Firm ; c:boss ?b ; c:seat ?s . ?b a c:Man }")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range Check(q, s, nil) {
		got = append(got, h.Text())
	}
	want := "?x has the class Firma (c:Firm), and 0 of its 7 members have c:seat. Most frequent: c:boss 100%.\n" +
		"?b has the class c:Man, which has no direct members in this graph."
	if g := strings.Join(got, "\n"); g != want {
		t.Errorf("got\n%s\nwant\n%s", g, want)
	}
}

func TestHintText(t *testing.T) {
	q, err := sparql.Parse("SELECT * { ?x wdt:P31/wdt:P279* wd:Q515; wdt:P36 ?y . ?z wdt:P31 wd:Q7 }")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range Check(q, schema(), nil) {
		got = append(got, h.Text())
	}
	want := "?x has the class city (Q515), and 0 of 2,000 sampled members have P36. Members of narrower classes were not looked at. " +
		"P36 leads to them instead: turn the direction around. Most frequent: P17 100%, P571 50%.\n" +
		"?z has the class Q7, which has no direct members in this graph. It has: city (Q515)."
	if g := strings.Join(got, "\n"); g != want {
		t.Errorf("got\n%s\nwant\n%s", g, want)
	}
}
