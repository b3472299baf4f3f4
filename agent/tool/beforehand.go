package tool

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
)

// BeforehandName is the name of the tool that the program uses to look things up before the model's first turn.
const BeforehandName = "look_up_question"

// Limits on what is looked up beforehand, and on how much of it is shown. The limits on lists are based on
// measurements: later entries were never needed (tools/used, docs/best.md).
const (
	beforehandFinds   = 36 // number of entity searches, and also of property searches
	beforehandItems   = 5  // entities
	beforehandPages   = 4  // entities shown with their properties
	beforehandClasses = 2  // classes whose members are described
	beforehandProps   = 8  // properties
	beforehandOut     = 8  // properties of an entity
	fewMembers        = 3  // classes with fewer members are not described
	fewOut            = 6  // if an entity has at most this many properties, their values are shown, too
	beforehandIn      = 4  // properties that lead to an entity
	beforehandShape   = 14 // properties of a class's members
	beforehandSolved  = 3  // solved questions
	beforehandText    = 70 // characters of a description
	lesser            = 4  // a namesake is shown if it has more than a quarter as much data as the first hit
	furtherWords      = 3  // words that a name may have in addition to the phrase
	namesakes         = 15 // hits per entity search
	nameHits          = 2  // entities for a phrase that is not exactly an entity's name
)

type beforehandArgs struct{}

var beforehandTool = typed(&Tool{Name: BeforehandName, Text: "best_beforehand.md"}, beforehand)

// beforehand looks up the names and relations in a question, without a model: the entities that it names with their
// properties, the classes with their members' properties, properties that may be meant, and similar solved questions.
func beforehand(ctx context.Context, env *Env, _ beforehandArgs) (Result, error) {
	q := &questioned{env: env, text: env.Question.Text}
	q.names.env = env
	for _, do := range []func(context.Context) error{q.find, q.read, q.measure, q.solved} {
		if err := do(ctx); err != nil {
			var ge *kg.Error
			if ctx.Err() != nil || event.IsWriteError(err) || !errors.As(err, &ge) {
				return Result{}, err
			}
			env.Log.InfoContext(ctx, "agent: not everything was looked up beforehand", "question", env.Question.ID, "err", err)
		}
	}
	q.rank()
	text := q.write()
	if text == "" {
		return Result{Text: say("beforehand_none", env.Language.Code != English.Code), Empty: true}, nil
	}
	return Result{Text: text}, nil
}

// questioned contains the results of the lookups for a question.
type questioned struct {
	env        *Env
	text       string
	things     []thing
	missing    []string // names that do not belong to any entity in the graph
	properties []kg.Hit
	names      namer
	shapes     []*kg.Shape
	examples   []event.Example
	weight     func(kg.Hit) int64 // how much data the graph has about an entity
}

// thing is an entity found for a phrase in the question.
type thing struct {
	phrase string
	name   bool // the phrase is written like a name
	hit    kg.Hit
	rank   int  // rank among the hits for the phrase, from 0
	near   bool // the phrase is not exactly the entity's name
	page   *page
}

// lookedFor is a search for a phrase.
type lookedFor struct {
	phrase  *phrase // nil for the question as a whole
	query   kg.FindQuery
	instead bool // used only if no entity has the phrase, as written, as its name
}

// find searches for the entities that the question names, and then for properties in the rest of the question. It also
// looks up IDs in the question.
func (q *questioned) find(ctx context.Context) error {
	phrases := phrasesOf(q.text)
	var things []lookedFor
	for _, id := range q.env.Dialect.Names(q.text) {
		if q.env.Source.Explain.IsWikibase() && len(things) < beforehandItems {
			typ := kg.Item
			if strings.HasPrefix(id, "P") {
				typ = kg.Property
			}
			things = append(things, lookedFor{phrase: &phrase{text: id, name: true}, query: kg.FindQuery{Text: id, Type: typ,
				Limit: 1, External: true}})
		}
	}
	things = append(things, itemSearches(phrases)...)
	found, things, err := q.search(ctx, things)
	if err != nil {
		return err
	}
	if q.weight, err = q.env.best(ctx, things, found); err != nil {
		return err
	}
	for i, s := range things { // properties whose IDs are in the question
		for _, h := range found[i].Hits {
			if s.query.Type == kg.Property && h.ID == s.query.Text && usable(h, s.query) {
				q.addProperty(h)
			}
		}
	}
	taken := q.chooseThings(things, found)
	taken = q.miss(phrases, taken)
	rest := q.without(taken)
	properties := []lookedFor{{query: kg.FindQuery{Text: rest, Type: kg.Property, Limit: 6, Meaning: true}}}
	if rest == "" {
		properties = nil
	}
	for i := range phrases {
		p := &phrases[i]
		if !p.name && !slices.ContainsFunc(taken, func(t phrase) bool { return t.name && t.from <= p.from && p.to <= t.to }) {
			texts := spellings(p.text)
			properties = append(properties, lookedFor{phrase: p, query: kg.FindQuery{Text: texts[len(texts)-1],
				Type: kg.Property, Limit: 3, Meaning: p.run}})
		}
	}
	if found, properties, err = q.search(ctx, properties); err == nil {
		q.chooseProperties(properties, found)
	}
	return err
}

