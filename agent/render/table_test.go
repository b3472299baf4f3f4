package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// ten5 is the window from the SPINACH paper.
var ten5 = Window{Whole: 10, Head: 5, Tail: 5}

func items(ids ...string) *kg.Table {
	t := &kg.Table{Vars: []string{"x"}, Source: "test"}
	for _, id := range ids {
		t.Rows = append(t.Rows, []rdf.Term{rdf.IRI(rdf.Entity + id)})
	}
	return t
}

// numbers returns the ID of a Wikibase entity, or "".
func numbers(t rdf.Term) string { return rdf.EntityID(t.Value) }

// TestUnboundCells checks that if all rows were examined, the header shows how many rows have no value in a column.
func TestUnboundCells(t *testing.T) {
	for n, want := range map[int]string{12: "[item, 3 unbound]", 1000: "[item, 3 unbound]", 1001: "[item, some unbound]"} {
		table := items("Q1")
		for len(table.Rows) < n {
			table.Rows = append(table.Rows, table.Rows[0])
		}
		for _, i := range []int{1, 6, n - 2} {
			table.Rows[i] = []rdf.Term{{}}
		}
		if got := strings.Split(ten5.Table(table, Names{}), "\n")[2]; got != want {
			t.Errorf("%d rows: %s, want %s", n, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	table := &kg.Table{Vars: []string{"person", "born", "name", "n", "s"}}
	for i := range 12 {
		table.Rows = append(table.Rows, []rdf.Term{rdf.IRI(fmt.Sprintf("%sQ%d", rdf.Entity, i+1)),
			rdf.Typed("1950-01-01T00:00:00Z", rdf.XSDDateTime),
			rdf.LangString(fmt.Sprintf("Name %d", i+1), "en"), rdf.Typed("3", rdf.XSDInteger), rdf.IRI(rdf.Entity +
				"statement/Q1-a")})
	}
	table.Rows[11][1] = rdf.Term{}
	table.Rows[10][2] = rdf.String(strings.Repeat("x", 300))
	table.Rows[9][1] = rdf.Blank("b0")
	want := `12 rows; the first 5 and the last 5 are shown
person | born | name | n | s
[item | dateTime, unknown value, 1 unbound | text@en, text | integer | statement]
one (Q1) | 1950-01-01T00:00:00Z | Name 1 | 3 | wds:Q1-a
Q2 | 1950-01-01T00:00:00Z | Name 2 | 3 | wds:Q1-a
Q3 | 1950-01-01T00:00:00Z | Name 3 | 3 | wds:Q1-a
Q4 | 1950-01-01T00:00:00Z | Name 4 | 3 | wds:Q1-a
Q5 | 1950-01-01T00:00:00Z | Name 5 | 3 | wds:Q1-a
… 2 rows not shown …
Q8 | 1950-01-01T00:00:00Z | Name 8 | 3 | wds:Q1-a
Q9 | 1950-01-01T00:00:00Z | Name 9 | 3 | wds:Q1-a
Q10 | (unknown value) | Name 10 | 3 | wds:Q1-a
Q11 | 1950-01-01T00:00:00Z | ` + strings.Repeat("x", 199) + `… | 3 | wds:Q1-a
Q12 | - | Name 12 | 3 | wds:Q1-a`
	if got := ten5.Table(table, Names{Labels: map[string]string{"Q1": "one", "Q6": "six"}}); got != want {
		t.Errorf("got\n%s", got)
	}
	if ids := strings.Join(ten5.IDs(table, numbers), " "); ids != "Q1 Q2 Q3 Q4 Q5 Q8 Q9 Q10 Q11 Q12" {
		t.Errorf("labels would be requested for %s", ids)
	}
	table.Vars[2] = "personLabel"
	if got := ten5.Table(table, Names{Labels: map[string]string{"Q1": "one"}}); strings.Contains(got, "one (Q1)") {
		t.Errorf("a label next to a label column:\n%s", got)
	}
	first := table.Rows[0]
	table.Rows[0] = append(append(first[:2:2], rdf.Term{}), first[3:]...)
	if got := ten5.Table(table, Names{Labels: map[string]string{"Q1": "one"}}); !strings.Contains(got, "one (Q1)") {
		t.Errorf("no label, although the row's label column is empty:\n%s", got)
	}
	table.Rows[0] = first
	ten := items("Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q7", "Q8", "Q9", "Q10")
	if got := ten5.Table(ten, Names{}); !strings.HasPrefix(got, "10 rows\nx\n[item]\nQ1\n") || strings.Contains(got,
		"shown") || strings.Count(got, "\n") != 12 {
		t.Errorf("ten rows are all shown: %s", got)
	}
	p := &kg.Table{Vars: []string{"p"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Direct + "P31")},
		{rdf.IRI("http://schema.org/version")}, {rdf.IRI("https://example.org/a?b")}}}
	if got := ten5.Table(p, Names{Labels: map[string]string{"P31": "instance of"}}); got != "3 rows\np\n[property, IRI]\ninstance of (wdt:P31)\nschema:version\nhttps://example.org/a?b" {
		t.Errorf("got\n%s", got)
	}
}

// On a graph other than a Wikibase, nodes are shown as prefixed names with their labels, and blank nodes are not shown
// as unknown values.
func TestTableOfAnyGraph(t *testing.T) {
	g := &kg.Description{Statements: kg.Compound, Prefixes: map[string]string{"b": "http://books.example/"}}
	table := &kg.Table{Vars: []string{"book", "loan", "page"}, Rows: [][]rdf.Term{
		{rdf.IRI("http://books.example/1"), rdf.Blank("x7"), rdf.IRI("https://example.org/one")},
		{rdf.IRI("http://books.example/2"), rdf.Blank("x8"), rdf.IRI("https://example.org/two")}}}
	id := func(t rdf.Term) string {
		if !t.IsIRI() {
			return ""
		}
		return g.Compact(t.Value)
	}
	if ids := strings.Join(ten5.IDs(table, id), " "); ids != "b:1 <https://example.org/one> b:2 <https://example.org/two>" {
		t.Errorf("labels would be requested for %s", ids)
	}
	want := `2 rows
book | loan | page
[IRI | node without a name | IRI]
One (b:1) | [] | <https://example.org/one>
b:2 (no label) | [] | <https://example.org/two>`
	if got := ten5.Table(table, Names{Graph: g, Labels: map[string]string{"b:1": "One", "b:2": "",
		"<https://example.org/two>": ""}}); got != want {
		t.Errorf("got\n%s", got)
	}
}

// The correction of a text about a long result shows the rows that the text names, which may not be among those shown.
func TestNamedRows(t *testing.T) {
	table := &kg.Table{Vars: []string{"series", "country"}}
	for range 20 {
		table.Rows = append(table.Rows, []rdf.Term{rdf.String("Other"), {}})
	}
	table.Rows[12] = []rdf.Term{rdf.String("Saturday Night Live"), rdf.IRI(rdf.Entity + "Q30")}
	names := Names{Labels: map[string]string{"Q30": "United States"}}
	const text = "Il paese è indicato solo per Saturday Night Live (Stati Uniti)."
	if got, want := ten5.Named(table, names, text), "Saturday Night Live | United States (Q30)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	table.Rows = table.Rows[10:]
	if got := ten5.Named(table, names, text); got != "" {
		t.Errorf("all rows are shown anyway: %q", got)
	}
}
