package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const oneRow = `{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"http://www.wikidata.org/entity/Q42"}}]}}`

// serve starts a fake endpoint, and returns a service that queries it, along with the service's clock.
func serve(t *testing.T, h http.HandlerFunc, change func(*Config)) (*Service, *politehttp.ManualClock) {
	t.Helper()
	srv := httptest.NewServer(h)
	srv.Config.SetKeepAlivesEnabled(false) // otherwise, net/http itself retries a GET if a kept-alive connection breaks
	t.Cleanup(srv.Close)
	rt, err := politehttp.NewTransport(politehttp.Options{Hosts: []string{srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Address: srv.URL + "/sparql", UserAgent: "SpinachBot-test/1 (https://example.org/contact)",
		Retry: politehttp.Policy{Attempts: 1}}
	if change != nil {
		change(&cfg)
	}
	clock := politehttp.NewManualClock(noon)
	s, err := New(slog.New(slog.DiscardHandler), cfg, rt, clock, func() float64 { return 0 }, NewMemoryStore())
	if err != nil {
		t.Fatal(err)
	}
	return s, clock
}

func answering(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}
}

// TestBadEndpoints checks that no matter what an endpoint returns, the failure has a kind and a sentence describing the
// problem.
func TestBadEndpoints(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a redirect to another host was followed")
	}))
	defer elsewhere.Close()
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		kind   kg.Kind
		says   string
	}{
		"a web page": {answering("text/html", "<!DOCTYPE html><html><body>Welcome</body></html>"), kg.Down,
			"web page"},
		"a web page as JSON": {answering("application/json", "<html></html>"), kg.Down, "web page"},
		"garbage": {answering("application/sparql-results+json", "\x00\xff garbage"), kg.Down,
			"broke off"},
		"JSON of another kind": {answering("application/json", `{"message":"hello"}`), kg.Down, "not a SPARQL result"},
		"half a result":        {answering("application/sparql-results+json", oneRow[:50]), kg.Down, "broke off"},
		"CSV": {answering("text/csv", "x\nhttp://x/\n"), kg.QueryFailed,
			"text/csv instead of SPARQL results in JSON"},
		"XML": {answering("application/sparql-results+xml", "<sparql/>"), kg.QueryFailed,
			"application/sparql-results+xml instead"},
		"a redirect to another host": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL,
				http.StatusFound)
		}, kg.Refused, "refused to contact"},
		"a redirect to nowhere": {func(w http.ResponseWriter,
			_ *http.Request) {
			w.WriteHeader(http.StatusMultipleChoices)
		}, kg.Down, "correct its address"},
		"a query that is refused": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no such function",
				http.StatusBadRequest)
		}, kg.QueryFailed, "status 400: no such function"},
		"a service that is down": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
			kg.Down, "status 502"},
		"no service at this address":  {http.NotFound, kg.QueryFailed, "status 404"},
		"an endless answer":           {endless, kg.TooLarge, "larger than 1 MB"},
		"an answer that never starts": {late, kg.Timeout, "no complete answer within"},
		"an answer that never ends":   {stalls, kg.Timeout, "no complete answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := serve(t, tt.answer, func(c *Config) {
				c.MaxBytes = 1 << 20
				if tt.kind == kg.Timeout {
					c.Timeout = 50 * time.Millisecond
				}
			})
			table, err := s.Query(t.Context(), "SELECT ?x { ?x ?y ?z }")
			if kg.KindOf(err) != tt.kind || !strings.Contains(fmt.Sprint(err), tt.says) {
				t.Errorf("got %+v, %v; want %s: …%s…", table, err, tt.kind, tt.says)
			}
		})
	}
}

