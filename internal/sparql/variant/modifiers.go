package variant

import (
	"strconv"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// ties is the number of rows beyond the LIMIT that are examined.
const ties = 25

// modifiers generates the variants of LIMIT and of aggregates.
func (w *writer) modifiers() {
	b := w.q.Body
	if w.q.Form != sparql.Select {
		return
	}
	if b.Limit != nil && b.Limit.N > 0 {
		n := "LIMIT " + strconv.FormatInt(b.Limit.N, 10)
		if b.OrderBy == nil {
			w.add(Variant{Kind: Limit, N: b.Limit.N, Effect: More, What: "without " + n}, func(q *sparql.Query) bool {
				q.Body.Limit, q.Body.Offset = nil, nil
				return true
			})
		} else if key, change := w.tied(); change != nil && b.Offset == nil {
			w.add(Variant{Kind: Ties, N: b.Limit.N, Effect: More, Key: key,
				What: "rows after " + n + " that are ranked like the last row before it"}, change)
		}
	}
	w.add(Variant{Kind: Joins, What: "each different value counted once"}, func(q *sparql.Query) bool {
		changed := false
		for _, it := range q.Body.Items {
			sparql.Inspect(it.Expr, func(n sparql.Node) bool {
				// not SUM or AVG: DISTINCT would drop equal values that belong to different things
				if e, ok := n.(*sparql.Expr); ok && e.Kind == sparql.ExprAggregate && e.Op == "COUNT" && !e.Distinct &&
					!e.Star {
					e.Distinct, changed = true, true
				}
				return true
			})
		}
		return changed
	})
}

// tied returns the column of the first ORDER BY key, and the change that raises the LIMIT and adds this column. The
// change is nil if the column cannot be used.
func (w *writer) tied() (key string, change func(*sparql.Query) bool) {
	k := w.q.Body.OrderBy.Keys[0].Expr
	if key = k.Variable(); key == "" {
		key = w.fresh("orderKey")
	}
	_, label := sparql.LabelBase(key)
	projected := w.q.Body.Star && k.Variable() != ""
	for _, it := range w.q.Body.Items {
		projected = projected || it.Var == key
	}
	if w.q.Body.Star && k.Variable() == "" || label && k.Variable() != "" {
		return "", nil // ordering by labels is alphabetical, not a ranking
	}
	return key, func(q *sparql.Query) bool {
		q.Body.Limit.N += ties
		if !projected {
			it := &sparql.SelectItem{Var: key}
			if k.Variable() == "" {
				it.Expr = q.Body.OrderBy.Keys[0].Expr
			}
			q.Body.Items = append(q.Body.Items, it)
		}
		return true
	}
}
