package tool_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/agent/tool/kbqa"
	"github.com/spinachbot/spinachbot/agent/tool/kbqagraph"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// graphOf returns a graph with the given triples, in Turtle or in N-Triples with relative IRIs, as in the data sets.
func graphOf(t testing.TB, name, text string) *embedded.Graph {
	t.Helper()
	b := embedded.NewBuilder()
	if err := b.Read(name, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return b.Graph(embedded.Options{})
}

func turtle(t testing.TB, text string) *embedded.Graph { t.Helper(); return graphOf(t, "x.ttl", text) }

func triples(t testing.TB, text string) *embedded.Graph { t.Helper(); return graphOf(t, "x.nt", text) }

// kbqaEnv returns an environment for a graph in a dialect.
func kbqaEnv(g tool.Graph, dialect string) *tool.Env {
	s := tool.Sources{{Graph: g}}
	if dialect == "" {
		s = tool.Wikibase(g)
	}
	env := &tool.Env{Log: slog.New(slog.DiscardHandler), Sources: s, Language: tool.English,
		Show: tool.Show{Dialect: dialect}}
	return env.On(s.Main())
}

// act runs an action written as a model would write it.
func act(t testing.TB, env *tool.Env, name, written string) tool.Result {
	t.Helper()
	set, err := tool.Select([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	args := set[0].Arguments(written)
	if err := set[0].Check(args); err != nil {
		t.Fatalf("%s(%s): %s: %v", name, written, args, err)
	}
	res, err := set[0].Run(context.Background(), env, args)
	if err != nil {
		t.Fatalf("%s(%s): %v", name, written, err)
	}
	return res
}

// shows checks an action's observation.
func shows(t *testing.T, env *tool.Env, name, written, want string) {
	t.Helper()
	if got := act(t, env, name, written).Text; got != want {
		t.Errorf("%s(%s)\n got %s\nwant %s", name, written, got, want)
	}
}

// TestKBQAArguments checks that calls can be parsed as models write them, with unescaped quotation marks in the query,
// and that the displayed form of a call parses as the same call.
func TestKBQAArguments(t *testing.T) {
	const q = `SELECT ?e WHERE { ?e <pred:name> "Lake Como" . }`
	set, err := tool.Select([]string{"SearchGraphPatterns", "SearchNodes", "ExecuteSPARQL"})
	if err != nil {
		t.Fatal(err)
	}
	patterns, nodes, run := set[0], set[1], set[2]
	args := func(sparql, semantic string) string {
		return strings.TrimSpace(string(set[0].Arguments(`sparql='` + sparql + `', semantic="` + semantic + `"`)))
	}
	both := args(q, "area")
	for _, tt := range []struct {
		t             *tool.Tool
		written, want string
	}{
		{patterns, `'` + q + `', semantic="area"`, both},
		{patterns, `"` + q + `", semantic="area"`, both},
		{patterns, `"` + q + `", "area"`, both},
		{patterns, `'` + q + `', 'area'`, both},
		{patterns, `sparql="` + q + `", semantic='area'`, both},
		{patterns, `semantic='area', sparql="` + q + `"`, both},
		{patterns, `"""` + q + `""", semantic="area"`, both},
		{patterns, `"` + strings.ReplaceAll(q, `"`, `\"`) + `", semantic="area"`, both},
		{patterns, q + `, semantic="area"`, both},
		{patterns, `query='` + q + `', semantic="area"`, both},
		{patterns, `'` + q + `', semantic=None`, `{"sparql":"SELECT ?e WHERE { ?e <pred:name> \"Lake Como\" . }"}`},
		{patterns, `"SELECT ?e WHERE { ?e <n> ?n . FILTER(?n IN ("a", "b")) }", semantic="x"`,
			`{"semantic":"x","sparql":"SELECT ?e WHERE { ?e <n> ?n . FILTER(?n IN (\"a\", \"b\")) }"}`},
		{nodes, `"Rosemary's Baby"`, `{"name":"Rosemary's Baby"}`},
		{nodes, `'Rosemary's Baby'`, `{"name":"Rosemary's Baby"}`},
		{nodes, `Lake Como`, `{"name":"Lake Como"}`},
		{nodes, `name="Lake Como`, `{"name":"Lake Como"}`},
		{run, `'ASK { ?e <n> "it's" }'`, `{"sparql":"ASK { ?e <n> \"it's\" }"}`},
		{run, `"SELECT ?x\nWHERE { FILTER(REGEX(?x, \"\\d\")) }"`,
			`{"sparql":"SELECT ?x\nWHERE { FILTER(REGEX(?x, \"\\\\d\")) }"}`},
		{run, `__import__("os").system("id")`, `{"sparql":"__import__(\"os\").system(\"id\")"}`},
	} {
		got := tt.t.Arguments(tt.written)
		if string(got) != tt.want {
			t.Errorf("%s(%s)\n got %s\nwant %s", tt.t.Name, tt.written, got, tt.want)
		}
		if again := tt.t.Arguments(tt.t.Shown(got)); string(again) != string(got) {
			t.Errorf("%s(%s) is shown as %s, which is read as %s", tt.t.Name, tt.written, tt.t.Shown(got), again)
		}
	}
}

// TestKBQALongArguments checks that strings with many quotation marks and braces are parsed in one pass.
func TestKBQALongArguments(t *testing.T) {
	set, err := tool.Select([]string{"SearchGraphPatterns"})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat(`"{'`, 400_000)
	if err := set[0].Check(set[0].Arguments(long)); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a megabyte of arguments: %v", err)
	}
}

func FuzzKBQAArguments(f *testing.F) {
	f.Add(`'SELECT ?e { ?e <n> "x" }', semantic="y"`)
	f.Add(`"a", 'b', "c`)
	set, err := tool.Select([]string{"SearchGraphPatterns", "SearchNodes"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, x := range set {
			if args := x.Arguments(s); len(args) == 0 {
				t.Errorf("%q has no arguments", s)
			}
		}
	})
}

const lakes = `
<c1> <pred:name> "lake" .
<c2> <pred:name> "river" .
<e1> <pred:name> "Lake Como" .
<e1> <pred:instance_of> <c1> .
<e2> <pred:name> "Adda" .
<e2> <pred:instance_of> <c2> .
<e2> <flows_into> <e1> .
<e1> <outflow> <e2> .
<e1> <area> _:v1 .
_:v1 <pred:value> "146.0"^^<http://www.w3.org/2001/XMLSchema#double> .
_:v1 <pred:unit> "square kilometre" .
<e1> <water_level> _:v2 .
_:v2 <pred:value> "199.0"^^<http://www.w3.org/2001/XMLSchema#double> .
_:v2 <pred:unit> "metre" .
_:f1 <pred:fact_h> <e1> .
_:f1 <pred:fact_r> <water_level> .
_:f1 <pred:fact_t> _:v2 .
_:f1 <point_in_time> _:v3 .
_:v3 <pred:date> "2003-01-01"^^<http://www.w3.org/2001/XMLSchema#date> .
<e1> <discovered> _:v4 .
_:v4 <pred:year> "1850"^^<http://www.w3.org/2001/XMLSchema#integer> .
<e1> <similar> <e1> .
<e1> <part_of> <e9> .
`

// TestKQAPro tests rows I3 to I6 in KQA Pro's format. The expected output was derived by hand from the triples.
func TestKQAPro(t *testing.T) {
	env := kbqaEnv(triples(t, lakes), kbqa.KQAPro)
	const e = `'SELECT ?e WHERE { ?e <pred:name> "Lake Como" . }'`
	shows(t, env, "SearchNodes", `"lake como"`, `['Lake Como | entity', 'lake | concept']`)
	shows(t, env, "SearchNodes", `"Lake Garda"`, `['lake | concept', 'Lake Como | entity']`)
	shows(t, env, "SearchNodes", `"Vesuvius"`, `[]`)
	shows(t, env, "SearchGraphPatterns", e+`, semantic="area/size"`,
		`['?e <area> ?pv . ?pv <pred:value> "146.0"^^xsd:double . `+
			`?pv <pred:unit> "square kilometre" .', '?e <pred:instance_of> ?t . ?t <pred:name> "lake" .', '?e <outflow> ?t . `+
			`?t <pred:name> "Adda" .', '?e <water_level> ?pv . ?pv <pred:value> "199.0"^^xsd:double . `+
			`?pv <pred:unit> "metre" .', '?e <discovered> ?pv . ?pv <pred:year> 1850 .', '?h <flows_into> ?e . ?h <pred:name> "Adda" .']`)
	all := act(t, env, "SearchGraphPatterns", `'SELECT ?e WHERE {}', semantic="water level/height"`).Text
	if !strings.HasPrefix(all, "['<water_level>', ") || !strings.Contains(all, "'<point_in_time>'") ||
		strings.Contains(all, "pred:value") {
		t.Errorf("predicates of the whole graph: %s", all)
	}
	shows(t, env, "ExecuteSPARQL", `'SELECT ?a { ?e <pred:name> "Lake Como" ; <area> ?a }'`, `['146.0 square kilometre']`)
	shows(t, env, "ExecuteSPARQL", `'SELECT ?a { ?e <pred:name> "Lake Como" ; <water level> ?a }'`, `['199.0 metre']`)
	shows(t, env, "ExecuteSPARQL", `'SELECT ?e ?t { ?e <flows_into> ?t }'`, `[('Adda', 'Lake Como')]`)
	shows(t, env, "ExecuteSPARQL", `'SELECT ?p ?t WHERE { ?e <pred:name> "Lake Como" ; <water_level> ?v .
		[ <pred:fact_h> ?e ; <pred:fact_r> <water_level> ; <pred:fact_t> ?v ] ?p ?t . FILTER(!STRSTARTS(STR(?p), "pred:")) }'`,
		`[('point_in_time', '"2003-01-01"^^xsd:date')]`)
	shows(t, env, "ExecuteSPARQL", `'SELECT (COUNT(?x) AS ?n) { ?x <pred:instance_of> ?c }'`, `['2']`)
	shows(t, env, "ExecuteSPARQL", `'ASK { ?x <flows_into> ?y }'`, `True`)
	shows(t, env, "ExecuteSPARQL", `'ASK { ?x <flows_into> ?x }'`, `False`)
	shows(t, env, "ExecuteSPARQL", `'SELECT ?x { ?x <flows_out_of> ?y }'`, `[]`)
	if r := act(t, env, "ExecuteSPARQL", `'SELECT ?x { ?x <flows_out_of> ?y }'`); !r.Empty || r.Found || r.Failure != "" {
		t.Errorf("an empty result: %+v", r)
	}
	for name, written := range map[string]string{"ExecuteSPARQL": `'SELECT ?x { ?x '`,
		"SearchGraphPatterns": `'SELECT ?x { ?x ?y ?z }'`} {
		if r := act(t, env, name, written); r.Failure == "" || !strings.HasPrefix(r.Text, "Error") {
			t.Errorf("%s: %+v", written, r)
		}
	}
	if r := act(t, env, "ExecuteSPARQL", `'DELETE WHERE { ?x ?y ?z }'`); r.Failure != kg.Refused {
		t.Errorf("an update: %+v", r)
	}
}

// TestKBQACut checks that a long result is truncated to 2,000 characters with an ellipsis, and that its rows are
// counted.
func TestKBQACut(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "<e%d> <pred:name> \"name %03d\" .\n", i, i)
	}
	r := act(t, kbqaEnv(triples(t, b.String()), kbqa.KQAPro), "ExecuteSPARQL", `'SELECT ?n { ?x <pred:name> ?n }'`)
	first, rest, _ := strings.Cut(r.Text, "\n")
	if len(first) != 2003 || !strings.HasSuffix(first, "...") || !strings.Contains(rest, "900 rows") || r.Rows != 900 {
		t.Errorf("%d characters, %q", len(first), rest)
	}
	if !strings.HasPrefix(first, "['name 000', 'name 001', ") {
		t.Errorf("not sorted: %.60s", first)
	}
	if r := act(t, kbqaEnv(triples(t, b.String()), kbqa.KQAPro), "ExecuteSPARQL",
		`'SELECT ?n { ?x <pred:name> ?n } ORDER BY DESC(?n) LIMIT 2'`); r.Text != "['name 899', 'name 898']" {
		t.Errorf("the order is lost: %s", r.Text)
	}
	if r := act(t, kbqaEnv(triples(t, b.String()), kbqa.KQAPro), "SearchNodes", `"name"`); strings.Count(r.Text,
		"|") != 10 {
		t.Errorf("more than ten nodes: %s", r.Text)
	}
}

