package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/safe"
)

// Sampling is the set of sampling parameters that the model accepts (the OPENAI_SAMPLING setting).
type Sampling string

// The values of Sampling.
const (
	// SamplingFull sends temperature, top_p, n, stop and max_tokens.
	SamplingFull Sampling = "full"
	// SamplingNone is for reasoning models. It does not send temperature, top_p, n or stop, and sets max_completion_tokens
	// with room for the reasoning. Several samples require several calls, and the client itself truncates text at stop
	// sequences.
	SamplingNone Sampling = "none"
)

// Defaults of [Config].
const (
	DefaultBaseURL         = "https://api.openai.com/v1"
	DefaultTimeout         = 120 * time.Second
	DefaultMaxTokens       = 4096
	DefaultReasoningTokens = 8192
	maxResponseBytes       = 16 << 20
)

// Config configures a [Client]. All fields except Model have sensible defaults.
type Config struct {
	// up to and including /v1; if "", OpenAI's own URL or, if there is no key either, no model
	BaseURL          string
	APIKey           Secret   // may be empty for a local server
	Model            string   // name of the model, such as "gpt-4o"
	JudgeModel       string   // for requests with the purpose [Judge], on the same server; Model if ""
	Sampling         Sampling // "" means full
	Timeout          time.Duration
	InputUSDPerMTok  float64 // price per million input tokens; 0 if unknown
	OutputUSDPerMTok float64 // price per million output tokens; 0 if unknown
	JudgeInputUSD    float64 // prices of JudgeModel; Model's prices if both are 0
	JudgeOutputUSD   float64
	MaxTokens        int // output limit for requests that set none
	ReasoningTokens  int // with SamplingNone: added to every output limit, since reasoning counts against it
	Retry            politehttp.Policy
	// shared with the other clients of the server; if nil, only this client knows the server's rate limits
	Pauses politehttp.Pauses
}

// Client completes chat requests over the OpenAI protocol. It is safe for concurrent use.
type Client struct {
	lg     *slog.Logger
	cfg    Config
	hc     *http.Client
	clock  politehttp.Clock
	rnd    func() float64
	budget *Budget
	host   string

	noStream atomic.Bool // the server does not stream

	secrets *politehttp.Scrubber
}

