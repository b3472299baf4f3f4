package rewrite

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// toStandard replaces everything that only the query service supports.
func (r *rewriter) toStandard(to Target) {
	r.dropHints()
	for _, s := range r.selects() {
		r.columns(s)
		r.services(s, to)
		r.rebound(s)
		r.having(s)
		r.aliases(s)
	}
	if to == QLever {
		r.qleverLimits()
		for _, s := range r.selects() {
			r.outside(s)
		}
	}
	if to == Standard && r.q.String() != sparql.Print(r.q, sparql.PrintOptions{Parens: true}) {
		r.note("sums and products put in parentheses, because some engines read them from right to left")
	}
	sparql.Inspect(r.q, func(n sparql.Node) bool {
		e, ok := n.(*sparql.Expr)
		if ok && e.Kind == sparql.ExprFunction && strings.HasPrefix(e.Term.Value().Value, rdf.Wikibase) {
			r.note("only Wikidata's query service has the function %s", rdf.Shorten(e.Term.Value().Value))
		}
		return true
	})
	if names := r.q.DeclareWith(r.o.Prefixes); len(names) > 0 {
		r.note("prefixes declared: %s", strings.Join(names, ", "))
	}
}

func (r *rewriter) dropHints() {
	for _, s := range r.selects() {
		sparql.Groups(s.Where, func(g *sparql.Group) {
			before := len(g.Patterns)
			g.Patterns = slices.DeleteFunc(g.Patterns,
				func(p sparql.Pattern) bool { _, hint := p.(*sparql.Hint); return hint })
			if len(g.Patterns) < before {
				r.note("optimizer hints removed")
			}
		})
	}
}

// columns expands SELECT * to a list, so that variables added by the rewrite are not part of the result.
func (r *rewriter) columns(s *sparql.SelectQuery) {
	if !s.Star || s == r.q.Body && r.q.Form != sparql.Select {
		return
	}
	special := false
	sparql.Groups(s.Where, func(g *sparql.Group) {
		for _, p := range g.Patterns {
			x, service := p.(*sparql.Service)
			_, include := p.(*sparql.Include)
			special = special || include || service && x.Kind() != sparql.Federation
		}
	})
	names := r.allColumns(s, 0)
	if !special || len(names) == 0 {
		return
	}
	s.Star = false
	for _, n := range names {
		s.Items = append(s.Items, &sparql.SelectItem{Var: n})
	}
	r.note("SELECT * written out")
}

// allColumns returns the columns of a SELECT, including those of named subqueries.
func (r *rewriter) allColumns(s *sparql.SelectQuery, depth int) []string {
	if !s.Star || depth > 20 {
		return s.Columns()
	}
	v := sparql.VarSet{}
	v.Add(s.Columns()...)
	named := r.q.NamedByName()
	sparql.Groups(s.Where, func(g *sparql.Group) {
		for _, p := range g.Patterns {
			if x, ok := p.(*sparql.Include); ok && named[x.Name] != nil {
				v.Add(r.allColumns(named[x.Name].Query, depth+1)...)
			}
		}
	})
	return v.Names()
}

// services replaces the calls to Wikidata's services in one SELECT's pattern.
func (r *rewriter) services(s *sparql.SelectQuery, to Target) {
	sparql.Groups(s.Where, func(g *sparql.Group) {
		var out, labels []sparql.Pattern
		for _, p := range g.Patterns {
			x, ok := p.(*sparql.Service)
			if !ok {
				out = append(out, p)
				continue
			}
			switch x.Kind() {
			case sparql.LabelService:
				labels = append(labels, r.labelService(s, g, x)...)
			case sparql.AroundService:
				out = append(out, r.around(x)...)
			case sparql.BoxService:
				out = append(out, r.box(x)...)
			case sparql.SliceService, sparql.SampleService:
				out = append(out, r.slice(x))
			case sparql.MWAPIService:
				r.fail(x, "MediaWiki's API (wikibase:mwapi) can only be called from Wikidata's query service")
			case sparql.GASService:
				r.fail(x, "graph analytics (gas:service) run on Blazegraph only")
			default:
				if to == QLever && strings.HasPrefix(x.Name.Value().Value, "https://query.wikidata.org/subgraph/") {
					r.note("SERVICE %s replaced by its content: QLever has the whole graph", x.Name.Written())
					out = append(out, x.Group)
					continue
				}
				out = append(out, p)
			}
		}
		g.Patterns = append(out, labels...)
	})
}

