//go:build integration

package engines

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

type triple [3]rdf.Term

// vocabulary is the source of a generator's terms. The terms are taken from the data itself, so most queries return
// results.
type vocabulary struct {
	all       []triple // triples whose predicates state facts, in a fixed order
	bySubject map[rdf.Term][]triple
	byObject  map[rdf.Term][]triple
}

// newVocabulary returns a vocabulary built from a graph's ?s ?p ?o rows.
func newVocabulary(t *kg.Table) *vocabulary {
	v := &vocabulary{bySubject: map[rdf.Term][]triple{}, byObject: map[rdf.Term][]triple{}}
	for _, r := range t.Rows {
		p := r[1].Value
		if r[0].Kind != rdf.IRIKind || r[2].Kind == rdf.BlankKind || !strings.HasPrefix(p, rdf.Prop) && p != rdf.RDFSLabel &&
			p != rdf.SKOSAltLabel {
			continue
		}
		v.all = append(v.all, triple{r[0], r[1], r[2]})
	}
	slices.SortFunc(v.all, func(a, b triple) int {
		for i := range a {
			if c := strings.Compare(a[i].String(), b[i].String()); c != 0 {
				return c
			}
		}
		return 0
	})
	for _, x := range v.all {
		v.bySubject[x[0]] = append(v.bySubject[x[0]], x)
		if x[2].IsIRI() {
			v.byObject[x[2]] = append(v.byObject[x[2]], x)
		}
	}
	return v
}

// generator writes one query. It walks through the data and records an example value for each variable.
type generator struct {
	r       *rand.Rand
	v       *vocabulary
	vars    []string
	example map[string]rdf.Term
	named   string // a named subquery before WHERE
	next    int
}

func generate(v *vocabulary, seed uint64) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, 7)), v: v, example: map[string]rdf.Term{}}
	return g.query()
}

func (g *generator) pick(s ...string) string    { return s[g.r.IntN(len(s))] }
func (g *generator) chance(n int) bool          { return g.r.IntN(n) == 0 }
func (g *generator) known() string              { return g.vars[g.r.IntN(len(g.vars))] }
func (g *generator) value(name string) string   { return written(g.example[name]) }
func (g *generator) isLiteral(name string) bool { return g.example[name].IsLiteral() }

// fresh returns a new variable with the given example value. If bound is true, later parts may use the variable.
func (g *generator) fresh(value rdf.Term, bound bool) string {
	name := "?" + string(rune('a'+g.next%26))
	if g.next >= 26 {
		name += fmt.Sprint(g.next / 26)
	}
	g.next++
	g.example[name] = value
	if bound {
		g.vars = append(g.vars, name)
	}
	return name
}

// written returns a term in the syntax that users of the dialect write.
func written(t rdf.Term) string {
	if t.IsIRI() {
		return rdf.Shorten(t.Value)
	}
	switch t.Datatype {
	case rdf.XSDInteger:
		return t.Value
	case rdf.XSDDecimal:
		return rdf.Quote(t.Value) + "^^xsd:decimal"
	case rdf.XSDDateTime:
		return rdf.Quote(t.Value) + "^^xsd:dateTime"
	}
	return t.String()
}

// iri returns a known variable whose example is a resource.
func (g *generator) iri() string {
	for range 20 {
		if v := g.known(); !g.isLiteral(v) {
			return v
		}
	}
	return g.vars[0]
}

// start returns the first pattern, which matches so few subjects that more patterns can be added.
func (g *generator) start() string {
	for {
		t := g.v.all[g.r.IntN(len(g.v.all))]
		if strings.HasPrefix(t[1].Value, rdf.Direct) && t[2].IsIRI() {
			s := g.fresh(t[0], true)
			if g.chance(4) {
				return s + " " + written(t[1]) + " " + g.fresh(t[2], true) + " . "
			}
			return s + " " + g.pick("wdt:P31/wdt:P279*", written(t[1]), written(t[1]), written(t[1])) + " " + written(t[2]) +
				" . "
		}
	}
}

