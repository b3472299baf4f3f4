package rewrite

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// asQLever rewrites a query so that an engine that follows the standard evaluates it as QLever does: if a filter in
// OPTIONAL or EXISTS uses a variable that its own group does not bind, the variable is renamed there and thus has no
// value.
func asQLever(t *testing.T, text string) string {
	t.Helper()
	q, err := sparql.Parse(text)
	if err != nil {
		t.Fatal(text, err)
	}
	n := 0
	var hide func(g *sparql.Group)
	hide = func(g *sparql.Group) {
		if g == nil {
			return
		}
		inner := g.Visible()
		for _, p := range g.Patterns {
			if f, ok := p.(*sparql.Filter); ok {
				for _, v := range variables(f.Expr) {
					if !slices.Contains(inner, v) && !onlyInGroups(f.Expr, v) {
						n++
						rename(f.Expr, v, fmt.Sprintf("hidden%d", n))
					}
				}
			}
			for _, c := range sparql.ChildGroups(p) {
				hide(c)
			}
			if s, ok := p.(*sparql.SubSelect); ok {
				hide(s.Query.Where)
			}
		}
	}
	hide(q.Body.Where)
	return sparql.Print(q, sparql.PrintOptions{})
}

// onlyInGroups reports whether a variable occurs in an expression only inside EXISTS, where it is free.
func onlyInGroups(e *sparql.Expr, name string) bool {
	if e.Variable() == name {
		return false
	}
	return !slices.ContainsFunc(e.Args, func(a *sparql.Expr) bool { return !onlyInGroups(a, name) })
}

// outsideData returns entities with numbers, parts and names, some of which are missing.
func outsideData() string {
	r := rand.New(rand.NewSource(7))
	var b strings.Builder
	b.WriteString("@prefix : <http://x/> .\n")
	for i := range 40 {
		for _, p := range []string{"n", "m"} {
			for range r.Intn(3) {
				fmt.Fprintf(&b, ":e%d :%s %d .\n", i, p, r.Intn(9))
			}
		}
		for range r.Intn(4) {
			fmt.Fprintf(&b, ":e%d :part :e%d .\n", i, r.Intn(40))
		}
		if r.Intn(2) == 0 {
			fmt.Fprintf(&b, ":e%d :name \"name %d\" .\n", i, i%5)
		}
	}
	return b.String()
}

