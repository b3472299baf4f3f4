package llm

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

const twoVectors = `{"object":"list","data":[{"object":"embedding","index":1,"embedding":[0,1]},{"object":"embedding","index":0,"embedding":[0.5,-1]}],` +
	`"model":"e-1","usage":{"prompt_tokens":1000,"total_tokens":1000}}`

func TestEmbed(t *testing.T) {
	good := reply{status: 200, body: twoVectors}
	for _, tt := range []struct {
		name    string
		replies []reply
		wantErr string
	}{
		{"at once", []reply{good}, ""},
		{"429, HTML, cut off", []reply{failing(429, "rate_limit_exceeded", "slow"), {status: 502, body: "<html>"}, {}, good},
			""},
		{"too few", []reply{{status: 200, body: `{"data":[{"index":0,"embedding":[1]}]}`}, good}, ""},
		{"error with status 200", []reply{{status: 200, body: `{"error":{"code":502,"message":"upstream"}}`}, good}, ""},
		{"not numbered", []reply{{status: 200, body: `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`}},
			"not numbered"},
		{"two lengths", []reply{{status: 200, body: `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`}},
			"or differ in length"},
		{"no such model", []reply{failing(404, "model_not_found", "no such model")}, "OPENAI_EMBEDDING_MODEL"},
		{"key", []reply{failing(401, "invalid_api_key", "wrong: "+testKey)}, "check OPENAI_API_KEY"},
		{"redirect", []reply{{status: 307, header: map[string]string{"Location": "http://example.org/"}}},
			"correct OPENAI_BASE_URL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.replies...)
			days := NewMemoryDays()
			c, _, log := setup(t, s.URL, nil, NewBudget(days, func() time.Time { return epoch }, Limits{}))
			a := NewAllowance(Limits{})
			got, err := c.Embedder("e-1").Embed(WithAllowance(context.Background(), a), []string{"x", "y"})
			if s.calls() != len(tt.replies) || strings.Contains(log.String(), testKey) {
				t.Errorf("%d calls, log %s", s.calls(), log)
			}
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) || strings.Contains(err.Error(), testKey) {
					t.Errorf("got %v, want %q", err, tt.wantErr)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, [][]float32{{0.5, -1}, {0, 1}}) {
				t.Fatalf("got %v, %v", got, err)
			}
			if b := s.bodies[0]; b["model"] != "e-1" || !reflect.DeepEqual(b["input"], []any{"x", "y"}) {
				t.Errorf("sent %v", b)
			}
			if u := a.Used(); u.InputTokens < 1000 || u.USD < 0.0025 || u.OutputTokens != 0 {
				t.Errorf("counted %+v", u)
			}
			if u, _ := days.Spent(context.Background(), epoch.Format("2006-01-02")); u != a.Used() {
				t.Errorf("the day has %+v, the question %+v", u, a.Used())
			}
		})
	}
}

func TestEmbedWithinTheBudget(t *testing.T) {
	s := serve(t)
	c, _, _ := setup(t, s.URL, nil, nil)
	ctx := WithAllowance(context.Background(), NewAllowance(Limits{InputTokens: 3}))
	if _, err := c.Embedder("e-1").Embed(ctx, []string{"four"}); !errors.Is(err, ErrBudget) {
		t.Errorf("got %v", err)
	}
	none, _, _ := setup(t, "http://127.0.0.1:1", func(c *Config) { c.BaseURL, c.APIKey = "", NewSecret("") }, nil)
	if _, err := none.Embedder("e-1").Embed(context.Background(), []string{"x"}); !errors.Is(err, ErrNoModel) {
		t.Errorf("got %v", err)
	}
}
