package tool

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
)

// Graph is the knowledge graph being explored. Failures are *kg.Error values with a kind, or ctx's error if ctx is
// done. Tests use the embedded graph as a fake.
type Graph interface {
	// Search finds entities by label or alias.
	Search(ctx context.Context, q kg.SearchQuery) (*kg.SearchResult, error)
	// Entity returns an entity's page with labels in lang (or its fallbacks, mul and en); external identifiers are left
	// out.
	Entity(ctx context.Context, id, lang string) (*kg.Entity, error)
	// Examples returns a property's examples (P1855) with labels in lang.
	Examples(ctx context.Context, property, lang string) ([]kg.Example, error)
	// Query runs a query. [AUTO_LANGUAGE] must have been replaced.
	Query(ctx context.Context, query string) (*kg.Table, error)
}

// Labeler returns the labels of entities and properties, each in the first of the languages that has one. IDs without a
// label are absent.
type Labeler interface {
	Labels(ctx context.Context, ids []string, languages []string) (map[string]string, error)
}

// Show contains the settings that determine how much tools show.
type Show struct {
	Items      int           `json:"items"`      // items per search in each language
	Properties int           `json:"properties"` // properties per search in each language
	Examples   int           `json:"examples"`   // examples of a property
	Rows       render.Window `json:"rows"`       // rows of a result
	// size, in bytes of JSON, above which the model prunes an entity's page; -1 means always
	PruneOver int `json:"prune_over"`
	Hits      int `json:"hits"`    // hits per page in the other systems' searches and lists
	Columns   int `json:"columns"` // columns of a result, half of them from each end; all if 0
	Cell      int `json:"cell"`    // characters of a value in a result; all if 0
	Chars     int `json:"chars"`   // characters of an observation; if 0, only the limit for all presets applies
	Values    int `json:"values"`  // values of a property on an entity's page, before pruning; all if 0
	// show a label in a different language, with its language tag, if there is none in the asker's language
	AnyLabel bool `json:"any_label"`
	Warn     bool `json:"warn"` // warn about parts of a query that are probably unintended
	// explain why a result is empty: which condition has no match on its own, and why; up to 18 more queries
	Why bool `json:"why"`
	// for a query without rows, show the parts that do not match the shapes of the classes that it names; may measure a
	// few shapes
	Shapes bool `json:"shapes"`
	Graphs int  `json:"-"` // number of graphs that the question may use; set by the loop
	// how Interactive-KBQA's tools name entities: "" (by IRI), kqapro, metaqa or freebase
	Dialect string `json:"dialect,omitempty"`
}

// Env is a tool's environment: the graph, the question, and what has been shown so far. It serves one call.
type Env struct {
	Log      *slog.Logger
	Sources  Sources // the question's graphs
	Source   *Source // the graph to query; the first graph unless a tool changes it with [Env.On]
	Graph    Graph   // Source's graph
	Labels   Labeler // Source's labeler, or nil
	Question event.Question
	Language Language
	Dialect  Dialect
	Show     Show
	Generate Generate
	Notebook Notebook // nil if notes are not enabled
	// rerun a query that returned nothing without each of its conditions in turn; up to 6 more queries
	Diagnose bool
	Rescue   bool                       // try faster forms of a query that takes too long
	TimeFor  func(d time.Duration) bool // reports whether the run has time for d
	Seen     func(key string) bool      // reports whether the model has been shown an ID; see [Dialect.Key]
	Advised  func(a Advice) bool        // reports whether a hint is in the conversation
	// returns the result of the query in a step of the state, counted from 1, or nil if there is no result or it was not
	// kept; may itself be nil
	Table func(step int) *kg.Table
	// asks the model to do a side task; ok is false if the model failed at this task but can still be asked others
	Help func(context.Context, Task) (text string, ok bool, err error)
}

// On returns the environment for another of the question's graphs.
func (env *Env) On(s *Source) *Env {
	other := *env
	other.Source, other.Graph, other.Labels, other.Dialect.Graph = s, s.Graph, s.Labels, &s.Explain
	return &other
}

