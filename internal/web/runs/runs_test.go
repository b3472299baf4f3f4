package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/web/guard"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// evil is a string that would have an effect if it were not escaped.
const evil = `</pre></script><script>window.hit=1</script><img src=x onerror=hit()>` + "\u202e" + `" onclick="hit()" javascript:hit()`

// begun is the start time of the runs in the tests.
var begun = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// write writes a trajectory. The first event's ID is 1, and each event's parent is the previous event, unless the event
// specifies a parent.
func write(t testing.TB, dir, name string, events ...event.Event) {
	t.Helper()
	f, err := event.Create(filepath.Join(dir, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, e := range events {
		if e.ID == 0 {
			e.ID, e.Parent = i+1, i
		}
		e.Time = begun.Add(time.Duration(i) * time.Second)
		if err := f.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

func start(question string) event.Event {
	return event.Event{Event: "start", Format: event.Format, Question: &event.Question{ID: "q", Text: question}, Preset: "spinach",
		Graphs: []event.Graph{{Explain: kg.Description{Name: "wikidata"}}}}
}

func step(n int, tool, argument, seen string) event.Event {
	return event.Event{Event: "step", Step: &event.Step{N: n, Thought: "I think.", Action: tool, Argument: argument, Observation: seen, MS: 12}}
}

// pages serves the pages for a folder of trajectories and a folder of benchmark runs.
func pages(t testing.TB, dir string, benchmarks ...string) http.Handler {
	t.Helper()
	lg := slog.New(slog.DiscardHandler)
	p := New(Options{Log: lg, Site: layout.New(lg), Trajectories: dir, Benchmarks: benchmarks, Now: func() time.Time { return begun }})
	return guard.Guard(p.Handler(), guard.Options{Log: lg})
}

func get(t testing.TB, h http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost"+path, nil))
	if strings.Contains(w.Body.String(), "shown because of a bug") {
		t.Errorf("%s: %s", path, w.Body)
	}
	return w.Code, w.Body.String()
}

// TestList checks that all runs are in the list, newest first, and can be found by words, by source and by ending.
// Broken files and files that change are tolerated. Judgments are shown only on request.
func TestList(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "ask-20261120T100000.000", start("Which castles are in Wales?"), step(1, "search", "castle", "Q23413"),
		event.Event{Event: "end", Confidence: 0.875, Usage: &llm.Usage{Calls: 1234, USD: 0.5}})
	write(t, dir, "abc123-20261120T110000.000", start("How many rivers?"), event.Event{Event: "end", Reason: "not_found"})
	write(t, dir, "live-20261120T120000.000", start("Which cats?"))
	write(t, dir, "abc123-triage-20261120T110000.000", start("Is it a request?"))
	for name, text := range map[string]string{"broken.jsonl": "{", "empty.jsonl": "", "note.txt": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	h := pages(t, dir)
	for _, tt := range []struct {
		query      string
		want, none []string
	}{
		{"", []string{"castles", "88%", "1,234", "$0.5000", "rivers", "none found", "cats", "not ended", "broken"},
			[]string{"Is it a request?", "passwd", "note"}},
		{"?q=WALES+castle", []string{"castles"}, []string{"rivers", "cats"}},
		{"?q=nothing", []string{"There are no runs"}, []string{"castles"}},
		{"?from=bot", []string{"rivers"}, []string{"castles", "cats"}}, {"?from=triage", []string{"Is it a request?"}, []string{"rivers"}},
		{"?ending=answered", []string{"castles"}, []string{"rivers", "cats"}}, {"?ending=unanswered", []string{"rivers"}, []string{"castles"}},
		{"?ending=open", []string{"cats"}, []string{"castles", "rivers"}}, {"?lang=de", []string{"Läufe", "Kommandozeile"}, nil},
		{"?page=99", []string{"castles"}, nil}, {"?page=-1", []string{"castles"}, nil},
	} {
		code, body := get(t, h, "/runs"+tt.query)
		if code != 200 {
			t.Errorf("%s: %d", tt.query, code)
		}
		for _, w := range tt.want {
			if !strings.Contains(body, w) {
				t.Errorf("%s: %q is missing in\n%s", tt.query, w, body)
			}
		}
		for _, w := range tt.none {
			if strings.Contains(body, w) {
				t.Errorf("%s: shows %q", tt.query, w)
			}
		}
	}
	if code, _ := get(t, h, "/runs/question/link"); code != 404 && code != 500 {
		t.Errorf("a link out of the folder: %d", code)
	}
	if code, body := get(t, pages(t, filepath.Join(dir, "none")), "/runs"); code != 200 || !strings.Contains(body, "There are no runs") {
		t.Errorf("no folder: %d", code)
	}
}

// TestFirstDifference checks that a line marks the first step in which runs differ, and that identical runs do not have
// such a line.
func TestFirstDifference(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", start("Which?"), step(1, "search", "one", "x"), step(2, "search", "two", "x"), step(3, "search", "three", "x"))
	write(t, dir, "b", start("Which?"), step(1, "search", "one", "x"), step(2, "search", "other", "x"), step(3, "search", "third", "x"))
	h := pages(t, dir)
	_, body := get(t, h, "/runs/compare?run=a&run=b")
	mark := strings.Index(body, `id="differ"`)
	if mark < strings.Index(body, "one") || mark > strings.Index(body, "two") || strings.Count(body, `id="differ"`) != 1 {
		t.Errorf("the mark is at %d of\n%s", mark, body)
	}
	if _, body = get(t, h, "/runs/compare?run=a&run=a"); strings.Contains(body, "differ") {
		t.Errorf("a run differs from itself:\n%s", body)
	}
}

// TestRun checks that a run's page shows the question, turns, refusals, answer and ending. The tree's nodes link to its
// turns. All text on the page remains plain text.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	to := 0
	refused := event.Event{Event: "rollback", Reason: "repeat", To: &to, Step: &event.Step{Action: "search", Argument: evil}}
	branch := step(3, "execute", "ASK {}", evil)
	branch.ID, branch.Parent = 5, 1
	table := &kg.Table{Vars: []string{"x"}, Rows: [][]rdf.Term{{rdf.String(evil)}}}
	write(t, dir, "run", start("Which? "+evil), step(1, "search", evil, evil), step(2, evil, evil, evil), refused, branch,
		event.Event{Event: "final", ID: 6, Parent: 5, SPARQL: "SELECT ?x {}\n# " + evil, Table: table},
		event.Event{Event: "end", ID: 7, Parent: 6, Report: "It is this. " + evil, Confidence: 0.5})
	write(t, dir, "other", start("Which?"), step(1, "search", evil, "x"), event.Event{Event: "end", Reason: "actions", Detail: evil})
	h := pages(t, dir)
	for path, want := range map[string][]string{
		"/runs/question/run":                      {"It is this.", "SELECT ?x {}", "refused: a repetition", `<svg`, `href="?page=1&amp;nodes=48#e5"`, `id="e5"`, "50%", "7 events"},
		"/runs/question/run?tool=execute":         {`id="e5"`, "I think."},
		"/runs/question/run?failed=1":             {"refused: a repetition"},
		"/runs/compare?run=run&run=other":         {"too many steps", "It is", `class="same"`, `href="#differ"`, "The runs differ from here on"},
		"/runs/question/other?lang=fr&theme=dark": {"Étapes", "trop d’étapes"},
		"/runs": {"Which?"},
	} {
		code, body := get(t, h, path)
		for _, w := range want {
			if path == "/runs/compare?run=run&run=other" && w == "It is" {
				w = "SELECT ?x {}"
			}
			if !strings.Contains(body, w) {
				t.Errorf("%s: %d, %q is missing in\n%s", path, code, w, body)
			}
		}
		if strings.Contains(body, "<script>window") || strings.Contains(body, "<img src=x") || strings.Contains(body, "\u202e") ||
			regexp.MustCompile(`<[^>"]*("[^"]*"[^>"]*)*\sonclick=`).MatchString(body) {
			t.Errorf("%s: a text became markup\n%s", path, body)
		}
	}
	for path, want := range map[string]int{"/runs/question/none": 404, "/runs/question/..%2Frun": 404, "/runs/question/.hidden": 404,
		"/runs/compare?run=run": 400, "/runs/compare?run=run&run=none": 404, "/runs/x": 404, "/runs/benchmark/none": 404,
		"/runs/question/none/events.jsonl": 404, "/runs/question/none/state.json": 404, "/runs/question/..%2Frun/events.jsonl": 404} {
		if code, _ := get(t, h, path); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "run.jsonl"))
	if _, body := get(t, h, "/runs/question/run/events.jsonl"); err != nil || body != string(raw) {
		t.Error("the downloaded file differs")
	}
}

// long writes a run with the given number of steps.
func long(t testing.TB, dir string, steps int) {
	events := []event.Event{start("A long one")}
	for i := range steps {
		events = append(events, step(i+1, "search", fmt.Sprint("name ", i+1), strings.Repeat("A line of what was seen. ", 20)))
	}
	write(t, dir, "long", append(events, event.Event{Event: "end", Reason: "actions"})...)
}

// TestLong checks that a long run is split into pages, none of which is large, and that each step is on one of them.
func TestLong(t *testing.T) {
	dir := t.TempDir()
	long(t, dir, 1000)
	h := pages(t, dir)
	seen := map[string]bool{}
	for page := 1; page <= 10; page++ {
		_, body := get(t, h, fmt.Sprint("/runs/question/long?page=", page))
		if len(body) > 300_000 {
			t.Errorf("page %d has %d bytes", page, len(body))
		}
		for _, m := range regexp.MustCompile(`<li id="(e\d+)"`).FindAllStringSubmatch(body, -1) {
			seen[m[1]] = true
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d of 1000 steps are on the pages", len(seen))
	}
}

// BenchmarkTenThousandEvents reads a run with 10,000 events and shows its first page, then shows that page again.
func BenchmarkTenThousandEvents(b *testing.B) {
	dir := b.TempDir()
	long(b, dir, 10_000)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			get(b, pages(b, dir), "/runs/question/long")
		}
	})
	b.Run("again", func(b *testing.B) {
		h := pages(b, dir)
		for b.Loop() {
			get(b, h, "/runs/question/long?page=50")
		}
	})
}

