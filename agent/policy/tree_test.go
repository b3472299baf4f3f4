package policy

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// world is a model and a graph for hand-calculated trees. Actions have short names: "a" searches for a,
// "q1" runs the query for item Q1, and "end" stops. The actions so far form a path such as "a/q1".
type world struct {
	tool.Graph
	acts   map[string][]string // by path: the samples
	scores map[string][]string // by path: the judgments, one per line "Score: …"
	fails  map[string]error    // errors, by path for samples, by "judge " and path for judgments
	pause  func()              // called before the model or the graph responds

	mu       sync.Mutex
	asked    []string // paths at which samples were requested
	judged   []string // paths that were judged
	requests []llm.Request
	graph    []string // calls to the graph
}

// none is a name for which searches find nothing.
const none = "none"

var done = regexp.MustCompile(`(?m)^Action: (\w+)\((.*)\)$`)

// path extracts the path of actions so far from the model's prompt.
func path(text string) string {
	var out []string
	for _, m := range done.FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case "stop":
			out = append(out, strings.TrimSpace("end "+m[2]))
		case "execute_sparql":
			out = append(out, "q"+regexp.MustCompile(`wd:Q(\d+)`).FindStringSubmatch(m[2])[1])
		default:
			out = append(out, m[2])
		}
	}
	return strings.Join(out, "/")
}

func action(a string) string {
	switch {
	case a == "end":
		return "Thought: x\nAction: stop()"
	case a == "give up":
		return "Thought: x\nAction: stop(no answer: nothing fits)"
	case a == "?":
		return "I wonder."
	case strings.HasPrefix(a, "q"):
		return "Thought: x\nAction: execute_sparql(SELECT ?x WHERE { ?x wdt:P31 wd:Q" + a[1:] + " })"
	}
	return "Thought: x\nAction: search_wikidata(" + a + ")"
}

func (w *world) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if w.pause != nil {
		w.pause()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var shown []string
	for _, m := range req.Messages[1:] {
		shown = append(shown, m.Content)
	}
	at := path(strings.Join(shown, "\n"))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, req)
	texts := w.acts[at]
	if req.Purpose == "judge" {
		w.judged = append(w.judged, at)
		if texts = w.scores[at]; texts == nil {
			texts = []string{"Score: 50"}
		}
		at = "judge " + at
	} else {
		w.asked = append(w.asked, at)
		if len(texts) == 0 {
			texts = []string{none}
		}
	}
	if err := w.fails[at]; err != nil {
		return nil, err
	}
	resp := &llm.Response{Usage: llm.Usage{Calls: 1, USD: 0.01}}
	for i := range max(1, req.N) {
		text := texts[min(i, len(texts)-1)]
		if req.Purpose == "act" {
			text = action(text)
		}
		resp.Choices = append(resp.Choices, llm.Choice{Content: text, FinishReason: "stop"})
	}
	return resp, nil
}

