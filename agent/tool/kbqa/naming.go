package kbqa

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// The graph dialects of Interactive-KBQA's data sets, for [Show.Dialect]. They differ in how a query refers to an
// entity. In all but the first, entities are identified by name, and the IRIs of predicates consist of words.
const (
	ByIRI    = ""         // wd:Q42 or any other prefixed name or <IRI>; used for the graphs in the registry
	KQAPro   = "kqapro"   // ?e <pred:name> "X", with nodes for values and for facts
	MetaQA   = "metaqa"   // ?e <name> "X"; tags are literals
	Freebase = "freebase" // ?e ns:type.object.name "X"@en, with compound values
)

// unknownDialect returns the error for an unknown dialect.
func unknownDialect(name string) error {
	return fmt.Errorf(`there is no dialect %q; it is %q, %q, %q, or left out for entities by IRI`, name, KQAPro, MetaQA,
		Freebase)
}

// CheckDialect returns an error if there is no dialect with this name.
func CheckDialect(name string) error {
	switch name {
	case ByIRI, KQAPro, MetaQA, Freebase:
		return nil
	}
	return unknownDialect(name)
}

// Naming describes how a graph names its nodes, for Interactive-KBQA's tools.
type Naming struct {
	Dialect  string
	Label    string   // predicate for names, as written in a query; "" on a Wikibase, whose labels are looked up
	Lang     string   // language tag of names in queries, or ""
	Langs    []string // languages of the names to read
	Describe string   // predicate for descriptions, or ""
	Wikibase bool     // there are statement nodes: p: leads to ps: and pq:
	Compound bool     // there are blank nodes between subject and value
	Prefixes map[string]string
	graph    *kg.Description // description of a graph that uses IRIs
}

// ns is Freebase's namespace.
const ns = "http://rdf.freebase.com/ns/"

// For returns the naming of a graph. languages are the languages of names in a graph that uses IRIs, in order of
// preference.
func For(dialect string, d *kg.Description, languages []string) Naming {
	switch dialect {
	case KQAPro:
		return Naming{Dialect: KQAPro, Label: "<pred:name>"}
	case MetaQA:
		return Naming{Dialect: MetaQA, Label: "<name>"}
	case Freebase:
		return Naming{Dialect: Freebase, Label: "<" + ns + "type.object.name>", Lang: "en", Langs: []string{"", "en"},
			Describe: "<" + ns + "common.topic.description>", Compound: true, Prefixes: map[string]string{"ns": ns}}
	}
	n := Naming{Prefixes: d.Prefixes, Wikibase: d.IsWikibase(), Compound: d.Statements == kg.Compound,
		Langs: append([]string{""}, languages...), graph: d}
	iri := func(names []string) string {
		for _, name := range names {
			if full, ok := d.Expand(name); ok {
				return "<" + full + ">"
			}
			if full, ok := rdfName(name); ok {
				return "<" + full + ">"
			}
		}
		return ""
	}
	if !n.Wikibase {
		if n.Label = iri(d.Labels); n.Label == "" {
			n.Label = "<" + rdf.RDFSLabel + ">"
		}
		n.Describe = iri(d.Descriptions)
	}
	return n
}

// Expand returns the IRI of a node written as an ID, or as a prefixed name whose prefix the graph or Wikidata declares.
func (n Naming) Expand(name string) (string, bool) {
	if n.graph != nil {
		if iri, ok := n.graph.Expand(name); ok {
			return iri, true
		}
	}
	return rdfName(name)
}

// rdfName expands a name that has one of Wikidata's prefixes, such as rdfs:label.
func rdfName(name string) (string, bool) {
	prefix, local, ok := strings.Cut(name, ":")
	space, known := rdf.Prefixes[prefix]
	return space + local, ok && known
}

var (
	// an IRI made of words, written with spaces by the model: <mouth of the watercourse>
	spacedIRI = regexp.MustCompile(`<([A-Za-z][A-Za-z0-9:_.,'’()/-]*(?: [A-Za-z0-9:_.,'’()/-]+)+)>`)
	anyPrefix = regexp.MustCompile(`(?i)\bPREFIX\s+([A-Za-z0-9_.-]*):`)
)

