package code

import (
	"go/ast"
	"slices"
)

// Walk measures how far a value travels inside the package where it starts: the number of functions in that package
// that can be reached by name, and the number of return statements in them. It is the amount of code that one must read
// to follow the value.
type Walk struct {
	From               string
	Functions, Returns int
}

// starts are the starting points of the three walks that a reader is likely to follow first: a request's text, a query,
// and a benchmark candidate. If a walk has several starting points, the first one that exists is used.
var starts = []struct {
	what   string
	places [][2]string // package and function
}{
	{"a request: bot", [][2]string{{"bot", "Bot.solve"}}},
	{"a query: embedded graph", [][2]string{{"internal/kg/embedded", "Graph.Query"}}},
	{"a candidate: annotation", [][2]string{{"dataset/annotate", "NewCase"}, {"internal/web/annotate", "NewCase"}}},
}

// Walks returns the three walks from starts.
func (t *Tree) Walks() []Walk {
	var out []Walk
	for _, s := range starts {
		for _, place := range s.places {
			i := slices.IndexFunc(t.Packages, func(p *Package) bool { return p.Path == place[0] })
			if i < 0 || t.Packages[i].decls[place[1]] == nil {
				continue
			}
			w := Walk{From: s.what + ", " + place[1]}
			t.Packages[i].follow(place[1], map[string]bool{}, &w)
			out = append(out, w)
			break
		}
	}
	return out
}

// follow counts the named function and, once each, the functions in the same package that can be reached from it. Types
// are unknown: a method call is assumed to refer to the only method with that name in the package, or to the method of
// the caller's own type; other calls are not followed.
func (p *Package) follow(name string, seen map[string]bool, w *Walk) {
	if seen[name] {
		return
	}
	seen[name] = true
	w.Functions++
	own := receiver(p.decls[name])
	ast.Inspect(p.decls[name], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			w.Returns++
		case *ast.CallExpr:
			switch f := n.Fun.(type) {
			case *ast.Ident:
				if p.decls[f.Name] != nil {
					p.follow(f.Name, seen, w)
				}
			case *ast.SelectorExpr:
				if m := p.method(own, f.Sel.Name); m != "" {
					p.follow(m, seen, w)
				}
			}
		}
		return true
	})
}

// method returns the full name of the method that a call refers to, or "" if that cannot be determined without types.
func (p *Package) method(own, name string) string {
	if p.decls[own+"."+name] != nil {
		return own + "." + name
	}
	found := ""
	for full, d := range p.decls {
		if d.Recv != nil && d.Name.Name == name {
			if found != "" {
				return ""
			}
			found = full
		}
	}
	return found
}
