// Package graphs opens the graphs in the registry as the agent's sources, and implements the kg command.
package graphs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/index/opensearch"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/endpoint"
	"github.com/spinachbot/spinachbot/internal/kg/registry"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/kg/wikidata"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Names of graphs that are not entries in a file.
const (
	Main     = "wikidata" // the services in the settings, unless KG_FILE has an entry with this name
	Embedded = "embedded" // the built-in slice
	Data     = "data"     // a graph read from files that are not an excerpt from Wikidata
)

// Opener opens graphs. All fields except Wrap and Embed are required.
type Opener struct {
	Log       *slog.Logger
	Registry  *registry.Registry
	DataDir   string                              // stores measurements and shapes
	UserAgent func(loopback bool) (string, error) // see politehttp.UserAgent
	Lookup    func(name string) (string, bool)    // the environment, for headers and parameters
	Clock     politehttp.Clock
	Random    func() float64 // in [0,1)
	Budgets   remote.BudgetStore
	Wrap      func(http.RoundTripper) http.RoundTripper // wraps each transport if not nil
	Main      func() (tool.Graph, error)                // the services in the settings
	Builtin   func() (*embedded.Graph, error)           // the built-in slice
	Embed     lookup.Embedder                           // for searches by meaning; if nil, word stems are used
}

// Check checks that names, a comma-separated list, contains only names of graphs and no duplicates.
func Check(r *registry.Registry, names string) error {
	var seen []string
	for _, name := range split(names) {
		if slices.Contains(seen, name) {
			return fmt.Errorf("the graph %s is listed twice", name)
		}
		seen = append(seen, name)
		if name == Embedded {
			continue
		}
		if _, err := r.Named(name); err != nil {
			return err
		}
	}
	if len(seen) == 0 {
		return errors.New("no graph is specified")
	}
	return nil
}

func split(names string) []string {
	return strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
}

// Open opens the graphs in names, a comma-separated list. The first one is the main graph.
func (o *Opener) Open(ctx context.Context, names string) (agent.Sources, error) {
	if err := Check(o.Registry, names); err != nil {
		return nil, err
	}
	var out agent.Sources
	for _, name := range split(names) {
		s, err := o.open(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("the graph %s: %w", name, err)
		}
		out = append(out, *s)
	}
	return out, nil
}

func (o *Opener) open(ctx context.Context, name string) (*tool.Source, error) {
	if name == Embedded {
		g, err := o.Builtin()
		if err != nil {
			return nil, err
		}
		return o.Data(ctx, g, true)
	}
	e, err := o.Registry.Named(name)
	if err != nil {
		return nil, err
	}
	if name == Main && e.BuiltIn() {
		g, err := o.Main()
		if err != nil {
			return nil, err
		}
		return o.complete(ctx, e, wikibaseSource(g, e.Description)), nil
	}
	s, err := o.Entry(e)
	if err != nil {
		return nil, err
	}
	return o.complete(ctx, e, s), nil
}

// wikibaseSource returns a source for a graph that works like Wikidata.
func wikibaseSource(g tool.Graph, d kg.Description) *tool.Source {
	s := agent.Wikibase(g)[0]
	s.Explain = d
	return &s
}

// Data returns a source for an in-memory graph. If the graph is not a Wikibase, Data examines it. builtin is true for
// the built-in slice.
func (o *Opener) Data(ctx context.Context, g *embedded.Graph, builtin bool) (*tool.Source, error) {
	kind, err := g.Query(ctx, "ASK { ?s wdt:P31 ?o }")
	if err != nil {
		return nil, err
	}
	e := &registry.Entry{}
	if builtin || kind.Boolean || g.Len() == 0 {
		main, err := registry.New().Named(Main)
		if err != nil {
			return nil, err
		}
		e.Description = main.Description
		e.Description.Endpoint, e.Description.About = "", "A small part of Wikidata."
		s := wikibaseSource(g, e.Description)
		o.lacks(ctx, e, g.Query, s)
		return o.shapes(s, o.shapesOf(g), nil), nil
	}
	p, err := registry.Ask(ctx, g.Query)
	if err != nil {
		return nil, err
	}
	e.Description = p.Description
	e.Description.Name, e.Description.Title = Data, g.Name()
	e.Description = registry.WithPrefixes(e.Description)
	s, err := o.plain(e, g.Query)
	if err != nil {
		return nil, err
	}
	o.lacks(ctx, e, g.Query, s)
	return o.shapes(s, o.shapesOf(g), nil), nil
}

