package evalrun

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/text"
)

//go:embed prompts/classify.tmpl
var classifyPrompt string

// classifyRequest returns the request to a model about an incorrectly answered item.
func classifyRequest(it *ItemData) llm.Request {
	tag := func(name, body string, n int) string {
		lines := strings.Split(body, "\n") // line breaks end comments in queries
		for i := range lines {
			lines[i] = plain(lines[i])
		}
		return "<" + name + ">\n" + text.EscapeTags(text.Clip(strings.Join(lines, "\n"), n)) + "\n</" + name + ">\n"
	}
	rows := func(raw json.RawMessage) string { return strings.ReplaceAll(string(raw), rdf.Entity, "") }
	said := tag("question", it.Question, 2000) + tag("right_query", it.GoldSPARQL, 4000) +
		tag("right_result", rows(it.Gold), 1500) +
		tag("answered_query", it.SPARQL, 4000) + tag("answered_result", rows(it.Result.Result), 1500) +
		fmt.Sprintf("The right result has %d rows, the answer's %d.\n", rowCount(it.Gold), rowCount(it.Result.Result))
	return llm.Request{Purpose: "classify", MaxTokens: 300, JSON: true,
		Messages: []llm.Message{{Role: llm.System, Content: classifyPrompt}, {Role: llm.User, Content: said}}}
}

// ClassifyByModel asks a model for the class of the error in an item's answer. If the response cannot be read, it
// returns rules, the rules' verdict. An error means that the model failed.
func ClassifyByModel(ctx context.Context, m agent.Model, it *ItemData, rules Verdict) (Verdict, error) {
	req := classifyRequest(it)
	resp, err := m.Complete(ctx, req)
	if err != nil {
		return rules, fmt.Errorf("item %s: %w", it.ID, err)
	}
	said := resp.Text()
	var v Verdict
	i, j := strings.IndexByte(said, '{'), strings.LastIndexByte(said, '}')
	if i < 0 || j < i || json.Unmarshal([]byte(said[i:j+1]), &v) != nil {
		return rules, nil
	}
	if v.Class = Class(strings.ToLower(strings.TrimSpace(string(v.Class)))); !slices.Contains(Classes, v.Class) {
		return rules, nil
	}
	return Verdict{ID: it.ID, Class: v.Class, Why: text.Clip(text.Fold(plain(v.Why)), 300), By: "model",
		Of: requestHash(req)}, nil
}

// requestHash returns a hash that identifies a request, so that the model is asked again if the answer or the prompt
// changes.
func requestHash(req llm.Request) string {
	said := Settings{}
	for _, m := range req.Messages {
		said[string(m.Role)] = m.Content
	}
	return said.Fingerprint()
}

// Verdicts maps item IDs to the classes of a run's errors.
type Verdicts map[string]Verdict

const classesFile = "classes.jsonl"

// Judge classifies the run's wrong answers, as determined by a metric. If m is not nil, it asks m once per wrong
// answer and keeps the result in the run's folder. If an item has no answer, the model has nothing to compare, so the
// rules' class is kept.
func (r *RunData) Judge(ctx context.Context, metric string, m agent.Model) (Verdicts, error) {
	out := Verdicts{}
	kept := map[string]Verdict{}
	path := folder(r.Dir).path(classesFile)
	if m != nil {
		// If the file is missing or incomplete, the model is merely asked again.
		_ = readLines(path, func(_ int, text []byte) error {
			var v Verdict
			if json.Unmarshal(text, &v) == nil {
				kept[v.ID] = v
			}
			return nil
		})
	}
	var failed error
	for i := range r.Items {
		it := &r.Items[i]
		events, err := r.Trajectory(it)
		if err != nil {
			return nil, err
		}
		v, ok := Classify(it, metric, stepsOf(events))
		if !ok {
			continue
		}
		out[it.ID] = v
		if m == nil || !it.Answered {
			continue
		}
		if k, had := kept[it.ID]; had && k.Of == requestHash(classifyRequest(it)) {
			out[it.ID] = k
		} else if failed == nil {
			if v, failed = ClassifyByModel(ctx, m, it, v); failed == nil && v.By == "model" {
				kept[it.ID], out[it.ID] = v, v
			}
		}
	}
	if len(kept) == 0 {
		return out, failed
	}
	var b strings.Builder
	for _, id := range sortedKeys(kept) {
		if err := encode(&b, kept[id], ""); err != nil {
			return out, err
		}
	}
	return out, errors.Join(failed, folder(r.Dir).write([]byte(b.String()), classesFile))
}
