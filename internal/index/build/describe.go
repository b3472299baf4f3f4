package build

import (
	"context"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// WikidataNames describes how to find names on Wikidata and on any other Wikibase that uses its prefixes.
func WikidataNames() kg.Description {
	return kg.Description{Name: "wikidata", Statements: kg.Wikibase, Prefixes: rdf.Prefixes,
		Labels:  []string{"rdfs:label"},
		Aliases: []string{"skos:altLabel"}, Descriptions: []string{"schema:description"}, Types: []string{"wdt:P31"}}
}

// commonNames describes how to find names in most graphs.
func commonNames() kg.Description {
	return kg.Description{Prefixes: rdf.Prefixes, Labels: []string{"rdfs:label", "skos:prefLabel",
		"<http://xmlns.com/foaf/0.1/name>", "schema:name"},
		Aliases: []string{"skos:altLabel"}, Descriptions: []string{"rdfs:comment",
			"<http://purl.org/dc/terms/description>"}, Types: []string{"rdf:type"}}
}

// NamesIn sends one query to distinguish a Wikibase from other graphs, and returns a description of how to find names
// in the graph.
func NamesIn(ctx context.Context, query Query) (kg.Description, error) {
	t, err := query(ctx, "ASK { ?property <"+rdf.Wikibase+"directClaim> ?p }")
	switch {
	case err != nil:
		return kg.Description{}, err
	case t.Ask && t.Boolean:
		return WikidataNames(), nil
	}
	return commonNames(), nil
}