// Service returns a client for an entry's query service. An error means that the user's settings are wrong.
func (o *Opener) Service(e *registry.Entry) (*remote.Service, error) {
	headers, params, err := e.Secrets(o.Lookup)
	if err != nil {
		return nil, err
	}
	local := loopback(e.Address)
	ua, err := o.UserAgent(local)
	if err != nil {
		return nil, err
	}
	rt, err := o.transport(ua, e.Address)
	if err != nil {
		return nil, err
	}
	cfg := remote.Config{Address: e.Address, UserAgent: ua, Header: http.Header{}, Params: url.Values{},
		Timeout: e.Timeout,
		Pace:    remote.DefaultPace(), QLever: e.Dialect == "qlever"}
	if local {
		cfg.Pace = remote.Pace{} // a server on this machine does not limit requests
	}
	for k, v := range headers {
		cfg.Header.Set(k, v)
	}
	for k, v := range params {
		cfg.Params.Set(k, v)
	}
	return remote.New(o.Log, cfg, rt, o.Clock, o.Random, o.Budgets)
}

func (o *Opener) transport(ua string, hosts ...string) (http.RoundTripper, error) {
	rt, err := politehttp.NewTransport(politehttp.Options{UserAgent: ua, Hosts: hosts})
	if err == nil && o.Wrap != nil {
		rt = o.Wrap(rt)
	}
	return rt, err
}

// loopback reports whether an address is on this machine.
func loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Entry returns a source for an entry, without shapes or measurements. An error means that the user's settings are
// wrong.
func (o *Opener) Entry(e *registry.Entry) (*tool.Source, error) {
	service, err := o.Service(e)
	if err != nil {
		return nil, err
	}
	s, err := o.plain(e, service.Query)
	if err != nil || e.EntityAPI == "" {
		return s, err
	}
	ua, err := o.UserAgent(loopback(e.Address) && loopback(e.EntityAPI))
	if err != nil {
		return nil, err
	}
	rt, err := o.transport(ua, e.Address, e.EntityAPI)
	if err != nil {
		return nil, err
	}
	api, err := wikidata.New(o.Log, wikidata.Config{SPARQL: e.Address, API: e.EntityAPI, UserAgent: ua}, rt, o.Clock,
		o.Random, o.Budgets)
	if err != nil {
		return nil, err
	}
	out := wikibaseSource(&joined{api, s.Graph}, e.Description)
	if e.Indexed() {
		out.Finder = s.Finder
	}
	return out, nil
}

// Unindexed returns a source for the graph with this name. The source uses only queries, even if the entry specifies an
// index, since the index may be the one being built.
func (o *Opener) Unindexed(name string) (*tool.Source, error) {
	e, err := o.Registry.Named(name)
	if err != nil {
		return nil, err
	}
	bare := *e
	bare.Index, bare.OpenSearch = "", nil
	return o.Entry(&bare)
}

// joined gets entities from a Wikibase's API, but sends queries to a different service.
type joined struct {
	*wikidata.Client
	queries tool.Graph
}

// Query runs a query.
func (j *joined) Query(ctx context.Context, query string) (*kg.Table, error) {
	return j.queries.Query(ctx, query)
}

// File opens the index file specified in an entry.
func (o *Opener) File(e *registry.Entry) (*lookup.File, error) {
	path := e.Index
	if filepath.Ext(path) == "" {
		path = filepath.Join(path, lookup.FileName)
	}
	file, err := lookup.Open(path, o.Embed)
	if err != nil {
		return nil, fmt.Errorf("its index: %w", err)
	}
	return file, nil
}

// OpenSearch returns a client for an entry's OpenSearch server. An error means that the user's settings are wrong.
func (o *Opener) OpenSearch(e *registry.Entry) (*opensearch.Client, error) {
	if e.OpenSearch == nil {
		return nil, fmt.Errorf("the graph %s has no opensearch key in KG_FILE", e.Name)
	}
	user, password, err := e.SearchLogin(o.Lookup)
	if err != nil {
		return nil, err
	}
	ua, err := o.UserAgent(loopback(e.OpenSearch.Address))
	if err != nil {
		return nil, err
	}
	rt, err := o.transport(ua, e.OpenSearch.Address)
	if err != nil {
		return nil, err
	}
	return opensearch.New(e.OpenSearch.Address, e.OpenSearch.Index, opensearch.Login{User: user, Password: password}, rt)
}

