package exemplar

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Chat is a dialogue as stored by Interactive-KBQA's program, in one JSON file per question: a run, in which a person
// may have accepted or changed some turns. JSON members not listed here are ignored.
type Chat struct {
	ID         string        `json:"id"`
	Type       string        `json:"qtype,omitempty"` // kind of the question
	Question   string        `json:"question"`
	SPARQL     string        `json:"sparql"` // the gold query
	Answers    []string      `json:"answers"`
	Dialog     []ChatMessage `json:"dialog"`
	Model      string        `json:"model_name"`
	Completion []int         `json:"completion_tokens"`
	Prompt     []int         `json:"prompt_tokens"`

	// The following fields occur only in annotated dialogues.
	Rejects []Reject `json:"rejects,omitzero"`
	Done    *bool    `json:"done,omitempty"` // whether the annotation of this question is finished
	Skip    string   `json:"skip_reason,omitempty"`
}

// ChatMessage is a message in a [Chat]. The role is system, user or assistant.
type ChatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Reject is a model turn that a person rejected. In the file, it is an array with two elements, an index and a string.
type Reject struct {
	Index int // index in Dialog of the message that replaced it
	Text  string
}

// MarshalJSON implements json.Marshaler.
func (r Reject) MarshalJSON() ([]byte, error) { return json.Marshal([]any{r.Index, r.Text}) }

// UnmarshalJSON implements json.Unmarshaler.
func (r *Reject) UnmarshalJSON(b []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(b, &pair); err != nil || len(pair) != 2 {
		return fmt.Errorf("a rejected turn is %s: want [index, \"text\"]", b)
	}
	return errors.Join(json.Unmarshal(pair[0], &r.Index), json.Unmarshal(pair[1], &r.Text))
}

// ReadChat parses an Interactive-KBQA dialogue file.
func ReadChat(b []byte) (*Chat, error) {
	type known Chat
	c := struct { // the outer members hide the embedded ones, whose types differ between data sets
		known
		ID      any    `json:"id"` // a string or a number
		Answers any    `json:"answers"`
		Answer  any    `json:"answer"`
		Kind    string `json:"compositionality_type"`
	}{}
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("this is not an Interactive-KBQA dialogue file: %w", err)
	}
	out := Chat(c.known)
	out.ID, out.Answers = strings.Join(texts(c.ID), " "), texts(c.Answers)
	if out.Answers == nil {
		out.Answers = append([]string{}, texts(c.Answer)...)
	}
	if out.Type == "" {
		out.Type = c.Kind
	}
	if len(out.Dialog) == 0 {
		return nil, errors.New("this is not an Interactive-KBQA dialogue file: it has no \"dialog\"")
	}
	return &out, nil
}

// texts returns the values in decoded JSON data as strings.
func texts(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		out := []string{}
		for _, x := range v {
			out = append(out, texts(x)...)
		}
		return out
	case map[string]any: // ComplexWebQuestions: an answer and its aliases
		return texts(v["answer"])
	default:
		return []string{fmt.Sprint(v)}
	}
}

// Stopped is the message that ends a finished dialogue. Other programs word it differently.
const Stopped = "Stop condition detected."

// finished reports whether the last message shows that the model finished.
func (c *Chat) finished() bool {
	last := c.Dialog[len(c.Dialog)-1]
	s := strings.ToLower(last.Content)
	return last.Role == "user" && !strings.HasPrefix(s, "observation:") && strings.Contains(s, "stop") &&
		!strings.Contains(s, "repe") // repeated, repetition
}

// Check returns nil if a dialogue can be used as an example, or the reason why it cannot. The question's annotation
// must be finished, and the question must not have been skipped. The system message must come first, then the user and
// the model must take turns, each of the model's turns must start with a thought, and the last message must show that
// the model finished.
func (c *Chat) Check() error {
	switch {
	case c.Skip != "":
		return fmt.Errorf("the question was skipped: %s", c.Skip)
	case c.Done != nil && !*c.Done:
		return errors.New("the annotation is not finished")
	case len(c.Dialog) < 4 || c.Dialog[0].Role != "system":
		return errors.New("want a system message, the question, a model turn and the message that ends the dialogue")
	}
	for i, m := range c.Dialog[1:] {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			return fmt.Errorf("message %d has the role %q, want %q", i+1, m.Role, want)
		}
		if m.Role == "assistant" && !strings.HasPrefix(m.Content, "Thought: ") {
			return fmt.Errorf("message %d does not start with \"Thought: \"", i+1)
		}
	}
	if !c.finished() {
		return errors.New("the last message does not show that the model finished")
	}
	return nil
}

// Dialogue converts a chat that [Chat.Check] accepts into a worked dialogue. Empty lines are removed, and a line that
// looks like the start of a turn gets a leading space, so that the text form can be parsed again.
func (c *Chat) Dialogue() (Dialogue, error) {
	if err := c.Check(); err != nil {
		return Dialogue{}, err
	}
	d := Dialogue{ID: oneLine(c.ID), Type: oneLine(c.Type), Query: oneLine(c.SPARQL),
		Answer: oneLine(strings.Join(c.Answers, "; ")), Question: plain(c.Question)}
	if asked, ok := strings.CutPrefix(c.Dialog[1].Content, "Q:"); ok { // the message may also name the gold entities
		d.Question = plain(asked)
	}
	for i := 2; i+1 < len(c.Dialog); i += 2 {
		thought, action, _ := strings.Cut(strings.TrimPrefix(c.Dialog[i].Content, "Thought:"), "\nAction:")
		r := Round{Thought: plain(thought), Action: plain(action)}
		if seen, ok := strings.CutPrefix(c.Dialog[i+1].Content, "Observation:"); ok {
			r.Observation = plain(seen)
		}
		d.Rounds = append(d.Rounds, r)
	}
	if d.Question == "" {
		return d, errors.New("the dialogue has no question")
	}
	return d, d.complete()
}

// parseChat parses a JSON file that contains a single dialogue.
func parseChat(name, text string) ([]Dialogue, error) {
	c, err := ReadChat([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d, err := c.Dialogue()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return []Dialogue{d}, nil
}

// plain converts s to a form that [Parse] reads as a single field.
func plain(s string) string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(s, "\r\n", "\n")) {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		switch {
		case line == "":
			continue
		case slices.ContainsFunc(labels, func(l string) bool { return strings.HasPrefix(line, l) }):
			line = " " + line
		}
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
