// Over 500 lines: the tests of results share one server and its questions.

package ask

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func item(id string) rdf.Term { return rdf.IRI(rdf.Entity + id) }

func TestCells(t *testing.T) {
	for _, tt := range []struct {
		term rdf.Term
		want Cell
	}{
		{item("Q64"), Cell{Kind: "item", Text: "Q64", ID: "Q64", URL: "https://www.wikidata.org/wiki/Q64"}},
		{rdf.IRI(rdf.Direct + "P31"), Cell{Kind: "item", Text: "P31", ID: "P31", URL: "https://www.wikidata.org/wiki/Property:P31"}},
		{rdf.IRI("https://example.org/a b"), Cell{Kind: "link", Text: "https://example.org/a b", URL: "https://example.org/a%20b"}},
		{rdf.IRI(commonsFile + "A%20b.jpg"), Cell{Kind: "image", Text: "A b.jpg", URL: "https://commons.wikimedia.org/wiki/File:A%20b.jpg"}},
		{rdf.IRI("urn:x"), Cell{Kind: "node", Text: "urn:x"}},
		{rdf.Typed("Point(13.38 52.51)", rdf.GeoWKT), Cell{Kind: "point", Text: "52.51, 13.38"}},
		{rdf.Typed("<http://www.wikidata.org/entity/Q405> Point(1 2)", rdf.GeoWKT), Cell{Kind: "text", Text: "<http://www.wikidata.org/entity/Q405> Point(1 2)"}},
		{rdf.Typed("Point(1 91)", rdf.GeoWKT), Cell{Kind: "text", Text: "Point(1 91)"}},
		{rdf.Typed("1990-10-03T00:00:00Z", rdf.XSDDateTime), Cell{Kind: "date", Text: "1990-10-03"}},
		{rdf.Typed("3.5", rdf.XSDDecimal), Cell{Kind: "number", Text: "3.5"}},
		{rdf.LangString("Köln", "de"), Cell{Kind: "text", Text: "Köln", Lang: "de"}},
		{rdf.Blank("b1"), Cell{Kind: "node", Text: "_:b1"}},
		{rdf.Term{}, Cell{}},
	} {
		if got := cellOf(tt.term); got != tt.want {
			t.Errorf("%v: %+v, want %+v", tt.term, got, tt.want)
		}
	}
}

func TestArranged(t *testing.T) {
	n := func(s string) rdf.Term { return rdf.Typed(s, rdf.XSDInteger) }
	d := func(s string) rdf.Term { return rdf.Typed(s, rdf.XSDDateTime) }
	res := resultOf(&kg.Table{Vars: []string{"x", "xLabel", "n", "d"}, Rows: [][]rdf.Term{
		{item("Q1"), rdf.String("beta"), n("9"), d("0100-01-01T00:00:00Z")},
		{item("Q2"), rdf.String("Alpha"), n("10"), d("-0044-03-15T00:00:00Z")},
		{item("Q3"), rdf.String("gamma"), rdf.Term{}, d("-0100-01-01T00:00:00Z")},
	}})
	if want := []string{"x", "n", "d"}; !reflect.DeepEqual(res.Columns, want) || res.Rows[0][0].Text != "beta" || res.Rows[0][0].ID != "Q1" {
		t.Fatalf("%v %+v", res.Columns, res.Rows)
	}
	for _, tt := range []struct {
		o    order
		want []int
	}{
		{order{}, []int{1, 2, 3}},
		{order{Sort: "x"}, []int{2, 1, 3}},
		{order{Sort: "n"}, []int{1, 2, 3}},
		{order{Sort: "n", Down: true}, []int{2, 1, 3}}, // rows without a value remain at the end
		{order{Sort: "d"}, []int{3, 2, 1}},
		{order{Sort: "d", Down: true}, []int{1, 2, 3}},
		{order{Sort: "nothing"}, []int{1, 2, 3}},
		{order{Filter: "ALPHA"}, []int{2}},
		{order{Filter: "q3 gam"}, []int{3}},
		{order{Filter: "alpha beta"}, nil},
	} {
		if got := res.arranged(tt.o).Numbers; !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.o, got, tt.want)
		}
	}
}

