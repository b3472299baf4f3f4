package tool

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/text"
)

// statement contains the data that a Wikibase has about a value in addition to the triple. For a statement node, this
// is its value, qualifiers, rank and number of references; for a reference node, it is the node's values.
type statement struct {
	value      rdf.Term // value of a statement node
	pairs      []pair   // qualifiers, or the values of a reference
	rank       string   // "" for normal
	references int
}

type pair struct{ property, value rdf.Term }

const (
	maxPairs      = 4    // qualifiers shown for a statement
	maxStatements = 1000 // maximum number of rows in the query for a page
)

// The namespaces in rdf.Prefixes that statements use.
var (
	statementNode  = rdf.Prefixes["wds"]
	referenceNode  = rdf.Prefixes["wdref"]
	statementValue = rdf.Prefixes["ps"]
	qualifier      = rdf.Prefixes["pq"]
	reference      = rdf.Prefixes["pr"]
	derivedFrom    = rdf.Prefixes["prov"] + "wasDerivedFrom"
)

// statements looks up a Wikibase's data about the values of triples and, if subjects is set, about subjects that are
// statements. It returns the data, keyed by the row's index, and all terms in the data. If the graph does not respond,
// statements returns nothing, because a list is useful even without the data.
func (env *Env) statements(ctx context.Context, rows [][3]rdf.Term, subjects bool) (map[int]*statement, []rdf.Term,
	error) {
	query := statementQuery(rows, subjects)
	if query == "" || !env.Source.Explain.IsWikibase() {
		return nil, nil, nil
	}
	t, err := env.Graph.Query(ctx, query)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case event.IsWriteError(err):
		return nil, nil, err
	case err != nil:
		return nil, nil, nil
	}
	out := map[int]*statement{}
	nodes := map[int]rdf.Term{} // the first statement for each row; a triple may have several
	var terms []rdf.Term
	for _, r := range t.Rows {
		if len(r) < 4 {
			continue
		}
		n, err := strconv.Atoi(r[0].Value)
		if err != nil || nodes[n].Bound() && nodes[n] != r[1] {
			continue
		}
		if out[n] == nil {
			out[n], nodes[n] = &statement{}, r[1]
		}
		if out[n].learn(r[2], r[3], rows[n][2] == r[1]) {
			terms = append(terms, r[2], r[3])
		}
	}
	return out, terms, nil
}

// statementQuery returns a query for everything about the statement and reference nodes among the values of rows, and
// about the statements from which values of wdt: properties come. It returns "" if there are none.
func statementQuery(rows [][3]rdf.Term, subjects bool) string {
	var nodes, direct []string
	for i, r := range rows {
		id := rdf.EntityID(r[1].Value)
		switch {
		case subjects && strings.HasPrefix(r[0].Value, statementNode):
			nodes = append(nodes, fmt.Sprintf("(%d %s)", i, r[0]))
		case r[2].IsIRI() && (strings.HasPrefix(r[2].Value, statementNode) || strings.HasPrefix(r[2].Value, referenceNode)):
			nodes = append(nodes, fmt.Sprintf("(%d %s)", i, r[2]))
		case r[1].Value == rdf.Direct+id && r[2].Kind != rdf.BlankKind:
			direct = append(direct, fmt.Sprintf("(%d %s <%s> <%s> %s)", i, r[0], rdf.Prop+id, statementValue+id, r[2]))
		}
	}
	var parts []string
	if len(nodes) > 0 {
		parts = append(parts, "{ VALUES (?n ?node) { "+strings.Join(nodes, " ")+" } ?node ?property ?value }")
	}
	if len(direct) > 0 {
		parts = append(parts, "{ VALUES (?n ?subject ?claim ?is ?object) { "+strings.Join(direct, " ")+
			" } ?subject ?claim ?node . ?node ?is ?object ; ?property ?value }")
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("SELECT ?n ?node ?property ?value WHERE { %s }\nLIMIT %d", strings.Join(parts, " UNION "),
		maxStatements)
}

// learn adds a triple whose subject is the node, and reports whether the triple's terms are shown. own means that the
// list shows the node itself as a value.
func (s *statement) learn(property, value rdf.Term, own bool) bool {
	p := property.Value
	switch id := rdf.EntityID(p); {
	case p == statementValue+id && own:
		s.value = value
		return true
	case p == qualifier+id, p == reference+id:
		x := pair{property, value}
		if slices.Contains(s.pairs, x) {
			return false
		}
		s.pairs = append(s.pairs, x)
		return len(s.pairs) <= maxPairs
	case p == derivedFrom:
		s.references++
	case p == rdf.Wikibase+"rank" && value.Value != rdf.Wikibase+"NormalRank":
		s.rank = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(value.Value, rdf.Wikibase), "Rank"))
	}
	return false
}

// text formats a statement after its value: " = 385 [point in time (pq:P585): 1990; preferred; 2 references]".
// Qualifiers in said were named earlier and are written without a label.
func (s *statement) text(n render.Names, said map[rdf.Term]bool) string {
	if s == nil {
		return ""
	}
	var in []string
	for _, x := range s.pairs[:min(len(s.pairs), maxPairs)] {
		name := n.Short(x.property.Value)
		if !said[x.property] {
			name = n.Term(x.property)
		}
		said[x.property] = true
		in = append(in, name+": "+n.Plain(x.value))
	}
	if more := len(s.pairs) - maxPairs; more > 0 {
		in = append(in, fmt.Sprintf("%d more", more))
	}
	if s.rank != "" {
		in = append(in, s.rank)
	}
	if s.references > 0 {
		in = append(in, text.Count(s.references, "reference"))
	}
	out := ""
	if s.value.Bound() {
		out = " = " + n.Plain(s.value)
	}
	if len(in) > 0 {
		out += " [" + strings.Join(in, "; ") + "]"
	}
	return out
}

// owner returns the entity to which a statement node belongs, or the zero term for any other node.
func owner(node rdf.Term) rdf.Term {
	name, ok := strings.CutPrefix(node.Value, statementNode)
	id, _, _ := strings.Cut(name, "-")
	if id = strings.ToUpper(id); !ok || !rdf.ValidID(id) {
		return rdf.Term{}
	}
	return rdf.IRI(rdf.Entity + id)
}
