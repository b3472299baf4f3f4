package tool

import (
	"context"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// labelAdvice is the hint that results show item labels even without the label service.
const labelAdvice Advice = "labels"

// Limits on checking for required structure; see structures.
const (
	maxStructures = 2     // conditions that are examined
	lessThanHalf  = 2     // warn if there are more than this many times as many rows without the condition
	structureUpTo = 10000 // stop counting rows at this number
)

// warnings returns one line for each part of a query that is probably a mistake: a variable that the label service also
// binds and, if shown is set, a namespace that is a prefix of others or a required structure that most statements lack.
// It may also advise against the label service in an exploratory query. shown means that rows are shown.
func (env *Env) warnings(ctx context.Context, query string, shown bool) (lines []string, advice Advice, err error) {
	q, perr := env.Dialect.parse(query)
	if perr != nil {
		return nil, "", nil
	}
	lines = clashes(q)
	if shown {
		lines = append(lines, openPrefixes(q)...)
		more, err := env.structures(ctx, q)
		if err != nil {
			return nil, "", err
		}
		lines = append(lines, more...)
	}
	if labelColumns(q) && !env.Advised(labelAdvice) {
		lines, advice = append(lines, say("warn_labels", nil)), labelAdvice
	}
	return lines, advice, nil
}

// shapeHints describes the parts of a query that do not match the shapes of its classes. Errors are as for
// [Env.checkShapes].
func (env *Env) shapeHints(ctx context.Context, query string) ([]string, error) {
	q, err := env.Dialect.parse(query)
	if err != nil || env.Source.Shapes == nil || !env.TimeFor(shapeTime) {
		return nil, nil
	}
	hints, err := env.checkShapes(ctx, q)
	var out []string
	for _, text := range hintTexts(hints) {
		out = append(out, say("shape_hint", text))
	}
	return out, err
}

// labelService returns the query's label service in automatic mode, or nil if there is none.
func labelService(q *sparql.Query) *sparql.Service {
	var found *sparql.Service
	sparql.Inspect(q, func(n sparql.Node) bool {
		if s, ok := n.(*sparql.Service); ok && s.Kind() == sparql.LabelService && len(s.Rest()) == 0 {
			found = s
		}
		return true
	})
	return found
}

// clashes finds variables that both the query and the label service bind. For example, the label service takes
// ?nativeLabel to be the label of ?native.
func clashes(q *sparql.Query) []string {
	if labelService(q) == nil || q.Body.Where == nil {
		return nil
	}
	var own sparql.VarSet
	sparql.Inspect(q, func(n sparql.Node) bool {
		switch x := n.(type) {
		case *sparql.Service:
			return x.Kind() != sparql.LabelService
		case *sparql.Triples:
			own.AddTriples(x)
		case *sparql.Bind:
			own.Add(x.Var)
		case *sparql.Values:
			own.Add(x.Vars...)
		}
		return true
	})
	var out []string
	for _, name := range own.Names() {
		if base, ok := sparql.LabelBase(name); ok {
			out = append(out, say("warn_clash", map[string]string{"Name": name, "Base": base}))
		}
	}
	return out
}

// openPrefixes finds conditions that test whether an IRI starts with a namespace, if that namespace is a prefix of
// others, as the namespace of p: is a prefix of those of ps: and pq:.
func openPrefixes(q *sparql.Query) []string {
	var out []string
	sparql.Inspect(q, func(n sparql.Node) bool {
		e, ok := n.(*sparql.Expr)
		if !ok || e.Kind != sparql.ExprBuiltin || e.Op != "STRSTARTS" || len(e.Args) != 2 {
			return true
		}
		ns := constantText(e.Args[1])
		var longer []string
		name := ""
		for prefix, other := range rdf.Prefixes {
			switch {
			case other == ns:
				name = prefix
			case ns != "" && strings.HasPrefix(other, ns):
				longer = append(longer, prefix+":")
			}
		}
		if name != "" && len(longer) > 0 {
			slices.Sort(longer)
			line := say("warn_prefix", map[string]string{"Name": name, "Others": mostOf(longer, 8)})
			if !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
		return true
	})
	return out
}

// constantText returns the string value of a literal or of STR applied to an IRI, and "" for anything else.
func constantText(e *sparql.Expr) string {
	if e.Kind == sparql.ExprBuiltin && e.Op == "STR" && len(e.Args) == 1 {
		e = e.Args[0]
	}
	if e.Kind != sparql.ExprTerm || e.Term.Kind != sparql.Const {
		return ""
	}
	return e.Term.Value().Value
}

// labelColumns reports whether the query uses the label service to label a column that is also projected.
func labelColumns(q *sparql.Query) bool {
	if labelService(q) == nil {
		return false
	}
	columns := q.Body.Columns()
	return slices.ContainsFunc(columns, func(c string) bool {
		base, ok := sparql.LabelBase(c)
		return ok && slices.Contains(columns, base)
	})
}

// structural lists the predicates for parts of a statement's structure that most statements in a graph may lack.
var structural = []string{rdf.Wikibase + "rank", rdf.Wikibase + "timePrecision", rdf.Wikibase + "quantityUnit",
	rdf.Wikibase + "quantityNormalized", "http://www.w3.org/ns/prov#wasDerivedFrom"}

// structures counts the rows with and without each condition on a statement's structure, and warns if a condition
// removes most rows. If counting fails, there is no warning; structures returns an error only if ctx is done or the log
// cannot be written.
func (env *Env) structures(ctx context.Context, q *sparql.Query) ([]string, error) {
	if q.Form != sparql.Select || len(q.Named) > 0 || q.Body.Where == nil || !env.TimeFor(3*probeTime) {
		return nil, nil
	}
	patterns, conditions, _, ok := conjunction(q)
	if !ok {
		return nil, nil
	}
	var out []string
	all := int64(-1)
	looked := 0
	for _, c := range conditions {
		t, isTriple := c.pattern.(*sparql.Triples)
		if !isTriple || !slices.Contains(structural, t.Properties[0].Path.IRI()) || looked == maxStructures {
			continue
		}
		looked++
		rest := slices.DeleteFunc(slices.Clone(patterns), func(p sparql.Pattern) bool { return p == c.pattern })
		if all < 0 {
			n, err := env.matches(ctx, q, patterns)
			if err != nil || n < 0 {
				return nil, err
			}
			all = n
		}
		n, err := env.matches(ctx, q, rest)
		if err != nil || n < 0 {
			return out, err
		}
		if n > lessThanHalf*all {
			out = append(out, say("warn_structure", map[string]any{"Condition": render.Clip(render.Fold(c.text), shownProbe),
				"Without": n, "With": all, "Full": n >= structureUpTo}))
		}
	}
	return out, nil
}

// matches returns the number of matches for patterns, counted up to a limit, or -1 if the graph did not return a count.
func (env *Env) matches(ctx context.Context, q *sparql.Query, patterns []sparql.Pattern) (int64, error) {
	group := sparql.Print(&sparql.Query{Text: q.Text, Form: sparql.Select, Body: &sparql.SelectQuery{Star: true,
		Where: &sparql.Group{Patterns: patterns}, Limit: &sparql.Count{N: structureUpTo}}},
		sparql.PrintOptions{NoComments: true})
	var prologue strings.Builder
	for _, d := range q.Prologue {
		if !d.Base {
			prologue.WriteString("PREFIX " + d.Prefix + ": <" + d.IRI + "> ")
		}
	}
	short, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	t, err := env.Graph.Query(short, env.Dialect.InLanguage(prologue.String()+"SELECT (COUNT(*) AS ?n) WHERE { { "+group+
		" } }", env.Language.Code))
	switch {
	case ctx.Err() != nil:
		return -1, ctx.Err()
	case event.IsWriteError(err):
		return -1, err
	case err != nil || len(t.Rows) == 0:
		return -1, nil
	}
	return countAt(t, 0, "n"), nil
}
