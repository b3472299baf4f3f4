package tool

import (
	"context"
	"errors"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// recordedLabels returns a labeler that writes every call to log before the call returns. It returns nil if l is nil.
func recordedLabels(l Labeler, log *event.Branch, name string) Labeler {
	if l == nil {
		return nil
	}
	return &recordingLabeler{l, log, name}
}

// recordingGraph writes every call to the graph to the trajectory.
type recordingGraph struct {
	Graph
	log *event.Branch
	kg  string // the graph's name, "" for the main graph
}

func (g *recordingGraph) Search(ctx context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
	return recorded(ctx, g.log, event.Call{Op: "search", KG: g.kg}, q,
		func() (*kg.SearchResult, error) {
			return g.Graph.Search(ctx, q)
		})
}

func (g *recordingGraph) Entity(ctx context.Context, id, lang string) (*kg.Entity, error) {
	return recorded(ctx, g.log, event.Call{Op: "entity", KG: g.kg}, event.EntityArgs{ID: id, Lang: lang},
		func() (*kg.Entity, error) {
			return g.Graph.Entity(ctx, id, lang)
		})
}

func (g *recordingGraph) Examples(ctx context.Context, property, lang string) ([]kg.Example, error) {
	return recorded(ctx, g.log, event.Call{Op: "examples", KG: g.kg}, event.EntityArgs{ID: property, Lang: lang},
		func() ([]kg.Example, error) {
			return g.Graph.Examples(ctx, property, lang)
		})
}

// Query records the table, truncated to the rows that the agent reads.
func (g *recordingGraph) Query(ctx context.Context, query string) (*kg.Table, error) {
	t, err := g.Graph.Query(ctx, query)
	if err == nil && t == nil {
		err = kg.Errorf(kg.Down, "the graph returned neither rows nor an error")
	}
	c := event.Call{Op: "query", KG: g.kg}
	short := t
	if err == nil {
		c.Source, c.Asked = t.Source, t.Asked
		if t.Age > 0 {
			c.At, c.AgeMS = t.At, t.Age.Milliseconds()
		}
		if n := len(t.Rows); n > 2*render.TypedRows {
			cut := *t
			cut.Rows = append(append(cut.Rows[:0:0], t.Rows[:render.TypedRows]...), t.Rows[n-render.TypedRows:]...)
			short, c.Total = &cut, n
		}
	}
	if _, rerr := recorded(ctx, g.log, c, query, func() (*kg.Table, error) { return short, err }); rerr != nil {
		return nil, rerr
	}
	return t, nil
}

// recordingLabeler writes every call to the labeler to the trajectory.
type recordingLabeler struct {
	labeler Labeler
	log     *event.Branch
	kg      string
}

func (l *recordingLabeler) Labels(ctx context.Context, ids, languages []string) (map[string]string, error) {
	return recorded(ctx, l.log, event.Call{Op: "labels", KG: l.kg}, event.LabelsArgs{IDs: ids, Languages: languages},
		func() (map[string]string, error) { return l.labeler.Labels(ctx, ids, languages) })
}

// recorded makes a call and writes it to the log with its arguments and its result or failure.
func recorded[T any](ctx context.Context, log *event.Branch, c event.Call, args any, do func() (T, error)) (T, error) {
	res, err := do()
	var jerr error
	if c.Args, jerr = render.JSON(args); jerr != nil {
		return res, &event.WriteError{Err: jerr}
	}
	if err != nil {
		c.Failure = &event.CallFailure{Message: err.Error()}
		var e *kg.Error
		if errors.As(err, &e) {
			c.Failure = &event.CallFailure{Kind: e.Kind, Message: e.Message, Line: e.Line, Column: e.Column,
				RetryMS: e.RetryAfter.Milliseconds()}
		}
	} else if c.Result, jerr = render.JSON(res); jerr != nil {
		return res, &event.WriteError{Err: jerr}
	}
	if rerr := log.Record(ctx, event.Event{Event: "graph", Call: &c}); rerr != nil {
		return res, rerr
	}
	return res, err
}
