package tool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql/check"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// FasterTime is the minimum time that a run must have left to try a different form of a query that took too long. It
// equals the query service's time limit.
const FasterTime = 60 * time.Second

// maxSlow is the maximum number of reasons given for a slow query.
const maxSlow = 3

// Faster returns alternative forms of a slow query that return the same rows, the most promising first. It returns nil
// if there are none.
func (d Dialect) Faster(query string) []rewrite.Result {
	out, err := rewrite.Faster(query, rewrite.Slow{Prefixes: d.known(),
		Blazegraph: d.Graph == nil || d.Graph.Dialect == string(rewrite.WDQS)})
	if err != nil {
		return nil
	}
	return out
}

// Slow describes the parts of a query that make services time out, each in one sentence.
func (d Dialect) Slow(query string) []string {
	q, err := d.parse(query)
	if err != nil {
		return nil
	}
	var out []string
	for _, p := range check.Slow(q) {
		if len(out) < maxSlow {
			out = append(out, fmt.Sprintf("Line %d: %s. Try this: %s.", p.Line, p.Message, p.Hint))
		}
	}
	return out
}

// faster runs alternative forms of a query that took too long. It returns the first form that succeeds, with its
// result, or nil if none does. A non-nil error ends the run.
func (env *Env) faster(ctx context.Context, query string) (*rewrite.Result, *kg.Table, error) {
	for _, f := range env.Dialect.Faster(query) {
		if !env.TimeFor(FasterTime) {
			break
		}
		t, err := env.Graph.Query(ctx, env.Dialect.InLanguage(f.Text, env.Language.Code))
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case event.IsWriteError(err):
			return nil, nil, err
		case err == nil:
			return &f, t, nil
		}
	}
	return nil, nil, nil
}

// slow returns a message for the model about a query that took too long, with the likely reasons.
func (env *Env) slow(query string) string {
	if !env.Rescue {
		return ""
	}
	reasons := env.Dialect.Slow(query)
	if len(reasons) == 0 {
		return ""
	}
	return "\n" + render.Clip(strings.Join(reasons, "\n"), 700)
}
