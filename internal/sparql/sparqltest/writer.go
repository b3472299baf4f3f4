// Package sparqltest generates random queries for property-based tests.
package sparqltest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Writer generates random queries about the contents of a graph.
type Writer struct {
	r       *rand.Rand
	facts   [][]rdf.Term // subject, direct property, value
	states  [][]rdf.Term // subject, property (as p:), statement, qualifier or main value property, value
	vars    int
	where   []string
	columns []string
}

// New returns a writer for a graph with Wikidata's data model. The same seed produces the same queries.
func New(ctx context.Context, query func(ctx context.Context, query string) (*kg.Table, error),
	seed uint64) (*Writer, error) {
	var failed error
	all := func(text string) [][]rdf.Term {
		table, err := query(ctx, text)
		if err != nil {
			failed = err
			return nil
		}
		return table.Rows
	}
	w := &Writer{r: rand.New(rand.NewPCG(seed, 1)),
		facts: all(`SELECT ?s ?p ?o { ?s wdt:P31 ?c ; ?p ?o FILTER(STRSTARTS(STR(?p), STR(wdt:))) } ORDER BY ?s ?p ?o`),
		states: all(`SELECT ?s ?p ?st ?q ?v { ?s ?p ?st . ?st ?q ?v FILTER(STRSTARTS(STR(?q), STR(pq:)) ||
			STRSTARTS(STR(?q), STR(ps:))) FILTER(!STRSTARTS(STR(?q), "http://www.wikidata.org/prop/statement/value/") &&
			!STRSTARTS(STR(?q), "http://www.wikidata.org/prop/qualifier/value/")) } ORDER BY ?s ?p ?st ?q ?v`)}
	if failed == nil && len(w.facts) == 0 {
		failed = errors.New("the graph is empty")
	}
	return w, failed
}

func (w *Writer) chance(n int) bool { return w.r.IntN(n) == 0 }

func (w *Writer) fresh() string {
	w.vars++
	return fmt.Sprintf("?v%d", w.vars)
}

// about returns the facts about a subject.
func (w *Writer) about(s rdf.Term) [][]rdf.Term {
	var out [][]rdf.Term
	for _, f := range w.facts {
		if f[0] == s {
			out = append(out, f)
		}
	}
	return out
}

// Query returns a query whose result usually includes the subject of some fact.
func (w *Writer) Query() string {
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

// fact adds a condition that f satisfies.
func (w *Writer) fact(f []rdf.Term) {
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
	if id, ok := strings.CutPrefix(f[1].Value, rdf.Direct); ok && w.chance(6) {
		path = "p:" + id + "/ps:" + id
	}
	if w.chance(6) && f[2].IsIRI() {
		path += []string{"*", "+"}[w.r.IntN(2)]
	}
	w.where = append(w.where, "?x "+path+" "+f[2].String())
}

// statement adds a statement about the subject with a qualifier.
func (w *Writer) statement(s rdf.Term) {
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

// head returns a complete query for a pattern.
func (w *Writer) head(where string) string {
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
