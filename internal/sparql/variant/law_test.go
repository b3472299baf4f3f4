package variant_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
)

var wikidata = variant.Options{Wikidata: true, Types: []string{rdf.Direct + "P31"}, Subclass: rdf.Direct + "P279",
	Labels: []string{rdf.RDFSLabel}}

// TestLaws: of random queries over the built-in graph, each variant can be read and printed again, keeps the columns,
// and returns no fewer or no more rows, as it claims. Every kind is met.
func TestLaws(t *testing.T) {
	g, err := sandbox.Graph(embedded.Options{Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
		Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, g, 13)
	met, moved := map[variant.Kind]int{}, map[variant.Kind]int{}
	for range 400 {
		query := w.query()
		before, err := g.Query(t.Context(), query)
		if err != nil {
			t.Fatalf("%v\n%s", err, query)
		}
		variants, err := variant.Of(query, wikidata)
		if err != nil {
			t.Fatalf("%v\n%s", err, query)
		}
		for _, v := range variants {
			met[v.Kind]++
			if changed := law(t, g, query, before, v); changed {
				moved[v.Kind]++
			}
			if t.Failed() {
				return
			}
		}
	}
	for _, k := range variant.Kinds {
		if met[k] == 0 {
			t.Errorf("no variant of kind %s", k)
		}
	}
	for _, k := range []variant.Kind{variant.Limit, variant.Subclasses, variant.Ranks, variant.Missing, variant.Class} {
		if moved[k] == 0 {
			t.Errorf("no variant of kind %s changes a result, of %d", k, met[k])
		}
	}
	t.Log(met, moved)
}

// law checks one variant, and says whether its rows differ.
func law(t *testing.T, g *embedded.Graph, query string, before *kg.Table, v variant.Variant) bool {
	t.Helper()
	q, err := sparql.Parse(v.SPARQL)
	if err != nil {
		t.Fatalf("%s: %v\n%s", v.What, err, v.SPARQL)
	}
	if again := sparql.Print(q, sparql.PrintOptions{NoComments: true}); again != v.SPARQL {
		t.Errorf("printed again it is\n%s\nnot\n%s", again, v.SPARQL)
	}
	if strings.TrimSpace(v.What) == "" || strings.Contains(v.What, "\n") {
		t.Errorf("%s: what it changes is %q", v.Kind, v.What)
	}
	after, err := g.Query(t.Context(), v.SPARQL)
	if err != nil {
		t.Fatalf("%s: %v\n%s", v.What, err, v.SPARQL)
	}
	if before.Ask {
		if v.Effect == variant.More && before.Boolean && !after.Boolean ||
			v.Effect == variant.Fewer && !before.Boolean && after.Boolean {
			t.Errorf("%s: %v becomes %v\n%s\n%s", v.What, before.Boolean, after.Boolean, query, v.SPARQL)
		}
		return before.Boolean != after.Boolean
	}
	columns := after.Vars
	if v.Kind == variant.Ties && len(columns) == len(before.Vars)+1 {
		columns = columns[:len(columns)-1]
	}
	if !slices.Equal(columns, before.Vars) {
		t.Fatalf("%s: columns %v become %v\n%s", v.What, before.Vars, after.Vars, v.SPARQL)
	}
	was, now := rowsOf(before, len(columns)), rowsOf(after, len(columns))
	if v.Effect == variant.More {
		inside(t, was, now, v, query)
	}
	if v.Effect == variant.Fewer {
		inside(t, now, was, v, query)
	}
	bounded(t, g, v, after)
	return len(was) != len(now)
}

// bounded checks the form in which a variant is run: the columns that it keeps have the same different rows.
func bounded(t *testing.T, g *embedded.Graph, v variant.Variant, want *kg.Table) {
	t.Helper()
	text, cut, err := variant.Bounded(v.SPARQL, 10_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Query(t.Context(), text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got.Ask || cut > 0 && int64(len(got.Rows)) >= cut {
		return
	}
	var kept [][]rdf.Term
	for _, r := range want.Rows {
		var cells []rdf.Term
		for _, name := range got.Vars {
			cells = append(cells, r[slices.Index(want.Vars, name)])
		}
		kept = append(kept, cells)
	}
	a, b := rowsOf(&kg.Table{Rows: kept}, len(got.Vars)), rowsOf(got, len(got.Vars))
	if len(a) != len(b) {
		t.Errorf("%d rows as a probe, %d as a query\n%s\n%s", len(b), len(a), text, v.SPARQL)
	}
	inside(t, a, b, v, text)
}

func rowsOf(t *kg.Table, columns int) map[string]bool {
	out := map[string]bool{}
	for _, r := range t.Rows {
		out[fmt.Sprint(r[:columns])] = true
	}
	return out
}

func inside(t *testing.T, small, large map[string]bool, v variant.Variant, query string) {
	t.Helper()
	for r := range small {
		if !large[r] {
			t.Errorf("%s (effect %d): %s is in one result alone\n%s\n%s", v.What, v.Effect, r, query, v.SPARQL)
			return
		}
	}
}

// randomWriter writes queries about what a graph holds.
type randomWriter struct {
	r       *rand.Rand
	facts   [][]rdf.Term // subject, direct property, value
	states  [][]rdf.Term // subject, p: property, statement, property of the statement, value
	vars    int
	where   []string
	columns []string
}

func newWriter(t *testing.T, g *embedded.Graph, seed uint64) *randomWriter {
	t.Helper()
	all := func(query string) [][]rdf.Term {
		table, err := g.Query(t.Context(), query)
		if err != nil || len(table.Rows) < 50 {
			t.Fatalf("%v", err)
		}
		return table.Rows
	}
	return &randomWriter{r: rand.New(rand.NewPCG(seed, 1)),
		facts: all(`SELECT ?s ?p ?o { ?s wdt:P31 ?c ; ?p ?o FILTER(STRSTARTS(STR(?p), STR(wdt:))) } ORDER BY ?s ?p ?o`),
		states: all(`SELECT ?s ?p ?st ?q ?v { ?s ?p ?st . ?st ?q ?v FILTER(STRSTARTS(STR(?q), STR(pq:)) ||
			STRSTARTS(STR(?q), STR(ps:))) FILTER(!STRSTARTS(STR(?q), "http://www.wikidata.org/prop/statement/value/") &&
			!STRSTARTS(STR(?q), "http://www.wikidata.org/prop/qualifier/value/")) } ORDER BY ?s ?p ?st ?q ?v`)}
}

func (w *randomWriter) chance(n int) bool { return w.r.IntN(n) == 0 }

func (w *randomWriter) fresh() string {
	w.vars++
	return fmt.Sprintf("?v%d", w.vars)
}

// about returns the facts of a subject.
func (w *randomWriter) about(s rdf.Term) [][]rdf.Term {
	var out [][]rdf.Term
	for _, f := range w.facts {
		if f[0] == s {
			out = append(out, f)
		}
	}
	return out
}

// query writes a query that has the subject of some fact among its rows, but for chance.
func (w *randomWriter) query() string {
	w.vars, w.where, w.columns = 0, nil, []string{"?x"}
	facts := w.about(w.facts[w.r.IntN(len(w.facts))][0])
	for _, f := range facts {
		if f[1].Value == rdf.Direct+"P31" && !w.chance(4) {
			w.where = append(w.where, "?x "+[]string{"wdt:P31", "wdt:P31/wdt:P279*"}[w.r.IntN(2)]+" "+f[2].String())
			break
		}
	}
	for range 1 + w.r.IntN(3) {
		w.fact(facts[w.r.IntN(len(facts))])
	}
	if w.chance(3) {
		w.statement(facts[0][0])
	}
	if w.chance(4) {
		w.where = append(w.where, "?x rdfs:label ?label FILTER(LANG(?label) = \"de\")")
		w.columns = append(w.columns, "?label")
	}
	if w.chance(5) {
		w.where = append(w.where, "OPTIONAL { ?x wdt:P18 ?image }")
	}
	if w.chance(6) {
		w.where = append(w.where, "FILTER NOT EXISTS { ?x wdt:P576 ?gone }")
	}
	return w.head(" WHERE { " + strings.Join(w.where, " . ") + " }")
}

// fact adds a condition that the fact meets.
func (w *randomWriter) fact(f []rdf.Term) {
	if w.chance(2) && !f[2].IsIRI() || w.chance(3) {
		v := w.fresh()
		w.where = append(w.where, "?x <"+f[1].Value+"> "+v)
		if w.chance(2) {
			w.columns = append(w.columns, v)
		}
		switch f[2].Datatype {
		case rdf.XSD + "dateTime", rdf.XSD + "decimal", rdf.XSD + "integer":
			if !w.chance(3) {
				w.where = append(w.where, "FILTER("+v+[]string{" < ", " <= ", " > ", " >= "}[w.r.IntN(4)]+f[2].String()+")")
			}
		}
		return
	}
	path := "<" + f[1].Value + ">"
	if w.chance(6) && f[2].IsIRI() {
		path += []string{"*", "+"}[w.r.IntN(2)]
	}
	w.where = append(w.where, "?x "+path+" "+f[2].String())
}

// statement adds a statement of the subject with a qualifier.
func (w *randomWriter) statement(s rdf.Term) {
	var own [][]rdf.Term
	for _, f := range w.states {
		if f[0] == s {
			own = append(own, f)
		}
	}
	if len(own) == 0 {
		return
	}
	f := own[w.r.IntN(len(own))]
	st, v := w.fresh(), w.fresh()
	w.where = append(w.where, "?x <"+f[1].Value+"> "+st+" . "+st+" <"+f[3].Value+"> "+v)
	if f[4].Datatype == rdf.XSD+"dateTime" {
		w.where = append(w.where, "FILTER("+v+" > \"1900-06-15T00:00:00Z\"^^xsd:dateTime)")
		return
	}
	if w.chance(2) {
		w.columns = append(w.columns, v)
	}
}

// head writes the query around a pattern.
func (w *randomWriter) head(where string) string {
	key := w.columns[w.r.IntN(len(w.columns))]
	switch w.r.IntN(8) {
	case 0:
		return "ASK" + where
	case 1:
		return "SELECT (COUNT(" + key + ") AS ?n)" + where
	case 2:
		return "SELECT " + strings.Join(w.columns, " ") + where + " LIMIT 2"
	case 3:
		return "SELECT " + strings.Join(w.columns, " ") + where + " ORDER BY DESC(" + key + ") LIMIT 2"
	case 4:
		return "SELECT DISTINCT " + strings.Join(w.columns, " ") + where + " ORDER BY " + key
	}
	return "SELECT " + strings.Join(w.columns, " ") + where
}
