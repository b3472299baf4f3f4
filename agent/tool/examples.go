package tool

import (
	"context"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// ExamplesName is the action that shows how a property is used.
const ExamplesName = "get_property_examples"

var examplesTool = onInput(&Tool{Name: ExamplesName, Text: "examples.md", Input: "property",
	about: "a property, such as P31"}, idKey, examples)

// examples implements get_property_examples(P number). It shows the property's own examples (P1855). Unlike SPINACH's,
// they include IDs.
func examples(ctx context.Context, env *Env, argument string) (Result, error) {
	id := env.nodeID(argument)
	if id == "" || env.Dialect.wikibase() && !strings.HasPrefix(id, "P") {
		return Result{Text: say("no_number", map[string]any{"Argument": render.Clip(argument, 100),
			"Search": SearchName, "What": "a property", "Example": env.exampleID("P31")}), Failure: kg.BadID}, nil
	}
	list, err := env.Graph.Examples(ctx, id, env.Language.Code)
	if kg.KindOf(err) == kg.NotFound {
		return Result{Text: say("not_found", map[string]any{"ID": id, "Search": SearchName}), Failure: kg.NotFound}, nil
	}
	if err != nil {
		return env.failed(ctx, err)
	}
	if len(list) == 0 {
		return Result{Text: say("examples_none", map[string]any{"ID": id})}, nil
	}
	name := render.Labelled(id, env.LabelsOf(ctx, []string{id})[id])
	return Result{Text: examplesText(name, list, env.Show.Examples)}, nil
}

// examplesText formats at most n examples as "subject (Q number) -- property (P number) --> value", one per line.
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
