package tool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// write describes what was found as concisely as possible.
func (q *questioned) write() string {
	var lines []string
	for _, t := range q.things {
		lines = append(lines, q.thingLines(t)...)
	}
	if len(q.missing) > 0 {
		lines = append(lines, say("beforehand_missing", map[string]any{"Names": strings.Join(q.missing, "; "),
			"Foreign": q.env.Language.Code != English.Code}))
	}
	for _, s := range q.shapes {
		if list := q.shapeList(s); list != "" {
			lines = append(lines, say("beforehand_shape", map[string]any{"Class": render.Labelled(s.Class.ID, s.Class.Label),
				"List": list}))
		}
	}
	if len(q.properties) > 0 {
		lines = append(lines, say("beforehand_properties", nil))
		for _, h := range q.properties {
			lines = append(lines, "  "+q.propertyLine(h))
		}
	}
	for _, x := range q.examples {
		lines = append(lines, say("beforehand_solved", map[string]any{"Question": render.Clip(render.Fold(
			render.Clean(x.Question)), 300), "SPARQL": render.Fold(q.env.shortened(x.SPARQL))}))
	}
	return strings.Join(lines, "\n")
}

func (q *questioned) thingLines(t thing) []string {
	head := render.Labelled(t.hit.ID, t.hit.Label)
	if t.near {
		head = say("beforehand_near", map[string]string{"Phrase": t.phrase, "Thing": head})
	} else if !strings.EqualFold(t.phrase, t.hit.Label) && !strings.EqualFold(t.phrase, t.hit.ID) {
		head = `"` + t.phrase + `": ` + head
	}
	if d := render.Clip(render.Fold(t.hit.Description), beforehandText); d != "" {
		head += ", " + d
	}
	if t.page == nil {
		return []string{head}
	}
	lines := []string{head}
	var near, rest []string
	few := len(t.page.out) <= fewOut
	var apart []string
	if !q.env.Source.Explain.IsWikibase() {
		apart = q.env.apart()
	}
	for _, r := range t.page.out {
		id := shape.ID(&q.env.Source.Explain, r.property)
		label := q.names.labels[r.property]
		plain := len(r.values) > 0 && q.names.plain(r.values[0])
		switch {
		case label == "" && q.env.Source.Explain.IsWikibase(), slices.Contains(apart, r.property),
			id == "P1963": // properties of a class's members, which the class's shape also shows
		case slices.Contains(usefulOut, id), (q.asked(id, label) || few) && (!plain || r.n < 4):
			near = append(near, strings.TrimSpace(id+" "+label)+": "+q.briefly(r))
		case !plain:
			rest = append(rest, strings.TrimSpace(id+" "+label))
		}
	}
	if len(near) > 0 {
		lines = append(lines, "  "+strings.Join(near, "; "))
	}
	if room := beforehandOut - len(near); room > 0 && len(rest) > 0 {
		lines = append(lines, "  "+say("beforehand_also", mostOf(rest, room)))
	}
	var in []string
	for _, r := range t.page.in {
		if label := q.names.labels[r.property]; label != "" || !q.env.Source.Explain.IsWikibase() {
			in = append(in, strings.TrimSpace(shape.ID(&q.env.Source.Explain, r.property)+" "+label)+r.times())
		}
	}
	if len(in) > 0 {
		lines = append(lines, "  "+say("page_in", map[string]any{"List": mostOf(in, beforehandIn), "More": t.page.more,
			"Most": pageIncoming}))
	}
	return lines
}

// usefulOut lists the properties whose values describe what an entity is.
var usefulOut = []string{"P31", "P279"}

func (q *questioned) briefly(r pageRow) string {
	r.values = r.values[:min(len(r.values), 3)]
	return q.names.values(r)
}

// asked reports whether a property was found or shares a word with the question.
func (q *questioned) asked(id, label string) bool {
	if slices.ContainsFunc(q.properties, func(h kg.Hit) bool { return h.ID == id }) {
		return true
	}
	return q.shares(cmp.Or(label, id[strings.LastIndexAny(id, ":/#")+1:]))
}

// shares reports whether a name and the question share a word, comparing only the first letters of words.
func (q *questioned) shares(label string) bool {
	for _, w := range wordsOf(q.text) {
		if w.stop || w.capped || utf8.RuneCountInString(w.text) < 4 {
			continue
		}
		begin := string([]rune(strings.ToLower(w.text))[:4])
		for _, l := range strings.Fields(strings.ToLower(label)) {
			if strings.HasPrefix(l, begin) {
				return true
			}
		}
	}
	return false
}

func (q *questioned) propertyLine(h kg.Hit) string {
	s := h.ID + " " + render.Fold(h.Label)
	var about []string
	if h.Datatype != "" {
		about = append(about, strings.TrimPrefix(h.Datatype, "wikibase-"))
	}
	if h.Uses > 0 || h.Uses == 0 && h.Term != nil {
		about = append(about, say("uses_of", usesText(h.Uses)))
	}
	if len(about) > 0 {
		s += " (" + strings.Join(about, ", ") + ")"
	}
	if d := render.Clip(render.Fold(h.Description), beforehandText); d != "" {
		s += ": " + d
	}
	return s
}

// shapeList formats the properties of a class's members, each with the share of members that have it and a description
// of its values.
func (q *questioned) shapeList(s *kg.Shape) string {
	var list []string
	for _, p := range s.Out {
		if len(list) == beforehandShape {
			break
		}
		wikibase := q.env.Source.Explain.IsWikibase()
		if wikibase && (len(p.Targets) > 0 && p.Targets[0].Datatype == rdf.XSDString || p.Property.ID == "P31") {
			continue
		}
		text := strings.TrimSpace(p.Property.ID + " " + p.Property.Label)
		if len(p.Targets) > 0 {
			text += q.target(p.Property.ID, p.Targets[0])
		}
		if p.Coverage >= 0 {
			text += fmt.Sprintf(" %.0f%%", 100*p.Coverage)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// target describes the values of a property of members: the kind of a literal, the properties of blank nodes and, on
// graphs whose property names are less descriptive, the class of an entity.
func (q *questioned) target(property string, t kg.ShapeTarget) string {
	iri, err := q.env.iriOf(property)
	switch {
	case t.Datatype != "":
		kind := t.Datatype[strings.LastIndexAny(t.Datatype, "#/")+1:]
		if kind == "langString" || kind == "string" {
			kind = "text"
		}
		return " (" + kind + ")"
	case t.Class.ID == shape.NoName && err == nil:
		return " → " + q.names.behindText(iri)
	case !q.env.Source.Explain.IsWikibase() && t.Class.ID != "" && t.Class.ID != shape.NoName:
		return " → " + t.Class.ID
	}
	return ""
}
