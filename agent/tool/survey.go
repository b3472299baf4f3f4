package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/kg/survey"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// surveyTools are tools that are not part of a published agent: those that people wished for when they took the model's
// place, and two of WikidataMCP's tools.
//
//	survey.go       shared code: the selected graph, nodes as models write them, labels
//	find.go         several names in one search
//	profile.go      the entities that match a pattern, the members of a class, or the statements of a property
//	statements.go   everything about one property of an entity
//	hierarchy.go    the classes of an entity, their superclasses and subclasses
//	labels.go       labels in any language
//	rows.go         more rows of an earlier result
var surveyTools = Set{findTool, profileTool, statementsTool, hierarchyTool, labelsTool, rowsTool}

// at returns the environment for the graph that a call names, or for the main graph if it names none.
func (env *Env) at(name *string) (*Env, error) {
	s, err := env.Sources.Named(strings.TrimSpace(deref(name)))
	if err != nil {
		return nil, err
	}
	return env.On(s), nil
}

// wrong returns a result that tells the model what is wrong with its arguments.
func wrong(err error) (Result, error) {
	return Result{Text: say("bad_arguments", err.Error()), Failure: kg.QueryFailed}, nil
}

// iriOf parses an entity in any of the forms that models write: a number, "label (Q42)", a prefixed name, or an IRI.
// The error is for the model.
func (env *Env) iriOf(name string) (string, error) {
	d := &env.Source.Explain
	if d.IsWikibase() {
		if id := render.ID(name); id != "" {
			return rdf.Entity + id, nil
		}
	}
	if iri, ok := shape.Expand(d, name); ok {
		return iri, nil
	}
	form := "a prefixed name or an <IRI>"
	if d.IsWikibase() {
		form = "a number such as Q42 or P31"
	}
	return "", fmt.Errorf("%q names nothing in this graph; use %s", render.Clip(name, 60), form)
}

// property parses a property and returns its IRI. On a Wikibase, the property must have an ID such as P31.
func (env *Env) property(name string) (string, error) {
	iri, err := env.iriOf(name)
	if id := rdf.EntityID(iri); err == nil && env.Source.Explain.IsWikibase() && !strings.HasPrefix(id, "P") {
		return "", fmt.Errorf("%q is not a property; use a number such as P31", render.Clip(name, 60))
	}
	return iri, err
}

// namer formats entities and values with their labels. The labels are in the asker's language or its fallbacks, or in
// any other language with its language tag.
type namer struct {
	env    *Env
	labels map[string]string   // labels by IRI
	behind map[string][]string // properties of blank nodes; see [Env.behind]
}

// namesOf looks up the labels of IRIs. If the lookup fails, there are no labels; namesOf returns an error only if ctx
// is done or the log cannot be written.
func (env *Env) namesOf(ctx context.Context, iris []string) (namer, error) {
	n := namer{env: env}
	if len(iris) == 0 {
		return n, nil
	}
	var err error
	n.labels, err = shape.Labels(ctx, &env.Source.Explain, env.Graph.Query, iris, env.languages())
	if err != nil && (ctx.Err() != nil || event.IsWriteError(err)) {
		return n, err
	}
	return n, nil
}

// iri formats an entity, as in "Danube (Q1653)" or "(no label) (Q1653)".
func (n namer) iri(iri string) string {
	id := shape.ID(&n.env.Source.Explain, iri)
	label := n.labels[iri]
	if label == "" {
		if n.labels == nil || !n.entity(iri) {
			return id
		}
		return say("no_label", id)
	}
	return render.Labelled(id, render.Clip(label, 120))
}

// entity reports whether an IRI can have labels. On a Wikibase, only items and properties can.
func (n namer) entity(iri string) bool {
	return !n.env.Source.Explain.IsWikibase() || rdf.EntityID(iri) != ""
}

// term formats any value.
func (n namer) term(t rdf.Term) string {
	switch {
	case t.Kind == rdf.BlankKind && !n.env.Source.Explain.IsWikibase():
		return "[]"
	case t.Kind == rdf.BlankKind, t.IsIRI() && strings.HasPrefix(t.Value, survey.UnknownIRI):
		return say("unknown_value", nil)
	case t.IsIRI():
		return n.iri(t.Value)
	}
	return render.Value(kg.Value{Term: t})
}

// irisIn returns the distinct entities among terms.
func irisIn(d *kg.Description, terms ...rdf.Term) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range terms {
		iri := t.Value
		if !t.IsIRI() || seen[iri] {
			continue
		}
		if d.IsWikibase() {
			id := rdf.EntityID(iri)
			if id == "" {
				continue
			}
			iri = rdf.Entity + id // a property's label is its entity's label
		}
		if !seen[iri] {
			seen[iri] = true
			out = append(out, iri)
		}
	}
	return out
}

// mostOf lists the first n elements and reports how many remain.
func mostOf(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:n], ", ") + say("and_more", len(list)-n)
}

// termAt returns a table cell, or the zero Term if there is none.
func termAt(t *kg.Table, row int, column string) rdf.Term {
	for j, v := range t.Vars {
		if v == column && row < len(t.Rows) && j < len(t.Rows[row]) {
			return t.Rows[row][j]
		}
	}
	return rdf.Term{}
}

// countAt returns the count in a table cell.
func countAt(t *kg.Table, row int, column string) int64 {
	var n int64
	if _, err := fmt.Sscan(strings.SplitN(termAt(t, row, column).Value, ".", 2)[0], &n); err != nil {
		return 0
	}
	return n
}

// sortedKeys returns the keys of a map in ascending order.
func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// arguments returns a function that converts the text protocol's single argument to named arguments. A JSON object is
// left unchanged. Any other argument is split at bars into one part per name, and numbers become JSON numbers. A name
// followed by dots takes all the remaining parts, as a list.
func arguments(names ...string) func(text string) json.RawMessage {
	return func(text string) json.RawMessage {
		if text = strings.TrimSpace(text); strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
		bar := "|"
		if strings.Contains(text, "?") { // a pattern's paths may contain bars without spaces
			bar = " | "
		}
		parts := strings.Split(text, bar)
		for i := range parts {
			parts[i] = strings.Trim(strings.TrimSpace(parts[i]), `"`)
		}
		m := map[string]any{}
		for i, name := range names {
			if i >= len(parts) {
				break
			}
			if list, all := strings.CutSuffix(name, "..."); all {
				m[list] = parts[i:]
			} else if n, err := strconv.Atoi(parts[i]); err == nil {
				m[name] = n
			} else if parts[i] != "" {
				m[name] = parts[i]
			}
		}
		return encoded(m)
	}
}
