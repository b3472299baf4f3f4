package wikidata

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// searched returns a wbsearchentities response with the given hits.
func searched(hits ...string) reply {
	var list []string
	for _, h := range hits {
		id, label, _ := strings.Cut(h, " ")
		list = append(list, fmt.Sprintf(`{"id":%q,"label":%q,"match":{"type":"label","language":"en","text":%q}}`, id, label,
			label))
	}
	return reply{status: 200, body: `{"search":[` + strings.Join(list, ",") + `],"success":1}`}
}

// describing returns a wbgetentities response with entities such as "P57 director wikibase-item".
func describing(entities ...string) reply {
	var list []string
	for _, e := range entities {
		part := append(strings.Split(e, " "), "", "")
		typ := "item"
		if part[0][0] == 'P' {
			typ = "property"
		}
		list = append(list, fmt.Sprintf(`%q:{"id":%q,"type":%q,"datatype":%q,"labels":{"en":{"language":"en","value":%q}},"descriptions":[],"aliases":[]}`,
			part[0], part[0], typ, part[2], strings.ReplaceAll(part[1], "_", " ")))
	}
	return reply{status: 200, body: `{"entities":{` + strings.Join(list, ",") + `},"success":1}`}
}

func ids(res *kg.SearchResult) string {
	var s []string
	for _, h := range res.Hits {
		s = append(s, h.ID)
	}
	return strings.Join(s, " ")
}

func withVector(s *service) func(*Config) {
	return func(c *Config) { c.Vector = s.URL + "/vector" }
}

// TestFindMerges checks that the rankings by name and by meaning are merged by reciprocal rank, that entities in both
// come first, that labels are fetched for entities that only the vector database returns, and that external identifiers
// are omitted.
func TestFindMerges(t *testing.T) {
	s := newService(t).on("/api", searched("P57 directed", "P999 directed ID"),
		describing("P58 screenwriter wikibase-item", "P345 IMDb_ID external-id")).
		on("/vector/property/query/", reply{status: 200,
			body: `[{"PID":"P58","similarity_score":0.8,"rrf_score":0.1,"source":"Vector Search"},
			{"PID":"P57","similarity_score":0.7},{"PID":"P345","similarity_score":0.6},{"PID":"P57"},{"QID":"Q5"},{"PID":"nonsense"},{"PID":"P404"}]`})
	res, err := s.client(nil, withVector(s)).Find(context.Background(), kg.FindQuery{Text: " who  directed ",
		Type: kg.Property, Language: "en", Limit: 2})
	if err != nil || ids(res) != "P57 P58" || res.Hits[1].Label != "screenwriter" || res.Hits[1].Uses != -1 || !res.More {
		t.Errorf("%+v, %v", res, err)
	}
	want := map[string]string{"query": "who directed", "lang": "en", "K": "3", "exclude_external_ids": "true"}
	for k, v := range want {
		if got := s.asked["/vector/property/query/"][0].Get(k); got != v {
			t.Errorf("%s is %q, want %q", k, got, v)
		}
	}
	if got := s.asked["/api"][1].Get("ids"); got != "P58|P345|P404" {
		t.Errorf("described %q", got)
	}
	for _, h := range s.headers {
		if ua := h.Get("User-Agent"); len(ua) < 10 || !strings.Contains(ua, " ") {
			t.Errorf("User-Agent %q", ua)
		}
	}
}

// TestFindAnyType checks that items and properties alternate: the first item, the first property, the second item …
func TestFindAnyType(t *testing.T) {
	s := newService(t).on("/api", searched("Q1 x", "Q2 x", "Q3 x"), searched("P1 x"))
	res, err := s.client(nil, nil).Find(context.Background(), kg.FindQuery{Text: "x", Limit: 2, Offset: 1})
	if err != nil || ids(res) != "P1 Q2" || !res.More {
		t.Errorf("%s, %v", ids(res), err)
	}
}

