package tool

import (
	"context"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

const (
	maxPageForModel = 60_000 // in bytes; longer pages are first pruned by comparing words
	maxLeftOut      = 30     // maximum number of omitted properties listed by name
	maxCutNamed     = 10     // maximum number of properties with omitted values listed by name
)

// EntryName is the action that shows an entity's page.
const EntryName = "get_wikidata_entry"

var entryTool = onInput(&Tool{Name: EntryName, Text: "entry.md", Input: "id",
	about: "an item or property, such as Q42"}, idKey, entry)

// idKey returns the ID that a call names. Calls are compared by this ID.
func idKey(text string) string {
	if id := render.ID(text); id != "" {
		return id
	}
	return render.Fold(text)
}

// nodeID returns the ID that an argument names, or "" if it names none. On a Wikibase, the argument is a number; on
// other graphs, it is an IRI or a prefixed name.
func (env *Env) nodeID(argument string) string {
	if env.Dialect.wikibase() {
		return render.ID(argument)
	}
	iri, ok := env.Dialect.Graph.Expand(argument)
	if !ok {
		return ""
	}
	return env.Dialect.Graph.Compact(iri)
}

// exampleID returns an ID for hints: an entity ID on a Wikibase, a prefixed name elsewhere.
func (env *Env) exampleID(number string) string {
	if env.Dialect.wikibase() {
		return number
	}
	return "prefix:name or <IRI>"
}

// entry implements get_wikidata_entry(Q number). It shows an entity's page, which the model prunes to what is relevant
// to the question (SPINACH paper, section 4.1, prompt 13). If the model fails, or returns something that is not on the
// page, the page is pruned to the parts that share words with the question. A short page is shown in full.
func entry(ctx context.Context, env *Env, argument string) (Result, error) {
	id := env.nodeID(argument)
	if id == "" {
		return Result{Text: say("no_number", map[string]any{"Argument": render.Clip(argument, 100),
			"Search": SearchName, "What": "an item or property", "Example": env.exampleID("Q42")}), Failure: kg.BadID}, nil
	}
	e, err := env.Graph.Entity(ctx, id, env.Language.Code)
	if kg.KindOf(err) == kg.NotFound {
		return Result{Text: say("not_found", map[string]any{"ID": id, "Search": SearchName}), Failure: kg.NotFound}, nil
	}
	if err != nil {
		return env.failed(ctx, err)
	}
	if env.Show.AnyLabel {
		e = env.labelled(ctx, e)
	}
	heading := hitText(kg.Hit{ID: e.ID, Label: e.Label, Description: e.Description, Datatype: e.Datatype})
	whole := render.NewPage(e, env.Labels != nil)
	if whole.Empty() {
		return Result{Text: say("entry_empty", map[string]any{"Heading": heading})}, nil
	}
	short := whole
	if env.Show.Values > 0 {
		short = whole.First(env.Show.Values)
	}
	pruned, err := env.prune(ctx, e, short)
	if err != nil {
		return Result{}, err
	}
	lines := []string{heading, pruned.String()}
	if e.ID != id {
		lines = append(lines, say("entry_redirect", map[string]any{"From": id, "To": e.ID}))
	}
	if cut := pruned.Cut(whole); len(cut) > 0 {
		shown := cut[:min(len(cut), maxCutNamed)]
		lines = append(lines, say("entry_cut", map[string]any{"List": strings.Join(shown, "; "),
			"More": len(cut) - len(shown)}))
	}
	if names := pruned.LeftOut(whole); len(names) > 0 {
		shown := names[:min(len(names), maxLeftOut)]
		lines = append(lines, say("entry_left_out", map[string]any{"Names": strings.Join(shown, ", "),
			"More": len(names) - len(shown)}))
	}
	return Result{Text: strings.Join(lines, "\n")}, nil
}

// prune shortens a page to what is relevant to the question.
func (env *Env) prune(ctx context.Context, e *kg.Entity, whole render.Page) (render.Page, error) {
	text := whole.String()
	if len(text) <= env.Show.PruneOver {
		return whole, nil
	}
	given := whole
	if len(text) > maxPageForModel {
		given = render.PruneByWords(whole, env.Question.Text)
		text = given.String()
	}
	answer, ok, err := env.Help(ctx, Task{Purpose: "prune", Part: e.ID, MaxTokens: 2000,
		Data: map[string]any{"ID": e.ID, "Label": e.Label, "Page": text}})
	if err != nil {
		return render.Page{}, err
	}
	if ok {
		pruned, unknown, fits := render.PruneByAnswer(given, answer)
		if unknown > 0 {
			env.Log.InfoContext(ctx, "agent: ignored what pruning named but is not on the page", "question", env.Question.ID,
				"entity", e.ID, "unknown", unknown)
		}
		if fits {
			return pruned, nil
		}
	}
	return render.PruneByWords(whole, env.Question.Text), nil
}

// labelled returns a copy of an entity in which missing labels are filled in from other languages, with their language
// tags.
func (env *Env) labelled(ctx context.Context, e *kg.Entity) *kg.Entity {
	out := *e
	out.Claims = slices.Clone(e.Claims)
	places := map[string][]*string{}
	missing := func(id string, label *string) {
		if id != "" && *label == "" {
			places[id] = append(places[id], label)
		}
	}
	value := func(v *kg.Value) {
		if v.Term.IsIRI() {
			missing(rdf.EntityID(v.Term.Value), &v.Label)
		}
		missing(v.Unit, &v.UnitLabel)
	}
	missing(e.ID, &out.Label)
	for i := range out.Claims {
		c := &out.Claims[i]
		missing(c.Property.ID, &c.Property.Label)
		c.Statements = slices.Clone(c.Statements)
		for j := range c.Statements {
			s := &c.Statements[j]
			value(&s.Value)
			s.Qualifiers = slices.Clone(s.Qualifiers)
			for k := range s.Qualifiers {
				q := &s.Qualifiers[k]
				missing(q.Property.ID, &q.Property.Label)
				q.Values = slices.Clone(q.Values)
				for l := range q.Values {
					value(&q.Values[l])
				}
			}
		}
	}
	for id, label := range env.anyLabels(ctx, sortedKeys(places), nil) {
		for _, p := range places[id] {
			*p = label
		}
	}
	return &out
}
