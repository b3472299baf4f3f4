package harvest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
	"github.com/spinachbot/spinachbot/internal/text"
)

// trimmed is the result of applying the paper's four kinds of exclusion and trimming (appendix C) to one query.
type trimmed struct {
	flags []dataset.Flag
	text  string // the query without the parts that may be removed; empty if there are none
	notes []string
}

// trimmer removes the parts of a syntax tree that do not belong to the question's meaning: hints; articles, sitelink
// counts, pictures and formatted text that are only projected; labels in place of their entities; lists of names (which
// become counts). A part may be removed on two conditions: the variables that it introduces are used elsewhere only in
// the projection (or as a plain GROUP BY key), and all its other variables are also bound elsewhere.
type trimmer struct {
	q        *sparql.Query
	flags    []dataset.Flag
	notes    []string
	units    []*unit
	drop     map[sparql.Node]bool
	dropView bool
	changed  bool
}

// Limits on the search, which scans the whole query for each part that may be removed. The archive's longest query
// has 26,000 characters; a hostile one could have two million.
const (
	maxTrimBytes = 64 << 10
	maxUnits     = 200 // parts beyond this number are not examined
)

// trim scans a query and proposes a trimmed one. q is not changed.
func trim(q *sparql.Query) trimmed {
	if len(q.Text) > maxTrimBytes {
		return trimmed{notes: []string{fmt.Sprintf("not looked through for parts to trim: longer than %d bytes",
			maxTrimBytes)}}
	}
	own, err := sparql.Parse(q.Text)
	if err != nil {
		return trimmed{}
	}
	t := &trimmer{q: own, drop: map[sparql.Node]bool{}}
	t.find()
	t.items()
	t.labelsOnly()
	for changed := true; changed; { // for a formatted picture, the text is removed first, then the picture
		changed = false
		for _, u := range t.units {
			if !u.leave && t.try(u) {
				u.leave, changed = true, true
			}
		}
	}
	t.remove()
	out := trimmed{flags: t.flags, notes: t.notes}
	if !t.changed {
		return out
	}
	text := own.String()
	if _, err := sparql.Parse(text); err != nil {
		out.notes = append(out.notes, "no trimmed query is proposed: what remains does not parse")
		return out
	}
	if text != q.Text {
		out.text = text
	}
	return out
}

func (t *trimmer) flag(kind dataset.FlagKind, why string, at sparql.Span, trims bool) {
	f := dataset.Flag{Kind: kind, Why: text.Clip(why, 200), Trims: trims}
	if at != (sparql.Span{}) {
		p := t.q.Position(at.Start)
		f.Line, f.Column = p.Line, p.Column
	}
	t.flags = append(t.flags, f)
	t.changed = t.changed || trims
}

// piece returns the text of a part on a single line.
func (t *trimmer) piece(s sparql.Span) string {
	if int(s.End) > len(t.q.Text) || s.End <= s.Start {
		return ""
	}
	return text.Clip(strings.Join(strings.Fields(t.q.Text[s.Start:s.End]), " "), 80)
}

// try marks a unit for removal if it may be removed.
func (t *trimmer) try(u *unit) bool {
	skip := map[sparql.Node]bool{}
	for n := range t.drop {
		skip[n] = true
	}
	for n := range u.drop {
		skip[n] = true
	}
	before, rest := collect(t.q, t.drop), collect(t.q, skip)
	for v := range u.vars {
		for _, name := range labelled(v) {
			if x := rest[name]; x != nil && (x.bind > 0 || x.other > 0 || x.order > 0) {
				return false
			}
		}
	}
	for v, x := range before {
		if !u.vars[v] && x.bind > 0 && (rest[v] == nil || rest[v].bind == 0) {
			return false
		}
	}
	if !t.leaves(u, skip) {
		return false
	}
	for n := range u.drop {
		t.drop[n] = true
	}
	t.unproject(u.vars)
	t.flags[u.flag].Trims, t.changed = true, true
	return true
}

// leaves reports whether enough of the query remains: a pattern to match and a column to show.
func (t *trimmer) leaves(u *unit, skip map[sparql.Node]bool) bool {
	bound := 0
	for _, x := range collect(t.q, skip) {
		bound += x.bind
	}
	if bound == 0 {
		return false
	}
	b := t.q.Body
	return b.Star || len(b.Items) == 0 || slices.ContainsFunc(b.Items,
		func(i *sparql.SelectItem) bool { return !u.projects(i) })
}

// projects reports whether a projected column is one of the unit's own variables.
func (u *unit) projects(i *sparql.SelectItem) bool {
	if i.Expr != nil {
		return false
	}
	for v := range u.vars {
		if slices.Contains(labelled(v), i.Var) {
			return true
		}
	}
	return false
}

// labelled returns a variable and the variables that the label service derives from it.
func labelled(v string) []string {
	return []string{v, v + "Label", v + "Description", v + "AltLabel"}
}

// unproject removes variables from the projection and the grouping.
func (t *trimmer) unproject(vars map[string]bool) {
	u := &unit{vars: vars}
	b := t.q.Body
	b.Items = slices.DeleteFunc(b.Items, u.projects)
	if b.GroupBy == nil {
		return
	}
	b.GroupBy.Keys = slices.DeleteFunc(b.GroupBy.Keys, func(k *sparql.GroupKey) bool {
		return k.As == "" && k.Expr.Kind == sparql.ExprTerm && k.Expr.Term.Kind == sparql.Var &&
			u.projects(&sparql.SelectItem{Var: k.Expr.Term.Name})
	})
	if len(b.GroupBy.Keys) == 0 {
		b.GroupBy = nil
	}
}

