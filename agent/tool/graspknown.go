package tool

import (
	"context"
	"hash/fnv"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// SimilarName is the action that shows solved questions similar to a given question.
const SimilarName = "find_similar_examples"

// graspExampleCount is the number of solved questions shown per call, unless the preset sets it.
const graspExampleCount = 3

// graspQuestionArgs are the arguments of find_similar_examples.
type graspQuestionArgs struct {
	KG       *string `json:"kg" about:"graph"`
	Question string  `json:"question"`
}

// graspNoArgs are the arguments of tools that require only the graph.
type graspNoArgs struct {
	KG *string `json:"kg" about:"graph"`
}

// The tools for solved questions: find_similar_examples(kg, question) and find_examples(kg) are from the paper;
// search_example(kg, query, page) and get_random_examples(kg) were added in 2026.
var (
	graspSimilar = keyed(&Tool{Name: SimilarName, Text: "grasp_find_similar_examples.md", Input: "question"},
		nil, func(ctx context.Context, env *Env, a graspQuestionArgs) (Result, error) {
			return env.similar(ctx, a.KG, a.Question, nil)
		})
	graspExample = keyed(&Tool{Name: "search_example", Text: "grasp_find_similar_examples.md", Input: "query"},
		nil, func(ctx context.Context, env *Env, a graspSearchArgs) (Result, error) {
			return env.similar(ctx, a.KG, a.Query, a.Page)
		})
	graspRandom   = keyed(&Tool{Name: "find_examples", Text: "grasp_find_examples.md", Input: "kg"}, nil, randomExamples)
	graspExamples = keyed(&Tool{Name: "get_random_examples", Text: "grasp_find_examples.md", Input: "kg"}, nil,
		randomExamples)
)

// similar shows solved questions that are similar to the given text.
func (env *Env) similar(ctx context.Context, name *string, text string, page *int) (Result, error) {
	env, n, err := env.search(name, page)
	if err != nil {
		return wrong(err)
	}
	most := env.Show.solved()
	return env.solved(ctx, event.ExampleQuery{Text: text, Limit: most, Offset: (n - 1) * most})
}

// randomExamples shows random solved questions. The selection for a given question is always the same.
func randomExamples(ctx context.Context, env *Env, a graspNoArgs) (Result, error) {
	env, err := env.onGraph(a.KG)
	if err != nil {
		return wrong(err)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(env.Question.Text)) // a hash cannot fail
	return env.solved(ctx, event.ExampleQuery{Seed: h.Sum64(), Limit: env.Show.solved()})
}

// solved returns the number of solved questions shown per call.
func (s Show) solved() int {
	if s.Examples > 0 {
		return s.Examples
	}
	return graspExampleCount
}

// solved shows solved questions with their queries and the meanings of the IDs in the queries.
func (env *Env) solved(ctx context.Context, q event.ExampleQuery) (Result, error) {
	if env.Source.Examples == nil {
		return Result{Text: say("grasp_no_examples", env.Source.Name())}, nil
	}
	list, err := env.Source.Examples.FindExamples(ctx, q)
	if err != nil {
		return env.failed(ctx, err)
	}
	if len(list) == 0 {
		return Result{Text: say("grasp_no_similar", nil)}, nil
	}
	type shown struct {
		Question, SPARQL string
		Uses             []string
	}
	var out []shown
	var iris []rdf.Term
	for _, x := range list {
		query := x.SPARQL
		s := shown{Question: render.Fold(render.Clean(x.Question))}
		if tree, err := env.Dialect.parse(query); err == nil {
			terms := constants(tree)
			names := env.named(ctx, terms)
			query = sparql.Print(tree, sparql.PrintOptions{NoComments: true})
			for _, t := range terms {
				if names.Labels[names.ID(t.Value)] != "" {
					s.Uses = append(s.Uses, names.Term(t))
				}
			}
			iris = append(iris, terms...)
		}
		s.SPARQL = strings.TrimSpace(render.Clean(query))
		out = append(out, s)
	}
	return Result{Text: say("grasp_examples", out), Shown: shownIRIs(iris)}, nil
}

// constants returns the distinct IRIs in a query.
func constants(q *sparql.Query) []rdf.Term {
	var out []rdf.Term
	seen := map[rdf.Term]bool{}
	sparql.Inspect(q, func(n sparql.Node) bool {
		if t, ok := n.(*sparql.Term); ok && t.Kind == sparql.Const && t.IsIRI() && !seen[t.Value()] {
			seen[t.Value()] = true
			out = append(out, t.Value())
		}
		return true
	})
	return out
}

// graspShapes is GRASP's search_shape(kg, query, page) from 2026.
var graspShapes = keyed(&Tool{Name: "search_shape", Text: "grasp_search_shape.md", Input: "query"}, nil,
	func(ctx context.Context, env *Env, a graspSearchArgs) (Result, error) {
		env, page, err := env.search(a.KG, a.Page)
		if err != nil {
			return wrong(err)
		}
		if env.Source.Shapes == nil {
			return Result{Text: say("grasp_no_shapes", env.Source.Name())}, nil
		}
		q := graspQuery{text: a.Query, page: page}
		if err := q.check(); err != nil {
			return wrong(err)
		}
		n := env.Show.perPage()
		res, err := env.Source.Shapes.FindClasses(ctx, q.text, env.Language.Code, (page+1)*n+1)
		if err != nil {
			return env.failed(ctx, err)
		}
		rest := *res
		rest.Hits = rest.Hits[min(len(rest.Hits), (page-1)*n):]
		return env.hits(ctx, q, kg.Item, &rest, -1)
	})

const (
	shapeOut = 30 // number of predicates shown whose subjects are members
	shapeIn  = 10 // number of predicates shown whose objects are members
)

// graspShape is GRASP's get_shape(kg, iri) from 2026.
var graspShape = keyed(&Tool{Name: "get_shape", Text: "grasp_get_shape.md", Input: "iri"}, nil,
	func(ctx context.Context, env *Env, a struct {
		KG  *string `json:"kg" about:"graph"`
		IRI string  `json:"iri" about:"a class"`
	}) (Result, error) {
		env, err := env.onGraph(a.KG)
		if err != nil {
			return wrong(err)
		}
		if env.Source.Shapes == nil {
			return Result{Text: say("grasp_no_shapes", env.Source.Name())}, nil
		}
		class, err := env.node(a.IRI, "the class")
		if err != nil {
			return wrong(err)
		}
		id := shape.ID(&env.Source.Explain, class.Value)
		s, err := env.Source.Shapes.Shape(ctx, id, env.Language.Code)
		if kg.KindOf(err) == kg.NotFound {
			return Result{Text: say("grasp_no_members", id), Failure: kg.NotFound}, nil
		}
		if err != nil {
			return env.failed(ctx, err)
		}
		return Result{Text: shape.Text(s, shapeOut, shapeIn), Shown: env.shapeIRIs(s)}, nil
	})

// shapeIRIs returns the IRIs that a shape shows: its class, all forms of its predicates, and the classes of their
// values.
func (env *Env) shapeIRIs(s *kg.Shape) []string {
	var out []string
	add := func(ref kg.PropertyRef, variants ...string) {
		if iri, ok := env.Source.Explain.Expand(ref.ID); ok {
			out = append(out, iri)
		}
		for _, v := range variants {
			out = append(out, rdf.Prefixes[v]+ref.ID)
		}
	}
	add(s.Class)
	predicates := append(s.Out[:min(len(s.Out), shapeOut):min(len(s.Out), shapeOut)], s.In[:min(len(s.In), shapeIn)]...)
	for _, p := range predicates {
		add(p.Property, p.Variants...)
		for _, t := range p.Targets {
			if t.Class.ID != "" && t.Class.ID != shape.NoName {
				add(t.Class)
			}
		}
	}
	return out
}
