package agent

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// TestRescue tests queries that take too long, with and without the rescue rule.
func TestRescue(t *testing.T) {
	const slow = "SELECT ?x ?y WHERE { ?x wdt:P569 ?y . ?x wdt:P106 wd:Q1 }"
	const scan = "SELECT ?x ?y WHERE { ?x wdt:P569 ?y }"
	always := func(string) bool { return true }
	for _, tt := range []struct {
		name   string
		off    bool
		acts   []string
		first  int                    // number of initial queries that succeed
		runs   func(text string) bool // reports whether a later query is fast enough
		asked  string                 // the query sent to the service, in its dialect
		want   []string               // strings in the posted query; if empty, there is no answer
		ran    int                    // total number of queries
		told   string                 // text in the last prompt
		reason Reason
	}{
		{name: "the final run", acts: []string{execute(slow), do("stop()")}, first: 1,
			runs: func(s string) bool { return strings.Contains(s, "INCLUDE %anchors") },
			want: []string{"WITH", "INCLUDE %anchors", `hint:Query hint:optimizer "None"`}, ran: 3},
		{name: "the second form", acts: []string{execute(slow), do("stop()")}, first: 1,
			runs: func(s string) bool { return strings.Contains(s, "hint:Query") && !strings.Contains(s, "WITH") },
			want: []string{`hint:Query hint:optimizer "None"`}, ran: 4},
		{name: "while exploring", acts: []string{execute(slow), do("stop()")},
			runs: func(s string) bool { return strings.Contains(s, "INCLUDE %anchors") },
			want: []string{"INCLUDE %anchors"}, ran: 3, told: "Your query took too long. This form of it has the same rows"},
		{name: "no form runs", acts: []string{execute(slow), do("stop()"), do("stop(no answer: too slow)")},
			first: 1, runs: func(string) bool { return false }, ran: 4, told: "also when what is known comes first",
			reason: NotFound},
		{name: "nothing can be done", acts: []string{execute(scan), do("stop(no answer: too slow)")},
			runs: func(string) bool { return false }, ran: 1,
			told: "Line 1: nothing in this part is known, so the whole graph is searched. " +
				"Try this: name an item, or add LIMIT.",
			reason: NotFound},
		{name: "without the rule", off: true, acts: []string{execute(slow), do("stop(no answer: too slow)")},
			runs: func(string) bool { return false }, ran: 1, told: "ran out of time", reason: NotFound},
		{name: "a second service with its own dialect", acts: []string{execute(slow), do("stop()")}, runs: always,
			asked: "PREFIX wdt: <http://www.wikidata.org/prop/direct/> SELECT ?x { ?x wdt:P106 ?z }",
			want:  []string{"PREFIX wdt:", "wdt:P106 ?z"}, ran: 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &fakeGraph{}
			g.query = func(text string) (*kg.Table, error) {
				if len(g.queries) > tt.first && !tt.runs(text) {
					return nil, kg.Errorf(kg.Timeout, "60 s")
				}
				table := items("Q2")
				table.Asked = tt.asked
				return table, nil
			}
			m, p := &fakeModel{acts: tt.acts}, ruled(func(r *preset.Rules) { r.Rescue = !tt.off })
			out, err := with(m, Wikibase(g), p).Ask(t.Context(), Question{Text: "Who?", Language: "en"}, nil, Limits{})
			if err != nil || (out.Answer != nil) != (len(tt.want) > 0) || out.Reason != tt.reason {
				t.Fatalf("%+v, %v", out, err)
			}
			if len(g.queries) != tt.ran {
				t.Errorf("%d queries, want %d: %q", len(g.queries), tt.ran, g.queries)
			}
			messages := m.requests[len(m.requests)-1].Messages
			if told := messages[len(messages)-1].Content; !strings.Contains(told, tt.told) {
				t.Errorf("the model was not told %q: %s", tt.told, told)
			}
			if out.Answer == nil {
				return
			}
			for _, want := range tt.want {
				if !strings.Contains(out.Answer.SPARQL, want) {
					t.Errorf("the posted query is %s, want %q in it", out.Answer.SPARQL, want)
				}
			}
			if last := g.queries[len(g.queries)-1]; last != out.Answer.Ran || last != out.Answer.SPARQL {
				t.Errorf("the posted query is\n%s\nnot the one that was run:\n%s", out.Answer.SPARQL, last)
			}
		})
	}
}
