package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// generateTools are the tools for presets in which the model writes a complete query in one step.
var generateTools = Set{generatedTool, retrieveExamples, retrieveEntities, retrieveProperties,
	retrieveClasses}

// GeneratedName is the action that checks and runs a query that the model wrote in one step.
const GeneratedName = "check_and_run"

// GeneratedArgs are the arguments of check_and_run.
type GeneratedArgs struct {
	Query    string  `json:"query" about:"a SPARQL query"`
	Endpoint *string `json:"endpoint,omitempty" about:"address of the graph's query service"`
}

// generatedTool checks a query as SPARQL-LLM does, runs it, and reports what is wrong with it, if anything. A query
// that returns rows ends the run.
var generatedTool = func() *Tool {
	t := typed(&Tool{Name: GeneratedName, Text: "generated.md", Query: true, Final: true}, func(ctx context.Context,
		env *Env,
		a GeneratedArgs) (Result, error) {
		return env.atEndpoint(a.Endpoint).generated(ctx, a.Query)
	})
	t.Show = func(args json.RawMessage) string {
		a, err := argumentsOf[GeneratedArgs](args)
		if err != nil {
			return string(args)
		}
		return a.Query
	}
	t.Key = func(args json.RawMessage) string { return Dialect{}.NormalForm(t.Show(args)) }
	return t
}()

// atEndpoint returns the environment for the graph whose query service has this address. If the address is unknown or
// empty, it uses the question's first graph: an address that the model made up is never contacted.
func (env *Env) atEndpoint(endpoint *string) *Env {
	if endpoint == nil {
		return env
	}
	for i := range env.Sources {
		if s := &env.Sources[i]; sameAddress(s.Explain.Endpoint, *endpoint) || s.Name() == *endpoint {
			return env.On(s)
		}
	}
	return env
}

func sameAddress(a, b string) bool {
	return a != "" && strings.TrimRight(a, "/") == strings.TrimRight(b, "/")
}

// generated implements check_and_run.
func (env *Env) generated(ctx context.Context, query string) (Result, error) {
	res := Result{Query: query}
	if env.Source != env.Sources.Main() {
		res.KG = env.Source.Name()
	}
	if err := env.Dialect.Check(query); err != nil {
		r, err := env.failed(ctx, err)
		res.Text, res.Failure = r.Text, r.Failure
		return res, err
	}
	q, err := env.Dialect.parse(query)
	if err != nil { // cannot happen: Check has already parsed the query
		return res, err
	}
	if !env.predeclared() && len(q.DeclareWith(env.Dialect.known())) > 0 {
		query = q.String()
		res.Query = cmp.Or(res.Query, query)
	}
	var hints []shape.Hint
	checked := false
	if env.Generate.Check == CheckFirst {
		if hints, err = env.checkShapes(ctx, q); err != nil {
			return res, err
		}
		checked = true
		// If the model repeats the query, run it.
		if advice := Advice("shapes " + fingerprint(env.Dialect.NormalForm(query))); certain(hints) && !env.Advised(advice) {
			res.Text, res.Failure, res.Advice = say("generated_hints", map[string]any{"Hints": hintTexts(hints), "Ran": false}),
				kg.QueryFailed, advice
			return res, nil
		}
	}
	ran, err := env.runGenerated(ctx, query)
	if err != nil {
		return res, err
	}
	res.Text, res.Failure, res.RetryAfter, res.Rows, res.Found, res.Table, res.Short = ran.Text, ran.Failure,
		ran.RetryAfter, ran.Rows, ran.Found, ran.Table, ran.Short
	if res.Found || Passing(res.Failure) {
		return res, nil
	}
	if !checked {
		if hints, err = env.checkShapes(ctx, q); err != nil {
			return res, err
		}
	}
	if len(hints) > 0 {
		res.Text += "\n" + say("generated_hints", map[string]any{"Hints": hintTexts(hints), "Ran": true})
	}
	return res, nil
}

// predeclared reports whether the graph's query service predeclares Wikidata's prefixes.
func (env *Env) predeclared() bool {
	return env.Dialect.wikibase() && (env.Source.Explain.Dialect == "wdqs" || env.Source.Explain.Dialect == "")
}

