package embedded

import (
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// template is a CONSTRUCT template or the resources of a DESCRIBE query. It produces triples from a solution.
type template struct {
	triples   [][3]templatePlace
	resources []place // for DESCRIBE
	describe  bool
}

// templatePlace is a position in a template triple: a term, a variable, or a blank node that is new in every solution.
type templatePlace struct {
	place
	blank string
}

// blankSlots returns the slots in set that belong to blank nodes in the pattern.
func (s *scope) blankSlots(set varSet) []int {
	var out []int
	for name, n := range s.names {
		if set.has(n) && len(name) > 2 && name[:2] == "_:" {
			out = append(out, n)
		}
	}
	return out
}

func (c *compiler) template(q *sparql.Query, sc *scope, sel *selectNode) *template {
	t := &template{describe: q.Form == sparql.Describe}
	if t.describe {
		for _, r := range q.Resources {
			t.resources = append(t.resources, c.place(r, sc))
		}
		if len(t.resources) == 0 { // DESCRIBE *
			for _, n := range sel.project {
				t.resources = append(t.resources, place{slot: n})
			}
		}
		return t
	}
	list := q.Template
	if q.Short && len(list) == 0 && q.Body.Where != nil {
		for _, p := range q.Body.Where.Patterns {
			if x, ok := p.(*sparql.Triples); ok {
				list = append(list, x)
			}
		}
	}
	part := func(x *sparql.Term) templatePlace {
		if x.Kind == sparql.BlankNode {
			return templatePlace{blank: x.Name, place: place{slot: -1}}
		}
		return templatePlace{place: c.place(x, sc)}
	}
	for _, x := range list {
		for _, tr := range x.Triples() {
			if tr.Path.Kind != sparql.PathTerm {
				c.fail(kg.QueryFailed, "a CONSTRUCT template cannot contain a property path")
				return t
			}
			t.triples = append(t.triples, [3]templatePlace{part(tr.Subject), part(tr.Path.Term), part(tr.Object)})
		}
	}
	return t
}

// runGraph runs a CONSTRUCT or DESCRIBE query. It writes each triple once.
func (ex *exec) runGraph(sink Sink) error {
	if s, ok := sink.(TripleSink); ok {
		s.Triples()
	}
	if err := sink.Head([]string{"subject", "predicate", "object"}, false); err != nil {
		return err
	}
	g := &graphWriter{ex: ex, sink: sink, seen: newRowSet(ex, 3), done: newRowSet(ex, 1)}
	t := ex.plan.tmpl
	return ex.start(ex.plan.root.build(ex, func() error {
		if t.describe {
			for _, r := range t.resources {
				if err := g.describe(ex.termOf(r)); err != nil {
					return err
				}
			}
			return nil
		}
		return g.construct(t)
	}))
}

// termOf returns the term at a place in the current row.
func (ex *exec) termOf(p place) value.ID {
	if p.missing {
		return ex.intern(value.Of(p.value))
	}
	return p.get(ex.row)
}

type graphWriter struct {
	ex   *exec
	sink Sink
	seen *rowSet
	done *rowSet
}

func (g *graphWriter) construct(t *template) error {
	ex := g.ex
	ex.Solution++
	for _, tr := range t.triples {
		var cells [3]value.ID
		for i, p := range tr {
			if p.blank != "" {
				cells[i] = ex.intern(ex.NamedBlank("_:" + p.blank))
			} else {
				cells[i] = ex.termOf(p.place)
			}
		}
		if err := g.write(cells); err != nil {
			return err
		}
	}
	return ex.Err
}

// write passes a triple to the sink if the triple is valid and has not been written before.
func (g *graphWriter) write(cells [3]value.ID) error {
	if cells[0] == 0 || cells[1] == 0 || cells[2] == 0 {
		return nil
	}
	s, p, o := g.ex.term(cells[0]), g.ex.term(cells[1]), g.ex.term(cells[2])
	if s.Kind == rdf.LiteralKind || p.Kind != rdf.IRIKind {
		return nil
	}
	_, fresh, err := g.seen.add(cells[:])
	if err != nil || !fresh {
		return err
	}
	return g.sink.Row([]rdf.Term{s, p, o})
}

// describe writes a resource's concise bounded description: all of its triples, and those of the blank nodes reachable
// from it.
func (g *graphWriter) describe(n value.ID) error {
	if n == 0 {
		return nil
	}
	if _, fresh, err := g.done.add([]value.ID{n}); err != nil || !fresh {
		return err
	}
	for _, q := range g.ex.st.SPO.Run(n) {
		if err := g.write([3]value.ID{n, q.A, q.B}); err != nil {
			return err
		}
		if g.ex.st.Kind(q.B) == rdf.BlankKind {
			if err := g.describe(q.B); err != nil {
				return err
			}
		}
	}
	return nil
}