// Completed returns a query as it is run: with the graph's prefixes added, since queries need not declare them, and
// with underscores in predicates if the graph's predicates are words.
func (n Naming) Completed(query string) string {
	query = strings.TrimSpace(query)
	if n.Dialect == KQAPro || n.Dialect == MetaQA {
		query = spacedIRI.ReplaceAllStringFunc(query, func(s string) string { return strings.ReplaceAll(s, " ", "_") })
	}
	var head strings.Builder
	declared := anyPrefix.FindAllStringSubmatch(query, -1)
	var names []string
	for p := range n.Prefixes {
		names = append(names, p)
	}
	slices.Sort(names)
	for _, p := range names {
		if rdf.Prefixes[p] == n.Prefixes[p] || slices.ContainsFunc(declared, func(m []string) bool { return m[1] == p }) ||
			!strings.Contains(query, p+":") {
			continue
		}
		fmt.Fprintf(&head, "PREFIX %s: <%s>\n", p, n.Prefixes[p])
	}
	return head.String() + query
}

// Named reports whether a term can be used as a name: a literal in one of n.Langs, or any literal if there are none.
func (n Naming) Named(t rdf.Term) bool {
	return t.IsLiteral() && (len(n.Langs) == 0 || slices.Contains(n.Langs, t.Lang))
}

// Compact returns the form of an IRI that a model sees and writes.
func (n Naming) Compact(iri string) string {
	switch {
	case n.Dialect == Freebase:
		return strings.TrimPrefix(iri, ns)
	case n.Dialect != ByIRI:
		return iri
	}
	if s := rdf.Shorten(iri); n.Wikibase && !strings.HasPrefix(s, "<") {
		return s
	}
	return n.graph.Compact(iri)
}

