package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// graspSearchArgs are the arguments of a search that takes only words.
type graspSearchArgs struct {
	KG    *string `json:"kg" about:"graph"`
	Query string  `json:"query"`
	Page  *int    `json:"page" about:"from 1"`
}

// graspEntity is GRASP's search_entity(kg, query). It searches by words.
var graspEntity = graspSearch("search_entity", kg.Item)

// graspProperty is GRASP's search_property(kg, query). It searches by meaning if the index supports that.
var graspProperty = graspSearch("search_property", kg.Property)

// graspSearch returns a tool that searches the whole index.
func graspSearch(name string, typ kg.Type) *Tool {
	return keyed(&Tool{Name: name, Text: "grasp_" + name + ".md", Input: "query"}, nil,
		func(ctx context.Context, env *Env, a graspSearchArgs) (Result, error) {
			env, page, err := env.search(a.KG, a.Page)
			if err != nil {
				return wrong(err)
			}
			return env.find(ctx, graspQuery{text: a.Query, typ: typ, page: page})
		})
}

// search returns the environment and the page number for a search, given the call's arguments.
func (env *Env) search(name *string, page *int) (*Env, int, error) {
	env, err := env.onGraph(name)
	if err != nil {
		return nil, 0, err
	}
	n, err := pageOf(page)
	return env, n, err
}

// graspQuery contains the parameters of a search by one of GRASP's tools.
type graspQuery struct {
	text string
	typ  kg.Type // "" for anything
	page int
	from string     // the query that returns the candidates; "" for the whole index
	of   []rdf.Term // the terms in the other positions of the triple, for the heading
	wide kg.Type    // what is searched instead if there are too many candidates
	note string     // note that precedes the result
}

// find runs a search. If the candidates cannot be fetched, or if there are too many, it searches the whole index, and
// the result says so.
func (env *Env) find(ctx context.Context, q graspQuery) (Result, error) {
	if err := q.check(); err != nil {
		return wrong(err)
	}
	f := env.findQuery(q)
	if q.from != "" {
		among, why, err := env.among(ctx, q, f)
		if err != nil {
			return Result{}, err
		}
		if why == nil {
			return env.hits(ctx, q, f.Type, &among.SearchResult, among.Candidates)
		}
		q.note = say("grasp_wide", wideData(why))
		f.Type, f.Meaning = q.wide, q.wide == kg.Property
	}
	if f.Type == kg.Literal {
		return Result{Text: strings.TrimSpace(q.note + " " + say("grasp_no_literals", nil))}, nil
	}
	res, err := env.Source.Find(ctx, f)
	if err != nil {
		return env.failed(ctx, err)
	}
	return env.hits(ctx, q, f.Type, res, -1)
}

// check returns a message for the model if the search text is invalid.
func (q *graspQuery) check() error {
	q.text = render.Fold(render.Clean(q.text))
	if len([]rune(q.text)) > maxSearch {
		return fmt.Errorf("the text is longer than %d characters; use a name or a few words", maxSearch)
	}
	return nil
}

// findQuery returns a query for a page of hits, the next page, and one more hit, from which the minimum number of pages
// is determined.
func (env *Env) findQuery(q graspQuery) kg.FindQuery {
	n := env.Show.perPage()
	return kg.FindQuery{Text: q.text, Type: q.typ, Language: env.Language.Code, Limit: 2*n + 1, Offset: (q.page - 1) * n,
		Meaning: q.typ == kg.Property, External: asksForID(q.text)}
}

// among searches the candidates. If they cannot be fetched, why is the error; a non-nil err ends the run.
func (env *Env) among(ctx context.Context, q graspQuery, f kg.FindQuery) (found *event.Among, why, err error) {
	found, why = env.explorer().Among(ctx, event.AmongQuery{FindQuery: f, From: q.from})
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case event.IsWriteError(why):
		return nil, nil, why
	}
	return found, why, nil
}

// wideData returns the data for the message that explains why candidates could not be fetched.
func wideData(err error) map[string]any {
	ge := &kg.Error{Kind: kg.Down, Message: err.Error()}
	_ = errors.As(err, &ge) // ge is unchanged if err is any other error
	return map[string]any{"Kind": string(ge.Kind), "Message": render.Clip(render.Fold(ge.Message), 200),
		"Most": maxCandidates}
}

