package stats

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/dataset"
)

func ptr[T any](v T) *T { return &v }

// fixture returns items that are few enough to count by hand.
func fixture() []dataset.Item {
	return []dataset.Item{
		{ID: "a", URL: "https://w/Archive/2021/07", Question: "Which lakes are in the country?",
			SPARQL:    "SELECT ?l ?lLabel WHERE { ?l wdt:P31 wd:Q1; wdt:P17 wd:Q2. } LIMIT 5",
			Answers:   json.RawMessage(`[{"l":{"type":"uri","value":"u"},"lLabel":{"type":"literal","value":"v"}},{}]`),
			Responses: ptr(2)},
		{ID: "b", URL: "https://w/2019-05", Question: "Wer ist der König von Belgien?",
			SPARQL: "SELECT ?x WHERE { wd:Q2 wdt:P35 ?x FILTER(?x != wd:Q3) }", Responses: ptr(0)},
		{ID: "c", Language: "fr", Question: "?", SPARQL: "SELECT ?y WHERE { wd:Q77 wdt:P35 ?y FILTER(?y != wd:Q4) }",
			Answers: json.RawMessage(`[]`), Responses: ptr(12)},
		{ID: "d", Question: "Oops", SPARQL: "SELECT ?x WHERE { wd:Q9 wdt:P35 ?x", Answers: json.RawMessage(`true`)},
	}
}

