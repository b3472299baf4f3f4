package shape

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Query runs a query on the graph. Errors are *kg.Error values or the error of ctx.
type Query func(ctx context.Context, query string) (*kg.Table, error)

// Limits bounds what is requested and kept. Fields that are zero get the values from [DefaultLimits].
type Limits struct {
	Share   float64       // minimum share of members that must have a predicate
	Out     int           // number of predicates from members
	In      int           // number of predicates to members
	Targets int           // number of classes and datatypes per predicate
	Query   time.Duration // time limit per query
	Whole   int64         // if there are at most this many members, all of them are examined
	Sample  int           // number of members examined otherwise
	Classes int           // number of largest classes that FindClasses lists; none if negative
}

// DefaultLimits returns GRASP's limits on predicates, classes and queries (from its repository, as of 2026), and our
// own limits on samples.
func DefaultLimits() Limits {
	return Limits{Share: 0.01, Out: 30, In: 10, Targets: 5, Query: 30 * time.Second, Whole: 10_000, Sample: 2_000,
		Classes: 500}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	l.Share, l.Query, l.Whole = cmp.Or(l.Share, d.Share), cmp.Or(l.Query, d.Query), cmp.Or(l.Whole, d.Whole)
	l.Out, l.In = cmp.Or(l.Out, d.Out), cmp.Or(l.In, d.In)
	l.Targets, l.Sample = cmp.Or(l.Targets, d.Targets), cmp.Or(l.Sample, d.Sample)
	l.Classes = cmp.Or(l.Classes, d.Classes)
	return l
}

// Members describes the resources whose shape is measured.
type Members struct {
	Pattern string // a SPARQL pattern without braces
	Var     string // the pattern's variable for members, without the question mark
	Single  bool   // whether the pattern binds each member only once
}

func (m *measurer) class(iri string) Members {
	return Members{Pattern: "?member " + m.typePath() + " <" + iri + "> .", Var: "member", Single: len(m.d.Types) == 1}
}

func (m *measurer) typePath() string { return TypePath(m.d) }

// TypePath returns a graph's type properties as a path, with IRIs in angle brackets.
func TypePath(d *kg.Description) string {
	var types []string
	for _, t := range d.Types {
		if iri, ok := Expand(d, t); ok {
			types = append(types, "<"+iri+">")
		}
	}
	if len(types) == 0 {
		types = []string{"<" + rdf.RDFType + ">"}
	}
	return strings.Join(types, "|")
}

// Measure measures the shape of the resources that members.Pattern finds. The shape's Class and labels are empty. If
// there are no such resources, the error is kg.NotFound.
func Measure(ctx context.Context, d *kg.Description, query Query, members Members, l Limits) (*kg.Shape, error) {
	m := &measurer{d: d, query: query, limits: l.withDefaults()}
	return m.shape(ctx, members)
}

// Classes counts the classes of resources and returns at most limit classes, most frequent first. If there are many
// resources, it uses a sample, as [Measure] does. Labels are empty, and Share refers to the resources examined.
func Classes(ctx context.Context, d *kg.Description, query Query, members Members, s *kg.Shape, limit int,
	l Limits) ([]kg.ShapeTarget, error) {
	m := &measurer{d: d, query: query, limits: l.withDefaults()}
	n := s.Members
	if s.Sample > 0 {
		n = s.Sample
	}
	t, err := m.ask(ctx, "SELECT ?type (COUNT(*) AS ?n) WHERE { "+members.group(int(s.Sample))+" ?member "+m.typePath()+
		" ?type } GROUP BY ?type ORDER BY DESC(?n) ?type LIMIT "+strconv.Itoa(limit))
	if err != nil {
		return nil, err
	}
	var out []kg.ShapeTarget
	for i := range t.Rows {
		if c := cell(t, i, "type"); c.IsIRI() && n > 0 {
			out = append(out, kg.ShapeTarget{Class: kg.PropertyRef{ID: ID(d, c.Value)},
				Share: min(1, float64(number(cell(t, i, "n")))/float64(n))})
		}
	}
	return out, nil
}

// Group returns a SPARQL pattern that binds ?member to the members, or to only sample of them if sample is not 0.
func (m Members) Group(sample int) string { return m.group(sample) }

// Of returns a description of the direct members of a class.
func Of(d *kg.Description, classIRI string) Members { return (&measurer{d: d}).class(classIRI) }

