package embedded

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// This file contains a simple, slow evaluator against which the graph's evaluator is tested. It evaluates the SPARQL
// algebra bottom-up on lists of maps, as section 18 of the recommendation defines it. It uses no indexes, does not
// reorder joins, and does not pass bindings down. Both evaluators compare values with the same functions, which have
// their own tests.

// solution maps names to terms. The names of the query's blank nodes start with "_:".
type solution map[string]rdf.Term

// slow evaluates queries on a list of triples.
type slow struct {
	triples [][3]rdf.Term
	given   solution // inside EXISTS, the values substituted for variables
	fresh   int      // counts variables created for sequences
}

func slowGraph(g *Graph) *slow {
	s := &slow{}
	for n := value.ID(1); n < value.ID(g.store.Size()); n++ {
		for _, q := range g.store.SPO.Run(n) {
			s.triples = append(s.triples, [3]rdf.Term{g.store.Term(n), g.store.Term(q.A), g.store.Term(q.B)})
		}
	}
	return s
}

func agree(a, b solution) bool {
	for v, t := range a {
		if u, ok := b[v]; ok && u != t {
			return false
		}
	}
	return true
}

func merge(a, b solution) solution {
	out := solution{}
	for v, t := range a {
		out[v] = t
	}
	for v, t := range b {
		out[v] = t
	}
	return out
}

func slowJoin(a, b []solution) []solution {
	var out []solution
	for _, x := range a {
		for _, y := range b {
			if agree(x, y) {
				out = append(out, merge(x, y))
			}
		}
	}
	return out
}

func (s *slow) group(g *sparql.Group) []solution {
	sols, filters := s.unfiltered(g)
	return s.filter(sols, filters)
}

func (s *slow) filter(sols []solution, filters []*sparql.Expr) []solution {
	var out []solution
	for _, x := range sols {
		ok := true
		for _, f := range filters {
			ok = ok && s.expr(f, x).Truth() == value.True
		}
		if ok {
			out = append(out, x)
		}
	}
	return out
}

// unfiltered evaluates a group without its filters.
func (s *slow) unfiltered(g *sparql.Group) ([]solution, []*sparql.Expr) {
	sols := []solution{{}}
	var filters []*sparql.Expr
	for _, p := range g.Patterns {
		switch x := p.(type) {
		case *sparql.Triples:
			for _, t := range x.Triples() {
				sols = slowJoin(sols, s.triple(t.Subject, t.Path, t.Object))
			}
		case *sparql.Filter:
			filters = append(filters, x.Expr)
		case *sparql.Optional:
			right, conds := s.unfiltered(x.Group)
			var out []solution
			for _, a := range sols {
				n := len(out)
				for _, b := range right {
					if agree(a, b) && len(s.filter([]solution{merge(a, b)}, conds)) == 1 {
						out = append(out, merge(a, b))
					}
				}
				if len(out) == n {
					out = append(out, a)
				}
			}
			sols = out
		case *sparql.Minus:
			right := s.group(x.Group)
			sols = slices.DeleteFunc(sols, func(a solution) bool {
				return slices.ContainsFunc(right, func(b solution) bool {
					common := false
					for v := range a {
						_, has := b[v]
						common = common || has
					}
					return common && agree(a, b)
				})
			})
		case *sparql.Bind:
			for i, a := range sols {
				if v := s.expr(x.Expr, a).Term(); v.Bound() {
					sols[i] = merge(a, solution{x.Var: v})
				}
			}
		case *sparql.Values:
			sols = slowJoin(sols, slowValues(x))
		case *sparql.Union:
			var all []solution
			for _, b := range x.Branches {
				all = append(all, s.group(b)...)
			}
			sols = slowJoin(sols, all)
		case *sparql.Group:
			sols = slowJoin(sols, s.group(x))
		case *sparql.SubSelect:
			sols = slowJoin(sols, s.sub(x.Query))
		default:
			panic("the generator makes no such pattern")
		}
	}
	return sols, filters
}

func slowValues(v *sparql.Values) []solution {
	var out []solution
	for _, r := range v.Rows {
		row := solution{}
		for i, c := range r.Cells {
			if c.Kind == sparql.Const {
				row[v.Vars[i]] = c.Value()
			}
		}
		out = append(out, row)
	}
	return out
}

