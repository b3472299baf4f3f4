package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/httpjson"
)

// Handler serves the script over the OpenAI protocol: POST /v1/chat/completions and GET /v1/models. It responds like a
// real server, with usage figures, several samples, stop sequences, max_tokens, and errors as JSON. A question without
// a script gets a 404 response with the code no_script, which [Client] turns into [ErrNoModel]; a task that is missing
// from the script gets a 400 response with the code no_script_section. The handler's only state is how many times each
// section with "fail" has been requested; a new handler starts at zero.
func (s *Script) Handler() http.Handler {
	srv := &scriptServer{script: s, asked: map[*scriptSection]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", srv.models)
	mux.HandleFunc("POST /v1/chat/completions", srv.complete)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeServiceError(w, http.StatusNotFound, "not_found", "invalid_request_error", "no such address: "+r.URL.Path)
	})
	return mux
}

// ScriptModel is the name of the model listed by the scripted model's server.
const ScriptModel = "scripted"

type scriptServer struct {
	script *Script
	mu     sync.Mutex
	asked  map[*scriptSection]int
}

func (s *scriptServer) models(w http.ResponseWriter, _ *http.Request) {
	httpjson.Write(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
		map[string]any{"id": ScriptModel, "object": "model", "created": 0, "owned_by": "spinachbot"},
	}})
}

// chatRequest is the part of a chat completion request that the scripted model reads.
type chatRequest struct {
	Model         string            `json:"model"`
	Messages      []chatMessage     `json:"messages"`
	Metadata      map[string]string `json:"metadata"`
	N             int               `json:"n"`
	Stream        bool              `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools               []json.RawMessage `json:"tools"`
	MaxTokens           int               `json:"max_tokens"`
	MaxCompletionTokens int               `json:"max_completion_tokens"`
	Stop                json.RawMessage   `json:"stop"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// maxScriptRequest is the maximum size of a request in bytes.
const maxScriptRequest = 8 << 20

func (s *scriptServer) complete(w http.ResponseWriter, r *http.Request) {
	var req chatRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxScriptRequest)).Decode(&req); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			writeServiceError(w, http.StatusRequestEntityTooLarge, "too_large", "invalid_request_error",
				"the request is larger than 8 MiB")
			return
		}
		writeServiceError(w, http.StatusBadRequest, "bad_json", "invalid_request_error",
			"the request is not JSON: "+err.Error())
		return
	}
	if req.N < 0 || req.N > 128 {
		writeServiceError(w, http.StatusBadRequest, "invalid_value", "invalid_request_error", "n must be from 1 to 128")
		return
	}
	messages := req.messages()
	sections, status, code, err := s.find(req)
	if err != nil {
		writeServiceError(w, status, code, "invalid_request_error", err.Error())
		return
	}
	if status, fails := s.nextFailure(sections); fails {
		if status == 0 {
			panic(http.ErrAbortHandler) // makes net/http cut the connection
		}
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "0")
		}
		writeServiceError(w, status, "scripted_failure", "server_error",
			fmt.Sprintf("the script says that this attempt fails with %d", status))
		return
	}
	if out := answer(req, messages, sections); req.Stream {
		out.stream(w, req.StreamOptions.IncludeUsage)
	} else {
		httpjson.Write(w, http.StatusOK, out)
	}
}

// find returns the sections that answer a request, or the status, code and error with which to reject it. If the
// response is both a judgment and the first turn of the run, it returns two sections.
func (s *scriptServer) find(asked chatRequest) ([]*scriptSection, int, string, error) {
	call, err := readCall(asked.Metadata)
	if err != nil {
		return nil, http.StatusBadRequest, "no_purpose", err
	}
	req := s.script.match(call.text)
	if req == nil {
		return nil, http.StatusNotFound, codeNoScript,
			errors.New("the scripted model has no script for this request; set OPENAI_API_KEY or OPENAI_BASE_URL to use a real one")
	}
	tools := asked.toolNames()
	section := req.section(call.task, call.arg, tools)
	if section == nil {
		return nil, http.StatusBadRequest, "no_script_section",
			fmt.Errorf("the script on line %d has no section %q", req.line, strings.TrimSpace(call.task+" "+call.arg))
	}
	if call.task == taskTriage && slices.Contains(tools, taskTriage) {
		if first := req.section(taskAct, "1", tools); first != nil && first.tools {
			return []*scriptSection{section, first}, 0, "", nil
		}
	}
	return []*scriptSection{section}, 0, "", nil
}

func (r chatRequest) toolNames() []string {
	names := make([]string, len(r.Tools))
	for i, raw := range r.Tools {
		var t struct{ Function struct{ Name string } }
		if json.Unmarshal(raw, &t) == nil {
			names[i] = t.Function.Name
		}
	}
	return names
}

// nextFailure counts an attempt to use the sections. If the attempt must fail, fails is true and status is its status.
func (s *scriptServer) nextFailure(sections []*scriptSection) (status int, fails bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, section := range sections {
		n := s.asked[section]
		if len(section.fail) > 0 {
			s.asked[section]++
		}
		if n < len(section.fail) {
			return section.fail[n], true
		}
	}
	return 0, false
}

// messages returns the request's messages with their text parts joined.
func (r chatRequest) messages() []Message {
	var out []Message
	for _, m := range r.Messages {
		var text string
		if json.Unmarshal(m.Content, &text) != nil {
			var parts []struct {
				Text string `json:"text"`
			}
			_ = json.Unmarshal(m.Content, &parts) // if it is neither a string nor parts, there is no text
			for _, p := range parts {
				text += p.Text
			}
		}
		out = append(out, Message{Role: m.Role, Content: text})
	}
	return out
}

