package kbqa

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Edge is a pattern around ?e: a predicate, or two predicates with a blank node between them, and one of the nodes at
// the other end.
type Edge struct {
	In          bool   // the edge leads to ?e
	First, Then string // IRIs of the predicates; Then is "" for a direct edge
	Node        rdf.Term
	Value       Value
}

var (
	selectE  = regexp.MustCompile(`(?is)\bSELECT\s+(?:DISTINCT\s+|REDUCED\s+)?[?$]e\s+(?:WHERE\s*)?\{`)
	nothing  = regexp.MustCompile(`(?is)\bSELECT\s+(?:DISTINCT\s+)?[?$]e\s+WHERE\s*\{\s*\}\s*$`)
	soleNode = regexp.MustCompile(`^(?:<[^<>\s]+>|[A-Za-z][\w-]*:[^\s{}<>"]+|[QPL][0-9]+)$`)
)

// Around returns a query for ?e in a form that can be run. everywhere is true if the query's pattern is empty or
// missing; ok is false if query is not a query for ?e.
func (n Naming) Around(query string) (q string, everywhere, ok bool) {
	query = strings.TrimSpace(query)
	if query == "" || nothing.MatchString(query) {
		return "", true, true
	}
	if n.Dialect == ByIRI && soleNode.MatchString(query) { // the model wrote a node instead of a pattern
		if iri, ok := n.Expand(query); ok {
			query = "SELECT ?e WHERE { VALUES ?e { <" + iri + "> } }"
		}
	}
	if !selectE.MatchString(query) {
		return "", false, false
	}
	return n.Completed(query), false, true
}

// Earlier reports whether name a is preferred over name b.
func (n Naming) Earlier(a, b rdf.Term) bool {
	if !b.Bound() {
		return true
	}
	return slices.Index(n.Langs, a.Lang) < slices.Index(n.Langs, b.Lang)
}

// Neighbors returns the query for the patterns in one direction, each with one or two predicates and a node. limit is
// the maximum number of triples examined, or 0 for all.
func (n Naming) Neighbors(q *sparql.Query, in bool, limit int) string {
	prologue, e := Selects(q)
	step := func(from, p, to string) string {
		if in {
			from, to = to, from
		}
		return from + " " + p + " " + to + " ."
	}
	direct, two := step("?e", "?p__", "?x__"), ""
	switch {
	case n.Wikibase:
		direct += " FILTER(STRSTARTS(STR(?p__), " + rdf.Quote(rdf.Direct+"P") + "))"
		// Statement nodes are between an item and its values and qualifiers, so both predicates point away from the item.
		two = "?e ?p__ ?c__ . ?c__ ?q__ ?x__ ."
		if in {
			two = "?c__ ?q__ ?e . ?x__ ?p__ ?c__ ."
		}
		two += " FILTER(STRSTARTS(STR(?p__), " + rdf.Quote(rdf.Prop+"P") + ")) FILTER(STRSTARTS(STR(?q__), " +
			rdf.Quote(rdf.Prefixes["pq"]+"P") + "))"
	case n.Compound:
		two = "?e ?p__ ?c__ . ?c__ ?q__ ?x__ ."
		if in {
			two = "?c__ ?q__ ?e . ?x__ ?p__ ?c__ ."
		}
		two += " FILTER(!isLiteral(?c__)) FILTER NOT EXISTS { ?c__ " + n.Label + " ?name__ }"
	}
	var branches []string
	for _, b := range []string{direct, two} {
		if b == "" {
			continue
		}
		b = "{ " + e + " } " + b + " FILTER(?x__ != ?e)"
		if limit > 0 {
			b = fmt.Sprintf("{ SELECT ?p__ ?q__ ?x__ WHERE { %s } LIMIT %d }", b, limit)
		}
		branches = append(branches, "{ "+b+" }")
	}
	patterns, vars := n.Details("t__")
	return fmt.Sprintf("%s\nSELECT ?p__ ?q__ ?t__%s WHERE {\n  { SELECT ?p__ ?q__ (SAMPLE(?x__) AS ?t__) WHERE {\n%s\n  } GROUP BY ?p__ ?q__ }\n%s}",
		prologue, vars, strings.Join(branches, "\nUNION\n"), patterns)
}

