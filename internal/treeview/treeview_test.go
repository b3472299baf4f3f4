package treeview

import (
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/llm"
)

func value(v float64) *float64 { return &v }

var act = &llm.Request{Purpose: "act"} // a call to the model for the next action

// trajectory emits events as a search does, with ascending IDs.
type trajectory []event.Event

func (tr *trajectory) add(parent int, e event.Event) int {
	e.ID, e.Parent = len(*tr)+1, parent
	*tr = append(*tr, e)
	return e.ID
}

func (tr *trajectory) begin(question string) int {
	start := tr.add(0, event.Event{Event: "start", Question: &event.Question{Text: question}})
	return tr.add(start, event.Event{Event: "tree", Tree: &event.Tree{Policy: "mcts", Simulations: 50, Samples: 2}})
}

func (tr *trajectory) step(parent int, action, argument, observation string) int {
	model := tr.add(parent, event.Event{Event: "model", Request: act})
	return tr.add(model, event.Event{Event: "step", Step: &event.Step{Thought: "I think so.", Action: action,
		Argument: argument, Observation: observation}})
}

func (tr *trajectory) leaf(at int, reason string) {
	tr.add(at, event.Event{Event: "leaf", Reason: reason})
}

func (tr *trajectory) visit(v float64, path ...int) {
	tr.add(path[len(path)-1], event.Event{Event: "visit", Path: path, Value: value(v)})
}

// small is a tree with two branches, which start with the same search. One continues with a query that returns the
// answer, the other with a query that returns no rows.
func small() trajectory {
	var tr trajectory
	root := tr.begin("Which rivers flow through Vienna?")
	search := tr.step(root, "search", "Vienna", "Q1741 Vienna")
	tr.add(search, event.Event{Event: "score", Value: value(0.5), Detail: "1 of 2 elements"})
	tr.visit(0.5, search)
	good := tr.step(search, "query", "SELECT ?r { ?r wdt:P403 wd:Q1741 }", "2 rows")
	bad := tr.step(search, "query", "SELECT ?r { ?r wdt:P1 wd:Q1 }", "no rows")
	tr.visit(0.9, search, good)
	tr.visit(0, search, bad)
	tr.leaf(bad, event.LeafRepeated)
	done := tr.step(good, "stop", "", "")
	tr.visit(1, search, good, done)
	tr.leaf(done, event.LeafAnswered)
	failed := tr.add(good, event.Event{Event: "model", Request: act, Error: "down"})
	tr.leaf(failed, event.LeafFailed)
	tr.add(done, event.Event{Event: "vote", Groups: []event.Group{{Ends: []int{done}, SPARQL: "SELECT", Rows: 2, Weight: 1,
		Chosen: true, Why: "the only result"}}})
	tr.add(done, event.Event{Event: "final", SPARQL: "SELECT"})
	tr.add(len(tr), event.Event{Event: "end"})
	return tr
}

// Visits, values and endings follow from the events. The sums were calculated by hand: the search has the value
// (0.5+0.9+0+1)/4 = 0.6, and the good query has (0.9+1)/2 = 0.95. The root, the search and the good query were
// expanded, the last of them twice from one event, so there are 3 simulations.
func TestLines(t *testing.T) {
	tree := Of(small())
	want := `mcts, 3 of at most 50 simulations, 4 steps, 1 answered, 1 failed, 1 repeated, answer found
└─ 0.60 ×4 search(Vienna)
  ├─ 0.95 ×2 query(SELECT ?r { ?r wdt:P403 wd:Q1741 })  1 turn after it failed
  │ └─ 1.00 ×1 stop()  answered; 1 vote; the only result; the answer
  └─ 0.00 ×1 query(SELECT ?r { ?r wdt:P1 wd:Q1 })  repeated`
	if d := cmp.Diff(want, strings.Join(tree.Lines(0, 0, Plain), "\n")); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
	want = `mcts, 3 of at most 50 simulations, 4 st…
└─ 0.60 ×4 search(Vienna)
  ├─ 0.95 ×2 query(SELEC…)  1 turn afte…
  │ └─ 1.00 ×1 stop()  answered; 1 vote…
  └─ 0.00 ×1 query(SELECT ?r…)  repeated`
	if d := cmp.Diff(want, strings.Join(tree.Lines(40, 5, Plain), "\n")); d != "" {
		t.Errorf("few columns (-want +got):\n%s", d)
	}
	if got := tree.nodes[4].Place(); got != "1" {
		t.Errorf("place of the first step: %q", got)
	}
}

