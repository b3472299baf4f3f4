package transcript

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/exemplar"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// TestAnnotationRoundTrip checks that an annotation file is read back as written, that its worked dialogue contains
// the run's actions, that its text is parsed as the same dialogue, and that training data from the file contains the
// same turns to learn.
func TestAnnotationRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for n := range 300 {
		x, values, query := randomRun(r, n%2 == 0)
		run := read(t, x)
		b, err := run.Annotation(Gold{SPARQL: query, Answers: values}, values)
		if err != nil {
			t.Fatal(err)
		}
		c, err := exemplar.ReadChat(b)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := indented(c); err != nil || string(again) != string(b) {
			t.Fatalf("after reading and writing again: %v\n%s\nwant\n%s", err, again, b)
		}
		if fits := c.Check() == nil; fits != run.Answered() {
			t.Fatalf("run %d, answered %t: %v", n, run.Answered(), c.Check())
		}
		if !run.Answered() {
			continue
		}
		d, err := c.Dialogue()
		if err != nil {
			t.Fatal(err)
		}
		if d.ID != run.ID || len(d.Rounds) < len(run.Steps) || d.Rounds[len(d.Rounds)-1].Action != "Done." {
			t.Fatalf("%+v", d)
		}
		for i, s := range run.Steps[:len(run.Steps)-1] {
			if got := d.Rounds[i]; !strings.HasPrefix(got.Action, s.Action+"(") || squeeze(got.Observation) != squeeze(s.Observation) {
				t.Fatalf("round %d is %+v of %+v", i, got, s)
			}
		}
		ds, err := exemplar.Parse("x", d.Text())
		if diff := cmp.Diff([]exemplar.Dialogue{d}, ds); diff != "" || err != nil {
			t.Fatalf("the text is read as another dialogue: %v %s", err, diff)
		}
		line, err := Chat{Chat: c}.SFT("x.json")
		if err != nil {
			t.Fatal(err)
		}
		var got sft
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		learned := 0
		for _, turn := range got.Dialogue {
			if turn.Learn {
				learned++
			}
		}
		if learned != len(d.Rounds) || got.SPARQL != query || got.Source.ID != run.ID || strings.Contains(got.Dialogue[len(got.Dialogue)-1].Text,
			exemplar.Stopped) {
			t.Fatalf("%d turns to learn of %d: %s", learned, len(d.Rounds), line)
		}
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestAnnotationOfReview checks that the file contains the messages that a reviewer changed, along with the messages
// that replaced them.
func TestAnnotationOfReview(t *testing.T) {
	x := &events{}
	x.start("a", "Q?")
	x.step(event.Step{Thought: "one", Action: "search", Observation: "1"})
	x.add(event.Event{Event: "review", Review: &event.Review{Verdict: event.Edited,
		Before: &llm.Message{Role: llm.Assistant, Content: "Thought: wrong\nAction: search(x)"}}})
	x.step(event.Step{Thought: "two", Action: "search", Observation: "2"})
	x.add(event.Event{Event: "review", Review: &event.Review{Verdict: event.Edited,
		Before: &llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{Name: "go", Arguments: "{}"}}}}})
	x.answer("ASK {}", &kg.Table{Ask: true})
	b, err := read(t, x).Annotation(Gold{SPARQL: "ASK {}"}, []string{"false"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := exemplar.ReadChat(b)
	if err != nil {
		t.Fatal(err)
	}
	want := []exemplar.Reject{{Index: 4, Text: "Thought: wrong\nAction: search(x)"}, {Index: 8, Text: "go({})"}}
	if d := cmp.Diff(want, c.Rejects); d != "" || c.Dialog[4].Content != "Thought: two\nAction: search()" ||
		c.Dialog[8].Content != "Thought: enough\nAction: Done." {
		t.Errorf("%s in %s", d, b)
	}
}

// Files in the format of Interactive-KBQA's program, according to the documentation of its data.
const (
	annotated = `{"id": 17, "question": "How many rivers flow into Lake Como?", "sparql": "SELECT (COUNT(?r) AS ?n) WHERE { ?r <mouth> ?l . }",
"answer": 1, "infer_chain": ["x"], "dialog": [{"role": "system", "content": "You are"}, {"role": "user", "content": "Q: How many rivers flow into Lake Como?"},
{"role": "assistant", "content": "Thought: First the lake.\nAction: SearchNodes(\"Lake Como\")"}, {"role": "user", "content": "Observation: ['Lake Como | entity']"},
{"role": "assistant", "content": "Thought: That is it.\nAction: Done"}, {"role": "user", "content": "Stop condition has been detected."}],
"rejects": [[2, "Thought: no"]], "completion_tokens": [1, 2], "prompt_tokens": [3, 4], "model_name": "m", "done": true}`
	exemplarText = `# ID: 17
# Type: Count
# SPARQL: SELECT (COUNT(?r) AS ?n) WHERE { ?r <mouth> ?l . }
# Answer: 1
Q: How many rivers flow into Lake Como?
Thought: First the lake.
Action: SearchNodes("Lake Como")
Observation: ['Lake Como | entity']
Thought: That is it.
Action: Done

`
)

func TestExportOfAnnotations(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "Count") // Interactive-KBQA's program uses a folder for each question type
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"17.json": annotated,
		"18.json":      strings.Replace(annotated, `"done": true`, `"done": false`, 1),
		"19.json":      strings.Replace(annotated, `"done": true`, `"done": true, "skip_reason": "unclear"`, 1),
		"20.json":      strings.Replace(annotated, "Thought: That", "That", 1),
		"21.json":      strings.Replace(annotated, "Stop condition has been detected", "Stopped because of repetition", 1),
		"other.json":   `{"question": "x"}`,
		"broken.json":  `{"question": `,
		"rejects.json": strings.Replace(annotated, `[[2, "Thought: no"]]`, `[[2]]`, 1)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for as, want := range map[string]string{
		AsExemplars: exemplarText,
		AsSFT: `{"dialogue":[{"role":"system","text":"You are","learn":false},{"role":"user","text":"Q: How many rivers flow into Lake Como?","learn":false},` +
			`{"role":"assistant","text":"Thought: First the lake.\nAction: SearchNodes(\"Lake Como\")","learn":true},{"role":"observation","text":"Observation: ['Lake Como | entity']","learn":false},` +
			`{"role":"assistant","text":"Thought: That is it.\nAction: Done","learn":true}],"sparql":"SELECT (COUNT(?r) AS ?n) WHERE { ?r <mouth> ?l . }",` +
			`"source":{"id":"17","file":"17.json","model":"m","answered":true,"confidence":0}}` + "\n",
	} {
		var got, ids []string
		x := Exporter{As: as, Write: func(id string, b []byte) error {
			ids, got = append(ids, id), append(got, string(b))
			return nil
		}}
		n, err := x.Export([]string{root})
		if err != nil || n.Lines != 1 || n.Skipped != 4 || len(n.Unread) != 3 || !slices.Equal(ids, []string{"17"}) {
			t.Fatalf("%+v %v %q", n, err, ids)
		}
		if d := cmp.Diff(want, got[0]); d != "" {
			t.Error(as, d)
		}
		for i, part := range []string{"broken.json", `it has no "dialog"`, "want [index,"} {
			if !strings.Contains(n.Unread[i], part) {
				t.Errorf("%q does not contain %q", n.Unread[i], part)
			}
		}
	}
}
