// Package measure describes how complex a query is: by the counts in SPINACH's Table 1 (computed from the query's tree
// or by the rules of the paper's notebook), by the SPARQL features it uses, and by its shape.
package measure

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Metrics contains the complexity metrics from SPINACH's Table 1. [Query] follows the paper's definitions (section 3.3)
// and counts each node of the query's tree once, regardless of layout. [Notebook] counts in the same way as the paper's
// published program.
type Metrics struct {
	Clauses     int `json:"clauses"`     // projections, triples, FILTER, OPTIONAL, VALUES, modifiers and the like
	Projections int `json:"projections"` // columns of the final SELECT, without labels and descriptions
	Relations   int `json:"relations"`   // triples
	Subjects    int `json:"subjects"`    // distinct subjects
	Predicates  int `json:"predicates"`  // distinct variables and IRIs in predicates, including each IRI in a path
	Objects     int `json:"objects"`     // distinct objects of triples and members of VALUES
	Literals    int `json:"literals"`    // distinct strings, numbers and booleans
}

// Query returns the metrics of a query's tree. Service settings (bd:serviceParam), the body of the label service and
// optimizer hints do not count as triples; the service itself is a clause.
func Query(q *sparql.Query) Metrics {
	m := measurer{subjects: map[string]bool{}, predicates: map[string]bool{}, objects: map[string]bool{},
		literals: map[string]bool{}}
	if q.Form == sparql.Update {
		return Metrics{}
	}
	sparql.Inspect(q, m.node)
	return Metrics{Clauses: m.clauses, Projections: projections(q), Relations: m.relations, Subjects: len(m.subjects),
		Predicates: len(m.predicates),
		Objects:    len(m.objects), Literals: len(m.literals)}
}

// projections counts the columns of a SELECT, except those that only show labels.
func projections(q *sparql.Query) int {
	n := 0
	if q.Form != sparql.Select {
		return 0
	}
	for _, c := range q.Body.Columns() {
		if !strings.HasSuffix(c, "Label") && !strings.HasSuffix(c, "Description") {
			n++
		}
	}
	return n
}

type measurer struct {
	clauses, relations                      int
	subjects, predicates, objects, literals map[string]bool
}

func (m *measurer) node(n sparql.Node) bool {
	switch x := n.(type) {
	case *sparql.SelectQuery, *sparql.GroupBy, *sparql.Having, *sparql.OrderBy, *sparql.Filter, *sparql.Optional,
		*sparql.Minus, *sparql.GraphPattern, *sparql.Include:
		m.clauses++
	case *sparql.Count:
		m.clauses++
	case *sparql.Bind:
		m.clauses++
	case *sparql.Union:
		m.clauses += len(x.Branches) - 1
	case *sparql.Values:
		m.clauses++
		for _, r := range x.Rows {
			for _, c := range r.Cells {
				if c.Kind == sparql.Const {
					m.objects[key(c)] = true
				}
			}
		}
	case *sparql.Service:
		m.clauses++
		if x.Kind() == sparql.LabelService {
			return false
		}
	case *sparql.Hint:
		return false
	case *sparql.Triples:
		m.triples(x)
	case *sparql.Term:
		if x.Kind == sparql.Const && x.IsLiteral() {
			m.literals[key(x)] = true
		}
	}
	return true
}

func (m *measurer) triples(t *sparql.Triples) {
	if t.Subject.Is(sparql.ServiceParam) {
		return
	}
	for _, f := range t.Triples() {
		m.clauses++
		m.relations++
		m.subjects[key(f.Subject)] = true
		m.objects[key(f.Object)] = true
		m.path(f.Path)
	}
}

func (m *measurer) path(p *sparql.Path) {
	if p.Kind == sparql.PathTerm {
		m.predicates[key(p.Term)] = true
	}
	for _, a := range p.Args {
		m.path(a)
	}
}

// key returns a string that identifies a term.
func key(t *sparql.Term) string {
	switch t.Kind {
	case sparql.Var:
		return "?" + t.Name
	case sparql.Const:
		return t.Value().String()
	}
	return "_:" + t.Name
}

// Features returns the names of the features that the query uses, in the following order: ask, construct, describe,
// update, distinct, label-service, optional, filter, exists, group-by, having, aggregate, order-by, limit, statement
// (p:, ps:, pq:), value-node (psv:, pqv: and the like), path (any property path), closure (a path with * or +),
// sub-select, named-subquery, values, bind, union, minus, graph, hint, mwapi, around, box, gas, slice, sample,
// federation, lexeme.
func Features(q *sparql.Query) []string {
	have := map[string]bool{}
	if q.Form != sparql.Select {
		have[q.Form.String()] = true
	}
	have["named-subquery"] = len(q.Named) > 0
	top := q.Body
	sparql.Inspect(q, func(n sparql.Node) bool {
		feature(n, top, have)
		return true
	})
	out := []string{}
	for _, f := range featureNames {
		if have[f] {
			out = append(out, f)
		}
	}
	return out
}

