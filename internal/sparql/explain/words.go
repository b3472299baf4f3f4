package explain

import "strings"

var operatorWords = map[string]string{"||": " or ", "&&": " and ", "=": " is ", "!=": " is not ",
	"<": " is less than ", ">": " is more than ",
	"<=": " is at most ", ">=": " is at least ", "+": " + ", "-": " − ", "*": " × ", "/": " ÷ "}

// functionWords describes the results of functions; %1 and %2 are the arguments.
var functionWords = map[string]string{
	"LANG": "the language of %1", "STR": "the text of %1", "YEAR": "the year of %1", "MONTH": "the month of %1",
	"DAY":      "the day of %1",
	"CONTAINS": "%1 contains %2", "STRSTARTS": "%1 starts with %2", "STRENDS": "%1 ends with %2",
	"REGEX": "%1 matches the pattern %2",
	"LCASE": "%1 in lower case", "UCASE": "%1 in upper case", "BOUND": "%1 is known", "STRLEN": "the length of %1",
	"NOW":   "now",
	"ISIRI": "%1 is a thing", "ISLITERAL": "%1 is a value", "ISBLANK": "%1 is unknown",
	"LANGMATCHES": "%1 is the language %2",
	"COUNT":       "the number of %1", "SUM": "the sum of %1", "MIN": "the minimum of %1", "MAX": "the maximum of %1",
	"AVG":    "the average of %1",
	"SAMPLE": "any one of %1", "GROUP_CONCAT": "all %1 in one text",
}

// ontologyWords explains the terms of Wikidata's data model in plain words
// (https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format).
var ontologyWords = map[string]string{
	"schema:about": "page about", "schema:isPartOf": "on the site", "schema:inLanguage": "in the language",
	"schema:name":         "title of the page",
	"schema:dateModified": "last change", "schema:version": "revision", "wikibase:wikiGroup": "family of wikis",
	"wikibase:badge":      "badge",
	"wikibase:sitelinks":  "number of pages about it on Wikimedia's wikis",
	"wikibase:statements": "number of statements", "wikibase:identifiers": "number of identifiers",
	"wikibase:rank": "rank", "wikibase:PreferredRank": "preferred rank", "wikibase:NormalRank": "normal rank",
	"wikibase:DeprecatedRank": "deprecated rank",
	"wikibase:BestRank":       "best rank", "prov:wasDerivedFrom": "reference", "wikibase:Property": "property",
	"wikibase:Item":      "item",
	"wikibase:timeValue": "point in time", "wikibase:timePrecision": "precision of the time",
	"wikibase:timeCalendarModel": "calendar",
	"wikibase:quantityAmount":    "amount", "wikibase:quantityUnit": "unit",
	"wikibase:quantityNormalized": "value in basic units",
	"wikibase:geoLatitude":        "latitude", "wikibase:geoLongitude": "longitude",
	"wikibase:geoPrecision": "precision of the place", "wikibase:geoGlobe": "celestial body",
	"wikibase:propertyType": "datatype", "wikibase:directClaim": "property of its simple statements",
	"wikibase:claim":             "property of its full statements",
	"wikibase:statementProperty": "property of its statements' values",
	"wikibase:qualifier":         "property of its qualifiers", "wikibase:reference": "property of its references",
	"wikibase:lemma": "lemma", "wikibase:lexicalCategory": "lexical category",
	"wikibase:grammaticalFeature": "grammatical feature", "dct:language": "language",
	"ontolex:LexicalEntry": "lexeme", "ontolex:lexicalForm": "form", "ontolex:Form": "form",
	"ontolex:representation": "spelling", "ontolex:sense": "sense",
	"ontolex:LexicalSense": "sense", "skos:definition": "definition",
}

// site returns the host of a URL that has no path, which is how the query service identifies wikis:
// https://en.wikipedia.org/.
func site(iri string) (string, bool) {
	host, ok := strings.CutPrefix(iri, "https://")
	host, slash := strings.CutSuffix(host, "/")
	return host, ok && slash && host != "" && !strings.ContainsAny(host, "/?#@:")
}
