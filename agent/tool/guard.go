package tool

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Asked returns the query that a call with these arguments runs, and the name of its graph, which is "" for the main
// graph. ok is false if the call runs no query.
func (t *Tool) Asked(args []byte) (query, graph string, ok bool) {
	switch {
	case !t.Query:
		return "", "", false
	case t.Asks != nil:
		query, graph = t.Asks(args)
	case t.check == nil:
		in, err := t.input(args)
		if err != nil {
			return "", "", false
		}
		query = in
	}
	return query, graph, query != ""
}

// nodeName matches a possible node name in a string: an IRI in angle brackets, or a prefixed name.
var nodeName = regexp.MustCompile(`<https?://[^<>\s"]+>|[A-Za-z][A-Za-z0-9_-]*:[^\s<>"'()\[\]{},;|]+`)

// Names returns the IDs of the graph's nodes that a string mentions, in the form returned by [Dialect.Key].
func (d Dialect) Names(text string) []string {
	var out []string
	for _, m := range d.Mentions(text) {
		if !slices.Contains(out, m.Key) {
			out = append(out, m.Key)
		}
	}
	return out
}

// Mention is a node as written in a string.
type Mention struct{ Written, Key string }

// Mentions returns the nodes of the graph that a string mentions, listing each spelling once.
func (d Dialect) Mentions(text string) (out []Mention) {
	if d.wikibase() {
		for _, id := range render.IDs(text) {
			out = append(out, Mention{id, id})
		}
		return out
	}
	for _, s := range nodeName.FindAllString(text, -1) {
		s = strings.TrimRight(s, ".:!?`")
		if iri, ok := d.Graph.Expand(s); ok && !slices.Contains(out, Mention{s, iri}) {
			out = append(out, Mention{s, iri})
		}
	}
	return out
}

// Key returns the form in which IDs of all graphs are compared: the ID on a Wikibase, and the whole IRI elsewhere.
func (d Dialect) Key(id string) string {
	if !d.wikibase() {
		if iri, ok := d.Graph.Expand(id); ok {
			return iri
		}
	}
	return id
}

// vocabularies are the namespaces whose IRIs need not be looked up, because they have the same meaning in every graph
// (GRASP's list).
var vocabularies = []string{
	"http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#",
	"http://www.w3.org/2002/07/owl#", "http://www.w3.org/2001/XMLSchema#", "http://xmlns.com/foaf/0.1/",
	"http://www.w3.org/2004/02/skos/core#", "http://purl.org/dc/terms/", "http://purl.org/dc/elements/1.1/",
	"http://www.w3.org/ns/prov#", "http://schema.org/", "http://www.opengis.net/ont/geosparql#",
	"http://www.geonames.org/ontology#", "http://www.bigdata.com/rdf#", "http://wikiba.se/ontology#",
	"http://purl.org/linked-data/cube#", "http://rdfs.org/ns/void#",
}

func ofVocabulary(iri string) bool {
	return slices.ContainsFunc(vocabularies, func(ns string) bool { return strings.HasPrefix(iri, ns) })
}

// Unknown returns, as prefixed names, the IRIs in a query that are not known and do not belong to a common vocabulary
// (GRASP's rule). It returns nil for a query that cannot be parsed.
func (e *Env) Unknown(query string, known func(iri string) bool) []string {
	q, err := e.Dialect.parse(query)
	if err != nil {
		return nil
	}
	var out []string
	for _, t := range constants(q) {
		if iri := t.Value; !known(iri) && !ofVocabulary(iri) {
			name := rdf.Shorten(iri)
			if !e.Dialect.wikibase() {
				name = e.Dialect.Graph.Compact(iri)
			}
			out = append(out, name)
		}
	}
	return out
}

// maxLookedUp is the maximum number of IDs in a query that are looked up because they were not shown.
const maxLookedUp = 6

// lookedUp contains what was found out about an ID. Uses is the number of its uses, or "" if unknown.
type lookedUp struct{ ID, Label, Description, Uses string }

// LookUp describes IDs by their labels, their descriptions, and how often the graph uses them. refused means that the
// query that contains them was not run.
func (e *Env) LookUp(ctx context.Context, ids []string, refused bool) string {
	if len(ids) == 0 {
		return ""
	}
	shown := ids[:min(len(ids), maxLookedUp)]
	labels := e.LabelsOf(ctx, shown)
	hits := make([][]kg.Hit, len(shown))
	for i, id := range shown {
		h := kg.Hit{ID: id, Type: kg.Item, Uses: -1}
		find := kg.FindQuery{Text: id, Type: kg.Item, Language: e.Language.Code, Limit: 1, External: true}
		if !e.Dialect.wikibase() {
			find.Type = ""
		} else if id[0] == 'P' {
			find.Type, h.Type = kg.Property, kg.Property
		}
		if res, err := e.Source.Find(ctx, find); err == nil && len(res.Hits) > 0 && res.Hits[0].ID == id {
			h = res.Hits[0]
		}
		hits[i] = []kg.Hit{h}
	}
	if err := e.countUses(ctx, hits); err != nil {
		return "" // the run is ending
	}
	var list []lookedUp
	for i, id := range shown {
		h := hits[i][0]
		x := lookedUp{ID: id, Label: render.Clip(render.Fold(cmp.Or(labels[id], h.Label)), 80),
			Description: render.Clip(render.Fold(h.Description), 160)}
		if h.Uses >= 0 {
			x.Uses = usesText(h.Uses)
		}
		list = append(list, x)
	}
	return say("looked_up", map[string]any{"List": list, "More": len(ids) - len(shown), "Refused": refused})
}

// unseenID is an ID that was not looked up before, with its label.
type unseenID struct{ ID, Label string }

// Warn returns a message that tells the model the labels of the IDs that it used without having seen them.
func (e *Env) Warn(ctx context.Context, ids []string) string {
	if len(ids) == 0 || e.Labels == nil {
		return ""
	}
	labels, err := e.Labels.Labels(ctx, ids, e.languages())
	if err != nil {
		return ""
	}
	var list []unseenID
	for _, id := range ids {
		list = append(list, unseenID{ID: id, Label: render.Clip(render.Fold(labels[id]), 80)})
	}
	return say("unseen", list)
}

// NotKnown returns a message that lists the IRIs that must be found first (GRASP's rule).
func NotKnown(names []string) string { return say("not_known", names) }
