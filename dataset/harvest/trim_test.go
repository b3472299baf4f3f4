package harvest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Each case lists the kinds of its flags, with "-" for flags that trim, and the trimmed query or "". The queries are
// ours, modeled on the examples in SPINACH's appendix C.
func TestTrim(t *testing.T) {
	for _, c := range []struct{ name, query, flags, want string }{
		{"nothing", "SELECT ?x ?xLabel { ?x wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }", "", ""},
		{"hints", "SELECT ?x { ?x wdt:P31 wd:Q5 . hint:Prior hint:rangeSafe true . ?x wdt:P569 ?d FILTER(?d > 0) hint:Query hint:optimizer 'None' }", "optimisation- optimisation-",
			"SELECT ?x { ?x wdt:P31 wd:Q5 . ?x wdt:P569 ?d FILTER(?d > 0) }"},
		{"hint in EXISTS", "SELECT ?x { ?x wdt:P31 wd:Q5 FILTER NOT EXISTS { ?x wdt:P570 ?d . hint:Prior hint:gearing 'forward' } }", "optimisation-",
			"SELECT ?x { ?x wdt:P31 wd:Q5 FILTER NOT EXISTS { ?x wdt:P570 ?d } }"},
		{"two articles", `SELECT ?x ?title WHERE { ?x wdt:P31 wd:Q5 . ?a schema:about ?x ; schema:isPartOf <https://species.wikimedia.org/> ; schema:name ?title . }`, "wikimedia-", "SELECT ?x { ?x wdt:P31 wd:Q5 }"},
		{"optional article with a filter", `SELECT ?x ?a { ?x wdt:P31 wd:Q5 OPTIONAL { ?a schema:about ?x FILTER(STRSTARTS(STR(?a), "https://en.")) } }`, "wikimedia-", "SELECT ?x { ?x wdt:P31 wd:Q5 }"},
		{"article the other way round", `SELECT ?x ?n { ?x wdt:P31 wd:Q5 ; ^schema:about ?a . ?n ^schema:name ?a }`,
			"wikimedia-", "SELECT ?x { ?x wdt:P31 wd:Q5 }"},
		{"article that orders", `SELECT ?x ?a { ?x wdt:P31 wd:Q5 . ?a schema:about ?x } ORDER BY ?a`, "wikimedia", ""},
		{"only an article", `SELECT ?a { ?a schema:about wd:Q42 }`, "wikimedia", ""},
		{"lacks an article", `SELECT ?x { ?x wdt:P31 wd:Q5 MINUS { ?a schema:about ?x ; schema:inLanguage "bn" } }`,
			"wikimedia", ""},
		{"has an article", `SELECT ?x { ?x wdt:P31 wd:Q5 FILTER EXISTS { ?a schema:about ?x } }`, "wikimedia", ""},
		{"sitelinks shown", `SELECT ?x ?n { ?x wdt:P31 wd:Q5 ; wikibase:sitelinks ?n . }`, "wikimedia-",
			"SELECT ?x { ?x wdt:P31 wd:Q5 }"},
		{"sitelinks filter", `SELECT ?x { ?x wdt:P31 wd:Q5 ; wikibase:sitelinks ?n FILTER(?n > 10) }`, "wikimedia", ""},
		{"no sitelinks", `SELECT ?x { ?x wdt:P31 wd:Q5 ; wikibase:sitelinks 0 }`, "wikimedia", ""},
		{"picture", `SELECT ?x ?p { ?x wdt:P31 wd:Q5 OPTIONAL { ?x wdt:P18 ?p } }`, "formatting-",
			"SELECT ?x { ?x wdt:P31 wd:Q5 }"},
		{"picture is the question", `SELECT ?x ?p { ?x wdt:P18 ?p }`, "formatting", ""},
		{"formatted picture", `SELECT ?x ?u { ?x wdt:P31 wd:Q5 ; wdt:P18 ?p BIND(URI(CONCAT("http://x/", STR(?p))) AS ?u) }`,
			"formatting- formatting-", "SELECT ?x { ?x wdt:P31 wd:Q5 }"},
		{"text that filters", `SELECT ?x { ?x wdt:P31 wd:Q5 ; wdt:P213 ?i BIND(SUBSTR(?i, 1, 2) AS ?s) FILTER(?s = "00") }`,
			"formatting", ""},
		{"text in the projection", `SELECT ?x (CONCAT(?a, "!") AS ?s) { ?x wdt:P31 wd:Q5 ; rdfs:label ?a }`,
			"formatting-", "SELECT ?x { ?x wdt:P31 wd:Q5 ; rdfs:label ?a }"},
		{"list of names", `SELECT ?x (GROUP_CONCAT(DISTINCT ?n; separator=", ") AS ?ns) { ?x wdt:P31 wd:Q5 ; rdfs:label ?n } GROUP BY ?x`, "formatting-",
			"SELECT ?x (COUNT(DISTINCT ?n) AS ?ns) { ?x wdt:P31 wd:Q5 ; rdfs:label ?n } GROUP BY ?x"},
		{"labels only", `SELECT ?xLabel { ?x wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }`, "formatting-",
			"SELECT ?x { ?x wdt:P31 wd:Q5 }"},
		{"grouped by label", `SELECT ?xLabel (COUNT(?y) AS ?n) { ?y wdt:P31 ?x SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } } GROUP BY ?xLabel`, "formatting-",
			"SELECT ?x (COUNT(?y) AS ?n) { ?y wdt:P31 ?x } GROUP BY ?x"},
		{"one label left", `SELECT ?xLabel ?y ?yLabel { ?x wdt:P31 ?y SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }`, "formatting-",
			"SELECT ?x ?y ?yLabel { ?x wdt:P31 ?y SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }"},
		{"ordered by label", `SELECT ?xLabel { ?x wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } } ORDER BY ?xLabel`, "formatting", ""},
		{"view", "#defaultView:Map\nSELECT ?x { ?x wdt:P31 wd:Q5 }", "formatting-", "SELECT ?x { ?x wdt:P31 wd:Q5 }"},
		{"chart", "#defaultView:ScatterChart\nSELECT ?x { ?x wdt:P31 wd:Q5 }", "code-",
			"SELECT ?x { ?x wdt:P31 wd:Q5 }"},
		{"data model", `SELECT ?p ?d { ?p wikibase:directClaim ?d }`, "code", ""},
		{"named subquery", `SELECT ?x WITH { SELECT ?x { ?x wdt:P31 wd:Q5 } } AS %a { INCLUDE %a }`,
			"optimisation", ""},
		{"picture of a group", `SELECT ?x ?p { ?x wdt:P31 wd:Q5 ; wdt:P18 ?p } GROUP BY ?x ?p`, "formatting-",
			"SELECT ?x { ?x wdt:P31 wd:Q5 } GROUP BY ?x"},
		{"star", `SELECT * { ?x wdt:P31 wd:Q5 ; wdt:P18 ?p }`, "formatting-", "SELECT * { ?x wdt:P31 wd:Q5 }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := clean(c.query)
			if q.reason != "" {
				t.Fatal(q.reason, q.detail)
			}
			got := trim(q.query)
			var flags []string
			for _, f := range got.flags {
				s := string(f.Kind)
				if f.Trims {
					s += "-"
				}
				flags = append(flags, s)
				if f.Line < 1 || f.Column < 1 || f.Why == "" {
					t.Errorf("flag %+v", f)
				}
			}
			if strings.Join(flags, " ") != c.flags {
				t.Errorf("flags %q, want %q", flags, c.flags)
			}
			want := ""
			if c.want != "" {
				p, err := sparql.Parse(c.want)
				if err != nil {
					t.Fatal(err)
				}
				want = p.String()
			}
			if got.text != want {
				t.Errorf("got\n%s\nwant\n%s", got.text, want)
			}
		})
	}
}

