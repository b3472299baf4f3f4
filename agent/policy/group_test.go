package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
)

func entity(id string) rdf.Term { return rdf.IRI(rdf.Entity + id) }

func table(vars []string, rows ...[]rdf.Term) *step.Answer {
	return &step.Answer{Table: &kg.Table{Vars: vars, Rows: rows}}
}

// TestResultKey checks which results are treated as equal.
func TestResultKey(t *testing.T) {
	one := func(c rdf.Term) *step.Answer { return table([]string{"x"}, []rdf.Term{c}) }
	pair := func(a, b string) *step.Answer {
		return table([]string{"a", "b"}, []rdf.Term{entity(a), entity(b)})
	}
	berlin := table([]string{"c", "cLabel"}, []rdf.Term{entity("Q64"), rdf.LangString("Berlin", "en")})
	named := table([]string{"name", "c"}, []rdf.Term{rdf.LangString("Berlin", "de"), entity("Q64")})
	named.Labels = map[string]string{"Q64": "Berlin"}
	motto := table([]string{"motto", "c"}, []rdf.Term{rdf.LangString("Be Berlin", "de"), entity("Q64")})
	motto.Labels = map[string]string{"Q64": "Berlin"}
	yes := &step.Answer{Table: &kg.Table{Ask: true, Boolean: true}}
	no := &step.Answer{Table: &kg.Table{Ask: true}}
	for _, tt := range []struct {
		name string
		a, b *step.Answer
		same bool
	}{
		{"a number in two types", one(rdf.Typed("5", rdf.XSD+"integer")), one(rdf.Typed("5.0", rdf.XSD+"decimal")), true},
		{"two numbers", one(rdf.Typed("5", rdf.XSD+"integer")), one(rdf.Typed("6", rdf.XSD+"integer")), false},
		{"a date and its midnight", one(rdf.Typed("1990-10-03", rdf.XSD+"date")),
			one(rdf.Typed("1990-10-03T00:00:00Z", rdf.XSD+"dateTime")), true},
		{"with labels and without", berlin, one(entity("Q64")), true},
		{"labels under another name", named, one(entity("Q64")), true},
		{"a text that is not a label", motto, one(entity("Q64")), false},
		{"another column", pair("Q1", "Q2"), one(entity("Q1")), false},
		{"columns in a different order", pair("Q1", "Q2"), pair("Q2", "Q1"), true},
		{"which belongs to which", table([]string{"a", "b"}, []rdf.Term{entity("Q1"), entity("Q2")}, []rdf.Term{entity("Q3"),
			entity("Q4")}), table([]string{"a", "b"}, []rdf.Term{entity("Q1"), entity("Q4")},
			[]rdf.Term{entity("Q3"), entity("Q2")}), false},
		{"duplicate row", table([]string{"x"}, []rdf.Term{entity("Q1")}, []rdf.Term{entity("Q1")}), one(entity("Q1")), true},
		{"yes and no", yes, no, false},
		{"an unbound cell", table([]string{"a", "b"}, []rdf.Term{entity("Q1"), {}}), pair("Q1", "Q2"), false},
	} {
		if got := ResultKey(tt.a) == ResultKey(tt.b); got != tt.same {
			t.Errorf("%s: the same: %t, want %t", tt.name, got, tt.same)
		}
	}
	if ResultKey(nil) != "" || ResultKey(&step.Answer{}) != "" || ResultKey(yes) == "" {
		t.Error("only an answer without a result has no key")
	}
}

// TestResultKeyLaw checks that a result's key does not depend on the names or order of columns or on the order of rows,
// but that it changes if a cell is changed to a value that the result does not contain.
func TestResultKeyLaw(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 5))
	for range 500 {
		columns, rows := 1+rnd.IntN(4), 1+rnd.IntN(6)
		a := table(nil)
		for c := range columns {
			a.Table.Vars = append(a.Table.Vars, fmt.Sprint("v", c))
		}
		for range rows {
			row := make([]rdf.Term, columns)
			for c := range row {
				row[c] = entity(fmt.Sprint("Q", rnd.IntN(4)))
			}
			a.Table.Rows = append(a.Table.Rows, row)
		}
		b := table(nil)
		order := rnd.Perm(columns)
		for n := range order {
			b.Table.Vars = append(b.Table.Vars, fmt.Sprint("other", n))
		}
		for _, i := range rnd.Perm(rows) {
			row := make([]rdf.Term, columns)
			for n, c := range order {
				row[n] = a.Table.Rows[i][c]
			}
			b.Table.Rows = append(b.Table.Rows, row)
		}
		if ResultKey(a) != ResultKey(b) {
			t.Fatalf("%v and %v are two results", a.Table, b.Table)
		}
		b.Table.Rows = slices.Clone(b.Table.Rows)
		i, c := rnd.IntN(rows), rnd.IntN(columns)
		b.Table.Rows[i] = slices.Clone(b.Table.Rows[i])
		b.Table.Rows[i][c] = entity("Q99")
		if ResultKey(a) == ResultKey(b) {
			t.Fatalf("%v and %v are one result", a.Table, b.Table)
		}
	}
}
