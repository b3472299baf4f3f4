package wikidata

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// restEntity fetches an entity from version 1 of Wikibase's REST API: GET /entities/items/ID or
// /entities/properties/ID. It follows redirects. Source: the OpenAPI description that the API serves.
func (c *Client) restEntity(ctx context.Context, id string) (*rawEntity, error) {
	kind := "items"
	if id[0] == 'P' {
		kind = "properties"
	}
	address := strings.TrimRight(c.cfg.REST, "/") + "/entities/" + kind + "/" + id
	var e restEntity
	err := c.rest.Do(ctx, func(ctx context.Context) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err == nil {
			req.Header.Set("Accept", "application/json")
		}
		return req, err
	}, func(a remote.Answer, now time.Time) *kg.Error {
		if a.Status == http.StatusNotFound {
			return restMissing(a, id)
		}
		return readAPI(a, now, &e)
	})
	if err != nil {
		return nil, err
	}
	if !rdf.ValidID(e.ID) {
		return nil, kg.Errorf(kg.Down, "the REST API's answer for %s has no entity", id)
	}
	return e.raw(), nil
}

// restMissing distinguishes a missing entity from a missing API: only the API returns error codes.
func restMissing(a remote.Answer, id string) *kg.Error {
	var e struct{ Code string }
	if json.Unmarshal(a.Body, &e) == nil && e.Code != "" {
		return kg.Errorf(kg.NotFound, "there is no entity %s", id)
	}
	return kg.Errorf(kg.Down, "the REST API is not at its address (404)")
}

// restEntity is an entity in the REST API's format.
type restEntity struct {
	ID           string                   `json:"id"`
	Type         string                   `json:"type"`
	DataType     string                   `json:"data_type"` // datatype of a property
	Labels       lenient[string]          `json:"labels"`
	Descriptions lenient[string]          `json:"descriptions"`
	Aliases      lenient[[]string]        `json:"aliases"`
	Statements   lenient[[]restStatement] `json:"statements"`
	Sitelinks    lenient[json.RawMessage] `json:"sitelinks"`
}

// restSnak is a property with a value, in the format that the REST API uses for statements, qualifiers and parts of
// references.
type restSnak struct {
	Property struct {
		ID       string `json:"id"`
		DataType string `json:"data_type"`
	} `json:"property"`
	Value struct {
		Type    string          `json:"type"` // value, somevalue, novalue
		Content json.RawMessage `json:"content"`
	} `json:"value"`
}

type restStatement struct {
	restSnak
	Rank       string     `json:"rank"`
	Qualifiers []restSnak `json:"qualifiers"`
}

// raw returns the entity in the Action API's format, which the rest of the package reads.
func (e *restEntity) raw() *rawEntity {
	r := &rawEntity{ID: e.ID, Type: e.Type, Datatype: e.DataType, Labels: lenient[langValue]{},
		Descriptions: lenient[langValue]{}, Aliases: lenient[[]langValue]{}, Claims: lenient[[]rawStatement]{},
		Sitelinks: e.Sitelinks}
	for l, text := range e.Labels {
		r.Labels[l] = langValue{l, text}
	}
	for l, text := range e.Descriptions {
		r.Descriptions[l] = langValue{l, text}
	}
	for l, texts := range e.Aliases {
		for _, text := range texts {
			r.Aliases[l] = append(r.Aliases[l], langValue{l, text})
		}
	}
	for p, list := range e.Statements {
		for _, s := range list {
			raw := rawStatement{Rank: s.Rank, Mainsnak: s.raw(), Qualifiers: lenient[[]rawSnak]{}}
			for _, q := range s.Qualifiers {
				if raw.Qualifiers[q.Property.ID] == nil {
					raw.Order = append(raw.Order, q.Property.ID)
				}
				raw.Qualifiers[q.Property.ID] = append(raw.Qualifiers[q.Property.ID], q.raw())
			}
			r.Claims[p] = append(r.Claims[p], raw)
		}
	}
	return r
}

// raw returns a snak in the Action API's format.
func (s *restSnak) raw() rawSnak {
	r := rawSnak{Snaktype: s.Value.Type, Datatype: s.Property.DataType}
	r.Datavalue.Value = s.Value.Content
	switch {
	case strings.HasPrefix(r.Datatype, "wikibase-"): // an entity; the content is only its ID
		var id string
		if json.Unmarshal(s.Value.Content, &id) == nil {
			r.Datavalue.Value, _ = json.Marshal(map[string]string{"id": id}) // encoding a map of strings never fails
		}
		r.Datavalue.Type = "wikibase-entityid"
	case r.Datatype == "globe-coordinate":
		r.Datavalue.Type = "globecoordinate"
	case r.Datatype == "time", r.Datatype == "quantity", r.Datatype == "monolingualtext":
		r.Datavalue.Type = r.Datatype
	default:
		r.Datavalue.Type = "string"
	}
	return r
}
