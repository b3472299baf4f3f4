package embedded

import (
	"github.com/spinachbot/spinachbot/internal/kg/embedded/function"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// expr evaluates the few kinds of expressions that the generator produces.
func (s *slow) expr(e *sparql.Expr, a solution) value.Value {
	arg := func(i int) value.Value { return s.expr(e.Args[i], a) }
	truth := func(t value.Truth) value.Value {
		if t == value.Error {
			return value.Value{}
		}
		return value.Bool(t == value.True)
	}
	switch e.Kind {
	case sparql.ExprTerm:
		if e.Term.Kind == sparql.Const {
			return value.Of(e.Term.Value())
		}
		if t, ok := a[e.Term.Name]; ok {
			return value.Of(t)
		}
		return value.Of(s.given[e.Term.Name])
	case sparql.ExprExists:
		inner := &slow{triples: s.triples, given: merge(s.given, a)}
		return value.Bool((len(inner.group(e.Group)) > 0) == (e.Op == "EXISTS"))
	case sparql.ExprUnary:
		switch arg(0).Truth() {
		case value.True:
			return value.Bool(false)
		case value.False:
			return value.Bool(true)
		}
		return value.Value{}
	case sparql.ExprBuiltin:
		switch e.Op {
		case "BOUND":
			_, ok := a[e.Args[0].Term.Name]
			_, given := s.given[e.Args[0].Term.Name]
			return value.Bool(ok || given)
		case "SAMETERM":
			x, y := arg(0), arg(1)
			if x.Kind == value.KindNone || y.Kind == value.KindNone {
				return value.Value{}
			}
			return value.Bool(x.Term() == y.Term())
		case "COALESCE":
			for i := range e.Args {
				if v := arg(i); v.Kind != value.KindNone {
					return v
				}
			}
			return value.Value{}
		}
		return function.Str(nil, arg(0))
	}
	switch e.Op {
	case "&&":
		x, y := arg(0).Truth(), arg(1).Truth()
		if x == value.False || y == value.False {
			return value.Bool(false)
		}
		return truth(max(x, y))
	case "||":
		x, y := arg(0).Truth(), arg(1).Truth()
		if x == value.True || y == value.True {
			return value.Bool(true)
		}
		return truth(max(x, y))
	case "=":
		return truth(value.Equal(arg(0), arg(1)))
	case "!=":
		return truth(negate(value.Equal(arg(0), arg(1)), true))
	case "<":
		n, nan, ok := value.Compare(arg(0), arg(1))
		if !ok {
			return value.Value{}
		}
		return value.Bool(!nan && n < 0)
	}
	return value.Arithmetic(e.Op[0], arg(0), arg(1))
}
