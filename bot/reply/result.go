package reply

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Rows returns an answer's distinct rows in the order that a reply shows; [Figure].Row is an index into them. If the
// query leaves their order open, or orders them by item ID, rows whose first column has a label come first: a reader
// can do little with IDs alone.
func Rows(a *agent.Answer) [][]rdf.Term {
	rows, vars := Distinct(a.Table.Rows), a.Table.Vars
	short := func(row []rdf.Term) bool { return len(row) < len(vars) }
	q, err := sparql.Parse(a.SPARQL)
	if err != nil || q.Body == nil || len(vars) == 0 || slices.ContainsFunc(rows, short) {
		return rows
	}
	var keys []int // columns that the order depends on
	for _, name := range orderVars(q) {
		k := slices.Index(vars, name)
		if k < 0 {
			return rows // sorted by something that the rows do not contain
		}
		if item := func(row []rdf.Term) bool { return row[0].IsIRI() }; k > 0 || !slices.ContainsFunc(rows, item) {
			keys = append(keys, k) // the order of the items' IDs means nothing
		}
	}
	tied := func(x, y []rdf.Term) bool {
		return !slices.ContainsFunc(keys, func(k int) bool { return x[k] != y[k] })
	}
	label := slices.Index(vars, vars[0]+"Label")
	nameless := func(row []rdf.Term) int {
		id := rdf.EntityID(row[0].Value)
		if row[0].IsIRI() && id != "" && a.Labels[id] == "" && (label < 0 || row[label].Value == id || row[label].Value == "") {
			return 1
		}
		return 0
	}
	for start, end := 0, 0; start < len(rows); start = end {
		for end = start + 1; end < len(rows) && tied(rows[start], rows[end]); end++ {
		}
		slices.SortStableFunc(rows[start:end], func(x, y []rdf.Term) int { return nameless(x) - nameless(y) })
	}
	return rows
}

// orderVars returns the variables in a query's ORDER BY.
func orderVars(q *sparql.Query) []string {
	var out []string
	if q.Body.OrderBy == nil {
		return nil
	}
	for _, key := range q.Body.OrderBy.Keys {
		sparql.Inspect(key, func(n sparql.Node) bool {
			if t, ok := n.(*sparql.Term); ok && t.Kind == sparql.Var {
				out = append(out, t.Name)
			}
			return true
		})
	}
	return out
}

// Distinct returns the distinct rows of a table. Rows that differ only in characters that are not shown, such as
// directional marks, are equal.
func Distinct(table [][]rdf.Term) [][]rdf.Term {
	seen := map[string]bool{}
	var out [][]rdf.Term
	for _, row := range table {
		seenAs := slices.Clone(row)
		for i := range seenAs {
			seenAs[i].Value = strings.Map(visible, seenAs[i].Value)
		}
		if key := fmt.Sprintf("%q", seenAs); !seen[key] {
			seen[key] = true
			out = append(out, row)
		}
	}
	return out
}

// ResultName returns a name for an answer's result, or "" if the result cannot be compared. The name depends on neither
// the row order nor the labels.
func ResultName(a *agent.Answer) string {
	if a == nil || a.Table == nil {
		return ""
	}
	rows := []string{fmt.Sprint(a.Table.Ask, a.Table.Boolean)}
	for _, row := range a.Table.Rows {
		var cells []string
		for i, term := range row {
			name := a.Table.Vars[min(i, len(a.Table.Vars)-1)]
			if of, ok := strings.CutSuffix(name, "Label"); ok && slices.Contains(a.Table.Vars, of) {
				continue
			}
			if strings.HasPrefix(term.String(), "_:") {
				return ""
			}
			cells = append(cells, term.String())
		}
		rows = append(rows, strings.Join(cells, "\x00"))
	}
	slices.Sort(rows[1:])
	h := sha256.Sum256([]byte(strings.Join(rows, "\x01")))
	return hex.EncodeToString(h[:8])
}

// maxRowNames is the maximum number of rows that are named if a variant adds or removes them.
const maxRowNames = 3

// rowNames returns the labels of the items in the first column of the rows that a variant adds or removes, if there are
// only a few and all labels are known.
func rowNames(out *agent.Outcome, p agent.Probe) []string {
	rows := p.NewRows
	if p.Come == 0 {
		rows = p.OldRows
	}
	if n := p.Come + p.Gone; n > maxRowNames || p.Come > 0 && p.Gone > 0 || p.More || len(rows) != n {
		return nil
	}
	var names []string
	for _, row := range rows {
		if len(row) == 0 {
			return nil
		}
		name, _ := nameOf(out, p, rdf.EntityID(row[0].Value))
		if name == "" || slices.Contains(names, name) {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// newFigure returns the figure that a variant has instead of the result's, preceded by the label of its row if the
// result has several. It is the first figure that changes in a row whose items stay, or "" if that is unknown.
func newFigure(out *agent.Outcome, p agent.Probe) string {
	t := forum.Texts(out.Language)
	for _, was := range p.OldRows {
		for _, row := range p.NewRows {
			at := differing(was, row)
			if at < 0 {
				continue
			}
			figure := t.Decimal(row[at].Value)
			if len(row) == 1 {
				return figure
			}
			if name, _ := nameOf(out, p, rdf.EntityID(row[0].Value)); name != "" {
				return t.Text("open_rows", "counts", name, "names", figure)
			}
		}
	}
	return ""
}

// differing returns the index of the only column in which two rows differ, if both have an integer there, or -1.
func differing(a, b []rdf.Term) int {
	at := -1
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if at >= 0 || a[i].Datatype != rdf.XSDInteger || b[i].Datatype != rdf.XSDInteger {
			return -1
		}
		at = i
	}
	return at
}

// qualifier reports whether a query uses the property with an ID as a qualifier.
func qualifier(query, id string) bool {
	return id != "" && regexp.MustCompile("pq:"+regexp.QuoteMeta(id)+`\b`).MatchString(query)
}
