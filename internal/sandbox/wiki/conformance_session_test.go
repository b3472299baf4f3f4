package wiki_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/mediawiki"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// meddler changes requests in transit, as a test specifies.
type meddler struct {
	next http.RoundTripper
	do   func(r *http.Request, body string) string // returns the body to send
	n    int
}

func (m *meddler) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	r = r.Clone(r.Context())
	changed := m.do(r, body)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader([]byte(changed))), int64(len(changed))
	m.n++
	return m.next.RoundTrip(r)
}

func testStaleToken(t *testing.T, s *site) {
	p := s.page(t, "stale token", "start")
	saves := 0
	m := &meddler{next: http.DefaultTransport, do: func(_ *http.Request, body string) string {
		if strings.Contains(body, "action=edit") {
			if saves++; saves == 1 {
				return body[:strings.LastIndex(body, "token=")] + "token=" +
					url.QueryEscape(`0123456789abcdef0123456789abcdef01234567+\`)
			}
		}
		return body
	}}
	c := s.client(t, s.bot, func(_ *mediawiki.Config, rt *http.RoundTripper) { *rt = m })
	if _, err := c.Save(context.Background(), mediawiki.Edit{Title: p.Title, Text: "end", BaseRev: p.RevID}); err != nil ||
		saves != 2 {
		t.Errorf("%v after %d attempts", err, saves)
	}
}

func testLostSession(t *testing.T, s *site) {
	p := s.page(t, "lost session", "start")
	lose := false
	m := &meddler{next: http.DefaultTransport, do: func(r *http.Request, body string) string {
		if lose && (strings.Contains(body, "action=edit") || strings.Contains(r.URL.RawQuery, "prop=revisions")) {
			r.Header.Del("Cookie")
			lose = false
		}
		return body
	}}
	c := s.client(t, s.bot, func(_ *mediawiki.Config, rt *http.RoundTripper) { *rt = m })
	read(t, c, p.Title)
	lose = true
	read(t, c, p.Title)
	if lose {
		t.Error("the session was not lost")
	}
	lose = true
	if _, err := c.Save(context.Background(), mediawiki.Edit{Title: p.Title, Text: "end", BaseRev: p.RevID}); err != nil ||
		lose {
		t.Errorf("save after a lost session: %v", err)
	}
	if revs, err := c.History(context.Background(), p.Title, "", p.Now.Add(-time.Minute)); err != nil || len(revs) != 2 {
		t.Errorf("%d revisions, %v", len(revs), err)
	}
}

func testLag(t *testing.T, s *site) {
	p := s.page(t, "lag", "start")
	clock := politehttp.NewManualClock(time.Now())
	c, err := mediawiki.New(slog.New(slog.DiscardHandler), mediawiki.Config{API: s.api, User: s.bob.user,
		Password:  s.bob.password,
		UserAgent: "SpinachBotTest/1 (conformance suite)", MaxLag: -5, Attempts: 3}, nil, clock)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Page(context.Background(), p.Title)
	wantKind(t, err, mediawiki.Transient, "maxlag")
	if slept := clock.Slept(); len(slept) != 2 || slept[0] < 5*time.Second {
		t.Errorf("waits %v", slept)
	}
}
