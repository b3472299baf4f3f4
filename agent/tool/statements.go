package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// StatementsName is the action that shows all statements of one property.
const StatementsName = "statements"

// Bounds of statements.
const (
	statementPage  = 10
	mostStatements = 2000 // of one property that are looked at
	maxParts       = 40   // qualifier values and reference lines of one statement that are shown
	statementRows  = 20_000
)

type statementsArgs struct {
	ID       string  `json:"id" about:"the item or entity, such as Q42"`
	Property string  `json:"property" about:"the property, such as P39"`
	Page     *int    `json:"page" about:"page of ten statements, from 1; 1 when left out"`
	KG       *string `json:"kg" about:"name of the graph, when there are several"`
}

var statementsTool = typed(&Tool{Name: StatementsName, Text: "statements.md"}, statements)

// fullStatement is a statement with everything that the graph says about it.
type fullStatement struct {
	node       string
	rank       string // preferred, normal, deprecated; "" when the graph has none
	values     []rdf.Term
	none       bool
	qualifiers []told
	references map[string][]told
}

// told is a property with a value.
type told struct {
	property string // IRI of the property's entity
	value    rdf.Term
}

// statements carries out statements(id, property, page): all ranks, qualifiers and references of one property of one
// entity (WikidataMCP's get_statement_values); on a graph without statements the values.
func statements(ctx context.Context, env *Env, a statementsArgs) (Result, error) {
	env, err := env.at(a.KG)
	if err != nil {
		return wrong(err)
	}
	page := 1
	if a.Page != nil {
		page = *a.Page
	}
	subject, err1 := env.iriOf(a.ID)
	property, err2 := env.property(a.Property)
	if err := cmp.Or(err1, err2); err != nil {
		return wrong(err)
	}
	if page < 1 {
		return wrong(errors.New("page is at least 1"))
	}
	var all []fullStatement
	if env.Source.Explain.IsWikibase() {
		all, err = env.wikibaseStatements(ctx, subject, rdf.EntityID(property))
	} else {
		all, err = env.plainStatements(ctx, subject, property)
	}
	if err != nil {
		return env.failed(ctx, err)
	}
	first := (page - 1) * statementPage
	if first >= len(all) && len(all) > 0 {
		return wrong(fmt.Errorf("there are %d statements, so the last page is %d", len(all),
			(len(all)+statementPage-1)/statementPage))
	}
	shown := all[first:min(first+statementPage, len(all))]
	names, err := env.namesOf(ctx, irisIn(&env.Source.Explain, statementTerms(shown, subject, property)...))
	if err != nil {
		return Result{}, err
	}
	data := map[string]any{"Subject": names.iri(subject), "Property": names.iri(property), "Total": len(all),
		"From": first + 1, "To": first + len(shown), "Full": len(all) >= mostStatements}
	if len(all) == 0 {
		return Result{Text: say("statements_none", data)}, nil
	}
	lines := []string{say("statements_head", data)}
	for _, s := range shown {
		lines = append(lines, names.statement(s)...)
	}
	return Result{Text: strings.Join(lines, "\n")}, nil
}

// statementTerms returns every term in statements, and two IRIs besides.
func statementTerms(list []fullStatement, iris ...string) []rdf.Term {
	var out []rdf.Term
	for _, iri := range iris {
		out = append(out, rdf.IRI(iri))
	}
	add := func(ps []told) {
		for _, p := range ps {
			out = append(out, rdf.IRI(p.property), p.value)
		}
	}
	for _, s := range list {
		out = append(out, s.values...)
		add(s.qualifiers)
		for _, r := range s.references {
			add(r)
		}
	}
	return out
}

