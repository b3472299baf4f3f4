package scorefile

import (
	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
)

// Groupings lists the ways to group items. Order lists the groups in order; if it is nil, they are sorted by name.
var Groupings = []struct {
	By    string
	Order []string
}{
	{"language", nil},
	{"form", []string{"select", "ask"}},
	{"feature", []string{"none"}},
	{"size", sizes},
	{"steps", stepRanges},
}

var (
	sizes      = []string{"truth value", "1", "2 to 10", "11 to 100", "101 to 1,024", "more than 1,024"}
	stepRanges = []string{"1 to 2", "3 to 5", "6 to 8", "9 to 11", "12 to 14", "15 and more"}
)

// sizeGroup returns the size group of a gold answer. The last group starts above 1,024 rows, where GRASP's measure
// changes.
func sizeGroup(a *score.Answer) []string {
	n := a.Size()
	switch {
	case a.Kind == score.Boolean:
		return sizes[:1]
	case n == 0:
		return nil
	case n == 1:
		return sizes[1:2]
	case n <= 10:
		return sizes[2:3]
	case n <= 100:
		return sizes[3:4]
	case n <= 1024:
		return sizes[4:5]
	}
	return sizes[5:6]
}

// stepsGroup returns the group for n steps, or nil if n is negative (unknown). The ranges are those of SPINACH's paper.
func stepsGroup(n int) []string {
	if n < 0 {
		return nil
	}
	i := max(0, min(n/3, len(stepRanges)-1))
	return stepRanges[i : i+1]
}

// queryGroups adds the groups that depend on the gold query, and returns the query's [Hint]. A query that cannot be
// parsed goes into the group "unreadable".
func queryGroups(query string, groups map[string][]string) (h score.Hint) {
	if query == "" {
		return h
	}
	q, err := sparql.Parse(query)
	if err != nil {
		groups["form"] = []string{"unreadable"}
		return h
	}
	groups["form"] = []string{q.Form.String()}
	groups["feature"] = measure.Features(q)
	if len(groups["feature"]) == 0 {
		groups["feature"] = []string{"none"}
	}
	return hintOf(q)
}

// Hint returns what the fair measure needs to know about a gold query besides its rows. It returns the zero Hint if the
// query does not parse.
func Hint(query string) score.Hint {
	q, err := sparql.Parse(query)
	if err != nil {
		return score.Hint{}
	}
	return hintOf(q)
}

// hintOf extracts information from a gold query that its rows do not contain: LIMIT, and ORDER BY with plain
// variables. A query with OFFSET has no hint.
func hintOf(q *sparql.Query) score.Hint {
	var h score.Hint
	if q.Body == nil || q.Body.Offset != nil {
		return h
	}
	if q.Body.Limit != nil && q.Body.Limit.N < 1<<31 {
		h.Limit = int(q.Body.Limit.N)
	}
	if q.Body.OrderBy == nil {
		return h
	}
	for _, k := range q.Body.OrderBy.Keys {
		if k.Expr == nil || k.Expr.Kind != sparql.ExprTerm || k.Expr.Term.Kind != sparql.Var {
			return score.Hint{Limit: h.Limit}
		}
		h.OrderBy = append(h.OrderBy, k.Expr.Term.Name)
	}
	return h
}
