package noisy

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// misreadings are the ways in which a question is understood wrongly. They are those that were counted in published
// runs (missing subclass path, an unasked LIMIT, a lost or an added condition, extra columns, the other direction).
// Each changes the tree, or says that it does not apply.
var misreadings = []func(q *sparql.Query, rnd *rand.Rand) bool{
	dropCondition, addLimit, turnAround, addColumn, requireLabel,
}

var subclasses = regexp.MustCompile(`\s*/\s*wdt:P279\s*[*+]`)

// misread returns a query that reads the question in another way, false when none of the misreadings applies.
func (r *Reader) misread(gold string, rnd *rand.Rand) (string, bool) {
	if subclasses.MatchString(gold) && rnd.IntN(3) == 0 {
		return subclasses.ReplaceAllString(gold, ""), true
	}
	for _, i := range rnd.Perm(len(misreadings)) {
		q, err := r.parse(gold)
		if err != nil || q.Body.Where == nil {
			return "", false
		}
		if !misreadings[i](q, rnd) {
			continue
		}
		right, err := r.parse(gold)
		if err != nil {
			return "", false
		}
		text := q.String()
		if again, err := r.parse(text); err == nil && oneLine(again) != oneLine(right) {
			return text, true
		}
	}
	return "", false
}

func oneLine(q *sparql.Query) string { return sparql.Print(q, sparql.PrintOptions{OneLine: true}) }

// dropCondition takes out a triple or a filter that binds no answer.
func dropCondition(q *sparql.Query, rnd *rand.Rand) bool {
	ps := q.Body.Where.Patterns
	for _, i := range rnd.Perm(len(ps)) {
		switch ps[i].(type) {
		case *sparql.Triples, *sparql.Filter:
		default:
			continue
		}
		rest := slices.Delete(slices.Clone(ps), i, i+1)
		left := &sparql.Group{Patterns: rest}
		visible := left.Visible()
		ok := len(rest) > 0
		for _, c := range q.Body.Columns() {
			if it := slices.IndexFunc(q.Body.Items, func(x *sparql.SelectItem) bool { return x.Var == c }); it >= 0 &&
				q.Body.Items[it].Expr != nil {
				continue
			}
			ok = ok && slices.Contains(visible, c)
		}
		if ok {
			q.Body.Where.Patterns = rest
			return true
		}
	}
	return false
}

func addLimit(q *sparql.Query, _ *rand.Rand) bool {
	if q.Body.Limit != nil || q.Form != sparql.Select || q.Body.GroupBy != nil {
		return false
	}
	q.Body.Limit = &sparql.Count{N: 5}
	return true
}

// turnAround swaps subject and object of one triple.
func turnAround(q *sparql.Query, rnd *rand.Rand) bool {
	ps := q.Body.Where.Patterns
	for _, i := range rnd.Perm(len(ps)) {
		t, ok := ps[i].(*sparql.Triples)
		if !ok || len(t.Properties) != 1 || len(t.Properties[0].Objects) != 1 {
			continue
		}
		o := t.Properties[0].Objects[0]
		if o.Kind == sparql.Const && !o.IsIRI() {
			continue
		}
		t.Subject, t.Properties[0].Objects[0] = o, t.Subject
		return true
	}
	return false
}

// addColumn projects another variable of the pattern.
func addColumn(q *sparql.Query, rnd *rand.Rand) bool {
	if q.Form != sparql.Select || q.Body.Star || q.Body.GroupBy != nil {
		return false
	}
	for _, it := range q.Body.Items {
		if it.Expr != nil {
			return false
		}
	}
	vars := q.Body.Where.Visible()
	for _, i := range rnd.Perm(len(vars)) {
		if !slices.Contains(q.Body.Columns(), vars[i]) && !strings.HasSuffix(vars[i], "Label") {
			q.Body.Items = append(q.Body.Items, &sparql.SelectItem{Var: vars[i]})
			return true
		}
	}
	return false
}

// requireLabel demands a French label of the first answer column.
func requireLabel(q *sparql.Query, _ *rand.Rand) bool {
	if q.Form != sparql.Select || len(q.Body.Items) == 0 || q.Body.Items[0].Expr != nil {
		return false
	}
	with, err := sparql.Parse("SELECT * { ?" + q.Body.Items[0].Var +
		` rdfs:label ?inFrench FILTER(LANG(?inFrench) = "fr") }`)
	if err != nil {
		return false
	}
	q.Body.Where.Patterns = append(q.Body.Where.Patterns, with.Body.Where.Patterns...)
	return true
}
