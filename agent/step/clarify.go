package step

import (
	"context"
	"errors"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
)

// maxClarify is the maximum number of characters in a question to the asker.
const maxClarify = 400

// Clarify has the model write a single clarifying question to the asker. It asks the asker to choose between the first
// two options or, if there is only one, to confirm the interpretation that the model chose in s. It returns "" if the
// model has nothing to ask or does not write a question. An error ends the run.
func (r *Runner) Clarify(ctx context.Context, b *event.Branch, s State, options []Option, tries int) (string, error) {
	if len(options) == 0 {
		return "", nil
	}
	lead := options[0].Answer
	data := map[string]any{"Readings": r.shownOptions(options[:min(len(options), 2)]), "Tries": tries,
		"Assumed": lead.Assumed, "Notes": s.Notes(), "Counts": []int(nil)}
	for _, x := range s.Readings(options) {
		data["Counts"] = append(data["Counts"].([]int), x.Count)
	}
	if p := s.Probed(lead); p != nil {
		var open []string
		for _, x := range p.Open {
			open = append(open, x.What)
		}
		data["Open"] = open
	}
	text, ok, err := r.Help(ctx, b, tool.Task{Purpose: "clarify", MaxTokens: 300, Data: data})
	var h *event.Halt
	if errors.As(err, &h) {
		return "", nil // nothing is asked
	}
	text = strings.TrimSpace(render.Fold(render.Clean(text)))
	if err != nil || !ok || !strings.ContainsAny(text, "?？؟;՞") {
		return "", err
	}
	return render.Clip(text, maxClarify), nil
}
