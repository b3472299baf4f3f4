package httpapi

import (
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
)

const data = `
@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> . @prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> . @prefix pq: <http://www.wikidata.org/prop/qualifier/> . @prefix psv: <http://www.wikidata.org/prop/statement/value/> .
@prefix wds: <http://www.wikidata.org/entity/statement/> . @prefix wdv: <http://www.wikidata.org/value/> . @prefix wdno: <http://www.wikidata.org/prop/novalue/> .
@prefix wikibase: <http://wikiba.se/ontology#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix geo: <http://www.opengis.net/ont/geosparql#> .
wd:Q42 rdfs:label "Douglas Adams"@en, "Douglas Adams"@de ; skos:altLabel "DNA"@en ; schema:description "English writer, & humorist"@en ; wikibase:sitelinks 100 ;
  wdt:P569 "1952-03-11T00:00:00Z"^^xsd:dateTime ; p:P569 wds:Q42-a ; p:P26 wds:Q42-b ; p:P40 wds:Q42-c ; p:P1082 wds:Q42-d ; p:P214 wds:Q42-e ; p:P625 wds:Q42-f .
wds:Q42-a a wikibase:BestRank ; wikibase:rank wikibase:NormalRank ; ps:P569 "1952-03-11T00:00:00Z"^^xsd:dateTime ; psv:P569 wdv:1 .
wdv:1 wikibase:timeValue "1952-03-11T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision 11 .
wds:Q42-b wikibase:rank wikibase:PreferredRank ; ps:P26 wd:Q14623681 ; pq:P580 "1991-11-25T00:00:00Z"^^xsd:dateTime .
wds:Q42-c wikibase:rank wikibase:NormalRank ; a wdno:P40 .
wds:Q42-d wikibase:rank wikibase:DeprecatedRank ; ps:P1082 1.96 ; psv:P1082 wdv:2 .
wdv:2 wikibase:quantityAmount 1.96 ; wikibase:quantityUnit wd:Q11573 .
wds:Q42-e wikibase:rank wikibase:NormalRank ; ps:P214 "113230702" .
wds:Q42-f wikibase:rank wikibase:NormalRank ; ps:P625 "Point(-0.14 51.56)"^^geo:wktLiteral .
wd:P569 a wikibase:Property ; rdfs:label "date of birth"@en ; wikibase:propertyType wikibase:Time .
wd:P26 a wikibase:Property ; rdfs:label "spouse"@en ; wikibase:propertyType wikibase:WikibaseItem .
wd:P214 a wikibase:Property ; rdfs:label "VIAF ID"@en ; wikibase:propertyType wikibase:ExternalId .
wd:P1082 a wikibase:Property ; rdfs:label "population"@en ; wikibase:propertyType wikibase:Quantity .
wd:Q1 rdfs:label "Douglas"@en .
`

