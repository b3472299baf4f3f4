package policy

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// closed returns how the branches of a search ended, keyed by path.
func (g *grown) closed() map[string]string {
	out := map[string]string{}
	for _, x := range g.nodes {
		if x.closed != "" {
			out[g.name(x)] = x.closed
		}
	}
	return out
}

// Each baseline visits the same tree in a different order (row G.6 of docs/trees.md).
func TestOrders(t *testing.T) {
	acts := map[string][]string{"": {"a", "b"}, "a": {"c", "d"}, "b": {"e", "f"}, "a/c": {"q1"}, "a/c/q1": {"end"}}
	for _, tt := range []struct {
		policy string
		want   []string
	}{
		{"bfs", []string{"", "a", "b", "a/c", "a/d", "b/e", "b/f", "a/c/q1"}},
		{"dfs", []string{"", "a", "a/c", "a/c/q1"}},
	} {
		w := &world{acts: acts}
		g := w.search(t, tt.policy, event.Limits{}, "n=2,k=1")
		if d := cmp.Diff(tt.want, w.asked); d != "" || g.err != nil || g.final.Answer == nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.policy, g.err, d)
		}
		if len(w.judged)+len(g.log.of("score"))+len(g.log.of("visit")) > 0 {
			t.Errorf("%s: something was scored", tt.policy)
		}
	}
	first, again, other := (&world{acts: acts}).search(t, "random", event.Limits{}, "n=2,k=1,seed=7"),
		(&world{acts: acts}).search(t, "random", event.Limits{}, "n=2,k=1,seed=7"),
		(&world{acts: acts}).search(t, "random", event.Limits{}, "n=2,k=1,seed=8")
	if a := timeless(t, first.log.events); !slices.Equal(a, timeless(t, again.log.events)) ||
		slices.Equal(a, timeless(t, other.log.events)) {
		t.Error("random scores do not depend on the seed alone")
	}
	rules, direct := &world{acts: acts}, &world{acts: acts}
	rules.search(t, "mcts", event.Limits{}, "n=2,k=1")
	direct.search(t, "direct", event.Limits{}, "n=2,k=1")
	system := func(w *world) string {
		i := slices.IndexFunc(w.requests, func(r llm.Request) bool { return r.Purpose == llm.Judge })
		return w.requests[i].Messages[0].Content
	}
	if !strings.Contains(system(rules), "Example:") || strings.Contains(system(direct), "Example:") ||
		!strings.Contains(system(direct), "execute_sparql") {
		t.Error("the direct judge's prompt has rules, or lacks the tools")
	}
}

// TestChildren checks how samples are handled (rows M3, G.2 and G.3 of docs/trees.md).
func TestChildren(t *testing.T) {
	for _, tt := range []struct {
		name   string
		acts   map[string][]string
		closed map[string]string
		answer bool
	}{
		{"equal results are one child", map[string][]string{"": {"q1", "q11"}, "q1": {"end"}},
			map[string]string{"q1/end": event.LeafAnswered}, true},
		{"an end after a search does not count", map[string][]string{"": {"q1"}, "q1": {"a"}, "q1/a": {"end"}},
			map[string]string{"q1/a/end": event.LeafEmpty}, true}, // the answer is the best executed query
		{"a branch that is as deep as allowed ends", map[string][]string{"": {"a"}, "a": {"b"}, "b": {"c"}, "a/b": {"c"}},
			map[string]string{"a/b/c": event.LeafDeep}, false},
		{"never anything readable", map[string][]string{"": {"?"}}, map[string]string{"": event.LeafFailed}, false},
		{"an unreadable turn is repaired", map[string][]string{"": {"q1"}, "q1": {"?", "end"}},
			map[string]string{"q1/end": event.LeafAnswered}, true},
		{"an end after no rows is refused", map[string][]string{"": {"q9"}, "q9": {"end"}},
			map[string]string{"q9": event.LeafFailed}, false},
		{"the model says that there is no answer", map[string][]string{"": {"q9"}, "q9": {"give up"}},
			map[string]string{"q9/end no answer: nothing fits": event.LeafEmpty}, false},
	} {
		g := (&world{acts: tt.acts}).search(t, "mcts", event.Limits{}, "n=2,k=1,depth=3,simulations=12")
		if d := cmp.Diff(tt.closed, g.closed()); d != "" || g.err != nil || (g.final.Answer != nil) != tt.answer {
			t.Errorf("%s: %v, answer %+v, ending %+v (-want +got):\n%s", tt.name, g.err, g.final.Answer, g.final.Ending, d)
		}
	}
}