// statement writes a statement: its value and rank on one line, then a line for each qualifier and reference.
func (n namer) statement(s fullStatement) []string {
	var values []string
	for _, v := range s.values {
		values = append(values, n.term(v))
	}
	if s.none {
		values = append(values, say("no_value", nil))
	}
	line := "- " + strings.Join(values, " | ")
	if s.rank == string(kg.Preferred) || s.rank == string(kg.Deprecated) {
		line += " [" + s.rank + "]"
	}
	lines := []string{line}
	for i, q := range s.qualifiers {
		if i == maxParts {
			lines = append(lines, "    "+say("and_more", len(s.qualifiers)-i))
			break
		}
		lines = append(lines, "    "+n.iri(q.property)+": "+n.term(q.value))
	}
	refs := 0
	for _, node := range sortedKeys(s.references) {
		var parts []string
		for _, p := range s.references[node] {
			parts = append(parts, n.iri(p.property)+": "+n.term(p.value))
		}
		if refs++; refs > maxParts {
			break
		}
		lines = append(lines, "    "+say("reference", strings.Join(parts, "; ")))
	}
	return lines
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// wikibaseStatements reads the statements of a property with all that they hold, best ranks first.
func (env *Env) wikibaseStatements(ctx context.Context, subject, id string) ([]fullStatement, error) {
	t, err := env.Graph.Query(ctx, fmt.Sprintf(`SELECT ?st ?p ?o ?ref ?rp ?ro WHERE {
		{ SELECT ?st WHERE { <%s> <%s> ?st } ORDER BY ?st LIMIT %d }
		{ ?st ?p ?o } UNION { ?st <http://www.w3.org/ns/prov#wasDerivedFrom> ?ref . ?ref ?rp ?ro } } LIMIT %d`,
		subject, rdf.Prop+id, mostStatements, statementRows))
	if err != nil {
		return nil, err
	}
	by := map[string]*fullStatement{}
	var order []string
	for i := range t.Rows {
		node := termAt(t, i, "st").Value
		s := by[node]
		if s == nil {
			s = &fullStatement{node: node, references: map[string][]told{}}
			by[node] = s
			order = append(order, node)
		}
		if ref := termAt(t, i, "ref"); ref.Bound() {
			if p, ok := inNamespace(termAt(t, i, "rp").Value, "pr"); ok {
				s.references[ref.Value] = append(s.references[ref.Value], told{p, termAt(t, i, "ro")})
			}
			continue
		}
		s.take(termAt(t, i, "p").Value, termAt(t, i, "o"), id)
	}
	ranks := []string{string(kg.Preferred), string(kg.Normal), "", string(kg.Deprecated)}
	slices.SortFunc(order, func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(ranks, by[a].rank), slices.Index(ranks, by[b].rank)), cmp.Compare(a, b))
	})
	out := make([]fullStatement, len(order))
	for i, node := range order {
		s := by[node]
		byTerm := func(a, b told) int {
			return cmp.Or(cmp.Compare(a.property, b.property), cmp.Compare(a.value.String(), b.value.String()))
		}
		slices.SortFunc(s.qualifiers, byTerm)
		for _, r := range s.references {
			slices.SortFunc(r, byTerm)
		}
		out[i] = *s
	}
	return out, nil
}

// take adds one triple of a statement's node.
func (s *fullStatement) take(predicate string, o rdf.Term, id string) {
	switch {
	case predicate == rdf.Prop+"statement/"+id:
		s.values = append(s.values, o)
	case predicate == rdf.Wikibase+"rank":
		rank, _ := strings.CutPrefix(o.Value, rdf.Wikibase)
		s.rank = strings.ToLower(strings.TrimSuffix(rank, "Rank"))
	case predicate == rdf.RDFType && o.Value == rdf.Prefixes["wdno"]+id:
		s.none = true
	default:
		if p, ok := inNamespace(predicate, "pq"); ok {
			s.qualifiers = append(s.qualifiers, told{p, o})
		}
	}
}

// inNamespace returns the entity of a Wikidata predicate with a prefix: wd:P580 for pq:P580 and "pq".
func inNamespace(iri, prefix string) (entity string, ok bool) {
	id := rdf.EntityID(iri)
	return rdf.Entity + id, id != "" && iri == rdf.Prefixes[prefix]+id
}

// plainStatements reads values, and what hangs on those without a name.
func (env *Env) plainStatements(ctx context.Context, subject, property string) ([]fullStatement, error) {
	t, err := env.Graph.Query(ctx, fmt.Sprintf(`SELECT ?o ?p ?v WHERE { <%s> <%s> ?o . OPTIONAL { ?o ?p ?v . FILTER(isBlank(?o)) } }
		ORDER BY ?o ?p ?v LIMIT %d`, subject, property, statementRows))
	if err != nil {
		return nil, err
	}
	var out []fullStatement
	for i := range t.Rows {
		o := termAt(t, i, "o")
		if n := len(out); n == 0 || out[n-1].values[0] != o {
			if n == mostStatements {
				break
			}
			out = append(out, fullStatement{values: []rdf.Term{o}})
		}
		if p := termAt(t, i, "p"); p.IsIRI() {
			last := &out[len(out)-1]
			last.qualifiers = append(last.qualifiers, told{p.Value, termAt(t, i, "v")})
		}
	}
	return out, nil
}
