package transcript

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// graspOutput is a line in GRASP's current output files (as of its 2026 code).
type graspOutput struct {
	Type     string       `json:"type"` // output
	Task     string       `json:"task"`
	ID       string       `json:"id"`
	Output   *graspAnswer `json:"output"` // null if the run ended without an answer or a refusal
	Elapsed  float64      `json:"elapsed"`
	Error    *graspError  `json:"error"`
	Messages []message    `json:"messages"`
	Known    []string     `json:"known"`
}

type graspAnswer struct {
	Type        string  `json:"type"` // answer or cancel
	SPARQL      *string `json:"sparql"`
	KG          *string `json:"kg"`
	Answer      string  `json:"answer,omitempty"`
	Explanation string  `json:"explanation,omitempty"` // for cancel
	Selections  *string `json:"selections"`
	Result      *string `json:"result"`
	Endpoint    *string `json:"endpoint"`
	Formatted   string  `json:"formatted"`
}

type graspError struct {
	Content string `json:"content"`
	Reason  string `json:"reason"`
}

// oldGrasp is a line in GRASP's output files from 2025.
type oldGrasp struct {
	Typ       string      `json:"typ"` // output
	Task      string      `json:"task"`
	SPARQL    *string     `json:"sparql"`
	Result    *string     `json:"result"`
	Endpoint  *string     `json:"endpoint"`
	Content   string      `json:"content"`
	Elapsed   float64     `json:"elapsed"`
	Error     *graspError `json:"error"`
	Questions []string    `json:"questions"`
	Messages  []message   `json:"messages"`
	Known     []string    `json:"known"`
	ID        string      `json:"id"`
}

// task is GRASP's name for our task.
const task = "sparql-qa"

// GRASP writes the run as a line in GRASP's current output format. kg is the name of the graph that was queried.
func (r *Run) GRASP(kg string) ([]byte, error) {
	o := graspOutput{Type: "output", Task: task, ID: r.ID, Elapsed: r.Elapsed.Seconds(), Error: r.graspError(true),
		Messages: r.graspMessages(), Known: r.known()}
	switch {
	case r.Answered():
		f := r.Final
		if f.KG != "" {
			kg = f.KG
		}
		result := resultText(f)
		o.Output = &graspAnswer{Type: "answer", SPARQL: &f.Ran, KG: &kg, Answer: r.End.Report, Result: &result,
			Endpoint:  &f.Endpoint,
			Formatted: strings.TrimSpace(fmt.Sprintf("%s\n\n%s\n\n%s", r.End.Report, f.Ran, result))}
	case r.End != nil && r.End.Reason == string(event.NotFound):
		o.Output = &graspAnswer{Type: "cancel", Explanation: r.explanation(), Formatted: r.explanation()}
	}
	return line(o)
}

// GRASP2025 writes the run as a line in GRASP's 2025 output format.
func (r *Run) GRASP2025() ([]byte, error) {
	o := oldGrasp{Typ: "output", Task: task, ID: r.ID, Elapsed: r.Elapsed.Seconds(), Error: r.graspError(false),
		Messages: r.graspMessages(),
		Known:    r.known(), Questions: []string{r.Question.Text}, Content: r.explanation()}
	if r.Answered() {
		result := resultText(r.Final)
		o.SPARQL, o.Result, o.Endpoint, o.Content = &r.Final.Ran, &result, &r.Final.Endpoint, r.End.Report
	}
	return line(o)
}

func (r *Run) explanation() string {
	if r.End == nil {
		return ""
	}
	if r.End.Report != "" {
		return r.End.Report
	}
	return r.End.Detail
}

// graspError returns a failure that causes GRASP's evaluation to skip the output: a service failure or, in the current
// format, a loop or a time limit.
func (r *Run) graspError(today bool) *graspError {
	if r.End == nil {
		return &graspError{"the run was cut off", "api"}
	}
	reason := ""
	switch end := r.End.Ending(); {
	case end.ServiceFailed():
		reason = "api"
	case today && end.Reason == event.OutOfTime:
		reason = "timeout"
	case today && end.Reason == event.Loop:
		reason = "loop"
	}
	if reason == "" {
		return nil
	}
	return &graspError{r.End.Detail, reason}
}

// resultRows is the number of rows shown in the text of a result: half from the start and half from the end.
var resultRows = render.Window{Whole: 10, Head: 5, Tail: 5}

func resultText(f *event.Event) string {
	if f.Table == nil {
		return ""
	}
	return resultRows.Table(f.Table, render.Names{})
}

// graspMessages returns the messages, with calls in the format that GRASP's programs expect. If the run used the text
// protocol, its steps are written as calls.
func (r *Run) graspMessages() []message {
	ms := r.messages()
	native := slices.ContainsFunc(ms, func(m message) bool { return len(m.ToolCalls) > 0 })
	if native || len(ms) < 2 || len(r.Steps) == 0 {
		return nonNil(ms)
	}
	ms = ms[:2:2]
	for _, s := range r.Steps {
		thought, observation, id := s.Thought, s.Observation, fmt.Sprintf("call_%d", s.N)
		args, err := line(map[string]string{"argument": s.Argument})
		if err != nil {
			args = []byte("{}") // encoding strings cannot fail
		}
		ms = append(ms, message{Role: "assistant", Content: &thought, ToolCalls: []toolCall{{ID: id, Type: "function",
			Function: function{s.Action, strings.TrimSpace(string(args))}}}},
			message{Role: "tool", Content: &observation, ToolCallID: id})
	}
	return ms
}

func nonNil(ms []message) []message {
	if ms == nil {
		return []message{}
	}
	return ms
}

var angleIRI = regexp.MustCompile(`<(https?://[^<>"{}|\\^` + "`" + `\s]+)>`)

// known returns the IRIs that the model was shown, sorted.
func (r *Run) known() []string {
	seen := map[string]bool{}
	for _, s := range r.Steps {
		for _, id := range render.IDs(s.Observation) {
			seen["<"+rdf.Entity+id+">"] = true
		}
		for _, m := range angleIRI.FindAllString(s.Observation, -1) {
			seen[m] = true
		}
	}
	out := make([]string, 0, len(seen))
	for iri := range seen {
		out = append(out, iri)
	}
	slices.Sort(out)
	return out
}
