package variant

import (
	"slices"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Bounded returns the form of a query that is run as a probe. It has no label service or label columns, and no ORDER BY
// unless that affects which rows are returned; its rows are distinct, and there are at most limit of them. Grouped and
// ordered queries keep their LIMIT. If cut is not 0, a result with cut rows may be incomplete.
func Bounded(query string, limit int64, known map[string]string) (text string, cut int64, err error) {
	q, err := sparql.ParseWith(query, known)
	if err != nil || q.Form != sparql.Select {
		return query, 0, err
	}
	b := q.Body
	if !b.Star && !b.Grouped() {
		unlabel(q)
	}
	if b.Limit == nil {
		b.OrderBy = nil
		if !b.Grouped() {
			b.Distinct, b.Reduced = true, false
		}
	}
	if b.Limit == nil || b.Limit.N > limit {
		b.Limit, cut = &sparql.Count{N: limit}, limit
	}
	return sparql.Print(q, plain), cut, nil
}

// unlabel removes the label service, and the columns bound only by it, from the outer query if nothing else uses them.
func unlabel(q *sparql.Query) {
	b := q.Body
	isLabel := func(p sparql.Pattern) bool {
		s, ok := p.(*sparql.Service)
		return ok && s.Kind() == sparql.LabelService && len(s.Rest()) == 0
	}
	if !slices.ContainsFunc(b.Where.Patterns, isLabel) {
		return
	}
	used := uses(q)
	visible := b.Where.Visible()
	if b.OrderBy != nil && b.Limit == nil {
		for _, k := range b.OrderBy.Keys {
			for _, v := range vars(k.Expr) {
				used[v]--
			}
		}
	}
	byService := func(it *sparql.SelectItem) bool {
		_, ok := sparql.LabelBase(it.Var)
		return ok && it.Expr == nil && !slices.Contains(visible, it.Var)
	}
	for _, it := range b.Items {
		if byService(it) && used[it.Var] > 0 {
			return
		}
	}
	rest := slices.DeleteFunc(slices.Clone(b.Items), byService)
	if len(rest) == 0 {
		return
	}
	b.Items = rest
	b.Where.Patterns = slices.DeleteFunc(b.Where.Patterns, isLabel)
}
