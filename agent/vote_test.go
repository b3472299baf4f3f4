package agent

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// voting asks a question with a policy that makes several tries, such as vote.
func voting(t *testing.T, m *fakeModel, runs int, policy string, limits Limits) (*Outcome, *memory) {
	t.Helper()
	opts := spinach(func(p *preset.Preset) { p.Report = false })
	opts.Policy, opts.Runs = policy, runs
	rec := &memory{}
	out, err := New(slog.New(slog.DiscardHandler), m, tool.Wikibase(graphOfTwo()), ticking(), opts).Ask(t.Context(),
		Question{Text: "Which rivers flow into the Danube?", Language: "en"}, rec, limits)
	if err != nil {
		t.Fatal(err)
	}
	return out, rec
}

// tryWith returns the turns of a try that ends with a query.
func tryWith(query string) []string {
	return []string{do("execute_sparql(" + query + ")"), do("stop()")}
}

func turnsOf(queries ...string) (out []string) {
	for _, q := range queries {
		out = append(out, tryWith(q)...)
	}
	return out
}

// TestVote checks when tries are skipped, how the answer is chosen, and what is logged.
func TestVote(t *testing.T) {
	first := `{"answer": 1, "why": "It says what the question says."}`
	second := `{"answer": 2, "why": "The other lacks rows."}`
	// The prompts name P31 and Q5, so query A contains only IDs that the model was shown, but query B does not. Answer A
	// is therefore more certain.
	for _, tt := range []struct {
		name     string
		runs     int
		acts     []string
		compare  string
		calls    string // purposes, in order
		property string // a property in the answer's query, or ""
		reason   string // the vote's reason
		votes    []float64
		agree    int
	}{
		{"two equal answers spare the third try", 3, turnsOf(qA, qA), "", "act act act act", "P31", "agreement",
			[]float64{2}, 2},
		{"one try", 1, turnsOf(qB), "", "act act", "P17", "agreement", []float64{1}, 1},
		{"a tie is compared", 2, turnsOf(qB, qA), first, "act act act act compare", "P31", "comparison",
			[]float64{1, 1}, 1},
		{"the other side of the tie", 2, turnsOf(qB, qA), second, "act act act act compare", "P17",
			"comparison", []float64{1, 1}, 1},
		{"a minority may be right", 3, turnsOf(qA, qB, qB), second, "act act act act act act compare", "P31", "comparison",
			[]float64{2, 1}, 1},
		{"the comparison is garbage: the majority", 3, turnsOf(qA, qB, qB), "I like them all.",
			"act act act act act act compare", "P17", "majority", []float64{2, 1}, 2},
		{"a number that does not exist", 3, turnsOf(qA, qB, qB), `{"answer": 7, "why": "?"}`,
			"act act act act act act compare", "P17", "majority", []float64{2, 1}, 2},
		{"garbage and a tie: the more certain one", 2, turnsOf(qB, qA), "{}", "act act act act compare", "P31",
			"confidence", []float64{1, 1}, 1},
		{"none is right", 2, turnsOf(qA, qB), `{"answer": 0, "why": "Both mean people."}`, "act act act act compare", "",
			"comparison", []float64{1, 1}, 0},
		{"yes against no", 2, turnsOf(qAsk, qA), first, "act act act act compare", "P31", "comparison", []float64{1, 1}, 1},
		{"a try without an answer has no vote", 2, append([]string{do("execute_sparql(" + qEmpty + ")"),
			do("stop(no answer: there is none)")}, tryWith(qB)...), "", "act act act act", "P17", "agreement", []float64{1}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &fakeModel{acts: tt.acts, tasks: map[string]string{"compare": tt.compare}, usage: llm.Usage{InputTokens: 10}}
			out, rec := voting(t, m, tt.runs, "vote", Limits{})
			var calls []string
			for _, r := range m.requests {
				calls = append(calls, r.Purpose)
			}
			if got := strings.Join(calls, " "); got != tt.calls {
				t.Errorf("calls %q, want %q", got, tt.calls)
			}
			if (out.Answer != nil) != (tt.property != "") || out.Answer != nil && !strings.Contains(out.Answer.SPARQL, tt.property) {
				t.Errorf("answer %+v, want one with %q; %s", out.Answer, tt.property, out.Detail)
			}
			votes := rec.of("vote")
			if len(votes) != 1 || votes[0].Reason != tt.reason {
				t.Fatalf("%d votes, %+v, want one by %s", len(votes), votes, tt.reason)
			}
			var weights []float64
			chosen := 0
			for _, g := range votes[0].Groups {
				weights = append(weights, g.Weight)
				if g.Chosen {
					chosen++
				}
				if len(g.Ends) != int(g.Weight) || g.SPARQL == "" || g.Rows == 0 && !strings.HasPrefix(g.SPARQL, "ASK") {
					t.Errorf("group %+v", g)
				}
			}
			if d := cmp.Diff(tt.votes, weights); d != "" || (chosen == 1) != (tt.property != "") {
				t.Errorf("%d chosen, weights (-want +got):\n%s", chosen, d)
			}
			if out.Answer == nil {
				if out.Attempt == nil || out.Reason != NotFound {
					t.Errorf("no answer: %+v, attempt %v", out.Ending, out.Attempt)
				}
				return
			}
			if len(out.Steps) != 2 || out.Features == nil || out.Features.Agree != tt.agree {
				t.Errorf("%d steps, features %+v; want the steps of one try, and %d that agree", len(out.Steps), out.Features,
					tt.agree)
			}
			if end := rec.of("end")[0]; end.Features == nil || *end.Features != *out.Features {
				t.Errorf("the end event has features %+v", end.Features)
			}
		})
	}
}

