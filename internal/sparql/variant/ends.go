package variant

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// ends generates the variants of comparisons and dates.
func (w *writer) ends() {
	w.bounds(map[string]string{"<": "<=", ">": ">="}, "the end of the range included", More)
	w.bounds(map[string]string{"<=": "<", ">=": ">"}, "the end of the range left out", Fewer)
	if !w.o.Wikidata {
		return
	}
	for i, p := range places(w.q) {
		w.open(i, p)
		w.precision(i, p)
	}
	w.past()
}

// bounds changes the operators of comparisons against constants, in filters that every row must pass. by maps operators
// to their replacements.
func (w *writer) bounds(by map[string]string, what string, effect Effect) {
	var seen []string
	change := func(q *sparql.Query) bool {
		seen = nil
		positive(q.Body.Where, func(g *sparql.Group) {
			for _, p := range g.Patterns {
				if f, ok := p.(*sparql.Filter); ok {
					compare(f.Expr, func(e *sparql.Expr) {
						if to := by[e.Op]; to != "" {
							seen, e.Op = append(seen, e.Op+" to "+to), to
						}
					})
				}
			}
		})
		return len(seen) > 0
	}
	change(w.copy())
	slices.Sort(seen)
	w.add(Variant{Kind: Ends, Effect: effect, What: what + ": " + strings.Join(slices.Compact(seen), ", ")}, change)
}

// compare calls f for each comparison against a constant that is combined with other conditions only by && and ||.
// Loosening such a comparison never makes the expression false for more rows.
func compare(e *sparql.Expr, f func(*sparql.Expr)) {
	if e.Kind != sparql.ExprBinary {
		return
	}
	switch e.Op {
	case "&&", "||":
		compare(e.Args[0], f)
		compare(e.Args[1], f)
	case "<", ">", "<=", ">=":
		if (len(vars(e.Args[0])) == 0) != (len(vars(e.Args[1])) == 0) {
			f(e)
		}
	}
}

// over contains the Wikidata properties that state when something ended: end time, dissolved, date of death, service
// retirement.
var over = []string{"P582", "P576", "P570", "P730"}

// propertyOf returns the ID of a property that leads to a value: a direct, statement or qualifier property.
func propertyOf(p *sparql.Path) string {
	s := p.IRI()
	for _, ns := range []string{rdf.Direct, rdf.Prop + "qualifier/", rdf.Prop + "statement/"} {
		if id, ok := strings.CutPrefix(s, ns); ok && rdf.ValidID(id) {
			return id
		}
	}
	return ""
}

// open includes things without an end date: the date becomes optional, and filters on it are true if it is missing. It
// does not apply if a filter computes something from the date, such as how long the thing lasted.
func (w *writer) open(i int, p place) {
	end := p.object()
	if !slices.Contains(over, propertyOf(p.path())) || end.Kind != sparql.Var || p.subject().Kind != sparql.Var {
		return
	}
	if found, _ := p.bound(p.subject().Name); !found {
		return
	}
	about := func(x sparql.Pattern) bool {
		f, ok := x.(*sparql.Filter)
		return ok && slices.Contains(vars(f.Expr), end.Name)
	}
	if !slices.ContainsFunc(p.group.Patterns, about) || // if the end is only shown, the variant is of kind Missing
		slices.ContainsFunc(p.group.Patterns, func(x sparql.Pattern) bool {
			f, ok := x.(*sparql.Filter)
			return ok && computes(f.Expr, end.Name)
		}) {
		return
	}
	w.add(Variant{Kind: Open, Effect: More, IRI: []string{p.path().IRI()},
		What: "also things without " + w.name(p.path().Term)}, at(i, func(p place) bool {
		p.remove()
		p.group.Patterns = append(p.group.Patterns, &sparql.Optional{Group: &sparql.Group{
			Patterns: []sparql.Pattern{p.triple}}})
		for _, x := range p.group.Patterns {
			if about(x) {
				f := x.(*sparql.Filter)
				f.Expr = binary("||", &sparql.Expr{Kind: sparql.ExprUnary, Op: "!", Args: []*sparql.Expr{
					call("BOUND", term(variable(end.Name)))}}, f.Expr)
			}
		}
		return true
	}))
}

// past includes things with an end date: the conditions that exclude them are left out.
func (w *writer) past() {
	var names, iris []string
	change := func(q *sparql.Query) bool {
		names, iris = nil, nil
		positive(q.Body.Where, func(g *sparql.Group) {
			dates := endDates(g.Patterns)
			g.Patterns = slices.DeleteFunc(g.Patterns, func(p sparql.Pattern) bool {
				end := exclusion(p, dates)
				if end != nil {
					names, iris = append(names, w.name(end.Term)), append(iris, end.IRI())
				}
				return end != nil
			})
		})
		return len(iris) > 0
	}
	change(w.copy())
	slices.Sort(names)
	w.add(Variant{Kind: Past, Effect: More, IRI: slices.Clone(iris),
		What: "also things with " + strings.Join(slices.Compact(names), ", ")}, change)
}

