package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// longestGET is the maximum length of a query in the URL; longer queries are sent by POST. Wikidata's service caches
// only responses to GET requests (for 5 minutes).
const longestGET = 1500

// Query runs a query using the SPARQL 1.1 protocol. It retries temporary failures: a broken connection, a 5xx status,
// or a 429 with an acceptable Retry-After. Table.Source is the endpoint's URL without its parameter values. QLever's
// integers, which arrive as xsd:int, are returned as xsd:integer. If QLever's response is too large, the error contains
// the number of rows.
func (s *Service) Query(ctx context.Context, query string) (*kg.Table, error) {
	t, err := s.query(ctx, query, nil)
	if s.cfg.QLever && kg.KindOf(err) == kg.TooLarge && ctx.Err() == nil {
		return nil, s.withTotal(ctx, query, err)
	}
	return t, err
}

// withTotal adds the number of rows to the failure of a query whose result is too large. QLever reports that number
// even if only a single row is requested.
func (s *Service) withTotal(ctx context.Context, query string, failure error) error {
	t, err := s.query(ctx, query, url.Values{"send": {"1"}})
	var ke *kg.Error
	if err != nil || t.Total == 0 || !errors.As(failure, &ke) {
		return failure
	}
	told := *ke
	told.Message = fmt.Sprintf("the answer has %d rows; %s", t.Total, ke.Message)
	return &told
}

func (s *Service) query(ctx context.Context, query string, more url.Values) (*kg.Table, error) {
	var t *kg.Table
	err := s.Do(ctx, func(ctx context.Context) (*http.Request, error) { return s.queryRequest(ctx, query, more) },
		func(a Answer, now time.Time) (e *kg.Error) {
			if t, e = readTable(query, a, now); e == nil {
				t.Elapsed, t.Source = a.Took, s.Shown()
			}
			return e
		})
	if err != nil {
		return nil, err
	}
	if s.cfg.QLever {
		standardIntegers(t)
	}
	return t, nil
}

func (s *Service) queryRequest(ctx context.Context, query string, more url.Values) (*http.Request, error) {
	form := url.Values{"query": {query}}
	for _, values := range []url.Values{s.cfg.Params, more} {
		for k, v := range values {
			form[k] = v
		}
	}
	var req *http.Request
	var err error
	if len(query) <= longestGET {
		sep := "?"
		if strings.Contains(s.cfg.Address, "?") {
			sep = "&"
		}
		req, err = http.NewRequestWithContext(ctx, http.MethodGet, s.cfg.Address+sep+form.Encode(), nil)
	} else {
		req, err = http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.Address, strings.NewReader(form.Encode()))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", resultsJSON)
	return req, nil
}

// resultsJSON is the media type of results: SPARQL 1.1 Query Results JSON Format (W3C), section 6.
const resultsJSON = "application/sparql-results+json"

// readTable returns the response as a table, or the failure.
func readTable(query string, a Answer, now time.Time) (*kg.Table, *kg.Error) {
	var ke *kg.Error
	switch {
	case a.Status >= 300:
		return nil, queryFailure(query, a, now)
	case errors.As(a.Err, &ke) && ke.Kind == kg.Down && a.Status == http.StatusOK:
		return nil, brokenResult(query, a.Body)
	case errors.As(a.Err, &ke):
		return nil, ke
	case a.Err != nil:
		return nil, &kg.Error{Kind: kg.Down, Message: "the request was given up", Err: a.Err}
	}
	if kind, ok := foreign(a.Header); ok && !looksLikeHTML(string(a.Body)) {
		return nil, kg.Errorf(kg.QueryFailed, "the endpoint answered with %s instead of SPARQL results in JSON; is this the address of a query service?", Tidy(kind))
	}
	var t kg.Table
	if err := json.Unmarshal(a.Body, &t); err != nil {
		if json.Valid(a.Body) {
			return nil, kg.Errorf(kg.Down, "the endpoint answered with JSON that is not a SPARQL result; is this the address of a query service?")
		}
		return nil, brokenResult(query, a.Body)
	}
	dropContext(&t)
	virtuosoASK(&t)
	virtuosoValues(&t)
	t.Bytes = int64(len(a.Body))
	return &t, nil
}

// foreign returns the content type of a response if it rules out JSON. A response of type text/plain, or with no type,
// may be JSON.
func foreign(h http.Header) (string, bool) {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || kind == "text/plain" || strings.Contains(kind, "json") || strings.Contains(kind, "javascript") {
		return "", false
	}
	return kind, true
}

// dropContext removes the named graph column that Blazegraph adds to the triples of CONSTRUCT and DESCRIBE.
func dropContext(t *kg.Table) {
	if !slices.Equal(t.Vars, []string{"subject", "predicate", "object", "context"}) {
		return
	}
	t.Vars = t.Vars[:3]
	for i := range t.Rows {
		t.Rows[i] = t.Rows[i][:3]
	}
}

// virtuosoASK converts the table that some Virtuoso releases return for an ASK query to a boolean.
func virtuosoASK(t *kg.Table) {
	if slices.Equal(t.Vars, []string{"__ASK_RETVAL"}) {
		*t = kg.Table{Ask: true, Boolean: len(t.Rows) == 1 && t.Rows[0][0].Value == "1"}
	}
}

// virtuosoValues restores the standard form of values that Virtuoso returns in a nonstandard form: years before year 1
// get four digits (XML Schema, dateTime), and points become geo:wktLiteral.
func virtuosoValues(t *kg.Table) {
	for _, row := range t.Rows {
		for i := range row {
			c := &row[i]
			switch {
			case c.Datatype == "http://www.openlinksw.com/schemas/virtrdf#Geometry":
				c.Datatype = rdf.GeoWKT
				if rest, ok := strings.CutPrefix(c.Value, "POINT("); ok {
					c.Value = "Point(" + rest
				}
			case (c.Datatype == rdf.XSDDateTime || c.Datatype == rdf.XSDDate) && strings.HasPrefix(c.Value, "-"):
				if year, rest, ok := strings.Cut(c.Value[1:], "-"); ok && len(year) < 4 {
					c.Value = "-" + strings.Repeat("0", 4-len(year)) + year + "-" + rest
				}
			}
		}
	}
}

// standardIntegers changes the type of QLever's integers to the standard type.
func standardIntegers(t *kg.Table) {
	for _, row := range t.Rows {
		for i := range row {
			if row[i].Datatype == rdf.XSD+"int" {
				row[i].Datatype = rdf.XSDInteger
			}
		}
	}
}