// TestVoteIsIndependent checks that a try does not see anything from the other tries, and that its requests have a
// different seed, a higher temperature and a different tool order.
func TestVoteIsIndependent(t *testing.T) {
	m := &fakeModel{acts: turnsOf(qA, qB), tasks: map[string]string{"compare": ""}}
	voting(t, m, 2, "vote", Limits{})
	a, b := m.requests[0], m.requests[2]
	if a.Seed != nil || b.Seed == nil || b.Temperature < 0.7 || len(b.Messages) != len(a.Messages) {
		t.Errorf("first try: seed %v, %d messages; second: seed %v, temperature %g, %d messages", a.Seed, len(a.Messages),
			b.Seed, b.Temperature, len(b.Messages))
	}
	if x, y := a.Messages[0].Content, b.Messages[0].Content; x == y || len(x) != len(y) {
		t.Error("the tools are in the same order, or different tools")
	}
	for _, msg := range b.Messages {
		if strings.Contains(msg.Content, "P31 wd:Q5") {
			t.Errorf("the second try sees the first one's query: %s", msg.Content)
		}
	}
	compare := m.requests[len(m.requests)-1]
	said := compare.Messages[1].Content
	for _, want := range []string{"wdt:P31 wd:Q5", "wdt:P17 wd:Q183", "Rows that no other answer has: 2", "Rows that no other answer has: 1",
		"found by 1 of 2 searchers", "Which rivers flow into the Danube?"} {
		if !strings.Contains(said, want) {
			t.Errorf("the comparison does not see %q:\n%s", want, said)
		}
	}
	if compare.Facts == nil || len(compare.Facts.Queries) != 2 {
		t.Errorf("the comparison has the facts %+v", compare.Facts)
	}
}

// TestVotePresets checks that the tries alternate between the presets.
func TestVotePresets(t *testing.T) {
	g, err := preset.Named("grasp")
	if err != nil {
		t.Fatal(err)
	}
	opts := spinach(func(p *preset.Preset) { p.Report = false })
	opts.Policy, opts.Runs = "vote", 2
	opts.Variants = []step.Variant{{Preset: opts.Preset}, {Preset: g}}
	m := &fakeModel{acts: append(tryWith(qA), "So:\n```sparql\n"+qA+"\n```")}
	rec := &memory{}
	out, err := New(slog.New(slog.DiscardHandler), m, tool.Wikibase(graphOfTwo()), ticking(), opts).Ask(t.Context(),
		Question{Text: "Who?", Language: "en"}, rec, Limits{})
	if err != nil || out.Answer == nil || out.Features.Agree != 2 {
		t.Fatalf("%v %+v", err, out)
	}
	if len(m.requests[0].Tools) != 0 || len(m.requests[2].Tools) != len(g.Tools) {
		t.Errorf("tools %d and %d", len(m.requests[0].Tools), len(m.requests[2].Tools))
	}
	var presets []string
	for _, e := range rec.of("try") {
		presets = append(presets, e.Preset)
	}
	if d := cmp.Diff([]string{"spinach", "grasp"}, presets); d != "" {
		t.Error(d)
	}
}

