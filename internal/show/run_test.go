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

// A result has aligned columns and does not show a label twice. A single row is reported as "1 row".
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

// An ending without an answer includes the reason, and all its numbers have the same format.
func TestNoAnswer(t *testing.T) {
	var b strings.Builder
	v := &Run{Screen: console.New(&b, nil)}
	usage := llm.Usage{Calls: 1, InputTokens: 25520, OutputTokens: 81920}
	v.Outcome(&agent.Outcome{Ending: agent.Ending{Reason: agent.NotFound, Detail: "there are none"}, Usage: usage})
	(&Trace{}).Event(&b, event.Event{Event: "end", Reason: string(agent.NotFound), Detail: "there are none", Usage: &usage})
	want := "\n0 steps, 1 call to the model, 25,520 tokens in, 81,920 out\nno answer (not_found): there are none\n" +
		"no answer (not_found): there are none\n\nconfidence 0.00, 1 call, 25,520 tokens in, 81,920 out, 0.0000 USD\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// On a narrow terminal, no line of a step is too long, and a query keeps its line breaks.
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

// TestUnreadable checks that a turn that could not be parsed is shown on two lines, with the message to the model. A
// failed call to the model counts toward the upper bound on tokens.
func TestUnreadable(t *testing.T) {
	act := func(id, parent int, told string, c llm.Choice) event.Event {
		return event.Event{Event: "model", ID: id, Parent: parent, Response: &llm.Response{Choices: []llm.Choice{c}},
			Request: &llm.Request{Purpose: "act", Messages: []llm.Message{{Role: llm.User, Content: "Q"},
				{Role: llm.Assistant, Content: "…"}, {Role: llm.User, Content: told + "\n\nNow write step 1."}}}}
	}
	usage := llm.Usage{Calls: 3, InputTokens: 5, Unmeasured: 1}
	events := []event.Event{act(2, 1, "", llm.Choice{Content: "I think\nso."}),
		act(3, 2, "No action.", llm.Choice{ToolCalls: []llm.ToolCall{{Name: "look", Arguments: `{"a`}}}),
		act(4, 3, "Not JSON.", llm.Choice{Content: "Action: x()"}),
		{Event: "step", ID: 5, Parent: 4, Step: &event.Step{N: 1, Action: "x"}}, act(6, 5, "", llm.Choice{}),
		{Event: "end", ID: 7, Parent: 6, Reason: "model_failed", Detail: "3 times", Usage: &usage,
			Cause: &event.Cause{Kind: event.CauseUnreadable}}}
	var traced, asked strings.Builder
	trace, run := &Trace{}, &Run{Screen: console.New(&asked, nil)}
	for _, e := range events {
		trace.Event(&traced, e)
		run.Event(e)
	}
	for _, got := range []string{traced.String(), asked.String()} {
		for _, want := range []string{"could not be read: I think so.\n   No action.\n",
			"could not be read: look({\"a)\n   Not JSON.\n", "could not be read: (empty)\n   3 times\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing in\n%s", want, got)
			}
		}
		if strings.Count(got, "could not be read") != 3 {
			t.Errorf("more than was unreadable:\n%s", got)
		}
	}
	if !strings.Contains(traced.String(), "(at most: 1 call came back without figures)") {
		t.Errorf("the bound is not marked:\n%s", traced.String())
	}
}
