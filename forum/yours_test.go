package forum

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/forum/already"
)

func TestYours(t *testing.T) {
	for _, tt := range []struct {
		language, short string
		fault           Fault
		want            string
	}{
		{"en", "Fourteen mountains.", Fault{Kind: FaultSyntax, Line: 1234}, "Your query has a syntax error in line 1234."},
		{"en", "Fourteen mountains.", Fault{Kind: FaultStatement, ID: "P2044"},
			"In your query, p:P2044 leads to a statement and not to its value; wdt:P2044 leads to the value."},
		{"de", "Vierzehn Berge.", Fault{Kind: FaultEmpty}, "Deine Abfrage läuft ohne Fehler, liefert aber keine Ergebnisse."},
		{"fr", "Quatorze.", Fault{Kind: FaultSlow}, "Votre requête dépasse le temps d’exécution autorisé par le service de requêtes."},
		{"en", "Your query asked p:P2044, which is a statement.", Fault{Kind: FaultStatement, ID: "P2044"}, ""}, // said
		{"en", "Fifty-four countries.", Fault{Kind: FaultText, ID: "P30", Item: "Q15", Text: "Africa [[x]]"},
			"In your query, “Africa &#91;&#91;x&#93;&#93;” is a text, but the values of P30 are items: here wd:Q15."},
		{"en", "The query returns 14 rows.", Fault{Kind: FaultEmpty}, "Your query runs without an error, but returns no rows."}, // about the answer's query
		{"de", "Die Abfrage liefert 14 Zeilen.", Fault{Kind: FaultEmpty}, "Deine Abfrage läuft ohne Fehler, liefert aber keine Ergebnisse."},
		{"en", "A statement is not a height: wdt:P2044 leads to it.", Fault{Kind: FaultEmpty}, ""}, // the answer explains why
		{"es", "La consulta que pusiste compara una declaración con un número.", Fault{Kind: FaultEmpty}, ""},
		{"de", "Die gepostete Abfrage vergleicht eine Aussage mit einer Zahl.", Fault{Kind: FaultEmpty}, ""},
		{"en", "Your query has a bracket too many.", Fault{Kind: FaultSyntax, Line: 3}, ""},
		{"en", "Fourteen.", Fault{Kind: FaultStatement, ID: "P1]] {{x}}"}, ""},
		{"en", "Fourteen.", Fault{}, ""},
	} {
		r := Reply{Language: tt.language, To: "A", Short: tt.short, Query: "SELECT ?x WHERE { ?x wdt:P31 wd:Q5 . }", Yours: tt.fault,
			Signature: "~~~~"}
		w, err := Compose(r, ":")
		if err != nil {
			t.Fatal(err)
		}
		if tt.want != "" && !strings.Contains(w, "\n:"+tt.want+"\n") ||
			tt.want == "" && (strings.Contains(w, "In your query") || strings.Contains(w, "syntax") ||
				strings.Contains(w, Texts(tt.language).Text("yours_empty")) || strings.Contains(w, "P1]]")) {
			t.Errorf("%s %+v:\n%s", tt.language, tt.fault, w)
		}
	}
}

// Like an editor's reply, the bot's reply explains the fault in the poster's query before it shows the new query.
func TestYoursComesBeforeTheQuery(t *testing.T) {
	r := Reply{To: "A", Short: "Fourteen.", Query: "ASK { }", Yours: Fault{Kind: FaultEmpty}, Signature: "~~~~"}
	w, err := Compose(r, ":")
	if err != nil || strings.Index(w, "returns no rows") > strings.Index(w, "{{SPARQL") {
		t.Errorf("%v\n%s", err, w)
	}
}

// The bot recognizes references to the poster's query in each language, so that it does not mention a fault twice.
func TestYoursIsSaidOnce(t *testing.T) {
	for language, short := range map[string]string{"en": "Your own query is empty.", "de": "In deiner Abfrage fehlt ein Punkt.",
		"fr": "Votre requête est vide.", "es": "A tu consulta le falta algo.", "it": "La tua query è vuota.", "pt": "A sua consulta está vazia.",
		"nl": "Je query is leeg.", "pl": "Twoje zapytanie jest puste.", "ru": "В вашем запросе ошибка.", "ja": "ご提示のクエリは空です。",
		"zh": "您的查询没有结果。", "ar": "استعلامك فارغ."} {
		w, err := Compose(Reply{Language: language, To: "A", Short: short, Query: "ASK { }", Yours: Fault{Kind: FaultEmpty}, Signature: "~~~~"}, ":")
		if said := Texts(language).Text("yours_empty"); err != nil || strings.Contains(w, said) || !already.YourQuery(said) {
			t.Errorf("%s: %v\n%s", language, err, w)
		}
	}
}

