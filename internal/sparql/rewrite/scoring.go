package rewrite

import (
	"fmt"
	"slices"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Scoring returns a query in the form that benchmarks use to compare results: standard SPARQL with every prefix
// declared, no comments, and only the answer columns. The TEXT2SPARQL challenge and similar benchmarks count every
// value of every column as an answer, so an extra column with labels or counts makes the answer wrong.
//
// columns are the answer columns. If there are none, the first column that is not the label of another column is kept;
// if only labels are projected, the labeled item is projected instead. An ASK query has no columns to remove.
func Scoring(query string, columns []string, language string) (*Result, error) {
	q, err := sparql.Parse(query)
	if err != nil {
		return nil, err
	}
	q.Header, q.Tail = nil, nil
	if q.Form == sparql.Select {
		if err := answerColumns(q, columns); err != nil {
			return nil, err
		}
	}
	text := sparql.Print(q, sparql.PrintOptions{NoComments: true})
	// With a LIMIT, removing duplicate rows would let other rows in.
	distinct := q.Form == sparql.Select && !q.Body.Reduced && q.Body.Limit == nil && q.Body.Offset == nil
	return Query(text, Standard, Options{Language: language, Distinct: distinct})
}

// answerColumns removes everything except the answer columns from the projection.
func answerColumns(q *sparql.Query, columns []string) error {
	s := q.Body
	all := s.Columns()
	for _, c := range columns {
		if !slices.Contains(all, c) {
			return fmt.Errorf("the query has no column ?%s", c)
		}
	}
	if len(columns) == 0 {
		columns = []string{answerColumn(q, all)}
	}
	if len(all) <= len(columns) && slices.Equal(all, columns) {
		return nil
	}
	if !slices.Contains(all, columns[0]) { // columns[0] is an item, and only its label is projected
		s.Items = append([]*sparql.SelectItem{{Var: columns[0]}}, s.Items...)
		if s.GroupBy != nil {
			return nil // this function does not check whether the grouping allows it
		}
	}
	if needsAll(s, columns) {
		dropLabels(q, s, columns)
		if len(s.Items) == len(columns) {
			return nil
		}
		inner := *s
		q.Body = &sparql.SelectQuery{Where: &sparql.Group{Patterns: []sparql.Pattern{&sparql.SubSelect{Query: &inner}}}}
		s = q.Body
	}
	kept := make([]*sparql.SelectItem, len(columns))
	for i, c := range columns {
		kept[i] = &sparql.SelectItem{Var: c}
		if at := slices.IndexFunc(s.Items, func(it *sparql.SelectItem) bool { return it.Var == c }); at >= 0 {
			kept[i] = s.Items[at]
		}
	}
	s.Items, s.Star = kept, false
	return nil
}

// answerColumn chooses the answer column: see [Scoring].
func answerColumn(q *sparql.Query, all []string) string {
	var in sparql.VarSet
	in.Add(all...)
	in.AddGroup(q.Body.Where)
	label := isLabel(q)
	for _, c := range all {
		if !label(c) {
			return c
		}
	}
	for _, c := range all {
		if base, ok := sparql.LabelBase(c); ok && in.Has(base) && q.Body.GroupBy == nil {
			return base
		}
	}
	return all[0]
}

// isLabel returns a function that reports whether a column is the label of another column: either a label property
// binds it, or it has the name that the label service gives to the label of one of the query's variables.
func isLabel(q *sparql.Query) func(column string) bool {
	var in sparql.VarSet
	in.Add(q.Body.Columns()...)
	in.AddGroup(q.Body.Where)
	byProperty := labelVariables(q)
	return func(c string) bool {
		base, automatic := sparql.LabelBase(c)
		return byProperty[c] || automatic && in.Has(base)
	}
}

// dropLabels removes labels from the projection if nothing depends on them. All other columns are kept.
func dropLabels(q *sparql.Query, s *sparql.SelectQuery, columns []string) {
	if s.Star || s.Distinct || s.Reduced || s.GroupBy != nil {
		return
	}
	label := isLabel(q)
	used := map[string]bool{}
	if s.OrderBy != nil {
		sparql.Inspect(s.OrderBy, func(n sparql.Node) bool {
			if t, ok := n.(*sparql.Term); ok && t.Kind == sparql.Var {
				used[t.Name] = true
			}
			return true
		})
	}
	s.Items = slices.DeleteFunc(slices.Clone(s.Items), func(it *sparql.SelectItem) bool {
		return it.Expr == nil && label(it.Var) && !used[it.Var] && !slices.Contains(columns, it.Var)
	})
}

// labelVariables returns the variables that the query binds to labels and descriptions through label and description
// properties.
func labelVariables(q *sparql.Query) map[string]bool {
	out := map[string]bool{}
	sparql.Inspect(q, func(n sparql.Node) bool {
		t, ok := n.(*sparql.Triples)
		if !ok {
			return true
		}
		for _, p := range t.Properties {
			if p.Path.Kind != sparql.PathTerm || !isLabelProperty(p.Path.Term) {
				continue
			}
			for _, o := range p.Objects {
				if o.Kind == sparql.Var {
					out[o.Name] = true
				}
			}
		}
		return true
	})
	return out
}

func isLabelProperty(t *sparql.Term) bool {
	if !t.IsIRI() {
		return false
	}
	switch t.Value().Value {
	case rdf.Prefixes["rdfs"] + "label", rdf.Prefixes["skos"] + "prefLabel", rdf.Prefixes["skos"] + "altLabel",
		rdf.Prefixes["schema"] + "description", rdf.Prefixes["schema"] + "name", rdf.Prefixes["rdfs"] + "comment":
		return true
	}
	return false
}

// needsAll reports whether the projection must stay as it is because the order or the number of rows depends on it. If
// so, the whole query becomes a subquery.
func needsAll(s *sparql.SelectQuery, columns []string) bool {
	if s.Limit != nil || s.Offset != nil || s.Having != nil {
		return true
	}
	for _, it := range s.Items {
		if it.Expr != nil && !slices.Contains(columns, it.Var) && (s.OrderBy != nil || s.GroupBy == nil) {
			return true
		}
	}
	return false
}