// TestFindWordsAnywhere checks that, without the vector database, the wiki's own search is used if no name starts with
// the text, and that the text is reduced to words for that search.
func TestFindWordsAnywhere(t *testing.T) {
	s := newService(t).on("/api", searched(), reply{status: 200,
		body: `{"query":{"search":[{"title":"Q42"},{"title":"Talk:Q1"},{"title":"Q43"}]}}`},
		describing("Q42 Guide_to_the_Galaxy"))
	res, err := s.client(nil, nil).Find(context.Background(), kg.FindQuery{Text: `to the "galaxy" -haswbstatement:P31`,
		Type: kg.Item, Limit: 5})
	if err != nil || ids(res) != "Q42" {
		t.Errorf("%s, %v", ids(res), err)
	}
	if got := s.asked["/api"][1].Get("srsearch"); got != "to the galaxy haswbstatement P31" {
		t.Errorf("searched for %q", got)
	}
	s = newService(t).on("/api", searched(), reply{status: 200,
		body: `{"error":{"code":"badvalue","info":"no such list"}}`})
	if res, err := s.client(nil, nil).Find(context.Background(), kg.FindQuery{Text: "x", Type: kg.Item,
		Limit: 5}); err != nil || len(res.Hits) > 0 {
		t.Errorf("a wiki without this search: %+v, %v", res, err)
	}
}

// TestVectorFails checks that after any vector database failure, search by name still works, and the database is not
// used for a while.
func TestVectorFails(t *testing.T) {
	for name, tt := range map[string]struct {
		reply reply
		off   time.Duration
	}{
		"429":             {reply{status: 429}, 10 * time.Minute},
		"429 with a time": {reply{status: 429, header: map[string]string{"Retry-After": "1200"}}, 20 * time.Minute},
		"429 for days":    {reply{status: 429, header: map[string]string{"Retry-After": "999999"}}, 999999 * time.Second},
		"403":             {reply{status: 403}, time.Hour},
		"500":             {reply{status: 500, body: "oops"}, 10 * time.Minute},
		"400":             {reply{status: 400, body: `{"detail":"User-Agent"}`}, 10 * time.Minute},
		"cut off":         {reply{}, 10 * time.Minute},
		"a web page":      {reply{status: 200, body: "<html>"}, 10 * time.Minute},
		"another form":    {reply{status: 200, body: `{"hits":3}`}, 10 * time.Minute},
		"half an answer":  {reply{status: 200, body: `[{"QID":"Q1"`, cut: true}, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t).on("/vector/item/query/", tt.reply, reply{status: 200, body: `[{"QID":"Q9"}]`})
			for range 3 {
				s.on("/api", searched("Q1 one"))
			}
			s.on("/api", describing("Q9 nine"))
			c := s.client(nil, withVector(s))
			find := func() string {
				res, err := c.Find(context.Background(), kg.FindQuery{Text: "one", Type: kg.Item, Limit: 5})
				if err != nil {
					t.Fatal(err)
				}
				return ids(res)
			}
			if got := find(); got != "Q1" || s.calls("/vector/item/query/") != 1 {
				t.Errorf("found %q with %d calls", got, s.calls("/vector/item/query/"))
			}
			s.clock.Advance(tt.off - time.Second)
			if got := find(); got != "Q1" || s.calls("/vector/item/query/") != 1 {
				t.Errorf("asked again too early: %q with %d calls", got, s.calls("/vector/item/query/"))
			}
			s.clock.Advance(2 * time.Second)
			if got := find(); got != "Q1 Q9" || s.calls("/vector/item/query/") != 2 {
				t.Errorf("not asked again: %q with %d calls", got, s.calls("/vector/item/query/"))
			}
		})
	}
}

// TestVectorPace checks that there are never more than 30 calls per minute, and never two at the same time.
func TestVectorPace(t *testing.T) {
	s := newService(t)
	var at []time.Time
	const n = 100
	for range n {
		s.on("/vector/item/query/", reply{status: 200, body: `[]`})
	}
	c := s.client(nil, withVector(s))
	for range n {
		if _, err := c.vector.find(context.Background(), "x", "en", kg.Item, 5, false); err != nil {
			t.Fatal(err)
		}
		at = append(at, s.clock.Now())
	}
	for i := range at {
		most := 0
		for j := i; j < n && at[j].Sub(at[i]) < time.Minute; j++ {
			most++
		}
		if most > 30 {
			t.Fatalf("%d calls in the minute from call %d on", most, i)
		}
	}
	if at[n-1].Sub(at[0]) > 5*time.Minute {
		t.Errorf("%d calls took %s", n, at[n-1].Sub(at[0]))
	}
}

// TestVectorPaceOutlastsRestarts checks that the call count survives restarts.
func TestVectorPaceOutlastsRestarts(t *testing.T) {
	s, store := newService(t), remote.NewMemoryStore()
	for range 20 {
		s.on("/vector/item/query/", reply{status: 200, body: `[]`})
	}
	for range 20 {
		if _, err := s.client(store, withVector(s)).vector.find(context.Background(), "x", "en", kg.Item, 5,
			false); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.clock.Slept()) < 14 {
		t.Errorf("waited %d times in 20 calls", len(s.clock.Slept()))
	}
}