// itemSearches returns the searches for the items that phrases name. If there are many phrases, there is only one
// search for each of those that are not written like a name.
func itemSearches(phrases []phrase) []lookedFor {
	var out []lookedFor
	for i := range phrases {
		p := &phrases[i]
		texts := spellings(p.text)
		if p.name {
			texts = nameSpellings(p.text)
		} else {
			slices.Reverse(texts) // the singular first, because class names are singular
		}
		for j, t := range texts {
			if j == 0 || p.name || len(phrases) < maxPhrases/3 {
				out = append(out, lookedFor{p, kg.FindQuery{Text: t, Type: kg.Item, Limit: namesakes}, p.name && j > 0})
			}
		}
	}
	return out
}

// miss records the names that do not belong to any entity. It returns taken with these names added, because the parts
// of a name are not necessarily ordinary words.
func (q *questioned) miss(phrases, taken []phrase) []phrase {
	for _, p := range phrases {
		overlaps := func(t phrase) bool { return t.from < p.to && p.from < t.to }
		if p.name && !p.number() && !p.noun(q.env.Language.Code) && !slices.ContainsFunc(taken, overlaps) &&
			!slices.ContainsFunc(q.properties, func(h kg.Hit) bool { return h.ID == p.text }) {
			q.missing = append(q.missing, p.text)
			taken = append(taken, p)
		}
	}
	return taken
}

// best sorts the hits that match exactly by how much data the graph has about them, those with the most data first. If
// the graph fails, the order does not change.
func (env *Env) best(ctx context.Context, all []lookedFor, found []*kg.SearchResult) (func(kg.Hit) int64, error) {
	said := map[string]int64{}
	weight := func(h kg.Hit) int64 {
		iri, err := env.iriOf(h.ID)
		if err != nil {
			return 0
		}
		return said[iri] + max(h.Uses, 0)
	}
	var nodes []string
	for i, s := range all {
		for _, h := range found[i].Hits {
			if iri, err := env.iriOf(h.ID); err == nil && exact(h, s.query.Text) && !slices.Contains(nodes, "<"+iri+">") {
				nodes = append(nodes, "<"+iri+">")
			}
		}
	}
	if len(nodes) == 0 {
		return weight, nil
	}
	t, err := env.Graph.Query(ctx, "SELECT ?item (COUNT(?v) AS ?n) WHERE { VALUES ?item { "+strings.Join(nodes, " ")+
		" } ?item ?p ?v } GROUP BY ?item")
	if err != nil {
		if ctx.Err() != nil || event.IsWriteError(err) {
			return weight, err
		}
		return weight, nil
	}
	for i := range t.Rows {
		said[termAt(t, i, "item").Value] = countAt(t, i, "n")
	}
	for i, s := range all {
		// A plain word more likely refers to an entity with that label than to an entity with that word as a code or alias.
		meant := func(h kg.Hit) int64 {
			if s.phrase != nil && !s.phrase.name && lettersOf(h.Label) == lettersOf(s.query.Text) {
				return lesser * weight(h)
			}
			return weight(h)
		}
		res := *found[i] // a copy, because other queries may share the result
		res.Hits = slices.Clone(res.Hits)
		slices.SortStableFunc(res.Hits, func(a, b kg.Hit) int {
			if x, y := exact(a, s.query.Text), exact(b, s.query.Text); !x || !y {
				return boolInt(y) - boolInt(x)
			}
			return int(meant(b) - meant(a))
		})
		found[i] = &res
	}
	return weight, nil
}

// search runs as many of the searches as the limit allows. It returns their hits and the searches that were run.
func (q *questioned) search(ctx context.Context, all []lookedFor) ([]*kg.SearchResult, []lookedFor, error) {
	all = all[:min(len(all), beforehandFinds)]
	queries := make([]kg.FindQuery, len(all))
	for i := range all {
		all[i].query.Language = q.env.Language.Code
		queries[i] = all[i].query
	}
	found, err := q.env.findAll(ctx, queries)
	return found, all, err
}

