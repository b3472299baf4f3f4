package embedded

import (
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/function"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// evalFn evaluates an expression for the current row. The zero Value means unbound or an error.
type evalFn func(ex *exec) value.Value

type condFn func(ex *exec) value.Truth

// exprEnv is an expression's environment: the names that it sees and the variables that can have a value there.
// Variables that are not in visible are treated as unbound even if the row binds them, since the row may contain
// bindings from outside the expression's scope.
type exprEnv struct {
	sc      *scope
	visible varSet
	cert    varSet       // variables in visible that certainly have a value
	uses    *varSet      // collects the slots that the expression reads
	agg     *aggregation // collects aggregates; nil if they are not allowed
}

func (env exprEnv) slot(name string) (int, bool) {
	n := env.sc.slot(name)
	at := n
	switch {
	case env.visible.has(n):
	case env.sc.ambient.has(n):
		at = env.sc.copyOf(n)
	default:
		return n, false
	}
	if env.uses != nil {
		*env.uses = env.uses.union(setOf(n, at))
	}
	return at, true
}

func noValue(*exec) value.Value { return value.Value{} }

func (c *compiler) expr(e *sparql.Expr, env exprEnv) evalFn {
	if !c.tick() || !c.book(exprSize) {
		return noValue
	}
	switch e.Kind {
	case sparql.ExprTerm:
		return c.termExpr(e.Term, env)
	case sparql.ExprUnary:
		return c.unary(e, env)
	case sparql.ExprBinary:
		return c.binary(e, env)
	case sparql.ExprIn, sparql.ExprExists:
		return condValue(c.cond(e, env))
	case sparql.ExprBuiltin:
		return c.builtin(e, env)
	case sparql.ExprFunction:
		return c.call(e, env)
	case sparql.ExprAggregate:
		if env.agg == nil {
			c.fail(kg.QueryFailed, "%s cannot be used here: aggregates belong in SELECT, HAVING and ORDER BY", e.Op)
			return noValue
		}
		n := env.agg.slot(c, e)
		return func(ex *exec) value.Value { return ex.value(ex.row[n]) }
	}
	c.fail(kg.QueryFailed, "an expression of unknown kind")
	return noValue
}

func (c *compiler) termExpr(t *sparql.Term, env exprEnv) evalFn {
	switch t.Kind {
	case sparql.Var:
		n, ok := env.slot(t.Name)
		if !ok {
			return noValue
		}
		return func(ex *exec) value.Value { return ex.value(ex.row[n]) }
	case sparql.Const:
		v := value.Of(t.Value())
		v.ID = c.st.Lookup(t.Value())
		return func(*exec) value.Value { return v }
	}
	return noValue
}

func condValue(f condFn) evalFn {
	yes, no := value.Bool(true), value.Bool(false)
	return func(ex *exec) value.Value {
		switch f(ex) {
		case value.True:
			return yes
		case value.False:
			return no
		}
		return value.Value{}
	}
}

func (c *compiler) unary(e *sparql.Expr, env exprEnv) evalFn {
	if e.Op == "!" {
		return condValue(c.cond(e, env))
	}
	arg := c.expr(e.Args[0], env)
	neg := e.Op == "-"
	return func(ex *exec) value.Value {
		v := arg(ex)
		switch {
		case !v.IsNumeric():
			return value.Value{}
		case !neg:
			return v
		case v.Kind == value.KindInt:
			return value.Int(v.Num.Neg())
		case v.Kind == value.KindDecimal:
			return value.Dec(v.Num.Neg())
		case v.Kind == value.KindFloat:
			return value.Float(-v.Float)
		}
		return value.Double(-v.Float)
	}
}

func (c *compiler) binary(e *sparql.Expr, env exprEnv) evalFn {
	switch e.Op {
	case "+", "-", "*", "/":
		a, b, op := c.expr(e.Args[0], env), c.expr(e.Args[1], env), e.Op[0]
		return func(ex *exec) value.Value {
			x := a(ex)
			if x.Kind == value.KindNone {
				return x
			}
			return value.Arithmetic(op, x, b(ex))
		}
	}
	return condValue(c.cond(e, env))
}

// cond compiles an expression as a condition, that is, its effective boolean value.
func (c *compiler) cond(e *sparql.Expr, env exprEnv) condFn {
	if !c.tick() || !c.book(exprSize) {
		return func(*exec) value.Truth { return value.Error }
	}
	switch e.Kind {
	case sparql.ExprUnary:
		if e.Op == "!" {
			f := c.cond(e.Args[0], env)
			return func(ex *exec) value.Truth {
				switch f(ex) {
				case value.True:
					return value.False
				case value.False:
					return value.True
				}
				return value.Error
			}
		}
	case sparql.ExprBinary:
		switch e.Op {
		case "||", "&&":
			return c.logic(e, env)
		case "=", "!=":
			return c.equality(e, env)
		case "<", ">", "<=", ">=":
			return c.comparison(e, env)
		}
	case sparql.ExprIn:
		return c.in(e, env)
	case sparql.ExprExists:
		return c.existsCond(e, env)
	case sparql.ExprBuiltin:
		if e.Op == "BOUND" && len(e.Args) == 1 && e.Args[0].Kind == sparql.ExprTerm && e.Args[0].Term.Kind == sparql.Var {
			n, ok := env.slot(e.Args[0].Term.Name)
			return func(ex *exec) value.Truth { return value.TruthOf(ok && ex.row[n] != 0) }
		}
	}
	f := c.expr(e, env)
	return func(ex *exec) value.Truth { return f(ex).Truth() }
}

func (c *compiler) logic(e *sparql.Expr, env exprEnv) condFn {
	a, b := c.cond(e.Args[0], env), c.cond(e.Args[1], env)
	decisive := value.True
	if e.Op == "&&" {
		decisive = value.False
	}
	return func(ex *exec) value.Truth {
		x := a(ex)
		if x == decisive {
			return x
		}
		y := b(ex)
		if y == decisive || x != value.Error {
			return y
		}
		return x
	}
}

func (c *compiler) equality(e *sparql.Expr, env exprEnv) condFn {
	not := e.Op == "!="
	a, b := c.expr(e.Args[0], env), c.expr(e.Args[1], env)
	return func(ex *exec) value.Truth {
		x := a(ex)
		if x.Kind == value.KindNone {
			return value.Error
		}
		return negate(value.Equal(x, b(ex)), not)
	}
}

func negate(t value.Truth, not bool) value.Truth {
	if !not || t == value.Error {
		return t
	}
	return value.True - t
}

func (c *compiler) comparison(e *sparql.Expr, env exprEnv) condFn {
	a, b, op := c.expr(e.Args[0], env), c.expr(e.Args[1], env), e.Op
	return func(ex *exec) value.Truth {
		x := a(ex)
		if x.Kind == value.KindNone {
			return value.Error
		}
		n, nan, ok := value.Compare(x, b(ex))
		if !ok {
			return value.Error
		}
		if nan {
			return value.False
		}
		switch op {
		case "<":
			return value.TruthOf(n < 0)
		case ">":
			return value.TruthOf(n > 0)
		case "<=":
			return value.TruthOf(n <= 0)
		}
		return value.TruthOf(n >= 0)
	}
}

func (c *compiler) in(e *sparql.Expr, env exprEnv) condFn {
	not := e.Op == "NOT IN"
	if set := iriSet(e.Args[1:]); set != nil {
		arg := c.expr(e.Args[0], env)
		return func(ex *exec) value.Truth {
			x := arg(ex)
			if x.Kind == value.KindNone {
				return value.Error
			}
			return negate(value.TruthOf(x.Kind == value.KindIRI && set[x.Text]), not)
		}
	}
	fs := c.exprs(e.Args, env)
	return func(ex *exec) value.Truth {
		x := fs[0](ex)
		if x.Kind == value.KindNone {
			return value.Error
		}
		res := value.False
		for _, f := range fs[1:] {
			switch value.Equal(x, f(ex)) {
			case value.True:
				return negate(value.True, not)
			case value.Error:
				res = value.Error
			}
		}
		return negate(res, not)
	}
}

// iriSet returns the set of IRIs in a long list of IRIs, or nil for any other list. A lookup in the set can replace the
// comparisons because comparing IRIs never causes an error.
func iriSet(list []*sparql.Expr) map[string]bool {
	if len(list) < 8 {
		return nil
	}
	set := make(map[string]bool, len(list))
	for _, e := range list {
		if e.Kind != sparql.ExprTerm || e.Term.Kind != sparql.Const || !e.Term.Value().IsIRI() {
			return nil
		}
		set[e.Term.Value().Value] = true
	}
	return set
}

func (c *compiler) exprs(es []*sparql.Expr, env exprEnv) []evalFn {
	out := make([]evalFn, len(es))
	for i, e := range es {
		out[i] = c.expr(e, env)
	}
	return out
}

// builtin compiles a call to a function of SPARQL 1.1, section 17.4.
func (c *compiler) builtin(e *sparql.Expr, env exprEnv) evalFn {
	switch e.Op {
	case "BOUND":
		return condValue(c.cond(e, env))
	case "IF":
		if len(e.Args) == 3 {
			test, yes, no := c.cond(e.Args[0], env), c.expr(e.Args[1], env), c.expr(e.Args[2], env)
			return func(ex *exec) value.Value {
				switch test(ex) {
				case value.True:
					return yes(ex)
				case value.False:
					return no(ex)
				}
				return value.Value{}
			}
		}
	case "COALESCE":
		fs := c.exprs(e.Args, env)
		return func(ex *exec) value.Value {
			for _, f := range fs {
				if v := f(ex); v.Kind != value.KindNone {
					return v
				}
			}
			return value.Value{}
		}
	case "REGEX":
		return c.strict(e, function.Regex, 2, 3, env)
	case "REPLACE":
		return c.strict(e, function.Replace, 3, 4, env)
	}
	if f := function.Unary(e.Op); f != nil && len(e.Args) == 1 {
		a := c.expr(e.Args[0], env)
		return func(ex *exec) value.Value {
			v := a(ex)
			if v.Kind == value.KindNone {
				return v
			}
			return f(&ex.Env, v)
		}
	}
	if f := function.Binary(e.Op); f != nil && len(e.Args) == 2 {
		a, b := c.expr(e.Args[0], env), c.expr(e.Args[1], env)
		return func(ex *exec) value.Value {
			x := a(ex)
			if x.Kind == value.KindNone {
				return x
			}
			y := b(ex)
			if y.Kind == value.KindNone {
				return y
			}
			return f(&ex.Env, x, y)
		}
	}
	if f, least, most := function.Variadic(e.Op); f != nil {
		return c.strict(e, f, least, most, env)
	}
	c.fail(kg.QueryFailed, "%s with %d arguments is not a function of SPARQL", e.Op, len(e.Args))
	return noValue
}

// strict compiles a call that requires a value for every argument.
func (c *compiler) strict(e *sparql.Expr, f function.N, least, most int, env exprEnv) evalFn {
	if len(e.Args) < least || most >= 0 && len(e.Args) > most {
		c.fail(kg.QueryFailed, "%s has %d arguments, which is the wrong number", exprName(e), len(e.Args))
		return noValue
	}
	fs := c.exprs(e.Args, env)
	return func(ex *exec) value.Value {
		args := make([]value.Value, len(fs))
		for i, g := range fs {
			if args[i] = g(ex); args[i].Kind == value.KindNone {
				return value.Value{}
			}
		}
		return f(&ex.Env, args)
	}
}

func exprName(e *sparql.Expr) string {
	if e.Kind == sparql.ExprFunction {
		return rdf.Shorten(e.Term.Value().Value)
	}
	return e.Op
}

// call compiles a call to a function named by an IRI: a cast or one of the dialect's functions.
func (c *compiler) call(e *sparql.Expr, env exprEnv) evalFn {
	iri := e.Term.Value().Value
	if k, ok := function.CastKind(iri); ok && len(e.Args) == 1 {
		a := c.expr(e.Args[0], env)
		return func(ex *exec) value.Value {
			v := a(ex)
			if v.Kind == value.KindNone {
				return v
			}
			return function.Cast(k, iri, v)
		}
	}
	if f, least, most := function.ByIRI(iri); f != nil {
		return c.strict(e, f, least, most, env)
	}
	c.fail(kg.QueryFailed, "the function %s is not supported here", rdf.Shorten(iri))
	return noValue
}
