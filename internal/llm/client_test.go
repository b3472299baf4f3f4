package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

const testKey = "sk-test-0123456789abcdef"

// reply is one response from the test server. A status of 0 cuts the connection. If hang is set, the server waits until
// the client disconnects.
type reply struct {
	status int
	body   string
	header map[string]string
	hang   bool
}

// modelServer sends the replies in turn and records the request bodies.
type modelServer struct {
	*httptest.Server
	mu      sync.Mutex
	replies []reply
	bodies  []map[string]any
	auth    string
}

func serve(t *testing.T, replies ...reply) *modelServer {
	t.Helper()
	s := &modelServer{replies: replies}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		s.mu.Lock()
		s.auth = r.Header.Get("Authorization")
		s.bodies = append(s.bodies, body)
		if len(s.bodies) > len(s.replies) {
			s.mu.Unlock()
			t.Errorf("request %d was not expected: %v", len(s.bodies), body)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		rep := s.replies[len(s.bodies)-1]
		s.mu.Unlock()
		if rep.hang {
			<-r.Context().Done()
			return
		}
		if rep.status == 0 {
			panic(http.ErrAbortHandler)
		}
		for k, v := range rep.header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(rep.status)
		_, _ = io.WriteString(w, rep.body)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *modelServer) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

func ok(texts ...string) reply {
	var ch []string
	for i, x := range texts {
		b, _ := json.Marshal(x)
		ch = append(ch, fmt.Sprintf(`{"index":%d,"finish_reason":"stop","message":{"role":"assistant","content":%s}}`, i, b))
	}
	return reply{status: 200, body: `{"id":"x","object":"chat.completion","model":"m-1","choices":[` +
		strings.Join(ch, ",") +
		`],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}}`}
}

func failing(status int, code, msg string) reply {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"code": code, "message": msg, "type": "t"}})
	return reply{status: status, body: string(b)}
}

var epoch = time.Date(2026, 11, 20, 23, 59, 0, 0, time.UTC)

// setup returns a client for the server, its clock and its log.
func setup(t *testing.T, url string, change func(*Config), budget *Budget) (*Client, *politehttp.ManualClock,
	*bytes.Buffer) {
	t.Helper()
	cfg := Config{BaseURL: url + "/v1", APIKey: NewSecret(testKey), Model: "gpt-4o", InputUSDPerMTok: 2.5,
		OutputUSDPerMTok: 10,
		Retry:            politehttp.Policy{Attempts: 4, Base: 2 * time.Second, Max: time.Minute, MaxAfter: time.Minute}}
	if change != nil {
		change(&cfg)
	}
	var log bytes.Buffer
	rt, err := politehttp.NewTransport(politehttp.Options{UserAgent: "test/1 (x)", Hosts: []string{url}})
	if err != nil {
		t.Fatal(err)
	}
	clock := politehttp.NewManualClock(epoch)
	c, err := NewClient(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), cfg, rt, clock,
		func() float64 { return 0 }, budget)
	if err != nil {
		t.Fatal(err)
	}
	return c, clock, &log
}

var hello = Request{Purpose: "act", Messages: []Message{{Role: System, Content: "s"}, {Role: User, Content: "u"}},
	MaxTokens: 50}