func TestFiles(t *testing.T) {
	f := &event.Event{SPARQL: "SELECT …", Table: &kg.Table{Vars: []string{"x", "y"}, Rows: [][]rdf.Term{
		{item("Q1"), rdf.LangString("a\"b, c\td\ne", "de")},
		{rdf.Blank("n"), rdf.Typed("5", rdf.XSDInteger)},
		{rdf.IRI("http://a.example/|x"), {}},
	}}}
	for kind, want := range map[string]string{
		"csv": "x,y\nhttp://www.wikidata.org/entity/Q1,\"a\"\"b, c\td\ne\"\n_:n,5\nhttp://a.example/|x,\n",
		"tsv": "?x\t?y\n<http://www.wikidata.org/entity/Q1>\t\"a\\\"b, c\\td\\ne\"@de\n_:n\t\"5\"^^<http://www.w3.org/2001/XMLSchema#integer>\n<http://a.example/|x>\t\n",
		"json": `{"head":{"vars":["x","y"]},"results":{"bindings":[` +
			`{"x":{"type":"uri","value":"http://www.wikidata.org/entity/Q1"},"y":{"type":"literal","value":"a\"b, c\td\ne","xml:lang":"de"}},` +
			`{"x":{"type":"bnode","value":"n"},"y":{"datatype":"http://www.w3.org/2001/XMLSchema#integer","type":"literal","value":"5"}},` +
			`{"x":{"type":"uri","value":"http://a.example/|x"}}]}}`,
		"md":   "| x | y |\n| --- | --- |\n| [Q1](<https://www.wikidata.org/wiki/Q1>) | a\"b, c d e |\n| \\_:n | 5 |\n| [http://a.example/\\|x](<http://a.example/%7Cx>) |  |\n",
		"wiki": "{| class=\"wikitable sortable\"\n! x\n! y\n|-\n| [[d:Q1|Q1]]\n| a&#34;b, c d e\n|-\n| &#95;&#58;n\n| 5\n|-\n| http&#58;&#47;&#47;a.example&#47;&#124;x\n| \n|}\n",
		"rq":   "SELECT …",
	} {
		got, err := writers[kind].write(f)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%q\nwant\n%q", kind, err, got, want)
		}
	}
	f.Table = &kg.Table{Ask: true, Boolean: true}
	for kind, want := range map[string]string{"csv": "answer\ntrue\n", "json": `{"boolean":true,"head":{}}`, "md": "| answer |\n| --- |\n| true |\n"} {
		if got, err := writers[kind].write(f); err != nil || string(got) != want {
			t.Errorf("%s: %v %q", kind, err, got)
		}
	}
}

