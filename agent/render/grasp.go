package render

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Limits on what GRASP's tools show (section 3.2 of the GRASP paper, and GRASP's code).
const (
	graspCell    = 64  // maximum length of a label, an alias or a cell; both ends are kept
	graspInfo    = 128 // maximum length of a hit's description or any other fact
	graspAliases = 5
	graspInfos   = 4
)

// midnight is the suffix of a timestamp that represents only a date.
const midnight = "T00:00:00Z"

// Names formats a graph's terms the way GRASP shows them: "Norway (wd:Q20)", "point in time (pq:P585)".
type Names struct {
	Graph  *kg.Description
	Labels map[string]string // labels by [Names.ID]
	All    bool              // Labels is complete: what is not in it has no label
	Cell   int               // maximum length of a term; GRASP's limit if 0
}

// clip shortens a label or value.
func (n Names) clip(s string) string {
	if n.Cell > 0 {
		return ClipMiddle(Fold(s), n.Cell)
	}
	return ClipMiddle(Fold(s), graspCell)
}

// ID returns the key for looking up an IRI's label. On a Wikibase, this is the ID, or "" for anything that is not an
// entity. On other graphs, it is the prefixed name or <IRI>.
func (n Names) ID(iri string) string {
	if n.Graph.IsWikibase() {
		return rdf.EntityID(iri)
	}
	return n.Short(iri)
}

// Short formats an IRI for use in a query: with a prefix if one fits.
func (n Names) Short(iri string) string { return n.Graph.Compact(iri) }

// Term formats a term: an IRI with its label, a literal with its language or datatype.
func (n Names) Term(t rdf.Term) string {
	text, kind := n.parts(t, true)
	if kind != "" {
		text += " (" + kind + ")"
	}
	return text
}

// Plain formats a term like [Names.Term], except that a literal has no language or datatype, and a time at midnight is
// shown as a date.
func (n Names) Plain(t rdf.Term) string {
	text, _ := n.parts(t, true)
	if t.Datatype == rdf.XSDDateTime {
		text = strings.TrimSuffix(text, midnight)
	}
	return text
}

// parts formats a term and, separately, the language or datatype of a literal.
func (n Names) parts(t rdf.Term, labels bool) (text, kind string) {
	switch {
	case !t.Bound():
		return "", ""
	case unknownValue(t):
		return say("unknown_value", nil), ""
	case t.IsIRI():
		name := n.Short(t.Value)
		label := n.Labels[n.ID(t.Value)]
		switch {
		case !labels:
		case label != "":
			return n.clip(label) + " (" + name + ")", ""
		case n.All && n.Graph.IsWikibase() && strings.HasPrefix(t.Value, rdf.Entity+"Q"):
			return name + noLabel, ""
		}
		return name, ""
	case t.Lang != "":
		return n.clip(t.Value), t.Lang
	case t.Datatype != "":
		return n.clip(t.Value), n.Short(t.Datatype)
	}
	return n.clip(t.Value), ""
}

// ClipMiddle shortens s to n characters by replacing the middle with "…".
func ClipMiddle(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	head := n / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}

// Pick returns the indexes of the rows or columns to show, out of n. If page is 0, it returns all indexes if n is at
// most w.Whole, and otherwise the first w.Head and the last w.Tail. If page is positive, it returns the indexes on that
// page; each page has w.Whole rows.
func (w Window) Pick(n, page int) []int {
	from, to := 0, n
	if page > 0 {
		from, to = min(n, (page-1)*w.Whole), min(n, page*w.Whole)
	}
	var out []int
	for i := from; i < to; i++ {
		if page == 0 && n > w.Whole && i >= w.Head && i < n-w.Tail {
			continue
		}
		out = append(out, i)
	}
	return out
}

// Frame determines which rows and columns of a result are shown. If there are too many for the window, only the first
// and last ones are shown. If Page is not 0, the rows on that page are shown; the first page is 1.
type Frame struct {
	Rows, Columns Window
	Page          int
}

// Places returns the indexes of the shown rows and columns.
func (f Frame) Places(t *kg.Table) (rows, columns []int) {
	return f.Rows.Pick(len(t.Rows), f.Page), f.Columns.Pick(len(t.Vars), 0)
}

// Terms returns the shown terms.
func (f Frame) Terms(t *kg.Table) []rdf.Term {
	var out []rdf.Term
	rows, columns := f.Places(t)
	for _, i := range rows {
		for _, j := range columns {
			if j < len(t.Rows[i]) {
				out = append(out, t.Rows[i][j])
			}
		}
	}
	return out
}

// Grid formats a result as a Markdown table, with its size on a line above it.
func (n Names) Grid(t *kg.Table, f Frame) string {
	if t.Ask {
		if t.Boolean {
			return "True"
		}
		return "False"
	}
	rows, columns := f.Places(t)
	head := say("grid", map[string]any{"Rows": len(t.Rows), "Columns": len(t.Vars),
		"Shown": places(rows, len(t.Rows)), "Of": places(columns, len(t.Vars))})
	return head + "\n" + n.Body(t, f, nil)
}

// Body formats the table in [Names.Grid]. If all literals in a column have the same language or datatype, the column
// heading shows that language or datatype. after, which may be nil, returns text to append to a cell of t.
func (n Names) Body(t *kg.Table, f Frame, after func(row, column int) string) string {
	rows, columns := f.Places(t)
	cells := make([][]string, len(columns))
	for c, j := range columns {
		cells[c] = n.column(t, j, rows)
		for i := 0; after != nil && i < len(rows); i++ {
			cells[c][i+1] += escapeCell(after(rows[i], j))
		}
	}
	row := func(at int) []string {
		var out []string
		for c := range columns {
			if c > 0 && columns[c] > columns[c-1]+1 {
				out = append(out, "…")
			}
			out = append(out, cells[c][at])
		}
		return out
	}
	var lines []string
	line := func(cells []string) { lines = append(lines, "|"+strings.Join(cells, "|")+"|") }
	head := row(0)
	line(head)
	line(slices.Repeat([]string{"-"}, len(head)))
	for i, r := range rows {
		if i > 0 && r > rows[i-1]+1 {
			lines = append(lines, "…")
		}
		line(row(i + 1))
	}
	return strings.Join(lines, "\n")
}

