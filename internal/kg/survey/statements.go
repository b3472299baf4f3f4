// Package survey reads a graph's data about a resource for users who explore it: all statements of a property with all
// their details, the classes of a resource, and statistics about a property's statements. It needs only a function that
// runs queries and the graph's description.
package survey

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// MaxStatements is the maximum number of statements examined per property.
const MaxStatements = 2000

// statementRows is the maximum number of rows returned by the query for statements.
const statementRows = 20_000

// Statement is a statement with all the data that the graph has about it. On a graph without statement nodes, it
// consists of a value. If the value is an unnamed node, its properties are the Qualifiers.
type Statement struct {
	Rank       kg.Rank // "" if the graph has no ranks
	Values     []rdf.Term
	None       bool // the statement states that there is no value
	Qualifiers []Part
	References [][]Part
}

// Part is a property and its value. On a Wikibase, Property is the IRI of the property entity.
type Part struct {
	Property string
	Value    rdf.Term
}

// Statements returns at most [MaxStatements] of a subject's statements for a property, best rank first. property is the
// IRI of the property entity on a Wikibase, and of the property itself elsewhere. Errors come from query.
func Statements(ctx context.Context, d *kg.Description, query shape.Query, subject,
	property string) ([]Statement, error) {
	if d.IsWikibase() {
		return wikibaseStatements(ctx, query, subject, rdf.EntityID(property))
	}
	return plainStatements(ctx, query, subject, property)
}

// wikibaseStatements reads a property's statements with all their details, best rank first.
func wikibaseStatements(ctx context.Context, query shape.Query, subject, id string) ([]Statement, error) {
	t, err := query(ctx, fmt.Sprintf(`SELECT ?st ?p ?o ?ref ?rp ?ro WHERE {
		{ SELECT ?st WHERE { <%s> <%s> ?st } ORDER BY ?st LIMIT %d }
		{ ?st ?p ?o } UNION { ?st <http://www.w3.org/ns/prov#wasDerivedFrom> ?ref . ?ref ?rp ?ro } } LIMIT %d`,
		subject, rdf.Prop+id, MaxStatements, statementRows))
	if err != nil {
		return nil, err
	}
	by, refs := map[string]*Statement{}, map[string]map[string][]Part{}
	var order []string
	for i := range t.Rows {
		node := cell(t, i, "st").Value
		s := by[node]
		if s == nil {
			s = &Statement{}
			by[node], refs[node] = s, map[string][]Part{}
			order = append(order, node)
		}
		if ref := cell(t, i, "ref"); ref.Bound() {
			if p, ok := inNamespace(cell(t, i, "rp").Value, "pr"); ok {
				refs[node][ref.Value] = append(refs[node][ref.Value], Part{p, cell(t, i, "ro")})
			}
			continue
		}
		s.take(cell(t, i, "p").Value, cell(t, i, "o"), id)
	}
	ranks := []kg.Rank{kg.Preferred, kg.Normal, "", kg.Deprecated}
	slices.SortFunc(order, func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(ranks, by[a].Rank), slices.Index(ranks, by[b].Rank)), cmp.Compare(a, b))
	})
	out := make([]Statement, len(order))
	for i, node := range order {
		s := by[node]
		byTerm := func(a, b Part) int {
			return cmp.Or(cmp.Compare(a.Property, b.Property), cmp.Compare(a.Value.String(), b.Value.String()))
		}
		slices.SortFunc(s.Qualifiers, byTerm)
		for _, ref := range slices.Sorted(maps.Keys(refs[node])) {
			parts := refs[node][ref]
			slices.SortFunc(parts, byTerm)
			s.References = append(s.References, parts)
		}
		out[i] = *s
	}
	return out, nil
}

// take adds a triple from a statement node.
func (s *Statement) take(predicate string, o rdf.Term, id string) {
	switch {
	case predicate == rdf.Prop+"statement/"+id:
		s.Values = append(s.Values, o)
	case predicate == rdf.Wikibase+"rank":
		rank, _ := strings.CutPrefix(o.Value, rdf.Wikibase)
		s.Rank = kg.Rank(strings.ToLower(strings.TrimSuffix(rank, "Rank")))
	case predicate == rdf.RDFType && o.Value == rdf.Prefixes["wdno"]+id:
		s.None = true
	default:
		if p, ok := inNamespace(predicate, "pq"); ok {
			s.Qualifiers = append(s.Qualifiers, Part{p, o})
		}
	}
}

// inNamespace returns the property entity for a Wikidata predicate, such as wd:P580 for pq:P580. ok is false if the
// predicate does not have the given prefix.
func inNamespace(iri, prefix string) (entity string, ok bool) {
	id := rdf.EntityID(iri)
	return rdf.Entity + id, id != "" && iri == rdf.Prefixes[prefix]+id
}

// plainStatements reads values, and the properties of values that are unnamed nodes.
func plainStatements(ctx context.Context, query shape.Query, subject, property string) ([]Statement, error) {
	t, err := query(ctx, fmt.Sprintf(`SELECT ?o ?p ?v WHERE { <%s> <%s> ?o . OPTIONAL { ?o ?p ?v . FILTER(isBlank(?o)) } }
		ORDER BY ?o ?p ?v LIMIT %d`, subject, property, statementRows))
	if err != nil {
		return nil, err
	}
	var out []Statement
	for i := range t.Rows {
		o := cell(t, i, "o")
		if n := len(out); n == 0 || out[n-1].Values[0] != o {
			if n == MaxStatements {
				break
			}
			out = append(out, Statement{Values: []rdf.Term{o}})
		}
		if p := cell(t, i, "p"); p.IsIRI() {
			last := &out[len(out)-1]
			last.Qualifiers = append(last.Qualifiers, Part{p.Value, cell(t, i, "v")})
		}
	}
	return out, nil
}

// cell returns a value in a table, or the zero Term if there is none.
func cell(t *kg.Table, row int, column string) rdf.Term {
	for j, v := range t.Vars {
		if v == column && row < len(t.Rows) && j < len(t.Rows[row]) {
			return t.Rows[row][j]
		}
	}
	return rdf.Term{}
}

// count parses a count. It returns 0 if the term is not a count.
func count(t *kg.Table, row int, column string) int64 {
	n, _ := strconv.ParseFloat(cell(t, row, column).Value, 64)
	return int64(n)
}
