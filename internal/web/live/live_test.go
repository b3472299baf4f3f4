package live

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// player is an agent that simulates a run that depends on the question's text.
type player struct {
	asked   chan agent.Question
	blocked chan struct{} // receives a value when a question blocks until it is canceled
}

type discard struct{}

func (discard) Record(context.Context, event.Event) error { return nil }
func (discard) Close() error                              { return nil }

func (p player) Ask(ctx context.Context, q agent.Question, rec agent.Recorder, _ agent.Limits) (*agent.Outcome, error) {
	if p.asked != nil {
		p.asked <- q
	}
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	say := func(after time.Duration, e event.Event) error {
		at = at.Add(after)
		e.Time = at
		return rec.Record(ctx, e)
	}
	done := &agent.Outcome{}
	if err := say(0, event.Event{Event: "start", Question: &q, Format: event.Format}); err != nil {
		return nil, err
	}
	switch q.Text {
	case "wait":
		p.blocked <- struct{}{}
		<-ctx.Done()
		return done, ctx.Err()
	case "fault":
		return nil, errors.New("cannot reach http://user:geheim@inside/")
	case "down":
		cause := &llm.Error{Status: 500, Message: "http://user:geheim@inside/ is down", Transient: true}
		return done, say(0, event.Event{Event: "end", Reason: "model_failed", Detail: cause.Error(),
			Cause: event.CauseOf(cause)})
	case "none":
		return done, say(0, event.Event{Event: "end", Reason: "not_found", Detail: "nothing", Report: "There is none."})
	}
	search := llm.Choice{Content: "I look it up.", ToolCalls: []llm.ToolCall{{ID: "c1", Name: "search",
		Arguments: `{"query":"Berlin"}`}}}
	request := &llm.Request{Purpose: "act", Messages: []llm.Message{{Role: "system", Content: "You explore."},
		{Role: "user", Content: "Question: " + q.Text}}, Tools: []llm.Tool{{Name: "search", Description: "Finds.",
		Parameters: json.RawMessage(`{"type":"object"}`)}}}
	table := &kg.Table{Vars: []string{"c"}, Rows: [][]rdf.Term{{rdf.IRI("http://www.wikidata.org/entity/Q64")}}}
	for _, e := range []struct {
		after time.Duration
		event.Event
	}{
		{0, event.Event{Event: "model", Request: &llm.Request{Purpose: "language"}, Response: &llm.Response{
			Choices: []llm.Choice{{Content: "en"}}}}},
		{2 * time.Second, event.Event{Event: "model", Request: request, Response: &llm.Response{Choices: []llm.Choice{search}}}},
		{0, event.Event{Event: "graph", Call: &event.Call{Op: "search", Args: json.RawMessage(`{}`)}}},
		{0, event.Event{Event: "step", Step: &event.Step{N: 1, Thought: "I look it up.", Action: "search",
			Argument: `{"query":"Berlin"}`, Observation: "Berlin (Q64)", MS: 250}}},
		{0, event.Event{Event: "rollback", Reason: "loop", Step: &event.Step{Action: "search"}}},
		{0, event.Event{Event: "step", Step: &event.Step{N: 2, Action: "execute", Argument: "SELECT",
			Observation: "<b>Q64</b>", Rows: 1}}},
		{0, event.Event{Event: "feedback", Reason: "done", Detail: "It fits."}},
		{0, event.Event{Event: "final", SPARQL: "SELECT ?c {}", Ran: "SELECT ?c {}", KG: "wikidata",
			Endpoint: "https://example.org/sparql", Table: table}},
		{0, event.Event{Event: "end", Report: "It is Berlin."}},
	} {
		if err := say(e.after, e.Event); err != nil {
			return done, err
		}
	}
	return done, nil
}

