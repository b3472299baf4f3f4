// Package rewrite ports queries between the dialects of the Wikidata Query Service, QLever and standard SPARQL 1.1.
package rewrite

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Target is a dialect in which [Query] can write queries.
type Target string

// The targets.
const (
	Standard Target = "standard" // SPARQL 1.1 Query, for any engine with Wikidata's data
	// QLever: standard SPARQL, prefixes declared, no federation with Wikidata's other half, RE2 regular expressions,
	// filters in OPTIONAL and EXISTS that see only their own group
	QLever Target = "qlever"
	WDQS   Target = "wdqs" // the Wikidata Query Service: its prefixes, its label service, the split graph
)

// Options controls what [Query] does in addition to changing the dialect.
type Options struct {
	// the reader's language, which replaces [AUTO_LANGUAGE] and comes first in added label services; default "en"
	Language  string
	DropMWAPI bool              // omit calls to wikibase:mwapi; otherwise, they are an error for other engines
	Distinct  bool              // make the outermost SELECT a SELECT DISTINCT
	Entities  bool              // project ?x if only ?xLabel is projected
	Prefixes  map[string]string // the graph's prefixes, in addition to Wikidata's; they may be used without being declared
	Labels    bool              // WDQS: add the label service, and ?xLabel for projected entities without one
}

// Result is what [Query] returns: the query in the canonical layout, and notes on what was done, one sentence each.
type Result struct {
	Text  string
	Notes []string
}

// Query ports a query to another dialect. If the query needs a feature that the target lacks (calls to MediaWiki's API,
// graph analytics, regular expressions that QLever's library does not support), the error names the feature. The result
// has the same meaning, except as described in its notes. Errors from [sparql.Parse] are returned unchanged.
func Query(query string, to Target, o Options) (*Result, error) {
	q, err := sparql.ParseWith(query, o.Prefixes)
	if err != nil {
		return nil, err
	}
	if q.Form == sparql.Update {
		return nil, fmt.Errorf("updates (%s) are not rewritten", q.Operation)
	}
	if !sparql.IsLanguageCode(o.Language) {
		o.Language = "en"
	}
	r := &rewriter{q: q, o: o, used: map[string]bool{}, labeled: map[*sparql.SelectItem]bool{}}
	r.collectNames()
	if to == Standard || to == QLever {
		r.inlineNamed()
	}
	r.common()
	switch to {
	case Standard, QLever:
		r.toStandard(to)
	case WDQS:
		r.toWDQS()
	default:
		return nil, fmt.Errorf("unknown dialect %q; use standard, qlever or wdqs", to)
	}
	if r.err != nil {
		return nil, r.err
	}
	text := sparql.Print(q, sparql.PrintOptions{Parens: to == Standard})
	if _, err := sparql.Parse(text); err != nil {
		return nil, fmt.Errorf("the query cannot be rewritten: the result would not parse: %w", err)
	}
	return &Result{Text: text, Notes: r.notes}, nil
}

// rewriter changes its own tree in place.
type rewriter struct {
	q        *sparql.Query
	o        Options
	notes    []string
	err      error
	used     map[string]bool             // names of variables
	again    int                         // number of variables bound twice so far
	copied   int                         // number of bytes parsed again for copies
	repeated int                         // number of bytes parsed again for the outer patterns that filters need
	labeled  map[*sparql.SelectItem]bool // columns for which label patterns have been added
}

func (r *rewriter) note(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !slices.Contains(r.notes, s) {
		r.notes = append(r.notes, s)
	}
}

func (r *rewriter) fail(n sparql.Node, format string, args ...any) {
	if r.err == nil {
		p := r.q.Position(n.Pos().Start)
		r.err = &sparql.Error{Line: p.Line, Column: p.Column, Offset: p.Offset, Message: fmt.Sprintf(format, args...)}
	}
}

func (r *rewriter) collectNames() {
	sparql.Inspect(r.q, func(n sparql.Node) bool {
		switch x := n.(type) {
		case *sparql.Term:
			if x.Kind == sparql.Var {
				r.used[x.Name] = true
			}
		case *sparql.SelectItem:
			r.used[x.Var] = true
		case *sparql.Bind:
			r.used[x.Var] = true
		case *sparql.GroupKey:
			r.used[x.As] = true
		case *sparql.Values:
			for _, v := range x.Vars {
				r.used[v] = true
			}
		}
		return true
	})
}

