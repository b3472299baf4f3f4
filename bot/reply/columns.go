package reply

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// headers returns column headers for a result: the model's own and, for columns without one, derived ones.
func headers(a *agent.Answer, vars []string, language string) []string {
	out := derived(a, vars, language)
	named := false
	for i, v := range vars {
		if h := a.Headers[v]; h != "" {
			out[i], named = h, named || capitalized(h) == h
		}
	}
	for i, v := range vars {
		if named && a.Headers[v] == "" { // like the model's own
			out[i] = capitalized(out[i])
		}
	}
	return out
}

// nameAsHeaders uses the table's headers as the names of the properties whose values may be missing, because a
// property's label may be in a different language than its header.
func nameAsHeaders(r *forum.Reply, query string) {
	properties := sparql.Properties(query)
	for i, v := range r.Vars {
		for k, o := range r.Open {
			if o.ID != "" && o.ID == properties[v] && (o.Kind == "missing" || o.Kind == "condition") {
				r.Open[k].Name = r.Headers[i]
			}
		}
	}
}

func capitalized(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// derived returns headers in the language of the answer's labels: the name of the property for values, the name of the
// class for items, a word in the reply's language for counts, and otherwise the words in the variable's name. Variable
// names are mostly English; in an English reply, they describe items better than the property does.
func derived(a *agent.Answer, vars []string, language string) []string {
	out := make([]string, len(vars))
	q, err := sparql.Parse(a.SPARQL)
	if err != nil { // a query in a different graph's dialect
		for i, v := range vars {
			out[i] = words(v, language)
		}
		return out
	}
	n := &namer{a.Labels, map[string]string{}, map[string]string{}, itemColumns(a, vars), map[string]bool{}}
	sparql.Inspect(q, n.visit)
	sparql.Inspect(q, n.alternatives)
	number, coordinates := "number", "coordinates"
	if t := forum.Texts(language); t != nil {
		number, coordinates = t.Text("number"), t.Text("coordinates")
	}
	for i, v := range vars {
		switch {
		case places(a.Table, v):
			out[i] = coordinates
		case counted(q, v):
			out[i] = number
		case language == "en" && n.items[v] && len(v) > 2 && !generic[strings.ToLower(v)]:
			out[i] = words(v, language) // "person" rather than "human"
		case n.people[v] && ownWord(v, language):
			out[i] = words(v, language) // "Komponist" rather than "Mensch"
		case n.classes[v] != "":
			out[i] = n.classes[v]
		case n.values[v] != "":
			out[i] = n.values[v]
		}
	}
	times := map[string]int{}
	for _, name := range out {
		times[name]++
	}
	for i, v := range vars {
		if out[i] == "" || times[out[i]] > 1 {
			out[i] = words(v, language)
		}
	}
	return out
}

// places reports whether a column contains coordinates.
func places(t *kg.Table, name string) bool {
	if t == nil {
		return false
	}
	i := slices.Index(t.Vars, name)
	return i >= 0 && slices.ContainsFunc(t.Rows, func(row []rdf.Term) bool {
		return i < len(row) && row[i].Datatype == rdf.GeoWKT
	})
}

// generic lists variable names that are not descriptive.
var generic = map[string]bool{"item": true, "thing": true, "entity": true, "value": true, "result": true, "object": true,
	"subject": true, "var": true}

func itemColumns(a *agent.Answer, vars []string) map[string]bool {
	items := map[string]bool{}
	if a.Table == nil || len(a.Table.Rows) == 0 {
		return items
	}
	for i, t := range a.Table.Rows[0] {
		if i < len(a.Table.Vars) && slices.Contains(vars, a.Table.Vars[i]) && rdf.EntityID(t.Value) != "" {
			items[a.Table.Vars[i]] = true
		}
	}
	return items
}

// namer collects what a query reveals about its variables.
type namer struct {
	labels          map[string]string
	values, classes map[string]string // by variable, the name of the property that leads to it and of its class
	items           map[string]bool
	people          map[string]bool // variables that are humans
}

func (n *namer) visit(node sparql.Node) bool {
	t, ok := node.(*sparql.Triples)
	if !ok {
		return true
	}
	for _, p := range append(slices.Clone(t.Properties), t.Subject.Properties()...) {
		id := lastProperty(p.Path)
		for _, o := range p.Objects {
			switch {
			case o.Kind == sparql.Var && n.values[o.Name] == "":
				n.values[o.Name] = n.labels[id]
			case id == "P31" && o.Kind == sparql.Const && t.Subject.Kind == sparql.Var:
				n.classes[t.Subject.Name] = n.labels[rdf.EntityID(o.Value().Value)]
				n.people[t.Subject.Name] = rdf.EntityID(o.Value().Value) == "Q5"
			}
		}
	}
	return true
}

// alternatives handles a variable that COALESCE binds to the first of several others: it gets their common name.
func (n *namer) alternatives(node sparql.Node) bool {
	b, ok := node.(*sparql.Bind)
	if !ok || b.Expr.Op != "COALESCE" || n.values[b.Var] != "" {
		return true
	}
	for i, a := range b.Expr.Args {
		name := n.values[a.Variable()]
		if name == "" || i > 0 && name != n.values[b.Var] {
			delete(n.values, b.Var)
			return true
		}
		n.values[b.Var] = name
	}
	return true
}

// lastProperty returns the ID of the property at the end of a path, or "" if the path may end with different
// properties. For wdt:P31/wdt:P279* (an instance's classes and their superclasses), it returns P31.
func lastProperty(p *sparql.Path) string {
	switch p.Kind {
	case sparql.PathTerm:
		return rdf.EntityID(p.IRI())
	case sparql.PathPlus, sparql.PathStar, sparql.PathOpt:
		return lastProperty(p.Args[0])
	case sparql.PathSeq:
		last := lastProperty(p.Args[len(p.Args)-1])
		if last == "P279" {
			return lastProperty(p.Args[0])
		}
		return last
	}
	return ""
}

// labelled maps each variable that a query binds to a label to the variable of the labeled entity.
func labelled(query string) map[string]string {
	of := map[string]string{}
	q, err := sparql.Parse(query)
	if err != nil {
		return of
	}
	sparql.Inspect(q, func(n sparql.Node) bool {
		t, ok := n.(*sparql.Triples)
		if !ok || t.Subject.Kind != sparql.Var {
			return true
		}
		for _, p := range t.Properties {
			for _, o := range p.Objects {
				if o.Kind == sparql.Var && p.Path.IRI() == rdf.Prefixes["rdfs"]+"label" {
					of[o.Name] = t.Subject.Name
				}
			}
		}
		return true
	})
	return of
}

// sortedBy returns the variables that a query sorts by.
func sortedBy(query string) []string {
	q, err := sparql.Parse(query)
	if err != nil || q.Body == nil || q.Body.OrderBy == nil {
		return nil
	}
	var out []string
	for _, k := range q.Body.OrderBy.Keys {
		if v := k.Expr.Variable(); v != "" {
			out = append(out, v)
		}
	}
	return out
}

func counted(q *sparql.Query, name string) bool {
	for _, item := range q.Body.Items {
		if item.Var == name && item.Expr != nil && item.Expr.Kind == sparql.ExprAggregate && item.Expr.Op == "COUNT" {
			return true
		}
	}
	return false
}

// words splits a variable's name into words: birthDate and birth_date become "birth date". In German, where nouns are
// capitalized, it capitalizes only the first and last words: "Anzahl Kinder".
func words(name, language string) string {
	if stem := strings.TrimSuffix(name, "Label"); stem != "" {
		name = stem
	}
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		switch {
		case r == '_':
			r = ' '
		case i > 0 && unicode.IsUpper(r) && unicode.IsLower(letters[i-1]):
			b.WriteByte(' ')
			if language != "de" {
				r = unicode.ToLower(r)
			}
		}
		b.WriteRune(r)
	}
	out := strings.Fields(b.String())
	if language == "de" && len(letters) > 1 { // a single letter is not a word
		for _, i := range []int{0, len(out) - 1} {
			if i >= 0 && i < len(out) {
				out[i] = capital(out[i])
			}
		}
	}
	return strings.Join(out, " ")
}