// column formats a column's heading and its cells in the given rows.
func (n Names) column(t *kg.Table, j int, rows []int) []string {
	label := slices.Index(t.Vars, t.Vars[j]+"Label")
	texts, kinds := make([]string, len(rows)), make([]string, len(rows))
	var all []string // the kinds of the nonempty cells
	for i, r := range rows {
		var c, l rdf.Term
		if j < len(t.Rows[r]) {
			c = t.Rows[r][j]
		}
		if label >= 0 && label < len(t.Rows[r]) {
			l = t.Rows[r][label]
		}
		texts[i], kinds[i] = n.parts(c, !l.Bound())
		if c.Bound() && !slices.Contains(all, kinds[i]) {
			all = append(all, kinds[i])
		}
	}
	head := t.Vars[j]
	if len(all) == 1 && all[0] != "" {
		head += " (" + all[0] + ")"
		if !slices.ContainsFunc(texts, func(s string) bool { return s != "" && !strings.HasSuffix(s, midnight) }) {
			head = t.Vars[j] + " (" + all[0] + ", each at " + midnight + ")"
			for i := range texts {
				texts[i] = strings.TrimSuffix(texts[i], midnight)
			}
		}
	}
	out := []string{escapeCell(head)}
	for i, s := range texts {
		if kinds[i] != "" && len(all) > 1 {
			s += " (" + kinds[i] + ")"
		}
		out = append(out, escapeCell(s))
	}
	return out
}

func escapeCell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// places describes which of n positions are shown, as in "1 to 5 and 8 to 12". It returns "" if all are shown.
func places(shown []int, n int) string {
	if len(shown) == n {
		return ""
	}
	var out []string
	for i := 0; i < len(shown); {
		j := i
		for j+1 < len(shown) && shown[j+1] == shown[j]+1 {
			j++
		}
		if i == j {
			out = append(out, fmt.Sprint(shown[i]+1))
		} else {
			out = append(out, fmt.Sprintf("%d to %d", shown[i]+1, shown[j]+1))
		}
		i = j + 1
	}
	return strings.Join(out, " and ")
}

// HitName formats a hit's name: "Norway (wd:Q20)". A Wikidata property is shown with the prefixes it is used with:
// "capital (wdt:P36, p, ps)".
func (n Names) HitName(h kg.Hit) string { return n.hitName(h, "") }

func (n Names) hitName(h kg.Hit, also string) string {
	name := h.ID
	if h.Term != nil {
		if h.Term.IsLiteral() {
			return n.Literal(*h.Term)
		}
		name = n.Short(h.Term.Value)
	} else if iri, ok := n.Graph.Expand(h.ID); ok {
		name = n.Short(iri)
	}
	if len(h.Variants) > 0 && n.Graph.IsWikibase() {
		name = strings.Join(append([]string{h.Variants[0] + ":" + h.ID}, h.Variants[1:]...), ", ")
	}
	if h.Label == "" {
		return name + noLabel
	}
	s := ClipMiddle(Fold(h.Label), graspCell)
	if also != "" {
		s += ", also " + also
	}
	return s + " (" + name + ")"
}

// Hit formats a hit: "Norway, also Norge (wd:Q20): country in Northern Europe; 5211 uses".
func (n Names) Hit(h kg.Hit) string {
	s := n.hitName(h, aliases(h))
	if h.Term != nil && h.Term.IsLiteral() {
		return s
	}
	if infos := facts(h); len(infos) > 0 {
		s += ": " + strings.Join(infos, "; ")
	}
	return s
}

// Literal formats a literal for use in a query and shortens it.
func (n Names) Literal(t rdf.Term) string {
	s := rdf.Quote(ClipMiddle(Fold(t.Value), graspCell))
	switch {
	case t.Lang != "":
		return s + "@" + t.Lang
	case t.Datatype != "":
		return s + "^^" + n.Short(t.Datatype)
	}
	return s
}

// aliases returns a hit's other names, starting with the one that the search matched. Names that differ only in spaces,
// punctuation or case are treated as one.
func aliases(h kg.Hit) string {
	var out []string
	seen := map[string]bool{bare(h.Label): true}
	for _, a := range append([]string{h.MatchText}, h.Aliases...) {
		if k := bare(a); k != "" && !seen[k] && len(out) < graspAliases {
			seen[k] = true
			out = append(out, ClipMiddle(Fold(a), graspCell))
		}
	}
	return strings.Join(out, ", ")
}

// bare returns a name's letters and digits in lower case, so that names that differ only in case or other characters
// are equal.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// facts returns what else is known about a hit.
func facts(h kg.Hit) []string {
	var out []string
	for _, f := range append([]string{h.Description}, h.Info...) {
		if h.Datatype != "" { // some descriptions end with the datatype
			f = strings.TrimSuffix(Fold(f), "Data Type: "+h.Datatype)
		}
		f = ClipMiddle(strings.TrimRight(Fold(f), "."), graspInfo)
		if f != "" && len(out) < graspInfos && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	if h.Datatype != "" {
		out = append(out, strings.TrimPrefix(h.Datatype, "wikibase-"))
	}
	if h.Uses > 0 {
		out = append(out, text.Count(int(h.Uses), "use"))
	}
	return out
}