// Words returns the words in a predicate's IRI. In a graph that uses IRIs, these are the words in its base name; in
// Freebase, they are the words in the whole IRI, without repeating the domain.
func (n Naming) Words(iri string) string {
	local := iri
	if n.Dialect == Freebase {
		local = strings.TrimPrefix(iri, ns)
	} else if i := strings.LastIndexAny(strings.TrimRight(iri, "/#"), "/#"); i >= 0 {
		local = iri[i+1:]
	}
	var b strings.Builder
	last := ' '
	for _, r := range strings.TrimPrefix(local, "pred:") {
		if r == '_' || r == '-' || r == '.' || r == ':' {
			r = ' '
		}
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return render.Fold(b.String())
}

// bookkeeping lists the prefixes of predicates that do not express facts about an entity.
var bookkeeping = []string{
	rdf.RDFSLabel, rdf.SKOSAltLabel, rdf.SchemaDesc, rdf.Wikibase, "http://www.w3.org/2002/07/owl#sameAs",
	"http://schema.org/version", "http://schema.org/dateModified", "http://schema.org/about",
	"http://www.w3.org/2004/02/skos/core#prefLabel",
	"http://www.w3.org/ns/prov#", "pred:name", "pred:fact_", "pred:value", "pred:unit", "pred:date", "pred:year",
	ns + "common.", ns + "freebase.", ns + "type.object.", ns + "type.type.", ns + "kg.",
}

// Hidden reports whether a predicate is hidden from the model.
func (n Naming) Hidden(iri string) bool {
	if n.Label == "<"+iri+">" || n.Describe == "<"+iri+">" {
		return true
	}
	if iri == rdf.Direct+"P1855" || iri == rdf.Prop+"P1855" { // examples of a property
		return true
	}
	if strings.HasSuffix(iri, "has_value") || strings.HasSuffix(iri, "has_no_value") {
		return true
	}
	return slices.ContainsFunc(bookkeeping, func(b string) bool { return strings.HasPrefix(iri, b) })
}

// Literal formats a literal for use in a query.
func Literal(t rdf.Term, n int) string {
	s := `"` + render.Clip(render.Fold(t.Value), n) + `"`
	switch {
	case t.Lang != "":
		return s + "@" + t.Lang
	case t.Datatype != "":
		if name, ok := strings.CutPrefix(t.Datatype, rdf.XSD); ok {
			return s + "^^xsd:" + name
		}
		return s + "^^" + rdf.Shorten(t.Datatype)
	}
	return s
}

// Text formats a name as a literal for use in a query.
func (n Naming) Text(name string) string {
	s := rdf.Quote(name)
	if n.Lang != "" {
		s += "@" + n.Lang
	}
	return s
}

// Value contains what is known about a node: its name or, for a value node of KQA Pro's graph, a string, a number with
// its unit, a date or a year.
type Value struct{ Name, Value, Unit, Date, Year rdf.Term }

// Known reports whether the node is a value node with a known value.
func (v Value) Known() bool { return v.Value.Bound() || v.Date.Bound() || v.Year.Bound() }

// pattern returns the triple patterns that link a value node's variable to the value.
func (v Value) pattern(variable string) string {
	switch {
	case v.Date.Bound():
		return fmt.Sprintf(" %s <pred:date> %s .", variable, Literal(v.Date, 100))
	case v.Year.Bound():
		return fmt.Sprintf(" %s <pred:year> %s .", variable, v.Year.Value)
	}
	s := fmt.Sprintf(" %s <pred:value> %s .", variable, Literal(v.Value, 100))
	if v.Unit.Bound() {
		s += fmt.Sprintf(" %s <pred:unit> %s .", variable, Literal(v.Unit, 60))
	}
	return s
}

// Short formats only the value, for use in a result cell.
func (v Value) Short() string {
	switch {
	case v.Date.Bound():
		return Literal(v.Date, 100)
	case v.Year.Bound():
		return v.Year.Value
	case v.Unit.Bound() && v.Unit.Value != "1":
		return v.Value.Value + " " + v.Unit.Value
	case v.Value.Datatype == "":
		return v.Value.Value
	}
	return Literal(v.Value, 100)
}

// Details returns the OPTIONAL patterns that fetch what is known about a variable's node, and the variables that they
// bind.
func (n Naming) Details(variable string) (patterns, vars string) {
	if n.Wikibase {
		return "", ""
	}
	add := func(predicate, suffix string) {
		vars += " ?" + variable + suffix
		patterns += fmt.Sprintf("  OPTIONAL { ?%s %s ?%s%s }\n", variable, predicate, variable, suffix)
	}
	add(n.Label, "n")
	if n.Dialect == KQAPro {
		add("<pred:value>", "v")
		add("<pred:unit>", "u")
		add("<pred:date>", "d")
		add("<pred:year>", "y")
	}
	return patterns, vars
}

// ValueOf returns what a row contains about a variable's node, in the variables from [Naming.Details].
func (n Naming) ValueOf(row func(name string) rdf.Term, variable string) Value {
	v := Value{Name: row(variable + "n"), Value: row(variable + "v"), Unit: row(variable + "u"), Date: row(variable + "d"),
		Year: row(variable + "y")}
	if !n.Named(v.Name) {
		v.Name = rdf.Term{}
	}
	return v
}

// EachRow calls f for each row in a table, with a function that returns a cell by column name.
func EachRow(t *kg.Table, f func(cell func(name string) rdf.Term)) {
	column := map[string]int{}
	for i, v := range t.Vars {
		column[strings.TrimPrefix(v, "?")] = i
	}
	for _, row := range t.Rows {
		f(func(name string) rdf.Term {
			if i, ok := column[name]; ok && i < len(row) {
				return row[i]
			}
			return rdf.Term{}
		})
	}
}

// Collect adds the details of a variable's nodes to a map. If a node has several names, it uses the name in the
// earliest language and, among several names in that language, the first in alphabetical order.
func (n Naming) Collect(t *kg.Table, variable string, to map[rdf.Term]Value) {
	place := func(v Value) int {
		if !v.Name.Bound() {
			return len(n.Langs) + 1
		}
		return slices.Index(n.Langs, v.Name.Lang)
	}
	EachRow(t, func(cell func(string) rdf.Term) {
		node, v := cell(variable), n.ValueOf(cell, variable)
		old, there := to[node]
		if !there || place(v) < place(old) || place(v) == place(old) && v.Name.Value < old.Name.Value {
			to[node] = v
		}
	})
}

// Selects splits a query into its declarations and the rest.
func Selects(q *sparql.Query) (prologue, body string) {
	at := 0
	for _, d := range q.Prologue {
		at = max(at, int(d.End))
	}
	return q.Text[:at], q.Text[at:]
}
