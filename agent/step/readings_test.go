package step

import (
	"testing"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Two interpretations are returned if their results differ in the number of rows, or in the number that is the only
// value.
func TestReadings(t *testing.T) {
	rows := func(n int) *Answer {
		a := &Answer{SPARQL: "SELECT ?x {}", Table: &kg.Table{Vars: []string{"x"}}}
		for range n {
			a.Table.Rows = append(a.Table.Rows, []rdf.Term{rdf.IRI(rdf.Entity + "Q1")})
		}
		return a
	}
	counted := func(n string) *Answer {
		return &Answer{SPARQL: "SELECT (COUNT(*) AS ?n) {}", Table: &kg.Table{Vars: []string{"n"},
			Rows: [][]rdf.Term{{rdf.Typed(n, rdf.XSDInteger)}}}}
	}
	probed := func(a *Answer, p event.Probe) State {
		p.Moved, p.SPARQL = true, "SELECT ?y {}"
		return State{probes: probed{answer: a, all: []event.Probe{p}}}
	}
	two, many := rows(2), counted("193")
	for name, tt := range map[string]struct {
		s       State
		options []Option
		want    []int
	}{
		"rows":        {options: []Option{{Answer: rows(2)}, {Answer: rows(5)}}, want: []int{2, 5}},
		"numbers":     {options: []Option{{Answer: counted("193")}, {Answer: counted("212")}}, want: []int{193, 212}},
		"as much":     {options: []Option{{Answer: rows(2)}, {Answer: rows(2)}}},
		"one":         {options: []Option{{Answer: rows(2)}}},
		"none":        {},
		"more rows":   {s: probed(two, event.Probe{Kind: "subclasses", Before: 2, Come: 3, NewRows: rows(3).Table.Rows, Vars: []string{"x"}}), options: []Option{{Answer: two}}, want: []int{2, 5}},
		"a number":    {s: probed(many, event.Probe{Kind: "class", Before: 1, Come: 1, Gone: 1, NewRows: counted("212").Table.Rows, Vars: []string{"n"}}), options: []Option{{Answer: many}}, want: []int{193, 212}},
		"fewer rows":  {s: probed(two, event.Probe{Kind: "ends", Before: 2, Gone: 1}), options: []Option{{Answer: two}}, want: []int{2, 1}},
		"not a count": {options: []Option{{Answer: counted("-3")}, {Answer: rows(4)}}, want: []int{1, 4}},
	} {
		var got []int
		for _, r := range tt.s.Readings(tt.options) {
			got = append(got, r.Count)
			if r.SPARQL == "" {
				t.Errorf("%s: a reading without a query", name)
			}
		}
		if len(got) != len(tt.want) || len(got) == 2 && (got[0] != tt.want[0] || got[1] != tt.want[1]) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
