package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

var start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// events returns the events in a run: a model turn for each step, then the final query and the end.
type events struct {
	list   []event.Event
	native bool
	system string
	chat   []llm.Message
}

func (x *events) add(e event.Event) {
	e.ID, e.Parent, e.Time = len(x.list)+1, len(x.list), start.Add(time.Duration(len(x.list))*time.Second)
	x.list = append(x.list, e)
}

func (x *events) start(id, question string) {
	x.chat = []llm.Message{{Role: llm.System, Content: x.system}, {Role: llm.User, Content: "Q: " + question}}
	x.add(event.Event{Event: "start", Format: event.Format, Preset: "p", Question: &event.Question{ID: id,
		Text: question}})
}

func (x *events) step(s event.Step) {
	s.N = len(x.chat)
	answer := llm.Message{Role: llm.Assistant, Content: "Thought: " + s.Thought + "\nAction: " + s.Action + "(" +
		s.Argument + ")"}
	seen := llm.Message{Role: llm.User, Content: "Observation: " + s.Observation}
	req := &llm.Request{Purpose: "act", Messages: slices.Clone(x.chat)}
	if x.native {
		id := fmt.Sprint("c", s.N)
		answer = llm.Message{Role: llm.Assistant, Content: s.Thought, Reasoning: "hm",
			ToolCalls: []llm.ToolCall{{ID: id, Name: s.Action, Arguments: `{"q":1}`}}}
		seen = llm.Message{Role: llm.ToolRole, ToolCallID: id, Content: s.Observation}
		req.Tools, req.OneToolCall = []llm.Tool{{Name: s.Action, Parameters: json.RawMessage(`{"type":"object"}`)}}, true
	}
	x.add(event.Event{Event: "model", Request: req, Response: &llm.Response{Model: "m-1", Usage: llm.Usage{Calls: 1,
		InputTokens: 7, OutputTokens: 3},
		Choices: []llm.Choice{{Content: answer.Content, Reasoning: answer.Reasoning, ToolCalls: answer.ToolCalls}}}})
	x.add(event.Event{Event: "step", Step: &s})
	x.chat = append(x.chat, answer, seen)
}

func (x *events) answer(query string, t *kg.Table) {
	x.step(event.Step{Thought: "enough", Action: "stop"})
	x.add(event.Event{Event: "final", SPARQL: query, Ran: query, Table: t, Endpoint: "https://e.example/sparql"})
	x.add(event.Event{Event: "end", Report: "Here it is.", Confidence: 0.5})
}

