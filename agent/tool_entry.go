package agent

import (
	"context"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

const (
	maxPageForModel = 60_000 // bytes of a page that are given to the model for pruning; a longer one is pruned by words first
	maxLeftOut      = 30     // names of left-out properties shown
	maxCutNamed     = 10     // properties named of which values are left out
)

// entry carries out get_wikidata_entry(Q number): the page, pruned by the model to what matters for the question (SPINACH paper, section 4.1, prompt 13), or
// by words in common with the question when the model fails or answers with something that is no part of the page. A short page is shown whole.
func (r *run) entry(ctx context.Context, argument string) (result, error) {
	id := render.ID(argument)
	if id == "" {
		return result{text: say("no_number", map[string]any{"Argument": render.Clip(argument, 100), "What": "an item or property", "Example": "Q42"}), failure: kg.BadID}, nil
	}
	e, err := r.graph.Entity(ctx, id, r.lang.code)
	if kg.KindOf(err) == kg.NotFound {
		return result{text: say("not_found", map[string]any{"ID": id}), failure: kg.NotFound}, nil
	}
	if err != nil {
		return r.failed(ctx, err)
	}
	heading := hitText(kg.Hit{ID: e.ID, Label: e.Label, Description: e.Description, Datatype: e.Datatype})
	whole := render.NewPage(e, r.labels != nil)
	if whole.Empty() {
		return result{text: say("entry_empty", map[string]any{"Heading": heading})}, nil
	}
	pruned, err := r.prune(ctx, e, whole)
	if err != nil {
		return result{}, err
	}
	lines := []string{heading, pruned.String()}
	if e.ID != id {
		lines = append(lines, say("entry_redirect", map[string]any{"From": id, "To": e.ID}))
	}
	if cut := pruned.Cut(whole); len(cut) > 0 {
		shown := cut[:min(len(cut), maxCutNamed)]
		lines = append(lines, say("entry_cut", map[string]any{"List": strings.Join(shown, "; "), "More": len(cut) - len(shown)}))
	}
	if names := pruned.LeftOut(whole); len(names) > 0 {
		shown := names[:min(len(names), maxLeftOut)]
		lines = append(lines, say("entry_left_out", map[string]any{"Names": strings.Join(shown, ", "), "More": len(names) - len(shown)}))
	}
	return result{text: strings.Join(lines, "\n")}, nil
}

// prune shortens a page to what matters for the question.
func (r *run) prune(ctx context.Context, e *kg.Entity, whole render.Page) (render.Page, error) {
	text := whole.String()
	if len(text) <= r.opts.PruneOver {
		return whole, nil
	}
	given := whole
	if len(text) > maxPageForModel {
		given = render.PruneByWords(whole, r.q.Text)
		text = given.String()
	}
	user := llm.Message{Role: llm.User, Content: say("prune_user", map[string]any{"Question": r.q.Text, "Language": r.lang.name, "Earlier": r.questionsBefore(),
		"ID": e.ID, "Label": e.Label, "Page": text})}
	answer, ok, err := r.help(ctx, "prune", e.ID, 2000, system("prune", nil), user)
	if err != nil {
		return render.Page{}, err
	}
	if ok {
		pruned, unknown, fits := render.PruneByAnswer(given, answer)
		if unknown > 0 {
			r.lg.Info("agent: pruning named what is not on the page, left out", "question", r.q.ID, "entity", e.ID, "unknown", unknown)
		}
		if fits {
			return pruned, nil
		}
	}
	return render.PruneByWords(whole, r.q.Text), nil
}

// questionsBefore are the earlier turns without their steps: pruning needs to know what "they" means, not how it was found.
func (r *run) questionsBefore() []Turn {
	out := make([]Turn, len(r.q.History))
	for i, t := range r.q.History {
		out[i] = Turn{Question: t.Question, SPARQL: t.SPARQL}
	}
	return out
}