func server(t *testing.T, opts embedded.Options) *httptest.Server {
	t.Helper()
	b := embedded.NewBuilder()
	if err := b.Read("t.ttl", strings.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	g := b.Graph(opts)
	lg := slog.New(slog.DiscardHandler)
	api := NewEntityAPI(lg, g)
	mux := http.NewServeMux()
	mux.Handle("/sparql", NewSPARQL(lg, g, 2))
	mux.Handle("/w/api.php", api)
	mux.HandleFunc("/wiki/Special:EntityData/", api.EntityData)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func do(t *testing.T, method, address, contentType, accept, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "test/1.0 (test@example.org)")
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

// TestProtocol checks the ways to send a query and the formats of its result (SPARQL 1.1 Protocol and the four result
// formats).
func TestProtocol(t *testing.T) {
	s := server(t, embedded.Options{})
	q := `SELECT ?l ?n WHERE { wd:Q42 schema:description ?l OPTIONAL { wd:Q42 wdt:P1 ?n } }`
	esc := url.QueryEscape(q)
	const rowJSON = `{"l":{"type":"literal","xml:lang":"en","value":"English writer, & humorist"}}`
	for _, c := range []struct{ name, method, path, contentType, accept, body, wantType, want string }{
		{"GET, JSON by Accept", "GET", "?query=" + esc, "", "application/sparql-results+json", "",
			"application/sparql-results+json", rowJSON},
		{"GET, JSON by format", "GET", "?format=json&query=" + esc, "", "", "", "application/sparql-results+json", rowJSON},
		{"XML when nothing is said", "GET", "?query=" + esc, "", "", "", "application/sparql-results+xml",
			`<result><binding name="l"><literal xml:lang="en">English writer, &amp; humorist</literal></binding></result>`},
		{"POST form", "POST", "", "application/x-www-form-urlencoded", "text/csv", "query=" + esc, "text/csv",
			"l,n\r\n\"English writer, & humorist\",\r\n"},
		{"POST form with format", "POST", "", "application/x-www-form-urlencoded", "", "format=json&query=" + esc,
			"application/sparql-results+json", rowJSON},
		{"POST direct", "POST", "", "application/sparql-query", "text/tab-separated-values", q, "text/tab-separated-values",
			"?l\t?n\n\"English writer, & humorist\"@en\t\n"},
		{"the best of Accept", "GET", "?query=" + esc, "", "text/csv;q=0.5, application/json;q=0.9, text/html", "",
			"application/sparql-results+json", rowJSON},
		{"ASK in JSON", "GET", "?format=json&query=" + url.QueryEscape("ASK { wd:Q42 ?p ?o }"), "", "", "",
			"application/sparql-results+json", `{"head":{},"boolean":true}`},
		{"ASK in XML", "GET", "?query=" + url.QueryEscape("ASK { wd:Q43 ?p ?o }"), "", "", "",
			"application/sparql-results+xml", "<boolean>false</boolean>"},
		{"no rows", "GET", "?format=json&query=" + url.QueryEscape("SELECT ?x { ?x wdt:P999 1 }"), "", "", "",
			"application/sparql-results+json", `"bindings":[` + "\n]}}"},
		{"CONSTRUCT as N-Triples", "GET", "?query=" + url.QueryEscape("CONSTRUCT WHERE { wd:Q1 rdfs:label ?l }"), "",
			"application/n-triples", "", "application/n-triples",
			`<http://www.wikidata.org/entity/Q1> <http://www.w3.org/2000/01/rdf-schema#label> "Douglas"@en .`},
		{"CONSTRUCT as Turtle", "GET", "?query=" + url.QueryEscape("CONSTRUCT WHERE { wd:Q1 rdfs:label ?l }"), "",
			"text/turtle, application/json;q=0.5", "", "text/turtle",
			`<http://www.wikidata.org/entity/Q1> <http://www.w3.org/2000/01/rdf-schema#label> "Douglas"@en .`},
		{"CONSTRUCT when nothing is said", "GET", "?query=" +
			url.QueryEscape(`CONSTRUCT { _:b wdt:P1 "<&>" . wd:Q1 wdt:P2 wd:Q2 } WHERE { }`), "", "*/*", "",
			"application/rdf+xml",
			`<rdf:Description rdf:nodeID="b1"><p:P1 xmlns:p="http://www.wikidata.org/prop/direct/">&lt;&amp;&gt;</p:P1></rdf:Description>` + "\n" +
				`<rdf:Description rdf:about="http://www.wikidata.org/entity/Q1"><p:P2 xmlns:p="http://www.wikidata.org/prop/direct/" rdf:resource="http://www.wikidata.org/entity/Q2"/></rdf:Description>` + "\n</rdf:RDF>\n"},
		{"DESCRIBE as rows", "GET", "?query=" + url.QueryEscape("DESCRIBE wd:Q1"), "", "application/sparql-results+json", "",
			"application/sparql-results+json", `"vars":["subject","predicate","object"]`},
		{"rows are not triples", "GET", "?query=" + esc, "", "text/turtle, text/csv;q=0.1", "", "text/csv", "l,n\r\n"},
	} {
		status, head, text := do(t, c.method, s.URL+"/sparql"+c.path, c.contentType, c.accept, c.body)
		if status != 200 || !strings.HasPrefix(head.Get("Content-Type"), c.wantType) || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s\n%s\nwant %s", c.name, status, head.Get("Content-Type"), text, c.want)
		}
	}
}

func TestSplitName(t *testing.T) {
	for iri, want := range map[string]string{"http://x.example/a/P31": "P31", "http://x.example/a#1-b.c": "b.c",
		"http://x.example/12": "", "urn:x:y": "y", "http://x.example/ü/": ""} {
		if namespace, local := splitName(iri); local != want || namespace+local != iri {
			t.Errorf("%s: %s and %s", iri, namespace, local)
		}
	}
}

// TestPlainErrors checks the plain-text errors that web pages show.
func TestPlainErrors(t *testing.T) {
	s := server(t, embedded.Options{Timeout: 50 * time.Millisecond})
	for query, want := range map[string]string{
		"SELECT ?x\nWHERE { ?x wdt:P31 }": "line 2, column ",
		"SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o }": "the query took longer than the time limit",
		"SELECT * { SERVICE <http://example.org/x> { ?s ?p ?o } }":                          "http://example.org/x",
		"SELECT * { ?s ?p ?o FILTER(<http://example.org/f>(?o)) }":                          "http://example.org/f",
	} {
		status, _, text := do(t, "GET", s.URL+"/sparql?query="+url.QueryEscape(query), "",
			"application/sparql-results+json, text/plain;q=0.1", "")
		if status < 400 || !strings.Contains(text, want) || strings.Contains(text, "java") || strings.Contains(text,
			"SPARQL-QUERY") || strings.Contains(text, "\n") {
			t.Errorf("%s: %d %q, want %q in it", query, status, text, want)
		}
	}
	status, _, text := do(t, "GET", s.URL+"/sparql?query=ASK%20%7B%7D", "",
		"application/sparql-results+json, text/plain;q=0.1", "")
	if status != 200 || !strings.Contains(text, `"boolean"`) {
		t.Errorf("a result: %d %s", status, text)
	}
}

// TestErrors checks that error messages use the query service's wording.
func TestErrors(t *testing.T) {
	s := server(t, embedded.Options{Timeout: 50 * time.Millisecond})
	get := func(q string) (int, string) {
		status, _, text := do(t, "GET", s.URL+"/sparql?query="+url.QueryEscape(q), "", "application/json", "")
		return status, text
	}
	status, text := get("SELECT ?x\nWHERE { ?x wdt:P31 }")
	if status != 400 || !strings.HasPrefix(text,
		"SPARQL-QUERY: queryStr=SELECT ?x\nWHERE { ?x wdt:P31 }\njava.util.concurrent.ExecutionException: org.openrdf.query.MalformedQueryException: ") ||
		!strings.Contains(text, "line 2, column") || !strings.Contains(text, "\n\tat ") {
		t.Errorf("syntax error: %d\n%s", status, text)
	}
	status, text = get("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o }")
	if status != 500 || !strings.Contains(text, "\njava.util.concurrent.TimeoutException\n\tat ") {
		t.Errorf("timeout: %d\n%s", status, text)
	}
	status, text = get("SELECT * { SERVICE <http://example.org/x> { ?s ?p ?o } }")
	if status != 500 || !strings.Contains(text, "http://example.org/x") || !strings.Contains(text,
		"QueryEvaluationException") {
		t.Errorf("refused service: %d\n%s", status, text)
	}
	status, text = get("SELECT ?a ?d ?g { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }")
	if status != 200 || !strings.Contains(text, "TimeoutException") || json.Valid([]byte(text)) {
		t.Errorf("timeout in mid-stream: %d, %d bytes", status, len(text))
	}
	for _, c := range []struct {
		method, path, contentType, body string
		want                            int
	}{
		{"POST", "", "application/sparql-update", "INSERT DATA { wd:Q1 wdt:P1 1 }", 403},
		{"POST", "", "application/x-www-form-urlencoded", "update=x", 403},
		{"GET", "?query=" + url.QueryEscape("INSERT DATA { wd:Q1 wdt:P1 1 }"), "", "", 500},
		{"GET", "", "", "", 400},
		{"PUT", "", "", "", 405},
		{"POST", "", "text/plain", "SELECT * {}", 415},
		{"POST", "", "application/sparql-query", strings.Repeat("#", maxQuery+1), 413},
	} {
		if status, _, text := do(t, c.method, s.URL+"/sparql"+c.path, c.contentType, "", c.body); status != c.want {
			t.Errorf("%s %s %.40s: %d %.200s, want %d", c.method, c.path, c.body, status, text, c.want)
		}
	}
	req, _ := http.NewRequest("GET", s.URL+"/sparql?query=x", nil)
	req.Header.Set("User-Agent", "")
	if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != 403 {
		t.Errorf("without a user agent: %v %v", resp, err)
	}
}

// TestClientThatDoesNotRead checks that a client that stops reading does not block a query, and that a query's time
// limit does not apply to the next one on the same connection.
func TestClientThatDoesNotRead(t *testing.T) {
	b := embedded.NewBuilder()
	if err := b.Read("t.ttl", strings.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	h := NewSPARQL(slog.New(slog.DiscardHandler), b.Graph(embedded.Options{Timeout: 50 * time.Millisecond}), 0)
	done := make(chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { done <- struct{}{} }() // runs even if the response is cut off
		h.ServeHTTP(w, r)
	}))
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	endless := url.QueryEscape("SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }")
	if _, err := io.WriteString(conn, "GET /sparql?query="+endless+
		" HTTP/1.1\r\nHost: x\r\nUser-Agent: test/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("a client that does not read still blocks the query")
	}
	for range 3 {
		if status, _, _ := do(t, "GET", s.URL+"/sparql?format=json&query="+url.QueryEscape("ASK {}"), "", "",
			""); status != 200 {
			t.Errorf("status %d", status)
		}
		<-done
	}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// at returns the value at a path of keys and indexes in decoded JSON.
func at(v any, path ...any) any {
	for _, p := range path {
		switch k := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[k]
		case int:
			l, _ := v.([]any)
			if k >= len(l) {
				return nil
			}
			v = l[k]
		}
	}
	return v
}

