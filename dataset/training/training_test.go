package training_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/dataset/examples"
	"github.com/spinachbot/spinachbot/dataset/training"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/llm"
)

type log struct{ events []event.Event }

func (l *log) add(parent int, e event.Event) int {
	e.ID, e.Parent, e.Time = len(l.events)+1, parent, time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	l.events = append(l.events, e)
	return e.ID
}

// asks adds a call to the model and its response.
func (l *log) asks(parent int, prompt string, said ...string) int {
	e := event.Event{Event: "model", Request: &llm.Request{Purpose: "act",
		Messages: []llm.Message{{Role: llm.User, Content: prompt}}}, Response: &llm.Response{Model: "m"}}
	for _, s := range said {
		e.Response.Choices = append(e.Response.Choices, llm.Choice{Content: s})
	}
	return l.add(parent, e)
}

func (l *log) queried(parent int, query, bindings string) int {
	args, _ := json.Marshal(query)
	return l.add(parent, event.Event{Event: "graph", Call: &event.Call{Op: "query", Args: args,
		Result: json.RawMessage(`{"head":{"vars":["x"]},"results":{"bindings":` + bindings + `}}`)}})
}

func turn(action string) string { return "Thought: t\nAction: " + action + "(x)" }

func (l *log) step(parent int, action string) int {
	return l.add(parent, event.Event{Event: "step", Step: &event.Step{Thought: "t", Action: action, Argument: "x"}})
}

func start(question string) *log {
	l := &log{}
	l.add(0, event.Event{Event: "start", Format: event.Format, Preset: "spinach", Question: &event.Question{Text: question}})
	return l
}

func (l *log) end(parent int, query string, confidence float64) *log {
	at := l.add(parent, event.Event{Event: "final", SPARQL: query, Ran: query})
	l.add(at, event.Event{Event: "end", Confidence: confidence})
	return l
}

func linear(question, query string, confidence float64) *log {
	l := start(question)
	at := l.queried(l.asks(1, question, turn("execute "+query)), query, `[]`)
	return l.end(l.step(at, "execute "+query), query, confidence)
}