func TestRetries(t *testing.T) {
	cut := ok("x")
	cut.body = cut.body[:60]
	for _, tt := range []struct {
		name    string
		replies []reply
		slept   []time.Duration // since rnd is 0: half of 2 s, 4 s, 8 s
		wantErr string          // "" for success
	}{
		{"at once", []reply{ok("x")}, nil, ""},
		{"429 then 503", []reply{failing(429, "rate_limit_exceeded", "slow"), failing(503, "", "busy"), ok("x")},
			[]time.Duration{time.Second, 2 * time.Second}, ""},
		{"Retry-After", []reply{{status: 429, body: `{"error":{"message":"slow"}}`,
			header: map[string]string{"Retry-After": "7"}}, ok("x")}, []time.Duration{7 * time.Second}, ""},
		{"Retry-After too long", []reply{{status: 429, body: `{"error":{"message":"slow"}}`,
			header: map[string]string{"Retry-After": "3600"}}}, nil, "slow"},
		{"HTML of a proxy", []reply{{status: 502, body: "<html>bad gateway</html>"}, ok("x")}, []time.Duration{time.Second},
			""},
		{"cut connection", []reply{{}, ok("x")}, []time.Duration{time.Second}, ""},
		{"cut JSON", []reply{cut, ok("x")}, []time.Duration{time.Second}, ""},
		{"broken stream", []reply{{status: 200, body: "{", header: map[string]string{"Content-Length": "500"}}, ok("x")},
			[]time.Duration{time.Second}, ""},
		{"no choices", []reply{{status: 200, body: `{"choices":[]}`}, ok("x")}, []time.Duration{time.Second}, ""},
		{"error with status 200", []reply{{status: 200, body: `{"error":{"code":502,"message":"upstream"}}`}, ok("x")},
			[]time.Duration{time.Second}, ""},
		{"no finish_reason", []reply{{status: 200, body: `{"choices":[{"message":{"content":"half"}}]}`}, ok("x")},
			[]time.Duration{time.Second}, ""},
		{"gives up", []reply{failing(500, "", "a"), failing(500, "", "b"), failing(500, "", "c"), failing(500, "", "d")},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "status 500"},
		{"400 does not heal", []reply{failing(400, "invalid_request_error", "bad field")}, nil, "bad field"},
		{"401 does not heal", []reply{failing(401, "invalid_api_key", "Incorect API key: "+testKey)}, nil,
			"check OPENAI_API_KEY"},
		{"no credit", []reply{failing(429, "insufficient_quota", "You exceeded your quota")}, nil, "no credit left"},
		{"unknown model", []reply{failing(404, "model_not_found", "no such model")}, nil, "check OPENAI_MODEL"},
		{"bare string error", []reply{{status: 400, body: `{"error":"nonsense"}`}}, nil, "nonsense"},
		{"FastAPI detail", []reply{{status: 422, body: `{"detail":[{"msg":"field required"}]}`}}, nil, "field required"},
		{"refused with status 200", []reply{{status: 200, body: `{"error":{"code":400,"message":"never"}}`}}, nil, "never"},
		{"redirect", []reply{{status: 307, header: map[string]string{"Location": "http://example.org/"}}}, nil,
			"correct OPENAI_BASE_URL"},
		{"parameter", []reply{failing(400, "unsupported_parameter",
			"Unsupported parameter: 'max_tokens' is not supported with this model.")}, nil, "OPENAI_SAMPLING=none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.replies...)
			c, clock, log := setup(t, s.URL, nil, nil)
			resp, err := c.Complete(context.Background(), hello)
			if s.calls() != len(tt.replies) {
				t.Errorf("%d calls, want %d", s.calls(), len(tt.replies))
			}
			if got := clock.Slept(); !reflect.DeepEqual(got, tt.slept) {
				t.Errorf("slept %v, want %v", got, tt.slept)
			}
			if tt.wantErr == "" {
				if err != nil || resp.Text() != "x" {
					t.Errorf("got %q, %v", resp.Text(), err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("got %v, want an error with %q", err, tt.wantErr)
			}
			if s := fmt.Sprintf("%v %+v %s", err, err, log); strings.Contains(s, testKey) {
				t.Errorf("the key is in an error or in the log: %s", s)
			}
			if s.auth != "Bearer "+testKey {
				t.Errorf("Authorization %q", s.auth)
			}
		})
	}
}

func TestErrorKinds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reply reply
		want  error
	}{
		{"no script", failing(404, "no_script", "none"), ErrNoModel},
		{"OpenAI", failing(400, "context_length_exceeded", "This model's maximum context length is 128000 tokens"),
			ErrContextLength},
		{"vLLM", failing(400, "", "This model's maximum context length is 4096 tokens. However, you requested 5000"),
			ErrContextLength},
		{"llama.cpp", failing(400, "", "the request exceeds the available context size"), ErrContextLength},
		{"proxy", reply{status: 413, body: "<html>413 Request Entity Too Large</html>"}, ErrContextLength},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.reply)
			c, _, _ := setup(t, s.URL, nil, nil)
			if _, err := c.Complete(context.Background(), hello); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	c, err := NewClient(slog.New(slog.DiscardHandler), Config{}, nil, politehttp.NewManualClock(epoch), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Complete(context.Background(), hello); !errors.Is(err, ErrNoModel) || c.Model() != "" {
		t.Errorf("without settings: %v", err)
	}
}

