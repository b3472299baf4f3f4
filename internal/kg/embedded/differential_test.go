package embedded

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

// generator generates random queries that use only a few names.
type generator struct {
	r    *rand.Rand
	next int
}

func (g *generator) pick(s ...string) string { return s[g.r.IntN(len(s))] }

func (g *generator) variable() string { return g.pick("?a", "?b", "?c", "?d") }

func (g *generator) node() string {
	if g.r.IntN(6) == 0 {
		return g.pick(":n0", ":n1", ":n2", "1", `"x"@en`, "1.0", ":nowhere")
	}
	return g.variable()
}

func (g *generator) path(depth int) string {
	if depth == 0 || g.r.IntN(3) > 0 {
		return g.pick(":p", ":q", ":r", "!:p", "!(:q|^:r)", "^:p")
	}
	x, y := g.path(depth-1), g.path(depth-1)
	return "(" + g.pick(x+"/"+y, x+"|"+y, "("+x+")*", "("+x+")+", "("+x+")?", "^("+x+")") + ")"
}

func (g *generator) triple() string {
	s := g.node()
	if s == "1" || s == "1.0" || strings.HasPrefix(s, `"`) {
		s = ":n1"
	}
	p := g.pick(":p", ":q", ":r", g.variable())
	if g.r.IntN(4) == 0 {
		p = g.path(2)
	}
	if g.r.IntN(8) == 0 {
		return s + " " + p + " [ :p " + g.node() + " ] . "
	}
	return s + " " + p + " " + g.node() + " . "
}

// simple is a pattern that usually matches something.
func (g *generator) simple() string {
	return g.variable() + " " + g.pick(":p", ":q", ":r", "(:p|:q)") + " " + g.variable() + " . "
}

func (g *generator) expr(depth int) string {
	if depth > 0 {
		x, y := g.expr(depth-1), g.expr(depth-1)
		switch g.r.IntN(7) {
		case 0:
			return "(" + x + " && " + y + ")"
		case 1:
			return "(" + x + " || " + y + ")"
		case 2:
			return "!(" + x + ")"
		case 3:
			return "((" + x + ") = (" + y + "))"
		}
	}
	v, w := g.variable(), g.variable()
	return g.pick(v+" = "+w, v+" != "+w, v+" < 3", "sameTerm("+v+", "+w+")", v+" = "+w, "BOUND("+v+")", "STR("+v+
		") = STR("+w+")", v+" + 1 = 2", "COALESCE("+v+", 1) = 1", v+" = :n1")
}

func (g *generator) group(depth int, exists bool) string {
	var b strings.Builder
	b.WriteString("{ ")
	if g.r.IntN(2) == 0 {
		b.WriteString(g.simple())
	}
	for range 1 + g.r.IntN(2) {
		b.WriteString(g.element(depth, exists))
	}
	if g.r.IntN(4) == 0 {
		b.WriteString("FILTER(" + g.expr(2) + ") ")
	}
	if g.r.IntN(4) == 0 {
		b.WriteString("FILTER(" + g.expr(0) + ") ")
	}
	b.WriteString("}")
	return b.String()
}

