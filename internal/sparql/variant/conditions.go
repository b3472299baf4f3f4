package variant

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// conditions generates the variants of single triples.
func (w *writer) conditions() {
	for i, p := range places(w.q) {
		w.class(i, p)
		if w.o.Wikidata {
			w.hierarchy(i, p)
			w.country(i, p)
			w.bestRank(i, p)
		}
		w.optional(i, p)
	}
	if w.o.Wikidata {
		w.allRanks()
	}
}

// class generates the variants of ?x a C: with subclasses, without subclasses, with a different class that the same
// word may mean, and without the class.
func (w *writer) class(i int, p place) {
	path, o := p.path(), p.object()
	if !o.IsIRI() || p.subject().Kind != sparql.Var {
		return
	}
	direct := slices.Contains(w.o.Types, path.IRI())
	v := Variant{Kind: Subclasses, IRI: []string{o.Value().Value}, Effect: More,
		What: "with subclasses of " + w.name(o)}
	if direct && w.o.Subclass != "" {
		w.add(v, at(i, func(p place) bool {
			return p.setPath(some(sparql.PathSeq, p.path(), some(sparql.PathStar, step(w.o.Subclass))))
		}))
	}
	wide := path.Kind == sparql.PathSeq && len(path.Args) == 2 && slices.Contains(w.o.Types, path.Args[0].IRI()) &&
		path.Args[1].Kind == sparql.PathStar && path.Args[1].Args[0].IRI() == w.o.Subclass
	if wide {
		v.What, v.Effect = "only direct instances of "+w.name(o), Fewer
		w.add(v, at(i, func(p place) bool { return p.setPath(p.path().Args[0]) }))
	}
	if !direct && !wide {
		return
	}
	for _, other := range readings[rdf.EntityID(o.Value().Value)] {
		if w.o.Wikidata {
			w.add(Variant{Kind: Class, IRI: []string{o.Value().Value, rdf.Entity + other},
				What: "wd:" + other + " instead of " + w.name(o)}, at(i, func(p place) bool {
				p.triple.Properties[0].Objects[0] = iri(rdf.Entity + other)
				return true
			}))
		}
	}
	// comparing the results is the only way to see what a class excludes
	if _, anchored := p.bound(p.subject().Name); anchored && !w.counted && w.q.Form == sparql.Select {
		w.add(Variant{Kind: Class, IRI: []string{o.Value().Value}, Var: p.subject().Name, Effect: More,
			What: "without the class " + w.name(o)}, at(i, place.remove))
	}
}

// readings maps Wikidata classes to other classes that people refer to by the same word.
var readings = map[string][]string{
	"Q6256": {"Q3624078"}, "Q3624078": {"Q6256"}, // country, sovereign state
}

// levels are Wikidata properties that lead up one level in a hierarchy: located in the administrative unit, subclass
// of, parent taxon, part of.
var levels = []string{"P131", "P279", "P171", "P361"}

// hierarchy generates the variant of ?x wdt:P131 C that follows all levels, or only one if the query follows all.
func (w *writer) hierarchy(i int, p place) {
	path := p.path()
	if p.subject().Kind != sparql.Var || !p.object().IsIRI() {
		return
	}
	of := func(x *sparql.Path) bool {
		id, ok := strings.CutPrefix(x.IRI(), rdf.Direct)
		return ok && slices.Contains(levels, id)
	}
	v := Variant{Kind: Places, IRI: []string{p.object().Value().Value}}
	switch {
	case of(path):
		v.What, v.Effect = "all levels of "+w.name(path.Term)+" up to "+w.name(p.object()), More
		w.add(v, at(i, func(p place) bool { return p.setPath(some(sparql.PathPlus, p.path())) }))
	case (path.Kind == sparql.PathStar || path.Kind == sparql.PathPlus) && of(path.Args[0]):
		v.What, v.Effect = "only one level of "+w.name(path.Args[0].Term)+" below "+w.name(p.object()), Fewer
		w.add(v, at(i, func(p place) bool { return p.setPath(p.path().Args[0]) }))
	}
}

