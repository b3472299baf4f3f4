package wikidata

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
)

const trace = "\n\tat java.util.concurrent.FutureTask.report(FutureTask.java:122)\n\tat com.bigdata.rdf.sail.webapp.BigdataServlet.submitApiTask(BigdataServlet.java:292)\nCaused by: java.lang.RuntimeException: x\n\tat y\n"

// javaError is an error body in the query service's format: the echo, the exception, and a stack trace.
func javaError(query, exception string) string {
	return "SPARQL-QUERY: queryStr=" + query + "\n" + exception + trace
}

const (
	execution = "java.util.concurrent.ExecutionException: java.util.concurrent.ExecutionException: "
	malformed = execution + "org.openrdf.query.MalformedQueryException: "
	half      = `{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"http://www.wikidata.org/entity/Q42"}},{"x":`
)

// The bodies are based on the source code of the query service and QLever, which the comment on package remote names.
func TestQueryFailures(t *testing.T) {
	const q = "SELECT * WHERE { ?secret \n ?b }"
	for _, tt := range []struct {
		name    string
		replies []reply
		want    kg.Error // Kind, Line, Column, RetryAfter; Message is a substring of the actual message
	}{
		{"syntax error", []reply{{status: 400, body: javaError(q, malformed+
			"Encountered \" \"}\" \"} \"\" at line 2, column 5.\nWas expecting one of:\n    <IRI> ...\n    \"(\" ...\n")}},
			kg.Error{Kind: kg.SyntaxError, Line: 2, Column: 5,
				Message: `Encountered " "}" "} "" at line 2, column 5. Was expecting one of: <IRI> ... "(" ...`}},
		{"undefined prefix", []reply{{status: 400, body: javaError(q, malformed+
			"QName 'nope:P31' uses an undefined prefix")}},
			kg.Error{Kind: kg.SyntaxError, Message: "QName 'nope:P31' uses an undefined prefix"}},
		{"time limit", []reply{{status: 500, body: javaError(q, "java.util.concurrent.TimeoutException")}},
			kg.Error{Kind: kg.Timeout, Message: "longer than the service allows"}},
		{"deadline", []reply{{status: 500, body: javaError(q, execution+
			"org.openrdf.query.QueryEvaluationException: com.bigdata.bop.engine.QueryTimeoutException: Query deadline is expired.")}},
			kg.Error{Kind: kg.Timeout, Message: "longer than"}},
		{"memory", []reply{{status: 500, body: javaError(q, execution+
			"com.bigdata.rwstore.sector.MemoryManagerOutOfMemory")}}, kg.Error{Kind: kg.TooGreedy, Message: "more memory"}},
		{"foreign service", []reply{{status: 500, body: javaError(q, execution+
			"java.lang.IllegalArgumentException: Service URI http://127.0.0.1/ is not allowed")}},
			kg.Error{Kind: kg.Refused, Message: "is not allowed"}},
		{"other exception", []reply{{status: 500, body: javaError(q, execution+
			"org.openrdf.query.QueryEvaluationException: java.lang.RuntimeException: geo index is off")}},
			kg.Error{Kind: kg.QueryFailed, Message: "geo index is off"}},
		{"proxy's timeout", []reply{{status: 504, body: "<html>504</html>"}}, kg.Error{Kind: kg.Timeout,
			Message: "gave up waiting"}},
		{"rate limit for long", []reply{{status: 429, body: "Too Many Requests - Please retry in 600 seconds."}},
			kg.Error{Kind: kg.RateLimited, RetryAfter: 10 * time.Minute, Message: "10m"}},
		{"ban", []reply{{status: 403, body: "You have been banned until 2026-11-21T06:00:00.123Z, please respect throttling and retry-after headers."}},
			kg.Error{Kind: kg.Banned, RetryAfter: 18*time.Hour + 123*time.Millisecond, Message: "banned"}},
		{"ban without end", []reply{{status: 403, body: "You have been banned"}}, kg.Error{Kind: kg.Banned,
			RetryAfter: 24 * time.Hour, Message: "banned"}},
		{"User-Agent refused", []reply{{status: 403, body: "Please identify your user agent and try again"}},
			kg.Error{Kind: kg.QueryFailed, Message: "CONTACT"}},
		{"time-out in mid-stream", []reply{{status: 200, body: half + "\n" +
			javaError(q, "java.util.concurrent.TimeoutException")}}, kg.Error{Kind: kg.Timeout,
			Message: "while it was sending"}},
		{"deadline in mid-stream", []reply{{status: 200, body: half + javaError(q, execution+
			"com.bigdata.bop.engine.QueryTimeoutException: Query deadline is expired.")}},
			kg.Error{Kind: kg.Timeout, Message: "while it was sending"}},
		{"cut with the trace", []reply{{status: 200, cut: true, body: half + "\n" +
			javaError(q, "java.util.concurrent.TimeoutException")}}, kg.Error{Kind: kg.Timeout,
			Message: "while it was sending"}},
		{"cut three times", []reply{{status: 200, cut: true, body: half}, {status: 200, body: half}, {status: 0}},
			kg.Error{Kind: kg.Down, Message: "broke off"}},
		{"web page three times", []reply{{status: 200, body: "<!DOCTYPE html><p>maintenance"}, {status: 200, body: "<html>"},
			{status: 200, body: "<html>"}}, kg.Error{Kind: kg.Down, Message: "web page"}},
		{"down three times", []reply{{status: 503}, {status: 502, body: "<html>"}, {status: 500, body: "oops"}},
			kg.Error{Kind: kg.Down, Message: "status 500"}},
		{"too long", []reply{{status: 414}}, kg.Error{Kind: kg.QueryFailed, Message: "too long"}},
		{"QLever's time limit", []reply{{status: 429,
			body: `{"exception":"Operation timed out.","query":"","status":"ERROR"}`}}, kg.Error{Kind: kg.Timeout,
			Message: "timed out"}},
		{"QLever's syntax error", []reply{{status: 400,
			body: `{"exception":"Invalid SPARQL query: Prefix nope was not registered","metadata":{"line":2,"positionInLine":4,"startIndex":3,"stopIndex":9},"query":"x","status":"ERROR"}`}},
			kg.Error{Kind: kg.SyntaxError, Line: 2, Column: 5, Message: "Prefix nope"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t).on("/sparql", tt.replies...)
			table, err := s.client(nil, nil).Query(context.Background(), q)
			var e *kg.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %+v, %v", table, err)
			}
			if e.Kind != tt.want.Kind || e.Line != tt.want.Line || e.Column != tt.want.Column ||
				e.RetryAfter != tt.want.RetryAfter || !strings.Contains(e.Message, tt.want.Message) {
				t.Errorf("got %+v, want %+v", e, tt.want)
			}
			for _, no := range []string{"?secret", "queryStr", "java.", "\n"} {
				if strings.Contains(e.Message, no) {
					t.Errorf("the message contains %q: %q", no, e.Message)
				}
			}
			if s.calls("/sparql") != len(tt.replies) {
				t.Errorf("%d requests, want %d", s.calls("/sparql"), len(tt.replies))
			}
		})
	}
}

