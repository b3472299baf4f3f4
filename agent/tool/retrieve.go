package tool

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Generate contains the settings for writing a query from material looked up beforehand, without exploring
// (SPARQL-LLM). The zero value is for presets that explore.
type Generate struct {
	Analyze    bool `json:"analyze"`    // ask the model for the question's classes, entities and steps first
	Examples   int  `json:"examples"`   // solved questions to fetch for the question, and for each of its steps
	Classes    int  `json:"classes"`    // classes to fetch from the graph for each class named in the question
	Few        int  `json:"few"`        // replaces Examples or Classes if there are more than Many steps or classes
	Many       int  `json:"many"`       //
	Shapes     int  `json:"shapes"`     // maximum number of classes described
	Predicates int  `json:"predicates"` // predicates of a class
	// hits for each entity and relation named in the question; if 0, they are not looked up
	Entities int    `json:"entities"`
	Format   string `json:"format"`  // format of the solved questions: text or json
	Check    string `json:"check"`   // when to compare a query with the shapes of classes: CheckFirst or CheckAfter
	Seconds  int    `json:"seconds"` // maximum time for running a query
}

// When to compare a query with the shapes of classes.
const (
	// before running it; a query that does not match is returned to the model if all members of the classes were examined
	CheckFirst = "first"
	CheckAfter = "after" // after it has failed or returned nothing
)

// The tools with which the program looks things up before the model writes the query. Their arguments come from the
// analysis of the question.
var (
	retrieveExamples = typed(&Tool{Name: RetrieveExamplesName, Text: "retrieve.md", Show: shownList},
		func(ctx context.Context, env *Env,
			a RetrieveArgs) (Result, error) {
			return env.retrieveExamples(ctx, a.Texts)
		})
	retrieveEntities = typed(&Tool{Name: RetrieveEntitiesName, Text: "retrieve.md", Show: shownList},
		func(ctx context.Context, env *Env,
			a RetrieveArgs) (Result, error) {
			return env.retrieveNamed(ctx, a.Texts, kg.Item)
		})
	retrieveProperties = typed(&Tool{Name: RetrievePropertiesName, Text: "retrieve.md", Show: shownList},
		func(ctx context.Context,
			env *Env, a RetrieveArgs) (Result, error) {
			return env.retrieveNamed(ctx, a.Texts, kg.Property)
		})
	retrieveClasses = typed(&Tool{Name: RetrieveClassesName, Text: "retrieve.md", Show: shownList},
		func(ctx context.Context, env *Env,
			a RetrieveArgs) (Result, error) {
			return env.retrieveClasses(ctx, a.Texts)
		})
)

// The names of the lookup tools.
const (
	RetrieveExamplesName   = "retrieve_examples"
	RetrieveEntitiesName   = "retrieve_entities"
	RetrievePropertiesName = "retrieve_properties"
	RetrieveClassesName    = "retrieve_classes"
)

// RetrieveArgs are the arguments of the lookup tools: the questions, names or classes to search for.
type RetrieveArgs struct {
	Texts []string `json:"texts"`
}

// most returns the maximum number of hits for each of n search texts.
func (g Generate) most(usual, n int) int {
	if g.Many > 0 && n > g.Many && g.Few > 0 {
		return min(usual, g.Few)
	}
	return usual
}

// retrieveExamples finds solved questions that are similar to any of the search texts, the most similar first. It shows
// each query once.
func (env *Env) retrieveExamples(ctx context.Context, texts []string) (Result, error) {
	if env.Source.Examples == nil {
		return Result{Text: say("retrieve_no_examples", nil)}, nil
	}
	g := env.Generate
	var found []event.Example
	at := map[string]int{} // index of a query in found
	for _, t := range texts {
		list, err := env.Source.Examples.FindExamples(ctx, event.ExampleQuery{Text: t, Limit: g.most(g.Examples,
			len(texts)-1)})
		if err != nil {
			return env.failed(ctx, err)
		}
		for _, x := range list {
			i, known := at[x.SPARQL]
			switch {
			case !known:
				at[x.SPARQL] = len(found)
				found = append(found, x)
			case x.Score > found[i].Score:
				found[i] = x
			}
		}
	}
	if len(found) == 0 {
		return Result{Text: say("retrieve_no_examples", nil)}, nil
	}
	slices.SortStableFunc(found, func(a, b event.Example) int { return cmp.Compare(b.Score, a.Score) })
	type shown struct {
		Question string `json:"question"`
		SPARQL   string `json:"sparql"`
	}
	var out []shown
	for _, x := range found {
		out = append(out, shown{render.Fold(render.Clean(render.Clip(x.Question, maxExampleText))),
			strings.TrimSpace(render.Clean(x.SPARQL))})
	}
	if g.Format != "json" {
		var ids []string
		for i := range out {
			out[i].SPARQL = env.shortened(out[i].SPARQL)
			ids = append(ids, env.Dialect.Identifiers(out[i].SPARQL)...)
		}
		slices.Sort(ids)
		labels := env.LabelsOf(ctx, slices.Compact(ids))
		for i := range out {
			if q, err := env.Dialect.PostingForm(out[i].SPARQL, func(id string) string { return labels[id] }); err == nil {
				out[i].SPARQL = strings.TrimSpace(q)
			}
		}
	}
	if g.Format == "json" {
		b, err := render.JSON(out)
		return Result{Text: string(b)}, err
	}
	return Result{Text: say("retrieved_examples", out)}, nil
}