// Trimming a hostile query takes no longer than trimming an ordinary one.
func TestTrimBounds(t *testing.T) {
	many := clean("SELECT * { ?x wdt:P31 wd:Q5 " + strings.Repeat("OPTIONAL { ?x wdt:P18 ?p } ", 500) + "}")
	if got := trim(many.query); len(got.flags) != maxUnits {
		t.Errorf("%d flags, notes %q", len(got.flags), got.notes)
	}
	long := clean("SELECT * { ?x wdt:P31 wd:Q5 " + strings.Repeat("OPTIONAL { ?x wdt:P18 ?p } ", 2500) + "}")
	if got := trim(long.query); len(got.flags) != 0 || len(got.notes) != 1 {
		t.Errorf("%d flags, notes %q", len(got.flags), got.notes)
	}
}

// The position of a flag is its position in the cleaned query.
func TestFlagPlace(t *testing.T) {
	q := clean("SELECT ?x WHERE {\n?x wdt:P31 wd:Q5 .\n OPTIONAL { ?x wdt:P18 ?p } }")
	f := trim(q.query).flags
	line := strings.Split(q.text, "\n")[f[0].Line-1]
	if len(f) != 1 || !strings.HasPrefix(line[f[0].Column-1:], "wdt:P18 ?p") {
		t.Errorf("%+v points to %q", f, line)
	}
}