func TestViews(t *testing.T) {
	row := func(terms ...rdf.Term) [][]rdf.Term { return [][]rdf.Term{terms, terms} }
	point, date, n := rdf.Typed("Point(1 2)", rdf.GeoWKT), rdf.Typed("2000-01-01T00:00:00Z", rdf.XSDDateTime), rdf.Typed("1", rdf.XSDInteger)
	for _, tt := range []struct {
		vars, query string
		rows        [][]rdf.Term
		want, first string
	}{
		{"a b", "#defaultView:Map\nSELECT …", row(item("Q1"), point), "table map", "map"},
		{"a b", "#defaultView:Map\nSELECT …", row(item("Q1"), n), "table chart", "table unfit"},
		{"a b", "#defaultView:ImageGrid\nSELECT …", row(item("Q1"), n), "table chart", "table unfit"},
		{"a b c", " # defaultview: timeline {…}\nSELECT …", row(item("Q1"), date, n), "table timeline chart dimensions", "timeline"},
		{"a b", "", row(item("Q1"), item("Q2")), "table graph tree", "table"},
		{"a b", "#defaultView:Tree", row(item("Q1"), item("Q2")), "table graph tree", "tree"},
		{"a b", "#defaultView:BubbleChart", row(item("Q1"), n), "table chart", "chart bubble"},
		{"a b", "#defaultView:TreeMap", row(item("Q1"), n), "table chart", "chart treemap"},
		{"a b c", "#defaultView:ScatterChart", row(item("Q1"), n, n), "table chart dimensions", "chart scatter"},
		{"a b c", "#defaultView:Dimensions", row(item("Q1"), n, n), "table chart dimensions", "dimensions"},
		{"a aLabel b kind kindLabel", `#defaultView:Map{"hide": ["?b", "?nothing", 5], "layer": "?kindLabel"}`,
			row(item("Q1"), n, point, item("Q2"), n), "table map graph tree", "map layers kind"},
		{"a aLabel b kind kindLabel", `#defaultView:Map{"hide": ["?b", "?nothing"], "layer": "?kindLabel"}`,
			row(item("Q1"), n, point, item("Q2"), n), "table map graph tree", "map hides b layers kind"},
		{"a b", `#defaultView:Map{"hide": "?b", "layer": "?<script>"}`, row(item("Q1"), point), "table map", "map hides b"},
		{"a", "#defaultView:ImageGrid", row(rdf.IRI(commonsFile + "a.jpg")), "table images", "images"},
		{"a", "#defaultView:Nonsense", row(n), "table", "table"},
	} {
		res := viewsOf(resultOf(&kg.Table{Vars: strings.Fields(tt.vars), Rows: tt.rows}), tt.query)
		first := strings.TrimSpace(res.First + " " + res.Kind)
		if len(res.Hide) > 0 {
			first += " hides " + strings.Join(res.Hide, " ")
		}
		if res.Unfit {
			first += " unfit"
		}
		if res.Layer != "" {
			first += " layers " + res.Layer
		}
		if got := strings.Join(res.Has, " "); got != tt.want || first != tt.first {
			t.Errorf("%q: %s, first %s", tt.query, got, first)
		}
	}
}

// The highlighted tokens of a query add up to the query.
func FuzzHighlight(f *testing.F) {
	f.Add("SELECT ?x # of SELECT ?x\nWHERE { ?x wdt:P31 <http://a#b> ; rdfs:label \"a # b\"@en . } LIMIT 5")
	f.Add("# only\r\n\t#é")
	f.Fuzz(func(t *testing.T, query string) {
		var b strings.Builder
		for _, p := range highlight(query) {
			b.WriteString(p.Text)
		}
		if b.String() != query {
			t.Errorf("%q became %q", query, b.String())
		}
	})
}

// graphSite returns a site with an answer from the built-in graph.
func graphSite(t *testing.T, query string) (*site, string) {
	t.Helper()
	g, err := graph()
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, nil, func(o *Options) { o.Rate = 0 })
	table, err := g.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	id := "abcdefghijklmnop"
	f, err := event.Create(s.pages.Dir + "/web-" + id + "-20261122T100000.000.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []event.Event{
		{Event: "start", Format: event.Format, Question: &agent.Question{Text: "Which?"}, Preset: "spinach"},
		{Event: "final", SPARQL: query, Ran: query, KG: "wikidata", Table: table}, {Event: "end", Report: "These."},
	} {
		if err := f.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return s, id
}

func holds(t *testing.T, what, body string, parts ...string) {
	t.Helper()
	_, body, _ = strings.Cut(body, "<main")
	for _, p := range parts {
		if !strings.Contains(body, p) {
			t.Errorf("%s does not contain %q:\n%s", what, p, body)
		}
	}
}

