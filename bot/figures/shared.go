package figures

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// sharedUnit returns the unit of a column of numbers whose items are not shown, such as a sum or a mean: the unit
// shared by all statements behind the result, or "" if their units differ or are missing.
func (f Finder) sharedUnit(ctx context.Context, query, name, language string) (string, error) {
	text := unitQuery(query, name, language)
	if text == "" {
		return "", nil
	}
	t, err := f.Graph.Query(ctx, text)
	if err != nil || t == nil {
		return "", err
	}
	units, names := map[string]bool{}, map[string]string{}
	for i := range t.Rows {
		units[rdf.EntityID(field(t, i, "unit_").Value)] = true
		if s := field(t, i, "symbol_"); s.Value != "" {
			names[s.Lang] = s.Value
		}
		if s := field(t, i, "name_"); s.Value != "" {
			names["name "+s.Lang] = s.Value
		}
	}
	if len(units) != 1 || units[""] || units[noUnit] || len(t.Rows) >= maxUnits {
		return "", nil
	}
	for id := range units {
		return unitName(id, names, language), nil
	}
	return "", nil
}

func field(t *kg.Table, row int, name string) rdf.Term {
	if i := slices.Index(t.Vars, name); i >= 0 && i < len(t.Rows[row]) {
		return t.Rows[row][i]
	}
	return rdf.Term{}
}

// maxUnits is the maximum number of rows fetched by the unit query.
const maxUnits = 50

// unitQuery returns a query for the units of the values that a column is computed from, with the conditions of the
// answer's query. It returns "" if those values cannot be determined.
func unitQuery(query, name, language string) string {
	q, err := sparql.Parse(query)
	if err != nil || q.Form != sparql.Select || q.Body == nil || q.Body.Where == nil {
		return ""
	}
	value := name
	for _, item := range q.Body.Items {
		if item.Var == name && item.Expr != nil {
			value = measured(item.Expr)
		}
	}
	visible := q.Body.Where.Visible()
	pattern := ""
	sparql.Inspect(q.Body.Where, func(n sparql.Node) bool {
		x, ok := n.(*sparql.Triples)
		if !ok || x.Subject.Kind != sparql.Var || !slices.Contains(visible, x.Subject.Name) ||
			!slices.Contains(visible, value) {
			return true
		}
		for _, p := range x.Properties {
			iri, of := p.Path.IRI(), "?"+x.Subject.Name
			for _, o := range p.Objects {
				if o.Kind != sparql.Var || o.Name != value || pattern != "" {
					continue
				}
				if id, ok := strings.CutPrefix(iri, rdf.Direct); ok {
					pattern = fmt.Sprintf("%s p:%[2]s [ ps:%[2]s ?%[3]s ; psv:%[2]s [ wikibase:quantityUnit ?unit_ ] ] .", of, id, value)
				} else if id, ok := strings.CutPrefix(iri, rdf.Prop+"statement/"); ok {
					pattern = fmt.Sprintf("%s psv:%s [ wikibase:quantityUnit ?unit_ ] .", of, id)
				}
			}
		}
		return true
	})
	if pattern == "" {
		return ""
	}
	language = cmp.Or(language, "en")
	more, err := sparql.Parse(fmt.Sprintf(`SELECT DISTINCT ?unit_ ?symbol_ ?name_ WHERE { %s
  OPTIONAL { ?unit_ wdt:P5061 ?symbol_ . FILTER(LANG(?symbol_) IN ("mul", "en", %[2]q)) }
  OPTIONAL { ?unit_ rdfs:label ?name_ . FILTER(LANG(?name_) IN ("mul", "en", %[2]q)) } } LIMIT %[3]d`, pattern, language, maxUnits))
	if err != nil {
		return ""
	}
	more.Body.Where.Patterns = append(slices.Clone(q.Body.Where.Patterns), more.Body.Where.Patterns...)
	more.Body.Values, more.Prologue = q.Body.Values, q.Prologue
	return sparql.Print(more, sparql.PrintOptions{})
}

// measured returns the variable that has the same unit as the expression, such as x for MAX(?x) or ROUND(AVG(?x)), or
// "" if there is none.
func measured(e *sparql.Expr) string {
	switch {
	case e.Variable() != "":
		return e.Variable()
	case len(e.Args) == 1 && (e.Kind == sparql.ExprAggregate || e.Kind == sparql.ExprBuiltin) && slices.Contains(
		[]string{"MIN", "MAX", "AVG", "SUM", "SAMPLE", "ROUND", "CEIL", "FLOOR", "ABS"}, e.Op):
		return measured(e.Args[0])
	}
	return ""
}
