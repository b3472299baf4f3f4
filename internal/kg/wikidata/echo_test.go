package wikidata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/testutil"
)

// TestEchoedRequestsRevealNoKey checks that keys stay hidden if a query service with a key in its address, or a proxy,
// echoes the request.
func TestEchoedRequestsRevealNoKey(t *testing.T) {
	const key = "r8/ny5+jd1ce7wq2us9ag"
	for name, echo := range testutil.Echoes() {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(echo)
			defer srv.Close()
			var log bytes.Buffer
			lg := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			cfg := Config{SPARQL: srv.URL + "/sparql?key=r8%2Fny5%2Bjd1ce7wq2us9ag", API: srv.URL +
				"/api?key=r8%2Fny5%2Bjd1ce7wq2us9ag",
				UserAgent: "Test/1 (test@example.org)", Retry: politehttp.Policy{Attempts: 2}}
			c, err := New(lg, cfg, srv.Client().Transport, politehttp.NewManualClock(noon), func() float64 { return 0 },
				remote.NewMemoryStore())
			if err != nil {
				t.Fatal(err)
			}
			_, queryErr := c.Query(context.Background(), "ASK {}")
			_, labelsErr := c.Labels(context.Background(), []string{"Q42"}, []string{"en"})
			if queryErr == nil {
				t.Error("an echo is mistaken for a result")
			}
			shown := log.String()
			for _, err := range []error{queryErr, labelsErr} {
				for ; err != nil; err = errors.Unwrap(err) {
					shown += fmt.Sprint(err, "\n")
				}
			}
			if testutil.Leaks(shown, key) {
				t.Errorf("the key is visible in:\n%s", shown)
			}
		})
	}
}

// TestSourceHidesKeys checks that a table's source contains no keys, since it is posted in replies.
func TestSourceHidesKeys(t *testing.T) {
	s := newService(t).on("/sparql", reply{status: 200, body: oneRow})
	c := s.client(nil, func(c *Config) { c.SPARQL = s.URL + "/sparql?key=geheim" })
	table, err := c.Query(context.Background(), "SELECT")
	if err != nil || table.Source != s.URL+"/sparql?key="+politehttp.Mask {
		t.Errorf("%+v, %v", table, err)
	}
}
