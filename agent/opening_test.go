package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// judged judges a post with the best preset. It returns the judgment as the ledger stores it, and the events.
func judged(t *testing.T, e *Engine, posts ...Post) (*Triage, *memory) {
	t.Helper()
	rec := &memory{}
	tr, err := e.Triage(t.Context(), "Capital of Tarland", posts, rec, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(tr.Opening)
	if err != nil {
		t.Fatal(err)
	}
	tr.Opening = nil
	if err := json.Unmarshal(b, &tr.Opening); err != nil {
		t.Fatal(err)
	}
	return tr, rec
}

const (
	isRequest = `triage {"request": true, "language": "en", "why": "asks for a fact"}`
	isThanks  = `triage {"request": false, "language": "en", "why": "thanks"}`
)

var tarland = Post{Author: "A", Text: "What is the capital of Tarland?"}

// TestOpening checks that one call judges a post, determines its language and makes the first turn, and that the run
// continues in the same conversation. This saves one call per question.
func TestOpening(t *testing.T) {
	m := &turnModel{turns: []string{isRequest + "\n" + capital, finished}}
	e := with(m, peaksGraph(t), best(t))
	tr, _ := judged(t, e, tarland)
	if !tr.Request || tr.Language != "en" || tr.Opening == nil || tr.Opening.Turn == nil {
		t.Fatalf("%+v", tr)
	}
	rec := &memory{}
	out, err := e.Ask(t.Context(), Question{Text: "What is the capital of Tarland?", Language: tr.Language,
		Opening: tr.Opening}, rec, Limits{})
	if err != nil || out.Answer == nil || out.Report != "Tarburg." {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(m.requests) != 2 || out.Usage.Calls != 1 {
		t.Errorf("%d calls in total, %d of them in the work; want 2 and 1", len(m.requests), out.Usage.Calls)
	}
	first, second := m.requests[0], m.requests[1]
	if first.Purpose != "triage" || second.Purpose != "act" || second.Part != "2" {
		t.Errorf("purposes %s, %s %s", first.Purpose, second.Purpose, second.Part)
	}
	if d := cmp.Diff(first.Tools, second.Tools); d != "" {
		t.Errorf("other tools: %s", d)
	}
	if n := len(first.Messages); len(second.Messages) <= n {
		t.Errorf("the second request has %d messages, the first %d", len(second.Messages), n)
	} else if d := cmp.Diff(first.Messages, second.Messages[:n]); d != "" {
		t.Errorf("the second request does not begin with the first: %s", d)
	}
	says(t, first.Messages[0].Content, "Your first turn calls triage", `"request" is true when`)
	says(t, first.Messages[1].Content, "<heading>Capital of Tarland</heading>", tarland.Text)
	for _, ev := range rec.events {
		if ev.Event == "graph" {
			t.Errorf("looked up again before the first turn: %s", ev.Call.Op)
		}
		if ev.Event == "model" {
			if ev.Response.Usage != (llm.Usage{}) {
				t.Errorf("the first turn is charged again: %+v", ev.Response.Usage)
			}
			break
		}
	}
	if names := actionsOf(out); !slices.Equal(names, []string{"look_up_question", "query", "finish"}) {
		t.Errorf("steps %v", names)
	}
}

func actionsOf(out *Outcome) (names []string) {
	for _, s := range out.Steps {
		names = append(names, s.Action)
	}
	return names
}

// TestOpeningOtherTurns tests first turns without a judgment, without a call, or with a judgment in words.
func TestOpeningOtherTurns(t *testing.T) {
	for _, tt := range []struct {
		name          string
		turns         []string
		request, plan bool
		calls         int // number of calls for the judgment
	}{
		{"no request", []string{isThanks}, false, false, 1},
		{"not a request, but work anyway", []string{isThanks + "\n" + capital}, false, false, 1},
		{"only the judgment", []string{isRequest}, true, false, 1},
		{"judged in words", []string{`{"request": "yes", "language": "English", "why": "asks"}`}, true, false, 1},
		{"work without a judgment", []string{capital,
			`{"request": true, "language": "en", "question": "Which?", "why": "asks"}`}, true, true, 2},
		{"work without a judgment, not a request", []string{capital, `{"request": false, "why": "thanks"}`}, false,
			false, 2},
		{"nothing readable", []string{"Well.", `{"request": true, "language": "en", "question": "Which?"}`}, true, false, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &turnModel{turns: tt.turns}
			tr, _ := judged(t, with(m, peaksGraph(t), best(t)), tarland)
			if tr.Request != tt.request || (tr.Opening != nil && tr.Opening.Turn != nil) != tt.plan {
				t.Errorf("%+v, opening %+v", tr, tr.Opening)
			}
			if len(m.requests) != tt.calls {
				t.Errorf("%d calls, want %d", len(m.requests), tt.calls)
			}
		})
	}
}

// TestOpeningWithoutPlan checks that after a turn with only a judgment, the run starts with the lookups, in the same
// conversation.
func TestOpeningWithoutPlan(t *testing.T) {
	m := &turnModel{turns: []string{isRequest, capital, finished}}
	e := with(m, peaksGraph(t), best(t))
	tr, _ := judged(t, e, Post{Author: "A", Text: "<b>", Ours: true}, tarland)
	out, err := e.Ask(t.Context(), Question{Text: "which?", Opening: tr.Opening}, nil, Limits{})
	if err != nil || out.Answer == nil || len(m.requests) != 3 {
		t.Fatalf("%+v, %v after %d calls", out, err, len(m.requests))
	}
	if d := cmp.Diff(m.requests[0].Messages, m.requests[1].Messages); d != "" {
		t.Error(d)
	}
	says(t, m.requests[0].Messages[1].Content, `by="this program"`, "&lt;b&gt;")
}

// TestOpeningApart checks that the judgment is a separate call if the server does not support tool calls or the preset
// does not use an opening. In both cases, an earlier opening is ignored.
func TestOpeningApart(t *testing.T) {
	separate := `{"request": true, "language": "en", "question": "What is the capital of Tarland?", "why": "asks"}`
	m := &turnModel{turns: []string{separate}, noTools: true}
	e := with(m, peaksGraph(t), best(t))
	tr, _ := judged(t, e, tarland)
	if !tr.Request || tr.Opening != nil || len(m.requests) != 1 || len(m.requests[0].Tools) > 0 {
		t.Errorf("without tools: %+v after %d calls", tr, len(m.requests))
	}
	m.turns = []string{`query {"sparql": "SELECT ?city WHERE { wd:Q40 wdt:P36 ?city }"}`, `finish {"answer": "Tarburg."}`}
	out, err := e.Ask(t.Context(), Question{Text: tr.Question, Opening: &Opening{Posts: []Post{tarland}, Looked: "x",
		Turn: &llm.Choice{Content: "never said"}}}, nil, Limits{})
	if err != nil || out.Answer == nil {
		t.Errorf("%+v, %v", out, err)
	}
	p := best(t)
	p.Rules.Triage = false
	m = &turnModel{turns: []string{separate}}
	tr, rec := judged(t, with(m, peaksGraph(t), p), tarland)
	if tr.Opening != nil || len(rec.of("graph")) > 0 || strings.Contains(m.requests[0].Messages[0].Content, "Work in few") {
		t.Errorf("switched off: %+v", tr)
	}
}