// TestFindAmong checks that candidates are ranked by the words in their labels, and by meaning if requested.
func TestFindAmong(t *testing.T) {
	var among []rdf.Term
	for _, id := range []string{"P57", "P58", "P162", "P57"} {
		among = append(among, rdf.IRI(rdf.Direct+id))
	}
	among = append(among, rdf.String("director of photography"), rdf.Blank("b"), rdf.IRI("http://example.org/x"))
	labels := describing("P57 director wikibase-item", "P58 screenwriter wikibase-item",
		"P162 film_producer wikibase-item")
	s := newService(t).on("/api", labels, labels, labels).
		on("/vector/similarity-score/", reply{status: 200,
			body: `[{"id":"P162","similarity_score":0.4},{"id":"P58","similarity_score":0.9},{"id":"Q1","similarity_score":1}]`},
			reply{status: 503})
	c := s.client(nil, withVector(s))
	find := func(q kg.FindQuery) string {
		q.Among, q.Language, q.Limit = among, "en", 5
		res, err := c.Find(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		return ids(res)
	}
	if got := find(kg.FindQuery{Text: "director", Type: kg.Property}); got != "P57" {
		t.Errorf("by words: %q", got)
	}
	if got := find(kg.FindQuery{Text: "who wrote the director", Type: kg.Property, Meaning: true}); got != "P57 P58 P162" {
		t.Errorf("by meaning: %q", got)
	}
	if got := s.asked["/vector/similarity-score/"][0].Get("qid"); got != "P57,P58,P162" {
		t.Errorf("asked for %q", got)
	}
	if got := find(kg.FindQuery{Text: "director", Type: kg.Property, Meaning: true}); got != "P57" {
		t.Errorf("without the database: %q", got)
	}
	many := kg.FindQuery{Text: "x", Among: make([]rdf.Term, 600)}
	for i := range many.Among {
		many.Among[i] = rdf.IRI(rdf.Entity + "Q" + strconv.Itoa(i+1))
	}
	if _, err := c.Find(context.Background(), many); kg.KindOf(err) != kg.Refused {
		t.Errorf("got %v", err)
	}
}

// The expected order was computed by hand. b is first in one ranking and third in the other: 1/61 + 1/63. a scores
// 1/61, and c scores 1/62 + 1/62.
func TestFuse(t *testing.T) {
	if got := strings.Join(fuse([]string{"a", "c", "b"}, []string{"b", "c"}), ""); got != "bca" {
		t.Errorf("got %s", got)
	}
}

// q42 is part of an item as returned by the REST API; q42Action is the same in the Action API's format.
const q42 = `{"id":"Q42","type":"item","labels":{"en":"Douglas Adams","de":"D. Adams"},"descriptions":{"en":"writer"},"aliases":{"en":["DNA"]},
"sitelinks":{"enwiki":{"title":"Douglas Adams"}},"statements":{
"P31":[{"id":"Q42$1","rank":"normal","property":{"id":"P31","data_type":"wikibase-item"},"value":{"type":"value","content":"Q5"},"qualifiers":[],"references":[]}],
"P569":[{"rank":"preferred","property":{"id":"P569","data_type":"time"},"value":{"type":"value","content":{"time":"+1952-03-11T00:00:00Z","precision":11,"calendarmodel":"http://www.wikidata.org/entity/Q1985727"}},
 "qualifiers":[{"property":{"id":"P1480","data_type":"wikibase-item"},"value":{"type":"somevalue"}}]}],
"P2048":[{"rank":"deprecated","property":{"id":"P2048","data_type":"quantity"},"value":{"type":"value","content":{"amount":"+1.96","unit":"http://www.wikidata.org/entity/Q11573"}}}],
"P625":[{"rank":"normal","property":{"id":"P625","data_type":"globe-coordinate"},"value":{"type":"value","content":{"latitude":51.5,"longitude":-0.1,"precision":0.1,"globe":"http://www.wikidata.org/entity/Q2"}}}],
"P1477":[{"rank":"normal","property":{"id":"P1477","data_type":"monolingualtext"},"value":{"type":"value","content":{"language":"en","text":"Douglas Noel Adams"}}}],
"P856":[{"rank":"normal","property":{"id":"P856","data_type":"url"},"value":{"type":"value","content":"https://douglasadams.com/"}}],
"P40":[{"rank":"normal","property":{"id":"P40","data_type":"wikibase-item"},"value":{"type":"novalue"}}],
"P345":[{"rank":"normal","property":{"id":"P345","data_type":"external-id"},"value":{"type":"value","content":"nm0010930"}}]}}`

const q42Action = `{"entities":{"Q42":{"id":"Q42","type":"item","labels":{"en":{"language":"en","value":"Douglas Adams"}},"descriptions":{"en":{"language":"en","value":"writer"}},
"aliases":{"en":[{"language":"en","value":"DNA"}]},"sitelinks":{"enwiki":{"site":"enwiki","title":"Douglas Adams"}},"claims":{
"P31":[{"rank":"normal","mainsnak":{"snaktype":"value","datatype":"wikibase-item","datavalue":{"type":"wikibase-entityid","value":{"id":"Q5","entity-type":"item"}}}}],
"P569":[{"rank":"preferred","mainsnak":{"snaktype":"value","datatype":"time","datavalue":{"type":"time","value":{"time":"+1952-03-11T00:00:00Z","precision":11,"calendarmodel":"http://www.wikidata.org/entity/Q1985727"}}},
 "qualifiers":{"P1480":[{"snaktype":"somevalue","datatype":"wikibase-item"}]}}],
"P2048":[{"rank":"deprecated","mainsnak":{"snaktype":"value","datatype":"quantity","datavalue":{"type":"quantity","value":{"amount":"+1.96","unit":"http://www.wikidata.org/entity/Q11573"}}}}],
"P625":[{"rank":"normal","mainsnak":{"snaktype":"value","datatype":"globe-coordinate","datavalue":{"type":"globecoordinate","value":{"latitude":51.5,"longitude":-0.1,"globe":"http://www.wikidata.org/entity/Q2"}}}}],
"P1477":[{"rank":"normal","mainsnak":{"snaktype":"value","datatype":"monolingualtext","datavalue":{"type":"monolingualtext","value":{"language":"en","text":"Douglas Noel Adams"}}}}],
"P856":[{"rank":"normal","mainsnak":{"snaktype":"value","datatype":"url","datavalue":{"type":"string","value":"https://douglasadams.com/"}}}],
"P40":[{"rank":"normal","mainsnak":{"snaktype":"novalue","datatype":"wikibase-item"}}]}}}}`

var noLabels = reply{status: 200, body: `{"entities":{}}`}

// TestREST checks that an entity from the REST API equals the same entity from the Action API.
func TestREST(t *testing.T) {
	s := newService(t).on("/rest/entities/items/Q42", reply{status: 200, body: q42}).on("/api", noLabels,
		reply{status: 200, body: q42Action}, noLabels)
	got, err := s.client(nil, func(c *Config) { c.REST = s.URL + "/rest/" }).Entity(context.Background(), "Q42", "en")
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.client(nil, nil).Entity(context.Background(), "Q42", "en")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" || len(got.Claims) != 7 {
		t.Errorf("%d properties (-want +got):\n%s", len(got.Claims), d)
	}
	if a := s.headers[0].Get("User-Agent"); !strings.Contains(a, "SpinachBot-test") {
		t.Errorf("User-Agent %q", a)
	}
}