// items handles the projected expressions: lists of names become counts, and formatted text is removed.
func (t *trimmer) items() {
	b := t.q.Body
	used := collect(t.q, nil)
	b.Items = slices.DeleteFunc(b.Items, func(i *sparql.SelectItem) bool {
		switch {
		case i.Expr == nil:
			return false
		case i.Expr.Kind == sparql.ExprAggregate && i.Expr.Op == "GROUP_CONCAT":
			t.flag(dataset.Formatting, "a list of names in one cell, counted instead: "+t.piece(i.Span), i.Span, true)
			i.Expr.Op, i.Expr.Separator = "COUNT", nil
			t.notes = append(t.notes, fmt.Sprintf("trimmed: ?%s is a count now", i.Var))
			return false
		}
		op := formatter(i.Expr)
		if op == "" {
			return false
		}
		x := used[i.Var]
		alone := len(b.Items) == 1 || x != nil && (x.order > 0 || x.other > 0 || x.group > 0)
		t.flag(dataset.Formatting, op+" formats text: "+t.piece(i.Span), i.Span, !alone)
		return !alone
	})
}

// labelsOnly adds entities to the projection if only their labels are selected.
func (t *trimmer) labelsOnly() {
	b := t.q.Body
	if !slices.Contains(measure.Features(t.q), "label-service") {
		return
	}
	used := collect(t.q, nil)
	projected := map[string]bool{}
	for _, i := range b.Items {
		projected[i.Var] = true
	}
	for _, i := range b.Items {
		v, ok := strings.CutSuffix(i.Var, "Label")
		x := used[v]
		if !ok || i.Expr != nil || projected[v] || x == nil || x.bind == 0 {
			continue
		}
		l := used[i.Var]
		free := l == nil || l.order == 0 && l.other == 0 && l.bind == 0
		if b.GroupBy != nil && (x.group == 0 && (l == nil || l.group == 0)) {
			free = false
		}
		t.flag(dataset.Formatting, "only the label ?"+i.Var+" is shown, not ?"+v, i.Span, free)
		if !free {
			continue
		}
		if b.GroupBy != nil && x.group == 0 {
			for _, k := range b.GroupBy.Keys {
				if k.Expr.Kind == sparql.ExprTerm && k.Expr.Term.Kind == sparql.Var && k.Expr.Term.Name == i.Var {
					k.Expr.Term.Name = v
				}
			}
		}
		i.Var, projected[v] = v, true
		t.notes = append(t.notes, fmt.Sprintf("trimmed: ?%s replaces its label", v))
	}
}

func (t *trimmer) remove() {
	if t.dropView {
		t.q.Header = slices.DeleteFunc(t.q.Header, func(c sparql.Comment) bool {
			return strings.HasPrefix(strings.ToLower(strings.ReplaceAll(c.Text, " ", "")), hashView)
		})
	}
	for _, n := range t.q.Named {
		t.prune(n.Query.Where)
	}
	t.prune(t.q.Body.Where)
	sparql.Inspect(t.q, func(n sparql.Node) bool { // hints in EXISTS
		if x, ok := n.(*sparql.Expr); ok && x.Kind == sparql.ExprExists {
			t.prune(x.Group)
		}
		return true
	})
	if t.changed && !t.showsLabels() {
		t.dropLabelService(t.q.Body.Where)
	}
}

// showsLabels reports whether the label service sets any variable, judging by the variables' names.
func (t *trimmer) showsLabels() bool {
	for name, x := range collect(t.q, nil) {
		for _, suffix := range []string{"Label", "Description", "AltLabel"} {
			if strings.HasSuffix(name, suffix) && x.bind == 0 {
				return true
			}
		}
	}
	return t.q.Body.Star
}

// dropLabelService removes the label service. The caller has checked that nothing uses its labels anymore.
func (t *trimmer) dropLabelService(g *sparql.Group) {
	if g == nil {
		return
	}
	g.Patterns = slices.DeleteFunc(g.Patterns, func(p sparql.Pattern) bool {
		s, ok := p.(*sparql.Service)
		return ok && s.Kind() == sparql.LabelService && len(s.Rest()) == 0
	})
}

// prune removes marked parts from a group, and parts that become empty.
func (t *trimmer) prune(g *sparql.Group) {
	if g == nil {
		return
	}
	g.Patterns = slices.DeleteFunc(g.Patterns, func(p sparql.Pattern) bool {
		if t.drop[p] {
			return true
		}
		switch x := p.(type) {
		case *sparql.Triples:
			return t.pruneTriples(x)
		case *sparql.Optional:
			t.prune(x.Group)
			return len(x.Group.Patterns) == 0
		case *sparql.Group:
			n := len(x.Patterns)
			t.prune(x)
			return n > 0 && len(x.Patterns) == 0
		case *sparql.Union:
			for _, b := range x.Branches {
				t.prune(b)
			}
		case *sparql.Minus:
			t.prune(x.Group)
		case *sparql.GraphPattern:
			t.prune(x.Group)
		case *sparql.Service:
			t.prune(x.Group)
		case *sparql.SubSelect:
			t.prune(x.Query.Where)
		}
		return false
	})
}

// pruneTriples removes marked objects and reports whether the statement is now empty.
func (t *trimmer) pruneTriples(x *sparql.Triples) bool {
	if len(x.Properties) == 0 {
		return false
	}
	x.Properties = slices.DeleteFunc(x.Properties, func(p *sparql.Property) bool {
		p.Objects = slices.DeleteFunc(p.Objects, func(o *sparql.Term) bool { return t.drop[o] })
		return len(p.Objects) == 0
	})
	return len(x.Properties) == 0
}