// The text of a query must not affect the kind of failure, even if it resembles the service's errors.
func TestEchoIsNoEvidence(t *testing.T) {
	q := "SELECT * { ?x rdfs:label \"TimeoutException\" . # \njava.util.concurrent.TimeoutException\n\tat x\n ?y }"
	s := newService(t).on("/sparql", reply{status: 400, body: javaError(q, malformed+
		"Encountered x at line 3, column 7.")},
		reply{status: 400, body: strings.ReplaceAll(javaError(strings.ReplaceAll(q, " ", "  "), malformed+
			"Encountered x at line 3, column 7."), "\n", "\r\n")})
	c := s.client(nil, nil)
	for _, how := range []string{"as sent", "altered"} {
		var e *kg.Error
		if err := ask(c, q); !errors.As(err, &e) || e.Kind != kg.SyntaxError || e.Line != 3 ||
			e.Message != "Encountered x at line 3, column 7." {
			t.Errorf("echo %s: %+v", how, err)
		}
	}
}

func TestRetriesOfQueries(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first reply
		slept []time.Duration
	}{
		{"connection cut", reply{}, []time.Duration{time.Second}},
		{"503 with Retry-After", reply{status: 503, header: map[string]string{"Retry-After": "9"}},
			[]time.Duration{9 * time.Second}},
		{"429 with Retry-After", reply{status: 429, header: map[string]string{"Retry-After": "30"}},
			[]time.Duration{30 * time.Second}},
		{"429 with a date", reply{status: 429, header: map[string]string{"Retry-After": "Fri, 20 Nov 2026 12:00:45 GMT"}},
			[]time.Duration{45 * time.Second}},
		{"429 with text only", reply{status: 429, body: "Too Many Requests - Please retry in 12 seconds."},
			[]time.Duration{12 * time.Second}},
		{"429 without anything", reply{status: 429}, []time.Duration{time.Minute}},
		{"result cut", reply{status: 200, body: half}, []time.Duration{time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t).on("/sparql", tt.first, reply{status: 200, body: oneRow})
			table, err := s.client(nil, nil).Query(context.Background(), "SELECT")
			if err != nil || len(table.Rows) != 1 || table.Source != s.URL+"/sparql" {
				t.Errorf("got %+v, %v", table, err)
			}
			if got := s.clock.Slept(); !reflect.DeepEqual(got, tt.slept) {
				t.Errorf("slept %v, want %v", got, tt.slept)
			}
		})
	}
}

