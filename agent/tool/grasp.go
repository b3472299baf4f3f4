package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// graspTools are the functions of GRASP (Walter and Bast, ISWC 2025, section 3.2), including those added since the
// paper.
//
//	grasp.go          shared code: the selected graph, nodes as models write them, pages
//	graspexecute.go   execute
//	grasplist.go      list
//	graspstatement.go qualifiers and references of the triples that list shows
//	graspsearch.go    the searches
//	graspcandidates.go searches among candidates
//	graspknown.go     examples and shapes
//	graspend.go       answer and cancel
var graspTools = Set{graspExecute, graspList, graspEntity, graspProperty, graspLiteral, graspPropertyOf, graspObjectOf,
	graspConstrained, graspAutocomplete, graspFilter, graspSimilar, graspRandom, graspExample, graspExamples,
	graspShapes, graspShape, graspAnswer, graspCancel, graspAnswerText, graspCancelText}

// Limits of GRASP's tools.
const (
	graspHits  = 10 // hits or triples per page, unless the preset sets the number
	graspPages = 10 // pages per search or list
)

// onGraph returns the environment for the graph that a call names. The name may be left out if there is only one graph.
func (env *Env) onGraph(name *string) (*Env, error) {
	wanted := strings.TrimSpace(deref(name))
	if wanted == "" && len(env.Sources) > 1 {
		var names []string
		for i := range env.Sources {
			names = append(names, env.Sources[i].Name())
		}
		return nil, fmt.Errorf(`the argument "kg" must name the graph: %s`, strings.Join(names, " or "))
	}
	for i := range env.Sources {
		if s := &env.Sources[i]; strings.EqualFold(wanted, s.Name()) || strings.EqualFold(wanted, s.Explain.Title) {
			return env.On(s), nil
		}
	}
	s, err := env.Sources.Named(wanted)
	if err != nil {
		return nil, err
	}
	return env.On(s), nil
}

// graphName returns the name of the graph for a result, or "" for the main graph.
func (env *Env) graphName() string {
	if name := env.Source.Name(); name != env.Sources.Main().Name() {
		return name
	}
	return ""
}

// named returns the names of terms. It requests all labels in one call. If a term has no label in the asker's language
// or its fallbacks, it uses a label in another language, with its language tag.
func (env *Env) named(ctx context.Context, terms []rdf.Term) render.Names {
	n := render.Names{Graph: &env.Source.Explain}
	var ids []string
	seen := map[string]bool{}
	for _, t := range terms {
		if !t.IsIRI() {
			continue
		}
		if id := n.ID(t.Value); id != "" && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	n.Labels = env.LabelsOf(ctx, ids)
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	var missing []string
	for _, id := range ids {
		if iri, ok := n.Graph.Expand(id); ok && n.Labels[id] == "" {
			missing = append(missing, iri)
		}
	}
	others, err := shape.Labels(ctx, n.Graph, env.Graph.Query, missing, env.languages())
	if err != nil {
		return n // do without the labels
	}
	n.All = true
	for iri, label := range others {
		n.Labels[n.ID(iri)] = label
	}
	return n
}

// shownIRIs returns the distinct IRIs among terms.
func shownIRIs(terms []rdf.Term) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range terms {
		if t.IsIRI() && !seen[t.Value] {
			seen[t.Value] = true
			out = append(out, t.Value)
		}
	}
	return out
}

// node parses an entity in any of the forms that models write: a prefixed name, an IRI with or without angle brackets
// or, on a Wikibase, a number. The error is for the model.
func (env *Env) node(name, what string) (rdf.Term, error) {
	if iri, ok := shape.Expand(&env.Source.Explain, name); ok {
		return rdf.IRI(iri), nil
	}
	return rdf.Term{}, fmt.Errorf("%s is %q; it must be a prefixed name of this graph or an <IRI>", what,
		render.Clip(name, 60))
}

// predicate parses a property. On a Wikibase, "P31" and "wd:P31" mean wdt:P31.
func (env *Env) predicate(name string) (rdf.Term, error) {
	if strings.TrimSpace(name) == "a" {
		return rdf.IRI(rdf.RDFType), nil
	}
	t, err := env.node(name, "the property")
	if id := rdf.EntityID(t.Value); err == nil && strings.HasPrefix(id, "P") && t.Value == rdf.Entity+id {
		t = rdf.IRI(rdf.Direct + id)
	}
	return t, err
}

// object parses a value: an entity, a literal in SPARQL syntax, or bare text, which becomes a plain literal.
func (env *Env) object(text string) rdf.Term {
	if t, err := env.node(text, ""); err == nil {
		return t
	}
	q, err := env.Dialect.parse("ASK { ?s ?p " + text + " }")
	if err == nil && len(q.Body.Where.Patterns) == 1 {
		if ts, ok := q.Body.Where.Patterns[0].(*sparql.Triples); ok && len(ts.Triples()) == 1 {
			if o := ts.Triples()[0].Object; o.Kind == sparql.Const {
				return o.Value()
			}
		}
	}
	return rdf.String(strings.TrimSpace(text))
}

// place parses a call's argument for one position of a triple; an empty argument leaves the position unbound.
func (env *Env) place(at string, value *string) (rdf.Term, error) {
	v := strings.TrimSpace(deref(value))
	switch {
	case v == "" || strings.HasPrefix(v, "?"):
		return rdf.Term{}, nil
	case at == "property":
		return env.predicate(v)
	case at == "object":
		return env.object(v), nil
	}
	return env.node(v, "the subject")
}

// deref returns what p points to, or the zero value for nil.
func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// pageOf parses a page number, counted from 1. The error is for the model.
func pageOf(page *int) (int, error) {
	n := deref(page)
	if n < 0 || n > graspPages {
		return 0, fmt.Errorf(`the argument "page" is %d; pages are 1 to %d`, n, graspPages)
	}
	return max(1, n), nil
}

// perPage returns the number of hits or triples per page.
func (s Show) perPage() int {
	if s.Hits > 0 {
		return s.Hits
	}
	return graspHits
}

// keyed completes one of GRASP's tools. Two calls are considered the same if key returns the same string for both; if
// key is nil, their arguments are compared. In the text protocol, the argument is either a JSON object or only the
// value of t.Input.
func keyed[A any](t *Tool, key func(a A) string, run func(ctx context.Context, env *Env, a A) (Result, error)) *Tool {
	t = typed(t, run)
	t.Key = func(args json.RawMessage) string {
		a, err := argumentsOf[A](args)
		if err != nil || key == nil {
			return render.Fold(string(args))
		}
		return key(a)
	}
	return written(t)
}

// written allows a tool with several arguments to be called in the text protocol.
func written(t *Tool) *Tool {
	t.FromText = func(text string) json.RawMessage {
		if strings.HasPrefix(strings.TrimSpace(text), "{") {
			return json.RawMessage(text)
		}
		return encoded(map[string]string{t.Input: text})
	}
	return t
}
