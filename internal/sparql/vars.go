package sparql

import "strings"

// Columns returns the names of the result's columns: the projected variables, or, for SELECT *, the pattern's visible
// variables in order of appearance.
func (s *SelectQuery) Columns() []string {
	if !s.Star {
		out := make([]string, len(s.Items))
		for i, it := range s.Items {
			out[i] = it.Var
		}
		return out
	}
	v := VarSet{}
	v.AddGroup(s.Where)
	if s.Values != nil {
		v.Add(s.Values.Vars...)
	}
	return v.names
}

// Visible returns the variables that are in scope after the group (SPARQL 1.1, section 18.2.1), in order of appearance.
// It omits the variables of an INCLUDE, because the group alone does not determine them.
func (g *Group) Visible() []string {
	v := VarSet{}
	v.AddGroup(g)
	return v.names
}

// VarSet is a set of variable names, without ? or $, in the order in which they were added. The zero VarSet is empty
// and ready to use.
type VarSet struct {
	seen  map[string]bool
	names []string
}

// Names returns the names in order. The caller must not modify the slice.
func (v *VarSet) Names() []string { return v.names }

// Has reports whether the name is in the set.
func (v *VarSet) Has(name string) bool { return v.seen[name] }

// Add adds names.
func (v *VarSet) Add(names ...string) {
	if v.seen == nil {
		v.seen = map[string]bool{}
	}
	for _, n := range names {
		if !v.seen[n] {
			v.seen[n] = true
			v.names = append(v.names, n)
		}
	}
}

// AddTerm adds the variables in a term, including those in property lists and collections. A nil term has no variables.
func (v *VarSet) AddTerm(t *Term) {
	if t == nil {
		return
	}
	if t.Kind == Var {
		v.Add(t.Name)
	}
	v.properties(t.Properties())
	for _, i := range t.Items() {
		v.AddTerm(i)
	}
}

// AddTriples adds the variables in a statement.
func (v *VarSet) AddTriples(t *Triples) {
	v.AddTerm(t.Subject)
	v.properties(t.Properties)
}

func (v *VarSet) properties(ps []*Property) {
	for _, p := range ps {
		if p.Path.Kind == PathTerm {
			v.AddTerm(p.Path.Term)
		}
		for _, o := range p.Objects {
			v.AddTerm(o)
		}
	}
}

// AddGroup adds the variables that are in scope after the group; see [Group.Visible].
func (v *VarSet) AddGroup(g *Group) {
	if g == nil {
		return
	}
	for _, p := range g.Patterns {
		switch x := p.(type) {
		case *Group:
			v.AddGroup(x)
		case *Triples:
			v.AddTriples(x)
		case *Bind:
			v.Add(x.Var)
		case *Values:
			v.Add(x.Vars...)
		case *Optional:
			v.AddGroup(x.Group)
		case *Union:
			for _, b := range x.Branches {
				v.AddGroup(b)
			}
		case *GraphPattern:
			v.AddTerm(x.Name)
			v.AddGroup(x.Group)
		case *Service:
			v.AddTerm(x.Name)
			v.AddGroup(x.Group)
		case *SubSelect:
			v.Add(x.Query.Columns()...)
		}
	}
}

// LabelBase reports whether the label service in automatic mode would bind name, and returns the variable that name
// labels: "item" for "itemLabel".
func LabelBase(name string) (base string, ok bool) {
	for _, suffix := range [...]string{"AltLabel", "Label", "Description"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && base != "" {
			return base, true
		}
	}
	return "", false
}
