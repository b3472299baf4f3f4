package embedded

import (
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/entity"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/limit"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/store"
)

// Options are the environment and limits of a graph. The zero value works: no clock, no randomness, the default
// limits.
type Options struct {
	Name string           // the graph's name in results and errors; "embedded graph" when empty
	Now  func() time.Time // for NOW() and Elapsed; without it NOW() is an error and Elapsed 0
	// for RAND(), UUID(), STRUUID() and samples; safe for concurrent use; without it those are errors
	Random func() uint64
	// longest time of one query; 0 means 60 s, the query service's own limit; negative means none
	Timeout   time.Duration
	MaxMemory int64 // bytes that one query may hold; 0 means 256 MB
	MaxRows   int64 // rows that [Graph.Query] collects before it gives up; 0 means 1,000,000
	MaxResult int64 // bytes of one streamed answer (package httpapi), after which it is cut off; 0 means 256 MB

	// MaxTotalMemory is what all queries that run at the same time may hold together, in bytes; 0 means 1 GB.
	// A query that cannot get more ends with kg.TooGreedy; the first megabyte of each is free, so that small
	// queries can run while greedy ones. The Go runtime lets a heap grow to about twice what is in use before
	// it collects (GOGC), so the process may need twice this sum, and the graph itself.
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

// Graph is a read-only knowledge graph in memory. All methods are safe for any number of goroutines at once.
type Graph struct {
	*entity.Reader
	store *store.Store
	opts  Options
	pool  *limit.Pool
	tune  tuning
}

// tuning has the sizes above which the methods for large data are used; tests set them to zero to use those methods
// always.
type tuning struct {
	scan     int     // maximum number of rows of a table that is scanned rather than indexed
	scanOnce int     // the same of a table that is made for one search
	linkRows float64 // number of rows before a part above which a table joined by equations is worthwhile
	memoCost float64 // estimated work of an EXISTS above which its answers are cached
	favor    float64 // factor by which a table must be less work than going row by row
}

var defaultTuning = tuning{scan: 8, scanOnce: 64, linkRows: 8, memoCost: 16, favor: 4}

func newGraph(s *store.Store, opts Options) *Graph {
	opts = opts.withDefaults()
	return &Graph{Reader: entity.NewReader(s, opts.Name), store: s, opts: opts,
		pool: &limit.Pool{Size: opts.MaxTotalMemory}, tune: defaultTuning}
}

// Name is the graph's name.
func (g *Graph) Name() string { return g.opts.Name }

// Timeout is the longest time of one query; negative when there is no limit.
func (g *Graph) Timeout() time.Duration { return g.opts.Timeout }

// MaxResult returns the maximum length of a streamed answer in bytes.
func (g *Graph) MaxResult() int64 { return g.opts.MaxResult }

// Len is the number of triples.
func (g *Graph) Len() int { return g.store.Triples }

// Digest is a hash of the graph's terms and triples. It takes a second for some ten million triples.
func (g *Graph) Digest() string { return g.store.Digest() }
