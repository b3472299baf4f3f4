package render

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// maxCell is the maximum number of characters shown in a cell.
const maxCell = 200

// TypedRows is the number of rows at each end that are examined to determine the kinds of a column's values. A
// trajectory keeps the same number.
const TypedRows = 500

// Window determines which rows of a result are shown: all rows if there are at most Whole or if fewer than Least would
// be hidden, and otherwise the first Head and the last Tail rows.
type Window struct {
	Whole int `json:"whole"`
	Head  int `json:"head"`
	Tail  int `json:"tail"`
	Least int `json:"least"` // minimum number of rows to hide, if any
}

// Roomy shows up to 25 rows in full, and hides rows only if there are at least five to hide.
var Roomy = Window{Whole: 25, Head: 12, Tail: 8, Least: 5}

// cut reports whether rows are hidden in a result with n rows.
func (w Window) cut(n int) bool { return n > w.Whole && n-w.Head-w.Tail >= w.Least }

// Table formats a result for the model: the number of rows, the columns, the kinds of their values, and the rows. It
// shows only the rows that w determines. The result of an ASK query is shown as True
// or False. names contains the labels of the IDs in the shown rows.
func (w Window) Table(t *kg.Table, names Names) string {
	if t.Ask {
		if t.Boolean {
			return "True"
		}
		return "False"
	}
	n := len(t.Rows)
	cut := w.cut(n)
	lines := []string{say("rows", map[string]any{"Total": n, "Cut": cut, "Head": w.Head, "Tail": w.Tail}),
		strings.Join(t.Vars, " | "), "[" + strings.Join(names.kinds(t), " | ") + "]"}
	for i, row := range t.Rows {
		if cut && i >= w.Head && i < n-w.Tail {
			if i == w.Head {
				lines = append(lines, say("rows_gap", n-w.Head-w.Tail))
			}
			continue
		}
		cells := make([]string, len(t.Vars))
		for j := range cells {
			var c rdf.Term
			if j < len(row) {
				c = row[j]
			}
			cells[j] = names.labelFor(t.Vars, row, j).cell(c)
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	return strings.Join(lines, "\n")
}

// Row formats the cells of a row on one line.
func Row(vars []string, row []rdf.Term, names Names) string {
	var cells []string
	for j := range vars {
		if j < len(row) {
			cells = append(cells, names.labelFor(vars, row, j).cell(row[j]))
		}
	}
	return strings.Join(cells, " | ")
}

// Limits on the results that [Short] formats.
const (
	shortColumns = 5
	shortLength  = 200 // characters
)

// Short formats a truth value, or the only row of a result with few columns, on one line: "True", or "n = 16, place =
// Bonn (Q586)". It returns "" for anything else.
func Short(t *kg.Table, names Names) string {
	switch {
	case t.Ask && t.Boolean:
		return "True"
	case t.Ask:
		return "False"
	case len(t.Rows) != 1 || len(t.Vars) > shortColumns:
		return ""
	}
	var cells []string
	for j, v := range t.Vars {
		if j < len(t.Rows[0]) {
			cells = append(cells, v+" = "+names.labelFor(t.Vars, t.Rows[0], j).cell(t.Rows[0][j]))
		}
	}
	return Clip(strings.Join(cells, ", "), shortLength)
}

// labelFor returns the names for a cell, without labels if the row has the label in a separate column.
func (n Names) labelFor(vars []string, row []rdf.Term, j int) Names {
	if label := slices.Index(vars, vars[j]+"Label"); label >= 0 && label < len(row) && row[label].Bound() {
		n.Labels = nil
	}
	return n
}

// Wikibase reports whether nodes are named by IDs such as Q42. If there is no graph, it returns true.
func (n Names) Wikibase() bool {
	return n.Graph == nil || n.Graph.Statements == "" || n.Graph.IsWikibase()
}

// cell formats a value in a result.
func (n Names) cell(c rdf.Term) string {
	switch {
	case !c.Bound():
		return "-"
	case c.Kind == rdf.BlankKind && !n.Wikibase():
		return "[]"
	case unknownValue(c):
		return say("unknown_value", nil)
	case c.IsIRI() && !n.Wikibase():
		return n.labelled(n.Short(c.Value), n.Short(c.Value))
	case c.IsIRI():
		return n.entity(c.Value)
	}
	return Clip(Fold(c.Value), maxCell)
}

// entity formats a Wikibase IRI: an entity as its ID, any other IRI in a known namespace as its prefixed name ("p:P39",
// "wds:Q42-…"), which can be used in a query as is, and all others in full. It adds the ID's label, if known.
func (n Names) entity(iri string) string {
	id := rdf.EntityID(iri)
	name := strings.Trim(rdf.Shorten(iri), "<>")
	if iri == rdf.Entity+id {
		name = id
	}
	return n.labelled(name, id)
}

// labelled formats a name with the label of id, or with a note that id has no label in any language. Addresses never
// have labels.
func (n Names) labelled(name, id string) string {
	label, asked := n.Labels[id]
	switch {
	case label != "" && label != id:
		return Fold(label) + " (" + name + ")"
	case asked && label == "" && !strings.HasPrefix(name, "<"):
		return name + noLabel
	}
	return Clip(name, maxCell)
}

// unknownValue reports whether a term is Wikidata's "somevalue": a blank node or the IRI that the query service uses
// instead.
func unknownValue(c rdf.Term) bool {
	return c.Kind == rdf.BlankKind || strings.HasPrefix(c.Value, "http://www.wikidata.org/.well-known/genid/")
}

// kinds describes the kinds of values in each column: item, property, statement, IRI, the datatype of literals, or text
// with its language. It also reports the number of rows without a value.
func (n Names) kinds(t *kg.Table) []string {
	out := make([]string, len(t.Vars))
	for j := range t.Vars {
		var kinds []string
		unbound, empty := 0, 0
		for i, row := range t.Rows {
			if len(t.Rows) > 2*TypedRows && i >= TypedRows && i < len(t.Rows)-TypedRows {
				continue
			}
			if j >= len(row) || !row[j].Bound() {
				unbound++
				continue
			}
			if row[j].IsLiteral() && row[j].Value == "" { // such as a GROUP_CONCAT of nothing
				empty++
			}
			if k := n.kind(row[j]); !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
		if len(kinds) > 4 {
			kinds = append(kinds[:3], "…")
		}
		switch {
		case unbound > 0 && len(t.Rows) > 2*TypedRows:
			kinds = append(kinds, "some unbound")
		case unbound > 0:
			kinds = append(kinds, fmt.Sprintf("%d unbound", unbound))
		}
		if empty > 0 {
			kinds = append(kinds, fmt.Sprintf("%d empty", empty))
		}
		out[j] = strings.Join(kinds, ", ")
	}
	return out
}

func (n Names) kind(c rdf.Term) string {
	switch {
	case c.Kind == rdf.BlankKind && !n.Wikibase():
		return "node without a name"
	case c.IsIRI() && !n.Wikibase():
		return "IRI"
	case unknownValue(c):
		return "unknown value"
	case c.IsIRI():
		switch id := rdf.EntityID(c.Value); {
		case strings.HasPrefix(id, "Q"):
			return "item"
		case strings.HasPrefix(id, "P"):
			return "property"
		case id != "":
			return "lexeme"
		case strings.HasPrefix(c.Value, rdf.Entity+"statement/"):
			return "statement"
		}
		return "IRI"
	case c.Lang != "":
		return "text@" + c.Lang
	case c.Datatype == "":
		return "text"
	}
	return c.Datatype[strings.LastIndexAny(c.Datatype, "#/")+1:]
}

// IDs returns the IDs in the rows that [Window.Table] shows; id returns the ID of a node, or "".
func (w Window) IDs(t *kg.Table, id func(rdf.Term) string) []string {
	var out []string
	for i, row := range t.Rows {
		if w.cut(len(t.Rows)) && i >= w.Head && i < len(t.Rows)-w.Tail {
			continue
		}
		for j, c := range row {
			if s := id(c); s != "" && j < len(t.Vars) && !slices.Contains(t.Vars, t.Vars[j]+"Label") &&
				!slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

const (
	minNamed = 4  // minimum number of characters in a name that is searched for in a text
	maxNamed = 20 // maximum number of rows returned
)

// Named returns the rows of a table that a text names. If [Window.Table] shows all rows, Named returns "".
func (w Window) Named(t *kg.Table, names Names, text string) string {
	if t == nil || !w.cut(len(t.Rows)) {
		return ""
	}
	var out []string
	for _, row := range t.Rows {
		if len(out) < maxNamed && slices.ContainsFunc(row, func(c rdf.Term) bool {
			name := c.Value
			if c.IsIRI() {
				name = names.Labels[rdf.EntityID(c.Value)]
			}
			return utf8.RuneCountInString(name) >= minNamed && strings.Contains(text, name)
		}) {
			out = append(out, Row(t.Vars, row, names))
		}
	}
	return strings.Join(out, "\n")
}
