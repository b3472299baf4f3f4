package step

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// answerColumns returns the columns of a result that answer the question: the columns that the model named, if they
// exist, except columns with the labels of items in a different column. It returns nil if the model named none.
func answerColumns(vars, named []string) []string {
	there := slices.DeleteFunc(slices.Clone(named), func(c string) bool { return !slices.Contains(vars, c) })
	if len(there) == 0 {
		return nil
	}
	return tool.WithoutLabels(there, vars)
}

// Words returns the model's message to the asker: the answer, the interpretation it chose, and what it left open.
func (f Final) Words() string {
	list := []string{f.Text}
	if f.Answer != nil {
		list = append(list, f.Answer.Assumed, f.Answer.Open)
	}
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	return strings.Join(list, " ")
}

// Answers returns the answer columns of the result, with each distinct row once. This is the form that benchmarks
// compare. If the model named no columns, Answers returns the whole result.
func (a *Answer) Answers() *kg.Table {
	t := a.Table
	if t == nil || t.Ask || len(a.Columns) == 0 || slices.Equal(a.Columns, t.Vars) {
		return t
	}
	out := *t
	out.Vars, out.Rows = a.Columns, nil
	seen := map[string]bool{}
	for _, row := range t.Rows {
		kept, key := make([]rdf.Term, len(a.Columns)), ""
		for i, c := range a.Columns {
			if j := slices.Index(t.Vars, c); j >= 0 && j < len(row) {
				kept[i] = row[j]
			}
			key += kept[i].String() + "\x00"
		}
		if !seen[key] {
			seen[key] = true
			out.Rows = append(out.Rows, kept)
		}
	}
	return &out
}

// shapeless rejects an end if the model cannot have seen the result of its query, or if it names columns that do not
// exist. It also rejects, but only once, an end whose columns differ from those that the model announced, or from what
// the question asks for; the same end is accepted the second time. It returns nil if there is nothing to reject or the
// preset does not check this.
func (r *Runner) shapeless(s *State, end tool.End) *Refusal {
	if !r.Preset.Rules.Shape || end.NoAnswer || end.SPARQL != "" {
		return nil
	}
	i := s.stoppedOn(end)
	k := s.steps[i] // judgeStop has checked that the step exists
	if k.turn == s.turns {
		return &Refusal{Kind: "stop", Back: len(s.steps), Why: unread, data: map[string]any{"N": i + 1}}
	}
	if k.table == nil || k.table.Ask {
		return nil
	}
	if missing := slices.DeleteFunc(slices.Clone(end.Columns), func(c string) bool {
		return slices.Contains(k.table.Vars, c)
	}); len(missing) > 0 {
		text := r.say("shape_unknown", map[string]any{"Unknown": missing, "Columns": k.table.Vars})
		return &Refusal{Kind: "stop", Back: len(s.steps), Why: misshapen, data: map[string]any{"Problems": []string{text},
			"Once": false}}
	}
	if s.shapeTold {
		return nil
	}
	var problems []string
	announced := slices.DeleteFunc(slices.Clone(s.returns), func(column string) bool {
		return len(end.Columns) > 0 && !slices.Contains(end.Columns, column) && s.valueless(column)
	})
	for _, f := range ShapeFaults(r.Question.Text, k.table, end.Columns, announced) {
		problems = append(problems, r.say(string(f.Kind), f))
	}
	if len(problems) == 0 {
		return nil
	}
	s.shapeTold = true
	return &Refusal{Kind: "stop", Back: len(s.steps), Why: misshapen, data: map[string]any{"Problems": problems,
		"Once": true}}
}

// valueless reports whether a query that selected the column returned rows but no value in that column. The graph
// lacks such values, so an answer may leave the column out.
func (s State) valueless(column string) bool {
	return slices.ContainsFunc(s.steps, func(k *kept) bool {
		if k.table == nil || len(k.table.Rows) == 0 {
			return false
		}
		j := slices.Index(k.table.Vars, column)
		return j >= 0 && !slices.ContainsFunc(k.table.Rows, func(row []rdf.Term) bool {
			return j < len(row) && row[j].Bound()
		})
	})
}

// howMany matches questions that ask for a number, in the languages in which most questions are asked.
var howMany = regexp.MustCompile(`(?i)\b(how many|wie ?viele|combien d|cu[aá]nt[ao]s|quant[ei])\b`)

// ShapeFault is a possible fault in an answer's columns.
type ShapeFault struct {
	Kind               ShapeKind
	Column, Item       string   // the column with the names, and the column with the items they name
	Columns, Announced []string // the answer columns and the announced columns
}

// ShapeKind is a kind of fault. It is also the name of the text that the model reads.
type ShapeKind string

// The kinds of faults.
const (
	ShapeLabel  ShapeKind = "shape_label"  // a name instead of the item it names
	ShapeFewer  ShapeKind = "shape_fewer"  // announced columns are missing
	ShapeMore   ShapeKind = "shape_more"   // more columns than announced
	ShapeNumber ShapeKind = "shape_number" // the question asks for a number, but the answer has none
)

// ShapeFaults returns what may be wrong with the columns of an answer to a question. named are the answer columns
// according to the model (nil means all columns of the table), and announced are the columns that it announced before
// it saw a result.
func ShapeFaults(question string, t *kg.Table, named, announced []string) []ShapeFault {
	columns := named
	if len(columns) == 0 {
		columns = t.Vars
	}
	columns = tool.WithoutLabels(columns, t.Vars)
	var out []ShapeFault
	for _, c := range columns {
		if base, label := tool.NameOf(t, c); label && !slices.Contains(t.Vars, base) {
			out = append(out, ShapeFault{Kind: ShapeLabel, Column: c, Item: base})
		}
	}
	switch meant := tool.WithoutLabels(announced, announced); {
	case len(meant) == 0:
	case len(columns) < len(meant):
		out = append(out, ShapeFault{Kind: ShapeFewer, Columns: columns, Announced: announced})
	case len(columns) > len(meant):
		out = append(out, ShapeFault{Kind: ShapeMore, Columns: columns, Announced: announced})
	}
	if len(t.Rows) > 1 && howMany.MatchString(question) && !tool.HasNumber(t, columns) {
		out = append(out, ShapeFault{Kind: ShapeNumber})
	}
	return out
}
