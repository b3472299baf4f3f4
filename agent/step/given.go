package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
)

// Give runs a call that the model did not make and adds it to the state as if the model had made it. Presets use this
// to add something to the conversation before the model's first turn. The call is not counted as one of the model's
// actions, and the tool need not belong to the preset. If change is not nil, it may modify the tool's environment. If
// the graph fails, nothing is added, and the run continues without the call.
func (r *Runner) Give(ctx context.Context, s State, t *tool.Tool, args any, change func(*tool.Env)) (State, error) {
	raw, err := render.JSON(args)
	if err != nil {
		return s, fmt.Errorf("giving %s: %w", t.Name, err)
	}
	b := r.Events.Branch(s.at)
	env := r.env(b, s)
	if change != nil {
		change(env)
	}
	s.turns++
	turn := protocol.Turn{Thought: r.say("given_"+t.Name, nil)}
	next, res, err := r.perform(ctx, b, s, env, turn, protocol.Call{ID: fmt.Sprintf("given_%d", s.turns), Tool: t,
		Args:  raw,
		Shown: t.Shown(raw)})
	if err != nil {
		return s, err
	}
	if res.Failure != "" {
		r.Log.InfoContext(ctx, "agent: a lookup failed, continuing without it", "question", r.Question.ID, "tool", t.Name,
			"failure", res.Failure)
		s.at = next.at
		return s, nil
	}
	next, last := next.changed(len(next.steps) - 1)
	last.given = true
	next.messages += 2
	next.granted++
	next.actions++
	return next, nil
}

// Begin adds to the conversation what the preset shows the model before its first turn: similar solved questions, and
// the entities and relations named in the question.
func (r *Runner) Begin(ctx context.Context, s State) (State, error) {
	if r.Preset.Rules.Beforehand {
		tools, err := tool.Select([]string{tool.BeforehandName})
		if err != nil {
			return s, err
		}
		given := *tools[0]
		if o := r.Question.Opening; o != nil && o.Looked != "" { // looked up when the post was judged
			given.Run = func(context.Context, *tool.Env, json.RawMessage) (tool.Result, error) {
				return tool.Result{Text: o.Looked}, nil
			}
		} else if o != nil && o.Turn != nil {
			return s, nil // the graph failed when the post was judged
		}
		if s, err = r.Give(ctx, s, &given, map[string]any{}, nil); err != nil {
			return s, err
		}
	}
	x := r.Preset.Examples
	if x.N <= 0 || x.Force == "" {
		return s, nil
	}
	if r.Sources.Main().Examples == nil {
		r.Log.InfoContext(ctx, "agent: there are no solved questions to show", "question", r.Question.ID)
		return s, nil
	}
	tools, err := tool.Select([]string{x.Force})
	if err != nil {
		return s, err
	}
	args := map[string]any{}
	if in := tools[0].Input; in != "" { // the other tools do not take text
		args[in] = r.Question.Text
	}
	args["kg"] = r.Sources.Main().Name()
	return r.Give(ctx, s, tools[0], args, func(env *tool.Env) { env.Show.Examples = x.N })
}

// analysis is the model's analysis of a question, as in SPARQL-LLM.
type analysis struct {
	Intent   string   `json:"intent"`
	Classes  []string `json:"extracted_classes"`
	Entities []string `json:"extracted_entities"`
	// SPARQL-LLM does not have this field. Without it, a property that belongs to none of the classes found would never be
	// shown.
	Relations []string `json:"extracted_relations"`
	Steps     []string `json:"question_steps"`
}

// Limits on how much of an analysis is used.
const (
	maxParts    = 8   // parts of each kind
	maxPartText = 200 // characters of a part
)

