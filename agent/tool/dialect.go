package tool

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	variants "github.com/spinachbot/spinachbot/internal/sparql/variant"
)

// Dialect implements the agent's operations on the text of queries, using internal/sparql.
type Dialect struct {
	Services func(iri string) bool // allows SERVICE addresses besides those of Wikidata; allows none if nil
	Graph    *kg.Description       // the graph being queried; nil for a graph like Wikidata
}

// maxQuery is the maximum length of a query in bytes: the query service rejects request bodies over 1 MB, and a model
// needs less than a tenth of that.
const maxQuery = 64 << 10

// Check checks a query before it is sent anywhere. If there is a mistake, it returns a *kg.Error: a syntax error with
// its position, or the rejection of an update or a foreign service.
func (d Dialect) Check(query string) error {
	if len(query) > maxQuery {
		return kg.Errorf(kg.Refused, "it is %d bytes long, at most %d are allowed.", len(query), maxQuery)
	}
	q, err := d.parse(query)
	if err == nil {
		err = sparql.Guard(q, d.Services)
		if err == nil {
			return nil
		}
		return placed(kg.Refused, err)
	}
	return placed(kg.SyntaxError, err)
}

// placed converts an error from package sparql to a graph error, which is shown to the model.
func placed(kind kg.Kind, err error) *kg.Error {
	out := &kg.Error{Kind: kind, Message: err.Error(), Err: err}
	var many sparql.Errors
	var one *sparql.Error
	switch {
	case errors.As(err, &many):
		one = many.First()
	case !errors.As(err, &one):
		return out
	}
	out.Line, out.Column, out.Message = one.Line, one.Column, sentence(one)
	if n := len(many) - 1; n > 0 {
		second := many[1]
		out.Message += fmt.Sprintf(" And line %d, column %d: %s", second.Line, second.Column, sentence(second))
	}
	return out
}

func sentence(e *sparql.Error) string {
	s := strings.TrimRight(e.Message, ".")
	if e.Expected != "" && !strings.Contains(s, e.Expected) {
		s += "; expected " + e.Expected
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s + "."
}

// NormalForm returns the form in which queries are compared.
func (Dialect) NormalForm(query string) string { return sparql.NormalForm(query) }

// Identifiers returns the IDs in a query, in order; see [Dialect.ID]. If the query cannot be parsed, it returns
// everything that looks like a Q or P ID.
func (d Dialect) Identifiers(query string) []string {
	q, err := d.parse(query)
	if err != nil {
		return render.IDs(query)
	}
	var out []string
	if !d.wikibase() {
		sparql.Inspect(q, func(n sparql.Node) bool {
			if t, ok := n.(*sparql.Term); ok && t.Kind == sparql.Const && t.IsIRI() {
				if id := d.ID(t.Value()); !slices.Contains(out, id) {
					out = append(out, id)
				}
			}
			return true
		})
		return out
	}
	for _, id := range sparql.Identifiers(q) {
		out = append(out, id.ID)
	}
	return out
}

// Limit returns the LIMIT of the outermost query, or -1.
func (d Dialect) Limit(query string) int {
	q, err := d.parse(query)
	if err != nil || q.Body == nil || q.Body.Limit == nil {
		return -1
	}
	return int(q.Body.Limit.N)
}

// InLanguage replaces [AUTO_LANGUAGE], which only the query service's web page understands.
func (Dialect) InLanguage(query, lang string) string { return sparql.ReplaceAutoLanguage(query, lang) }

// exploringLimit is the LIMIT that models often use while exploring and then forget to remove.
const exploringLimit = 10

// TrimLimit removes a LIMIT of exploringLimit from the end of a query, and reports whether there was one.
func (Dialect) TrimLimit(query string) (string, bool) {
	return sparql.TrimFinalLimit(query, exploringLimit)
}

// WithView adds the comment that makes Wikidata's query page show places on a map and images in a grid, and returns
// their column. See [sparql.WithView].
func (d Dialect) WithView(query string) (viewed, column string) {
	if !d.wikibase() {
		return query, ""
	}
	return sparql.WithView(query)
}

// Properties maps each variable of a query on Wikidata to the ID of a property that leads to it. It returns nil for
// other queries.
func (d Dialect) Properties(query string) map[string]string {
	if !d.wikibase() {
		return nil
	}
	return sparql.Properties(query)
}

// Subjects returns the variables of a query on Wikidata whose values have statements. It returns nil for other queries.
func (d Dialect) Subjects(query string) []string {
	if !d.wikibase() {
		return nil
	}
	return sparql.Subjects(query)
}

// WithLabels adds columns with labels to a query on Wikidata, as described at [sparql.WithLabels]. It returns other
// queries unchanged.
func (d Dialect) WithLabels(query string, columns []string, language string) string {
	if !d.wikibase() {
		return query
	}
	return sparql.WithLabels(query, columns, language)
}

// PostingForm returns the query in its posting form, with the labels of its IDs as comments. The error describes why
// the query cannot be posted.
func (d Dialect) PostingForm(query string, label func(id string) string) (string, error) {
	if !d.wikibase() {
		id := func(iri string) string { return d.ID(rdf.IRI(iri)) }
		return sparql.PostingFormOn(query, d.known(), id, label)
	}
	return sparql.PostingForm(query, label)
}

// known returns the prefixes that the graph declares, or nil if it uses Wikidata's.
func (d Dialect) known() map[string]string {
	if d.wikibase() {
		return nil
	}
	return d.Graph.Prefixes
}

// wikibase reports whether the graph's IDs are Q, P and L numbers. It returns true if the graph has no description.
func (d Dialect) wikibase() bool {
	return d.Graph == nil || d.Graph.Statements == "" || d.Graph.IsWikibase()
}

func (d Dialect) parse(query string) (*sparql.Query, error) {
	return sparql.ParseWith(query, d.known())
}

// ID returns the ID of a node. On a Wikibase, this is an entity's number, and "" for anything else. On other graphs, it
// is an IRI's prefixed name or <IRI>, and "" for literals and blank nodes.
func (d Dialect) ID(t rdf.Term) string {
	switch {
	case !t.IsIRI():
		return ""
	case d.wikibase():
		return rdf.EntityID(t.Value)
	}
	return d.Graph.Compact(t.Value)
}

// IDOf returns the ID of an IRI on a Wikibase. It returns "" if the IRI has none, or if the graph is not a Wikibase.
func (d Dialect) IDOf(iri string) string {
	if !d.wikibase() {
		return ""
	}
	return rdf.EntityID(iri)
}

// ValidID reports whether an ID names a node of the graph.
func (d Dialect) ValidID(id string) bool {
	if d.wikibase() {
		return rdf.ValidID(id)
	}
	_, ok := d.Graph.Expand(id)
	return ok
}

// Variants returns what package variant needs to know about the graph.
func (d Dialect) Variants() variants.Options {
	o := variants.Options{Prefixes: d.known(), Wikidata: d.wikibase()}
	if o.Wikidata {
		o.Types, o.Subclass = []string{rdf.Direct + "P31"}, rdf.Direct+"P279"
		o.Labels = []string{rdf.RDFSLabel}
		return o
	}
	iris := func(names []string) (out []string) {
		for _, n := range names {
			if iri, ok := d.Graph.Expand(n); ok {
				out = append(out, iri)
			}
		}
		return out
	}
	o.Types, o.Labels = iris(d.Graph.Types), iris(d.Graph.Labels)
	o.Subclass, _ = d.Graph.Expand(d.Graph.Subclass)
	return o
}
