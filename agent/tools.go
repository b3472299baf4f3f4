package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// result is what an action showed. There are two kinds of failure: text that the model reads and can repair is a result with its kind; an error ends the run.
type result struct {
	text    string
	failure kg.Kind
	rows    int    // rows of an executed query
	found   bool   // an executed query returned rows or a truth value
	short   string // an executed query's truth value or only row, when it is small
	unseen  bool   // an executed query holds numbers that were not seen before
}

// came says in a few words what came of an action, without any text from the graph: "12 rows", "no rows", "failed: timeout"; "" where there is nothing to say.
func (res result) came(a action) string {
	switch {
	case res.failure != "":
		return say("came_failed", string(res.failure))
	case a.name != actExecute:
		return ""
	case !res.found:
		return say("came_empty", nil)
	case res.rows > 0:
		return say("came_rows", res.rows)
	}
	return say("came_truth", nil)
}

// do carries out an action.
func (r *run) do(ctx context.Context, a action) (result, error) {
	switch a.name {
	case actSearch:
		return r.search(ctx, a.argument)
	case actEntry:
		return r.entry(ctx, a.argument)
	case actExamples:
		return r.examples(ctx, a.argument)
	}
	return r.execute(ctx, a.argument)
}

// failed turns a failure of the graph into what the model reads. Only the end of ctx is an error.
func (r *run) failed(ctx context.Context, err error) (result, error) {
	if ctx.Err() != nil {
		return result{}, ctx.Err()
	}
	if event.IsWriteError(err) {
		return result{}, err
	}
	e := &kg.Error{Kind: kg.Down, Message: "no answer"}
	if !errors.As(err, &e) {
		r.lg.Warn("agent: failure of the graph without a kind", "question", r.q.ID, "err", err)
	}
	name := "graph_failed"
	switch e.Kind {
	case kg.SyntaxError, kg.Refused, kg.Timeout, kg.TooLarge, kg.TooGreedy, kg.Down:
		name = string(e.Kind)
	case kg.RateLimited, kg.Banned:
		name = string(kg.RateLimited)
	case kg.QueryFailed:
		name = "failed"
	}
	shown := *e
	shown.Message = render.Clip(shown.Message, 700)
	return result{text: say(name, shown), failure: e.Kind}, nil
}

// languages is the chain in which labels are looked for: the asker's language, the default for all languages, English.
func (r *run) languages() []string {
	if r.lang.code == english.code {
		return []string{english.code, "mul"}
	}
	return []string{r.lang.code, "mul", english.code}
}

// labelsOf gives the labels of numbers, or none when they cannot be had: labels are a help, never a condition.
func (r *run) labelsOf(ctx context.Context, ids []string) map[string]string {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !rdf.ValidID(id) })
	if r.labels == nil || len(ids) == 0 {
		return nil
	}
	labels, err := r.labels.Labels(ctx, ids, r.languages())
	if err != nil {
		r.lg.Warn("agent: labels could not be had", "question", r.q.ID, "err", err)
		return nil
	}
	return labels
}
