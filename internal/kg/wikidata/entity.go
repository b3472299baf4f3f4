package wikidata

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// mostLabels is the maximum number of labels fetched per page (20 calls). Any further values have no label.
const mostLabels = 1000

// propertyExample is "Wikidata property example". The example's value is in a qualifier whose property is the property
// itself.
const propertyExample = "P1855"

type entityKey struct{ id, language string }

// lenient is a JSON object that Wikibase writes as [] if it is empty.
type lenient[V any] map[string]V

// UnmarshalJSON accepts an object or an empty array.
func (m *lenient[V]) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		var none []struct{}
		if err := json.Unmarshal(data, &none); err == nil && len(none) == 0 {
			*m = nil
			return nil
		}
	}
	return json.Unmarshal(data, (*map[string]V)(m))
}

// entitiesAnswer is the response to wbgetentities, keyed by the requested IDs. Source: Wikibase, docs/topics/json.md.
type entitiesAnswer struct {
	Entities lenient[rawEntity] `json:"entities"`
}

type rawEntity struct {
	ID           string                   `json:"id"` // after a redirect, the target's ID
	Type         string                   `json:"type"`
	Missing      json.RawMessage          `json:"missing"`
	Datatype     string                   `json:"datatype"`
	Labels       lenient[langValue]       `json:"labels"`
	Descriptions lenient[langValue]       `json:"descriptions"`
	Aliases      lenient[[]langValue]     `json:"aliases"`
	Claims       lenient[[]rawStatement]  `json:"claims"`
	Sitelinks    lenient[json.RawMessage] `json:"sitelinks"`
}

type rawStatement struct {
	Rank       string             `json:"rank"`
	Mainsnak   rawSnak            `json:"mainsnak"`
	Qualifiers lenient[[]rawSnak] `json:"qualifiers"`
	Order      []string           `json:"qualifiers-order"`
}

// Entity returns an entity's page: all statements with ranks and qualifiers, and labels in lang or its fallbacks. It
// omits statements and qualifiers with external identifiers. The page is shared with later callers and must not be
// modified. Errors have kind BadID or NotFound, or come from the service.
func (c *Client) Entity(ctx context.Context, id, lang string) (*kg.Entity, error) {
	key := entityKey{id, language(lang)}
	if e, ok := c.entities.Get(key); ok {
		return e, nil
	}
	raw, err := c.fetchEntity(ctx, id, key.language)
	if err != nil {
		return nil, err
	}
	e := raw.page(chain(key.language))
	if err := c.addLabels(ctx, e, key.language); err != nil {
		return nil, err
	}
	c.entities.Put(key, e)
	return e, nil
}

func (c *Client) fetchEntity(ctx context.Context, id, lang string) (*rawEntity, error) {
	if !rdf.ValidID(id) || id[0] == 'L' {
		return nil, kg.Errorf(kg.BadID, "%q is not the number of an item or property, such as Q42 or P31", remote.Tidy(id))
	}
	if !labelled(id) {
		return nil, kg.Errorf(kg.NotFound, "there is no entity %s", id)
	}
	if c.rest != nil {
		raw, err := c.restEntity(ctx, id)
		if k := kg.KindOf(err); k != kg.Down && k != kg.Timeout && k != kg.QueryFailed {
			return raw, err
		}
		c.lg.InfoContext(ctx, "the REST API did not answer, asking the Action API", "entity", id, "because", err)
	}
	var a entitiesAnswer
	err := c.get(ctx, url.Values{
		"action": {"wbgetentities"}, "ids": {id}, "props": {"info|sitelinks|aliases|labels|descriptions|claims|datatype"},
		"languages": {strings.Join(chain(lang), "|")},
	}, &a)
	if kg.KindOf(err) == kg.NotFound {
		return nil, kg.Errorf(kg.NotFound, "there is no entity %s", id)
	}
	if err != nil {
		return nil, err
	}
	raw, ok := a.Entities[id]
	switch {
	case !ok && len(a.Entities) == 1: // for a redirect, the key is the target
		for _, raw = range a.Entities {
			break
		}
	case !ok:
		return nil, kg.Errorf(kg.Down, "the API's answer does not contain %s", id)
	}
	if raw.Missing != nil {
		return nil, kg.Errorf(kg.NotFound, "there is no entity %s", id)
	}
	if !rdf.ValidID(raw.ID) {
		return nil, kg.Errorf(kg.Down, "the API's answer for %s has no entity", id)
	}
	return &raw, nil
}

// page converts the JSON to a page, without labels for its values.
func (r *rawEntity) page(langs []string) *kg.Entity {
	e := &kg.Entity{ID: r.ID, Type: kg.Item, Datatype: r.Datatype, Sitelinks: len(r.Sitelinks)}
	if r.Type == string(kg.Property) {
		e.Type = kg.Property
	}
	for _, l := range langs {
		e.Label = first(e.Label, r.Labels[l].Value)
		e.Description = first(e.Description, r.Descriptions[l].Value)
		if len(e.Aliases) == 0 {
			for _, a := range r.Aliases[l] {
				e.Aliases = append(e.Aliases, a.Value)
			}
		}
	}
	for p, statements := range r.Claims {
		if ps := propertyStatements(p, statements); len(ps.Statements) > 0 {
			e.Claims = append(e.Claims, ps)
		}
	}
	slices.SortFunc(e.Claims, func(a, b kg.PropertyStatements) int {
		return cmp.Compare(number(a.Property.ID),
			number(b.Property.ID))
	})
	return e
}

