package wikidata

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

func slept(s *service) time.Duration {
	var sum time.Duration
	for _, d := range s.clock.Slept() {
		sum += d
	}
	return sum
}

func TestErrorBudget(t *testing.T) {
	s := newService(t)
	for range 4 {
		s.on("/sparql", reply{status: 400, body: javaError("SELECT", malformed+"x")})
	}
	c := s.client(nil, func(c *Config) {
		c.Pace = remote.Pace{Time: 120 * time.Second, TimeRate: time.Minute, Errors: 3, ErrorRate: 30}
	})
	for range 4 {
		if err := ask(c, "SELECT"); kg.KindOf(err) != kg.SyntaxError {
			t.Fatal(err)
		}
	}
	// Three errors are free. The fourth must wait until the bucket has gained one, which takes 2 s at 30 per minute.
	if got := slept(s); got < 2*time.Second || got > 2*time.Second+10*time.Millisecond {
		t.Errorf("waited %v, want 2 s", got)
	}
}

func TestBanOutlastsRestart(t *testing.T) {
	s := newService(t).on("/sparql", reply{status: 403,
		body: "You have been banned until 2026-11-20T13:00:00Z, please respect"}, reply{status: 200, body: oneRow})
	store := remote.NewMemoryStore()
	if err := ask(s.client(store, nil), "SELECT"); kg.KindOf(err) != kg.Banned {
		t.Fatal(err)
	}
	s.clock.Advance(59 * time.Minute)
	again := s.client(store, nil)
	var e *kg.Error
	if err := ask(again, "SELECT"); !errors.As(err, &e) || e.Kind != kg.Banned || e.RetryAfter != time.Minute ||
		!strings.Contains(e.Message, "2026-11-20T13:00:00Z") {
		t.Errorf("during the ban: %+v", err)
	}
	if s.calls("/sparql") != 1 {
		t.Error("something was sent during the ban")
	}
	s.clock.Advance(time.Minute)
	if err := ask(again, "SELECT"); err != nil {
		t.Errorf("after the ban: %v", err)
	}
}

func TestWaitBeyondDeadline(t *testing.T) {
	s := newService(t).on("/sparql", reply{status: 429, header: map[string]string{"Retry-After": "90"}})
	s.clock = politehttp.NewManualClock(time.Now()) // a context's deadline uses the real clock
	c := s.client(nil, func(c *Config) { c.Retry.Attempts = 1 })
	if err := ask(c, "SELECT"); kg.KindOf(err) != kg.RateLimited {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var e *kg.Error
	if _, err := c.Query(ctx, "SELECT"); !errors.As(err, &e) || e.Kind != kg.RateLimited ||
		e.RetryAfter != 90*time.Second || len(s.clock.Slept()) != 0 {
		t.Errorf("got %+v after %v, want an error at once, since the wait is too long", err, s.clock.Slept())
	}
}

func TestBrokenStores(t *testing.T) {
	s := newService(t).on("/sparql", reply{status: 200, body: oneRow})
	if err := ask(s.client(brokenStore{}, nil), "SELECT"); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("what cannot be booked is not sent: %v", err)
	}
	junk := remote.NewMemoryStore()
	_ = junk.Change(context.Background(), "endpoint "+s.URL+"/sparql", func([]byte) ([]byte, error) {
		return []byte("{nonsense"), nil
	})
	if err := ask(s.client(junk, nil), "SELECT"); err != nil {
		t.Errorf("an unreadable account must start again from zero: %v", err)
	}
}

type brokenStore struct{}

func (brokenStore) Change(context.Context, string, func([]byte) ([]byte, error)) error {
	return errors.New("disk full")
}
