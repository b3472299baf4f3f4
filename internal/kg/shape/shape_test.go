package shape_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/kg/shape/void"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

var plain = kg.Description{Name: "firms", Statements: kg.Plain,
	Prefixes: map[string]string{"c": "http://example.org/c/", "xsd": rdf.XSD},
	Types:    []string{"rdf:type"}, Labels: []string{"rdfs:label"}, Languages: []string{"de", "en"}}

// firms is a graph of four firms. Each has one boss, two of them have three seats in total, and one has an address that
// is an unnamed node. Two people work for firms.
const firms = `
@prefix c: <http://example.org/c/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
c:Firm rdfs:label "Firma"@de , "firm"@en . c:boss rdfs:label "Chef"@de . c:seat rdfs:label "seat" .
c:f1 a c:Firm ; c:boss c:p1 ; c:seat c:t1 , c:t2 ; c:since "1990"^^xsd:gYear ; c:address [ c:street "x" ] .
c:f2 a c:Firm ; c:boss c:p1 ; c:seat c:t1 ; c:since "old" .
c:f3 a c:Firm ; c:boss c:p2 . c:f4 a c:Firm ; c:boss c:p3 .
c:p1 a c:Man . c:p2 a c:Man . c:p3 a c:Woman . c:t1 a c:Town .
c:p1 c:worksFor c:f1 . c:p2 c:worksFor c:f1 , c:f2 .
`

func load(t *testing.T, turtle string) *embedded.Graph {
	t.Helper()
	b := embedded.NewBuilder()
	if err := b.Read("data.ttl", strings.NewReader(turtle)); err != nil {
		t.Fatal(err)
	}
	return b.Graph(embedded.Options{})
}

// counter records the queries to a graph. A query for which fail returns an error fails.
type counter struct {
	query shape.Query
	fail  func(query string) error
	mu    sync.Mutex
	asked []string
}

func (c *counter) Query(ctx context.Context, q string) (*kg.Table, error) {
	c.mu.Lock()
	c.asked = append(c.asked, q)
	c.mu.Unlock()
	if c.fail != nil {
		if err := c.fail(q); err != nil {
			return nil, err
		}
	}
	return c.query(ctx, q)
}