// TestRESTFailures checks that a missing entity is reported as missing, and that the Action API is used if the REST API
// fails.
func TestRESTFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		replies []reply
		kind    kg.Kind
		action  bool
	}{
		"no such item": {[]reply{{status: 404, body: `{"code":"resource-not-found","message":"The requested resource does not exist"}`}}, kg.NotFound, false},
		"no such API":  {[]reply{{status: 404, body: "<html>"}, {status: 404}, {status: 404}}, "", true},
		"down":         {[]reply{{status: 503}, {status: 503}, {status: 503}}, "", true},
		"garbage": {[]reply{{status: 200, body: "<html>"}, {status: 200, body: "{"}, {status: 200, body: "[]"}}, "",
			true},
		"another entity": {[]reply{{status: 200, body: `{"id":"nothing"}`}}, "", true},
		"slow down":      {[]reply{{status: 429, header: map[string]string{"Retry-After": "3600"}}}, kg.RateLimited, false},
	} {
		s := newService(t).on("/rest/entities/items/Q42", tt.replies...)
		if tt.action {
			s.on("/api", reply{status: 200, body: q42Action}, noLabels)
		}
		e, err := s.client(nil, func(c *Config) { c.REST = s.URL + "/rest" }).Entity(context.Background(), "Q42", "en")
		if kg.KindOf(err) != tt.kind || tt.kind == "" && (err != nil || e.ID != "Q42") {
			t.Errorf("%s: %v", name, err)
		}
		if tt.kind == kg.RateLimited && len(s.clock.Slept()) > 0 {
			t.Errorf("%s: waited %v", name, s.clock.Slept())
		}
	}
	s := newService(t)
	c := s.client(nil, func(c *Config) { c.REST = s.URL + "/rest" })
	for _, id := range []string{"Q42/../../x", "", "L7", "Q0"} {
		if _, err := c.Entity(context.Background(), id, "en"); err == nil {
			t.Errorf("%q was requested", id)
		}
	}
}

