package wikidata

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func item(id string) string {
	return fmt.Sprintf(`{"snaktype":"value","datatype":"wikibase-item","datavalue":{"type":"wikibase-entityid","value":{"entity-type":"item","id":%q}}}`, id)
}

// page is a wbgetentities response as described in Wikibase's docs/topics/json.md: ranks out of order, properties out
// of order, empty maps as [], an external identifier, somevalue, novalue, a deprecated statement, and qualifiers in the
// page's order.
var page = `{"entities":{"Q42":{"pageid":138,"ns":0,"title":"Q42","type":"item","id":"Q42",
"labels":{"mul":{"language":"mul","value":"Douglas Adams"},"en":{"language":"en","value":"D. Adams"}},
"descriptions":{"en":{"language":"en","value":"English writer"}},
"aliases":{"en":[{"language":"en","value":"DNA"},{"language":"en","value":"Bop Ad"}]},
"claims":{
 "P569":[{"mainsnak":{"snaktype":"value","datatype":"time","datavalue":{"type":"time","value":{"time":"+1952-03-11T00:00:00Z","precision":11,"calendarmodel":"http://www.wikidata.org/entity/Q1985727"}}},"rank":"normal","qualifiers":[]}],
 "P214":[{"mainsnak":{"snaktype":"value","datatype":"external-id","datavalue":{"type":"string","value":"113230702"}},"rank":"normal"}],
 "P26":[
  {"mainsnak":` + item("Q3") + `,"rank":"deprecated"},
  {"mainsnak":` + item("Q4") + `,"rank":"normal","qualifiers":{"P582":[{"snaktype":"somevalue","datatype":"time"}],"P580":[{"snaktype":"value","datatype":"time","datavalue":{"type":"time","value":{"time":"+1991-11-00T00:00:00Z","precision":10,"calendarmodel":"http://www.wikidata.org/entity/Q1985727"}}}],"P998":[{"snaktype":"value","datatype":"external-id","datavalue":{"type":"string","value":"x"}}]},"qualifiers-order":["P582","P580","P998"]},
  {"mainsnak":` + item("Q6") + `,"rank":"preferred"}],
 "P40":[{"mainsnak":{"snaktype":"novalue","datatype":"wikibase-item"},"rank":"normal"}],
 "P2048":[{"mainsnak":{"snaktype":"value","datatype":"quantity","datavalue":{"type":"quantity","value":{"amount":"+1.96","unit":"http://www.wikidata.org/entity/Q11573"}}},"rank":"normal"}]},
"sitelinks":{"enwiki":{"site":"enwiki","title":"Douglas Adams","badges":[]},"dewiki":{"site":"dewiki","title":"Douglas Adams","badges":[]}}}},"success":1}`

func labelsOf(pairs ...string) string {
	var out []string
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, fmt.Sprintf(`%q:{"type":"x","id":%q,"labels":{"en":{"language":"en","value":%q}}}`, pairs[i],
			pairs[i], pairs[i+1]))
	}
	return `{"entities":{` + strings.Join(out, ",") + `},"success":1}`
}

