package render

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func TestLacks(t *testing.T) {
	d := &kg.Description{Name: "slice", Lacks: []string{"It has no ranks.", "It has no units."},
		MeasuredAt: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
	want := "What slice lacks (measured 2026-11-22):\n- It has no ranks.\n- It has no units.\nNever require what is missing: make it OPTIONAL, or exclude with FILTER NOT EXISTS."
	if got := Lacks(d); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := Lacks(&kg.Description{}); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestRoomy checks that up to 25 rows are shown in full, and that rows are hidden only if there are at least five of
// them.
func TestRoomy(t *testing.T) {
	for n := 1; n < 60; n++ {
		table := &kg.Table{Vars: []string{"x"}}
		for i := range n {
			table.Rows = append(table.Rows, []rdf.Term{rdf.String(fmt.Sprint("row", i))})
		}
		shown := strings.Count(Roomy.Table(table, Names{}), "row") - strings.Count(Roomy.Table(table, Names{}), "rows") - 0
		if n == 1 {
			shown = 1
		}
		hidden := n - shown
		if n <= 25 && hidden > 0 || hidden > 0 && hidden < 5 || hidden < 0 {
			t.Errorf("of %d rows, %d are hidden", n, hidden)
		}
	}
}

// TestFirst checks that a long list is truncated and that its total is shown.
func TestFirst(t *testing.T) {
	e := &kg.Entity{ID: "Q1", Claims: []kg.PropertyStatements{{Property: kg.PropertyRef{ID: "P1"}},
		{Property: kg.PropertyRef{ID: "P2"}}}}
	for i := range 200 {
		e.Claims[0].Statements = append(e.Claims[0].Statements,
			kg.Statement{Value: kg.Value{Term: rdf.String(fmt.Sprint("v", i))}})
	}
	e.Claims[1].Statements = e.Claims[0].Statements[:3]
	got := NewPage(e, false).First(3).String()
	want := "{\n  \"P1\": [\n    \"v0\",\n    \"v1\",\n    \"v2\",\n    \"… and 197 more of 200 in all\"\n  ],\n  \"P2\": [\n    \"v0\",\n    \"v1\",\n    \"v2\"\n  ]\n}"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}
