package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// graspPropertyOf is GRASP's search_property_of_entity(kg, entity, query).
var graspPropertyOf = keyed(&Tool{Name: "search_property_of_entity", Text: "grasp_search_property_of_entity.md",
	Input: "query"}, nil, func(ctx context.Context, env *Env, a struct {
	KG     *string `json:"kg" about:"graph"`
	Entity string  `json:"entity"`
	Query  string  `json:"query"`
	Page   *int    `json:"page" about:"from 1"`
}) (Result, error) {
	env, page, err := env.search(a.KG, a.Page)
	if err != nil {
		return wrong(err)
	}
	e, err := env.node(a.Entity, "the entity")
	if err != nil {
		return wrong(err)
	}
	return env.find(ctx, graspQuery{text: a.Query, typ: kg.Property, page: page, wide: kg.Property,
		of: []rdf.Term{e}, from: candidatesOf("property", [3]rdf.Term{e})})
})

// graspObjectOf is GRASP's search_object_of_property(kg, property, query).
var graspObjectOf = keyed(&Tool{Name: "search_object_of_property", Text: "grasp_search_object_of_property.md",
	Input: "query"}, nil, func(ctx context.Context, env *Env, a struct {
	KG       *string `json:"kg" about:"graph"`
	Property string  `json:"property"`
	Query    string  `json:"query"`
	Page     *int    `json:"page" about:"from 1"`
}) (Result, error) {
	env, page, err := env.search(a.KG, a.Page)
	if err != nil {
		return wrong(err)
	}
	p, err := env.predicate(a.Property)
	if err != nil {
		return wrong(err)
	}
	if id := rdf.EntityID(p.Value); p.Value == rdf.Prop+id && id != "" { // statement nodes are unnamed
		p = rdf.IRI(statementValue + id)
	}
	return env.find(ctx, graspQuery{text: a.Query, page: page, wide: kg.Item,
		of: []rdf.Term{p}, from: candidatesOf("object", [3]rdf.Term{1: p})})
})

// graspPlaces contains the known terms in the other positions of a triple.
type graspPlaces struct {
	Subject  *string `json:"subject"`
	Property *string `json:"property"`
	Object   *string `json:"object"`
}

// graspConstrained is GRASP's search_constrained(kg, position, query, constraints).
var graspConstrained = keyed(&Tool{Name: "search_constrained", Text: "grasp_search_constrained.md", Input: "query"},
	nil, func(ctx context.Context, env *Env, a struct {
		KG          *string      `json:"kg" about:"graph"`
		Position    string       `json:"position" enum:"subject,property,object"`
		Query       string       `json:"query"`
		Constraints *graspPlaces `json:"constraints" about:"what is known of the other places of the triple"`
		Page        *int         `json:"page" about:"from 1"`
	}) (Result, error) {
		env, page, err := env.search(a.KG, a.Page)
		if err != nil {
			return wrong(err)
		}
		known := deref(a.Constraints)
		var at [3]rdf.Term
		some := false
		for i, c := range []struct {
			name  string
			value *string
		}{{"subject", known.Subject}, {"property", known.Property}, {"object", known.Object}} {
			if at[i], err = env.place(c.name, c.value); err != nil {
				return wrong(err)
			}
			if at[i].Bound() && c.name == a.Position {
				return wrong(fmt.Errorf("the %s is searched, so it cannot be constrained", c.name))
			}
			some = some || at[i].Bound()
		}
		q := graspQuery{text: a.Query, page: page, typ: kg.Item, wide: kg.Item}
		if a.Position == "property" {
			q.typ, q.wide = kg.Property, kg.Property
		}
		if some {
			q.from, q.of = candidatesOf(a.Position, at), at[:]
			if a.Position == "object" {
				q.typ = ""
			}
		}
		return env.find(ctx, q)
	})