// TestSearchEntities checks wbsearchentities responses against the structures in Wikibase's API documentation.
func TestSearchEntities(t *testing.T) {
	s := server(t, embedded.Options{})
	_, _, text := do(t, "GET", s.URL+"/w/api.php?action=wbsearchentities&format=json&language=en&search=douglas", "", "",
		"")
	v := decode(t, text)
	if at(v, "success") != 1.0 || at(v, "search", 0, "id") != "Q1" || at(v, "search", 1, "id") != "Q42" ||
		at(v, "search", 1, "match", "type") != "label" ||
		at(v, "search", 1, "concepturi") != "http://www.wikidata.org/entity/Q42" || at(v, "search", 1, "display", "label",
		"value") != "Douglas Adams" {
		t.Errorf("search: %s", text)
	}
	_, _, text = do(t, "GET", s.URL+"/w/api.php?action=wbsearchentities&language=de&search=dna&limit=1", "", "", "")
	if v := decode(t, text); at(v, "search", 0, "match", "type") != "alias" || at(v, "search", 0, "match",
		"language") != "en" {
		t.Errorf("alias in a fallback language: %s", text)
	}
	_, _, text = do(t, "GET", s.URL+"/w/api.php?action=wbsearchentities&language=en&search=date&type=property", "", "", "")
	if v := decode(t, text); at(v, "search", 0, "id") != "P569" || at(v, "search", 0, "datatype") != "time" {
		t.Errorf("property: %s", text)
	}
	_, _, text = do(t, "GET", s.URL+"/w/api.php?action=wbsearchentities&language=en&search=doug&limit=1", "", "", "")
	if v := decode(t, text); at(v, "search-continue") != 1.0 {
		t.Errorf("more: %s", text)
	}
	_, _, text = do(t, "GET", s.URL+"/w/api.php?action=wbsearchentities&search=x", "", "", "")
	if v := decode(t, text); at(v, "error", "code") != "missingparam" {
		t.Errorf("missing parameter: %s", text)
	}
}