func (r chatRequest) stops() []string {
	var one string
	if json.Unmarshal(r.Stop, &one) == nil && one != "" {
		return []string{one}
	}
	var many []string
	_ = json.Unmarshal(r.Stop, &many) // absent means no stop sequences
	return many
}

// scriptAnswer is a response from the scripted model.
type scriptAnswer struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int            `json:"created"`
	Model   string         `json:"model"`
	Choices []scriptChoice `json:"choices"`
	Usage   map[string]int `json:"usage"`
}

type scriptChoice struct {
	Index    int           `json:"index"`
	Finish   string        `json:"finish_reason"`
	LogProbs any           `json:"logprobs"`
	Message  scriptMessage `json:"message"`
}

type scriptMessage struct {
	Role      string           `json:"role"`
	Content   string           `json:"content"`
	ToolCalls []scriptToolCall `json:"tool_calls,omitempty"`
}

type scriptToolCall struct {
	Index    *int   `json:"index,omitempty"` // in a stream
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// answer builds the response: the samples in order, with the last one repeated if more are requested. If the request
// has tools, the calls of a sample become tool calls.
func answer(req chatRequest, messages []Message, sections []*scriptSection) *scriptAnswer {
	section := sections[len(sections)-1]
	limit := req.MaxTokens + req.MaxCompletionTokens
	in, out := 3, 0
	for _, m := range messages {
		in += 3 + countTokens(m.Content)
	}
	a := &scriptAnswer{ID: fmt.Sprintf("chatcmpl-script-%d", section.line), Object: "chat.completion",
		Model: cmp.Or(req.Model, ScriptModel)}
	for i := range max(req.N, 1) {
		text := section.samples[min(i, len(section.samples)-1)]
		if len(sections) > 1 { // both a judgment and the first turn of the run
			text = strings.TrimSuffix(text, "\n") + "\nCall: " + taskTriage + " " + sections[0].samples[0]
		}
		text = cutAtStop(text, req.stops())
		reason := "stop"
		if limit > 0 && countTokens(text) > limit {
			text, reason = cutAtTokens(text, limit), "length"
		}
		out += countTokens(text)
		m := scriptMessage{Role: Assistant, Content: text}
		if len(req.Tools) > 0 {
			if m.Content, m.ToolCalls = callsIn(text, fmt.Sprintf("call_%d_%d", section.line, i)); m.ToolCalls != nil &&
				reason == "stop" {
				reason = "tool_calls"
			}
		}
		a.Choices = append(a.Choices, scriptChoice{Index: i, Finish: reason, Message: m})
	}
	a.Usage = map[string]int{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
	return a
}

// callsIn extracts the calls from a sample. A "Call: name arguments" line starts a call, which extends to the next such
// line.
func callsIn(text, id string) (content string, calls []scriptToolCall) {
	for i, part := range callLine.Split(text, -1) {
		if i == 0 {
			content = strings.TrimSpace(part)
			continue
		}
		var c scriptToolCall
		c.ID, c.Type = id+"_"+strconv.Itoa(i), "function"
		c.Function.Name, c.Function.Arguments, _ = strings.Cut(strings.TrimSpace(part), " ")
		calls = append(calls, c)
	}
	return content, calls
}

var callLine = regexp.MustCompile(`(?m)^Call:[ \t]*`)

// streamedPiece is the number of characters in a chunk of a streamed response.
const streamedPiece = 12

// stream writes the response as server-sent events: first the text, a few characters at a time, then the finish reason
// and the usage.
func (a *scriptAnswer) stream(w http.ResponseWriter, usage bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(choices []any, usage map[string]int) {
		b, err := json.Marshal(map[string]any{"id": a.ID, "object": "chat.completion.chunk", "created": 0,
			"model": a.Model, "choices": choices, "usage": usage})
		if err != nil {
			return // cannot happen: strings and numbers can always be encoded
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", b) // the client may have disconnected
		_ = out.Flush()
	}
	for _, c := range a.Choices {
		delta := func(d any, finish any) {
			send([]any{map[string]any{"index": c.Index, "delta": d, "finish_reason": finish}}, nil)
		}
		delta(map[string]any{"role": Assistant, "content": ""}, nil)
		for _, piece := range pieces(c.Message.Content) {
			delta(map[string]any{"content": piece}, nil)
		}
		for i, call := range c.Message.ToolCalls {
			first := scriptToolCall{Index: &i, ID: call.ID, Type: call.Type}
			first.Function.Name = call.Function.Name
			delta(map[string]any{"tool_calls": []scriptToolCall{first}}, nil)
			for _, piece := range pieces(call.Function.Arguments) {
				next := scriptToolCall{Index: &i}
				next.Function.Arguments = piece
				delta(map[string]any{"tool_calls": []scriptToolCall{next}}, nil)
			}
		}
		delta(map[string]any{}, c.Finish)
	}
	if usage {
		send([]any{}, a.Usage)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func pieces(s string) (out []string) {
	for r := []rune(s); len(r) > 0; r = r[min(len(r), streamedPiece):] {
		out = append(out, string(r[:min(len(r), streamedPiece)]))
	}
	return out
}

// countTokens counts four characters as one token, the usual rule of thumb.
func countTokens(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

func cutAtTokens(s string, n int) string {
	r := []rune(s)
	return string(r[:min(len(r), 4*n)])
}

func writeServiceError(w http.ResponseWriter, status int, code, typ, msg string) {
	httpjson.Write(w, status, map[string]any{"error": map[string]any{"message": msg, "type": typ, "param": nil,
		"code": code}})
}