type measurer struct {
	d      *kg.Description
	query  Query
	limits Limits
}

// ask runs a query within the time limit. If the limit is exceeded, the error is kg.Timeout.
func (m *measurer) ask(ctx context.Context, query string) (*kg.Table, error) {
	short, cancel := context.WithTimeout(ctx, m.limits.Query)
	defer cancel()
	t, err := m.query(short, query)
	if err != nil && ctx.Err() == nil && short.Err() != nil {
		return nil, &kg.Error{Kind: kg.Timeout, Message: fmt.Sprintf("no answer within %s", m.limits.Query), Err: err}
	}
	return t, err
}

// slow reports whether a query failed because it was too expensive.
func slow(err error) bool {
	k := kg.KindOf(err)
	return k == kg.Timeout || k == kg.TooGreedy || k == kg.TooLarge
}

// shape measures all members if there are few, and otherwise a sample, falling back to a smaller sample if that takes
// too long.
func (m *measurer) shape(ctx context.Context, members Members) (*kg.Shape, error) {
	size, err := m.size(ctx, members, 0)
	switch {
	case slow(err):
		size = -1
	case err != nil:
		return nil, err
	case size == 0:
		return nil, kg.Errorf(kg.NotFound, "no members")
	}
	samples := []int{m.limits.Sample, max(m.limits.Sample/10, 1)}
	if size >= 0 && size <= m.limits.Whole {
		samples = append([]int{0}, samples...)
	}
	for i, sample := range samples {
		s, err := m.on(ctx, members, size, sample)
		if err == nil || !slow(err) || i == len(samples)-1 {
			return s, err
		}
	}
	return nil, kg.Errorf(kg.Timeout, "the shape could not be measured in time")
}

// size counts the members, or those in a sample if sample is not 0.
func (m *measurer) size(ctx context.Context, members Members, sample int) (int64, error) {
	t, err := m.ask(ctx, "SELECT (COUNT(*) AS ?n) WHERE { "+members.group(sample)+" }")
	if err != nil {
		return 0, err
	}
	if t.Empty() {
		return 0, kg.Errorf(kg.QueryFailed, "a count has no row")
	}
	return number(cell(t, 0, "n")), nil
}

// group returns a pattern that binds ?member to the members, or to only sample of them if sample is not 0.
func (m Members) group(sample int) string {
	if sample == 0 && m.Single && m.Var == "member" {
		return m.Pattern
	}
	what := "?member"
	if m.Var != "member" {
		what = "(?" + m.Var + " AS ?member)"
	}
	limit := ""
	if sample > 0 {
		limit = " LIMIT " + strconv.Itoa(sample)
	}
	return "{ SELECT DISTINCT " + what + " WHERE { " + m.Pattern + " }" + limit + " }"
}

// on measures the members, or a sample of them if sample is not 0.
func (m *measurer) on(ctx context.Context, members Members, size int64, sample int) (*kg.Shape, error) {
	s := &kg.Shape{Members: size, Source: Endpoint}
	n := size
	if sample > 0 {
		if n = min(int64(sample), size); size < 0 {
			var err error
			if n, err = m.size(ctx, members, sample); err != nil {
				return nil, err
			}
		}
		if n == 0 {
			return nil, kg.Errorf(kg.NotFound, "no members")
		}
		if n == size {
			sample = 0
		} else {
			s.Source, s.Sample = Sample, n
		}
	}
	group := members.group(sample)
	out, err := m.predicates(ctx, group, n, false)
	if err != nil {
		return nil, err
	}
	if err := m.hideExternal(ctx, out); err != nil && !slow(err) {
		return nil, err
	}
	s.Out, s.Rest = m.keep(out, m.limits.Out)
	s.MoreOut = len(s.Rest)
	if err := m.targets(ctx, group, s.Out, out); slow(err) && sample > 0 {
		s.Notes = append(s.Notes, "What the values are could not be counted in time.")
	} else if err != nil {
		return nil, err
	}
	in, err := m.predicates(ctx, group, n, true)
	if slow(err) && sample > 0 {
		s.Notes = append(s.Notes, "What leads to members could not be counted in time.")
		return s, nil
	} else if err != nil {
		return nil, err
	}
	var rest []string
	s.In, rest = m.keep(in, m.limits.In)
	s.MoreIn = len(rest)
	if err := m.sources(ctx, group, s.In, in); err != nil && !slow(err) {
		return nil, err
	}
	return s, nil
}