// A run that does not branch is shown as a single line with a remark.
func TestLine(t *testing.T) {
	var tr trajectory
	at := tr.add(0, event.Event{Event: "start", Question: &event.Question{Text: "Who?"}})
	at = tr.step(at, "search", "a", "b")
	at = tr.step(at, "query", "c", "d")
	tree := Of(tr)
	if tree.Branches() || tree.Steps != 2 {
		t.Errorf("%d steps, branches %t", tree.Steps, tree.Branches())
	}
	tr.step(at-2, "other", "e", "f")
	if tree = Of(tr); !tree.Branches() {
		t.Error("two children, and no branches")
	}
}

// In a review, edited and abandoned turns are marked.
func TestReviewed(t *testing.T) {
	var tr trajectory
	at := tr.add(0, event.Event{Event: "start", Question: &event.Question{Text: "Who?"}})
	model := tr.add(at, event.Event{Event: "model"})
	decide := func(parent int, verdict string) int {
		return tr.add(parent, event.Event{Event: "review", Review: &event.Review{Verdict: verdict}})
	}
	did := func(parent int, action string) int {
		return tr.add(parent, event.Event{Event: "step", Step: &event.Step{Action: action}})
	}
	decide(did(decide(model, event.Accepted), "a"), event.WentBack)
	tr.add(did(decide(model, event.Edited), "b"), event.Event{Event: "final", SPARQL: "ASK {}"})
	want := "run, 2 steps, answer found\n├─ b()  edited by a person; the answer\n└─ a()  left in the review"
	if d := cmp.Diff(want, strings.Join(Of(tr).Lines(0, 0, Plain), "\n")); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
}

const hostile = "\"><script>alert(1)</script>\x00\x1b[31m\u202e&amp;'\xff]]>\n</svg>"

// random returns a random tree with the given number of steps, and with many more events.
func random(seed uint64, steps, visits int) trajectory {
	rng := rand.New(rand.NewPCG(seed, 1))
	var tr trajectory
	root := tr.begin("Which of the " + strings.Repeat("very ", rng.IntN(40)) + "many? " + hostile)
	type node struct {
		id   int
		path []int
	}
	nodes := []node{{root, nil}}
	reasons := append(slices.Clone(leafReasons), "of a later version "+hostile)
	var ends []int
	for len(nodes) <= steps {
		p := nodes[rng.IntN(len(nodes))]
		id := tr.step(p.id, "execute_sparql", strings.Repeat("SELECT ?x WHERE { ?x ?y 日本語 } ", 1+rng.IntN(5))+hostile,
			strings.Repeat("word ", rng.IntN(100)))
		n := node{id, append(slices.Clone(p.path), id)}
		nodes = append(nodes, n)
		tr.add(id, event.Event{Event: "score", Value: value(rng.Float64()), Detail: hostile})
		if rng.IntN(3) == 0 {
			tr.leaf(id, reasons[rng.IntN(len(reasons))])
			ends = append(ends, id)
		}
	}
	for range visits {
		n := nodes[1+rng.IntN(steps)]
		tr.visit(rng.Float64(), n.path...)
	}
	last := nodes[1+rng.IntN(steps)].id
	tr.add(last, event.Event{Event: "vote", Detail: hostile, Groups: []event.Group{
		{Ends: ends, Rows: 3, Weight: 0.5, Why: hostile, SPARQL: hostile}, {Ends: []int{last, 9_999_999}, Chosen: true}}})
	tr.add(last, event.Event{Event: "final", SPARQL: hostile})
	return tr
}

// Folding loses no nodes, whatever the tree: shown nodes and counted nodes add up to the total. The path to the answer
// is always shown, and a parent comes before its child.
func TestFold(t *testing.T) {
	for seed := range uint64(60) {
		steps := 1 + int(seed*seed)%200
		tree := Of(random(seed, steps, 50))
		for _, most := range []int{0, 1, 7, 48, 500} {
			shown, counted, won, single := 0, 0, 0, 0
			there := map[*Node]bool{tree.Root: true}
			for _, r := range tree.rows(most) {
				if r.node == nil {
					if r.folded.steps < 2 {
						t.Fatalf("seed %d: one step is folded", seed)
					}
					counted += r.folded.steps
					continue
				}
				if !there[r.node.Parent] || len(r.last) != r.depth || r.depth != r.node.Depth() {
					t.Fatalf("seed %d: a node out of its place", seed)
				}
				there[r.node] = true
				shown++
				if r.node.Won {
					won++
				} else if len(r.node.Children) == 0 {
					single++ // the node may be shown instead of a count of 1
				}
			}
			if shown+counted != steps || shown > max(most, won)+single || won == 0 {
				t.Fatalf("seed %d: %d shown (%d won), %d counted, of %d steps, at most %d", seed, shown, won, counted, steps,
					most)
			}
		}
	}
}

