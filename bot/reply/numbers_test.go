package reply

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Long numbers from the tables that the model was shown are formatted in its texts, codes and other numbers are not.
func TestFormatNumbers(t *testing.T) {
	steps := []agent.Step{{Observation: "2 rows\nlake | code | area\n[item | text | decimal, 1 unbound]\n" +
		"Great Bear Lake (Q5525) | 99501 | 31153\nSmall Lake (Q1) | 99502 | 1234.5\nNot a row: 77777"},
		{Observation: "1 row\nn\n[integer]\n208610"}}
	for _, tt := range []struct{ lang, text, want string }{
		{"de", "Great Bear Lake hat 31153, alle 208610.", "Great Bear Lake hat 31.153, alle 208.610."},
		{"en", "Codes 99501 and 77777; 31153 (of 208610).", "Codes 99501 and 77777; 31,153 (of 208,610)."},
		{"en", "Q31153, 31153.5 and 1234.", "Q31153, 31153.5 and 1234."},
	} {
		out := &agent.Outcome{Language: tt.lang, Steps: steps, Short: tt.text, Answer: &agent.Answer{Assumed: tt.text, Open: tt.text}}
		r := New(out, "Ann", "Olga", "sb-1")
		if d := cmp.Diff([]string{tt.want, tt.want, tt.want}, []string{r.Short, r.Assumed, r.LeftOpen}); d != "" {
			t.Error(d)
		}
		out = &agent.Outcome{Language: tt.lang, Steps: steps, Short: tt.text, Ending: agent.Ending{Reason: agent.NotFound}}
		if got := New(out, "Ann", "Olga", "sb-1").Short; got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// A label in another language is shown only to readers of its script.
func TestLegible(t *testing.T) {
	labels := map[string]string{"Q1": "شاهنامه@fa", "Q2": "Straße@de", "Q3": "Tokyo", "Q4": "東京"}
	for lang, want := range map[string][]string{"es": {"", "Straße (de)", "Tokyo", "東京"}, "ru": {"شاهنامه (fa)", "Straße (de)", "Tokyo", "東京"}} {
		a := &agent.Answer{Labels: labels, Table: &kg.Table{Vars: []string{"x"}}}
		for _, id := range []string{"Q1", "Q2", "Q3", "Q4"} {
			a.Table.Rows = append(a.Table.Rows, []rdf.Term{rdf.IRI(rdf.Entity + id)})
		}
		var got []string
		for _, row := range New(&agent.Outcome{Language: lang, Answer: a}, "Ann", "Olga", "sb-1").Rows {
			got = append(got, row[0].Label)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", lang, d)
		}
	}
}
