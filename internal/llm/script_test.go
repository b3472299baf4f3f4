package llm

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const bakery = `# Scripts of the test

== request
Who ran the bakery
in 1901?
== triage
{"request": true}
== language
English
== act 1
Thought: I look.
Action: search_wikidata(bakery)
=====
Thought: other sample
Action: stop()
== act 2 fail 429 503
# a comment line of SPARQL stays
SELECT * {}
\== not a header
== prune Q42
{}
== report
Done.

# the next one
#   is longer
== request
Who ran the bakery in 1901? And <who> & why
== act 1
longer
`

func mustScript(t testing.TB, text string) *Script {
	t.Helper()
	s, err := ParseScript(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseScript(t *testing.T) {
	s := mustScript(t, bakery)
	if got := s.Requests(); len(got) != 2 || got[0] != "Who ran the bakery in 1901?" ||
		got[1] != "Who ran the bakery in 1901? And <who> & why" {
		t.Fatalf("requests: %q", got)
	}
	first := s.requests[0]
	if got := first.section(taskAct, "1", nil).samples; len(got) != 2 || got[1] != "Thought: other sample\nAction: stop()" {
		t.Errorf("samples of act 1: %q", got)
	}
	two := first.section(taskAct, "2", nil)
	if len(two.fail) != 2 || two.fail[0] != 429 || two.fail[1] != 503 {
		t.Errorf("fail of act 2: %v", two.fail)
	}
	if want := "# a comment line of SPARQL stays\nSELECT * {}\n== not a header"; two.samples[0] != want {
		t.Errorf("act 2: got %q, want %q", two.samples[0], want)
	}
	if got := first.section(taskReport, "", nil).samples[0]; got != "Done." {
		t.Errorf("report with the next request's comment: %q", got)
	}
	if first.section(taskAct, "9", nil) != two {
		t.Error("an act beyond the script must be the last act")
	}
	if first.section(taskExtract, "", nil) != nil {
		t.Error("extract is not in the script")
	}
}

// TestScriptByTools checks that among several sections for requests with tools, the one whose tools the request has is
// used.
func TestScriptByTools(t *testing.T) {
	r := mustScript(t, `== request
Who?
== act 1
Action: stop()
== act 1 tools
Call: search {"q": "a"}
== act 2 tools
Call: answer {}
== act 1 tools
Call: query {"sparql": "ASK {}"}
Call: look {"ids": []}
== act 2 tools
Call: finish {}
`).requests[0]
	for _, tt := range []struct {
		turn  string
		tools []string
		want  string
	}{
		{"1", nil, "Action: stop()"},
		{"1", []string{"search", "answer"}, `Call: search {"q": "a"}`},
		{"2", []string{"answer", "search"}, "Call: answer {}"},
		{"1", []string{"look", "query", "finish"}, "Call: query {\"sparql\": \"ASK {}\"}\nCall: look {\"ids\": []}"},
		{"7", []string{"look", "query", "finish"}, "Call: finish {}"},
		{"1", []string{"sing"}, "Action: stop()"},
	} {
		if got := r.section(taskAct, tt.turn, tt.tools).samples[0]; got != tt.want {
			t.Errorf("turn %s with %q: %q, want %q", tt.turn, tt.tools, got, tt.want)
		}
	}
}

func TestParseScriptErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"text first", "hello", "line 1: text before the first section"},
		{"section first", "== act 1\nx", "line 1: section \"act\" comes before"},
		{"unknown", "== request\nq\n== answer\n", "line 3: unknown section \"answer\""},
		{"no step", "== request\nq\n== act\n", "line 3: act requires the number"},
		{"step zero", "== request\nq\n== act 0\n", "line 3: act requires the number"},
		{"no entity", "== request\nq\n== prune 183\n", "line 3: prune requires"},
		{"no snippet", "== request\n\n== act 1\n", "the request on line 1 has no text"},
		{"same request", "== request\nq  q\n== request\nq q\n== act 1\n", "the requests on lines 1 and 3 are the same"},
		{"same section", "== request\nq\n== act 1\na\n== act 1\nb\n",
			"line 6: section \"act 1\" on line 5 is already on line 3"},
		{"bad status", "== request\nq\n== act 1 fail 200\n", "\"200\" is neither a status"},
		{"bad word", "== request\nq\n== act 1 twice\n", "cannot read \"twice\""},
		{"empty header", "== request\nq\n==\n", "a section without a name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseScript(strings.NewReader(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestReadCall(t *testing.T) {
	got, err := readCall(map[string]string{"purpose": "prune", "part": "Q183", "subject": "a <b> & c"})
	if want := (scriptCall{"prune", "Q183", "a <b> & c"}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []map[string]string{nil, {"subject": "x"}, {"purpose": "act", "subject": " "}} {
		if _, err := readCall(bad); err == nil {
			t.Errorf("%v: want an error", bad)
		}
	}
}

// The purpose is sent alongside the messages, but only to the scripted model: a real server may reject metadata.
func TestPurposeIsSentToTheScriptOnly(t *testing.T) {
	req := Request{Purpose: "act", Part: "2", Subject: "Who?", Messages: []Message{{Role: User, Content: "u"}}}
	for model, want := range map[string]any{"gpt-4o": nil, ScriptModel: map[string]any{"purpose": "act", "part": "2",
		"subject": "Who?"}} {
		s := serve(t, ok("x"))
		c, _, _ := setup(t, s.URL, func(cfg *Config) { cfg.Model = model }, nil)
		if _, err := c.Complete(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, s.bodies[0]["metadata"]); d != "" {
			t.Errorf("%s (-want +got):\n%s", model, d)
		}
	}
}

func post(t *testing.T, h http.Handler, body string) (int, map[string]any) {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body)))
	var m map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &m); err != nil {
		t.Fatalf("not JSON: %s", rec.Body)
	}
	return rec.Code, m
}

