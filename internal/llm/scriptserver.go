package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/httpjson"
)

// Handler serves the script over the OpenAI protocol: POST /v1/chat/completions and GET /v1/models. It answers as a
// real server does: usage figures, several samples, stop sequences, max_tokens, errors as JSON. A question without a
// script gets 404 with the code no_script, which [Client] turns into [ErrNoModel]; a task that the script leaves out
// gets 400 with the code no_script_section. The only state is how often a section with "fail" was asked for; each
// handler starts afresh.
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

// ScriptModel is the model name that the scripted model's server lists.
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

// chatRequest is the part of a chat completion request that the scripted model looks at.
type chatRequest struct {
	Model               string            `json:"model"`
	Messages            []chatMessage     `json:"messages"`
	Metadata            map[string]string `json:"metadata"`
	N                   int               `json:"n"`
	Stream              bool              `json:"stream"`
	MaxTokens           int               `json:"max_tokens"`
	MaxCompletionTokens int               `json:"max_completion_tokens"`
	Stop                json.RawMessage   `json:"stop"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// maxScriptRequest bounds a request's size in bytes.
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
	if req.Stream {
		writeServiceError(w, http.StatusBadRequest, "unsupported", "invalid_request_error",
			"the scripted model does not stream; ask without stream")
		return
	}
	if req.N < 0 || req.N > 128 {
		writeServiceError(w, http.StatusBadRequest, "invalid_value", "invalid_request_error", "n must be from 1 to 128")
		return
	}
	messages := req.messages()
	section, status, code, err := s.find(req.Metadata)
	if err != nil {
		writeServiceError(w, status, code, "invalid_request_error", err.Error())
		return
	}
	if status, fails := s.nextFailure(section); fails {
		if status == 0 {
			panic(http.ErrAbortHandler) // net/http's way to cut the connection
		}
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "0")
		}
		writeServiceError(w, status, "scripted_failure", "server_error",
			fmt.Sprintf("the script says that this attempt fails with %d", status))
		return
	}
	httpjson.Write(w, http.StatusOK, answer(req, messages, section))
}

// find returns the section that answers a request with this metadata, or status, code and text of the refusal.
func (s *scriptServer) find(metadata map[string]string) (*scriptSection, int, string, error) {
	call, err := readCall(metadata)
	if err != nil {
		return nil, http.StatusBadRequest, "no_purpose", err
	}
	req := s.script.match(call.text)
	if req == nil {
		return nil, http.StatusNotFound, codeNoScript,
			errors.New("the scripted model has no script for this request; set OPENAI_API_KEY or OPENAI_BASE_URL to use a real one")
	}
	section := req.section(call.task, call.arg)
	if section == nil {
		return nil, http.StatusBadRequest, "no_script_section",
			fmt.Errorf("the script of line %d has no section %q", req.line, strings.TrimSpace(call.task+" "+call.arg))
	}
	return section, 0, "", nil
}

// nextFailure counts an attempt at the section and says whether and how it fails.
func (s *scriptServer) nextFailure(section *scriptSection) (status int, fails bool) {
	if len(section.fail) == 0 {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.asked[section]
	s.asked[section]++
	if n >= len(section.fail) {
		return 0, false
	}
	return section.fail[n], true
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
			_ = json.Unmarshal(m.Content, &parts) // neither text nor parts: no text
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
	_ = json.Unmarshal(r.Stop, &many) // absent: none
	return many
}

// answer makes the response: the samples in order, the last one again when more are asked for.
func answer(req chatRequest, messages []Message, section *scriptSection) map[string]any {
	limit := req.MaxTokens + req.MaxCompletionTokens
	in, out := 3, 0
	for _, m := range messages {
		in += 3 + countTokens(m.Content)
	}
	var choices []any
	for i := range max(req.N, 1) {
		text := cutAtStop(section.samples[min(i, len(section.samples)-1)], req.stops())
		reason := "stop"
		if limit > 0 && countTokens(text) > limit {
			text, reason = cutAtTokens(text, limit), "length"
		}
		out += countTokens(text)
		choices = append(choices, map[string]any{"index": i, "finish_reason": reason, "logprobs": nil,
			"message": map[string]any{"role": Assistant, "content": text}})
	}
	model := req.Model
	if model == "" {
		model = ScriptModel
	}
	return map[string]any{
		"id": fmt.Sprintf("chatcmpl-script-%d", section.line), "object": "chat.completion", "created": 0,
		"model": model, "choices": choices,
		"usage": map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out},
	}
}

// countTokens counts four characters as a token, the usual rule of thumb.
func countTokens(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

func cutAtTokens(s string, n int) string {
	r := []rune(s)
	return string(r[:min(len(r), 4*n)])
}

func writeServiceError(w http.ResponseWriter, status int, code, typ, msg string) {
	httpjson.Write(w, status, map[string]any{"error": map[string]any{"message": msg, "type": typ, "param": nil,
		"code": code}})
}