func maker(t *testing.T, o shape.Options) *shape.Maker {
	t.Helper()
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	m, err := shape.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const firmText = `Firma (c:Firm): 4 direct members, measured 2026-11-22
members have
  Chef (c:boss) 100%: c:Man 75%, c:Woman 25%
  seat (c:seat) 50% *: c:Town 67%
  c:since 50% ?: gYear 50%, string 50%
  c:address 25% ?: nodes without a name
other things lead to members by
  c:worksFor 50% *: c:Man`

func TestShapeOfAnyGraph(t *testing.T) {
	c := &counter{query: load(t, firms).Query}
	m := maker(t, shape.Options{Graph: plain, Query: c.Query})
	s, err := m.Shape(context.Background(), "c:Firm", "de")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(firmText, shape.Text(s, 0, 0)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if s.Source != shape.Endpoint || s.Sample != 0 || s.Members != 4 {
		t.Errorf("got %+v", s)
	}
	n := len(c.asked)
	if n > 9 {
		t.Errorf("%d queries for one class", n)
	}
	if again, err := m.Shape(context.Background(), "<http://example.org/c/Firm>", "de"); err != nil || again != s ||
		len(c.asked) != n {
		t.Errorf("the shape is not kept: %v, %d queries", err, len(c.asked))
	}
	if got := shape.Text(s, 2, 0); !strings.HasSuffix(got, "left out: 2 properties of members") {
		t.Errorf("got\n%s", got)
	}
	for class, want := range map[string]kg.Kind{"c:Nothing": kg.NotFound, "nothing": kg.BadID, "<http://x> } ": kg.BadID} {
		if _, err := m.Shape(context.Background(), class, "de"); kg.KindOf(err) != want {
			t.Errorf("%s: %v", class, err)
		}
	}
}

// TestView checks the JSON format, with null for unknown values.
func TestView(t *testing.T) {
	s, err := maker(t, shape.Options{Graph: plain, Query: load(t, firms).Query, Limits: shape.Limits{Out: 1,
		In: 1}}).Shape(context.Background(), "c:Firm", "de")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(shape.NewView(s))
	want := `{"class":{"id":"c:Firm","label":"Firma"},"members":4,"sample":0,"source":"endpoint","at":"2026-11-22T12:00:00Z",` +
		`"out":[{"id":"c:boss","label":"Chef","coverage":1,"mean":1,"cardinality":"","targets":[{"id":"c:Man","share":0.75},{"id":"c:Woman","share":0.25}],"more":0}],` +
		`"in":[{"id":"c:worksFor","coverage":0.5,"mean":1.5,"cardinality":"*","targets":[{"id":"c:Man","share":1}],"more":0}],"more_out":3,"more_in":0}`
	if d := cmp.Diff(want, string(got)); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	got, _ = json.Marshal(shape.NewView(&kg.Shape{Members: -1, Out: []kg.ShapePredicate{{Coverage: -1}}}))
	if !strings.Contains(string(got), `"members":null`) || !strings.Contains(string(got), `"coverage":null,"mean":null`) {
		t.Errorf("got %s", got)
	}
}

// TestLabelOfAnotherLanguage checks that a label in a language that was not requested has a language tag.
func TestLabelOfAnotherLanguage(t *testing.T) {
	g := load(t, firms)
	labels, err := shape.Labels(context.Background(), &plain, g.Query, []string{"http://example.org/c/Firm",
		"http://example.org/c/boss",
		"http://example.org/c/seat", "http://example.org/c/since", "http://bad> . ?x"}, []string{"en"})
	want := map[string]string{"http://example.org/c/Firm": "firm", "http://example.org/c/boss": "Chef@de",
		"http://example.org/c/seat": "seat"}
	if d := cmp.Diff(want, labels); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

// TestSample checks that large classes are sampled, and that the shape is marked as a sample.
func TestSample(t *testing.T) {
	c := &counter{query: load(t, firms).Query}
	m := maker(t, shape.Options{Graph: plain, Query: c.Query, Limits: shape.Limits{Whole: 3, Sample: 2}})
	s, err := m.Shape(context.Background(), "c:Firm", "de")
	if err != nil {
		t.Fatal(err)
	}
	if s.Source != shape.Sample || s.Sample != 2 || s.Members != 4 || !strings.Contains(shape.Text(s, 0, 0),
		"2 of 4 direct members looked at") {
		t.Errorf("got %+v", s)
	}
	for _, q := range c.asked {
		if strings.Contains(q, "c/Firm> .") && !strings.HasPrefix(q, "SELECT (COUNT") && !strings.Contains(q, "LIMIT 2 }") {
			t.Errorf("this examines all members: %s", q)
		}
	}
}

// TestSlowQueries checks that if a query takes too long, a sample is used, and then a smaller one. Predicates that
// point to members may be omitted, but not the members' own predicates.
func TestSlowQueries(t *testing.T) {
	late := kg.Errorf(kg.Timeout, "too long")
	for name, tt := range map[string]struct {
		fail   func(q string) error
		source string
		sample int64
		notes  int
		kind   kg.Kind
	}{
		"the count": {fail: func(q string) error {
			if strings.HasPrefix(q, "SELECT (COUNT(*) AS ?n) WHERE { ?member") {
				return late
			}
			return nil
		}, source: shape.Sample, sample: 3},
		"all members": {fail: func(q string) error {
			if strings.Contains(q, "?member ?p ?o") && !strings.Contains(q, "LIMIT") {
				return late
			}
			return nil
		}, source: shape.Sample, sample: 3},
		"a large sample": {fail: func(q string) error {
			if strings.Contains(q, "?member ?p ?o") && !strings.Contains(q, "LIMIT 1 }") {
				return late
			}
			return nil
		}, source: shape.Sample, sample: 1},
		"what leads to members": {fail: func(q string) error {
			if strings.Contains(q, "?o ?p ?member") {
				return late
			}
			return nil
		}, source: shape.Sample, sample: 3, notes: 1},
		"everything": {fail: func(string) error { return late }, kind: kg.Timeout},
		"down":       {fail: func(string) error { return kg.Errorf(kg.Down, "gone") }, kind: kg.Down},
	} {
		c := &counter{query: load(t, firms).Query, fail: tt.fail}
		m := maker(t, shape.Options{Graph: plain, Query: c.Query, Limits: shape.Limits{Sample: 3}})
		s, err := m.Shape(context.Background(), "c:Firm", "de")
		if kg.KindOf(err) != tt.kind {
			t.Errorf("%s: %v", name, err)
		}
		if tt.kind == "" && (s.Source != tt.source || s.Sample != tt.sample || len(s.Notes) != tt.notes || len(s.Out) == 0) {
			t.Errorf("%s: %+v", name, s)
		}
		if tt.kind == kg.Down && len(c.asked) > 2 {
			t.Errorf("%s: asked %d times", name, len(c.asked))
		}
	}
}

// TestOwnTimeLimit checks that measuring stops after the time limit for one query if the graph does not respond.
func TestOwnTimeLimit(t *testing.T) {
	hang := func(ctx context.Context, _ string) (*kg.Table, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	m := maker(t, shape.Options{Graph: plain, Query: hang, Limits: shape.Limits{Query: time.Millisecond}})
	if _, err := m.Shape(context.Background(), "c:Firm", "de"); kg.KindOf(err) != kg.Timeout {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Shape(ctx, "c:Firm", "de"); err == nil || kg.KindOf(err) != "" {
		t.Errorf("got %v", err)
	}
}

// TestKept checks that shapes are kept across restarts, by class and language, until they are too old, and that a
// corrupt shape is measured again.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	now := noon
	c := &counter{query: load(t, firms).Query}
	o := shape.Options{Graph: plain, Query: c.Query, Store: shape.Folder(filepath.Join(dir, "shapes")),
		MaxAge: 24 * time.Hour, Now: func() time.Time { return now }}
	ask := func(lang string) (*kg.Shape, int) {
		before := len(c.asked)
		s, err := maker(t, o).Shape(context.Background(), "c:Firm", lang)
		if err != nil {
			t.Fatal(err)
		}
		return s, len(c.asked) - before
	}
	first, n := ask("de")
	if n == 0 {
		t.Fatal("nothing was asked")
	}
	now = now.Add(23 * time.Hour)
	if again, n := ask("de"); n != 0 || cmp.Diff(first, again) != "" {
		t.Errorf("asked %d times: %s", n, cmp.Diff(first, again))
	}
	if s, n := ask("en"); n == 0 || s.Class.Label != "firm" {
		t.Errorf("%+v after %d queries", s.Class, n)
	}
	now = now.Add(2 * time.Hour)
	if s, n := ask("de"); n == 0 || !s.At.Equal(now) {
		t.Errorf("an old shape is used: %d queries, %s", n, s.At)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "shapes", "*.json"))
	if len(files) != 2 {
		t.Errorf("files %v", files)
	}
	o.Store = brokenStore{}
	if s, n := ask("de"); n == 0 || s == nil {
		t.Error("a broken store makes shapes fail")
	}
}

type brokenStore struct{}

func (brokenStore) Get(context.Context, string) ([]byte, bool, error) {
	return []byte(`{"Class":{`), true, nil
}
func (brokenStore) Put(context.Context, string, []byte) error {
	return kg.Errorf(kg.Down, "disk is full")
}

// TestOnceAtATime checks that concurrent requests for the same class share a single measurement.
func TestOnceAtATime(t *testing.T) {
	c := &counter{query: load(t, firms).Query}
	m := maker(t, shape.Options{Graph: plain, Query: c.Query})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := m.Shape(context.Background(), "c:Firm", "de"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(c.asked) > 9 {
		t.Errorf("%d queries", len(c.asked))
	}
}

const voidText = `
@prefix void: <http://rdfs.org/ns/void#> . @prefix ext: <http://ldf.fi/void-ext#> . @prefix c: <http://example.org/c/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
[] a void:Dataset ; void:classPartition [ void:class c:Firm ; void:entities 400 ;
	void:propertyPartition [ void:property c:boss ; void:triples 400 ; void:distinctSubjects 400 ;
			void:classPartition [ void:class c:Man ; void:triples 300 ] , [ void:class c:Woman ; void:triples 100 ] ] ,
		[ void:property c:since ; void:triples 100 ; void:distinctSubjects 100 ; ext:datatypePartition [ ext:datatype xsd:gYear ; void:triples 100 ] ] ,
		[ void:property c:motto ] ] ,
	[ void:class c:Man ; void:propertyPartition [ void:property c:worksFor ; void:classPartition [ void:class c:Firm ; void:triples 7 ] ] ] .
[] a void:Linkset ; void:linkPredicate c:owns ; void:subjectsTarget [ void:class c:Bank ] ; void:objectsTarget [ void:class c:Firm ] .
`

const voidShape = `Firma (c:Firm): 400 direct members, from the graph's own description (VoID), measured 2026-11-22
members have
  Chef (c:boss) 100%: c:Man 75%, c:Woman 25%
  c:since 25% ?: gYear
  c:motto
other things lead to members by
  c:worksFor: c:Man
  c:owns: c:Bank`

// TestVoID checks that a graph's own description takes precedence over queries, whether the endpoint contains it or it
// is a separate document.
func TestVoID(t *testing.T) {
	fetched := ""
	for name, o := range map[string]shape.Options{
		"endpoint": {Query: load(t, firms+voidText).Query},
		"document": {Query: load(t, firms).Query, VoID: void.Fetch(wellKnown(t, "https://example.org/data/sparql?x=1"),
			func(_ context.Context, address string) ([]byte, error) {
				fetched = address
				return []byte(voidText), nil
			})},
	} {
		c := &counter{query: o.Query}
		o.Graph, o.Query = plain, c.Query
		s, err := maker(t, o).Shape(context.Background(), "c:Firm", "de")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(voidShape, shape.Text(s, 0, 0)); d != "" || s.Source != shape.VoID {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		for _, q := range c.asked {
			if strings.Contains(q, "GROUP BY ?p }") {
				t.Errorf("%s: the shape was measured anyway: %s", name, q)
			}
		}
	}
	if fetched != "https://example.org/.well-known/void" {
		t.Errorf("fetched %s", fetched)
	}
}

// TestNoVoID checks that the shape is measured if the description cannot be fetched or read, or does not mention the
// class.
func TestNoVoID(t *testing.T) {
	for name, get := range map[string]func(context.Context, string) ([]byte, error){
		"absent":  func(context.Context, string) ([]byte, error) { return nil, kg.Errorf(kg.NotFound, "404") },
		"garbage": func(context.Context, string) ([]byte, error) { return []byte("<html>no</html>"), nil },
		"silent": func(context.Context, string) ([]byte, error) {
			return []byte("<http://x> <http://y> <http://z> ."), nil
		},
	} {
		m := maker(t, shape.Options{Graph: plain, Query: load(t, firms).Query, VoID: void.Fetch(wellKnown(t, "https://example.org/sparql"),
			get)})
		s, err := m.Shape(context.Background(), "c:Firm", "de")
		if err != nil || s.Source != shape.Endpoint {
			t.Errorf("%s: %v, %+v", name, err, s)
		}
	}
	if _, err := void.File(filepath.Join(t.TempDir(), "nosuch.ttl"))(context.Background()); err == nil {
		t.Error("a file that does not exist was read")
	}
	if _, err := void.WellKnown("nonsense"); err == nil {
		t.Error("a URL was returned")
	}
}

func TestFindClasses(t *testing.T) {
	c := &counter{query: load(t, firms).Query}
	found := []kg.Hit{{ID: "c:Man", Label: "man"}, {ID: "c:p1", Label: "mankind"}}
	o := shape.Options{Graph: plain, Query: c.Query, Find: func(_ context.Context, q kg.FindQuery) (*kg.SearchResult,
		error) {
		if q.Text != "man" {
			return &kg.SearchResult{}, nil
		}
		return &kg.SearchResult{Hits: found}, nil
	}}
	for _, tt := range []struct {
		name, text, want string
		classes          int
	}{
		{"by label", "Firma", "c:Firm 4", 0}, {"by the end of its address", "town", "c:Town 1", 0}, {"once", "man", "c:Man 2",
			0},
		{"the graph's search, with members only", "man", "c:Man -1", -1}, {"nothing", "dragon", "", 0},
	} {
		o.Limits.Classes = tt.classes
		res, err := maker(t, o).FindClasses(context.Background(), tt.text, "de", 5)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range res.Hits {
			got = append(got, h.ID+" "+strconv.FormatInt(h.Uses, 10))
		}
		if g := strings.Join(got, "; "); g != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, g, tt.want)
		}
	}
}

var wikibase = kg.Description{Name: "wikidata", Dialect: "wdqs", Statements: kg.Wikibase, Prefixes: rdf.Prefixes,
	Types:    []string{"wdt:P31"},
	Subclass: "wdt:P279", Labels: []string{"rdfs:label"}, Languages: []string{"en"}}

// cities contains two cities in Wikidata's format. P300 is an external ID, and P400 has only a deprecated statement.
const cities = `
@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> . @prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> . @prefix pq: <http://www.wikidata.org/prop/qualifier/> . @prefix wds: <http://www.wikidata.org/entity/statement/> .
@prefix wikibase: <http://wikiba.se/ontology#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
wd:Q515 rdfs:label "city"@en ; wdt:P1963 wd:P17 . wd:P17 rdfs:label "country"@en ; wikibase:propertyType wikibase:WikibaseItem .
wd:P300 wikibase:propertyType wikibase:ExternalId . wd:P500 wikibase:propertyType wikibase:Quantity .
wd:Q10 wdt:P31 wd:Q515 ; p:P31 wds:a ; rdfs:label "Ten"@en ; wdt:P17 wd:Q20 ; p:P17 wds:b ; wdt:P300 "x" ; p:P400 wds:d . wds:b ps:P17 wd:Q20 .
wd:Q11 wdt:P31 wd:Q515 ; wdt:P17 wd:Q20 ; wdt:P300 "y" . wd:Q20 wdt:P31 wd:Q6256 ; wdt:P36 wd:Q10 ; rdfs:label "Twenty"@de .
wd:P500 p:P2302 wds:e . wds:e ps:P2302 wd:Q21503250 ; pq:P2308 wd:Q515 .
wd:P17 p:P2302 wds:f ; p:P1855 wds:g . wds:f ps:P2302 wd:Q21510865 ; pq:P2308 wd:Q6256 . wds:g ps:P1855 wd:Q10 ; pq:P17 wd:Q20 .
`

// TestWikibase checks that a property is listed once for all its namespaces, that external IDs are omitted, and that
// Wikidata's declarations about the class are part of the shape.
func TestWikibase(t *testing.T) {
	c := &counter{query: load(t, cities).Query}
	s, err := maker(t, shape.Options{Graph: wikibase, Query: c.Query}).Shape(context.Background(), "Q515", "en")
	if err != nil {
		t.Fatal(err)
	}
	want := `city (Q515): 2 direct members, measured 2026-11-22
members have
  country (P17) 100%: Q6256; values should be Q6256; example: Ten (Q10) has Twenty@de (Q20)
  P31 100%
  P400 [p only] 50% ?
other things lead to members by
  P36 50% ?: Q6256
the graph names for this class: country (P17), P500
left out: 1 property of members`
	if d := cmp.Diff(want, shape.Text(s, 0, 0)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if shape.Has(s, "P300") != shape.Yes || shape.Has(s, "P36") != shape.No {
		t.Error("the omission is not recorded")
	}
	if n := len(c.asked); n > 12 {
		t.Errorf("%d queries", n)
	}
}

func TestMeasure(t *testing.T) {
	s, err := shape.Measure(context.Background(), &wikibase, load(t, cities).Query,
		shape.Members{Pattern: "?p <http://www.wikidata.org/prop/direct/P36> ?city", Var: "city"}, shape.Limits{})
	if err != nil || s.Members != 1 || s.Predicate("P17") == nil || len(s.In) != 1 {
		t.Errorf("%v, %+v", err, s)
	}
}

// BenchmarkShape measures the shape of the largest class in the built-in slice.
func BenchmarkShape(b *testing.B) {
	files, err := filepath.Glob("../../sandbox/data/*.ttl")
	if err != nil || len(files) == 0 {
		b.Fatal("no slice", err)
	}
	g, err := embedded.Load(embedded.Options{}, files...)
	if err != nil {
		b.Fatal(err)
	}
	c := &counter{query: g.Query}
	for b.Loop() {
		m, err := shape.New(shape.Options{Graph: wikibase, Query: c.Query})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.Shape(context.Background(), "Q6256", "en"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(c.asked))/float64(b.N), "queries/op")
}

func wellKnown(t *testing.T, endpoint string) string {
	t.Helper()
	address, err := void.WellKnown(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return address
}