// TestMetaQA checks that tags are literals, that the kinds of nodes are determined from the predicates, and that the
// direction of an edge is shown.
func TestMetaQA(t *testing.T) {
	env := kbqaEnv(triples(t, `
<m1> <name> "The River" .
<m2> <name> "Ada Berg" .
<m1> <directed_by> <m2> .
<m1> <has_tags> "ada berg" .
<m1> <release_year> <m3> .
<m3> <name> "1990" .
`), kbqa.MetaQA)
	shows(t, env, "SearchNodes", `"Ada Berg"`, `['"Ada Berg" | A person node', '"ada berg" | A tag']`)
	shows(t, env, "SearchNodes", `"the river"`, `['"The River" | A movie node']`)
	shows(t, env, "SearchNodes", `"1990"`, `['"1990" | A year']`)
	shows(t, env, "SearchGraphPatterns", `'SELECT ?e WHERE { ?e <name> "Ada Berg" . }', semantic="director of"`,
		`[("The River", directed_by, ?e)]`)
	shows(t, env, "SearchGraphPatterns", `'SELECT ?e WHERE { ?e <name> "The River" . }', semantic="has tags"`,
		`[(?e, has_tags, "ada berg"), (?e, directed_by, "Ada Berg"), (?e, release_year, "1990")]`)
	shows(t, env, "ExecuteSPARQL", `"SELECT ?e WHERE { ?e <has_tags> 'ada berg' . }"`, `['The River']`)
}

