package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/mcp"
	"github.com/spinachbot/spinachbot/internal/web/challenge"
	"github.com/spinachbot/spinachbot/internal/web/health"
	"github.com/spinachbot/spinachbot/internal/web/live"
)

// operation is the description of one method on a path.
type operation struct {
	Responses map[string]struct {
		Content map[string]struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

type described struct {
	OpenAPI    string                          `json:"openapi"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
}

// schema returns a schema from the description, together with the schemas that it refers to.
func (d *described) schema(t *testing.T, raw json.RawMessage) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	whole, err := json.Marshal(map[string]any{"allOf": []json.RawMessage{raw}, "$defs": d.Components.Schemas})
	if err != nil {
		t.Fatal(err)
	}
	whole = []byte(strings.ReplaceAll(string(whole), "#/components/schemas/", "#/$defs/"))
	if err := json.Unmarshal(whole, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// agentOf simulates an agent that does what the question specifies.
type agentOf struct{}

type nowhere struct{}

func (nowhere) Record(context.Context, event.Event) error { return nil }
func (nowhere) Close() error                              { return nil }

func (agentOf) Ask(ctx context.Context, q agent.Question, rec agent.Recorder, _ agent.Limits) (*agent.Outcome, error) {
	if err := rec.Record(ctx, event.Event{Event: "start", Question: &q, Format: event.Format}); err != nil {
		return nil, err
	}
	if q.Text == "wait" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, e := range []event.Event{{Event: "step", Step: &event.Step{N: 1, Action: "execute", Argument: "SELECT", Observation: "Q64"}},
		{Event: "final", SPARQL: "SELECT ?c {}", Ran: "SELECT ?c {}"}, {Event: "end", Report: "Berlin."}} {
		if q.Text == "none" && e.Event == "final" {
			continue
		}
		if q.Text == "none" && e.Event == "end" {
			e.Reason = "not_found"
		}
		if err := rec.Record(ctx, e); err != nil {
			return nil, err
		}
	}
	return &agent.Outcome{Answer: &agent.Answer{SPARQL: "SELECT ?c {}"}}, nil
}

// apis returns the options of a server with all APIs.
func apis(ready error, change func(*live.Options)) Options {
	lg := slog.New(slog.DiscardHandler)
	service := &ask.Service{Log: lg, Asker: agentOf{}, Now: time.Now, Open: func(string) (ask.Trajectory, error) { return nowhere{}, nil }}
	o := live.Options{Log: lg, Graphs: []string{"wikidata"}, On: func(context.Context, []string) (live.Asker, error) { return service, nil }}
	if change != nil {
		change(&o)
	}
	return Options{Log: lg, Pages: live.New(o).Parts(), Metrics: http.HandlerFunc(health.Live),
		MCP:       mcp.Handler(mcp.New(mcp.Options{Log: lg, Graphs: &graphs.Shelf{}, Main: []string{"wikidata"}})),
		Challenge: challenge.New(challenge.Options{Log: lg, Datasets: map[string]challenge.Solver{"urn:d": service}}),
		Checks:    map[string]health.Check{"part": func(context.Context) error { return ready }}}
}

// TestOpenAPI checks that each response from the server matches its description, that each described response occurs,
// and that each of the server's paths is described.
func TestOpenAPI(t *testing.T) {
	var d described
	if err := json.Unmarshal(openAPI, &d); err != nil || d.OpenAPI != "3.1.0" {
		t.Fatal(d.OpenAPI, err)
	}
	well, ill := apis(nil, nil), apis(errors.New("down"), func(o *live.Options) {
		o.On = func(context.Context, []string) (live.Asker, error) { return nil, errors.New("down") }
	})
	slow := apis(nil, func(o *live.Options) { o.Limit = time.Millisecond })
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	both := "Accept: application/json, text/event-stream"
	missing := map[string]bool{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			for status := range op.Responses {
				missing[method+" "+path+" "+status] = true
			}
		}
	}
	pages, ids := askPages(t)
	for _, e := range append([]exchange{
		{&well, "GET", "/?dataset=urn:d&question=Which%3F", "", "", 200}, {&well, "GET", "/?dataset=urn:x&question=y", "", "", 404},
		{&well, "GET", "/text2sparql?dataset=urn:d&question=Which%3F", "", "", 200},
		{&well, "GET", "/text2sparql?dataset=urn:d", "", "", 200}, {&well, "GET", "/text2sparql", "", "", 404},
		{&well, "POST", "/run", `{"input":"Which?"}`, "", 200}, {&well, "POST", "/run", `{"question":"Which?"}`, "", 200},
		{&well, "POST", "/run", `{"input":"none"}`, "", 200}, {&well, "POST", "/run", `{"question":"none"}`, "", 200},
		{&well, "POST", "/run", `{`, "", 400}, {&well, "POST", "/run", `{}`, "Sec-Fetch-Site: cross-site", 403},
		{&well, "POST", "/run", `{"input":"` + strings.Repeat("x", 5<<20) + `"}`, "", 413},
		{&ill, "POST", "/run", `{"input":"Which?"}`, "", 500}, {&slow, "POST", "/run", `{"input":"wait"}`, "", 504},
		{&well, "GET", "/live", "", "", 426},
		{&well, "GET", "/live", "", "Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", 101},
		{&well, "GET", "/live", "", "Origin: https://evil.example\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", 403},
		{&well, "GET", "/knowledge_graphs", "", "", 200},
		{&well, "POST", "/mcp", begin, both, 200}, {&well, "POST", "/mcp", begin, "Accept: text/html", 400},
		{&well, "POST", "/mcp", begin, both + "\nMcp-Session-Id: none", 404}, {&well, "POST", "/mcp", begin, "Sec-Fetch-Site: cross-site", 403},
		{&well, "GET", "/metrics", "", "", 200}, {&well, "GET", "/healthz", "", "", 200}, {&well, "GET", "/openapi.json", "", "", 200},
		{&well, "GET", "/readyz", "", "", 200}, {&ill, "GET", "/readyz", "", "", 503},
	}, pagesSeen(pages, ids)...) {
		e.hold(t, &d, missing)
	}
	d.streams(t, pages, ids)
	for _, tested := range []string{"post /run 503", "post /a 503", "post /a 429", "post /a/{id}/decide 303", "post /a/{id}/step/{n} 303"} {
		delete(missing, tested) // tested in packages live and ask, or by streams
	}
	for answer := range missing {
		t.Errorf("%s is described, but did not occur", answer)
	}
	for pattern := range routes(pages) {
		path := strings.TrimSuffix(pattern[strings.IndexByte(pattern, '/'):], "{$}")
		if _, ok := d.Paths[path]; !ok {
			t.Errorf("%s is not described", path)
		}
	}
}

// exchange is a request and the status code of its response.
type exchange struct {
	o                          *Options
	method, path, body, header string
	status                     int
}

// hold sends the request, checks the response against its description, and removes that description from missing.
func (tt *exchange) hold(t *testing.T, d *described, missing map[string]bool) {
	t.Helper()
	s := httptest.NewServer(New(*tt.o))
	name := fmt.Sprintf("%s %.40s %.40s", tt.method, tt.path, tt.body)
	req, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL+tt.path, strings.NewReader(tt.body))
	if err != nil {
		t.Fatal(err)
	}
	if tt.method == "POST" {
		req.Header.Set("Content-Type", "application/json")
		if !strings.HasPrefix(tt.body, "{") {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	for line := range strings.SplitSeq(tt.header, "\n") {
		if key, value, ok := strings.Cut(line, ": "); ok {
			req.Header.Set(key, value)
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req) // does not follow redirects
	if err != nil {
		t.Fatal(name, err)
	}
	path := d.template(tt.path)
	op := d.Paths[path][strings.ToLower(tt.method)]
	said, ok := op.Responses[fmt.Sprint(resp.StatusCode)]
	if resp.StatusCode != tt.status || !ok {
		t.Errorf("%s: status %d, want %d, described: %v", name, resp.StatusCode, tt.status, ok)
	}
	delete(missing, fmt.Sprintf("%s %s %d", strings.ToLower(tt.method), path, resp.StatusCode))
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	content, ok := said.Content[kind]
	if !ok && len(said.Content) > 0 {
		t.Errorf("%s: type %q is not described", name, kind)
	}
	if kind == "application/json" && ok {
		var v any
		if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := d.schema(t, content.Schema).Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	} else if tt.status != 101 && kind != "text/event-stream" {
		_, _ = io.Copy(io.Discard, resp.Body)
	}
	resp.Body.Close()
	s.CloseClientConnections()
	s.Close()
}
