package embedded

import "github.com/spinachbot/spinachbot/internal/sparql"

// expr evaluates the few kinds of expression that the generator makes.
func (s *slow) expr(e *sparql.Expr, a solution) value {
	arg := func(i int) value { return s.expr(e.Args[i], a) }
	truth := func(t tri) value {
		if t == triError {
			return value{}
		}
		return boolValue(t == triTrue)
	}
	switch e.Kind {
	case sparql.ExprTerm:
		if e.Term.Kind == sparql.Const {
			return valueOf(e.Term.Value())
		}
		if t, ok := a[e.Term.Name]; ok {
			return valueOf(t)
		}
		return valueOf(s.given[e.Term.Name])
	case sparql.ExprExists:
		inner := &slow{triples: s.triples, given: merge(s.given, a)}
		return boolValue((len(inner.group(e.Group)) > 0) == (e.Op == "EXISTS"))
	case sparql.ExprUnary:
		switch arg(0).ebv() {
		case triTrue:
			return boolValue(false)
		case triFalse:
			return boolValue(true)
		}
		return value{}
	case sparql.ExprBuiltin:
		switch e.Op {
		case "BOUND":
			_, ok := a[e.Args[0].Term.Name]
			_, given := s.given[e.Args[0].Term.Name]
			return boolValue(ok || given)
		case "SAMETERM":
			x, y := arg(0), arg(1)
			if x.k == vNone || y.k == vNone {
				return value{}
			}
			return boolValue(x.term() == y.term())
		case "COALESCE":
			for i := range e.Args {
				if v := arg(i); v.k != vNone {
					return v
				}
			}
			return value{}
		}
		return fnStr(nil, arg(0))
	}
	switch e.Op {
	case "&&":
		x, y := arg(0).ebv(), arg(1).ebv()
		if x == triFalse || y == triFalse {
			return boolValue(false)
		}
		return truth(max(x, y))
	case "||":
		x, y := arg(0).ebv(), arg(1).ebv()
		if x == triTrue || y == triTrue {
			return boolValue(true)
		}
		return truth(max(x, y))
	case "=":
		return truth(equal(arg(0), arg(1)))
	case "!=":
		return truth(negate(equal(arg(0), arg(1)), true))
	case "<":
		n, nan, ok := order(arg(0), arg(1))
		if !ok {
			return value{}
		}
		return boolValue(!nan && n < 0)
	}
	return arithmetic(e.Op[0], arg(0), arg(1))
}
