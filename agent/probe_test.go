package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/probe"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
)

// probing returns the spinach preset with probes.
func probing(off ...variant.Kind) *preset.Preset {
	p := ruled(func(*preset.Rules) {})
	p.Probe = probe.Settings{Queries: 8, Seconds: 15, Off: off}
	return p
}

// counting is a graph that counts queries and fails on all but the first few.
type counting struct {
	Graph
	queries, good int
}

func (g *counting) Query(ctx context.Context, q string) (*kg.Table, error) {
	if g.queries++; g.good > 0 && g.queries > g.good {
		return nil, kg.Errorf(kg.Down, "no answer")
	}
	return g.Graph.Query(ctx, q)
}

func (g *counting) Labels(ctx context.Context, ids, langs []string) (map[string]string, error) {
	return g.Graph.(Labeler).Labels(ctx, ids, langs)
}

// cities returns the graph in testdata/probe.ttl.
func cities(t *testing.T) *counting {
	t.Helper()
	g, err := embedded.Load(embedded.Options{Name: "cities"}, "testdata/probe.ttl")
	if err != nil {
		t.Fatal(err)
	}
	return &counting{Graph: g}
}

const (
	germanCities = "SELECT ?x WHERE { ?x wdt:P31 wd:Q515 ; wdt:P17 wd:Q183 }"
	allCities    = "SELECT ?x WHERE { ?x wdt:P31/wdt:P279* wd:Q515 ; wdt:P17 wd:Q183 }"
)

// TestProbes checks what the model is told about its final query, how often it is asked, and which probes remain open.
func TestProbes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		acts  []string
		off   []variant.Kind
		good  int      // number of queries after which the graph fails
		told  []string // strings in the last prompt; if empty, the first stop ends the run
		moved int
		open  string // kinds of the open probes
		rows  int
	}{
		{"stop again", []string{execute(germanCities), do("stop()"), do("stop()")}, []variant.Kind{variant.Class}, 0,
			[]string{"one changes", "with subclasses of city (wd:Q515): 1 more row: Kiel (Q3)", "stop again"}, 1,
			"subclasses", 2},
		{"the stop is named", []string{execute(germanCities), do("stop(step 1)"), do("stop(step 2)")},
			[]variant.Kind{variant.Class}, 0, []string{"Kiel (Q3)"}, 1, "subclasses", 2},
		{"the stop without a step is named", []string{execute(germanCities), do("stop()"), do("stop(step 2)")},
			[]variant.Kind{variant.Class}, 0, []string{"Kiel (Q3)"}, 1, "subclasses", 2},
		{"the query is changed", []string{execute(germanCities), do("stop()"), execute(allCities), do("stop()")},
			[]variant.Kind{variant.Class}, 0, []string{"Kiel (Q3)"}, 1, "", 3},
		{"nothing changes the result", []string{execute(germanCities), do("stop()")},
			[]variant.Kind{variant.Class, variant.Subclasses}, 0, nil, 0, "", 2},
		{"the graph fails", []string{execute(germanCities), do("stop()")}, nil, 2, nil, 0, "", 2},
		{"a LIMIT that nobody asked for", []string{execute("SELECT ?x WHERE { ?x wdt:P17 wd:Q183 } LIMIT 2"), do("stop()"),
			do("stop()")}, nil, 0, []string{"without LIMIT 2: 1 more row: Kiel (Q3)"}, 1, "limit", 2},
		{"a tie", []string{execute("SELECT ?x WHERE { ?x wdt:P1082 ?n } ORDER BY DESC(?n) LIMIT 1"), do("stop()"),
			do("stop()")}, nil, 0, []string{"ranked like the last row before it: 1 more row: "}, 1, "ties", 1},
		{"what it is, of what a class leaves out", []string{execute(strings.ReplaceAll(germanCities, "Q183", "Q40")),
			do("stop()"), do("stop()")}, []variant.Kind{variant.Subclasses}, 0,
			[]string{"without the class city (wd:Q515): 1 more row: Wien (Q16). What would come is: 1 big city (Q1549591)."},
			1, "class", 5},
		{"a number", []string{execute("SELECT (COUNT(?x) AS ?n) WHERE { ?x wdt:P31 wd:Q515 ; wdt:P17 wd:Q183 }"),
			do("stop()"), do("stop()")}, []variant.Kind{variant.Class}, 0,
			[]string{"with subclasses of city (wd:Q515): 3 instead of 2."}, 1, "subclasses", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, m, rec := cities(t), &fakeModel{acts: tt.acts}, &memory{}
			g.good = tt.good
			out, err := with(m, Wikibase(g), probing(tt.off...)).Ask(t.Context(), Question{Text: "Which cities?",
				Language: "en"}, rec, Limits{})
			if err != nil || out.Answer == nil || len(out.Answer.Table.Rows) != tt.rows {
				t.Fatalf("%+v, %v", out, err)
			}
			if len(m.requests) != len(tt.acts) {
				t.Errorf("the model was asked %d times, want %d", len(m.requests), len(tt.acts))
			}
			messages := m.requests[len(m.requests)-1].Messages
			last := messages[len(messages)-1].Content
			for _, want := range tt.told {
				if !strings.Contains(last, want) {
					t.Errorf("the model was not told %q: %s", want, last)
				}
			}
			events := rec.of("probe")
			if len(events) != 1 || (events[0].Detail != "") != (len(tt.told) > 0) {
				t.Errorf("probe events %+v", events)
			}
			var open []string
			for _, p := range out.Probed.Open {
				open = append(open, p.Kind)
			}
			if got := strings.Join(open, " "); len(out.Probed.Moved) != tt.moved || got != tt.open {
				t.Errorf("%d moved, %q open; want %d, %q", len(out.Probed.Moved), got, tt.moved, tt.open)
			}
		})
	}
}

