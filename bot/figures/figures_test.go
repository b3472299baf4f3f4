package figures

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// graph returns the same table for every query and records the queries.
type graph struct {
	t     *kg.Table
	asked []string
}

func (g *graph) Query(_ context.Context, query string) (*kg.Table, error) {
	g.asked = append(g.asked, query)
	return g.t, nil
}

func item(n int) rdf.Term       { return rdf.IRI(fmt.Sprintf("%sQ%d", rdf.Entity, n)) }
func num(s string) rdf.Term     { return rdf.Typed(s, rdf.XSDDecimal) }
func date(s string) rdf.Term    { return rdf.Typed(s+"T00:00:00Z", rdf.XSDDateTime) }
func said(s, l string) rdf.Term { return rdf.LangString(s, l) }

func TestFind(t *testing.T) {
	metre, foot, one := item(11573), item(3710), item(199)
	g := &graph{t: &kg.Table{Vars: []string{"s", "v", "unit", "symbol", "name", "when", "precision"}, Rows: [][]rdf.Term{
		{item(1), num("+8611.0"), metre, said("m", "mul"), said("Meter", "de"), {}},
		{item(1), num("28251"), foot, said("ft", "en"), said("Fuß", "de"), {}}, // another statement
		{item(2), num("100"), metre, said("m", "mul"), {}, date("2019-01-01")},
		{item(2), num("100"), metre, said("m", "mul"), {}, date("2021-01-01")}, // which of them?
		{item(3), num("7"), one, {}, {}, date("2020-05-04")},
		{item(6), num("9"), one, {}, {}, date("1790-01-01"), rdf.Typed("8", rdf.XSDInteger)}, // in the 1790s
		{item(7), num("9"), one, {}, {}, date("1791-01-01"), rdf.Typed("9", rdf.XSDInteger)},
		{item(4), num("5"), foot, {}, said("Fuß", "de"), {}},
		{item(5), num("6"), foot, {}, {}, {}},
		{item(5), num("6"), metre, said("m", "mul"), {}, {}},
	}}}
	answer := func(query string, vars []string, rows ...[]rdf.Term) *agent.Answer {
		return &agent.Answer{SPARQL: query, Table: &kg.Table{Vars: vars, Rows: rows}}
	}
	for _, tt := range []struct {
		name string
		a    *agent.Answer
		want string
		runs int
	}{
		{"rows", answer("SELECT ?m ?h { ?m wdt:P2044 ?h }", []string{"m", "h"}, []rdf.Term{item(1), num("8611")},
			[]rdf.Term{item(2), num("100")}, []rdf.Term{item(3), num("7")}, []rdf.Term{item(4), num("5")},
			[]rdf.Term{item(5), num("6")}, []rdf.Term{item(1), num("1")}),
			"[{h 0 m  false 0} {h 1 m  false 0} {h 2  2020 true 0} {h 3 ft  false 0} {h 4   true 0}]", 1},
		{"a decade", answer("SELECT ?m ?h { ?m wdt:P2044 ?h }", []string{"m", "h"}, []rdf.Term{item(1), num("1")},
			[]rdf.Term{item(6), num("9")}, []rdf.Term{item(7), num("9")}), "[{h 1   true 0} {h 2  1791 true 0}]", 1},
		{"an item of the query", answer("SELECT ?h { wd:Q1 wdt:P2044 ?h }", []string{"h"}, []rdf.Term{num("8611")}),
			"[{h 0 m  false 0}]", 1},
		{"a count", answer("SELECT (COUNT(?m) AS ?h) { ?m wdt:P2044 ?x }", []string{"h"}, []rdf.Term{num("8611")}), "[]", 0},
		{"an item that is not shown", answer("SELECT ?h { ?m wdt:P2044 ?h }", []string{"h"}, []rdf.Term{num("8611")}), "[]", 1},
		{"items", answer("SELECT ?m ?h { ?m wdt:P17 ?h }", []string{"m", "h"}, []rdf.Term{item(1), item(2)}), "[]", 0},
		{"no query", answer("x", []string{"h"}, []rdf.Term{num("1")}), "[]", 0},
	} {
		g.asked = nil
		got, err := Finder{g}.Find(t.Context(), tt.a, 20, "de")
		if err != nil || fmt.Sprint(got) != tt.want || len(g.asked) != tt.runs {
			t.Errorf("%s: %v, %v, %d queries, want %s", tt.name, got, err, len(g.asked), tt.want)
		}
		for _, query := range g.asked {
			if _, err := sparql.Parse(query); err != nil {
				t.Errorf("%s asked %s: %v", tt.name, query, err)
			}
		}
		if shown := tt.name != "an item that is not shown"; len(g.asked) > 0 &&
			(!strings.Contains(g.asked[0], "p:P2044") || shown && !strings.Contains(g.asked[0], "wd:Q1")) {
			t.Errorf("%s asked %s", tt.name, g.asked[0])
		}
	}
}

