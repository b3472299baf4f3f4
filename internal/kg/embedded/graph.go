package embedded

import (
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/entity"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/limit"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/store"
)

// Options configures a graph's environment and limits. The zero value is usable: it has no clock, no randomness, and
// the default limits.
type Options struct {
	Name string           // the graph's name in results and errors; "embedded graph" if empty
	Now  func() time.Time // for NOW() and Elapsed; if nil, NOW() is an error and Elapsed is 0
	// for RAND(), UUID(), STRUUID() and samples; must be safe for concurrent use; if nil, the three functions are errors
	Random func() uint64
	// time limit per query; 0 means 60 s, the query service's own limit; negative means no limit
	Timeout   time.Duration
	MaxMemory int64 // memory limit per query in bytes; 0 means 256 MB
	MaxRows   int64 // maximum number of rows that [Graph.Query] may collect; 0 means 1,000,000
	MaxResult int64 // maximum size of a streamed response (package httpapi) in bytes; 0 means 256 MB

	// MaxTotalMemory is the total memory in bytes that concurrent queries may use; 0 means 1 GB. A query that cannot get
	// more memory fails with kg.TooGreedy. A query's first megabyte is not counted, so small queries can run at the same
	// time as greedy ones. The Go runtime lets the heap grow to about twice its live size before it collects garbage
	// (GOGC), so the process may need twice this amount, plus the graph itself.
	MaxTotalMemory int64
}

// Default limits of [Options].
const (
	DefaultTimeout   = 60 * time.Second
	DefaultMaxMemory = 256 << 20
	DefaultMaxRows   = 1_000_000
	DefaultMaxResult = 256 << 20
	DefaultMaxTotal  = 1 << 30
)

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "embedded graph"
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = DefaultMaxMemory
	}
	if o.MaxRows == 0 {
		o.MaxRows = DefaultMaxRows
	}
	if o.MaxResult == 0 {
		o.MaxResult = DefaultMaxResult
	}
	if o.MaxTotalMemory == 0 {
		o.MaxTotalMemory = DefaultMaxTotal
	}
	return o
}

// Graph is a read-only, in-memory knowledge graph. Its methods are safe for concurrent use.
type Graph struct {
	*entity.Reader
	store *store.Store
	opts  Options
	pool  *limit.Pool
	tune  tuning
}

// tuning contains the thresholds above which the algorithms for large data are used. Tests set them to zero so that
// those algorithms are always used.
type tuning struct {
	scan     int     // maximum number of rows in a table that is scanned rather than indexed
	scanOnce int     // the same limit, for a table that is built for a single search
	linkRows float64 // minimum number of input rows for which joining a table by equality filters pays off
	memoCost float64 // estimated cost of an EXISTS above which its results are cached
	favor    float64 // factor by which a table must be cheaper than row-by-row evaluation
}

var defaultTuning = tuning{scan: 8, scanOnce: 64, linkRows: 8, memoCost: 16, favor: 4}

func newGraph(s *store.Store, opts Options) *Graph {
	return (&Graph{Reader: entity.NewReader(s, ""), store: s, tune: defaultTuning}).With(opts)
}

// With returns a graph with the same triples but different options. The two graphs share the triples and their indexes.
func (g *Graph) With(opts Options) *Graph {
	opts = opts.withDefaults()
	return &Graph{Reader: g.Reader.Named(opts.Name), store: g.store, opts: opts,
		pool: &limit.Pool{Size: opts.MaxTotalMemory}, tune: g.tune}
}

// Name returns the graph's name.
func (g *Graph) Name() string { return g.opts.Name }

// Timeout returns the time limit per query. It is negative if there is none.
func (g *Graph) Timeout() time.Duration { return g.opts.Timeout }

// MaxResult returns the maximum size of a streamed response in bytes.
func (g *Graph) MaxResult() int64 { return g.opts.MaxResult }

// Len returns the number of triples.
func (g *Graph) Len() int { return g.store.Triples }

// Digest returns a hash of the graph's terms and triples. It takes about a second for ten million triples.
func (g *Graph) Digest() string { return g.store.Digest() }