// NewClient returns a client. rt sends requests to the configured server (see politehttp.NewTransport). rnd returns
// random numbers in [0,1) for the waits between attempts. budget keeps the day's account; nil means no account.
func NewClient(lg *slog.Logger, cfg Config, rt http.RoundTripper, clock politehttp.Clock, rnd func() float64,
	budget *Budget) (*Client, error) {
	if cfg.BaseURL == "" && !cfg.APIKey.Empty() {
		cfg.BaseURL = DefaultBaseURL
	}
	c := &Client{lg: lg, clock: clock, rnd: rnd, budget: budget}
	if cfg.BaseURL != "" {
		u, err := url.Parse(cfg.BaseURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, errors.New("OPENAI_BASE_URL is not an http or https address")
		}
		if u.User != nil || u.RawQuery != "" {
			return nil, errors.New("OPENAI_BASE_URL must not contain a user, a password or parameters: put the key in OPENAI_API_KEY")
		}
		if cfg.Model == "" {
			return nil, errors.New("no model is configured: set OPENAI_MODEL")
		}
		c.host = u.Host
	}
	switch cfg.Sampling {
	case "":
		cfg.Sampling = SamplingFull
	case SamplingFull, SamplingNone:
	default:
		return nil, fmt.Errorf("OPENAI_SAMPLING is %q: it must be full or none", cfg.Sampling)
	}
	cfg.Timeout = orDefault(cfg.Timeout, DefaultTimeout)
	cfg.MaxTokens = orDefault(cfg.MaxTokens, DefaultMaxTokens)
	cfg.ReasoningTokens = orDefault(cfg.ReasoningTokens, DefaultReasoningTokens)
	if cfg.Retry.Attempts == 0 {
		cfg.Retry = politehttp.DefaultPolicy()
	}
	if cfg.Pauses == nil {
		cfg.Pauses = politehttp.NewPauses(clock)
	}
	c.cfg = cfg
	c.secrets = politehttp.NewScrubber(append(politehttp.URLSecrets(cfg.BaseURL), cfg.APIKey.Reveal())...)
	c.hc = &http.Client{Transport: rt, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
	return c, nil
}

func orDefault[T int | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// Model returns the configured model's name, or "" if none is configured.
func (c *Client) Model() string {
	if c.cfg.BaseURL == "" {
		return ""
	}
	return c.cfg.Model
}

// Complete requests req.N samples, or one if req.N is less than 1. It retries attempts that failed for a temporary
// reason: status 429 or 5xx, a network error, the timeout of one attempt, a malformed response, or a response without
// choices or finish_reason. The errors are [ErrNoModel], [ErrBudget], [ErrContextLength], [ErrNoTools] for a request
// with tools, [ErrNoStrict] for a request with strict tools, *[Error], or the error of ctx.
//
// If a server returns fewer samples than requested, the rest are requested in several concurrent calls. If a later call
// fails, the samples that were already paid for are returned without an error. Response.Usage is the sum of all
// attempts that were or may have been billed. The call is charged to the client's [Budget] and to the [Allowance] in
// ctx. Both are checked against the worst case before each attempt.
func (c *Client) Complete(ctx context.Context, req Request) (*Response, error) {
	if c.cfg.BaseURL == "" {
		return nil, ErrNoModel
	}
	want := max(req.N, 1)
	out := &Response{}
	for len(out.Choices) < want {
		part, err := c.some(ctx, req, want-len(out.Choices), len(out.Choices) == 1, &out.Usage)
		out.Choices = append(out.Choices, part.Choices...)
		out.Model = cmp.Or(part.Model, out.Model)
		if err != nil {
			if len(out.Choices) > 0 && ctx.Err() == nil {
				c.lg.WarnContext(ctx, "fewer samples than requested", "purpose", req.Purpose, "asked", want, "got", len(out.Choices),
					"err", err)
				return out, nil
			}
			return nil, err
		}
	}
	out.Choices = out.Choices[:want]
	return out, nil
}

// atOnce is the maximum number of parallel calls to a server that returns one sample per call.
const atOnce = 5

// some makes the calls for a total of want samples: one call for all of them or, if single is true because the server
// returns only one sample per call, parallel calls. On failure, it returns the error and the samples that arrived.
func (c *Client) some(ctx context.Context, req Request, want int, single bool, usage *Usage) (Response, error) {
	calls := 1
	if single {
		calls = min(want, atOnce)
	}
	parts, used, errs := make([]*Response, calls), make([]Usage, calls), make([]error, calls)
	var wg sync.WaitGroup
	for i := range calls {
		n := want / calls
		if i < want%calls {
			n++
		}
		wg.Go(func() {
			errs[i] = safe.Do(func() (err error) {
				parts[i], err = c.completeOnce(ctx, req, n, &used[i])
				return err
			})
		})
	}
	wg.Wait()
	var out Response
	for i, part := range parts {
		usage.Add(used[i])
		if part != nil {
			out.Choices, out.Model = append(out.Choices, part.Choices...), part.Model
		}
	}
	return out, errors.Join(errs...)
}

// completeOnce makes one call, with retries, and adds its cost to usage.
func (c *Client) completeOnce(ctx context.Context, req Request, n int, usage *Usage) (*Response, error) {
	wire := c.wire(req, n)
	for attempt := 1; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.rest(ctx, wire.Model); err != nil {
			return nil, err
		}
		resv, err := c.reserve(ctx, wire)
		if err != nil {
			return nil, err
		}
		start := c.clock.Now()
		resp, result, callErr := c.attempt(ctx, req, wire)
		spent, err := resv.settle(ctx, resp, callErr, result)
		usage.Add(spent)
		if err != nil {
			return nil, err
		}
		attrs := []any{"purpose", req.Purpose, "model", wire.Model, "attempt", attempt, "ms",
			c.clock.Now().Sub(start).Milliseconds(),
			"in", spent.InputTokens, "out", spent.OutputTokens, "usd", spent.USD}
		if callErr == nil {
			c.lg.DebugContext(ctx, "model call", attrs...)
			if attempt > 1 {
				c.lg.InfoContext(ctx, "model call succeeded after failures", "purpose", req.Purpose, "recovered", attempt-1)
			}
			return resp, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		attrs = append(attrs, "err", callErr)
		wait, again := c.cfg.Retry.Next(attempt, result, c.clock.Now(), c.rnd())
		c.limited(ctx, wire.Model, result, wait, callErr)
		if !again || !healable(callErr) {
			c.lg.InfoContext(ctx, "model call failed", attrs...)
			return nil, callErr
		}
		c.lg.WarnContext(ctx, "model call failed", append(attrs, "retry_in", wait)...)
		if err := c.clock.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// wire returns the request in the form sent to the server. A temperature of 0 becomes the smallest positive number,
// because go-openai would omit 0; see [coldest].
func (c *Client) wire(req Request, n int) openai.ChatCompletionRequest {
	w := openai.ChatCompletionRequest{Model: c.cfg.Model}
	if req.Purpose == Judge && c.cfg.JudgeModel != "" {
		w.Model = c.cfg.JudgeModel
	}
	for _, m := range req.Messages {
		w.Messages = append(w.Messages, wireMessage(m))
	}
	wireTools(&w, req)
	if w.Model == ScriptModel { // a real server may reject metadata
		w.Metadata = map[string]string{metaPurpose: req.Purpose, metaPart: req.Part, metaSubject: req.Subject}
	}
	limit := orDefault(req.MaxTokens, c.cfg.MaxTokens)
	if c.cfg.Sampling == SamplingNone {
		w.MaxCompletionTokens = limit + c.cfg.ReasoningTokens
	} else {
		w.MaxTokens = limit //nolint:staticcheck // deprecated by OpenAI only; every other server wants it
		w.Temperature = float32(req.Temperature)
		if w.Temperature == 0 {
			w.Temperature = math.SmallestNonzeroFloat32
		}
		w.TopP = float32(req.TopP)
		w.Stop, w.Seed = req.Stop, req.Seed
		if n > 1 {
			w.N = n
		}
	}
	if req.JSON {
		w.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return w
}

// attempt sends the request once.
func (c *Client) attempt(ctx context.Context, req Request, wire openai.ChatCompletionRequest) (*Response,
	politehttp.Result, error) {
	actx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	x := &exchange{hc: c.hc}
	oc := openai.DefaultConfig(c.cfg.APIKey.Reveal())
	oc.BaseURL, oc.HTTPClient = c.cfg.BaseURL, x
	var raw openai.ChatCompletionResponse
	var err error
	var streamed string
	api, again := openai.NewClientWithConfig(oc), true
	if c.live(req, wire) {
		if raw, streamed, again, err = c.stream(actx, x, api, wire, req.Live); again {
			c.noStream.Store(true)
			*x = exchange{hc: c.hc}
		}
	}
	if again {
		raw, err = api.CreateChatCompletion(actx, wire)
	}
	if err != nil && actx.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no answer within %s (OPENAI_TIMEOUT)", c.cfg.Timeout)
	}
	if e := c.classify(x, raw, err, req.Tools); e != nil {
		return nil, x.result(e), e
	}
	reasoning := reasonings(x.body)
	if x.sse != nil {
		reasoning = []string{streamed}
	}
	resp := &Response{Model: raw.Model, Usage: Usage{Calls: 1, InputTokens: raw.Usage.PromptTokens,
		OutputTokens: raw.Usage.CompletionTokens}}
	if d := raw.Usage.PromptTokensDetails; d != nil {
		resp.Usage.CachedTokens = min(max(d.CachedTokens, 0), resp.Usage.InputTokens)
	}
	for i, ch := range raw.Choices {
		text := cmp.Or(ch.Message.Content, ch.Message.Refusal)
		if c.cfg.Sampling == SamplingNone {
			text = cutAtStop(text, req.Stop)
		}
		thought := ch.Message.ReasoningContent
		if thought == "" && i < len(reasoning) {
			thought = reasoning[i]
		}
		resp.Choices = append(resp.Choices, Choice{Content: text, Reasoning: thought,
			ToolCalls:    readCalls(req.Messages, ch.Message.ToolCalls),
			FinishReason: string(ch.FinishReason)})
	}
	return resp, politehttp.Result{Status: http.StatusOK}, nil
}

// cutAtStop truncates text before the first stop sequence, like a server that supports stop sequences.
func cutAtStop(text string, stop []string) string {
	for _, s := range stop {
		if i := strings.Index(text, s); s != "" && i >= 0 {
			text = text[:i]
		}
	}
	return text
}
