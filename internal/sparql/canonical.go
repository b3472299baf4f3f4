package sparql

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
)

// Canonical returns a string that does not depend on the order of statements, columns, group elements or UNION
// branches, on how property lists, blank nodes, inverse paths and IRIs are written, or on variable names. Two queries
// with the same string are almost always equivalent, but not always, because variables are distinguished only by
// conditions up to a few steps away, and because the order of conditions is ignored within an expression that contains
// a group. Use Canonical to find duplicates of a query, not to prove that two queries are equivalent.
func Canonical(q *Query) string {
	root := canonicalQuery(q)
	var leaves []*piece
	root.leaves(&leaves)
	colors := map[string]string{}
	rounds := 5 // a condition distinguishes two variables if it is at most this many steps away
	if len(q.Text) > maxCanonical {
		rounds = 0
	}
	for range rounds {
		seen := map[string][]string{}
		for _, l := range leaves {
			names := variableName.FindAllString(l.text, -1)
			slices.Sort(names)
			for _, v := range slices.Compact(names) {
				seen[v] = append(seen[v], l.write(func(name string) string {
					if name == v {
						return "?"
					}
					return colorOf(colors, name)
				}))
			}
		}
		next := map[string]string{}
		for v, contexts := range seen {
			slices.Sort(contexts)
			h := fnv.New64a()
			fmt.Fprintf(h, "%s %q", colorOf(colors, v), contexts)
			next[v] = fmt.Sprintf("?%x", h.Sum64())
		}
		colors = next
	}
	return root.write(func(name string) string { return colorOf(colors, name) })
}

// maxCanonical is the length in bytes of the longest query in which [Canonical] distinguishes variables. The cost grows
// with the square of the length.
const maxCanonical = 20_000

var variableName = regexp.MustCompile(`\?[\pL\pN_·]+`)

func colorOf(colors map[string]string, name string) string {
	if c := colors[name]; c != "" {
		return c
	}
	return "?any"
}

// piece is a part of a query: a string, or a list of pieces whose order does not matter.
type piece struct {
	text  string
	bag   bool // the order of words in the text does not matter
	parts []*piece
}

func (p *piece) leaves(out *[]*piece) {
	if p.parts == nil {
		*out = append(*out, p)
	}
	for _, x := range p.parts {
		x.leaves(out)
	}
}

func (p *piece) write(color func(string) string) string {
	s := variableName.ReplaceAllStringFunc(p.text, color)
	if p.bag {
		words := strings.Fields(s)
		slices.Sort(words)
		s = strings.Join(words, " ")
	}
	if p.parts == nil {
		return s
	}
	var parts []string
	for _, x := range p.parts {
		parts = append(parts, x.write(color))
	}
	slices.Sort(parts)
	return s + "{" + strings.Join(parts, "\n") + "}"
}

// printed returns what f prints, on one line and with full IRIs.
func printed(f func(p *printer)) string {
	p := &printer{o: PrintOptions{OneLine: true, NoComments: true, expand: true}}
	f(p)
	return strings.Join(strings.Fields(string(p.b)), " ")
}

func canonicalQuery(q *Query) *piece {
	root := &piece{text: q.Form.String(), parts: []*piece{canonicalSelect("", q.Body)}}
	for _, n := range q.Named {
		root.parts = append(root.parts, canonicalSelect("WITH %"+n.Name, n.Query))
	}
	for _, d := range q.Datasets {
		root.parts = append(root.parts, &piece{text: fmt.Sprint("FROM ", d.Named, " ", canonicalTerm(d.IRI))})
	}
	for _, r := range q.Resources {
		root.parts = append(root.parts, &piece{text: "DESCRIBE " + canonicalTerm(r)})
	}
	for _, t := range q.Template {
		for _, p := range canonicalTriples(t) {
			p.text = "CONSTRUCT " + p.text
			root.parts = append(root.parts, p)
		}
	}
	if q.Form == Update {
		root.parts = append(root.parts, &piece{text: strings.TrimSpace(q.Text)})
	}
	return root
}

func canonicalSelect(name string, s *SelectQuery) *piece {
	out := &piece{text: fmt.Sprint(name, " SELECT ", s.Distinct, s.Reduced, s.Star)}
	for _, it := range s.Items {
		out.parts = append(out.parts, &piece{text: "column " + printed(func(p *printer) {
			p.selectHead(&SelectQuery{Items: []*SelectItem{it}}, 0)
		})})
	}
	out.parts = append(out.parts, &piece{text: "then " + printed(func(p *printer) { p.modifiers(s, 0) })})
	if s.Where != nil {
		out.parts = append(out.parts, canonicalGroup("WHERE", s.Where)...)
	}
	return out
}

func canonicalGroup(name string, g *Group) []*piece {
	out := &piece{text: name, parts: []*piece{}}
	for _, x := range g.Patterns {
		out.parts = append(out.parts, canonicalPattern(x)...)
	}
	return []*piece{out}
}

func canonicalPattern(x Pattern) []*piece {
	switch x := x.(type) {
	case *Triples:
		return canonicalTriples(x)
	case *Hint: // hints do not affect the result
		return nil
	case *SubSelect:
		return []*piece{canonicalSelect("", x.Query)}
	case *Group:
		return canonicalGroup("", x)
	case *Optional:
		return canonicalGroup("OPTIONAL", x.Group)
	case *Minus:
		return canonicalGroup("MINUS", x.Group)
	case *GraphPattern:
		return canonicalGroup("GRAPH "+canonicalTerm(x.Name), x.Group)
	case *Service:
		return canonicalGroup(fmt.Sprint("SERVICE ", x.Silent, " ", canonicalTerm(x.Name)), x.Group)
	case *Union:
		out := &piece{text: "UNION"}
		for _, b := range x.Branches {
			out.parts = append(out.parts, canonicalGroup("", b)...)
		}
		return []*piece{out}
	}
	groups := ChildGroups(x) // the groups of EXISTS
	_, rows := x.(*Values)
	out := []*piece{{text: printed(func(p *printer) { p.pattern(x, 0) }), bag: rows || len(groups) > 0}}
	for _, g := range groups {
		out = append(out, canonicalGroup("EXISTS", g)...)
	}
	return out
}

func canonicalTriples(t *Triples) (out []*piece) {
	for _, x := range t.Triples() {
		s, path, o := x.Subject, x.Path, x.Object
		for path.Kind == PathInverse {
			s, path, o = o, path.Args[0], s
		}
		out = append(out, &piece{text: canonicalTerm(s) + " " + printed(func(p *printer) { p.path(path, 0) }) + " " +
			canonicalTerm(o)})
	}
	return out
}

// canonicalTerm writes a term; a blank node is written as a variable, since it acts as one in a pattern.
func canonicalTerm(t *Term) string {
	if t.Kind == BlankNode {
		return "?·" + strings.ReplaceAll(t.Name, ".", "_")
	}
	return printed(func(p *printer) { p.term(t, 0) })
}