// sub evaluates a subquery, ignoring its ORDER BY, LIMIT and OFFSET.
func (s *slow) sub(q *sparql.SelectQuery) []solution {
	inner := &slow{triples: s.triples, given: solution{}}
	for _, c := range q.Columns() {
		if t, ok := s.given[c]; ok {
			inner.given[c] = t
		}
	}
	sols := inner.group(q.Where)
	if q.GroupBy != nil || hasAggregate(q) {
		sols = inner.aggregate(q, sols)
	} else {
		for _, it := range q.Items {
			for i, a := range sols {
				if it.Expr != nil {
					if v := inner.expr(it.Expr, a).Term(); v.Bound() {
						sols[i] = merge(a, solution{it.Var: v})
					}
				}
			}
		}
	}
	var out []solution
	seen := map[string]bool{}
	for _, a := range sols {
		row := solution{}
		for _, c := range q.Columns() {
			if t, ok := a[c]; ok {
				row[c] = t
			}
		}
		if k := row.key(q.Columns()); !q.Distinct || !seen[k] {
			seen[k] = true
			out = append(out, row)
		}
	}
	return out
}

func (a solution) key(cols []string) string {
	var b strings.Builder
	for _, c := range cols {
		b.WriteString(a[c].String() + "|")
	}
	return b.String()
}

// aggregate supports only plain variables as keys, and COUNT, SUM, MIN and MAX of a variable.
func (s *slow) aggregate(q *sparql.SelectQuery, sols []solution) []solution {
	var keys []string
	if q.GroupBy != nil {
		for _, k := range q.GroupBy.Keys {
			keys = append(keys, k.Expr.Term.Name)
		}
	}
	groups := map[string][]solution{}
	if q.GroupBy == nil {
		groups[""] = nil
	}
	for _, a := range sols {
		groups[a.key(keys)] = append(groups[a.key(keys)], a)
	}
	var out []solution
	for _, members := range groups {
		row := solution{}
		for _, k := range keys {
			if t, ok := members[0][k]; ok {
				row[k] = t
			}
		}
		for _, it := range q.Items {
			if it.Expr != nil {
				if v := slowAggregate(it.Expr, members); v.Bound() {
					row[it.Var] = v
				}
			}
		}
		out = append(out, row)
	}
	return out
}

func slowAggregate(e *sparql.Expr, members []solution) rdf.Term {
	if e.Star {
		return value.SmallInt(int64(len(members))).Term()
	}
	var vs []value.Value
	seen := map[rdf.Term]bool{}
	for _, m := range members {
		t, ok := m[e.Args[0].Term.Name]
		if ok && !(e.Distinct && seen[t]) {
			seen[t] = true
			vs = append(vs, value.Of(t))
		}
	}
	switch e.Op {
	case "COUNT":
		return value.SmallInt(int64(len(vs))).Term()
	case "SUM":
		sum := value.SmallInt(0)
		for _, v := range vs {
			sum = value.Arithmetic('+', sum, v)
		}
		return sum.Term()
	}
	sort.SliceStable(vs, func(i, j int) bool { return value.SortCompare(vs[i], vs[j]) < 0 })
	if len(vs) == 0 {
		return rdf.Term{}
	}
	if e.Op == "MIN" {
		return vs[0].Term()
	}
	return vs[len(vs)-1].Term()
}

// end returns the name or the term at one end of a triple pattern.
func (s *slow) end(t *sparql.Term) (name string, term rdf.Term) {
	switch t.Kind {
	case sparql.Const:
		return "", t.Value()
	case sparql.BlankNode:
		return "_:" + t.Name, rdf.Term{}
	}
	if v, ok := s.given[t.Name]; ok {
		return "", v
	}
	return t.Name, rdf.Term{}
}

// triple returns the solutions of a triple or path pattern, translated according to section 18.2.2.4.
func (s *slow) triple(subject *sparql.Term, p *sparql.Path, object *sparql.Term) []solution {
	switch p.Kind {
	case sparql.PathInverse:
		return s.triple(object, p.Args[0], subject)
	case sparql.PathAlt:
		var out []solution
		for _, a := range p.Args {
			out = append(out, s.triple(subject, a, object)...)
		}
		return out
	case sparql.PathSeq:
		out := []solution{{}}
		for i, a := range p.Args {
			end := object
			if i < len(p.Args)-1 {
				s.fresh++
				end = &sparql.Term{Kind: sparql.BlankNode, Name: fmt.Sprint("step ", s.fresh)}
			}
			out = slowJoin(out, s.triple(subject, a, end))
			subject = end
		}
		return out
	}
	return s.step(subject, p, object)
}

