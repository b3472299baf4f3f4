package tool

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// rulers describes two kings of a country, in Wikidata's format. Tar's statements have different ranks, a reference, an
// unknown value, and an explicit "no value". Tar's year of birth is known, but not the day.
const rulers = `
@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> . @prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> . @prefix psv: <http://www.wikidata.org/prop/statement/value/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> . @prefix pr: <http://www.wikidata.org/prop/reference/> . @prefix wds: <http://www.wikidata.org/entity/statement/> .
@prefix wdno: <http://www.wikidata.org/prop/novalue/> . @prefix wikibase: <http://wikiba.se/ontology#> . @prefix prov: <http://www.w3.org/ns/prov#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix schema: <http://schema.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
wd:Q1 rdfs:label "Tar"@de ; wdt:P31 wd:Q5 ; wdt:P39 wd:Q10 ; p:P39 wds:a , wds:b , wds:c , wds:d ; p:P569 wds:e .
wd:Q2 rdfs:label "Tor"@en , "Thor"@de ; wdt:P31 wd:Q5 ; wdt:P39 wd:Q10 ; p:P39 wds:f . wd:Q3 wdt:P31 wd:Q5 .
wd:Q4 rdfs:label "Tor"@en ; schema:description "painting by Tar"@en . wd:Q6 rdfs:label "Tor"@en ; schema:description "city"@en .
wd:Q5 rdfs:label "human"@en ; wdt:P279 wd:Q7 . wd:Q7 rdfs:label "living being"@en ; wdt:P279 wd:Q8 . wd:Q8 wdt:P279 wd:Q7 . wd:Q9 rdfs:label "king"@en ; wdt:P279 wd:Q5 .
wd:Q10 rdfs:label "King of Tarland"@en . wd:Q11 rdfs:label "book"@en .
wd:P39 a wikibase:Property ; rdfs:label "position"@en ; wikibase:directClaim wdt:P39 ; wikibase:propertyType wikibase:WikibaseItem .
wd:P580 a wikibase:Property ; rdfs:label "start"@en . wd:P248 a wikibase:Property ; rdfs:label "stated in"@en .
wds:a ps:P39 wd:Q10 ; wikibase:rank wikibase:PreferredRank ; pq:P580 "1901-01-01T00:00:00Z"^^xsd:dateTime ; prov:wasDerivedFrom <http://www.wikidata.org/reference/r1> .
<http://www.wikidata.org/reference/r1> pr:P248 wd:Q11 .
wds:b ps:P39 wd:Q12 ; wikibase:rank wikibase:DeprecatedRank . wds:c ps:P39 _:x ; wikibase:rank wikibase:NormalRank . wds:d a wdno:P39 ; wikibase:rank wikibase:NormalRank .
wds:e ps:P569 "1880-01-01T00:00:00Z"^^xsd:dateTime ; psv:P569 [ wikibase:timePrecision 9 ] ; wikibase:rank wikibase:NormalRank .
wds:f ps:P39 wd:Q10 ; wikibase:rank wikibase:NormalRank .
`

func surveyEnv(t *testing.T, turtle string, d *kg.Description) *Env {
	t.Helper()
	b := embedded.NewBuilder()
	if err := b.Read("data.ttl", strings.NewReader(turtle)); err != nil {
		t.Fatal(err)
	}
	sources := Wikibase(b.Graph(embedded.Options{}))
	if d != nil {
		sources[0].Explain, sources[0].Finder = *d, nil
	}
	env := &Env{Log: slog.New(slog.DiscardHandler), Sources: sources, Language: English}
	return env.On(sources.Main())
}

func run(t *testing.T, env *Env, name, args string) Result {
	t.Helper()
	res, err := all.Find(name).Run(t.Context(), env, json.RawMessage(args))
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return res
}

