package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// A prompt repeats nearly everything in the prompts before it. A file stores only the new parts of a prompt, with
// references to the events that the rest came from: whole messages in an earlier request, the start of a message, or
// the text of an event (a question, an observation, a model's response).

// packedPrompt is a request's messages and tools as stored in a file.
type packedPrompt struct {
	From     []int           `json:"from,omitempty"` // the events that parts of the prompt came from
	Messages []packedMessage `json:"messages"`
	Tools    int             `json:"tools,omitempty"` // ID of the event that has the same tools
}

// packedMessage is one message, or Count messages from the event Like, starting at index At.
type packedMessage struct {
	Like  int `json:"like,omitempty"`
	At    int `json:"at,omitempty"`
	Count int `json:"count,omitempty"`

	Message *llm.Message `json:"message,omitempty"` // its content is empty if Parts is not
	Parts   []part       `json:"parts,omitempty"`
}

// part is a piece of a message's content: new text, an event's text, or the first Bytes bytes of message At in the
// event's request.
type part struct {
	Text  string `json:"text,omitempty"`
	Event int    `json:"event,omitempty"`
	At    int    `json:"at,omitempty"`
	Bytes int    `json:"bytes,omitempty"`
}

// leastShared is the minimum length, in bytes, of text that is worth referring to.
const leastShared = 64

// packer converts requests to packed prompts and back. It keeps the parts of earlier events that it needs.
type packer struct {
	parent map[int]int
	text   map[int]string // text of each event, by ID
	asked  map[int]*llm.Request
	place  map[string]place // positions of messages, by their JSON encoding
}

type place struct{ event, at int }

func newPacker() *packer {
	return &packer{parent: map[int]int{}, text: map[int]string{}, asked: map[int]*llm.Request{},
		place: map[string]place{}}
}

// learn adds an event, so that later prompts can refer to it.
func (p *packer) learn(e Event) {
	p.parent[e.ID] = e.Parent
	switch {
	case e.Event == "start" && e.Question != nil:
		p.text[e.ID] = e.Question.Text
	case e.Event == "step" && e.Step != nil:
		p.text[e.ID] = e.Step.Observation
	case e.Event == "model":
		p.text[e.ID] = e.Response.Text()
	}
	if e.Request == nil {
		return
	}
	p.asked[e.ID] = e.Request
	for i, m := range e.Request.Messages {
		if k := messageKey(m); p.place[k] == (place{}) {
			p.place[k] = place{e.ID, i}
		}
	}
}

func messageKey(m llm.Message) string {
	b, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return string(b)
}

// pack returns e's request without messages and tools, and the messages and tools as a packed prompt. e must have its
// ID and parent, and must not have been learned yet.
func (p *packer) pack(e Event) (*llm.Request, *packedPrompt) {
	req, out := *e.Request, &packedPrompt{Messages: []packedMessage{}}
	before, asked := p.before(e)
	for i, m := range req.Messages {
		if at, ok := p.place[messageKey(m)]; ok {
			last := len(out.Messages) - 1
			if last >= 0 && out.Messages[last].Like == at.event &&
				out.Messages[last].At+out.Messages[last].Count == at.at {
				out.Messages[last].Count++
			} else {
				out.Messages = append(out.Messages, packedMessage{Like: at.event, At: at.at, Count: 1})
			}
			continue
		}
		parts := p.split(e, before, asked, i, m)
		if len(parts) > 1 || len(parts) == 1 && parts[0].Event > 0 {
			m.Content = ""
		} else {
			parts = nil
		}
		out.Messages = append(out.Messages, packedMessage{Message: &m, Parts: parts})
	}
	if len(req.Tools) > 0 && before > 0 && slices.EqualFunc(req.Tools, asked.Tools, sameTool) {
		req.Tools, out.Tools = nil, before
	}
	req.Messages = nil
	out.From = out.sources()
	return &req, out
}

func sameTool(a, b llm.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && a.Strict == b.Strict &&
		string(a.Parameters) == string(b.Parameters)
}