func TestHowQueriesAreSent(t *testing.T) {
	s := newService(t).on("/sparql", reply{status: 200, body: oneRow, took: 3 * time.Second}, reply{status: 200,
		body: oneRow})
	c := s.client(nil, nil)
	long := "SELECT * { } #" + strings.Repeat("ä", 1000)
	short, err := c.Query(context.Background(), "SELECT ?é { }")
	if err != nil || short.Elapsed != 3*time.Second {
		t.Errorf("elapsed: %+v %v", short, err)
	}
	if err := ask(c, long); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"SELECT ?é { }", long} {
		if got := s.asked["/sparql"][i].Get("query"); got != want {
			t.Errorf("query %d arrived as %q", i, got)
		}
		if h := s.headers[i]; h.Get("User-Agent") != "SpinachBot-test/1 (https://example.org/contact)" ||
			h.Get("Accept") != "application/sparql-results+json" {
			t.Errorf("headers %v", h)
		}
	}
	if s.headers[1].Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Error("a long query is not posted")
	}
}

func TestTooLarge(t *testing.T) {
	big := reply{status: 200, body: `{"head":{"vars":["x"]},"results":{"bindings":[` + strings.Repeat(" ", 2<<20) + `]}}`}
	s := newService(t).on("/sparql", big, big)
	if err := ask(s.client(nil, func(c *Config) { c.MaxBytes = 1 << 20 }), "SELECT"); kg.KindOf(err) != kg.TooLarge ||
		!strings.Contains(err.Error(), "1 MB") {
		t.Errorf("got %v", err)
	}
	if err := ask(s.client(nil, func(c *Config) { c.MaxBytes = 4 << 20 }), "SELECT"); err != nil {
		t.Errorf("within the limit: %v", err)
	}
}

func TestOwnDeadlineAndCancel(t *testing.T) {
	s := newService(t).on("/sparql", reply{hang: true}, reply{hang: true})
	if err := ask(s.client(nil, func(c *Config) { c.QueryTimeout = 10 * time.Millisecond }),
		"SELECT"); kg.KindOf(err) != kg.Timeout {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(5*time.Millisecond, cancel)
	if _, err := s.client(nil, nil).Query(ctx, "SELECT"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestFallback(t *testing.T) {
	down := []reply{{status: 502}, {status: 502}, {status: 502}}
	for _, tt := range []struct {
		name   string
		first  []reply
		second []reply
		want   kg.Kind // "" for the second endpoint's result
	}{
		{"down", down, []reply{{status: 200, body: oneRow}}, ""},
		{"time-out", []reply{{status: 504}}, []reply{{status: 200, body: oneRow}}, ""},
		{"both fail: the first one's failure", []reply{{status: 504}}, []reply{{status: 400, body: "no"}}, kg.Timeout},
		{"a syntax error is final", []reply{{status: 400, body: javaError("SELECT", malformed+"x")}}, nil, kg.SyntaxError},
		{"a ban is of the whole host", []reply{{status: 403, body: "banned"}}, nil, kg.Banned},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t).on("/sparql", tt.first...).on("/second", tt.second...)
			table, err := s.client(nil, func(c *Config) { c.Fallback = s.URL + "/second" }).Query(context.Background(), "SELECT")
			if kg.KindOf(err) != tt.want || (tt.want == "" && table.Source != s.URL+"/second") {
				t.Errorf("got %+v, %v", table, err)
			}
			if s.calls("/second") != len(tt.second) {
				t.Errorf("the second endpoint was asked %d times", s.calls("/second"))
			}
		})
	}
}

