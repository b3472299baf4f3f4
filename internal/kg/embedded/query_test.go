package embedded

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

const testPrefixes = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"

// graphOf builds a graph from Turtle with the prefix : for http://example.org/.
func graphOf(t testing.TB, turtle string) *Graph {
	t.Helper()
	b := NewBuilder()
	text := "@prefix : <http://example.org/> .\n@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
	for p, ns := range rdf.Prefixes {
		if p != "xsd" {
			text += "@prefix " + p + ": <" + ns + "> .\n"
		}
	}
	if err := b.Read("test.ttl", strings.NewReader(text+turtle)); err != nil {
		t.Fatal(err)
	}
	n := uint64(0)
	return b.Graph(Options{Now: func() time.Time { return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC) },
		Random: func() uint64 { n += 0x9E3779B97F4A7C15; return n }, Timeout: 5 * time.Second})
}

// cell formats a term in a short form: :x for names in example.org, wd:Q1 and similar names, "text"@en, bare numbers
// and booleans, and other literals with a short type.
func cell(t rdf.Term) string {
	switch {
	case !t.Bound():
		return "-"
	case t.Kind == rdf.BlankKind:
		return "_"
	case t.Kind == rdf.IRIKind:
		if l, ok := strings.CutPrefix(t.Value, "http://example.org/"); ok {
			return ":" + l
		}
		return rdf.Shorten(t.Value)
	case t.Lang != "":
		return `"` + t.Value + `"@` + t.Lang
	case t.Datatype == "":
		return `"` + t.Value + `"`
	}
	switch name := strings.TrimPrefix(t.Datatype, rdf.XSD); name {
	case "integer", "decimal", "boolean", "double":
		return t.Value
	default:
		return t.Value + "^" + name
	}
}

// rowsOf returns the rows as a string, sorted if sorted is true.
func rowsOf(tab *kg.Table, sorted bool) string {
	if tab.Ask {
		if tab.Boolean {
			return "true"
		}
		return "false"
	}
	var out []string
	for _, r := range tab.Rows {
		var cells []string
		for _, c := range r {
			cells = append(cells, cell(c))
		}
		out = append(out, strings.Join(cells, " "))
	}
	if !sorted {
		slices.Sort(out)
	}
	return strings.Join(out, " | ")
}

// queryCase is a query and its result, with rows separated by " | " and cells by spaces. The rows are sorted unless the
// query specifies an order.
type queryCase struct{ name, query, want string }

func runCases(t *testing.T, g *Graph, cases []queryCase) {
	t.Helper()
	for _, c := range cases {
		tab, err := g.Query(context.Background(), testPrefixes+c.query)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := rowsOf(tab, strings.Contains(c.query, "ORDER BY")); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.query, got, c.want)
		}
	}
}

const peopleData = `
:ann :knows :bob, :cid ; :age 42 ; :name "Ann"@en, "Anna"@de ; :self :ann .
:bob :knows :cid ; :age 17 ; :name "Bob" ; :boss :ann .
:cid :knows :ann ; :age "old" ; :name "Cid"@en-GB .
:dan :age 3.5 ; :boss :bob ; :knows [ :name "x" ; :age 5 ] .
`

