package reply

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// addressCell prepares an address that is not an entity's: a rank as such, a name of Wikidata's RDF with its prefix, a
// file and an article by their titles, and any other address without the parts that all addresses share.
func addressCell(iri string) forum.Cell {
	if rank := ranks[strings.TrimPrefix(iri, rdf.Wikibase)]; rank != "" {
		return forum.Cell{Text: rank, Kind: "rank"}
	}
	if short := rdf.Shorten(iri); !strings.HasPrefix(short, "<") {
		return forum.Cell{Text: short, Kind: "address"}
	}
	if strings.Contains(iri, "://commons.wikimedia.org/wiki/Special:FilePath/") {
		return forum.Cell{Text: shortAddress(iri), Kind: "file"}
	}
	if m := articleAddress.FindStringSubmatch(iri); m != nil {
		if title, err := url.PathUnescape(m[2]); err == nil {
			return forum.Cell{Text: m[1] + ":" + strings.ReplaceAll(title, "_", " "), Kind: "article"}
		}
	}
	return forum.Cell{Text: shortAddress(iri), Kind: "address"}
}

var ranks = map[string]string{"NormalRank": "normal", "PreferredRank": "preferred", "DeprecatedRank": "deprecated"}

// articleAddress matches the address of an article in a Wikipedia; its language is the prefix of links to it.
var articleAddress = regexp.MustCompile(`^https://([a-z]{2,3}(?:-[a-z]+)*)\.wikipedia\.org/wiki/([^?#]+)$`)

// shortAddress returns a web address in readable form: the file name for a file on Commons, and the host and path for
// other addresses.
func shortAddress(iri string) string {
	_, rest, ok := strings.Cut(iri, "://")
	if !ok {
		return iri
	}
	if _, file, ok := strings.Cut(rest, "/Special:FilePath/"); ok {
		if name, err := url.PathUnescape(file); err == nil {
			return strings.ReplaceAll(name, "_", " ")
		}
	}
	return strings.TrimSuffix(strings.TrimPrefix(rest, "www."), "/")
}