// maxExampleText is the maximum number of characters of a solved question to show. A request on the forum can be long.
const maxExampleText = 600

var (
	wholeIRI   = regexp.MustCompile(`<(https?://[^<>"{}|\\^` + "`" + `\s]+)>`)
	prefixLine = regexp.MustCompile(`(?mi)^\s*PREFIX\s+\S*:\s*<[^>]*>\s*`)
)

// shortened rewrites a query to use the graph's prefixes without declaring them, so that all examples look similar. If
// the query or its shortened form cannot be parsed, it returns the query unchanged.
func (env *Env) shortened(query string) string {
	q, err := env.Dialect.parse(query)
	if err != nil {
		return query
	}
	body := prefixLine.ReplaceAllString(sparql.Print(q, sparql.PrintOptions{NoComments: true}), "")
	short := wholeIRI.ReplaceAllStringFunc(body, func(iri string) string {
		if env.Dialect.wikibase() {
			return rdf.Shorten(iri[1 : len(iri)-1])
		}
		return env.Source.Explain.Compact(iri[1 : len(iri)-1])
	})
	if _, err := env.Dialect.parse(short); err != nil {
		return query
	}
	return short
}

// retrieveNamed looks up the entities named in the question or, by meaning, its relations.
func (env *Env) retrieveNamed(ctx context.Context, names []string, t kg.Type) (Result, error) {
	type looked struct {
		Name string
		Hits []string
	}
	var out []looked
	for _, n := range names {
		res, err := env.Source.Find(ctx, kg.FindQuery{Text: n, Type: t, Language: env.Language.Code,
			Limit:   env.Generate.Entities,
			Meaning: t == kg.Property})
		if err != nil {
			return env.failed(ctx, err)
		}
		l := looked{Name: n}
		for _, h := range res.Hits {
			l.Hits = append(l.Hits, hitLine(h))
		}
		out = append(out, l)
	}
	return Result{Text: say("retrieved_entities", out)}, nil
}

// hitLine formats a hit: label, ID, description.
func hitLine(h kg.Hit) string {
	s := render.Labelled(h.ID, h.Label)
	if h.Description != "" {
		s += ": " + render.Clip(render.Fold(h.Description), 160)
	}
	return s
}

// retrieveClasses finds classes for each search text and describes what their members look like.
func (env *Env) retrieveClasses(ctx context.Context, texts []string) (Result, error) {
	if env.Source.Shapes == nil {
		return Result{Text: say("retrieve_no_classes", nil)}, nil
	}
	g := env.Generate
	var order [][]kg.Hit // hits for each text
	for _, t := range texts {
		res, err := env.Source.Shapes.FindClasses(ctx, t, env.Language.Code, g.most(g.Classes, len(texts)))
		if err != nil {
			return env.failed(ctx, err)
		}
		order = append(order, res.Hits)
	}
	hits := interleave(order)
	var shapes, others []string
	for _, h := range hits {
		if len(shapes) >= g.Shapes || !env.TimeFor(shapeTime) {
			others = append(others, render.Labelled(h.ID, h.Label))
			continue
		}
		s, err := env.Source.Shapes.Shape(ctx, h.ID, env.Language.Code)
		switch {
		case ctx.Err() != nil:
			return Result{}, ctx.Err()
		case event.IsWriteError(err):
			return Result{}, err
		case err != nil:
			env.Log.InfoContext(ctx, "agent: a shape is not available", "question", env.Question.ID, "class", h.ID, "err", err)
			others = append(others, render.Labelled(h.ID, h.Label))
		default:
			shapes = append(shapes, shape.Text(s, g.Predicates, g.Predicates/4))
		}
	}
	if len(shapes)+len(others) == 0 {
		return Result{Text: say("retrieve_no_classes", nil)}, nil
	}
	return Result{Text: say("retrieved_classes", map[string]any{"Shapes": shapes, "Others": others})}, nil
}

// shapeTime is the minimum time that a run must have left to examine one more class.
const shapeTime = 5 * time.Second

// interleave merges lists of hits by taking the first hit in every list, then the second, and so on, so that every
// search text is represented. Each ID appears only once.
func interleave(lists [][]kg.Hit) (out []kg.Hit) {
	seen := map[string]bool{}
	for i := 0; ; i++ {
		more := false
		for _, l := range lists {
			if i < len(l) {
				more = true
				if !seen[l[i].ID] {
					seen[l[i].ID] = true
					out = append(out, l[i])
				}
			}
		}
		if !more {
			return out
		}
	}
}
