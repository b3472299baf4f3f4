package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

// hostileTexts are strings that a hostile program or a tricked model may send in any argument.
func hostileTexts() map[string]string {
	return map[string]string{
		"markup":          `</script><script>alert(1)</script><img src=x onerror=alert(1)>`,
		"attribute":       `" onmouseover="alert(1)" x="`,
		"template":        `{{.Secret}} ${jndi:ldap://127.0.0.1:1/x} %s%n%d`,
		"wikitext":        "{{Delete}} ~~~~ [[Category:Spam]] <!-- --> </syntaxhighlight>",
		"bidi":            "\u202eevil\u202c \u2066x\u2069 \u200f\u200e\ufeff\u200b",
		"control":         "a\x00b\x07c\x1b[31md\u009b31me\x7f\r\n\u2028\u2029",
		"not UTF-8":       "\xff\xfe\xc0\xaf",
		"data URL":        "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
		"script URL":      "javascript:alert(document.domain)",
		"inner address":   "http://169.254.169.254/latest/meta-data/",
		"file":            "file:///etc/passwd",
		"path":            "../../../../etc/passwd",
		"update":          "INSERT DATA { <urn:a> <urn:b> <urn:c> }",
		"leaving a term":  `> } UNION { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } } #`,
		"leaving a text":  `"@en } ; DROP ALL ; # `,
		"service":         "SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }",
		"from":            "SELECT * FROM <http://127.0.0.1:1/> { ?s ?p ?o }",
		"open brackets":   strings.Repeat("(", 5000),
		"open groups":     "SELECT * { " + strings.Repeat("{ ", 5000),
		"a megabyte":      strings.Repeat("x", 1<<20),
		"long ID":         "Q" + strings.Repeat("9", 100_000),
		"emoji and marks": strings.Repeat("e\u0301\U0001F469\u200d\U0001F52C", 500),
		"blank":           " \t\n ",
		"nothing":         "",
	}
}

// toolsOf returns the arguments of each tool with their types, as described by the server itself.
func toolsOf(t testing.TB, s *sdk.ClientSession) map[string]map[string]string {
	t.Helper()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for _, tool := range list.Tools {
		b, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Properties map[string]struct{ Type any }
		}
		if err := json.Unmarshal(b, &schema); err != nil {
			t.Fatal(err)
		}
		out[tool.Name] = map[string]string{}
		for name, p := range schema.Properties {
			kind := fmt.Sprint(p.Type)
			if strings.Contains(kind, "array") { // a list or null
				kind = "array"
			}
			out[tool.Name][name] = kind
		}
	}
	return out
}

// answerOf returns everything in a call's result: its text and structured output, or the protocol error.
func answerOf(ctx context.Context, s *sdk.ClientSession, tool string, args any) (text string, failed bool, other []string) {
	res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error(), true, nil
	}
	for _, c := range res.Content {
		if x, ok := c.(*sdk.TextContent); ok {
			text += x.Text + "\n"
		} else {
			other = append(other, fmt.Sprintf("%T", c))
		}
	}
	return text, res.IsError, other
}

// watch is a log that a test can read.
type watch struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *watch) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *watch) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// watchedServer returns a server for the built-in graph, and its log.
func watchedServer(t testing.TB) (*sdk.Server, *watch) {
	t.Helper()
	g, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{}
	return New(Options{Log: slog.New(slog.NewTextHandler(w, nil)), Version: "test", Graphs: &shelf{main: agent.Wikibase(g)},
		Main: []string{"main"}, Limit: 20 * time.Second, Ask: func(kgs agent.Sources) Asker { return answering(asker{kgs}) }}), w
}

