// Package mcp gives other programs' agents access to the knowledge graphs over the Model Context Protocol
// (https://modelcontextprotocol.io/specification): search, entity pages, statements, class shapes, queries with their
// checks, and complete questions. The tools are read-only, and no query reaches an endpoint that is not one of the
// server's graphs.
//
//	server.go     the server: its tools, resources and prompt, and their safeguards
//	entities.go   search, entity, statements, property, class_shape, triples
//	queries.go    check_query, explain_query, rewrite_query, execute_query
//	question.go   ask, with progress
//	examples.go   example queries as resources; the method as a prompt
//
// If a tool fails, its result is marked as an error and explains the failure in words that a model can act on. A panic
// in a handler also becomes such a result, since the SDK would otherwise end the whole server.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Asker starts answering a question. [*ask.Service] implements it.
type Asker interface {
	Start(ctx context.Context, q agent.Question) (*ask.Run, error)
}

// Graphs returns graphs by name, each opened when it is first used. [*graphs.Shelf] implements it.
type Graphs interface {
	Names() []string
	Get(ctx context.Context, names ...string) (agent.Sources, error)
}

// Options configures a server.
type Options struct {
	Log      *slog.Logger
	Version  string
	Graphs   Graphs                        // graphs that calls may name
	Main     []string                      // at least one; calls that do not name a graph use the first, and ask uses all
	Ask      func(kgs agent.Sources) Asker // answers questions from these graphs; if nil, there is no ask tool
	Examples []event.Example               // offered as resources
	Limit    time.Duration                 // time limit for calls other than ask; [DefaultLimit] if 0
}

// DefaultLimit is the default time limit for a call.
const DefaultLimit = 75 * time.Second

type server struct {
	Options
}

// instructions are shown to the client's model.
const instructions = `Tools for SPARQL over knowledge graphs such as Wikidata. IDs (Q42, P31) and class or property IRIs must come
from search, entity, statements or a query's rows, never from memory. A good way: search the names and relations of the question;
look at one entity that should be in the answer; write the query from what was seen; check it; execute it; check
whether rows are missing or too many; then answer with the query.`

// New returns a server.
func New(o Options) *sdk.Server {
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	s := &server{o}
	m := sdk.NewServer(&sdk.Implementation{Name: "spinachbot", Title: "SpinachBot", Version: o.Version},
		&sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{}})
	m.AddReceivingMiddleware(s.guard)
	s.addEntities(m)
	s.addQueries(m)
	s.addExamples(m)
	if o.Ask != nil {
		s.addQuestion(m)
	}
	return m
}

// sessionTime is how long an HTTP session is kept after its last request.
const sessionTime = 10 * time.Minute

// maxSessions is the maximum number of concurrent HTTP sessions. Each session uses memory until it is closed or times
// out, and every request without a session starts a new one.
const maxSessions = 500

// Handler serves the protocol's streamable HTTP transport, with sessions, so that a client can cancel a call in
// progress.
func Handler(m *sdk.Server) http.Handler {
	next := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return m },
		&sdk.StreamableHTTPOptions{SessionTimeout: sessionTime, MaxRequestBodyBytes: 1 << 20})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") == "" && atLeast(m, maxSessions) {
			w.Header().Set("Retry-After", "60")
			http.Error(w, "Many clients are connected. Wait a minute, then try again.", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// atLeast reports whether a server has at least n sessions.
func atLeast(m *sdk.Server, n int) bool {
	for range m.Sessions() {
		if n--; n <= 0 {
			return true
		}
	}
	return false
}

// guard limits the duration of a call and turns a panic into an error.
func (s *server) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.Log.ErrorContext(ctx, "a bug; please report it", "method", method, "panic", p, "stack", string(debug.Stack()))
				const said = "this failed because of a bug in the program; its log has details"
				if res, err = nil, errors.New(said); method == "tools/call" {
					res, err = &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: said}}}, nil
				}
			}
		}()
		res, err = next(ctx, method, req)
		return brief(res), briefly(err)
	}
}

// maxError is the maximum number of characters in an error sent to a client.
const maxError = 2000

// brief shortens an error message and removes characters that change the text direction. If the arguments of a call are
// wrong, the SDK's error quotes them, even if they are a megabyte long.
func brief(res sdk.Result) sdk.Result {
	r, ok := res.(*sdk.CallToolResult)
	if !ok || r == nil || !r.IsError {
		return res
	}
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			t.Text = text.Clip(text.Clean(t.Text), maxError)
		}
	}
	return r
}

