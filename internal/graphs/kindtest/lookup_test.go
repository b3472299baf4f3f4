package kindtest_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/graphs/kindtest"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/httpapi"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// reader is a model that runs one query and then ends the run. It records the requests that it received.
type reader struct {
	query    string
	requests []llm.Request
}

func (r *reader) Complete(_ context.Context, req llm.Request) (*llm.Response, error) {
	r.requests = append(r.requests, req)
	call := llm.ToolCall{ID: "a", Name: "query", Arguments: `{"sparql": "` + r.query + `"}`}
	if len(r.requests) > 1 {
		call = llm.ToolCall{ID: "b", Name: "finish", Arguments: `{"answer": "See the rows."}`}
	}
	return &llm.Response{Choices: []llm.Choice{{FinishReason: "tool_calls", ToolCalls: []llm.ToolCall{call}}},
		Usage: llm.Usage{Calls: 1}}, nil
}

type quiet struct{}

func (quiet) Record(context.Context, event.Event) error { return nil }

// This is what the best preset shows for a graph with its own vocabulary: the names in rows, the properties of a
// class's members and their value types, the contents of nodes without a name, and how an entity is matched by its
// name.
func TestBestOnAnyGraph(t *testing.T) {
	srv := httptest.NewServer(httpapi.NewSPARQL(slog.New(slog.DiscardHandler), library(t), 5))
	defer srv.Close()
	s, _, err := kindtest.Add(t.Context(), t.TempDir(), srv.URL+"/sparql")
	if err != nil {
		t.Fatal(err)
	}
	l := kgtest.NewLibrary(7, 2000)
	house := l.Houses[slices.IndexFunc(l.Houses, func(h kgtest.House) bool { return h.Name != "" })]
	ask := func(question, language, query string) (asked string, steps []agent.Step) {
		t.Helper()
		p, err := preset.Named("best")
		if err != nil {
			t.Fatal(err)
		}
		m := &reader{query: query}
		out, err := agent.New(slog.New(slog.DiscardHandler), m, agent.Sources{*s}, time.Now,
			agent.Options{Preset: p}).Ask(t.Context(), agent.Question{Text: question, Language: language}, quiet{}, agent.Limits{})
		if err != nil || out.Answer == nil {
			t.Fatalf("%s: no answer: %v %+v", question, err, out)
		}
		return m.requests[0].Messages[0].Content + m.requests[0].Messages[1].Content, out.Steps
	}
	holds := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("there is no %q in\n%s", w, text)
			}
		}
	}

	asked, steps := ask("How many pages do the books of "+house.Name+" have that were lent in 1999?", "",
		"SELECT ?h ?l WHERE { ?b v:publisher ?h ; v:loan ?l . ?h v:called '"+house.Name+"'@en } LIMIT 3")
	holds(asked, `?x v:called "Name"@`, "The asker's language: English")
	look := steps[0].Observation
	holds(look, "v:pages (integer) 100%", "v:publisher publisher → v:House 100%", "v:loan → [v:days, v:reader]",
		house.Name+" (thing:house", "  v:seat: ")
	if strings.Contains(look, "1999") {
		t.Errorf("a number of the question is taken for a name:\n%s", look)
	}
	_, list, _ := strings.Cut(look, "Properties:\n")
	if first, _, _ := strings.Cut(list, "\n"); !strings.HasPrefix(first, "  v:pages ") {
		t.Errorf("the first property is %q, want v:pages, which members of the class have and the question names", first)
	}
	holds(steps[1].Observation, "[IRI | node without a name]", house.Name+" (thing:house", " | []")

	if asked, _ = ask("Welche Verlage haben ihren Sitz in der Stadt, in der die meisten Bücher geschrieben wurden?", "en",
		"SELECT ?h { ?h a v:House }"); strings.Contains(asked, "English") {
		t.Errorf("a German question is said to be English:\n%s", asked)
	}
}

// For an ID that no observation has shown, the note gives the same number of uses as the find tool.
func TestUsesAgree(t *testing.T) {
	srv := httptest.NewServer(httpapi.NewSPARQL(slog.New(slog.DiscardHandler), library(t), 5))
	defer srv.Close()
	s, _, err := kindtest.Add(t.Context(), t.TempDir(), srv.URL+"/sparql")
	if err != nil {
		t.Fatal(err)
	}
	p, err := preset.Named("best")
	if err != nil {
		t.Fatal(err)
	}
	m := &reader{query: "SELECT ?t { ?h v:seat ?t }"}
	out, err := agent.New(slog.New(slog.DiscardHandler), m, agent.Sources{*s}, time.Now, agent.Options{Preset: p}).Ask(
		t.Context(), agent.Question{Text: "Where?"}, quiet{}, agent.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	// 20 houses with one seat each
	var got string
	for _, step := range out.Steps {
		got += step.Observation + "\n"
	}
	if !strings.Contains(got, "v:seat ") || !strings.Contains(got, "used 20 times") {
		t.Errorf("the note on v:seat is not right:\n%s", got)
	}
}