// candidatesOf returns a query for the terms that occur in one position of the triples that match the other positions.
func candidatesOf(position string, at [3]rdf.Term) string {
	var text [3]string
	for i, name := range []string{"subject", "property", "object"} {
		switch {
		case name == position:
			text[i] = "?search"
		case at[i].Bound():
			text[i] = at[i].String()
		default:
			text[i] = "?" + name
		}
	}
	return "SELECT DISTINCT ?search WHERE { " + strings.Join(text[:], " ") + " }"
}

// graspAutocomplete is GRASP's search_autocomplete(kg, sparql, query): possible values of ?search in a query.
var graspAutocomplete = keyed(&Tool{Name: "search_autocomplete", Text: "grasp_search_autocomplete.md", Input: "query"},
	nil, func(ctx context.Context, env *Env, a struct {
		KG     *string `json:"kg" about:"graph"`
		SPARQL string  `json:"sparql" about:"SELECT query with ?search where the term belongs"`
		Query  string  `json:"query"`
		Page   *int    `json:"page" about:"from 1"`
	}) (Result, error) {
		env, page, err := env.search(a.KG, a.Page)
		if err != nil {
			return wrong(err)
		}
		q := graspQuery{text: a.Query, page: page}
		return env.narrowed(ctx, q, a.SPARQL)
	})

// graspFilter is GRASP's search(kg, index, sparql, query) from 2026: an index search restricted to the values that a
// query returns.
var graspFilter = keyed(&Tool{Name: "search", Text: "grasp_search.md", Input: "query"},
	nil, func(ctx context.Context, env *Env, a struct {
		KG     *string `json:"kg" about:"graph"`
		Index  string  `json:"index" enum:"entity,property,literal"`
		SPARQL *string `json:"sparql" about:"SELECT whose ?search, or only column, are the candidates; without it everything is"`
		Query  string  `json:"query"`
		Page   *int    `json:"page" about:"from 1"`
	}) (Result, error) {
		env, page, err := env.search(a.KG, a.Page)
		if err != nil {
			return wrong(err)
		}
		typ := map[string]kg.Type{"entity": kg.Item, "property": kg.Property, "literal": kg.Literal}[a.Index]
		q := graspQuery{text: a.Query, typ: typ, wide: typ, page: page}
		switch query := strings.TrimSpace(deref(a.SPARQL)); {
		case query != "":
			return env.narrowed(ctx, q, query)
		case typ == kg.Literal:
			return env.literals(ctx, a.Query, page)
		}
		return env.find(ctx, q)
	})

// narrowed searches among the values that the model's query returns for ?search or in its only column. If the query
// does not restrict ?search, narrowed ignores it and adds a note.
func (env *Env) narrowed(ctx context.Context, q graspQuery, query string) (Result, error) {
	tree, err := env.Dialect.parse(query)
	if err != nil {
		return env.failed(ctx, placed(kg.SyntaxError, err))
	}
	if err := sparql.Guard(tree, env.Dialect.Services); err != nil {
		return env.failed(ctx, placed(kg.Refused, err))
	}
	name := "search"
	at, used := position(tree, name)
	if columns := tree.Body.Columns(); !used && len(columns) == 1 {
		name = columns[0]
		at, used = position(tree, name)
	}
	if q.wide == "" {
		q.wide = kg.Item
		if at == "property" {
			q.typ, q.wide = kg.Property, kg.Property
		}
	}
	switch {
	case tree.Form != sparql.Select:
		q.note = say("grasp_wide_form", nil)
	case !used:
		return wrong(errors.New("the query must use the variable ?search in a triple, at the place that is searched"))
	case !hasIRI(tree):
		q.note = say("grasp_wide_no_iri", nil)
	default:
		q.from = projected(tree, name, env.Dialect)
	}
	return env.find(ctx, q)
}