// TestPatterns checks joins, scopes, and queries that simple evaluators often get wrong.
func TestPatterns(t *testing.T) {
	runCases(t, graphOf(t, peopleData), []queryCase{
		{"a variable twice in one pattern", "SELECT ?x { ?x :self ?x }", ":ann"},
		{"a variable twice, no match", "SELECT ?x { ?x :knows ?x }", ""},
		{"a literal as subject matches nothing", `SELECT ?o { "x" :knows ?o }`, ""},
		{"a blank node joins within its pattern", "SELECT ?x { ?x :knows [ :age 5 ] }", ":dan"},
		{"a labeled blank node is one variable", "SELECT ?x ?y { ?x :boss _:b . _:b :boss ?y }", ":dan :ann"},
		{"a constant that the graph does not have", "SELECT ?x { ?x :knows :nobody }", ""},
		{"filter inside OPTIONAL sees outer variables",
			"SELECT ?x ?b { ?x :age ?a OPTIONAL { ?x :boss ?b FILTER(?a > 10) } }",
			":ann - | :bob :ann | :cid - | :dan - | _ -"},
		{"filter inside NOT EXISTS sees outer variables",
			"SELECT ?x { ?x :age ?a FILTER NOT EXISTS { ?y :age ?b FILTER(?b > ?a) } }", ":ann | :cid"},
		{"filter in a nested group does not see outer variables",
			"SELECT ?x { ?x :age ?a { ?x :boss ?b FILTER(BOUND(?a)) } }", ""},
		{"filter holds for the whole group", "SELECT ?x { FILTER(?a > 10) ?x :age ?a }", ":ann | :bob"},
		{"optional twice keeps unbound", "SELECT ?x ?b ?c { ?x :age ?a OPTIONAL { ?x :boss ?b } OPTIONAL { ?b :boss ?c } FILTER(?a != 5 && ISNUMERIC(?a)) }",
			":ann :bob :ann | :ann :dan :bob | :bob :ann - | :dan :bob :ann"},
		{"optional not well designed", "SELECT ?x ?y { ?x :age 17 OPTIONAL { ?z :age 42 OPTIONAL { ?x :knows ?y . ?z :self ?y } } }", ":bob -"},
		{"MINUS without shared variable takes nothing", "SELECT ?x { ?x :boss ?b MINUS { ?y :age 42 } }", ":bob | :dan"},
		{"MINUS takes what agrees", "SELECT ?x { ?x :boss ?b MINUS { ?x :age 17 } }", ":dan"},
		{"MINUS does not see outer variables in filters",
			"SELECT ?x { ?x :age ?a MINUS { ?x :boss ?b FILTER(?a = 17) } FILTER(ISNUMERIC(?a) && ?a != 5) }",
			":ann | :bob | :dan"},
		{"UNION keeps duplicates", "SELECT ?x { { ?x :age 42 } UNION { ?x :self ?y } }", ":ann | :ann"},
		{"sub-select hides variables", "SELECT ?x ?a { ?x :boss ?b { SELECT ?b { ?b :age ?a } } }", ":bob - | :dan -"},
		{"sub-select with LIMIT is evaluated by itself",
			"SELECT ?x { ?x :boss ?b { SELECT ?b { ?z :boss ?b } ORDER BY DESC(?b) LIMIT 1 } }", ":dan"},
		{"VALUES with UNDEF", "SELECT ?x ?a { VALUES (?x ?a) { (:ann UNDEF) (UNDEF 17) (:ann 17) } ?x :age ?a }",
			":ann 42 | :bob 17"},
		{"VALUES at the end", "SELECT ?x ?a { ?x :age ?a } VALUES ?x { :ann :bob }", ":ann 42 | :bob 17"},
		{"BIND ends the pattern before it", "SELECT ?x ?d { ?x :age ?a BIND(?a * 2 AS ?d) } ORDER BY ?x LIMIT 3",
			"_ 10 | :ann 84 | :bob 34"},
		{"BIND of an error leaves unbound", "SELECT ?x ?d { ?x :name ?n . ?x :age ?a BIND(?a * 2 AS ?d) FILTER(!BOUND(?d)) }",
			":cid -"},
		{"variable predicate", "SELECT ?p { :bob ?p :ann }", ":boss"},
		{"all three free", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "18"},
		{"cross product", "SELECT (COUNT(*) AS ?n) { ?a :boss ?b . ?c :boss ?d }", "4"},
		{"an unbound variable joins with anything", "SELECT ?x ?b ?y { ?x :age 42 OPTIONAL { ?x :boss ?b } ?y :boss ?b }",
			":ann :ann :bob | :ann :bob :dan"},
		{"ASK", "ASK { ?x :age 17 }", "true"},
		{"ASK with nothing", "ASK { ?x :age 18 }", "false"},
		{"empty group has one solution", "SELECT (1 AS ?one) { }", "1"},
		{"EXISTS with a sub-select", "SELECT ?x { ?x :boss ?b FILTER EXISTS { SELECT ?x { ?x :age ?a FILTER(?a < 10) } } }",
			":dan"},
		{"nested EXISTS", "SELECT ?x { ?x :boss ?b FILTER EXISTS { ?b :boss ?c FILTER NOT EXISTS { ?c :boss ?d } } }",
			":dan"},
		{"EXISTS in an expression", "SELECT ?x (EXISTS { ?x :boss ?b } AS ?e) { ?x :age ?a FILTER(ISIRI(?x)) } ORDER BY ?x",
			":ann false | :bob true | :cid false | :dan true"},
		{"SELECT * leaves blank nodes out", "SELECT * { ?x :knows [ :age ?a ] FILTER(?a = 5) }", ":dan 5"},
		{"literals match by term", `SELECT ?x { ?x :name "Ann" }`, ""},
		{"literals with language", `SELECT ?x { ?x :name "Ann"@EN }`, ":ann"},
	})
}

