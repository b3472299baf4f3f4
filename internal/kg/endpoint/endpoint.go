// Package endpoint turns any SPARQL 1.1 query service into a graph for the agent: it implements searches, entity pages,
// examples of properties and labels with queries, using the vocabulary of the graph's kg.Description. It queries the
// service through a function, such as the Query method of remote.Service or of the embedded graph.
//
//	endpoint.go  queries, rewritten in the service's dialect
//	labels.go    labels for IRIs
//	page.go      entity pages and examples for graphs that are not Wikibases
//	wikibase.go  the same for a Wikibase: its triples are fetched, then read as in the embedded graph
//	search.go    word search, in an index or in the graph's labels
//	names.go     label search with queries
//
// The package bounds its own queries: each has a LIMIT, and IRIs are requested in batches. They contain outside text
// only as escaped literals, and IRIs only if they do not need escaping.
package endpoint

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/cache"
	"github.com/spinachbot/spinachbot/internal/kg/finder"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// Query runs a query. Failures are *kg.Error values or the error of ctx.
type Query func(ctx context.Context, query string) (*kg.Table, error)

// Options configures a [Graph]. Graph and Query are required.
type Options struct {
	Log      *slog.Logger
	Graph    kg.Description
	Query    Query
	Index    lookup.Searcher  // index of entity and property names; if nil, the graph is searched with queries
	Embed    lookup.Embedder  // for semantic search among candidates; if nil, such searches compare stems
	Now      func() time.Time // if nil, cached values do not expire
	Federate []string         // endpoint URLs that queries may use in SERVICE
}

// Cache sizes, and how long caches keep values.
const (
	keep        = time.Hour
	keptLabels  = 50_000
	keptPages   = 256
	keptEntries = 20_000
)

// Graph is a graph behind a query service. It implements the agent's Graph, Labeler and Finder interfaces, and is safe
// for concurrent use if its parts are.
type Graph struct {
	o      Options
	labels *cache.Cache[labelKey, string]
	pages  *cache.Cache[pageKey, *kg.Entity]
	names  *names
	find   *finder.Finder
}

// New returns a graph.
func New(o Options) (*Graph, error) {
	if o.Query == nil {
		return nil, errors.New("endpoint: no query function")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	if len(o.Graph.Labels) == 0 {
		o.Graph.Labels = []string{"<" + rdf.RDFSLabel + ">"}
	}
	g := &Graph{o: o, labels: cache.New[labelKey, string](keptLabels, keep, o.Now), pages: cache.New[pageKey,
		*kg.Entity](keptPages, keep, o.Now)}
	g.names = &names{g: g, entries: cache.New[string, []lookup.Entry](keptEntries, keep, o.Now)}
	g.find = &finder.Finder{Index: o.Index, Graph: &g.o.Graph, Embed: o.Embed}
	if o.Index == nil {
		g.find.Index = g.names
	}
	if o.Graph.IsWikibase() {
		g.find.Properties = g.facts
	}
	return g, nil
}

// Description returns the graph's description. Callers must not modify it.
func (g *Graph) Description() kg.Description { return g.o.Graph }

// Query runs a query, which may use the graph's prefixes without declaring them. For services other than Wikidata's,
// the query is rewritten: prefixes are declared, and features of Wikidata's service (the label service, named
// subqueries, hints) are replaced. [AUTO_LANGUAGE] must already have been replaced. In addition to the service's
// errors, Query returns a SyntaxError with its position, or Refused for an update, a SERVICE that is not allowed, or a
// feature that cannot be rewritten.
func (g *Graph) Query(ctx context.Context, query string) (*kg.Table, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q, err := sparql.ParseWith(query, g.o.Graph.Prefixes)
	if err != nil {
		return nil, syntaxError(err)
	}
	if err := sparql.Guard(q, func(iri string) bool { return slices.Contains(g.o.Federate, iri) }); err != nil {
		return nil, &kg.Error{Kind: kg.Refused, Message: err.Error(), Err: err}
	}
	if g.o.Graph.Dialect == string(rewrite.WDQS) {
		return g.o.Query(ctx, query)
	}
	to := rewrite.Standard
	if g.o.Graph.Dialect == string(rewrite.QLever) {
		to = rewrite.QLever
	}
	res, err := rewrite.Query(query, to, rewrite.Options{Prefixes: g.o.Graph.Prefixes})
	if err != nil {
		return nil, &kg.Error{Kind: kg.Refused, Message: err.Error(), Err: err}
	}
	t, err := g.o.Query(ctx, res.Text)
	var ke *kg.Error
	if errors.As(err, &ke) && ke.Line > 0 { // the position refers to rewritten text, which the caller has not seen
		moved := *ke
		moved.Line, moved.Column = 0, 0
		return nil, &moved
	}
	return t, err
}

// syntaxError adds the kind and position to errors from the dialect.
func syntaxError(err error) error {
	out := &kg.Error{Kind: kg.SyntaxError, Message: err.Error(), Err: err}
	var all sparql.Errors
	if errors.As(err, &all) && len(all) > 0 {
		first := all.First()
		out.Message, out.Line, out.Column = first.Message, first.Line, first.Column
		if first.Hint != "" {
			out.Message += " (" + first.Hint + ")"
		}
	}
	return out
}

// rows runs one of the package's own queries, which are standard SPARQL, and returns its rows as maps.
func (g *Graph) rows(ctx context.Context, query string) ([]map[string]rdf.Term, error) {
	t, err := g.o.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]rdf.Term, len(t.Rows))
	for i, row := range t.Rows {
		out[i] = make(map[string]rdf.Term, len(row))
		for j, v := range t.Vars {
			if row[j].Bound() {
				out[i][v] = row[j]
			}
		}
	}
	return out, nil
}