// A step that failed or showed nothing has no value and is not judged.
func TestWorthless(t *testing.T) {
	w := &world{acts: map[string][]string{"": {"q8", "q9", none, "q1"}}}
	g := w.search(t, "mcts", event.Limits{}, "n=4,simulations=1")
	var why []string
	for _, e := range g.log.of("score") {
		why = append(why, e.Detail)
	}
	if d := cmp.Diff([]string{"the action failed", "the action showed nothing", "the action showed nothing", "Score: 50"},
		why); d != "" || !slices.Equal(w.judged, []string{"q1"}) {
		t.Errorf("judged %q (-want +got):\n%s", w.judged, d)
	}
}

// When a limit is reached, the search ends, and the best result so far is the answer.
func TestLimits(t *testing.T) {
	acts := map[string][]string{"": {"q1", "a"}, "q1": {"end", "b"}}
	for _, tt := range []struct {
		name       string
		limits     event.Limits
		parameters string
		answer     bool
		reason     event.Reason
		over       string // why the search ended
	}{
		{"simulations", event.Limits{}, "n=2,simulations=2", true, event.Answered, "simulations"},
		// The calls are act, two judgments, act: the end is not judged.
		{"calls", event.Limits{Calls: 4}, "n=2", true, event.Answered, "tokens"},
		{"money", event.Limits{USD: 0.04}, "n=2", true, event.Answered, "money"},
		// The answer is the executed query.
		{"calls, before a branch has ended", event.Limits{Calls: 1}, "n=2", true, event.Answered, "tokens"},
		{"k", event.Limits{}, "n=2,k=1", true, event.Answered, "answers"},
		{"everything", event.Limits{}, "n=1,k=2,depth=2", true, event.Answered, "all"},
	} {
		w := &world{acts: acts, scores: map[string][]string{"q1": {"Score: 90"}, "a": {"Score: 10"}}}
		g := w.search(t, "mcts", tt.limits, tt.parameters)
		if e := g.log.of("searched"); len(e) != 1 || e[0].Reason != tt.over {
			t.Errorf("%s: the search ended with %+v, want %q", tt.name, e, tt.over)
		}
		if g.err != nil || (g.final.Answer != nil) != tt.answer || g.final.Ending.Reason != tt.reason {
			t.Errorf("%s: %v, answer %+v, ending %+v", tt.name, g.err, g.final.Answer, g.final.Ending)
		}
		if tt.limits.Calls > 0 && len(w.requests) > tt.limits.Calls {
			t.Errorf("%s: %d calls", tt.name, len(w.requests))
		}
	}
	w := &world{fails: map[string]error{"": llm.ErrNoModel}}
	if g := w.search(t, "mcts", event.Limits{}, ""); g.err != nil || g.final.Ending.Reason != event.NoModel {
		t.Errorf("no model: %v, %+v", g.err, g.final.Ending)
	}
}

// The majority wins even if the judge prefers a different answer.
func TestMajority(t *testing.T) {
	w := &world{acts: map[string][]string{"": {"a", "b", "c"}, "a": {"q1"}, "b": {"q1"}, "c": {"q2"},
		"a/q1": {"end"}, "b/q1": {"end"}, "c/q2": {"end"}}, scores: map[string][]string{"c/q2/end": {"Score: 100"},
		"a/q1/end": {"Score: 40"}, "b/q1/end": {"Score: 30"}}}
	g := w.search(t, "mcts", event.Limits{}, "n=3,k=3")
	vote := g.log.of("vote")
	if g.err != nil || len(vote) != 1 || len(vote[0].Groups[0].Ends) != 2 || g.name(g.found[0]) == "" ||
		!strings.Contains(g.final.Answer.Ran, "wd:Q1") || g.final.Votes.Agree != 2 || g.final.Votes.Tries != 3 {
		t.Errorf("%v, %+v, %+v", g.err, vote, g.final)
	}
}

