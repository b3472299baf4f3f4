// Package wikidata is the adapter to Wikidata's services, or to servers that speak like them: entity search, entity pages, property examples and
// labels by the Wikibase API, queries by the Wikidata Query Service.
//
// [Client] has the methods of agent.Graph and agent.Labeler. Every failure is a *kg.Error with its kind, or the context's error.
//
// # Manners
//
// Requests to one endpoint go out one at a time, under a User-Agent with the operator's contact. For queries the client keeps its own account of the
// service's two budgets (time and errors, see [Pace]) and waits before it would be throttled. A Retry-After is obeyed; after a ban (403) nothing at all
// is sent until it is over. Account and ban live in a [BudgetStore] and so outlast a restart (gate.go).
//
// # Truth
//
// A response with status 200 is a result only when the whole body is JSON: the service reports a timeout in mid-stream by appending a stack trace to
// half a result. Responses are cut while streaming when they pass the size limit. Error texts lose the stack trace and the echo of the query
// (failure.go). Values of entity pages become the RDF terms that the query service has for them (snak.go).
//
// Sources: RDF repository of the query service (ThrottlingFilterConfig), Wikibase's docs/topics/json.md and repo/includes/Api.
package wikidata

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Addresses and limits of Wikidata's own services.
const (
	DefaultSPARQL       = "https://query.wikidata.org/sparql"
	DefaultAPI          = "https://www.wikidata.org/w/api.php"
	DefaultQueryTimeout = 70 * time.Second // the service's own deadline is 60 s
	DefaultAPITimeout   = 30 * time.Second
	DefaultMaxBytes     = 10 << 20
	DefaultCacheTTL     = time.Hour
	defaultEntities     = 256
	defaultLabels       = 50_000
	maxWait             = 2 * time.Minute // longest wait for a budget before the call fails as rate limited
)

// Config configures a [Client]. Zero fields but UserAgent have defaults.
type Config struct {
	SPARQL       string // address of the query service
	Fallback     string // second endpoint, asked when the first is down or timed out; may be empty
	API          string // address of the wiki's api.php
	UserAgent    string // with a contact, see politehttp.UserAgent
	QueryTimeout time.Duration
	APITimeout   time.Duration
	MaxBytes     int64 // size limit of a response
	CacheTTL     time.Duration
	Pace         Pace // budgets of the query service
	Retry        politehttp.Policy
}

// Client accesses one Wikibase and its query service. It is safe for concurrent use.
type Client struct {
	lg       *slog.Logger
	cfg      Config
	hc       *http.Client
	clock    politehttp.Clock
	rnd      func() float64
	api      *gate
	main     *gate
	fallback *gate // nil when there is none
	entities *cache[entityKey, *kg.Entity]
	examples *cache[entityKey, []kg.Example]
	labels   *cache[labelKey, string] // "" for a language without label
	scrub    *politehttp.Scrubber     // knows the keys in the addresses
}

// New returns a client. rt reaches the configured hosts (see politehttp.NewTransport); rnd returns random numbers in [0,1) for the waits between
// attempts; store keeps budgets and bans over restarts.
func New(lg *slog.Logger, cfg Config, rt http.RoundTripper, clock politehttp.Clock, rnd func() float64, store BudgetStore) (*Client, error) {
	if len(cfg.UserAgent) < 5 {
		return nil, errors.New("wikidata: no User-Agent with a contact: the services answer 403 without one; set CONTACT")
	}
	cfg = withDefaults(cfg)
	for _, a := range []struct{ setting, address string }{{"SPARQL_ENDPOINT", cfg.SPARQL}, {"SPARQL_FALLBACK", cfg.Fallback}, {"the API's address", cfg.API}} {
		if u, err := url.Parse(a.address); a.address != "" && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https")) {
			return nil, fmt.Errorf("wikidata: %s is not an http or https address: %q", a.setting, politehttp.ShownURL(a.address))
		}
	}
	c := &Client{
		lg: lg, cfg: cfg, clock: clock, rnd: rnd,
		hc:       &http.Client{Transport: rt, CheckRedirect: politehttp.CheckRedirect},
		api:      newGate(cfg.API, Pace{}, store, clock),
		main:     newGate(cfg.SPARQL, cfg.Pace, store, clock),
		entities: newCache[entityKey, *kg.Entity](defaultEntities, cfg.CacheTTL, clock.Now),
		examples: newCache[entityKey, []kg.Example](defaultEntities, cfg.CacheTTL, clock.Now),
		labels:   newCache[labelKey, string](defaultLabels, cfg.CacheTTL, clock.Now),
	}
	var secrets []string
	for _, address := range []string{cfg.SPARQL, cfg.Fallback, cfg.API} {
		secrets = append(secrets, politehttp.URLSecrets(address)...)
	}
	c.scrub = politehttp.NewScrubber(secrets...)
	if cfg.Fallback != "" {
		c.fallback = newGate(cfg.Fallback, cfg.Pace, store, clock)
	}
	return c, nil
}

