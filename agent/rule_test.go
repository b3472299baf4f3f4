package agent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// graphOfTwo answers the query A and B with rows, EMPTY with none, ASKNO with false, BAD with a syntax error; everything else with none.
// The queries are real SPARQL, named by a comment so that the tests read easily.
func graphOfTwo() *fakeGraph {
	return &fakeGraph{
		tables: map[string]*kg.Table{
			qA: items("Q1", "Q2"), qB: items("Q3"), qAsk: {Ask: true, Source: "test"},
		},
		errs: map[string]error{qBroken: kg.Errorf(kg.QueryFailed, "it cannot be evaluated")},
		query: func(q string) (*kg.Table, error) { // the posting form of A, B and the ASK
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

// TestRefusals holds a row for each sentence of the rule: what was asked for, which steps were carried out, and where each refusal left the state.
func TestRefusals(t *testing.T) {
	execute := func(q string) string { return "execute_sparql(" + q + ")" }
	tests := []struct {
		sentence string
		asked    []string
		carried  []string // arguments or names of the steps carried out
		to       []int    // rollback.to of each refusal
		reasons  []string
		kept     int // steps in the outcome
		end      Reason
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
			asked:    []string{"search_wikidata(a)", "search_wikidata(b)", execute(qEmpty), "search_wikidata(c)", "search_wikidata(d)", "search_wikidata(a)", execute(qA), "stop()"},
			carried:  []string{"a", "b", qEmpty, "c", "d", qA, "stop"}, to: []int{5}, reasons: []string{"repeat"}, kept: 7,
		},
		{
			sentence: "equal by name and normalised argument: case and layout of a search, the form of a number, the layout of a query",
			asked: []string{"search_wikidata(Big River)", `search_wikidata("big   river")`, "get_wikidata_entry(Q1)", "get_wikidata_entry(wd:q1)",
				execute(qA), execute("SELECT   ?x\nWHERE {\n  ?x wdt:P31 wd:Q5\n}"), "stop()"},
			carried: []string{"Big River", "Q1", qA, "stop"}, to: []int{1, 2, 3}, reasons: []string{"repeat", "repeat", "repeat"}, kept: 4,
		},
		{
			sentence: "the same argument with another name is no repetition",
			asked:    []string{"search_wikidata(Q1)", "get_wikidata_entry(Q1)", execute(qA), "stop()"},
			carried:  []string{"Q1", "Q1", qA, "stop"}, kept: 4,
		},
		{
			sentence: "a second refusal in a row returns to before the first of the two equal actions",
			asked:    []string{"search_wikidata(a)", "search_wikidata(b)", "search_wikidata(c)", "search_wikidata(b)", "search_wikidata(b)", execute(qA), "stop()"},
			carried:  []string{"a", "b", "c", qA, "stop"}, to: []int{3, 1}, reasons: []string{"repeat", "repeat"}, kept: 3,
		},
		{
			sentence: "two refusals of different actions in a row: the second decides where to return to",
			asked:    []string{"search_wikidata(a)", "search_wikidata(b)", "search_wikidata(b)", "search_wikidata(a)", execute(qA), "stop()"},
			carried:  []string{"a", "b", qA, "stop"}, to: []int{2, 0}, reasons: []string{"repeat", "repeat"}, kept: 2,
		},
		{
			sentence: "an action carried out in between makes the next refusal a first one",
			asked:    []string{"search_wikidata(a)", "search_wikidata(a)", "search_wikidata(b)", "search_wikidata(a)", execute(qA), "stop()"},
			carried:  []string{"a", "b", qA, "stop"}, to: []int{1, 2}, reasons: []string{"repeat", "repeat"}, kept: 4,
		},
		{
			sentence: "after a return the next refusal is a first one again",
			asked:    []string{"search_wikidata(a)", "search_wikidata(b)", "search_wikidata(b)", "search_wikidata(b)", "search_wikidata(a)", execute(qA), "stop()"},
			carried:  []string{"a", "b", qA, "stop"}, to: []int{2, 1, 1}, reasons: []string{"repeat", "repeat", "repeat"}, kept: 3,
		},
		{
			sentence: "an abandoned action may be done again, with a new number",
			asked:    []string{"search_wikidata(a)", "search_wikidata(a)", "search_wikidata(a)", "search_wikidata(a)", execute(qA), "stop()"},
			carried:  []string{"a", "a", qA, "stop"}, to: []int{1, 0}, reasons: []string{"repeat", "repeat"}, kept: 3,
		},
		{
			sentence: "rollback.to is the number of the last step kept, abandoned ones counted in the numbering",
			asked: []string{"search_wikidata(a)", "search_wikidata(b)", "search_wikidata(b)", "search_wikidata(b)", "search_wikidata(c)", "search_wikidata(c)", execute(qA),
				"stop()"},
			carried: []string{"a", "b", "c", qA, "stop"}, to: []int{2, 1, 3}, reasons: []string{"repeat", "repeat", "repeat"}, kept: 4,
		},
		{
			sentence: "a stop without any query is refused; there is nothing to return to at the second",
			asked:    []string{"search_wikidata(a)", "stop()", "stop()", execute(qA), "stop()"},
			carried:  []string{"a", qA, "stop"}, to: []int{1, 1}, reasons: []string{"stop", "stop"}, kept: 3,
		},
		{
			sentence: "a stop on an empty result is refused; the second returns to before the last execute",
			asked:    []string{"search_wikidata(a)", execute(qA), execute(qEmpty), "search_wikidata(b)", "stop()", "stop()", "stop()"},
			carried:  []string{"a", qA, qEmpty, "b", "stop"}, to: []int{4, 2}, reasons: []string{"stop", "stop"}, kept: 3,
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
			asked:    []string{"stop(no answer: too hard)", "search_wikidata(a)", "stop(no answer: too hard)", "search_wikidata(b)", "stop(no answer: not there)"},
			carried:  []string{"a", "b", "no answer: not there"}, to: []int{0, 1}, reasons: []string{"stop", "stop"}, kept: 3, end: NotFound,
		},
		{
			sentence: "no answer is accepted after one query without rows",
			asked:    []string{execute(qEmpty), "stop(no answer: nothing there)"},
			carried:  []string{qEmpty, "no answer: nothing there"}, kept: 2, end: NotFound,
		},
		{
			sentence: "no answer is refused once while a query with rows is in the state, and accepted when it is said again",
			asked:    []string{execute(qA), "stop(no answer: those are others)", "stop(no answer: those are others)"},
			carried:  []string{qA, "no answer: those are others"}, to: []int{1}, reasons: []string{"stop"}, kept: 2, end: NotFound,
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
			queries := 0 // each executed once, the answer once more
			for _, e := range rec.of("step") {
				if e.Step.Action == actExecute {
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
			if m.used != len(m.acts) {
				t.Errorf("%d of %d turns were asked for", m.used, len(m.acts))
			}
		})
	}
}

// TestRepeatAfterPassingFailure: an action that failed because the service was down may be done again.
func TestRepeatAfterPassingFailure(t *testing.T) {
	g := graphOfTwo()
	g.errs[qA] = kg.Errorf(kg.Down, "connection refused")
	calls := 0
	m := &fakeModel{acts: []string{do("execute_sparql(" + qA + ")"), do("execute_sparql(" + qA + ")"), do("stop()")}, tasks: map[string]string{"report": "ok"}}
	m.before = func(task string) {
		if calls++; calls == 2 {
			delete(g.errs, qA)
		}
	}
	out, rec := ask(t, m, g, Limits{})
	if out.Answer == nil || len(rec.of("rollback")) != 0 {
		t.Errorf("answer %v, %d refusals; want an answer without refusals", out.Answer, len(rec.of("rollback")))
	}
	if !strings.Contains(out.Steps[0].Observation, "may be done again") || out.Steps[0].Failure != kg.Down {
		t.Errorf("the failure reads %q (%s)", out.Steps[0].Observation, out.Steps[0].Failure)
	}
}

// TestAbandonedNote: the model is told what was given up, in the place where it goes on, and the abandoned steps are gone from the conversation.
func TestAbandonedNote(t *testing.T) {
	m := &fakeModel{acts: []string{do("search_wikidata(a)"), do("search_wikidata(b)"), do("execute_sparql(" + qEmpty + ")"), do("search_wikidata(b)"), do("search_wikidata(b)"),
		do("execute_sparql(" + qA + ")"), do("stop()")}, tasks: map[string]string{"report": "ok"}}
	ask(t, m, graphOfTwo(), Limits{})
	for i, req := range m.requests {
		ms := req.Messages
		last := ms[len(ms)-1].Content
		switch i {
		case 4: // after the first refusal
			if !strings.Contains(last, "Refused: this search_wikidata is the same as your step 2") || !strings.HasSuffix(last, "\nNow write step 4.") {
				t.Errorf("after the refusal: %s", last)
			}
		case 5: // after the return to step 1
			if !strings.Contains(last, "taken back to before steps 2 to 3") || !strings.Contains(last, "search_wikidata(b)") ||
				!strings.Contains(last, "(no rows)") || strings.Contains(last, "Refused") || !strings.HasSuffix(last, "\nNow write step 2.") {
				t.Errorf("after the return: %s", last)
			}
			if len(ms) != 4 {
				t.Errorf("%d messages, want system, question, step 1 and its observation", len(ms))
			}
		}
	}
}
