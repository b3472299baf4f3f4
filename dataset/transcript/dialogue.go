package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/exemplar"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Gold is the gold data for a dialogue: the gold query and the values of its answer.
type Gold struct {
	SPARQL  string
	Answers []string
}

// repeated is the notice at the end of a dialogue in which a turn was repeated.
const repeated = "Stopped because the turn was repeated."

// Dialogue writes the run as an Interactive-KBQA result file: the system message, the question, and then, alternately,
// the model's thoughts and actions, and its observations. values is the answer as a list of values ([score.Values]). It
// is written as the last observation before Done, in Python's list notation, because that is where the project's
// evaluation looks for the answer. The evaluation skips observations that contain " | " or "?e", so an answer with such
// a value is not found.
func (r *Run) Dialogue(gold Gold, values []string) ([]byte, error) {
	return indented(r.chat(gold, values))
}

// Annotation writes the run as an Interactive-KBQA annotation file: the dialogue from [Run.Dialogue], any model turns
// that a reviewer changed, and whether the question is done. A run without an answer is not done, and the reason is in
// skip_reason.
func (r *Run) Annotation(gold Gold, values []string) ([]byte, error) {
	c := r.chat(gold, values)
	done := r.Answered()
	c.Rejects, c.Done = []exemplar.Reject{}, &done
	for _, x := range r.rejects() {
		i := 2 + 2*x.step
		if x.step == len(r.Steps)-1 && r.ended() {
			i = len(c.Dialog) - 2 // after the turn that shows the answer
		}
		c.Rejects = append(c.Rejects, exemplar.Reject{Index: i, Text: x.text})
	}
	if !done && r.End != nil {
		c.Skip = strings.TrimSpace(r.End.Reason + " " + r.End.Detail)
	}
	return indented(c)
}

func indented(c *exemplar.Chat) ([]byte, error) {
	b, err := json.MarshalIndent(c, "", "  ")
	return append(b, '\n'), err
}

// reject is the model's original text for a turn that a reviewer later changed.
type reject struct {
	step int // its index in Steps
	text string
}

// rejects finds the turns on the kept path that a reviewer changed.
func (r *Run) rejects() (out []reject) {
	n, before := 0, ""
	for _, e := range event.Path(r.events, 0) {
		switch {
		case e.Event == "review" && e.Review != nil && e.Review.Verdict == event.Edited && e.Review.Before != nil:
			before = e.Review.Before.Content
			for _, c := range e.Review.Before.ToolCalls {
				before = withCall(before, c.Name, c.Arguments)
			}
		case e.Event == "step" && e.Step != nil:
			if before != "" {
				out, before = append(out, reject{n, before}), ""
			}
			n++
		}
	}
	return out
}

// ended reports whether the last step is a call that ended the run.
func (r *Run) ended() bool {
	n := len(r.Steps)
	return n > 0 && r.Steps[n-1].Observation == "" && r.Steps[n-1].Failure == ""
}

// chat returns the dialogue. The model's message for step i, counting from 0, has index 2+2i.
func (r *Run) chat(gold Gold, values []string) *exemplar.Chat {
	d := &exemplar.Chat{ID: r.ID, Question: r.Question.Text, SPARQL: gold.SPARQL, Answers: gold.Answers, Model: r.Model,
		Completion: []int{}, Prompt: []int{}}
	if d.Answers == nil {
		d.Answers = []string{}
	}
	for _, e := range r.calls {
		if e.Response != nil && e.Request != nil && slices.Contains(main, e.Request.Purpose) {
			d.Completion, d.Prompt = append(d.Completion, e.Response.Usage.OutputTokens),
				append(d.Prompt, e.Response.Usage.InputTokens)
		}
	}
	system := ""
	if e, _ := r.conversation(); e != nil && len(e.Request.Messages) > 0 {
		system = e.Request.Messages[0].Content
	}
	d.Dialog = []exemplar.ChatMessage{{Role: llm.System, Content: system},
		{Role: llm.User, Content: "Q: " + r.Question.Text}}
	turn := func(thought, action, observation string) {
		d.Dialog = append(d.Dialog, exemplar.ChatMessage{Role: llm.Assistant, Content: fmt.Sprintf("Thought: %s\nAction: %s",
			strings.Join(strings.Fields(thought), " "), action)},
			exemplar.ChatMessage{Role: llm.User, Content: observation})
	}
	var done *event.Step
	for i, s := range r.Steps {
		if i == len(r.Steps)-1 && r.ended() {
			done = &r.Steps[i]
			break
		}
		turn(s.Thought, s.Action+"("+strings.ReplaceAll(s.Argument, "\n", `\n`)+")", "Observation: "+s.Observation)
	}
	if r.Answered() {
		list := pythonList(values)
		if r.Final.Table != nil && r.Final.Table.Ask && len(values) == 1 {
			list = map[string]string{"true": "True", "false": "False"}[values[0]]
		}
		if last := d.Dialog[len(d.Dialog)-1].Content; last != "Observation: "+list {
			turn("The final query is run.", "ExecuteSPARQL("+pythonText(r.SPARQL)+")", "Observation: "+list)
		}
		thought := "This is the answer."
		if done != nil && strings.TrimSpace(done.Thought) != "" {
			thought = done.Thought
		}
		turn(thought, "Done.", exemplar.Stopped)
	} else if r.End != nil && r.End.Reason == string(event.Loop) {
		d.Dialog = append(d.Dialog, exemplar.ChatMessage{Role: llm.Assistant, Content: "Thought: \nAction: "},
			exemplar.ChatMessage{Role: llm.User, Content: repeated})
	}
	return d
}

// pythonList formats strings as Python's repr formats a list.
func pythonList(values []string) string {
	var out []string
	for _, v := range values {
		out = append(out, pythonText(v))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func pythonText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(s) + "'"
}
