package annotate

import (
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

var testNames = map[string]Name{
	"Q5": {Label: "human"}, "Q183": {Label: "Germany", Aliases: []string{"Federal Republic of Germany"}},
	"Q8502": {Label: "mountain"}, "Q843": {Label: "Pakistan"}, "Q11424": {Label: "film"},
	"Q90": {Label: "Paris"}, "Q9439": {Label: "Queen Victoria"}, "Q64": {Label: "Berlin"},
	"P31": {Label: "instance of"}, "P17": {Label: "country"}, "P2044": {Label: "elevation above sea level"},
	"P19": {Label: "place of birth"},
	"P27": {Label: "country of citizenship"}, "P36": {Label: "capital"}, "P47": {Label: "shares border with"},
	"P57": {Label: "director"}, "P569": {Label: "date of birth"}, "P570": {Label: "date of death"},
	"P915": {Label: "filming location"},
	"P22":  {Label: "father"}, "P1082": {Label: "population"}, "P18": {Label: "image"},
	"P2541": {Label: "operating area"}, "P1923": {Label: "participating team"},
}

// Each case tests one rule with a question that satisfies it and one that does not. want lists the distinct kinds of
// open remarks in alphabetical order.
func TestCompare(t *testing.T) {
	for _, c := range []struct{ name, query, question, want string }{
		{"entity said", `SELECT ?c WHERE { wd:Q183 wdt:P47 ?c }`, "Which countries border Germany? Return each c.", ""},
		{"entity by alias", `SELECT ?capital WHERE { wd:Q183 wdt:P36 ?capital }`,
			"What is the capital of the Federal Republic of Germany?", ""},
		{"entity not said", `SELECT ?capital WHERE { wd:Q183 wdt:P36 ?capital }`, "What is the capital?", "entity"},
		{"plural and other forms", `SELECT ?mountain WHERE { ?mountain wdt:P31 wd:Q8502 ; wdt:P17 wd:Q843 }`,
			"Which mountains are in Pakistan?", ""},
		{"accents and case", `SELECT ?mountain WHERE { ?mountain wdt:P31 wd:Q8502 ; wdt:P17 wd:Q843 }`,
			"List the MOUNTAINS of Pákistan.", ""},
		{"limit and order said", `SELECT ?mountain WHERE { ?mountain wdt:P31 wd:Q8502 ; wdt:P2044 ?h } ORDER BY DESC(?h) LIMIT 10`, "What are the ten highest mountains?", ""},
		{"limit and order not said", `SELECT ?mountain WHERE { ?mountain wdt:P31 wd:Q8502 ; wdt:P2044 ?h } ORDER BY DESC(?h) LIMIT 10`, "Which mountains have an elevation?", "limit order"},
		{"number with comma", `SELECT ?mountain WHERE { ?mountain wdt:P31 wd:Q8502 ; wdt:P2044 ?h . FILTER(?h > 8000) }`,
			"Which mountains are higher than 8,000 metres?", ""},
		{"number in words", `SELECT ?city WHERE { ?city wdt:P17 wd:Q183 ; wdt:P1082 ?p . FILTER(?p > 1500000) }`,
			"Which city in Germany has more than 1.5 million inhabitants?", ""},
		{"number not said", `SELECT ?mountain WHERE { ?mountain wdt:P31 wd:Q8502 ; wdt:P2044 ?h . FILTER(?h > 8000) }`,
			"Which mountains are higher than others?", "value"},
		{"comparison not said", `SELECT ?mountain WHERE { ?mountain wdt:P31 wd:Q8502 ; wdt:P2044 ?h . FILTER(?h > 8000) }`,
			"Which mountains have a height of 8000 m?", "compare"},
		{"date said", `SELECT ?human WHERE { ?human wdt:P31 wd:Q5 ; wdt:P569 ?b . FILTER(?b < "1990-10-03T00:00:00Z"^^xsd:dateTime) }`, "Which people were born before 3 October 1990?", ""},
		{"date by halves", `SELECT ?human WHERE { ?human wdt:P31 wd:Q5 ; wdt:P569 ?b . FILTER(?b < "1990-10-03T00:00:00Z"^^xsd:dateTime) }`, "Which people were born before October 1990?", "date"},
		{"the year of a first of January", `SELECT ?human WHERE { ?human wdt:P31 wd:Q5 ; wdt:P569 ?b . FILTER(?b >= "1801-01-01"^^xsd:dateTime) }`, "Who was born in the 19th century or since?", ""},
		{"count said", `SELECT (COUNT(?m) AS ?n) WHERE { ?m wdt:P31 wd:Q8502 }`, "How many mountains are there?", ""},
		{"count not said", `SELECT (COUNT(?m) AS ?n) WHERE { ?m wdt:P31 wd:Q8502 }`, "Which mountains are there?",
			"aggregate"},
		{"groups said", `SELECT ?country (COUNT(?m) AS ?n) WHERE { ?m wdt:P31 wd:Q8502 ; wdt:P17 ?country } GROUP BY ?country`, "How many mountains are in each country?", ""},
		{"groups not said", `SELECT ?country (COUNT(?m) AS ?mountains) WHERE { ?m wdt:P31 wd:Q8502 ; wdt:P17 ?country } GROUP BY ?country`, "Which country has a mountain count?", "group"},
		{"average", `SELECT (AVG(?h) AS ?height) WHERE { ?m wdt:P31 wd:Q8502 ; wdt:P2044 ?h }`,
			"How high are mountains?", "aggregate"},
		{"optional said", `SELECT ?human ?died WHERE { ?human wdt:P19 wd:Q64 OPTIONAL { ?human wdt:P570 ?died } }`,
			"Which human was born in Berlin, and when did they die, if known?", ""},
		{"optional not said", `SELECT ?human ?died WHERE { ?human wdt:P19 wd:Q64 OPTIONAL { ?human wdt:P570 ?died } }`,
			"Which human was born in Berlin, and when did they die?", "optional"},
		{"optional that returns nothing", `SELECT ?human WHERE { ?human wdt:P19 wd:Q64 OPTIONAL { ?human wdt:P570 ?died } }`,
			"Which human was born in Berlin? Their date of death does not matter.", ""},
		{"column not said", `SELECT ?mountain ?elevation WHERE { ?mountain wdt:P31 wd:Q8502 ; wdt:P2044 ?elevation }`,
			"Which mountains are there?", "column"},
		{"column said by a synonym", `SELECT ?mountain ?x WHERE { ?mountain wdt:P31 wd:Q8502 ; wdt:P2044 ?x }`,
			"How high is each mountain?", ""},
		{"labels are not columns", `SELECT ?mountain ?mountainLabel WHERE { ?mountain wdt:P31 wd:Q8502 SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } }`, "Which mountains are there?", ""},
		{"close properties told apart", `SELECT ?film WHERE { ?film wdt:P31 wd:Q11424 ; wdt:P915 wd:Q90 }`,
			"Which films have Paris as a filming location?", ""},
		{"close properties mixed up", `SELECT ?film WHERE { ?film wdt:P31 wd:Q11424 ; wdt:P915 wd:Q90 }`,
			"Which films take place in Paris?", "property"},
		{"relation to a hidden variable", `SELECT ?human WHERE { ?human wdt:P31 wd:Q5 ; wdt:P1923 ?y }`,
			"Which humans exist?", "property"},
		{"negation said", `SELECT ?human WHERE { ?human wdt:P19 wd:Q64 MINUS { ?human wdt:P570 ?d } }`,
			"Which people born in Berlin have not died?", ""},
		{"negation not said", `SELECT ?human WHERE { ?human wdt:P19 wd:Q64 FILTER NOT EXISTS { ?human wdt:P570 ?d } }`,
			"Which people born in Berlin died?", "negation"},
		{"union", `SELECT ?human WHERE { { ?human wdt:P19 wd:Q64 } UNION { ?human wdt:P27 wd:Q183 } }`,
			"Which people, born in Berlin, have citizenship in Germany?", "choice"},
		{"closure said", `SELECT ?human WHERE { ?human wdt:P22+ wd:Q9439 }`,
			"Which people have Queen Victoria as father or as an ancestor?", ""},
		{"closure not said", `SELECT ?human WHERE { ?human wdt:P22+ wd:Q9439 }`,
			"Whose father is Queen Victoria?", "path"},
		{"large and largest", `SELECT ?country WHERE { ?country wdt:P17 wd:Q183 ; wdt:P2046 ?a } ORDER BY DESC(?a) LIMIT 1`,
			"What is the largest country in Germany?", ""},
		{"pairs", `SELECT ?a ?b WHERE { ?a wdt:P31 wd:Q8502 . ?b wdt:P31 wd:Q8502 . FILTER(STR(?a) < STR(?b)) }`,
			"Which mountains a and b exist?", "pair"},
		{"pairs said", `SELECT ?a ?b WHERE { ?a wdt:P31 wd:Q8502 . ?b wdt:P31 wd:Q8502 . FILTER(STR(?a) < STR(?b)) }`,
			"Which pairs of mountains a, b exist, each once?", ""},
		{"text", `SELECT ?mountain ?l WHERE { ?mountain wdt:P31 wd:Q8502 ; rdfs:label ?l . FILTER(CONTAINS(?l, "Horn")) }`,
			"Which mountains have a name with an l in it?", "value"},
		{"language", `SELECT ?mountain WHERE { ?mountain wdt:P31 wd:Q8502 ; rdfs:label ?l . FILTER(LANG(?l) = "de") }`,
			"Which mountains have a name?", "value"},
		{"language said", `SELECT ?mountain WHERE { ?mountain wdt:P31 wd:Q8502 ; rdfs:label ?l . FILTER(LANG(?l) = "de") }`,
			"Which mountains have a German name?", ""},
		{"yes or no", `ASK { wd:Q64 wdt:P17 wd:Q183 }`, "Is Berlin in Germany?", ""},
		{"no yes or no", `ASK { wd:Q64 wdt:P17 wd:Q183 }`, "Where in Germany lies Berlin?", "form"},
		{"values", `SELECT ?population WHERE { VALUES ?c { wd:Q64 wd:Q90 } ?c wdt:P1082 ?population }`,
			"How many people live in Berlin?", "entity"},
		{"leans on the discussion", `SELECT ?mountain WHERE { ?mountain wdt:P31 wd:Q8502 }`,
			"Which mountains, as above?", "wording"},
		{"numbers and variables", `SELECT ?mountain WHERE { ?mountain wdt:P31 wd:Q8502 }`,
			"Which ?mountain is a mountain (Q8502)?", "wording"},
		{"no end", `SELECT ?mountain WHERE { ?mountain wdt:P31 wd:Q8502 }`, "Which mountains are there", "wording"},
		{"named subquery", `SELECT ?mountain WITH { SELECT ?mountain WHERE { ?mountain wdt:P17 wd:Q843 } } AS %m WHERE { INCLUDE %m ?mountain wdt:P31 wd:Q8502 }`, "Which mountains are there?", "entity"},
		{"around", `SELECT ?place WHERE { wd:Q64 wdt:P625 ?c . SERVICE wikibase:around { ?place wdt:P625 ?l . bd:serviceParam wikibase:center ?c ; wikibase:radius "10" . } }`, "Which place has a location like Berlin?", "place value"},
	} {
		q, err := sparql.Parse(c.query)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		open := map[string]bool{}
		said := 0
		for _, r := range Compare(q, c.question, testNames) {
			if r.Said {
				said++
			} else if open[r.Kind] = true; said > 0 {
				t.Errorf("%s: an open remark is below a settled one", c.name)
			}
			if r.Piece != "" && !strings.Contains(strings.Join(strings.Fields(c.query), " "),
				strings.TrimSuffix(r.Piece, " …")) {
				t.Errorf("%s: the piece %q is not from the query", c.name, r.Piece)
			}
		}
		var kinds []string
		for k := range open {
			kinds = append(kinds, k)
		}
		slices.Sort(kinds)
		if got := strings.Join(kinds, " "); got != c.want {
			t.Errorf("%s: open are %q, want %q\n%v", c.name, got, c.want, Compare(q, c.question, testNames))
		}
	}
}

func TestNumbersOf(t *testing.T) {
	for _, c := range []struct {
		text string
		want []float64
	}{
		{"8,000 metres", []float64{8000}}, {"1.5 million people", []float64{1.5e6}},
		{"twenty-five of them", []float64{25}}, {"two thousand", []float64{2000}}, {"the 19th century", []float64{19}},
		{"the ten highest", []float64{10}}, {"three hundred and four", []float64{300, 4}},
		{"in 2019, 300 of them", []float64{2019, 300}}, {"a dozen", []float64{12}}, {"5 million.", []float64{5e6}},
	} {
		got := numbersOf(fold(c.text))
		for _, w := range c.want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: %v, want %v in it", c.text, got, w)
			}
		}
	}
	if readWording("It has 12 sides.").number(13) {
		t.Error("12 counts as 13")
	}
}

func FuzzCompare(f *testing.F) {
	f.Add(`SELECT ?x WHERE { ?x wdt:P31 wd:Q5 FILTER(?y < "1990-10-03T00:00:00Z"^^xsd:dateTime) } LIMIT 5`,
		"Which 5 people, 1,000,000 million?")
	f.Add(`SELECT ?x WHERE { ?x rdfs:label ?l FILTER(REGEX(?l, "^.*$") && ?l != "") }`, "Which?")
	f.Add(`ASK { ?a ^wdt:P22+/(wdt:P25|^wdt:P40)* [] OPTIONAL { ?a ?p ?o } SERVICE wikibase:around { ?a wdt:P625 ?l } }`,
		"’ – Ü ?x Q5 \xff")
	f.Fuzz(func(t *testing.T, query, question string) {
		q, err := sparql.Parse(query)
		if err != nil || q.Form == sparql.Update {
			return
		}
		for _, r := range Compare(q, question, testNames) {
			if r.Text == "" || r.Kind == "" {
				t.Errorf("an empty remark: %+v", r)
			}
		}
	})
}