// TestVoteBudget checks that a run's limits apply to all its tries together, and that an answer is kept if the money
// runs out.
func TestVoteBudget(t *testing.T) {
	for calls := 1; calls <= 9; calls++ {
		m := &fakeModel{acts: turnsOf(qA, qB, qA), tasks: map[string]string{"compare": `{"answer": 1, "why": "x"}`},
			usage: llm.Usage{InputTokens: 10, USD: 0.01}}
		out, rec := voting(t, m, 3, "vote", Limits{Calls: calls})
		// A try takes two calls and starts only if two are left. The seventh call is for the comparison.
		tries, made := min(3, max(1, calls/2)), min(calls, 7)
		if calls < 7 {
			made = min(calls, 2*tries)
			if tries == 2 && calls == 5 {
				made = 5 // two tries and their comparison
			}
		}
		if len(m.requests) > calls || len(m.requests) != made || len(rec.of("try")) != tries {
			t.Errorf("limit %d: %d calls in %d tries, want %d in %d", calls, len(m.requests), len(rec.of("try")), made, tries)
		}
		if (out.Answer != nil) != (calls >= 2) {
			t.Errorf("limit %d: answer %v, %+v", calls, out.Answer, out.Ending)
		}
	}
	over := &llm.BudgetError{Account: llm.DayAccount, Measure: llm.USD, Reached: 2, Limit: 1}
	m := &fakeModel{acts: turnsOf(qA, qB)}
	m.before = func(string) {
		if len(m.requests) == 3 {
			m.fail = map[string]error{"act": over}
		}
	}
	if out, _ := voting(t, m, 3, "vote", Limits{}); out.Answer == nil || len(m.requests) != 3 {
		t.Errorf("the day's money ended in the second try: %+v after %d calls", out.Ending, len(m.requests))
	}
	m = &fakeModel{fail: map[string]error{"act": over}}
	if out, _ := voting(t, m, 3, "vote", Limits{}); out.Reason != DayMoney || len(m.requests) != 1 {
		t.Errorf("no money at all: %+v after %d calls", out.Ending, len(m.requests))
	}
}

// TestAuto checks that the auto policy accepts a certain answer after one try and puts a doubtful answer to a vote.
func TestAuto(t *testing.T) {
	auto := func(query string) (*Outcome, *fakeModel) {
		m := &fakeModel{acts: turnsOf(query, query)}
		o := spinach(func(p *preset.Preset) { p.Report = false })
		o.Policy = "auto"
		out, err := New(slog.New(slog.DiscardHandler), m, tool.Wikibase(graphOfTwo()), ticking(), o).Ask(t.Context(),
			Question{Text: "Which?", Language: "en"}, &memory{}, Limits{})
		if err != nil || out.Answer == nil {
			t.Fatalf("%v %+v", err, out)
		}
		return out, m
	}
	// The prompts name P31 and Q5, so there is no reason to doubt the answer.
	if out, m := auto(qA); len(m.requests) != 2 || out.Features.Tries != 1 {
		t.Errorf("a sure answer took %d calls in %d tries, confidence %g", len(m.requests), out.Features.Tries, out.Confidence)
	}
	// The query has a LIMIT that no one asked for. The tries agree on the answer, but it is still doubtful, so a tree
	// search follows. The model fails in the tree search, and the vote's answer is kept.
	if out, m := auto(qA + " LIMIT 2"); len(m.requests) != 5 || out.Features.Tries != 3 || out.Features.Agree != 2 {
		t.Errorf("a doubtful answer took %d calls in %d tries, confidence %g", len(m.requests), out.Features.Tries, out.Confidence)
	}
}