func TestSurvey(t *testing.T) {
	env := surveyEnv(t, rulers, nil)
	for _, tt := range []struct{ tool, args, want string }{
		{StatementsName, `{"id":"Tar (Q1)","property":"P39"}`, `Tar@de (Q1), position (P39): 4 statements
- King of Tarland (Q10) [preferred]
    start (P580): 1 January 1901
    reference: stated in (P248): book (Q11)
- (unknown value)
- (no value)
- Q12 (no label) [deprecated]`},
		{StatementsName, `{"id":"Q2","property":"P580"}`, `Tor (Q2) has no statement of start (P580).`},
		{HierarchyName, `{"id":"Q2"}`, `Tor (Q2)
  is a human (Q5)
    a kind of living being (Q7)
      a kind of Q8 (no label)
        a kind of living being (Q7) (its wider classes are shown above)`},
		{HierarchyName, `{"id":"Q5","depth":1}`, `human (Q5)
  a kind of living being (Q7)
Narrower classes: king (Q9)
Direct members: 3`},
		{HierarchyName, `{"id":"Q10"}`, "King of Tarland (Q10)\n  (no class is known)"},
		{LabelsName, `{"ids":["Q1","Q2","Q3"],"languages":["en"]}`, "Q1: no label in en\nQ2: Tor@en\nQ3: no label in en"},
		{LabelsName, `{"ids":["Q2","Q3"]}`, "Q2: Thor@de, Tor@en\nQ3 (no label)"},
		{ProfileName, `{"property":"P39"}`, `position (P39): 5 statements
ranks: normal 60%, deprecated 20%, preferred 20%
without a value: no value 20%, unknown value 20%
qualifiers: start (P580) 20%
with a reference: 20%
examples: Tar@de (Q1) → King of Tarland (Q10); Tar@de (Q1) → Q12 (no label); Tar@de (Q1) → (unknown value)`},
		{ProfileName, `{"property":"P569","of":"?x wdt:P31 wd:Q5"}`, `P569 (no label): 1 statement
ranks: normal 100%
precision of times: year 100%
qualifiers: none
with a reference: none
examples: Tar@de (Q1) → 1 January 1880`},
		{ProfileName, `{"property":"P569","of":"Q11"}`, "P569 (no label) has no statements there."},
		{ProfileName, `{"of":"?o ^wdt:P39 ?item"}`, `2 things
members have
  P31 100%
  position (P39) 100%
  P569 [p only] 50% ?
classes: human (Q5) 100%
examples: Tar@de (Q1), Tor (Q2)`},
		{ProfileName, `{"of":"Q11"}`, "Nothing fits Q11: no thing is found by it."},
	} {
		res := run(t, env, tt.tool, tt.args)
		if d := cmp.Diff(tt.want, res.Text); d != "" || res.Failure != "" {
			t.Errorf("%s %s: %s (-want +got):\n%s", tt.tool, tt.args, res.Failure, d)
		}
	}
}

