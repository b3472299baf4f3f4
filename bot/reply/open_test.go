package reply

import (
	"strconv"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
)

// TestLeftOpen checks that every kind of open probe has a sentence in each language, with the label of the probe's
// entity and with row counts, unless the probe would change the result's only number.
func TestLeftOpen(t *testing.T) {
	for lang, begin := range map[string]string{"en": "A different choice would change the result: ",
		"de": "Eine andere Lesart würde das Ergebnis ändern: ", "ja": "次のように条件を変えると、結果も変わります："} {
		aside := " (3"
		if lang == "ja" {
			aside = "（3件増）"
		}
		for _, k := range variant.Kinds {
			p := event.Probe{Kind: string(k), About: rdf.Entity + "Q515", Before: 5, Come: 3}
			out := &agent.Outcome{Language: lang, Report: "x", Probed: &agent.Probed{Open: []event.Probe{p}},
				Answer: &agent.Answer{SPARQL: "ASK { }", Labels: map[string]string{"Q515": "city"}}}
			text, err := forum.Compose(New(out, "A", "O", "sb-1"), ":")
			_, line, found := strings.Cut(text, begin)
			line, _, _ = strings.Cut(line, "\n")
			if err != nil || !found || !strings.Contains(line, aside) || k == variant.Subclasses && !strings.Contains(line, "city") {
				t.Errorf("%s, %s: %q, %v", lang, k, line, err)
			}
		}
	}
	out := &agent.Outcome{Language: "en", Report: "x", Answer: &agent.Answer{SPARQL: "ASK { }", Open: "Lakes."},
		Probed: &agent.Probed{Open: []event.Probe{{Kind: "joins", Before: 1, Come: 1, Gone: 1}}}}
	text, err := forum.Compose(New(out, "A", "O", "sb-1"), ":")
	if want := ":Note: Lakes.\n:A different choice would change the result: counting only once what the query counts more than once.\n"; err != nil || !strings.Contains(text, want) {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
}

// A class that replaces the query's class is named so that the asker can choose.
func TestReplacedClass(t *testing.T) {
	out := &agent.Outcome{Answer: &agent.Answer{Labels: map[string]string{"Q6256": "country"}},
		Steps: []agent.Step{{Action: "look_up_question", Observation: "sovereign state (Q3624078), type of state"}}}
	probe := agent.Probe{Kind: "class", About: rdf.Entity + "Q6256", What: "wd:Q3624078 instead of wd:Q6256", Before: 57, Come: 1, Gone: 28}
	for _, tt := range []struct{ what, want string }{
		{"wd:Q3624078 instead of wd:Q6256", "sovereign state instead of country"},
		{"wd:Q99 instead of wd:Q6256", "Q99 instead of country"},
		{"without the class wd:Q6256", "another reading of country"},
	} {
		probe.What = tt.what
		if got := forum.PointWords(forum.Texts("en"), Point(out, probe)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}

// For a yes-or-no question, a different interpretation has no rows to count.
func TestOtherAnswer(t *testing.T) {
	out := &agent.Outcome{Answer: &agent.Answer{Table: &kg.Table{Ask: true, Boolean: true}}}
	if got := Point(out, agent.Probe{Kind: "ranks", Come: 1, Gone: 1}); got.Come != 0 || got.Gone != 0 {
		t.Errorf("%+v", got)
	}
}

// The class in a different interpretation is named by the variant's label; if there is none, its ID is a link. The text
// on ranks states what the variant changes.
func TestNamesOfReadings(t *testing.T) {
	p := agent.Probe{Kind: "class", About: rdf.Entity + "Q6256", What: "wd:Q3624078 instead of wd:Q6256", Before: 57, Come: 1,
		Names: map[string]string{"Q6256": "country", "Q3624078": "Staat@de"}}
	out := &agent.Outcome{Language: "es"}
	if got := forum.PointWords(forum.Texts("es"), Point(out, p)); got != "«Staat (de)» en lugar de «country»" {
		t.Error(got)
	}
	p.Names = nil
	r := forum.Reply{Short: "x", Query: "ASK { }", Signature: "~~~~", Language: "es", Open: []forum.Open{Point(out, p)}}
	w, err := forum.Compose(r, ":")
	if err != nil || !strings.Contains(w, "«[[Q3624078]]» en lugar de «[[Q6256]]»") {
		t.Errorf("%v\n%s", err, w)
	}
	p = agent.Probe{Kind: "missing", About: rdf.Direct + "P276", Come: 1, Names: map[string]string{"P276": "location"}}
	if got := forum.PointWords(forum.Texts("en"), Point(out, p)); got != "items that have no value for “location”" {
		t.Error(got)
	}
	for _, tt := range []struct {
		come, gone int
		want       string
	}{{3, 0, "values of a lower rank, such as former ones"}, {0, 3, "only the values of the best rank"}} {
		got := forum.PointWords(forum.Texts("en"), Point(out, agent.Probe{Kind: "ranks", Before: 9, Come: tt.come, Gone: tt.gone}))
		if got != tt.want {
			t.Error(got)
		}
	}
}

// If some items have several rows, the reply says so, unless the rows are pairs.
func TestSeveral(t *testing.T) {
	pairs := [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1"), rdf.IRI(rdf.Entity + "Q2")},
		{rdf.IRI(rdf.Entity + "Q1"), rdf.IRI(rdf.Entity + "Q3")}, {rdf.IRI(rdf.Entity + "Q2"), rdf.IRI(rdf.Entity + "Q4")}}
	if several(pairs) {
		t.Error("pairs of items")
	}
	prizes := [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1"), rdf.IRI(rdf.Entity + "Q7"), rdf.String("1903")},
		{rdf.IRI(rdf.Entity + "Q1"), rdf.IRI(rdf.Entity + "Q8"), rdf.String("1911")}, {rdf.IRI(rdf.Entity + "Q2"), rdf.IRI(rdf.Entity + "Q7"), {}}}
	if several(prizes) {
		t.Error("different items in the rows of an item")
	}
	terms := [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1"), rdf.String("2000"), rdf.String("2008")},
		{rdf.IRI(rdf.Entity + "Q1"), rdf.String("2012"), rdf.String("2024")}, {rdf.IRI(rdf.Entity + "Q2"), rdf.String("2008"), {}}}
	if several(terms) {
		t.Error("terms of office")
	}
	for ids, want := range map[string]bool{"Q1 Q2 Q2 Q3": true, "Q1 Q2 Q3": false, "Q1 Q1 Q1 Q2 Q2": true, "Q1 Q1 Q1 Q2 Q2 Q2": false, "P1 P1 P2": false, "": false} {
		var table [][]rdf.Term
		for _, id := range strings.Fields(ids) {
			table = append(table, []rdf.Term{rdf.IRI(rdf.Entity + id), rdf.String("y")})
		}
		if got := several(table); got != want {
			t.Errorf("%q: %v", ids, got)
		}
	}
}

// Duplicate rows are shown once, with a sentence that says so.
func TestEqualRows(t *testing.T) {
	row := func(id string) []rdf.Term { return []rdf.Term{rdf.IRI(rdf.Entity + id), rdf.String("y")} }
	for n, rows := range map[int][][]rdf.Term{2: {row("Q1"), row("Q2"), row("Q1"), row("Q1")}, 3: {row("Q1"), row("Q2"), row("Q3")}} {
		probed := &agent.Probed{Open: []agent.Probe{{Kind: "joins", Gone: 2}}} // stated with the duplicates
		r := New(&agent.Outcome{Language: "en", Probed: probed, Answer: &agent.Answer{SPARQL: "SELECT ?a ?b { ?a ?p ?b }",
			Table: &kg.Table{Vars: []string{"a", "b"}, Rows: rows}}}, "A", "", "")
		if len(r.Rows) != n || r.Total != n || r.Equal != (n == 2) || r.Several || len(r.Open) != n-2 {
			t.Errorf("%d rows of %d, equal %v, several %v", len(r.Rows), r.Total, r.Equal, r.Several)
		}
		w, err := forum.Compose(r, ":")
		if got := strings.Contains(w, "|}\n:The query returns some rows several times; here each is shown once."); err != nil || got != (n == 2) {
			t.Errorf("%v\n%s", err, w)
		}
	}
}

// A number spelled out in the answer is not repeated in digits.
func TestToldInWords(t *testing.T) {
	for said, want := range map[string]bool{"Dezesseis países africanos não têm litoral.": true, "Países sem litoral.": false,
		"Quinze países não têm litoral.": false} {
		r := New(&agent.Outcome{Language: "pt", Report: said, Answer: &agent.Answer{SPARQL: "SELECT (COUNT(?a) AS ?n) { ?a ?p ?b }",
			Table: &kg.Table{Vars: []string{"n"}, Rows: [][]rdf.Term{{rdf.Typed("16", rdf.XSDInteger)}}}}}, "A", "", "")
		if w, err := forum.Compose(r, ":"); err != nil || strings.Contains(w, "Resultado: 16") == want {
			t.Errorf("%v\n%s", err, w)
		}
	}
}

// A column in which no row has a value is named below the table instead of being shown.
func TestEmptyColumns(t *testing.T) {
	rhine, danube := rdf.IRI(rdf.Entity+"Q584"), rdf.IRI(rdf.Entity+"Q1653")
	table := &kg.Table{Vars: []string{"river", "mouth", "mouthLabel", "length"}, Rows: [][]rdf.Term{{rhine, {}, {}, {}},
		{danube, {}, {}, rdf.Typed("2850", rdf.XSDDecimal)}}}
	out := &agent.Outcome{Short: "Two.", Language: "en", Answer: &agent.Answer{SPARQL: "SELECT ?river ?mouth ?mouthLabel ?length { }", Table: table,
		Labels: map[string]string{"Q584": "Rhine", "Q1653": "Danube"}}}
	r := New(out, "Ada", "Op", "sb-1")
	text, err := forum.Compose(r, ":")
	if want := "! river !! length\n|-\n| [[Q584|Rhine]] ||\n|-\n| [[Q1653|Danube]] || 2850\n|}\n:No value was found for: “mouth”. Empty cells have no value in the data.\n"; err != nil ||
		!strings.Contains(text, want) {
		t.Errorf("%v\n%s", err, text)
	}
	out.Answer.Columns = []string{"river", "length"}
	if r := New(out, "Ada", "Op", "sb-1"); len(r.NoValues) > 0 {
		t.Errorf("a column that is not part of the answer: %q", r.NoValues)
	}
	out.Answer.Columns = nil
	table.Vars = []string{"river", "riverLabel", "mouth", "length"} // without the label service
	if r := New(out, "Ada", "Op", "sb-1"); strings.Join(r.NoValues, ",") != "mouth" {
		t.Errorf("an empty label column: %q", r.NoValues)
	}
	table.Rows = [][]rdf.Term{{rhine, rdf.String("x"), {}, rdf.String("")}} // a GROUP_CONCAT of nothing
	if r := New(out, "Ada", "Op", "sb-1"); strings.Join(r.NoValues, ",") != "mouth,length" {
		t.Errorf("an empty text: %q", r.NoValues)
	}
	table.Rows = [][]rdf.Term{{{}, {}, {}, {}}}
	if r := New(out, "Ada", "Op", "sb-1"); len(r.Vars) == 0 || len(r.NoValues) > 0 {
		t.Errorf("a result without any value: %+v", r)
	}
}

// In a grouped result, a different interpretation changes numbers, so a row with a different number does not count as
// one removed and one added row.
func TestOtherFigures(t *testing.T) {
	for query, want := range map[string]int{"SELECT ?d (COUNT(?f) AS ?n) { ?f wdt:P577 ?d } GROUP BY ?d": 0, "SELECT ?d { ?f wdt:P577 ?d }": 9} {
		out := &agent.Outcome{Answer: &agent.Answer{SPARQL: query}}
		if o := Point(out, agent.Probe{Kind: "condition", Before: 9, Come: 13, Gone: 9}); o.Gone != want {
			t.Errorf("%s: %+v", query, o)
		}
	}
}

// Items are not said to lack a value that is a qualifier in the query.
func TestMissingQualifiers(t *testing.T) {
	for query, want := range map[string]int{"SELECT ?p { ?p p:P39 ?s . ?s ps:P39 wd:Q1 ; pq:P580 ?start }": 0, "SELECT ?p { ?p p:P39 ?s . ?s pq:P5800 ?x . ?p wdt:P580 ?start }": 1} {
		out := &agent.Outcome{Language: "de", Answer: &agent.Answer{SPARQL: query, Table: &kg.Table{Vars: []string{"p"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q5")}}}},
			Probed: &agent.Probed{Open: []event.Probe{{Kind: "condition", About: rdf.Entity + "P580", Before: 1, Come: 4}}}}
		if got := New(out, "A", "O", "sb-1").Open; len(got) != want {
			t.Errorf("%s: %+v", query, got)
		}
	}
}

// If a variant changes figures and not items, the first figure that it changes is shown with its new value.
func TestNewFigures(t *testing.T) {
	row := func(cells ...any) (row []rdf.Term) {
		for _, c := range cells {
			switch c := c.(type) {
			case string:
				row = append(row, rdf.IRI(rdf.Entity+c))
			case int:
				row = append(row, rdf.Typed(strconv.Itoa(c), rdf.XSDInteger))
			}
		}
		return row
	}
	type rows = [][]rdf.Term
	for _, tt := range []struct {
		lang     string
		old, now rows
		want     string
	}{
		{"nl", rows{row("Q1", 10), row("Q2", 12345)}, rows{row("Q3", 9), row("Q2", 23456), row("Q1", 6)}, "sovereign state in plaats van country (republic: 6)."},
		{"fr", rows{row("Q4", 10), row("Q2", 12345)}, rows{row("Q2", 23456), row("Q4", 6)}, "(monarchy : 23\u00a0456)."},
		{"en", rows{row(12)}, rows{row(15)}, "sovereign state instead of country (15)."},
		{"en", rows{row("Q1", 12)}, rows{row("Q2", 12)}, "sovereign state instead of country."},
		{"en", rows{row("Q1", 12)}, rows{row("Q2", 13)}, "sovereign state instead of country."},
		{"en", nil, nil, "sovereign state instead of country."},
	} {
		out := &agent.Outcome{Language: tt.lang, Report: "x", Answer: &agent.Answer{SPARQL: "SELECT ?f (COUNT(?c) AS ?n) { ?c wdt:P122 ?f } GROUP BY ?f",
			Labels: map[string]string{"Q1": "republic", "Q2": "monarchy", "Q6256": "country", "Q3624078": "sovereign state"},
			Table:  &kg.Table{Vars: []string{"f", "n"}, Rows: rows{row("Q1", 10), row("Q2", 12345)}}}}
		out.Probed = &agent.Probed{Open: []event.Probe{{Kind: "class", What: "wd:Q3624078 instead of wd:Q6256", About: rdf.Entity + "Q6256",
			Before: 2, Come: 3, Gone: 2, OldRows: tt.old, NewRows: tt.now}}}
		text, err := forum.Compose(New(out, "A", "O", "sb-1"), ":")
		if err != nil || !strings.Contains(text, tt.want) {
			t.Errorf("%q is missing: %v\n%s", tt.want, err, text)
		}
	}
}

// TestNarrowerReadings checks that the sentence about a variant that removes rows states which rows remain.
func TestNarrowerReadings(t *testing.T) {
	out := &agent.Outcome{Answer: &agent.Answer{Labels: map[string]string{"Q1": "singing"}}}
	for _, tt := range []struct {
		kind       string
		come, gone int
		want       string
	}{
		{"subclasses", 2, 0, "the subclasses of singing"},
		{"subclasses", 0, 2, "only direct instances of singing"},
		{"places", 2, 0, "the levels below singing"},
		{"places", 0, 2, "only what is directly below singing"},
	} {
		probe := agent.Probe{Kind: tt.kind, About: rdf.Entity + "Q1", Before: 9, Come: tt.come, Gone: tt.gone}
		if got := forum.PointWords(forum.Texts("en"), Point(out, probe)); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// For a tree, rows that a variant adds are not described as items without a value.
func TestOpenOfTree(t *testing.T) {
	out := &agent.Outcome{Language: "en", Probed: &agent.Probed{Open: []agent.Probe{{Kind: "missing", Come: 10}, {Kind: "places", About: "wd:Q1", Gone: 1}, {Kind: "ranks", Come: 1}}},
		Answer: &agent.Answer{SPARQL: "SELECT ?c ?p { ?c wdt:P279 ?p . ?p wdt:P279* wd:Q1 }", Table: &kg.Table{Vars: []string{"c", "p"}}}}
	for _, ids := range [][2]string{{"Q2", "Q1"}, {"Q3", "Q2"}, {"Q4", "Q3"}} {
		out.Answer.Table.Rows = append(out.Answer.Table.Rows, []rdf.Term{rdf.IRI(rdf.Entity + ids[0]), rdf.IRI(rdf.Entity + ids[1])})
	}
	r := New(out, "Ann", "Olga", "m")
	if len(r.Tree) == 0 || len(r.Open) != 1 || r.Open[0].Kind != "ranks" {
		t.Errorf("%+v, tree %v", r.Open, r.Tree)
	}
}

// A property whose value may be missing is named as in the table's header. If the model's note mentions that name, the
// reply does not repeat it.
func TestMissingNamedAsHeader(t *testing.T) {
	point := rdf.Typed("Point(9.9 53.6)", rdf.GeoWKT)
	for open, want := range map[string]string{"": "los elementos sin valor para «Coordenadas» (una fila más)", "A LaGuardia le faltan las coordenadas.": ""} {
		a := &agent.Answer{SPARQL: "SELECT ?a ?coord WHERE { ?a wdt:P625 ?coord }", Open: open, Headers: map[string]string{"coord": "Coordenadas"},
			Labels: map[string]string{"P625": "coordinate location", "Q1": "Hamburg Airport"},
			Table:  &kg.Table{Vars: []string{"a", "coord"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1"), point}}}}
		out := &agent.Outcome{Language: "es", Report: "x", Answer: a,
			Probed: &agent.Probed{Open: []event.Probe{{Kind: "missing", About: rdf.Entity + "P625", Before: 1, Come: 1}}}}
		text, err := forum.Compose(New(out, "A", "O", "sb-1"), ":")
		if err != nil || want != "" && !strings.Contains(text, want) || strings.Contains(text, "coordinate location") ||
			strings.Contains(text, "fila más") != (want != "") {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

// If a variant only removes groups, they are counted; if it also adds some, their numbers differ.
func TestGroupsGone(t *testing.T) {
	out := &agent.Outcome{Answer: &agent.Answer{SPARQL: "SELECT ?c (MAX(?p) AS ?n) { ?c wdt:P1082 ?p } GROUP BY ?c"}}
	if got := Point(out, agent.Probe{Kind: "class", Before: 26, Gone: 15}); got.Gone != 15 {
		t.Errorf("%+v", got)
	}
	if got := Point(out, agent.Probe{Kind: "class", Before: 26, Come: 3, Gone: 15}); got.Gone != 0 || got.Come != 0 {
		t.Errorf("%+v", got)
	}
}

// The few rows that a variant adds or removes are named, if all their names are known.
func TestMovedRowsNamed(t *testing.T) {
	row := func(ids ...string) (rows [][]rdf.Term) {
		for _, id := range ids {
			rows = append(rows, []rdf.Term{rdf.IRI(rdf.Entity + id)})
		}
		return rows
	}
	out := &agent.Outcome{Language: "fr", Report: "x", Answer: &agent.Answer{SPARQL: "SELECT ?p { ?p wdt:P166 wd:Q222047 }", Labels: map[string]string{"Q1": "Allen Iverson", "Q2": "Larry Bird"},
		Table: &kg.Table{Vars: []string{"p"}, Rows: row("Q1", "Q2", "Q3")}}}
	for _, tt := range []struct {
		probe agent.Probe
		want  string
	}{
		{agent.Probe{Kind: "ranks", Before: 3, Gone: 1, OldRows: row("Q1")}, "(une ligne de moins\u00a0: «\u00a0Allen Iverson\u00a0»)"},
		{agent.Probe{Kind: "ranks", Before: 3, Gone: 2, OldRows: row("Q1", "Q3")}, "(2 lignes de moins)"},
		{agent.Probe{Kind: "missing", Before: 1, Come: 2, NewRows: row("Q2", "Q1")}, "(2 lignes de plus\u00a0: «\u00a0Larry Bird\u00a0», «\u00a0Allen Iverson\u00a0»)"},
		{agent.Probe{Kind: "missing", Before: 1, Come: 5, NewRows: row("Q2", "Q1")}, "(5 lignes de plus)"},
	} {
		out.Probed = &agent.Probed{Open: []event.Probe{tt.probe}}
		text, err := forum.Compose(New(out, "A", "O", "sb-1"), ":")
		if err != nil || !strings.Contains(text, tt.want) {
			t.Errorf("%q is missing: %v\n%s", tt.want, err, text)
		}
	}
}
