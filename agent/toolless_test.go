package agent

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// toolless is a model whose server does not support tools.
type toolless struct {
	fakeModel
	refused int
}

func (m *toolless) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if len(req.Tools) > 0 {
		m.refused++
		return nil, llm.ErrNoTools
	}
	return m.fakeModel.Complete(ctx, req)
}

// TestReplayWithoutTools checks that an engine that learned from an earlier question that the server does not support
// tools no longer sends any, and that an engine that has not learned this can still replay the run.
func TestReplayWithoutTools(t *testing.T) {
	acts := []string{do(`execute({"sparql": "` + qA + `"})`), do(`answer({"sparql": "` + qA + `", "answer": "These."})`)}
	m := &toolless{fakeModel: fakeModel{acts: append(acts, acts...)}}
	e := with(m, Wikibase(graphOfTwo()), grasp(t, func(p *preset.Preset) { p.Diagnose = true }))
	var rec *memory
	var want *Outcome
	for range 2 {
		rec = &memory{}
		out, err := e.Ask(t.Context(), Question{Text: "Who?", Language: "en"}, rec, Limits{})
		if err != nil || out.Answer == nil {
			t.Fatal(out, err)
		}
		want = out
	}
	if m.refused != 1 {
		t.Errorf("tools were sent to the server %d times", m.refused)
	}
	r, err := event.NewReplay(rec.events)
	if err != nil {
		t.Fatal(err)
	}
	got, err := with(r, Wikibase(r), grasp(t, func(p *preset.Preset) { p.Diagnose = true })).Ask(t.Context(), r.Question(),
		&memory{}, r.Limits())
	if err != nil || got.Answer == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	ignore := func(s []Step) []Step {
		for i := range s {
			s[i].Elapsed, s[i].MS = 0, 0
		}
		return s
	}
	if d := cmp.Diff(ignore(want.Steps), ignore(got.Steps)); d != "" || got.Answer.SPARQL != want.Answer.SPARQL {
		t.Error(d)
	}
}