// Predicate returns the node for a predicate in the graph's index. On a Wikibase, this is the property's entity.
func (n Naming) Predicate(iri string) rdf.Term {
	if id := rdf.EntityID(iri); n.Wikibase && id != "" {
		return rdf.IRI(rdf.Entity + id)
	}
	return rdf.IRI(iri)
}

// Line formats an edge for the model: as triple patterns for KQA Pro's graph, and as a triple for other graphs. names
// contains the names of the nodes and of a Wikibase's predicates.
func (n Naming) Line(x Edge, names map[rdf.Term]Value) string {
	if n.Dialect == KQAPro {
		return Python(kqaLine(x), 400)
	}
	predicate := n.Compact(x.First)
	label := names[n.Predicate(x.First)].Name.Value
	if x.Then != "" {
		predicate += " -> " + n.Compact(x.Then)
		label += " -> " + names[n.Predicate(x.Then)].Name.Value
	}
	if n.Wikibase && strings.Trim(label, " ->") != "" {
		predicate += " [" + render.Fold(label) + "]"
	}
	end := ""
	switch {
	case x.Node.IsLiteral():
		end = Literal(x.Node, 100)
	case n.Dialect != ByIRI:
		end = fmt.Sprintf("%q", render.Clip(render.Fold(x.Value.Name.Value), 100))
	default:
		name := x.Value.Name.Value
		if n.Wikibase {
			name = names[x.Node].Name.Value
		}
		end = n.Cell(x.Node, Value{Name: rdf.String(name)})
	}
	if x.In {
		return "(" + end + ", " + predicate + ", ?e)"
	}
	return "(?e, " + predicate + ", " + end + ")"
}

// unknownValue is the IRI prefix of Wikidata's unknown values.
const unknownValue = "http://www.wikidata.org/.well-known/genid/"

// kqaLine formats an edge as triple patterns.
func kqaLine(x Edge) string {
	p := "<" + x.First + ">"
	switch {
	case x.In:
		return fmt.Sprintf("?h %s ?e . ?h <pred:name> %s .", p, Literal(x.Value.Name, 100))
	case x.Value.Name.Bound():
		return fmt.Sprintf("?e %s ?t . ?t <pred:name> %s .", p, Literal(x.Value.Name, 100))
	case x.Value.Known():
		return fmt.Sprintf("?e %s ?pv .%s", p, x.Value.pattern("?pv"))
	}
	return fmt.Sprintf("?e %s %s .", p, Literal(x.Node, 100))
}

// Cell formats a node or literal in a result. A node is shown by name and, in a graph that uses IRIs, with its IRI.
func (n Naming) Cell(t rdf.Term, v Value) string {
	switch {
	case v.Known() && n.Dialect == KQAPro:
		return v.Short()
	case t.IsLiteral() && n.Dialect == ByIRI:
		return plainCell(t)
	case t.IsLiteral() && (t.Datatype == "" || t.Datatype == rdf.XSDInteger):
		return t.Value
	case t.IsLiteral():
		return Literal(t, 200)
	case t.Kind == rdf.BlankKind || strings.HasPrefix(t.Value, unknownValue):
		return "a node without a name"
	case n.Dialect != ByIRI && v.Name.Bound():
		return v.Name.Value
	case v.Name.Bound() && v.Name.Value != "":
		return render.Fold(v.Name.Value) + " (" + n.Compact(t.Value) + ")"
	}
	return n.Compact(t.Value)
}

// plainCell formats a literal. It omits the types of numbers, strings and days, because a result can be long and the
// patterns show the types that a query needs. It includes the types of other literals.
func plainCell(t rdf.Term) string {
	switch t.Datatype {
	case "", rdf.XSDInteger, rdf.XSDDecimal, rdf.XSDDouble:
		return t.Value
	case rdf.XSDDateTime:
		return strings.TrimSuffix(t.Value, "T00:00:00Z")
	}
	return Literal(t, 200)
}
