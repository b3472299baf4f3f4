package mcp

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Limits of one call.
const (
	maxNames      = 20
	maxName       = 200 // characters
	maxHits       = 20  // hits returned for a name
	pageValues    = 5   // values of a property on an entity's page
	maxTriples    = 100
	maxStatements = 200
)

func (s *server) addEntities(m *sdk.Server) {
	addTool(s, m, "search", "Search", "Finds items and properties by their names. Takes several names at once: search all names "+
		"and relations of a question in one call. On Wikidata, properties are found by words such as \"place of birth\".",
		s.search)
	addTool(s, m, "entity", "Entity page", "Shows what a graph has about an item, class or property: label, description and its "+
		"properties with up to five values each and the number of all.", s.entity)
	addTool(s, m, "statements", "Statements", "Lists the values of one property of one item, of every rank, with qualifiers, and their number.",
		s.statements)
	addTool(s, m, "property", "Property", "Describes a property: label, description, data type, and examples of its use.",
		s.property)
	addTool(s, m, "class_shape", "Shape of a class",
		"Describes what the members of a class have: properties with the share of members "+
			"that have them, number of values and what these are. Some figures come from a sample; then the result says so.", s.shape)
	addTool(s, m, "list_triples", "List triples",
		"Lists triples of a graph that have the given subject, property or object "+
			"(an ID, a prefixed name or <IRI>; a text in quotation marks for an object).", s.triples)
}

// searchIn contains the arguments of search.
type searchIn struct {
	Names    []string  `json:"names" jsonschema:"names or short phrases, at most 20"`
	Type     string    `json:"type,omitempty" jsonschema:"item or property; both when left out"`
	Language string    `json:"language,omitempty" jsonschema:"code of the language of names and labels, such as de; English when left out"`
	Limit    int       `json:"limit,omitempty" jsonschema:"hits for each name, 1 to 20; 5 when left out"`
	KG       graphName `json:"kg,omitempty"`
}

type searchOut struct {
	Results []searchResult `json:"results"`
}

type searchResult struct {
	Name string `json:"name"`
	Hits []hit  `json:"hits"`
	More bool   `json:"more,omitempty" jsonschema:"there are further hits"`
}

type hit struct {
	ID          string   `json:"id"`
	Type        string   `json:"type,omitempty"`
	Label       string   `json:"label,omitempty"`
	Description string   `json:"description,omitempty"`
	Datatype    string   `json:"datatype,omitempty"`
	Aliases     []string `json:"aliases,omitempty"`
}

func (s *server) search(ctx context.Context, in searchIn) (out searchOut, err error) {
	src, err := s.source(ctx, in.KG)
	if err != nil {
		return out, err
	}
	types := []kg.Type{kg.Item, kg.Property}
	switch in.Type {
	case "":
	case string(kg.Item), string(kg.Property):
		types = []kg.Type{kg.Type(in.Type)}
	default:
		return out, problemf("type %q: use item or property, or leave it out", render.Clip(in.Type, 40))
	}
	if n := len(in.Names); n == 0 || n > maxNames {
		return out, problemf("names: give 1 to %d, not %d", maxNames, n)
	}
	limit := clamp(in.Limit, 5, maxHits)
	out.Results = make([]searchResult, len(in.Names))
	for i, name := range in.Names {
		name = render.Clip(render.Fold(name), maxName)
		out.Results[i] = searchResult{Name: name, Hits: []hit{}}
		if name == "" {
			continue
		}
		for _, t := range types {
			res, err := find(ctx, src, name, language(in.Language), t, limit)
			if err != nil {
				return out, err
			}
			out.Results[i].More = out.Results[i].More || res.More
			for _, h := range res.Hits {
				out.Results[i].Hits = append(out.Results[i].Hits, hit{ID: h.ID, Type: string(h.Type), Label: h.Label,
					Description: h.Description, Datatype: h.Datatype, Aliases: h.Aliases})
			}
		}
	}
	return out, nil
}

// find searches for names that start with the given text. If there are none, it searches for words anywhere in a name.
func find(ctx context.Context, src *agent.Source, text, lang string, t kg.Type, limit int) (*kg.SearchResult, error) {
	res, err := src.Graph.Search(ctx, kg.SearchQuery{Text: text, Language: lang, Type: t, Limit: limit})
	if err != nil || len(res.Hits) > 0 || src.Finder == nil {
		return res, err
	}
	return src.Find(ctx, kg.FindQuery{Text: text, Language: lang, Type: t, Limit: limit, Meaning: t == kg.Property})
}