func TestFind(t *testing.T) {
	env := surveyEnv(t, rulers, nil)
	res := run(t, env, FindName, `{"names":["tor","position","of tarland","dragon"]}`)
	want := `"tor":
  Tor (Q2): human
  Tor (Q6): city
  Tor (Q4): painting by Tar
"position":
  property position (P39)	Data Type: wikibase-item (5 uses)
"of tarland":
  King of Tarland (Q10) (4 uses)
"dragon": nothing found`
	if d := cmp.Diff(want, res.Text); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestHeldBack checks that an exact hit is shown with three others, and that works, external identifiers and hits
// without a label are hidden.
func TestHeldBack(t *testing.T) {
	hit := func(id, label, description, datatype string) kg.Hit {
		return kg.Hit{ID: id, Label: label, Description: description, Datatype: datatype}
	}
	many := func(n int) (out []kg.Hit) {
		for i := range n {
			out = append(out, hit("Q"+string(rune('a'+i)), "ImageNet", "", ""))
		}
		return out
	}
	ids := func(hits []kg.Hit) string {
		var s []string
		for _, h := range hits {
			s = append(s, h.ID)
		}
		return strings.Join(s, " ")
	}
	for name, tt := range map[string]struct {
		hits     []kg.Hit
		text     string
		external bool
		want     string
	}{
		"exact": {append(many(8), hit("Q1", "image", "", "")), "Image", false, "Q1 Qa Qb Qc"},
		"none":  {many(8), "Image", false, "Qa Qb Qc Qd Qe Qf"},
		"works": {[]kg.Hit{hit("Q1", "tennis player A", "painting by X", ""), hit("Q2", "tennis player B",
			"1903 painting", ""), hit("Q3", "tennis player C", "person", "")}, "tennis", false, "Q3 Q1"},
		"ids": {[]kg.Hit{hit("P1", "Australia X ID", "", "external-id"), hit("P2", "Australian", "", "string")},
			"Australia", false, "P2"},
		"only ids": {[]kg.Hit{hit("P1", "Zed lexicon", "", "external-id")}, "Zed", false, "P1"},
		"ids named": {[]kg.Hit{hit("P1", "IMDb ID", "", "external-id"), hit("P2", "IMDb", "", "string")}, "imdb id",
			false, "P1 P2"},
		"ids requested": {[]kg.Hit{hit("P1", "IMDb ID", "", "external-id"), hit("P2", "imdb", "", "string")}, "imd", true,
			"P1 P2"},
		"fillers": {[]kg.Hit{hit("Q1", "king of", "", ""), hit("Q2", "Germania", "", ""), hit("Q3", "the land", "",
			"")}, "the Germany of", false, "Q2"},
		"fillers alone": {[]kg.Hit{hit("Q1", "king of", "", "")}, "of the", false, "Q1"},
		"meaning":       {[]kg.Hit{{ID: "P57", Label: "director", MatchType: kg.ByMeaning}}, "who made it", false, "P57"},
		"no label":      {[]kg.Hit{hit("Q1", "", "thing", ""), hit("Q2", "tennis", "", "")}, "ten", false, "Q2"},
	} {
		if got := ids(heldBack(tt.hits, tt.text, tt.external)); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestStatementWithoutItsValue checks that a statement is shown even if a graph contains its qualifiers but not its
// value, as an incomplete copy may.
func TestStatementWithoutItsValue(t *testing.T) {
	env := surveyEnv(t, rulers+`wd:Q2 p:P26 wds:g . wds:g pq:P580 "1901-01-01T00:00:00Z"^^xsd:dateTime .`, nil)
	want := "Tor (Q2), P26 (no label): 1 statement\n- (its value is not in this graph)\n    start (P580): 1 January 1901"
	if got := run(t, env, StatementsName, `{"id":"Q2","property":"P26"}`); got.Text != want {
		t.Errorf("%s got\n%s\nwant\n%s", got.Failure, got.Text, want)
	}
}

func TestSurveyOnAnyGraph(t *testing.T) {
	d := &kg.Description{Name: "firms", Statements: kg.Plain, Prefixes: map[string]string{"c": "http://example.org/c/"},
		Types:    []string{"rdf:type"},
		Subclass: "rdfs:subClassOf", Labels: []string{"rdfs:label"}}
	env := surveyEnv(t, `@prefix c: <http://example.org/c/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
		c:Firm rdfs:subClassOf c:Body ; rdfs:label "Firma"@de . c:f1 a c:Firm ; c:seat c:t1 , "Bonn" ; c:address [ c:street "Weg" ; c:no 3 ] . c:f2 a c:Firm .`, d)
	for _, tt := range []struct{ tool, args, want string }{
		{StatementsName, `{"id":"c:f1","property":"c:seat"}`,
			"c:f1 (no label), c:seat (no label): 2 statements\n- c:t1 (no label)\n- Bonn"},
		{StatementsName, `{"id":"c:f1","property":"c:address"}`,
			"c:f1 (no label), c:address (no label): 1 statement\n- []\n    c:no (no label): 3\n    c:street (no label): Weg"},
		{HierarchyName, `{"id":"<http://example.org/c/f1>"}`,
			"c:f1 (no label)\n  is a Firma@de (c:Firm)\n    a kind of c:Body (no label)"},
		{ProfileName, `{"property":"c:seat"}`, "c:seat (no label): 2 statements\nvalues: string 50%\nexamples: c:f1 (no label) → c:t1 (no label); c:f1 (no label) → Bonn"},
	} {
		if got := run(t, env, tt.tool, tt.args); got.Text != tt.want {
			t.Errorf("%s %s: %s got\n%s\nwant\n%s", tt.tool, tt.args, got.Failure, got.Text, tt.want)
		}
	}
}

func TestRowsTool(t *testing.T) {
	env := surveyEnv(t, rulers, nil)
	table := &kg.Table{Vars: []string{"n"}}
	for _, s := range []string{"one", "two", "three"} {
		table.Rows = append(table.Rows, []rdf.Term{rdf.String(s)})
	}
	env.Table = func(n int) *kg.Table {
		return map[int]*kg.Table{1: table, 2: {Ask: true}}[n]
	}
	for args, want := range map[string]string{
		`{"step":1}`:                     "Rows 1 to 3 of the 3 of step 1:\n3 rows\nn\n[text]\none\ntwo\nthree",
		`{"step":1,"from":2,"count":1}`:  "Rows 2 to 2 of the 3 of step 1:\n1 row\nn\n[text]\ntwo",
		`{"step":1,"from":4}`:            "has 3 rows",
		`{"step":2}`:                     "truth value",
		`{"step":9}`:                     "step 9 has no result",
		`{"step":1,"from":0}`:            "at least 1",
		`{"step":1,"from":1,"count":-1}`: "at least 1",
	} {
		if got := run(t, env, RowsName, args).Text; !strings.Contains(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", args, got, want)
		}
	}
}

// TestSurveyBadArguments checks that the model's mistakes are explained in a way that it can act on, and that the graph
// is not queried.
func TestSurveyBadArguments(t *testing.T) {
	env := surveyEnv(t, rulers, nil)
	asked := 0
	env.Graph = countingGraph{env.Graph, &asked}
	env.Sources[0].Graph = env.Graph
	long := strings.Repeat("x", 300)
	for _, tt := range []struct{ tool, args, want string }{
		{FindName, `{"names":[]}`, "names is empty"},
		{FindName, `{"names":["a","a","a","a","a","a","a","a","a","a","a"]}`, "too many"},
		{FindName, `{"names":["` + long + `"]}`, "too long"},
		{FindName, `{"names":["a"],"type":"lexeme"}`, "one of item, property"},
		{FindName, `{"names":["a"],"kg":"dbpedia"}`, `no graph "dbpedia"`},
		{ProfileName, `{}`, "name a class or a pattern"},
		{ProfileName, `{"of":"cities"}`, "names nothing in this graph"},
		{ProfileName, `{"of":"?x wdt:P31"}`, "Syntax error"},
		{ProfileName, `{"of":"?x wdt:P31 wd:Q5 } INSERT DATA { <a:a> <a:a> <a:a>"}`, "error"},
		{ProfileName, `{"of":"SERVICE <http://evil.example/> { ?x ?y ?z }"}`, "refused"},
		{ProfileName, `{"property":"Q5"}`, "not a property"},
		{StatementsName, `{"id":"Q1","property":"name"}`, "names nothing"},
		{StatementsName, `{"id":"Q1","property":"P39","page":0}`, "at least 1"},
		{HierarchyName, `{"id":"<http://x> . ?s ?p ?o"}`, "names nothing"},
		{LabelsName, `{"ids":[]}`, "ids is empty"},
		{LabelsName, `{"ids":["Q1"],"languages":["\") . ?s ?p ?o"]}`, "not a language code"},
	} {
		if got := run(t, env, tt.tool, tt.args); !strings.Contains(got.Text, tt.want) || got.Failure == "" {
			t.Errorf("%s %s: %q, want %q", tt.tool, tt.args, got.Text, tt.want)
		}
	}
	if asked > 0 {
		t.Errorf("the graph was queried %d times", asked)
	}
}

type countingGraph struct {
	Graph
	n *int
}

func (g countingGraph) Query(ctx context.Context, q string) (*kg.Table, error) {
	*g.n++
	return g.Graph.Query(ctx, q)
}

// TestSurveyFromText checks that the text protocol's single argument may be a JSON object or parts separated by bars.
func TestSurveyFromText(t *testing.T) {
	for _, tt := range []struct{ tool, text, want string }{
		{FindName, "Danube | head of government", `{"names":["Danube","head of government"]}`},
		{FindName, `{"names":["a"],"type":"item"}`, `{"names":["a"],"type":"item"}`},
		{ProfileName, "?item wdt:P31 wd:Q5", `{"of":"?item wdt:P31 wd:Q5"}`},
		{ProfileName, "?item wdt:P31|wdt:P106 wd:Q5 | P39", `{"of":"?item wdt:P31|wdt:P106 wd:Q5","property":"P39"}`},
		{ProfileName, " | P39", `{"property":"P39"}`},
		{StatementsName, "Q42 | P39 | 2", `{"id":"Q42","page":2,"property":"P39"}`},
		{RowsName, "3 | 26", `{"from":26,"step":3}`},
		{LabelsName, "Q1|Q2", `{"ids":["Q1","Q2"]}`},
		{HierarchyName, "Q5", `{"id":"Q5"}`},
	} {
		if got := string(all.Find(tt.tool).Arguments(tt.text)); got != tt.want {
			t.Errorf("%s(%s): %s", tt.tool, tt.text, got)
		}
		if err := all.Find(tt.tool).Check(all.Find(tt.tool).Arguments(tt.text)); err != nil {
			t.Errorf("%s(%s): %v", tt.tool, tt.text, err)
		}
	}
	if err := all.Find(RowsName).Check(all.Find(RowsName).Arguments("the third")); err == nil {
		t.Error("nonsense was accepted")
	}
}