func read(t *testing.T, x *events) *Run {
	t.Helper()
	r, err := Read(x.list)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func outputs(t *testing.T, content []byte) []score.Output {
	t.Helper()
	var out []score.Output
	if _, err := score.ReadOutputs(bytes.NewReader(content), func(o *score.Output) error {
		out = append(out,
			*o)
		return nil
	}); err != nil {
		t.Fatalf("%v in %s", err, content)
	}
	return out
}

// random returns a string that is difficult to read back. It avoids strings that the published evaluation of dialogues
// ignores.
func random(r *rand.Rand) string {
	pieces := []string{"Zürich", "'", `"`, `\`, "\n", "[", "]", ",", "(", ")", " ", "42",
		"http://www.wikidata.org/entity/Q5", "Action: Done", "Observation:", "日本", "<tool>"}
	var b strings.Builder
	for range 1 + r.IntN(6) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func randomRun(r *rand.Rand, native bool) (*events, []string, string) {
	x := &events{native: native, system: random(r)}
	x.start(fmt.Sprintf("item-%d", r.IntN(1000)), "What about "+random(r)+"?")
	for range r.IntN(4) {
		x.step(event.Step{Thought: random(r), Action: "search", Argument: random(r), Observation: random(r)})
	}
	if r.IntN(4) == 0 {
		x.add(event.Event{Event: "end", Reason: string(event.NotFound), Detail: random(r)})
		return x, nil, ""
	}
	t := &kg.Table{Vars: []string{"x"}}
	var values []string
	for i := range 1 + r.IntN(4) {
		v := fmt.Sprintf("v%d %s", i, strings.TrimSpace(strings.Map(func(c rune) rune {
			if c == '"' || c == '^' { // the published evaluation trims these
				return -1
			}
			return c
		}, random(r))))
		v = strings.TrimSpace(v)
		values = append(values, v)
		t.Rows = append(t.Rows, []rdf.Term{rdf.String(v)})
	}
	query := "SELECT ?x WHERE { ?x ?p " + fmt.Sprintf("%q", random(r)) + " }"
	x.answer(query, t)
	return x, values, query
}

// In both of GRASP's formats, the query, the ID, the failure and the number of steps are read back as written.
func TestGRASPRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 300 {
		x, _, query := randomRun(r, n%2 == 0)
		run := read(t, x)
		today, err := run.GRASP("wikidata")
		if err != nil {
			t.Fatal(err)
		}
		old, err := run.GRASP2025()
		if err != nil {
			t.Fatal(err)
		}
		all := outputs(t, append(today, old...))
		if len(all) != 2 {
			t.Fatalf("%d items", len(all))
		}
		steps := len(run.Steps)
		if steps == 0 {
			steps = -1 // there are no messages to count
		}
		for _, o := range all {
			if o.Unreadable != "" || o.ID != run.ID || o.SPARQL != query || o.Failure != "" || o.Benchmark || o.Steps != steps {
				t.Fatalf("run %d: %+v, want %q with %d steps", n, o, query, len(run.Steps))
			}
		}
	}
}

// The published evaluation must find the run's answer in the dialogue.
func TestDialogueRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 300 {
		x, values, _ := randomRun(r, n%2 == 0)
		run := read(t, x)
		gold := Gold{SPARQL: "SELECT ?gold { }", Answers: []string{"a", "b"}}
		b, err := run.Dialogue(gold, values)
		if err != nil {
			t.Fatal(err)
		}
		all := outputs(t, b)
		if len(all) != 1 || all[0].Unreadable != "" || all[0].Dialogue == nil || all[0].ID != run.ID ||
			all[0].Gold != gold.SPARQL {
			t.Fatalf("run %d: %+v in %s", n, all, b)
		}
		d := all[0].Dialogue
		if !reflect.DeepEqual(d.Answers, gold.Answers) || d.Finished() != run.Answered() {
			t.Errorf("run %d: %+v", n, d)
		}
		if !run.Answered() {
			continue
		}
		got, found := d.Predicted()
		want := slices.Clone(values)
		slices.Sort(want)
		if !found || !slices.Equal(got, slices.Compact(want)) {
			t.Fatalf("run %d: %q, want %q in\n%s", n, got, want, b)
		}
		for i, m := range d.Messages {
			role := []string{"user", "assistant"}[(i+1)%2]
			if i == 0 {
				role = "system"
			}
			if m.Role != role || role == "assistant" && !strings.HasPrefix(m.Content, "Thought: ") {
				t.Fatalf("run %d: message %d is %+v", n, i, m)
			}
		}
	}
}

func TestTruthValue(t *testing.T) {
	x := &events{}
	x.start("a", "Is it?")
	x.answer("ASK {}", &kg.Table{Ask: true, Boolean: true})
	b, err := read(t, x).Dialogue(Gold{Answers: []string{"true"}}, []string{"true"})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := outputs(t, b)[0].Dialogue.Predicted(); !ok || !slices.Equal(got, []string{"true"}) {
		t.Errorf("%q", got)
	}
}

// TestReadGRASPOfToday reads a line in GRASP's current format, with all the fields that its code writes.
func TestReadGRASPOfToday(t *testing.T) {
	all := outputs(t, []byte(`{"type":"output","task":"sparql-qa","id":"t1","output":{"type":"answer","sparql":"ASK {}","kg":"wikidata","answer":"yes","selections":null,"result":"True","endpoint":"e","formatted":"f"},"elapsed":2.5,"error":null,"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"x"}]}],"known":[]}
{"type":"output","task":"sparql-qa","id":"t2","output":{"type":"cancel","explanation":"no","sparql":"SELECT * {}","kg":"wikidata"},"elapsed":1,"error":null,"messages":[]}
{"type":"output","task":"sparql-qa","id":"t3","output":null,"elapsed":1,"error":{"content":"c","reason":"loop"},"messages":[]}
`))
	if len(all) != 3 || all[0].SPARQL != "ASK {}" || all[0].Steps != 1 || all[1].SPARQL != "SELECT * {}" ||
		all[2].SPARQL != "" || all[2].Failure != "loop" {
		t.Errorf("%+v", all)
	}
}

func TestErrors(t *testing.T) {
	for reason, want := range map[event.Reason][2]string{event.Loop: {"loop", ""}, event.OutOfTime: {"timeout", ""},
		event.GraphFailed: {"api", "api"}, event.NotFound: {"", ""}} {
		x := &events{}
		x.start("a", "Q?")
		x.add(event.Event{Event: "end", Reason: string(reason), Detail: "d"})
		run := read(t, x)
		today, err := run.GRASP("kg")
		if err != nil {
			t.Fatal(err)
		}
		old, err := run.GRASP2025()
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range [][]byte{today, old} {
			var got struct{ Error *graspError }
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			if r := ""; got.Error != nil && got.Error.Reason != want[i] || got.Error == nil && r != want[i] {
				t.Errorf("%s, form %d: %s", reason, i, b)
			}
		}
	}
	if _, err := Read(nil); err == nil {
		t.Error("a trajectory without a question was read")
	}
}

// An empty folder or file is reported, not skipped.
func TestExportOfNothing(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(t.TempDir(), "empty.jsonl")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x := Exporter{As: AsSFT, All: true, Write: func(string, []byte) error { t.Error("there is output"); return nil }}
	n, err := x.Export([]string{folder, file})
	if err != nil || n.Lines != 0 || n.Skipped != 0 || len(n.Unread) != 2 ||
		!strings.Contains(n.Unread[0], "no trajectories") || !strings.Contains(n.Unread[1], "no events") {
		t.Errorf("%+v, %v", n, err)
	}
	if runs, err := ReadRuns([]string{folder, file}); err != nil || len(runs) != 0 {
		t.Errorf("%v, %v", runs, err)
	}
}

func TestTrainingData(t *testing.T) {
	x := &events{native: true, system: "rules"}
	x.start("a", "Q?")
	found, err := json.Marshal([]event.Example{{ID: "e1", Question: "x", SPARQL: "y"}})
	if err != nil {
		t.Fatal(err)
	}
	x.add(event.Event{Event: "graph", Call: &event.Call{Op: event.ExamplesOp, Result: found}})
	x.step(event.Step{Thought: "look", Action: "search", Observation: "found"})
	x.answer("ASK {}", &kg.Table{Ask: true})
	run := read(t, x)
	b, err := run.OpenAI("t.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"messages":[{"role":"system","content":"rules"},{"role":"user","content":"Q: Q?"},` +
		`{"role":"assistant","content":"look","reasoning_content":"hm","tool_calls":[{"id":"c2","type":"function","function":{"name":"search","arguments":"{\"q\":1}"}}]},` +
		`{"role":"tool","content":"found","tool_call_id":"c2"},` +
		`{"role":"assistant","content":"enough","reasoning_content":"hm","tool_calls":[{"id":"c4","type":"function","function":{"name":"stop","arguments":"{\"q\":1}"}}]}],` +
		`"tools":[{"type":"function","function":{"name":"stop","parameters":{"type":"object"}}}],"parallel_tool_calls":false,` +
		`"metadata":{"id":"a","file":"t.jsonl","preset":"p","model":"m-1","endpoint":"https://e.example/sparql","time":"2026-05-01T12:00:00Z","answered":true,"confidence":0.5,"examples":["e1"]}}` + "\n"
	if string(b) != want {
		t.Errorf("got\n%s\nwant\n%s", b, want)
	}
	if b, err = run.SFT("t.jsonl"); err != nil {
		t.Fatal(err)
	}
	var got sft
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	var shape []string
	for _, turn := range got.Dialogue {
		shape = append(shape, fmt.Sprintf("%s %t", turn.Role, turn.Learn))
	}
	if s := strings.Join(shape, ", "); s != "system false, user false, assistant true, observation false, assistant true" ||
		got.Dialogue[2].Text != "look\nsearch({\"q\":1})" || got.SPARQL != "ASK {}" || got.Source.ID != "a" {
		t.Errorf("%s: %s", s, b)
	}
	silent := &events{}
	silent.start("b", "Q?")
	if b, err := read(t, silent).OpenAI(""); b != nil || err != nil {
		t.Errorf("the model was never asked: %s, %v", b, err)
	}
}

// TestDigest checks that calls are shown without JSON escapes and nulls, and that repeated steps are marked.
func TestDigest(t *testing.T) {
	s := event.Step{Thought: "T", Action: "execute", Argument: `{"sparql":"SELECT ?x\nWHERE { ?x \u003ca> 1 }","page":null}`,
		Observation: "one row"}
	r := &Run{Question: event.Question{Text: "Q?"}, Steps: []event.Step{s, {Action: "stop", Argument: "x"}, s}}
	want := "The question: Q?\n\nStep 1. T\nexecute\n  sparql: SELECT ?x\nWHERE { ?x <a> 1 }\none row\n\nStep 2. \nstop(x)\n\n" +
		"\nStep 3. T\nexecute\n  sparql: SELECT ?x\nWHERE { ?x <a> 1 }\n(the same as step 1)\n"
	if got := r.Digest(Known{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r.Steps = nil
	want = "The question: Q?\n\nThe answer is wrong.\n\nA query that is right:\nASK {}\nIt returns 6 values: such as wd:Q5, b, c, d, e\n"
	if got := r.Digest(Known{"The answer is wrong.", Gold{"ASK {}", []string{"http://www.wikidata.org/entity/Q5", "b", "c", "d", "e", "f"}}}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
