package forum

import (
	"fmt"
	"strings"
	"testing"
)

// BC dates, unknown values, files and lexemes are shown as people write them.
func TestValues(t *testing.T) {
	for _, tt := range []struct {
		language string
		cell     Cell
		want     string
	}{
		{"en", Cell{Text: "-0043-03-15", Kind: "day"}, "15 March 44 BC"},
		{"en", Cell{Text: "-0003-02-29", Kind: "day"}, "29 February 4 BC"},
		{"es", Cell{Text: "-9", Kind: "year"}, "10 a. C."},
		{"es", Cell{Text: "1950-05-01", Kind: "month"}, "mayo de 1950"},
		{"ru", Cell{Text: "1950-05-01", Kind: "month"}, "май 1950 года"},
		{"ja", Cell{Text: "1950-05-01", Kind: "month"}, "1950年5月"},
		{"en", Cell{Text: "1952", Kind: "year"}, "1952"},
		{"de", Cell{Kind: "unknown"}, "unbekannter Wert"},
		{"en", Cell{Text: "Schön a b.jpg", Kind: "file"}, "[[:commons:File:Schön a b.jpg|Schön a b.jpg]]"},
		{"en", Cell{Text: "Mount Everest as seen from Drukair2 PLW edit.jpg", Kind: "file"},
			"[[:commons:File:Mount Everest as seen from Drukair2 PLW edit.jpg|Mount Everest as seen from Drukair2 PLW …]]"},
		{"en", Cell{Text: "de:Österreich (Land)", Kind: "article"}, "[[:de:Österreich (Land)|de:Österreich (Land)]]"},
		{"en", Cell{Text: "de:Picard: A B", Kind: "article"}, "[[:de:Picard: A B|de:Picard: A B]]"},
		{"en", Cell{Text: "de:Benutzer:A", Kind: "article"}, "de:Benutzer:A"},
		{"en", Cell{Text: "de:A|B", Kind: "article"}, "de:A&#124;B"},
		{"nl", Cell{Text: "true", Kind: "boolean"}, "ja"}, {"zh", Cell{Text: "false", Kind: "boolean"}, "否"},
		{"en", Cell{Text: "a.org/b_c", Kind: "address"}, "a<wbr>.org/<wbr>b_<wbr>c"},
		{"en", Cell{Text: "stellantisnorthamerica.com", Kind: "address"}, "stellantisno<wbr>rthamerica<wbr>.com"},
		{"en", Cell{Text: "abcdefghijklmn", Kind: "address"}, "abcdefghijklmn"},
		{"en", Cell{Text: "x-ABCDEFGHIJKL789-", Kind: "address"}, "x-ABCDEFGHIJKL<wbr>789-"},
		{"en", Cell{Text: "a23456789012345678901234567890", Kind: "address"}, "a23456789012<wbr>345678901234567<wbr>890"},
		{"en", Cell{Text: "wikibase:Url", Kind: "address"}, "wikibase:<wbr>Url"},
		{"en", Cell{Text: "https://x", Kind: "address"}, "https&#58;/<wbr>/<wbr>x"},
		{"de", Cell{Text: "preferred", Kind: "rank"}, "bevorzugt"},
		{"en", Cell{Text: "Croydon (EGCR)"}, "Croydon (EGCR)"},
		{"en", Cell{Text: "Croydon (CEST)"}, "Croydon &#40;CEST)"},
		{"en", Cell{Text: "a]] {{x}}.jpg", Kind: "file"}, "a&#93;&#93; &#123;&#123;x&#125;&#125;.jpg"},
		{"en", Cell{ID: "L1883"}, "[[Lexeme:L1883|L1883]]"},
	} {
		r := Reply{Language: tt.language, Short: "S.", Query: "SELECT ?a ?b { }", Vars: []string{"a", "b"},
			Rows: [][]Cell{{tt.cell, {Text: "x"}}}, Total: 1, Signature: "~~~~"}
		w, err := Compose(r, ":")
		if err != nil || !strings.Contains(w, "\n| "+tt.want+" || x\n") {
			t.Errorf("%s %+v: %v, want %q in\n%s", tt.language, tt.cell, err, tt.want, w)
		}
	}
}

