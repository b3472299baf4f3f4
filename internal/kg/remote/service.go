// Package remote sends requests to the HTTP services of knowledge graphs, politely, and without trusting the responses.
// A [Service] is a service at one address: [Service.Query] uses the SPARQL 1.1 protocol; [Service.Do] sends any other
// request. Every failure is a *kg.Error with a kind, or the context's error.
//
// # Manners
//
// Requests to one address are sent one at a time, with a User-Agent that contains the operator's contact. For a query
// service, the client keeps its own account of the two budgets that Wikidata's service has (time and errors; see
// [Pace]), and waits rather than be throttled. It obeys Retry-After. After a ban (403), it sends nothing until the ban
// is over. The account and the ban are kept in a [BudgetStore], so they survive a restart (gate.go).
//
// # Truth
//
// A response with status 200 is a result only if its type is JSON and the whole body is JSON, because services report a
// midstream timeout by appending a stack trace to a partial result. Responses that exceed the size limit are cut off
// while streaming. Stack traces, echoes of the query and all secrets are removed from error messages (failure.go).
//
// Sources: SPARQL 1.1 Protocol (W3C); RDF repository of Wikidata's query service (ThrottlingFilterConfig); QLever's
// server.
package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Defaults of [Config].
const (
	DefaultTimeout  = 70 * time.Second // Wikidata's own deadline is 60 s
	DefaultMaxBytes = 10 << 20
	maxWait         = 2 * time.Minute // longest wait for a budget; a longer one is a RateLimited failure
)

// Config configures a [Service]. All fields except Address and UserAgent have defaults.
type Config struct {
	Address   string      // address of the service; its parameters may contain a key, which is never shown
	UserAgent string      // with a contact; see politehttp.UserAgent
	Header    http.Header // sent with every request; the values are never shown
	Params    url.Values  // sent with every query; the values are never shown
	Timeout   time.Duration
	MaxBytes  int64 // size limit of a response
	Pace      Pace  // no budgets if zero
	Retry     politehttp.Policy
	QLever    bool // whether the service is QLever; see [Service.Query]
}

// Service is an HTTP service. It is safe for concurrent use.
type Service struct {
	lg    *slog.Logger
	cfg   Config
	hc    *http.Client
	clock politehttp.Clock
	rnd   func() float64
	gate  *gate
	scrub *politehttp.Scrubber // removes the secrets in the address, the headers and the parameters from text
}

// New returns a service. rt sends requests to its host (see politehttp.NewTransport); rnd returns random numbers in
// [0,1) for the delays between attempts; store keeps budgets and bans across restarts.
func New(lg *slog.Logger, cfg Config, rt http.RoundTripper, clock politehttp.Clock, rnd func() float64,
	store BudgetStore) (*Service, error) {
	if len(cfg.UserAgent) < 5 {
		return nil, errors.New("no User-Agent with a contact: the services return 403 without one; set CONTACT")
	}
	if u, err := url.Parse(cfg.Address); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("not an http or https address: %q", politehttp.ShownURL(cfg.Address))
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.Retry.Attempts == 0 {
		cfg.Retry = politehttp.Policy{Attempts: 3, Base: 2 * time.Second, Max: 30 * time.Second, MaxAfter: maxWait}
	}
	secrets := politehttp.URLSecrets(cfg.Address)
	for _, values := range []map[string][]string{cfg.Header, cfg.Params} {
		for _, v := range values {
			secrets = append(secrets, v...)
		}
	}
	return &Service{lg: lg, cfg: cfg, clock: clock, rnd: rnd, scrub: politehttp.NewScrubber(secrets...),
		hc:   &http.Client{Transport: rt, CheckRedirect: politehttp.CheckRedirect},
		gate: newGate(cfg.Address, cfg.Pace, store, clock)}, nil
}

// Host returns the service's host, including the port if the address has one.
func (s *Service) Host() string {
	u, err := url.Parse(s.cfg.Address)
	if err != nil {
		return "" // not possible, since New rejects such an address
	}
	return u.Host
}

// Shown returns the service's address without its secrets.
func (s *Service) Shown() string { return politehttp.ShownURL(s.cfg.Address) }

// Answer is the result of an HTTP exchange: the status and the part of the body that arrived, or the error that ended
// the exchange.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Err    error
	Took   time.Duration
}

// Do waits for its turn, sends the request that build returns, and passes the response to read, which returns the
// failure, or nil if there is none. It retries temporary failures, but not a refused connection or a nonexistent host.
func (s *Service) Do(ctx context.Context, build func(ctx context.Context) (*http.Request, error), read func(Answer,
	time.Time) *kg.Error) error {
	for attempt := 1; ; attempt++ {
		err := s.once(ctx, build, read)
		var ke *kg.Error
		if err == nil || !errors.As(err, &ke) {
			return err
		}
		if !s.again(ctx, attempt, ke) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return err
		}
	}
}

