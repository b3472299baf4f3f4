package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Delta is a piece of a message that is still being generated; see [Request.Live].
type Delta struct {
	Reset     bool   // discard the earlier pieces, because the call is retried
	Reasoning string // more of the reasoning
	Text      string // more of the text
	Call      string // more of a tool call: its name on a new line, then its arguments
}

// live reports whether the call is streamed: a caller is listening, only one sample is requested, and the server
// streams.
func (c *Client) live(req Request, wire openai.ChatCompletionRequest) bool {
	return req.Live != nil && wire.N <= 1 && !c.noStream.Load()
}

// stream makes a streamed call and returns the assembled message. It also accepts a response that is not streamed.
// refused reports whether the server rejected streaming, in which case nothing was billed.
func (c *Client) stream(ctx context.Context, x *exchange, oc *openai.Client, wire openai.ChatCompletionRequest,
	live func(Delta)) (raw openai.ChatCompletionResponse, reasoning string, refused bool, err error) {
	live(Delta{Reset: true})
	x.live = true
	wire.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	s, err := oc.CreateChatCompletionStream(ctx, wire)
	if err != nil {
		return raw, "", x.status >= 400 && refusesStream(x.status, string(x.body)), err
	}
	defer func() { _ = s.Close() }()
	if x.sse == nil { // the server does not stream, but did not reject the request
		return raw, "", false, json.Unmarshal(x.body, &raw)
	}
	var all assembly
	for {
		chunk, err := s.Recv()
		if thought := x.sse.take(); thought != "" {
			all.reasoning.WriteString(thought)
			live(Delta{Reasoning: thought})
		}
		if errors.Is(err, io.EOF) {
			return all.response(), all.reasoning.String(), false, nil
		}
		if err != nil {
			return raw, "", false, err
		}
		if d := all.add(chunk); d != (Delta{}) {
			live(d)
		}
	}
}

// assembly assembles a message from its pieces.
type assembly struct {
	raw       openai.ChatCompletionResponse
	text      strings.Builder
	refusal   strings.Builder
	thought   strings.Builder // reasoning_content
	reasoning strings.Builder // reasoning, which go-openai does not read
	calls     []*callPieces
	finish    openai.FinishReason
	begun     bool // whether a choice has arrived
}

type callPieces struct {
	index     *int
	id, name  string
	arguments strings.Builder
}

// maxPieces is the maximum number of tool calls in one message.
const maxPieces = 10_000

func (a *assembly) add(chunk openai.ChatCompletionStreamResponse) (d Delta) {
	if chunk.Model != "" {
		a.raw.Model = chunk.Model
	}
	if chunk.Usage != nil {
		a.raw.Usage = *chunk.Usage
	}
	for _, ch := range chunk.Choices {
		if ch.Index != 0 {
			continue // one sample was requested
		}
		a.begun = true
		if ch.FinishReason != "" {
			a.finish = ch.FinishReason
		}
		a.text.WriteString(ch.Delta.Content)
		a.refusal.WriteString(ch.Delta.Refusal)
		a.thought.WriteString(ch.Delta.ReasoningContent)
		d.Text += ch.Delta.Content
		d.Reasoning += ch.Delta.ReasoningContent
		for _, tc := range ch.Delta.ToolCalls {
			p := a.call(tc)
			if p == nil {
				continue
			}
			if p.id == "" {
				p.id = tc.ID
			}
			p.name += tc.Function.Name
			p.arguments.WriteString(tc.Function.Arguments)
			if tc.Function.Name != "" {
				d.Call += "\n" + tc.Function.Name + " "
			}
			d.Call += tc.Function.Arguments
		}
	}
	return d
}

// call returns the call that a piece belongs to: the one with the piece's index. A piece without an index belongs to
// the last call, unless it has its own ID.
func (a *assembly) call(tc openai.ToolCall) *callPieces {
	for _, p := range a.calls {
		if tc.Index != nil && p.index != nil && *p.index == *tc.Index {
			return p
		}
	}
	if n := len(a.calls); tc.Index == nil && n > 0 && (tc.ID == "" || tc.ID == a.calls[n-1].id) {
		return a.calls[n-1]
	}
	if len(a.calls) == maxPieces {
		return nil
	}
	p := &callPieces{index: tc.Index}
	a.calls = append(a.calls, p)
	return p
}

func (a *assembly) response() openai.ChatCompletionResponse {
	if !a.begun {
		return a.raw
	}
	m := openai.ChatCompletionMessage{Role: Assistant, Content: a.text.String(), Refusal: a.refusal.String(),
		ReasoningContent: a.thought.String()}
	for _, p := range a.calls {
		m.ToolCalls = append(m.ToolCalls, openai.ToolCall{ID: p.id, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: p.name, Arguments: p.arguments.String()}})
	}
	a.raw.Choices = []openai.ChatCompletionChoice{{Message: m, FinishReason: a.finish}}
	return a.raw
}

// refusesStream reports whether a response means that the server does not support streaming or stream_options.
func refusesStream(status int, body string) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
		http.StatusNotImplemented:
		return strings.Contains(strings.ToLower(body), "stream")
	}
	return false
}

// events is the body of a streamed response without its comment lines, which go-openai would mistake for part of an
// error. It collects the values of the "reasoning" field, which go-openai does not read.
type events struct {
	body    io.ReadCloser
	lines   *bufio.Reader
	rest    []byte // the rest of the current line
	thought strings.Builder
	failure []byte // the event that contains an error
}

func newEvents(body io.ReadCloser) *events {
	body = politehttp.LimitBody(body, maxResponseBytes)
	return &events{body: body, lines: bufio.NewReader(body)}
}

// take returns the reasoning that arrived since the last call.
func (e *events) take() string {
	s := e.thought.String()
	e.thought.Reset()
	return s
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for len(e.rest) == 0 {
		line, err := e.lines.ReadBytes('\n')
		if !bytes.HasPrefix(line, []byte(":")) {
			e.rest = line
			e.listen(line)
		}
		if err != nil && len(e.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *events) listen(line []byte) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if ok && bytes.HasPrefix(bytes.TrimSpace(data), []byte(`{"error"`)) {
		e.failure = bytes.Clone(data)
	}
	if !ok || !bytes.Contains(data, []byte(`"reasoning"`)) {
		return
	}
	var chunk struct {
		Choices []struct {
			Delta struct {
				Reasoning json.RawMessage `json:"reasoning"`
				Content   string          `json:"reasoning_content"` // the same text; some servers send it under both names
			} `json:"delta"`
		} `json:"choices"`
	}
	if json.Unmarshal(data, &chunk) != nil || len(chunk.Choices) == 0 || chunk.Choices[0].Delta.Content != "" {
		return
	}
	var s string
	if json.Unmarshal(chunk.Choices[0].Delta.Reasoning, &s) == nil {
		e.thought.WriteString(s)
	}
}

// Close implements io.Closer.
func (e *events) Close() error { return e.body.Close() }
