package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// HierarchyName is the action that shows the classes of a thing.
const HierarchyName = "hierarchy"

// Bounds of hierarchy.
const (
	usualDepth = 3
	maxDepth   = 5
	maxWider   = 60 // classes in all
	maxKinds   = 20 // narrower classes and members shown
)

type hierarchyArgs struct {
	ID    string  `json:"id" about:"the item or class, such as Q42"`
	Depth *int    `json:"depth" about:"steps to wider classes, 1 to 5; 3 when left out"`
	KG    *string `json:"kg" about:"name of the graph, when there are several"`
}

var hierarchyTool = typed(&Tool{Name: HierarchyName, Text: "hierarchy.md"}, hierarchy)

// hierarchy carries out hierarchy(id, depth): the classes that a thing is in and the wider ones, as a tree, and of a
// class the narrower ones and the number of direct members (WikidataMCP's get_instance_and_subclass_hierarchy, which
// looks up only).
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
	h := classTree{env: env, wider: map[string][]string{}, asked: map[string]bool{}}
	if err := h.up(ctx, start, depth); err != nil {
		return env.failed(ctx, err)
	}
	narrower, members, err := h.down(ctx, start)
	if err != nil {
		return env.failed(ctx, err)
	}
	terms := []rdf.Term{rdf.IRI(start)}
	for _, list := range h.wider {
		for _, c := range list {
			terms = append(terms, rdf.IRI(c))
		}
	}
	for _, list := range [][]string{h.types, narrower[:min(len(narrower), maxKinds)]} {
		for _, c := range list {
			terms = append(terms, rdf.IRI(c))
		}
	}
	h.names, err = env.namesOf(ctx, irisIn(&env.Source.Explain, terms...))
	if err != nil {
		return Result{}, err
	}
	h.lines = append(h.lines, h.names.iri(start))
	for _, t := range h.types {
		h.lines = append(h.lines, "  "+say("is_a", h.names.iri(t)))
		h.write(t, 2, map[string]bool{start: true})
	}
	h.write(start, 1, map[string]bool{})
	if len(h.types) == 0 && len(h.wider[start]) == 0 {
		h.lines = append(h.lines, "  "+say("no_class", nil))
	}
	if h.cut {
		h.lines = append(h.lines, say("hierarchy_cut", maxWider))
	}
	if len(narrower) > 0 {
		var list []string
		for _, c := range narrower[:min(len(narrower), maxKinds)] {
			list = append(list, h.names.iri(c))
		}
		h.lines = append(h.lines, say("narrower", map[string]any{"List": strings.Join(list, ", "), "Rest": len(narrower) - len(list),
			"Full": len(narrower) == maxNarrower}))
	}
	if members != "" {
		h.lines = append(h.lines, say("members", members))
	}
	return Result{Text: strings.Join(h.lines, "\n")}, nil
}

// classTree is what lies above a thing.
type classTree struct {
	env   *Env
	types []string            // of the thing itself
	wider map[string][]string // by class
	asked map[string]bool
	cut   bool
	names namer
	lines []string
	done  map[string]bool // classes whose wider ones were written
}

// paths returns the graph's type path and its subclass property, "" where it has none.
func (h *classTree) paths() (types, subclass string) {
	d := &h.env.Source.Explain
	if iri, ok := shape.Expand(d, d.Subclass); ok {
		subclass = "<" + iri + ">"
	}
	return shape.TypePath(d), subclass
}

// up reads the classes of a thing and the wider ones, a query for each step.
func (h *classTree) up(ctx context.Context, start string, depth int) error {
	types, subclass := h.paths()
	if types != "" {
		t, err := h.env.Graph.Query(ctx, fmt.Sprintf("SELECT DISTINCT ?class WHERE { <%s> %s ?class } ORDER BY ?class LIMIT %d",
			start, types, maxKinds))
		if err != nil {
			return err
		}
		for i := range t.Rows {
			if c := termAt(t, i, "class"); c.IsIRI() {
				h.types = append(h.types, c.Value)
			}
		}
	}
	frontier := append([]string{start}, h.types...)
	for total := len(frontier); subclass != "" && depth > 0 && len(frontier) > 0; depth-- {
		for _, c := range frontier {
			h.asked[c] = true
		}
		t, err := h.env.Graph.Query(ctx, "SELECT DISTINCT ?class ?wider WHERE { VALUES ?class { <"+
			strings.Join(frontier, "> <")+"> } ?class "+subclass+" ?wider } ORDER BY ?class ?wider LIMIT 500")
		if err != nil {
			return err
		}
		frontier = nil
		for i := range t.Rows {
			c, w := termAt(t, i, "class").Value, termAt(t, i, "wider")
			if !w.IsIRI() {
				continue
			}
			if total >= maxWider {
				h.cut = true
				return nil
			}
			h.wider[c] = append(h.wider[c], w.Value)
			if !h.asked[w.Value] {
				h.asked[w.Value] = true
				frontier = append(frontier, w.Value)
				total++
			}
		}
	}
	return nil
}

// maxNarrower bounds the narrower classes that are counted, and countUpTo the members.
const (
	maxNarrower = 200
	countUpTo   = 10_000
)

// down reads the narrower classes of a class and counts its direct members, up to a number.
func (h *classTree) down(ctx context.Context, class string) (narrower []string, members string, err error) {
	types, subclass := h.paths()
	if subclass != "" {
		t, err := h.env.Graph.Query(ctx, fmt.Sprintf("SELECT DISTINCT ?class WHERE { ?class %s <%s> } ORDER BY ?class LIMIT %d",
			subclass, class, maxNarrower))
		if err != nil {
			return nil, "", err
		}
		for i := range t.Rows {
			if c := termAt(t, i, "class"); c.IsIRI() {
				narrower = append(narrower, c.Value)
			}
		}
	}
	if types == "" {
		return narrower, "", nil
	}
	t, err := h.env.Graph.Query(ctx, fmt.Sprintf("SELECT (COUNT(*) AS ?n) WHERE { { SELECT DISTINCT ?x WHERE { ?x %s <%s> } LIMIT %d } }",
		types, class, countUpTo))
	if err != nil {
		return nil, "", err
	}
	switch n := countAt(t, 0, "n"); {
	case n >= countUpTo:
		return narrower, say("at_least", n), nil
	case n > 0:
		return narrower, fmt.Sprint(n), nil
	}
	return narrower, "", nil
}

// write writes the wider classes of a class below it; one that was written already is not followed again.
func (h *classTree) write(class string, depth int, above map[string]bool) {
	if h.done == nil {
		h.done = map[string]bool{}
	}
	if h.done[class] {
		return
	}
	h.done[class] = true
	for _, w := range h.wider[class] {
		line := strings.Repeat("  ", depth) + say("kind_of", h.names.iri(w))
		if above[w] || h.done[w] && len(h.wider[w]) > 0 {
			line += " " + say("see_above", nil)
		}
		h.lines = append(h.lines, line)
		h.write(w, depth+1, above)
	}
}