// properties returns the IRIs for names in the description. It omits names that cannot be expanded.
func (g *Graph) properties(names []string) []string {
	var out []string
	for _, n := range names {
		if iri, ok := g.expand(n); ok && !slices.Contains(out, iri) {
			out = append(out, iri)
		}
	}
	return out
}

// expand returns the IRI for a prefixed name in the graph. Wikidata's prefixes apply if the graph does not define them.
func (g *Graph) expand(name string) (string, bool) {
	iri, ok := g.o.Graph.Expand(name)
	if !ok {
		prefix, local, found := strings.Cut(name, ":")
		if ns := rdf.Prefixes[prefix]; found && ns != "" {
			iri, ok = ns+local, true
		}
	}
	if !ok || !plainIRI(iri) {
		return "", false
	}
	if id := rdf.EntityID(iri); g.o.Graph.IsWikibase() && id != "" {
		iri = rdf.Entity + id // also for a predicate
	}
	return iri, true
}

// plainIRI reports whether an IRI can be used in a query without escaping.
func plainIRI(iri string) bool {
	return strings.Contains(iri, ":") && !strings.ContainsFunc(iri, func(r rune) bool {
		return r <= ' ' ||
			strings.ContainsRune("<>\"{}|\\^`", r)
	})
}

// list formats IRIs for VALUES.
func list(iris []string) string { return "<" + strings.Join(iris, "> <") + ">" }

// chain returns the languages in which labels are searched, in order: lang, its base language if it is a variant, mul
// on a Wikibase, English, the graph's own languages, and labels without a language.
func (g *Graph) chain(lang string) []string {
	var out []string
	add := func(l string) {
		if l = strings.ToLower(l); !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	if sparql.IsLanguageCode(lang) {
		add(lang)
		if base, _, variant := strings.Cut(lang, "-"); variant {
			add(base)
		}
	}
	if g.o.Graph.IsWikibase() {
		add("mul")
		add("en")
		return out
	}
	add("en")
	for _, l := range g.o.Graph.Languages {
		add(l)
	}
	add("")
	return out
}

// quoted formats strings as literals.
func quoted(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = rdf.Quote(t)
	}
	return strings.Join(out, ", ")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
