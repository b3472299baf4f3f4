package agent

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
	"github.com/spinachbot/spinachbot/internal/llm"
)

//go:embed testdata/grasp.ttl
var graspFacts string

// graspGraph returns the embedded graph with the facts from kgtest, the facts for GRASP's tools, and additional triples
// (in N-Triples).
func graspGraph(t *testing.T, more string) *embedded.Graph {
	t.Helper()
	b := embedded.NewBuilder()
	for _, r := range []string{kgtest.Data, graspFacts, more} {
		if err := b.Read("facts.ttl", strings.NewReader(r)); err != nil {
			t.Fatal(err)
		}
	}
	return b.Graph(embedded.Options{Name: "test"})
}

// caller is a model that calls tools. Each of its turns is text followed by lines of the form "TOOL name {arguments}".
type caller struct {
	turns    []string
	used     int
	requests []llm.Request
	tasks    map[string]string // responses to tasks other than act
}

var toolLine = regexp.MustCompile(`(?m)^TOOL (\S+) (.*)$`)

func (m *caller) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.requests = append(m.requests, req)
	ch := llm.Choice{FinishReason: "stop", Content: m.tasks[req.Purpose]}
	if req.Purpose == "act" {
		if m.used == len(m.turns) {
			return nil, fmt.Errorf("script at its end: %w", llm.ErrNoModel)
		}
		turn := m.turns[m.used]
		m.used++
		if turn == "CUT" {
			return &llm.Response{Choices: []llm.Choice{{Content: "I thi", FinishReason: "length"}}}, nil
		}
		for i, c := range toolLine.FindAllStringSubmatch(turn, -1) {
			ch.ToolCalls = append(ch.ToolCalls, llm.ToolCall{ID: fmt.Sprintf("call_%d_%d", m.used, i), Name: c[1],
				Arguments: c[2]})
		}
		ch.Content = strings.TrimSpace(toolLine.ReplaceAllString(turn, ""))
	}
	return &llm.Response{Choices: []llm.Choice{ch}}, nil
}

// graspPreset returns one of GRASP's presets, modified for a test.
func graspPreset(t *testing.T, name string, change func(*preset.Preset)) *preset.Preset {
	t.Helper()
	p, err := preset.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(p)
	}
	return p
}

// graspKnown returns one shape and a few solved questions.
type graspKnown struct{}

func (graspKnown) Shape(_ context.Context, class, _ string) (*kg.Shape, error) {
	if class != "Q6256" {
		return nil, kg.Errorf(kg.NotFound, "no members")
	}
	return &kg.Shape{Class: kg.PropertyRef{ID: class, Label: "country"}, Members: 2, At: ticking()(),
		Out: []kg.ShapePredicate{{Property: kg.PropertyRef{ID: "P36", Label: "capital"}, Coverage: 1, Mean: 1,
			Targets: []kg.ShapeTarget{{Class: kg.PropertyRef{ID: "Q515", Label: "city"}, Share: 1}}}}}, nil
}

func (graspKnown) FindClasses(context.Context, string, string, int) (*kg.SearchResult, error) {
	return &kg.SearchResult{Hits: []kg.Hit{{ID: "Q6256", Type: kg.Item, Label: "country", Uses: 2}}}, nil
}

func (graspKnown) FindExamples(_ context.Context, q event.ExampleQuery) ([]event.Example, error) {
	switch {
	case q.Limit != 3:
		return nil, fmt.Errorf("%d solved questions were requested, not 3", q.Limit)
	case q.Text == "" && q.Seed != 0:
		return []event.Example{{Question: "Any?", SPARQL: "ASK { wd:Q42 wdt:P31 wd:Q5 }"}}, nil
	case q.Text == "capital of Spain?" && q.Offset == 0:
		return []event.Example{{Question: "What is the capital\nof Germany?",
			SPARQL: "SELECT ?c { wd:Q183 wdt:P36 ?c } # a comment"},
			{Question: "Who?", SPARQL: "this is no query"}}, nil
	}
	return nil, nil
}

//go:embed testdata/grasp-tools.txt
var graspTools string

// TestGraspTools makes the calls in testdata/grasp-tools.txt in a single conversation, and checks what the model saw.
func TestGraspTools(t *testing.T) {
	_, rest, _ := strings.Cut(graspTools, "\n== ")
	var names, turns, want []string
	for _, block := range strings.Split(rest, "\n== ") {
		lines := strings.SplitN(strings.TrimSpace(block), "\n", 3)
		names, turns, want = append(names, lines[0]), append(turns, "TOOL "+lines[1]), append(want, lines[2])
	}
	s := Wikibase(graspGraph(t, ""))
	s[0].Shapes, s[0].Examples = graspKnown{}, graspKnown{}
	data, err := os.ReadFile("preset/grasp-all/preset.json")
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte(`"search_example"`),
		[]byte(`"find_similar_examples", "find_examples", "search_example"`), 1)
	p, err := preset.Load(fstest.MapFS{"preset.json": {Data: data},
		"act.tmpl": {Data: []byte(`{{template "grasp_act" .}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	m := &caller{turns: append(turns, `TOOL answer {"sparql": "SELECT ?c WHERE { wd:Q142 wdt:P36 ?c }", "answer": "Paris."}`)}
	rec := &memory{}
	out, err := with(m, s, p).Ask(t.Context(), Question{Text: "What is the capital of France?", Language: "en"}, rec,
		Limits{})
	if err != nil || out.Answer == nil {
		t.Fatal(out, err)
	}
	if len(out.Steps) != len(turns)+1 {
		t.Errorf("%d steps of %d", len(out.Steps), len(turns))
	}
	for i, name := range names {
		if i < len(out.Steps) && out.Steps[i].Observation != want[i] {
			t.Errorf("%s: %s\n(-want +got):\n%s", name, turns[i], cmp.Diff(want[i], out.Steps[i].Observation))
		}
	}
	// A replay of the trajectory does not need a graph.
	replay, err := event.NewReplay(rec.events)
	if err != nil {
		t.Fatal(err)
	}
	again, err := with(replay, Wikibase(replay), p).Ask(t.Context(), replay.Question(), nil, replay.Limits())
	if err != nil || again.Answer == nil || again.Answer.SPARQL != out.Answer.SPARQL {
		t.Errorf("the replay ended with %+v, %v", again, err)
	}
}