// TestFullText checks list=search, which finds words anywhere in names, against the structure of MediaWiki API
// responses.
func TestFullText(t *testing.T) {
	s := server(t, embedded.Options{})
	_, _, text := do(t, "GET", s.URL+"/w/api.php?action=query&list=search&format=json&srsearch=adams&srnamespace=0", "",
		"", "")
	if v := decode(t, text); at(v, "query", "search", 0, "title") != "Q42" {
		t.Errorf("search: %s", text)
	}
	_, _, text = do(t, "GET", s.URL+"/w/api.php?action=query&list=search&srsearch=birth&srnamespace=120&srlimit=1", "", "",
		"")
	if v := decode(t, text); at(v, "query", "search", 0, "title") != "Property:P569" || at(v, "query", "search", 0,
		"ns") != 120.0 {
		t.Errorf("property: %s", text)
	}
	_, _, text = do(t, "GET", s.URL+"/w/api.php?action=query&list=search&srsearch=x&srnamespace=4", "", "", "")
	if v := decode(t, text); at(v, "error", "code") != "badvalue" {
		t.Errorf("another namespace: %s", text)
	}
}

// TestGetEntities checks wbgetentities and Special:EntityData.
func TestGetEntities(t *testing.T) {
	s := server(t, embedded.Options{})
	_, _, text := do(t, "GET", s.URL+"/w/api.php?action=wbgetentities&ids=Q42|Q777&languages=en|fr&languagefallback=1", "",
		"", "")
	v := at(decode(t, text), "entities")
	for _, c := range []struct {
		want any
		path []any
	}{
		{"", []any{"Q777", "missing"}},
		{"Douglas Adams", []any{"Q42", "labels", "en", "value"}},
		{"en", []any{"Q42", "labels", "fr", "language"}},
		{"fr", []any{"Q42", "labels", "fr", "for-language"}},
		{"DNA", []any{"Q42", "aliases", "en", 0, "value"}},
		{"+1952-03-11T00:00:00Z", []any{"Q42", "claims", "P569", 0, "mainsnak", "datavalue", "value", "time"}},
		{11.0, []any{"Q42", "claims", "P569", 0, "mainsnak", "datavalue", "value", "precision"}},
		{"Q14623681", []any{"Q42", "claims", "P26", 0, "mainsnak", "datavalue", "value", "id"}},
		{"preferred", []any{"Q42", "claims", "P26", 0, "rank"}},
		{"+1991-11-25T00:00:00Z", []any{"Q42", "claims", "P26", 0, "qualifiers", "P580", 0, "datavalue", "value", "time"}},
		{"novalue", []any{"Q42", "claims", "P40", 0, "mainsnak", "snaktype"}},
		{"+1.96", []any{"Q42", "claims", "P1082", 0, "mainsnak", "datavalue", "value", "amount"}},
		{"http://www.wikidata.org/entity/Q11573", []any{"Q42", "claims", "P1082", 0, "mainsnak", "datavalue", "value",
			"unit"}},
		{"external-id", []any{"Q42", "claims", "P214", 0, "mainsnak", "datatype"}},
		{51.56, []any{"Q42", "claims", "P625", 0, "mainsnak", "datavalue", "value", "latitude"}},
	} {
		if got := at(v, c.path...); got != c.want {
			t.Errorf("%v = %v, want %v", c.path, got, c.want)
		}
	}
	_, _, text = do(t, "GET", s.URL+"/w/api.php?action=wbgetentities&ids=Q42|Q042", "", "", "")
	if at(decode(t, text), "error", "code") != "no-such-entity" {
		t.Errorf("a malformed id fails the whole call: %s", text)
	}
	status, _, text := do(t, "GET", s.URL+"/wiki/Special:EntityData/Q42.json", "", "", "")
	if status != 200 || at(decode(t, text), "entities", "Q42", "claims", "P569", 0, "rank") != "normal" {
		t.Errorf("entity data: %d %s", status, text)
	}
	for path, want := range map[string]int{"Q777.json": 404, "X1.json": 400, "Q42.ttl": 415, "Q42": 200} {
		if status, _, _ := do(t, "GET", s.URL+"/wiki/Special:EntityData/"+path, "", "", ""); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
}

// TestTimeValues checks the conversion of RDF times to Wikibase's format: BC years differ by one, and low-precision
// times contain 00.
func TestTimeValues(t *testing.T) {
	for _, c := range []struct {
		rdf       string
		precision int
		want      string
	}{
		{"1952-03-11T00:00:00Z", 11, "+1952-03-11T00:00:00Z"},
		{"1952-01-01T00:00:00Z", 9, "+1952-00-00T00:00:00Z"},
		{"1952-03-01T00:00:00Z", 10, "+1952-03-00T00:00:00Z"},
		{"-0043-03-15T00:00:00Z", 11, "-0044-03-15T00:00:00Z"},
		{"0000-01-01T00:00:00Z", 11, "-0001-01-01T00:00:00Z"},
		{"-0043-01-01T00:00:00Z", 9, "-0044-00-00T00:00:00Z"},
	} {
		if got := timeValue(c.rdf, c.precision)["time"]; got != c.want {
			t.Errorf("%s at %d: %v, want %s", c.rdf, c.precision, got, c.want)
		}
	}
}
