// Package wikidata is the adapter to Wikidata's services, or to servers that speak like them: entity search, entity pages, property examples and
// labels by the Wikibase API, queries by the Wikidata Query Service.
//
// [Client] has the methods of agent.Graph and agent.Labeler. Every failure is a *kg.Error with its kind, or the context's error.
//
// Requests keep the manners of package remote: one at a time to an endpoint, within its budgets, never during a ban.
// Values of entity pages become the RDF terms that the query service has for them (snak.go).
//
// Sources: RDF repository of the query service (ThrottlingFilterConfig), Wikibase's docs/topics/json.md and repo/includes/Api.
package wikidata

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/cache"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Addresses and limits of Wikidata's own services.
const (
	DefaultSPARQL       = "https://query.wikidata.org/sparql"
	DefaultAPI          = "https://www.wikidata.org/w/api.php"
	DefaultQueryTimeout = remote.DefaultTimeout
	DefaultAPITimeout   = 30 * time.Second
	DefaultMaxBytes     = remote.DefaultMaxBytes
	DefaultCacheTTL     = time.Hour
	defaultEntities     = 256
	defaultLabels       = 50_000
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
	Pace         remote.Pace // budgets of the query service
	Retry        politehttp.Policy
}

// Client accesses one Wikibase and its query service. It is safe for concurrent use.
type Client struct {
	lg       *slog.Logger
	cfg      Config
	api      *remote.Service
	main     *remote.Service
	fallback *remote.Service // nil when there is none
	entities *cache.Cache[entityKey, *kg.Entity]
	examples *cache.Cache[entityKey, []kg.Example]
	labels   *cache.Cache[labelKey, string] // "" for a language without label
}

// New returns a client. rt reaches the configured hosts (see politehttp.NewTransport); rnd returns random numbers in [0,1) for the waits between
// attempts; store keeps budgets and bans over restarts.
func New(lg *slog.Logger, cfg Config, rt http.RoundTripper, clock politehttp.Clock, rnd func() float64, store remote.BudgetStore) (*Client, error) {
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
		lg: lg, cfg: cfg,
		entities: cache.New[entityKey, *kg.Entity](defaultEntities, cfg.CacheTTL, clock.Now),
		examples: cache.New[entityKey, []kg.Example](defaultEntities, cfg.CacheTTL, clock.Now),
		labels:   cache.New[labelKey, string](defaultLabels, cfg.CacheTTL, clock.Now),
	}
	for _, part := range []struct {
		service **remote.Service
		address string
		timeout time.Duration
		pace    remote.Pace
	}{{&c.main, cfg.SPARQL, cfg.QueryTimeout, cfg.Pace}, {&c.fallback, cfg.Fallback, cfg.QueryTimeout, cfg.Pace}, {&c.api, cfg.API, cfg.APITimeout, remote.Pace{}}} {
		if part.address == "" {
			continue
		}
		var err error
		*part.service, err = remote.New(lg, remote.Config{Address: part.address, UserAgent: cfg.UserAgent, Timeout: part.timeout,
			MaxBytes: cfg.MaxBytes, Pace: part.pace, Retry: cfg.Retry}, rt, clock, rnd, store)
		if err != nil {
			return nil, fmt.Errorf("wikidata: %w", err)
		}
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
	if cfg.Pace == (remote.Pace{}) {
		cfg.Pace = remote.DefaultPace()
	}
	return cfg
}
