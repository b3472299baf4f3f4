package harvest

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
)

// checkTrim checks the invariants of trimming: the proposal parses, has at least one column if the original does, has
// no more clauses than the original, contains no hints, and cannot be trimmed further. It reports whether there was a
// proposal.
func checkTrim(t *testing.T, query string) bool {
	t.Helper()
	c := clean(query)
	if c.reason != "" {
		return false
	}
	got := trim(c.query)
	if got.text == "" {
		return false
	}
	q, err := sparql.Parse(got.text)
	if err != nil {
		t.Errorf("the trimmed query does not parse: %v\n%s\nwas\n%s", err, got.text, c.text)
		return true
	}
	if q.String() != got.text {
		t.Errorf("the trimmed query is not in the canonical layout:\n%s", got.text)
	}
	if !q.Body.Star && len(q.Body.Items) == 0 && len(c.query.Body.Items) > 0 {
		t.Errorf("no column is left:\n%s\nwas\n%s", got.text, c.text)
	}
	if a, b := measure.Query(c.query).Clauses, measure.Query(q).Clauses; b > a {
		t.Errorf("%d clauses became %d:\n%s\nwas\n%s", a, b, got.text, c.text)
	}
	sparql.Inspect(q, func(n sparql.Node) bool {
		if _, ok := n.(*sparql.Hint); ok {
			t.Errorf("a hint is left:\n%s", got.text)
		}
		return true
	})
	if again := trim(q); again.text != "" {
		t.Errorf("there was more to trim:\n%s\nbecame\n%s", got.text, again.text)
	}
	return true
}

// The invariants hold for real queries from the forum.
func TestTrimForumQueries(t *testing.T) {
	root := os.Getenv("SPINACHBOT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(root, "data", "forum", "raq_queries.jsonl"))
	if err != nil {
		t.Skipf("reference data not here (set SPINACHBOT_SHARED): %v", err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	n := 0
	for sc.Scan() {
		var line struct{ Query, SPARQL string }
		if err := json.Unmarshal(sc.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if checkTrim(t, line.Query+line.SPARQL) {
			n++
		}
	}
	if err := sc.Err(); err != nil || n < 500 {
		t.Errorf("%d queries trimmed, %v", n, err)
	}
}

func FuzzTrim(f *testing.F) {
	for _, q := range []string{
		people, "SELECT ?x ?p { ?x wdt:P31 wd:Q5 OPTIONAL { ?x wdt:P18 ?p } hint:Prior hint:runFirst true }",
		"SELECT ?a { ?a schema:about ?x ; schema:name ?n . ?x wdt:P31 ?y } ORDER BY ?n",
		"SELECT ?xLabel (GROUP_CONCAT(?n) AS ?ns) { ?x rdfs:label ?n SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } } GROUP BY ?xLabel",
		"SELECT ?u { { ?x wdt:P18 ?p BIND(URI(STR(?p)) AS ?u) } UNION { ?x wikibase:sitelinks ?u } }",
		"ASK { ?x wdt:P18 ?p }", "CONSTRUCT { ?x wdt:P18 ?p } WHERE { ?x wdt:P18 ?p ; wdt:P31 wd:Q5 }",
	} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, query string) { checkTrim(t, query) })
}
