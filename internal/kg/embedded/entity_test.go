package embedded

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
)

const pageData = `
wd:Q1 rdfs:label "One"@en, "Eins"@de ; schema:description "the first"@en ; skos:altLabel "I"@en ; wikibase:sitelinks 7 ;
  p:P39 wds:Q1-a, wds:Q1-b, wds:Q1-c ; p:P569 wds:Q1-d ; p:P26 wds:Q1-e ; p:P40 wds:Q1-f ; p:P2044 wds:Q1-g ; p:P214 wds:Q1-h ; wdt:P1412 wd:Q2 ; wdt:P39 wd:Q2 .
wds:Q1-a ps:P39 wd:Q2 ; wikibase:rank wikibase:NormalRank ; pq:P580 "1900-01-01T00:00:00Z"^^xsd:dateTime ; pqv:P580 wdv:d1 ; pq:P1365 wd:Q3 ; a wdno:P1366 .
wds:Q1-b ps:P39 wd:Q3 ; wikibase:rank wikibase:PreferredRank .
wds:Q1-c ps:P39 wd:Q1 ; wikibase:rank wikibase:DeprecatedRank .
wds:Q1-d ps:P569 "-0043-01-01T00:00:00Z"^^xsd:dateTime ; psv:P569 wdv:d2 ; wikibase:rank wikibase:NormalRank .
wds:Q1-e ps:P26 [] ; wikibase:rank wikibase:NormalRank .
wds:Q1-f a wdno:P40 ; wikibase:rank wikibase:NormalRank .
wds:Q1-g ps:P2044 12.5 ; psv:P2044 wdv:q1 .
wds:Q1-h ps:P214 "12345" .
wdv:d1 wikibase:timeValue "1900-01-01T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision 9 .
wdv:d2 wikibase:timeValue "-0043-01-01T00:00:00Z"^^xsd:dateTime ; wikibase:timePrecision 9 .
wdv:q1 wikibase:quantityAmount 12.5 ; wikibase:quantityUnit wd:Q11573 .
wd:Q2 rdfs:label "Two"@en . wd:Q3 rdfs:label "Trois"@fr . wd:Q11573 rdfs:label "metre"@en .
wd:Q9 owl:sameAs wd:Q1 .
wd:P39 a wikibase:Property ; rdfs:label "position held"@en, "Amt"@de ; wikibase:propertyType wikibase:WikibaseItem ; p:P1855 wds:P39-x .
wds:P39-x ps:P1855 wd:Q1 ; pq:P39 wd:Q2, wd:Q3 ; pq:P580 "1999-01-01T00:00:00Z"^^xsd:dateTime .
wd:P214 a wikibase:Property ; wikibase:propertyType wikibase:ExternalId .
wd:P569 a wikibase:Property ; rdfs:label "date of birth"@en ; wikibase:propertyType wikibase:Time .
`

func showValue(v kg.Value) string {
	switch {
	case v.Unknown:
		return "somevalue"
	case v.None:
		return "novalue"
	}
	s := cell(v.Term)
	if v.Label != "" {
		s += "(" + v.Label + ")"
	}
	if v.Precision != 0 {
		s += fmt.Sprintf("/%d", v.Precision)
	}
	if v.Unit != "" {
		s += " " + v.Unit + "(" + v.UnitLabel + ")"
	}
	return s
}

