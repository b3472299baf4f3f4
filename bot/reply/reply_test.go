package reply

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// A column that only repeats the labels of an entity column is omitted; a column with more information is kept.
func TestLabelColumns(t *testing.T) {
	rhine, label := rdf.IRI(rdf.Entity+"Q584"), rdf.LangString("Rhine", "en")
	labels := map[string]string{"Q584": "Rhine", "Q1653": "Danube"}
	entity := forum.Cell{ID: "Q584", Label: "Rhine"}
	for _, tt := range []struct {
		name string
		vars []string
		rows [][]rdf.Term
		want []string
		row  []forum.Cell
	}{
		{"the same label", []string{"river", "riverLabel", "n"},
			[][]rdf.Term{{rhine, label, rdf.Typed("3", rdf.XSDInteger)}}, []string{"river", "n"},
			[]forum.Cell{entity, {Text: "3", Kind: "number"}}},
		{"label first", []string{"riverLabel", "river"}, [][]rdf.Term{{label, rhine}}, []string{"river"},
			[]forum.Cell{entity}},
		{"no label", []string{"river", "riverLabel"}, [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q99"), rdf.String("Q99")}},
			[]string{"river"}, []forum.Cell{{ID: "Q99"}}},
		{"the ID, of an entity with a label in another language", []string{"river", "riverLabel"},
			[][]rdf.Term{{rhine, rdf.String("Q584")}}, []string{"river"}, []forum.Cell{entity}},
		{"nothing in an optional column", []string{"river", "mouth", "mouthLabel"}, [][]rdf.Term{{rhine, {}, {}}, {rdf.IRI(rdf.Entity + "Q1653"), rhine, label}},
			[]string{"river", "mouth"}, []forum.Cell{entity, {}}},
		{"another label", []string{"river", "riverLabel"}, [][]rdf.Term{{rhine, rdf.LangString("Rhein", "de")}},
			[]string{"river", "riverLabel"}, []forum.Cell{entity, {Text: "Rhein"}}},
		{"another label, from the label service", []string{"danube", "danubeLabel"}, [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1653"), rdf.LangString("Donau", "de")}},
			[]string{"danube"}, []forum.Cell{{ID: "Q1653", Label: "Danube"}}},
		{"labels alone", []string{"riverLabel"}, [][]rdf.Term{{label}}, []string{"riverLabel"},
			[]forum.Cell{{Text: "Rhine"}}},
		{"one row differs", []string{"river", "riverLabel"},
			[][]rdf.Term{{rhine, label}, {rdf.IRI(rdf.Entity + "Q1653"), rdf.LangString("Donau", "de")}},
			[]string{"river", "riverLabel"}, []forum.Cell{entity, {Text: "Rhine"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := &agent.Outcome{Answer: &agent.Answer{Table: &kg.Table{Vars: tt.vars, Rows: tt.rows}, Labels: labels,
				SPARQL:   "SELECT ?danube ?danubeLabel { ?danube rdfs:label ?riverLabel SERVICE wikibase:label {} }",
				Endpoint: "https://query.example.org/sparql"}}
			r := New(out, "Ada", "Op", "sb-1")
			if d := cmp.Diff(tt.want, r.Vars); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.row, r.Rows[0]); d != "" {
				t.Error(d)
			}
			if r.Endpoint != "query.example.org/sparql" || r.Total != len(tt.rows) {
				t.Errorf("endpoint %q, total %d", r.Endpoint, r.Total)
			}
		})
	}
}

// A model that has become unavailable is reported differently from one that was never configured.
func TestWithoutModel(t *testing.T) {
	looked := agent.Step{Action: "query", Argument: `{"sparql": "SELECT * {}"}`, Rows: 3}
	names := agent.Step{Action: "look_up_question", Argument: "{}", Observation: "Ivory Coast (Q1008), country in West Africa"}
	for want, steps := range map[string][]agent.Step{"no_model": {names}, "failed": {names, looked}} {
		out := &agent.Outcome{Ending: agent.Ending{Reason: agent.NoModel}, Steps: steps}
		if got := New(out, "Ada", "Op", "sb-1").NoAnswer; got != want {
			t.Errorf("%d steps: %q, want %q", len(steps), got, want)
		}
	}
}

func TestPlainArguments(t *testing.T) {
	for argument, want := range map[string]string{
		"Donau":        "Donau",
		"SELECT ?x {}": "SELECT ?x {}",
		`{"sparql":"ASK {}","returns":"a truth"}`:   "ASK {}",
		`{"names":["a","b"],"kind":"item","n":3}`:   "item, a, b",
		`{"answer":"It is Paris.","columns":["x"]}`: "x",
		"{}":    "",
		`["a"]`: `["a"]`,
	} {
		if got := plain(argument); got != want {
			t.Errorf("%s: %q, want %q", argument, got, want)
		}
	}
}

// Rows that differ only in invisible characters look the same, so only the first is shown.
func TestInvisibleDifference(t *testing.T) {
	text := func(s string) rdf.Term { return rdf.String(s) }
	rows := [][]rdf.Term{{text("српски")}, {text("српски\u200e")}, {text("srpski jezik")}}
	if got := Distinct(rows); len(got) != 2 || got[1][0].Value != "srpski jezik" {
		t.Errorf("%q", got)
	}
	if rows[1][0].Value != "српски\u200e" {
		t.Error("Distinct changed its argument")
	}
}

// If only a few rows would be left out, all rows are shown.
func TestShownRows(t *testing.T) {
	for total, want := range map[int]int{3: 3, 20: 20, 21: 21, 22: 22, 30: 30, 31: 20, 500: 20} {
		a := &agent.Answer{SPARQL: "SELECT ?a ?b { ?a wdt:P1 ?b }", Table: &kg.Table{Vars: []string{"a", "b"}}}
		for i := range total {
			n := strconv.Itoa(i + 1)
			a.Table.Rows = append(a.Table.Rows, []rdf.Term{rdf.IRI(rdf.Entity + "Q" + n), rdf.Typed(n, rdf.XSDInteger)})
		}
		r := New(&agent.Outcome{Answer: a, Language: "en", Short: "x"}, "Ann", "Olga", "sb-1")
		text, err := forum.Compose(r, ":")
		if n := strings.Count(text, "\n|-\n| [["); err != nil || len(r.Rows) != want || n != want {
			t.Errorf("%d rows: %d, %d shown, %v", total, len(r.Rows), n, err)
		}
	}
}

// A column that the query fills with labels is omitted, whatever its name, unless its values differ from the labels
// shown.
func TestLabelledColumns(t *testing.T) {
	rhine := rdf.IRI(rdf.Entity + "Q584")
	for _, tt := range []struct{ query, label, want string }{
		{"SELECT ?river ?name { ?river rdfs:label ?name }", "Rhine", "river"},
		{"SELECT ?river ?name { ?river rdfs:label ?name }", "Rhein", "river name"},
		{"SELECT ?river ?name { ?river wdt:P1448 ?name }", "Rhine", "river name"},
	} {
		r := New(&agent.Outcome{Answer: &agent.Answer{SPARQL: tt.query, Labels: map[string]string{"Q584": "Rhine"},
			Table: &kg.Table{Vars: []string{"river", "name"}, Rows: [][]rdf.Term{{rhine, rdf.String(tt.label)}}}}}, "Ada", "Op", "sb-1")
		if got := strings.Join(r.Vars, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.query, got, tt.want)
		}
	}
}

// Different items with the same label are distinguished by their IDs.
func TestAlike(t *testing.T) {
	item := func(id string) rdf.Term { return rdf.IRI(rdf.Entity + id) }
	a := &agent.Answer{SPARQL: "SELECT ?who ?work { ?who wdt:P1441 ?work }", Labels: map[string]string{"Q1": "Gon", "Q2": "Leorio", "Q3": "Hunter", "Q4": "Hunter"},
		Table: &kg.Table{Vars: []string{"who", "work"}, Rows: [][]rdf.Term{{item("Q1"), item("Q3")}, {item("Q1"), item("Q4")}, {item("Q2"), item("Q9")}}}}
	text, err := forum.Compose(New(&agent.Outcome{Answer: a, Language: "en", Short: "x"}, "Ann", "Olga", "sb-1"), ":")
	if want := "| [[Q1|Gon]] || [[Q3|Hunter]] (Q3)\n|-\n| [[Q1|Gon]] || [[Q4|Hunter]] (Q4)\n|-\n| [[Q2|Leorio]] || [[Q9]]\n"; err != nil || !strings.Contains(text, want) {
		t.Errorf("%s, %v", text, err)
	}
}

// If nothing was found, the reply shows the query that the model named, unless it could not be run.
func TestTried(t *testing.T) {
	out := &agent.Outcome{Ending: agent.Ending{Reason: agent.NotFound}, Language: "en", Short: "Nothing fits.",
		Attempt: &agent.Answer{SPARQL: "SELECT ?m WHERE { ?m ?p 1 }", Table: &kg.Table{Vars: []string{"m"}}}}
	if r := New(out, "Ada", "Op", "sb-1"); r.Tried != out.Attempt.SPARQL || r.Query != "" || r.NoAnswer != "not_found" {
		t.Errorf("%+v", r)
	}
	out.Reason = agent.GraphFailed
	if r := New(out, "Ada", "Op", "sb-1"); r.Tried != "" {
		t.Errorf("%+v", r)
	}
	out.Reason, out.Attempt.Table = agent.NotFound, nil
	if r := New(out, "Ada", "Op", "sb-1"); r.Tried != "" {
		t.Errorf("%+v", r)
	}
}

// Rows with a name come first where the query leaves the order open, and nowhere else.
func TestNamedRowsFirst(t *testing.T) {
	item := func(id string) rdf.Term { return rdf.IRI(rdf.Entity + id) }
	year := func(y string) rdf.Term { return rdf.Typed(y, rdf.XSDInteger) }
	rows := [][]rdf.Term{
		{item("Q1"), rdf.String("Q1"), {}}, {item("Q2"), rdf.LangString("Sarabande", "fr"), {}},
		{item("Q3"), rdf.String("Q3"), year("1893")}, {item("Q4"), {}, year("1893")}, {item("Q5"), rdf.String("Q5"), year("1893")},
	}
	vars, labels := []string{"work", "workLabel", "year"}, map[string]string{"Q4": "Socrate"}
	const where = "SELECT ?work ?workLabel ?year WHERE { ?work wdt:P86 wd:Q187192; rdfs:label ?workLabel; wdt:P577 ?year } "
	for _, tt := range []struct{ query, want string }{
		{where, "Q2 Q4 Q1 Q3 Q5"},
		{where + "ORDER BY ?year", "Q2 Q1 Q4 Q3 Q5"},
		{where + "ORDER BY ?year ?work", "Q2 Q1 Q4 Q3 Q5"},
		{where + "ORDER BY (!BOUND(?year)) ?year ?work", "Q2 Q1 Q4 Q3 Q5"},
		{where + "ORDER BY DESC(YEAR(?year))", "Q2 Q1 Q4 Q3 Q5"},
		{where + "ORDER BY ?workLabel", "Q1 Q2 Q3 Q4 Q5"},
		{where + "ORDER BY ?place", "Q1 Q2 Q3 Q4 Q5"},
		{"no query", "Q1 Q2 Q3 Q4 Q5"},
	} {
		var got []string
		for _, row := range Rows(&agent.Answer{SPARQL: tt.query, Labels: labels, Table: &kg.Table{Vars: vars, Rows: rows}}) {
			got = append(got, rdf.EntityID(row[0].Value))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.query, s, tt.want)
		}
	}
}

// A search that was refused because of its arguments found nothing and is not listed.
func TestRefusedSearch(t *testing.T) {
	steps := []agent.Step{{Action: "find", Argument: `{"names": ["Drogon"]}`, Failure: kg.QueryFailed, Observation: "14 names are too many"},
		{Action: "find", Argument: `{"names": ["Rhaegal"]}`}, {Action: "query", Argument: `{"sparql": "SELECT * {}"}`, Failure: kg.QueryFailed}}
	out := &agent.Outcome{Ending: agent.Ending{Reason: agent.NotFound}, Steps: steps}
	got := New(out, "Ada", "Op", "sb-1").Steps
	if len(got) != 2 || got[0].Kind != forum.StepSearch || !strings.Contains(got[0].Text, "Rhaegal") || !got[1].Failed {
		t.Errorf("%+v", got)
	}
}
