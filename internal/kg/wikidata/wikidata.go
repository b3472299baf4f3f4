// Package wikidata is the adapter for Wikidata's services and compatible servers: entity search, entity pages, property
// examples and labels use the Wikibase API, and queries use the Wikidata Query Service.
//
// [Client] implements agent.Graph and agent.Labeler. Every failure is a *kg.Error with its kind, or the context's
// error.
//
// Optionally, [Client.Find] also searches Wikidata's vector database (vector.go), and single entities are fetched from
// the REST API (rest.go). The second query service may be QLever, for which queries are rewritten (query.go).
//
// Requests follow the rules of package remote: the client sends each endpoint one request at a time, stays within its
// budgets, and sends nothing during a ban. Values on entity pages are converted to the RDF terms that the query service
// uses for them (snak.go).
//
// Sources: RDF repository of the query service (ThrottlingFilterConfig), Wikibase's docs/topics/json.md and
// repo/includes/Api; OpenAPI descriptions of the REST API and the vector database.
package wikidata

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/cache"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// URLs and limits of Wikidata's own services.
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

// Config configures a [Client]. All fields except UserAgent have defaults.
type Config struct {
	SPARQL   string // URL of the query service
	Fallback string // second endpoint, used if the first one is down or times out; may be empty
	// dialect of the second endpoint: wdqs, qlever or standard; "" or auto means qlever if the host name contains it, and
	// otherwise wdqs
	FallbackDialect string
	API             string // URL of the wiki's api.php
	REST            string // URL of Wikibase's REST API, for single entities; may be empty
	Vector          string // URL of the search by meaning (Wikidata's vector database); may be empty
	UserAgent       string // must include a contact; see politehttp.UserAgent
	QueryTimeout    time.Duration
	APITimeout      time.Duration
	MaxBytes        int64 // size limit of a response
	CacheTTL        time.Duration
	Pace            remote.Pace // budgets of the query service
	Retry           politehttp.Policy
}

// Client accesses one Wikibase and its query service. It is safe for concurrent use.
type Client struct {
	lg       *slog.Logger
	cfg      Config
	api      *remote.Service
	main     *speaker
	fallback *speaker        // nil if there is none
	rest     *remote.Service // likewise
	vector   *vector         // likewise
	entities *cache.Cache[entityKey, *kg.Entity]
	examples *cache.Cache[entityKey, []kg.Example]
	labels   *cache.Cache[labelKey, string] // "" for a language without a label
}

// New returns a client. rt sends requests to the configured hosts (see politehttp.NewTransport); rnd returns random
// numbers in [0,1) for the waits between attempts; store keeps budgets and bans across restarts.
func New(lg *slog.Logger, cfg Config, rt http.RoundTripper, clock politehttp.Clock, rnd func() float64,
	store remote.BudgetStore) (*Client, error) {
	if len(cfg.UserAgent) < 5 {
		return nil, errors.New("wikidata: no User-Agent with a contact: the services return 403 without one; set CONTACT")
	}
	cfg = withDefaults(cfg)
	for _, a := range []struct{ setting, address string }{{"SPARQL_ENDPOINT", cfg.SPARQL}, {"SPARQL_FALLBACK",
		cfg.Fallback}, {"the API's address", cfg.API},
		{"ENTITY_REST", cfg.REST}, {"VECTOR_SEARCH", cfg.Vector}} {
		if u, err := url.Parse(a.address); a.address != "" && (err != nil || u.Host == "" || (u.Scheme != "http" &&
			u.Scheme != "https")) {
			return nil, fmt.Errorf("wikidata: %s is not an http or https address: %q", a.setting, politehttp.ShownURL(a.address))
		}
	}
	c := &Client{
		lg: lg, cfg: cfg,
		entities: cache.New[entityKey, *kg.Entity](defaultEntities, cfg.CacheTTL, clock.Now),
		examples: cache.New[entityKey, []kg.Example](defaultEntities, cfg.CacheTTL, clock.Now),
		labels:   cache.New[labelKey, string](defaultLabels, cfg.CacheTTL, clock.Now),
	}
	dialects := []rewrite.Target{rewrite.WDQS, rewrite.QLever, rewrite.Standard}
	if to := cfg.FallbackDialect; !slices.Contains(dialects, rewrite.Target(to)) {
		return nil, fmt.Errorf("wikidata: SPARQL_FALLBACK_DIALECT is %q; it must be auto, wdqs, qlever or standard", to)
	}
	var main, second, byMeaning *remote.Service
	for _, part := range []struct {
		service **remote.Service
		address string
		timeout time.Duration
		pace    remote.Pace
		qlever  bool
		retry   politehttp.Policy
	}{
		{&main, cfg.SPARQL, cfg.QueryTimeout, cfg.Pace, false, cfg.Retry},
		{&second, cfg.Fallback, cfg.QueryTimeout, cfg.Pace, cfg.FallbackDialect == string(rewrite.QLever), cfg.Retry},
		{&c.api, cfg.API, cfg.APITimeout, remote.Pace{}, false, cfg.Retry},
		{&c.rest, cfg.REST, cfg.APITimeout, remote.Pace{}, false, cfg.Retry},
		{&byMeaning, cfg.Vector, vectorTimeout, vectorPace, false, politehttp.Policy{Attempts: 1}},
	} {
		if part.address == "" {
			continue
		}
		var err error
		*part.service, err = remote.New(lg, remote.Config{Address: part.address, UserAgent: cfg.UserAgent,
			Timeout:  part.timeout,
			MaxBytes: cfg.MaxBytes, Pace: part.pace, Retry: part.retry, QLever: part.qlever}, rt, clock, rnd, store)
		if err != nil {
			return nil, fmt.Errorf("wikidata: %w", err)
		}
	}
	c.main = &speaker{main, rewrite.WDQS}
	if second != nil {
		c.fallback = &speaker{second, rewrite.Target(cfg.FallbackDialect)}
	}
	if byMeaning != nil {
		c.vector = &vector{service: byMeaning, address: strings.TrimRight(cfg.Vector, "/"), lg: lg, now: clock.Now}
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
	if cfg.FallbackDialect == "" || cfg.FallbackDialect == "auto" {
		cfg.FallbackDialect = string(rewrite.WDQS)
		if u, err := url.Parse(cfg.Fallback); err == nil && strings.Contains(u.Hostname(), "qlever") {
			cfg.FallbackDialect = string(rewrite.QLever)
		}
	}
	return cfg
}