// A row is explained by its statements, and a missing item by the conditions that exclude it.
func TestReasons(t *testing.T) {
	s, id := graphSite(t, `SELECT ?country ?population WHERE { ?country wdt:P30 wd:Q46 ; wdt:P1082 ?population .
  FILTER(?population > 80000000) } ORDER BY DESC(?population)`)
	_, body := s.get("/a/" + id + "/row/3")
	holds(t, "row 3", body, "Germany", "continent", "Europe", "<span dir=\"auto\">84,358,845</span>", "<b><span dir=\"auto\">84,358,845</span></b>", "preferred", "point in time", "2022-12-31")
	_, body = s.get("/a/" + id + "/missing?item=Malta")
	holds(t, "Malta", body, "Q233", "FILTER(?population &gt; 80000000)", "553,214", "Without this condition")
	_, body = s.get("/a/" + id + "/missing?item=Q183")
	holds(t, "Germany", body, "It is in the result", "/row/3")
	_, body = s.get("/a/" + id + "/missing?item=Japan")
	holds(t, "Japan", body, "?country wdt:P30 wd:Q46", "Asia", "Without this condition")
	_, body = s.get("/a/" + id + "/missing?item=Xyzzyxyzzy")
	holds(t, "nothing", body, "nothing with that name")
	if strings.Contains(body, `href="/editor?`) {
		t.Errorf("a query for nothing:\n%s", body)
	}
	s, id = graphSite(t, `SELECT ?country WHERE { ?country wdt:P30 wd:Q46 . } ORDER BY ?country LIMIT 1`)
	_, body = s.get("/a/" + id + "/missing?item=Malta")
	holds(t, "behind a limit", body, "All conditions of the query hold")
}

// Conditions that exclude a thing can be dropped: a link opens a query without them in the editor, and its result
// contains the thing.
func TestRelaxed(t *testing.T) {
	g, err := graph()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		item, conditions, words string
		drops                   []string
	}{
		{"Q233", "FILTER(?population > 80000000)", "without it", []string{"FILTER"}},                  // Malta is small
		{"Q1008", "?country wdt:P47 wd:Q183 .", "without these 2 conditions", []string{"P30", "P47"}}, // far away
	} {
		s, id := graphSite(t, `#defaultView:Table
SELECT ?country ?countryLabel ?population WHERE { { ?country wdt:P30 wd:Q46 ; wdt:P1082 ?population . } `+c.conditions+`
  SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } } ORDER BY DESC(?population)`)
		_, body := s.get("/a/" + id + "/missing?item=" + c.item)
		m := regexp.MustCompile(`<a href="(/editor\?[^"]*)">([^<]*)</a>`).FindAllStringSubmatch(body, -1)
		if len(m) != 1 || !strings.Contains(m[0][2], c.words) {
			t.Errorf("%s: %q in\n%s", c.item, m, body)
			continue
		}
		to := html.UnescapeString(m[0][1])
		_, body = s.get(to)
		holds(t, c.item, body, `<option value="wikidata" selected>`, "wdt:P1082 ?population", "#defaultView:Table", "wikibase:label", "ORDER BY")
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		query := u.Query().Get("q")
		for _, gone := range c.drops {
			if strings.Contains(query, gone) {
				t.Errorf("%s is left out by\n%s", c.item, query)
			}
		}
		table, err := g.Query(t.Context(), query)
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.item, err, query)
		}
		if !slices.ContainsFunc(table.Rows, func(row []rdf.Term) bool { return row[0] == item(c.item) }) {
			t.Errorf("%s is not in the result of\n%s", c.item, query)
		}
	}
}

