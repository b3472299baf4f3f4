//go:build integration

package engines

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

var numeric = map[string]bool{"integer": true, "decimal": true, "double": true, "float": true, "int": true,
	"long": true, "short": true, "byte": true,
	"nonNegativeInteger": true, "positiveInteger": true, "negativeInteger": true, "nonPositiveInteger": true,
	"unsignedInt": true, "unsignedLong": true,
	"unsignedShort": true, "unsignedByte": true}

var fraction = regexp.MustCompile(`(:\d\d)\.(\d*?)0*(Z|[+-]\d\d:\d\d)?$`)

// byValue formats a term so that equal values have the same form: numbers of every type with nine digits, and dates
// without unnecessary zeros.
func byValue(t rdf.Term) string {
	local, isXSD := strings.CutPrefix(t.Datatype, rdf.XSD)
	switch {
	case !t.Bound():
		return "-"
	case t.Kind == rdf.BlankKind:
		return "_:"
	case t.Kind == rdf.IRIKind:
		return "<" + t.Value + ">"
	case t.Lang != "":
		return strconv.Quote(t.Value) + "@" + strings.ToLower(t.Lang)
	case isXSD && numeric[local]:
		f, err := strconv.ParseFloat(strings.TrimPrefix(t.Value, "+"), 64)
		if err != nil {
			break
		}
		return number(f)
	case isXSD && local == "boolean":
		return map[string]string{"1": "true", "0": "false"}[t.Value] + strings.Trim(t.Value, "10")
	case isXSD && (local == "dateTime" || local == "date"):
		return date(t.Value) + "^" + local
	case t.Datatype == "" || local == "string":
		return strconv.Quote(t.Value)
	}
	return strconv.Quote(t.Value) + "^^" + t.Datatype
}

func number(f float64) string {
	if f == 0 || math.Abs(f) < 1e-12 {
		return "0"
	}
	return strconv.FormatFloat(f, 'g', 9, 64)
}

func date(s string) string {
	if m := fraction.FindStringSubmatchIndex(s); m != nil {
		digits := s[m[4]:m[5]]
		if digits != "" {
			digits = "." + digits
		}
		zone := ""
		if m[6] >= 0 {
			zone = s[m[6]:m[7]]
		}
		s = s[:m[3]] + digits + zone
	}
	for _, zero := range []string{"+00:00", "-00:00"} {
		if rest, ok := strings.CutSuffix(s, zero); ok {
			s = rest + "Z"
		}
	}
	return strings.TrimPrefix(s, "+")
}

// result is a table of values. Columns are sorted by name. Columns whose values the standard leaves to the engine are
// omitted.
type result struct {
	vars []string
	rows []string   // each row's cells joined, in result order
	keys [][]string // each row's cells in the ORDER BY columns, if the query is ordered by its own columns
	ask  string
}

// laxity describes in which columns of a query the engine may choose the values, and which columns determine the order
// of the rows.
type laxity struct {
	free    map[string]bool // SAMPLE columns
	bag     map[string]bool // columns of GROUP_CONCAT, whose parts may be in any order
	order   []string
	limited bool // LIMIT or OFFSET at the top level
}

func laxityOf(q *sparql.Query) laxity {
	l := laxity{free: map[string]bool{}, bag: map[string]bool{}, limited: q.Body.Limit != nil || q.Body.Offset != nil}
	item := func(name string, e *sparql.Expr) {
		if e == nil || name == "" {
			return
		}
		sparql.Inspect(e, func(n sparql.Node) bool {
			if x, ok := n.(*sparql.Expr); ok {
				switch {
				case x.Kind == sparql.ExprAggregate && x.Op == "SAMPLE":
					l.free[name] = true
				case x.Kind == sparql.ExprAggregate && x.Op == "GROUP_CONCAT":
					l.bag[name] = true
				case x.Kind == sparql.ExprTerm && x.Term.Kind == sparql.Var && l.free[x.Term.Name]:
					l.free[name] = true
				case x.Kind == sparql.ExprTerm && x.Term.Kind == sparql.Var && l.bag[x.Term.Name]:
					l.bag[name] = true
				}
			}
			return true
		})
	}
	for range 3 { // a column computed from a free column is free, too
		sparql.Inspect(q, func(n sparql.Node) bool {
			switch x := n.(type) {
			case *sparql.SelectItem:
				item(x.Var, x.Expr)
			case *sparql.Bind:
				item(x.Var, x.Expr)
			}
			return true
		})
	}
	for v := range l.free {
		l.free[v+"Label"], l.free[v+"Description"], l.free[v+"AltLabel"] = true, true, true
	}
	if q.Body.OrderBy != nil {
		for _, k := range q.Body.OrderBy.Keys {
			if k.Expr.Kind != sparql.ExprTerm || k.Expr.Term.Kind != sparql.Var || l.free[k.Expr.Term.Name] ||
				l.bag[k.Expr.Term.Name] {
				break
			}
			l.order = append(l.order, k.Expr.Term.Name)
		}
	}
	return l
}

