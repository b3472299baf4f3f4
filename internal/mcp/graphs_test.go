package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
)

// shelf is a set of graphs: main; pets with three cats; broken, which panics on every call; and bare, which cannot be
// opened.
type shelf struct {
	main agent.Sources

	mu    sync.Mutex
	asked []string
}

func (*shelf) Names() []string { return []string{"main", "pets", "broken", "bare"} }

func (s *shelf) Get(_ context.Context, names ...string) (agent.Sources, error) {
	s.mu.Lock()
	s.asked = append(s.asked, names...)
	s.mu.Unlock()
	var out agent.Sources
	for _, name := range names {
		switch name {
		case "main":
			out = append(out, s.main...)
		case "pets":
			g, err := pets()
			if err != nil {
				return nil, err
			}
			out = append(out, agent.Source{Graph: g, Explain: kg.Description{Name: "pets"}})
		case "broken":
			out = append(out, agent.Source{Graph: broken{}, Explain: kg.Description{Name: "broken"}})
		default:
			return nil, fmt.Errorf("the secret variable of %s is not set", name)
		}
	}
	return out, nil
}

// pets is a graph that is not a Wikibase.
var pets = sync.OnceValues(func() (*embedded.Graph, error) {
	b := embedded.NewBuilder()
	if err := b.Read("pets.ttl", strings.NewReader("<urn:tom> a <urn:cat>. <urn:kit> a <urn:cat>. <urn:mia> a <urn:cat>.")); err != nil {
		return nil, err
	}
	return b.Graph(embedded.Options{Name: "pets", Now: time.Now, Random: func() uint64 { return 1 }}), nil
})

type broken struct{}

func (broken) Query(context.Context, string) (*kg.Table, error) { panic("secret") }

func (broken) Search(context.Context, kg.SearchQuery) (*kg.SearchResult, error) { panic("secret") }

func (broken) Entity(context.Context, string, string) (*kg.Entity, error) {
	panic(errors.New("secret"))
}

func (broken) Examples(context.Context, string, string) ([]kg.Example, error) { panic("secret") }

// inMemory returns a client that is connected to a server in memory, without a network.
func inMemory(t *testing.T, m *sdk.Server) *sdk.ClientSession {
	t.Helper()
	client, server := sdk.NewInMemoryTransports()
	if _, err := m.Connect(t.Context(), server, nil); err != nil {
		t.Fatal(err)
	}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), client, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// aCall contains arguments for each tool.
var aCall = map[string]map[string]any{
	"search": {"names": []string{"x"}}, "entity": {"id": "urn:tom"}, "property": {"id": "urn:tom"},
	"statements": {"entity": "urn:tom", "property": "urn:x"}, "class_shape": {"class": "urn:cat"},
	"list_triples": {"subject": "<urn:tom>"}, "check_query": {"sparql": "ASK {}"}, "explain_query": {"sparql": "ASK {}"},
	"execute_query": {"sparql": "ASK {}"}, "ask": {"question": "Which?"},
}

// on adds a graph to a call's arguments.
func on(name string, args map[string]any) map[string]any {
	out := map[string]any{"kg": name}
	for k, v := range args {
		out[k] = v
	}
	return out
}

// TestEachToolNamesGraphs checks that each tool lists the graphs in its schema, that it rejects any other graph with an
// error that lists the valid ones, and that it does not reveal why a graph cannot be opened. It skips rewrite_query,
// which does not need a graph.
func TestEachToolNamesGraphs(t *testing.T) {
	s := inMemory(t, newServer(t))
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if tool.Name == "rewrite_query" {
			continue
		}
		var schema struct {
			Properties map[string]struct {
				Type        any // a list if the value may be null
				Description string
			}
			Required []string
		}
		b, err := json.Marshal(tool.InputSchema)
		if err == nil {
			err = json.Unmarshal(b, &schema)
		}
		if err != nil {
			t.Fatal(err)
		}
		const about = "name of the graph, one of: main, pets, broken, bare; main when left out"
		if p := schema.Properties["kg"]; p.Type != "string" || p.Description != about ||
			strings.Contains(strings.Join(schema.Required, " "), "kg") {
			t.Errorf("%s: %s", tool.Name, b)
		}
		for _, name := range []string{"nowhere", "http://127.0.0.1:1/sparql", "main,pets", "Main", " "} {
			got, ok := call(t, s, tool.Name, on(name, aCall[tool.Name]))
			if ok || !strings.Contains(got, "the graphs are: main, pets, broken, bare") {
				t.Errorf("%s on %q: %s", tool.Name, name, got)
			}
		}
		if tool.Name == "check_query" { // check_query does not open a graph
			continue
		}
		if got, ok := call(t, s, tool.Name, on("bare", aCall[tool.Name])); ok || strings.Contains(got, "secret") ||
			!strings.Contains(got, "the graph bare cannot be opened") {
			t.Errorf("%s: %s", tool.Name, got)
		}
	}
}

