package evalrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/llm"
)

var mixed = []string{
	"answer ROWS a b | ROWS a b", // right
	"answer ROWS a | ROWS b",     // wrong
	"no_answer | ROWS c",
	"answer ROWS d | ROWS",         // gold is empty
	"answer ROWS e | FAIL timeout", // gold fails
	"answer ASK yes | ASK yes",
	"answer ROWS g | DELETE WHERE { ?s ?p ?o }", // gold is an update
}

// The expected lines in the run's files were written by hand.
func TestRunFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, dir, bench(mixed...))
	sum := w.run(t)
	want := `{"schema":1,"id":"a","question":"answer ROWS a b","sparql":"ROWS a b","result":[{"x":{"type":"literal","value":"a"}},{"x":{"type":"literal","value":"b"}}],` +
		`"gold_sparql":"ROWS a b","gold":[{"x":{"type":"literal","value":"a"}},{"x":{"type":"literal","value":"b"}}],"answered":true,"steps":2,"confidence":0.8}
{"schema":1,"id":"b","question":"answer ROWS a","sparql":"ROWS a","result":[{"x":{"type":"literal","value":"a"}}],"gold_sparql":"ROWS b","gold":[{"x":{"type":"literal","value":"b"}}],"answered":true,"steps":2,"confidence":0.8}
{"schema":1,"id":"c","question":"no_answer","sparql":"","result":null,"gold_sparql":"ROWS c","gold":[{"x":{"type":"literal","value":"c"}}],"answered":false,"reason":"not_found","steps":2,"confidence":0}
{"schema":1,"id":"d","question":"answer ROWS d","sparql":"ROWS d","result":[{"x":{"type":"literal","value":"d"}}],"gold_sparql":"ROWS","gold":[],"answered":true,"steps":2,"confidence":0.8}
{"schema":1,"id":"e","question":"answer ROWS e","sparql":"ROWS e","result":[{"x":{"type":"literal","value":"e"}}],"gold_sparql":"FAIL timeout","gold":null,"gold_error":{"kind":"timeout","message":"timeout: it failed"},"answered":true,"steps":2,"confidence":0.8}
{"schema":1,"id":"f","question":"answer ASK yes","sparql":"ASK yes","result":true,"gold_sparql":"ASK yes","gold":true,"answered":true,"steps":2,"confidence":0.8}
{"schema":1,"id":"g","question":"answer ROWS g","sparql":"ROWS g","result":[{"x":{"type":"literal","value":"g"}}],"gold_sparql":"DELETE WHERE { ?s ?p ?o }","gold":null,"gold_error":{"kind":"refused","message":"the gold query is an update; only queries are run"},"answered":true,"steps":2,"confidence":0.8}
`
	if got := read(t, dir, ResultsFile); got != want {
		t.Errorf("results:\n%s\nwant\n%s", got, want)
	}
	if sum.Items != 7 || sum.Answered != 6 || sum.NoAnswer["not_found"] != 1 || len(sum.FailedIDs) != 0 {
		t.Errorf("summary: %s", asJSON(t, sum))
	}
	if got := asJSON(t, sum.Excluded); got != `[{"id":"d","why":"gold_empty"},{"id":"e","why":"gold_failed"},{"id":"g","why":"gold_failed"}]` {
		t.Errorf("excluded: %s", got)
	}
	if m := sum.Scores[0]; m.N != 4 || *m.F1 != 0.5 || m.WithFailures != nil {
		t.Errorf("scores: %s", asJSON(t, m))
	}
	for _, c := range []struct{ file, want string }{
		{MetaFile, `"trajectory":"trajectories/a.jsonl"`}, {MetaFile, `"snapshot":"2026-01-02T`},
		{MetaFile, `"input_tokens":10`},
		{"gold/a.json", `"snapshot": "2026-01-02T`}, {"trajectories/a.jsonl", event.Format},
		{SummaryFile, `"gold_empty"`}, {RunFile, `"version": "test"`},
	} {
		if got := read(t, dir, c.file); !strings.Contains(got, c.want) {
			t.Errorf("%s lacks %s:\n%s", c.file, c.want, got)
		}
	}
	if n := w.graph.ran["DELETE WHERE { ?s ?p ?o }"]; n != 0 {
		t.Error("an update was sent to the graph")
	}
}