// No line is wider than the terminal, and there are no more lines than it can show.
func TestLinesFit(t *testing.T) {
	for seed := range uint64(20) {
		tree := Of(random(seed, 1+int(seed)*10, 20))
		for _, width := range []int{1, 20, 39, 80, 200} {
			for _, height := range []int{1, 2, 10, 30} {
				lines := tree.Lines(width, height, Plain)
				if len(lines) > height {
					t.Fatalf("seed %d: %d lines, the terminal has %d", seed, len(lines), height)
				}
				for _, l := range lines {
					if console.Cells(l) > width || strings.ContainsAny(l, "\x00\x1b\n\u202e") {
						t.Fatalf("seed %d, width %d: %d columns: %q", seed, width, console.Cells(l), l)
					}
				}
			}
		}
	}
}

// A picture is well-formed, contains only drawing elements, has a title and a description, and draws no more nodes than
// allowed.
func TestSVG(t *testing.T) {
	for seed, steps := range []int{1, 3, 40, 200} {
		svg := Of(random(uint64(seed), steps, 3000)).SVG(0)
		elements := map[string]int{}
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%d steps: %v", steps, err)
			}
			if e, ok := tok.(xml.StartElement); ok {
				elements[e.Name.Local]++
			}
		}
		for name := range elements {
			if !slices.Contains(strings.Fields("svg title desc style rect circle path g text"), name) {
				t.Errorf("%d steps: an element %s", steps, name)
			}
		}
		if elements["svg"] != 3 || elements["desc"] != 1 || strings.ContainsAny(svg, "\x00\x1b\u202e") {
			t.Errorf("%d steps: elements %v", steps, elements)
		}
		if dots := elements["circle"] - 2*3; dots < 2*min(steps, Nodes) || dots > 2*steps || steps == 200 && dots > 2*60 {
			t.Errorf("%d steps: %d marks in two layouts", steps, dots)
		}
		if len(svg) > 400_000 {
			t.Errorf("%d steps: a picture of %d bytes", steps, len(svg))
		}
	}
}

// In a page, a tree consists of a wide and a narrow drawing, with the same nodes as links.
func TestInline(t *testing.T) {
	for seed, steps := range []int{3, 40, 200} {
		var got [2][]string
		drawings := strings.SplitAfter(Of(random(uint64(seed), steps, 3000)).Inline(0, func(n *Node) string { return "?n=" + n.Place() }), "</svg>")
		if len(drawings) != 3 || strings.TrimSpace(drawings[2]) != "" {
			t.Fatalf("%d drawings", len(drawings)-1)
		}
		for i, class := range []string{"wide", "narrow"} {
			var root struct {
				Class string `xml:"class,attr"`
				Links []struct {
					Address string `xml:"href,attr"`
				} `xml:"a"`
			}
			if err := xml.Unmarshal([]byte(drawings[i]), &root); err != nil || root.Class != class {
				t.Fatalf("%s: %q %v", class, root.Class, err)
			}
			for _, a := range root.Links {
				got[i] = append(got[i], a.Address)
			}
		}
		if len(got[0]) == 0 || !slices.Equal(got[0], got[1]) {
			t.Errorf("%d steps: the wide drawing links %d nodes, the narrow one %d", steps, len(got[0]), len(got[1]))
		}
	}
}

// Broken files also produce trees: events with missing parents, invalid values, and paths that form cycles.
func TestBroken(t *testing.T) {
	tree := Of([]event.Event{{Event: "step"}, {Event: "visit", ID: 3, Parent: 9, Path: []int{3, 3, 0}}, {Event: "leaf", ID: 4},
		{Event: "vote", ID: 5, Groups: []event.Group{{Ends: []int{0, 77}}}}, {Event: "score", ID: 6, Parent: 77},
		{Event: "step", ID: 7, Parent: 77, Step: &event.Step{}}, {Event: "visit", ID: 8, Path: []int{7, 7}, Value: value(2)},
		{Event: "final", ID: 9}})
	if tree.Steps != 1 || tree.nodes[7].Visits != 1 || tree.Root.Lost != 1 {
		t.Errorf("%+v", tree)
	}
	_ = tree.SVG(0)
}

func BenchmarkSVG(b *testing.B) {
	events := random(1, 200, 10_000)
	for b.Loop() {
		if svg := Of(events).SVG(0); len(svg) < 1000 {
			b.Fatal("no picture")
		}
	}
}

// A tree that grows to 200 steps with 10,000 events is drawn after each event.
func BenchmarkLive(b *testing.B) {
	events := random(1, 200, 10_000)
	for b.Loop() {
		t := New()
		for _, e := range events {
			t.Add(e)
			if lines := t.Lines(100, 30, Plain); len(lines) > 30 {
				b.Fatal(len(lines))
			}
		}
	}
}
