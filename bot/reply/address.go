package reply

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// addressCell returns the cell for an IRI that is not an entity: ranks are shown by name, terms of Wikidata's RDF with
// their prefix, files and articles by title, and web addresses without the scheme.
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

// articleAddress matches the URL of a Wikipedia article. Its groups are the language, which is also the prefix of links
// to it, and the title.
var articleAddress = regexp.MustCompile(`^https://([a-z]{2,3}(?:-[a-z]+)*)\.wikipedia\.org/wiki/([^?#]+)$`)

// shortAddress returns a readable form of a URL: the file name for a file on Commons, and otherwise the host and path.
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
