package harvest

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
	"github.com/spinachbot/spinachbot/internal/text"
)

// language replaces [AUTO_LANGUAGE] when an archived query is run.
const language = "en"

type cleaned struct {
	text   string        // canonical form; empty if the query was rejected
	query  *sparql.Query // text, parsed
	notes  []string
	reason dataset.Reason // why the query cannot be run; empty if it can
	detail string
}

// clean converts a query from its author's form to the form that is run: in the canonical layout, with [AUTO_LANGUAGE]
// replaced and, as in SPINACH, without calls to MediaWiki's API. It rejects queries that do not parse, would change
// data, or call a disallowed service.
func clean(original string) cleaned {
	text := onceEach(strings.ReplaceAll(strings.ReplaceAll(original, "\r\n", "\n"), "\u00a0", " "))
	q, err := sparql.Parse(text)
	if err != nil {
		return refused(dataset.SyntaxError, err)
	}
	if q.Form == sparql.Update {
		return refused(dataset.Update, sparql.Guard(q, nil))
	}
	var c cleaned
	if slices.Contains(measure.Features(q), "mwapi") {
		r, err := rewrite.Query(text, rewrite.WDQS, rewrite.Options{Language: language, DropMWAPI: true})
		if err != nil {
			return refused(dataset.SyntaxError, err)
		}
		text, c.notes = r.Text, r.Notes
		if q, err = sparql.Parse(text); err != nil {
			return refused(dataset.SyntaxError, err)
		}
	}
	if err := sparql.Guard(q, AllowedService); err != nil {
		return refused(dataset.RefusedHost, err)
	}
	if with := sparql.ReplaceAutoLanguage(text, language); with != text {
		if q, err = sparql.Parse(with); err != nil {
			return refused(dataset.SyntaxError, err)
		}
	}
	c.text = q.String()
	// a printed tree always parses, as internal/sparql's tests and fuzz tests verify
	if c.query, err = sparql.Parse(c.text); err != nil {
		return refused(dataset.SyntaxError, err)
	}
	return c
}

// languageList matches a string that contains only [AUTO_LANGUAGE] and language codes.
var languageList = regexp.MustCompile(`(["'])([A-Za-z0-9, -]*\[AUTO_LANGUAGE\][A-Za-z0-9, -]*)(["'])`)

// onceEach removes languages that would appear twice in a list after [AUTO_LANGUAGE] is replaced: "[AUTO_LANGUAGE],en"
// would contain English twice.
func onceEach(text string) string {
	return languageList.ReplaceAllStringFunc(text, func(list string) string {
		inside := list[1 : len(list)-1]
		var out []string
		seen := map[string]bool{}
		for _, l := range strings.Split(inside, ",") {
			if code := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(l)), strings.ToLower(sparql.AutoLanguage),
				language); !seen[code] {
				seen[code] = true
				out = append(out, l)
			}
		}
		return list[:1] + strings.Join(out, ",") + list[len(list)-1:]
	})
}

func refused(r dataset.Reason, err error) cleaned {
	var all sparql.Errors
	detail := ""
	switch {
	case errors.As(err, &all):
		detail = all.First().Error()
	case err != nil:
		detail = err.Error()
	}
	return cleaned{reason: r, detail: text.Clip(detail, 500)}
}

// services are the hosts that a query may call with SERVICE: SPARQL endpoints allowed by Wikidata's query service. The
// endpoint that runs the query makes the call and has its own list. Our list ensures that queries that call other hosts
// are never sent. Source: www.mediawiki.org/wiki/Wikidata_Query_Service/User_Manual/SPARQL_Federation_endpoints.
var services = []string{
	"query.wikidata.org", "query-main.wikidata.org", "query-scholarly.wikidata.org", "commons-query.wikimedia.org",
	"qcommons-query.wikimedia.org", "qlever.dev", "qlever.cs.uni-freiburg.de",
	"sparql.uniprot.org", "sparql.rhea-db.org", "sparql.wikipathways.org", "sparql.dblp.org", "dblp.org", "dbpedia.org",
	"sparql.europeana.eu", "data.bnf.fr", "sparql.archives-ouvertes.fr",
	"linkeddata.uriburner.com", "data.cervantesvirtual.com", "datos.bne.es", "id.nlm.nih.gov", "vocab.getty.edu",
	"linkedgeodata.org", "sparql.nextprot.org", "www.ebi.ac.uk",
	"integbio.jp", "data.ordnancesurvey.co.uk", "statistics.data.gov.uk", "opendatacommunities.org", "data.europa.eu",
	"publications.europa.eu", "dati.camera.it", "dati.beniculturali.it",
	"data.carnegiehall.org", "data.open.ac.uk", "edan.si.edu", "sparql.vanderbilt.edu", "zbw.eu", "lov.linkeddata.es",
	"api.parliament.uk", "sophox.org", "www.lingualibre.org", "lingualibre.org",
	"ldf.fi", "data.nobelprize.org", "onto.fel.cvut.cz", "sparql.orthodb.org", "factgrid.de", "database.factgrid.de",
	"wikibase.wbstack.com",
}

// AllowedService reports whether a query may call the SERVICE.
func AllowedService(iri string) bool {
	u, err := url.Parse(iri)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return false
	}
	return u.User == nil && slices.Contains(services, strings.ToLower(u.Hostname()))
}

// scholarlyClasses and scholarlyProperties are classes and properties used only for scholarly articles: the first class
// in the split (Wikidata:SPARQL query service/WDQS graph split/Rules), its subclasses that occur most often in queries,
// and properties that hardly any other items have. Authors, publication dates and journals are not evidence, since
// books have them, too; P13046 (publication type of scholarly work) was created for the split.
var (
	scholarlyClasses = []string{
		"Q13442814", // scholarly article
		"Q7318358",  // review article
		"Q1980247",  // chapter of an edited book
		"Q580922",   // preprint
		"Q23927052", // conference paper
		"Q7316896",  // retraction notice
		"Q1348305",  // erratum
		"Q45182324", // retracted paper
	}
	scholarlyProperties = []string{
		"P2860",  // cites work
		"P698",   // PubMed ID
		"P932",   // PMCID
		"P818",   // arXiv ID
		"P13046", // publication type of scholarly work
		"P5875",  // ResearchGate publication ID
		"P3181",  // OpenCitations bibliographic resource ID
	}
)

// scholarly returns a part of a query that is specific to scholarly articles, or "" if there is none. A query that
// itself calls the other half of the graph need not be marked.
func scholarly(q *sparql.Query) string {
	asks := false
	sparql.Inspect(q, func(n sparql.Node) bool {
		if s, ok := n.(*sparql.Service); ok && s.Name.Kind == sparql.Const {
			name := s.Name.Value().Value
			asks = asks || strings.HasSuffix(name, "/subgraph/scholarly_articles") ||
				strings.Contains(name, "query-scholarly.wikidata.org")
		}
		return !asks
	})
	if asks {
		return ""
	}
	for _, id := range sparql.Identifiers(q) {
		if slices.Contains(scholarlyClasses, id.ID) || slices.Contains(scholarlyProperties, id.ID) {
			return id.ID
		}
	}
	return ""
}

// numbers returns the item (and lexeme) IDs and the property IDs in a query, in order of first use.
func numbers(q *sparql.Query) (entities, properties []string) {
	ids := sparql.Identifiers(q)
	return sparql.IDs(ids, false), sparql.IDs(ids, true)
}