// A run produces the same results no matter where it is interrupted and how many items it asks at once. No finished
// item is asked again.
func TestRunResumes(t *testing.T) {
	t.Parallel()
	items := bench(mixed...)
	whole := t.TempDir()
	newWorld(t, whole, items).run(t)
	want := read(t, whole, ResultsFile)
	for jobs := 1; jobs <= 3; jobs++ {
		t.Run(fmt.Sprintf("%d at once", jobs), func(t *testing.T) {
			t.Parallel()
			interrupted(t, items, jobs, want)
		})
	}
}

func interrupted(t *testing.T, items []dataset.Item, jobs int, want string) {
	dir := t.TempDir()
	var asked atomic.Int64
	for n := 1; ; n++ {
		w := newWorld(t, dir, items)
		w.Jobs = jobs
		ctx, cancel := context.WithCancel(t.Context())
		w.asker.before = func(agent.Question) {
			if asked.Add(1)%5 == 0 {
				cancel()
			}
		}
		_, err := Run(ctx, w.Config)
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) || n > 20 {
			t.Fatalf("session %d: %v", n, err)
		}
		// A killed process leaves behind a partially written file.
		if err := os.WriteFile(filepath.Join(dir, "items", ".new-1"), []byte(`{"schema":1,"id`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, dir, ResultsFile); got != want {
		t.Errorf("results differ:\n%s\nwant\n%s", got, want)
	}
	before := asked.Load()
	w := newWorld(t, dir, items)
	w.asker.before = func(agent.Question) { asked.Add(1) }
	w.run(t)
	if asked.Load() != before || len(w.graph.ran) != 0 {
		t.Error("a finished run asked again")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "items", ".new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A service failure is retried with backoff, and every attempt's trajectory is kept. An item that still fails has no
// answer, is stored separately, and is asked again next time.
func TestServiceFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	items := bench("answer ROWS a | ROWS a", "answer ROWS b | ROWS b", "answer ROWS c | ROWS c")
	w := newWorld(t, dir, items)
	w.asker.flaky = map[string]int{"a": 2, "b": 3}
	w.graph.flaky["ROWS c"] = 2
	sum := w.run(t)
	if want := []time.Duration{2 * time.Second, 8 * time.Second}; !slices.Equal(w.slept,
		slices.Concat(want, want, want)) {
		t.Errorf("waited %v", w.slept)
	}
	if sum.Answered != 2 || asJSON(t, sum.Failed) != `{"graph":1}` || asJSON(t, sum.FailedIDs) != `["b"]` ||
		sum.Retried != 5 {
		t.Errorf("summary: %s", asJSON(t, sum))
	}
	m := sum.Scores[0]
	if all := m.WithFailures; m.N != 2 || *m.F1 != 1 || all == nil || all.N != 3 ||
		fmt.Sprintf("%.3f", *all.F1) != "0.667" {
		t.Errorf("scores must be reported in both ways: %s", asJSON(t, m))
	}
	if got := read(t, dir, ResultsFile); !strings.Contains(got,
		`"answered":false,"reason":"graph_failed","error":{"kind":"graph"`) || strings.Contains(got, "5000") {
		t.Errorf("results: the failure is missing, or its text differs from run to run:\n%s", got)
	}
	for _, name := range []string{"a.jsonl", "a~2.jsonl", "a~3.jsonl", "b.jsonl", "b~2.jsonl", "b~3.jsonl", "c.jsonl"} {
		read(t, dir, "trajectories", name)
	}
	if meta := read(t, dir, MetaFile); !strings.Contains(meta, `"message":"port 50003"`) {
		t.Errorf("meta does not contain the service's message:\n%s", meta)
	}

	w = newWorld(t, dir, items) // the service is back
	if sum = w.run(t); sum.Answered != 3 || len(sum.FailedIDs) != 0 {
		t.Errorf("after the service came back: %s", asJSON(t, sum))
	}
}

// The run waits for the pause that a service requests. If the pause does not end in time, no further attempt is made,
// because it would cost a model call.
func TestPauses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pause, item time.Duration
		slept       []time.Duration
	}{
		{time.Second, 0, []time.Duration{2 * time.Second}},
		{15 * time.Minute, 0, []time.Duration{15 * time.Minute}},
		{15 * time.Minute, 10 * time.Minute, nil},
		{2 * time.Hour, 0, nil},
	} {
		w := newWorld(t, t.TempDir(), bench("answer ROWS a | ROWS a"))
		w.asker.flaky, w.asker.pause, w.ItemTime = map[string]int{"a": 1}, tt.pause, tt.item
		sum := w.run(t)
		if !slices.Equal(w.slept, tt.slept) || (sum.Answered == 1) != (tt.slept != nil) ||
			(len(sum.FailedIDs) == 1) != (tt.slept == nil) {
			t.Errorf("%v of %v: waited %v, %s", tt.pause, tt.item, w.slept, asJSON(t, sum))
		}
	}
}