func (l *log) write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := event.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.events {
		if err := f.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// folder writes the runs to a folder in the given order.
func folder(t *testing.T, runs ...*log) string {
	dir := t.TempDir()
	for i, l := range runs {
		l.write(t, filepath.Join(dir, fmt.Sprintf("%02d.jsonl", i)))
	}
	return dir
}

func from(t *testing.T, path string, o training.Options) *training.Export {
	t.Helper()
	x, err := training.From(t.Context(), []string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// files returns the names of the trajectories that the lines come from.
func files(t *testing.T, x *training.Export) (out []string) {
	for _, l := range x.Lines {
		var got struct{ Source transcript.Provenance }
		if err := json.Unmarshal(l.Text, &got); err != nil {
			t.Fatal(err)
		}
		out = append(out, got.Source.File)
	}
	return out
}

// Among identical dialogues, only one is kept. Among several dialogues for the same question, the one with the
// highest confidence is kept.
func TestOnce(t *testing.T) {
	dir := folder(t, linear("Which river is the longest in Africa?", "SELECT 1", 0.3),
		linear("Which river is the longest in Africa?", "SELECT 2", 0.8), linear("What is a lake?", "SELECT 3", 0.1),
		linear("What is a lake?", "SELECT 3", 0.1), linear("in Africa, which river is the longest", "SELECT 4", 0.5),
		start("unanswered"))
	if err := os.WriteFile(filepath.Join(dir, "broken.jsonl"), []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := from(t, dir, training.Options{As: transcript.AsSFT})
	if got := files(t, x); !slices.Equal(got, []string{"01.jsonl", "02.jsonl"}) || x.Out[training.SameText] != 1 ||
		x.Out[training.SameAsked] != 2 || x.Out[training.NoAnswer] != 1 || len(x.Unread) != 1 {
		t.Errorf("%v %v %v", got, x.Out, x.Unread)
	}
	x = from(t, dir, training.Options{As: transcript.AsSFT, Several: true, License: "mit"})
	if got := files(t, x); len(got) != 4 || x.Out[training.SameText] != 1 ||
		!strings.Contains(string(x.Lines[0].Text), `"licence":"mit"`) {
		t.Errorf("several: %v %v %s", got, x.Out, x.Lines[0].Text)
	}
	if _, err := training.From(t.Context(), []string{filepath.Join(dir, "none")}, training.Options{}); err == nil {
		t.Error("a path that does not exist")
	}
}

// Lines that are similar to a test item are left out: lines with a paraphrase of its question, with its query for a
// different question, with its query on the path, or with an example in the prompt.
func TestHeldBack(t *testing.T) {
	gold := "SELECT ?c WHERE { ?c wdt:P31 wd:Q515 ; wdt:P17 wd:Q142 ; wdt:P1082 ?n . FILTER(?n > 100000) }"
	held := examples.Hold([]dataset.Item{{ID: "7", Question: "Which cities in France have over 100000 inhabitants?",
		SPARQL: gold}})
	renamed := strings.NewReplacer("?c", "?city", "?n", "?inhabitants").Replace(gold)
	onTheWay := start("What do towns have?")
	at := onTheWay.step(onTheWay.queried(onTheWay.asks(1, "p", turn("execute")), renamed, `[]`), "execute")
	onTheWay.end(at, "SELECT 5", 1)
	shown := start("Who is it?")
	solved, _ := json.Marshal([]event.Example{{ID: "e", Question: "which cities in France have over 100000 inhabitants"}})
	at = shown.add(1, event.Event{Event: "graph", Call: &event.Call{Op: event.ExamplesOp, Result: solved}})
	shown.end(shown.step(shown.asks(at, "p2", turn("execute")), "execute"), "SELECT 6", 1)
	dir := folder(t, linear("List all the cities of France that have over 100000 inhabitants, please", "SELECT 1", 1),
		linear("French towns, the big ones", renamed, 1), onTheWay, shown,
		linear("Which cities in Spain have over 5 airports?", "SELECT 2", 1))
	x := from(t, dir, training.Options{As: transcript.AsSFT, Not: held})
	if got := files(t, x); !slices.Equal(got, []string{"04.jsonl"}) || x.Held() != 4 ||
		x.Out[training.HeldBack+string(examples.LikeContent)] != 1 || x.Out[training.HeldBack+string(examples.SameQuery)] != 2 ||
		x.Out[training.HeldBack+string(examples.SameWords)] != 1 {
		t.Errorf("%v %v", got, x.Out)
	}
	card := string(x.Card(&training.Description{As: transcript.AsSFT, File: "sft.jsonl", License: "mit", Not: []string{"test.json"},
		Items: 1, Made: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}))
	for _, want := range []string{"license: mit\n", "1 line of training data", "| spinach | 1 |", "compared with 1 test item of test.json; 4 ",
		"| near a test item: same query | 2 |"} {
		if !strings.Contains(card, want) {
			t.Errorf("the card does not contain %q:\n%s", want, card)
		}
	}
}

const (
	rowA  = `{"x":{"type":"uri","value":"http://www.wikidata.org/entity/Q1"}}`
	rowB  = `{"x":{"type":"uri","value":"http://www.wikidata.org/entity/Q2"}}`
	gold2 = "[" + rowA + "," + rowB + "]"
)

// searched returns a search that chose the branch with one row over the branch with both.
func searched() *log {
	l := start("Which two?")
	root := l.add(1, event.Event{Event: "tree", Tree: &event.Tree{Policy: "mcts"}})
	m := l.asks(root, "p1", turn("one"), turn("both"))
	one, both := l.step(l.queried(m, "SELECT 1", "["+rowA+"]"), "one"), l.step(l.queried(m, "SELECT 2", gold2), "both")
	stop1 := l.step(l.asks(one, "p1 one", turn("other"), turn("stop")), "stop")
	stop2 := l.step(l.asks(both, "p1 both", turn("stop")), "stop")
	at := l.add(stop1, event.Event{Event: "vote", Groups: []event.Group{{Ends: []int{stop1}, SPARQL: "SELECT 1", Chosen: true},
		{Ends: []int{stop2}, SPARQL: "SELECT 2"}}})
	return l.end(at, "SELECT 1", 0.5)
}

// evaluated writes an eval run's folder.
func evaluated(t *testing.T, results []evalrun.Result, runs []*log) string {
	dir := t.TempDir()
	var lines, metas strings.Builder
	for i, r := range results {
		r.Schema = evalrun.Schema
		for _, w := range []struct {
			to *strings.Builder
			v  any
		}{{&lines, r}, {&metas, evalrun.Meta{Schema: evalrun.Schema, ID: r.ID, Trajectory: "trajectories/" + r.ID + ".jsonl"}}} {
			b, err := json.Marshal(w.v)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(w.to, "%s\n", b)
		}
		runs[i].write(t, filepath.Join(dir, "trajectories", r.ID+".jsonl"))
	}
	for name, content := range map[string]string{"run.json": `{}`, "results.jsonl": lines.String(), "meta.jsonl": metas.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Distant supervision keeps runs whose answers match the gold answer. One of two rows has a precision of 1 and a recall
// of 1/2, so its F1 is 2/3, which is below 0.67. The branch with both rows has an F1 of 1, and its line ends with that
// branch's message.
func TestScored(t *testing.T) {
	row := func(id, rows string) evalrun.Result {
		return evalrun.Result{ID: id, SPARQL: "SELECT 1", Result: json.RawMessage(rows), Gold: json.RawMessage(gold2), Answered: true}
	}
	none := row("d", gold2)
	none.Gold = json.RawMessage("null")
	dir := evaluated(t, []evalrun.Result{row("a", "["+rowA+"]"), row("b", gold2), row("c", "["+rowA+"]"), none},
		[]*log{linear("Half?", "SELECT 1", 1), linear("Whole?", "SELECT 2", 1), searched(), linear("Unknown?", "SELECT 3", 1)})
	o := training.Options{As: transcript.AsSFT, MinF1: training.EnoughF1, Measure: evalrun.MetricKBQA}
	x := from(t, dir, o)
	base := filepath.Base(dir)
	if got := files(t, x); !slices.Equal(got, []string{base + "/b.jsonl", base + "/c.jsonl"}) || x.OtherBranch != 1 ||
		x.Out[training.LowF1] != 1 || x.Out[training.NoGold] != 1 {
		t.Fatalf("%v %v %d", got, x.Out, x.OtherBranch)
	}
	var tree struct {
		Dialogue []struct{ Text string }
		SPARQL   string
		Source   transcript.Provenance
	}
	if err := json.Unmarshal(x.Lines[1].Text, &tree); err != nil {
		t.Fatal(err)
	}
	if tree.SPARQL != "SELECT 2" || tree.Dialogue[0].Text != "p1 both" || tree.Source.F1 == nil || *tree.Source.F1 != 1 {
		t.Errorf("%+v", tree)
	}
	o.MinF1 = 0 // the path to the answer: the second of two samples was chosen
	if x = from(t, dir, o); !strings.Contains(string(x.Lines[2].Text), `"p1 one","learn":false},{"role":"assistant","text":"`+
		strings.ReplaceAll(turn("stop"), "\n", `\n`)+`"`) {
		t.Errorf("%s", x.Lines[2].Text)
	}
	if _, err := training.From(t.Context(), []string{folder(t, searched())}, training.Options{As: transcript.AsSFT, MinF1: 0.5}); err == nil ||
		!strings.Contains(err.Error(), "eval run") {
		t.Errorf("a folder without gold: %v", err)
	}
}
