package survey

import (
	"context"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
)

// Limits on [Hierarchy].
const (
	MaxWider    = 60     // superclasses in total
	MaxNarrower = 200    // subclasses
	CountUpTo   = 10_000 // direct members counted
	maxTypes    = 20     // classes per resource
)

// Classes contains the IRIs of the classes that are related to a resource.
type Classes struct {
	Types    []string            // classes of the resource itself
	Wider    map[string][]string // immediate superclasses of each class, and of the resource if it is a class
	Cut      bool                // there are more superclasses than [MaxWider]
	Narrower []string            // immediate subclasses, at most [MaxNarrower]
	Members  int64               // number of direct members, at most [CountUpTo]
}

// Hierarchy returns the classes of a resource, their superclasses up to depth steps and, for a class, its subclasses
// and number of direct members. Errors come from query.
func Hierarchy(ctx context.Context, d *kg.Description, query shape.Query, start string, depth int) (*Classes, error) {
	h := classTree{d: d, query: query, asked: map[string]bool{}, Classes: Classes{Wider: map[string][]string{}}}
	if err := h.up(ctx, start, depth); err != nil {
		return nil, err
	}
	if err := h.down(ctx, start); err != nil {
		return nil, err
	}
	return &h.Classes, nil
}

// classTree contains the classes of a resource and their superclasses.
type classTree struct {
	d     *kg.Description
	query shape.Query
	asked map[string]bool
	Classes
}

// paths returns the graph's type path and its subclass property, or "" if there is none.
func (h *classTree) paths() (types, subclass string) {
	d := h.d
	if iri, ok := shape.Expand(d, d.Subclass); ok {
		subclass = "<" + iri + ">"
	}
	return shape.TypePath(d), subclass
}

// up reads the classes of a resource and their superclasses, with one query per step.
func (h *classTree) up(ctx context.Context, start string, depth int) error {
	types, subclass := h.paths()
	if types != "" {
		t, err := h.query(ctx, fmt.Sprintf("SELECT DISTINCT ?class WHERE { <%s> %s ?class } ORDER BY ?class LIMIT %d",
			start, types, maxTypes))
		if err != nil {
			return err
		}
		for i := range t.Rows {
			if c := cell(t, i, "class"); c.IsIRI() {
				h.Types = append(h.Types, c.Value)
			}
		}
	}
	frontier := append([]string{start}, h.Types...)
	for total := len(frontier); subclass != "" && depth > 0 && len(frontier) > 0; depth-- {
		for _, c := range frontier {
			h.asked[c] = true
		}
		t, err := h.query(ctx, "SELECT DISTINCT ?class ?wider WHERE { VALUES ?class { <"+
			strings.Join(frontier, "> <")+"> } ?class "+subclass+" ?wider } ORDER BY ?class ?wider LIMIT 500")
		if err != nil {
			return err
		}
		frontier = nil
		for i := range t.Rows {
			c, w := cell(t, i, "class").Value, cell(t, i, "wider")
			if !w.IsIRI() {
				continue
			}
			if total >= MaxWider {
				h.Cut = true
				return nil
			}
			h.Wider[c] = append(h.Wider[c], w.Value)
			if !h.asked[w.Value] {
				h.asked[w.Value] = true
				frontier = append(frontier, w.Value)
				total++
			}
		}
	}
	return nil
}

// down reads the subclasses of a class and counts its direct members, up to a limit.
func (h *classTree) down(ctx context.Context, class string) error {
	types, subclass := h.paths()
	if subclass != "" {
		t, err := h.query(ctx, fmt.Sprintf("SELECT DISTINCT ?class WHERE { ?class %s <%s> } ORDER BY ?class LIMIT %d",
			subclass, class, MaxNarrower))
		if err != nil {
			return err
		}
		for i := range t.Rows {
			if c := cell(t, i, "class"); c.IsIRI() {
				h.Narrower = append(h.Narrower, c.Value)
			}
		}
	}
	if types == "" {
		return nil
	}
	t, err := h.query(ctx, fmt.Sprintf("SELECT (COUNT(*) AS ?n) WHERE { { SELECT DISTINCT ?x WHERE "+
		"{ ?x %s <%s> } LIMIT %d } }", types, class, CountUpTo))
	if err != nil {
		return err
	}
	h.Members = count(t, 0, "n")
	return nil
}