// step returns the solutions of an elementary pattern.
func (s *slow) step(subject *sparql.Term, p *sparql.Path, object *sparql.Term) []solution {
	sName, sTerm := s.end(subject)
	oName, oTerm := s.end(object)
	var out []solution
	take := func(a, b rdf.Term, more solution) {
		row := merge(nil, more)
		for _, x := range []struct {
			name      string
			want, got rdf.Term
		}{{sName, sTerm, a}, {oName, oTerm, b}} {
			if x.name == "" {
				if x.want != x.got {
					return
				}
				continue
			}
			if old, ok := row[x.name]; ok && old != x.got {
				return
			}
			row[x.name] = x.got
		}
		out = append(out, row)
	}
	if p.Kind == sparql.PathTerm && p.Term.Kind == sparql.Var {
		pName, pTerm := s.end(p.Term)
		for _, t := range s.triples {
			if pName == "" && t[1] == pTerm {
				take(t[0], t[2], nil)
			} else if pName != "" {
				take(t[0], t[2], solution{pName: t[1]})
			}
		}
		return out
	}
	ends := []rdf.Term{sTerm, oTerm}
	for _, pr := range s.path(p, ends) {
		take(pr[0], pr[1], nil)
	}
	return out
}

// nodes returns the graph's subjects and objects and, for zero-length paths, the constant ends.
func (s *slow) nodes(ends []rdf.Term) map[rdf.Term]bool {
	out := map[rdf.Term]bool{}
	for _, t := range s.triples {
		out[t[0]], out[t[2]] = true, true
	}
	for _, e := range ends {
		if e.Bound() {
			out[e] = true
		}
	}
	return out
}

// path returns all pairs of nodes that a path connects, with the duplicates that the algebra defines.
func (s *slow) path(p *sparql.Path, ends []rdf.Term) [][2]rdf.Term {
	var out [][2]rdf.Term
	switch p.Kind {
	case sparql.PathTerm:
		for _, t := range s.triples {
			if t[1] == p.Term.Value() {
				out = append(out, [2]rdf.Term{t[0], t[2]})
			}
		}
	case sparql.PathInverse:
		for _, x := range s.path(p.Args[0], ends) {
			out = append(out, [2]rdf.Term{x[1], x[0]})
		}
	case sparql.PathSeq:
		out = s.path(p.Args[0], ends)
		for _, a := range p.Args[1:] {
			var next [][2]rdf.Term
			step := s.path(a, ends)
			for _, x := range out {
				for _, y := range step {
					if x[1] == y[0] {
						next = append(next, [2]rdf.Term{x[0], y[1]})
					}
				}
			}
			out = next
		}
	case sparql.PathAlt:
		for _, a := range p.Args {
			out = append(out, s.path(a, ends)...)
		}
	case sparql.PathNegated:
		out = s.negated(p)
	default:
		lo, hi := repetition(p)
		out = s.closure(s.path(p.Args[0], ends), lo, hi, s.nodes(ends))
	}
	return out
}

func (s *slow) negated(p *sparql.Path) (out [][2]rdf.Term) {
	var fwd, bwd []rdf.Term
	for _, a := range p.Args {
		if a.Kind == sparql.PathInverse {
			bwd = append(bwd, a.Args[0].Term.Value())
		} else {
			fwd = append(fwd, a.Term.Value())
		}
	}
	for _, t := range s.triples {
		if fwd != nil && !slices.Contains(fwd, t[1]) {
			out = append(out, [2]rdf.Term{t[0], t[2]})
		}
		if bwd != nil && !slices.Contains(bwd, t[1]) {
			out = append(out, [2]rdf.Term{t[2], t[0]})
		}
	}
	return out
}

// closure returns the set of pairs that are connected by between lo and hi steps.
func (s *slow) closure(step [][2]rdf.Term, lo, hi int, nodes map[rdf.Term]bool) [][2]rdf.Term {
	set := map[[2]rdf.Term]bool{}
	if lo == 0 {
		for n := range nodes {
			set[[2]rdf.Term{n, n}] = true
		}
	}
	for _, x := range step {
		set[x] = true
	}
	for grown := hi < 0; grown; {
		grown = false
		for x := range set {
			for _, y := range step {
				if z := [2]rdf.Term{x[0], y[1]}; x[1] == y[0] && !set[z] {
					set[z], grown = true, true
				}
			}
		}
	}
	var out [][2]rdf.Term
	for x := range set {
		out = append(out, x)
	}
	return out
}
