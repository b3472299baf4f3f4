package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	openai "github.com/sashabaranov/go-openai"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// codeNoScript is the scripted model's error code for a request without a script.
const codeNoScript = "no_script"

// exchange is the HTTP client for one attempt. It keeps the status, header and body, which go-openai does not pass on.
// They are needed for the Retry-After header of an error, for an error inside a 200 response, and to find out how much
// of a truncated response arrived.
type exchange struct {
	hc     *http.Client
	live   bool    // the caller reads the body of a streamed response
	sse    *events // the body of a streamed response
	sent   bool    // the request was passed to the network
	status int
	header http.Header
	body   []byte
	err    error // from reading the body
}

// Do sends the request and reads the whole response, up to a size limit.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	if err := coldest(req); err != nil {
		return nil, err
	}
	x.sent = true
	resp, err := x.hc.Do(req)
	if err != nil {
		var op *net.OpError
		x.sent = !politehttp.Permanent(err) && (!errors.As(err, &op) || op.Op != "dial")
		x.err = err
		return nil, err
	}
	x.status, x.header = resp.StatusCode, resp.Header
	if x.live && x.status == http.StatusOK && strings.HasPrefix(x.header.Get("Content-Type"), "text/event-stream") {
		x.sse = newEvents(resp.Body)
		resp.Body = x.sse
		return resp, nil
	}
	x.body, x.err = politehttp.ReadAll(resp.Body, maxResponseBytes)
	if x.err != nil {
		return nil, x.err
	}
	resp.Body = io.NopCloser(bytes.NewReader(x.body))
	return resp, nil
}

// go-openai omits a temperature of 0 from a request, and servers then use their default, which is 1. So [Client.wire]
// writes the smallest positive number, which some servers reject, and coldest replaces it with 0. A message's text
// cannot match by accident, because quotes are escaped in it.
var smallest, zero = []byte(`"temperature":1e-45`), []byte(`"temperature":0`)