// Columns that do not fit on a phone are listed by name, and rows that look the same without them are shown once.
func TestColumnsLeftOut(t *testing.T) {
	long := Cell{Text: strings.Repeat("1", 20), Kind: "number"} // numbers are not broken
	r := Reply{To: "A", Short: "x", Query: "ASK { }", Signature: "~~~~", Total: 5, Vars: []string{"a", "b", "c", "d"},
		Headers: []string{"a", "b", "term", "party [[y]]"}}
	for _, last := range []string{"1", "2", "3"} {
		r.Rows = append(r.Rows, []Cell{long, long, long, {Text: last}})
	}
	w, err := Compose(r, ":")
	if err != nil || strings.Count(w, "\n|-\n") != 1 || !strings.Contains(w, "And 4 more rows: ") ||
		!strings.Contains(w, "2 more columns are left out here: “term”, “party &#91;&#91;y&#93;&#93;”.") {
		t.Errorf("%v\n%s", err, w)
	}
	r.Sorted = []string{"d"} // kept, since the rows are in its order
	if w, err := Compose(r, ":"); err != nil || !strings.Contains(w, "\n! a !! party &#91;&#91;y&#93;&#93;\n") ||
		!strings.Contains(w, "2 more columns are left out here: “b”, “term”.") || strings.Count(w, "\n|-\n") != 3 {
		t.Errorf("%v\n%s", err, w)
	}
	r.Vars, r.Headers = r.Vars[:2], r.Headers[:2] // with all columns, the rows are the same as in the query's result
	for i := range r.Rows {
		r.Rows[i] = r.Rows[i][:2]
	}
	if w, err = Compose(r, ":"); err != nil || strings.Count(w, "\n|-\n") != 3 {
		t.Errorf("%v\n%s", err, w)
	}
}

// A single value with no accompanying text is the answer and is shown only once.
func TestSingleValue(t *testing.T) {
	for _, tt := range []struct{ short, first, last string }{
		{"", ":@A: Result: npr.org", ""},
		{"It is this one.", ":@A: It is this one.", "\n:Result: npr.org\n"},
		{"It is npr.org.", ":@A: It is npr.org.", ""},
	} {
		r := Reply{To: "A", Short: tt.short, Query: "SELECT ?w { }", Vars: []string{"w"}, Rows: [][]Cell{{{Text: "npr.org"}}}, Total: 1,
			Signature: "~~~~"}
		w, err := Compose(r, ":")
		if err != nil || !strings.HasPrefix(w, tt.first+"\n") || tt.last != "" && !strings.Contains(w, tt.last) ||
			strings.Count(w, "npr.org") != 1 || strings.Contains(w, "one row") {
			t.Errorf("%q: %v\n%s", tt.short, err, w)
		}
	}
}

// An ASK query has no rows to count.
func TestAskStep(t *testing.T) {
	yes := true
	r := Reply{To: "A", Short: "Yes.", Query: "ASK { }", Boolean: &yes, Signature: "~~~~", Steps: []Step{{Kind: StepQuery, Ask: true},
		{Kind: StepQuery, Ask: true, Failed: true}, {Kind: StepQuery}}}
	w, err := Compose(r, ":")
	if want := "\n# Ran a query\n# Ran a query: it failed\n# Ran a query: no rows\n"; err != nil || !strings.Contains(w, want) {
		t.Errorf("%v\n%s", err, w)
	}
}

// An answer that names the missing bracket has already explained the mistake.
func TestSyntaxSaidByTheAnswer(t *testing.T) {
	for short, want := range map[string]bool{"Faltava fechar uma chaveta.": false, "A closing brace was missing.": false, "Here are the countries.": true} {
		w, err := Compose(Reply{Language: "en", Short: short, Query: "ASK {}", Yours: Fault{Kind: FaultSyntax, Line: 6}, Signature: "~~~~"}, ":")
		if err != nil || strings.Contains(w, "line 6") != want {
			t.Errorf("%s: %v\n%s", short, err, w)
		}
	}
}

func TestQualifierFault(t *testing.T) {
	w, err := Compose(Reply{Language: "en", Short: "Here they are.", Query: "ASK {}", Yours: Fault{Kind: FaultQualifier, ID: "P453"}, Signature: "~~~~"}, ":")
	if want := ":In your query, wdt:P453 looks for the value at the item, but here it is a qualifier of a statement: pq:P453 leads to it.\n"; err != nil ||
		!strings.Contains(w, want) {
		t.Errorf("%v\n%s", err, w)
	}
}