// runGenerated runs a query within the preset's time limit. If the result is empty, the observation contains special
// advice.
func (env *Env) runGenerated(ctx context.Context, query string) (Result, error) {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if s := env.Generate.Seconds; s > 0 {
		limited, cancel = context.WithTimeout(ctx, time.Duration(s)*time.Second)
	}
	defer cancel()
	t, err := env.Graph.Query(limited, env.Dialect.InLanguage(query, env.Language.Code))
	if err != nil && ctx.Err() == nil && kg.KindOf(err) == "" && !event.IsWriteError(err) {
		// Do not check limited.Err(), because replays have no deadlines.
		err = kg.Errorf(kg.Timeout, "it took longer than %d s", env.Generate.Seconds)
	}
	switch {
	case err != nil:
		return env.failed(ctx, err)
	case t.Empty():
		return Result{Text: say("generated_empty", nil)}, nil
	}
	names := env.namesIn(ctx, t, env.Show.Rows)
	return Result{Text: env.Show.Rows.Table(t, names), Rows: len(t.Rows), Found: true, Table: t, Short: render.Short(t,
		names)}, nil
}

// checkShapes compares a query with the shapes of its classes. A SERVICE clause is compared with the shapes of the
// graph it names, if the question may use that graph. If there are no shapes, there are no hints. A non-nil error ends
// the run.
func (env *Env) checkShapes(ctx context.Context, q *sparql.Query) ([]shape.Hint, error) {
	if env.Source.Shapes == nil {
		return nil, nil
	}
	var broken error
	schema := func(s *Source) *shape.Schema {
		if s.Shapes == nil {
			return nil
		}
		return &shape.Schema{Graph: &s.Explain,
			Shape: func(class string) (*kg.Shape, error) {
				got, err := s.Shapes.Shape(ctx, shape.ID(&s.Explain, class), env.Language.Code)
				if event.IsWriteError(err) || ctx.Err() != nil {
					broken = errors.Join(broken, err)
				}
				return got, err
			},
			Classes: func(class string) []kg.PropertyRef {
				refs, err := env.On(s).classesLike(ctx, shape.ID(&s.Explain, class))
				if event.IsWriteError(err) {
					broken = errors.Join(broken, err)
				}
				return refs
			}}
	}
	hints := shape.Check(q, *schema(env.Source), func(iri string) *shape.Schema {
		for i := range env.Sources {
			if sameAddress(env.Sources[i].Explain.Endpoint, iri) {
				return schema(&env.Sources[i])
			}
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return hints, broken
}

// classesLike returns classes that the model may have meant when it used a class without members. They have members and
// match a search for that class's label.
func (env *Env) classesLike(ctx context.Context, class string) ([]kg.PropertyRef, error) {
	name := env.LabelsOf(ctx, []string{class})[class]
	if name == "" {
		name = class[strings.LastIndexAny(class, ":/#")+1:]
	}
	res, err := env.Source.Shapes.FindClasses(ctx, strings.Trim(name, "<>"), env.Language.Code, 5)
	if err != nil {
		return nil, err
	}
	var out []kg.PropertyRef
	for _, h := range res.Hits {
		out = append(out, kg.PropertyRef{ID: h.ID, Label: h.Label})
	}
	return out, nil
}

// certain reports whether at least one of the hints is certain, either because the class has no members, or because all
// of its members were examined and no narrower class can have the missing property.
func certain(hints []shape.Hint) bool {
	for _, h := range hints {
		if h.Kind == shape.UnknownClass || !h.Sampled && !h.Wide && h.Looked >= 0 {
			return true
		}
	}
	return false
}

// maxHints is the maximum number of hints shown at once.
const maxHints = 8

func hintTexts(hints []shape.Hint) (out []string) {
	for _, h := range hints[:min(len(hints), maxHints)] {
		out = append(out, h.Text())
	}
	return out
}

func fingerprint(s string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // a hash cannot fail
	return strconv.FormatUint(h.Sum64(), 36)
}

// shownList returns the part of [RetrieveArgs] that is displayed.
func shownList(args json.RawMessage) string {
	a, err := argumentsOf[RetrieveArgs](args)
	if err != nil {
		return string(args)
	}
	return strings.Join(a.Texts, "; ")
}
