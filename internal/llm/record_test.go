package llm

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/httprr"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

var update = flag.Bool("update", false, "record testdata/conversation.httprr again, from the scripted model")

const conversation = "testdata/conversation.httprr"

// talk makes the calls of the recorded conversation: two steps, the second of which fails once, two samples, and a
// request without a script.
func talk(t *testing.T, baseURL string, rt http.RoundTripper) []*Response {
	t.Helper()
	c, err := NewClient(slog.New(slog.DiscardHandler), Config{BaseURL: baseURL + "/v1", APIKey: NewSecret(testKey),
		Model: ScriptModel}, rt,
		politehttp.NewManualClock(epoch), func() float64 { return 0 }, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []*Response
	for _, r := range []Request{
		{N: 2, MaxTokens: 100, Purpose: "act", Part: "1", Subject: "Who ran the bakery in 1901?",
			Messages: []Message{{Role: User, Content: "u1"}}},
		{MaxTokens: 100, Purpose: "act", Part: "2", Subject: "Who ran the bakery in 1901?",
			Messages: []Message{{Role: User, Content: "u2"}}},
	} {
		resp, err := c.Complete(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, resp)
	}
	if _, err := c.Complete(context.Background(), Request{Purpose: "act", Part: "1", Subject: "Else?",
		Messages: []Message{{Role: User, Content: "u"}}}); !errors.Is(err, ErrNoModel) {
		t.Fatalf("got %v, want no model", err)
	}
	return out
}

func scrubTest(s string) string { return politehttp.Scrub(s, testKey) }

func record(t *testing.T, file string) []*Response {
	t.Helper()
	srv := httptest.NewServer(mustScript(t, bakery).Handler())
	defer srv.Close()
	rec, err := httprr.Record(file, http.DefaultTransport, scrubTest)
	if err != nil {
		t.Fatal(err)
	}
	said := talk(t, srv.URL, rec)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	return said
}

func TestRecordAndReplayConversation(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.httprr")
	said := record(t, file)
	if *update {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(conversation, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{file, conversation} {
		p, err := httprr.Replay(f, scrubTest)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(said, talk(t, "http://replay.example", p)); d != "" {
			t.Errorf("%s (-recorded +replayed; -update records it again):\n%s", f, d)
		}
		if u := p.Unused(); len(u) > 0 {
			t.Errorf("%s: not requested: %v", f, u)
		}
		data, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(data), testKey) || len(httprr.FindSecrets(data)) > 0 {
			t.Errorf("%s holds a secret: %v %v", f, httprr.FindSecrets(data), err)
		}
	}
}

func TestReplayMissIsNotRetried(t *testing.T) {
	p, err := httprr.ReplayFrom("x.httprr", strings.NewReader("{\"httprr\":1}\n"), scrubTest)
	if err != nil {
		t.Fatal(err)
	}
	clock := politehttp.NewManualClock(epoch)
	c, err := NewClient(slog.New(slog.DiscardHandler), Config{BaseURL: "http://replay.example/v1", Model: "m"}, p, clock,
		func() float64 { return 0 }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Complete(context.Background(), hello); err == nil || !strings.Contains(err.Error(),
		"x.httprr does not contain POST /v1/chat/completions") {
		t.Errorf("got %v", err)
	}
	if len(clock.Slept()) > 0 {
		t.Errorf("slept %v", clock.Slept())
	}
}
