package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// format is a result format.
type format struct {
	name, mime string
	use        use
}

// use is a set of purposes that a format supports.
type use uint8

const (
	forRows    use = 1 << iota // SELECT rows and ASK booleans
	forTriples                 // CONSTRUCT and DESCRIBE
)

// The formats. JSON, XML, CSV and TSV can contain triples as rows of subject, predicate and object, as in the query
// service. The RDF formats can contain only triples.
var (
	formatJSON   = format{"json", "application/sparql-results+json", forRows | forTriples}
	formatXML    = format{"xml", "application/sparql-results+xml", forRows}
	formatCSV    = format{"csv", "text/csv", forRows | forTriples}
	formatTSV    = format{"tsv", "text/tab-separated-values", forRows | forTriples}
	formatRDFXML = format{"rdf", "application/rdf+xml", forTriples}
	formatTurtle = format{"ttl", "text/turtle", forTriples} // N-Triples is valid Turtle
	formatNT     = format{"nt", "application/n-triples", forTriples}
)

// chooseFormat chooses the result format as the query service does: ?format= if set, else the best format in Accept for
// this use, else XML (results XML or RDF/XML).
func chooseFormat(r *http.Request, u use) format {
	if got, ok := formatOf(r.URL.Query().Get("format"), u); ok {
		return got
	}
	type choice struct {
		f format
		q float64
	}
	var all []choice
	for _, part := range strings.Split(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, params, _ := strings.Cut(part, ";")
		f, ok := formatOf(strings.TrimSpace(kind), u)
		if !ok {
			continue
		}
		q := 1.0
		for _, p := range strings.Split(params, ";") {
			if v, found := strings.CutPrefix(strings.TrimSpace(p), "q="); found {
				q, _ = strconv.ParseFloat(v, 64)
			}
		}
		all = append(all, choice{f, q})
	}
	slices.SortStableFunc(all, func(a, b choice) int {
		switch {
		case a.q > b.q:
			return -1
		case a.q < b.q:
			return 1
		}
		return 0
	})
	switch {
	case len(all) > 0 && all[0].q > 0:
		return all[0].f
	case u == forTriples:
		return formatRDFXML
	}
	return formatXML
}

// formatOf returns the format with the given name or media type, and reports whether it supports the use u.
func formatOf(name string, u use) (format, bool) {
	f := format{}
	switch strings.ToLower(name) {
	case "json", "application/json", "application/sparql-results+json":
		f = formatJSON
	case "xml", "application/xml", "text/xml":
		f = formatXML
		if u == forTriples {
			f = formatRDFXML
		}
	case "application/sparql-results+xml":
		f = formatXML
		if u == forTriples { // triples as rows, for a client that accepts nothing else
			return f, true
		}
	case "csv", "text/csv":
		f = formatCSV
	case "tsv", "text/tab-separated-values":
		f = formatTSV
	case "rdf", "application/rdf+xml":
		f = formatRDFXML
	case "turtle", "ttl", "text/turtle":
		f = formatTurtle
	case "nt", "ntriples", "application/n-triples":
		f = formatNT
	}
	return f, f.use&u != 0
}

// negotiated is a writer that chooses its format once the kind of result is known.
type negotiated struct {
	writer
	r   *http.Request
	out *response
	use use
}

// Triples records that the rows are triples.
func (n *negotiated) Triples() { n.use = forTriples }

// Head chooses the format.
func (n *negotiated) Head(vars []string, ask bool) error {
	n.out.format = chooseFormat(n.r, n.use)
	n.writer = newWriter(n.out.format, n.out)
	return n.writer.Head(vars, ask)
}

func newWriter(f format, out *response) writer {
	base := resultWriter{out: out}
	switch f {
	case formatJSON:
		return &jsonWriter{resultWriter: base}
	case formatCSV:
		return &csvWriter{base}
	case formatTSV:
		return &tsvWriter{base}
	case formatNT, formatTurtle:
		return &tripleWriter{base}
	case formatRDFXML:
		return &rdfXMLWriter{base}
	}
	return &xmlWriter{resultWriter: base}
}

// tripleWriter writes N-Triples (RDF 1.1 N-Triples, section 3) for CONSTRUCT and DESCRIBE.
type tripleWriter struct{ resultWriter }

// Head writes nothing.
func (c *tripleWriter) Head([]string, bool) error { return nil }

// Row writes one triple.
func (c *tripleWriter) Row(row []rdf.Term) error {
	for _, t := range row {
		if err := c.term(t); err != nil {
			return err
		}
		c.put(" ")
	}
	c.put(".\n")
	return c.send()
}

// Boolean is never called: booleans use other formats.
func (c *tripleWriter) Boolean(bool) error { return nil }