// After a ban or a long Retry-After, a service is not used until that time has passed. Until then, a second service on
// another host receives all queries.
func TestFallbackElsewhere(t *testing.T) {
	for _, first := range []reply{{status: 403, body: "banned"}, {status: 429, header: map[string]string{"Retry-After": "7200"}}} {
		s, other := newService(t).on("/sparql", first), newService(t).on("/sparql", reply{status: 200, body: oneRow},
			reply{status: 200, body: oneRow}, reply{status: 504})
		c := s.client(nil, func(c *Config) { c.Fallback = other.URL + "/sparql" })
		for range 2 {
			if table, err := c.Query(t.Context(), "SELECT"); err != nil || table.Source != other.URL+"/sparql" {
				t.Errorf("status %d: %+v, %v", first.status, table, err)
			}
		}
		_, err := c.Query(t.Context(), "SELECT")
		var failed *kg.Error
		if !errors.As(err, &failed) || failed.RetryAfter < time.Minute {
			t.Errorf("status %d, and the second endpoint fails, too: %#v", first.status, err)
		}
		if s.calls("/sparql") != 1 || other.calls("/sparql") != 3 {
			t.Errorf("status %d: %d and %d calls", first.status, s.calls("/sparql"), other.calls("/sparql"))
		}
	}
}

func TestOneQueryAtATime(t *testing.T) {
	s := newService(t)
	for range 8 {
		s.on("/sparql", reply{status: 200, body: oneRow})
	}
	c := s.client(nil, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := ask(c, "SELECT"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if s.most != 1 {
		t.Errorf("%d queries at the same time", s.most)
	}
}

func TestConstruct(t *testing.T) {
	body := `{"head":{"vars":["subject","predicate","object","context"]},"results":{"bindings":[{"subject":{"type":"uri","value":"a:s"},"predicate":{"type":"uri","value":"a:p"},"object":{"type":"literal","value":"o"}}]}}`
	s := newService(t).on("/sparql", reply{status: 200, body: body})
	table, err := s.client(nil, nil).Query(context.Background(), "CONSTRUCT")
	if err != nil || fmt.Sprint(table.Vars, len(table.Rows[0])) != "[subject predicate object] 3" {
		t.Errorf("%+v %v", table, err)
	}
}

// The harvest queries each endpoint separately, since it must rewrite a query in between. Both clients still share an
// account.
func TestPrimaryAndSecondary(t *testing.T) {
	s := newService(t).on("/sparql", reply{status: 504}, reply{status: 403, body: "banned"}).on("/second",
		reply{status: 200, body: oneRow})
	c := s.client(nil, func(c *Config) { c.Fallback = s.URL + "/second" })
	if _, err := c.Primary().Query(context.Background(), "SELECT"); kg.KindOf(err) != kg.Timeout ||
		s.calls("/second") != 0 {
		t.Errorf("got %v", err)
	}
	if table, err := c.Secondary().Query(context.Background(), "SELECT"); err != nil || table.Source != s.URL+"/second" ||
		table.Bytes != int64(len(oneRow)) {
		t.Errorf("got %+v, %v", table, err)
	}
	if _, err := c.Primary().Query(context.Background(), "SELECT"); kg.KindOf(err) != kg.Banned {
		t.Errorf("got %v", err)
	}
	if _, err := c.Query(context.Background(), "SELECT"); kg.KindOf(err) != kg.Banned || s.calls("/sparql") != 2 {
		t.Errorf("the ban is not observed: %v after %d calls", err, s.calls("/sparql"))
	}
	if c := s.client(nil, func(*Config) {}); c.Secondary() != nil {
		t.Error("there is a second endpoint that was not configured")
	}
}
