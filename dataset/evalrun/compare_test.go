package evalrun

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/dataset"
)

// runOf completes a run with fakes, in a folder with the given name.
func runOf(t *testing.T, name string, change func(*world), items []dataset.Item) *RunData {
	t.Helper()
	w := newWorld(t, filepath.Join(t.TempDir(), name), items)
	if change != nil {
		change(w)
	}
	w.run(t)
	data, err := Load(t.Context(), w.Dir, equalRows)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func pcg() *rand.Rand { return rand.New(rand.NewPCG(1, 0)) }

// The test compares two runs over items with known outcomes: common items, wins and losses, the first differing step,
// oracle, and vote.
func TestCompare(t *testing.T) {
	t.Parallel()
	a := runOf(t, "first", nil, bench("answer ROWS a | ROWS a", "answer ROWS x | ROWS b", "answer ROWS c | ROWS c",
		"no_answer | ROWS d", "answer ROWS e | ROWS e", "answer ROWS f | ROWS", "answer ROWS g | ROWS g"))
	b := runOf(t, "second", func(w *world) { w.asker.flaky["e"] = 99 },
		bench("answer ROWS a | ROWS a", "answer ROWS b | ROWS b", "answer ROWS z | ROWS c", "answer ROWS d | ROWS d",
			"answer ROWS e | ROWS e", "answer ROWS f | ROWS"))
	c, err := Compare(t.Context(), []*RunData{a, b}, "", pcg())
	if err != nil {
		t.Fatal(err)
	}
	if c.Common != 4 || c.Metric != "exact" {
		t.Errorf("%d common items by %s", c.Common, c.Metric)
	}
	if got := asJSON(t, c.LeftOut); got != `[{"id":"e","run":"second","why":"service_failed"},{"id":"f","run":"first","why":"gold_empty"},{"id":"g","run":"second","why":"not_run"}]` {
		t.Errorf("left out: %s", got)
	}
	p := c.Pairs[0]
	if p.Wins != 2 || p.Losses != 1 || p.Ties != 1 || p.OnlyA != 1 || p.OnlyB != 2 || p.P != 1 ||
		!near(p.F1, 0.25, 1e-9) || !near(p.EM, 0.25, 1e-9) {
		t.Errorf("pair: %s", asJSON(t, p))
	}
	if p.Interval.Low < -1 || p.Interval.Low > 0.25 || p.Interval.High < 0.25 || p.Interval.High > 1 {
		t.Errorf("interval %v does not contain the difference", p.Interval)
	}
	if len(p.Items) != 3 || p.Items[0].ID != "b" || p.Items[0].Parting.Step != 1 ||
		p.Items[0].Parting.A != "execute_sparql(answer ROWS x)" {
		t.Errorf("items: %s", asJSON(t, p.Items))
	}
	if c.Oracle[0].F1 != 1 || *c.Runs[0].Scores[0].F1 != 0.5 || *c.Runs[1].Scores[0].F1 != 0.75 {
		t.Errorf("oracle %v, runs %v %v", c.Oracle, c.Runs[0].Scores, c.Runs[1].Scores)
	}
	// Item e can be scored in both runs and failed only in the second. It is right in the first and is scored as 0 in the
	// second, so both score 3 of 5.
	for _, r := range c.Runs {
		if all := r.Scores[0].WithFailures; r.Scores[0].N != 4 || all == nil || all.N != 5 ||
			!near(*all.F1, 0.6, 1e-9) || !near(*all.EM, 0.6, 1e-9) {
			t.Errorf("%s: %s", r.Name, asJSON(t, r.Scores[0]))
		}
	}
	var text, md bytes.Buffer
	c.WriteText(&text, 2)
	c.WriteMarkdown(&md, 2)
	for _, want := range []string{"Runs on their 4 common items", "75.00*", "1 left out (service_failed)",
		"exact F1, failed as 0 (n 5)", "60.00", "+25.00", "oracle", "1 more."} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text does not contain %q:\n%s", want, &text)
		}
	}
	if !strings.Contains(md.String(), "**75.00**") || !strings.Contains(asJSON(t, c), `"f1_interval":{"low":`) {
		t.Errorf("Markdown:\n%s", &md)
	}
	if _, err := Compare(t.Context(), []*RunData{a}, "", pcg()); err == nil {
		t.Error("a single run was compared")
	}
	if _, err := Compare(t.Context(), []*RunData{a, b}, "bleu", pcg()); err == nil ||
		!strings.Contains(err.Error(), "exact") {
		t.Errorf("an unknown metric: %v", err)
	}
}

