package agent

import (
	"context"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// examples carries out get_property_examples(P number): the property's own examples (P1855), with numbers, unlike SPINACH's (systems.md E.2, 5).
func (r *run) examples(ctx context.Context, argument string) (result, error) {
	id := render.ID(argument)
	if !strings.HasPrefix(id, "P") {
		return result{text: say("no_number", map[string]any{"Argument": render.Clip(argument, 100), "What": "a property", "Example": "P31"}), failure: kg.BadID}, nil
	}
	list, err := r.graph.Examples(ctx, id, r.lang.code)
	if kg.KindOf(err) == kg.NotFound {
		return result{text: say("not_found", map[string]any{"ID": id}), failure: kg.NotFound}, nil
	}
	if err != nil {
		return r.failed(ctx, err)
	}
	if len(list) == 0 {
		return result{text: say("examples_none", map[string]any{"ID": id})}, nil
	}
	name := render.Labelled(id, r.labelsOf(ctx, []string{id})[id])
	return result{text: examplesText(name, list, r.preset.maxExamples)}, nil
}

// examplesText writes "subject (Q number) -- property (P number) --> value", one a line, at most n.
func examplesText(name string, list []kg.Example, n int) string {
	var lines []string
	for _, x := range list[:min(n, len(list))] {
		lines = append(lines, render.Labelled(x.Subject.ID, x.Subject.Label)+" -- "+name+" --> "+render.Value(x.Value))
	}
	if len(list) > n {
		lines = append(lines, say("examples_more", map[string]any{"Total": len(list), "Shown": n}))
	}
	return strings.Join(lines, "\n")
}