// TestGraphOfCall checks that a call reaches only the graph that it names, or the first graph in Main if it does not
// name one. A call to ask that does not name a graph uses all graphs in Main.
func TestGraphOfCall(t *testing.T) {
	g, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	graphs := &shelf{main: agent.Wikibase(g)}
	var asked []string
	o := Options{Log: discard, Graphs: graphs, Main: []string{"pets", "main"}}
	o.Ask = func(kgs agent.Sources) Asker {
		for _, d := range kgs.Descriptions() {
			asked = append(asked, d.Name)
		}
		return answering(asker{kgs})
	}
	s := inMemory(t, New(o))
	const count = "SELECT (COUNT(*) AS ?n) { ?x a <urn:cat> }"
	for _, tt := range []struct {
		tool string
		args map[string]any
		want string // must be in the result
		used string // graphs that were requested
	}{
		{"execute_query", map[string]any{"sparql": count}, `"value":"3"`, "pets"},
		{"execute_query", map[string]any{"sparql": count, "kg": ""}, `"value":"3"`, "pets"},
		{"execute_query", map[string]any{"sparql": count, "kg": "main"}, `"value":"0"`, "main"},
		{"list_triples", map[string]any{"object": "<urn:cat>", "kg": "pets"}, "urn:mia", "pets"},
		{"check_query", map[string]any{"sparql": count, "kg": "main"}, `"ok":true`, ""},
		{"ask", map[string]any{"question": "Which?"}, "It is so in pets", "pets main"},
		{"ask", map[string]any{"question": "Which?", "kg": "main"}, "It is so in wikidata", "main"},
	} {
		graphs.asked = nil
		if got, ok := call(t, s, tt.tool, tt.args); !ok || !strings.Contains(got, tt.want) {
			t.Errorf("%s %v: no %s in %s", tt.tool, tt.args, tt.want, got)
		}
		if used := strings.Join(graphs.asked, " "); used != tt.used {
			t.Errorf("%s %v used %q", tt.tool, tt.args, used)
		}
	}
	if got := strings.Join(asked, " "); got != "pets wikidata wikidata" {
		t.Errorf("the agent had %s", got)
	}
}

// TestBrokenGraph checks that over HTTP, a panic in a graph fails the call but does not bring down the server.
func TestBrokenGraph(t *testing.T) {
	s := connect(t, nil)
	for _, tool := range []string{"search", "entity", "property", "statements", "list_triples", "execute_query"} {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: on("broken", aCall[tool])})
		if err != nil || !res.IsError {
			t.Errorf("%s: %v %v", tool, res, err)
			continue
		}
		if text, ok := res.Content[0].(*sdk.TextContent); !ok || !strings.Contains(text.Text, "bug") ||
			strings.Contains(text.Text, "secret") {
			t.Errorf("%s: %v", tool, res.Content[0])
		}
		if got, ok := call(t, s, "execute_query", on("pets", aCall["execute_query"])); !ok {
			t.Fatalf("after %s: %s", tool, got)
		}
	}
}

// TestTriplesPages checks that the pages of list_triples are consecutive, and that the last one has the total.
func TestTriplesPages(t *testing.T) {
	s := inMemory(t, newServer(t))
	seen := map[string]bool{}
	for _, tt := range []struct {
		offset, rows, total int
		more                bool
	}{{0, 2, -1, true}, {2, 1, 3, false}, {3, 0, -1, false}, {-5, 2, -1, true}} {
		var got rowsOut
		text, ok := call(t, s, "list_triples", map[string]any{"object": "<urn:cat>", "kg": "pets", "limit": 2,
			"offset": tt.offset})
		if err := json.Unmarshal([]byte(text), &got); !ok || err != nil {
			t.Fatal(text, err)
		}
		if len(got.Rows) != tt.rows || got.Total != tt.total || got.More != tt.more {
			t.Errorf("from %d: %s", tt.offset, text)
		}
		for _, row := range got.Rows {
			seen[row[0].Value] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("seen: %v", seen)
	}
}

// TestPage checks that a page is always within the bounds of the list, whatever a client requests.
func TestPage(t *testing.T) {
	all := []int{1, 2, 3}
	for _, tt := range []struct {
		offset, limit int
		want          string
	}{{0, 2, "[1 2]"}, {2, 2, "[3]"}, {3, 2, "[]"}, {1 << 62, 2, "[]"}, {-1, 9, "[1 2 3]"}} {
		if got := fmt.Sprint(page(all, tt.offset, tt.limit)); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}
