package mediawiki

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Clients of the same wiki, such as two workers, share the pauses that it requests. After a save by one client fails
// with a 429, a maxlag error or a rate limit, the other client sends nothing until the pause is over. A save does not
// wait.
func TestPausesAreShared(t *testing.T) {
	limited := says(429, "", "Retry-After", "40")
	for name, answer := range map[string]http.HandlerFunc{
		"429": limited,
		"maxlag": says(200, `{"error":{"code":"maxlag","info":"x"}}`, "Retry-After", "40", "X-Database-Lag", "9",
			"MediaWiki-API-Error", "maxlag"),
		"rate limit": says(200, `{"error":{"code":"ratelimited","info":"x"}}`, "Retry-After", "40"),
	} {
		t.Run(name, func(t *testing.T) {
			p := &played{}
			first, clock, _ := open(t, p)
			shared := politehttp.NewPauses(clock)
			clients := []*Client{first}
			cfg := first.cfg
			for range 2 {
				cfg.Pauses = shared
				c, err := New(first.lg, cfg, nil, clock)
				if err != nil {
					t.Fatal(err)
				}
				clients = append(clients, c)
			}
			a, b := clients[1], clients[2]
			for _, c := range []*Client{a, b} {
				if _, err := c.Page(t.Context(), "T"); err != nil {
					t.Fatal(err)
				}
			}
			p.edit = []http.HandlerFunc{answer}
			edit := Edit{Title: "T", Section: "1", Text: "x", Summary: "s", BaseRev: 11}
			if _, err := a.Save(t.Context(), edit); kindOf(err) != Transient {
				t.Fatalf("the limited save: %v", err)
			}
			sent := len(p.seen)
			if _, err := b.Save(t.Context(), edit); kindOf(err) != Transient || CodeOf(err) != "not-sent" {
				t.Errorf("a save of the other: %v", err)
			}
			if len(p.seen) != sent {
				t.Errorf("the other sent %v", p.seen[sent:])
			}
			before := clock.Now()
			if _, err := b.Page(t.Context(), "T"); err != nil {
				t.Fatal(err)
			}
			if waited := clock.Now().Sub(before); waited != 40*time.Second {
				t.Errorf("the other waited %v before it read, want 40 s", waited)
			}
			if _, err := b.Save(t.Context(), edit); err != nil {
				t.Errorf("after the pause: %v", err)
			}
		})
	}
}

func kindOf(err error) Kind {
	kind, ok := KindOf(err)
	if !ok {
		return -1
	}
	return kind
}

// If pauses cannot be read or stored, the client logs a warning and continues.
func TestPausesCannotBeRead(t *testing.T) {
	client, _, _ := open(t, &played{}, func(c *Config) { c.Pauses = brokenPauses{} })
	if _, err := client.Page(t.Context(), "T"); err != nil {
		t.Error(err)
	}
}

type brokenPauses struct{}

func (brokenPauses) Paused(context.Context, string) (time.Duration, error) {
	return 0, context.DeadlineExceeded
}

func (brokenPauses) Pause(context.Context, string, time.Duration) error {
	return context.DeadlineExceeded
}