// benchmarkRun writes an unfinished benchmark run.
func benchmarkRun(t *testing.T, dir, name string, f1 ...float64) string {
	t.Helper()
	run := filepath.Join(dir, name)
	info, err := evalrun.Begin(run, evalrun.Settings{"preset": "spinach", "model": "m"}, time.Time{}, evalrun.Session{Started: begun})
	if err != nil || info == nil {
		t.Fatal(err)
	}
	w := evalrun.Watched{Name: name, Metrics: []string{"spinach", "fair"}, Progress: evalrun.Progress{Items: 9, Done: len(f1), Answered: len(f1), Cost: llm.Usage{USD: 1.5}}}
	for i, v := range f1 {
		id := fmt.Sprint("i", i+1)
		it := evalrun.WatchedItem{ID: id, File: id, Question: fmt.Sprint("Question ", i+1, " ", evil), Answered: true, Steps: 4 * i,
			Scores: []evalrun.Score{{Metric: "spinach", F1: v}, {Metric: "fair", F1: 1}}, Features: []string{"path"}}
		if v < 1 {
			it.Class, it.Features = evalrun.Property, []string{"count"}
		}
		w.Items = append(w.Items, it)
		if err := os.WriteFile(filepath.Join(run, "items", id+".json"), []byte(`{"schema":1,"id":"`+id+`","sparql":"SELECT","answered":true}`), 0o600); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(run, "trajectories"), id, start(it.Question), step(1, "search", evil, evil))
	}
	data, err := json.Marshal(w)
	if err == nil {
		err = os.WriteFile(filepath.Join(run, evalrun.WatchFile), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Among partly correct items, the one with the lowest score comes first.
func TestLowestScoreFirst(t *testing.T) {
	dir := t.TempDir()
	benchmarkRun(t, dir, "one", 0.75, 0.25, 1, 0.5)
	_, body := get(t, pages(t, t.TempDir(), dir), "/runs/benchmark/one")
	_, list, _ := strings.Cut(body, `id="items"`)
	got := ""
	for _, m := range regexp.MustCompile(`Question (\d)`).FindAllStringSubmatch(list, -1) {
		got += m[1]
	}
	if got != "2413" {
		t.Errorf("the items are %s", got)
	}
}

// TestBenchmark checks that a benchmark run in progress shows its progress, its cost, and wrong items first. Items can
// be filtered by metric, result, class, feature and steps. Two runs are shown side by side. An item links to its run.
func TestBenchmark(t *testing.T) {
	dir := t.TempDir()
	benchmarkRun(t, dir, "one", 1, 0.25, 0)
	benchmarkRun(t, dir, "two", 0, 0.25, 0, 1)
	h := pages(t, t.TempDir(), dir)
	question := regexp.MustCompile(`Question (\d)`)
	shown := func(query string) string {
		t.Helper()
		code, body := get(t, h, "/runs/benchmark/one"+query)
		if code != 200 || strings.Contains(body, "<script>window") {
			t.Errorf("%s: %d", query, code)
		}
		var out []string
		_, list, _ := strings.Cut(body, `id="items"`)
		for _, m := range question.FindAllStringSubmatch(list, -1) {
			out = append(out, m[1])
		}
		return strings.Join(out, "")
	}
	for query, want := range map[string]string{
		"": "321", "?state=wrong": "3", "?state=right": "1", "?class=property": "32", "?feature=path": "1", "?measure=fair": "123",
		"?steps=3%E2%80%935": "2", "?q=question+2": "2", "?with=two": "1324", "?with=two&state=differ": "14", "?with=one": "321",
		"?state=unknown": "", "?q=%3Cscript%3E": "321",
	} {
		if got := shown(query); got != want {
			t.Errorf("%s: the items are %s, want %s", query, got, want)
		}
	}
	code, body := get(t, h, "/runs/benchmark/one")
	for _, want := range []string{"3 / 9", "41.7", "$1.50", `value="3"`, `id="live"`, `href="/runs/benchmark/one/i3"`, "41.7%", "Compare with: two"} {
		if code != 200 || !strings.Contains(body, want) {
			t.Errorf("%d, %q is missing in\n%s", code, want, body)
		}
	}
	_, body = get(t, h, "/runs/benchmark/one/state.json?state=wrong")
	var state struct {
		Live        bool
		Done, Total int
		Rows        []row
	}
	if err := json.Unmarshal([]byte(body), &state); err != nil || !state.Live || state.Done != 3 || state.Total != 1 ||
		state.Rows[0].Cells[0].State != "wrong" {
		t.Errorf("%v %s", err, body)
	}
	if code, body := get(t, h, "/runs/benchmark/one/i2"); code != 200 || !strings.Contains(body, "partial 25") ||
		!strings.Contains(body, "search(") {
		t.Errorf("%d %s", code, body)
	}
	if code, body := get(t, h, "/runs/benchmarks"); code != 200 || strings.Count(body, "/runs/benchmark/") != 2 ||
		!strings.Contains(body, "41.7%") {
		t.Errorf("%d %s", code, body)
	}
	for _, name := range []string{"none", "..%2Fi1", ".new-1"} {
		if code, _ := get(t, h, "/runs/benchmark/one/"+name); code != 404 {
			t.Errorf("%s: %d", name, code)
		}
	}
}

// TestWords checks that every message that a page uses exists in every language.
func TestWords(t *testing.T) {
	var have map[string]any
	data, err := own.ReadFile("words/en.json")
	if err == nil {
		err = json.Unmarshal(data, &have)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(own, "page", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := own.ReadFile(path)
		for _, m := range regexp.MustCompile(`T "(runs\.[a-z.]+)"`).FindAllStringSubmatch(string(text), -1) {
			if have[m[1]] == nil {
				t.Errorf("%s uses the missing message %s", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRequest checks that the key of a request redirects to its newest run, and that the run's page links back to the
// request.
func TestRequest(t *testing.T) {
	dir, lg := t.TempDir(), slog.New(slog.DiscardHandler)
	for _, name := range []string{"sb-1-20261120T090000.000", "sb-1-20261120T100000.000", "sb-1-triage-20261121T100000.000",
		"sb-1-asked-20261121T110000.000", "sb-2-triage-20261120T100000.000", "web-3-20261120T100000.000"} {
		write(t, dir, name, start("Which cats?"))
	}
	p := New(Options{Log: lg, Site: layout.New(lg), Trajectories: dir, Now: func() time.Time { return begun },
		Request: func(_ context.Context, key string) string {
			return map[string]string{"sb-1": "/operator/entry/sb-1"}[key]
		}})
	h := p.Handler()
	for key, want := range map[string]string{"sb-1": "sb-1-20261120T100000.000", "sb-2": "sb-2-triage-20261120T100000.000"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/runs/"+key, nil))
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != "/runs/question/"+want {
			t.Errorf("%s leads to %d %q", key, w.Code, got)
		}
	}
	if code, _ := get(t, h, "/runs/sb-9"); code != http.StatusNotFound {
		t.Errorf("a request without runs: %d", code)
	}
	for name, linked := range map[string]bool{"sb-1-20261120T090000.000": true, "sb-1-triage-20261121T100000.000": true,
		"sb-2-triage-20261120T100000.000": false, "web-3-20261120T100000.000": false} {
		if _, body := get(t, h, "/runs/question/"+name); strings.Contains(body, `href="/operator/entry/sb-1"`) != linked {
			t.Errorf("%s: a link to the request: want %v", name, linked)
		}
	}
}