// If the service fails during a gold query, the query is not recorded as failed: the next session runs it again without
// asking the item again.
func TestGoldService(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	items := bench("answer ROWS a | ROWS a")
	w := newWorld(t, dir, items)
	w.graph.flaky["ROWS a"] = 99
	sum := w.run(t)
	if asJSON(t, sum.Excluded) != `[{"id":"a","why":"gold_failed"}]` || sum.Scores != nil {
		t.Errorf("summary: %s", asJSON(t, sum))
	}
	w = newWorld(t, dir, items)
	w.asker.before = func(agent.Question) { t.Error("the item was asked again") }
	if sum = w.run(t); len(sum.Excluded) != 0 || *sum.Scores[0].F1 != 1 {
		t.Errorf("summary: %s", asJSON(t, sum))
	}
}

// Failures of the model's service are distinguished from failures of the model itself.
func TestModelFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		err   error
		kind  string
		tries int
	}{
		{"service down", &llm.Error{Status: 503, Message: "x", Transient: true}, ModelService, 3},
		{"refused for good", &llm.Error{Status: 401, Message: "x"}, ModelService, 1},
		{"too long for the model", fmt.Errorf("x: %w", llm.ErrContextLength), "", 0},
	} {
		w := newWorld(t, t.TempDir(), bench("answer ROWS a | ROWS a"))
		w.Model = func(dataset.Item) agent.Model { return fakeModel{c.err} }
		w.run(t)
		data, err := Load(t.Context(), w.Dir, equalRows)
		if err != nil {
			t.Fatal(err)
		}
		kind := ""
		if e := data.Items[0].Error; e != nil {
			kind = e.Kind
		}
		if kind != c.kind || len(data.Items[0].Meta.Attempts) != c.tries {
			t.Errorf("%s: kind %q after %d attempts, want %q after %d", c.name, kind, len(data.Items[0].Meta.Attempts),
				c.kind, c.tries)
		}
	}
	// If the model responded but its turns were unreadable, that is the agent's own ending, not a service failure.
	w := newWorld(t, t.TempDir(), bench("fail model_failed | ROWS a", "fail no_model | ROWS a", "panic now | ROWS a",
		"fail money | ROWS a"))
	sum := w.run(t)
	if asJSON(t, sum.Failed) != `{"internal":1,"no_model":1}` ||
		asJSON(t, sum.NoAnswer) != `{"model_failed":1,"money":1}` {
		t.Errorf("summary: %s", asJSON(t, sum))
	}
	w = newWorld(t, t.TempDir(), bench(" | ROWS a", "answer ROWS a | ROWS a"))
	if sum := w.run(t); sum.Failed[Internal] != 1 || sum.Answered != 1 {
		t.Errorf("an item without a question: %s", asJSON(t, sum))
	}
	w = newWorld(t, t.TempDir(), bench("answer ROWS a | ROWS a"))
	w.Model = func(dataset.Item) agent.Model { return nil }
	if sum := w.run(t); asJSON(t, sum.NoAnswer) != `{}` || sum.Failed[NoModel] != 1 {
		t.Errorf("no model: %s", asJSON(t, sum))
	}
}

