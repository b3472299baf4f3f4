package noisy

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// misreading is a way to misunderstand a question. change modifies the query's syntax tree, or returns false if the
// misreading does not apply.
type misreading struct {
	weight int
	change func(r *Reader, q *sparql.Query, rnd *rand.Rand) bool
}

// misreadings contains the misreadings found in published runs on SPINACH's test set, weighted by frequency. The best
// run had 87 answers with too few, too many or wrong rows. Of these, 29 had columns that nobody requested, 25 had a
// filter on a label's language, and 22 had a LIMIT that nobody requested; 15 confused statements with values, and 14
// lacked a path. In 16 other wrong answers, a property or a condition was wrong.
var misreadings = []misreading{{29, addColumn}, {25, requireLabel}, {22, addLimit}, {15, otherForm}, {14, noPath},
	{10, otherProperty}, {5, dropCondition}, {1, turnAround}}

// misread returns the query for a random misreading of the question, or false if no misreading applies.
func (r *Reader) misread(gold string, rnd *rand.Rand) (string, bool) {
	right, err := r.parse(gold)
	if err != nil || right.Body == nil || right.Body.Where == nil {
		return "", false
	}
	left := slices.Clone(misreadings)
	for len(left) > 0 {
		i := weighted(left, rnd)
		q, err := r.parse(gold)
		if err != nil {
			return "", false
		}
		if left[i].change(r, q, rnd) {
			text := q.String()
			if again, err := r.parse(text); err == nil && oneLine(again) != oneLine(right) {
				return text, true
			}
		}
		left = slices.Delete(left, i, i+1)
	}
	return "", false
}

// weighted returns a random index in list, with probability proportional to the weight of the element.
func weighted(list []misreading, rnd *rand.Rand) int {
	sum := 0
	for _, m := range list {
		sum += m.weight
	}
	n := rnd.IntN(sum)
	for i, m := range list {
		if n -= m.weight; n < 0 {
			return i
		}
	}
	return len(list) - 1
}

// paths collects the matching predicates in a query.
func paths(q *sparql.Query, fits func(p *sparql.Path) bool) []*sparql.Path {
	var out []*sparql.Path
	sparql.Inspect(q, func(n sparql.Node) bool {
		if p, ok := n.(*sparql.Path); ok && fits(p) {
			out = append(out, p)
		}
		return true
	})
	return out
}

func oneLine(q *sparql.Query) string { return sparql.Print(q, sparql.PrintOptions{OneLine: true}) }

// dropCondition removes a triple or filter, provided that every answer column is still bound without it.
func dropCondition(_ *Reader, q *sparql.Query, rnd *rand.Rand) bool {
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

func addLimit(_ *Reader, q *sparql.Query, _ *rand.Rand) bool {
	if q.Body.Limit != nil || q.Form != sparql.Select || q.Body.GroupBy != nil {
		return false
	}
	q.Body.Limit = &sparql.Count{N: 5}
	return true
}

// turnAround swaps the subject and object of one triple.
func turnAround(_ *Reader, q *sparql.Query, rnd *rand.Rand) bool {
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

// addColumn adds another of the pattern's variables to the columns.
func addColumn(_ *Reader, q *sparql.Query, rnd *rand.Rand) bool {
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

// requireLabel requires a French label for the first answer column.
func requireLabel(_ *Reader, q *sparql.Query, _ *rand.Rand) bool {
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

// noPath removes the repetition (* or +) from a path. The path then no longer has indirect matches, such as instances
// of a subclass.
func noPath(_ *Reader, q *sparql.Query, rnd *rand.Rand) bool {
	repeats := func(p *sparql.Path) bool { return p.Kind == sparql.PathStar || p.Kind == sparql.PathPlus }
	at := paths(q, func(p *sparql.Path) bool {
		return repeats(p) || p.Kind == sparql.PathSeq && slices.ContainsFunc(p.Args, repeats)
	})
	if len(at) == 0 {
		return false
	}
	p := at[rnd.IntN(len(at))]
	if p.Kind == sparql.PathSeq {
		if rest := slices.DeleteFunc(slices.Clone(p.Args), repeats); len(rest) > 1 {
			p.Args = rest
		} else if len(rest) == 1 {
			*p = *rest[0]
		} else {
			return false
		}
		return true
	}
	*p = *p.Args[0]
	return true
}

var direct = regexp.MustCompile(`\bwdt:(P[0-9]+)\b`)

// otherForm uses statements of every rank instead of only the best values.
func otherForm(r *Reader, q *sparql.Query, rnd *rand.Rand) bool {
	return r.wikidata() && r.rewrite(q, rnd, func(id string) string { return "(p:" + id + "/ps:" + id + ")" })
}

// otherProperty replaces a property with one that is used in a similar way.
func otherProperty(r *Reader, q *sparql.Query, rnd *rand.Rand) bool {
	return r.wikidata() && r.o.Near != nil && r.rewrite(q, rnd, func(id string) string {
		if other := r.o.Near(id); other != "" {
			return "wdt:" + other
		}
		return "wdt:" + id
	})
}

// rewrite replaces one direct property in a query. If the result does not parse, the query is unchanged.
func (r *Reader) rewrite(q *sparql.Query, rnd *rand.Rand, by func(id string) string) bool {
	text := q.String()
	at := direct.FindAllStringSubmatchIndex(text, -1)
	if len(at) == 0 {
		return false
	}
	m := at[rnd.IntN(len(at))]
	changed, err := r.parse(text[:m[0]] + by(text[m[2]:m[3]]) + text[m[1]:])
	if err == nil {
		*q = *changed
	}
	return err == nil
}