// TestNobody checks that if no server listens at an address, the failure is reported at once, without retries that
// would take seconds.
func TestNobody(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	for address, says := range map[string]string{srv.URL: "connection refused", "http://nowhere.invalid/": "no host nowhere.invalid"} {
		s, clock := serve(t, http.NotFound, func(c *Config) { c.Retry = politehttp.Policy{} })
		s.cfg.Address = address
		rt, err := politehttp.NewTransport(politehttp.Options{Hosts: []string{address}})
		if err != nil {
			t.Fatal(err)
		}
		s.hc.Transport = rt
		_, err = s.Query(t.Context(), "ASK { ?s ?p ?o }")
		if kg.KindOf(err) != kg.Down || !strings.Contains(err.Error(), says) || !clock.Now().Equal(noon) {
			t.Errorf("%s: %v after %s", address, err, clock.Now().Sub(noon))
		}
	}
}

// endless sends rows until the client disconnects.
func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", resultsJSON)
	_, _ = io.WriteString(w, `{"head":{"vars":["x"]},"results":{"bindings":[`)
	for row := strings.Repeat(`{"x":{"type":"literal","value":"spam"}},`, 1000); r.Context().Err() == nil; {
		if _, err := io.WriteString(w, row); err != nil {
			return
		}
	}
}

func late(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func stalls(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, oneRow[:40])
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// TestGoodAnswers checks that results with nonstandard types and forms are accepted if they are unambiguous.
func TestGoodAnswers(t *testing.T) {
	for name, tt := range map[string]struct{ kind, body, want string }{
		"the standard's":      {resultsJSON + ";charset=utf-8", oneRow, "[[<http://www.wikidata.org/entity/Q42>]]"},
		"JSON":                {"application/json", oneRow, "[[<http://www.wikidata.org/entity/Q42>]]"},
		"text":                {"text/plain", oneRow, "[[<http://www.wikidata.org/entity/Q42>]]"},
		"typed-literal":       {resultsJSON, `{"head":{"vars":["n"]},"results":{"bindings":[{"n":{"type":"typed-literal","datatype":"http://www.w3.org/2001/XMLSchema#integer","value":"3"}}]}}`, `[["3"^^<http://www.w3.org/2001/XMLSchema#integer>]]`},
		"Virtuoso's ASK":      {resultsJSON, `{"head":{"link":[],"vars":["__ASK_RETVAL"]},"results":{"bindings":[{"__ASK_RETVAL":{"type":"typed-literal","datatype":"x:int","value":"1"}}]}}`, "ask true"},
		"Virtuoso's point":    {resultsJSON, `{"head":{"vars":["p"]},"results":{"bindings":[{"p":{"type":"typed-literal","datatype":"http://www.openlinksw.com/schemas/virtrdf#Geometry","value":"POINT(1.5 2)"}}]}}`, `[["Point(1.5 2)"^^<http://www.opengis.net/ont/geosparql#wktLiteral>]]`},
		"Virtuoso's year":     {resultsJSON, `{"head":{"vars":["p"]},"results":{"bindings":[{"p":{"type":"typed-literal","datatype":"http://www.w3.org/2001/XMLSchema#dateTime","value":"-043-03-13T00:00:00Z"}}]}}`, `[["-0043-03-13T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>]]`},
		"Blazegraph's triple": {resultsJSON, `{"head":{"vars":["subject","predicate","object","context"]},"results":{"bindings":[{"subject":{"type":"uri","value":"a:s"},"predicate":{"type":"uri","value":"a:p"},"object":{"type":"literal","value":"o"}}]}}`, `[[<a:s> <a:p> "o"]]`},
	} {
		s, _ := serve(t, answering(tt.kind, tt.body), nil)
		table, err := s.Query(t.Context(), "SELECT")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := fmt.Sprint(table.Rows)
		if table.Ask {
			got = fmt.Sprint("ask ", table.Boolean)
		}
		if got != tt.want || table.Source != s.Shown() || table.Bytes != int64(len(tt.body)) {
			t.Errorf("%s: got %s from %q (%d bytes), want %s", name, got, table.Source, table.Bytes, tt.want)
		}
	}
}

// TestQLever checks that QLever's integers get the standard type, and that QLever is asked for the number of rows if a
// response is too large.
func TestQLever(t *testing.T) {
	integer := `{"head":{"vars":["n"]},"results":{"bindings":[{"n":{"type":"literal","datatype":"http://www.w3.org/2001/XMLSchema#int","value":"7"}}]},"meta":{"query-time-ms":3,"result-size-total":123456}}`
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("query") == "large" && r.FormValue("send") != "1" {
			endless(w, r)
			return
		}
		answering(resultsJSON, integer)(w, r)
	}, func(c *Config) { c.QLever, c.MaxBytes = true, 1<<20 })
	table, err := s.Query(t.Context(), "SELECT")
	if err != nil || table.Rows[0][0] != rdf.Typed("7", rdf.XSDInteger) || table.Total != 123456 {
		t.Errorf("%+v, %v", table, err)
	}
	_, err = s.Query(t.Context(), "large")
	if kg.KindOf(err) != kg.TooLarge || !strings.Contains(err.Error(), "the answer has 123456 rows") {
		t.Errorf("%v; want the number of rows", err)
	}
}