// without returns the question's meaningful words other than the names that were found.
func (q *questioned) without(taken []phrase) string {
	var out []string
	for i, w := range wordsOf(q.text) {
		if !w.stop && !slices.ContainsFunc(taken, func(t phrase) bool { return t.name && t.from <= i && i < t.to }) {
			out = append(out, w.text)
		}
	}
	return render.Clip(strings.Join(out, " "), maxSearch)
}

// chooseThings selects the best hits: hits for the longest phrases that exactly match an entity's name and, for phrases
// that are written like a name, also hits that contain all of their words. It returns the phrases of the selected hits.
func (q *questioned) chooseThings(all []lookedFor, found []*kg.SearchResult) (taken []phrase) {
	for _, exactly := range []bool{true, false} {
		for i, s := range all {
			if s.query.Type != kg.Item || !open(s.phrase, taken, exactly) ||
				!exactly && len(q.things) > 0 && s.phrase.noun(q.env.Language.Code) ||
				s.instead && slices.Contains(taken, *s.phrase) {
				continue
			}
			hits := slices.DeleteFunc(heldBack(found[i].Hits, s.query.Text, false), func(h kg.Hit) bool {
				return exact(h, s.query.Text) != exactly || exactly && !s.phrase.name && work(h) ||
					!exactly && (!allWords(s.query.Text, h) || longer(h.Label, s.query.Text))
			})
			for rank, h := range hits[:min(len(hits), nameHits)] {
				if rank == 0 || lesser*q.weight(h) > q.weight(hits[0]) {
					q.addThing(thing{phrase: s.query.Text, name: s.phrase.name, hit: h, rank: rank, near: !exactly})
				}
			}
			if len(hits) > 0 {
				taken = append(taken, *s.phrase)
			}
		}
	}
	slices.SortStableFunc(q.things, func(a, b thing) int { return a.rank - b.rank })
	q.things = q.things[:min(len(q.things), beforehandItems)]
	return taken
}

// longer reports whether a name is so much longer than a phrase that it merely mentions the phrase.
func longer(name, text string) bool {
	return len(strings.Fields(name)) > len(strings.Fields(text))+furtherWords
}

// chooseProperties selects the properties whose names are phrases in the question, and then properties with a similar
// meaning.
func (q *questioned) chooseProperties(all []lookedFor, found []*kg.SearchResult) {
	for _, exactly := range []bool{true, false} {
		for i, s := range all {
			for _, h := range found[i].Hits {
				whole := s.phrase != nil && exact(h, s.query.Text)
				if whole == exactly && (whole || s.phrase == nil || s.phrase.run) && usable(h, s.query) {
					q.addProperty(h)
				}
			}
		}
	}
}

// open reports whether hits for a phrase are still wanted. They are not wanted if the phrase is part of a longer phrase
// that is the name of an entity. Hits that merely contain its words are wanted if the phrase is written like a name, is
// not a number, and does not overlap a phrase that was found.
func open(p *phrase, taken []phrase, exactly bool) bool {
	for _, t := range taken {
		inside := t.from <= p.from && p.to <= t.to && t.to-t.from > p.to-p.from
		if p.to > p.from && (inside || !exactly && t.from < p.to && p.from < t.to) {
			return false
		}
	}
	return exactly || p.name && !p.number()
}

// usable reports whether a property is worth showing. It must have a name, must be used in the graph if its use count
// is known, and must not be an identifier in another database unless the question contains the property's ID.
func usable(h kg.Hit, q kg.FindQuery) bool {
	return h.Label != "" && (q.External || h.Datatype != "external-id" && (h.Uses != 0 || h.Term == nil))
}

func (q *questioned) addThing(t thing) {
	if !slices.ContainsFunc(q.things, func(x thing) bool { return x.hit.ID == t.hit.ID }) {
		q.things = append(q.things, t)
	}
}

func (q *questioned) addProperty(h kg.Hit) {
	if len(q.properties) < beforehandProps && !slices.ContainsFunc(q.properties, func(x kg.Hit) bool {
		return x.ID == h.ID
	}) {
		q.properties = append(q.properties, h)
	}
}

