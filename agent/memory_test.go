package agent

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// A graph's responses are cached for the next question: a query is not run twice, the model is told how old the result
// is, and the answer records when the result was requested. A result that has become too old is requested again, and
// failures are not cached.
func TestMemory(t *testing.T) {
	clock := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return clock }
	asked := map[string]int{}
	fail := true
	g := &fakeGraph{query: func(q string) (*kg.Table, error) {
		asked[q]++
		if strings.Contains(q, "Q7") && fail {
			return nil, kg.Errorf(kg.QueryFailed, "broken")
		}
		return items("Q1", "Q2"), nil
	}}
	kept := tool.NewMemory(now)
	ask := func(query string) (*Outcome, *memory) {
		t.Helper()
		p := best(t)
		m := &turnModel{turns: []string{`query {"sparql": "` + query + `"}`, `finish {"answer": "These two."}`,
			`finish {"answer": "These two."}`}}
		rec := &memory{}
		out, err := New(slog.New(slog.DiscardHandler), m, Wikibase(g), now, Options{Preset: p, Memory: kept}).Ask(t.Context(),
			Question{ID: "q", Text: "Which?", Language: "en"}, rec, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return out, rec
	}
	const query = "SELECT ?x WHERE { ?x wdt:P31 wd:Q6 }"
	first, _ := ask(query)
	ran := asked[query]
	if ran == 0 || first.Answer == nil {
		t.Fatalf("the first question asked %v: %+v", asked, first)
	}
	clock = clock.Add(3 * time.Minute)
	second, rec := ask(query)
	if asked[query] != ran || !second.Answer.RanAt.Equal(first.Answer.RanAt) {
		t.Errorf("asked %d times, then %d; the answers are of %v and %v", ran, asked[query], first.Answer.RanAt,
			second.Answer.RanAt)
	}
	if text := second.Steps[len(second.Steps)-2].Observation; !strings.Contains(text, "3 minutes ago") {
		t.Errorf("the model is not told how old the result is: %s", text)
	}
	old := 0
	for _, e := range rec.events {
		if e.Call != nil && e.Call.Op == "query" && e.Call.AgeMS == 180_000 {
			old++
		}
	}
	if old == 0 {
		t.Error("the trajectory does not say that a result was kept")
	}
	clock = clock.Add(tool.MemoryAge)
	if ask(query); asked[query] == ran {
		t.Error("a result that is too old was not requested again")
	}

	const other = "SELECT ?x WHERE { ?x wdt:P31 wd:Q7 }"
	ask(other)
	broken := asked[other]
	fail = false
	if out, _ := ask(other); asked[other] == broken || out.Answer == nil {
		t.Errorf("a failure was kept: asked %d times, then %d", broken, asked[other])
	}
	const moment = "SELECT ?x WHERE { ?x wdt:P569 ?d FILTER(?d > NOW()) }"
	ask(moment)
	ran = asked[moment]
	if ask(moment); asked[moment] == ran {
		t.Error("the result of a query about the present moment was kept")
	}
}
