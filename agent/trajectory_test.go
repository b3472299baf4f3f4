package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

// richRun asks a question, and records the run in a file. The run contains every kind of call and failure and a result
// with 2,345 rows.
func richRun(t *testing.T) (path string, out *Outcome) {
	path, out, _ = rich(t)
	return path, out
}

func richRunWith(t *testing.T) (path string, m *fakeModel) {
	path, _, m = rich(t)
	return path, m
}

func rich(t *testing.T) (path string, out *Outcome, m *fakeModel) {
	t.Helper()
	big := &kg.Table{Vars: []string{"x", "n"}, Source: "query.example"}
	for i := range 2345 {
		big.Rows = append(big.Rows, []rdf.Term{rdf.IRI(fmt.Sprintf("%sQ%d", rdf.Entity, i+1)), rdf.Typed(fmt.Sprint(i),
			rdf.XSDInteger)})
	}
	big.Rows[7][1] = rdf.Term{}
	g := graphOfTwo()
	g.entities = map[string]*kg.Entity{"Q567": merkel()}
	g.examples = map[string][]kg.Example{"P26": {{Subject: kg.PropertyRef{ID: "Q567", Label: "Angela Merkel"},
		Value: entityValue("Q96", "Joachim Sauer")}}}
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
	m = &fakeModel{tasks: map[string]string{"language": "English", "prune": `{"P31": true}`, "report": "r"},
		acts: []string{"hm", do("search_wikidata(a < b & c)"), do("search_wikidata(down)"),
			do("get_wikidata_entry(Q567)"), do("get_wikidata_entry(Q568)"), do("get_property_examples(P26)"),
			execute("SELECT nonsense"), execute(qEmpty), do("stop()"), do("stop()"),
			execute(qA), do("stop()")}}
	path = filepath.Join(t.TempDir(), "t.jsonl")
	f, err := event.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	e := New(slog.New(slog.DiscardHandler), m, tool.Wikibase(g), ticking(), spinach(pruned))
	out, err = e.Ask(t.Context(), Question{ID: "../a b/1", Text: "Who?"}, f, Limits{Tokens: 100000})
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if out.Answer == nil {
		t.Fatalf("%s: %s", out.Reason, out.Detail)
	}
	return path, out, m
}