// found contains the counts for a predicate. On a Wikibase, they are the counts for a property, in all its namespaces.
type found struct {
	kg.ShapePredicate
	iri    string // predicate whose values are examined: on a Wikibase, the wdt: predicate if there is one
	values int64
	nodes  int64 // number of values that are unnamed nodes
	hidden bool  // an external ID
}

// predicates counts the predicates of the members or, if inverse is true, those that point to them.
func (m *measurer) predicates(ctx context.Context, group string, n int64, inverse bool) (map[string]*found, error) {
	triple, nodes := "?member ?p ?o .", " (SUM(IF(isBlank(?o), 1, 0)) AS ?nodes)"
	if inverse {
		triple, nodes = "?o ?p ?member .", ""
	}
	filter := ""
	if m.d.IsWikibase() {
		nodes, filter = "", ` FILTER(STRSTARTS(STR(?p), "`+rdf.Prop+`"))`
		if inverse {
			filter = ` FILTER(STRSTARTS(STR(?p), "` + rdf.Direct + `"))`
		}
	}
	t, err := m.ask(ctx, "SELECT ?p (COUNT(*) AS ?triples) (COUNT(DISTINCT ?member) AS ?members)"+nodes+
		" WHERE { "+group+" "+triple+filter+" } GROUP BY ?p")
	if err != nil {
		return nil, err
	}
	out := map[string]*found{}
	for i := range t.Rows {
		iri, triples, have := cell(t, i, "p").Value, number(cell(t, i, "triples")), number(cell(t, i, "members"))
		variant, ok := m.variant(iri)
		id := ID(m.d, iri)
		if have == 0 || !ok || m.plainType(iri) || m.d.IsWikibase() && id == example {
			continue
		}
		f := out[id]
		if f == nil {
			f = &found{ShapePredicate: kg.ShapePredicate{Property: kg.PropertyRef{ID: id}}}
			out[id] = f
		}
		if variant != "" {
			f.Variants = append(f.Variants, variant)
			slices.Sort(f.Variants)
		}
		f.Coverage = max(f.Coverage, min(1, float64(have)/float64(n)))
		if f.iri == "" || variant == "wdt" {
			f.iri, f.values, f.nodes = iri, triples, number(cell(t, i, "nodes"))
			f.Mean = float64(triples) / float64(have)
		}
	}
	return out, nil
}

// plainType reports whether a predicate is a type property on a graph that is not a Wikibase. Such predicates are not
// shown, since every member obviously has the class.
func (m *measurer) plainType(iri string) bool {
	return !m.d.IsWikibase() && slices.ContainsFunc(m.d.Types, func(t string) bool {
		full, ok := Expand(m.d, t)
		return ok && full == iri
	})
}

// variant returns the namespace of a Wikibase property: wdt or p. ok is false if the IRI is not a property in either
// namespace.
func (m *measurer) variant(iri string) (prefix string, ok bool) {
	if !m.d.IsWikibase() {
		return "", true
	}
	switch id := rdf.EntityID(iri); {
	case id == "":
		return "", false
	case iri == rdf.Direct+id:
		return "wdt", true
	case iri == rdf.Prop+id:
		return "p", true
	}
	return "", false
}

// keep returns the n predicates with the highest coverage, and the IDs of the rest. It does not keep external IDs or
// predicates that few members have.
func (m *measurer) keep(all map[string]*found, n int) (kept []kg.ShapePredicate, rest []string) {
	list := slices.Collect(maps.Values(all))
	slices.SortFunc(list, func(a, b *found) int {
		return cmp.Or(cmp.Compare(b.Coverage, a.Coverage), cmp.Compare(b.values, a.values),
			cmp.Compare(a.Property.ID, b.Property.ID))
	})
	for _, f := range list {
		if f.hidden || f.Coverage < m.limits.Share || len(kept) == n {
			rest = append(rest, f.Property.ID)
			continue
		}
		kept = append(kept, f.ShapePredicate)
	}
	return kept, rest
}

// values returns a VALUES clause that binds ?p to the predicates' IRIs.
func values(ps []kg.ShapePredicate, all map[string]*found) string {
	var b strings.Builder
	b.WriteString("VALUES ?p {")
	for _, p := range ps {
		b.WriteString(" <" + all[p.Property.ID].iri + ">")
	}
	b.WriteString(" }")
	return b.String()
}