func TestEditor(t *testing.T) {
	s, id := graphSite(t, `SELECT ?c WHERE { wd:Q1008 wdt:P36 ?c . }`)
	_, body := s.get("/editor?from=" + id)
	holds(t, "the editor", body, "wd:Q1008 wdt:P36 ?c")
	do := func(what, query string) string {
		t.Helper()
		resp, err := s.Client().PostForm(s.URL+"/editor", url.Values{"query": {query}, "do": {what}})
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %v", what, resp.Status, err)
		}
		return string(b)
	}
	const good = `SELECT ?c WHERE { wd:Q1008 wdt:P36 ?c }`
	holds(t, "run", do("run", good), "Yamoussoukro", "1 row")
	holds(t, "check", do("check", good), "No problems found")
	holds(t, "explain", do("explain", good), "Ivory Coast (Q1008): capital (P36)")
	holds(t, "format", do("format", good), "wd:Q1008 wdt:P36 ?c . # Ivory Coast; capital")
	holds(t, "rewrite", do("qlever", good), "PREFIX wdt:")
	holds(t, "a mistake", do("run", "SELECT ?c WHERE { wd:Q1008 wdt:P36 ?c } LIMT 3"), "Line 1, column 41", "LIMIT?")
	holds(t, "an unfit view", do("run", "#defaultView:ImageGrid\n"+good), "needs other columns")
	holds(t, "evil", do("run", "SELECT <script>alert(1)</script>"), "&lt;script&gt;")
	for _, q := range []string{"INSERT DATA { wd:Q1 wdt:P31 wd:Q2 }", `SELECT * WHERE { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }`} {
		if body := do("run", q); !strings.Contains(body, "note bad") || strings.Contains(body, `id="rows"`) {
			t.Errorf("%s was run:\n%s", q, body)
		}
	}
}

// A query run in the editor has the same views, rows, files and explanations as an answer, as long as its result is
// kept.
func TestEditorResult(t *testing.T) {
	s, _ := graphSite(t, `SELECT ?c WHERE { wd:Q1008 wdt:P36 ?c . }`)
	resp, err := s.Client().PostForm(s.URL+"/editor", url.Values{"do": {"run"}, "query": {`#defaultView:BubbleChart{"hide":"?population"}
SELECT ?country ?countryLabel ?population WHERE { ?country wdt:P30 wd:Q46 ; wdt:P1082 ?population .
  SERVICE wikibase:label { bd:serviceParam wikibase:language "[AUTO_LANGUAGE],en" } } ORDER BY DESC(?population)`}})
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "the result", string(page), `href="https://query.wikidata.org/#`, `data-views="table chart"`, `data-view="chart"`, `data-kind="bubble"`, `data-hide="population"`)
	if !strings.Contains(string(page), "ask/result.js") {
		t.Error("the views have no script")
	}
	if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "trusted-types default") {
		t.Errorf("the map could not be shown under %s", csp)
	}
	base := regexp.MustCompile(`/editor/ran/[a-z2-7]{16}`).FindString(string(page))
	_, body := s.get(base + "?sort=population&offset=3")
	holds(t, "sorted", body, "#defaultView:BubbleChart", `aria-sort="none"`, `aria-sort="ascending"`, `name="filter"`)
	for _, link := range []string{"/result/csv", "/result/wiki", "https://query.wikidata.org/"} {
		if at := strings.Index(body, link); at < 0 || at > strings.Index(body, `id="rows"`) {
			t.Errorf("%s is not above the table:\n%s", link, body)
		}
	}
	_, body = s.get(base + "?filter=germany")
	holds(t, "filtered", body, "84,358,845", "1–1 of 1 row")
	_, body = s.get(base + "/rows?limit=2")
	var rows rowsOut
	if err := json.Unmarshal([]byte(body), &rows); err != nil || len(rows.Rows) != 2 || rows.All < 10 || rows.Rows[1][0].Text == "" {
		t.Errorf("%v %s", err, body)
	}
	if _, body = s.get(base + "/result/csv"); !strings.HasPrefix(body, "country,countryLabel,population\n") || strings.Count(body, "\n") != rows.All+1 {
		t.Errorf("%d rows as\n%s", rows.All, body)
	}
	if _, body = s.get(base + "/result/rq"); !strings.Contains(body, "[AUTO_LANGUAGE]") {
		t.Errorf("the query is kept as %s", body)
	}
	_, body = s.get(base + "/row/1")
	holds(t, "a row", body, `href="`+base+`#result"`, "population", "No reference")
	_, body = s.get(base + "/missing?item=Japan")
	holds(t, "Japan", body, "?country wdt:P30 wd:Q46", "Asia")
	if status, body := s.get("/editor/ran/aaaaaaaaaaaaaaaa"); status != http.StatusNotFound || !strings.Contains(body, "no longer kept") {
		t.Errorf("%d %s", status, body)
	}
}