func (w *world) called(what string) {
	if w.pause != nil {
		w.pause()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.graph = append(w.graph, what)
}

func (w *world) Search(_ context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
	w.called(fmt.Sprint("search ", q.Type, " ", q.Text))
	if strings.HasPrefix(q.Text, none) || q.Type != kg.Item {
		return &kg.SearchResult{}, nil
	}
	return &kg.SearchResult{Hits: []kg.Hit{{ID: fmt.Sprint("Q", int(q.Text[0])), Label: q.Text}}}, nil
}

var asked = regexp.MustCompile(`wd:Q(\d+)`)

// Query returns the item that the query is about. Queries for Q9 return nothing, and those for Q8 fail.
func (w *world) Query(_ context.Context, query string) (*kg.Table, error) {
	w.called("query " + query)
	switch id := asked.FindStringSubmatch(query)[1]; id {
	case "9":
		return &kg.Table{Vars: []string{"x"}}, nil
	case "8":
		return nil, kg.Errorf(kg.Timeout, "too slow")
	default: // Q11 is another query that returns Q1
		return &kg.Table{Vars: []string{"x"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q" + id[:1])}}}, nil
	}
}

// log is a recorder that keeps events in memory.
type log struct {
	mu     sync.Mutex
	events []event.Event
	then   func(n int) error // called after n events
}

func (l *log) Record(_ context.Context, e event.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.then != nil {
		if err := l.then(len(l.events)); err != nil {
			return err
		}
	}
	l.events = append(l.events, e)
	return nil
}

func (l *log) of(kind string) (out []event.Event) {
	for _, e := range l.events {
		if e.Event == kind {
			out = append(out, e)
		}
	}
	return out
}

var usualPreset = sync.OnceValue(preset.Default)

// runner returns a runner for the world, with the given search parameters.
func (w *world) runner(t testing.TB, l event.Recorder, limits event.Limits, parameters string) *step.Runner {
	t.Helper()
	p := *usualPreset()
	p.Diagnose = false
	var err error
	if p.Search, err = p.Search.With(parameters); err != nil {
		t.Fatal(err)
	}
	return &step.Runner{Log: slog.New(slog.DiscardHandler), Model: w, Sources: tool.Sources{{Graph: w,
		Explain: tool.Wikibase(oneRow{})[0].Explain}}, Now: time.Now, Preset: &p, Language: tool.English,
		Question: event.Question{Text: "Who?"}, Events: event.NewLog(l, time.Now, 0),
		Meter: step.NewMeter(limits.WithDefaults(), time.Now)}
}

func wayOf(name string) way {
	return ways[slices.IndexFunc(ways, func(w way) bool { return w.name == name })]
}

// grown is a finished search.
type grown struct {
	*tree
	log   *log
	state step.State
	final step.Final
	err   error
}

func (w *world) search(t testing.TB, policy string, limits event.Limits, parameters string) *grown {
	t.Helper()
	g := &grown{log: &log{}}
	r := w.runner(t, g.log, limits, parameters)
	var err error
	if g.tree, err = wayOf(policy).begin(t.Context(), r, r.Start(0)); err == nil {
		if err = g.grow(t.Context()); err == nil {
			g.state, g.final, err = g.settle(t.Context())
		}
	}
	g.err = err
	return g
}

// name returns the path to a node.
func (g *grown) name(x *node) string {
	var b strings.Builder
	for _, s := range x.child.State.Steps() {
		fmt.Fprintf(&b, "Action: %s(%s)\n", s.Action, s.Argument)
	}
	return path(b.String())
}

// byHand returns a world with three actions, whose search TestByHand calculates by hand.
func byHand() *world {
	return &world{
		acts: map[string][]string{
			"": {"a", "b"}, "a": {"q1", "b"}, "b": {"a", "q2"}, "a/q1": {"end", "end"}, "a/b": {"q2", "?"},
			"b/q2": {"end", none},
		},
		scores: map[string][]string{
			"a": {"Score: 40", "Score: 60"}, "b": {"Score: 20"}, "a/q1": {"Score: 80"}, "a/b": {"Score: 30"},
			"b/q2": {"Score: 60"}, "a/q1/end": {"Score: 100"}, "a/b/q2": {"Score: 40"}, "b/q2/end": {"Score: 70"},
		},
	}
}

const handParameters = "n=2,k=2,judgments=2,expected=2,decay=0.5"

// TestByHand follows a search in which every number was calculated by hand. The third action loses half its reward
// (decay 0.5 beyond 2 actions). After each expansion, with U = UCT:
//
//	1 root: a 0.5, b 0.2                                  U(a) = 0.5 + √(2 ln 2 / 1) = 1.6774    U(b) = 1.3774
//	2 a: a/q1 0.8, a/b 0.3; a = 1.6 of 3 visits           U(a) = 0.5333 + √(2 ln 4 / 3) = 1.4947 U(b) = 1.8651
//	3 b: b/a is a/b again (0.3), b/q2 0.6; b = 1.1 of 3   U(a) = 1.6263, U(b) = 1.4596; below a:
//	                                                      U(q1) = 0.8 + √(2 ln 3 / 1) = 2.2823, U(a/b) = 1.7823
//	4 a/q1: its end 1.0, worth 0.5; a = 2.1 of 4          U(a) = 1.5114, U(b) = 1.5056; below a only a/b is left
//	5 a/b: a/b/q2 0.4, worth 0.2; a = 2.3 of 5            U(a) = 1.3720, U(b) = 1.5441; below b only b/q2 is left
//	6 b/q2: its end 0.7, worth 0.35, and none 0           two branches have ended with an answer
func TestByHand(t *testing.T) {
	w := byHand()
	g := w.search(t, "mcts", event.Limits{}, handParameters)
	if g.err != nil {
		t.Fatal(g.err)
	}
	if d := cmp.Diff([]string{"", "a", "b", "a/q1", "a/b", "b/q2"}, w.asked); d != "" {
		t.Errorf("expanded (-want +got):\n%s", d)
	}
	type figures struct {
		Path   string
		W      float64
		N      int
		Value  float64
		Closed string
	}
	want := []figures{
		{"", 3.75, 10, 0, ""}, {"a", 2.3, 5, 0.5, ""}, {"b", 1.45, 5, 0.2, ""}, {"a/q1", 1.3, 2, 0.8, ""},
		{"a/b", 0.5, 2, 0.3, ""}, {"b/a", 0.3, 1, 0.3, "repeated"}, {"b/q2", 0.95, 3, 0.6, ""},
		{"a/q1/end", 0.5, 1, 1, "answered"}, {"a/b/q2", 0.2, 1, 0.4, ""}, {"b/q2/end", 0.35, 1, 0.7, "answered"},
		{"b/q2/none", 0, 1, 0, ""},
	}
	var got []figures
	for _, x := range g.nodes {
		got = append(got, figures{g.name(x), x.w, x.n, x.value, x.closed})
	}
	if d := cmp.Diff(want, got, near); d != "" {
		t.Errorf("nodes (-want +got):\n%s", d)
	}
	var visits []float64
	for _, e := range g.log.of("visit") {
		visits = append(visits, *e.Value)
	}
	if d := cmp.Diff([]float64{0.5, 0.2, 0.8, 0.3, 0.3, 0.6, 0.5, 0.2, 0.35, 0}, visits, near); d != "" {
		t.Errorf("rewards (-want +got):\n%s", d)
	}
	// Repeated states are not judged again, and states that showed nothing are not judged at all.
	if d := cmp.Diff([]string{"a", "a/b", "a/b/q2", "a/q1", "a/q1/end", "b", "b/q2", "b/q2/end"},
		slices.Sorted(slices.Values(w.judged))); d != "" {
		t.Errorf("judged (-want +got):\n%s", d)
	}
	vote := g.log.of("vote")
	if len(vote) != 1 || len(vote[0].Groups) != 2 || !vote[0].Groups[0].Chosen || g.final.Answer == nil ||
		!strings.Contains(g.final.Answer.Ran, "wd:Q1") ||
		vote[0].Groups[1].Why != "as many branches, judged worse: 0.70, not 1.00" {
		t.Errorf("vote %+v, answer %+v", vote, g.final.Answer)
	}
}

var near = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })

// TestUCT compares the formula with the values calculated for TestByHand.
func TestUCT(t *testing.T) {
	c := preset.Default().Search.Explore
	for _, tt := range []struct {
		w       float64
		n, over int
		want    float64
	}{{0.5, 1, 2, 1.6774}, {1.6, 3, 4, 1.4947}, {0.2, 1, 4, 1.8651}, {2.1, 4, 7, 1.5114}, {1.1, 3, 8, 1.5441},
		{0.7, 1, 1, 0.7}} {
		x := &node{w: tt.w, n: tt.n, parent: &node{n: tt.over}}
		if got := x.uct(c); math.Abs(got-tt.want) > 5e-5 {
			t.Errorf("w %g, n %d, N %d: %.4f, want %.4f", tt.w, tt.n, tt.over, got, tt.want)
		}
	}
	p := preset.Default().Search
	for depth, want := range map[int]float64{1: 0.8, 5: 0.8, 6: 0.72, 12: 0.24} { // 0.8 × (1 − 0.1 × (depth − 5))
		if got := decayed(0.8, depth, p); math.Abs(got-want) > 1e-9 {
			t.Errorf("depth %d: %g, want %g", depth, got, want)
		}
	}
}
