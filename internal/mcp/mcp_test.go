package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sandbox"
)

// builtin is the built-in slice of Wikidata, read once.
var builtin = sync.OnceValues(func() (*embedded.Graph, error) {
	return sandbox.Graph(embedded.Options{Name: "slice", Now: time.Now, Random: func() uint64 { return 1 }})
})

// faulty is a graph that panics when the page for Q666 is requested.
type faulty struct{ *embedded.Graph }

func (g faulty) Entity(ctx context.Context, id, lang string) (*kg.Entity, error) {
	if id == "Q666" {
		panic("fault with a secret")
	}
	return g.Graph.Entity(ctx, id, lang)
}

// waiting is closed when the question "wait" is asked, and canceled when its context is done.
var waiting, canceled = make(chan struct{}), make(chan struct{})

// asker answers every question with the same query after two steps, and reports the graphs that it may use.
type asker struct{ kgs agent.Sources }

func (a asker) Ask(ctx context.Context, q agent.Question, rec agent.Recorder, _ agent.Limits) (*agent.Outcome, error) {
	if q.Text == "wait" {
		close(waiting)
		<-ctx.Done()
		close(canceled)
		return &agent.Outcome{}, ctx.Err()
	}
	for n := 1; n <= 2; n++ {
		e := event.Event{Event: "step", Step: &event.Step{N: n, Action: "search_wikidata", Argument: "cats"}}
		if err := rec.Record(ctx, e); err != nil {
			return nil, err
		}
	}
	if q.Text == "nothing" {
		return &agent.Outcome{Ending: agent.Ending{Reason: agent.NotFound}}, nil
	}
	return &agent.Outcome{Confidence: 0.75, Report: "It is so in " + a.kgs.Main().Name() + ".", Answer: &agent.Answer{SPARQL: "SELECT ?x {}",
		Table: &kg.Table{Vars: []string{"x"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q64")}, {}}}}}, nil
}

// nowhere is a recorder that stores no trajectory.
type nowhere struct{}

func (nowhere) Record(context.Context, event.Event) error { return nil }
func (nowhere) Close() error                              { return nil }

// answering returns a service that uses an asker.
func answering(a asker) Asker {
	return &ask.Service{Log: discard, Asker: a, Now: time.Now, Open: func(string) (ask.Trajectory, error) {
		return nowhere{}, nil
	}}
}

var discard = slog.New(slog.DiscardHandler)

func newServer(t *testing.T) *sdk.Server {
	t.Helper()
	g, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Log: discard, Version: "test", Graphs: &shelf{main: agent.Wikibase(faulty{g})}, Main: []string{"main"},
		Limit:    5 * time.Second,
		Ask:      func(kgs agent.Sources) Asker { return answering(asker{kgs}) },
		Examples: []event.Example{{ID: "a/b c", Question: "Which cats?", SPARQL: "SELECT ?cat { ?cat wdt:P31 wd:Q146 }"}}})
}

// connect returns a client that is connected to a server over streamable HTTP.
func connect(t *testing.T, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	web := httptest.NewServer(Handler(newServer(t)))
	t.Cleanup(web.Close)
	c := sdk.NewClient(&sdk.Implementation{Name: "test"}, o)
	session, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: web.URL, HTTPClient: web.Client()},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call makes a call. It returns the structured output, or the text if the result is an error.
func call(t *testing.T, s *sdk.ClientSession, name string, args any) (string, bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error(), false
	}
	if res.IsError {
		text, ok := res.Content[0].(*sdk.TextContent)
		if !ok {
			t.Fatalf("%s: %T", name, res.Content[0])
		}
		return text.Text, false
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), true
}

// TestTools calls each tool the way a client does. Q64 is Berlin, Q183 is Germany, and P36 is "capital".
func TestTools(t *testing.T) {
	s := connect(t, nil)
	for _, tt := range []struct {
		tool string
		args map[string]any
		ok   bool
		want []string // must all be in the result
	}{
		{"search", map[string]any{"names": []string{"Berlin", "capital"}}, true,
			[]string{`"id":"Q64"`, `"label":"Berlin"`, `"id":"P36"`}},
		{"search", map[string]any{"names": []string{"Berlin"}, "type": "property"}, true, []string{`"hits":[]`}},
		{"search", map[string]any{"names": []string{}}, false, []string{"1 to 20"}},
		{"search", map[string]any{"names": "Berlin"}, false, []string{"names"}},
		{"search", map[string]any{"names": []string{"x"}, "type": "lexeme"}, false, []string{"item or property"}},
		{"search", map[string]any{"names": []string{"x"}, "kg": "dbpedia"}, false, []string{`no graph "dbpedia"; the graphs are: main, pets, broken, bare`}},
		{"entity", map[string]any{"id": "wd:Q183"}, true, []string{`"label":"Germany"`, `"id":"P36"`, `"value":"Q64"`}},
		{"entity", map[string]any{"id": "Q183", "properties": []string{"P36"}, "language": "de"}, true,
			[]string{`"label":"Deutschland"`, `"label":"Hauptstadt"`}},
		{"entity", map[string]any{"id": "Berlin"}, false, []string{"not an ID", "search"}},
		{"entity", map[string]any{"id": "Q999999999"}, false, []string{"search for the ID first"}},
		{"entity", map[string]any{"id": "Q666"}, false, []string{"bug"}},
		{"statements", map[string]any{"entity": "Q183", "property": "P36"}, true, []string{`"value":"Q64"`,
			`"label":"Berlin"`}},
		{"statements", map[string]any{"entity": "Q64", "property": "P17", "offset": 1 << 62}, true, []string{`"values":[]`}},
		{"statements", map[string]any{"entity": "Q183", "property": "P999999"}, false, []string{"entity shows"}},
		{"property", map[string]any{"id": "P36"}, true, []string{`"label":"capital"`, `"datatype":"wikibase-item"`}},
		{"class_shape", map[string]any{"class": "Q6256"}, false, []string{"shapes"}},
		{"list_triples", map[string]any{"subject": "Q183", "property": "P36"}, true, []string{"/entity/Q64",
			`"label":"Berlin"`}},
		{"list_triples", map[string]any{"object": `"Berlin"@en`, "limit": 1}, true, []string{`"value":"Berlin"`}},
		{"list_triples", map[string]any{"object": `"Berlin"@en" } UNION { ?subject ?property ?object`}, false,
			[]string{"not an ID"}},
		{"list_triples", map[string]any{"subject": "<x> } INSERT {"}, false, []string{"not an ID"}},
		{"list_triples", map[string]any{}, false, []string{"give a subject"}},
		{"check_query", map[string]any{"sparql": "SELECT ?x WHERE { ?x wdt:P31 }"}, true,
			[]string{`"ok":false`, `"line":1`}},
		{"check_query", map[string]any{"sparql": "SELECT ?x WHERE { ?y wdt:P31 wd:Q6256 }"}, true,
			[]string{`"ok":true`, `"kind":"unbound"`}},
		{"check_query", map[string]any{"sparql": "DROP ALL"}, true, []string{`"ok":false`}},
		{"explain_query", map[string]any{"sparql": "SELECT ?x WHERE { wd:Q183 wdt:P36 ?x }"}, true,
			[]string{"Germany", "capital"}},
		{"rewrite_query", map[string]any{"sparql": "SELECT ?x WHERE { wd:Q183 wdt:P36 ?x }", "to": "standard"}, true,
			[]string{"PREFIX wdt:"}},
		{"rewrite_query", map[string]any{"sparql": "SELECT ?x {?x ?y ?z}", "to": "cypher"}, false,
			[]string{"standard, qlever or wdqs"}},
		{"execute_query", map[string]any{"sparql": "SELECT ?x WHERE { wd:Q183 wdt:P36 ?x }"}, true,
			[]string{`"total":1`, `"label":"Berlin"`, `"type":"uri"`}},
		{"execute_query", map[string]any{"sparql": "SELECT ?x WHERE { ?x wdt:P31 wd:Q6256 } ORDER BY ?x", "limit": 2}, true,
			[]string{`"more":true`}},
		{"execute_query", map[string]any{"sparql": "ASK { wd:Q183 wdt:P36 wd:Q64 }"}, true, []string{`"boolean":true`}},
		{"execute_query", map[string]any{"sparql": "SELECT * { SERVICE <http://127.0.0.1:1/> { ?a ?b ?c } }"}, false,
			[]string{"refused"}},
		{"execute_query", map[string]any{"sparql": "CLEAR ALL"}, false, []string{"refused"}},
		{"execute_query", map[string]any{"sparql": "SELECT ?x WHERE {"}, false, []string{"syntax", "line 1"}},
		{"execute_query", map[string]any{"sparql": strings.Repeat("#", 1<<17)}, false, []string{"bytes long"}},
		{"execute_query", map[string]any{"query": "ASK {}"}, false, []string{"query"}},
		{"ask", map[string]any{"question": "Which capital?"}, true,
			[]string{`"sparql":"SELECT ?x {}"`, `"confidence":0.75`, `"label":"Berlin"`, `"total":2`}},
		{"ask", map[string]any{"question": "nothing"}, true, []string{`"reason":"not_found"`, `"rows":[]`}},
		{"ask", map[string]any{"question": " "}, false, []string{"missing"}},
		{"drop_everything", nil, false, []string{"drop_everything"}},
	} {
		got, ok := call(t, s, tt.tool, tt.args)
		if ok != tt.ok {
			t.Errorf("%s %v: ok is %v: %s", tt.tool, tt.args, ok, got)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s %v: no %s in %s", tt.tool, tt.args, want, got)
			}
		}
		if strings.Contains(got, "secret") {
			t.Errorf("%s tells the inside: %s", tt.tool, got)
		}
	}
}

