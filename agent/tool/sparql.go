package tool

import (
	"cmp"
	"context"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// ExecuteName is the action that runs a query.
const ExecuteName = "execute_sparql"

var executeTool = onInput(&Tool{Name: ExecuteName, Text: "sparql.md", Input: "query", about: "a SPARQL query",
	Query: true}, Dialect{}.NormalForm, execute)

// execute implements execute_sparql(query). It checks the query before sending it (syntax, updates, foreign services),
// and replaces [AUTO_LANGUAGE] with the asker's language. Each outcome has its own message: rows, no rows, syntax
// error, timeout, too large, too greedy, refused, busy, down.
func execute(ctx context.Context, env *Env, query string) (Result, error) {
	res, err := env.evaluate(ctx, query)
	if err != nil {
		return res, err
	}
	res.Query = cmp.Or(res.Query, query)
	return res, nil
}

func (env *Env) evaluate(ctx context.Context, query string) (Result, error) {
	return env.evaluateAs(ctx, query, view{
		empty: func(_ *kg.Table, why string) string { return say("empty", why) },
		rows: func(t *kg.Table) Result {
			names := env.namesIn(ctx, t, env.Show.Rows)
			return Result{Text: env.Show.Rows.Table(t, names), Short: render.Short(t, names)}
		},
	})
}

// view determines how a tool shows a result.
type view struct {
	empty func(t *kg.Table, why string) string // formats a result without rows; why is the reason, or "" if unknown
	rows  func(t *kg.Table) Result             // formats rows or a truth value
}

// evaluateAs checks and runs a query and shows its result as specified by v.
func (env *Env) evaluateAs(ctx context.Context, query string, v view) (Result, error) {
	if err := env.Dialect.Check(query); err != nil {
		return env.failed(ctx, err)
	}
	t, err := env.Graph.Query(ctx, env.Dialect.InLanguage(query, env.Language.Code))
	if kg.KindOf(err) == kg.Timeout && env.Rescue && ctx.Err() == nil {
		return env.rescued(ctx, query, err, v)
	}
	if err != nil {
		return env.failed(ctx, err)
	}
	return env.view(ctx, query, t, v)
}

// rescued runs faster forms of a query that failed with err because it took too long. It shows the result with a note
// that it comes from a different form of the query.
func (env *Env) rescued(ctx context.Context, query string, err error, v view) (Result, error) {
	form, t, ferr := env.faster(ctx, query)
	switch {
	case ferr != nil:
		return Result{}, ferr
	case form == nil:
		res, err := env.failed(ctx, err)
		res.Text += env.slow(query)
		return res, err
	}
	res, err := env.view(ctx, form.Text, t, v)
	res.Text = say("faster", map[string]any{"Notes": form.Notes, "Text": strings.TrimSpace(form.Text)}) + "\n" + res.Text
	res.Query = form.Text
	return res, err
}

// view shows the result of a query.
func (env *Env) view(ctx context.Context, query string, t *kg.Table, v view) (Result, error) {
	if t.Empty() {
		diagnose := env.diagnose
		if env.Show.Why {
			diagnose = env.why
		}
		why, err := diagnose(ctx, query)
		if err != nil {
			return Result{}, err
		}
		return env.warned(ctx, query, Result{Text: v.empty(t, why)})
	}
	res := v.rows(t)
	if n := len(t.Rows); n > 1 && n == env.Dialect.Limit(query) {
		res.Text += "\n" + say("limit_reached", n)
	}
	res.Text += age(t)
	res.Rows, res.Found, res.Table = len(t.Rows), true, t
	return env.warned(ctx, query, res)
}

// warned adds warnings about the query to the result, if the preset enables them.
func (env *Env) warned(ctx context.Context, query string, res Result) (Result, error) {
	var lines []string
	if env.Show.Shapes && !res.Found {
		hints, err := env.shapeHints(ctx, query)
		if err != nil {
			return Result{}, err
		}
		lines = hints
	}
	if env.Show.Warn {
		more, advice, err := env.warnings(ctx, query, res.Found)
		if err != nil {
			return Result{}, err
		}
		lines, res.Advice = append(lines, more...), advice
	}
	if len(lines) > 0 {
		res.Text += "\n" + strings.Join(lines, "\n")
	}
	return res, nil
}
