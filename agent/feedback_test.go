package agent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// verdict returns the turn in which a judge gives a verdict.
func verdict(status, text string) []string {
	return []string{"give_feedback", args("status", status, "feedback", text)}
}

func answerWith(query string) []string {
	return []string{"answer", args("sparql", query, "answer", "It is this.")}
}

// graspF returns the grasp-f preset.
func graspF(t *testing.T) *preset.Preset {
	t.Helper()
	p, err := preset.Named("grasp-f")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestG25Feedback tests rows G25 to G27 of docs/presets.md: who judges and when, what the judge sees, and what happens
// next.
func TestG25Feedback(t *testing.T) {
	for _, tt := range []struct {
		name     string
		turns    [][]string
		purposes string // tasks of the calls, in order
		first    *Verdict
		events   string
		sparql   string // part of the answer's query or, in a run without an answer, of the attempt's query
		answered bool
	}{
		{"G27 done: the answer is kept", [][]string{answerWith(qA), verdict("done", "Good.")}, "act feedback",
			&Verdict{Status: "done", Text: "Good."}, "done", "P31", true},
		{"G27 refine: the work continues", [][]string{answerWith(qA), verdict("refine", "Germany only."), answerWith(qB),
			verdict("done", "Good.")},
			"act feedback act feedback", &Verdict{Status: "refine", Text: "Germany only."}, "refine done", "P17", true},
		{"G25 the third answer is not judged", [][]string{answerWith(qA), verdict("retry", "No."), answerWith(qB),
			verdict("refine", "Nearly."), answerWith(qA)},
			"act feedback act feedback act", &Verdict{Status: "retry", Text: "No."}, "retry refine", "P31", true},
		{"G25 an answer that gives up is judged, too",
			[][]string{{"cancel", `{"explanation":"There is none.","best_attempt":{"sparql":"` + qA + `"}}`},
				verdict("retry", "Look again."), answerWith(qB), verdict("done", "Good.")}, "act feedback act feedback",
			&Verdict{Status: "retry", Text: "Look again."}, "retry done", "P17", true},
		{"G27 a verdict that cannot be read", [][]string{answerWith(qA), {"I like it."}}, "act feedback", nil, "", "P31",
			true},
		{"a status that does not exist", [][]string{answerWith(qA), verdict("perfect", "x")}, "act feedback", nil, "", "P31",
			true},
		{"G27 a judge that fails", [][]string{answerWith(qA)}, "act feedback", nil, "", "P31", true},
		{"G28 an answer in a fenced block is judged", [][]string{{"So:\n```sparql\n" + qA + "\n```"},
			verdict("done", "Good.")}, "act feedback",
			&Verdict{Status: "done", Text: "Good."}, "done", "P31", true},
		{"G28 an earlier answer is discarded, and remains the attempt", [][]string{answerWith(qA), verdict("retry", "No."),
			{"cancel", args("explanation", "Then none.")}, verdict("done", "Right.")},
			"act feedback act feedback", &Verdict{Status: "retry", Text: "No."}, "retry done", "P31", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := graphOfTwo()
			g.labels = map[string]string{"P31": "instance of", "Q5": "human", "Q1": "universe"}
			m, rec := &calls{turns: tt.turns}, &memory{}
			out, err := with(m, Wikibase(g), graspF(t)).Ask(t.Context(),
				Question{Text: "Who is it?", Language: "en", History: []Turn{{Question: "And before?"}}}, rec, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var purposes []string
			for i, req := range m.requests {
				purposes = append(purposes, req.Purpose)
				if req.Purpose != "feedback" {
					continue
				}
				all := req.Messages[0].Content + req.Messages[1].Content
				for _, want := range []string{"Who is it?", "And before?", "SELECT", "instance of (P31)", "2 rows", "universe"} {
					if len(req.Messages) != 2 || i == 1 && !strings.Contains(all, want) {
						t.Errorf("the judge is not shown %q: %s", want, all)
					}
				}
				if len(req.Tools) != 1 || req.ToolChoice != "give_feedback" {
					t.Errorf("the judge's tools: %+v", req.Tools)
				}
			}
			var events []string
			for _, e := range rec.of("feedback") {
				events = append(events, e.Reason)
			}
			if got := strings.Join(purposes, " "); got != tt.purposes || strings.Join(events, " ") != tt.events {
				t.Errorf("calls %q, want %q; verdicts %q", got, tt.purposes, events)
			}
			if d := cmp.Diff(tt.first, out.Feedback); d != "" {
				t.Error(d)
			}
			a := out.Answer
			if a == nil {
				a = out.Attempt
			}
			if (out.Answer != nil) != tt.answered || a == nil || !strings.Contains(a.SPARQL, tt.sparql) {
				t.Errorf("%+v %+v, want %s", out.Ending, a, tt.sparql)
			}
			if len(tt.turns) > 3 && tt.turns[1][0] == "give_feedback" { // the model saw the verdict as the result of its call
				ms := m.requests[2].Messages
				if last := ms[len(ms)-1]; last.Role != llm.ToolRole || !strings.Contains(last.Content, "Feedback, status "+
					tt.first.Status+": "+tt.first.Text) {
					t.Errorf("%+v", last)
				}
			}
		})
	}
}

// TestFeedbackAsText checks that the judge writes JSON if native calls are not used.
func TestFeedbackAsText(t *testing.T) {
	p := ruled(func(*preset.Rules) {})
	p.Feedback.Rounds = 1
	m := &fakeModel{acts: []string{execute(qA), do("stop()"), execute(qB), do("stop()")},
		tasks: map[string]string{"feedback": "Well:\n```json\n{\"status\": \"refine\", \"feedback\": \"Of Germany.\"}\n```"}}
	out, err := with(m, Wikibase(graphOfTwo()), p).Ask(t.Context(), Question{Text: "Who?", Language: "en"}, nil, Limits{})
	if err != nil || out.Answer == nil || !strings.Contains(out.Answer.SPARQL, "P17") || out.Feedback == nil ||
		out.Feedback.Status != "refine" {
		t.Fatalf("%+v, %v", out, err)
	}
	if !strings.Contains(m.requests[2].Messages[0].Content, `"enum":["done","refine","retry"]`) {
		t.Errorf("the judge was not told the form: %s", m.requests[2].Messages[0].Content)
	}
	told := m.requests[3].Messages
	if last := told[len(told)-1].Content; !strings.Contains(last, "Feedback, status refine: Of Germany.") {
		t.Errorf("the model was told %s", last)
	}
}