func TestEntity(t *testing.T) {
	s := newService(t).on("/api", reply{status: 200, body: page},
		reply{status: 200, body: labelsOf("P569", "date of birth", "P26", "spouse", "P580", "start time", "Q4", "Jane", "Q6",
			"June", "P2048", "height", "Q11573", "metre", "P40", "child")})
	c := s.client(nil, nil)
	got, err := c.Entity(context.Background(), "Q42", "de")
	if err != nil {
		t.Fatal(err)
	}
	q := func(id string) rdf.Term { return rdf.IRI(rdf.Entity + id) }
	dateTime := func(v string, precision int) kg.Value {
		return kg.Value{Term: rdf.Typed(v, rdf.XSDDateTime), Precision: precision}
	}
	want := &kg.Entity{ID: "Q42", Type: kg.Item, Label: "Douglas Adams", Description: "English writer",
		Aliases: []string{"DNA", "Bop Ad"}, Sitelinks: 2,
		Claims: []kg.PropertyStatements{
			{Property: kg.PropertyRef{ID: "P26", Label: "spouse"}, Datatype: "wikibase-item", Statements: []kg.Statement{
				{Value: kg.Value{Term: q("Q6"), Label: "June"}, Rank: kg.Preferred},
				{Value: kg.Value{Term: q("Q4"), Label: "Jane"}, Rank: kg.Normal, Qualifiers: []kg.Qualifier{
					{Property: kg.PropertyRef{ID: "P582"}, Values: []kg.Value{{Unknown: true}}},
					{Property: kg.PropertyRef{ID: "P580", Label: "start time"}, Values: []kg.Value{dateTime("1991-11-01T00:00:00Z",
						10)}}}},
				{Value: kg.Value{Term: q("Q3")}, Rank: kg.Deprecated}}},
			{Property: kg.PropertyRef{ID: "P40", Label: "child"}, Datatype: "wikibase-item",
				Statements: []kg.Statement{{Value: kg.Value{None: true}, Rank: kg.Normal}}},
			{Property: kg.PropertyRef{ID: "P569", Label: "date of birth"}, Datatype: "time",
				Statements: []kg.Statement{{Value: dateTime("1952-03-11T00:00:00Z", 11), Rank: kg.Normal}}},
			{Property: kg.PropertyRef{ID: "P2048", Label: "height"}, Datatype: "quantity", Statements: []kg.Statement{
				{Value: kg.Value{Term: rdf.Typed("1.96", rdf.XSDDecimal), Unit: "Q11573", UnitLabel: "metre"}, Rank: kg.Normal}}},
		}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("page (-want +got):\n%s", d)
	}
	ids := strings.Split(s.asked["/api"][1].Get("ids"), "|")
	if len(ids) != 10 || s.asked["/api"][1].Get("languages") != "de|mul|en" {
		t.Errorf("labels asked for: %v", s.asked["/api"][1])
	}
	if _, err := c.Entity(context.Background(), "Q42", "de"); err != nil || s.calls("/api") != 2 {
		t.Errorf("a page is remembered: %v, %d calls", err, s.calls("/api"))
	}
	s.clock.Advance(time.Hour)
	s.on("/api", reply{status: 200, body: `{"entities":{"Q42":{"id":"Q42","missing":""}},"success":1}`})
	if _, err := c.Entity(context.Background(), "Q42", "de"); kg.KindOf(err) != kg.NotFound {
		t.Errorf("after an hour it is requested again, and is gone: %v", err)
	}
}

func TestEntityFailures(t *testing.T) {
	for _, tt := range []struct {
		name, id string
		replies  []reply
		want     kg.Kind
	}{
		{"no number", "Douglas", nil, kg.BadID},
		{"a lexeme", "L7", nil, kg.BadID},
		{"injection", "Q1|Q2", nil, kg.BadID},
		{"a number that fails the call", "Q9999999999", nil, kg.NotFound},
		{"missing", "Q7", []reply{{status: 200, body: `{"entities":{"Q7":{"id":"Q7","missing":""}},"success":1}`}},
			kg.NotFound},
		{"no-such-entity", "Q7", []reply{{status: 200,
			body: `{"error":{"code":"no-such-entity","info":"Could not find an entity"}}`}}, kg.NotFound},
		{"empty", "Q7", []reply{{status: 200, body: `{"entities":[]}`}}, kg.Down},
		{"no JSON", "Q7", []reply{{status: 200, body: `<html>`}, {status: 200, body: ``}, {status: 200, body: `{`}}, kg.Down},
		{"maxlag for long", "Q7", []reply{{status: 200, header: map[string]string{"Retry-After": "500"},
			body: `{"error":{"code":"maxlag","info":"Waiting"}}`}}, kg.RateLimited},
		{"broken for good", "Q7", []reply{{status: 500}, {status: 503}, {}}, kg.Down},
		{"other error", "Q7", []reply{{status: 200, body: `{"error":{"code":"badvalue","info":"Unrecognized value"}}`}},
			kg.QueryFailed},
		{"ban", "Q7", []reply{{status: 403, body: "<html>blocked"}}, kg.Banned},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t).on("/api", tt.replies...)
			e, err := s.client(nil, nil).Entity(context.Background(), tt.id, "en")
			if kg.KindOf(err) != tt.want || s.calls("/api") != len(tt.replies) {
				t.Errorf("got %+v, %v after %d calls; want kind %s after %d", e, err, s.calls("/api"), tt.want, len(tt.replies))
			}
		})
	}
}

