package main

import (
	"encoding/json"
	"testing"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

func TestValuesAreComparedInOneForm(t *testing.T) {
	for _, c := range []struct {
		term  rdf.Term
		shown string
	}{
		{rdf.IRI(rdf.Entity + "Q64"), "Berlin (Q64)"},
		{rdf.Typed("1949-09-15T00:00:00Z", rdf.XSDDateTime), "15 September 1949"},
		{rdf.Typed("8848.860", rdf.XSDDecimal), "8848.86"},
		{rdf.Typed("+5345000", rdf.XSDDecimal), "5345000"},
		{rdf.LangString("Deutschland", "de"), "Deutschland"},
	} {
		if got, want := value(c.term), shown(c.shown); got != want {
			t.Errorf("%v gives %q, %q gives %q", c.term, got, c.shown, want)
		}
	}
}

func evidenceOf(t *testing.T, page string) *evidence {
	t.Helper()
	ev := &evidence{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{},
		map[string]bool{}, map[string]bool{}}
	ev.addPage("Q1", page)
	return ev
}

func TestEntityPagesInTheirThreeShapes(t *testing.T) {
	ev := evidenceOf(t, `{"capital (P36)": "Mudtown (Q2)", "borders (P47)": ["Fen (Q3)", "Moor (Q4)"],
		"ruler (P35)": {"Otto (Q5)": {"Qualifiers": [{"start time (P580)": "3 May 1901", "named as (P1810)": ["O", "Otto"]}]}, "Ida (Q6)": {}}}`)
	for _, f := range []string{key("Q1", "P36", "Q2"), key("Q1", "P47", "Q3"), key("Q1", "P47", "Q4"),
		key("Q1", "P35", "Q5"), key("Q1", "P35", "Q6")} {
		if !ev.facts[f] {
			t.Errorf("missing fact %q", f)
		}
	}
	if len(ev.facts) != 5 {
		t.Errorf("%d facts, want 5: %v", len(ev.facts), ev.facts)
	}
	for _, q := range []string{key("Q1", "P35", "Q5", "P580", "1901-05-03"), key("Q1", "P35", "Q5", "P1810", "Otto")} {
		if !ev.quals[q] {
			t.Errorf("missing qualifier %q", q)
		}
	}
}

func TestVerdicts(t *testing.T) {
	ev := evidenceOf(t, `{"capital (P36)": "Mudtown (Q2)"}`)
	ev.addResult("SELECT ?n WHERE { wd:Q1 wdt:P1082 ?n }",
		json.RawMessage(`[{"n":{"type":"literal","value":"700","datatype":"http://www.w3.org/2001/XMLSchema#decimal"}}]`))
	j := judge{ev: ev, in: newGraph(nil), count: map[string]map[verdict]int{}}
	wd := func(id string) rdf.Term { return rdf.IRI(rdf.Entity + id) }
	for _, c := range []struct {
		t    triple
		want verdict
	}{
		{triple{"wd:Q1", "wdt:P36", wd("Q2")}, confirmed},
		{triple{"wd:Q2", "wdt:P1376", wd("Q1")}, inverse},
		{triple{"wd:Q2", "wdt:P36", wd("Q1")}, unconfirmed},
		{triple{"wd:Q1", "wdt:P1082", rdf.Typed("700", rdf.XSDDecimal)}, together},
		{triple{"wd:Q1", "wdt:P1082", rdf.Typed("701", rdf.XSDDecimal)}, unconfirmed},
		{triple{"wd:Q1", "schema:description", rdf.LangString("a land", "en")}, ownWords},
		{triple{"wd:Q1", "rdfs:label", rdf.LangString("Fenland", "en")}, unconfirmed},
		{triple{"wd:Q1", "rdf:type", rdf.IRI("http://www.wikidata.org/prop/novalue/P40")}, unconfirmed},
	} {
		if _, got := j.triple(c.t); got != c.want {
			t.Errorf("%v: %s, want %s", c.t, got, c.want)
		}
	}
}
