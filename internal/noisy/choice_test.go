package noisy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/noisy"
)

var ids = regexp.MustCompile(`\b[QP][0-9]+\b`)

// deaf wraps a reader and checks that its response stays the same if all words except IDs are removed from the prompts.
type deaf struct {
	t      *testing.T
	reader *noisy.Reader
	asked  map[string]int
}

func (d *deaf) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	d.asked[req.Purpose]++
	bare := req
	bare.Messages = nil
	for _, m := range req.Messages {
		m.Content = strings.Join(ids.FindAllString(m.Content, -1), " ")
		bare.Messages = append(bare.Messages, m)
	}
	want, err := d.reader.Complete(ctx, bare)
	got, err2 := d.reader.Complete(ctx, req)
	if err != nil || err2 != nil || !reflect.DeepEqual(got.Choices, want.Choices) {
		d.t.Errorf("%s %s: with words %+v, without %+v (%v, %v)", req.Purpose, req.Part, got, want, err, err2)
	}
	return got, err2
}

// TestWordsDoNotMatter checks that the reader relies only on facts, tools and IDs.
func TestWordsDoNotMatter(t *testing.T) {
	g, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"best", "spinach", "grasp-f", "sparql-llm", "interactive-kbqa", "grasp/mcts"} {
		name, search, _ := strings.Cut(name, "/")
		p, err := preset.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Search, err = p.Search.With("n=2,k=1"); err != nil {
			t.Fatal(err)
		}
		d := &deaf{t: t, asked: map[string]int{}, reader: noisy.New(noisy.Options{Right: 1, Protocol: p.Protocol,
			Gold: func(q string) (string, bool) { s, ok := gold[q]; return s, ok },
			Label: func(id string) string {
				labels, _ := g.Labels(t.Context(), []string{id}, []string{"en"}) // without a label, an entity has no name
				return labels[id]
			}})}
		e := agent.New(slog.New(slog.DiscardHandler), d, agent.Wikibase(g), time.Now, agent.Options{Preset: p,
			Policy: search})
		for q := range gold {
			out, err := e.Ask(t.Context(), agent.Question{Text: q, Language: "en"}, nowhere{}, agent.Limits{})
			if err != nil || out.Answer == nil {
				t.Errorf("%s, %s: %+v, %v", name, q, out, err)
			}
		}
		if d.asked["act"] == 0 || search != "" && d.asked["judge"] == 0 {
			t.Errorf("%s was asked for %v", name, d.asked)
		}
	}
}

// decide asks a reader to choose among queries. The first character of each query is its quality from 0 to 9.
func decide(t *testing.T, seed uint64, right float64, req llm.Request) llm.Choice {
	t.Helper()
	r := noisy.New(noisy.Options{Seed: seed, Right: right, Label: func(string) string { return "" },
		Gold: func(string) (string, bool) { return "ASK { wd:Q1 wdt:P31 wd:Q5 }", true },
		Score: func(_, query string) float64 {
			return float64(query[0]-'0') / 9
		}})
	resp, err := r.Complete(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Choices[0]
}

// TestChoices checks that choices of every kind are right with the requested probability.
func TestChoices(t *testing.T) {
	query := func(s string) llm.Done { return llm.Done{Tool: "execute", Query: s, Rows: true} }
	for _, tt := range []struct {
		name  string
		req   llm.Request
		right func(c llm.Choice) bool
	}{
		{"compare", llm.Request{Purpose: "compare", Facts: &llm.Facts{Queries: []string{"3", "9", "5"}}},
			func(c llm.Choice) bool {
				var v struct{ Answer int }
				return json.Unmarshal([]byte(c.Content), &v) == nil && v.Answer == 2
			}},
		{"feedback", llm.Request{Purpose: "feedback", Facts: &llm.Facts{Queries: []string{"9"}}},
			func(c llm.Choice) bool { return strings.Contains(c.Content, `"done"`) }},
		{"judge", llm.Request{Purpose: "judge", Facts: &llm.Facts{Done: []llm.Done{query("0")}}},
			func(c llm.Choice) bool { return strings.HasSuffix(c.Content, "Points: 2/10") }},
		{"a variant", llm.Request{Purpose: "act", Facts: &llm.Facts{Tools: []string{"execute", "answer"},
			Done: []llm.Done{query("5")}, Queries: []string{"9"}}},
			func(c llm.Choice) bool { return strings.Contains(c.Content, `execute({"sparql":"9"})`) }},
		{"no variant", llm.Request{Purpose: "act", Facts: &llm.Facts{Tools: []string{"execute", "answer"},
			Done: []llm.Done{query("5")}, Queries: []string{"4"}}},
			func(c llm.Choice) bool { return strings.Contains(c.Content, `answer({"sparql":"5"})`) }},
	} {
		for _, q := range []float64{0, 0.7, 1} {
			n := 0
			for i := range 200 {
				tt.req.Subject = fmt.Sprint("question ", i)
				if tt.right(decide(t, 1, q, tt.req)) {
					n++
				}
			}
			// 20 is three standard deviations for 200 draws with probability 0.7
			if low, high := int(200*q)-20, int(200*q)+20; q == 0 && n != 0 || q == 1 && n != 200 || n < low || n > high {
				t.Errorf("%s, q = %g: %d of 200 are right", tt.name, q, n)
			}
		}
	}
}