// asksForID reports whether a search asks for properties that contain identifiers in other databases. Such properties
// are left out of other searches.
func asksForID(words string) bool {
	for _, w := range strings.Fields(strings.ToLower(words)) {
		if slices.Contains([]string{"id", "ids", "identifier", "identifiers", "code", "number"}, strings.Trim(w, ".,")) {
			return true
		}
	}
	return false
}

// graspNothing is the hint shown when one of GRASP's searches finds nothing.
const graspNothing Advice = "grasp_search"

// hits formats a page of hits. candidates is the number of terms searched, or -1 for the whole index.
func (env *Env) hits(ctx context.Context, q graspQuery, typ kg.Type, res *kg.SearchResult, candidates int) (Result,
	error) {
	n := env.Show.perPage()
	out := Result{}
	var lines []string
	if q.note != "" {
		lines = append(lines, q.note)
	}
	data := map[string]any{"What": whatOf(typ), "Page": q.page, "Candidates": candidates, "Text": render.Clip(q.text, 60)}
	if len(res.Hits) == 0 {
		data["Full"] = !env.Advised(graspNothing)
		out.Advice = graspNothing
		lines = append(lines, say("grasp_nothing", data))
		if err := env.instead(ctx, q, typ, candidates, &lines, &out); err != nil {
			return Result{}, err
		}
		out.Text = strings.Join(lines, "\n")
		return out, nil
	}
	data["Pages"], data["More"] = q.page+(len(res.Hits)-1)/n, res.More
	if p := data["Pages"].(int); p > graspPages {
		data["Pages"], data["More"] = graspPages, false
	}
	if candidates >= 0 {
		data["Of"] = env.list(ctx, q.of)
		out.Shown = shownIRIs(q.of)
	}
	lines = append(lines, say("grasp_hits", data))
	shown, empty := described(res.Hits[:min(n, len(res.Hits))])
	names := render.Names{Graph: &env.Source.Explain}
	for _, h := range shown {
		lines = append(lines, names.Hit(h))
	}
	if empty > 0 {
		lines = append(lines, say("grasp_left_out", empty))
	}
	out.Shown = append(out.Shown, env.hitIRIs(shown)...)
	out.Text = strings.Join(lines, "\n")
	return out, nil
}

// described removes the entities that the graph neither uses nor describes, unless that would remove all hits. It
// returns the number of entities left out.
func described(hits []kg.Hit) (shown []kg.Hit, empty int) {
	for _, h := range hits {
		if h.Type == kg.Item && h.Uses == 0 && h.Description == "" && len(h.Info) == 0 {
			empty++
			continue
		}
		shown = append(shown, h)
	}
	if len(shown) == 0 {
		return hits, 0
	}
	return shown, empty
}

// list formats the bound terms with their labels, separated by commas.
func (env *Env) list(ctx context.Context, terms []rdf.Term) string {
	names := env.named(ctx, terms)
	var out []string
	for _, t := range terms {
		if t.Bound() {
			out = append(out, names.Term(t))
		}
	}
	return strings.Join(out, ", ")
}

// hitIRIs returns the IRIs shown in hits.
func (env *Env) hitIRIs(hits []kg.Hit) []string {
	var out []string
	for _, h := range hits {
		if h.Term != nil && h.Term.IsIRI() {
			out = append(out, h.Term.Value)
		}
		for _, v := range h.Variants {
			out = append(out, rdf.Prefixes[v]+h.ID)
		}
	}
	return out
}

// instead shows the most used candidates if none of them match the words.
func (env *Env) instead(ctx context.Context, q graspQuery, typ kg.Type, candidates int, lines *[]string,
	out *Result) error {
	if candidates <= 0 || q.page > 1 {
		return nil
	}
	res, why, err := env.among(ctx, q, kg.FindQuery{Type: typ, Language: env.Language.Code, Limit: env.Show.perPage()})
	if err != nil || why != nil || len(res.Hits) == 0 {
		return err // the list is only a suggestion
	}
	names := render.Names{Graph: &env.Source.Explain}
	var shown []string
	for _, h := range res.Hits {
		shown = append(shown, names.HitName(h))
	}
	*lines = append(*lines, say("grasp_instead", strings.Join(shown, ", ")))
	out.Shown = append(out.Shown, env.hitIRIs(res.Hits)...)
	return nil
}

// whatOf returns the word for the kind of term that is searched for.
func whatOf(typ kg.Type) string {
	switch typ {
	case kg.Item:
		return "entity"
	case kg.Property:
		return "property"
	case kg.Literal:
		return "literal"
	}
	return "entity or literal"
}