func TestWireForms(t *testing.T) {
	req := Request{Messages: []Message{{Role: System, Content: "s"}, {Role: User, Content: ""},
		{Role: User, Content: `{"temperature":1e-45}`}}, Temperature: 0, TopP: 0.9,
		MaxTokens: 50, N: 2, Stop: []string{"END"}, JSON: true}
	s := serve(t, ok("a", "b"))
	c, _, _ := setup(t, s.URL, nil, nil)
	if _, err := c.Complete(context.Background(), req); err != nil {
		t.Fatal(err)
	}
	b := s.bodies[0]
	if v, has := b["temperature"].(float64); !has || v != 0 {
		t.Errorf("temperature 0 is sent as %v", b["temperature"])
	}
	if got := b["messages"].([]any)[2].(map[string]any)["content"]; got != `{"temperature":1e-45}` {
		t.Errorf("a text is changed to %v", got)
	}
	if got := b["messages"].([]any)[1].(map[string]any)["content"]; got != " " {
		t.Errorf("empty content is sent as %v", got)
	}
	if b["n"] != 2.0 || b["max_tokens"] != 50.0 || b["stop"].([]any)[0] != "END" || b["max_completion_tokens"] != nil {
		t.Errorf("full sampling: %v", b)
	}
	if b["response_format"].(map[string]any)["type"] != "json_object" {
		t.Errorf("json: %v", b["response_format"])
	}

	s = serve(t, ok("a END b"), ok("c"))
	c, _, _ = setup(t, s.URL, func(cfg *Config) {
		cfg.Sampling, cfg.ReasoningTokens, cfg.Model = SamplingNone, 1000,
			"o3"
	}, nil)
	resp, err := c.Complete(context.Background(), req)
	if err != nil || len(resp.Choices) != 2 || resp.Choices[0].Content != "a " || resp.Choices[1].Content != "c" {
		t.Fatalf("%+v, %v", resp, err)
	}
	if resp.Usage.Calls != 2 || resp.Usage.InputTokens != 2000 {
		t.Errorf("usage of two calls: %+v", resp.Usage)
	}
	for _, k := range []string{"temperature", "top_p", "n", "stop", "max_tokens"} {
		if v, has := s.bodies[0][k]; has {
			t.Errorf("sampling none sends %s=%v", k, v)
		}
	}
	if s.bodies[0]["max_completion_tokens"] != 1050.0 {
		t.Errorf("max_completion_tokens %v", s.bodies[0]["max_completion_tokens"])
	}

	c, _, _ = setup(t, s.URL, func(cfg *Config) { cfg.Model = "o3" }, nil)
	if _, err := c.Complete(context.Background(), req); err == nil || !strings.Contains(err.Error(),
		"OPENAI_SAMPLING=none") {
		t.Errorf("a reasoning model with full sampling: %v", err)
	}
}