// serve starts a server with the graphs wikidata and dblp.
func serve(t *testing.T, p player, change func(*Options)) (address string) {
	t.Helper()
	service := &ask.Service{Log: slog.New(slog.DiscardHandler), Asker: p, Now: time.Now,
		Open: func(string) (ask.Trajectory, error) { return discard{}, nil }}
	o := Options{Log: slog.New(slog.DiscardHandler), Graphs: []string{"wikidata", "dblp"},
		On: func(context.Context, []string) (Asker, error) { return service, nil }}
	if change != nil {
		change(&o)
	}
	mux := http.NewServeMux()
	for pattern, part := range New(o).Parts() {
		mux.Handle(pattern, part)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

type client struct {
	t *testing.T
	*websocket.Conn
}

func dial(t *testing.T, address string) client {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), address+"/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.CloseNow() })
	return client{t, c}
}

func (c client) send(message string) {
	c.t.Helper()
	if err := c.Write(c.t.Context(), websocket.MessageText, []byte(message)); err != nil {
		c.t.Fatal(err)
	}
}

func (c client) get() (m map[string]any) {
	c.t.Helper()
	_, data, err := c.Read(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		c.t.Fatalf("%s: %v", data, err)
	}
	return m
}

// all receives and acknowledges messages up to the output or an error, and returns them.
func (c client) all(kind string) (out []map[string]any) {
	c.t.Helper()
	for {
		m := c.get()
		out = append(out, m)
		c.send(`{"received":true}`)
		if m[kind] == "output" || m["error"] != nil && m[kind] == nil {
			return out
		}
	}
}

func parse(t *testing.T, data string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

const (
	messages = `[{"role":"system","content":"You explore."},{"role":"user","content":"Which?"},
		{"role":"assistant","content":"I look it up.","tool_calls":[{"id":"call_1_1","type":"function","function":{"name":"search","arguments":"{\"query\":\"Berlin\"}"}}]},
		{"role":"tool","content":"Berlin (Q64)","tool_call_id":"call_1_1"},
		{"role":"assistant","content":"","tool_calls":[{"id":"call_1_2","type":"function","function":{"name":"execute","arguments":"{\"argument\":\"SELECT\"}"}}]},
		{"role":"tool","content":"<b>Q64</b>","tool_call_id":"call_1_2"},
		{"role":"assistant","content":"","tool_calls":[{"id":"call_1_end","type":"function","function":{"name":"answer","arguments":"{\"answer\":\"It is Berlin.\",\"kg\":\"wikidata\",\"sparql\":\"SELECT ?c {}\"}"}}]}]`
	known = `["<http://www.wikidata.org/entity/Q64>"]`
)

// TestForms checks that the messages have the fields that GRASP's 2025 and 2026 clients read.
func TestForms(t *testing.T) {
	address := serve(t, player{}, nil)
	for _, tt := range []struct{ name, kind, request, want string }{
		{"2026", "type", `{"task":"sparql-qa","input":"Which?","knowledge_graphs":["wikidata"],"past":null}`, `[
			{"type":"input","task":"sparql-qa","input":"Which?","knowledge_graphs":["wikidata"]},
			{"type":"system","config":{},"functions":[{"name":"search","description":"Finds.","parameters":{"type":"object"}}],"system_message":"You explore."},
			{"type":"model","content":"I look it up.","elapsed":2},
			{"type":"tool","name":"search","args":{"query":"Berlin"},"result":"Berlin (Q64)","elapsed":0.25},
			{"type":"loop"},
			{"type":"tool","name":"execute","args":{"argument":"SELECT"},"result":"<b>Q64</b>","elapsed":0},
			{"type":"feedback","status":"done","feedback":"It fits."},
			{"type":"output","task":"sparql-qa","id":"live","elapsed":2,"error":null,"known":` + known + `,"messages":` + messages + `,
			 "output":{"type":"answer","sparql":"SELECT ?c {}","kg":"wikidata","answer":"It is Berlin.","selections":null,
			  "result":"RESULT","endpoint":"https://example.org/sparql","formatted":"It is Berlin.\n\nSELECT ?c {}\n\nRESULT"}}]`},
		{"2025", "typ", `{"task":"sparql-qa","question":"Which?","knowledge_graphs":["wikidata"],"past":null}`, `[
			{"typ":"system","functions":[{"name":"search","description":"Finds.","parameters":{"type":"object"}}],"system_message":"You explore."},
			{"typ":"model","content":"I look it up."},
			{"typ":"tool","name":"search","args":{"query":"Berlin"},"result":"Berlin (Q64)"},
			{"typ":"tool","name":"execute","args":{"argument":"SELECT"},"result":"<b>Q64</b>"},
			{"typ":"feedback","status":"done","feedback":"It fits."},
			{"typ":"output","task":"sparql-qa","id":"live","elapsed":2,"error":null,"known":` + known + `,"messages":` + messages + `,
			 "sparql":"SELECT ?c {}","result":"RESULT","endpoint":"https://example.org/sparql","content":"It is Berlin.","questions":["Which?"]}]`},
	} {
		c := dial(t, address)
		c.send(tt.request)
		got := c.all(tt.kind)
		end := got[len(got)-1]
		result, _ := end["result"].(string)
		if out, ok := end["output"].(map[string]any); ok {
			result, _ = out["result"].(string)
		}
		if !strings.Contains(result, "Q64") {
			t.Errorf("%s: the result is %q", tt.name, result)
		}
		quoted, _ := json.Marshal(result)
		var list []any
		for _, m := range got {
			list = append(list, m)
		}
		want := parse(t, strings.ReplaceAll(tt.want, "RESULT", strings.Trim(string(quoted), `"`)))
		if !reflect.DeepEqual(any(list), want) {
			a, _ := json.MarshalIndent(list, "", " ")
			b, _ := json.MarshalIndent(want, "", " ")
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, a, b)
		}
	}
}

// TestPast checks that an output sent back by a client is parsed as an earlier question, in both forms, and that the
// same is true of GRASP's own messages.
func TestPast(t *testing.T) {
	asked := make(chan agent.Question, 10)
	address := serve(t, player{asked: asked}, nil)
	want := []agent.Turn{{Question: "Which?", SPARQL: "SELECT ?c {}", Report: "It is Berlin.", Steps: []agent.Step{
		{N: 1, Thought: "I look it up.", Action: "search", Argument: `{"query":"Berlin"}`, Observation: "Berlin (Q64)"},
		{N: 2, Action: "execute", Argument: `{"argument":"SELECT"}`, Observation: "<b>Q64</b>"}}}}
	for _, tt := range []struct{ kind, key string }{{"type", "input"}, {"typ", "question"}} {
		c := dial(t, address)
		c.send(`{"task":"sparql-qa","` + tt.key + `":"Which?","knowledge_graphs":["wikidata"]}`)
		got := c.all(tt.kind)
		end := got[len(got)-1]
		<-asked
		past, err := json.Marshal(map[string]any{"questions": end["questions"], "messages": end["messages"],
			"known": []string{"<http://www.wikidata.org/entity/Q1>"}})
		if err != nil {
			t.Fatal(err)
		}
		c.send(`{"task":"sparql-qa","` + tt.key + `":"And now?","knowledge_graphs":["wikidata"],"past":` + string(past) + `}`)
		got = c.all(tt.kind)
		if q := <-asked; !reflect.DeepEqual(q.History, want) {
			t.Errorf("%s: the earlier questions are %+v", tt.kind, q.History)
		}
		end = got[len(got)-1]
		if all, _ := end["messages"].([]any); len(all) != 13 { // one system message, and six more for each question
			t.Errorf("%s: %d messages after two questions", tt.kind, len(all))
		}
		if all, _ := end["known"].([]any); len(all) != 2 {
			t.Errorf("%s: known are %v", tt.kind, all)
		}
	}
	var p past
	err := json.Unmarshal([]byte(`{"messages":[{"role":"assistant","content":"hm","tool_calls":[{"function":{"name":"answer","arguments":"{"}}]},
		{"role":"user","content":"A"},{"role":"user","content":null},{"role":"assistant","content":{"message":"x"}},
		{"role":"tool","content":"lost","tool_call_id":"no"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"cancel","arguments":"{\"explanation\":\"none\",\"best_attempt\":null}"}}]}]}`), &p)
	if got := p.turns(); err != nil || len(got) != 1 || got[0].Question != "A" || got[0].Report != "none" {
		t.Errorf("%+v %v", got, err)
	}
}

// TestCancel checks that a client can stop a run with its acknowledgment, or while it waits for the next message, and
// can then ask again.
func TestCancel(t *testing.T) {
	blocked := make(chan struct{}, 1)
	c := dial(t, serve(t, player{blocked: blocked}, nil))
	for range 2 {
		c.send(`{"task":"sparql-qa","input":"Which?"}`)
		c.get()
		c.send(`{"received":true,"cancel":true}`)
		if m := c.get(); m["cancelled"] != true {
			t.Errorf("%v", m)
		}
		c.send(`{"task":"sparql-qa","input":"wait"}`)
		c.get()
		<-blocked
		c.send(`{"received":true}`)
		c.send(`{"cancel":true}`)
		if m := c.get(); m["cancelled"] != true {
			t.Errorf("%v", m)
		}
	}
	c.send(`{"task":"sparql-qa","input":"Which?"}`)
	if got := c.all("type"); got[len(got)-1]["type"] != "output" {
		t.Errorf("%v", got)
	}
}

// TestBadRequests checks that invalid requests get an error, both at /live and at /run, and that the connection remains
// usable.
func TestBadRequests(t *testing.T) {
	address := serve(t, player{}, nil)
	c := dial(t, address)
	for _, tt := range []struct{ request, want string }{
		{`{`, "JSON"}, {`[]`, "cannot be read"}, {`{"task":"cea","input":"x"}`, `unknown task "cea"`},
		{`{"task":"sparql-qa"}`, "input must be"}, {`{"input":{"a":1}}`, "input must be"}, {`{"input":" "}`, "empty"},
		{`{"question":""}`, "empty"}, {`{"input":"` + strings.Repeat("ä", maxQuestion+1) + `"}`, "more than 4000"},
		{`{"input":"x","knowledge_graphs":["<script>"]}`, `no graph "<script>"; the graphs are: wikidata, dblp`},
		{`{"input":"x","knowledge_graphs":["dblp","dblp"]}`, "twice"}, {`{"input":"x","past":3}`, "cannot be read"},
	} {
		status, body := post(t, address, tt.request)
		if why, _ := body["error"].(string); status != 400 || !strings.Contains(why, tt.want) {
			t.Errorf("POST %.60s: %d %v", tt.request, status, body)
		}
		if tt.request == "{" {
			tt.want = "cannot be read"
		}
		c.send(tt.request)
		m := c.get()
		if why, _ := m["error"].(string); !strings.Contains(why, tt.want) || len(m) != 1 {
			t.Errorf("%.60s: %v", tt.request, m)
		}
	}
	if status, body := post(t, address, `{"input":"`+strings.Repeat("x", maxBody)+`"}`); status != 413 {
		t.Errorf("%d %v", status, body)
	}
	c.send(`{"input":"Which?"}`)
	if m := c.get(); m["type"] != "input" {
		t.Errorf("%v", m)
	}
}

func post(t *testing.T, address, body string) (status int, out map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/run", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Errorf("%.60s: %v", body, err)
	}
	return resp.StatusCode, out
}