// entityIn contains the arguments of entity and property.
type entityIn struct {
	ID         string    `json:"id" jsonschema:"ID such as Q42 or P31, a prefixed name or <IRI>"`
	Properties []string  `json:"properties,omitempty" jsonschema:"show these properties only"`
	Language   string    `json:"language,omitempty" jsonschema:"code of the language of labels; English when left out"`
	KG         graphName `json:"kg,omitempty"`
}

type entityOut struct {
	ID          string        `json:"id" jsonschema:"that of the target after a redirect"`
	Label       string        `json:"label,omitempty"`
	Description string        `json:"description,omitempty"`
	Aliases     []string      `json:"aliases,omitempty"`
	Datatype    string        `json:"datatype,omitempty"`
	Properties  []propertyOut `json:"properties"`
}

type propertyOut struct {
	ID     string     `json:"id"`
	Label  string     `json:"label,omitempty"`
	Total  int        `json:"total" jsonschema:"number of all values"`
	Values []valueOut `json:"values"`
}

type valueOut struct {
	Value      string         `json:"value" jsonschema:"ID of an entity, else the value as text"`
	Label      string         `json:"label,omitempty"`
	Rank       string         `json:"rank,omitempty" jsonschema:"preferred or deprecated; normal when left out"`
	Qualifiers []qualifierOut `json:"qualifiers,omitempty"`
}

type qualifierOut struct {
	ID     string   `json:"id"`
	Label  string   `json:"label,omitempty"`
	Values []string `json:"values"`
}

func (s *server) entity(ctx context.Context, in entityIn) (out entityOut, err error) {
	src, err := s.source(ctx, in.KG)
	if err != nil {
		return out, err
	}
	e, err := s.read(ctx, src, in.ID, in.Language)
	if err != nil {
		return out, err
	}
	out = entityOut{ID: e.ID, Label: e.Label, Description: e.Description, Aliases: e.Aliases, Datatype: e.Datatype,
		Properties: []propertyOut{}}
	wanted := map[string]bool{}
	for _, p := range in.Properties {
		wanted[p] = true
	}
	for _, c := range e.Claims {
		if len(wanted) > 0 && !wanted[c.Property.ID] {
			continue
		}
		p := propertyOut{ID: c.Property.ID, Label: c.Property.Label, Total: len(c.Statements)}
		for _, st := range c.Statements[:min(pageValues, len(c.Statements))] {
			p.Values = append(p.Values, statement(st))
		}
		out.Properties = append(out.Properties, p)
	}
	return out, nil
}

// read reads an entity's page.
func (s *server) read(ctx context.Context, src *agent.Source, id, lang string) (*kg.Entity, error) {
	if id = strings.TrimSpace(id); id == "" {
		return nil, problem("id is missing: search for it first")
	}
	if src.Explain.IsWikibase() {
		short := strings.TrimPrefix(strings.TrimPrefix(id, "wd:"), "wdt:")
		if short = strings.ToUpper(short); !rdf.ValidID(short) {
			return nil, problemf("%q is not an ID such as Q42 or P31: search for it first", render.Clip(id, 60))
		}
		id = short
	}
	return src.Graph.Entity(ctx, id, language(lang))
}

func statement(st kg.Statement) valueOut {
	v := valueOut{Value: render.Value(st.Value), Label: st.Value.Label}
	if id := rdf.EntityID(st.Value.Term.Value); st.Value.Term.IsIRI() && id != "" {
		v.Value = id
	}
	if st.Rank != kg.Normal {
		v.Rank = string(st.Rank)
	}
	for _, q := range st.Qualifiers {
		qo := qualifierOut{ID: q.Property.ID, Label: q.Property.Label}
		for _, x := range q.Values {
			qo.Values = append(qo.Values, render.Value(x))
		}
		v.Qualifiers = append(v.Qualifiers, qo)
	}
	return v
}

// statementsIn contains the arguments of statements.
type statementsIn struct {
	Entity   string    `json:"entity" jsonschema:"ID of the item"`
	Property string    `json:"property" jsonschema:"ID of the property"`
	Limit    int       `json:"limit,omitempty" jsonschema:"statements to return, 1 to 200; 200 when left out"`
	Offset   int       `json:"offset,omitempty" jsonschema:"statements to skip"`
	Language string    `json:"language,omitempty" jsonschema:"code of the language of labels; English when left out"`
	KG       graphName `json:"kg,omitempty"`
}

