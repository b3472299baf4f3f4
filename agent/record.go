package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// Call is a call of the graph or the labeler as it stands in the trajectory, so that a run can be played again without them. Op is search, entity,
// examples, query or labels. Of a table with more than 1,000 rows the first and last 500 are kept, and Total says how many there were:
// the agent looks at no others.
type Call struct {
	Op      string          `json:"op"`
	Args    json.RawMessage `json:"args"`
	Result  json.RawMessage `json:"result,omitempty"`
	Source  string          `json:"source,omitempty"` // of a query: the endpoint that answered
	Total   int             `json:"total,omitempty"`  // rows, when the table was cut
	Failure *CallFailure    `json:"failure,omitempty"`
}

// CallFailure is a failed call: the kind and what else a *kg.Error says. Kind is empty when the failure was of no kind.
type CallFailure struct {
	Kind    kg.Kind `json:"kind,omitempty"`
	Message string  `json:"message"`
	Line    int     `json:"line,omitempty"`
	Column  int     `json:"column,omitempty"`
}

// err gives the failure back as the error that it was.
func (f *CallFailure) err() error {
	if f.Kind == "" {
		return errors.New(f.Message)
	}
	return &kg.Error{Kind: f.Kind, Message: f.Message, Line: f.Line, Column: f.Column}
}

// labelsArgs are the arguments of a labels call; entityArgs those of entity and examples.
type labelsArgs struct {
	IDs       []string `json:"ids"`
	Languages []string `json:"languages"`
}

type entityArgs struct {
	ID   string `json:"id"`
	Lang string `json:"lang"`
}

// recordingGraph writes every call of the graph to the trajectory.
type recordingGraph struct {
	Graph
	r *run
}

func (g *recordingGraph) Search(ctx context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
	return recorded(ctx, g.r, Call{Op: "search"}, q, func() (*kg.SearchResult, error) { return g.Graph.Search(ctx, q) })
}

func (g *recordingGraph) Entity(ctx context.Context, id, lang string) (*kg.Entity, error) {
	return recorded(ctx, g.r, Call{Op: "entity"}, entityArgs{id, lang}, func() (*kg.Entity, error) { return g.Graph.Entity(ctx, id, lang) })
}

func (g *recordingGraph) Examples(ctx context.Context, property, lang string) ([]kg.Example, error) {
	return recorded(ctx, g.r, Call{Op: "examples"}, entityArgs{property, lang}, func() ([]kg.Example, error) {
		return g.Graph.Examples(ctx, property, lang)
	})
}

// Query records the table cut to what the agent looks at.
func (g *recordingGraph) Query(ctx context.Context, query string) (*kg.Table, error) {
	t, err := g.Graph.Query(ctx, query)
	if err == nil && t == nil {
		err = kg.Errorf(kg.Down, "the graph gave neither rows nor an error")
	}
	c := Call{Op: "query"}
	short := t
	if err == nil {
		c.Source = t.Source
		if n := len(t.Rows); n > 2*render.TypedRows {
			cut := *t
			cut.Rows = append(append(cut.Rows[:0:0], t.Rows[:render.TypedRows]...), t.Rows[n-render.TypedRows:]...)
			short, c.Total = &cut, n
		}
	}
	if _, rerr := recorded(ctx, g.r, c, query, func() (*kg.Table, error) { return short, err }); rerr != nil {
		return nil, rerr
	}
	return t, nil
}

// recordingLabeler writes every call of the labeler to the trajectory.
type recordingLabeler struct {
	labeler Labeler
	r       *run
}

func (l *recordingLabeler) Labels(ctx context.Context, ids, languages []string) (map[string]string, error) {
	return recorded(ctx, l.r, Call{Op: "labels"}, labelsArgs{ids, languages}, func() (map[string]string, error) { return l.labeler.Labels(ctx, ids, languages) })
}

// recorded makes a call and writes it with its arguments and result or failure.
func recorded[T any](ctx context.Context, r *run, c Call, args any, do func() (T, error)) (T, error) {
	res, err := do()
	var jerr error
	if c.Args, jerr = render.JSON(args); jerr != nil {
		return res, &recordError{jerr}
	}
	if err != nil {
		c.Failure = &CallFailure{Message: err.Error()}
		var e *kg.Error
		if errors.As(err, &e) {
			c.Failure = &CallFailure{Kind: e.Kind, Message: e.Message, Line: e.Line, Column: e.Column}
		}
	} else if c.Result, jerr = render.JSON(res); jerr != nil {
		return res, &recordError{jerr}
	}
	if rerr := r.record(ctx, Event{Event: "graph", Call: &c}); rerr != nil {
		return res, rerr
	}
	return res, err
}