func TestRedirect(t *testing.T) {
	for _, key := range []string{"Q7", "Q42"} {
		s := newService(t).on("/api", reply{status: 200, body: strings.Replace(strings.Replace(page, `{"entities":{"Q42"`,
			`{"entities":{"`+key+`"`, 1), `"claims":{`, `"old":{`, 1)})
		e, err := s.client(nil, nil).Entity(context.Background(), "Q7", "en")
		if err != nil || e.ID != "Q42" || len(e.Claims) != 0 {
			t.Errorf("keyed by %s: %+v, %v", key, e, err)
		}
	}
}

func TestExamples(t *testing.T) {
	body := `{"entities":{"P36":{"type":"property","datatype":"wikibase-item","id":"P36","labels":[],"claims":{"P1855":[
	{"mainsnak":` + item("Q183") + `,"rank":"normal","qualifiers":{"P36":[` + item("Q64") + `,` + item("Q586") +
		`],"P580":[{"snaktype":"somevalue"}]}},
	{"mainsnak":` + item("Q30") + `,"rank":"deprecated","qualifiers":{"P36":[` + item("Q61") + `]}},
	{"mainsnak":{"snaktype":"novalue"},"rank":"normal"}]}}},"success":1}`
	s := newService(t).on("/api", reply{status: 200, body: body}, reply{status: 200, body: labelsOf("Q183", "Germany",
		"Q64", "Berlin")})
	c := s.client(nil, nil)
	for range 2 {
		got, err := c.Examples(context.Background(), "P36", "en")
		germany := kg.PropertyRef{ID: "Q183", Label: "Germany"}
		want := []kg.Example{{Subject: germany, Value: kg.Value{Term: rdf.IRI(rdf.Entity + "Q64"), Label: "Berlin"}},
			{Subject: germany, Value: kg.Value{Term: rdf.IRI(rdf.Entity + "Q586")}}}
		if d := cmp.Diff(want, got); err != nil || d != "" || s.calls("/api") != 2 {
			t.Errorf("%v after %d calls\n%s", err, s.calls("/api"), d)
		}
	}
}