// number returns the number in an ID such as Q42 or P31, or 0 if there is none.
func number(id string) int {
	if id == "" {
		return 0
	}
	n, _ := strconv.Atoi(id[1:])
	return n
}

var ranks = map[string]int{string(kg.Preferred): 0, string(kg.Normal): 1, string(kg.Deprecated): 2}

func propertyStatements(p string, raw []rawStatement) kg.PropertyStatements {
	ps := kg.PropertyStatements{Property: kg.PropertyRef{ID: p}}
	for _, s := range raw {
		if s.Mainsnak.external() {
			continue
		}
		if _, known := ranks[s.Rank]; !known {
			s.Rank = string(kg.Normal)
		}
		ps.Datatype = first(ps.Datatype, s.Mainsnak.Datatype)
		ps.Statements = append(ps.Statements, kg.Statement{Value: s.Mainsnak.value(), Rank: kg.Rank(s.Rank),
			Qualifiers: s.qualifiers()})
	}
	slices.SortStableFunc(ps.Statements, func(a, b kg.Statement) int {
		return cmp.Compare(ranks[string(a.Rank)],
			ranks[string(b.Rank)])
	})
	return ps
}

// qualifiers returns the statement's qualifiers in the order in which the page lists them.
func (s *rawStatement) qualifiers() []kg.Qualifier {
	var out []kg.Qualifier
	for _, p := range s.order() {
		q := kg.Qualifier{Property: kg.PropertyRef{ID: p}}
		for _, snak := range s.Qualifiers[p] {
			if !snak.external() {
				q.Values = append(q.Values, snak.value())
			}
		}
		if len(q.Values) > 0 {
			out = append(out, q)
		}
	}
	return out
}

// order returns the qualifier properties in the order given by the page, followed by any that the page's order omits,
// in numeric order.
func (s *rawStatement) order() []string {
	var order []string
	for _, p := range s.Order {
		if _, ok := s.Qualifiers[p]; ok && !slices.Contains(order, p) {
			order = append(order, p)
		}
	}
	var rest []string
	for p := range s.Qualifiers {
		if !slices.Contains(order, p) {
			rest = append(rest, p)
		}
	}
	slices.SortFunc(rest, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return append(order, rest...)
}

// addLabels fills in the labels of all properties, entity values and units on the page.
func (c *Client) addLabels(ctx context.Context, e *kg.Entity, lang string) error {
	var ids []string
	seen := map[string]bool{}
	visit(e, func(id string, _ *string) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	})
	// properties come first, because they matter most if the rest is omitted
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(a[0], b[0]) })
	if len(ids) > mostLabels {
		c.lg.DebugContext(ctx, "page with too many values: some have no label", "entity", e.ID, "values", len(ids))
		ids = ids[:mostLabels]
	}
	labels, err := c.Labels(ctx, ids, chain(lang))
	if err != nil {
		return err
	}
	visit(e, func(id string, label *string) { *label = labels[id] })
	return nil
}

// visit calls f for each ID on the page, with a pointer to its label.
func visit(e *kg.Entity, f func(id string, label *string)) {
	for i := range e.Claims {
		ps := &e.Claims[i]
		f(ps.Property.ID, &ps.Property.Label)
		for j := range ps.Statements {
			s := &ps.Statements[j]
			visitValue(&s.Value, f)
			for k := range s.Qualifiers {
				q := &s.Qualifiers[k]
				f(q.Property.ID, &q.Property.Label)
				for l := range q.Values {
					visitValue(&q.Values[l], f)
				}
			}
		}
	}
}

func visitValue(v *kg.Value, f func(id string, label *string)) {
	if id := rdf.EntityID(v.Term.Value); v.Term.IsIRI() && id != "" {
		f(id, &v.Label)
	}
	if v.Unit != "" {
		f(v.Unit, &v.UnitLabel)
	}
}

// Examples returns the property's own examples: its P1855 statements, each with the value of the qualifier whose
// property is the property itself.
func (c *Client) Examples(ctx context.Context, property, lang string) ([]kg.Example, error) {
	if !rdf.ValidID(property) || property[0] != 'P' {
		return nil, kg.Errorf(kg.BadID, "%q is not the number of a property, such as P31", remote.Tidy(property))
	}
	key := entityKey{property, language(lang)}
	if ex, ok := c.examples.Get(key); ok {
		return ex, nil
	}
	raw, err := c.fetchEntity(ctx, property, key.language)
	if err != nil {
		return nil, err
	}
	var out []kg.Example
	var ids []string
	for _, s := range raw.Claims[propertyExample] {
		subject := rdf.EntityID(s.Mainsnak.value().Term.Value)
		if subject == "" || s.Rank == string(kg.Deprecated) {
			continue
		}
		for _, snak := range s.Qualifiers[property] {
			out = append(out, kg.Example{Subject: kg.PropertyRef{ID: subject}, Value: snak.value()})
		}
	}
	for i := range out {
		ids = append(ids, out[i].Subject.ID)
		visitValue(&out[i].Value, func(id string, _ *string) { ids = append(ids, id) })
	}
	labels, err := c.Labels(ctx, ids, chain(key.language))
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Subject.Label = labels[out[i].Subject.ID]
		visitValue(&out[i].Value, func(id string, label *string) { *label = labels[id] })
	}
	c.examples.Put(key, out)
	return out, nil
}