// Lists use the comma of the reply's language.
func TestListComma(t *testing.T) {
	r := Reply{Language: "ja", Short: "S.", Query: "ASK { }", Signature: "~~~~",
		Steps: []Step{{Kind: StepNames, Things: []Cell{{ID: "Q1"}, {ID: "Q2"}}}, {Kind: StepNames}}}
	w, err := Compose(r, ":")
	if err != nil || !strings.Contains(w, "[[Q1]]、[[Q2]]") || !strings.Contains(w, "1ステップ") {
		t.Errorf("%v\n%s", err, w)
	}
}

// A step that examined many entities names the first four.
func TestManyThings(t *testing.T) {
	for n, want := range map[int]string{5: "[[Q4]], [[Q5]]\n", 6: "[[Q3]], [[Q4]], …\n"} {
		s := Step{Kind: StepLook}
		for i := range n {
			s.Things = append(s.Things, Cell{ID: fmt.Sprintf("Q%d", i+1)})
		}
		w, err := Compose(Reply{Language: "en", Short: "S.", Query: "ASK { }", Signature: "~~~~", Steps: []Step{s}}, ":")
		if err != nil || !strings.Contains(w, want) {
			t.Errorf("%d: %v\n%s", n, err, w)
		}
	}
}

// Empty cells are explained unless the model has made a remark, and the answer's query is marked among the steps.
func TestEmptyCells(t *testing.T) {
	r := Reply{Language: "en", Short: "S.", Query: "SELECT ?a ?b { }", Vars: []string{"a", "b"}, Signature: "~~~~", Total: 2,
		Rows: [][]Cell{{{Text: "x"}, {Text: "y"}}, {{Text: "z"}, {}}}, Steps: []Step{{Kind: StepQuery, Rows: 2, Answer: true}}}
	const said = "Empty cells have no value in the data."
	w, err := Compose(r, ":")
	if err != nil || !strings.Contains(w, said) || !strings.Contains(w, "\n# Ran a query: 2 rows (the query above)\n") {
		t.Errorf("%v\n%s", err, w)
	}
	r.LeftOpen = "One name is missing."
	if w, err = Compose(r, ":"); err != nil || strings.Contains(w, said) {
		t.Errorf("%v\n%s", err, w)
	}
	r.LeftOpen, r.Rows[1][1] = "", Cell{Text: "y"}
	if w, err = Compose(r, ":"); err != nil || strings.Contains(w, said) {
		t.Errorf("%v\n%s", err, w)
	}
}

// A reply without an answer may show the query that found nothing.
func TestTried(t *testing.T) {
	r := Reply{Language: "en", NoAnswer: "not_found", Short: "No mountain is a capital.", Tried: "SELECT ?m WHERE { ?m ?p 1 }",
		Signature: "~~~~", Steps: []Step{{Kind: StepSearch, Text: "x"}}}
	w, err := Compose(r, ":")
	if err != nil || !strings.Contains(w, "No mountain is a capital.\n:Query: {{SPARQL|query=\nSELECT ?m WHERE { ?m ?p 1 }\n}}\n:{|") {
		t.Errorf("%v\n%s", err, w)
	}
	for _, bad := range []Reply{
		{Language: "en", NoAnswer: "not_found", Tried: "SELECT ?m }} [[x]]", Signature: "~~~~"},
		{Language: "en", Query: "ASK { }", Tried: "ASK { }", Signature: "~~~~"},
	} {
		if w, err := Compose(bad, ":"); err == nil {
			t.Errorf("composed %s", w)
		}
	}
}

// Columns without a value are not mentioned again if the model has mentioned all of them.
func TestMissingOnce(t *testing.T) {
	for _, tt := range []struct {
		short, note string
		told        bool
	}{
		{"S.", "Dates of birth and spouses are missing for all of them.", true},
		{"The spouse and the date of birth are not known.", "", true},
		{"The data gives neither the birth nor the spouse.", "", true},
		{"The data has no birth and no spouse.", "", true},
		{"All have a birth and a spouse.", "", false},
		{"S.", "Dates of birth are missing for all of them.", false},
		{"S.", "Some names are missing, and dates of death.", false},
		{"S.", "", false},
	} {
		r := Reply{Language: "en", Short: tt.short, Query: "SELECT ?a ?b { }", Vars: []string{"a", "b"}, Signature: "~~~~",
			Rows: [][]Cell{{{Text: "x"}, {Text: "y"}}}, Total: 1, NoValues: []string{"date of birth", "spouse"}, LeftOpen: tt.note}
		w, err := Compose(r, ":")
		if said := strings.Contains(w, "No value was found for: “date of birth”, “spouse”."); err != nil || said == tt.told {
			t.Errorf("%+v: %v\n%s", tt, err, w)
		}
	}
}