func rowsOf(t *testing.T, g *embedded.Graph, query string) string {
	t.Helper()
	table, err := g.Query(context.Background(), query)
	if err != nil {
		t.Fatalf("%v in\n%s", err, query)
	}
	var out []string
	for _, row := range table.Rows {
		out = append(out, fmt.Sprint(row))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// TestFiltersSeeOutside checks that for the rewritten query, an engine with QLever's scopes returns what the standard
// requires for the original: the same rows, each the same number of times.
func TestFiltersSeeOutside(t *testing.T) {
	b := embedded.NewBuilder()
	if err := b.Read("data.ttl", strings.NewReader(outsideData())); err != nil {
		t.Fatal(err)
	}
	g := b.Graph(embedded.Options{})
	const head = "PREFIX : <http://x/> SELECT * WHERE { "
	differs := 0
	for _, c := range []struct {
		where string
		note  string // "" if the rewrite does not add a note
	}{
		{"?x :n ?n OPTIONAL { ?x :part ?y FILTER(?n > 4) }", "repeated"},
		{"?x :n ?n OPTIONAL { ?x :part ?y . ?y :m ?k FILTER(?k > ?n) }", "repeated"},
		{"?x :n ?n . ?x :m ?m OPTIONAL { ?x :part ?y . ?y :n ?k FILTER(?k = ?n || ?k = ?m) }", "repeated"},
		{"?x :n ?n BIND(?n * 2 AS ?d) OPTIONAL { ?x :part ?y . ?y :m ?k FILTER(?k < ?d) }", "repeated"},
		{"?x :name ?s BIND(?s * 2 AS ?d) OPTIONAL { ?x :part ?y FILTER(!BOUND(?d)) }", "repeated"},
		{"{ ?x :n ?n } UNION { ?x :m ?n } OPTIONAL { ?x :part ?y FILTER(?n < 3) }", "repeated"},
		{"{ ?x :n ?n } UNION { ?x :n ?n } OPTIONAL { ?x :part ?y FILTER(?n < 3) }", "repeated"},
		{"?x :part+ ?y . ?y :n ?n OPTIONAL { ?y :name ?s FILTER(?n > 2) } OPTIONAL { ?x :m ?k FILTER(?k > ?n) }", "repeated"},
		{"?x :n ?n OPTIONAL { ?x :part ?y FILTER(?n > 2) OPTIONAL { ?y :m ?k FILTER(?k > 3) } }", "repeated"},
		{"?x :n ?n OPTIONAL { ?x :part ?y . ?y :m ?k FILTER(?n > 2) OPTIONAL { ?y :n ?j FILTER(?j > ?k) } }", "repeated"},
		{"?x :n ?n OPTIONAL { ?x :part ?y OPTIONAL { ?y :n ?j FILTER(?j > ?n) } }", ""}, // ?n is out of scope there
		{"?x :n ?n FILTER(?n > 1) OPTIONAL { ?x :part ?y FILTER(?n > 4) }", "repeated"},
		{"VALUES ?n { 1 2 3 } ?x :n ?n OPTIONAL { ?x :part ?y . ?y :n ?k FILTER(?k = ?n + 1) }", "repeated"},
		{"?x :n ?n FILTER EXISTS { ?x :part ?y . ?y :n ?k FILTER(?k > ?n) }", "repeated"},
		{"?x :n ?n FILTER NOT EXISTS { ?x :part ?y . ?y :n ?k FILTER(?k > ?n) }", "repeated"},
		{"?x :n ?n FILTER(?n > 6 || EXISTS { ?x :part ?y . ?y :n ?k FILTER(?k > ?n) })", "repeated"},
		{"?x :n ?n OPTIONAL { ?x :part ?y FILTER EXISTS { ?y :n ?k } }", ""},
		{"?x :n ?n OPTIONAL { ?x :part ?y . ?y :n ?k FILTER(?k > 3) }", ""},
		{"{ SELECT ?x (COUNT(?p) AS ?n) { ?x :part ?p } GROUP BY ?x } OPTIONAL { ?x :m ?k FILTER(?k > ?n) }", "repeated"},
		{"?x :n ?n OPTIONAL { ?x :m ?m } OPTIONAL { ?x :part ?y FILTER(?m > 4) }", "may differ"},
		{"?x :n ?n . [] :part ?x OPTIONAL { ?x :part ?y FILTER(?n > 4) }", "repeated"},
	} {
		query := head + c.where + " }"
		r, err := Query(query, QLever, Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.where, err)
		}
		notes := strings.Join(r.Notes, "; ")
		if c.note == "" && strings.Contains(notes, "QLever") || !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q, want %q", c.where, notes, c.note)
		}
		if strings.Contains(notes, "may differ") {
			continue
		}
		want := rowsOf(t, g, query)
		if got := rowsOf(t, g, asQLever(t, r.Text)); got != want {
			t.Errorf("%s: as QLever evaluates\n%s\n%d bytes of rows, want %d", c.where, r.Text, len(got), len(want))
		}
		if rowsOf(t, g, r.Text) != want {
			t.Errorf("%s: the rows differ by the standard", c.where)
		}
		if rowsOf(t, g, asQLever(t, query)) != want {
			differs++
		}
		again, err := Query(r.Text, QLever, Options{})
		if err != nil || again.Text != r.Text {
			t.Errorf("%s: rewriting it twice changes it: %v", c.where, err)
		}
	}
	if differs < 12 {
		t.Errorf("without the rewrite only %d queries differ: the data shows too little", differs)
	}
}
