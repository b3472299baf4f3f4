package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func entityValue(id, label string) kg.Value {
	return kg.Value{Term: rdf.IRI(rdf.Entity + id), Label: label}
}

func date(s string, precision int) kg.Value {
	return kg.Value{Term: rdf.Typed(s, rdf.XSDDateTime), Precision: precision}
}

// merkel returns a page with a single value, a list, qualifiers and a "no value" statement. The tests of package render
// use a page with every kind of value.
func merkel() *kg.Entity {
	since := kg.Qualifier{Property: kg.PropertyRef{ID: "P580", Label: "start time"},
		Values: []kg.Value{date("1998-12-30T00:00:00Z", 11)}}
	return &kg.Entity{ID: "Q567", Label: "Angela Merkel", Description: "Chancellor of Germany from 2005 to 2021",
		Claims: []kg.PropertyStatements{
			{Property: kg.PropertyRef{ID: "P31", Label: "instance of"},
				Statements: []kg.Statement{{Value: entityValue("Q5", "human")}}},
			{Property: kg.PropertyRef{ID: "P26", Label: "spouse"}, Statements: []kg.Statement{
				{Value: entityValue("Q96", "Joachim Sauer"), Rank: kg.Preferred, Qualifiers: []kg.Qualifier{since}},
				{Value: entityValue("Q97", "Ulrich Merkel")}}},
			{Property: kg.PropertyRef{ID: "P40", Label: "child"}, Statements: []kg.Statement{{Value: kg.Value{None: true}}}},
		}}
}

var merkelPage = render.NewPage(merkel(), true).String()

// TestShownInPart checks that the model is told how many values and statements pruning removed.
func TestShownInPart(t *testing.T) {
	awards := kg.PropertyStatements{Property: kg.PropertyRef{ID: "P166", Label: "award received"}}
	for i := range 16 {
		awards.Statements = append(awards.Statements, kg.Statement{Value: entityValue(fmt.Sprintf("Q1%02d", i),
			fmt.Sprintf("prize %d", i))})
	}
	office := kg.PropertyStatements{Property: kg.PropertyRef{ID: "P39", Label: "position held"}}
	for i := range 6 {
		office.Statements = append(office.Statements, kg.Statement{Value: entityValue("Q30461", "president"),
			Qualifiers: []kg.Qualifier{
				{Property: kg.PropertyRef{ID: "P580", Label: "start time"},
					Values: []kg.Value{date(fmt.Sprintf("19%d0-01-01T00:00:00Z", i), 9)}}}})
	}
	e := &kg.Entity{ID: "Q1", Label: "one", Claims: []kg.PropertyStatements{office, awards}}
	for _, tt := range []struct{ name, answer, want string }{
		{"values", `{"P39": true, "P166": ["prize 1 (Q101)", "prize 2 (Q102)", "prize 15 (Q115)"]}`,
			"(Shown in part: award received (P166): 3 of 16 values.)"},
		{"statements", `{"P39": {"president (Q30461)": {"Qualifiers": [{"start time (P580)": "1930"}, {"start time (P580)": "1950"}]}}}`,
			"(Shown in part: position held (P39): 2 of 6 statements of president (Q30461).)\n(Left out as less relevant: award received (P166).)"},
		{"all", `{"P39": true, "P166": true}`, ""},
		// the page lists 8 of the 16 awards and "… and 8 more"
		{"the fallback", "no idea", "(Shown in part: position held (P39): 4 of 6 statements of president (Q30461).)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &fakeModel{acts: []string{do("get_wikidata_entry(Q1)")}, tasks: map[string]string{"prune": tt.answer}}
			en := newEngine(m, &fakeGraph{entities: map[string]*kg.Entity{"Q1": e}})
			en.opts.Preset.Show.PruneOver = -1
			out, err := en.Ask(t.Context(), Question{Text: "What?", Language: "en"}, nil, Limits{Counted: 1})
			if err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(out.Steps[0].Observation, "\n}")
			if strings.TrimSpace(got) != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestEntry checks that the model prunes a page, that the fallback is used if the model fails or returns garbage, and
// that a short page is not pruned.
func TestEntry(t *testing.T) {
	for _, tt := range []struct {
		name  string
		model *fakeModel
		over  int
		asked bool
		want  string
	}{
		{"the model prunes", &fakeModel{tasks: map[string]string{"prune": `{"child (P40)": "no value"}`}}, -1, true,
			"{\n  \"child (P40)\": \"no value\"\n}\n(Left out as less relevant: instance of (P31), spouse (P26)"},
		{"the model fails", &fakeModel{fail: map[string]error{"prune": &llm.Error{Status: 500}}}, -1, true, merkelPage},
		{"the page is too long for the model", &fakeModel{fail: map[string]error{"prune": llm.ErrContextLength}}, -1, true,
			merkelPage},
		{"garbage", &fakeModel{tasks: map[string]string{"prune": "no idea"}}, -1, true, merkelPage},
		{"a short page", &fakeModel{tasks: map[string]string{"prune": "{}"}}, 1500, false, merkelPage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.model.acts = []string{do("get_wikidata_entry(Q567)")}
			e := newEngine(tt.model, &fakeGraph{entities: map[string]*kg.Entity{"Q567": merkel()}})
			e.opts.Preset.Show.PruneOver = tt.over
			out, err := e.Ask(t.Context(), Question{Text: "Children?", Language: "en"}, nil, Limits{Counted: 1})
			if err != nil {
				t.Fatal(err)
			}
			want := "Angela Merkel (Q567): Chancellor of Germany from 2005 to 2021\n" + tt.want
			if got := out.Steps[0].Observation; !strings.HasPrefix(got, want) {
				t.Errorf("got %s", got)
			}
			if asked := tt.model.last("prune") != ""; asked != tt.asked {
				t.Errorf("model asked: %v", asked)
			}
		})
	}
}