// An unreadable judgment is requested once more and then omitted.
func TestJudgments(t *testing.T) {
	for _, tt := range []struct {
		name   string
		said   []string
		value  float64
		values int
		asked  int
	}{
		{"all readable", []string{"Score: 40", "Score: 60"}, 0.5, 2, 1},
		{"points go before a wrong sum", []string{"Points: 3 of 4\nScore: 60"}, 0.75, 2, 1},
		{"a zero goes before points", []string{"Points: 3 of 4\nScore: 0"}, 0, 2, 1},
		{"as models write it", []string{"**Points:** 1/2\n**Score:** 50", "- Score: 2/4 * 100 = 50%"}, 0.5, 2, 1},
		{"one unreadable", []string{"Score: 40", "good"}, 0.4, 2, 2}, // when asked again, the model returns the first sample
		{"none readable", []string{"good", "Score: 1000"}, 0, 0, 2},
	} {
		w := &world{acts: map[string][]string{"": {"a"}}, scores: map[string][]string{"a": tt.said}}
		g := w.search(t, "mcts", event.Limits{}, "n=1,simulations=1,judgments=2")
		e := g.log.of("score")[0]
		if *e.Value != tt.value || len(e.Values) != tt.values || len(w.judged) != tt.asked {
			t.Errorf("%s: %g of %v, asked %d times", tt.name, *e.Value, e.Values, len(w.judged))
		}
	}
	w := &world{acts: map[string][]string{"": {"a"}, "a": {"q1"}, "a/q1": {"end"}},
		fails: map[string]error{"judge a": &llm.Error{Status: 400, Message: "no"}}}
	g := w.search(t, "mcts", event.Limits{}, "n=1,k=1")
	if g.err != nil || g.final.Answer == nil || !strings.Contains(g.log.of("score")[0].Detail, "the judge failed") {
		t.Errorf("a judge that fails once: %v, %+v", g.err, g.log.of("score")[0])
	}
}

// If the right answer is known, a search continues beyond k answers until it finds that answer, and ends with it,
// regardless of the judge and the votes. This is MCTS-KBQA's distant supervision (section 3.4 of the paper; G.7).
func TestUntilRight(t *testing.T) {
	for _, tt := range []struct {
		name  string
		right string // what the answer's query must contain
		k     string
		want  string
		why   []string
		asked int
	}{
		{"the second answer", "wd:Q2", "k=1", "wd:Q2", []string{"matches the gold answer",
			"does not match the gold answer"}, 6},
		{"the first answer", "wd:Q1", "k=5", "wd:Q1", []string{"matches the gold answer"}, 4},
		{"none", "wd:Q7", "k=1", "wd:Q1", []string{"as many branches as another result, judged better",
			"as many branches, judged worse: 0.70, not 1.00"}, 6},
	} {
		w, rec := byHand(), &log{}
		r := w.runner(t, rec, event.Limits{}, handParameters[:4]+tt.k+handParameters[7:]+",simulations=6")
		r.Right = func(_ context.Context, a *step.Answer) bool { return strings.Contains(a.Ran, tt.right) }
		_, f, err := wayOf("mcts").search(t.Context(), r, r.Start(0))
		if err != nil || f.Answer == nil || !strings.Contains(f.Answer.Ran, tt.want) || len(w.asked) != tt.asked {
			t.Errorf("%s: %v, %+v after %d expansions", tt.name, err, f.Answer, len(w.asked))
			continue
		}
		var why []string
		for _, g := range rec.of("vote")[0].Groups {
			why = append(why, g.Why)
		}
		if d := cmp.Diff(tt.why, why); d != "" || !rec.of("tree")[0].Tree.Gold {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}