// Empty cells are not explained if the answer says that values are missing in all columns with empty cells.
func TestEmptyCellsOnce(t *testing.T) {
	for short, told := range map[string]bool{
		"Only the first has a capital, and the population is missing for some.": true,
		"The capitals are sorted by population.":                                false,
		"Some have no capital.":                                                 false,
		"Here they are.":                                                        false,
	} {
		r := Reply{Language: "en", Short: short, Query: "SELECT ?a ?b ?c { }", Vars: []string{"a", "capital", "population"}, Signature: "~~~~",
			Rows: [][]Cell{{{Text: "x"}, {Text: "y"}, {Text: "1"}}, {{Text: "z"}, {}, {}}}, Total: 2}
		w, err := Compose(r, ":")
		if said := strings.Contains(w, "Empty cells have no value in the data."); err != nil || said == told {
			t.Errorf("%q: %v\n%s", short, err, w)
		}
	}
}

// A variant about statements without a value is not mentioned if the model's note mentions them.
func TestVariantOnce(t *testing.T) {
	r := Reply{Language: "en", Short: "S.", Query: "SELECT ?a { }", Vars: []string{"a"}, Rows: [][]Cell{{{Text: "x"}}, {{Text: "y"}}},
		Total: 2, Signature: "~~~~", Open: []Open{{Kind: "missing", Name: "educated at", Come: 1}}}
	for note, want := range map[string]bool{"": true, "Three \"educated at\" statements have no value.": false} {
		r.LeftOpen = note
		w, err := Compose(r, ":")
		if err != nil || strings.Contains(w, "A different choice would change the result") != want {
			t.Errorf("%q: %v\n%s", note, err, w)
		}
	}
}

// Below the table, the reply mentions what an editor would: that the query shows a map, that an item may have several
// rows, and where to find the other rows.
func TestBelowTheTable(t *testing.T) {
	r := Reply{To: "A", Short: "x", Vars: []string{"a", "b"}, Rows: [][]Cell{{{Text: "x"}, {Text: "48.8569 -2.3514", Kind: "place"}}},
		Query: "#defaultView:Map\nSELECT ?a ?b WHERE { }", Total: 3, Several: true, Signature: "~~~~"}
	for language, want := range map[string]string{
		"en": "| x || 48.8569, −2.3514\n|}\n:And 2 more rows: the query above shows them all. An item with several values has a row for each. When you run the query, it shows a map.\n",
		"es": "| x || 48,8569; −2,3514\n|}\n:Y 2 filas más: la consulta de arriba las muestra todas. Un elemento con varios valores tiene una fila por cada uno. Al ejecutarla, la consulta muestra un mapa.\n",
	} {
		r.Language = language
		if w, err := Compose(r, ":"); err != nil || !strings.Contains(w, want) {
			t.Errorf("%s: %v\n%s", language, err, w)
		}
	}
	for view, want := range map[string]string{"Timeline": "a timeline", "BarChart": "a chart", "LineChart": "a chart"} {
		r.Query, r.Language = "#defaultView:"+view+"\nSELECT ?a ?b WHERE { }", "en"
		if w, err := Compose(r, ":"); err != nil || !strings.Contains(w, "When you run the query, it shows "+want+".") {
			t.Errorf("%s: %v\n%s", view, err, w)
		}
	}
	r.Query, r.Total, r.Several, r.Language = "#defaultView:ImageGrid\nSELECT ?a ?b WHERE { }", 1, false, "en"
	if w, err := Compose(r, ":"); err != nil || !strings.Contains(w, "|}\n:When you run the query, it shows the pictures.\n") {
		t.Errorf("%v\n%s", err, w)
	}
}

