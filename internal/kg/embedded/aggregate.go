package embedded

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/function"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// aggregation is a GROUP BY clause and the aggregates in its query.
type aggregation struct {
	sc      *scope
	inner   varSet // variables visible to the aggregates' arguments
	visible varSet // variables visible to other expressions: the keys
	keys    []groupKey
	aggs    []aggregate
}

// groupKey is a GROUP BY key: either a variable's slot, or an expression and the slot to which its value is bound.
type groupKey struct {
	slot int
	fn   evalFn // nil for a plain variable
}

// aggregate is a call to an aggregate function and the slot of its result.
type aggregate struct {
	op        string
	distinct  bool
	arg       evalFn // nil for COUNT(*)
	separator string
	slot      int
}

// key compiles a GROUP BY key and returns its slot.
func (a *aggregation) key(c *compiler, k *sparql.GroupKey) int {
	if k.Expr.Kind == sparql.ExprTerm && k.Expr.Term.Kind == sparql.Var && k.As == "" {
		n := a.sc.slot(k.Expr.Term.Name)
		a.keys = append(a.keys, groupKey{slot: n})
		return n
	}
	name := k.As
	if name == "" {
		name = ".key" + strconv.Itoa(len(a.keys))
	}
	n := a.sc.slot(name)
	a.keys = append(a.keys, groupKey{n, c.expr(k.Expr, exprEnv{sc: a.sc, visible: a.inner})})
	return n
}

// slot compiles an aggregate and returns the slot that holds its result.
func (a *aggregation) slot(c *compiler, e *sparql.Expr) int {
	c.book(partSize)
	x := aggregate{op: e.Op, distinct: e.Distinct, separator: " ", slot: c.fresh()}
	if e.Separator != nil {
		x.separator = *e.Separator
	}
	switch e.Op {
	case "COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT":
	default:
		c.fail(kg.QueryFailed, "the aggregate %s is unknown", e.Op)
	}
	if !e.Star {
		if len(e.Args) != 1 {
			c.fail(kg.QueryFailed, "%s takes one argument", e.Op)
			return x.slot
		}
		x.arg = c.expr(e.Args[0], exprEnv{sc: a.sc, visible: a.inner})
	} else if e.Op != "COUNT" {
		c.fail(kg.QueryFailed, "only COUNT takes *")
	}
	a.aggs = append(a.aggs, x)
	return x.slot
}

// plainKeys returns the keys that are variables in the pattern. If such a key is bound outside the query, the binding
// may be passed to the pattern.
func (a *aggregation) plainKeys() varSet {
	var v varSet
	for _, k := range a.keys {
		if k.fn == nil {
			v.add(k.slot)
		}
	}
	return v
}

// certainKeys returns the keys that have a value in every group.
func (a *aggregation) certainKeys(cert varSet) varSet { return a.plainKeys().intersect(cert) }

// accumulator computes one aggregate for one group.
type accumulator struct {
	count  int64
	sum    value.Value
	best   value.Value
	failed bool
	text   *strings.Builder
	seen   *rowSet
}

const accumulatorSize = 2*valueSize + 32 // bytes

// build groups the solutions of the pattern and then yields the groups.
func (a *aggregation) build(ex *exec, where op, next runner) runner {
	r := &grouper{a: a, ex: ex, groups: newRowSet(ex, len(a.keys)), accs: rows[accumulator]{width: len(a.aggs),
		unit: accumulatorSize}, cells: make([]value.ID, len(a.keys))}
	run := where.build(ex, r.take)
	return func() error {
		r.groups.reset()
		r.accs.reset(ex)
		if err := run(); err != nil {
			return err
		}
		if len(a.keys) == 0 && r.groups.n == 0 {
			if _, err := r.group(); err != nil {
				return err
			}
		}
		err := r.emit(next)
		for i := range r.accs.n {
			for _, acc := range r.accs.at(i) {
				if acc.seen != nil {
					acc.seen.drop()
				}
			}
		}
		ex.Free(r.used)
		r.used = 0
		return err
	}
}

// grouper is the state of a grouping in progress.
type grouper struct {
	a      *aggregation
	ex     *exec
	groups *rowSet
	cells  []value.ID
	accs   rows[accumulator] // one row per group
	used   int               // bytes used by the accumulators' values
}

// group returns the index of the current row's group.
func (r *grouper) group() (int, error) {
	i, fresh, err := r.groups.add(r.cells)
	if err != nil {
		return 0, err
	}
	if fresh {
		accs, err := r.accs.add(r.ex)
		if err != nil {
			return 0, err
		}
		for j, g := range r.a.aggs {
			accs[j].sum = value.SmallInt(0)
			if !g.distinct {
				continue
			}
			width := 1
			if g.arg == nil {
				width = len(r.ex.row)
			}
			if err := r.hold(rowSetSize + 8*width); err != nil {
				return 0, err
			}
			accs[j].seen = newRowSet(r.ex, width)
		}
	}
	return i, nil
}