// TestPaths checks property paths: with and without duplicates, with cycles, and with bound and unbound ends.
func TestPaths(t *testing.T) {
	g := graphOf(t, `:a :p :b . :b :p :c . :c :p :a . :c :p :d . :a :q :c . :d :q "lit" . :x :r :x .`)
	runCases(t, g, []queryCase{
		{"plus in a cycle", "SELECT ?y { :a :p+ ?y }", ":a | :b | :c | :d"},
		{"star from a constant", "SELECT ?y { :d :p* ?y }", ":d"},
		{"star backwards", "SELECT ?x { ?x :p* :b }", ":a | :b | :c"},
		{"plus between constants", "ASK { :b :p+ :b }", "true"},
		{"plus to itself without cycle", "ASK { :d :p+ :d }", "false"},
		{"same variable at both ends", "SELECT ?x { ?x :p+ ?x }", ":a | :b | :c"},
		{"star of a term that is not in the graph", "SELECT ?y { :nowhere :p* ?y }", ":nowhere"},
		{"a variable's value that is not in the graph has no star", "SELECT ?y { VALUES ?x { :nowhere } ?x :p* ?y }", ""},
		{"star with both ends free has every node", "SELECT (COUNT(*) AS ?n) { ?x :p* ?y }", "15"},
		{"optional step", "SELECT ?y { :a :p? ?y }", ":a | :b"},
		{"sequence keeps duplicates", "SELECT ?y { :a (:p|:q)/:p ?y }", ":a | :c | :d"},
		{"alternative counts each way", "SELECT ?y { :b (:p|:p) ?y }", ":c | :c"},
		{"inverse", "SELECT ?x { :c ^:p ?x }", ":b"},
		{"inverse sequence", "SELECT ?x { :d ^(:p/:p) ?x }", ":b"},
		{"negated", "SELECT ?y { :a !:p ?y }", ":c"},
		{"negated inverse", "SELECT ?y { :c !^:p ?y }", ":a"},
		{"negated both ways", "SELECT ?y { :c !(:p|^:p) ?y }", ":a"},
		{"closure of alternatives", "SELECT ?y { :b (:p|:q)+ ?y }", `"lit" | :a | :b | :c | :d`},
		{"closure of a sequence", "SELECT ?y { :a (:p/:p)* ?y }", ":a | :b | :c | :d"},
		{"literal at the end", `SELECT ?x { ?x (:p|:q)+ "lit" }`, ":a | :b | :c | :d"},
		{"two paths joined", "SELECT ?x ?y { ?x :q ?y . ?x :p+ ?y }", ":a :c"},
	})
}

// TestAggregates checks grouping and aggregates, including aggregates inside other expressions.
func TestAggregates(t *testing.T) {
	g := graphOf(t, `:a :v 1, 2, 3 ; :t "x" . :b :v 10, 2.5 ; :t "y" . :c :v "no", 4 . :d :t "x" . :e :w 1e0, 2 .`)
	runCases(t, g, []queryCase{
		{"count and sum", "SELECT ?x (COUNT(?v) AS ?n) (SUM(?v) AS ?s) { ?x :v ?v } GROUP BY ?x ORDER BY ?x",
			":a 3 6 | :b 2 12.5 | :c 2 -"},
		{"average stays decimal", "SELECT (AVG(?v) AS ?m) { :a :v ?v }", "2"},
		{"average with places", "SELECT (AVG(?v) AS ?m) { VALUES ?v { 1 2 2 } }", "1.66666666666666666667"},
		{"sum of mixed numbers is a double", "SELECT (SUM(?v) AS ?s) { :e :w ?v }", "3.0E0"},
		{"minimum and maximum", "SELECT (MIN(?v) AS ?a) (MAX(?v) AS ?b) { :b :v ?v }", "2.5 10"},
		{"aggregate inside a function", "SELECT ?x (ROUND(AVG(?v) * 10) AS ?n) { ?x :v ?v } GROUP BY ?x ORDER BY DESC(COUNT(?v)) ?x", ":a 20 | :b 63 | :c -"},
		{"order by an aggregate, descending", "SELECT ?t { ?x :t ?t } GROUP BY ?t ORDER BY DESC(COUNT(?x))", `"x" | "y"`},
		{"having", "SELECT ?x { ?x :v ?v } GROUP BY ?x HAVING (COUNT(?v) > 2)", ":a"},
		{"having by the name of a column", "SELECT ?x (COUNT(?v) AS ?n) { ?x :v ?v } GROUP BY ?x HAVING (?n > 2)", ":a 3"},
		{"count of nothing is one row", "SELECT (COUNT(*) AS ?n) { :nobody :v ?v }", "0"},
		{"group by of nothing returns no row", "SELECT ?x (COUNT(*) AS ?n) { ?x :nothing ?v } GROUP BY ?x", ""},
		{"empty sum and minimum", "SELECT (SUM(?v) AS ?s) (MIN(?v) AS ?m) (AVG(?v) AS ?a) { :nobody :v ?v }", "0 - 0"},
		{"distinct", "SELECT (COUNT(DISTINCT ?t) AS ?n) (COUNT(?t) AS ?m) { ?x :t ?t }", "2 3"},
		{"distinct *", "SELECT (COUNT(DISTINCT *) AS ?n) { { ?x :t ?t } UNION { ?x :t ?t } }", "3"},
		{"group_concat", `SELECT (GROUP_CONCAT(?v; SEPARATOR=", ") AS ?all) { SELECT ?v { :a :v ?v } ORDER BY DESC(?v) }`,
			`"3, 2, 1"`},
		{"sample", "SELECT (SAMPLE(?t) AS ?s) { :b :t ?t }", `"y"`},
		{"group by expression with a name", "SELECT ?e (COUNT(*) AS ?n) { ?x :v ?v } GROUP BY (DATATYPE(?v) AS ?e) ORDER BY ?n", "xsd:decimal 1 | xsd:string 1 | xsd:integer 5"},
		{"unbound values do not count", "SELECT (COUNT(?v) AS ?n) (COUNT(*) AS ?m) { ?x :t ?t OPTIONAL { ?x :v ?v } }",
			"5 6"},
		{"unbound keys are a group", "SELECT ?t (COUNT(*) AS ?n) { ?x ?p ?o OPTIONAL { ?x :t ?t } } GROUP BY ?t ORDER BY ?n",
			`"y" 3 | - 4 | "x" 5`},
		{"aggregate in a sub-select, joined", "SELECT ?x ?n { ?x :t \"x\" { SELECT ?x (COUNT(*) AS ?n) { ?x :v ?v } GROUP BY ?x } }", ":a 3"},
		{"sum over an expression", "SELECT (SUM(?v * ?v) AS ?s) { :a :v ?v }", "14"},
		{"aggregate of the sub-select's column", "SELECT (MAX(?n) AS ?m) { SELECT ?x (COUNT(*) AS ?n) { ?x :v ?v } GROUP BY ?x }", "3"},
	})
}