// fresh returns a variable name that the query does not use yet.
func (r *rewriter) fresh(base string) string {
	name := base
	for i := 2; r.used[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	r.used[name] = true
	return name
}

// selects returns every SELECT in the query, from innermost to outermost.
func (r *rewriter) selects() []*sparql.SelectQuery {
	var out []*sparql.SelectQuery
	sparql.Inspect(r.q, func(n sparql.Node) bool {
		if s, ok := n.(*sparql.SelectQuery); ok {
			out = append(out, s)
		}
		return true
	})
	slices.Reverse(out)
	return out
}

// common makes the changes that all targets need.
func (r *rewriter) common() {
	top := r.q.Body
	if r.o.Distinct && r.q.Form == sparql.Select && !top.Distinct {
		top.Distinct, top.Reduced = true, false
		r.note("SELECT made SELECT DISTINCT")
	}
	if r.o.Entities && r.q.Form == sparql.Select {
		r.addEntities(top)
	}
	if r.o.DropMWAPI {
		for _, s := range r.selects() {
			sparql.Groups(s.Where, func(g *sparql.Group) {
				g.Patterns = slices.DeleteFunc(g.Patterns, func(p sparql.Pattern) bool {
					x, ok := p.(*sparql.Service)
					if ok && x.Kind() == sparql.MWAPIService {
						r.note("call of MediaWiki's API (wikibase:mwapi) removed; the result changes")
						return true
					}
					return false
				})
			})
		}
	}
}

// addEntities projects ?x before ?xLabel if only the label is projected and the pattern contains ?x.
func (r *rewriter) addEntities(s *sparql.SelectQuery) {
	shown := map[string]bool{}
	for _, it := range s.Items {
		shown[it.Var] = true
	}
	visible := s.Where.Visible()
	for _, n := range r.q.Named {
		visible = append(visible, n.Query.Columns()...)
	}
	var out []*sparql.SelectItem
	for _, it := range s.Items {
		base, ok := sparql.LabelBase(it.Var)
		if ok && it.Expr == nil && !shown[base] && slices.Contains(visible, base) {
			shown[base] = true
			out = append(out, &sparql.SelectItem{Var: base})
			if s.GroupBy != nil && !isKey(s.GroupBy, base) {
				s.GroupBy.Keys = append(s.GroupBy.Keys, &sparql.GroupKey{Expr: varExpr(base)})
			}
			r.note("?%s added to the projection, which showed its label only", base)
		}
		out = append(out, it)
	}
	s.Items = out
}

// isKey reports whether the variable is a GROUP BY key.
func isKey(g *sparql.GroupBy, name string) bool {
	for _, k := range g.Keys {
		if k.As == name || k.Expr.Variable() == name {
			return true
		}
	}
	return false
}

// Constructors of new nodes.

func varTerm(name string) *sparql.Term     { return &sparql.Term{Kind: sparql.Var, Name: name} }
func iriTerm(iri string) *sparql.Term      { return sparql.NewConst(rdf.IRI(iri), "") }
func stringTerm(s string) *sparql.Term     { return sparql.NewConst(rdf.String(s), "") }
func termExpr(t *sparql.Term) *sparql.Expr { return &sparql.Expr{Kind: sparql.ExprTerm, Term: t} }
func varExpr(name string) *sparql.Expr     { return termExpr(varTerm(name)) }
func stringExpr(s string) *sparql.Expr     { return termExpr(stringTerm(s)) }
func call(op string, args ...*sparql.Expr) *sparql.Expr {
	return &sparql.Expr{Kind: sparql.ExprBuiltin, Op: op, Args: args}
}
func binary(op string, a, b *sparql.Expr) *sparql.Expr {
	return &sparql.Expr{Kind: sparql.ExprBinary, Op: op, Args: []*sparql.Expr{a, b}}
}
func function(iri string, args ...*sparql.Expr) *sparql.Expr {
	return &sparql.Expr{Kind: sparql.ExprFunction, Term: iriTerm(iri), Args: args}
}
func triple(s *sparql.Term, predicate string, o *sparql.Term) *sparql.Triples {
	return &sparql.Triples{Subject: s, Properties: []*sparql.Property{{Path: &sparql.Path{Kind: sparql.PathTerm,
		Term: iriTerm(predicate)}, Objects: []*sparql.Term{o}}}}
}
func groupOf(ps ...sparql.Pattern) *sparql.Group { return &sparql.Group{Patterns: ps} }
