package ask

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// condition is a pattern that can exclude rows, as written in the query.
type condition struct {
	Text    string
	pattern sparql.Pattern
	triple  *sparql.Triple // the pattern if it is a triple, otherwise nil
}

// taken is a query split into parts: the conditions in its outer group, and the rest.
type taken struct {
	q          *sparql.Query
	patterns   []sparql.Pattern // with each triple as a separate statement and without the label service
	conditions []condition
}

// takeApart splits a query into parts.
func takeApart(query string) (*taken, error) {
	q, err := sparql.Parse(query)
	if err != nil {
		return nil, err
	}
	t := &taken{q: q}
	if q.Body == nil || q.Body.Where == nil {
		return t, nil
	}
	for _, p := range q.Body.Where.Patterns {
		t.take(p)
	}
	return t, nil
}

func (t *taken) take(p sparql.Pattern) {
	switch p := p.(type) {
	case *sparql.Triples:
		if len(p.Properties) == 0 || hasLists(p) {
			t.add(p, nil)
			return
		}
		for _, prop := range p.Properties {
			for _, o := range prop.Objects {
				one := &sparql.Triples{Subject: p.Subject,
					Properties: []*sparql.Property{{Path: prop.Path, Objects: []*sparql.Term{o}}}}
				t.add(one, &sparql.Triple{Subject: p.Subject, Path: prop.Path, Object: o})
			}
		}
	case *sparql.Group:
		for _, inner := range p.Patterns {
			t.take(inner)
		}
	case *sparql.Service:
		if p.Kind() != sparql.LabelService {
			t.add(p, nil)
		}
	case *sparql.Optional, *sparql.Bind, *sparql.Hint:
		t.patterns = append(t.patterns, p)
	default:
		t.add(p, nil)
	}
}

// hasLists reports whether a statement contains property lists in square brackets or collections, which must not be
// split.
func hasLists(p *sparql.Triples) bool {
	list := func(x *sparql.Term) bool { return x.Kind == sparql.BlankList || x.Kind == sparql.Collection }
	return list(p.Subject) || slices.ContainsFunc(p.Properties, func(x *sparql.Property) bool {
		return slices.ContainsFunc(x.Objects, list)
	})
}

func (t *taken) add(p sparql.Pattern, triple *sparql.Triple) {
	t.patterns = append(t.patterns, p)
	t.conditions = append(t.conditions, condition{t.print(p), p, triple})
}

// print returns the text of one pattern.
func (t *taken) print(p sparql.Pattern) string {
	q := sparql.Query{Form: sparql.Ask, Body: &sparql.SelectQuery{Where: &sparql.Group{Patterns: []sparql.Pattern{p}}}}
	s := sparql.Print(&q, sparql.PrintOptions{OneLine: true})
	if from, to := strings.IndexByte(s, '{'), strings.LastIndexByte(s, '}'); from >= 0 && to > from {
		s = strings.TrimSuffix(strings.TrimSpace(s[from+1:to]), " .")
	}
	return strings.TrimSpace(s)
}

// values returns a VALUES clause that binds variables at the start of a group.
func values(bound map[string]rdf.Term) *sparql.Values {
	v := &sparql.Values{Rows: []*sparql.ValuesRow{{}}}
	for _, name := range sortedKeys(bound) {
		v.Vars = append(v.Vars, name)
		v.Rows[0].Cells = append(v.Rows[0].Cells, sparql.NewConst(bound[name], ""))
	}
	v.Single = len(v.Vars) == 1
	return v
}

func sortedKeys(m map[string]rdf.Term) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// solutions returns a query for the solutions of the patterns in which the variables have the given values.
func (t *taken) solutions(patterns []sparql.Pattern, bound map[string]rdf.Term, limit int64) string {
	q := *t.q
	q.Form, q.Template, q.Resources, q.Header, q.Tail = sparql.Select, nil, nil, nil, nil
	if len(bound) > 0 {
		patterns = append([]sparql.Pattern{values(bound)}, patterns...)
	}
	q.Body = &sparql.SelectQuery{Star: true, Where: &sparql.Group{Patterns: patterns}, Limit: &sparql.Count{N: limit}}
	return sparql.Print(&q, sparql.PrintOptions{NoComments: true})
}

// without returns all patterns except p.
func (t *taken) without(p sparql.Pattern) []sparql.Pattern {
	return slices.DeleteFunc(slices.Clone(t.patterns), func(o sparql.Pattern) bool { return o == p })
}

// relaxed returns the query without the given conditions and otherwise unchanged.
func (t *taken) relaxed(conditions []condition) string {
	q, body := *t.q, *t.q.Body
	where := *body.Where
	where.Patterns = rest(where.Patterns, conditions)
	q.Body, body.Where = &body, &where
	return sparql.Print(&q, sparql.PrintOptions{})
}

// rest returns the patterns without the conditions. It modifies only copies.
func rest(patterns []sparql.Pattern, conditions []condition) (out []sparql.Pattern) {
	for _, p := range patterns {
		if slices.ContainsFunc(conditions, func(c condition) bool { return c.pattern == p }) {
			continue
		}
		switch it := p.(type) {
		case *sparql.Group:
			g := *it
			g.Patterns = rest(it.Patterns, conditions)
			p = &g
		case *sparql.Triples:
			if len(it.Properties) > 0 && !hasLists(it) {
				if it = restOf(it, conditions); it == nil {
					continue
				}
				p = it
			}
		}
		out = append(out, p)
	}
	return out
}

// restOf returns the triples without the conditions, or nil if none are left.
func restOf(p *sparql.Triples, conditions []condition) *sparql.Triples {
	out := *p
	out.Properties = nil
	for _, prop := range p.Properties {
		left := *prop
		left.Objects = slices.DeleteFunc(slices.Clone(prop.Objects), func(o *sparql.Term) bool {
			return slices.ContainsFunc(conditions, func(c condition) bool { return c.triple != nil && c.triple.Object == o })
		})
		if len(left.Objects) > 0 {
			out.Properties = append(out.Properties, &left)
		}
	}
	if len(out.Properties) == 0 {
		return nil
	}
	return &out
}

// binds reports whether the query's pattern, and not only its projection, binds a column.
func (t *taken) binds(name string) bool {
	return t.q.Body != nil && t.q.Body.Where != nil && slices.Contains(t.q.Body.Where.Visible(), name)
}