const freebase = `@prefix ns: <http://rdf.freebase.com/ns/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ns:m.1 ns:type.object.name "Fenia"@en , "Fénie"@fr ; ns:government.jurisdiction.officials ns:m.c1 , ns:m.c2 , ns:m.c3 ;
  ns:common.topic.alias "the fens"@en .
ns:m.c1 ns:government.held.office_holder ns:m.2 ; ns:government.held.from "1990-01-01"^^xsd:date ; ns:government.held.to "1995-01-01"^^xsd:date .
ns:m.c2 ns:government.held.office_holder ns:m.3 ; ns:government.held.from "1995-01-01"^^xsd:date .
ns:m.c3 ns:government.held.office_holder ns:m.4 .
ns:m.2 ns:type.object.name "Ada"@en ; ns:common.topic.description "Ada is a painter."@en ; ns:people.person.place_of_birth ns:m.1 .
ns:m.3 ns:type.object.name "Bo"@en . ns:m.4 ns:type.object.name "Cy"@en .
ns:m.5 ns:type.object.name "Ada"@en ; ns:common.topic.description "Ada is a language."@en .
`

// TestFreebase checks that compound values are flattened in both directions, that entities with the same name share a
// line, and that bookkeeping predicates are hidden.
func TestFreebase(t *testing.T) {
	env := kbqaEnv(turtle(t, freebase), kbqa.Freebase)
	shows(t, env, "SearchNodes", `"ada"`, `['"Ada" | Description: Ada is a language. | Description: Ada is a painter.']`)
	shows(t, env, "SearchNodes", `"Bo"`, `['"Bo" | No description.']`)
	shows(t, env, "SearchGraphPatterns", `'SELECT ?e WHERE { ?e ns:type.object.name "Ada"@en . }', semantic="government officials"`,
		`[("Fenia", government.jurisdiction.officials -> government.held.office_holder, ?e), (?e, people.person.place_of_birth, "Fenia")]`)
	got := act(t, env, "SearchGraphPatterns", `'SELECT ?e WHERE { ?e ns:type.object.name "Fenia"@en . }', semantic="from when to when"`).Text
	for _, want := range []string{`(?e, government.jurisdiction.officials -> government.held.from, "1990-01-01"^^xsd:date)`,
		`(?e, government.jurisdiction.officials -> government.held.office_holder, "Ada")`,
		`("Ada", people.person.place_of_birth, ?e)`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	if strings.Contains(got, "common.topic") || strings.Contains(got, "type.object") || strings.Contains(got, "m.c1") {
		t.Errorf("bookkeeping is shown: %s", got)
	}
	shows(t, env, "ExecuteSPARQL", `'SELECT ?x WHERE { ?x ns:people.person.place_of_birth ?p . ?p ns:type.object.name "Fenia"@en }'`, `['Ada']`)
}

// TestMissingDates checks that a missing start or end date in Freebase is treated as a match, unless the query selects
// the date.
func TestMissingDates(t *testing.T) {
	env := kbqaEnv(turtle(t, freebase), kbqa.Freebase)
	const who = `SELECT ?x%s WHERE { ?e ns:government.jurisdiction.officials ?c . ?c ns:government.held.office_holder ?x %s }`
	for _, tt := range []struct{ columns, where, want string }{
		{"", `; ns:government.held.to ?to . FILTER(?to >= "2000-01-01"^^xsd:date)`, `['Bo', 'Cy']`},
		{"", `; ns:government.held.from ?f ; ns:government.held.to ?t . FILTER(?f <= "1992-01-01"^^xsd:date && ?t >= "1992-01-01"^^xsd:date)`,
			`['Ada', 'Cy']`},
		{"", `. ?c ns:government.held.from ?f . ?x ns:type.object.name ?n FILTER(?n != "Cy"@en) FILTER(xsd:date(?f) > "1993-01-01"^^xsd:date)`,
			`['Bo']`},
		{" ?to", `; ns:government.held.to ?to . FILTER(?to >= "1994-01-01"^^xsd:date)`,
			`[('Ada', '"1995-01-01"^^xsd:date')]`},
		{"", `; ns:government.held.to ?to`, `['Ada']`},
		{"", `; ns:government.held.from ?f ; ns:government.held.to ?t FILTER(?f < ?t)`, `['Ada']`},
	} {
		shows(t, env, "ExecuteSPARQL", `'`+fmt.Sprintf(who, tt.columns, tt.where)+`'`, tt.want)
	}
	// The published query is the one that was run.
	r := act(t, env, "ExecuteSPARQL", `'`+fmt.Sprintf(who, "",
		`; ns:government.held.to ?to . FILTER(?to >= "2000-01-01"^^xsd:date)`)+`'`)
	if again, err := env.Graph.Query(t.Context(), r.Query); err != nil || len(again.Rows) != 2 ||
		!strings.Contains(r.Query, "PREFIX ns:") {
		t.Errorf("%v: %s", err, r.Query)
	}
}

const wikidata = `@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> . @prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> . @prefix wds: <http://www.wikidata.org/entity/statement/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix schema: <http://schema.org/> .
@prefix wikibase: <http://wikiba.se/ontology#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
wd:Q1 rdfs:label "Berg"@en ; schema:description "chancellor"@en ; wdt:P39 wd:Q3 ; p:P39 wds:s1 ; wdt:P26 wd:Q2 .
wd:Q4 rdfs:label "Berg"@en ; schema:description "mountain"@en .
wds:s1 ps:P39 wd:Q3 ; pq:P580 "1990-01-01T00:00:00Z"^^xsd:dateTime ; pq:P1365 wd:Q2 .
wd:Q2 rdfs:label "Ada"@en . wd:Q3 rdfs:label "chancellor of Fenia"@en .
wd:P39 a wikibase:Property ; rdfs:label "position held"@en ; wikibase:propertyType wikibase:WikibaseItem .
wd:P580 a wikibase:Property ; rdfs:label "start time"@en ; wikibase:propertyType wikibase:Time .
wd:P1365 a wikibase:Property ; rdfs:label "replaces"@en ; skos:altLabel "predecessor"@en ; wikibase:propertyType wikibase:WikibaseItem .
wd:P26 a wikibase:Property ; rdfs:label "spouse"@en ; wikibase:propertyType wikibase:WikibaseItem .
`

// TestByIRI checks that on a graph in Wikidata's format, nodes have IDs, and that qualifiers can be reached from both
// sides through their statement.
func TestByIRI(t *testing.T) {
	env := kbqaEnv(turtle(t, wikidata), kbqa.ByIRI)
	shows(t, env, "SearchNodes", `"berg"`, `['Berg | wd:Q1: chancellor | wd:Q4: mountain']`)
	shows(t, env, "SearchGraphPatterns", `'SELECT ?e WHERE { VALUES ?e { wd:Q1 } }', semantic="start time"`,
		`[(?e, p:P39 -> pq:P580 [position held -> start time], "1990-01-01T00:00:00Z"^^xsd:dateTime), `+
			`(?e, wdt:P39 [position held], chancellor of Fenia (wd:Q3)), (?e, wdt:P26 [spouse], Ada (wd:Q2)), `+
			`(?e, p:P39 -> pq:P1365 [position held -> replaces], Ada (wd:Q2))]`)
	shows(t, env, "SearchGraphPatterns", `wd:Q2, semantic="predecessor"`,
		`[(Berg (wd:Q1), p:P39 -> pq:P1365 [position held -> replaces], ?e), (Berg (wd:Q1), wdt:P26 [spouse], ?e)]`)
	// A node in VALUES matches even if the graph does not contain it.
	for written, want := range map[string]string{"wd:Q4": "knows nothing of the nodes",
		"wd:Q999":                                "knows nothing of the nodes",
		`'SELECT ?e WHERE { ?e wdt:P39 wd:Q2 }'`: "No node matches",
		`'SELECT ?e WHERE { ?e wdt:P39 wd:Q2 } LIMIT 3'`: "No node matches"} {
		if r := act(t, env, "SearchGraphPatterns", written); !r.Empty || !strings.HasPrefix(r.Text, "[] (") ||
			!strings.Contains(r.Text, want) {
			t.Errorf("%s: %+v", written, r)
		}
	}
	if r := act(t, env, "SearchNodes", `"Xyzzy"`); !r.Empty || !strings.HasPrefix(r.Text, "[] (No node has such a name.") {
		t.Errorf("%+v", r)
	}
	shows(t, env, "SearchGraphPatterns", `'SELECT ?e WHERE {}', semantic="husband or wife, spouse"`,
		`['wdt:P26 [spouse]']`)
	shows(t, env, "ExecuteSPARQL", `'SELECT ?x ?s WHERE { ?x p:P39 ?st . ?st pq:P580 ?s }'`,
		`[('Berg (wd:Q1)', '1990-01-01')]`)
}

// finder is a finder that ranks hits by a list and records its requests.
type finder struct {
	order []string
	asked []kg.FindQuery
	err   error
}

func (f *finder) Find(_ context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	f.asked = append(f.asked, q)
	res := &kg.SearchResult{}
	for _, iri := range f.order {
		if term := rdf.IRI(iri); q.Among == nil || slices.Contains(q.Among, term) {
			res.Hits = append(res.Hits, kg.Hit{ID: iri, Term: &term})
		}
	}
	return res, f.err
}

// TestKBQARank checks that the graph's search by meaning ranks at most 400 predicates, that predicates it does not find
// come last, and that no pattern is lost if the search fails.
func TestKBQARank(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "<e> <p%03d> <x> .\n", i)
	}
	b.WriteString("<x> <pred:name> \"x\" .\n<e> <pred:name> \"e\" .\n")
	f := &finder{order: []string{"p007", "p003"}}
	env := kbqaEnv(triples(t, b.String()), kbqa.KQAPro)
	env.Source.Finder = f
	const e = `'SELECT ?e WHERE { ?e <pred:name> "e" . }'`
	got := act(t, env, "SearchGraphPatterns", e+`, semantic="unlike any"`).Text
	if !strings.HasPrefix(got, `['?e <p007> ?t . ?t <pred:name> "x" .', '?e <p003> ?t`) || strings.Count(got,
		"?e <") != 10 {
		t.Errorf("%s", got)
	}
	if q := f.asked[0]; len(q.Among) != 400 || !q.Meaning || q.Type != kg.Property || q.Text != "unlike any" {
		t.Errorf("%d candidates were requested: %+v", len(q.Among), q.Text)
	}
	f.err = kg.Errorf(kg.Down, "no index")
	if got := act(t, env, "SearchGraphPatterns", e+`, semantic="p009"`).Text; !strings.HasPrefix(got, `['?e <p009>`) {
		t.Errorf("without the index: %s", got)
	}
	got = act(t, env, "SearchGraphPatterns", e).Text
	if !strings.Contains(got, "490 more patterns") || strings.Count(got, "?e <") != 10 {
		t.Errorf("without a meaning: %s", got)
	}
}