// countries are the Wikidata properties that connect a thing to a country, each with other properties that may have the
// same meaning.
var countries = map[string][]string{
	"P17":   {"P495", "P27"}, // country: country of origin, citizenship
	"P27":   {"P1532"},       // citizenship: country for sport
	"P495":  {"P17"},
	"P1532": {"P27"},
}

// country generates variants of ?x wdt:P17 C with additional properties that may lead to C.
func (w *writer) country(i int, p place) {
	id, ok := strings.CutPrefix(p.path().IRI(), rdf.Direct)
	if !ok || len(countries[id]) == 0 || p.subject().Kind != sparql.Var || !p.object().IsIRI() {
		return
	}
	var names, iris []string
	for _, c := range countries[id] {
		names, iris = append(names, "wdt:"+c), append(iris, rdf.Direct+c)
	}
	w.add(Variant{Kind: Country, Effect: More, IRI: append([]string{p.path().IRI()}, iris...),
		What: w.name(p.object()) + " also by " + strings.Join(names, " or ")},
		at(i, func(p place) bool {
			alt := some(sparql.PathAlt, p.path())
			for _, s := range iris {
				alt.Args = append(alt.Args, step(s))
			}
			return p.setPath(alt)
		}))
}

// allRanks rewrites the direct properties in a query to statements of any rank, except for classes and for values used
// in a computation, a comparison or ORDER BY, where the current value is meant.
func (w *writer) allRanks() {
	var which []int
	var names, iris []string
	for i, p := range places(w.q) {
		id, ok := strings.CutPrefix(p.path().IRI(), rdf.Direct)
		if ok && !slices.Contains(w.o.Types, p.path().IRI()) && id != "P279" && !w.computed(p.object()) {
			which, names, iris = append(which, i), append(names, "wdt:"+id), append(iris, p.path().IRI())
		}
	}
	slices.Sort(names)
	w.add(Variant{Kind: Ranks, Effect: More, IRI: iris,
		What: "statements of every rank of " + strings.Join(slices.Compact(names), ", ")},
		func(q *sparql.Query) bool {
			all := places(q)
			for _, i := range which {
				id := strings.TrimPrefix(all[i].path().IRI(), rdf.Direct)
				all[i].setPath(some(sparql.PathSeq, step(rdf.Prop+id), step(rdf.Prop+"statement/"+id)))
			}
			return len(which) > 0
		})
}

// computed reports whether a variable is part of an expression other than a COUNT.
func (w *writer) computed(t *sparql.Term) bool {
	found := false
	sparql.Inspect(w.q, func(n sparql.Node) bool {
		e, ok := n.(*sparql.Expr)
		if !ok {
			return true
		}
		found = found || t.Kind == sparql.Var && e.Variable() == t.Name
		return e.Kind != sparql.ExprAggregate || e.Op != "COUNT"
	})
	return found
}

// bestRank rewrites a path through statements to the direct property, which leads only to the best-ranked values, and
// restricts statement nodes to the best rank.
func (w *writer) bestRank(i int, p place) {
	if path := p.path(); path.Kind == sparql.PathSeq && len(path.Args) == 2 {
		id := strings.TrimPrefix(path.Args[0].IRI(), rdf.Prop)
		if rdf.ValidID(id) && path.Args[1].IRI() == rdf.Prop+"statement/"+id {
			w.add(Variant{Kind: Ranks, Effect: Fewer, IRI: []string{rdf.Prop + id},
				What: "only the values of wdt:" + id + ", those with the best rank"},
				at(i, func(p place) bool { return p.setPath(step(rdf.Direct + id)) }))
		}
		return
	}
	id, ok := strings.CutPrefix(p.path().IRI(), rdf.Prop)
	node := p.object()
	if !ok || !rdf.ValidID(id) || node.Kind != sparql.Var {
		return
	}
	for _, o := range places(w.q) { // the query restricts the rank itself, or selects statements by their qualifiers
		if path := o.path().IRI(); o.subject().Kind == sparql.Var && o.subject().Name == node.Name &&
			(path == rdf.RDFType || path == rdf.Wikibase+"rank" || strings.HasPrefix(path, rdf.Prop+"qualifier/")) {
			return
		}
	}
	w.add(Variant{Kind: Ranks, Effect: Fewer, IRI: []string{rdf.Prop + id},
		What: "only statements of p:" + id + " with the best rank"}, at(i, func(p place) bool {
		p.group.Patterns = append(p.group.Patterns, triple(variable(node.Name), step(rdf.RDFType),
			iri(rdf.Wikibase+"BestRank")))
		return true
	}))
}