// step returns a pattern that starts at a known resource. If bound is true, its new variables are always bound.
func (g *generator) step(bound bool) string {
	s := g.iri()
	ts := g.v.bySubject[g.example[s]]
	if back := g.v.byObject[g.example[s]]; len(ts) == 0 || len(back) > 0 && g.chance(6) {
		if len(back) == 0 {
			return ""
		}
		t := back[g.r.IntN(len(back))]
		x := g.fresh(t[0], bound)
		if g.chance(2) {
			return s + " ^" + written(t[1]) + " " + x + " . "
		}
		return x + " " + written(t[1]) + " " + s + " . "
	}
	t := ts[g.r.IntN(len(ts))]
	if next := g.v.bySubject[t[2]]; len(next) > 0 && g.chance(3) {
		u := next[g.r.IntN(len(next))]
		return s + " " + written(t[1]) + "/" + written(u[1]) + " " + g.fresh(u[2], bound) + " . "
	}
	switch g.r.IntN(9) {
	case 0:
		return s + " " + written(t[1]) + " " + written(t[2]) + " . "
	case 1:
		if t[2].IsIRI() {
			return s + " " + written(t[1]) + g.pick("*", "+", "?") + " " + g.fresh(t[2], bound) + " . "
		}
	case 2:
		u := ts[g.r.IntN(len(ts))]
		if u[1] == t[1] {
			break // using the same variable twice is a separate trap
		}
		return s + " (" + written(t[1]) + "|" + written(u[1]) + ") " + g.fresh(t[2], bound) + " . "
	case 3:
		if u := ts[g.r.IntN(len(ts))]; u[1] != t[1] {
			return s + " " + written(t[1]) + " " + g.fresh(t[2], bound) + " ; " + written(u[1]) + " " + g.fresh(u[2], bound) +
				" . "
		}
	}
	return s + " " + written(t[1]) + " " + g.fresh(t[2], bound) + " . "
}

// condition returns a condition on the known variables.
func (g *generator) condition(depth int) string {
	if depth > 0 && g.chance(3) {
		return "(" + g.condition(depth-1) + g.pick(" && ", " || ") + g.condition(depth-1) + ")"
	}
	if depth > 0 && g.chance(8) {
		return "!(" + g.condition(depth-1) + ")"
	}
	v := g.known()
	x, val := g.example[v], g.value(v)
	switch {
	case x.IsIRI():
		return g.pick(v+" != "+val, v+" = "+val, v+" IN ("+val+", wd:Q1)", "STRENDS(STR("+v+"), \"1\")", "ISIRI("+v+")",
			"CONTAINS(STR("+v+"), \"Q"+fmt.Sprint(g.r.IntN(10))+"\")")
	case x.Lang != "":
		return g.pick("LANG("+v+") = \""+x.Lang+"\"", "LANGMATCHES(LANG("+v+"), \"en\")", "STRLEN("+v+") > "+
			fmt.Sprint(g.r.IntN(20)), "REGEX("+v+", \"^[A-M]\")", "REGEX("+v+", \"AN\", \"i\")",
			"CONTAINS(LCASE("+v+"), \"er\")", "STRSTARTS("+v+", "+rdf.Quote(string([]rune(x.Value)[:1]))+")", v+" = "+val,
			"STR("+v+") < \"M\"")
	case x.Datatype == rdf.XSDDateTime:
		year := strings.TrimLeft(strings.SplitN(strings.TrimPrefix(x.Value, "-"), "-", 2)[0], "0")
		return g.pick("YEAR("+v+") "+g.pick("<", ">=", "=")+" "+year, v+" "+g.pick("<", ">=", "!=")+" "+val, "MONTH("+v+
			") > 6", "DAY("+v+") = 1")
	case x.Datatype == rdf.XSDDecimal || x.Datatype == rdf.XSDInteger:
		return g.pick(v+" "+g.pick("<", "<=", ">", ">=", "=", "!=")+" "+val, v+" * 2 > "+val, "ABS("+v+") < 1000", "ROUND("+v+
			" / 7) > 3")
	}
	return g.pick("BOUND("+v+")", "STR("+v+") != \"x\"", "ISLITERAL("+v+")", "STRLEN(STR("+v+")) < 40")
}

// computed returns an expression on whose value all engines should agree.
func (g *generator) computed() string {
	v := g.known()
	x := g.example[v]
	switch {
	case x.IsIRI():
		return g.pick("STR("+v+")", "STRAFTER(STR("+v+"), \"entity/\")", "IF("+v+" = "+g.value(v)+", 1, 2)", "COALESCE("+v+
			", wd:Q1)")
	case x.Lang != "":
		return g.pick("UCASE("+v+")", "STRLEN("+v+")", "SUBSTR("+v+", 2, 3)", "CONCAT(STR("+v+"), \"!\")", "STRBEFORE("+v+
			", \"a\")", "LANG("+v+")", "REPLACE("+v+", \"[aeiou]\", \"_\")", "ENCODE_FOR_URI("+v+")")
	case x.Datatype == rdf.XSDDateTime:
		return g.pick("YEAR("+v+")", "MONTH("+v+") + 1", "IF(YEAR("+v+") > 1950, \"late\", \"early\")")
	case x.Datatype == rdf.XSDDecimal || x.Datatype == rdf.XSDInteger:
		return g.pick(v+" + 1", v+" * 2", v+" / 4", "-"+v, "ABS(0 - "+v+")", "FLOOR("+v+" / 1000)", "xsd:integer("+v+")",
			"STR("+v+")")
	}
	return "STR(" + v + ")"
}

