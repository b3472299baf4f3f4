package agent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// graphOfTwo answers the queries A and B with rows, EMPTY without rows, ASKNO with false, BAD with a syntax error, and
// everything else without rows. The queries are real SPARQL, named by a comment so that the tests are easy to read.
func graphOfTwo() *fakeGraph {
	return &fakeGraph{
		tables: map[string]*kg.Table{
			qA: items("Q1", "Q2"), qB: items("Q3"), qAsk: {Ask: true, Source: "test"},
		},
		errs: map[string]error{qBroken: kg.Errorf(kg.QueryFailed, "it cannot be evaluated")},
		query: func(q string) (*kg.Table, error) { // called for the posting forms of A, B and the ASK query
			switch {
			case strings.Contains(q, "P31"):
				return items("Q1", "Q2"), nil
			case strings.Contains(q, "P17"):
				return items("Q3"), nil
			case strings.Contains(q, "ASK"):
				return &kg.Table{Ask: true, Source: "test"}, nil
			}
			return &kg.Table{Vars: []string{"x"}}, nil
		},
	}
}

const (
	qA      = "SELECT ?x WHERE { ?x wdt:P31 wd:Q5 }"
	qB      = "SELECT ?x WHERE { ?x wdt:P17 wd:Q183 }"
	qEmpty  = "SELECT ?x WHERE { ?x wdt:P36 wd:Q64 }"
	qAsk    = "ASK { wd:Q64 wdt:P36 wd:Q183 }"
	qBroken = "SELECT ?x WHERE { ?x wdt:P50 wd:Q42 }"
)