// TestRESTRedirect checks that a merged item redirects to its target.
func TestRESTRedirect(t *testing.T) {
	s := newService(t).on("/rest/entities/items/Q1", reply{status: 308,
		header: map[string]string{"Location": "/rest/entities/items/Q42"}}).
		on("/rest/entities/items/Q42", reply{status: 200, body: q42}).on("/api", noLabels)
	e, err := s.client(nil, func(c *Config) { c.REST = s.URL + "/rest" }).Entity(context.Background(), "Q1", "en")
	if err != nil || e.ID != "Q42" {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestSecondIsQLever checks that the second service receives the query in its own dialect, with all prefixes declared
// and without the label service. A query that the dialect cannot express is not sent, and the first service's failure
// is reported.
func TestSecondIsQLever(t *testing.T) {
	const label = `SELECT ?x ?xLabel { ?x wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } }`
	s := newService(t).on("/sparql", reply{status: 504}, reply{status: 504}).on("/second", reply{status: 200,
		body: oneRow}, reply{status: 200, body: oneRow})
	c := s.client(nil, func(c *Config) { c.Fallback, c.FallbackDialect = s.URL+"/second", "qlever" })
	table, err := c.Query(context.Background(), label)
	if err != nil || table.Source != s.URL+"/second" {
		t.Fatalf("%+v, %v", table, err)
	}
	got := s.asked["/second"][0].Get("query")
	if !strings.Contains(got, "PREFIX wdt: <http://www.wikidata.org/prop/direct/>") || strings.Contains(got,
		"wikibase:label") || !strings.Contains(got, "rdfs:label") {
		t.Errorf("sent %s", got)
	}
	if q := s.asked["/sparql"][0].Get("query"); q != label {
		t.Errorf("the first service got %s", q)
	}
	const mwapi = `SELECT * { SERVICE wikibase:mwapi { bd:serviceParam wikibase:api "Search"; wikibase:endpoint "www.wikidata.org"; mwapi:srsearch "x" . ?i wikibase:apiOutputItem mwapi:title } }`
	if _, err := c.Query(context.Background(), mwapi); kg.KindOf(err) != kg.Timeout || s.calls("/second") != 1 {
		t.Errorf("%v after %d calls", err, s.calls("/second"))
	}
	if _, err := c.Secondary().Query(context.Background(), mwapi); kg.KindOf(err) != kg.Refused {
		t.Errorf("got %v", err)
	}
	if _, err := c.Secondary().Query(context.Background(), label); err != nil ||
		!strings.Contains(s.asked["/second"][1].Get("query"), "PREFIX") {
		t.Errorf("got %v", err)
	}
}

// TestDialectOfSecond checks that the dialect is guessed from the address unless it is set, and that an unknown dialect
// is rejected.
func TestDialectOfSecond(t *testing.T) {
	for address, want := range map[string]string{"https://qlever.dev/api/wikidata": "qlever",
		"https://qlever.cs.uni-freiburg.de/api/wikidata": "qlever",
		"https://example.org/sparql":                     "wdqs", "": "wdqs"} {
		if got := withDefaults(Config{Fallback: address}).FallbackDialect; got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	for _, cfg := range []Config{{FallbackDialect: "sql"}, {Vector: "nowhere"}, {REST: "ftp://x"}} {
		cfg.UserAgent = "Test/1 (test@example.org)"
		if _, err := New(nil, cfg, http.DefaultTransport, newService(t).clock, nil, remote.NewMemoryStore()); err == nil {
			t.Errorf("accepted %+v", cfg)
		}
	}
}