// TestRun checks that /run responds with the output, and that errors do not reveal internals to strangers.
func TestRun(t *testing.T) {
	address := serve(t, player{}, nil)
	for _, tt := range []struct {
		question, want string
		status         int
	}{
		{"Which?", `"sparql":"SELECT ?c {}"`, 200}, {"none", `"output":{"answer":null,"endpoint":null,"explanation":"There is none."`, 200},
		{"down", `"reason":"api"`, 200}, {"fault", `"output":null`, 200},
	} {
		status, out := post(t, address, `{"task":"sparql-qa","input":"`+tt.question+`","knowledge_graphs":["dblp"]}`)
		data, err := encode(out)
		text := strings.Replace(string(data), `{"endpoint"`, `{"answer":null,"endpoint"`, 1)
		if err != nil || status != tt.status || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %d %s", tt.question, status, data)
		}
		if strings.Contains(text, "geheim") {
			t.Errorf("%s: the output reveals %s", tt.question, data)
		}
	}
	slow := serve(t, player{blocked: make(chan struct{}, 1)}, func(o *Options) { o.Limit = 10 * time.Millisecond })
	if status, out := post(t, slow, `{"input":"wait"}`); status != 504 {
		t.Errorf("%d %v", status, out)
	}
	old, _ := post(t, address, `{"question":"down"}`)
	if old != 200 {
		t.Errorf("the form of 2025: %d", old)
	}
	resp, err := http.Get(address + "/knowledge_graphs")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var names []string
	if err := json.NewDecoder(resp.Body).Decode(&names); err != nil || !slices.Equal(names, []string{"wikidata", "dblp"}) {
		t.Errorf("%v %v", names, err)
	}
}