// once sends a single request through the gate.
func (s *Service) once(ctx context.Context, build func(ctx context.Context) (*http.Request, error), read func(Answer,
	time.Time) *kg.Error) error {
	req, err := build(ctx)
	if err != nil {
		return &kg.Error{Kind: kg.QueryFailed, Message: "the request cannot be sent", Err: s.scrub.Error(err)}
	}
	if err := s.gate.enter(ctx); err != nil {
		return err
	}
	failure := s.admitted(ctx, req, read)
	if failure == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.lg.DebugContext(ctx, "a request failed", "service", s.Shown(), "kind", failure.Kind,
		"message", failure.Message)
	return failure
}

// admitted sends a request that the gate has admitted, and leaves the gate even if there is a panic, which would
// otherwise block all later requests.
func (s *Service) admitted(ctx context.Context, req *http.Request, read func(Answer,
	time.Time) *kg.Error) (failure *kg.Error) {
	start := s.clock.Now()
	took := func() time.Duration { return s.clock.Now().Sub(start) }
	defer func() {
		if err := s.gate.leave(ctx, took(), failure); err != nil {
			s.lg.WarnContext(ctx, "the endpoint's account was not saved", "err", err)
		}
	}()
	a := s.exchange(ctx, req)
	took = func() time.Duration { return a.Took } // excludes the time that judge takes
	return s.shown(s.judge(a, read))
}

// judge passes a response to read. A redirect is always a failure.
func (s *Service) judge(a Answer, read func(Answer, time.Time) *kg.Error) *kg.Error {
	if a.Status >= 300 && a.Status < 400 {
		return kg.Errorf(kg.Down, "the endpoint redirects to another address (status %d); correct its address", a.Status)
	}
	return read(a, s.clock.Now())
}

// again reports whether a failed call should be retried, and waits before it returns. After a rate limit, it returns at
// once, because the next attempt waits in the gate.
func (s *Service) again(ctx context.Context, attempt int, e *kg.Error) bool {
	if attempt >= s.cfg.Retry.Attempts {
		return false
	}
	switch {
	case e.Kind == kg.RateLimited:
		return e.RetryAfter <= maxWait
	case e.Kind == kg.Down && nobody(e.Err) == "":
		wait, again := s.cfg.Retry.Next(attempt, downResult(e), s.clock.Now(), s.rnd())
		return again && s.clock.Sleep(ctx, wait) == nil
	}
	return false
}

// exchange sends req once and reads the response, up to the size limit and within the time limit.
func (s *Service) exchange(ctx context.Context, req *http.Request) Answer {
	start := s.clock.Now()
	tctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	req = req.Clone(tctx)
	for k, vs := range s.cfg.Header {
		for _, v := range vs {
			req.Header.Add(k, v)
		}
	}
	req.Header.Set("User-Agent", s.cfg.UserAgent)
	resp, err := s.hc.Do(req)
	if err != nil {
		return Answer{Err: s.netError(ctx, tctx, err), Took: s.clock.Now().Sub(start)}
	}
	defer resp.Body.Close()
	body, err := politehttp.ReadAll(resp.Body, s.cfg.MaxBytes)
	if err != nil {
		err = s.netError(ctx, tctx, err)
	}
	if resp.StatusCode >= 300 {
		body = []byte(s.scrub.Text(string(body))) // an error page may echo the request, including the key in its address
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body, Err: err, Took: s.clock.Now().Sub(start)}
}

// shown returns a failure without secrets. Errors from a 200 response may still contain them.
func (s *Service) shown(e *kg.Error) *kg.Error {
	if e == nil {
		return nil
	}
	clean := *e
	clean.Message, clean.Err = s.scrub.Text(e.Message), s.scrub.Error(e.Err)
	return &clean
}

// netError assigns a kind to the error from a failed exchange. If the caller's context is done, it returns the
// context's error.
func (s *Service) netError(ctx, tctx context.Context, err error) error {
	var large *politehttp.TooLargeError
	var refused *politehttp.RefusedError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case tctx.Err() != nil:
		return &kg.Error{Kind: kg.Timeout, Message: fmt.Sprintf("no complete answer within %s", s.cfg.Timeout), Err: err}
	case errors.As(err, &large):
		return &kg.Error{Kind: kg.TooLarge, Err: err,
			Message: fmt.Sprintf("the answer is larger than %d MB and was cut; ask for fewer rows or columns, or count",
				large.Limit>>20)}
	case errors.As(err, &refused):
		return &kg.Error{Kind: kg.Refused, Message: refused.Error(), Err: err}
	}
	return &kg.Error{Kind: kg.Down, Message: cmp.Or(nobody(err), "the connection failed or broke off"), Err: err}
}

// nobody returns a message if err means that there is no server at the address, so retrying within seconds does not
// help. Otherwise, it returns "".
func nobody(err error) string {
	var name *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing answers at this address (connection refused); start the service, or correct the address"
	case errors.As(err, &name) && name.IsNotFound:
		return "there is no host " + name.Name + "; correct the address"
	}
	return ""
}