// TestProbesOfBest checks that with the best preset, the result of the call contains the probes, and that the run can
// be replayed without the graph.
func TestProbesOfBest(t *testing.T) {
	p, err := preset.Named("best")
	if err != nil {
		t.Fatal(err)
	}
	finish := args("answer", "Two.")
	m, rec := &calls{turns: [][]string{{"query", args("sparql", germanCities, "returns", "a city: ?x")}, {"finish", finish},
		{"finish", finish}}}, &memory{}
	out, err := with(m, Wikibase(cities(t)), p).Ask(t.Context(), Question{Text: "Which cities?", Language: "en"}, rec,
		Limits{})
	if err != nil || out.Answer == nil || out.Probed == nil || len(out.Probed.Open) == 0 || len(m.requests) != 3 {
		t.Fatalf("%+v after %d calls, %v", out, len(m.requests), err)
	}
	messages := m.requests[2].Messages
	if last := messages[len(messages)-1]; last.Role != llm.ToolRole || !strings.Contains(last.Content, "1 more row: Kiel (Q3)") {
		t.Errorf("the call's result is %+v", last)
	}
	r, err := event.NewReplay(rec.events)
	if err != nil {
		t.Fatal(err)
	}
	again, err := with(r, Replayed(r), p).Ask(t.Context(), r.Question(), &memory{}, r.Limits())
	if err != nil || again.Answer == nil || again.Answer.SPARQL != out.Answer.SPARQL {
		t.Fatalf("replayed: %+v, %v", again, err)
	}
	if d := cmp.Diff(out.Probed.Open, again.Probed.Open, cmpopts.IgnoreFields(event.Probe{}, "MS")); d != "" {
		t.Error(d)
	}
}

// TestProbeBudget checks that there are never more queries than the preset allows, not counting the queries that every
// answer requires.
func TestProbeBudget(t *testing.T) {
	for n := 1; n <= 4; n++ {
		g, p := cities(t), probing()
		p.Probe.Queries = n
		m := &fakeModel{acts: []string{execute(germanCities), do("stop()"), do("stop()")}}
		out, err := with(m, Wikibase(g), p).Ask(t.Context(), Question{Text: "Which cities?", Language: "en"}, nil, Limits{})
		if err != nil || out.Answer == nil || out.Probed.Run > n {
			t.Fatalf("%+v, %v", out, err)
		}
		if most := 3 + n; g.queries > most { // the query is run once, and its posting form twice
			t.Errorf("%d queries with a budget of %d, want at most %d", g.queries, n, most)
		}
	}
}

// hanging is a graph that answers a few queries and times out on all others.
type hanging struct{ *counting }

func (g *hanging) Query(ctx context.Context, q string) (*kg.Table, error) {
	if g.queries++; g.queries > 2 {
		<-ctx.Done()
		return nil, kg.Errorf(kg.Timeout, "%v", ctx.Err())
	}
	return g.Graph.Query(ctx, q)
}

// TestProbesAgainstTheClock checks that hanging probes leave enough time to end the run with its answer.
func TestProbesAgainstTheClock(t *testing.T) {
	m := &fakeModel{acts: []string{execute(germanCities), do("stop()")}}
	out, err := with(m, Wikibase(&hanging{cities(t)}), probing()).Ask(t.Context(), Question{Text: "Which cities?",
		Language: "en"}, nil, Limits{Time: 300 * time.Millisecond})
	if err != nil || out.Answer == nil || out.Reason != Answered || len(out.Probed.Moved) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
}