// element returns another part of the pattern.
func (g *generator) element() string {
	switch g.r.IntN(13) {
	case 0, 1:
		o := g.step(false)
		if o == "" {
			return ""
		}
		if g.chance(3) {
			o += "FILTER(" + g.condition(0) + ") "
		}
		return "OPTIONAL { " + o + "} "
	case 2:
		return g.pick("MINUS", "FILTER NOT EXISTS", "FILTER EXISTS") + " { " + g.constant() + "} "
	case 3, 4:
		return "FILTER(" + g.condition(2) + ") "
	case 5:
		e := g.computed()
		return "BIND(" + e + " AS " + g.fresh(rdf.String("x"), false) + ") "
	case 6:
		v := g.known()
		var vals []string
		for range 1 + g.r.IntN(4) {
			vals = append(vals, written(g.v.all[g.r.IntN(len(g.v.all))][2*g.r.IntN(2)]))
		}
		vals = append(vals, g.value(v))
		slices.Sort(vals)
		return "VALUES " + v + " { " + strings.Join(slices.Compact(vals), " ") + " } "
	case 7:
		a, b := g.constant(), g.constant()
		return "{ " + a + "} UNION { " + b + "} "
	case 8:
		s := g.iri()
		ts := g.v.bySubject[g.example[s]]
		if len(ts) == 0 {
			return ""
		}
		p := written(ts[g.r.IntN(len(ts))][1])
		n := g.fresh(rdf.Typed("2", rdf.XSDInteger), true)
		inner := "SELECT " + s + " (COUNT(" + g.pick("*", "?zz", "DISTINCT ?zz") + ") AS " + n + ") WHERE { " + s + " " + p +
			" ?zz . } GROUP BY " + s
		if g.named == "" && g.chance(2) {
			g.named = "WITH { " + inner + " } AS %counts "
			return "INCLUDE %counts "
		}
		return "{ " + inner + " } "
	case 9:
		return "hint:Query hint:optimizer \"None\" . "
	}
	return g.step(true)
}

// constant returns a pattern that tests a known resource.
func (g *generator) constant() string {
	s := g.iri()
	ts := g.v.bySubject[g.example[s]]
	if len(ts) == 0 {
		return "?zy wdt:P31 " + s + " . "
	}
	t := ts[g.r.IntN(len(ts))]
	if g.chance(2) {
		return s + " " + written(t[1]) + " ?zx . "
	}
	return s + " " + written(t[1]) + " " + written(t[2]) + " . "
}

func (g *generator) query() string {
	where := g.start()
	for range 1 + g.r.IntN(5) {
		where += g.element()
	}
	if g.named == "" && g.chance(9) {
		return "ASK { " + where + "}"
	}
	columns := slices.Clone(g.vars)
	if g.chance(4) {
		return g.grouped(where, columns)
	}
	if g.chance(3) {
		where += `SERVICE wikibase:label { bd:serviceParam wikibase:language "` + g.pick("en", "de,en", "fr,mul,en",
			"[AUTO_LANGUAGE],en") + `". } `
		for _, v := range g.vars {
			if !g.isLiteral(v) && !strings.Contains(g.example[v].Value, "statement") && !g.chance(3) {
				columns = append(columns, v+g.pick("Label", "Label", "Description"))
			}
		}
	}
	q := "SELECT " + g.pick("", "DISTINCT ") + strings.Join(columns, " ") + " " + g.named + "WHERE { " + where + "}"
	if g.chance(6) {
		q = "SELECT * " + g.named + "WHERE { " + where + "}"
	}
	if g.chance(3) {
		q += " ORDER BY " + g.pick(g.vars[0], "DESC("+g.vars[0]+")", g.vars[len(g.vars)-1])
		if g.chance(2) {
			q += fmt.Sprintf(" LIMIT %d", 1+g.r.IntN(12))
		}
	}
	return q
}

// grouped returns a query with aggregates.
func (g *generator) grouped(where string, columns []string) string {
	key, over := columns[0], columns[len(columns)-1]
	aggregate := "COUNT(" + g.pick("*", over, "DISTINCT "+over) + ")"
	if x := g.example[over]; x.Datatype == rdf.XSDDecimal || x.Datatype == rdf.XSDInteger {
		aggregate = g.pick("SUM", "MIN", "MAX", "AVG") + "(" + over + ")"
	} else if x.Datatype == rdf.XSDDateTime {
		aggregate = g.pick("MIN", "MAX") + "(" + over + ")"
	} else if g.chance(4) {
		aggregate = "GROUP_CONCAT(DISTINCT STR(" + over + "); SEPARATOR=\", \")"
	}
	if g.chance(4) {
		return "SELECT (" + aggregate + " AS ?agg) " + g.named + "WHERE { " + where + "}"
	}
	q := "SELECT " + key + " (" + aggregate + " AS ?agg) " + g.named + "WHERE { " + where + "} GROUP BY " + key
	if g.chance(3) {
		q += " HAVING (COUNT(*) > 1)"
	}
	if g.chance(3) {
		q += " ORDER BY DESC(?agg) " + key
	}
	return q
}
