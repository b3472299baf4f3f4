package llm

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// Tool is a function that the model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`       // JSON schema for the arguments object; nil if it has none
	Strict      bool            `json:"strict,omitempty"` // whether the server must make the model follow the schema
}

// ToolCall is a tool call as the model wrote it.
type ToolCall struct {
	ID        string `json:"id"`        // unique within its message; repeated in the message with the result
	Name      string `json:"name"`      // may name a tool that does not exist
	Arguments string `json:"arguments"` // should be JSON; kept as received, valid or not
}

// ToolChoice specifies whether the model must call a tool. Any value other than those below is the name of the only
// tool that the model may call.
type ToolChoice string

// The choices that do not name a tool.
const (
	ToolAuto     ToolChoice = ""         // the model decides
	ToolNone     ToolChoice = "none"     // no call
	ToolRequired ToolChoice = "required" // at least one call
)

// ErrNoTools means that the server or its model does not accept tool definitions; the same request without tools may
// work.
var ErrNoTools = errors.New("the language model does not accept tool definitions")

// ErrNoStrict means that the server cannot enforce any schemas, or cannot enforce the request's. The same request
// without Strict and with simpler schemas may work.
var ErrNoStrict = errors.New("the language model's server does not accept strict schemas")

// Equal reports whether two messages are equal in every field.
func (m Message) Equal(o Message) bool {
	return m.Role == o.Role && m.Content == o.Content && m.Reasoning == o.Reasoning && m.ToolCallID == o.ToolCallID &&
		slices.Equal(m.ToolCalls, o.ToolCalls)
}

// wireMessage maps a message to the protocol. Empty content becomes a space, because go-openai would omit it and
// servers require it; only a message with tool calls may omit it.
func wireMessage(m Message) openai.ChatCompletionMessage {
	w := openai.ChatCompletionMessage{Role: m.Role, Content: m.Content, ReasoningContent: m.Reasoning,
		ToolCallID: m.ToolCallID}
	for _, c := range m.ToolCalls {
		w.ToolCalls = append(w.ToolCalls, openai.ToolCall{ID: c.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: c.Name, Arguments: c.Arguments}})
	}
	if w.Content == "" && len(w.ToolCalls) == 0 {
		w.Content = " "
	}
	return w
}

// wireTools adds the request's tools to w.
func wireTools(w *openai.ChatCompletionRequest, req Request) {
	if len(req.Tools) == 0 {
		return
	}
	for _, t := range req.Tools {
		if len(t.Parameters) == 0 {
			t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		w.Tools = append(w.Tools, openai.Tool{Type: openai.ToolTypeFunction,
			Function: &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Strict: t.Strict,
				Parameters: t.Parameters}})
	}
	switch req.ToolChoice {
	case ToolAuto: // the protocol's default
	case ToolNone, ToolRequired:
		w.ToolChoice = string(req.ToolChoice)
	default:
		w.ToolChoice = openai.ToolChoice{Type: openai.ToolTypeFunction,
			Function: openai.ToolFunction{Name: string(req.ToolChoice)}}
	}
	if req.OneToolCall {
		w.ParallelToolCalls = false
	}
}

// readCalls returns a choice's tool calls. Some servers send calls without an ID, or with an ID that already appears in
// the conversation; these calls get new IDs.
func readCalls(before []Message, calls []openai.ToolCall) []ToolCall {
	taken := map[string]bool{}
	for _, m := range before {
		for _, c := range m.ToolCalls {
			taken[c.ID] = true
		}
	}
	own := map[string]bool{}
	for _, c := range calls {
		own[c.ID] = true
	}
	var out []ToolCall
	n := 0
	for _, c := range calls {
		id := c.ID
		for id == "" || taken[id] || id != c.ID && own[id] {
			n++
			id = "call_" + strconv.Itoa(n)
		}
		taken[id] = true
		out = append(out, ToolCall{ID: id, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return out
}

// reasonings returns the reasoning for each choice in a body from a server that calls the field "reasoning"; go-openai
// reads only "reasoning_content".
func reasonings(body []byte) []string {
	var b struct {
		Choices []struct {
			Message struct {
				Reasoning json.RawMessage `json:"reasoning"`
			} `json:"message"`
		} `json:"choices"`
	}
	_ = json.Unmarshal(body, &b) // the body was already parsed successfully; fields of a different type stay empty
	out := make([]string, len(b.Choices))
	for i, c := range b.Choices {
		_ = json.Unmarshal(c.Message.Reasoning, &out[i]) // an object is ignored
	}
	return out
}

// refusesStrict reports whether an error means that the server does not accept the "strict" field, the schema, or some
// syntax in the schema. Some servers support only part of JSON Schema (llama.cpp with its grammars, Gemini with its
// protocol buffers). A wrong guess costs only one more failed call.
func refusesStrict(status int, low string) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError,
		http.StatusNotImplemented:
	default:
		return false
	}
	for _, s := range []string{"strict", "schema", "grammar", "additionalproperties", "additional_properties",
		"proto field", "function_declarations", "structured output"} {
		if strings.Contains(low, s) {
			return true
		}
	}
	return false
}

func isStrict(tools []Tool) bool {
	return slices.ContainsFunc(tools, func(t Tool) bool { return t.Strict })
}

// refusesTools reports whether an error means that the server does not accept tools. OpenAI and Azure report an unknown
// or unsupported argument, vLLM and llama.cpp report missing options, and Ollama and OpenRouter use different messages.
func refusesTools(status int, low string) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusInternalServerError,
		http.StatusNotImplemented:
	default:
		return false
	}
	for _, s := range []string{"does not support tool", "not support tool", "support tool use",
		"not support function call", "tool choice requires",
		"tools param requires", "tool calling is not supported", "tools are not supported", "tools is not supported",
		"function calling is not"} {
		if strings.Contains(low, s) {
			return true
		}
	}
	names := strings.Contains(low, "tools") || strings.Contains(low, "tool_choice")
	for _, s := range []string{"unrecognized request argument", "unknown field", "extra inputs are not permitted",
		"unsupported parameter", "unknown parameter"} {
		if names && strings.Contains(low, s) {
			return true
		}
	}
	return false
}