func TestCompute(t *testing.T) {
	r := Compute(fixture(), dataset.GRASP, map[string]int64{"Q1": 7, "Q2": 1000, "Q77": 30, "Q999": 5})
	if len(r.Unparsed) != 1 || r.Unparsed[0].ID != "d" || !strings.Contains(r.Unparsed[0].Error, "line 1") {
		t.Errorf("unparsed: %v", r.Unparsed)
	}
	r.Unparsed = nil
	want := &Report{
		N: 4, Format: "grasp",
		// a: SELECT, two triples, LIMIT; b and c: SELECT, triple, FILTER; 10 clauses in 3 queries
		Tree: Means{Clauses: 3.33, Projections: ptr(1.), Relations: 1.33, Subjects: 1, Predicates: 1.33, Objects: 1.33},
		// a: 1 + first triple + LIMIT (the second triple has no subject); b, c: 1 + triple + FILTER; d: 1 + triple;
		// 11 clauses in 4 queries
		Notebook: Means{Clauses: 2.75, Projections: ptr(1.), Relations: 1, Subjects: 1, Predicates: 1,
			Objects: 1},
		UniqueProperties: 3, UniquePatterns: 3, UniqueEntities: 5, UniqueShapes: 2, Results: 1,
		Words:     Words{Median: 1, P90: 6, Max: 6},
		Years:     []Share{{"2019", 1, .25}, {"2021", 1, .25}},
		Languages: []Share{{"de", 1, .25}, {"en", 1, .25}, {"fr", 1, .25}, {"und", 1, .25}},
		Features:  []Share{{"filter", 2, .6667}, {"limit", 1, .3333}},
		Conversations: &Conversations{N: 2, Silent: 1, Short: Share{"1-3", 1, .5}, Medium: Share{"4-6", 0, 0},
			Long: Share{"7+", 1, .5},
			Lengths: []Share{{"1", 0, 0}, {"2", 1, .5}, {"3", 0, 0}, {"4", 0, 0}, {"5", 0, 0}, {"6", 0, 0}, {"7", 0, 0},
				{"8", 0, 0}, {"9", 0, 0}, {"10+", 1, .5}}},
		// in this order: Q2 1000, Q77 30, Q1 7, Q3 0, Q4 0
		Popularity: &Popularity{Entities: 5, Known: 3, Percentiles: []Percentile{{10, "Q2", 1000}, {25, "Q77", 30},
			{50, "Q1", 7}, {75, "Q3", 0}, {90, "Q4", 0}}},
	}
	if d := cmp.Diff(want, r); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestNothingKnown(t *testing.T) {
	r := Compute([]dataset.Item{{ID: "a", Question: "Lakes", SPARQL: "ASK { wd:Q1 wdt:P1 wd:Q2 }"}},
		dataset.SPINACH, nil)
	if r.Notebook.Projections != nil || r.Conversations != nil || r.Popularity != nil || len(r.Years) != 0 {
		t.Errorf("an empty benchmark has figures: %+v", r)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"n":1,"tree":{"clauses":2,"projections":0,`,
		`"notebook":{"clauses":0,"projections":null,"relations":0,`, `"unique_properties":1,"unique_patterns":1,`,
		`"unparsed":[]`, `"years":[]`, `"conversations":null`, `"popularity":null`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if Compute(nil, dataset.SPINACH, nil).Tree.Projections != nil {
		t.Error("there is a mean of no items")
	}
}

func TestLanguage(t *testing.T) {
	for question, want := range map[string]string{
		"What is the highest mountain of Japan?": "en", "Welche Städte liegen an der Donau?": "de",
		"Quelles sont les villes de la région ?": "fr",
		"¿Cuáles son las ciudades de la región?": "es", "Quali sono le città della regione?": "it",
		"Welke steden zijn er in het land?": "nl",
		"Какие озёра есть в стране?":        "ru", "日本で一番高い山は何ですか？": "ja", "中国最高的山是什么？": "zh",
		"Ποια είναι η πρωτεύουσα;": "el", "": Unknown, "Paris 1900": Unknown,
		"what do egyptians speak?": "en", "Who wrote the book Les Piliers de la terre?": "en",
		"Is Darth Vader Luke's father?": Unknown, "Wie viele Inseln hat Japan?": "de",
		"Które miasta leżą nad Wisłą?": "pl", "Quantas ilhas tem o Brasil?": "pt",
		"Vilka städer ligger i Sverige?": "sv", "Která města leží na Vltavě?": "cs",
	} {
		if got := Language(question); got != want {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
	}
}

func TestReadPageViews(t *testing.T) {
	views, err := ReadPageViews(strings.NewReader("id\tviews\nQ20\t3606300\r\n\nQ1\t0\n"))
	if err != nil || fmt.Sprint(views) != "map[Q1:0 Q20:3606300]" {
		t.Errorf("%v, %v", views, err)
	}
	for text, want := range map[string]string{"Q1\t2\nQ1\t3\n": "line 2: Q1 is repeated",
		"Q1\t2\nNorway\t5": `line 2: want a Q number, a tab and a number of views, got "Norway\t5"`,
		"Q1 5\n":           "line 1: want", "Q1\t-4": "line 1: want", "Q2\t1\nQ1\tmany": "line 2: want"} {
		if _, err := ReadPageViews(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestWriteText(t *testing.T) {
	r := Compute(fixture(), dataset.GRASP, map[string]int64{"Q2": 3606300})
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"4 items (grasp)", "this file, on the tree     3.33         1.00       1.33",
		"published: SPINACH     8.89         2.50", "  properties          3\n",
		"  10+  1  50.0%", "  10th  3,606,300  Q2\n", "median 1 words", "  2019  1  25.0%",
		"of the features: 1 query\n", "  d: line 1"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if err := r.WriteText(brokenPipe{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("writing to a closed pipe: %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Charts are well-formed XML, and names from the file cannot become markup.
func TestCharts(t *testing.T) {
	items := fixture()
	items[2].Language = `<script>alert("1")</script>`
	charts := Compute(items, dataset.GRASP, map[string]int64{"Q2": 5}).Charts()
	names := []string{}
	for _, c := range charts {
		names = append(names, c.Name)
		if strings.Contains(c.SVG, "<script") || strings.Contains(c.SVG, "NaN") || strings.Contains(c.SVG, "Inf") {
			t.Errorf("%s: %s", c.Name, c.SVG)
		}
		dec := xml.NewDecoder(strings.NewReader(c.SVG))
		for {
			if _, err := dec.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
		}
	}
	if got := strings.Join(names, " "); got != "complexity features years languages conversations popularity" {
		t.Errorf("charts %s", got)
	}
	var many []Share
	for i := range 60 {
		many = append(many, Share{Name: strings.Repeat("long ", 60), Count: i})
	}
	for _, svg := range []string{columnsOf("Many", "more than fit side by side", many),
		bars("Long", "names", nil, []bar{{strings.Repeat("long ", 60), []float64{1}, []string{"1"}}})} {
		if strings.Contains(svg, `="-`) || strings.Contains(svg, strings.Repeat("long ", 9)) ||
			!strings.Contains(svg, "…") {
			t.Errorf("names extend beyond the chart: %.2000s", svg)
		}
	}
	for _, c := range Compute(nil, dataset.SPINACH, nil).Charts() {
		if strings.Contains(c.SVG, "NaN") {
			t.Errorf("%s of an empty benchmark contains something that is not a number: %s", c.Name, c.SVG)
		}
	}
}

// The published figures are for SPINACH's development set and for QALD-10 with the results in SPINACH's outputs.
func TestSharedBenchmarks(t *testing.T) {
	dev := sharedReport(t, "data/spinach/dev.json")
	if dev.N != 155 || dev.UniqueProperties != 176 || dev.UniquePatterns != 155 || dev.Notebook.Clauses != 9.09 ||
		dev.Notebook.Objects != 4.8 || len(dev.Unparsed) != 0 {
		t.Errorf("dev: %+v", dev)
	}
	if (dev.Words != Words{27, 51, 94}) {
		t.Errorf("dev: words %v", dev.Words)
	}
	if len(dev.Languages) != 1 || dev.Languages[0].Name != "en" {
		t.Errorf("dev: languages %v", dev.Languages)
	}
	have := map[string]Share{}
	for _, f := range append(dev.Features, dev.Years...) {
		have[f.Name] = f
	}
	for name, percent := range map[string]float64{"label-service": 66, "optional": 35, "filter": 42, "group-by": 20,
		"order-by": 28, "statement": 37, "value-node": 5, "named-subquery": 8,
		"values": 17, "bind": 11, "union": 12, "minus": 10} {
		if got := 100 * have[name].Share; got < percent-1 || got > percent+1 {
			t.Errorf("dev: %s in %.1f%% of the queries, published %v%%", name, got, percent)
		}
	}
	qald := sharedReport(t, "data/spinach/qald10-outputs.json")
	if qald.Notebook.Projections == nil || *qald.Notebook.Projections != 1 || qald.Notebook.Clauses != 2.37 ||
		qald.UniqueProperties != 172 || qald.UniquePatterns != 185 {
		t.Errorf("QALD-10: %+v", qald)
	}
}

func sharedReport(t *testing.T, name string) *Report {
	t.Helper()
	root := os.Getenv("SPINACHBOT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(root, name))
	if err != nil {
		t.Skipf("reference data not here (set SPINACHBOT_SHARED): %v", err)
	}
	defer f.Close()
	items, format, err := dataset.ReadItems(f)
	if err != nil {
		t.Fatal(err)
	}
	return Compute(items, format, nil)
}
