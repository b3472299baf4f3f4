package embedded

import (
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/limit"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/store"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// info describes a part of a query for the planner.
type info struct {
	vars   varSet // variables bound in some solution
	cert   varSet // variables bound in every solution
	unsafe varSet // variables whose bindings must not be passed in, or the solutions would differ from the algebra's
	uses   varSet // all slots that the part reads, including in expressions
}

// node is a part of a query as defined by the algebra. The planner has not decided yet which parts precede it.
type node interface {
	info() *info
	// estimate estimates the number of solutions and the cost for one row in which the slots in bound have a value.
	estimate(c *compiler, bound varSet) estimate
	// plan returns the operator for an estimated number of rows in which the slots in bound have a value.
	plan(c *compiler, bound varSet, rows float64) op
}

// op is an operator in a plan. Plans are immutable; each run of a query builds its own chain of runners from its plan.
type op interface {
	build(ex *exec, next runner) runner
}

// estimate contains a part's estimated number of solutions and its estimated cost, per input row.
type estimate struct {
	rows float64
	cost float64
}

// plan is a compiled query, ready to run.
type plan struct {
	query   *sparql.Query
	base    string
	width   int
	root    op
	columns []string
	slots   []int // slots of the columns
	named   map[string]*namedPlan
	tmpl    *template
}

type namedPlan struct {
	sel   *selectNode
	root  op
	names []string
	slots []int
}

type compiler struct {
	limit.Meter
	g      *Graph
	st     *store.Store
	width  int
	named  map[string]*namedPlan
	nested int
}

// fail records the first error.
func (c *compiler) fail(k kg.Kind, format string, args ...any) {
	if c.Err == nil {
		c.Err = kg.Errorf(k, format, args...)
	}
}

func (c *compiler) fresh() int {
	c.width++
	c.book(8)
	return c.width - 1
}

// Sizes in bytes of the parts of a plan, including the operators and runners built from them.
const (
	partSize = 600 // a part of a group
	exprSize = 120 // an expression node
	slotSize = 100 // a variable: its name in a scope, its cell in the row, its entries in lists
)

// tick counts a planning step, which costs more than an execution step. It returns false if planning must stop.
func (c *compiler) tick() bool { return c.Work(16) }

// book accounts for bytes that the plan is about to allocate. It returns false if planning must stop.
func (c *compiler) book(n int) bool { return c.Alloc(n) == nil && c.Err == nil }

// bookPart accounts for a part of a group.
func (c *compiler) bookPart(in *info) bool {
	return c.book(partSize + in.vars.size() + in.cert.size() + in.unsafe.size() + in.uses.size())
}

// scope maps names to slots in the row. A nested scope shares the names that denote the same variable in both scopes,
// and has separate slots for other names.
type scope struct {
	c       *compiler
	names   map[string]int
	parent  *scope
	shared  func(name string) (int, bool) // the parent's slot for a name that denotes the same variable
	ambient varSet                        // inside EXISTS, variables that get their values from outside
	given   varSet                        // variables in ambient that certainly have a value
	exists  *existsScope                  // scope of the enclosing EXISTS, or nil
	labels  []string                      // columns of the enclosing query, for the label service
}

// existsScope is the scope of an EXISTS. A variable that gets its value from outside may be read even where it is not
// in scope. In that case, a copy made on entry is read, since another part of the group may have bound the original in
// the meantime.
type existsScope struct {
	copies map[int]int // slots of the copies, by original slot
}

func (c *compiler) scope() *scope { return &scope{c: c, names: map[string]int{}} }

func (s *scope) slot(name string) int {
	if n, ok := s.names[name]; ok {
		return n
	}
	n, ok := 0, false
	if s.parent != nil {
		n, ok = s.shared(name)
	}
	if !ok {
		n = s.c.fresh()
	}
	s.c.book(slotSize)
	s.names[name] = n
	return n
}

// copyOf returns the slot with the value that an ambient variable had on entry to the enclosing EXISTS.
func (s *scope) copyOf(n int) int {
	for _, have := range s.exists.copies {
		if have == n {
			return n
		}
	}
	cp, ok := s.exists.copies[n]
	if !ok {
		cp = s.c.fresh()
		s.exists.copies[n] = cp
	}
	return cp
}

// inner returns the scope of a group that is evaluated separately (in MINUS or EXISTS). The group shares the variables
// in visible. Inside it, variables that are only ambient have their outside values.
func (s *scope) inner(visible varSet) *scope {
	in := &scope{c: s.c, names: map[string]int{}, parent: s, labels: s.labels, exists: s.exists}
	in.ambient, in.given = s.ambient.intersect(visible), s.given.intersect(visible)
	in.shared = func(name string) (int, bool) {
		n := s.slot(name)
		if visible.has(n) {
			return n, true
		}
		if !s.ambient.has(n) {
			return 0, false
		}
		cp := s.copyOf(n)
		in.ambient = in.ambient.union(setOf(cp))
		if s.given.has(n) {
			in.given = in.given.union(setOf(cp))
		}
		return cp, true
	}
	return in
}

// place is one position in a triple pattern: a constant or a variable.
type place struct {
	slot    int // -1 for a constant
	term    value.ID
	missing bool // a constant that is not in the graph
	value   rdf.Term
}

func (p place) isVar() bool { return p.slot >= 0 }

func (c *compiler) place(t *sparql.Term, sc *scope) place {
	switch t.Kind {
	case sparql.Var:
		return place{slot: sc.slot(t.Name)}
	case sparql.BlankNode:
		return place{slot: sc.slot("_:" + t.Name)}
	case sparql.Const:
		return c.constant(t.Value())
	}
	c.fail(kg.QueryFailed, "a triple pattern contains something that is not a term")
	return place{slot: -1, missing: true}
}

func (c *compiler) constant(t rdf.Term) place {
	n := c.st.Lookup(t)
	return place{slot: -1, term: n, missing: n == 0, value: t}
}

func (p place) vars() varSet {
	if p.slot < 0 {
		return varSet{}
	}
	return setOf(p.slot)
}

func (c *compiler) query(q *sparql.Query) *plan {
	if q.Form == sparql.Update {
		c.fail(kg.Refused, "%s is an update; only queries are answered here", q.Operation)
		return nil
	}
	if len(q.Datasets) > 0 {
		c.fail(kg.Refused, "FROM is not supported: this graph has no named graphs; leave the FROM clauses out")
		return nil
	}
	c.named = map[string]*namedPlan{}
	for _, n := range q.Named {
		np := c.namedSubquery(n)
		if c.Err != nil {
			return nil
		}
		c.named[n.Name] = np
	}
	sc := c.scope()
	body := q.Body
	p := &plan{query: q, named: c.named}
	for _, d := range q.Prologue {
		if d.Base {
			p.base = d.IRI
		}
	}
	sel := c.selectQuery(body, sc, q.Form)
	if c.Err != nil {
		return nil
	}
	if q.Form == sparql.Construct || q.Form == sparql.Describe {
		p.tmpl = c.template(q, sc, sel)
	}
	if c.Err == nil {
		p.root = sel.plan(c, varSet{}, 1)
	}
	p.columns, p.slots = sel.names, sel.project
	p.width = c.width
	return p
}

func (c *compiler) namedSubquery(n *sparql.NamedSubquery) *namedPlan {
	sel := c.selectQuery(n.Query, c.scope(), sparql.Select)
	if c.Err != nil {
		return nil
	}
	return &namedPlan{sel: sel, root: sel.plan(c, varSet{}, 1), names: sel.names, slots: sel.project}
}