// exclusion returns the end-date property if a pattern excludes things that have an end date: NOT EXISTS or MINUS on
// such a date, or !BOUND on the variable for one of the dates in the pattern's group. Otherwise, it returns nil.
func exclusion(p sparql.Pattern, dates []endDate) *sparql.Path {
	switch x := p.(type) {
	case *sparql.Minus:
		dates = endDates([]sparql.Pattern{x})
	case *sparql.Filter:
		switch e := x.Expr; {
		case e.Kind == sparql.ExprExists && e.Op == "NOT EXISTS":
			dates = endDates([]sparql.Pattern{x})
		case e.Kind == sparql.ExprUnary && e.Op == "!" && e.Args[0].Op == "BOUND":
			name := e.Args[0].Args[0].Variable()
			dates = slices.DeleteFunc(slices.Clone(dates), func(d endDate) bool { return d.name != name })
		default:
			return nil
		}
	default:
		return nil
	}
	if len(dates) == 0 {
		return nil
	}
	return dates[0].path
}

// endDate is the variable for an end date and the property that leads to it.
type endDate struct {
	name string
	path *sparql.Path
}

// endDates returns the end dates in the groups directly below the patterns, such as the group of an OPTIONAL.
func endDates(patterns []sparql.Pattern) []endDate {
	var out []endDate
	for _, p := range patterns {
		for _, g := range sparql.ChildGroups(p) {
			for _, p := range g.Patterns {
				t, ok := p.(*sparql.Triples)
				if !ok {
					continue
				}
				for _, prop := range t.Properties {
					if slices.Contains(over, propertyOf(prop.Path)) && prop.Objects[0].Kind == sparql.Var {
						out = append(out, endDate{prop.Objects[0].Name, prop.Path})
					}
				}
			}
		}
	}
	return out
}

// computes reports whether an expression adds or subtracts something that depends on a variable.
func computes(e *sparql.Expr, name string) bool {
	return e.Kind == sparql.ExprBinary && (e.Op == "+" || e.Op == "-") && slices.Contains(vars(e), name) ||
		slices.ContainsFunc(e.Args, func(a *sparql.Expr) bool { return a != nil && computes(a, name) })
}

// dayPrecise is the Wikibase precision of a date that is known to the day.
const dayPrecise = 11

// precision generates the variant that requires a date to be known to the day, if the query compares the date with a
// day other than January 1.
func (w *writer) precision(i int, p place) {
	id, ok := strings.CutPrefix(p.path().IRI(), rdf.Direct)
	date := p.object()
	if !ok || date.Kind != sparql.Var {
		return
	}
	compared := false
	for _, x := range p.group.Patterns {
		if f, ok := x.(*sparql.Filter); ok && slices.Contains(vars(f.Expr), date.Name) {
			compared = compared || ofDay(f.Expr)
		}
	}
	if !compared {
		return
	}
	w.add(Variant{Kind: Precision, Effect: Fewer, IRI: []string{p.path().IRI()},
		What: "only dates of wdt:" + id + " that are known to the day"}, at(i, func(p place) bool {
		st, val, pr := variable(w.fresh("dateStatement")), variable(w.fresh("dateValue")), variable(w.fresh("datePrecision"))
		p.group.Patterns = append(p.group.Patterns,
			triple(p.subject(), step(rdf.Prop+id), st),
			triple(st, step(rdf.Prop+"statement/value/"+id), val),
			triple(val, step(rdf.Wikibase+"timeValue"), variable(date.Name)),
			triple(val, step(rdf.Wikibase+"timePrecision"), pr),
			&sparql.Filter{Expr: binary(">=", term(pr), term(sparql.NewConst(rdf.Typed(strconv.Itoa(dayPrecise), rdf.XSD+"integer"), "")))})
		return true
	}))
}

// ofDay reports whether an expression compares something with a day other than January 1, or uses MONTH or DAY.
func ofDay(e *sparql.Expr) bool {
	found := false
	sparql.Inspect(e, func(n sparql.Node) bool {
		x, ok := n.(*sparql.Expr)
		if !ok {
			return true
		}
		if x.Kind == sparql.ExprBuiltin && (x.Op == "MONTH" || x.Op == "DAY") {
			found = true
		}
		if x.Kind == sparql.ExprTerm && x.Term.IsLiteral() {
			v := x.Term.Value()
			day, ok := strings.CutPrefix(v.Datatype, rdf.XSD)
			found = found || ok && (day == "dateTime" || day == "date") && !strings.Contains(v.Value, "-01-01")
		}
		return true
	})
	return found
}