// A sum, or the value of an item that is not shown, gets a unit if all the statements that it is computed from share
// it.
func TestSharedUnit(t *testing.T) {
	km, mile := item(828224), item(253276)
	unit := func(rows ...[]rdf.Term) *graph {
		return &graph{t: &kg.Table{Vars: []string{"unit_", "symbol_", "name_"}, Rows: rows}}
	}
	for _, tt := range []struct {
		query string
		g     *graph
		want  string
		has   string // returned by the query for the units
	}{
		{"SELECT ?c (SUM(?l) AS ?x) { ?r wdt:P17 ?c ; wdt:P2043 ?l } GROUP BY ?c", unit([]rdf.Term{km, said("km", "mul"), {}}), "km",
			"?r p:P2043 [ ps:P2043 ?l ; psv:P2043 [ wikibase:quantityUnit ?unit_"},
		{"SELECT ?c (ROUND(AVG(?l)) AS ?x) { ?r wdt:P17 ?c ; p:P2043 ?st . ?st ps:P2043 ?l } GROUP BY ?c ORDER BY ?x LIMIT 3",
			unit([]rdf.Term{km, {}, said("Kilometer", "de")}), "km", "?st psv:P2043 [ wikibase:quantityUnit ?unit_"},
		{"SELECT ?c (SUM(?l) AS ?x) { ?r wdt:P17 ?c ; wdt:P2043 ?l } GROUP BY ?c",
			unit([]rdf.Term{km, said("km", "mul"), {}}, []rdf.Term{mile, said("mi", "mul"), {}}), "", "P2043"},
		{"SELECT ?c (MAX(?l) AS ?x) { ?r wdt:P17 ?c ; wdt:P2043 ?l } GROUP BY ?c", unit([]rdf.Term{km, {}, said("kilometre", "en")}), "km", "P2043"},
		{"SELECT ?c (SUM(?l) AS ?x) { ?r wdt:P17 ?c ; wdt:P1082 ?l } GROUP BY ?c", unit([]rdf.Term{item(199), {}, {}}), "", "P1082"},
		{"SELECT ?c (SUM(?l * ?l) AS ?x) { ?r wdt:P17 ?c ; wdt:P2043 ?l } GROUP BY ?c", unit(), "", ""},
		{"SELECT ?c ?x { { SELECT ?c (SUM(?l) AS ?x) { ?r wdt:P17 ?c ; wdt:P2043 ?l } GROUP BY ?c } }", unit(), "", ""},
	} {
		a := &agent.Answer{SPARQL: tt.query, Table: &kg.Table{Vars: []string{"c", "x"}, Rows: [][]rdf.Term{{item(183), num("1233")}}}}
		got, err := Finder{tt.g}.Find(t.Context(), a, 20, "de")
		if want := fmt.Sprintf("[{x 0 %s  false 0}]", tt.want); err != nil || tt.want != "" && fmt.Sprint(got) != want || tt.want == "" && len(got) > 0 {
			t.Errorf("%s: %v, %v", tt.query, got, err)
		}
		if asked := strings.Join(strings.Fields(strings.Join(tt.g.asked, "")), " "); (asked == "") != (tt.has == "") ||
			!strings.Contains(strings.NewReplacer("[ ", "[", " ]", "]").Replace(asked), strings.NewReplacer("[ ", "[", " ]", "]").Replace(tt.has)) {
			t.Errorf("%s asked %s", tt.query, asked)
		}
	}
}

// A unit is shown by its symbol rather than its name, which may exist only in English. Years are shown by name.
func TestUnitNames(t *testing.T) {
	for _, tt := range []struct {
		id       string
		names    map[string]string
		language string
		want     string
	}{
		{"Q712226", map[string]string{"name en": "square kilometre"}, "it", "km²"},
		{"Q828224", map[string]string{"ru": "км", "mul": "km", "name en": "kilometre"}, "ru", "км"},
		{"Q4917", map[string]string{"en": "$", "name de": "US-Dollar"}, "de", "$"},
		{"Q577", map[string]string{"mul": "a", "name en": "year"}, "de", "Jahre"},
		{"Q577", map[string]string{"mul": "a", "name en": "year"}, "sv", "a"},
		{"Q37732658", map[string]string{"name en": "degree", "name fr": "degré"}, "fr", "degré"},
		{"Q37732658", map[string]string{"name en": "degree"}, "fr", "degree"},
	} {
		if got := unitName(tt.id, tt.names, tt.language); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
	for id, names := range calendar {
		if len(names) != 12 {
			t.Errorf("%s: %d languages", id, len(names))
		}
	}
}
