package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/survey"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// StatementsName is the action that shows all statements of one property.
const StatementsName = "statements"

// Limits of statements.
const (
	statementPage = 10
	maxParts      = 40 // qualifier values and references shown per statement
)

type statementsArgs struct {
	ID       string  `json:"id" about:"the item or entity, such as Q42"`
	Property string  `json:"property" about:"the property, such as P39"`
	Page     *int    `json:"page" about:"page of ten statements, from 1; 1 when left out"`
	KG       *string `json:"kg" about:"name of the graph, when there are several"`
}

var statementsTool = typed(&Tool{Name: StatementsName, Text: "statements.md",
	FromText: arguments("id", "property", "page")}, statements)

// statements implements statements(id, property, page). It shows an entity's values for one property, with all ranks,
// qualifiers and references (WikidataMCP's get_statement_values). On a graph without statements, it shows only the
// values.
func statements(ctx context.Context, env *Env, a statementsArgs) (Result, error) {
	env, err := env.at(a.KG)
	if err != nil {
		return wrong(err)
	}
	page := 1
	if a.Page != nil {
		page = *a.Page
	}
	if page < 1 {
		return wrong(errors.New("page is at least 1"))
	}
	return env.statementsOf(ctx, a.ID, a.Property, page, statementPage)
}

// statementsOf shows a page of an entity's statements for one property.
func (env *Env) statementsOf(ctx context.Context, id, name string, page, size int) (Result, error) {
	subject, err1 := env.iriOf(id)
	property, err2 := env.property(name)
	if err := cmp.Or(err1, err2); err != nil {
		return wrong(err)
	}
	all, err := survey.Statements(ctx, &env.Source.Explain, env.Graph.Query, subject, property)
	if err != nil {
		return env.failed(ctx, err)
	}
	first := (page - 1) * size
	if first >= len(all) && len(all) > 0 {
		return wrong(fmt.Errorf("there are %d statements, so the last page is %d", len(all),
			(len(all)+size-1)/size))
	}
	shown := all[first:min(first+size, len(all))]
	names, err := env.namesOf(ctx, irisIn(&env.Source.Explain, statementTerms(shown, subject, property)...))
	if err != nil {
		return Result{}, err
	}
	data := map[string]any{"Subject": names.iri(subject), "Property": names.iri(property), "Total": len(all),
		"From": first + 1, "To": first + len(shown), "Full": len(all) >= survey.MaxStatements}
	if len(all) == 0 {
		return Result{Text: say("statements_none", data)}, nil
	}
	lines := []string{say("statements_head", data)}
	for _, s := range shown {
		lines = append(lines, names.statement(s)...)
	}
	return Result{Text: strings.Join(lines, "\n")}, nil
}

// statementTerms returns every term in statements, plus the given IRIs.
func statementTerms(list []survey.Statement, iris ...string) []rdf.Term {
	var out []rdf.Term
	for _, iri := range iris {
		out = append(out, rdf.IRI(iri))
	}
	add := func(parts []survey.Part) {
		for _, p := range parts {
			out = append(out, rdf.IRI(p.Property), p.Value)
		}
	}
	for _, s := range list {
		out = append(out, s.Values...)
		add(s.Qualifiers)
		for _, r := range s.References {
			add(r)
		}
	}
	return out
}

// statement formats a statement: its value and rank on one line, followed by one line for each qualifier and reference.
func (n namer) statement(s survey.Statement) []string {
	var values []string
	for _, v := range s.Values {
		values = append(values, n.term(v))
	}
	switch {
	case s.None:
		values = append(values, say("no_value", nil))
	case len(values) == 0: // the graph may be an incomplete copy
		values = append(values, say("value_missing", nil))
	}
	line := "- " + strings.Join(values, " | ")
	if s.Rank == kg.Preferred || s.Rank == kg.Deprecated {
		line += " [" + string(s.Rank) + "]"
	}
	lines := []string{line}
	for i, q := range s.Qualifiers {
		if i == maxParts {
			lines = append(lines, "    "+say("and_more", len(s.Qualifiers)-i))
			break
		}
		lines = append(lines, "    "+n.iri(q.Property)+": "+n.term(q.Value))
	}
	for i, ref := range s.References {
		if i == maxParts {
			break
		}
		var parts []string
		for _, p := range ref {
			parts = append(parts, n.iri(p.Property)+": "+n.term(p.Value))
		}
		lines = append(lines, "    "+say("reference", strings.Join(parts, "; ")))
	}
	return lines
}