// Editor results are dropped if no one has requested them for an hour. The oldest are dropped when the total
// size is too large.
func TestRanIsBounded(t *testing.T) {
	at := time.Now()
	a := &ran{now: func() time.Time { return at }}
	of := func(bytes int) *agent.Event {
		return &agent.Event{Table: &kg.Table{Rows: [][]rdf.Term{{rdf.String(strings.Repeat("x", bytes-termSize))}}}}
	}
	first, second := a.keep(of(1000), 1), a.keep(of(1000), 1)
	at = at.Add(ranTime / 2)
	if _, ok := a.get(first); !ok {
		t.Error("the first one was dropped after half the time")
	}
	at = at.Add(ranTime / 2)
	third := a.keep(of(1000), 1)
	for id, want := range map[string]bool{first: true, second: false, third: true, "": false} {
		if _, ok := a.get(id); ok != want {
			t.Errorf("kept: %v, want %v", ok, want)
		}
	}
	var ids []string
	for range 5 {
		ids = append(ids, a.keep(of(ranBytes/3), 1))
	}
	for i, want := range []bool{false, false, true, true, true} {
		if _, ok := a.get(ids[i]); ok != want {
			t.Errorf("large one %d is kept: %v, want %v", i, ok, want)
		}
	}
	last := a.keep(of(2*ranBytes), 1)
	if _, ok := a.get(last); !ok || len(a.list) != 1 || a.size != 2*ranBytes {
		t.Errorf("kept: %v of %d with %d bytes", ok, len(a.list), a.size)
	}
	a.keep(of(1000), 1)
	if len(a.list) != 1 || a.size != 1000 {
		t.Errorf("%d are left with %d bytes", len(a.list), a.size)
	}
}