var featureNames = [...]string{"ask", "construct", "describe", "update", "distinct", "label-service", "optional",
	"filter", "exists", "group-by", "having",
	"aggregate", "order-by", "limit", "statement", "value-node", "path", "closure", "sub-select", "named-subquery",
	"values", "bind", "union", "minus", "graph",
	"hint", "mwapi", "around", "box", "gas", "slice", "sample", "federation", "lexeme"}

func feature(n sparql.Node, top *sparql.SelectQuery, have map[string]bool) {
	switch x := n.(type) {
	case *sparql.SelectQuery:
		have["distinct"] = have["distinct"] || x.Distinct
		have["limit"] = have["limit"] || x.Limit != nil
	case *sparql.SubSelect:
		have["sub-select"] = true
	case *sparql.Optional:
		have["optional"] = true
	case *sparql.Filter:
		have["filter"] = true
	case *sparql.GroupBy:
		have["group-by"] = true
	case *sparql.Having:
		have["having"] = true
	case *sparql.OrderBy:
		have["order-by"] = true
	case *sparql.Values:
		have["values"] = true
	case *sparql.Bind:
		have["bind"] = true
	case *sparql.Union:
		have["union"] = true
	case *sparql.Minus:
		have["minus"] = true
	case *sparql.GraphPattern:
		have["graph"] = true
	case *sparql.Hint:
		have["hint"] = true
	case *sparql.Service:
		have[serviceFeature[x.Kind()]] = true
	case *sparql.Expr:
		have["exists"] = have["exists"] || x.Kind == sparql.ExprExists
		have["aggregate"] = have["aggregate"] || x.Kind == sparql.ExprAggregate
	case *sparql.Path:
		have["path"] = have["path"] || x.Kind != sparql.PathTerm
		have["closure"] = have["closure"] || x.Kind == sparql.PathStar || x.Kind == sparql.PathPlus
	case *sparql.Term:
		termFeature(x, have)
	}
}

var serviceFeature = [...]string{sparql.Federation: "federation", sparql.LabelService: "label-service",
	sparql.AroundService: "around", sparql.BoxService: "box", sparql.MWAPIService: "mwapi",
	sparql.GASService: "gas", sparql.SliceService: "slice", sparql.SampleService: "sample",
	sparql.VariableTarget: "federation"}

func termFeature(t *sparql.Term, have map[string]bool) {
	if t.Kind != sparql.Const || !t.IsIRI() {
		return
	}
	iri := t.Value().Value
	switch {
	case strings.HasPrefix(iri, "http://www.w3.org/ns/lemon/ontolex#"), iri == rdf.Wikibase+"lemma",
		strings.HasPrefix(rdf.EntityID(iri), "L"):
		have["lexeme"] = true
	case strings.HasPrefix(iri, rdf.Prop):
		rest := iri[len(rdf.Prop):]
		switch {
		case strings.Contains(rest, "value"):
			have["value-node"] = true
		case strings.HasPrefix(rest, "statement/"), strings.HasPrefix(rest, "qualifier/"), !strings.Contains(rest, "/"):
			have["statement"] = true
		}
	}
}

// Shape returns the normalized pattern of a query: variables, Q and P IDs, numbers and strings are replaced by
// placeholders, and white space and comments are removed. Two queries have the same shape if and only if they are
// otherwise identical (SPINACH, Table 6).
func Shape(q *sparql.Query) string {
	var b strings.Builder
	for t := range sparql.Tokens(q.Text) {
		switch t.Kind {
		case sparql.TokenVar:
			b.WriteString("?v")
		case sparql.TokenString:
			b.WriteString(`"s"`)
		case sparql.TokenNumber:
			b.WriteString("0")
		case sparql.TokenWord:
			b.WriteString(strings.ToUpper(t.Text))
		case sparql.TokenPercent:
			b.WriteString("%n")
		case sparql.TokenName:
			i := strings.IndexByte(t.Text, ':')
			b.WriteString(t.Text[:i+1] + placeholder(t.Text[i+1:]))
		case sparql.TokenIRI:
			i := strings.LastIndexAny(t.Text, "/#")
			b.WriteString(t.Text[:i+1] + placeholder(strings.TrimSuffix(t.Text[i+1:], ">")) + ">")
		default:
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// placeholder replaces a Q, P or L ID with its letter.
func placeholder(local string) string {
	if rdf.ValidID(local) {
		return local[:1]
	}
	return local
}