func TestScholarly(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT ?x { ?x wdt:P31 wd:Q13442814 }": "Q13442814", "SELECT ?x { ?x wdt:P50 wd:Q42 }": "",
		"SELECT ?x { ?y wdt:P2860/wdt:P50 ?x }":                                           "P2860",
		"SELECT ?x { SERVICE wdsubgraph:scholarly_articles { ?x wdt:P31 wd:Q13442814 } }": "",
		"SELECT ?x { ?x wdt:P921 ?y # wd:Q13442814\n}":                                    "",
	} {
		c := clean(query)
		if c.reason != "" {
			t.Fatal(query, c.detail)
		}
		if got := scholarly(c.query); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	x := newNearIndex()
	own := func(q string) string { return clean(q).text }
	base := "SELECT ?x ?xLabel WHERE { ?x wdt:P31 wd:Q5 ; wdt:P106 wd:Q901 ; wdt:P27 wd:Q183 ; wdt:P569 ?born . FILTER(YEAR(?born) > 1900) OPTIONAL { ?x wdt:P570 ?died } SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }"
	x.add("item 7", "spinach.json", strings.ReplaceAll(base, "?x", "?person"))
	x.add("c-1", ownSource, own(base))
	x.add("c-2", ownSource, own(strings.Replace(base, "Q183", "Q142", 1)))
	x.add("c-3", ownSource, own(base+" LIMIT 50"))
	x.add("c-4", ownSource, "SELECT ?film { ?film wdt:P57 wd:Q25191 }")
	got := fmt.Sprint(x.near("c-1"))
	want := fmt.Sprint([]dataset.Near{
		{ID: "item 7", Source: "spinach.json", Similarity: 1, Why: "same pattern and numbers"},
		{ID: "c-2", Source: ownSource, Similarity: 0.9, Why: "same pattern, other numbers"},
	})
	if !strings.HasPrefix(got, strings.TrimSuffix(want, "]")) || !strings.Contains(got, "c-3 candidates 0.8") ||
		strings.Contains(got, "c-4") || strings.Contains(got, "c-1") {
		t.Errorf("got %s, want it to begin with %s and to contain c-3", got, want)
	}
	if n := x.near("c-4"); len(n) > 0 {
		t.Errorf("c-4 has %v", n)
	}
}

// The cost is linear in the number of queries: in a bucket of identical queries, each query is compared only with its
// neighbors, and the chain of neighbors joins them all.
func TestNearInACrowd(t *testing.T) {
	x := newNearIndex()
	const n = 3000
	for i := range n {
		x.add(fmt.Sprintf("c-%04d", i), ownSource, fmt.Sprintf("SELECT ?x { ?x wdt:P31 wd:Q%d }", i+1))
	}
	for i := range n - 1 {
		next := fmt.Sprintf("c-%04d", i+1)
		found, list := false, x.near(fmt.Sprintf("c-%04d", i))
		for _, o := range list {
			found = found || o.ID == next
		}
		if !found || len(list) > maxNear {
			t.Fatalf("%d: %d found, the next one among them: %v", i, len(list), found)
		}
	}
}

func TestHashRows(t *testing.T) {
	g := testGraph(t)
	hash := func(q string) string {
		tab, err := g.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return HashRows(tab)
	}
	a := hash("SELECT ?x WHERE { ?x wdt:P31 wd:Q5 } ORDER BY ?x")
	if b := hash("SELECT ?y WHERE { ?y wdt:P31 wd:Q5 } ORDER BY DESC(?y)"); a != b {
		t.Error("the order of rows matters")
	}
	for _, q := range []string{"SELECT ?x WHERE { ?x wdt:P31 wd:Q5 } LIMIT 4",
		"SELECT ?x WHERE { ?x wdt:P31 wd:Q11424 }", "SELECT ?x ?x2 WHERE { ?x wdt:P31 wd:Q5 }", "ASK {}",
		"SELECT ?x WHERE { { ?x wdt:P31 wd:Q5 } UNION { ?x wdt:P569 ?d } }"} {
		if hash(q) == a {
			t.Errorf("%s has the same hash", q)
		}
	}
}