func withDefaults(cfg Config) Config {
	if cfg.SPARQL == "" {
		cfg.SPARQL = DefaultSPARQL
	}
	if cfg.API == "" {
		cfg.API = DefaultAPI
	}
	if cfg.QueryTimeout <= 0 {
		cfg.QueryTimeout = DefaultQueryTimeout
	}
	if cfg.APITimeout <= 0 {
		cfg.APITimeout = DefaultAPITimeout
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.CacheTTL <= 0 {
		cfg.CacheTTL = DefaultCacheTTL
	}
	if cfg.Pace == (Pace{}) {
		cfg.Pace = DefaultPace()
	}
	if cfg.Retry.Attempts == 0 {
		cfg.Retry = politehttp.Policy{Attempts: 3, Base: 2 * time.Second, Max: 30 * time.Second, MaxAfter: maxWait}
	}
	return cfg
}

// answer is what one HTTP exchange brought: the status with as much of the body as came, or the error that ended it.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error
	took   time.Duration
}

// exchange sends req once and reads the answer up to the size limit within timeout.
func (c *Client) exchange(ctx context.Context, req *http.Request, timeout time.Duration) answer {
	start := c.clock.Now()
	tctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req = req.Clone(tctx)
	req.Header.Set("User-Agent", c.cfg.UserAgent)
	resp, err := c.hc.Do(req)
	if err != nil {
		return answer{err: c.netError(ctx, tctx, err, timeout), took: c.clock.Now().Sub(start)}
	}
	body, err := politehttp.ReadAll(resp.Body, c.cfg.MaxBytes)
	if err != nil {
		err = c.netError(ctx, tctx, err, timeout)
	}
	if resp.StatusCode >= 300 {
		body = []byte(c.scrub.Text(string(body))) // an error page may echo the request, with the key in its address
	}
	return answer{status: resp.StatusCode, header: resp.Header, body: body, err: err, took: c.clock.Now().Sub(start)}
}

// shown returns a failure without secrets. Failures in an answer with status 200 have them still.
func (c *Client) shown(e *kg.Error) *kg.Error {
	if e == nil {
		return nil
	}
	clean := *e
	clean.Message, clean.Err = c.scrub.Text(e.Message), c.scrub.Error(e.Err)
	return &clean
}

// netError sets the kind of a failed exchange's error. The caller's own context error stays what it is.
func (c *Client) netError(ctx, tctx context.Context, err error, timeout time.Duration) error {
	var large *politehttp.TooLargeError
	var refused *politehttp.RefusedError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case tctx.Err() != nil:
		return &kg.Error{Kind: kg.Timeout, Message: fmt.Sprintf("no complete answer within %s", timeout), Err: err}
	case errors.As(err, &large):
		return &kg.Error{Kind: kg.TooLarge, Err: err,
			Message: fmt.Sprintf("the answer is larger than %d MB and was cut; ask for fewer rows or columns, or count", large.Limit>>20)}
	case errors.As(err, &refused):
		return &kg.Error{Kind: kg.Refused, Message: refused.Error(), Err: err}
	}
	return &kg.Error{Kind: kg.Down, Message: "the connection failed or broke off", Err: err}
}