// TestRefusals tests every sentence of the rule: the requested actions, the executed steps, and the state after each
// rejection.
func TestRefusals(t *testing.T) {
	execute := func(q string) string { return "execute_sparql(" + q + ")" }
	tests := []struct {
		sentence string
		asked    []string
		carried  []string // arguments or names of the executed steps
		to       []int    // rollback.to of each rejection
		reasons  []string
		kept     int // number of steps in the outcome
		end      Reason
		ran      string // part of the published query
	}{
		{
			sentence: "no repetition, a stop with a result: nothing is refused",
			asked:    []string{"search_wikidata(a)", execute(qA), "stop()"},
			carried:  []string{"a", qA, "stop"}, kept: 3,
		},
		{
			sentence: "a repeated action is not executed and the state before it stays",
			asked:    []string{"search_wikidata(a)", "search_wikidata(b)", "search_wikidata(b)", execute(qA), "stop()"},
			carried:  []string{"a", "b", qA, "stop"}, to: []int{2}, reasons: []string{"repeat"}, kept: 4,
		},
		{
			sentence: "equal to any step still in the state, not only to the last one",
			asked: []string{"search_wikidata(a)", "search_wikidata(b)", execute(qEmpty), "search_wikidata(c)",
				"search_wikidata(d)", "search_wikidata(a)", execute(qA), "stop()"},
			carried: []string{"a", "b", qEmpty, "c", "d", qA, "stop"}, to: []int{5}, reasons: []string{"repeat"}, kept: 7,
		},
		{
			sentence: "equal by name and normalised argument: case and layout of a search, the form of a number, the layout of a query",
			asked: []string{"search_wikidata(Big River)", `search_wikidata("big   river")`, "get_wikidata_entry(Q1)",
				"get_wikidata_entry(wd:q1)",
				execute(qA), execute("SELECT   ?x\nWHERE {\n  ?x wdt:P31 wd:Q5\n}"), "stop()"},
			carried: []string{"Big River", "Q1", qA, "stop"}, to: []int{1, 2, 3}, reasons: []string{"repeat", "repeat",
				"repeat"}, kept: 4,
		},
		{
			sentence: "the same argument with another name is not a repetition",
			asked:    []string{"search_wikidata(Q1)", "get_wikidata_entry(Q1)", execute(qA), "stop()"},
			carried:  []string{"Q1", "Q1", qA, "stop"}, kept: 4,
		},
		{
			sentence: "a second refusal in a row returns to before the first of the two equal actions",
			asked: []string{"search_wikidata(a)", "search_wikidata(b)", "search_wikidata(c)", "search_wikidata(b)",
				"search_wikidata(b)", execute(qA), "stop()"},
			carried: []string{"a", "b", "c", qA, "stop"}, to: []int{3, 1}, reasons: []string{"repeat", "repeat"}, kept: 3,
		},
		{
			sentence: "two refusals of different actions in a row: the second decides where to return to",
			asked: []string{"search_wikidata(a)", "search_wikidata(b)", "search_wikidata(b)", "search_wikidata(a)",
				execute(qA), "stop()"},
			carried: []string{"a", "b", qA, "stop"}, to: []int{2, 0}, reasons: []string{"repeat", "repeat"}, kept: 2,
		},
		{
			sentence: "an action carried out in between makes the next refusal a first one",
			asked: []string{"search_wikidata(a)", "search_wikidata(a)", "search_wikidata(b)", "search_wikidata(a)",
				execute(qA), "stop()"},
			carried: []string{"a", "b", qA, "stop"}, to: []int{1, 2}, reasons: []string{"repeat", "repeat"}, kept: 4,
		},
		{
			sentence: "after a return the next refusal is a first one again",
			asked: []string{"search_wikidata(a)", "search_wikidata(b)", "search_wikidata(b)", "search_wikidata(b)",
				"search_wikidata(a)", execute(qA), "stop()"},
			carried: []string{"a", "b", qA, "stop"}, to: []int{2, 1, 1}, reasons: []string{"repeat", "repeat", "repeat"},
			kept: 3,
		},
		{
			sentence: "an abandoned action may be done again, with a new number",
			asked: []string{"search_wikidata(a)", "search_wikidata(a)", "search_wikidata(a)", "search_wikidata(a)",
				execute(qA), "stop()"},
			carried: []string{"a", "a", qA, "stop"}, to: []int{1, 0}, reasons: []string{"repeat", "repeat"}, kept: 3,
		},
		{
			sentence: "rollback.to is the number of the last step kept, abandoned ones counted in the numbering",
			asked: []string{"search_wikidata(a)", "search_wikidata(b)", "search_wikidata(b)", "search_wikidata(b)",
				"search_wikidata(c)", "search_wikidata(c)", execute(qA),
				"stop()"},
			carried: []string{"a", "b", "c", qA, "stop"}, to: []int{2, 1, 3}, reasons: []string{"repeat", "repeat", "repeat"},
			kept: 4,
		},
		{
			sentence: "a stop without any query is refused; there is nothing to return to at the second",
			asked:    []string{"search_wikidata(a)", "stop()", "stop()", execute(qA), "stop()"},
			carried:  []string{"a", qA, "stop"}, to: []int{1, 1}, reasons: []string{"stop", "stop"}, kept: 3,
		},
		{
			sentence: "a stop on an empty result is refused; the second returns to before the last execute",
			asked: []string{"search_wikidata(a)", execute(qA), execute(qEmpty), "search_wikidata(b)", "stop()", "stop()",
				"stop()"},
			carried: []string{"a", qA, qEmpty, "b", "stop"}, to: []int{4, 2}, reasons: []string{"stop", "stop"}, kept: 3,
		},
		{
			sentence: "a stop on a failed query is refused",
			asked:    []string{execute(qBroken), "stop()", execute(qA), "stop()"},
			carried:  []string{qBroken, qA, "stop"}, to: []int{1}, reasons: []string{"stop"}, kept: 3,
		},
		{
			sentence: "the last query executed counts, not one before it that had a result",
			asked:    []string{execute(qA), execute(qEmpty), "stop()", execute(qB), "stop()"},
			carried:  []string{qA, qEmpty, qB, "stop"}, to: []int{2}, reasons: []string{"stop"}, kept: 4,
		},
		{
			sentence: "a stop on a step publishes the query of that step, also after a check",
			asked:    []string{"search_wikidata(a)", execute(qA), execute(qB), execute(qEmpty), "stop(step 2)"},
			carried:  []string{"a", qA, qB, qEmpty, "step 2"}, kept: 5, ran: "P31",
		},
		{
			sentence: "a query repeated after its check is refused, and can be stopped on then",
			asked:    []string{execute(qA), execute(qB), execute(qA), "stop(Step 1: the list)"},
			carried:  []string{qA, qB, "step 1"}, to: []int{2}, reasons: []string{"repeat"}, kept: 3, ran: "P31",
		},
		{
			sentence: "a plain stop publishes the last query executed, as in the paper",
			asked:    []string{execute(qA), execute(qB), "stop()"},
			carried:  []string{qA, qB, "stop"}, kept: 3, ran: "P17",
		},
		{
			sentence: "a stop on a step that is not a query, returned nothing, failed, or does not exist is refused",
			asked: []string{"search_wikidata(a)", execute(qEmpty), execute(qBroken), execute(qA), "stop(step 1)",
				"search_wikidata(b)", "stop(step 2)", "search_wikidata(c)",
				"stop(3)", "search_wikidata(d)", "stop(step 99)", "search_wikidata(e)", "stop(step 0)", "search_wikidata(f)",
				"stop(step 4)"},
			carried: []string{"a", qEmpty, qBroken, qA, "b", "c", "d", "e", "f", "step 4"}, to: []int{4, 5, 6, 7, 8}, kept: 10,
			ran: "P31",
		},
		{
			sentence: "steps are named by their place in the state, as the model was told, not by their number in the run",
			asked: []string{"search_wikidata(a)", "search_wikidata(b)", "search_wikidata(b)", "search_wikidata(b)", execute(qA),
				execute(qB),
				"stop(step 2)"},
			carried: []string{"a", "b", qA, qB, "step 2"}, to: []int{2, 1}, reasons: []string{"repeat", "repeat"}, kept: 4,
			ran: "P31",
		},
		{
			sentence: "a stop on a step and a repetition in a row are two refusals in a row; the second returns to before the last execute",
			asked: []string{"search_wikidata(a)", execute(qA), "search_wikidata(a)", "stop(step 1)", execute(qA),
				"stop(step 2)"},
			carried: []string{"a", qA, qA, "step 2"}, to: []int{2, 1}, reasons: []string{"repeat", "stop"}, kept: 3, ran: "P31",
		},
		{
			sentence: "the answer No of an ASK is a result",
			asked:    []string{execute(qAsk), "stop()"},
			carried:  []string{qAsk, "stop"}, kept: 2,
		},
		{
			sentence: "a refused stop and a repetition in a row are two refusals in a row",
			asked:    []string{"search_wikidata(a)", execute(qEmpty), "stop()", "search_wikidata(a)", execute(qA), "stop()"},
			carried:  []string{"a", qEmpty, qA, "stop"}, to: []int{2, 0}, reasons: []string{"stop", "repeat"}, kept: 2,
		},
		{
			sentence: "no answer is refused before anything was looked for",
			asked: []string{"stop(no answer: too hard)", "search_wikidata(a)", "stop(no answer: too hard)",
				"search_wikidata(b)", "stop(no answer: not there)"},
			carried: []string{"a", "b", "no answer: not there"}, to: []int{0, 1}, reasons: []string{"stop", "stop"}, kept: 3,
			end: NotFound,
		},
		{
			sentence: "no answer is accepted after one query without rows",
			asked:    []string{execute(qEmpty), "stop(no answer: nothing there)"},
			carried:  []string{qEmpty, "no answer: nothing there"}, kept: 2, end: NotFound,
		},
		{
			sentence: "no answer is refused once while a query with rows is in the state, and accepted when it is said again",
			asked:    []string{execute(qA), "stop(no answer: those are others)", "stop(no answer: those are others)"},
			carried:  []string{qA, "no answer: those are others"}, to: []int{1}, reasons: []string{"stop"}, kept: 2,
			end: NotFound,
		},
		{
			sentence: "no answer that was refused is no longer insisted on after another action",
			asked:    []string{execute(qA), "stop(no answer: hm)", "search_wikidata(a)", "stop(no answer: hm)", "stop()"},
			carried:  []string{qA, "a", "stop"}, to: []int{1, 2}, reasons: []string{"stop", "stop"}, kept: 3,
		},
	}
	for _, tt := range tests {
		t.Run(strings.ReplaceAll(tt.sentence, " ", "_"), func(t *testing.T) {
			m := &fakeModel{tasks: map[string]string{"report": "ok"}}
			for _, a := range tt.asked {
				m.acts = append(m.acts, do(a))
			}
			g := graphOfTwo()
			out, rec := ask(t, m, g, Limits{})
			queries := 0 // each query is executed once, the answer's query twice
			for _, e := range rec.of("step") {
				if e.Step.Action == tool.ExecuteName {
					queries++
				}
			}
			if out.Answer != nil {
				queries++
			}
			if len(g.queries) != queries {
				t.Errorf("%d queries reached the graph, want %d", len(g.queries), queries)
			}
			var carried []string
			for i, e := range rec.of("step") {
				if e.Step.N != i+1 {
					t.Errorf("step %d has the number %d", i+1, e.Step.N)
				}
				name := e.Step.Argument
				if name == "" {
					name = e.Step.Action
				}
				carried = append(carried, name)
			}
			var to []int
			var reasons []string
			for _, e := range rec.of("rollback") {
				to, reasons = append(to, *e.To), append(reasons, e.Reason)
			}
			if tt.reasons == nil {
				tt.reasons = make([]string, len(tt.to))
				for i := range tt.reasons {
					tt.reasons[i] = "stop"
				}
			}
			if len(tt.reasons) == 0 {
				tt.reasons = nil
			}
			if d := cmp.Diff(tt.carried, carried); d != "" {
				t.Errorf("steps carried out (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.to, to); d != "" {
				t.Errorf("rollback.to (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.reasons, reasons); d != "" {
				t.Errorf("reasons (-want +got):\n%s", d)
			}
			if len(out.Steps) != tt.kept {
				t.Errorf("%d steps kept, want %d", len(out.Steps), tt.kept)
			}
			if out.Reason != tt.end || (out.Answer != nil) != (tt.end == "") {
				t.Errorf("ended with %q (answer %v), want %q: %s", out.Reason, out.Answer != nil, tt.end, out.Detail)
			}
			if tt.ran != "" && (out.Answer == nil || !strings.Contains(out.Answer.Ran, tt.ran)) {
				t.Errorf("published %+v, want the query with %s", out.Answer, tt.ran)
			}
			if m.used != len(m.acts) {
				t.Errorf("%d of %d turns were requested", m.used, len(m.acts))
			}
		})
	}
}

// TestRepeatAfterPassingFailure checks that an action that failed because the service was down may be repeated.
func TestRepeatAfterPassingFailure(t *testing.T) {
	g := graphOfTwo()
	g.errs[qA] = kg.Errorf(kg.Down, "connection refused")
	calls := 0
	m := &fakeModel{acts: []string{do("execute_sparql(" + qA + ")"), do("execute_sparql(" + qA + ")"), do("stop()")},
		tasks: map[string]string{"report": "ok"}}
	m.before = func(task string) {
		if calls++; calls == 2 {
			delete(g.errs, qA)
		}
	}
	out, rec := ask(t, m, g, Limits{})
	if out.Answer == nil || len(rec.of("rollback")) != 0 {
		t.Errorf("answer %v, %d refusals; want an answer without refusals", out.Answer, len(rec.of("rollback")))
	}
	if !strings.Contains(out.Steps[0].Observation, "you may repeat the action") || out.Steps[0].Failure != kg.Down {
		t.Errorf("the failure reads %q (%s)", out.Steps[0].Observation, out.Steps[0].Failure)
	}
}

// TestRefusalTexts checks that a rejection quotes the rejected action, and that it explains what to do instead of
// repeating a query that returned rows.
func TestRefusalTexts(t *testing.T) {
	for _, tt := range []struct {
		name string
		acts []string
		want []string
		not  string
	}{
		{"a repeated query with rows", []string{execute(qA), execute(qB), execute(qA)},
			[]string{"Refused: execute_sparql(" + qA + ") is the same as your step 1",
				"If the query of step 1 is your answer, write stop(step 1)"}, ""},
		{"a repeated query without rows", []string{execute(qEmpty), execute(qEmpty)}, []string{"Refused: execute_sparql(" +
			qEmpty + ")", "Look at what step 1 showed"}, "stop(step"},
		{"a repeated search", []string{do("search_wikidata(a)"), do("search_wikidata(a)")},
			[]string{"Refused: search_wikidata(a) is the same"}, "stop(step"},
		{"a stop on an empty query after a good one", []string{execute(qA), execute(qEmpty), do("stop()")},
			[]string{"Refused: stop(), because the last query executed (step 2) returned nothing", "write stop(step 1)"}, ""},
		{"a stop on an empty query", []string{execute(qEmpty), do("stop()")}, []string{"Refused: stop()",
			"(step 1) returned nothing"}, "stop(step"},
		{"a stop on a step without rows", []string{execute(qA), execute(qEmpty), do("stop(step 2)")},
			[]string{"Refused: stop(step 2)", "the query of step 2 returned nothing", "write stop(step 1)"}, ""},
		{"a stop on a search", []string{do("search_wikidata(a)"), execute(qEmpty), do("stop(step 1)")},
			[]string{"step 1 is not a query that you executed", "No query has returned anything"}, "stop(step 2"},
		{"no answer although a query gave rows", []string{execute(qA), do("stop(no answer: others)")},
			[]string{"Refused once: stop(no answer: others)", "write stop(step 1)", "reason) again"}, ""},
		{"a long action", []string{do("search_wikidata(" + strings.Repeat("x", 150) + ")"),
			execute(strings.Replace(qA, "wd:Q5", strings.Repeat("wd:Q5, ", 90)+"wd:Q6", 1)),
			execute(strings.Replace(qA, "wd:Q5", strings.Repeat("wd:Q5, ", 90)+"wd:Q6", 1))},
			[]string{"Refused: execute_sparql(SELECT ?x", "…) is the same"}, "wd:Q6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &fakeModel{acts: append(tt.acts, "the end")}
			ask(t, m, graphOfTwo(), Limits{FormatErrors: 1})
			said := m.last("act")
			for _, want := range tt.want {
				if !strings.Contains(said, want) {
					t.Errorf("%q is missing in:\n%s", want, said)
				}
			}
			if tt.not != "" && strings.Contains(said, tt.not) {
				t.Errorf("%q must not be in:\n%s", tt.not, said)
			}
			if strings.Contains(said, "<no value>") || strings.Contains(said, "could not be written") {
				t.Errorf("broken text:\n%s", said)
			}
		})
	}
}

// TestCounter checks that the second-to-last line of the prompt states the step, the number of steps and the cost of
// rejections, and that these numbers are correct.
func TestCounter(t *testing.T) {
	m := &fakeModel{acts: []string{do("search_wikidata(a)"), "hm", do("search_wikidata(a)"), do("search_wikidata(a)"),
		do("search_wikidata(b)"), do("search_wikidata(b)"), do("search_wikidata(c)")}}
	out, _ := ask(t, m, &fakeGraph{}, Limits{Counted: 4, Total: 6})
	// Of six actions, four may be kept, so two can be lost. The unreadable turn is not an action.
	want := []string{
		"(Step 1 of at most 4. 2 more refused or abandoned actions cost you nothing.)",
		"(Step 2 of at most 4. 2 more refused or abandoned actions cost you nothing.)",
		"(Step 2 of at most 4. 2 more refused or abandoned actions cost you nothing.)",
		"(Step 2 of at most 4. 1 more refused or abandoned action costs you nothing.)",
		// After two rejections, which also removed the first search.
		"(Step 1 of at most 3. Each refused or abandoned action now costs you one of them.)",
		"(Step 2 of at most 3. Each refused or abandoned action now costs you one of them.)",
		"(Step 2 of at most 2. Each refused or abandoned action now costs you one of them.)",
	}
	var got []string
	for _, req := range m.requests {
		if taskOf(req) != "act" {
			continue
		}
		lines := strings.Split(req.Messages[len(req.Messages)-1].Content, "\n")
		got = append(got, lines[len(lines)-3])
		for _, msg := range req.Messages[:len(req.Messages)-1] {
			if strings.Contains(msg.Content, "(Step ") {
				t.Errorf("an old count is in the conversation: %s", msg.Content)
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if len(out.Steps) != 2 || out.Reason != OutOfActions {
		t.Errorf("%d steps, %s; the last count said two", len(out.Steps), out.Reason)
	}
}

// TestAbandonedNote checks that at the point where the model continues, it is told what was abandoned, and that the
// abandoned steps are removed from the conversation.
func TestAbandonedNote(t *testing.T) {
	m := &fakeModel{acts: []string{do("search_wikidata(a)"), do("search_wikidata(b)"), do("execute_sparql(" + qEmpty +
		")"), do("search_wikidata(b)"), do("search_wikidata(b)"),
		do("execute_sparql(" + qA + ")"), do("stop()")}, tasks: map[string]string{"report": "ok"}}
	ask(t, m, graphOfTwo(), Limits{})
	for i, req := range m.requests {
		ms := req.Messages
		last := ms[len(ms)-1].Content
		switch i {
		case 4: // after the first rejection
			if !strings.Contains(last, "Refused: search_wikidata(b) is the same as your step 2") || !strings.HasSuffix(last,
				"\nNow write step 4.") {
				t.Errorf("after the refusal: %s", last)
			}
		case 5: // after the return to step 1
			if !strings.Contains(last, "taken back to before steps 2 to 3") || !strings.Contains(last, "search_wikidata(b)") ||
				!strings.Contains(last, "(no rows)") || strings.Contains(last, "Refused") || !strings.HasSuffix(last,
				"\nNow write step 2.") {
				t.Errorf("after the return: %s", last)
			}
			if len(ms) != 4 {
				t.Errorf("%d messages, want system, question, step 1 and its observation", len(ms))
			}
		}
	}
}