// For any string in any argument of any tool, the result is text, errors are short, and no handler panics. The client
// encodes each string as a JSON value, so the string cannot break out of its quotes. In a sample, each argument gets a
// third of the strings.
func TestHostileArguments(t *testing.T) {
	m, log := watchedServer(t)
	s := inMemory(t, m)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	calls, arguments, step := 0, 0, corpus.Pick(3, 1)
	tools, texts := toolsOf(t, s), hostileTexts()
	for _, tool := range slices.Sorted(maps.Keys(tools)) {
		for _, name := range slices.Sorted(maps.Keys(tools[tool])) {
			kind := tools[tool][name]
			arguments++
			for i, what := range slices.Sorted(maps.Keys(texts)) {
				if (i+arguments)%step != 0 {
					continue
				}
				text := texts[what]
				args := map[string]any{}
				for k, v := range aCall[tool] {
					args[k] = v
				}
				if tool == "rewrite_query" {
					args["sparql"], args["to"] = "ASK {}", "standard"
				}
				switch kind {
				case "string":
					args[name] = text
				case "array":
					args[name] = []string{text, text}
				default: // a number, so a string is an error
					args[name] = text
				}
				got, failed, other := answerOf(ctx, s, tool, args)
				calls++
				if got == "" || len(other) > 0 || !utf8.ValidString(got) {
					t.Errorf("%s, %s: %s: %.200q, and %v", tool, name, what, got, other)
				}
				if failed && (len(got) > 4*maxError || strings.ContainsAny(got, "\u202e\u2066\x00\x1b")) {
					t.Errorf("%s, %s: %s: an error of %d bytes: %.200q", tool, name, what, len(got), got)
				}
				if failed && strings.Contains(got, "a bug") || strings.Contains(got, "goroutine ") {
					t.Errorf("%s, %s: %s: %.300q", tool, name, what, got)
				}
				if failed && kind == "integer" && !strings.Contains(got, name) {
					t.Errorf("%s, %s: %s: the error does not name it: %.200q", tool, name, what, got)
				}
			}
		}
	}
	t.Logf("%d calls", calls)
	if said := log.String(); strings.Contains(said, "panic") {
		t.Errorf("the log: %.2000s", said)
	}
}

// Wrong types, deep or wide JSON, and unknown or missing fields result in errors that explain what is wrong.
func TestWrongShapes(t *testing.T) {
	m, log := watchedServer(t)
	s := inMemory(t, m)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	deep := json.RawMessage(strings.Repeat(`{"a":[`, 2000) + "1" + strings.Repeat("]}", 2000))
	wide := map[string]any{}
	for i := range 5000 {
		wide[fmt.Sprint("field", i)] = i
	}
	many := make([]string, 20_000)
	for tool, params := range toolsOf(t, s) {
		shapes := map[string]any{"an unknown field": map[string]any{"<b>x</b>": 1}, "many unknown fields": wide, "a list": []any{1}, "a text": "x",
			"a number": 7}
		for name, kind := range params {
			for what, v := range map[string]any{"a number": 1e300, "a truth value": true, "an object": map[string]any{"x": 1}, "deep": deep,
				"a list of lists": []any{[]any{[]any{}}}} {
				if kind == "integer" && what == "a number" {
					v = 1.5
				}
				shapes[name+" is "+what] = on("main", map[string]any{name: v})
			}
			if kind == "array" {
				shapes[name+" is very long"] = map[string]any{name: many}
			}
			if kind == "integer" {
				for _, n := range []int64{-1 << 62, 1 << 62} { // any number of the right type is valid
					args := on("main", aCall[tool])
					args[name] = n
					if got, _, other := answerOf(ctx, s, tool, args); got == "" || len(other) > 0 {
						t.Errorf("%s, %s = %d: %q", tool, name, n, got)
					}
				}
			}
		}
		for what, args := range shapes {
			got, failed, other := answerOf(ctx, s, tool, args)
			if !failed || got == "" || len(got) > 4*maxError || len(other) > 0 || strings.Contains(got, "a bug") {
				t.Errorf("%s: %s: failed %v, %d bytes: %.300q", tool, what, failed, len(got), got)
			}
		}
	}
	if said := log.String(); strings.Contains(said, "panic") {
		t.Errorf("the log: %.2000s", said)
	}
}

