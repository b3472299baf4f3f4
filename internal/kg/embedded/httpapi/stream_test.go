package httpapi

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// get sends a query by GET. It returns the status, the part of the body that arrived, and the read error.
func get(t *testing.T, base, format, query string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequest("GET", base+"/sparql?format="+format+"&query="+url.QueryEscape(query), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "test/1.0 (test@example.org)")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// TestEndlessResult checks that an endless result is cut off at MaxResult, and that a client can detect this in every
// format, because the JSON is invalid or the body is incomplete.
func TestEndlessResult(t *testing.T) {
	const limit = 300 << 10
	s := server(t, embedded.Options{MaxResult: limit})
	for name, q := range map[string]string{
		"rows":      "SELECT * { ?a (!wdt:P0)* ?b . ?c (!wdt:P0)* ?d . ?e (!wdt:P0)* ?f }",
		"distinct":  "SELECT DISTINCT ?a ?d ?f { ?a (!wdt:P0)* ?b . ?c (!wdt:P0)* ?d . ?e (!wdt:P0)* ?f }",
		"construct": "CONSTRUCT { ?a <http://example.org/p> ?s } { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i BIND(CONCAT(STR(?c), STR(?d), STR(?f), STR(?g)) AS ?s) }",
	} {
		for _, format := range []string{"json", "xml", "csv", "tsv", "nt"} {
			status, text, err := get(t, s.URL, format, q)
			if status != 200 || len(text) < limit/2 || len(text) > limit+4096 || !strings.Contains(text,
				"the result has more than") {
				t.Errorf("%s, %s: %d, %d bytes, %v", name, format, status, len(text), err)
			}
			switch {
			case format == "json" && (json.Valid([]byte(text)) || err != nil):
				t.Errorf("%s: JSON that was cut: valid, or %v", name, err)
			case format != "json" && !errors.Is(err, io.ErrUnexpectedEOF):
				t.Errorf("%s, %s: the body ends as if it were whole (%v)", name, format, err)
			}
		}
	}
	if status, text, err := get(t, s.URL, "csv", "SELECT ?l { wd:Q42 schema:description ?l }"); status != 200 ||
		err != nil || !strings.HasPrefix(text, "l\r\n") {
		t.Errorf("the query after: %d %q %v", status, text, err)
	}
}

// TestCutByTimeout checks that a result cut off by the time limit cannot be mistaken for a complete one.
func TestCutByTimeout(t *testing.T) {
	s := server(t, embedded.Options{Timeout: 30 * time.Millisecond, MaxResult: 1 << 40})
	if _, text, err := get(t, s.URL, "tsv", "SELECT ?a ?d ?g { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"); err == nil {
		t.Errorf("%d bytes without an error", len(text))
	}
}

// TestLongValue checks that values of several hundred kilobytes with every kind of escape arrive intact even though
// they are sent in chunks.
func TestLongValue(t *testing.T) {
	s := server(t, embedded.Options{})
	const part = "ä\"<&>\\\n\t,𝄞 x" // 32 KB chunks can end inside a character
	want := strings.Repeat(part, 9000)
	q := `SELECT ?s (IRI(CONCAT("http://example.org/", "` + strings.Repeat("i", 100_000) + `")) AS ?u) { BIND(REPLACE("` +
		strings.Repeat("a", 9000) + `", "a", ?by) AS ?s) }`
	q = strings.Replace(q, "?by", rdf.Quote(strings.ReplaceAll(part, `\`, `\\`)), 1) // the replacement's own escape
	_, text, err := get(t, s.URL, "json", q)
	v := decode(t, text)
	row := at(v, "results", "bindings", 0)
	if err != nil || at(row, "s", "value") != want || at(row, "u", "value") != "http://example.org/"+strings.Repeat("i",
		100_000) {
		t.Errorf("JSON: %v, %d bytes", err, len(text))
	}
	var doc struct {
		Literal string `xml:"results>result>binding>literal"`
	}
	_, text, _ = get(t, s.URL, "xml", q)
	if err := xml.Unmarshal([]byte(text), &doc); err != nil || doc.Literal != want {
		t.Errorf("XML: %v, %d of %d bytes", err, len(doc.Literal), len(want))
	}
	_, text, _ = get(t, s.URL, "csv", q)
	if recs, err := csv.NewReader(strings.NewReader(text)).ReadAll(); err != nil || len(recs) != 2 || recs[1][0] != want {
		t.Errorf("CSV: %v, %d records", err, len(recs))
	}
	_, text, _ = get(t, s.URL, "tsv", q)
	if line, ok := strings.CutPrefix(text, "?s\t?u\n"); !ok || line != rdf.Quote(want)+"\t<http://example.org/"+
		strings.Repeat("i", 100_000)+">\n" {
		t.Errorf("TSV: %d bytes", len(text))
	}
}

// TestAbortFreesSlot checks that a response that is cut off releases its slot.
func TestAbortFreesSlot(t *testing.T) {
	s := server(t, embedded.Options{MaxResult: 100 << 10}) // two queries at once
	for range 5 {
		if status, _, _ := get(t, s.URL, "csv", "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"); status != 200 {
			t.Fatalf("status %d", status)
		}
	}
}
