package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
)

// Gold is what is right, for a dialogue: the gold query and the values of its answer.
type Gold struct {
	SPARQL  string
	Answers []string
}

// dialogue is a result file of Interactive-KBQA.
type dialogue struct {
	ID         string         `json:"id"`
	Question   string         `json:"question"`
	SPARQL     string         `json:"sparql"` // the gold query
	Answers    []string       `json:"answers"`
	Dialog     []dialogueTurn `json:"dialog"`
	Model      string         `json:"model_name"`
	Completion []int          `json:"completion_tokens"`
	Prompt     []int          `json:"prompt_tokens"`
}

type dialogueTurn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// The notices that end a dialogue.
const (
	stopped  = "Stop condition detected."
	repeated = "Stopped because the turn was repeated."
)

// Dialogue writes the run as a result file of Interactive-KBQA: system message, question, and by turns what the model
// thought and did and what it observed. values is the answer as that project counts it ([score.Values]); it is the last
// observation before Done, as Python writes a list, since its evaluation takes the answer from there. That evaluation
// passes over observations with " | " or "?e" in them: values with these do not count there.
func (r *Run) Dialogue(gold Gold, values []string) ([]byte, error) {
	d := dialogue{ID: r.ID, Question: r.Question.Text, SPARQL: gold.SPARQL, Answers: gold.Answers, Model: r.Model,
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
	if e := r.conversation(); e != nil && len(e.Request.Messages) > 0 {
		system = e.Request.Messages[0].Content
	}
	d.Dialog = []dialogueTurn{{"system", system}, {"user", "Q: " + r.Question.Text}}
	turn := func(thought, action, observation string) {
		d.Dialog = append(d.Dialog, dialogueTurn{"assistant", fmt.Sprintf("Thought: %s\nAction: %s",
			strings.Join(strings.Fields(thought), " "), action)},
			dialogueTurn{"user", observation})
	}
	var done *event.Step
	for i, s := range r.Steps {
		if i == len(r.Steps)-1 && s.Observation == "" && s.Failure == "" { // a call that ended the work
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
		turn(thought, "Done.", stopped)
	} else if r.End != nil && r.End.Reason == string(event.Loop) {
		d.Dialog = append(d.Dialog, dialogueTurn{"assistant", "Thought: \nAction: "}, dialogueTurn{"user", repeated})
	}
	b, err := json.MarshalIndent(d, "", "  ")
	return append(b, '\n'), err
}

// pythonList writes texts as Python's repr of a list.
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
