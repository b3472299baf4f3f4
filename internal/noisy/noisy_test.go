package noisy_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/noisy"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

var builtin = sync.OnceValues(func() (*embedded.Graph, error) {
	return sandbox.Graph(embedded.Options{Name: "slice", Now: time.Now, Random: func() uint64 { return 1 }})
})

// gold maps questions about the built-in graph slice to their gold queries.
var gold = map[string]string{
	"What is the capital of Germany?":   "SELECT ?capital WHERE { wd:Q183 wdt:P36 ?capital }",
	"Which countries border Germany?":   "SELECT ?country WHERE { wd:Q183 wdt:P47 ?country . ?country wdt:P31/wdt:P279* wd:Q6256 }",
	"How many countries are there?":     "SELECT (COUNT(DISTINCT ?c) AS ?n) WHERE { ?c wdt:P31 wd:Q6256 }",
	"Is Berlin the capital of Germany?": "ASK { wd:Q183 wdt:P36 wd:Q64 }",
}

type nowhere struct{}

func (nowhere) Record(context.Context, event.Event) error { return nil }

// run asks every question. It returns the rows of each answer as JSON (or "" if there is no answer), and the total
// number of calls.
func run(t *testing.T, name string, o noisy.Options) (answers map[string]string, calls int) {
	t.Helper()
	g, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	p, err := preset.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	o.Protocol = p.Protocol
	o.Gold = func(q string) (string, bool) { s, ok := gold[q]; return s, ok }
	o.Label = func(id string) string {
		labels, err := g.Labels(t.Context(), []string{id}, []string{"en"})
		if err != nil {
			t.Error(err)
		}
		return labels[id]
	}
	answers = map[string]string{}
	for q := range gold {
		e := agent.New(slog.New(slog.DiscardHandler), noisy.New(o), agent.Wikibase(g), time.Now, agent.Options{Preset: p})
		out, err := e.Ask(t.Context(), agent.Question{Text: q, Language: "en"}, nowhere{}, agent.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		calls += out.Usage.Calls
		answers[q] = ""
		if out.Answer != nil {
			b, err := json.Marshal(out.Answer.Table)
			if err != nil {
				t.Fatal(err)
			}
			answers[q] = string(b)
		}
	}
	return answers, calls
}

// want returns the answers of the gold queries.
func want(t *testing.T) map[string]string {
	t.Helper()
	g, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for q, s := range gold {
		table, err := g.Query(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(table)
		if err != nil {
			t.Fatal(err)
		}
		out[q] = string(b)
	}
	return out
}

func right(got, want map[string]string) (n int) {
	for q := range want {
		if got[q] == want[q] {
			n++
		}
	}
	return n
}

var presets = []string{"bare", "best", "spinach", "grasp", "grasp-f", "interactive-kbqa", "sparql-llm"}

// TestWithoutMistakes checks that a reader that makes no mistakes answers everything correctly with every preset.
func TestWithoutMistakes(t *testing.T) {
	for _, p := range presets {
		got, _ := run(t, p, noisy.Options{Seed: 1, Right: 1})
		if w := want(t); !reflect.DeepEqual(got, w) {
			t.Errorf("%s: %v, want %v", p, got, w)
		}
	}
}

// TestMistakes checks that each kind of mistake, on its own, reduces the number of right answers or costs calls, and
// that the same seed causes the same mistakes.
func TestMistakes(t *testing.T) {
	w := want(t)
	for _, p := range []string{"spinach", "grasp"} {
		_, least := run(t, p, noisy.Options{Seed: 1, Right: 1})
		for name, rates := range map[string]noisy.Rates{
			"readings": {Reading: 1}, "made-up IDs": {ID: 0.7}, "formats": {Format: 0.5}, "early stops": {Stop: 0.6},
			"loops": {Loop: 0.6},
		} {
			lost, more := 0, 0
			for seed := range uint64(corpus.Pick(3, 6)) {
				got, calls := run(t, p, noisy.Options{Seed: seed, Rates: rates, Right: 1})
				again, _ := run(t, p, noisy.Options{Seed: seed, Rates: rates, Right: 1})
				if !reflect.DeepEqual(got, again) {
					t.Errorf("%s, %s, seed %d: other answers the second time", p, name, seed)
				}
				lost += len(w) - right(got, w)
				more += calls - least
			}
			if lost == 0 && more <= 0 {
				t.Errorf("%s: %s cost nothing", p, name)
			}
		}
	}
}

// TestJudge checks that with wrong readings, a judge that is always right rescues answers, and a judge that is always
// wrong loses them.
func TestJudge(t *testing.T) {
	w := want(t)
	sum := map[float64]int{}
	for _, q := range []float64{0, 1} {
		for seed := range uint64(8) {
			got, _ := run(t, "grasp-f", noisy.Options{Seed: seed, Rates: noisy.Rates{Reading: 0.5}, Right: q})
			sum[q] += right(got, w)
		}
	}
	if sum[1] <= sum[0] {
		t.Errorf("right answers with a judge that is never right: %d, always right: %d", sum[0], sum[1])
	}
}