// IDs in the model's text are linked, unless they are part of a longer string or could mean a quarter of a year.
func TestLinkedIDs(t *testing.T) {
	for said, want := range map[string]string{
		"It is Q3768.":                 "It is [[Q3768]].",
		"Q3624078 instead of Q6256":    "[[Q3624078]] instead of [[Q6256]]",
		"by P2044 (Q5, Q7)":            "by [[Property:P2044|P2044]] ([[Q5]], Q7)",
		"with wdt:P2044 in Q3 2024":    "with wdt:P2044 in Q3 2024",
		"no country (P17) in (Q3)":     "no country ([[Property:P17|P17]]) in (Q3)",
		"see wikidata.org/wiki/Q3768 ": "see wikidata.org/wiki/Q3768",
		"[[Q3768]]":                    "&#91;&#91;[[Q3768]]&#93;&#93;",
	} {
		w, err := Compose(Reply{To: "A", Short: said, Query: "SELECT ?x WHERE { ?x wdt:P31 wd:Q5 . }", Signature: "~~~~"}, ":")
		if err != nil || !strings.Contains(w, "@A: "+want+"\n") {
			t.Errorf("%v\n%s", err, w)
		}
	}
}

// A number is not split between two lines, neither in a sentence nor in a cell.
func TestNumbersOnOneLine(t *testing.T) {
	r := Reply{Language: "fr", Short: "Il y a 379 007 140 habitants en 2024 et 12 345 villes, 5 000 de plus qu’en 1990 ou 01 234.",
		Query: "SELECT ?x ?n WHERE { ?x wdt:P1082 ?n . }", Vars: []string{"n", "x"}, Total: 2, Signature: "~~~~",
		Rows: [][]Cell{{{Kind: "number", Text: "12345.5", Unit: "km²"}, {Text: "1 000 bornes"}}, {{Kind: "number", Text: "1234567"}, {}}}}
	w, err := Compose(r, ":")
	for _, want := range []string{"379\u00a0007\u00a0140 habitants en 2024 et 12\u00a0345 villes, 5\u00a0000 de plus", " 01 234.",
		"| 12\u00a0345,5 km² || 1 000 bornes\n", "| 1\u00a0234\u00a0567 ||\n"} {
		if err != nil || !strings.Contains(w, want) {
			t.Errorf("%q is missing: %v\n%s", want, err, w)
		}
	}
}

// The IDs in a cell of joined values are links.
func TestJoinedIDs(t *testing.T) {
	r := Reply{Short: "x", Query: "SELECT ?x ?l WHERE { ?x wdt:P37 ?l . }", Vars: []string{"x", "l"}, Total: 3, Signature: "~~~~", Rows: [][]Cell{
		{{Text: "Q400"}, {Text: "Q9043, Sámi, Q25164"}}, {{Text: "y"}, {Text: "Q9043、Q25164"}}, {{Text: "z"}, {Text: "Bombardier Q400 NextGen, Q4"}}}}
	w, err := Compose(r, ":")
	for _, want := range []string{"| Q400 || [[Q9043]], Sámi, [[Q25164]]\n", "| y || [[Q9043]]、[[Q25164]]\n", "| z || Bombardier Q400 NextGen, Q4\n"} {
		if err != nil || !strings.Contains(w, want) {
			t.Errorf("%q is missing: %v\n%s", want, err, w)
		}
	}
}

// A long number in the model's text is written as in the table, and what the answer says about empty cells and maps is not
// repeated below the table.
func TestSaidLikeTheTable(t *testing.T) {
	r := Reply{Language: "pt", Short: "Só França tem população (68373433, código 68373434) e capital; no mapa faltam as outras capitais.",
		Query: "#defaultView:Map\nSELECT ?x ?n ?c WHERE { ?x wdt:P1082 ?n . }", Vars: []string{"x", "n", "c"}, Headers: []string{"País", "População", "Capital"}, Total: 41, Signature: "~~~~"}
	for len(r.Rows) < 30 {
		r.Rows = append(r.Rows, []Cell{{Text: "x"}, {Kind: "number", Text: "68373433"}, {}})
	}
	w, err := Compose(r, ":")
	if err != nil || !strings.Contains(w, "(68.373.433, código 68373434)") || strings.Contains(w, "Nenhuma das linhas mostradas") || strings.Contains(w, "mostra um mapa") {
		t.Errorf("%v\n%s", err, w)
	}
	r.Short = "Só França tem população."
	if w, err = Compose(r, ":"); err != nil || !strings.Contains(w, "“Capital”") || !strings.Contains(w, "mostra um mapa") {
		t.Errorf("%v\n%s", err, w)
	}
}