// TestLists checks that every tool has a title, a description and both schemas, and is marked as read-only, and that
// the examples and the prompt can be read.
func TestLists(t *testing.T) {
	s := connect(t, nil)
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range tools.Tools {
		names = append(names, x.Name)
		if x.Title == "" || x.Description == "" || x.InputSchema == nil || x.OutputSchema == nil ||
			!x.Annotations.ReadOnlyHint {
			t.Errorf("%+v", x)
		}
	}
	slices.Sort(names)
	want := "ask check_query class_shape entity execute_query explain_query list_triples property rewrite_query search statements"
	if strings.Join(names, " ") != want {
		t.Errorf("the tools are %v", names)
	}
	list, err := s.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	read, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: list.Resources[0].URI})
	if err != nil || !strings.Contains(read.Contents[0].Text, "wd:Q146") {
		t.Errorf("%v %v", read, err)
	}
	prompt, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "write_query",
		Arguments: map[string]string{"question": "Which cats? 100 %d"}})
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := prompt.Messages[0].Content.(*sdk.TextContent); !ok || !strings.Contains(text.Text,
		"Which cats? 100 %d") {
		t.Errorf("%v", prompt.Messages[0].Content)
	}
}

// TestProgress checks that a client that requests progress is notified of each step.
func TestProgress(t *testing.T) {
	told := make(chan string, 10)
	s := connect(t, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
		r *sdk.ProgressNotificationClientRequest) {
		told <- r.Params.Message
	}})
	p := &sdk.CallToolParams{Name: "ask", Arguments: map[string]any{"question": "Which?"}}
	p.SetProgressToken("token")
	if res, err := s.CallTool(t.Context(), p); err != nil || res.IsError {
		t.Fatal(res, err)
	}
	for n := range 2 {
		select {
		case m := <-told:
			if !strings.Contains(m, "search_wikidata(cats)") {
				t.Errorf("%d: %s", n, m)
			}
		case <-time.After(time.Minute):
			t.Fatalf("step %d was not told", n+1)
		}
	}
}

