package agent

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/preset"
)

// TestBare checks that the baseline preset runs queries and answers, with and without native tools, and that it gets no
// help: it has no other tools, is not told why a result is empty, and may repeat an action.
func TestBare(t *testing.T) {
	s := Wikibase(graspGraph(t, ""))
	const empty, query = `{"sparql": "SELECT ?c { wd:Q142 wdt:P36 ?c . ?c wdt:P40 wd:Q90 }"}`,
		`{"sparql": "SELECT ?c WHERE { wd:Q142 wdt:P36 ?c }"}`
	seen := map[string]string{}
	for _, name := range []string{"bare", "grasp-base"} {
		p, err := preset.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		out, m := playGrasp(t, s, p, "TOOL execute "+empty, graspQuery, graspQuery, graspAnswer)
		if out.Answer == nil || len(out.Steps) != 4 || len(m.requests[0].Tools) != 3 {
			t.Fatalf("%s: %+v", name, out)
		}
		seen[name] = out.Steps[0].Observation
	}
	if !strings.Contains(seen["grasp-base"], "wdt:P40") || strings.Contains(seen["bare"], "wdt:P40") {
		t.Errorf("an empty result, bare: %s\nwith a reason: %s", seen["bare"], seen["grasp-base"])
	}
	p, err := preset.Named("bare")
	if err != nil {
		t.Fatal(err)
	}
	m := &toolless{fakeModel: fakeModel{acts: []string{do("execute(" + query + ")"), do("answer(" +
		strings.TrimPrefix(graspAnswer, "TOOL answer ") + ")")}}}
	out, err := with(m, s, p).Ask(t.Context(), Question{Text: "What is the capital of France?", Language: "en"}, nil,
		Limits{})
	if err != nil || out.Answer == nil || m.refused != 1 {
		t.Errorf("without tools: %+v, %v", out, err)
	}
}