// tree returns a result as a tree if it has two columns of entities, one of which contains the parents of those in the
// other. It returns nil if an entity occurs in the tree more than once, if the tree has at most two levels, or if
// columns without values were left out, because then a table was requested.
func tree(r *forum.Reply) []forum.TreeItem {
	if len(r.NoValues) > 0 || len(r.Vars) != 2 || len(r.Rows) != r.Total || len(r.Rows) < 3 {
		return nil
	}
	for _, row := range r.Rows {
		if len(row) != 2 || row[0].ID == "" || row[1].ID == "" {
			return nil
		}
	}
	if t := nested(r.Rows, 0, 1); t != nil {
		return t
	}
	return nested(r.Rows, 1, 0)
}

// deepestTree is the maximum depth of a tree. A deeper list would not fit on a phone.
const deepestTree = 5

// nested returns the tree in which, for each row, the entity in column child is below the entity in column parent.
func nested(rows [][]forum.Cell, child, parent int) []forum.TreeItem {
	below, known := map[string][]forum.Cell{}, map[string]bool{}
	for _, row := range rows {
		if known[row[child].ID] {
			return nil // a second parent
		}
		known[row[child].ID] = true
		below[row[parent].ID] = append(below[row[parent].ID], row[child])
	}
	var out []forum.TreeItem
	deepest, done := 0, map[string]bool{}
	var add func(c forum.Cell, depth int)
	add = func(c forum.Cell, depth int) {
		done[c.ID] = true
		deepest = max(deepest, depth)
		out = append(out, forum.TreeItem{Cell: c, Depth: depth})
		for _, b := range below[c.ID] {
			add(b, depth+1)
		}
	}
	for _, row := range rows {
		if root := row[parent]; !known[root.ID] && !done[root.ID] {
			add(root, 0)
		}
	}
	if deepest < 2 || deepest > deepestTree || len(done) != len(known)+roots(out) { // a cycle has no root
		return nil
	}
	return out
}

func roots(items []forum.TreeItem) int {
	n := 0
	for _, i := range items {
		if i.Depth == 0 {
			n++
		}
	}
	return n
}