func coldest(req *http.Request) error {
	if req.Body == nil {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	if err := req.Body.Close(); err != nil {
		return err
	}
	body = bytes.Replace(body, smallest, zero, 1)
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	return err
}

// result returns what the retry policy examines. It treats an error inside a 200 response as a malformed response.
func (x *exchange) result(e error) politehttp.Result {
	r := politehttp.Result{Status: x.status, Header: x.header}
	var le *Error
	if errors.As(e, &le) && le.Status > 0 && le.Status != http.StatusOK {
		r.Status = le.Status
		return r
	}
	r.Err = e
	return r
}

// notSent reports whether the attempt failed before the request reached the service.
func notSent(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.unsent
}

// healable reports whether a retry may help. A refused connection is not retried: a service that is not running stays
// down until someone starts it, and a user who mistyped its address should find out immediately.
func healable(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Transient && !e.Refused
}

// classify returns nil, an error that wraps one of the package's sentinels, or an *Error for a response. tools are the
// request's tools.
func (c *Client) classify(x *exchange, raw openai.ChatCompletionResponse, err error, tools []Tool) error {
	switch {
	case isLibraryRefusal(err):
		return &Error{Message: "the model " + c.cfg.Model + " accepts no sampling parameters: set OPENAI_SAMPLING=none",
			Err: err, unsent: true}
	case x.status >= 300 && x.status < 400:
		return &Error{Status: x.status, Message: "the server redirects to another address: correct OPENAI_BASE_URL"}
	case err != nil && x.status >= 400:
		code, msg := serviceError(c.shown(x))
		return c.serviceFailure(x.status, code, msg, tools)
	case err != nil && x.sse != nil:
		return c.brokenStream(x, err)
	case err != nil:
		return c.brokenAnswer(x, err)
	}
	if len(raw.Choices) == 0 {
		code, msg := serviceError(c.shown(x))
		if code != "" || msg != "" {
			return c.serviceFailure(statusInBody(code), code, msg, tools)
		}
		return &Error{Status: x.status, Message: "the answer contains no choices", Transient: true}
	}
	for _, ch := range raw.Choices {
		if ch.FinishReason == "" || ch.FinishReason == openai.FinishReasonNull {
			return &Error{Status: x.status, Message: "the answer broke off: no finish_reason", Transient: true}
		}
	}
	return nil
}

// brokenAnswer returns the error for an attempt whose request or response was lost.
func (c *Client) brokenAnswer(x *exchange, err error) error {
	e := &Error{Status: x.status, Message: c.scrub(err.Error()), Transient: !politehttp.Permanent(err), unsent: !x.sent}
	if e.Refused = errors.Is(err, syscall.ECONNREFUSED); e.Refused {
		e.Message = "nothing answers at " + c.host +
			" (connection refused): start the model's server, or correct OPENAI_BASE_URL"
	}
	if x.status == http.StatusOK && x.err == nil {
		e.Message = "the answer is not the protocol's JSON (does OPENAI_BASE_URL end in /v1?): " + excerpt(c.shown(x))
	}
	return e
}

// brokenStream returns the error for a streamed response that ended early.
func (c *Client) brokenStream(x *exchange, err error) error {
	if x.sse.failure != nil {
		code, msg := serviceError([]byte(c.scrub(string(x.sse.failure))))
		return c.serviceFailure(statusInBody(code), code, msg, nil)
	}
	return &Error{Status: x.status, Message: "the answer broke off: " + excerpt([]byte(c.scrub(err.Error()))),
		Transient: !politehttp.Permanent(err)}
}

// serviceFailure returns the error for a status of 400 or more, or for an error in a 200 response.
func (c *Client) serviceFailure(status int, code, msg string, tools []Tool) error {
	e := &Error{Status: status, Code: excerpt([]byte(c.scrub(code))), Message: excerpt([]byte(c.scrub(msg))),
		Transient: politehttp.TransientStatus(status)}
	low := strings.ToLower(msg)
	switch {
	case code == codeNoScript:
		return fmt.Errorf("%w: %s", ErrNoModel, e.Message)
	case isStrict(tools) && !isContextLength(status, code, low) && refusesStrict(status, low):
		return fmt.Errorf("%w: %s", ErrNoStrict, e.Message)
	case len(tools) > 0 && refusesTools(status, low):
		return fmt.Errorf("%w: %s", ErrNoTools, e.Message)
	case isContextLength(status, code, low):
		return fmt.Errorf("%w: %s", ErrContextLength, e.Message)
	case code == "insufficient_quota" || code == "billing_hard_limit_reached":
		e.Transient = false
		e.Message += " (the account has no credit left)"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Message += " (check OPENAI_API_KEY)"
	case status == http.StatusNotFound:
		e.Message += " (check OPENAI_MODEL and OPENAI_BASE_URL)"
	case status == http.StatusBadRequest && namesSampling(low):
		e.Message += " (set OPENAI_SAMPLING=none)"
	}
	return e
}

// isContextLength reports whether an error means that the request is too long. It recognizes OpenAI's code, and the
// messages of vLLM, llama.cpp, Anthropic and Ollama.
func isContextLength(status int, code, low string) bool {
	if code == "context_length_exceeded" || code == "exceed_context_size_error" {
		return true
	}
	if status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge &&
		status != http.StatusUnprocessableEntity {
		return false
	}
	for _, s := range []string{"maximum context length", "context length", "context window", "context size",
		"prompt is too long", "too many tokens", "reduce the length"} {
		if strings.Contains(low, s) {
			return true
		}
	}
	return status == http.StatusRequestEntityTooLarge
}

func namesSampling(low string) bool {
	if !strings.Contains(low, "support") {
		return false
	}
	for _, s := range []string{"temperature", "top_p", "max_tokens", "'n'", "'stop'"} {
		if strings.Contains(low, s) {
			return true
		}
	}
	return false
}

// isLibraryRefusal reports whether go-openai rejected the request because of the model's name, without sending it.
func isLibraryRefusal(err error) bool {
	for _, e := range []error{openai.ErrReasoningModelMaxTokensDeprecated, openai.ErrReasoningModelLimitationsOther,
		openai.ErrReasoningModelLimitationsLogprobs, openai.ErrReasoningSamplingUnsupported} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// serviceError reads the code and message from an error body: the protocol's object, a bare string, FastAPI's detail,
// or anything else as text.
func serviceError(body []byte) (code, msg string) {
	var b struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
		Msg    string          `json:"message"`
	}
	if json.Unmarshal(body, &b) != nil {
		return "", excerpt(body)
	}
	var obj struct {
		Code    any    `json:"code"`
		Type    string `json:"type"`
		Message any    `json:"message"`
	}
	var s string
	switch {
	case json.Unmarshal(b.Error, &obj) == nil && (obj.Code != nil || obj.Message != nil || obj.Type != ""):
		return codeText(obj.Code, obj.Type), plainText(obj.Message)
	case json.Unmarshal(b.Error, &s) == nil && s != "":
		return "", s
	case len(b.Detail) > 0:
		return "", excerpt(b.Detail)
	case b.Msg != "":
		return "", b.Msg
	}
	return "", ""
}

func codeText(code any, typ string) string {
	switch v := code.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return typ
}

func plainText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil || v == nil {
		return ""
	}
	return string(b)
}

// statusInBody returns the status that a gateway put into the error in a 200 response, or 502 (bad gateway) for
// anything else.
func statusInBody(code string) int {
	if n, err := strconv.Atoi(code); err == nil && n >= 400 && n <= 599 {
		return n
	}
	switch code {
	case codeNoScript:
		return http.StatusNotFound
	case "context_length_exceeded", "insufficient_quota", "invalid_request_error", "content_filter":
		return http.StatusBadRequest
	}
	return http.StatusBadGateway
}

// excerpt returns the start of a body as one line.
func excerpt(body []byte) string {
	const most = 300
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(body), "")), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + " …"
	}
	return s
}

func (c *Client) scrub(s string) string { return c.secrets.Text(s) }

// shown returns a response body in a form that is safe to show. Secrets are removed before the body is truncated;
// otherwise, part of a secret could remain.
func (c *Client) shown(x *exchange) []byte { return []byte(c.scrub(string(x.body))) }