func TestSamplesAreToppedUp(t *testing.T) {
	three := hello
	three.N = 3
	s := serve(t, ok("a"), ok("b"), ok("b")) // the last two are requested concurrently
	c, _, _ := setup(t, s.URL, nil, nil)
	resp, err := c.Complete(context.Background(), three)
	if err != nil || len(resp.Choices) != 3 || resp.Choices[2].Content != "b" || resp.Usage.Calls != 3 {
		t.Errorf("a server that ignores n: %+v, %v", resp, err)
	}
	s = serve(t, ok("a", "b"), ok("c"))
	c, _, _ = setup(t, s.URL, nil, nil)
	if resp, err = c.Complete(context.Background(), three); err != nil || resp.Choices[2].Content != "c" {
		t.Errorf("a server with a smaller n: %+v, %v", resp, err)
	}
	s = serve(t, ok("a"), failing(400, "", "no more"), failing(400, "", "no more"))
	c, _, _ = setup(t, s.URL, nil, nil)
	if resp, err = c.Complete(context.Background(), three); err != nil || len(resp.Choices) != 1 {
		t.Errorf("samples that were paid for are kept: %+v, %v", resp, err)
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	s := serve(t, reply{hang: true}, ok("x"))
	c, clock, _ := setup(t, s.URL, func(cfg *Config) { cfg.Timeout = 20 * time.Millisecond }, nil)
	if resp, err := c.Complete(context.Background(), hello); err != nil || resp.Text() != "x" || len(clock.Slept()) != 1 {
		t.Errorf("one attempt's time-out is repeated: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s = serve(t, reply{hang: true})
	c, _, _ = setup(t, s.URL, nil, nil)
	time.AfterFunc(5*time.Millisecond, cancel)
	if _, err := c.Complete(ctx, hello); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestGuardedTransport(t *testing.T) {
	s := serve(t)
	rt, _ := politehttp.NewTransport(politehttp.Options{Hosts: []string{"example.org"}})
	c, err := NewClient(slog.New(slog.DiscardHandler), Config{BaseURL: s.URL, Model: "m"}, rt,
		politehttp.NewManualClock(epoch), func() float64 { return 0 }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Complete(context.Background(), hello); err == nil || !strings.Contains(err.Error(),
		"refused to contact") {
		t.Errorf("got %v", err)
	}
}

func TestNewClientRefusesBadSettings(t *testing.T) {
	for _, cfg := range []Config{
		{BaseURL: "ftp://x/v1", Model: "m"}, {BaseURL: "http://u:p@x/v1", Model: "m"}, {BaseURL: "http://x/v1"},
		{BaseURL: "http://x", Model: "m", Sampling: "half"},
	} {
		if _, err := NewClient(slog.New(slog.DiscardHandler), cfg, nil, nil, nil, nil); err == nil ||
			!strings.Contains(err.Error(), "OPENAI_") {
			t.Errorf("%+v: got %v, want an error that names the setting", cfg, err)
		}
	}
}

// The client reaches the scripted model over HTTP, as it does any other server, and receives its errors in the same
// way.
func TestClientWithScript(t *testing.T) {
	srv := httptest.NewServer(mustScript(t, strings.ReplaceAll(bakery, "fail 429 503", "fail 429 drop")).Handler())
	defer srv.Close()
	c, clock, _ := setup(t, srv.URL, func(cfg *Config) { cfg.Model = ScriptModel }, nil)
	ask := func(purpose, part, subject string) (*Response, error) {
		return c.Complete(context.Background(), Request{Purpose: purpose, Part: part, Subject: subject,
			Messages: []Message{{Role: User, Content: "u"}}})
	}
	const q = "Who ran the bakery in 1901?"
	resp, err := ask("act", "2", q)
	if err != nil || !strings.HasPrefix(resp.Text(), "# a comment") || len(clock.Slept()) != 2 {
		t.Errorf("%v %v %v", resp, err, clock.Slept())
	}
	if _, err := ask("act", "2", q); err != nil || len(clock.Slept()) != 2 {
		t.Errorf("a scripted failure fails once: %v", err)
	}
	if _, err := ask("act", "1", "Another?"); !errors.Is(err, ErrNoModel) {
		t.Errorf("no script: %v", err)
	}
	var e *Error
	if _, err := ask("extract", "", q); !errors.As(err, &e) || e.Transient || e.Code != "no_script_section" {
		t.Errorf("no section: %v", err)
	}
}

func TestSecretNeverPrints(t *testing.T) {
	cfg := Config{APIKey: NewSecret(testKey)}
	js, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "cfg", cfg, "key", cfg.APIKey)
	for _, s := range []string{string(js), fmt.Sprint(cfg), fmt.Sprintf("%v %+v %#v %s %q %x", cfg, cfg, cfg, cfg.APIKey,
		cfg.APIKey, cfg.APIKey), log.String()} {
		if strings.Contains(s, "sk-test") || strings.Contains(s, fmt.Sprintf("%x", testKey)) {
			t.Errorf("the secret prints: %s", s)
		}
	}
}

// A refused connection fails immediately and costs nothing, because waiting does not start a server.
func TestRefusedConnection(t *testing.T) {
	s := serve(t)
	s.Close()
	days := NewMemoryDays()
	c, clock, _ := setup(t, s.URL, nil, NewBudget(days, func() time.Time { return epoch }, Limits{}))
	_, err := c.Complete(context.Background(), hello)
	var e *Error
	if !errors.As(err, &e) || !e.Refused || !e.Transient || !strings.Contains(e.Message, "OPENAI_BASE_URL") ||
		len(clock.Slept()) > 0 {
		t.Errorf("%v after waiting for %v", err, clock.Slept())
	}
	if sum, _ := days.Spent(context.Background(), "2026-11-20"); sum != (Usage{}) {
		t.Errorf("it cost %+v", sum)
	}
}

// If a service's error echoes the request, only the start of the echo is logged.
func TestLongErrorIsCut(t *testing.T) {
	echo := strings.Repeat("the whole request ", 5000)
	s := serve(t, failing(400, echo, echo))
	c, _, _ := setup(t, s.URL, nil, nil)
	_, err := c.Complete(context.Background(), hello)
	if err == nil || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "the whole request") {
		t.Errorf("an error of %d bytes: %.200v", len(fmt.Sprint(err)), err)
	}
}

// TestCachedTokens checks that tokens from the server's cache are counted and shown with the input tokens.
func TestCachedTokens(t *testing.T) {
	r := ok("x")
	r.body = strings.Replace(r.body, `"prompt_tokens":1000`,
		`"prompt_tokens":1000,"prompt_tokens_details":{"cached_tokens":800}`, 1)
	s := serve(t, r)
	c, _, _ := setup(t, s.URL, nil, nil)
	resp, err := c.Complete(t.Context(), hello)
	if err != nil {
		t.Fatal(err)
	}
	sum := Usage{}
	sum.Add(resp.Usage)
	sum.Add(resp.Usage)
	if sum.CachedTokens != 1600 || sum.Input() != "2,000 tokens (1,600 cached)" {
		t.Errorf("%+v, %s", sum, sum.Input())
	}
}