// optional makes a triple optional if its only use is to show a value, and removes a triple that shows nothing.
func (w *writer) optional(i int, p place) {
	free, filters := w.free(p)
	if free == "" {
		return
	}
	v := Variant{Effect: More, Var: free}
	if t := p.path().Term; t != nil && t.IsIRI() {
		v.IRI = []string{t.Value().Value}
	}
	what := sparql.Print(&sparql.Query{Form: sparql.Ask, Body: &sparql.SelectQuery{Where: &sparql.Group{
		Patterns: []sparql.Pattern{p.triple}}}}, sparql.PrintOptions{OneLine: true})
	what = strings.TrimSuffix(strings.TrimPrefix(what, "ASK { "), " . }")
	what = strings.TrimSuffix(strings.TrimSuffix(what, " }"), " .")
	switch {
	case len(v.IRI) > 0 && slices.Contains(w.o.Labels, v.IRI[0]):
		v.Kind, v.What = Label, "also things without such a label: "+what
	case shown(w.q, free):
		if !w.q.Body.Star && !slices.ContainsFunc(w.q.Body.Columns(), func(c string) bool {
			base, _ := sparql.LabelBase(c)
			return c != free && base != free
		}) {
			return // the query has no other column
		}
		v.Kind, v.What = Missing, "also things without a match for "+what
	default:
		v.Kind, v.What = Condition, "without the condition "+what
	}
	w.add(v, at(i, func(p place) bool {
		g := &sparql.Group{Patterns: []sparql.Pattern{p.triple}}
		for _, n := range filters {
			g.Patterns = append(g.Patterns, p.group.Patterns[n])
		}
		gone := slices.Clone(g.Patterns)
		p.group.Patterns = slices.DeleteFunc(p.group.Patterns,
			func(x sparql.Pattern) bool { return slices.Contains(gone, x) })
		if v.Kind != Condition {
			p.group.Patterns = append(p.group.Patterns, &sparql.Optional{Group: g})
		}
		return true
	}))
}

// free returns a variable of the triple that nothing else depends on, or "" if there is none, and the indexes of the
// filters on its language. The triple's other term must be a variable that a different triple binds.
func (w *writer) free(p place) (name string, filters []int) {
	s, o := p.subject(), p.object()
	for _, ends := range [][2]*sparql.Term{{o, s}, {s, o}} {
		this, other := ends[0], ends[1]
		if this.Kind != sparql.Var || other.Kind != sparql.Var || this.Name == other.Name {
			continue
		}
		if found, _ := p.bound(other.Name); !found {
			continue
		}
		left := w.uses[this.Name] - 1
		var own []int
		for n, x := range p.group.Patterns {
			f, ok := x.(*sparql.Filter)
			if !ok || !slices.Contains(vars(f.Expr), this.Name) || !ofLanguage(f.Expr) {
				continue
			}
			count := 0
			sparql.Inspect(f.Expr, func(n sparql.Node) bool {
				if t, ok := n.(*sparql.Term); ok && t.Kind == sparql.Var && t.Name == this.Name {
					count++
				}
				return true
			})
			own, left = append(own, n), left-count
		}
		if left == 0 {
			return this.Name, own
		}
	}
	return "", nil
}

// ofLanguage reports whether an expression tests nothing but languages.
func ofLanguage(e *sparql.Expr) bool {
	tests := false
	ok := true
	sparql.Inspect(e, func(n sparql.Node) bool {
		x, isExpr := n.(*sparql.Expr)
		if !isExpr {
			return true
		}
		switch x.Kind {
		case sparql.ExprBuiltin:
			tests = tests || x.Op == "LANG"
			ok = ok && (x.Op == "LANG" || x.Op == "LANGMATCHES" || x.Op == "LCASE")
		case sparql.ExprFunction, sparql.ExprAggregate, sparql.ExprExists:
			ok = false
		case sparql.ExprTerm, sparql.ExprUnary, sparql.ExprBinary, sparql.ExprIn:
		}
		return true
	})
	return ok && tests
}