// The JSON must be in the format described in platform.openai.com/docs/api-reference/chat/object, and errors in the
// format of its error object.
func TestScriptServer(t *testing.T) {
	h := mustScript(t, bakery).Handler()
	ask := func(extra string) string {
		return `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"u"}]}],` +
			`"metadata":{"purpose":"act","part":"1","subject":"Who ran  the\nbakery in 1901?"}` + extra + `}`
	}
	code, m := post(t, h, ask(`,"n":3,"stop":["Action:"]`))
	if code != 200 || m["object"] != "chat.completion" || m["model"] != "m" {
		t.Fatalf("%d %v", code, m)
	}
	choices := m["choices"].([]any)
	var texts []string
	for _, c := range choices {
		texts = append(texts, c.(map[string]any)["message"].(map[string]any)["content"].(string))
	}
	want := []string{"Thought: I look.\n", "Thought: other sample\n", "Thought: other sample\n"}
	if strings.Join(texts, "|") != strings.Join(want, "|") {
		t.Errorf("samples %q, want %q", texts, want)
	}
	u := m["usage"].(map[string]any)
	if u["total_tokens"] != u["prompt_tokens"].(float64)+u["completion_tokens"].(float64) ||
		u["completion_tokens"].(float64) == 0 {
		t.Errorf("usage %v", u)
	}
	_, m = post(t, h, ask(`,"max_tokens":2`))
	c := m["choices"].([]any)[0].(map[string]any)
	if c["finish_reason"] != "length" || c["message"].(map[string]any)["content"] != "Thought:" {
		t.Errorf("max_tokens 2 (8 characters): %v", c)
	}
	for _, tt := range []struct {
		name, body, code string
		status           int
	}{
		{"no JSON", `{`, "bad_json", 400},
		{"no purpose", `{"messages":[{"role":"user","content":"hi"}]}`, "no_purpose", 400},
		{"no script", strings.Replace(ask(""), "1901", "1902", 1), "no_script", 404},
		{"no section", strings.Replace(ask(""), `"purpose":"act"`, `"purpose":"extract"`, 1), "no_script_section", 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, m := post(t, h, tt.body)
			e, _ := m["error"].(map[string]any)
			if status != tt.status || e["code"] != tt.code || e["message"] == "" {
				t.Errorf("got %d %v, want %d %s", status, m, tt.status, tt.code)
			}
		})
	}
	_, m = post(t, h, strings.Replace(ask(""), `"purpose":"act"`, `"purpose":"proofread"`, 1))
	if text := m["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)["content"]; text != "{}" {
		t.Errorf("without a section, the text proofread is changed: %v", text)
	}
	proof := mustScript(t, "== request\nq\n== proofread\n{\"answer\": \"a\"}\n").requests[0]
	if got := proof.section(taskProof, "", nil).samples[0]; got != `{"answer": "a"}` {
		t.Errorf("proofread: %q", got)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", "/v1/models", nil))
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), `"id":"scripted"`) {
		t.Errorf("models: %d %s", rec.Code, rec.Body)
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add(bakery)
	f.Add("== request\nq\n== act 1 fail drop\nx\n=====\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScript(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, r := range s.requests {
			if r.snippet == "" || s.match(r.snippet) == nil {
				t.Errorf("request of line %d does not match its own snippet %q", r.line, r.snippet)
			}
			for _, sec := range r.sections {
				if len(sec.samples) == 0 {
					t.Errorf("section of line %d has no sample", sec.line)
				}
			}
		}
	})
}