// If the bot will not answer again, its reply does not invite users to reply.
func TestLastReply(t *testing.T) {
	for _, r := range []Reply{{NoAnswer: "not_found"}, {Short: "x", Query: "ASK { }"}} {
		r.Signature, r.Last = "~~~~", true
		w, err := Compose(r, ":")
		if err != nil || !strings.HasSuffix(w, "before you rely on it.</small> --~~~~") {
			t.Errorf("%v\n%s", err, w)
		}
	}
}

// A search whose hits were not used is not called a search without hits.
func TestUnusedHits(t *testing.T) {
	r := Reply{Short: "x", Query: "ASK { }", Signature: "~~~~", Steps: []Step{{Kind: StepSearch, Text: "Peru", Unused: true}, {Kind: StepSearch, Text: "Atlantis"}}}
	if w, err := Compose(r, ":"); err != nil || !strings.Contains(w, "# Searched for “Peru”\n# Searched for “Atlantis”: nothing that fits\n") {
		t.Errorf("%v\n%s", err, w)
	}
}

// A step that is repeated many times is shown on one line.
func TestStepsOnce(t *testing.T) {
	r := Reply{NoAnswer: "actions", Signature: "~~~~", Steps: []Step{{Kind: StepQuery}, {Kind: StepQuery}, {Kind: StepQuery}, {Kind: StepQuery, Rows: 2}}}
	w, err := Compose(r, ":")
	if err != nil || !strings.Contains(w, "(2\u00a0steps)</th>") || !strings.Contains(w, "<li>Ran a query: no rows (×3)</li><li>Ran a query: 2 rows</li>") {
		t.Errorf("%v\n%s", err, w)
	}
}

// Words are not broken in a table that fits on a phone with line breaks between words.
func TestWordsOfTables(t *testing.T) {
	for _, tt := range []struct{ cell, want string }{
		{"x", "{| class=\"wikitable\"\n"},
		{"a sentence of many short words that breaks on a phone", "{| class=\"wikitable\" style=\"word-break:normal;overflow-wrap:normal\"\n"},
		{strings.Repeat("x", 40), "\n| style=\"overflow-wrap:anywhere\" | " + strings.Repeat("x", 40) + " ||"},
		{"Donaudampfschifffahrtsgesellschaft 1234567890", "| style=\"overflow-wrap:anywhere\" | Donaudampf"},
		{"Grundstücksverkehrsgenehmigung", "\n| Grundstücks&shy;verkehrsge&shy;nehmigung ||"},
	} {
		r := Reply{Language: "en", Short: "S.", Query: "SELECT ?a ?b { }", Vars: []string{"a", "b"}, Total: 1, Signature: "~~~~",
			Rows: [][]Cell{{{Text: tt.cell}, {Text: "A mountain.jpg", Kind: "file"}}}}
		w, err := Compose(r, ":")
		if err != nil || !strings.Contains(w, tt.want) {
			t.Errorf("%s: %v\n%s", tt.cell, err, w)
		}
	}
}

// A column that has values only in rows that are not shown is explained.
func TestEmptyHere(t *testing.T) {
	r := Reply{Language: "en", Short: "S.", Query: "SELECT ?a ?b { }", Vars: []string{"a", "b"}, Headers: []string{"a", "year"}, Total: 40,
		Signature: "~~~~"}
	for range 20 {
		r.Rows = append(r.Rows, []Cell{{Text: "x"}, {}})
	}
	const said = "None of the rows shown here has a value for: “year”."
	if w, err := Compose(r, ":"); err != nil || !strings.Contains(w, said) {
		t.Errorf("%v\n%s", err, w)
	}
	r.Rows[3][1].Text = "1973"
	if w, err := Compose(r, ":"); err != nil || strings.Contains(w, said) {
		t.Errorf("%v\n%s", err, w)
	}
}