// languages returns the language chain of a label service.
func (r *rewriter) languages(x *sparql.Service) []string {
	var out []string
	for _, p := range x.Params() {
		if p.IRI != rdf.Wikibase+"language" || p.Value.Kind != sparql.Const {
			continue
		}
		for _, l := range strings.Split(p.Value.Value().Value, ",") {
			l = strings.ToLower(strings.TrimSpace(l))
			if l == strings.ToLower(sparql.AutoLanguage) {
				l = r.o.Language
			}
			if sparql.IsLanguageCode(l) && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	if len(out) == 0 {
		out = []string{r.o.Language}
	}
	return out
}

const (
	schemaDescription = rdf.SchemaDesc
	entityPattern     = "^http://www\\.wikidata\\.org/entity/"
)

// labelService returns the patterns that replace a label service. They bind the same variables to labels in the same
// language order, or to the ID if there is no label.
func (r *rewriter) labelService(s *sparql.SelectQuery, g *sparql.Group, x *sparql.Service) []sparql.Pattern {
	langs := r.languages(x)
	var out []sparql.Pattern
	sure := sparql.Certain(g, r.q.NamedByName())
	rest := x.Rest()
	if len(rest) > 0 {
		for _, t := range rest {
			if t.Path.IRI() == "" || t.Object.Kind != sparql.Var {
				r.fail(x, "the label service contains more than labels to be fetched")
				return nil
			}
			out = append(out, r.labels(t.Subject, t.Path.IRI(), t.Object.Name, langs, sure)...)
		}
		r.note("label service replaced by optional labels in %s", strings.Join(langs, ", "))
		return out
	}
	bound := g.Visible()
	for _, it := range s.Items {
		base, ok := sparql.LabelBase(it.Var)
		if !ok || it.Expr != nil || sure[it.Var] || r.labeled[it] {
			continue
		}
		r.labeled[it] = true
		prefer := ""
		if slices.Contains(bound, it.Var) { // bound only in some rows; the service fills in the others
			prefer = r.fresh(it.Var + "_value")
			rename(s.Where, it.Var, prefer)
		}
		predicate := rdf.RDFSLabel
		switch {
		case strings.HasSuffix(it.Var, "AltLabel") && r.used[base]:
			predicate = rdf.SKOSAltLabel
		case strings.HasSuffix(it.Var, "AltLabel"):
			base = strings.TrimSuffix(it.Var, "Label")
		case strings.HasSuffix(it.Var, "Description"):
			predicate = schemaDescription
		}
		ps := r.labels(varTerm(base), predicate, it.Var, langs, sure)
		if b, ok := ps[len(ps)-1].(*sparql.Bind); ok && prefer != "" {
			b.Expr.Args = append([]*sparql.Expr{varExpr(prefer)}, b.Expr.Args...)
		}
		out = append(out, ps...)
	}
	if len(out) == 0 {
		r.note("label service without effect removed")
	} else {
		r.note("label service replaced by optional labels in %s", strings.Join(langs, ", "))
	}
	return out
}

// labels returns patterns that bind target to the subject's label, description or aliases in the first language that
// has one. A subject that may be unbound is replaced by one that has no label; otherwise OPTIONAL would read every
// label in the graph.
func (r *rewriter) labels(subject *sparql.Term, predicate, target string, langs []string,
	sure map[string]bool) []sparql.Pattern {
	var out []sparql.Pattern
	whole := subject
	if subject.Kind == sparql.Var && !sure[subject.Name] {
		subject = varTerm(r.fresh(subject.Name + "_or_none"))
		out = append(out, &sparql.Bind{Expr: call("COALESCE", termExpr(whole), termExpr(iriTerm("urn:none"))),
			Var: subject.Name})
	}
	var choice []*sparql.Expr
	single := len(langs) == 1 && predicate == schemaDescription
	for _, l := range langs {
		v := target
		if !single {
			v = r.fresh(target + "_" + strings.ReplaceAll(l, "-", "_"))
		}
		filter := &sparql.Filter{Expr: binary("=", call("LANG", varExpr(v)), stringExpr(l))}
		inner := groupOf(triple(subject, predicate, varTerm(v)), filter)
		if predicate == rdf.SKOSAltLabel {
			inner = r.aliasList(subject, l, v)
		}
		out = append(out, &sparql.Optional{Group: inner})
		choice = append(choice, varExpr(v))
	}
	if single {
		return out
	}
	if predicate == rdf.RDFSLabel {
		choice = append(choice, call("REPLACE", call("STR", termExpr(whole)), stringExpr(entityPattern),
			stringExpr("")))
	}
	return append(out, &sparql.Bind{Expr: call("COALESCE", choice...), Var: target})
}

// aliasList returns { SELECT ?x (GROUP_CONCAT(…) AS ?v) … GROUP BY ?x }.
func (r *rewriter) aliasList(subject *sparql.Term, lang, v string) *sparql.Group {
	r.note("aliases are collected in a sub-select, which can be slow")
	a := r.fresh(v + "_one")
	sep := ", "
	sub := &sparql.SelectQuery{
		Items: []*sparql.SelectItem{{Var: v,
			Expr: &sparql.Expr{Kind: sparql.ExprAggregate, Op: "GROUP_CONCAT", Args: []*sparql.Expr{varExpr(a)},
				Separator: &sep}}},
		Where: groupOf(triple(subject, rdf.SKOSAltLabel, varTerm(a)),
			&sparql.Filter{Expr: binary("=", call("LANG", varExpr(a)), stringExpr(lang))}),
	}
	if subject.Kind == sparql.Var {
		sub.Items = append([]*sparql.SelectItem{{Var: subject.Name}}, sub.Items...)
		sub.GroupBy = &sparql.GroupBy{Keys: []*sparql.GroupKey{{Expr: varExpr(subject.Name)}}}
	}
	return groupOf(&sparql.SubSelect{Query: sub})
}

const geofDistance = "http://www.opengis.net/def/geosparql/function/distance"

// around replaces a search around a point with a filter on the distance in kilometers.
func (r *rewriter) around(x *sparql.Service) []sparql.Pattern {
	center, radius := x.Param(rdf.Wikibase+"center"), x.Param(rdf.Wikibase+"radius")
	loc := located(x)
	if center == nil || radius == nil || loc == nil {
		r.fail(x, "wikibase:around needs a pattern with a place's location, wikibase:center and wikibase:radius")
		return nil
	}
	out := x.Pattern()
	d := function(geofDistance, termExpr(loc), termExpr(center))
	out = append(out, &sparql.Filter{Expr: binary("<=", d, number(radius))})
	if dist := x.Param(rdf.Wikibase + "distance"); dist != nil && dist.Kind == sparql.Var {
		out = append(out, &sparql.Bind{Expr: function(geofDistance, termExpr(loc), termExpr(center)), Var: dist.Name})
	}
	r.note("wikibase:around replaced by a filter on geof:distance in kilometers, a function that the engine must support")
	return out
}

// numeral matches an unsigned number in SPARQL syntax (SPARQL 1.1, rules 146 to 148).
var numeral = regexp.MustCompile(`^(\d+|\d*\.\d+|(\d+\.?\d*|\.\d+)[eE][+-]?\d+)$`)

// number converts a term to a number: a string such as "10" becomes 10.
func number(t *sparql.Term) *sparql.Expr {
	if t.Kind == sparql.Const && t.IsLiteral() && t.Value().Datatype == "" {
		s := t.Value().Value
		if numeral.MatchString(s) {
			return termExpr(sparql.NewConst(rdf.Typed(s, rdf.XSDDecimal), s))
		}
	}
	if t.Kind == sparql.Const && t.Value().Datatype != "" {
		return termExpr(t)
	}
	return function(rdf.XSD+"double", termExpr(t))
}

// located returns the variable for the location in an around or box search: the object of the first statement.
func located(x *sparql.Service) *sparql.Term {
	for _, t := range x.Rest() {
		return t.Object
	}
	return nil
}

// box replaces a search within a box with filters on longitude and latitude.
func (r *rewriter) box(x *sparql.Service) []sparql.Pattern {
	sw, ne := x.Param(rdf.Wikibase+"cornerSouthWest"), x.Param(rdf.Wikibase+"cornerNorthEast")
	loc := located(x)
	if loc == nil || (sw == nil || ne == nil) && (x.Param(rdf.Wikibase+"cornerWest") == nil ||
		x.Param(rdf.Wikibase+"cornerEast") == nil) {
		r.fail(x, "wikibase:box needs a pattern with a place's location and two corners")
		return nil
	}
	out := x.Pattern()
	between := func(coordinate func(*sparql.Term) *sparql.Expr, a, b *sparql.Term) {
		c := coordinate(loc)
		out = append(out, &sparql.Filter{Expr: binary("&&", binary(">=", c, coordinate(a)),
			binary("<=", c, coordinate(b)))})
	}
	if sw != nil && ne != nil {
		between(longitude, sw, ne)
		between(latitude, sw, ne)
	} else { // the corners may be northwest and southeast
		w, e := x.Param(rdf.Wikibase+"cornerWest"), x.Param(rdf.Wikibase+"cornerEast")
		between(longitude, w, e)
		c := latitude(loc)
		one := binary("&&", binary(">=", c, latitude(w)), binary("<=", c, latitude(e)))
		other := binary("&&", binary(">=", c, latitude(e)), binary("<=", c, latitude(w)))
		out = append(out, &sparql.Filter{Expr: binary("||", one, other)})
	}
	r.note("wikibase:box replaced by filters on longitude and latitude; a box across the 180th meridian finds nothing")
	return out
}

// longitude and latitude extract the coordinates from the WKT literal Point(longitude latitude).
func longitude(t *sparql.Term) *sparql.Expr {
	return function(rdf.XSD+"double", call("STRBEFORE", inPoint(t), stringExpr(" ")))
}

func latitude(t *sparql.Term) *sparql.Expr {
	return function(rdf.XSD+"double", call("STRBEFORE", call("STRAFTER", inPoint(t), stringExpr(" ")), stringExpr(")")))
}

func inPoint(t *sparql.Term) *sparql.Expr {
	return call("STRAFTER", call("UCASE", call("STR", termExpr(t))), stringExpr("POINT("))
}

// slice turns bd:slice and bd:sample into a sub-select with LIMIT and OFFSET.
func (r *rewriter) slice(x *sparql.Service) sparql.Pattern {
	const bd = "http://www.bigdata.com/rdf#"
	count := func(name string) *sparql.Count {
		t := x.Param(bd + name)
		if t == nil || t.Kind != sparql.Const {
			return nil
		}
		n := int64(0)
		for _, c := range t.Value().Value {
			if c < '0' || c > '9' || n > 1<<40 {
				return nil
			}
			n = n*10 + int64(c-'0')
		}
		return &sparql.Count{N: n}
	}
	sub := &sparql.SelectQuery{Star: true, Where: &sparql.Group{Patterns: x.Pattern()}}
	if x.Kind() == sparql.SliceService {
		sub.Limit, sub.Offset = count("slice.limit"), count("slice.offset")
		r.note("bd:slice replaced by a sub-select with LIMIT and OFFSET; which rows it takes may differ")
	} else {
		sub.Limit = count("sample.limit")
		if sub.Limit == nil {
			sub.Limit = &sparql.Count{N: 100}
		}
		r.note("bd:sample replaced by a sub-select with LIMIT: its rows are not random")
	}
	return groupOf(&sparql.SubSelect{Query: sub})
}

// maxVisits limits the number of groups that are visited while inlining named subqueries, because each may include
// others several times.
const maxVisits = 20_000

// inlineNamed replaces every INCLUDE with its named subquery.
func (r *rewriter) inlineNamed() {
	if len(r.q.Named) == 0 {
		r.checkIncludes()
		return
	}
	byName := map[string]*sparql.NamedSubquery{}
	for _, n := range r.q.Named {
		byName[n.Name] = n
	}
	var open []string
	visits := 0
	var inline func(g *sparql.Group)
	inline = func(root *sparql.Group) {
		if visits++; visits > maxVisits && r.err == nil {
			r.fail(root, "the named subqueries include each other too often to be inserted")
		}
		if r.err != nil {
			return
		}
		for i, p := range root.Patterns {
			if s, ok := p.(*sparql.SubSelect); ok {
				inline(s.Query.Where)
				continue
			}
			for _, c := range sparql.ChildGroups(p) {
				inline(c)
			}
			x, ok := p.(*sparql.Include)
			if !ok {
				continue
			}
			n := byName[x.Name]
			if n == nil || slices.Contains(open, x.Name) {
				r.fail(x, "INCLUDE %%%s does not name a subquery that can be inserted here", x.Name)
				return
			}
			open = append(open, x.Name)
			if len(open) > sparql.MaxDepth/2 {
				r.fail(x, "named subqueries are nested too deeply")
				return
			}
			body := r.copyOf(n)
			if body == nil {
				r.fail(x, "the named subqueries are too long to be inserted")
				return
			}
			inline(body.Where)
			open = open[:len(open)-1]
			root.Patterns[i] = &sparql.Group{Notes: x.Notes, Patterns: []sparql.Pattern{&sparql.SubSelect{Query: body}}}
		}
	}
	inline(r.q.Body.Where)
	r.q.Named = nil
	r.note("named subqueries (WITH … AS %%name) replaced by sub-selects")
}

// maxCopied is the maximum number of bytes reparsed to copy named subqueries.
const maxCopied = 16 << 20

// copyOf returns a copy of a named subquery that shares no nodes with other copies. It parses the query's text again,
// and returns nil once the total number of bytes parsed exceeds maxCopied.
func (r *rewriter) copyOf(n *sparql.NamedSubquery) *sparql.SelectQuery {
	if r.copied += len(r.q.Text); r.copied > maxCopied {
		return nil
	}
	again, err := sparql.ParseWith(r.q.Text, r.o.Prefixes)
	if err != nil {
		return nil
	}
	for _, m := range again.Named {
		if m.Name == n.Name {
			return m.Query
		}
	}
	return nil
}

func (r *rewriter) checkIncludes() {
	sparql.Inspect(r.q, func(n sparql.Node) bool {
		if x, ok := n.(*sparql.Include); ok {
			r.fail(x, "INCLUDE %%%s does not name a named subquery", x.Name)
		}
		return true
	})
}

// qleverLimits rejects features that QLever's regular expressions (RE2) do not support.
func (r *rewriter) qleverLimits() {
	sparql.Inspect(r.q, func(n sparql.Node) bool {
		e, ok := n.(*sparql.Expr)
		if !ok || e.Kind != sparql.ExprBuiltin || e.Op != "REGEX" && e.Op != "REPLACE" ||
			e.Args[1].Kind != sparql.ExprTerm || e.Args[1].Term.Kind != sparql.Const {
			return true
		}
		pattern := e.Args[1].Term.Value().Value
		for _, look := range [...]string{"(?=", "(?!", "(?<=", "(?<!", "(?>", `\1`, `\2`} {
			if strings.Contains(pattern, look) {
				r.fail(e, "QLever's regular expressions (RE2) do not support %s, as in %s", look, sparql.Shorten(pattern))
			}
		}
		return true
	})
}