// Judgments are looked up by the number of completed steps. After the end of the script, the last judgment is used.
func TestScriptedJudge(t *testing.T) {
	s := mustScript(t, "== request\nq\n== judge 1\nPoints: 1 of 2\n=====\nPoints: 0 of 2\n== judge 2\nPoints: 2 of 2\n")
	r := s.match("q")
	for arg, want := range map[string]string{"1": "Points: 1 of 2", "2": "Points: 2 of 2", "7": "Points: 2 of 2"} {
		if got := r.section(taskJudge, arg, nil); got == nil || got.samples[0] != want {
			t.Errorf("judge %s: %+v, want %q", arg, got, want)
		}
	}
}

// TestScriptedOpening checks a request for a judgment that may also be the first turn of the run. The response is that
// turn, with the judgment as its last call, and it fails as both sections specify. If the request does not have the
// tool, or the script has no first turn for its tools, the response is the text of the judgment.
func TestScriptedOpening(t *testing.T) {
	h := mustScript(t, "== request\nq\n== triage fail 503\n{\"request\": true}\n== act 1\nAction: search(x)\n"+
		"== act 1 tools fail 429\nI ask.\nCall: query {\"sparql\": \"ASK {}\"}\n").Handler()
	body := func(tools ...string) string {
		var list []string
		for _, name := range tools {
			list = append(list, `{"type":"function","function":{"name":"`+name+`"}}`)
		}
		return `{"model":"m","messages":[{"role":"user","content":"u"}],"metadata":{"purpose":"triage","subject":"q"},"tools":[` +
			strings.Join(list, ",") + `]}`
	}
	for i, want := range []int{503, 429, 200} {
		if code, m := post(t, h, body("query", "triage")); code != want {
			t.Fatalf("attempt %d: %d %v, want %d", i+1, code, m, want)
		}
	}
	for _, tt := range []struct {
		tools []string
		text  string
		calls []string
	}{
		{[]string{"query", "triage"}, "I ask.", []string{`query {"sparql": "ASK {}"}`, `triage {"request": true}`}},
		{[]string{"query"}, `{"request": true}`, nil},
		{[]string{"other", "triage"}, `{"request": true}`, nil},
	} {
		_, m := post(t, h, body(tt.tools...))
		msg := m["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)
		var calls []string
		list, _ := msg["tool_calls"].([]any)
		for _, c := range list {
			f := c.(map[string]any)["function"].(map[string]any)
			calls = append(calls, f["name"].(string)+" "+f["arguments"].(string))
		}
		if d := cmp.Diff(tt.calls, calls); d != "" || msg["content"] != tt.text {
			t.Errorf("%v: %q %s", tt.tools, msg["content"], d)
		}
	}
}
