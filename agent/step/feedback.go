package step

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Verdict is a judge's verdict on an answer.
type Verdict struct {
	Status string // done, refine or retry
	Text   string
}

// The statuses of a [Verdict].
const (
	Done   = "done"   // the answer is kept
	Refine = "refine" // the answer is almost right
	Retry  = "retry"  // the answer is wrong
)

// judged has a judge examine the end of an exploration if the preset requests feedback (GRASP-F). The judge is the
// same model in a new conversation. The child is either an end or a state in which the model is told what to improve.
// If the judge fails or its response cannot be read, the end is unchanged.
func (r *Runner) judged(ctx context.Context, b *event.Branch, s State, f Final) (Child, error) {
	end := Child{State: s, Outcome: Ended, Final: &f}
	if s.feedbacks >= r.Preset.Feedback.Rounds {
		return end, nil
	}
	v, err := r.verdict(ctx, b, s, f)
	s.at = b.At()
	if v != nil && s.verdict == nil {
		s.verdict = v
	}
	end.State = s
	if err != nil || v == nil || v.Status == Done || r.Check(s) != nil {
		return end, err
	}
	s.feedbacks++
	s.rejected = f.Answer
	s, last := s.changed(len(s.steps) - 1)
	last.notes = append(slices.Clip(last.notes), r.say("feedback_given", *v))
	s = r.seeing(s, v.Text, nil)
	return Child{State: s}, nil
}

// verdict asks the judge for its verdict. It returns nil if there is none. An error ends the run.
func (r *Runner) verdict(ctx context.Context, b *event.Branch, s State, f Final) (*Verdict, error) {
	data := map[string]any{"Question": r.Question.Text, "Earlier": r.questionsBefore(), "Language": r.Language.Name,
		"Text": f.Text, "Why": f.Ending.Detail, "SPARQL": ""}
	a := f.Answer
	if a == nil {
		a = f.Attempt
	}
	data["Answered"] = f.Answer != nil
	if a != nil {
		data["KG"], data["SPARQL"], data["Result"] = a.KG, a.SPARQL, ""
		if a.Table != nil {
			data["Result"] = r.Preset.Show.Rows.Table(a.Table, a.Names())
		}
		data["Names"] = a.named()
	}
	facts := r.Facts(s)
	if a != nil {
		facts.Queries = []string{a.Ran}
	}
	req := llm.Request{Purpose: "feedback", Facts: facts, Part: strconv.Itoa(s.feedbacks + 1),
		MaxTokens: r.Preset.Sampling.MaxTokens, Temperature: r.Preset.Sampling.Temperature, TopP: r.Preset.Sampling.TopP}
	judge := tool.Feedback()
	resp, err := r.judge(ctx, b, req, judge, data)
	if event.IsWriteError(err) {
		return nil, err
	}
	if err != nil {
		r.Log.InfoContext(ctx, "agent: no feedback, keeping the answer", "question", r.Question.ID, "err", err)
		return nil, nil
	}
	v := readVerdict(resp, judge)
	if v == nil {
		r.Log.InfoContext(ctx, "agent: the feedback cannot be read, keeping the answer", "question", r.Question.ID)
		return nil, nil
	}
	return v, b.Record(ctx, event.Event{Event: "feedback", Reason: v.Status, Detail: v.Text})
}

// judge asks the model to call a single tool, in a separate conversation. The prompts are the preset's PURPOSE.tmpl and
// PURPOSE_user. If the server does not support tool calls, the model is asked for the call's arguments as JSON.
func (r *Runner) judge(ctx context.Context, b *event.Branch, req llm.Request, t *tool.Tool,
	data map[string]any) (*llm.Response, error) {
	if n, native := r.speak().(protocol.Native); native {
		req.Tools = []llm.Tool{{Name: t.Name, Description: t.Describe(r.Preset.Show),
			Parameters: t.Parameters(n.Strict, len(r.Sources)), Strict: n.Strict}}
		req.ToolChoice = llm.ToolChoice(t.Name)
	}
	data["Native"], data["Schema"] = len(req.Tools) > 0, string(t.Schema)
	return r.complete(ctx, b, req, func(bool) []llm.Message {
		return []llm.Message{{Role: llm.System, Content: r.Preset.Say(req.Purpose+".tmpl", data)},
			{Role: llm.User, Content: r.Preset.Say(req.Purpose+"_user", data)}}
	})
}

// named returns the IDs in the answer with their labels.
func (a *Answer) named() []string {
	var names []string
	for _, id := range slices.Sorted(maps.Keys(a.Labels)) {
		names = append(names, render.Labelled(id, a.Labels[id]))
	}
	return names[:min(len(names), maxNamed)]
}

// maxNamed is the maximum number of labels shown to the judge.
const maxNamed = 40

// readVerdict parses the verdict in the judge's call or in a JSON object in its text. It returns nil if there is
// none.
func readVerdict(resp *llm.Response, judge *tool.Tool) *Verdict {
	var v struct{ Status, Feedback string }
	if !readCall(resp, judge, &v) {
		return nil
	}
	return &Verdict{v.Status, render.Clip(strings.TrimSpace(render.Clean(v.Feedback)), maxFeedback)}
}

// readCall decodes the arguments of the judge's call, or a JSON object in its text, into v.
func readCall(resp *llm.Response, judge *tool.Tool, v any) bool {
	if len(resp.Choices) == 0 {
		return false
	}
	var written []string
	for _, c := range resp.Choices[0].ToolCalls {
		written = append(written, c.Arguments)
	}
	text := resp.Choices[0].Content
	if i, j := strings.Index(text, "{"), strings.LastIndex(text, "}"); i >= 0 && i < j {
		written = append(written, text[i:j+1])
	}
	for _, w := range written {
		if judge.Check(json.RawMessage(w)) != nil {
			continue
		}
		if json.Unmarshal([]byte(w), v) == nil {
			return true
		}
	}
	return false
}

// maxFeedback is the maximum number of characters of a judge's feedback that are kept.
const maxFeedback = 4000

// Verdict returns the first verdict on an answer, or nil if there was none.
func (s State) Verdict() *Verdict { return s.verdict }

// Rejected returns the last answer that a judge rejected, or nil if there was none.
func (s State) Rejected() *Answer { return s.rejected }