func TestModifiers(t *testing.T) {
	g := graphOf(t, `:a :v 1 . :b :v 10 . :c :v 2.5 . :d :v "text" . :e :v :iri . :f :v [] . :g :v "2000-01-01T00:00:00Z"^^xsd:dateTime . :h :w 1 . :a :u "x" . :b :u "x" . :c :u "y" .`)
	runCases(t, g, []queryCase{
		{"mixed terms: nothing, blank, IRI, literals",
			"SELECT ?x { ?x ?p ?w OPTIONAL { ?x :v ?v } FILTER(?p != :u) } ORDER BY ?v",
			":h | :f | :e | :a | :c | :b | :g | :d"},
		{"descending", "SELECT ?v { ?x :v ?v FILTER(ISNUMERIC(?v)) } ORDER BY DESC(?v)", "10 | 2.5 | 1"},
		{"two keys", "SELECT ?u ?v { ?x :u ?u ; :v ?v } ORDER BY DESC(?u) ?v", `"y" 2.5 | "x" 1 | "x" 10`},
		{"by an expression", "SELECT ?v { ?x :v ?v FILTER(ISNUMERIC(?v)) } ORDER BY (0 - ?v)", "10 | 2.5 | 1"},
		{"by what is not selected", "SELECT ?x { ?x :u ?u ; :v ?v } ORDER BY DESC(?v)", ":b | :c | :a"},
		{"LIMIT 0", "SELECT ?x { ?x :v ?v } LIMIT 0", ""},
		{"top two", "SELECT ?v { ?x :v ?v FILTER(ISNUMERIC(?v)) } ORDER BY ?v LIMIT 2", "1 | 2.5"},
		{"offset", "SELECT ?v { ?x :v ?v FILTER(ISNUMERIC(?v)) } ORDER BY ?v OFFSET 1", "2.5 | 10"},
		{"offset beyond", "SELECT ?v { ?x :v ?v } ORDER BY ?v OFFSET 100", ""},
		{"distinct then order", "SELECT DISTINCT ?u { ?x :u ?u ; :v ?v } ORDER BY ?v", `"x" | "y"`},
		{"distinct with limit", "SELECT DISTINCT ?u { ?x :u ?u } ORDER BY ?u LIMIT 2", `"x" | "y"`},
		{"order in a sub-select with limit", "SELECT ?v { { SELECT ?v { ?x :v ?v FILTER(ISNUMERIC(?v)) } ORDER BY DESC(?v) LIMIT 1 } }", "10"},
		{"expression and its name", "SELECT ?x (?v * 2 AS ?d) (?d + 1 AS ?e) { ?x :v ?v FILTER(?v = 10) }", ":b 20 21"},
	})
}