// If a service is down, the run stops instead of failing every item.
func TestServiceGone(t *testing.T) {
	t.Parallel()
	var lines []string
	for range 15 {
		lines = append(lines, "fail graph_failed | ROWS a")
	}
	w := newWorld(t, t.TempDir(), bench(lines...))
	sum, err := Run(t.Context(), w.Config)
	if !errors.Is(err, ErrServiceDown) || sum.Items != maxInRow || sum.Missing != 5 {
		t.Errorf("%v, %s", err, asJSON(t, sum))
	}
}

// Items that cannot be scored can be skipped to save money.
func TestSkipUnscorable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), bench(mixed...))
	w.SkipUnscorable = true
	w.asker.before = func(q agent.Question) {
		if strings.Contains("deg", q.ID) {
			t.Errorf("%s was asked", q.ID)
		}
	}
	if sum := w.run(t); sum.NoAnswer[skipped] != 3 || sum.Answered != 3 {
		t.Errorf("summary: %s", asJSON(t, sum))
	}
}

// A benchmark without queries may contain results.
func TestStoredGold(t *testing.T) {
	t.Parallel()
	items := bench("answer ASK yes", "answer ROWS a")
	items[0].Answers = []byte("true")
	w := newWorld(t, t.TempDir(), items)
	sum := w.run(t)
	if *sum.Scores[0].F1 != 1 || sum.Scores[0].N != 1 ||
		asJSON(t, sum.Excluded) != `[{"id":"b","why":"gold_missing"}]` {
		t.Errorf("summary: %s", asJSON(t, sum))
	}
}

// A run with different settings in the same folder is rejected, and the error lists the differences.
func TestOtherSettings(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	first, err := Begin(dir, Settings{"preset": "spinach", "model": "m"}, time.Time{}, Session{Started: at})
	if err != nil || !first.AsOf.Equal(at) {
		t.Fatal(first, err)
	}
	_, err = Begin(dir, Settings{"preset": "grasp", "model": "m"}, time.Time{}, Session{Started: at})
	if !errors.Is(err, ErrOtherSettings) || !strings.Contains(err.Error(), `preset: there "spinach", now "grasp"`) ||
		strings.Contains(err.Error(), "model") {
		t.Error(err)
	}
	if _, err = Begin(dir, first.Settings, at.Add(time.Hour), Session{Started: at}); !errors.Is(err, ErrOtherSettings) {
		t.Error(err)
	}
	again, err := Begin(dir, first.Settings, time.Time{}, Session{Started: at.Add(time.Hour), Version: "2"})
	if err != nil || !again.AsOf.Equal(at) || len(again.Sessions) != 2 {
		t.Errorf("%+v, %v", again, err)
	}
}

// With a threshold, the asker is told which answers are correct according to the gold answer and the chosen metric. It
// is not told for items without gold or if there is no threshold.
func TestRunUntilF1(t *testing.T) {
	t.Parallel()
	items := bench("answer ROWS a | ROWS a b c", "answer ROWS e | FAIL timeout", "answer ROWS d | ROWS")
	told := map[string]func(context.Context, *agent.Answer) bool{}
	for _, until := range []float64{0.67, 0} {
		w := newWorld(t, t.TempDir(), items)
		w.UntilF1, w.UntilBy, w.Score = until, MetricKBQA, Metrics
		made := w.New
		i := 0
		w.New = func(p Parts) ask.Asker {
			told[items[i].ID] = p.Right
			i++
			return made(p)
		}
		w.run(t)
		if until == 0 {
			break
		}
		// F1 is 0.5 for one of three rows, and 0.8 for two of three
		for rows, want := range map[string]bool{"ROWS a": false, "ROWS a b": true, "ROWS c b a": true, "ROWS x": false} {
			if got := told["a"](t.Context(), &agent.Answer{Ran: rows, Table: rowsOf(rows)}); got != want {
				t.Errorf("%s: right %v", rows, got)
			}
		}
		if told["b"] != nil || told["c"] != nil {
			t.Error("an answer is right although gold failed or is empty")
		}
	}
	if told["a"] != nil {
		t.Error("an answer is right without a threshold")
	}
}
