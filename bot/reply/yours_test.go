package reply

import (
	"testing"

	"github.com/spinachbot/spinachbot/forum"
)

func TestYours(t *testing.T) {
	for query, want := range map[string]forum.Fault{
		"SELECT ?m {\n ?m wdt:P31 wd:Q8502 ; p:P2044 ?h . FILTER(?h > 8000) }": {Kind: forum.FaultStatement, ID: "P2044"},
		"SELECT ?m { ?m p:P2044 ?h } ORDER BY DESC(?h)":                        {Kind: forum.FaultStatement, ID: "P2044"},
		"SELECT ?m { ?m p:P2044 ?s . ?s ps:P2044 ?h . FILTER(?h > 8000) }":     {},
		"SELECT ?m { ?m p:P2044 ?s . ?s ps:P2044 ?h . FILTER(BOUND(?s)) }":     {},
		// these are about statements
		"SELECT ?m ?n { { SELECT ?m (COUNT(?s) AS ?n) { ?m p:P39 ?s } GROUP BY ?m } }":                    {},
		"SELECT ?m { ?m p:P39 ?s }  GROUP BY ?m HAVING(COUNT(?s) > 2)":                                    {},
		"SELECT ?m { ?m p:P39 ?s , ?t . FILTER(?s != ?t) }":                                               {},
		"SELECT ?m { ?m wdt:P31 wd:Q5 . OPTIONAL { ?m p:P569 ?s } FILTER(!BOUND(?s)) }":                   {},
		"SELECT ?m { ?m p:P39 ?s . BIND(?s AS ?t) ?t ps:P39 ?o }":                                         {},
		"SELECT ?m { ?m p:P39 ?s . FILTER(?s IN (wds:Q1-A, wds:Q1-B)) }":                                  {},
		"SELECT ?m { ?m p:P39 ?s . FILTER(?s = wd:Q11696) }":                                              {Kind: forum.FaultStatement, ID: "P39"},
		"SELECT ?m { ?m p:P39 ?s . FILTER(?s IN (wd:Q1, wd:Q2)) }":                                        {Kind: forum.FaultStatement, ID: "P39"},
		"SELECT ?m { ?m p:P569 ?s . FILTER(YEAR(?s) = 1900) }":                                            {Kind: forum.FaultStatement, ID: "P569"},
		"SELECT ?m { ?m p:P2044 ?h . BIND(?h * 2 AS ?d) }":                                                {Kind: forum.FaultStatement, ID: "P2044"},
		"SELECT ?m { ?m wdt:P2044 ?h . FILTER(?h > 8000) }":                                               {},
		"SELECT ?m WHERE {\n  ?m wdt:P31 wd:Q8502 .\n  FILTER(?h > \n}":                                   {Kind: forum.FaultSyntax, Line: 4},
		"SELECT ?m { ?m wdt:P31 wd:Q8502 . OPTIONAL { ?m p:P2044 ?x } FILTER NOT EXISTS { ?m p:P1 ?y } }": {},
		"SELECT ?p { ?p wd:P166 wd:Q37922 ; wdt:P27 ?c }":                                                 {Kind: forum.FaultEntity, ID: "P166"},
		"SELECT ?p { ?p p:P166 wd:Q37922 }":                                                               {Kind: forum.FaultStatement, ID: "P166"},
		"SELECT ?s { wd:P166 wdt:P31 ?c . ?s ?p wd:P166 }":                                                {},
		"SELECT ?p { ?p p:P166 [ ps:P166 wd:Q37922 ] }":                                                   {},
		"SELECT ?p { ?p p:P569 wdno:P569 . ?p p:P27 wds:Q1-Abc }":                                         {},
		// the subject of a wdt: property is an item
		"SELECT ?a { wd:Q319308 p:P166 ?a . ?a wdt:P31 wd:Q618779 }":                 {Kind: forum.FaultStatement, ID: "P166"},
		"SELECT ?a { wd:Q319308 p:P166 ?a . ?a wdt:P31/wdt:P279* wd:Q618779 }":       {Kind: forum.FaultStatement, ID: "P166"},
		"SELECT ?a { wd:Q319308 p:P166 ?s . ?s ps:P166/wdt:P31 wd:Q618779 }":         {},
		"SELECT ?a { wd:Q319308 p:P166 ?s . ?s ps:P166 ?a . ?a wdt:P31 wd:Q1 }":      {},
		"SELECT ?a { ?a p:P166 ?s ; wdt:P31 wd:Q5 . ?s pq:P585 ?t . ?x ^wdt:P1 ?s }": {},
	} {
		if got := Yours(query); got != want {
			t.Errorf("%s: %+v, want %+v", query, got, want)
		}
	}
}

