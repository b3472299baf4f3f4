package reply

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func TestHeaders(t *testing.T) {
	labels := map[string]string{"P2044": "Höhe über dem Meeresspiegel", "P36": "Hauptstadt", "Q8502": "Berg", "P279": "Unterklasse von",
		"P580": "Startzeitpunkt", "P31": "ist ein(e)", "P22": "Vater", "P25": "Mutter"}
	for query, want := range map[string]string{
		`SELECT ?m ?h { ?m wdt:P31 wd:Q8502 ; wdt:P2044 ?h }`:                              "Berg, Höhe über dem Meeresspiegel",
		`SELECT ?m ?h { ?m wdt:P31/wdt:P279* wd:Q8502 . OPTIONAL { ?m wdt:P2044 ?h } }`:    "Berg, Höhe über dem Meeresspiegel",
		`SELECT (COUNT(DISTINCT ?m) AS ?c) { ?m wdt:P31 wd:Q8502 }`:                        "Anzahl",
		`SELECT (COUNT(DISTINCT ?m) AS ?anzahl) (COUNT(?l) AS ?länder) { ?m wdt:P17 ?l }`:  "Anzahl, Länder",
		`SELECT ?birthPlace ?start_time { ?birthPlace p:P39 [ pq:P580 ?s ] }`:              "Birth Place, Start Time",
		`SELECT ?p ?from { ?p p:P39 ?s . ?s pq:P580 ?from }`:                               "p, Startzeitpunkt",
		`SELECT ?ancestor { wd:Q1 (wdt:P22|wdt:P25)+ ?ancestor }`:                          "Ancestor",
		`SELECT ?a ?b { ?a wdt:P36 ?b . ?b wdt:P36 ?a }`:                                   "a, b", // both would be called "Hauptstadt"
		`SELECT ?x ?y { { SELECT ?x { wd:Q1 wdt:P36 ?x } } wd:Q1 wdt:P999 ?y }`:            "Hauptstadt, y",
		`SELECT ?itemLabel { ?item rdfs:label ?itemLabel }`:                                "Item",
		`SELECT ?anzahlKinder ?letzte_wahl { wd:Q1 wdt:P999 ?anzahlKinder, ?letzte_wahl }`: "Anzahl Kinder, Letzte Wahl",
		`SELECT ?x { not a query`: "x",
	} {
		_, projection, _ := strings.Cut(query, "SELECT ")
		projection, _, _ = strings.Cut(projection, "{")
		var vars []string
		for _, w := range strings.Fields(strings.NewReplacer("(COUNT(DISTINCT ?m) AS", "", "(COUNT(?l) AS", "", ")", "").Replace(projection)) {
			vars = append(vars, strings.TrimPrefix(w, "?"))
		}
		got := strings.Join(headers(&agent.Answer{SPARQL: query, Labels: labels}, vars, "de"), ", ")
		if got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// In English, the query's name for an item is better than the name of its class: "person" rather than "human".
// The model's own headers come first.
func TestHeadersOfTheModel(t *testing.T) {
	for _, query := range []string{"SELECT ?m ?h { ?m wdt:P2044 ?h }", "not SPARQL"} {
		a := &agent.Answer{SPARQL: query, Headers: map[string]string{"m": "Gipfel"}, Labels: map[string]string{"P2044": "Höhe"}}
		if got := headers(a, []string{"m", "h"}, "de"); got[0] != "Gipfel" || got[1] == "" || got[1] == "Gipfel" {
			t.Errorf("%s: %q", query, got)
		}
	}
}

func TestHeadersInEnglish(t *testing.T) {
	a := &agent.Answer{SPARQL: `SELECT ?person ?item { ?person wdt:P31 wd:Q5 . ?item wdt:P31 wd:Q5 }`, Labels: map[string]string{"Q5": "human"},
		Table: &kg.Table{Vars: []string{"person", "item"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1"), rdf.IRI(rdf.Entity + "Q2")}}}}
	if got := strings.Join(headers(a, a.Table.Vars, "en"), ", "); got != "person, human" {
		t.Error(got)
	}
}

// In other languages, this is done for people, if the query's name is a word of that language.
func TestHeadersOfPeople(t *testing.T) {
	for name, want := range map[string]string{"komponist": "Komponist", "person": "Person", "composer": "Mensch", "item": "Mensch", "x": "Mensch"} {
		a := &agent.Answer{SPARQL: "SELECT ?" + name + " { ?" + name + " wdt:P31 wd:Q5 }", Labels: map[string]string{"Q5": "Mensch"}}
		if got := strings.Join(headers(a, []string{name}, "de"), ", "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func pairs(ids ...string) *forum.Reply {
	r := &forum.Reply{Vars: []string{"a", "b"}, Total: len(ids) / 2}
	for i := 0; i < len(ids); i += 2 {
		r.Rows = append(r.Rows, []forum.Cell{{ID: ids[i]}, {ID: ids[i+1]}})
	}
	return r
}

func TestTree(t *testing.T) {
	for name, tt := range map[string]struct {
		r    *forum.Reply
		want string
	}{
		"below a root":     {pairs("Q2", "Q1", "Q3", "Q1", "Q4", "Q2"), "Q1 -Q2 --Q4 -Q3"},
		"parent first":     {pairs("Q1", "Q2", "Q2", "Q4", "Q1", "Q3"), "Q1 -Q2 --Q4 -Q3"},
		"two roots":        {pairs("Q2", "Q1", "Q3", "Q2", "Q5", "Q4"), "Q1 -Q2 --Q3 Q4 -Q5"},
		"flat":             {pairs("Q2", "Q1", "Q3", "Q1", "Q4", "Q1"), ""},
		"two parents":      {pairs("Q3", "Q1", "Q3", "Q2", "Q4", "Q3", "Q5", "Q1"), ""},
		"a circle":         {pairs("Q1", "Q2", "Q2", "Q3", "Q3", "Q1"), ""},
		"a circle besides": {pairs("Q2", "Q1", "Q3", "Q2", "Q5", "Q6", "Q6", "Q5"), ""},
		"too deep":         {pairs("Q2", "Q1", "Q3", "Q2", "Q4", "Q3", "Q5", "Q4", "Q6", "Q5", "Q7", "Q6"), ""},
		"too few":          {pairs("Q2", "Q1", "Q3", "Q2"), ""},
	} {
		var got []string
		for _, i := range tree(tt.r) {
			got = append(got, strings.Repeat("-", i.Depth)+i.ID)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", name, got, tt.want)
		}
	}
	cut := pairs("Q2", "Q1", "Q3", "Q1", "Q4", "Q2")
	cut.Total = 50
	if tree(cut) != nil {
		t.Error("a part of the result as a tree")
	}
	wider := pairs("Q2", "Q1", "Q3", "Q1", "Q4", "Q2")
	wider.NoValues = []string{"start"}
	if tree(wider) != nil {
		t.Error("a table without its empty column as a tree")
	}
}

func TestCell(t *testing.T) {
	for in, want := range map[rdf.Term]forum.Cell{
		rdf.IRI(rdf.Entity + "Q42"):                                         {ID: "Q42", Label: "Douglas Adams"},
		rdf.Typed("1952-03-11T00:00:00Z", rdf.XSDDateTime):                  {Text: "1952-03-11", Kind: "day"},
		rdf.Typed("1952-01-01T00:00:00Z", rdf.XSDDateTime):                  {Text: "1952", Kind: "year"},
		rdf.Typed("-0043-03-15T00:00:00Z", rdf.XSDDateTime):                 {Text: "-0043-03-15", Kind: "day"},
		rdf.Typed("-0009-01-01T00:00:00Z", rdf.XSDDateTime):                 {Text: "-9", Kind: "year"},
		rdf.Typed("8315.65111111111111111111", rdf.XSDDecimal):              {Text: "8315.65", Kind: "number"},
		rdf.Typed("-1.2345678E1", rdf.XSDDouble):                            {Text: "-12.3457", Kind: "number"},
		rdf.Typed("1.0E7", rdf.XSDDouble):                                   {Text: "10000000", Kind: "number"},
		rdf.Typed("0.00000001234", rdf.XSDDecimal):                          {Text: "0.00000001234", Kind: "number"},
		rdf.Typed("INF", rdf.XSDDouble):                                     {Text: "INF", Kind: "number"},
		rdf.Typed("Point(2.351388888 -48.85694444)", "http://x/wktLiteral"): {Text: "-48.8569 2.3514", Kind: "place"},
		rdf.IRI(rdf.Entity + "L1883"):                                       {ID: "L1883"},
		rdf.IRI("http://www.wikidata.org/.well-known/genid/0f3c"):           {Kind: "unknown"},
		rdf.Blank("t12"): {Kind: "unknown"},
		rdf.Typed("1952-03-11T10:00:00Z", rdf.XSDDateTime):                                 {Text: "1952-03-11T10:00:00Z"},
		rdf.Typed("8848.86", rdf.XSDDecimal):                                               {Text: "8848.86", Kind: "number"},
		rdf.Typed("Point(12.5 -41.9)", "http://www.opengis.net/ont/geosparql#wktLiteral"):  {Text: "-41.9 12.5", Kind: "place"},
		rdf.IRI("http://commons.wikimedia.org/wiki/Special:FilePath/Sch%C3%B6n%20a_b.jpg"): {Text: "Schön a b.jpg", Kind: "file"},
		rdf.IRI("https://de.wikipedia.org/wiki/%C3%96ster_reich"):                          {Text: "de:Öster reich", Kind: "article"},
		rdf.IRI("https://be-tarask.wikipedia.org/wiki/X"):                                  {Text: "be-tarask:X", Kind: "article"},
		rdf.IRI("https://de.wikipedia.org/wiki/X?action=delete"):                           {Text: "de.wikipedia.org/wiki/X?action=delete", Kind: "address"},
		rdf.IRI("http://wikiba.se/ontology#DeprecatedRank"):                                {Text: "deprecated", Kind: "rank"},
		rdf.IRI("http://wikiba.se/ontology#ExternalId"):                                    {Text: "wikibase:ExternalId", Kind: "address"},
		rdf.IRI("http://www.w3.org/2001/XMLSchema#decimal"):                                {Text: "xsd:decimal", Kind: "address"},
		rdf.IRI("https://www.example.org/"):                                                {Text: "example.org", Kind: "address"},
		rdf.IRI("urn:x"):                                                                   {Text: "urn:x", Kind: "address"},
		rdf.String("007"):                                                                  {Text: "007"},
	} {
		if got := cell(in, map[string]string{"Q42": "Douglas Adams"}); got != want {
			t.Errorf("%v: %+v, want %+v", in, got, want)
		}
	}
}

func TestSteps(t *testing.T) {
	out := &agent.Outcome{Answer: &agent.Answer{Labels: map[string]string{"Q1008": "Elfenbeinküste", "Q3768": "Yamoussoukro"}}, Steps: []agent.Step{
		{Action: "look_up_question", Argument: "{}", Observation: "Ivory Coast (Q1008), country in West Africa\nP36 capital: Yamoussoukro (Q3768)\nIvory@pt (Q2), film"},
		{Action: "search_wikidata", Argument: "Ivory Coast", Observation: "Nothing was found.", Thought: "secret"},
		{Action: "find", Argument: `{"names": ["Abidjan"], "type": "item"}`, Observation: "Abidjan (Q1515)\nAbidjan (Q9), film\nYamoussoukro (Q3768)\n  property seat (P159): city, unlike Q1008"},
		{Action: "look", Argument: `{"ids": ["P159"]}`, Observation: "property seat (P159)"},
		{Action: "get_wikidata_entry", Argument: "Q1008", Observation: "x"},
		{Action: "look", Argument: `{"ids": ["Q3768"]}`, Observation: "Yamoussoukro (Q3768): city"},
		{Action: "query", Argument: `{"sparql": "SELECT * {}"}`, Rows: 3},
		{Action: "query", Argument: `{"sparql": "ASK {}"}`, Failure: "timeout"},
		{Action: "query", Argument: `{"sparql": "ASK {}"}`},
		{Action: "new_tool"}, {Action: "finish", Argument: `{"answer": "Yes."}`},
	}}
	ivory, capital := forum.Cell{ID: "Q1008", Label: "Elfenbeinküste"}, forum.Cell{ID: "Q3768", Label: "Yamoussoukro"}
	seat := forum.Cell{ID: "P159", Label: "seat"}
	want := []forum.Step{
		{Kind: forum.StepNames, Things: []forum.Cell{ivory, capital}}, // the film is not part of the answer
		{Kind: forum.StepSearch, Text: "Ivory Coast"},
		{Kind: forum.StepSearch, Text: "Abidjan", Things: []forum.Cell{capital, seat}}, // the others were not used
		{Kind: forum.StepLook, Things: []forum.Cell{seat}},
		{Kind: forum.StepLook, Things: []forum.Cell{ivory}},
		{Kind: forum.StepLook, Things: []forum.Cell{capital}},
		{Kind: forum.StepQuery, Rows: 3, Query: "SELECT * {}"}, {Kind: forum.StepQuery, Failed: true, Ask: true, Query: "ASK {}"},
		{Kind: forum.StepQuery, Ask: true, Query: "ASK {}"}, {Kind: forum.StepOther, Text: "new_tool"},
	}
	if d := cmp.Diff(want, steps(out)); d != "" {
		t.Error(d)
	}
	// An ID is shown with the label that any observation has; "no label" is not one.
	out = &agent.Outcome{Steps: []agent.Step{
		{Action: "find", Argument: `{"names": ["Peru"]}`, Observation: "- Peru (Q419), country"},
		{Action: "look", Argument: `{"ids": ["Q419", "Q7"]}`, Observation: "Q7 (no label)"},
	}}
	if got := steps(out); len(got) != 2 || got[1].Things[0].Label != "Peru" || got[1].Things[1].Label != "" {
		t.Errorf("%+v", got)
	}
	// If there is no answer, the reply shows only the looked-up entities that the model used afterward.
	out = &agent.Outcome{Steps: []agent.Step{
		{Action: "look_up_question", Argument: "{}", Observation: "Jean Urvoy (Q14637437), painter\nBMW (Q26678), company"},
		{Action: "query", Argument: `{"sparql": "SELECT ?w { ?w wdt:P170 wd:Q14637437 }"}`},
	}}
	if got := steps(out); len(got) != 2 || len(got[0].Things) != 1 || got[0].Things[0].ID != "Q14637437" {
		t.Errorf("%+v", got)
	}
	for _, k := range stepKinds {
		if !slices.Contains([]string{"", forum.StepNames, forum.StepSearch, forum.StepLook, forum.StepQuery}, k) {
			t.Errorf("kind %q", k)
		}
	}
}

// The step that ran the answer's query is marked, even if labels were added to the query later.
func TestStepOfTheAnswer(t *testing.T) {
	out := &agent.Outcome{Answer: &agent.Answer{
		SPARQL: "SELECT ?r ?rLabel WHERE { ?r wdt:P31 wd:Q4022 . SERVICE wikibase:label { bd:serviceParam wikibase:language \"[AUTO_LANGUAGE],mul,en\" . } }",
		Table:  &kg.Table{Vars: []string{"r", "rLabel"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q584"), rdf.String("Rhine")}}}},
		Steps: []agent.Step{{Action: "query", Argument: `{"sparql": "SELECT ?r { ?r wdt:P31 wd:Q4022 }"}`, Rows: 1},
			{Action: "query", Argument: `{"sparql": "SELECT ?r { ?r wdt:P31 wd:Q8502 }"}`, Rows: 1}}}
	if got := steps(out); len(got) != 2 || !got[0].Answer || got[1].Answer {
		t.Errorf("%+v", got)
	}
	out.Answer.SPARQL = "SELECT ?r { ?r wdt:P31 wd:Q4022 ; wdt:P17 wd:Q183 }" // never run as a step
	if got := steps(out); len(got) != 3 || !got[2].Answer || got[2].Rows != 1 {
		t.Errorf("%+v", got)
	}
}

// The step that ran the answer's query has as many rows as the table, which shows duplicate rows once.
func TestStepsCountEqualRowsOnce(t *testing.T) {
	row := []rdf.Term{rdf.IRI(rdf.Entity + "Q584")}
	out := &agent.Outcome{Answer: &agent.Answer{SPARQL: "#defaultView:Map\nSELECT ?r WHERE {\n  ?r wdt:P31 wd:Q4022 . # river\n}",
		Table: &kg.Table{Vars: []string{"r"}, Rows: [][]rdf.Term{row, row, {rdf.IRI(rdf.Entity + "Q1653")}}}}, Steps: []agent.Step{
		{Action: "query", Argument: `{"sparql": "SELECT ?r { ?r wdt:P31 wd:Q4022 }"}`, Rows: 3},
		{Action: "query", Argument: `{"sparql": "SELECT ?r { ?r wdt:P31 wd:Q12284 }"}`, Rows: 3},
	}}
	if got := steps(out); got[0].Rows != 2 || got[1].Rows != 3 {
		t.Errorf("%+v", got)
	}
}

// A variable bound to the first of several values with the same property is named after it.
func TestAlternatives(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT ?x { ?a wdt:P625 ?b . ?c wdt:P625 ?d BIND(COALESCE(?b, ?d) AS ?x) }": "coordenadas",
		"SELECT ?x { ?a wdt:P625 ?b . ?c wdt:P36 ?d BIND(COALESCE(?b, ?d) AS ?x) }":  "x",
		"SELECT ?x { ?a wdt:P625 ?b BIND(STR(?b) AS ?x) }":                           "x",
	} {
		a := &agent.Answer{SPARQL: query, Labels: map[string]string{"P625": "coordenadas", "P36": "capital"}}
		if got := derived(a, []string{"x"}, "pt"); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q", query, got)
		}
	}
}

// Coordinates have a header in the reply's language, even if the property's label is English.
func TestCoordinates(t *testing.T) {
	a := &agent.Answer{SPARQL: "SELECT ?land ?coord { ?land wdt:P625 ?coord }", Labels: map[string]string{"P625": "coordinate location"},
		Table: &kg.Table{Vars: []string{"land", "coord"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1"), {}},
			{rdf.IRI(rdf.Entity + "Q2"), rdf.Typed("Point(1 2)", rdf.GeoWKT)}}}}
	if got := derived(a, a.Table.Vars, "nl"); got[1] != "Coördinaten" {
		t.Errorf("%q", got)
	}
}

// An item without a label gets the one in its label column.
func TestLabelFromColumn(t *testing.T) {
	a := &agent.Answer{SPARQL: "SELECT ?x ?xLabel ?n { ?x wdt:P1082 ?n }", Labels: map[string]string{"Q1": "one"},
		Table: &kg.Table{Vars: []string{"x", "xLabel", "n"}, Rows: [][]rdf.Term{
			{rdf.IRI(rdf.Entity + "Q1"), rdf.String("one"), rdf.String("1")}, {rdf.IRI(rdf.Entity + "Q2"), rdf.String("two"), rdf.String("2")},
			{rdf.IRI(rdf.Entity + "Q3"), rdf.String("Q3"), rdf.String("3")}}}}
	r := New(&agent.Outcome{Language: "en", Answer: a}, "A", "", "")
	if len(r.Vars) != 2 || r.Rows[1][0].Label != "two" || r.Rows[2][0].Label != "" {
		t.Errorf("%v %+v", r.Vars, r.Rows)
	}
}

// Derived headers are capitalized if the model's are.
func TestCapitalizedHeaders(t *testing.T) {
	for header, want := range map[string]string{"Founder": "Founders there", "founder": "founders there", "": "founders there"} {
		a := &agent.Answer{SPARQL: "SELECT ?x ?foundersThere { }", Headers: map[string]string{"x": header}}
		if got := headers(a, []string{"x", "foundersThere"}, "en"); got[1] != want {
			t.Errorf("%q: %q", header, got)
		}
	}
}

// A step is left out if the next one looks at the same things and more.
func TestWithoutParts(t *testing.T) {
	look := func(ids ...string) (s forum.Step) {
		s.Kind = forum.StepLook
		for _, id := range ids {
			s.Things = append(s.Things, forum.Cell{ID: id})
		}
		return s
	}
	query := forum.Step{Kind: forum.StepQuery}
	got := withoutParts([]forum.Step{look("Q1"), look("Q1", "P31"), look("Q2"), query, look("Q2", "P31"), look("Q2")})
	want := []forum.Step{look("Q1", "P31"), look("Q2"), query, look("Q2", "P31"), look("Q2")}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
