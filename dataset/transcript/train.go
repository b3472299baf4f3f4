package transcript

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/exemplar"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Provenance describes the source of a line of training data.
type Provenance struct {
	ID       string    `json:"id,omitempty"` // of the question
	File     string    `json:"file,omitempty"`
	License  string    `json:"licence,omitempty"`
	Preset   string    `json:"preset,omitempty"` // "" if the dialogue is from another program
	Model    string    `json:"model,omitempty"`
	Endpoint string    `json:"endpoint,omitempty"` // endpoint that ran the answer's query
	Time     time.Time `json:"time,omitzero"`      // start of the run
	// the run ended with a query that returned rows, whether right or wrong
	Answered   bool     `json:"answered"`
	Confidence float64  `json:"confidence"`
	F1         *float64 `json:"f1,omitempty"`       // F1 of the answer against the gold result, if scored
	Measure    string   `json:"measure,omitempty"`  // the measure used to compute F1
	Examples   []string `json:"examples,omitempty"` // IDs of solved questions that the model was shown
}

func (r *Run) provenance(file string) Provenance {
	p := Provenance{ID: r.ID, File: file, Preset: r.Preset, Model: r.Model, Time: r.Started.UTC(), Answered: r.Answered(),
		License: r.License, F1: r.F1, Measure: r.By}
	if r.Final != nil {
		p.Endpoint = r.Final.Endpoint
	}
	if r.End != nil {
		p.Confidence = r.End.Confidence
	}
	for _, x := range r.Examples {
		p.Examples = append(p.Examples, x.ID)
	}
	return p
}

// openAI is a line of training data in OpenAI's format for fine-tuning chat models with tools.
type openAI struct {
	Messages []message    `json:"messages"`
	Tools    []openAITool `json:"tools,omitempty"`
	Parallel *bool        `json:"parallel_tool_calls,omitempty"`
	Metadata Provenance   `json:"metadata"`
}

type openAITool struct {
	Type     string         `json:"type"` // function
	Function openAIFunction `json:"function"`
}

type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      bool            `json:"strict,omitempty"`
}

// OpenAI writes the run as a line for fine-tuning in OpenAI's format: the messages in the last call to the model
// about the question, as sent, with the model's response and the tools that it was offered. Turns that were rejected
// or could not be parsed are left out. file is the name of the trajectory. OpenAI returns nil for a run that never
// called the model.
func (r *Run) OpenAI(file string) ([]byte, error) {
	e, _ := r.conversation()
	if e == nil {
		return nil, nil
	}
	o := openAI{Messages: r.messages(), Metadata: r.provenance(file)}
	for _, t := range e.Request.Tools {
		o.Tools = append(o.Tools, openAITool{"function", openAIFunction{t.Name, t.Description, t.Parameters, t.Strict}})
	}
	if len(o.Tools) > 0 {
		several := !e.Request.OneToolCall
		o.Parallel = &several
	}
	return line(o)
}

// sft is a line of supervised training data in a tool-independent format.
type sft struct {
	Dialogue []sftTurn  `json:"dialogue"`
	SPARQL   string     `json:"sparql,omitempty"` // of the answer
	Source   Provenance `json:"source"`
}

type sftTurn struct {
	Role  string `json:"role"` // system, user, assistant or observation
	Text  string `json:"text"`
	Learn bool   `json:"learn"` // the loss is computed only over these turns
}

// SFT writes the run as a text dialogue that marks the turns to train on, namely the model's own. A native call is
// written as readable text, "name(arguments)". See [Run.OpenAI] for the meaning of file and of a nil result.
func (r *Run) SFT(file string) ([]byte, error) {
	e, _ := r.conversation()
	if e == nil {
		return nil, nil
	}
	o := sft{SPARQL: r.SPARQL, Source: r.provenance(file)}
	first := true
	for _, m := range r.messages() {
		t := sftTurn{Role: m.Role, Learn: m.Role == llm.Assistant}
		if m.Content != nil {
			t.Text = *m.Content
		}
		for _, c := range m.ToolCalls {
			t.Text = withCall(t.Text, c.Function.Name, c.Function.Arguments)
		}
		switch {
		case m.Role == llm.ToolRole, m.Role == llm.User && !first:
			t.Role = "observation"
		case m.Role == llm.User:
			first = false
		}
		o.Dialogue = append(o.Dialogue, t)
	}
	return line(o)
}

// Chat is a dialogue from Interactive-KBQA's program, used to create training data.
type Chat struct {
	*exemplar.Chat
	License string // license of the data made from the dialogue, or ""
}

// turns returns the messages in the dialogue without the final notice, which is not a turn.
func (c Chat) turns() []exemplar.ChatMessage {
	d := c.Dialog
	if last := d[len(d)-1]; last.Role == llm.User && !strings.HasPrefix(last.Content, "Observation:") {
		d = d[:len(d)-1]
	}
	return d
}

func (c Chat) provenance(file string) Provenance {
	return Provenance{ID: c.ID, File: file, License: c.License, Model: c.Model, Answered: c.Check() == nil}
}

// OpenAI is like [Run.OpenAI], but for the dialogue.
func (c Chat) OpenAI(file string) ([]byte, error) {
	o := openAI{Metadata: c.provenance(file)}
	o.Messages = c.messages()
	return line(o)
}

func (c Chat) messages() (out []message) {
	for _, m := range c.turns() {
		out = append(out, messageOf(llm.Message{Role: m.Role, Content: m.Content}))
	}
	return out
}

// SFT is like [Run.SFT], but for the dialogue. The query is the one given in the data set.
func (c Chat) SFT(file string) ([]byte, error) {
	o := sft{SPARQL: c.SPARQL, Source: c.provenance(file)}
	for i, m := range c.turns() {
		t := sftTurn{Role: m.Role, Text: m.Content, Learn: m.Role == llm.Assistant}
		if m.Role == llm.User && i > 1 {
			t.Role = "observation"
		}
		o.Dialogue = append(o.Dialogue, t)
	}
	return line(o)
}
