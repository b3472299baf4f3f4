package agent

import (
	"context"

	"github.com/spinachbot/spinachbot/agent/render"
)

// execute carries out execute_sparql(query): the query is checked before it is sent (syntax, updates, foreign services), [AUTO_LANGUAGE] becomes the asker's
// language, and what comes back is told apart: rows, none, syntax error, timeout, too large, too greedy, refused, busy, down.
func (r *run) execute(ctx context.Context, query string) (result, error) {
	unseen := r.unseenIn(query)
	res, err := r.evaluate(ctx, query)
	if err != nil {
		return res, err
	}
	res.unseen = len(unseen) > 0
	res.text += r.warn(ctx, unseen)
	return res, nil
}

func (r *run) evaluate(ctx context.Context, query string) (result, error) {
	if err := r.dialect.check(query); err != nil {
		return r.failed(ctx, err)
	}
	t, err := r.graph.Query(ctx, r.dialect.inLanguage(query, r.lang.code))
	if err != nil {
		return r.failed(ctx, err)
	}
	if t.Empty() {
		why, err := r.diagnose(ctx, query)
		if err != nil {
			return result{}, err
		}
		return result{text: say("empty", why)}, nil
	}
	labels := r.labelsOf(ctx, r.preset.rows.IDs(t))
	text := r.preset.rows.Table(t, labels)
	if n := len(t.Rows); n > 1 && n == r.dialect.limit(query) {
		text += "\n" + say("limit_reached", n)
	}
	return result{text: text, rows: len(t.Rows), found: true, short: render.Short(t, labels)}, nil
}

// unseenIn returns the numbers in a query that stood in nothing that the model was shown.
func (r *run) unseenIn(query string) []string {
	var out []string
	for _, id := range r.dialect.identifiers(query) {
		if !r.known[id] {
			out = append(out, id)
		}
	}
	return out
}

// unseenID is a number that was not looked up, with its label.
type unseenID struct{ ID, Label string }

// warn says what the numbers are that the model used without having seen them. It warns and does not forbid (systems.md E.2, 4).
func (r *run) warn(ctx context.Context, ids []string) string {
	if len(ids) == 0 || r.labels == nil {
		return ""
	}
	labels, err := r.labels.Labels(ctx, ids, r.languages())
	if err != nil {
		return ""
	}
	var list []unseenID
	for _, id := range ids {
		list = append(list, unseenID{ID: id, Label: render.Clip(render.Fold(labels[id]), 80)})
	}
	return "\n" + say("unseen", list)
}