// TestReplayOfOwnTrajectory checks that a run replayed from its file, without a model or a graph, has the same outcome
// and the same events.
func TestReplayOfOwnTrajectory(t *testing.T) {
	path, want := richRun(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	events, err := event.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r, err := event.NewReplay(events)
	if err != nil {
		t.Fatal(err)
	}
	rec := &memory{}
	got, err := New(slog.New(slog.DiscardHandler), r, tool.Wikibase(r), ticking(), spinach(pruned)).Ask(t.Context(),
		r.Question(), rec, r.Limits())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.Steps, got.Steps); d != "" {
		t.Errorf("steps (-first +again):\n%s", d)
	}
	if got.Answer == nil {
		t.Fatalf("no answer: %s %s", got.Reason, got.Detail)
	}
	if got.Answer.SPARQL != want.Answer.SPARQL || got.Answer.Ran != want.Answer.Ran || got.Report != want.Report ||
		got.Confidence != want.Confidence || got.Usage != want.Usage ||
		got.Answer.Endpoint != want.Answer.Endpoint || !cmp.Equal(got.Answer.Labels, want.Answer.Labels) {
		t.Errorf("first %+v, again %+v", want.Answer, got.Answer)
	}
	if n := len(got.Answer.Table.Rows); n != 2345 || !cmp.Equal(got.Answer.Table.Rows[:500],
		want.Answer.Table.Rows[:500]) || !cmp.Equal(got.Answer.Table.Rows[n-500:], want.Answer.Table.Rows[n-500:]) {
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

// TestReplayNotices checks that a replay detects a question that differs from the recorded one.
func TestReplayNotices(t *testing.T) {
	path, _ := richRun(t)
	b, _ := os.ReadFile(path)
	events, err := event.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r, _ := event.NewReplay(events)
	out, err := New(slog.New(slog.DiscardHandler), r, tool.Wikibase(r), ticking(), spinach(nil)).Ask(t.Context(),
		Question{Text: "Who else?", Language: "en"}, nil, Limits{})
	if err != nil || out.Answer != nil || !strings.Contains(out.Detail, "differs from the record") {
		t.Errorf("%v, %+v", err, out)
	}
	if _, err := event.NewReplay(nil); err == nil {
		t.Error("an empty record was accepted")
	}
}

// TestCutAnywhere checks that if a file is truncated at any byte, every event whose line is complete is read.
func TestCutAnywhere(t *testing.T) {
	path, _ := richRun(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole = whole[:min(len(whole), 20_000)]
	whole = whole[:bytes.LastIndexByte(whole, '\n')+1]
	for cut := 0; cut <= len(whole); cut += corpus.Pick(29, 7) {
		lines := bytes.Count(whole[:cut], []byte("\n"))
		got, err := event.Read(bytes.NewReader(whole[:cut]))
		if len(got) != lines && len(got) != lines+1 { // one more event if only the newline is missing
			t.Errorf("cut at %d: %d events of %d complete lines, %v", cut, len(got), lines, err)
		}
		if lines > 0 && err != nil && !errors.Is(err, event.ErrTorn) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

// TestRequestsAreRebuilt checks that the file stores only the new parts of each prompt, and that every request can be
// read back exactly as it was sent to the model.
func TestRequestsAreRebuilt(t *testing.T) {
	path, m := richRunWith(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	events, err := event.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	n, sent := 0, 0
	for _, e := range events {
		if e.Event != "model" {
			continue
		}
		want, err := json.Marshal(m.requests[n])
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(e.Request)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("request %d (-sent +rebuilt):\n%s", n+1, cmp.Diff(m.requests[n], *e.Request))
		}
		n, sent = n+1, sent+len(want)
	}
	if n != len(m.requests) || n < 12 {
		t.Errorf("%d requests in the file, %d were made", n, len(m.requests))
	}
	stored, froms := 0, 0
	for line := range bytes.Lines(b) {
		var e struct {
			Event  string
			Prompt struct{ From []int }
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Event == "model" {
			stored += len(line)
			froms += len(e.Prompt.From)
		}
	}
	if stored*3 > sent {
		t.Errorf("%d bytes stored of %d sent", stored, sent)
	}
	if froms < n {
		t.Errorf("%d prompts name %d events that they came from", n, froms)
	}
}

// TestTree checks that each event comes after its parent, and that the path to the last event contains the answer's
// steps without the abandoned ones.
func TestTree(t *testing.T) {
	g := graphOfTwo()
	m := &fakeModel{acts: []string{do("search_wikidata(a)"), do("search_wikidata(b)"), do("search_wikidata(a)"),
		do("search_wikidata(a)"), execute(qA), do("stop()")}}
	out, rec := ask(t, m, g, Limits{})
	for i, e := range rec.events {
		if e.ID != i+1 || e.Parent >= e.ID || (e.Parent == 0) != (i == 0) {
			t.Errorf("event %d has ID %d and parent %d", i+1, e.ID, e.Parent)
		}
	}
	if d := cmp.Diff(out.Steps, event.Steps(rec.events)); d != "" || len(out.Steps) != 2 {
		t.Errorf("steps (-outcome +path):\n%s", d)
	}
	for _, e := range event.Path(rec.events, 0) {
		if e.Event == "step" && e.Step.N < 3 {
			t.Errorf("the abandoned step %d is on the path", e.Step.N)
		}
	}
}

// TestCrash checks that at most the step in progress is lost, no matter how much of the file after the last sync is
// missing, and that the run can be continued from the file.
func TestCrash(t *testing.T) {
	path, _ := richRunWith(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	synced, last, done := 0, 0, 0 // synced data must survive
	for line := range bytes.Lines(whole) {
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		last += len(line)
		if e.Event == "step" {
			done++
		}
		if e.Event == "step" || e.Event == "rollback" || e.Event == "final" || e.Event == "end" {
			synced = last
		}
		for _, cut := range []int{synced, (synced + last) / 2} {
			if cut < synced || cut == 0 {
				continue
			}
			path := filepath.Join(t.TempDir(), "t.jsonl")
			if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			f, events, err := event.Append(path)
			if err != nil {
				if synced > 0 {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				continue
			}
			steps := 0
			for _, e := range events {
				if e.Event == "step" {
					steps++
				}
			}
			if steps < done {
				t.Errorf("cut at %d: %d steps of %d that were done", cut, steps, done)
			}
			if err := errors.Join(f.Record(t.Context(), Event{Event: "end"}), f.Close()); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := event.Read(bytes.NewReader(b)); err != nil || len(again) != len(events)+1 {
				t.Errorf("cut at %d and continued: %d events, %v; want %d", cut, len(again), err, len(events)+1)
			}
		}
	}
}

// TestOldFormat checks that a file in the first format is read as a tree and can be replayed.
func TestOldFormat(t *testing.T) {
	b, err := os.ReadFile("event/testdata/format1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	events, err := event.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if e.ID != i+1 || e.Parent >= e.ID {
			t.Errorf("event %d has ID %d and parent %d", i+1, e.ID, e.Parent)
		}
	}
	if n := len(event.Steps(events)); n < 3 {
		t.Errorf("%d steps on the path", n)
	}
	r, err := event.NewReplay(events)
	if err != nil {
		t.Fatal(err)
	}
	if r.Question().Text == "" || events[len(events)-1].Report == "" {
		t.Errorf("question %q, last event %+v", r.Question().Text, events[len(events)-1])
	}
	for _, e := range events {
		if e.Event == "model" && (e.Request == nil || len(e.Request.Messages) < 2) {
			t.Errorf("event %d does not have a whole request", e.ID)
		}
	}
}
