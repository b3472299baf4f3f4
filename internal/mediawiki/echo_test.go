package mediawiki

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/testutil"
)

// TestEchoedRequestsRevealNoSecret checks that if a wiki or a proxy echoes the request, neither an error nor the log
// contains a password or a token.
func TestEchoedRequestsRevealNoSecret(t *testing.T) {
	secrets := []string{"h3kq8vn2s0d9fj4mcl7p5rt6ua1gebio", "f9/qk2+xw7m4/zp6ht3vb", "r8 ny5&jd1 ce7wq2us9ag",
		"l4\"oi6<fx0tk3mz8hb5p", "y7%vj2#sd9gn4rc1we6u"}
	configs := map[string]func(*Config){
		"password": func(c *Config) { c.User, c.Password = "Test Bot@x", secrets[0] },
		"OAuth": func(c *Config) {
			c.OAuth = OAuth{ConsumerToken: secrets[1], ConsumerSecret: secrets[2], AccessToken: secrets[3],
				AccessSecret: secrets[4]}
		},
	}
	for name, echo := range testutil.Echoes() {
		for way, configure := range configs {
			t.Run(name+" "+way, func(t *testing.T) {
				// The password is sent only after the wiki has returned a login token.
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Query().Get("type") == "login" {
						fmt.Fprint(w, `{"query":{"tokens":{"logintoken":"abc+\\"}}}`)
						return
					}
					echo(w, r)
				}))
				defer srv.Close()
				cfg := Config{API: srv.URL + "/w/api.php", UserAgent: "Test/1 (test@example.org)", Attempts: 2}
				configure(&cfg)
				var log bytes.Buffer
				c, err := New(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), cfg,
					nil, politehttp.NewManualClock(start))
				if err != nil {
					t.Fatal(err)
				}
				ctx := context.Background()
				_, errPage := c.Page(ctx, "T")
				_, errSave := c.Save(ctx, edit)
				_, errSelf := c.Self(ctx)
				_, errHTML := c.HTML(ctx, "T")
				if errPage == nil || errSave == nil {
					t.Errorf("an echo is taken for an answer: %v, %v", errPage, errSave)
				}
				shown := fmt.Sprint(errPage, errSave, errSelf, errHTML) + log.String()
				if testutil.Leaks(shown, secrets...) {
					t.Errorf("a secret shows in:\n%s", shown)
				}
			})
		}
	}
}
