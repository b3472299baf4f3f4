package lesson

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/text"
)

// structure describes which properties a query uses and how it uses them.
type structure struct {
	properties map[string]bool            // the properties of the requested values, as P numbers
	qualifiers map[string]map[string]bool // keyed by the property whose statements they qualify
	things     map[string]bool            // the items used as values of properties, by ID
}

// Mentioned returns the IDs of the items and properties in queries, so that their labels can be fetched.
func Mentioned(queries ...string) []string {
	ids := map[string]bool{}
	for _, q := range queries {
		s, err := structureOf(q)
		if err != nil {
			continue
		}
		for id := range s.properties {
			ids[id] = true
		}
		for p, quals := range s.qualifiers {
			ids[p] = true
			for id := range quals {
				ids[id] = true
			}
		}
		for id := range s.things {
			ids[id] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// structureOf analyzes a query: wdt:P39, p:P39 and ps:P39 are all treated as P39.
func structureOf(query string) (*structure, error) {
	q, err := sparql.Parse(query)
	if err != nil {
		return nil, err
	}
	s := &structure{map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}}
	statements := map[string]string{} // maps a variable to the property whose statement it represents
	visit := func(again bool) {
		sparql.Inspect(q, func(n sparql.Node) bool {
			if t, ok := n.(*sparql.Triples); ok {
				s.triples(t.Subject, t.Properties, statements, again)
			}
			return true
		})
	}
	visit(false) // a statement's qualifiers may come before the statement
	visit(true)
	return s, nil
}

// triples reads the properties used with one subject. If again is set, the statements are already known, and triples
// reads their qualifiers.
func (s *structure) triples(subject *sparql.Term, ps []*sparql.Property, statements map[string]string, again bool) {
	on := ""
	if subject.Kind == sparql.Var || subject.Kind == sparql.BlankNode {
		on = statements[subject.Name]
	}
	for _, p := range ps {
		s.property(p, on, statements, again)
	}
}

func (s *structure) property(p *sparql.Property, on string, statements map[string]string, again bool) {
	last := ""
	sparql.Inspect(p.Path, func(n sparql.Node) bool {
		t, ok := n.(*sparql.Term)
		if !ok || t.Kind != sparql.Const {
			return true
		}
		space, id := namespace(t.Value().Value)
		switch space {
		case "":
			return true
		case "qualifier":
			if again && on != "" {
				if s.qualifiers[on] == nil {
					s.qualifiers[on] = map[string]bool{}
				}
				s.qualifiers[on][id] = true
			}
		default:
			s.properties[id], last = true, id
		}
		return true
	})
	for _, o := range p.Objects {
		switch id := ""; {
		case o.Kind == sparql.Const:
			if id = rdf.EntityID(o.Value().Value); id != "" && last != "" && last != "P31" && last != "P279" {
				s.things[id] = true
			}
		case len(o.Properties()) > 0 && last != "": // p:P39 [ ps:P39 … ; pq:P580 … ]
			for _, inner := range o.Properties() {
				s.property(inner, last, statements, again)
			}
		case last != "" && !again:
			statements[o.Name] = last
		}
	}
}

// namespace returns the kind of a predicate and the ID of its property. The kind is "qualifier", or "value" for all
// predicates that lead to values or statements. For other IRIs, it is "".
func namespace(iri string) (space, id string) {
	at := strings.LastIndex(iri, "/")
	id = iri[at+1:]
	if at < 0 || len(id) < 2 || id[0] != 'P' || strings.Trim(id[1:], "0123456789") != "" {
		return "", ""
	}
	switch {
	case strings.Contains(iri, "/prop/qualifier/"):
		return "qualifier", id
	case strings.Contains(iri, "/prop/reference/"):
		return "", ""
	case strings.Contains(iri, "/prop/"):
		return "value", id
	}
	return "", ""
}

// PropertyNote describes, in our own words, how a correction differs from our query: which properties and qualifiers
// the correction uses, and which of ours it dropped. ours may be empty. labels are the labels of items and properties.
// They are quoted, shortened, and stripped of everything except letters, digits and plain punctuation. The note is ""
// if the queries cannot be parsed, or if a note cannot express how they differ.
func PropertyNote(ours, theirs string, labels map[string]string) string {
	their, err := structureOf(theirs)
	if err != nil {
		return ""
	}
	our, err := structureOf(ours)
	if err != nil {
		our = &structure{}
	}
	named := func(id string) string {
		if l := harmless(labels[id]); l != "" {
			return fmt.Sprintf("%s (“%s”)", id, l)
		}
		return id
	}
	var with, not []string
	for _, p := range slices.SortedFunc(maps.Keys(their.properties), byNumber) {
		var quals []string
		for _, q := range slices.SortedFunc(maps.Keys(their.qualifiers[p]), byNumber) {
			if !our.qualifiers[p][q] {
				quals = append(quals, named(q))
			}
		}
		switch {
		case len(quals) > 0:
			with = append(with, named(p)+" with the qualifier "+strings.Join(quals, " and "))
		case !our.properties[p]:
			with = append(with, named(p))
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(our.properties), byNumber) {
		if !their.properties[p] {
			not = append(not, named(p))
		}
	}
	if len(with) == 0 {
		return ""
	}
	note := "Found on the forum: use " + strings.Join(with, ", ")
	if len(not) > 0 {
		note += "; not " + strings.Join(not, ", ")
	}
	var things []string
	for _, id := range slices.SortedFunc(maps.Keys(their.things), byNumber) {
		if len(things) < 2 {
			things = append(things, named(id))
		}
	}
	if len(things) > 0 {
		note += ", in a request about " + strings.Join(things, " and ")
	}
	return text.Clip(note+".", MaxText)
}

func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// maxLabel is the maximum number of characters that a note shows from a label.
const maxLabel = 60

// harmless returns a label in a form that is safe to include in a note. A label is a stranger's text, so the result is
// short and on one line, and nothing in it ends the quotation or looks like markup. A label that contains the end of a
// sentence is more than a name and is omitted.
func harmless(label string) string {
	label = text.OneLine(label)
	if strings.ContainsAny(label, "!?:;\n") || strings.Contains(label+" ", ". ") || len([]rune(label)) > maxLabel {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune(" -'’(),./&", r) {
			return r
		}
		return -1
	}, label)
}