// Task is a side task for the model. Its prompt belongs to the preset.
type Task struct {
	Purpose   string // name of the prompt
	Part      string // see llm.Request
	MaxTokens int
	JSON      bool // the answer is a JSON object
	Data      map[string]any
}

// failed converts a failure of the graph to a message for the model. It returns an error only if ctx is done or the log
// cannot be written.
func (e *Env) failed(ctx context.Context, err error) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	if event.IsWriteError(err) {
		return Result{}, err
	}
	ge := &kg.Error{Kind: kg.Down, Message: "no answer"}
	if !errors.As(err, &ge) {
		e.Log.WarnContext(ctx, "agent: the graph failed with an error without a kind", "question", e.Question.ID, "err", err)
	}
	name := "graph_failed"
	switch ge.Kind {
	case kg.SyntaxError, kg.Refused, kg.Timeout, kg.TooLarge, kg.TooGreedy, kg.Down:
		name = string(ge.Kind)
	case kg.RateLimited, kg.Banned:
		name = string(kg.RateLimited)
	case kg.QueryFailed:
		name = "failed"
	}
	shown := *ge
	shown.Message = render.Clip(shown.Message, 700)
	return Result{Text: say(name, shown), Failure: ge.Kind, RetryAfter: ge.RetryAfter}, nil
}

// Passing reports whether the cause of a failure may be temporary.
func Passing(k kg.Kind) bool { return k == kg.Down || k == kg.RateLimited || k == kg.Banned }

// languages returns the languages in which labels are looked up, in this order: the asker's language, the default for
// all languages, English.
func (e *Env) languages() []string {
	if e.Language == English {
		return []string{English.Code, "mul"}
	}
	return []string{e.Language.Code, "mul", English.Code}
}

// LabelsOf returns the labels of IDs, or none if they are not available. Labels are useful but optional.
func (e *Env) LabelsOf(ctx context.Context, ids []string) map[string]string {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !e.Dialect.ValidID(id) })
	if e.Labels == nil || len(ids) == 0 {
		return nil
	}
	labels, err := e.Labels.Labels(ctx, ids, e.languages())
	if err != nil {
		e.Log.WarnContext(ctx, "agent: labels are not available", "question", e.Question.ID, "err", err)
		return nil
	}
	if e.Show.AnyLabel {
		return e.anyLabels(ctx, ids, labels)
	}
	return labels
}

// namesIn returns the names for the part of a result that a window shows.
func (e *Env) namesIn(ctx context.Context, t *kg.Table, w render.Window) render.Names {
	return render.Names{Graph: e.Dialect.Graph, Labels: e.LabelsOf(ctx, w.IDs(t, e.Dialect.ID))}
}

// anyLabels adds labels in other languages, with their language tags, and "" for IDs that have no label at all.
func (e *Env) anyLabels(ctx context.Context, ids []string, labels map[string]string) map[string]string {
	missing := map[string]string{}
	for _, id := range ids {
		if iri, err := e.iriOf(id); err == nil && labels[id] == "" {
			missing[iri] = id
		}
	}
	if len(missing) == 0 {
		return labels
	}
	found, err := shape.Labels(ctx, &e.Source.Explain, e.Graph.Query, sortedKeys(missing), nil)
	if err != nil {
		e.Log.WarnContext(ctx, "agent: labels in other languages are not available", "question", e.Question.ID, "err", err)
		return labels
	}
	out := maps.Clone(labels)
	if out == nil {
		out = map[string]string{}
	}
	for iri, id := range missing {
		out[id] = found[iri]
	}
	return out
}

// Unseen returns the IDs in a query that the model has not been shown, except IDs from common vocabularies, which may
// be used without having been shown.
func (e *Env) Unseen(query string) []string {
	var out []string
	for _, id := range e.Dialect.Identifiers(query) {
		if ofVocabulary(e.Dialect.Key(id)) {
			continue
		}
		if !e.Seen(e.Dialect.Key(id)) {
			out = append(out, id)
		}
	}
	return out
}