// Retrieve looks up what a query needs: solved questions, the entities named in the question, and classes. Anything
// that cannot be fetched is omitted and logged.
func (r *Runner) Retrieve(ctx context.Context, s State) (State, error) {
	g, main := r.Preset.Generate, r.Sources.Main()
	a, s, err := r.analyze(ctx, s)
	if err != nil {
		return s, err
	}
	type lookup struct {
		name  string
		texts []string
		do    bool
		lacks string
	}
	names, classes := a.Entities, a.Classes
	if main.Shapes == nil { // without shapes, classes are treated like other entities
		names = append(slices.Clip(names), a.Classes...)
	}
	if len(classes) == 0 {
		classes = []string{r.Question.Text}
	}
	for _, l := range []lookup{
		{tool.RetrieveExamplesName, append([]string{r.Question.Text}, a.Steps...), g.Examples > 0 && main.Examples != nil,
			"solved questions"},
		{tool.RetrieveEntitiesName, names, g.Entities > 0 && len(names) > 0, ""},
		{tool.RetrievePropertiesName, a.Relations, g.Entities > 0 && len(a.Relations) > 0, ""},
		{tool.RetrieveClassesName, classes, g.Classes > 0 && main.Shapes != nil, "classes"},
	} {
		if !l.do {
			if l.lacks != "" {
				r.Log.InfoContext(ctx, "agent: the query is written without "+l.lacks, "question", r.Question.ID)
			}
			continue
		}
		tools, err := tool.Select([]string{l.name})
		if err != nil {
			return s, err
		}
		if s, err = r.Give(ctx, s, tools[0], tool.RetrieveArgs{Texts: l.texts}, nil); err != nil {
			return s, err
		}
	}
	return s, nil
}

// analyze asks the model to break the question into parts. If its response cannot be read, the question is looked up as
// a whole.
func (r *Runner) analyze(ctx context.Context, s State) (analysis, State, error) {
	var a analysis
	if !r.Preset.Generate.Analyze {
		return a, s, nil
	}
	b := r.Events.Branch(s.at)
	text, ok, err := r.Help(ctx, b, tool.Task{Purpose: "analyze", MaxTokens: 1500, JSON: true})
	s.at = b.At()
	if err != nil || !ok {
		return a, s, err
	}
	from, to := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if from < 0 || to < from || json.Unmarshal([]byte(text[from:to+1]), &a) != nil {
		r.Log.InfoContext(ctx, "agent: the question's analysis cannot be read, continuing without it", "question", r.Question.ID)
		return analysis{}, s, nil
	}
	for _, list := range []*[]string{&a.Classes, &a.Entities, &a.Relations, &a.Steps} {
		*list = parts(*list)
	}
	return a, s, nil
}

// parts cleans up a list in an analysis: it removes empty and duplicate strings, and limits their number and length.
func parts(list []string) (out []string) {
	seen := map[string]bool{}
	for _, t := range list {
		if t = render.Clip(render.Fold(t), maxPartText); t != "" && !seen[t] && len(out) < maxParts {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// finish publishes the last query in s, which returned a result, as the answer. If it cannot be published, the model is
// told why and continues.
func (r *Runner) finish(ctx context.Context, b *event.Branch, s State, turn protocol.Turn) (Child, error) {
	i := len(s.steps) - 1
	answer, err := r.publish(ctx, b, s, s.steps[i].query, s.steps[i].KG)
	s.at = b.At()
	var u *unfit
	if errors.As(err, &u) {
		var k *kept
		s, k = s.changed(i)
		k.unfit, k.result = u.text, false
		k.notes = append(slices.Clip(k.notes), r.say("unfit_last", u.text))
		return Child{State: s}, nil
	}
	if err != nil {
		return Child{}, err
	}
	s.unseen = s.steps[i].unseen
	return Child{State: s, Outcome: Ended, Final: &Final{Answer: answer, Text: turn.Thought}}, nil
}

// GaveUp ends a run whose attempts are used up, with a fixed message.
func (r *Runner) GaveUp(s State, f Final) Final {
	if f.Ending.Reason != event.OutOfActions {
		return f
	}
	f.Ending = event.Ending{Reason: event.NotFound, Detail: r.say("gave_up_detail", len(s.steps)-s.given())}
	f.Text = r.say("gave_up", nil)
	return f
}

// Given returns the observation of the first step that the model did not request, or "" if there is none.
func (s State) Given() string {
	for _, k := range s.steps {
		if k.given {
			return k.Observation
		}
	}
	return ""
}

// given returns how many of the state's steps the model did not request.
func (s State) given() (n int) {
	for _, k := range s.steps {
		if k.given {
			n++
		}
	}
	return n
}