// Anything that is not a call as defined by the protocol is rejected, and the server responds to the next call.
func TestHostileRequests(t *testing.T) {
	m, log := watchedServer(t)
	web := httptest.NewServer(Handler(m))
	defer web.Close()
	post := func(body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := web.Client().Do(r)
		if err != nil {
			return 0, "" // the server hung up
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		if err != nil {
			t.Error(err)
		}
		return resp.StatusCode, string(b)
	}
	for what, body := range map[string]string{
		"nothing":       "",
		"a page":        "<html><script>alert(1)</script>",
		"half":          `{"jsonrpc":"2.0","id":1,"method":"tools/`,
		"deep":          strings.Repeat("[", 500_000),
		"deep objects":  strings.Repeat(`{"a":`, 150_000),
		"a megabyte":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"names":["` + strings.Repeat("x", 1<<20) + `"]}}}`,
		"no session":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"names":["x"]}}}`,
		"another one":   `{"jsonrpc":"1.0","id":{},"method":7,"params":[]}`,
		"a huge number": `{"jsonrpc":"2.0","id":` + strings.Repeat("9", 100_000) + `,"method":"ping"}`,
		"a zero byte":   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\x00ng\"}",
	} {
		status, said := post(body)
		if refused := status == 0 || status >= 400 && status < 500 || strings.Contains(said, `"error":`); !refused || strings.Contains(said, `"result":`) {
			t.Errorf("%s is answered with %d %.300s", what, status, said)
		}
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil)
	s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: web.URL, HTTPClient: web.Client()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, ok := call(t, s, "execute_query", map[string]any{"sparql": "ASK {}"}); !ok {
		t.Errorf("afterwards: %s", got)
	}
	if said := log.String(); strings.Contains(said, "panic") {
		t.Errorf("the log: %.2000s", said)
	}
}

// The number of sessions is limited. When some are closed, new ones can start.
func TestManySessions(t *testing.T) {
	m, _ := watchedServer(t)
	web := httptest.NewServer(Handler(m))
	defer web.Close()
	do := func(method, session string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, web.URL, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := web.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, resp.Header.Get("Mcp-Session-Id")
	}
	last := ""
	for i := range maxSessions {
		status, id := do(http.MethodPost, "")
		if status != http.StatusOK || id == "" {
			t.Fatalf("session %d: %d %q", i, status, id)
		}
		last = id
	}
	if status, _ := do(http.MethodPost, ""); status != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", status)
	}
	if status, _ := do(http.MethodDelete, last); status >= 300 {
		t.Fatalf("closing: %d", status)
	}
	if status, _ := do(http.MethodPost, ""); status != http.StatusOK {
		t.Errorf("after one was closed: %d", status)
	}
}

// A thousand concurrent calls (300 in a sample) over HTTP, to all tools and with good and bad arguments, all get a response. They leak
// neither goroutines nor memory.
func TestManyCallsAtOnce(t *testing.T) {
	m, log := watchedServer(t)
	web := httptest.NewServer(Handler(m))
	defer web.Close()
	web.Client().Transport.(*http.Transport).MaxConnsPerHost = 200 // below the usual limit on open files
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil)
	sessions := make([]*sdk.ClientSession, 10)
	for i := range sessions {
		var err error
		if sessions[i], err = c.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: web.URL, HTTPClient: web.Client()}, nil); err != nil {
			t.Fatal(err)
		}
	}
	texts := hostileTexts()
	names := slices.Sorted(maps.Keys(texts))
	before, n := heap(), corpus.Pick(300, 1000)
	var all sync.WaitGroup
	var failed, done atomic.Int64
	for i := range n {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(15, uint64(i)))
			s := sessions[i%len(sessions)]
			text := texts[names[rng.IntN(len(names))]]
			tool, args := "execute_query", map[string]any{"sparql": "SELECT * { ?s wdt:P31 ?o } LIMIT 20"}
			switch i % 5 {
			case 1:
				tool, args = "search", map[string]any{"names": []string{"Berlin", text[:min(len(text), 1000)]}}
			case 2:
				tool, args = "check_query", map[string]any{"sparql": text}
			case 3:
				tool, args = "entity", map[string]any{"id": "Q64"}
			case 4:
				tool, args = "explain_query", map[string]any{"sparql": text}
			}
			got, bad, other := answerOf(ctx, s, tool, args)
			if got == "" || len(other) > 0 || strings.Contains(got, "a bug") {
				t.Errorf("%s: %.300q %v", tool, got, other)
			}
			if bad {
				failed.Add(1)
			}
			done.Add(1)
		})
	}
	all.Wait()
	if done.Load() != int64(n) || failed.Load() > int64(n)*2/5 { // every fifth query cannot be explained, and some are too long
		t.Errorf("%d calls, %d failed", done.Load(), failed.Load())
	}
	for _, s := range sessions {
		_ = s.Close()
	}
	if after := heap(); after > before+64<<20 {
		t.Errorf("%d MB before, %d MB after", before>>20, after>>20)
	}
	if said := log.String(); strings.Contains(said, "panic") {
		t.Errorf("the log: %.2000s", said)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