// TestCancel checks that a call is canceled when its client gives up, and that the server continues.
func TestCancel(t *testing.T) {
	s := connect(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-waiting
		cancel()
	}()
	if _, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "ask",
		Arguments: map[string]any{"question": "wait"}}); err == nil {
		t.Error("no error")
	}
	select {
	case <-canceled:
	case <-time.After(time.Minute):
		t.Fatal("the run continues")
	}
	if got, ok := call(t, s, "search", map[string]any{"names": []string{"Berlin"}}); !ok {
		t.Errorf("afterwards: %s", got)
	}
}

// TestStdio checks that the server works the same over standard input and output.
func TestStdio(t *testing.T) {
	client, server := sdk.NewInMemoryTransports()
	done := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { done <- newServer(t).Run(ctx, server) }()
	c := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil)
	s, err := c.Connect(t.Context(), client, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := call(t, s, "execute_query", map[string]any{"sparql": "ASK {}"}); !ok || !strings.Contains(got, "true") {
		t.Errorf("%s", got)
	}
	if got, ok := call(t, s, "entity", map[string]any{"id": "Q666"}); ok || !strings.Contains(got, "bug") {
		t.Errorf("%s", got)
	}
	stop()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("the server does not end")
	}
}

// TestOversized checks that a request of many megabytes is rejected without being read.
func TestOversized(t *testing.T) {
	web := httptest.NewServer(Handler(newServer(t)))
	defer web.Close()
	resp, err := web.Client().Post(web.URL, "application/json", bytes.NewReader(bytes.Repeat([]byte(" "), 3<<20)))
	if err != nil {
		t.Skip("the server closed the connection at once")
	}
	defer resp.Body.Close()
	if resp.StatusCode < 400 {
		t.Errorf("status %d", resp.StatusCode)
	}
}
