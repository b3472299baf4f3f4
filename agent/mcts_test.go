package agent

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// TestBestInTree checks that a preset with several tool calls per turn can search a tree on the embedded graph. A turn
// with two calls is a single action: its child node has both steps and one visit. A score of 2 out of 2 points is a
// value of 1, and ending on the child's query makes that query the answer.
func TestBestInTree(t *testing.T) {
	p := best(t)
	p.Search.Samples, p.Search.Answers, p.Search.Judgments, p.Search.Parallel = 2, 1, 1, 1
	m := &turnModel{turns: []string{
		capital + "\n" + `find {"names": ["High Tar"]}`, heights, // the first expansion
		"Points: 2 of 2", "Points: 0 of 2",
		finished, heights, // the first child's expansion
		"Points: 2 of 2", "Points: 1 of 2",
	}}
	rec := &memory{}
	engine := New(slog.New(slog.DiscardHandler), m, peaksGraph(t), ticking(), Options{Preset: p, Policy: "mcts"})
	out, err := engine.Ask(t.Context(), Question{Text: "What is the capital of Tarland?"}, rec, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if out.Answer == nil || len(m.turns) != 0 {
		t.Fatalf("%d answers are left, the outcome is %+v", len(m.turns), out)
	}
	says(t, out.Answer.SPARQL, "wd:Q40 wdt:P36 ?city")
	for _, r := range m.requests {
		if r.Purpose == llm.Judge { // the actions' names as the judge sees them
			says(t, r.Messages[0].Content, "query: Runs a SPARQL query", "\nfind(names", "finish: Ends the work")
		}
	}
	var paths []int
	var values []float64
	for _, e := range rec.events {
		if e.Event == "visit" {
			paths, values = append(paths, len(e.Path)), append(values, *e.Value)
		}
	}
	if len(values) != 4 || values[0] != 1 || values[1] != 0 || values[2] != 1 || values[3] != 0.5 {
		t.Errorf("the rewards are %v, want 1, 0, 1 and 0.5", values)
	}
	if len(paths) != 4 || paths[0] != 2 || paths[1] != 1 || paths[2] != 3 {
		t.Errorf("the visited paths have %v steps, want 2, 1, 3 and 3", paths)
	}
	if n := len(rec.of("vote")); n != 1 {
		t.Errorf("%d votes", n)
	}
}

// The queries used in TestTreeOnGraph, named after the turns.
var mountainQueries = map[string]string{
	"highest": "SELECT ?m WHERE { ?m wdt:P31 wd:Q8502 ; wdt:P2044 ?h } ORDER BY DESC(?h) LIMIT 1",
	"all":     "SELECT ?m WHERE { ?m wdt:P31 wd:Q8502 }",
	"again":   "SELECT ?mountain WHERE { ?mountain wdt:P17 wd:Q40 ; wdt:P31 wd:Q8502 }", // returns the same rows as "all"
	"none":    "SELECT ?m WHERE { ?m wdt:P31 wd:Q40 }",
}

// branching is a model for tree searches. A turn is a short name: the name of a query, "end", or a search text. The
// actions so far form a path of names.
type branching struct {
	turns  map[string][2]string // by path
	scores map[string][2]int    // the two judgments' scores, by path

	mu     sync.Mutex
	asked  []string
	judged []string
}

var doneAction = regexp.MustCompile(`(?m)^Action: (\w+)\((.*)\)$`)

func pathOf(text string) string {
	var out []string
	for _, m := range doneAction.FindAllStringSubmatch(text, -1) {
		name := m[2]
		switch m[1] {
		case "stop":
			name = "end"
		case "execute_sparql":
			for short, q := range mountainQueries {
				if q == m[2] {
					name = short
				}
			}
		}
		out = append(out, name)
	}
	return strings.Join(out, "/")
}

func (m *branching) Complete(_ context.Context, req llm.Request) (*llm.Response, error) {
	var shown []string
	for _, x := range req.Messages[1:] {
		shown = append(shown, x.Content)
	}
	at := pathOf(strings.Join(shown, "\n"))
	m.mu.Lock()
	defer m.mu.Unlock()
	resp := &llm.Response{Usage: llm.Usage{Calls: 1}}
	say := func(text string) {
		resp.Choices = append(resp.Choices, llm.Choice{Content: text, FinishReason: "stop"})
	}
	switch req.Purpose {
	case "act":
		m.asked = append(m.asked, at)
		turns, ok := m.turns[at]
		if !ok {
			return nil, fmt.Errorf("no turns after %q", at)
		}
		for _, name := range turns {
			switch q := mountainQueries[name]; {
			case name == "end":
				say(do("stop()"))
			case q != "":
				say(do("execute_sparql(" + q + ")"))
			default:
				say(do("search_wikidata(" + name + ")"))
			}
		}
	case llm.Judge:
		m.judged = append(m.judged, at)
		scores, ok := m.scores[at]
		if !ok {
			return nil, fmt.Errorf("no judgments after %q", at)
		}
		for _, s := range scores {
			say(fmt.Sprintf("Elements: x\nFound: x\nScore: %d", s))
		}
	default:
		say("High Tar.")
	}
	return resp, nil
}

// mountains returns the model for TestTreeOnGraph.
func mountains() *branching {
	return &branching{
		turns: map[string][2]string{"": {"Tarland", "mountain"}, "Tarland": {"highest", "none"},
			"mountain": {"all", "again"}, "mountain/all": {"end", "highest"}, "Tarland/highest": {"end", "end"},
			"Tarland/none": {"all", "end"}, "mountain/all/highest": {"end", "end"}},
		scores: map[string][2]int{"Tarland": {40, 60}, "mountain": {30, 30}, "Tarland/highest": {80, 80},
			"mountain/all": {60, 40}, "mountain/all/end": {40, 40}, "mountain/all/highest": {90, 90},
			"Tarland/highest/end": {100, 100}, "Tarland/none/all": {20, 20}, "mountain/all/highest/end": {60, 60}},
	}
}

// askTree runs a tree search over the embedded graph with the spinach preset and the given parameters.
func askTree(t *testing.T, m *branching, parameters string) (*Outcome, *memory) {
	t.Helper()
	p := preset.Default()
	var err error
	if p.Search, err = p.Search.With(parameters); err != nil {
		t.Fatal(err)
	}
	p.Diagnose = false
	rec := &memory{}
	out, err := New(slog.New(slog.DiscardHandler), m, peaksGraph(t), ticking(), Options{Preset: p, Policy: "mcts"}).
		Ask(t.Context(), Question{Text: "Which is the highest mountain of Tarland?", Language: "en"}, rec, Limits{})
	if err != nil {
		t.Fatalf("%v; asked at %q, judged %q", err, m.asked, m.judged)
	}
	return out, rec
}

// TestTreeOnGraph runs a tree search over the embedded graph with the tools and prompts of the spinach preset. All
// numbers were calculated by hand, with c = √2 as in the paper, and an expected depth of 2: the third action loses half
// its reward (decay 0.5), and the fourth all of it. U is w/n + √(2 ln N/n).
//
//	1 root: Tarland 0.5, mountain 0.3                U(Tarland) = 0.5 + √(2 ln 2) = 1.677, U(mountain) = 1.477
//	2 Tarland: highest 0.8; none has no rows: 0      U(Tarland) = 1.3/3 + √(2 ln 4/3) = 1.395, U(mountain) = 1.965
//	3 mountain: all 0.5; again shows the same rows   U(Tarland) = 1.469, U(mountain) = 0.8/2 + √(2 ln 5/2) = 1.669
//	4 mountain/all: end 0.4, worth 0.2; highest 0.9, U(Tarland) = 1.572, U(mountain) = 1.45/4 + √(2 ln 7/4) = 1.349
//	  worth 0.45                                     below Tarland: U(highest) = 0.8 + √(2 ln 3) = 2.282, U(none) = 1.482
//	5 Tarland/highest: end 1, worth 0.5; the second  U(Tarland) = 1.8/4 + √(2 ln 8/4) = 1.470, U(mountain) = 1.382;
//	  sample is the same                             below Tarland only none is open
//	6 Tarland/none: all 0.2, worth 0.1; the end is   U(Tarland) = 1.9/5 + √(2 ln 9/5) = 1.317, U(mountain) = 1.411;
//	  rejected, since none returned nothing          below mountain only all/highest is open
//	7 mountain/all/highest: end 0.6, worth 0         three branches have answers: two with High Tar, one with both
func TestTreeOnGraph(t *testing.T) {
	m := mountains()
	out, rec := askTree(t, m, "n=2,k=3,judgments=2,expected=2,decay=0.5,parallel=1")
	if out.Answer == nil {
		t.Fatalf("%+v; asked at %q, judged %q", out, m.asked, m.judged)
	}
	if d := cmp.Diff([]string{"", "Tarland", "mountain", "mountain/all", "Tarland/highest", "Tarland/none",
		"mountain/all/highest"}, m.asked); d != "" {
		t.Errorf("expanded (-want +got):\n%s", d)
	}
	type figures struct {
		W float64
		N int
	}
	steps, got, closed := map[int]string{}, map[string]figures{}, map[string]string{}
	for _, e := range rec.events {
		switch e.Event {
		case "step":
			steps[e.ID] = pathOf("Action: " + e.Step.Action + "(" + e.Step.Argument + ")")
		case "visit":
			at := got[""]
			got[""] = figures{at.W + *e.Value, at.N + 1}
			path := ""
			for _, id := range e.Path {
				path = strings.TrimPrefix(path+"/"+steps[id], "/")
				got[path] = figures{got[path].W + *e.Value, got[path].N + 1}
			}
		case "leaf":
			closed[fmt.Sprint(len(closed)+1, " ", steps[e.Parent])] = e.Reason
		}
	}
	want := map[string]figures{"": {3.35, 10}, "Tarland": {1.9, 5}, "mountain": {1.45, 5}, "Tarland/highest": {1.3, 2},
		"Tarland/none": {0.1, 2}, "mountain/all": {1.15, 4}, "mountain/all/end": {0.2, 1},
		"mountain/all/highest": {0.45, 2}, "Tarland/highest/end": {0.5, 1}, "Tarland/none/all": {0.1, 1},
		"mountain/all/highest/end": {0, 1}}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
		t.Errorf("w and n (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]string{"1 again": "repeated", "2 end": "answered", "3 end": "answered",
		"4 end": "answered"}, closed); d != "" {
		t.Errorf("branches that ended (-want +got):\n%s", d)
	}
	votes := rec.of("vote")
	if len(votes) != 1 || len(votes[0].Groups) != 2 || votes[0].Groups[0].Weight != 2 || votes[0].Groups[1].Weight != 1 {
		t.Fatalf("the votes are %+v", votes)
	}
	if rows := out.Answer.Table.Rows; len(rows) != 1 || !strings.HasSuffix(rows[0][0].Value, "/Q51") {
		t.Errorf("the answer is %v, want High Tar", rows)
	}
	if o := out.Steps[0].Observation; len(out.Steps) != 3 || !strings.Contains(o, "Q40") || !strings.Contains(o, "Tarland") {
		t.Errorf("the path to the answer is %+v; want the one that the judge scored higher", out.Steps)
	}
}

// TestTreeCalls checks that a search makes no more calls to the model than allowed, even when several states are judged
// at once, and that it ends with the best result so far. In this test, the best result is that of a query that was run,
// because no branch has ended.
func TestTreeCalls(t *testing.T) {
	for calls, answer := range map[int]bool{2: false, 4: true, 5: true} {
		m := mountains()
		out, _ := askTree(t, m, fmt.Sprintf("n=2,k=3,judgments=2,expected=2,decay=0.5,calls=%d", calls))
		if n := len(m.asked) + len(m.judged); n != calls || (out.Answer != nil) != answer {
			t.Errorf("%d calls of %d, %+v", n, calls, out)
		}
		if !answer && (out.Reason != OutOfTokens || !strings.Contains(out.Detail, "2 calls to the model made, the limit is 2")) {
			t.Errorf("the end is %+v", out.Ending)
		}
	}
}