func TestSearch(t *testing.T) {
	body := `{"searchinfo":{"search":"dou"},"search":[
	{"id":"Q42","title":"Q42","pageid":138,"display":{"label":{"value":"Douglas Adams","language":"en"},"description":{"value":"englischer Autor","language":"de"}},"label":"Douglas Adams","description":"x","match":{"type":"alias","language":"de","text":"Douglas N. Adams"},"aliases":["Douglas N. Adams"]},
	{"id":"P9","label":"old form","description":"d","datatype":"time","match":{"type":"label","language":"en","text":"old form"}},
	{"id":"L1-F2","label":"no item"}],"search-continue":7,"success":1}`
	s := newService(t).on("/api", reply{status: 200, body: body}, reply{status: 200, body: `{"search":[],"success":1}`})
	c := s.client(nil, nil)
	got, err := c.Search(context.Background(), kg.SearchQuery{Text: " Dou\n glas ", Language: "DE", Type: kg.Item,
		Limit: 99})
	want := &kg.SearchResult{More: true, Hits: []kg.Hit{
		{ID: "Q42", Type: kg.Item, Label: "Douglas Adams", Description: "englischer Autor",
			Aliases: []string{"Douglas N. Adams"}, MatchType: "alias", MatchText: "Douglas N. Adams", MatchLanguage: "de"},
		{ID: "P9", Type: kg.Item, Label: "old form", Description: "d", Datatype: "time", MatchType: "label",
			MatchText: "old form", MatchLanguage: "en"}}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	f := s.asked["/api"][0]
	if f.Get("search") != "Dou glas" || f.Get("language") != "de" || f.Get("uselang") != "de" || f.Get("limit") != "50" ||
		f.Get("type") != "item" || f.Get("format") != "json" {
		t.Errorf("asked %v", f)
	}
	if got, err := c.Search(context.Background(), kg.SearchQuery{Text: "x", Language: "not a code!",
		Type: kg.Property}); err != nil || len(got.Hits) != 0 || s.asked["/api"][1].Get("language") != "en" {
		t.Errorf("%+v %v %v", got, err, s.asked["/api"][1])
	}
	if got, err := c.Search(context.Background(), kg.SearchQuery{Text: "  "}); err != nil || len(got.Hits) != 0 {
		t.Errorf("an empty search asks nothing: %v", err)
	}
}

func TestSearchInUnknownLanguage(t *testing.T) {
	s := newService(t).on("/api", reply{status: 200,
		body: `{"error":{"code":"badvalue","info":"Unrecognized value for parameter \"language\": xq."}}`},
		reply{status: 200, body: `{"search":[{"id":"Q42","label":"x"}]}`})
	got, err := s.client(nil, nil).Search(context.Background(), kg.SearchQuery{Text: "x", Language: "xq"})
	if err != nil || len(got.Hits) != 1 || s.asked["/api"][1].Get("language") != "en" {
		t.Errorf("%+v %v", got, err)
	}
}

func TestLabels(t *testing.T) {
	var ids []string
	for i := 1; i <= 120; i++ {
		ids = append(ids, fmt.Sprintf("Q%d", i))
	}
	s := newService(t).on("/api", reply{status: 200, body: labelsOf("Q1", "universe")}, reply{status: 200,
		body: labelsOf("Q51", "Antarctica")}, reply{status: 200, body: labelsOf("Q120", "y")})
	c := s.client(nil, nil)
	for range 2 {
		got, err := c.Labels(context.Background(), append(ids, "Q1", "nonsense", "L3", "Q3000000000"), []string{"de", "en"})
		if d := cmp.Diff(map[string]string{"Q1": "universe", "Q51": "Antarctica", "Q120": "y"}, got); err != nil || d != "" ||
			s.calls("/api") != 3 {
			t.Fatalf("%v after %d calls\n%s", err, s.calls("/api"), d)
		}
	}
	for i, want := range []int{50, 50, 20} {
		if got := len(strings.Split(s.asked["/api"][i].Get("ids"), "|")); got != want {
			t.Errorf("call %d asked for %d", i, got)
		}
	}
	s.on("/api", reply{status: 200, body: `{"entities":{"Q1":{"labels":{"fr":{"value":"univers"}}}}}`})
	if got, err := c.Labels(context.Background(), []string{"Q1"}, []string{"fr", "en"}); err != nil ||
		got["Q1"] != "univers" {
		t.Errorf("another language is requested: %v %v", got, err)
	}
}

func TestLabelsWhenOneFailsTheCall(t *testing.T) {
	bad := reply{status: 200, body: `{"error":{"code":"no-such-entity","info":"x"}}`}
	s := newService(t).on("/api", bad, reply{status: 200, body: labelsOf("Q1", "one")}, bad)
	got, err := s.client(nil, nil).Labels(context.Background(), []string{"Q1", "Q2"}, []string{"en"})
	if err != nil || len(got) != 1 || got["Q1"] != "one" {
		t.Errorf("%v %v", got, err)
	}
}

func TestAPIRetries(t *testing.T) {
	s := newService(t).on("/api", reply{status: 200, header: map[string]string{"Retry-After": "5"},
		body: `{"error":{"code":"maxlag","info":"Waiting for a server"}}`},
		reply{status: 200, body: `{"error":{"code":"internal_api_error_DBQueryError","info":"x"}}`}, reply{status: 200,
			body: `{"search":[]}`})
	if _, err := s.client(nil, nil).Search(context.Background(), kg.SearchQuery{Text: "x"}); err != nil {
		t.Fatal(err)
	}
	if got := s.clock.Slept(); len(got) != 2 || got[0] != 5*time.Second || got[1] != 2*time.Second {
		t.Errorf("slept %v", got)
	}
}

func TestNewRefusesBadSettings(t *testing.T) {
	for _, cfg := range []Config{{}, {UserAgent: "x"}, {UserAgent: "SpinachBot (me)", SPARQL: "query.wikidata.org"},
		{UserAgent: "SpinachBot (me)", Fallback: "file:///etc"}} {
		if _, err := New(nil, cfg, nil, nil, nil, nil); err == nil {
			t.Errorf("%+v: want an error", cfg)
		}
	}
}

// The expected terms are the ones that the query service returns (data model: mediawiki.org, Wikibase/Indexing/RDF Dump
// Format).
func TestValues(t *testing.T) {
	tm := func(s string, precision int, calendar string) string {
		return fmt.Sprintf(`{"snaktype":"value","datatype":"time","datavalue":{"type":"time","value":{"time":%q,"precision":%d,"calendarmodel":"http://www.wikidata.org/entity/%s"}}}`, s, precision, calendar)
	}
	const greg, julian = "Q1985727", "Q1985786"
	str := func(datatype, v string) string {
		return fmt.Sprintf(`{"snaktype":"value","datatype":%q,"datavalue":{"type":"string","value":%q}}`, datatype, v)
	}
	at := func(s string, p int) kg.Value { return kg.Value{Term: rdf.Typed(s, rdf.XSDDateTime), Precision: p} }
	for _, tt := range []struct {
		name, snak string
		want       kg.Value
	}{
		{"day", tm("+2001-12-31T00:00:00Z", 11, greg), at("2001-12-31T00:00:00Z", 11)},
		{"month", tm("+1991-11-00T00:00:00Z", 10, greg), at("1991-11-01T00:00:00Z", 10)},
		{"year", tm("+1971-00-00T00:00:00Z", 9, greg), at("1971-01-01T00:00:00Z", 9)},
		{"year below 1000", tm("+0800-00-00T00:00:00Z", 9, greg), at("0800-01-01T00:00:00Z", 9)},
		{"year BCE", tm("-0044-00-00T00:00:00Z", 9, julian), at("-0043-01-01T00:00:00Z", 9)},
		{"1 BCE", tm("-0001-00-00T00:00:00Z", 9, greg), at("0000-01-01T00:00:00Z", 9)},
		{"the Ides of March", tm("-0044-03-15T00:00:00Z", 11, julian), at("-0043-03-13T00:00:00Z", 11)},
		{"October Revolution", tm("+1917-10-25T00:00:00Z", 11, julian), at("1917-11-07T00:00:00Z", 11)},
		{"first day of the Gregorian calendar", tm("+1582-10-05T00:00:00Z", 11, julian), at("1582-10-15T00:00:00Z", 11)},
		{"Julian leap day", tm("+1900-02-29T00:00:00Z", 11, julian), at("1900-03-13T00:00:00Z", 11)},
		{"no such day", tm("+2023-02-30T00:00:00Z", 11, greg), at("2023-02-28T00:00:00Z", 11)},
		{"Big Bang", tm("-13798000000-00-00T00:00:00Z", 3, greg), at("-13798000000-01-01T00:00:00Z", 3)}, // as in Wikidata's RDF
		{"bad time", tm("yesterday", 11, greg), kg.Value{Unknown: true}},
		{"quantity", `{"snaktype":"value","datatype":"quantity","datavalue":{"type":"quantity","value":{"amount":"+10","unit":"1"}}}`, kg.Value{Term: rdf.Typed("10", rdf.XSDDecimal)}},
		{"negative", `{"snaktype":"value","datatype":"quantity","datavalue":{"type":"quantity","value":{"amount":"-4.50","unit":"http://www.wikidata.org/entity/Q25267"}}}`,
			kg.Value{Term: rdf.Typed("-4.50", rdf.XSDDecimal), Unit: "Q25267"}},
		{"coordinate", `{"snaktype":"value","datatype":"globe-coordinate","datavalue":{"type":"globecoordinate","value":{"latitude":52.516666666,"longitude":-13.5,"altitude":null,"globe":"http://www.wikidata.org/entity/Q2"}}}`,
			kg.Value{Term: rdf.Typed("Point(-13.5 52.516666666)", rdf.GeoWKT)}},
		{"on the Moon", `{"snaktype":"value","datatype":"globe-coordinate","datavalue":{"type":"globecoordinate","value":{"latitude":0.67,"longitude":23.47,"globe":"http://www.wikidata.org/entity/Q405"}}}`,
			kg.Value{Term: rdf.Typed("<http://www.wikidata.org/entity/Q405> Point(23.47 0.67)", rdf.GeoWKT)}},
		{"monolingual", `{"snaktype":"value","datatype":"monolingualtext","datavalue":{"type":"monolingualtext","value":{"text":"Köln","language":"de"}}}`, kg.Value{Term: rdf.LangString("Köln", "de")}},
		{"string", str("string", "a\"b"), kg.Value{Term: rdf.String("a\"b")}},
		{"url", str("url", "https://example.org/?a=b"), kg.Value{Term: rdf.IRI("https://example.org/?a=b")}},
		{"file", str("commonsMedia", "Douglas adams portrait (cropped).jpg"),
			kg.Value{Term: rdf.IRI("http://commons.wikimedia.org/wiki/Special:FilePath/Douglas%20adams%20portrait%20%28cropped%29.jpg")}},
		{"shape", str("geo-shape", "Data:Berlin.map"),
			kg.Value{Term: rdf.IRI("http://commons.wikimedia.org/data/main/Data%3ABerlin.map")}},
		{"property", `{"snaktype":"value","datatype":"wikibase-property","datavalue":{"type":"wikibase-entityid","value":{"entity-type":"property","id":"P31","numeric-id":31}}}`, kg.Value{Term: rdf.IRI(rdf.Entity + "P31")}},
		{"item without id", `{"snaktype":"value","datatype":"wikibase-item","datavalue":{"type":"wikibase-entityid","value":{"entity-type":"item","numeric-id":42}}}`, kg.Value{Term: rdf.IRI(rdf.Entity + "Q42")}},
		{"sense", `{"snaktype":"value","datatype":"wikibase-sense","datavalue":{"type":"wikibase-entityid","value":{"entity-type":"sense","id":"L3-S1"}}}`, kg.Value{Term: rdf.IRI(rdf.Entity + "L3-S1")}},
		{"bad id", `{"snaktype":"value","datatype":"wikibase-item","datavalue":{"type":"wikibase-entityid","value":{"id":"Q1> ?x"}}}`, kg.Value{Unknown: true}},
		{"unknown value", `{"snaktype":"somevalue","datatype":"time"}`, kg.Value{Unknown: true}},
		{"no value", `{"snaktype":"novalue","datatype":"time"}`, kg.Value{None: true}},
		{"value of a form we do not know", `{"snaktype":"value","datatype":"new","datavalue":{"type":"new","value":{"a":1}}}`,
			kg.Value{Unknown: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s rawSnak
			if err := json.Unmarshal([]byte(tt.snak), &s); err != nil {
				t.Fatal(err)
			}
			if got := s.value(); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Go uses the proleptic Gregorian calendar. Every day must be recovered from its day number, and the following day must
// have the next number.
func TestGregorianAgainstGo(t *testing.T) {
	jdn := julianDay(-4712, 1, 1) // day 0 by definition
	if jdn != 0 {
		t.Fatalf("1 January 4713 BCE has the number %d", jdn)
	}
	first := time.Date(-4713, 11, 24, 0, 0, 0, 0, time.UTC) // the same day in the Gregorian calendar
	for n := 0; n < 3_000_000; n += 97 {
		want := first.AddDate(0, 0, n)
		y, m, d := gregorian(int64(n))
		if int(y) != want.Year() || m != int(want.Month()) || d != want.Day() {
			t.Fatalf("day %d: %d-%d-%d, want %s", n, y, m, d, want.Format(time.DateOnly))
		}
	}
}

func FuzzEntity(f *testing.F) {
	f.Add(page)
	f.Add(`{"entities":[]}`)
	f.Fuzz(func(t *testing.T, body string) {
		var a entitiesAnswer
		if json.Unmarshal([]byte(body), &a) != nil {
			return
		}
		for _, raw := range a.Entities {
			e := raw.page([]string{"de", "mul", "en"})
			visit(e, func(string, *string) {})
			for _, c := range e.Claims {
				for _, s := range c.Statements {
					if v := s.Value; !v.Unknown && !v.None && !v.Term.Bound() {
						t.Errorf("a value that is nothing: %+v", v)
					}
				}
			}
		}
	})
}