// Index opens an entry's name index, which is a file or in OpenSearch. An error means that the user's settings are
// wrong.
func (o *Opener) Index(e *registry.Entry) (lookup.Searcher, error) {
	if e.OpenSearch != nil {
		return o.OpenSearch(e)
	}
	if e.Index == "" {
		return nil, fmt.Errorf("the graph %s has no index; specify one with the index or opensearch key in KG_FILE", e.Name)
	}
	return o.File(e)
}

// plain returns a source that uses only queries and, if the entry has one, its index.
func (o *Opener) plain(e *registry.Entry, query endpoint.Query) (*tool.Source, error) {
	opts := endpoint.Options{Log: o.Log, Graph: e.Description, Query: query, Embed: o.Embed, Now: o.Clock.Now}
	if e.Indexed() {
		index, err := o.Index(e)
		if err != nil {
			return nil, err
		}
		opts.Index = index
	}
	for _, other := range o.Registry.Entries() {
		opts.Federate = append(opts.Federate, other.Address)
	}
	g, err := endpoint.New(opts)
	if err != nil {
		return nil, err
	}
	return &tool.Source{Graph: g, Labels: g, Finder: g, Explain: e.Description}, nil
}

// complete adds shapes and the graph's known gaps to a source. If a graph from the settings or a file has no up-to-date
// measurement, its gaps are measured. A recorded or replayed question does not use stored measurements.
func (o *Opener) complete(ctx context.Context, e *registry.Entry, s *tool.Source) *tool.Source {
	if o.Wrap == nil {
		if m, ok := registry.Recall(o.DataDir, e, o.Clock.Now()); ok {
			s.Explain.Lacks, s.Explain.MeasuredAt = m.Lacks, m.At
		} else if !e.BuiltIn() {
			o.measure(ctx, e, s)
		}
	}
	void, err := o.void(e)
	if err != nil {
		o.Log.WarnContext(ctx, "the graph's description of itself cannot be read", "graph", e.Name, "err", err)
	}
	return o.shapes(s, shape.Folder(filepath.Join(o.DataDir, "shapes", e.Name)), void)
}

// measureTime is the maximum time that a question waits for its graph's gaps to be measured.
const measureTime = 15 * time.Second

// measure determines what a graph lacks and stores the result. This is optional, so failures are only logged.
func (o *Opener) measure(ctx context.Context, e *registry.Entry, s *tool.Source) {
	ctx, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	if !o.lacks(ctx, e, s.Graph.Query, s) {
		return
	}
	m := registry.Measurement{Endpoint: e.Endpoint, At: s.Explain.MeasuredAt, Lacks: s.Explain.Lacks}
	if err := registry.Keep(o.DataDir, e, m); err != nil {
		o.Log.WarnContext(ctx, "the measurement of the graph's gaps was not stored", "graph", e.Name, "err", err)
	}
}

// lacks determines what a graph lacks, and adds it to the graph's description.
func (o *Opener) lacks(ctx context.Context, e *registry.Entry, query registry.Query, s *tool.Source) bool {
	lacks, err := registry.Lacks(ctx, query, &e.Description)
	if err != nil {
		o.Log.WarnContext(ctx, "the graph's gaps cannot be measured", "graph", e.Name, "err", err)
		return false
	}
	s.Explain.Lacks = lacks
	if e.Address != "" { // an in-memory graph does not change
		s.Explain.MeasuredAt = o.Clock.Now().UTC().Truncate(time.Second)
	}
	return true
}

// shapes adds class shapes to a source.
func (o *Opener) shapes(s *tool.Source, store shape.Store, void describe) *tool.Source {
	opts := shape.Options{Log: o.Log, Graph: s.Explain, Query: s.Graph.Query, Now: o.Clock.Now, Store: store, VoID: void}
	if s.Labels != nil {
		opts.Labels = s.Labels.Labels
	}
	if s.Finder != nil {
		opts.Find = s.Finder.Find
	}
	m, err := shape.New(opts)
	if err != nil {
		o.Log.Warn("shapes are not available", "graph", s.Explain.Name, "err", err)
		return s
	}
	s.Shapes = m
	return s
}