// slow is a graph on which every query that reads all triples fails.
type slow struct {
	tool.Graph
	asked []string
}

func (s *slow) Query(ctx context.Context, q string) (*kg.Table, error) {
	s.asked = append(s.asked, q)
	if !strings.Contains(q, "LIMIT 20000") && strings.Contains(q, "SAMPLE") {
		return nil, kg.Errorf(kg.Timeout, "too slow")
	}
	return s.Graph.Query(ctx, q)
}

// TestKBQASlow checks that if there are too many triples around ?e, only some of them are examined, and the model is
// told so.
func TestKBQASlow(t *testing.T) {
	env := kbqaEnv(&slow{Graph: triples(t, lakes)}, kbqa.KQAPro)
	got := act(t, env, "SearchGraphPatterns", `'SELECT ?e WHERE { ?e <pred:name> "Adda" . }', semantic="flows into"`).Text
	if !strings.HasPrefix(got, `['?e <flows_into> ?t . ?t <pred:name> "Lake Como" .'`) || !strings.Contains(got,
		"patterns may be missing") {
		t.Errorf("%s", got)
	}
}

// TestKBQAGenerated checks that the same seed generates the same graphs, that different seeds generate different
// graphs, and that the graphs contain the structures of their formats.
func TestKBQAGenerated(t *testing.T) {
	for dialect, build := range map[string]func(uint64, kbqagraph.Add){kbqa.KQAPro: kbqagraph.KQAPro,
		kbqa.MetaQA: kbqagraph.MetaQA, kbqa.Freebase: kbqagraph.Freebase} {
		text := func(seed uint64) string {
			var b strings.Builder
			build(seed, func(s, p, o rdf.Term) { fmt.Fprintln(&b, s, p, o) })
			return b.String()
		}
		if first, again := text(1), text(1); first != again || first == text(2) {
			t.Errorf("%s does not depend on its seed alone", dialect)
		}
		env := kbqaEnv(generated(t, build), dialect)
		query := map[string]string{kbqa.KQAPro: `SELECT ?e WHERE { ?e <pred:instance_of> ?c . ?c <pred:name> "film" . }`,
			kbqa.MetaQA:   `SELECT ?e WHERE { ?e <directed_by> ?d . }`,
			kbqa.Freebase: `SELECT ?e WHERE { ?e ns:film.film.directed_by ?d . }`}[dialect]
		want := map[string]string{kbqa.KQAPro: `?e <cast_member> ?t . ?t <pred:name> "`,
			kbqa.MetaQA:   `(?e, starred_actors, "`,
			kbqa.Freebase: `(?e, film.film.starring -> film.performance.actor, "`}[dialect]
		meaning := map[string]string{kbqa.KQAPro: "cast member", kbqa.MetaQA: "starred actors",
			kbqa.Freebase: "film performance actor"}[dialect]
		got := act(t, env, "SearchGraphPatterns", `'`+query+`', semantic="`+meaning+`"`).Text
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", dialect, got)
		}
	}
}

// generated builds a graph in the format of one of the data sets.
func generated(t testing.TB, build func(uint64, kbqagraph.Add)) *embedded.Graph {
	t.Helper()
	b := embedded.NewBuilder()
	build(7, func(s, p, o rdf.Term) {
		if err := b.Add(s, p, o); err != nil {
			t.Fatal(err)
		}
	})
	return b.Graph(embedded.Options{})
}
