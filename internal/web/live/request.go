package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/render"
)

// task is GRASP's name for the task that this server performs.
const task = "sparql-qa"

// wireRequest is what a client sends. 2025 clients send question instead of input.
type wireRequest struct {
	Task     string          `json:"task"`
	Input    json.RawMessage `json:"input"`
	Question *string         `json:"question"`
	Graphs   []string        `json:"knowledge_graphs"`
	Past     *past           `json:"past"`
}

// past is the conversation so far: the messages and known IRIs from the previous output.
type past struct {
	Questions []string  `json:"questions"` // set by 2025 clients
	Messages  []message `json:"messages"`
	Known     []string  `json:"known"`
}

// request is a valid request.
type request struct {
	question agent.Question
	graphs   []string
	old      bool // the request is in the 2025 format
	past     past
}

// read parses a request. why describes what is wrong with it, or is "" if it is valid.
func (h *Handler) read(data []byte) (r *request, why string) {
	var w wireRequest
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, `the request cannot be read: want {"task":"sparql-qa","input":"…","knowledge_graphs":["…"],"past":null}`
	}
	if w.Task != "" && w.Task != task {
		return nil, fmt.Sprintf("unknown task %q: this server answers %s", render.Clip(w.Task, 40), task)
	}
	r = &request{graphs: w.Graphs, question: agent.Question{ID: "live"}}
	switch {
	case w.Question != nil && len(w.Input) == 0:
		r.old, r.question.Text = true, *w.Question
	case json.Unmarshal(w.Input, &r.question.Text) != nil:
		return nil, "input must be the question as a text"
	}
	if strings.TrimSpace(r.question.Text) == "" {
		return nil, "the question is empty"
	}
	if utf8.RuneCountInString(r.question.Text) > maxQuestion {
		return nil, fmt.Sprintf("the question has more than %d characters", maxQuestion)
	}
	if len(r.graphs) == 0 {
		r.graphs = h.Graphs[:1]
	}
	for i, g := range r.graphs {
		if !slices.Contains(h.Graphs, g) {
			return nil, fmt.Sprintf("there is no graph %q; the graphs are: %s", render.Clip(g, 40),
				strings.Join(h.Graphs, ", "))
		}
		if slices.Contains(r.graphs[:i], g) {
			return nil, fmt.Sprintf("the graph %q is listed twice", g)
		}
	}
	if w.Past != nil {
		r.past = *w.Past
		r.question.History = r.past.turns()
	}
	return r, ""
}

// message is a message in a conversation, in OpenAI's API format. Non-text content is ignored.
type message struct {
	Role       string     `json:"role"`
	Content    text       `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"` // function
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments text   `json:"arguments"`
}

// text is a JSON string; any other value is kept as its JSON text, and null becomes "".
type text string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	switch {
	case json.Unmarshal(data, &s) == nil:
		*t = text(s)
	default:
		*t = text(bytes.TrimSpace(data))
	}
	return nil
}

// Limits on earlier questions, since the prompt grows with them.
const (
	maxSteps = 30    // steps of a question
	maxText  = 4000  // maximum number of characters in a thought, an observation or a report
	maxQuery = 20000 // maximum number of characters in a query or an argument
)

// turns extracts the earlier questions from the messages: a user message starts a question, calls and their results are
// its steps, and the call to answer or cancel ends it.
func (p *past) turns() (out []agent.Turn) {
	step := map[string]int{} // index of the step that a call's result belongs to, by the call's ID
	for _, m := range p.Messages {
		if m.Role == "user" && m.Content != "" {
			out, step = append(out, agent.Turn{Question: clip(m.Content, maxText)}), map[string]int{}
			continue
		}
		if len(out) == 0 {
			continue
		}
		t := &out[len(out)-1]
		for i, c := range m.ToolCalls {
			if c.Function.end(t) || len(t.Steps) == maxSteps {
				continue
			}
			s := agent.Step{N: len(t.Steps) + 1, Action: render.Clip(c.Function.Name, 100),
				Argument: clip(c.Function.Arguments, maxQuery)}
			if i == 0 {
				s.Thought = clip(m.Content, maxText)
			}
			step[c.ID], t.Steps = len(t.Steps), append(t.Steps, s)
		}
		if i, ok := step[m.ToolCallID]; ok && m.Role == "tool" {
			t.Steps[i].Observation = clip(m.Content, maxText)
		}
	}
	if len(p.Questions) == len(out) { // necessary if a message contains more than the question
		for i, q := range p.Questions {
			out[i].Question = render.Clip(q, maxText)
		}
	}
	return out
}

// end records the answer or cancellation if the call ends a question.
func (f *function) end(t *agent.Turn) bool {
	if f.Name != "answer" && f.Name != "cancel" {
		return false
	}
	var args struct{ SPARQL, Answer, Explanation string }
	if json.Unmarshal([]byte(f.Arguments), &args) == nil {
		t.SPARQL, t.Report = render.Clip(args.SPARQL, maxQuery), render.Clip(args.Answer+args.Explanation, maxText)
	}
	return true
}

func clip(t text, most int) string { return render.Clip(string(t), most) }