// TestSecretsAreSentAndHidden checks that a key in the address, a header or a parameter reaches only the endpoint.
func TestSecretsAreSentAndHidden(t *testing.T) {
	const key, token, group = "k3y-in-the-address", "t0ken-in-a-header", "secret-parameter"
	for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
		s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("key") != key || r.Header.Get("X-Api-Key") != token || r.FormValue("group") != group ||
				r.FormValue("query") == "" {
				t.Errorf("sent %v, %v", r.Form, r.Header)
			}
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "your request: %v %v", r.URL, r.Header)
		}, func(c *Config) {
			c.Address += "?key=" + key
			c.Header, c.Params = http.Header{"X-Api-Key": {token}}, url.Values{"group": {group}}
		})
		for _, query := range []string{"SELECT", "SELECT" + strings.Repeat(" ", longestGET)} {
			_, err := s.Query(t.Context(), query)
			shown := s.Shown()
			for e := err; e != nil; e = errors.Unwrap(e) {
				shown += " " + e.Error()
			}
			for _, secret := range []string{key, token, group} {
				if err == nil || strings.Contains(shown, secret) {
					t.Errorf("status %d: %s is visible in %s", status, secret, shown)
				}
			}
		}
	}
}

// The time bucket refills while a query runs, so a query does not use up its full cost. Therefore, the test charges the
// account directly: 150 s out of the initial 120 s, which leaves -30 s. A query needs 1 s, and the bucket gains 1 s per
// second, so the wait is 31 s.
func TestTimeBudget(t *testing.T) {
	s, clock := serve(t, answering(resultsJSON, oneRow), func(c *Config) {
		c.Pace = Pace{Time: 120 * time.Second, TimeRate: 60 * time.Second, Errors: 60, ErrorRate: 30}
	})
	if err := s.gate.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.gate.leave(t.Context(), 150*time.Second, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Query(t.Context(), "SELECT"); err != nil {
		t.Fatal(err)
	}
	var slept time.Duration
	for _, d := range clock.Slept() {
		slept += d
	}
	if slept < 31*time.Second || slept > 31*time.Second+10*time.Millisecond {
		t.Errorf("waited %v, want 31 s", slept)
	}
}

func TestAccountOutlastsCrash(t *testing.T) {
	store, clock := NewMemoryStore(), politehttp.NewManualClock(noon)
	// then the process dies
	if err := newGate("http://x/", DefaultPace(), store, clock).enter(context.Background()); err != nil {
		t.Fatal(err)
	}
	second := newGate("http://x/", DefaultPace(), store, clock)
	if err := second.enter(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := second.leave(context.Background(), 0, nil); err != nil {
		t.Fatal(err)
	}
	if got := second.st.TimeLeft; got != 60 {
		t.Errorf("%v s left of 120 after a query whose end was not recorded, want 60", got)
	}
}

// Processes that share an account share its time: while two queries that may use up all remaining time are running, a
// third one waits. After they end early, almost all of the time is available again.
func TestSharedAccount(t *testing.T) {
	store, clock := NewMemoryStore(), politehttp.NewManualClock(noon)
	var gates []*gate
	for range 3 {
		gates = append(gates, newGate("http://x/", DefaultPace(), store, clock))
	}
	for _, g := range gates[:2] {
		if err := g.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := gates[2].enter(t.Context()); err != nil || len(clock.Slept()) != 1 {
		t.Errorf("a third query: %v after %v", err, clock.Slept())
	}
	for _, g := range gates[:2] {
		if err := g.leave(t.Context(), time.Second, nil); err != nil {
			t.Fatal(err)
		}
	}
	// Of 120 s, two queries used 1 s each, 60 s is reserved for the third, and 1 s was refilled while it waited.
	if got := gates[1].st.TimeLeft; math.Abs(got-59) > 0.01 {
		t.Errorf("%v s left", got)
	}
	// If one process is banned, no process sends a query.
	if err := gates[2].leave(t.Context(), time.Second, &kg.Error{Kind: kg.Banned, RetryAfter: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if err := gates[0].enter(t.Context()); kg.KindOf(err) != kg.Banned {
		t.Errorf("another process: %v", err)
	}
}

func TestWrongConfigs(t *testing.T) {
	for _, cfg := range []Config{{Address: "http://x/"}, {UserAgent: "a/1 (me)", Address: "ftp://x/"},
		{UserAgent: "a/1 (me)"}} {
		if _, err := New(slog.New(slog.DiscardHandler), cfg, nil, politehttp.NewManualClock(noon), nil,
			NewMemoryStore()); err == nil {
			t.Errorf("%+v: want an error", cfg)
		}
	}
}

func FuzzFailureTexts(f *testing.F) {
	const malformed = "java.util.concurrent.ExecutionException: org.openrdf.query.MalformedQueryException: "
	f.Add("SELECT", echoStart+"SELECT\n"+malformed+"x at line 1, column 2\n\tat a.b.C", 400)
	f.Add("SELECT", oneRow[:60]+"\n"+echoStart+"SELECT\njava.util.concurrent.TimeoutException\n\tat a.b.C", 200)
	f.Add("", `{"exception":"x"}`, 429)
	f.Fuzz(func(t *testing.T, query, body string, status int) {
		for _, e := range []*kg.Error{queryFailure(query, Answer{Status: status, Body: []byte(body)}, noon),
			brokenResult(query, []byte(body))} {
			if e == nil || e.Kind == "" || e.Message == "" {
				t.Fatalf("no kind or message: %+v", e)
			}
			if len([]rune(e.Message)) > longestMessage+100 || strings.Contains(e.Message, "\n") {
				t.Errorf("message too long or not one line: %q", e.Message)
			}
		}
	})
}

// panicking is a transport and a store whose methods panic.
type panicking struct{ BudgetStore }

func (panicking) RoundTrip(*http.Request) (*http.Response, error) { panic("a fault") }
func (panicking) Change(context.Context, string, func([]byte) ([]byte, error)) error {
	panic("a fault")
}

// TestPanic checks that after a panic in one request, the gate admits the next one, and the query time reserved for the
// first stays reserved.
func TestPanic(t *testing.T) {
	s, _ := serve(t, answering(resultsJSON, oneRow), func(c *Config) { c.Pace = DefaultPace() })
	faulty := func(change func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Error("the panic is hidden")
			}
		}()
		change()
		_, _ = s.Query(t.Context(), "SELECT * WHERE {}")
	}
	transport, store := s.hc.Transport, s.gate.store
	faulty(func() { s.hc.Transport = panicking{} })
	s.hc.Transport = transport
	faulty(func() { s.gate.store = panicking{} })
	s.gate.store = store
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := s.Query(ctx, "SELECT * WHERE {}"); err != nil {
		t.Errorf("the query after the faults: %v", err)
	}
	if n := len(s.gate.turn); n != 1 {
		t.Errorf("%d turns", n)
	}
}