func showEntity(e *kg.Entity) string {
	var b strings.Builder
	for _, c := range e.Claims {
		fmt.Fprintf(&b, "%s(%s)%s:", c.Property.ID, c.Property.Label, c.Datatype)
		for _, st := range c.Statements {
			fmt.Fprintf(&b, " %s %s", st.Rank, showValue(st.Value))
			for _, q := range st.Qualifiers {
				fmt.Fprintf(&b, " [%s", q.Property.ID)
				for _, v := range q.Values {
					b.WriteString(" " + showValue(v))
				}
				b.WriteString("]")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestEntity(t *testing.T) {
	g := graphOf(t, pageData)
	e, err := g.Entity(context.Background(), "Q1", "de")
	if err != nil {
		t.Fatal(err)
	}
	if e.ID != "Q1" || e.Label != "Eins" || e.Description != "the first" || len(e.Aliases) != 0 || e.Sitelinks != 7 {
		t.Errorf("got %+v", e)
	}
	want := `P26(): normal somevalue
P39(Amt)wikibase-item: preferred wd:Q3 normal wd:Q2(Two) [P580 1900-01-01T00:00:00Z^dateTime/9] [P1365 wd:Q3] [P1366 novalue] deprecated wd:Q1(Eins)
P40(): normal novalue
P569(date of birth)time: normal -0043-01-01T00:00:00Z^dateTime/9
P1412(): normal wd:Q2(Two)
P2044(): normal 12.5 Q11573(metre)
`
	if got := showEntity(e); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if full, err := g.Page(context.Background(), "Q1", "en", true); err != nil || !strings.Contains(showEntity(full),
		`P214()external-id: normal "12345"`) {
		t.Errorf("with external identifiers: %v", err)
	}
	if r, err := g.Entity(context.Background(), "Q9", "en"); err != nil || r.ID != "Q1" {
		t.Errorf("a redirect: %v %v", r, err)
	}
	for num, kind := range map[string]kg.Kind{"Q77": kg.NotFound, "Q01": kg.BadID, "": kg.BadID, "L1": kg.BadID,
		"../etc": kg.BadID, "P999": kg.NotFound} {
		if _, err := g.Entity(context.Background(), num, "en"); kg.KindOf(err) != kind {
			t.Errorf("%q: %v, want %s", num, err, kind)
		}
	}
}

func TestExamples(t *testing.T) {
	g := graphOf(t, pageData)
	ex, err := g.Examples(context.Background(), "P39", "en")
	if err != nil || len(ex) != 2 || ex[0].Subject != (kg.PropertyRef{ID: "Q1", Label: "One"}) || showValue(ex[0].Value)+
		" "+showValue(ex[1].Value) != "wd:Q2(Two) wd:Q3" {
		t.Errorf("got %+v, %v", ex, err)
	}
	if ex, err := g.Examples(context.Background(), "P569", "en"); err != nil || len(ex) != 0 {
		t.Errorf("a property without examples: %v %v", ex, err)
	}
	if _, err := g.Examples(context.Background(), "Q1", "en"); kg.KindOf(err) != kg.BadID {
		t.Errorf("an item: %v", err)
	}
}

func TestSearchAndLabels(t *testing.T) {
	g := graphOf(t, pageData)
	search := func(text, lang string, typ kg.Type) string {
		res, err := g.Search(context.Background(), kg.SearchQuery{Text: text, Language: lang, Type: typ, Limit: 10})
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, h := range res.Hits {
			out = append(out, fmt.Sprintf("%s %s %s:%s:%s", h.ID, h.Label, h.MatchType, h.MatchLanguage, h.MatchText))
		}
		return strings.Join(out, " | ")
	}
	for _, c := range []struct {
		text, lang string
		typ        kg.Type
		want       string
	}{
		{"eins", "de", kg.Item, "Q1 Eins label:de:Eins"},
		{"on", "de", kg.Item, "Q1 Eins label:en:One"},
		{"i", "en", "", "Q1 One alias:en:I"},
		{"q1", "fr", kg.Item, "Q1 One entityId::Q1"},
		{"Q1", "fr", kg.Property, ""},
		{"amt", "de", kg.Property, "P39 Amt label:de:Amt"},
		{"", "en", kg.Item, ""},
	} {
		if got := search(c.text, c.lang, c.typ); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.text, c.lang, got, c.want)
		}
	}
	labels, err := g.Labels(context.Background(), []string{"Q1", "Q2", "Q3", "P39", "Q77", "nonsense"},
		[]string{"de", "en"})
	if want := "map[P39:Amt Q1:Eins Q2:Two]"; err != nil || fmt.Sprint(labels) != want {
		t.Errorf("labels: %v %v, want %s", labels, err, want)
	}
}

// Graphs that share their triples have their own names, clocks and limits.
func TestWith(t *testing.T) {
	first := graphOf(t, `wd:Q1 rdfs:label "cat"@en . wd:Q2 rdfs:label "dog"@en .`)
	at := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	second := first.With(Options{Name: "second", MaxRows: 1, Now: func() time.Time { return at }})
	for g, want := range map[*Graph]string{first: "not_found: there is no Q3 in the embedded graph",
		second: "not_found: there is no Q3 in the second"} {
		found, err := g.Search(t.Context(), kg.SearchQuery{Text: "dog", Language: "en", Limit: 5})
		if err != nil || len(found.Hits) != 1 || found.Hits[0].ID != "Q2" {
			t.Errorf("%s: %+v, %v", g.Name(), found, err)
		}
		if _, err := g.Entity(t.Context(), "Q3", "en"); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	table, err := second.Query(t.Context(), `SELECT (NOW() AS ?now) {}`)
	if err != nil || table.Rows[0][0].Value != "2026-03-04T00:00:00Z" {
		t.Errorf("%+v, %v", table, err)
	}
	const both = `SELECT ?x { ?x rdfs:label ?l }`
	if _, err := second.Query(t.Context(), both); kg.KindOf(err) != kg.TooLarge {
		t.Errorf("two rows with a limit of one: %v", err)
	}
	if table, err := first.Query(t.Context(), both); err != nil || len(table.Rows) != 2 {
		t.Errorf("%+v, %v", table, err)
	}
}