// position returns the position of a variable in the triples of a query. If it has several, property takes precedence
// over object, and object over subject. used is false if no triple contains the variable.
func position(q *sparql.Query, name string) (at string, used bool) {
	found := map[string]bool{}
	isVar := func(t *sparql.Term) bool { return t != nil && t.Kind == sparql.Var && t.Name == name }
	sparql.Inspect(q, func(n sparql.Node) bool {
		ts, ok := n.(*sparql.Triples)
		if !ok {
			return true
		}
		for _, t := range ts.Triples() {
			found["subject"] = found["subject"] || isVar(t.Subject)
			found["object"] = found["object"] || isVar(t.Object)
			found["property"] = found["property"] || t.Path.Kind == sparql.PathTerm && isVar(t.Path.Term)
		}
		return true
	})
	for _, p := range []string{"property", "object", "subject"} {
		if found[p] {
			return p, true
		}
	}
	return "", false
}

// hasIRI reports whether a query contains an IRI.
func hasIRI(q *sparql.Query) bool {
	found := false
	sparql.Inspect(q, func(n sparql.Node) bool {
		if t, ok := n.(*sparql.Term); ok && t.Kind == sparql.Const && t.IsIRI() {
			found = true
		}
		return !found
	})
	return found
}

// projected returns a query for the distinct values of one variable in the pattern of a given query.
func projected(q *sparql.Query, name string, d Dialect) string {
	out, err := sparql.Parse("SELECT DISTINCT ?" + name + " WHERE {}")
	if err != nil {
		panic(err) // the name is a valid variable name
	}
	out.Prologue, out.Named, out.Datasets = q.Prologue, q.Named, q.Datasets
	out.Body.Where, out.Body.Values = q.Body.Where, q.Body.Values
	if known := d.known(); known != nil {
		out.DeclareWith(known)
	}
	return strings.TrimSpace(sparql.Print(out, sparql.PrintOptions{NoComments: true}))
}

// graspLiteral is GRASP's search_literal(kg, query) from 2026.
var graspLiteral = keyed(&Tool{Name: "search_literal", Text: "grasp_search_literal.md", Input: "query"}, nil,
	func(ctx context.Context, env *Env, a graspSearchArgs) (Result, error) {
		env, page, err := env.search(a.KG, a.Page)
		if err != nil {
			return wrong(err)
		}
		return env.literals(ctx, a.Query, page)
	})

// literalTime is the maximum duration of a search through all literals in a graph.
const literalTime = 10 * time.Second

// literals searches for literals that contain a string. If the graph cannot search all of them in time, it finds only
// literals that equal the text and have either no language tag or the tag of one of the asker's languages.
func (env *Env) literals(ctx context.Context, text string, page int) (Result, error) {
	q := graspQuery{text: text, typ: kg.Literal, page: page}
	if err := q.check(); err != nil {
		return wrong(err)
	}
	q.from = fmt.Sprintf("SELECT DISTINCT ?search WHERE { ?subject ?property ?search "+
		"FILTER(ISLITERAL(?search) && CONTAINS(LCASE(STR(?search)), %s)) }", rdf.Quote(strings.ToLower(q.text)))
	quick, cancel := context.WithTimeout(ctx, literalTime)
	defer cancel()
	found, why, err := env.among(quick, q, env.findQuery(q))
	if why != nil || err != nil && quick.Err() != nil && ctx.Err() == nil {
		q.note = say("grasp_literals_exact", nil)
		q.from = fmt.Sprintf("SELECT DISTINCT ?search WHERE { VALUES ?search { %s } ?subject ?property ?search }",
			strings.Join(env.forms(q.text), " "))
		return env.find(ctx, q)
	}
	if err != nil {
		return Result{}, err
	}
	return env.hits(ctx, q, kg.Literal, &found.SearchResult, found.Candidates)
}

// forms returns the literals that a string may represent.
func (env *Env) forms(text string) []string {
	out := []string{rdf.Quote(text)}
	for _, lang := range env.languages() {
		out = append(out, rdf.Quote(text)+"@"+lang)
	}
	return out
}