// TestVoteOnTruth checks that a truth value and a table can be compared and are different answers.
func TestVoteOnTruth(t *testing.T) {
	const ask = "ASK { wd:Q1 wdt:P31 wd:Q5 }"
	g := graphOfTwo()
	rows := g.query
	g.query = func(q string) (*kg.Table, error) {
		if strings.Contains(q, "ASK") {
			return &kg.Table{Ask: true, Boolean: true}, nil
		}
		return rows(q)
	}
	m := &fakeModel{acts: turnsOf(ask, qA), tasks: map[string]string{"compare": `{"answer": 2, "why": "It says which."}`}}
	opts := spinach(func(p *preset.Preset) { p.Report = false })
	opts.Policy, opts.Runs = "vote", 2
	out, err := New(slog.New(slog.DiscardHandler), m, tool.Wikibase(g), ticking(), opts).Ask(t.Context(),
		Question{Text: "Who?", Language: "en"}, &memory{}, Limits{})
	if err != nil || out.Answer == nil {
		t.Fatalf("%+v, %v", out, err)
	}
	if last := m.last("compare"); !strings.Contains(last, "true") {
		t.Errorf("the comparison does not show the truth value:\n%s", last)
	}
}

// TestClarify checks that a run whose answer is not certain enough asks the asker a clarifying question, based on the
// answers if they differ or else on the only answer. A certain answer does not lead to a question, and the model's text
// is not used if it is not a question.
func TestClarify(t *testing.T) {
	asks := func(doubt float64, said string, policy string, turns ...string) (*Outcome, *fakeModel, *memory) {
		m := &fakeModel{acts: turns, tasks: map[string]string{"clarify": said, "compare": `{"answer": 0, "why": "Neither."}`}}
		o := spinach(func(p *preset.Preset) { p.Report = false })
		o.Policy, o.Doubt = policy, doubt
		if policy == "vote" {
			o.Runs = 2
		}
		rec := &memory{}
		out, err := New(slog.New(slog.DiscardHandler), m, tool.Wikibase(graphOfTwo()), ticking(), o).Ask(t.Context(),
			Question{Text: "Which rivers?", Language: "en"}, rec, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return out, m, rec
	}
	const question = "Do you mean rivers only, or also canals?"
	out, m, rec := asks(0.999, " Do you mean rivers only,\nor also canals? ", "linear", turnsOf(qA)...)
	if out.Answer == nil || out.Asks != question || rec.of("end")[0].Asks != question {
		t.Errorf("one reading: asks %q, end %+v", out.Asks, rec.of("end")[0])
	}
	if said := m.last("clarify"); !strings.Contains(said, "wdt:P31 wd:Q5") || !strings.Contains(said, "Which rivers?") {
		t.Errorf("the model is shown %s", said)
	}
	out, m, _ = asks(0.5, question, "vote", turnsOf(qA, qB)...)
	if out.Answer != nil || out.Asks != question {
		t.Errorf("two readings, none right: %v, asks %q", out.Answer, out.Asks)
	}
	if said := m.last("clarify"); !strings.Contains(said, "P31") || !strings.Contains(said, "P17") ||
		!strings.Contains(said, "Rows that the other reading does not have: 1") {
		t.Errorf("the model is shown %s", said)
	}
	for _, garbage := range []string{"none", "", "I am not sure."} {
		if out, _, _ = asks(0.999, garbage, "linear", turnsOf(qA)...); out.Asks != "" || out.Answer == nil {
			t.Errorf("%q became the question %q", garbage, out.Asks)
		}
	}
	if out, m, _ = asks(0.01, question, "linear", turnsOf(qA)...); out.Asks != "" || m.last("clarify") != "" {
		t.Errorf("a sure answer: asks %q", out.Asks)
	}
	if out, m, _ = asks(0, question, "linear", turnsOf(qA)...); out.Asks != "" || m.last("clarify") != "" {
		t.Errorf("without a threshold: asks %q", out.Asks)
	}
}