func (s *server) statements(ctx context.Context, in statementsIn) (out propertyOut, err error) {
	src, err := s.source(ctx, in.KG)
	if err != nil {
		return out, err
	}
	e, err := s.read(ctx, src, in.Entity, in.Language)
	if err != nil {
		return out, err
	}
	for _, c := range e.Claims {
		if !strings.EqualFold(c.Property.ID, strings.TrimSpace(in.Property)) {
			continue
		}
		out = propertyOut{ID: c.Property.ID, Label: c.Property.Label, Total: len(c.Statements), Values: []valueOut{}}
		for _, st := range page(c.Statements, in.Offset, clamp(in.Limit, maxStatements, maxStatements)) {
			out.Values = append(out.Values, statement(st))
		}
		return out, nil
	}
	return out, problemf("%s has no statement with %s; entity shows which properties it has", e.ID,
		render.Clip(in.Property, 60))
}

type describedOut struct {
	ID          string   `json:"id"`
	Label       string   `json:"label,omitempty"`
	Description string   `json:"description,omitempty"`
	Aliases     []string `json:"aliases,omitempty"`
	Datatype    string   `json:"datatype,omitempty"`
	Examples    []string `json:"examples" jsonschema:"subject and value, as the graph itself gives them"`
}

func (s *server) property(ctx context.Context, in entityIn) (out describedOut, err error) {
	src, err := s.source(ctx, in.KG)
	if err != nil {
		return out, err
	}
	e, err := s.read(ctx, src, in.ID, in.Language)
	if err != nil {
		return out, err
	}
	examples, err := src.Graph.Examples(ctx, e.ID, language(in.Language))
	if err != nil {
		return out, err
	}
	out = describedOut{ID: e.ID, Label: e.Label, Description: e.Description, Aliases: e.Aliases, Datatype: e.Datatype,
		Examples: []string{}}
	for _, x := range examples[:min(10, len(examples))] {
		out.Examples = append(out.Examples, render.Labelled(x.Subject.ID, x.Subject.Label)+": "+render.Value(x.Value))
	}
	return out, nil
}

// shapeIn contains the arguments of class_shape.
type shapeIn struct {
	Class    string    `json:"class" jsonschema:"ID or IRI of the class"`
	Language string    `json:"language,omitempty" jsonschema:"code of the language of labels; English when left out"`
	KG       graphName `json:"kg,omitempty"`
}

type shapeOut struct {
	Class    string           `json:"class"`
	Label    string           `json:"label,omitempty"`
	Members  int64            `json:"members" jsonschema:"direct members; -1 when unknown"`
	Sample   int64            `json:"sample,omitempty" jsonschema:"members that were looked at, when not all of them"`
	Measured string           `json:"measured,omitempty" jsonschema:"day of the measurement"`
	Out      []predicateShape `json:"properties"`
	In       []predicateShape `json:"incoming,omitempty"`
	More     int              `json:"more,omitempty" jsonschema:"properties that were left out"`
}

type predicateShape struct {
	ID       string   `json:"id"`
	Label    string   `json:"label,omitempty"`
	Variants []string `json:"variants,omitempty"`
	Coverage float64  `json:"coverage" jsonschema:"share of the members that have it, 0 to 1"`
	Mean     float64  `json:"mean_values"`
	Values   []string `json:"values,omitempty" jsonschema:"classes and datatypes of the values with their shares"`
}

func (s *server) shape(ctx context.Context, in shapeIn) (out shapeOut, err error) {
	src, err := s.source(ctx, in.KG)
	if err != nil {
		return out, err
	}
	if src.Shapes == nil {
		return out, problemf("the graph %s has no shapes here; look at entity pages of some members", src.Name())
	}
	sh, err := src.Shapes.Shape(ctx, strings.TrimSpace(in.Class), language(in.Language))
	if err != nil {
		return out, err
	}
	out = shapeOut{Class: sh.Class.ID, Label: sh.Class.Label, Members: sh.Members, Sample: sh.Sample,
		Out: predicates(sh.Out), In: predicates(sh.In), More: sh.MoreOut}
	if !sh.At.IsZero() {
		out.Measured = sh.At.UTC().Format("2006-01-02")
	}
	return out, nil
}

