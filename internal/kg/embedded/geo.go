package embedded

import (
	"context"
	"math"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/function"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// geoNode implements SERVICE wikibase:around and wikibase:box: the pattern ?place wdt:P625 ?location and a test on the
// location. It implements both node and op. Source: Wikidata:SPARQL query service/User Manual, section Geospatial
// search.
type geoNode struct {
	pattern  *tripleNode
	point    place
	params   map[string]place // center, radius, globe, cornerWest …, by local name
	distance int              // slot of wikibase:distance, or -1
	box      bool
	inf      info
}

// geo compiles wikibase:around and wikibase:box.
func (b *groupBuilder) geo(s *sparql.Service) {
	c := b.c
	g := &geoNode{params: map[string]place{}, distance: -1, box: s.Kind() == sparql.BoxService}
	rest := s.Rest()
	if len(rest) != 1 || rest[0].Path.IRI() == "" {
		c.fail(kg.QueryFailed, "wikibase:around and wikibase:box take exactly one pattern such as ?place wdt:P625 ?location")
		return
	}
	g.point = c.place(rest[0].Object, b.sc)
	g.pattern = newTriple(c.place(rest[0].Subject, b.sc), c.place(rest[0].Path.Term, b.sc), g.point)
	g.inf = g.pattern.inf
	for _, p := range s.Params() {
		name := strings.TrimPrefix(p.IRI, rdf.Wikibase)
		if name == "distance" {
			if p.Value.Kind == sparql.Var {
				g.distance = b.sc.slot(p.Value.Name)
				g.inf.vars = g.inf.vars.union(setOf(g.distance))
				g.inf.cert = g.inf.cert.union(setOf(g.distance))
			}
			continue
		}
		g.params[name] = c.place(p.Value, b.sc)
	}
	need := []string{"center", "radius"}
	if g.box {
		need = []string{"cornerWest", "cornerEast"}
		if _, ok := g.params["cornerSouthWest"]; ok {
			need = []string{"cornerSouthWest", "cornerNorthEast"}
		}
	}
	for _, n := range need {
		if _, ok := g.params[n]; !ok {
			c.fail(kg.QueryFailed, "the geographic search needs wikibase:%s", n)
			return
		}
	}
	g.inf.uses = g.inf.vars.union(g.needs())
	b.join(g)
}

func (g *geoNode) info() *info { return &g.inf }

// needs returns the variables used in the service's parameters.
func (g *geoNode) needs() varSet {
	var v varSet
	for _, p := range g.params {
		v = v.union(p.vars())
	}
	return v
}

func (g *geoNode) estimate(c *compiler, bound varSet) estimate {
	e := g.pattern.estimate(c, bound)
	return estimate{e.rows * 0.1, e.cost * 2}
}

func (g *geoNode) plan(*compiler, varSet, float64) op { return g }

func (g *geoNode) param(ex *exec, name string) value.Value {
	p, ok := g.params[name]
	if !ok {
		return value.Value{}
	}
	if p.isVar() {
		return ex.value(ex.row[p.slot])
	}
	return value.Of(p.value)
}

func (g *geoNode) build(ex *exec, next runner) runner {
	var test func(function.Point) (float64, bool)
	run := g.pattern.build(ex, func() error {
		p, ok := function.ParsePoint(ex.value(g.point.get(ex.row)))
		if !ok {
			return nil
		}
		d, ok := test(p)
		if !ok {
			return nil
		}
		if g.distance < 0 {
			return next()
		}
		old, n := ex.row[g.distance], ex.intern(value.Double(d))
		if old != 0 && old != n {
			return nil
		}
		ex.row[g.distance] = n
		err := next()
		ex.row[g.distance] = old
		return err
	})
	return func() error {
		if test = g.test(ex); test == nil {
			return nil
		}
		return run()
	}
}

// test returns the location test for the parameters in the current row, or nil if they are invalid.
func (g *geoNode) test(ex *exec) func(function.Point) (float64, bool) {
	if !g.box {
		center, ok := function.ParsePoint(g.param(ex, "center"))
		r := g.param(ex, "radius")
		if r.Kind == value.KindString {
			r = value.Literal(value.KindDouble, r.Text, rdf.XSDDouble)
		}
		if !ok || !r.IsNumeric() {
			return nil
		}
		if globe := g.param(ex, "globe"); globe.Kind == value.KindIRI {
			center.Globe = globe.Text
		}
		radius := r.AsFloat()
		return func(p function.Point) (float64, bool) {
			d := p.Distance(center)
			return d, d <= radius && p.Globe == center.Globe
		}
	}
	a, okA := function.ParsePoint(g.param(ex, "cornerSouthWest"))
	b, okB := function.ParsePoint(g.param(ex, "cornerNorthEast"))
	if !okA || !okB {
		a, okA = function.ParsePoint(g.param(ex, "cornerWest"))
		b, okB = function.ParsePoint(g.param(ex, "cornerEast"))
	}
	if !okA || !okB {
		return nil
	}
	south, north := math.Min(a.Lat, b.Lat), math.Max(a.Lat, b.Lat)
	return func(p function.Point) (float64, bool) {
		in := p.Lon >= a.Lon && p.Lon <= b.Lon
		if a.Lon > b.Lon { // across the date line
			in = p.Lon >= a.Lon || p.Lon <= b.Lon
		}
		return 0, in && p.Globe == a.Globe && p.Lat >= south && p.Lat <= north
	}
}

// slice compiles bd:slice (a window of a pattern's solutions) and bd:sample (a random sample of them).
func (b *groupBuilder) slice(s *sparql.Service) {
	c := b.c
	sample := s.Kind() == sparql.SampleService
	rest := s.Rest()
	if len(rest) != 1 {
		c.fail(kg.QueryFailed, "bd:slice and bd:sample take exactly one pattern")
		return
	}
	inner := b.sub(func(in *groupBuilder) {
		in.path(c.place(rest[0].Subject, b.sc), rest[0].Path, c.place(rest[0].Object, b.sc))
	})
	n := &sliceNode{inner: inner, limit: 100, sample: sample}
	for _, p := range s.Params() {
		name := p.IRI[strings.LastIndexAny(p.IRI, ".#")+1:]
		v, ok := value.ParseDecimal(p.Value.Value().Value)
		switch {
		case name == "limit" && ok:
			n.limit = int(v.Digits)
		case name == "offset" && ok && !sample:
			n.offset = int(v.Digits)
		}
	}
	n.inf = inner.inf
	n.inf.unsafe = n.inf.vars
	b.join(n)
}

// sliceNode implements bd:slice and bd:sample. It implements both node and op, and is always evaluated separately.
type sliceNode struct {
	inner         *groupNode
	op            op
	limit, offset int
	sample        bool
	inf           info
}

func (n *sliceNode) info() *info { return &n.inf }

func (n *sliceNode) estimate(c *compiler, _ varSet) estimate {
	e := n.inner.estimate(c, varSet{})
	return estimate{math.Min(e.rows, float64(n.limit)), e.cost}
}

func (n *sliceNode) plan(c *compiler, _ varSet, _ float64) op {
	out := *n
	out.op = n.inner.plan(c, varSet{}, 1)
	return &out
}

func (n *sliceNode) build(ex *exec, next runner) runner {
	slots := n.inf.vars.slots()
	if !n.sample {
		counted, run := limited(ex, int64(n.offset), int64(n.limit), next)
		return run(n.op.build(ex, counted))
	}
	return func() error {
		t, err := ex.collect(n.op, slots, nil, nil)
		if err != nil {
			return err
		}
		t.shuffle(ex, n.limit)
		o := &tableOp{slots: slots}
		ex.tables[o] = t
		err = o.build(ex, next)()
		delete(ex.tables, o)
		t.drop(ex)
		return err
	}
}

// shuffle moves k random rows to the front and drops the others. Without a source of randomness, it keeps the first k.
func (t *table) shuffle(ex *exec, k int) {
	if t.n <= k {
		return
	}
	if random := ex.g.opts.Random; random != nil {
		for i := 0; i < k; i++ {
			j := i + int(random()%uint64(t.n-i))
			a, b := t.at(i), t.at(j)
			for x := range a {
				a[x], b[x] = b[x], a[x]
			}
		}
	}
	t.truncate(k)
}

// mwapi compiles the part of wikibase:mwapi that the graph itself can answer: entity search. Other calls are rejected.
func (c *compiler) mwapi(s *sparql.Service, sc *scope) *tableNode {
	text := func(iri string) string {
		if t := s.Param(iri); t != nil && t.Kind == sparql.Const {
			return t.Value().Value
		}
		return ""
	}
	if api := text(rdf.Wikibase + "api"); api != "EntitySearch" {
		c.fail(kg.Refused, "SERVICE wikibase:mwapi with the API %q cannot be served: the %s has only EntitySearch", api,
			c.g.opts.Name)
		return nil
	}
	ns := rdf.Prefixes["mwapi"]
	q := kg.SearchQuery{Text: text(ns + "search"), Language: text(ns + "language"), Type: kg.Type(text(ns + "type")),
		Limit: 50}
	t := &tableNode{rows: 20}
	var outs []string
	for _, r := range s.Rest() {
		if r.Subject.Kind != sparql.Var || r.Path.IRI() == "" {
			continue
		}
		n := sc.slot(r.Subject.Name)
		what := "ordinal"
		if r.Path.IRI() != rdf.Wikibase+"apiOrdinal" {
			what = strings.TrimPrefix(r.Object.Value().Value, ns)
		}
		t.op.slots, outs = append(t.op.slots, n), append(outs, what)
		t.inf.vars = t.inf.vars.union(setOf(n))
	}
	t.inf.uses = t.inf.vars
	t.op.make = func(ex *exec) ([][]value.Value, error) { return searchRows(ex.Context, ex.g, q, outs) }
	return t
}

// searchRows returns the hits of an entity search as rows that contain the requested outputs.
func searchRows(ctx context.Context, g *Graph, q kg.SearchQuery, outs []string) ([][]value.Value, error) {
	res, err := g.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	rows := make([][]value.Value, len(res.Hits))
	for i, h := range res.Hits {
		for _, o := range outs {
			v := value.Value{}
			switch o {
			case "item":
				v = value.IRI(rdf.Entity + h.ID)
			case "label":
				v = value.String(h.Label)
			case "description":
				v = value.String(h.Description)
			case "ordinal":
				v = value.SmallInt(int64(i))
			}
			rows[i] = append(rows[i], v)
		}
	}
	return rows, nil
}
