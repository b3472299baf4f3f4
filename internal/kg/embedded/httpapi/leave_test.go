package httpapi

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// crossServer serves a graph on which the cross query returns 10^12 rows, with a slot for one query at a time.
func crossServer(t *testing.T, timeout time.Duration) *httptest.Server {
	t.Helper()
	b := embedded.NewBuilder()
	for i := range 1000 {
		if err := b.Add(rdf.IRI(fmt.Sprintf("%sQ%d", rdf.Entity, i+1)), rdf.IRI(rdf.Direct+"P1"), rdf.IRI(rdf.Entity+
			"Q1")); err != nil {
			t.Fatal(err)
		}
	}
	s := httptest.NewServer(NewSPARQL(slog.New(slog.DiscardHandler), b.Graph(embedded.Options{Timeout: timeout,
		MaxResult: 1 << 50}), 1))
	t.Cleanup(s.Close)
	return s
}

const cross = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"

// answered waits until the server's only slot is free again and a query is answered.
func answered(t *testing.T, base string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		status, _, err := get(t, base, "json", "ASK { wd:Q1 ?p ?o }")
		if err != nil {
			t.Fatal(err)
		}
		if status == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the slot is not free after a minute: status %d", status)
		}
	}
}

// TestClientLeaves checks that a query stops when its client disconnects in the middle of the response, even though the
// time limit is an hour.
func TestClientLeaves(t *testing.T) {
	s := crossServer(t, time.Hour)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/sparql?format=csv&query="+url.QueryEscape(cross), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "test/1.0 (test@example.org)")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, resp.Body, 1<<20); err != nil {
		t.Fatal(err)
	}
	answered(t, s.URL) // the first client is connected but does not read
	resp.Body.Close()
	cancel()
	answered(t, s.URL)
}

// TestClientLeavesWhilePlanning checks that planning also stops when the client disconnects. Planning this query would
// take minutes, and the time limit is an hour.
func TestClientLeavesWhilePlanning(t *testing.T) {
	s := crossServer(t, time.Hour)
	var q strings.Builder
	q.WriteString("ASK { ")
	for i := range 30_000 {
		fmt.Fprintf(&q, "?a%d ?b%d ?c%d . ", i, i, i)
	}
	q.WriteString("}")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	gone := make(chan error, 1)
	send := func() {
		req, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/sparql", strings.NewReader(q.String()))
		if err != nil {
			gone <- err
			return
		}
		req.Header.Set("User-Agent", "test/1.0 (test@example.org)")
		req.Header.Set("Content-Type", "application/sparql-query")
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		gone <- err
	}
	go send()
	for {
		status, _, err := get(t, s.URL, "json", "ASK { wd:Q1 ?p ?o }")
		if err != nil {
			t.Fatal(err)
		}
		if status == http.StatusTooManyRequests {
			break // the query is being planned
		}
		select {
		case err := <-gone:
			if err != nil {
				t.Fatal(err)
			}
			go send() // try again: a small query was using the only slot
		default:
		}
	}
	cancel()
	if err := <-gone; err == nil {
		t.Fatal("the query was answered")
	}
	answered(t, s.URL)
}