// truthAsNumbers converts booleans to 1 and 0, as Virtuoso returns them.
func truthAsNumbers(t *kg.Table) *kg.Table {
	out := *t
	out.Rows = make([][]rdf.Term, len(t.Rows))
	for i, row := range t.Rows {
		out.Rows[i] = slices.Clone(row)
		for j, c := range row {
			if c.Datatype == rdf.XSDBoolean {
				out.Rows[i][j] = rdf.Typed(map[string]string{"true": "1", "false": "0"}[c.Value], rdf.XSDInteger)
			}
		}
	}
	return &out
}

// withoutLabels drops the columns that a label service fills, and returns the distinct rows.
func (r *result) withoutLabels() []string {
	seen := map[string]bool{}
	for _, row := range r.rows {
		cells := strings.Split(row, "\t")
		kept := cells[:0]
		for i, c := range cells {
			if !strings.HasSuffix(r.vars[i], "Label") {
				kept = append(kept, c)
			}
		}
		seen[strings.Join(kept, "\t")] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func resultOf(t *kg.Table, l laxity) *result {
	if t.Ask {
		return &result{ask: fmt.Sprint(t.Boolean)}
	}
	at := map[string]int{}
	for i, v := range t.Vars {
		at[v] = i
	}
	r := &result{}
	for v := range at {
		if !l.free[v] {
			r.vars = append(r.vars, v)
		}
	}
	sort.Strings(r.vars)
	for _, row := range t.Rows {
		cells := make([]string, len(r.vars))
		for i, v := range r.vars {
			cells[i] = byValue(row[at[v]])
			if l.bag[v] {
				runes := []rune(row[at[v]].Value)
				slices.Sort(runes)
				cells[i] = string(runes)
			}
		}
		var key []string
		for _, v := range l.order {
			i, ok := at[v]
			if !ok {
				break
			}
			key = append(key, byValue(row[i]))
		}
		r.rows = append(r.rows, strings.Join(cells, "\t"))
		r.keys = append(r.keys, key)
	}
	return r
}

// difference describes the first difference in one sentence, or returns "" if the rows have the same values.
func difference(want, got *result, l laxity) string {
	if want.ask != got.ask {
		return fmt.Sprintf("%q instead of %q", got.ask, want.ask)
	}
	if want.ask != "" {
		return ""
	}
	if len(want.rows) == 0 && len(got.rows) == 0 {
		return ""
	}
	if len(want.rows) != len(got.rows) {
		return fmt.Sprintf("%d rows instead of %d: %s", len(got.rows), len(want.rows), bagDifference(want.rows, got.rows))
	}
	if !slices.Equal(want.vars, got.vars) {
		return fmt.Sprintf("columns %v instead of %v", got.vars, want.vars)
	}
	if d := orderDifference(want.keys, got.keys); d != "" {
		return d
	}
	if l.limited {
		return "" // the engine chooses which of several tied rows to cut off; the keys were compared
	}
	return bagDifference(want.rows, got.rows)
}

// orderDifference compares the values by which the rows are ordered. It stops at the first sort key with values of
// different kinds, because the standard does not define their order.
func orderDifference(want, got [][]string) string {
	width := 0
	if len(want) > 0 {
		width = len(want[0])
	}
	for k := range width {
		kinds := map[string]bool{}
		for _, w := range want {
			kinds[kindOf(w[k])] = true
		}
		delete(kinds, "-")
		if len(kinds) > 1 || kinds[""] {
			width = k
		}
		if width == k {
			break
		}
	}
	for i := range want {
		if len(got[i]) < width || !slices.Equal(want[i][:width], got[i][:width]) {
			return fmt.Sprintf("row %d: ordered by %q instead of %q", i+1, got[i], want[i])
		}
	}
	return ""
}

// kindOf returns the kind of a value, or "" if the standard defines no order for it.
func kindOf(cell string) string {
	switch {
	case cell == "-", cell == "true", cell == "false":
		return cell[:1]
	case cell[0] == '<':
		return "iri"
	case cell[0] == '"' && cell[len(cell)-1] == '"':
		return "string"
	case cell[0] == '"' || cell[0] == '_':
		return ""
	case strings.HasSuffix(cell, "^dateTime"):
		return "dateTime"
	case strings.HasSuffix(cell, "^date"):
		return ""
	}
	return "number"
}

func bagDifference(want, got []string) string {
	n := map[string]int{}
	for _, r := range want {
		n[r]++
	}
	for _, r := range got {
		n[r]--
	}
	var missing, extra []string
	for r, k := range n {
		switch {
		case k > 0:
			missing = append(missing, fmt.Sprintf("%d× %.200s", k, r))
		case k < 0:
			extra = append(extra, fmt.Sprintf("%d× %.200s", -k, r))
		}
	}
	if len(missing)+len(extra) == 0 {
		return ""
	}
	sort.Strings(missing)
	sort.Strings(extra)
	return fmt.Sprintf("lacks %d such as %q, has %d more such as %q", len(missing), first(missing), len(extra),
		first(extra))
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}