func (r *grouper) take() error {
	if !r.ex.Work(len(r.a.keys) + len(r.a.aggs)) { // a solution may have thousands of keys and aggregates
		return r.ex.Err
	}
	for i, k := range r.a.keys {
		if k.fn == nil {
			r.cells[i] = r.ex.row[k.slot]
		} else {
			r.ex.Solution++
			mark := r.ex.Scratch
			r.cells[i] = r.ex.intern(k.fn(r.ex))
			r.ex.Settle(mark)
		}
	}
	i, err := r.group()
	if err != nil {
		return err
	}
	accs := r.accs.at(i)
	for j := range r.a.aggs {
		mark := r.ex.Scratch
		err := r.add(&r.a.aggs[j], &accs[j])
		r.ex.Settle(mark)
		if err != nil {
			return err
		}
	}
	if r.ex.Err != nil {
		return r.ex.Err
	}
	return nil
}

// add adds one solution to an aggregate. It ignores solutions in which the aggregate's argument has no value.
func (r *grouper) add(g *aggregate, acc *accumulator) error {
	ex := r.ex
	if g.arg == nil {
		if acc.seen != nil {
			if _, fresh, err := acc.seen.add(ex.row); err != nil || !fresh {
				return err
			}
		}
		acc.count++
		return nil
	}
	v := g.arg(ex)
	if v.Kind == value.KindNone {
		return nil
	}
	if acc.seen != nil {
		if _, fresh, err := acc.seen.add([]value.ID{ex.intern(v)}); err != nil || !fresh {
			return err
		}
	}
	acc.count++
	switch g.op {
	case "SUM", "AVG":
		if err := r.replace(&acc.sum, value.Arithmetic('+', acc.sum, v)); err != nil {
			return err
		}
		if !acc.sum.IsNumeric() {
			acc.failed = true
		}
	case "MIN":
		if acc.best.Kind == value.KindNone || value.SortCompare(v, acc.best) < 0 {
			return r.replace(&acc.best, v)
		}
	case "MAX":
		if acc.best.Kind == value.KindNone || value.SortCompare(v, acc.best) > 0 {
			return r.replace(&acc.best, v)
		}
	case "SAMPLE":
		if acc.best.Kind == value.KindNone {
			return r.replace(&acc.best, v)
		}
	case "GROUP_CONCAT":
		return r.concat(g, acc, v)
	}
	return nil
}

// hold accounts for bytes that the accumulators keep until the groups are complete.
func (r *grouper) hold(n int) error {
	r.used += n
	return r.ex.Alloc(n)
}

// replace stores a value in an accumulator.
func (r *grouper) replace(at *value.Value, v value.Value) error {
	n := v.Own() - at.Own()
	*at = v
	return r.hold(n)
}

// concat appends a string to a group's string. While the buffer grows, the old buffer is counted too.
func (r *grouper) concat(g *aggregate, acc *accumulator, v value.Value) error {
	s := function.Str(&r.ex.Env, v)
	if s.Kind == value.KindNone {
		acc.failed = true
		return nil
	}
	separator := g.separator
	if acc.text == nil {
		acc.text, separator = &strings.Builder{}, ""
		if err := r.hold(32); err != nil {
			return err
		}
	}
	before, length := acc.text.Cap(), acc.text.Len()+len(separator)+len(s.Text)
	if int64(length) > r.ex.MaxText() && !r.ex.Text(length) || !r.ex.Read(length/16) {
		return r.ex.Err
	}
	if length > before {
		size := max(length, 2*before)
		if err := r.hold(size); err != nil {
			return err
		}
		larger := &strings.Builder{}
		larger.Grow(size)
		larger.WriteString(acc.text.String())
		acc.text = larger
		r.used -= before
		r.ex.Free(before)
	}
	acc.text.WriteString(separator)
	acc.text.WriteString(s.Text)
	return nil
}

func (r *grouper) result(g *aggregate, acc *accumulator) value.Value {
	if acc.failed {
		return value.Value{}
	}
	switch g.op {
	case "COUNT":
		return value.SmallInt(acc.count)
	case "SUM":
		return acc.sum
	case "AVG":
		if acc.count == 0 {
			return value.SmallInt(0)
		}
		return value.Arithmetic('/', acc.sum, value.SmallInt(acc.count))
	case "GROUP_CONCAT":
		if acc.text == nil {
			return value.String("")
		}
		return value.String(acc.text.String())
	}
	return acc.best
}

func (r *grouper) emit(next runner) error {
	a, ex := r.a, r.ex
	slots := make([]int, 0, len(a.keys)+len(a.aggs))
	for _, k := range a.keys {
		slots = append(slots, k.slot)
	}
	for _, g := range a.aggs {
		slots = append(slots, g.slot)
	}
	old := make([]value.ID, len(slots))
	for i, s := range slots {
		old[i] = ex.row[s]
	}
	restore := func() {
		for i, s := range slots {
			ex.row[s] = old[i]
		}
	}
	defer restore()
	for i := range r.groups.n {
		if err := ex.Tick(); err != nil {
			return err
		}
		ok := true
		for j, k := range a.keys {
			n := r.groups.at(i)[j]
			if k.fn != nil && old[j] != 0 && n != 0 && old[j] != n {
				ok = false
			}
			ex.row[k.slot] = n
			if n == 0 {
				ex.row[k.slot] = old[j]
			}
		}
		accs := r.accs.at(i)
		for j := range a.aggs {
			ex.row[a.aggs[j].slot] = ex.intern(r.result(&a.aggs[j], &accs[j]))
		}
		if ex.Err != nil {
			return ex.Err
		}
		if ok {
			if err := next(); err != nil {
				return err
			}
		}
	}
	return nil
}

func sortedKeys(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
