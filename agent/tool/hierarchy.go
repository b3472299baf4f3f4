package tool

import (
	"context"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg/survey"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// HierarchyName is the action that shows the classes of an entity.
const HierarchyName = "hierarchy"

// Limits of hierarchy.
const (
	usualDepth = 3
	maxDepth   = 5
	maxKinds   = 20 // narrower classes shown
)

type hierarchyArgs struct {
	ID    string  `json:"id" about:"the item or class, such as Q42"`
	Depth *int    `json:"depth" about:"steps to wider classes, 1 to 5; 3 when left out"`
	KG    *string `json:"kg" about:"name of the graph, when there are several"`
}

var hierarchyTool = typed(&Tool{Name: HierarchyName, Text: "hierarchy.md",
	FromText: arguments("id", "depth")}, hierarchy)

// hierarchy implements hierarchy(id, depth). It shows the classes of an entity and their superclasses, as a tree; for a
// class, it also shows the subclasses and the number of direct members. (WikidataMCP's
// get_instance_and_subclass_hierarchy only looks upward.)
func hierarchy(ctx context.Context, env *Env, a hierarchyArgs) (Result, error) {
	env, err := env.at(a.KG)
	if err != nil {
		return wrong(err)
	}
	depth := usualDepth
	if a.Depth != nil {
		depth = min(max(*a.Depth, 1), maxDepth)
	}
	start, err := env.iriOf(a.ID)
	if err != nil {
		return wrong(err)
	}
	c, err := survey.Hierarchy(ctx, &env.Source.Explain, env.Graph.Query, start, depth)
	if err != nil {
		return env.failed(ctx, err)
	}
	h := classTree{Classes: c, done: map[string]bool{}}
	h.names, err = env.namesOf(ctx, irisIn(&env.Source.Explain, h.terms(start)...))
	if err != nil {
		return Result{}, err
	}
	h.lines = append(h.lines, h.names.iri(start))
	for _, t := range h.Types {
		h.lines = append(h.lines, "  "+say("is_a", h.names.iri(t)))
		h.write(t, 2)
	}
	h.write(start, 1)
	if len(h.Types) == 0 && len(h.Wider[start]) == 0 {
		h.lines = append(h.lines, "  "+say("no_class", nil))
	}
	if h.Cut {
		h.lines = append(h.lines, say("hierarchy_cut", survey.MaxWider))
	}
	if len(h.Narrower) > 0 {
		var list []string
		for _, c := range h.Narrower[:min(len(h.Narrower), maxKinds)] {
			list = append(list, h.names.iri(c))
		}
		h.lines = append(h.lines, say("narrower", map[string]any{"List": strings.Join(list, ", "),
			"Rest": len(h.Narrower) - len(list), "Full": len(h.Narrower) == survey.MaxNarrower}))
	}
	switch {
	case h.Members >= survey.CountUpTo:
		h.lines = append(h.lines, say("members", say("at_least", h.Members)))
	case h.Members > 0:
		h.lines = append(h.lines, say("members", h.Members))
	}
	return Result{Text: strings.Join(h.lines, "\n")}, nil
}

// classTree formats the classes above an entity.
type classTree struct {
	*survey.Classes
	names namer
	lines []string
	done  map[string]bool // classes whose superclasses have been written
}

// terms returns the entity and every class shown.
func (h *classTree) terms(start string) []rdf.Term {
	out := []rdf.Term{rdf.IRI(start)}
	for _, class := range sortedKeys(h.Wider) {
		for _, c := range h.Wider[class] {
			out = append(out, rdf.IRI(c))
		}
	}
	for _, c := range append(h.Types[:len(h.Types):len(h.Types)], h.Narrower[:min(len(h.Narrower), maxKinds)]...) {
		out = append(out, rdf.IRI(c))
	}
	return out
}

// write writes the superclasses of a class, and their superclasses, below the class. It does so only once per class.
func (h *classTree) write(class string, depth int) {
	if h.done[class] {
		return
	}
	h.done[class] = true
	for _, w := range h.Wider[class] {
		line := strings.Repeat("  ", depth) + say("kind_of", h.names.iri(w))
		if h.done[w] && len(h.Wider[w]) > 0 {
			line += " " + say("see_above", nil)
		}
		h.lines = append(h.lines, line)
		h.write(w, depth+1)
	}
}