func TestTextForItem(t *testing.T) {
	const answer = "SELECT ?c { ?c wdt:P31 wd:Q6256 ; wdt:P30 wd:Q15 }"
	for query, want := range map[string]forum.Fault{
		`SELECT ?c { ?c wdt:P31 wd:Q6256 ; wdt:P30 "Africa" }`:            {Kind: forum.FaultText, ID: "P30", Item: "Q15", Text: "Africa"},
		`SELECT ?c { ?c wdt:P30 "Afrika"@de }`:                            {Kind: forum.FaultText, ID: "P30", Item: "Q15", Text: "Afrika"},
		`SELECT ?c { ?c p:P30 ?s . ?s ps:P30 "Africa" }`:                  {Kind: forum.FaultText, ID: "P30", Item: "Q15", Text: "Africa"},
		`SELECT ?c { ?c wdt:P30 wd:Q15 }`:                                 {},
		`SELECT ?c { ?c wdt:P30 "Africa" . ?d wdt:P30 "Asia" }`:           {}, // which of them?
		`SELECT ?c { ?c wdt:P298 "DEU" }`:                                 {}, // codes are strings
		`SELECT ?c { ?c wdt:P30 ?x . ?x rdfs:label "Africa"@en }`:         {},
		`SELECT ?c { ?c wdt:P30 "Africa" `:                                {},
		`SELECT ?c { ?c wdt:P31 "country" ; wdt:P1082 2 } # P31 is Q6256`: {Kind: forum.FaultText, ID: "P31", Item: "Q6256", Text: "country"},
	} {
		if got := TextForItem(query, answer); got != want {
			t.Errorf("%s: %+v, want %+v", query, got, want)
		}
	}
	if got := TextForItem(`SELECT ?c { ?c wdt:P30 "Africa" }`, "not a query"); got != (forum.Fault{}) {
		t.Errorf("%+v", got)
	}
}

// Posters who wrote that their query returns nothing are not told so.
func TestKnown(t *testing.T) {
	empty, slow := forum.Fault{Kind: forum.FaultEmpty}, forum.Fault{Kind: forum.FaultSlow}
	for _, tt := range []struct {
		f    forum.Fault
		post string
		want bool
	}{
		{empty, "My query returns nothing at all. What is wrong?", false}, {empty, "Meine Abfrage liefert keine Ergebnisse.", false},
		{empty, "Mi consulta no devuelve nada.", false}, {empty, "Ma requête ne renvoie aucun résultat", false},
		{empty, "Мой запрос ничего не находит.", false}, {empty, "I want all mountains above 8000 metres.", true},
		{empty, "It always times out.", true}, {slow, "It always times out.", false}, {slow, "Sie läuft in eine Zeitüberschreitung.", false},
		{forum.Fault{Kind: forum.FaultSyntax, Line: 3}, "It returns nothing.", true},
	} {
		if got := Known(tt.f, tt.post); (got == tt.f) != tt.want {
			t.Errorf("%s: %+v", tt.post, got)
		}
	}
}

// A qualifier belongs to a statement, so a wdt: property of the item does not match it.
func TestQualifierAsProperty(t *testing.T) {
	const answer = "SELECT ?a ?r { wd:Q213081 p:P161 ?st . ?st ps:P161 ?a ; pq:P453 ?r }"
	for query, want := range map[string]string{"SELECT ?a ?r { wd:Q213081 wdt:P161 ?a . ?a wdt:P453 ?r }": "P453", "SELECT ?a { wd:Q213081 wdt:P161 ?a }": "",
		answer: "", "SELECT ?a ?r { wd:Q213081 wdt:P161 ?a . ?a wdt:P453/wdt:P31 ?r }": "P453", "not a query": ""} {
		if f := Instead(query, answer); f.ID != want || want != "" && f.Kind != forum.FaultQualifier {
			t.Errorf("%s: %+v", query, f)
		}
	}
	if f := Instead(`SELECT ?c { ?c wdt:P30 "Africa" }`, "SELECT ?c { ?c wdt:P30 wd:Q15 }"); f.Kind != forum.FaultText {
		t.Errorf("%+v", f)
	}
}
