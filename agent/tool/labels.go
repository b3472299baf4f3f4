package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// LabelsName is the action that shows labels in any language.
const LabelsName = "labels"

// Limits of labels.
const (
	maxLabelIDs   = 50
	maxLanguages  = 12
	labelsOfOne   = 20 // labels shown per entity if the call does not name a language
	maxLabelChars = 120
)

type labelsArgs struct {
	IDs       []string  `json:"ids" about:"items, properties or other entities"`
	Languages *[]string `json:"languages" about:"language codes; all languages when left out"`
	KG        *string   `json:"kg" about:"name of the graph, when there are several"`
}

var labelsTool = typed(&Tool{Name: LabelsName, Text: "labels.md", FromText: arguments("ids...")}, labels)

// labels implements labels(ids, languages). It shows every label with its language, and lists the IDs without a label.
func labels(ctx context.Context, env *Env, a labelsArgs) (Result, error) {
	env, err := env.at(a.KG)
	if err != nil {
		return wrong(err)
	}
	switch {
	case len(a.IDs) == 0:
		return wrong(errors.New("ids is empty"))
	case len(a.IDs) > maxLabelIDs:
		return wrong(fmt.Errorf("%d ids are too many, at most %d are allowed", len(a.IDs), maxLabelIDs))
	}
	var languages []string
	if a.Languages == nil {
		a.Languages = &[]string{}
	}
	for _, l := range *a.Languages {
		if !sparql.IsLanguageCode(l) {
			return wrong(fmt.Errorf("%q is not a language code; use codes such as en or pt-br", render.Clip(l, 30)))
		}
		languages = append(languages, strings.ToLower(l))
	}
	if len(languages) > maxLanguages {
		return wrong(fmt.Errorf("%d languages are too many, at most %d are allowed", len(languages), maxLanguages))
	}
	iris := make([]string, len(a.IDs))
	for i, id := range a.IDs {
		if iris[i], err = env.iriOf(id); err != nil {
			return wrong(err)
		}
	}
	found, err := shape.LabelsIn(ctx, &env.Source.Explain, env.Graph.Query, iris, languages)
	if err != nil {
		return env.failed(ctx, err)
	}
	var lines []string
	for _, iri := range iris {
		id, texts := shape.ID(&env.Source.Explain, iri), found[iri]
		for i, t := range texts {
			texts[i] = render.Clip(render.Fold(t), maxLabelChars)
		}
		switch {
		case len(texts) == 0 && len(languages) > 0:
			lines = append(lines, say("labels_none_in", map[string]any{"ID": id, "Languages": strings.Join(languages, ", ")}))
		case len(texts) == 0:
			lines = append(lines, say("no_label", id))
		default:
			lines = append(lines, id+": "+mostOf(texts, labelsOfOne))
		}
	}
	return Result{Text: strings.Join(lines, "\n")}, nil
}