// rank moves some properties to the front: properties that the question's entities or members of its classes have, and
// whose names share a word with the question. Those properties are the most likely ones to be meant, even if the
// property search missed them.
func (q *questioned) rank() {
	var here []kg.Hit
	add := func(h kg.Hit) {
		if h.Label != "" && q.shares(h.Label) && !slices.Contains(usefulOut, h.ID) &&
			!slices.ContainsFunc(here, func(x kg.Hit) bool { return x.ID == h.ID }) {
			here = append(here, h)
		}
	}
	for _, t := range q.things {
		if t.page == nil {
			continue
		}
		for _, r := range slices.Concat(t.page.out, t.page.in) {
			add(kg.Hit{ID: shape.ID(&q.env.Source.Explain, r.property), Label: q.names.labels[r.property], Uses: -1})
		}
	}
	for _, s := range q.shapes {
		for _, p := range s.Out {
			add(kg.Hit{ID: p.Property.ID, Label: p.Property.Label, Uses: -1})
		}
	}
	for i, h := range here {
		if at := slices.IndexFunc(q.properties, func(x kg.Hit) bool { return x.ID == h.ID }); at >= 0 {
			here[i] = q.properties[at] // the search hit has more data
			q.properties = slices.Delete(q.properties, at, at+1)
		}
	}
	q.properties = append(here, q.properties...)
	q.properties = q.properties[:min(len(q.properties), beforehandProps)]
}

// read reads the pages of the entities. If there are too many, it drops pages one at a time: that of an entity that was
// found for a plain word and is not a class or, if there is no such entity, the last one.
func (q *questioned) read(ctx context.Context) error {
	var iris []string
	for _, t := range q.things {
		if iri, err := q.env.iriOf(t.hit.ID); err == nil {
			iris = append(iris, iri)
		}
	}
	if len(iris) == 0 {
		return nil
	}
	ps, err := q.env.pagesOf(ctx, iris)
	if err != nil {
		return err
	}
	if q.names, err = q.env.namesOf(ctx, ps.terms(q.env)); err != nil {
		return err
	}
	q.names.behind, err = q.env.behind(ctx, ps.nameless())
	for i := range q.things {
		for _, p := range ps {
			if iri, err := q.env.iriOf(q.things[i].hit.ID); err == nil && iri == p.iri {
				q.things[i].page = p
			}
		}
	}
	for n := len(q.things); n > beforehandPages; n-- {
		q.things[q.leastPage()].page = nil
	}
	return err
}

// leastPage returns the index of the entity whose page is least relevant to the question.
func (q *questioned) leastPage() int {
	last := 0
	for i := len(q.things) - 1; i >= 0; i-- {
		t := q.things[i]
		if t.page == nil {
			continue
		}
		if !t.name && q.env.membersOf(t.page) < fewMembers {
			return i
		}
		last = max(last, i)
	}
	return last
}

// measure describes the members of the first few classes among the entities.
func (q *questioned) measure(ctx context.Context) error {
	if q.env.Source.Shapes == nil {
		return nil
	}
	for _, t := range q.things {
		if len(q.shapes) == beforehandClasses || t.page == nil || !q.env.TimeFor(shapeTime) {
			break
		}
		if q.env.membersOf(t.page) < fewMembers {
			continue
		}
		s, err := q.env.Source.Shapes.Shape(ctx, t.hit.ID, q.env.Language.Code)
		if ctx.Err() != nil || event.IsWriteError(err) {
			return err
		}
		if err == nil {
			q.shapes = append(q.shapes, s)
		}
	}
	return q.lookBehind(ctx)
}

// lookBehind looks up the properties of the blank nodes that members of the classes lead to.
func (q *questioned) lookBehind(ctx context.Context) error {
	var iris []string
	for _, s := range q.shapes {
		for _, p := range s.Out[:min(len(s.Out), beforehandShape)] {
			iri, err := q.env.iriOf(p.Property.ID)
			if err == nil && len(p.Targets) > 0 && p.Targets[0].Class.ID == shape.NoName && !slices.Contains(iris, iri) {
				iris = append(iris, iri)
			}
		}
	}
	more, err := q.env.behind(ctx, iris)
	if q.names.behind == nil {
		q.names.behind = map[string][]string{}
	}
	maps.Copy(q.names.behind, more)
	return err
}

// membersOf returns the number of members of a class, according to the class's page.
func (env *Env) membersOf(p *page) int {
	for _, t := range env.Source.Explain.Types {
		iri, ok := env.Source.Explain.Expand(t)
		for _, r := range p.in {
			if ok && r.property == env.propertyIRI(iri) {
				return r.n
			}
		}
	}
	return 0
}

// solved searches for solved questions that are similar to this one.
func (q *questioned) solved(ctx context.Context) error {
	if q.env.Source.Examples == nil {
		return nil
	}
	var err error
	q.examples, err = q.env.Source.Examples.FindExamples(ctx, event.ExampleQuery{Text: q.text, Limit: beforehandSolved})
	return err
}