func TestGoldDrift(t *testing.T) {
	t.Parallel()
	a := runOf(t, "same", nil, bench("answer ROWS a | ROWS a"))
	b := runOf(t, "same", nil, bench("answer ROWS a | ROWS a b"))
	c, err := Compare(t.Context(), []*RunData{a, b}, "exact", pcg())
	if err != nil || asJSON(t, c.GoldDrift) != `["a"]` || c.Runs[1].Name != "same (2)" {
		t.Errorf("%v, %s", err, asJSON(t, c))
	}
}

func TestVote(t *testing.T) {
	it := func(result string, confidence float64) *ItemData {
		return &ItemData{Result: Result{Result: []byte(result), Answered: result != "null", Confidence: confidence}}
	}
	x, y := `[{"a":{"value":"1"}},{"a":{"value":"2"}}]`, `[{"a":{"value":"3"}}]`
	sameAsX := `[{"b":{"value":"2"},"bLabel":{"value":"two"}},{"b":{"value":"1"}},{"b":{"value":"1"}}]`
	for _, c := range []struct {
		name  string
		items []*ItemData
		want  int
	}{
		{"two of three", []*ItemData{it(y, 0.9), it(x, 0.1), it(sameAsX, 0.2)}, 2},
		{"a tie goes by confidence", []*ItemData{it(x, 0.3), it(y, 0.5)}, 1},
		{"a whole tie goes to the first", []*ItemData{it(x, 0.5), it(y, 0.5)}, 0},
		{"no answer has no vote", []*ItemData{it("null", 0), it("null", 0), it(y, 0.1)}, 2},
		{"nobody answered", []*ItemData{it("null", 0), it("null", 0)}, -1},
		{"truth values", []*ItemData{it("true", 0.1), it("false", 0.9), it("true", 0.1)}, 0},
	} {
		if got := vote(c.items); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if resultKey([]byte("[]")) == resultKey([]byte("null")) || resultKey([]byte(`[{}]`)) == resultKey([]byte("[]")) {
		t.Error("an empty table, a row without values and no answer must have different keys")
	}
}

func TestParting(t *testing.T) {
	step := func(action, argument, observation string) agent.Step {
		return agent.Step{Action: action, Argument: argument, Observation: observation}
	}
	search, query, stop := step("search_wikidata", "cat", "o"),
		step("execute_sparql", "SELECT ?x { ?x wdt:P31 wd:Q146 }", "o"), step("stop", "", "")
	spaced := step("execute_sparql", "SELECT ?x\n{ ?x wdt:P31 wd:Q146 . }", "o")
	other := step("search_wikidata", "cat", "something else")
	for _, c := range []struct {
		name string
		a, b []agent.Step
		want Parting
	}{
		{"the same up to layout", []agent.Step{search, query, stop}, []agent.Step{search, spaced, stop}, Parting{}},
		{"another action", []agent.Step{search, query}, []agent.Step{search, stop},
			Parting{Step: 2, A: "execute_sparql(SELECT ?x { ?x wdt:P31 wd:Q146 })", B: "stop()"}},
		{"one ends", []agent.Step{search}, []agent.Step{search, stop}, Parting{Step: 2, B: "stop()"}},
		{"another observation", []agent.Step{search, stop}, []agent.Step{other, stop},
			Parting{Step: 1, A: "search_wikidata(cat) → " + search.Observation,
				B: "search_wikidata(cat) → " + other.Observation, SameAction: true}},
		{"nothing", nil, nil, Parting{}},
	} {
		if got := part(c.a, c.b); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Calculated by hand: confidences 0.8, 0.8, 0.3; correct 1, 0, 0. Bins: 0.8 with half correct (distance 0.3, weight
// 2/3), 0.3 with none correct (0.3, 1/3): ECE 0.3. The Brier score is (0.04 + 0.64 + 0.09)/3 = 0.2567; for always
// guessing the mean, 1/3, it is (4/9 + 1/9 + 1/9)/3 = 2/9.
func TestCalibrate(t *testing.T) {
	it := func(confidence, em float64, answered bool) ItemData {
		return ItemData{Result: Result{Confidence: confidence, Answered: answered},
			Scores: []Score{{Metric: "exact", F1: em, EM: em}}}
	}
	r := &RunData{Items: []ItemData{it(0.8, 1, true), it(0.8, 0, true), it(0.3, 0, true), it(0, 0, false)}}
	r.Items = append(r.Items, ItemData{Result: Result{Confidence: 0.9, Error: failed(ModelService)},
		Scores: []Score{{Metric: "exact", F1: 0, EM: 0}}})
	c := r.Calibrate("exact")
	if c.N != 3 || !near(c.ECE, 0.3, 1e-9) || !near(c.Brier, 0.77/3, 1e-9) || !near(c.Base, 2.0/9, 1e-9) {
		t.Errorf("%+v", c)
	}
	if b := c.Bins[8]; b.N != 2 || b.Right != 0.5 || c.Bins[3].N != 1 || c.Bins[2].N != 0 {
		t.Errorf("bins: %+v", c.Bins)
	}
	if len(c.Cut) != 9 || c.Cut[0].Answered != 0.75 || c.Cut[4].Answered != 0.5 || c.Cut[4].Right != 0.5 {
		t.Errorf("coverage: %+v", c.Cut)
	}
	if empty := (&RunData{}).Calibrate("exact"); empty.N != 0 || math.IsNaN(empty.ECE) || math.IsNaN(empty.Brier) {
		t.Errorf("no answers: %+v", empty)
	}
}

// Two benchmarks can use the same IDs: an item whose question and gold query differ is not common to both, and without
// common items, no results are reported.
func TestCompareOtherBenchmark(t *testing.T) {
	t.Parallel()
	a := runOf(t, "first", nil, bench("answer ROWS a | ROWS a", "answer ROWS b | ROWS b"))
	b := runOf(t, "second", nil, bench("answer ROWS x | ROWS x", "answer ROWS y | ROWS b"))
	c, err := Compare(t.Context(), []*RunData{a, b}, "", pcg())
	if err != nil {
		t.Fatal(err)
	}
	// b has the same gold query: items are compared even if the question is worded differently or in a different language.
	if got := asJSON(t, c.LeftOut); c.Common != 1 || got != `[{"id":"a","run":"second","why":"other_item"}]` {
		t.Errorf("%d common, left out %s", c.Common, got)
	}
	d := runOf(t, "third", nil, bench("answer ROWS x | ROWS x", "answer ROWS y | ROWS z"))
	if c, err = Compare(t.Context(), []*RunData{a, d}, "", pcg()); err != nil {
		t.Fatal(err)
	}
	if c.Common != 0 || len(c.Pairs) != 0 || len(c.Oracle) != 0 || c.Runs[0].Scores[0].F1 != nil {
		t.Errorf("there are figures without common items: %s", asJSON(t, c))
	}
	var text bytes.Buffer
	c.WriteText(&text, 5)
	if !strings.Contains(text.String(), "Nothing can be compared") || strings.Contains(text.String(), "interval") {
		t.Errorf("%s", &text)
	}
	r, err := NewReport(t.Context(), []*RunData{a, d}, "exact", nil, pcg())
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	r.WriteMarkdown(&page)
	if err := r.WriteHTML(&page); err != nil || strings.Contains(page.String(), "95% interval") ||
		!strings.Contains(page.String(), "Nothing can be compared") {
		t.Errorf("%v: the report contains a comparison without common items", err)
	}
}

// A run in which everything failed is reported as failed rather than as a different benchmark.
func TestCompareFailedRun(t *testing.T) {
	t.Parallel()
	items := bench("answer ROWS a | ROWS a", "answer ROWS b | ROWS b")
	a := runOf(t, "first", nil, items)
	b := runOf(t, "second", func(w *world) { w.asker.flaky[items[0].ID], w.asker.flaky[items[1].ID] = 99, 99 }, items)
	c, err := Compare(t.Context(), []*RunData{a, b}, "exact", pcg())
	if err != nil {
		t.Fatal(err)
	}
	if why := c.WhyNone(); !strings.Contains(why, "every item of second") {
		t.Errorf("why: %q", why)
	}
	if c, err = Compare(t.Context(), []*RunData{a, a}, "exact", pcg()); err != nil || c.WhyNone() != "" {
		t.Errorf("runs that can be compared: %q, %v", c.WhyNone(), err)
	}
}

// If two queries differ only beyond the point at which they would be clipped, they are shown from the first difference.
func TestPartingShowsTheDifference(t *testing.T) {
	long := strings.Repeat("?x wdt:P31 wd:Q5 . ", 20)
	p := part([]agent.Step{{Action: "execute_sparql", Argument: long + "# one"}, {Action: "stop"}},
		[]agent.Step{{Action: "get_wikidata_entry", Argument: long + "two"}})
	if p.A == p.B {
		t.Errorf("different actions look the same: %+v", p)
	}
	p = part([]agent.Step{{Action: "search_wikidata", Argument: long + "one"}},
		[]agent.Step{{Action: "search_wikidata", Argument: long + "two"}})
	if !strings.HasSuffix(p.A, "one)") || !strings.HasSuffix(p.B, "two)") {
		t.Errorf("the difference is cut off: %+v", p)
	}
}

// Unreadable content must not be removed.
func TestDamagedRun(t *testing.T) {
	t.Parallel()
	r := runOf(t, "first", nil, bench("answer ROWS a | ROWS a"))
	if err := os.WriteFile(filepath.Join(r.Dir, RunFile), []byte(`{"schema":`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(t.Context(), r.Dir, nil)
	if err == nil || strings.Contains(err.Error(), "delete") ||
		!strings.Contains(err.Error(), "run.json is damaged: it is not JSON, or ends too early") {
		t.Errorf("a damaged run.json: %v", err)
	}
}
