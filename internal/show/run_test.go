package show

import (
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// A result is aligned, says "1 row", and does not show a label twice.
func TestRun(t *testing.T) {
	item := func(id string) rdf.Term { return rdf.IRI(rdf.Entity + id) }
	lit := func(s string) rdf.Term { return rdf.Typed(s, rdf.XSDString) }
	table := &kg.Table{Vars: []string{"city", "cityLabel", "mayorLabel"}, Rows: [][]rdf.Term{
		{item("Q64"), lit("Berlin"), lit("A")}, {item("Q3778"), lit("Q3778"), lit("B\x1b[31m")}}}
	show := func(t *kg.Table) string {
		var b strings.Builder
		v := &Run{Screen: console.New(&b, nil)}
		v.Outcome(&agent.Outcome{Answer: &agent.Answer{SPARQL: "SELECT", Table: t, Endpoint: "here",
			RanAt:  time.Unix(0, 0),
			Labels: map[string]string{"Q64": "Berlin"}}})
		return b.String()
	}
	got := show(table)
	for _, want := range []string{"city          mayorLabel\n", "Berlin (Q64)  A\n", "Q3778         B[31m\n",
		"2 rows, here, 1970-01-01 00:00 UTC\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	table.Rows[1][1] = lit("another name")
	if got := show(table); !strings.Contains(got, "cityLabel") {
		t.Errorf("a column with other words is gone:\n%s", got)
	}
	table.Rows = table.Rows[:1]
	if got := show(table); !strings.Contains(got, "\n1 row, ") {
		t.Errorf("one row:\n%s", got)
	}
	for range 21 {
		table.Rows = append(table.Rows, table.Rows[0])
	}
	if got := show(table); strings.Count(got, "Berlin (Q64)") != 20 ||
		!strings.Contains(got, "… and 2 more rows\n22 rows") {
		t.Errorf("22 rows:\n%s", got)
	}
	if got := show(&kg.Table{Ask: true, Boolean: true}); !strings.Contains(got, "\ntrue\nhere") {
		t.Errorf("an ASK query:\n%s", got)
	}
}

// An ending without an answer says why, and its numbers are written alike.
func TestNoAnswer(t *testing.T) {
	var b strings.Builder
	v := &Run{Screen: console.New(&b, nil)}
	usage := llm.Usage{Calls: 1, InputTokens: 25520, OutputTokens: 81920}
	v.Outcome(&agent.Outcome{Ending: agent.Ending{Reason: agent.NotFound, Detail: "there are none"}, Usage: usage})
	Event(&b, event.Event{Event: "end", Reason: string(agent.NotFound), Detail: "there are none", Usage: &usage}, false)
	want := "\n0 steps, 1 call of the model, 25,520 tokens in, 81,920 out\nno answer (not_found): there are none\n" +
		"no answer (not_found): there are none\n\nconfidence 0.00, 1 call, 25,520 tokens in, 81,920 out, 0.0000 USD\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// On a narrow terminal no line of a step is too long, and a query keeps its lines.
func TestNarrowSteps(t *testing.T) {
	var b strings.Builder
	v := &Run{Screen: console.New(&b, nil), Columns: 60}
	v.Event(event.Event{Event: "step", Step: &event.Step{N: 1, Thought: strings.Repeat("think ", 30),
		Action:      "execute_sparql",
		Argument:    "SELECT ?a WHERE {\n  ?a wdt:P31 wd:Q5 .\n  SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\". }\n}",
		Observation: strings.Repeat("seen ", 30)}})
	for line := range strings.Lines(b.String()) {
		if console.Cells(strings.TrimSuffix(line, "\n")) > 60 {
			t.Errorf("%d columns: %s", console.Cells(line), line)
		}
	}
	if !strings.Contains(b.String(), "   execute_sparql(SELECT ?a WHERE {\n     ?a wdt:P31 wd:Q5 .\n     SERVICE wikibase:label { bd:serviceParam\n       wikibase:") {
		t.Errorf("the query has lost its lines:\n%s", b.String())
	}
}