func predicates(ps []kg.ShapePredicate) []predicateShape {
	out := make([]predicateShape, len(ps))
	for i, p := range ps {
		out[i] = predicateShape{ID: p.Property.ID, Label: p.Property.Label, Variants: p.Variants, Coverage: p.Coverage,
			Mean: p.Mean}
		for _, t := range p.Targets {
			what := t.Datatype
			if t.Class.ID != "" {
				what = render.Labelled(t.Class.ID, t.Class.Label)
			}
			out[i].Values = append(out[i].Values, fmt.Sprintf("%s %.0f%%", what, 100*t.Share))
		}
	}
	return out
}

// triplesIn contains the arguments of list_triples.
type triplesIn struct {
	Subject  string    `json:"subject,omitempty" jsonschema:"ID, prefixed name or <IRI>"`
	Property string    `json:"property,omitempty" jsonschema:"ID (P31 is wdt:P31), prefixed name or <IRI>"`
	Object   string    `json:"object,omitempty" jsonschema:"ID, prefixed name, <IRI>, number, or text in quotation marks"`
	Limit    int       `json:"limit,omitempty" jsonschema:"rows, 1 to 100; 20 when left out"`
	Offset   int       `json:"offset,omitempty" jsonschema:"rows to skip"`
	Language string    `json:"language,omitempty" jsonschema:"code of the language of labels; English when left out"`
	KG       graphName `json:"kg,omitempty"`
}

func (s *server) triples(ctx context.Context, in triplesIn) (out rowsOut, err error) {
	src, err := s.source(ctx, in.KG)
	if err != nil {
		return out, err
	}
	if in.Subject+in.Property+in.Object == "" {
		return out, problem("give a subject, a property or an object")
	}
	var terms [3]string
	for i, arg := range []string{in.Subject, in.Property, in.Object} {
		if terms[i], err = node(src, arg, i); err != nil {
			return out, err
		}
	}
	limit, offset := clamp(in.Limit, 20, maxTriples), max(in.Offset, 0)
	var given strings.Builder
	for i, v := range variables {
		if terms[i] != "" {
			fmt.Fprintf(&given, "VALUES %s { %s } ", v, terms[i])
		}
	}
	query := fmt.Sprintf("SELECT ?subject ?property ?object WHERE { %s?subject ?property ?object } LIMIT %d OFFSET %d",
		given.String(), limit+1, offset) // an extra row shows whether there are more
	table, err := src.Graph.Query(ctx, query)
	if err != nil {
		return out, err
	}
	out = s.rows(ctx, src, table, 0, limit, language(in.Language))
	if out.Total += offset; out.More || len(out.Rows) == 0 && offset > 0 {
		out.Total = -1
	}
	return out, nil
}

// variables are the columns of list_triples.
var variables = [3]string{"?subject", "?property", "?object"}

// node converts an argument that names a node to SPARQL, or returns "" if arg is empty. place is 0 for the subject, 1
// for the property, and 2 for the object.
func node(src *agent.Source, arg string, place int) (string, error) {
	arg = strings.TrimSpace(arg)
	if arg == "" {
		return "", nil
	}
	if place == 2 {
		if lit, ok := literal(arg); ok {
			return lit, nil
		}
	}
	if place == 1 && src.Explain.IsWikibase() && rdf.ValidID(arg) {
		return "<" + rdf.Prefixes["wdt"] + arg + ">", nil
	}
	if iri, ok := src.Explain.Expand(arg); ok {
		return "<" + iri + ">", nil
	}
	if prefix, local, found := strings.Cut(arg, ":"); found && rdf.Prefixes[prefix] != "" && !strings.ContainsAny(local,
		" <>\"{}|\\^`") {
		return "<" + rdf.Prefixes[prefix] + local + ">", nil
	}
	return "", problemf("%q is not an ID, a prefixed name or an <IRI>", render.Clip(arg, 80))
}

// literal returns a literal as SPARQL: a quoted string, which may be followed by @ and a language, or a number.
func literal(arg string) (string, bool) {
	if strings.Trim(arg, "+-0123456789.") == "" && strings.ContainsAny(arg, "0123456789") {
		return arg, strings.Count(arg, ".") <= 1 && !strings.ContainsAny(arg[1:], "+-") && !strings.HasSuffix(arg, ".")
	}
	rest, ok := strings.CutPrefix(arg, `"`)
	at := strings.LastIndex(rest, `"`)
	if !ok || at < 0 {
		return "", false
	}
	text, tag := rest[:at], rest[at+1:]
	if tag != "" && (tag[0] != '@' || len(tag) < 3 || language(tag[1:]) != strings.ToLower(tag[1:])) {
		return "", false
	}
	return rdf.LangString(text, strings.TrimPrefix(tag, "@")).String(), true
}