// TestPlaces checks that an idle client does not block others, but occupies a slot. A client that finds no free slot
// gets an error.
func TestPlaces(t *testing.T) {
	blocked := make(chan struct{}, 9)
	address := serve(t, player{blocked: blocked}, func(o *Options) { o.Connections = 2 })
	stuck := dial(t, address)
	stuck.send(`{"input":"Which?"}`)
	stuck.get() // receives a message but does not acknowledge it
	c := dial(t, address)
	c.send(`{"input":"Which?"}`)
	c.all("type")
	third := dial(t, address)
	if _, _, err := third.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusTryAgainLater {
		t.Errorf("the third client: %v", err)
	}
	if status, _ := post(t, address, `{"input":"Which?"}`); status != 503 {
		t.Errorf("/run: %d", status)
	}
	_ = stuck.CloseNow()
	for { // the slot is free once the server has noticed that the client is gone
		if status, _ := post(t, address, `{"input":"Which?"}`); status == 200 {
			break
		}
	}
	idle := dial(t, serve(t, player{blocked: blocked}, func(o *Options) { o.Idle = 10 * time.Millisecond }))
	if _, _, err := idle.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("a silent client: %v", err)
	}
	late := dial(t, serve(t, player{blocked: blocked}, func(o *Options) { o.Limit = 10 * time.Millisecond }))
	late.send(`{"input":"wait"}`)
	if got := late.all("type"); got[len(got)-1]["error"] != errTime {
		t.Errorf("%v", got)
	}
}

// TestOrigins checks that pages from other sites cannot reach /live.
func TestOrigins(t *testing.T) {
	address := serve(t, player{}, func(o *Options) { o.Origins = []string{"bot.example.org", "*"} })
	for origin, want := range map[string]bool{address: true, "https://bot.example.org": true,
		"https://evil.example": false, "null": false, "https://bot.example.org.evil.example": false} {
		_, resp, err := websocket.Dial(t.Context(), address+"/live", &websocket.DialOptions{
			HTTPHeader: http.Header{"Origin": {origin}}})
		if (err == nil) != want || !want && resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %v", origin, err)
		}
	}
}