// briefly is like brief, but for a protocol error.
func briefly(err error) error {
	var wire *jsonrpc.Error
	switch {
	case err == nil || len(err.Error()) <= maxError:
		return err
	case errors.As(err, &wire):
		return &jsonrpc.Error{Code: wire.Code, Message: text.Clip(text.Clean(wire.Message), maxError)}
	}
	return problem(text.Clip(text.Clean(err.Error()), maxError))
}

// graphName is a call's kg argument: a name in Graphs, or "" for the main graph.
type graphName string

// inputSchema returns the schema for a tool's arguments. It lists the graphs and names the default one. It does not
// restrict calls to these names, because the tool's own error is more helpful than a schema's.
func inputSchema[In any](s *server, unnamed []string) *jsonschema.Schema {
	about := fmt.Sprintf("name of the graph, one of: %s; %s when left out", strings.Join(s.Graphs.Names(), ", "),
		strings.Join(unnamed, " and "))
	schema, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[graphName](): {Type: "string", Description: about}}})
	if err != nil {
		panic(err) // cannot happen: the types are defined in the program
	}
	return schema
}

// addTool adds a tool whose calls have the server's time limit. Out is the type of the tool's structured output.
func addTool[In, Out any](s *server, m *sdk.Server, name, title, about string,
	run func(ctx context.Context, in In) (Out, error)) {
	no := false
	sdk.AddTool(m, &sdk.Tool{Name: name, Title: title, Description: about, InputSchema: inputSchema[In](s, s.Main[:1]),
		Annotations: &sdk.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no}},
		func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
			ctx, cancel := context.WithTimeout(ctx, s.Limit)
			defer cancel()
			out, err := run(ctx, in)
			return nil, out, s.said(ctx, err)
		})
}

// said returns the error to show to the client's model. Errors other than graph failures are only logged, unless they
// are meant for the model.
func (s *server) said(ctx context.Context, err error) error {
	var told problem
	var failure *kg.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &told):
		return told
	case errors.As(err, &failure):
		return advice(failure)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return problem(fmt.Sprintf("no answer within %s; make the query more selective", s.Limit))
	case ctx.Err() != nil:
		return ctx.Err()
	}
	s.Log.ErrorContext(ctx, "a call failed", "error", err)
	return problem("this failed; the server's log says why")
}

// problem is an error that is safe to show to the client's model.
type problem string

func (p problem) Error() string { return string(p) }

func problemf(format string, args ...any) error { return problem(fmt.Sprintf(format, args...)) }

// advice returns a graph failure together with what the model can do about it.
func advice(e *kg.Error) error {
	what := map[kg.Kind]string{
		kg.Timeout:     "add a selective condition first, or count before listing",
		kg.TooLarge:    "select fewer columns, or add a LIMIT",
		kg.TooGreedy:   "add a selective condition first",
		kg.RateLimited: "wait, then try again",
		kg.Banned:      "the service refuses requests for now; try again later",
		kg.Down:        "the service does not answer; try again later",
		kg.BadID:       "search for the ID first",
		kg.NotFound:    "search for the ID first",
	}[e.Kind]
	if what == "" {
		return problem(e.Error())
	}
	return problemf("%s; %s", strings.TrimRight(e.Error(), "."), what)
}

// graph returns the name of the graph that a call refers to.
func (s *server) graph(name graphName) (string, error) {
	if name == "" {
		return s.Main[0], nil
	}
	names := s.Graphs.Names()
	if !slices.Contains(names, string(name)) {
		return "", problemf("there is no graph %q; the graphs are: %s", render.Clip(string(name), 60),
			strings.Join(names, ", "))
	}
	return string(name), nil
}

// open opens graphs. If a graph cannot be opened, the reason is logged but not returned, since it may reveal the
// server's settings.
func (s *server) open(ctx context.Context, names ...string) (agent.Sources, error) {
	sources, err := s.Graphs.Get(ctx, names...)
	var failure *kg.Error
	if err == nil || errors.As(err, &failure) {
		return sources, err
	}
	s.Log.ErrorContext(ctx, "a graph cannot be opened", "graphs", names, "error", err)
	return nil, problemf("the graph %s cannot be opened; the server's log says why", strings.Join(names, ", "))
}

// source opens the graph that a call names.
func (s *server) source(ctx context.Context, name graphName) (*agent.Source, error) {
	known, err := s.graph(name)
	if err != nil {
		return nil, err
	}
	sources, err := s.open(ctx, known)
	if err != nil {
		return nil, err
	}
	return sources.Main(), nil
}

// language returns the given language code if it is valid in a query, or "en" otherwise.
func language(code string) string {
	if code = strings.ToLower(strings.TrimSpace(code)); code == "" || len(code) > 20 {
		return "en"
	}
	for _, r := range code {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') {
			return "en"
		}
	}
	return code
}
