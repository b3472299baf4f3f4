package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/testutil"
)

// TestEchoedRequestsRevealNoKey has the model's server or a proxy echo the request. Neither the error nor the log may
// contain the key.
func TestEchoedRequestsRevealNoKey(t *testing.T) {
	const key = "r8/ny5+jd1ce7wq2us9ag" // not in the format of OpenAI's keys
	for name, echo := range testutil.Echoes() {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(echo)
			defer srv.Close()
			var log bytes.Buffer
			lg := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			cfg := Config{BaseURL: srv.URL + "/v1", APIKey: NewSecret(key), Model: "m", Retry: politehttp.Policy{Attempts: 2}}
			c, err := NewClient(lg, cfg, srv.Client().Transport, politehttp.NewManualClock(time.Unix(0, 0)),
				func() float64 { return 0 }, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Complete(context.Background(), Request{Messages: []Message{{Role: "user", Content: "my key is " + key}}})
			if err == nil {
				t.Fatal("an echo is taken for an answer")
			}
			shown := log.String()
			for ; err != nil; err = errors.Unwrap(err) {
				shown += fmt.Sprint(err, "\n")
			}
			if testutil.Leaks(shown, key) {
				t.Errorf("the key shows in:\n%s", shown)
			}
		})
	}
}
