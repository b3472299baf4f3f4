package agent

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// richRun asks a question that goes through every kind of call and failure, with a result of 2,345 rows, and records it in a file.
func richRun(t *testing.T) (path string, out *Outcome) {
	t.Helper()
	big := &kg.Table{Vars: []string{"x", "n"}, Source: "query.example"}
	for i := range 2345 {
		big.Rows = append(big.Rows, []rdf.Term{rdf.IRI(fmt.Sprintf("%sQ%d", rdf.Entity, i+1)), rdf.Typed(fmt.Sprint(i), rdf.XSDInteger)})
	}
	big.Rows[7][1] = rdf.Term{}
	g := graphOfTwo()
	g.entities = map[string]*kg.Entity{"Q567": merkel()}
	g.examples = map[string][]kg.Example{"P26": {{Subject: kg.PropertyRef{ID: "Q567", Label: "Angela Merkel"}, Value: entityValue("Q96", "Joachim Sauer")}}}
	g.hits = map[string][]kg.Hit{"en:a < b & c": {{ID: "Q1", Type: kg.Item, Label: "a"}}}
	g.errs["down"] = kg.Errorf(kg.Down, "no route")
	g.labels = map[string]string{"P26": "spouse", "P31": "instance of", "Q5": "human", "Q1": "one"}
	g.query = func(q string) (*kg.Table, error) {
		if strings.Contains(q, "P36") {
			return &kg.Table{Vars: []string{"x"}}, nil
		}
		return big, nil
	}
	delete(g.tables, qA)
	m := &fakeModel{tasks: map[string]string{"language": "English", "prune": `{"P31": true}`, "report": "r"}, acts: []string{"hm", do("search_wikidata(a < b & c)"), do("search_wikidata(down)"),
		do("get_wikidata_entry(Q567)"), do("get_wikidata_entry(Q568)"), do("get_property_examples(P26)"), execute("SELECT nonsense"), execute(qEmpty), do("stop()"), do("stop()"),
		execute(qA), do("stop()")}}
	path = filepath.Join(t.TempDir(), TrajectoryName("../a b/1"))
	f, err := OpenTrajectory(path)
	if err != nil {
		t.Fatal(err)
	}
	e := New(slog.New(slog.DiscardHandler), m, g, g, ticking(), Options{PruneOver: -1})
	out, err = e.Ask(t.Context(), Question{ID: "../a b/1", Text: "Who?"}, f, Limits{Tokens: 100000})
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if out.Answer == nil {
		t.Fatalf("%s: %s", out.Reason, out.Detail)
	}
	return path, out
}

