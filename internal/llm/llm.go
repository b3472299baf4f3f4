// Package llm talks to language models over the OpenAI protocol. It provides chat completions from any base URL,
// retries, and budgets in tokens and money. It also contains a scripted model, which is part of the product.
//
// The types are in this file. [Client] (client.go, errors.go) sends [Request] values and distinguishes temporary
// failures from permanent ones. [Budget] and [Allowance] (budget.go) limit what is spent per day and per question. The
// maximum cost of each attempt is reserved before it is sent, so the limits are hard. [Script] (script.go) is the
// scripted model: a text file of questions and answers, served over the same protocol as a real model. To record and
// replay real conversations, use internal/httprr as the client's transport.
//
// No error or log line from this package contains a key: [Secret] values are never printed, and text from outside is
// scrubbed.
package llm

import (
	"errors"
	"fmt"
	"time"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Roles of a message.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
	ToolRole  = "tool" // the result of a tool call
)

// Judge is the purpose of requests that are sent to the JudgeModel in [Config]. They ask it to score the work so far.
const Judge = "judge"

// Message is one message of a conversation. ToolCalls and Reasoning are set only for the assistant. ToolCallID is set
// for [ToolRole]; Content is then the result of the call with that ID.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// sent to the server if set; some models require it to be sent back with tool calls
	Reasoning  string     `json:"reasoning,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// Request asks for one completion or, if N > 1, for several samples.
type Request struct {
	// Purpose, Part and Subject describe the purpose of the call. They are used in logs and traces and sent to the
	// scripted model, but never to a real model.
	Purpose string `json:"purpose"`        // act, prune, language, report, extract, triage, feedback, judge, …
	Part    string `json:"part,omitempty"` // the step number for act; the entity ID for prune
	Subject string `json:"-"`              // the current question, or the post to judge

	Messages    []Message `json:"messages"`
	Temperature float64   `json:"temperature"`
	TopP        float64   `json:"top_p,omitempty"` // the server's default if 0
	MaxTokens   int       `json:"max_tokens,omitempty"`
	N           int       `json:"n,omitempty"` // 0 means 1
	Stop        []string  `json:"stop,omitempty"`
	Seed        *int      `json:"seed,omitempty"`
	JSON        bool      `json:"json,omitempty"` // request a JSON object

	// Facts contains the same information as the messages, but as data. It is neither sent nor stored.
	Facts *Facts `json:"-"`

	// Live receives the message as it is generated, if the server streams and only one sample is requested. It is called
	// on the request's goroutine and must not block.
	Live func(Delta) `json:"-"`

	Tools       []Tool     `json:"tools,omitempty"`
	ToolChoice  ToolChoice `json:"tool_choice,omitempty"`
	OneToolCall bool       `json:"one_tool_call,omitempty"` // at most one call per message; servers may ignore it
}

// Facts describes what a request is about. A program that acts as the model (internal/noisy) uses the facts instead of
// the messages, so that it does not depend on the prompts.
type Facts struct {
	Tools    []string // tools that may be called, even if they are described only in the prompt's text
	Done     []Done   // completed calls, oldest first
	SentBack int      // number of times a judge has requested a better answer
	// queries to decide on: the query to judge; the candidates to choose from, in numerical order; or the variants of the
	// last answer that change its result
	Queries []string
}

// Done is a completed call.
type Done struct {
	Tool, Arguments string
	Query           string // the query that the call ran, or ""
	Rows            bool   // whether the query returned any rows
}

// Choice is one sample.
type Choice struct {
	Content      string     `json:"content"`
	Reasoning    string     `json:"reasoning,omitempty"` // the thoughts of a reasoning model, if the server returns them
	ToolCalls    []ToolCall `json:"tool_calls,omitempty"`
	FinishReason string     `json:"finish_reason"` // stop, length, tool_calls, content_filter
}

// Response contains the samples of one call and its cost.
type Response struct {
	Choices []Choice `json:"choices"`
	Model   string   `json:"model,omitempty"`
	Usage   Usage    `json:"usage"`
}

// Text returns the first sample's text.
func (r *Response) Text() string {
	if r == nil || len(r.Choices) == 0 {
		return ""
	}
	return r.Choices[0].Content
}

// Usage is the total number of calls and tokens, and their cost in US dollars. USD is 0 if no prices are configured.
type Usage struct {
	Calls        int `json:"calls"`
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// the part of InputTokens that the server reported as cached
	CachedTokens int     `json:"cached_tokens,omitempty"`
	USD          float64 `json:"usd"`
	// number of calls that reported no usage; they are charged at their maximum possible cost
	Unmeasured int `json:"unmeasured,omitempty"`
}

// Input formats the number of input tokens and how many of them came from the server's cache: "1,200 tokens (800
// cached)".
func (u Usage) Input() string {
	s := text.Count(u.InputTokens, "token")
	if u.CachedTokens > 0 {
		s += " (" + text.Thousands(u.CachedTokens) + " cached)"
	}
	return s
}

// Bound returns text to print after numbers that are upper bounds, such as " (at most: 1 call came back without
// figures)", or "" if they are exact.
func (u Usage) Bound() string {
	if u.Unmeasured == 0 {
		return ""
	}
	return fmt.Sprintf(" (at most: %s came back without figures)", text.Count(u.Unmeasured, "call"))
}

// Add adds v to u.
func (u *Usage) Add(v Usage) {
	u.Calls += v.Calls
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.CachedTokens += v.CachedTokens
	u.USD += v.USD
	u.Unmeasured += v.Unmeasured
}

// Errors that callers distinguish.
var (
	// ErrNoModel means that there is no model for this request: no model is configured, or the scripted model has no
	// script for the request.
	ErrNoModel = errors.New("no language model is configured for this request")
	// ErrBudget means that the call could have exceeded a limit on calls, tokens or money; nothing was sent. A
	// *BudgetError names the limit and the account.
	ErrBudget = errors.New("the budget for the language model is used up")
	// ErrContextLength means that the request is longer than the model accepts; a shorter one may work.
	ErrContextLength = errors.New("the request is longer than the model's context")
)

// Error is a failure of the model's service that retries did not fix.
type Error struct {
	Status    int    // HTTP status, 0 for a network error
	Code      string // the service's own error code; may be empty
	Message   string // the service's message, with secrets scrubbed
	Transient bool   // whether the same call may succeed later
	Refused   bool   // the connection was refused: no server listens at the address, so the client does not retry
	// the pause that the service requests, or 0
	RetryAfter time.Duration
	Err        error
	unsent     bool // the request never reached the service, so it cost nothing
}

// Error describes the failure.
func (e *Error) Error() string {
	s := "language model: "
	if e.Status != 0 {
		s += fmt.Sprintf("status %d ", e.Status)
	}
	if e.Code != "" {
		s += "(" + e.Code + ") "
	}
	return s + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// RetryIn returns how long to wait before another call.
func (e *Error) RetryIn() time.Duration { return e.RetryAfter }