// before returns e's nearest ancestor that is a call to the model for the same purpose.
func (p *packer) before(e Event) (id int, asked *llm.Request) {
	for id = e.Parent; id > 0; id = p.parent[id] {
		if asked = p.asked[id]; asked != nil && asked.Purpose == e.Request.Purpose {
			return id, asked
		}
	}
	return 0, nil
}

// split splits a message's content into parts from earlier events and new parts.
func (p *packer) split(e Event, before int, asked *llm.Request, i int, m llm.Message) []part {
	var parts []part
	rest := m.Content
	if before > 0 && i < len(asked.Messages) {
		if n := commonPrefix(asked.Messages[i].Content, rest); n >= leastShared {
			parts, rest = append(parts, part{Event: before, At: i, Bytes: n}), rest[n:]
		}
	}
	for len(rest) >= leastShared {
		at, source := -1, 0
		for id := e.Parent; id > 0; id = p.parent[id] {
			if t := p.text[id]; len(t) >= leastShared && (at < 0 || at > 0) {
				if n := strings.Index(rest, t); n >= 0 && (at < 0 || n < at) {
					at, source = n, id
				}
			}
		}
		if at < 0 {
			break
		}
		if at > 0 {
			parts = append(parts, part{Text: rest[:at]})
		}
		parts = append(parts, part{Event: source})
		rest = rest[at+len(p.text[source]):]
	}
	if rest != "" {
		parts = append(parts, part{Text: rest})
	}
	return parts
}

// commonPrefix returns the length of the common prefix of a and b, in whole characters. The prefix ends before any
// invalid UTF-8, since such bytes change when the file is read.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeRuneInString(b[n:])
		if r == utf8.RuneError && size == 1 || !strings.HasPrefix(a[n:], b[n:n+size]) {
			break
		}
		n += size
	}
	return n
}

// sources lists the events that the prompt refers to, in order.
func (pp *packedPrompt) sources() []int {
	var out []int
	for _, m := range pp.Messages {
		if m.Like > 0 {
			out = append(out, m.Like)
		}
		for _, x := range m.Parts {
			if x.Event > 0 {
				out = append(out, x.Event)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unpack completes the request in an event read from a file.
func (p *packer) unpack(req *llm.Request, pp *packedPrompt) error {
	for _, m := range pp.Messages {
		if m.Like > 0 {
			asked := p.asked[m.Like]
			if asked == nil || m.At < 0 || m.Count < 1 || m.Count > len(asked.Messages)-m.At {
				return fmt.Errorf("its prompt refers to messages of event %d, which has none", m.Like)
			}
			req.Messages = append(req.Messages, asked.Messages[m.At:m.At+m.Count]...)
			continue
		}
		if m.Message == nil {
			return errors.New("its prompt has an entry that is not a message")
		}
		msg := *m.Message
		if len(m.Parts) > 0 {
			var b strings.Builder
			for _, x := range m.Parts {
				s, err := p.piece(x)
				if err != nil {
					return err
				}
				b.WriteString(s)
			}
			msg.Content = b.String()
		}
		req.Messages = append(req.Messages, msg)
	}
	if pp.Tools > 0 {
		asked := p.asked[pp.Tools]
		if asked == nil {
			return fmt.Errorf("its prompt refers to tools of event %d, which has none", pp.Tools)
		}
		req.Tools = asked.Tools
	}
	return nil
}

// piece returns the text of a part.
func (p *packer) piece(x part) (string, error) {
	if x.Event == 0 {
		return x.Text, nil
	}
	if x.Bytes == 0 {
		t, ok := p.text[x.Event]
		if !ok {
			return "", fmt.Errorf("its prompt refers to the text of event %d, which has none", x.Event)
		}
		return t, nil
	}
	asked := p.asked[x.Event]
	if asked == nil || x.At < 0 || x.At >= len(asked.Messages) || x.Bytes < 0 ||
		x.Bytes > len(asked.Messages[x.At].Content) {
		return "", fmt.Errorf("its prompt refers to a message of event %d, which has no such message", x.Event)
	}
	return asked.Messages[x.At].Content[:x.Bytes], nil
}