// TestReplayOfOwnTrajectory: played again from its file, without model and graph, a run gives the same outcome and the same events.
func TestReplayOfOwnTrajectory(t *testing.T) {
	path, want := richRun(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	events, err := ReadTrajectory(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReplay(events)
	if err != nil {
		t.Fatal(err)
	}
	rec := &memory{}
	got, err := New(slog.New(slog.DiscardHandler), r, r, r, ticking(), Options{PruneOver: -1}).Ask(t.Context(), r.Question(), rec, r.Limits())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.Steps, got.Steps); d != "" {
		t.Errorf("steps (-first +again):\n%s", d)
	}
	if got.Answer == nil {
		t.Fatalf("no answer: %s %s", got.Reason, got.Detail)
	}
	if got.Answer.SPARQL != want.Answer.SPARQL || got.Answer.Ran != want.Answer.Ran || got.Report != want.Report || got.Confidence != want.Confidence || got.Usage != want.Usage ||
		got.Answer.Endpoint != want.Answer.Endpoint || !cmp.Equal(got.Answer.Labels, want.Answer.Labels) {
		t.Errorf("first %+v, again %+v", want.Answer, got.Answer)
	}
	if n := len(got.Answer.Table.Rows); n != 2345 || !cmp.Equal(got.Answer.Table.Rows[:500], want.Answer.Table.Rows[:500]) || !cmp.Equal(got.Answer.Table.Rows[n-500:], want.Answer.Table.Rows[n-500:]) {
		t.Errorf("%d rows, or other ones", n)
	}
	if len(rec.events) != len(events) {
		t.Errorf("%d events, first %d", len(rec.events), len(events))
	}
	for i := range min(len(events), len(rec.events)) {
		if events[i].Event != rec.events[i].Event {
			t.Errorf("event %d was %s, is %s", i, events[i].Event, rec.events[i].Event)
		}
	}
}

// TestReplayNotices a question that differs from the recorded one.
func TestReplayNotices(t *testing.T) {
	path, _ := richRun(t)
	b, _ := os.ReadFile(path)
	events, err := ReadTrajectory(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r, _ := NewReplay(events)
	out, err := New(slog.New(slog.DiscardHandler), r, r, r, ticking(), Options{}).Ask(t.Context(), Question{Text: "Who else?", Language: "en"}, nil, Limits{})
	if err != nil || out.Answer != nil || !strings.Contains(out.Detail, "differs from the record") {
		t.Errorf("%v, %+v", err, out)
	}
	if _, err := NewReplay(nil); err == nil {
		t.Error("an empty record was taken")
	}
}

func TestReadTrajectory(t *testing.T) {
	start := `{"event":"start","time":"2026-01-01T00:00:00Z","format":"` + Format + `","question":{"ID":"","Text":"x","Language":"","History":null}}` + "\n"
	step := `{"event":"step","time":"2026-01-01T00:00:00Z","step":{"n":1,"thought":"t","action":"stop","argument":"","observation":"","ms":0}}` + "\n"
	for _, tt := range []struct {
		name, text string
		n          int
		err        string
	}{
		{"whole", start + step, 2, ""},
		{"without the last line's end", start + strings.TrimSpace(step), 2, ""},
		{"empty lines", start + "\n\n" + step + "\n", 2, ""},
		{"torn last line", start + step + step[:30], 2, "torn"},
		{"torn in the middle", start + step[:30] + "\n" + step, 1, "line 2"},
		{"only a torn line", start[:20], 0, "line 1"},
		{"another format", strings.Replace(start, Format, "spinachbot-trajectory-9", 1), 0, "trajectory-9"},
		{"no start", step, 0, "want a start event"},
		{"empty", "", 0, ""},
		{"no JSON", "hello\nworld\n", 0, "line 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadTrajectory(strings.NewReader(tt.text))
			if len(got) != tt.n {
				t.Errorf("%d events, want %d", len(got), tt.n)
			}
			if (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if (tt.err == "torn") != errors.Is(err, ErrTorn) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestCutAnywhere: of a file cut at any byte, every event whose line is complete is read.
func TestCutAnywhere(t *testing.T) {
	path, _ := richRun(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole = whole[:min(len(whole), 20_000)]
	whole = whole[:bytes.LastIndexByte(whole, '\n')+1]
	for cut := 0; cut <= len(whole); cut += 7 {
		lines := bytes.Count(whole[:cut], []byte("\n"))
		got, err := ReadTrajectory(bytes.NewReader(whole[:cut]))
		if len(got) != lines && len(got) != lines+1 { // one more where only the line's end is missing
			t.Errorf("cut at %d: %d events of %d complete lines, %v", cut, len(got), lines, err)
		}
		if lines > 0 && err != nil && !errors.Is(err, ErrTorn) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

// FuzzReadTrajectory: no file breaks the reader, and what it reads begins with a start event of our format.
func FuzzReadTrajectory(f *testing.F) {
	f.Add([]byte(`{"event":"start","format":"` + Format + `","question":{"Text":"x"}}` + "\n{\"event\":\"step\"}\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		events, _ := ReadTrajectory(bytes.NewReader(b))
		if len(events) > 0 && (events[0].Event != "start" || events[0].Format != Format) {
			t.Errorf("begins with %+v", events[0])
		}
	})
}

func TestTrajectoryFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.jsonl")
	f, err := OpenTrajectory(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenTrajectory(path); err == nil {
		t.Error("a file that is there was opened again")
	}
	if err := f.Record(t.Context(), Event{Event: "start", Format: Format}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); !bytes.HasSuffix(b, []byte("\n")) {
		t.Errorf("not on the disk when Record returned: %q", b)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	err = f.Record(t.Context(), Event{Event: "end"})
	if err == nil || !strings.Contains(err.Error(), "event end") {
		t.Errorf("a failed write gives %v", err)
	}
	if again := f.Record(t.Context(), Event{Event: "end"}); again == nil {
		t.Error("recording went on after a failure")
	}
	if _, err := OpenTrajectory(filepath.Join(dir, "missing", "t.jsonl")); err == nil {
		t.Error("no error for a missing directory")
	}
}

// TestFullDisk needs a device that is always full.
func TestFullDisk(t *testing.T) {
	dev, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	f := &TrajectoryFile{f: dev}
	m := &fakeModel{acts: []string{execute(qA), do("stop()")}}
	out, err := newEngine(m, graphOfTwo()).Ask(t.Context(), Question{Text: "Who?", Language: "en"}, f, Limits{})
	if err == nil || !strings.Contains(err.Error(), "disk full") || out.Answer != nil || m.used != 0 {
		t.Errorf("error %v, outcome %+v", err, out)
	}
}

func TestTrajectoryName(t *testing.T) {
	for in, want := range map[string]string{"": "t-run.jsonl", "c-Author-20190605142000": "t-c-Author-20190605142000.jsonl", "../../etc/passwd": "t-etc-passwd.jsonl", "CON": "t-CON.jsonl",
		"a\x00b/é": "t-a-b.jsonl", strings.Repeat("x", 200): "t-" + strings.Repeat("x", 80) + ".jsonl"} {
		if got := TrajectoryName(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

// TestRecordedErrorKinds: kinds of failure survive the record.
func TestRecordedErrorKinds(t *testing.T) {
	for _, err := range []error{llm.ErrNoModel, llm.ErrBudget, llm.ErrContextLength} {
		err = fmt.Errorf("call: %w", err)
		for _, e := range []Event{{Error: err.Error(), Cause: CauseOf(err)}, {Error: err.Error()}} { // now, and as the first version wrote it
			if got := recordedError(e); !errors.Is(got, errors.Unwrap(err)) {
				t.Errorf("%v is lost: %v", err, got)
			}
		}
	}
	c := CallFailure{Kind: kg.Timeout, Message: "m"}
	if kg.KindOf(c.err()) != kg.Timeout || kg.KindOf((&CallFailure{Message: "m"}).err()) != "" {
		t.Error("kinds of the graph are lost")
	}
}