func (g *generator) element(depth int, exists bool) string {
	if depth == 0 {
		return g.triple()
	}
	// Inside EXISTS, generate no MINUS, BIND, VALUES and subqueries: there is no agreement on how values are substituted
	// for their variables.
	n := 14
	if exists {
		n = 9
	}
	switch g.r.IntN(n) {
	case 7:
		return "{ " + g.simple() + "OPTIONAL { " + g.simple() + "} } "
	case 8:
		return "OPTIONAL { " + g.simple() + g.pick("", "FILTER("+g.expr(0)+") ") + "} "
	case 3:
		return "OPTIONAL " + g.group(depth-1, exists) + " "
	case 4:
		return g.group(depth-1, exists) + " UNION " + g.group(depth-1, exists) + " "
	case 5:
		return "FILTER " + g.pick("", "NOT ") + "EXISTS " + g.group(depth-1, true) + " "
	case 6:
		return g.group(depth-1, exists) + " "
	case 9:
		return "MINUS " + g.group(depth-1, exists) + " "
	case 10:
		g.next++
		return fmt.Sprintf("BIND(%s AS ?z%d) ", g.pick(g.variable()+" + 1", "COALESCE("+g.variable()+", 7)", g.variable()),
			g.next)
	case 11:
		return g.pick("VALUES ?a { :n0 1 } ", "VALUES (?a ?b) { (:n0 UNDEF) (UNDEF :n1) } ", "VALUES ?c { 1 2 2 } ")
	case 12:
		v, w := g.variable(), g.variable()
		if v == w {
			return "{ SELECT " + g.pick("", "DISTINCT ") + v + " WHERE " + g.group(depth-1, exists) + " } "
		}
		return "{ SELECT " + g.pick("", "DISTINCT ") + v + " " + w + " WHERE " + g.group(depth-1, exists) + " } "
	case 13:
		g.next++
		v := g.variable()
		return fmt.Sprintf("{ SELECT %s (%s AS ?z%d) WHERE %s GROUP BY %s } ", v,
			g.pick("COUNT(*)", "COUNT("+g.variable()+")", "SUM("+g.variable()+")", "MIN("+g.variable()+")", "COUNT(DISTINCT "+
				g.variable()+")"), g.next, g.group(depth-1, exists), v)
	}
	return g.triple()
}

func (g *generator) query() string { return "SELECT * WHERE " + g.group(3, false) }

func (g *generator) data() string {
	var b strings.Builder
	for range 5 + g.r.IntN(10) {
		fmt.Fprintf(&b, ":n%d :%s %s . ", g.r.IntN(3), g.pick("p", "q", "r"), g.pick(":n0", ":n1", ":n2", ":n1", "1", "2",
			`"x"@en`, "1.0", "1e0", `"x"`))
	}
	return b.String()
}

// differ runs one generated query in both evaluators and returns a description of the difference, if any.
func differ(t *testing.T, seed uint64) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, 1))}
	data, text := g.data(), testPrefixes+g.query()
	graph := graphOf(t, data)
	graph.opts.Timeout = 2 * time.Second
	if seed%2 == 1 {
		graph.tune = tuning{}
	}
	tree, err := sparql.Parse(text)
	if err != nil {
		return "" // the query is invalid, for example because it binds a name twice
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	got, err := graph.Query(ctx, text)
	if err != nil {
		if kind := kg.KindOf(err); kind == kg.TooGreedy || kind == kg.TooLarge || kind == kg.Timeout ||
			kind == kg.SyntaxError {
			return ""
		}
		return fmt.Sprintf("seed %d: %v\n%s", seed, err, text)
	}
	if len(got.Rows) > 2000 {
		return ""
	}
	want := slowGraph(graph).group(tree.Body.Where)
	var a, b []string
	for _, r := range got.Rows {
		row := solution{}
		for i, c := range r {
			if c.Bound() {
				row[got.Vars[i]] = c
			}
		}
		a = append(a, row.key(got.Vars))
	}
	for _, w := range want {
		b = append(b, w.key(got.Vars))
	}
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		return fmt.Sprintf("seed %d\n%s\n%s\ncolumns %v\n got %d rows %.600q\nwant %d rows %.600q", seed, data, text,
			got.Vars, len(a), a, len(b), b)
	}
	return ""
}

// TestAgainstReference compares the evaluator with the reference evaluator on random queries.
func TestAgainstReference(t *testing.T) {
	n := corpus.Pick(2000, 4000)
	if testing.Short() {
		n = 200
	}
	for seed := range uint64(n) {
		if d := differ(t, seed); d != "" {
			t.Fatal(d)
		}
	}
}

// FuzzAgainstReference is TestAgainstReference for longer runs.
func FuzzAgainstReference(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		if d := differ(t, seed); d != "" {
			t.Error(d)
		}
	})
}