// mostTargets is the maximum number of rows returned by a query that counts targets.
const mostTargets = "5000"

// targets finds the datatypes and classes of the values.
func (m *measurer) targets(ctx context.Context, group string, ps []kg.ShapePredicate, all map[string]*found) error {
	if len(ps) == 0 {
		return nil
	}
	data, err := m.ask(ctx, "SELECT ?p ?type (COUNT(*) AS ?n) WHERE { "+group+" "+values(ps, all)+
		" ?member ?p ?o . FILTER(isLiteral(?o)) BIND(DATATYPE(?o) AS ?type) } GROUP BY ?p ?type")
	if err != nil {
		return err
	}
	things, err := m.ask(ctx, "SELECT ?p ?type (COUNT(*) AS ?n) WHERE { "+group+" "+values(ps, all)+
		" ?member ?p ?o . ?o "+m.typePath()+" ?type } GROUP BY ?p ?type ORDER BY DESC(?n) LIMIT "+mostTargets)
	if err != nil {
		return err
	}
	found := m.count(data, true)
	for id, ts := range m.count(things, false) {
		found[id] = append(found[id], ts...)
	}
	m.attach(ps, all, found)
	return nil
}

// sources finds the classes of the resources that point to the members.
func (m *measurer) sources(ctx context.Context, group string, ps []kg.ShapePredicate, all map[string]*found) error {
	if len(ps) == 0 {
		return nil
	}
	things, err := m.ask(ctx, "SELECT ?p ?type (COUNT(*) AS ?n) WHERE { "+group+" "+values(ps, all)+
		" ?o ?p ?member . ?o "+m.typePath()+" ?type } GROUP BY ?p ?type ORDER BY DESC(?n) LIMIT "+mostTargets)
	if err != nil {
		return err
	}
	m.attach(ps, all, m.count(things, false))
	return nil
}

// target is a class or datatype and its number of values.
type target struct {
	kg.ShapeTarget
	n int64
}

// count reads the columns p, type and n: classes, or datatypes of literals.
func (m *measurer) count(t *kg.Table, literals bool) map[string][]target {
	out := map[string][]target{}
	for i := range t.Rows {
		typ, n := cell(t, i, "type"), number(cell(t, i, "n"))
		id := ID(m.d, cell(t, i, "p").Value)
		switch {
		case n == 0:
		case literals:
			out[id] = append(out[id], target{kg.ShapeTarget{Datatype: cmp.Or(typ.Value, rdf.XSDString)}, n})
		case typ.IsIRI():
			out[id] = append(out[id], target{kg.ShapeTarget{Class: kg.PropertyRef{ID: ID(m.d, typ.Value)}}, n})
		}
	}
	return out
}

// attach adds the most frequent targets to the predicates.
func (m *measurer) attach(ps []kg.ShapePredicate, all map[string]*found, targets map[string][]target) {
	for i := range ps {
		f := all[ps[i].Property.ID]
		ts := targets[f.Property.ID]
		if f.nodes > 0 {
			ts = append(ts, target{kg.ShapeTarget{Class: kg.PropertyRef{ID: NoName}}, f.nodes})
		}
		slices.SortFunc(ts, func(a, b target) int {
			return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.Class.ID, b.Class.ID), cmp.Compare(a.Datatype, b.Datatype))
		})
		if n := m.limits.Targets; len(ts) > n {
			ps[i].More = len(ts) - n
			ts = ts[:n]
		}
		for _, t := range ts {
			t.Share = min(1, float64(t.n)/float64(f.values))
			ps[i].Targets = append(ps[i].Targets, t.ShapeTarget)
		}
	}
}

// cell returns a value in a table, or the zero Term if it is unbound.
func cell(t *kg.Table, row int, column string) rdf.Term {
	for j, v := range t.Vars {
		if v == column && j < len(t.Rows[row]) {
			return t.Rows[row][j]
		}
	}
	return rdf.Term{}
}

// number parses a count. It returns 0 if the term is not a count. Engines may write counts as decimals.
func number(t rdf.Term) int64 {
	if n, err := strconv.ParseInt(t.Value, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(t.Value, 64)
	if err != nil || f < 0 || f > 1e18 {
		return 0
	}
	return int64(f)
}
