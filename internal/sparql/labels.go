package sparql

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// labelService returns a query with the label service in automatic mode, in the form that Wikidata's query page
// suggests. The given language comes before the general names and English, unless it is "".
func labelService(language string) string {
	languages := []string{AutoLanguage, language, "mul", "en"}
	if language == "" || language == "en" {
		languages = []string{AutoLanguage, "mul", "en"}
	}
	return "SELECT * WHERE { SERVICE wikibase:label { bd:serviceParam wikibase:language " +
		rdf.Quote(strings.Join(languages, ",")) + " . } }"
}

// WithLabels adds a column ?xLabel, bound by Wikidata's label service, after each of the given columns, so that the
// query page shows names instead of IDs: in the reader's language or, if there is no name in that language, in the
// given language. It skips columns that are expressions, columns that already have a label column, and, in a query with
// GROUP BY, columns that the query does not group by. If nothing can be added, it returns the query unchanged. Source:
// mediawiki.org, Wikidata Query Service/User Manual, "Label service".
func WithLabels(query string, columns []string, language string) string {
	q, err := Parse(query)
	if err != nil || q.Form != Select || q.Body == nil || q.Body.Star || q.Body.Where == nil {
		return query
	}
	taken := map[string]bool{}
	for _, name := range variablesOf(q) {
		taken[name] = true
	}
	for _, item := range q.Body.Items {
		taken[item.Var] = true
	}
	var items []*SelectItem
	added := false
	for _, item := range q.Body.Items {
		items = append(items, item)
		label := item.Var + "Label"
		if item.Expr != nil || !slices.Contains(columns, item.Var) || taken[label] || !q.Body.groupsBy(item.Var) {
			continue
		}
		items, added = append(items, &SelectItem{Var: label}), true
		if g := q.Body.GroupBy; g != nil {
			g.Keys = append(g.Keys, &GroupKey{Expr: &Expr{Kind: ExprTerm, Term: &Term{Kind: Var, Name: label}}})
		}
	}
	if !added || usesLabelService(q) {
		return query
	}
	service, err := Parse(labelService(language))
	if err != nil {
		return query
	}
	q.Body.Items = items
	q.Body.Where.Patterns = append(slices.Clone(q.Body.Where.Patterns), service.Body.Where.Patterns...)
	text := Print(q, PrintOptions{})
	if _, err := Parse(text); err != nil {
		return query
	}
	return strings.TrimSpace(text)
}

// groupsBy reports whether a query has no groups or groups by the variable.
func (b *SelectQuery) groupsBy(name string) bool {
	if b.GroupBy == nil {
		return !slices.ContainsFunc(b.Items, func(i *SelectItem) bool {
			return i.Expr != nil && i.Expr.Kind == ExprAggregate
		})
	}
	return slices.ContainsFunc(b.GroupBy.Keys, func(k *GroupKey) bool { return k.As == "" && k.Expr.Variable() == name })
}

// usesLabelService reports whether a query already uses the label service anywhere.
func usesLabelService(q *Query) bool {
	found := false
	Inspect(q, func(n Node) bool {
		s, ok := n.(*Service)
		found = found || ok && s.Kind() == LabelService
		return true
	})
	return found
}