func TestCompletion(t *testing.T) {
	s, _ := graphSite(t, `SELECT ?c WHERE { wd:Q1008 wdt:P36 ?c }`)
	for _, tt := range []struct {
		before string
		from   int
		want   string
	}{
		{"SELECT ?co", 3, "?country"}, {"{ ?x wdt:popul", 9, "wdt:P1082"}, {"{ ?x p:popul", 7, "p:P1082"}, {"wd:ivory_co", 11, "wd:Q1008"},
		{"# comment\nSEL", 3, "SELECT"}, {"FILTER(conta", 5, "CONTAINS("}, {"{ ?x popula", 6, "wdt:P1082"}, {"wdt:P31/wdt:subclass", 12, "wdt:P279"},
		{"?x sch", 3, "schema:"}, {"", 0, ""}, {"{ ", 0, ""}, {"evil:x", 6, ""}, {"?country", 8, ""},
	} {
		body, err := json.Marshal(editing{Query: "SELECT ?country ?capital WHERE {", Before: tt.before})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.Client().Post(s.URL+"/editor/complete", "application/json", strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		var got completions
		err = json.NewDecoder(resp.Body).Decode(&got)
		_ = resp.Body.Close()
		first := ""
		if len(got.Items) > 0 {
			first = got.Items[0].Insert
		}
		if err != nil || first != tt.want || got.From != tt.from {
			t.Errorf("%q: %v %+v", tt.before, err, got)
		}
	}
	for _, body := range []string{"", "[", `{"query":"` + strings.Repeat("x", 70_000) + `"}`, `{"graph":"http://evil.example/"}`} {
		resp, err := s.Client().Post(s.URL+"/editor/check", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode < 400 || resp.StatusCode > 422 {
			t.Errorf("%.40q: %s", body, resp.Status)
		}
	}
}

// Changing a step repeats the decisions before it, makes the change, and accepts the turns after it.
func TestChangedStep(t *testing.T) {
	step := func(id, parent, n int) event.Event {
		return event.Event{ID: id, Parent: parent, Event: "step", Step: &event.Step{N: n, Action: "a"}}
	}
	review := func(id, parent int, verdict, text string) event.Event {
		return event.Event{ID: id, Parent: parent, Event: "review", Review: &event.Review{Verdict: verdict, Text: text}}
	}
	events := []event.Event{{ID: 1, Event: "start", Question: &agent.Question{Text: "?"}}, review(2, 1, event.Edited, "first"), step(3, 2, 1),
		review(4, 3, event.Accepted, ""), step(5, 4, 2), review(6, 5, event.Accepted, ""), step(7, 6, 3), {ID: 8, Parent: 7, Event: "end"}}
	earlier, who := branch(events, 2, "changed")
	if len(earlier) != 2 || earlier[1].ID != 3 {
		t.Errorf("%+v", earlier)
	}
	for place, want := range []policy.Decision{{Verdict: event.Edited, Text: "first"}, {Verdict: event.Edited, Text: "changed"}, {Verdict: event.Accepted}} {
		if got, err := who.Review(t.Context(), policy.Look{Place: place + 1}); err != nil || got != want {
			t.Errorf("place %d: %+v %v", place+1, got, err)
		}
	}
	if got, _ := who.Review(t.Context(), policy.Look{Problem: "no such tool"}); got.Verdict != event.Skipped || !strings.Contains(got.Reason, "no such tool") {
		t.Errorf("%+v", got)
	}
}

// Every message is used somewhere.
func TestMessagesAreUsed(t *testing.T) {
	var used strings.Builder
	for _, dir := range []string{".", "page", "static"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if b, err := os.ReadFile(dir + "/" + e.Name()); err == nil && !strings.HasSuffix(e.Name(), "_test.go") {
				used.Write(b)
			}
		}
	}
	b, err := os.ReadFile("words/en.json")
	if err != nil {
		t.Fatal(err)
	}
	var words map[string]any
	if err := json.Unmarshal(b, &words); err != nil {
		t.Fatal(err)
	}
	for key := range words {
		prefix := key[:strings.LastIndexByte(key, '.')+1]
		composed := strings.Contains(used.String(), `"`+prefix+`"`)
		if !strings.Contains(used.String(), `"`+key+`"`) && !composed {
			t.Errorf("nothing uses %s", key)
		}
	}
}

// A request whose page panics gets a response, and the next page is served.
func TestPanic(t *testing.T) {
	s := newSite(t, nil, func(o *Options) { o.Presets[0].Name = "x"; o.Service = nil })
	resp, err := s.Client().PostForm(s.URL+"/a", url.Values{"q": {"x"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if status, _ := s.get("/"); resp.StatusCode != http.StatusInternalServerError || status != http.StatusOK {
		t.Errorf("%s, then %d", resp.Status, status)
	}
}

// An answer that was held back to check variants of its query is shown on the page and in the stream. If the answer is
// accepted unchanged, there is no note about it.
func TestHeldBack(t *testing.T) {
	s := newSite(t, func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error) {
		for _, e := range []event.Event{{Event: "start", Format: event.Format, Question: &q, Preset: "best"},
			{Event: "probe", Detail: ""}, {Event: "probe", Detail: "Without the filter, three more rows come."}, {Event: "end"}} {
			if err := rec.Record(ctx, e); err != nil {
				return nil, err
			}
		}
		return &agent.Outcome{}, nil
	}, nil)
	id := s.ask("Which?")
	s.wait(id)
	for lang, note := range map[string]string{"en": "The answer was held back", "de": "Die Antwort wurde zurückgehalten", "fr": "La réponse a été retenue"} {
		_, body := s.get("/a/" + id + "?lang=" + lang)
		if strings.Count(body, "<summary>"+note) != 1 || !strings.Contains(body, "three more rows come") {
			t.Errorf("%s: %s", lang, body)
		}
	}
	got := s.listen(id, 0, 0, 0)
	if len(got) != 3 || got[1].kind != "probe" || got[1].data.Text != "Without the filter, three more rows come." {
		t.Errorf("%+v", got)
	}
}
