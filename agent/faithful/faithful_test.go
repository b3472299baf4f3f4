package faithful

import (
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func item(id string) rdf.Term   { return rdf.IRI(rdf.Entity + id) }
func date(day string) rdf.Term  { return rdf.Typed(day+"T00:00:00Z", rdf.XSDDateTime) }
func decimal(s string) rdf.Term { return rdf.Typed(s, rdf.XSDDecimal) }
func integer(s string) rdf.Term { return rdf.Typed(s, rdf.XSDInteger) }

var (
	mountains = Evidence{Language: "en",
		Question: "I want all mountains of more than 8000 metres with their height, but my query with p:P2044 returns nothing. What is wrong with it?",
		Query:    "SELECT ?mountain ?height WHERE { ?mountain wdt:P31 wd:Q8502 ; wdt:P2044 ?height . FILTER(?height > 8000) }",
		Labels: map[string]string{"Q513": "Mount Everest", "Q43512": "K2", "Q168702": "Lhotse", "Q8502": "mountain",
			"P2044": "elevation above sea level"},
		Table: &kg.Table{Vars: []string{"mountain", "height"}, Rows: [][]rdf.Term{{item("Q513"), decimal("8848.86")},
			{item("Q43512"), decimal("8611")}, {item("Q168702"), decimal("8516")}}}}
	chancellors = Evidence{Language: "en", Question: "All heads of the federal government of Germany who took office before reunification (3 October 1990), acting ones included.",
		Query: "SELECT ?person ?start ?end WHERE { }",
		Labels: map[string]string{"Q2492": "Konrad Adenauer", "Q2571": "Walter Scheel", "Q2518": "Helmut Kohl",
			"Q4970706": "Federal Chancellor of Germany"},
		Table: &kg.Table{Vars: []string{"person", "start", "end"}, Rows: [][]rdf.Term{
			{item("Q2492"), date("1949-09-15"), date("1963-10-15")}, {item("Q2571"), date("1974-05-07"), date("1974-05-16")},
			{item("Q2518"), date("1982-10-01"), date("1998-10-26")}}}}
	borders = Evidence{Language: "de", Question: "Welche Nachbarländer hat Deutschland, mit ihren Hauptstädten?", Query: "SELECT ?land ?hauptstadt WHERE { wd:Q183 wdt:P47 ?land }",
		Labels: map[string]string{"Q183": "Deutschland", "Q31": "Belgien", "Q239": "Stadt Brüssel", "Q142": "Frankreich", "Q90": "Paris", "P36": "Hauptstadt"},
		Table: &kg.Table{Vars: []string{"land", "hauptstadt"}, Rows: [][]rdf.Term{{item("Q31"), item("Q239")},
			{item("Q142"), item("Q90")}}}}
	films = Evidence{Language: "fr", Question: "Tous les longs métrages réalisés par Hayao Miyazaki, avec l’année ?", Query: "SELECT ?film ?année WHERE { ?film wdt:P57 wd:Q55400 }",
		Labels: map[string]string{"Q1": "Le Château de Cagliostro", "Q2": "Le Garçon et le Héron", "Q55400": "Hayao Miyazaki"},
		Table: &kg.Table{Vars: []string{"film", "année"}, Rows: [][]rdf.Term{{item("Q1"), integer("1979")},
			{item("Q2"), integer("2023")}}}}
	egypt = Evidence{Language: "en", Question: "Are there more people in Egypt than in Germany?", Query: "SELECT ?country ?population {}",
		Labels: map[string]string{"Q79": "Egypt", "Q183": "Germany"},
		Table: &kg.Table{Vars: []string{"country", "population"}, Rows: [][]rdf.Term{{item("Q79"), integer("114535772")},
			{item("Q183"), integer("84358845")}}}}
	languages = Evidence{Language: "en", Question: "How many languages are used in India?", Query: "SELECT (COUNT(DISTINCT ?language) AS ?count) { wd:Q668 wdt:P2936 ?language }",
		Labels: map[string]string{"Q668": "India", "P2936": "language used"},
		Table:  &kg.Table{Vars: []string{"count"}, Rows: [][]rdf.Term{{integer("442")}}}}
	japan = Evidence{Language: "ja", Question: "日本で一番高い山は何ですか？", Query: "SELECT ?mountain ?height {}",
		Labels: map[string]string{"Q39231": "富士山", "Q17": "日本"},
		Table:  &kg.Table{Vars: []string{"mountain", "height"}, Rows: [][]rdf.Term{{item("Q39231"), decimal("3776")}}}}

	romans = Evidence{Question: "When were Cicero, Augustus and Seneca born, and when did they die?", Query: "SELECT ?person ?born ?died {}",
		Labels: map[string]string{"Q1541": "Cicero", "Q1405": "Augustus", "Q2054": "Seneca"},
		Table: &kg.Table{Vars: []string{"person", "born", "died"}, Rows: [][]rdf.Term{
			{item("Q1541"), date("-0105-01-03"), date("-0042-12-07")}, {item("Q1405"), date("-0062-09-23"), date("0014-08-19")},
			{item("Q2054"), date("-0003-01-01"), date("0065-01-01")}}}}
)

// pieces returns the unsupported parts of a text.
func pieces(e Evidence, text string) string {
	var got []string
	for _, f := range New(e).Faults(text) {
		got = append(got, f.Piece)
	}
	return strings.Join(got, " ")
}

// In RDF, the year 0 is 1 BC, so -0062 is 63 BC.
func TestBeforeChrist(t *testing.T) {
	augustus := Evidence{Query: "SELECT ?born {}", Table: &kg.Table{Vars: []string{"born"}, Rows: [][]rdf.Term{{date("-0062-09-23")}}}}
	for language, text := range map[string]string{"ja": "紀元前63年です。", "zh": "分别于公元前63年9月23日。", "ar": "23 سبتمبر 63 ق.م."} {
		augustus.Language = language
		if got := New(augustus).Faults(text); len(got) > 0 {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for _, tt := range []struct{ language, text, want string }{
		{"en", "Augustus was born in 63 BC and died in 14 AD.", ""},
		{"en", "Augustus was born on 23 September 63 BC.", ""},
		{"en", "Augustus was born in 62 BC.", "62"},
		{"en", "Augustus was born in 63.", "63"}, // the year means AD 63
		{"en", "Seneca was born in 63 BC.", "63"},
		{"en", "Augustus died at 75.", ""},                         // the years between two dates
		{"en", "They were born between 106 BC and 4 BC.", "106 4"}, // the figures do not belong to a name
		{"de", "Augustus: 63 v. Chr. bis 14 n. Chr.", ""},
		{"fr", "Cicero, le 3 janvier 106 av. J.-C.", ""},
		{"es", "Augustus nació en el 63 a. C. y Cicero en el 106 a. C.", ""},
		{"it", "Augustus nacque nel 63 a.C. e Cicero nel 106 a.C.", ""},
		{"pl", "Augustus urodził się w 63 p.n.e.", ""},
		{"ru", "Augustus родился в 63 году до н. э.", ""},
		{"ja", "紀元前63年です。", "63"}, // the result has three people: whose year is it?
		{"zh", "公元前63年。", "63"},
		{"ar", "Augustus 63 ق.م.", ""},
	} {
		e := romans
		e.Language = tt.language
		var got []string
		for _, f := range New(e).Faults(tt.text) {
			got = append(got, f.Piece)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// Ten were requested and fewer exist, so "ten" is not the number of results.
func TestFewerThanTheLimit(t *testing.T) {
	e := mountains
	e.Question, e.Query = "The 10 highest mountains, please.", "SELECT ?mountain ?height { } ORDER BY DESC(?height) LIMIT 10"
	for text, ok := range map[string]bool{"Here are the ten highest mountains.": false, "Here are the three highest mountains.": true} {
		if faults := New(e).Faults(text); (len(faults) == 0) != ok {
			t.Errorf("%s: %+v", text, faults)
		}
	}
	e.Query = strings.Replace(e.Query, "10", "3", 1)
	e.Question = "The 3 highest mountains, please."
	if faults := New(e).Faults("Here are the three highest mountains."); len(faults) > 0 {
		t.Error(faults)
	}
}

// A URL in the result may be written in its usual short form. No other URL may appear.
func TestAddresses(t *testing.T) {
	c := New(Evidence{Language: "en", Question: "What is the website of the Tiny Desk Concert series?", Query: "SELECT ?website {}",
		Labels: map[string]string{"P856": "official website"},
		Table:  &kg.Table{Vars: []string{"website"}, Rows: [][]rdf.Term{{rdf.IRI("https://www.npr.org/series/tiny-desk-concerts/")}}}})
	for text, ok := range map[string]bool{"Its website is npr.org/series/tiny-desk-concerts.": true,
		"Its website is https://www.npr.org/series/tiny-desk-concerts/.": true, "Its website is npr.com/series/tiny-desk-concerts.": false,
		"Its website is evil.example.": false} {
		if faults := c.Faults(text); (len(faults) == 0) != ok {
			t.Errorf("%s: %+v", text, faults)
		}
	}
}

func TestTrue(t *testing.T) {
	for _, tt := range []struct {
		e    Evidence
		text string
	}{
		{mountains, "Your query asked p:P2044, which leads to a statement and not to a number, so no height could be compared. With wdt:P2044 it finds three mountains above 8000 metres."},
		{mountains, "The highest is Mount Everest with 8,848.86 metres."},
		{mountains, "There are 3 mountains, from Lhotse (8516 m) to Mount Everest (8849 m)."},
		{mountains, "Their heights go from 8516 to 8848.86 metres."},
		{mountains, "The three mountains are Mount Everest, K2 and Lhotse."},
		{mountains, "It finds K2 and two others."},
		{languages, "There are 442 of them."},
		{chancellors, "Three people headed the federal government before reunification, from Konrad Adenauer in 1949 to Helmut Kohl, who was in office until 1998."},
		{chancellors, "Walter Scheel, acting for nine days in May 1974, is included."},
		{chancellors, "Adenauer began on 15 September 1949."},
		{borders, "Deutschland hat zwei Nachbarländer; die Tabelle nennt sie mit ihren Hauptstädten."},
		{borders, "Belgiens Hauptstadt ist Stadt Brüssel."},
		{films, "Hayao Miyazaki a réalisé deux longs métrages, du Château de Cagliostro (1979) au Garçon et le Héron (2023)."},
		{egypt, "Yes. Wikidata gives 114,535,772 inhabitants for Egypt and 84,358,845 for Germany."},
		{egypt, "Yes, Egypt has 114.5 million people, Germany 84.4 million."},
		{japan, "日本で一番高い山は富士山で、3776メートルです。"},
	} {
		if got := New(tt.e).Faults(tt.text); len(got) > 0 {
			t.Errorf("%q: %+v", tt.text, got)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		e          Evidence
		text, want string // want: the unsupported pieces
	}{
		{mountains, "The highest is Mount Everest with 8,884 metres.", "8,884"},
		{mountains, "K2 is 8848.86 metres high.", "8848.86"},                    // another row's figure
		{mountains, "Everest is 8611 metres high, K2 8848.86.", "8611 8848.86"}, // swapped
		{mountains, "It finds fourteen mountains.", "fourteen"},                 // there are three rows
		{mountains, "The highest is Makalu.", "Makalu"},                         // in no row
		{mountains, "The highest is Mount Everest in Nepal.", "Nepal"},          // true, but in no row
		{mountains, "K2 is the deadliest of them.", "deadliest"},                // an added claim
		{mountains, "All of them were climbed by Reinhold Messner.", "climbed Reinhold Messner"},
		{mountains, "The height is P4552.", "P4552"},
		{languages, "Wikidata lists 1 language as used in India.", "1"},
		{mountains, "It finds K2 and four others.", "four"},
		{chancellors, "Konrad Adenauer stayed until 1998.", "1998"},
		{chancellors, "Walter Scheel was acting for twelve days.", "twelve"},
		{mountains, "The query finds two mountains, from K2 to Lhotse.", "two"},
		{borders, "Deutschland hat neun Nachbarländer.", "neun"},
		{borders, "Die Hauptstadt von Belgien ist Antwerpen.", "Antwerpen"},
		{films, "Le Château de Cagliostro a reçu un Oscar.", "reçu Oscar"},
		{egypt, "Egypt has 84,358,845 people and Germany 114,535,772.", "84,358,845 114,535,772"},
		{japan, "日本で一番高い山は北岳です。", "日本で一番高い山は北岳です"},
		{japan, "富士山は3193メートルです。", "3193"},
	} {
		var got []string
		for _, f := range New(tt.e).Faults(tt.text) {
			got = append(got, f.Piece)
		}
		slices.Sort(got)
		want := strings.Fields(tt.want)
		slices.Sort(want)
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%q: %q, want %q", tt.text, got, want)
		}
	}
}

func TestKeep(t *testing.T) {
	c := New(mountains)
	got := c.Keep("It finds three mountains. K2 was first climbed in 1954. The highest is Mount Everest.")
	if want := "It finds three mountains. The highest is Mount Everest."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if c.Keep("") != "" || c.Faults("  ") != nil {
		t.Error("faults in an empty text")
	}
	// Without a result, only the question's words are known.
	if got := New(Evidence{Language: "en", Question: "Shoe sizes of presidents?"}).Keep("There are 44 of them. No shoe sizes are known."); got != "No shoe sizes are known." {
		t.Errorf("%q", got)
	}
}

// A clause with a fault does not remove the clauses before it, and figures are compared clause by clause.
func TestClauses(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"Mount Everest has 8848.86 metres; K2 was first climbed in 1954.", "Mount Everest has 8848.86 metres."},
		{"K2 was first climbed in 1954; Mount Everest has 8848.86 metres.", ""}, // the rest may depend on it
		{"The highest is Mount Everest; K2 has 8611 metres; mountains without one of the two values are missing.",
			"The highest is Mount Everest; K2 has 8611 metres; mountains without one of the two values are missing."},
		{"The highest is Mount Everest; K2 has 8516 metres; Lhotse has 8516 metres.", "The highest is Mount Everest."},
		{"All (K2; Makalu) are high.", ""},
		{"Two values are missing.", ""},
	} {
		if got := New(mountains).Keep(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	e := japan
	if got := New(e).Keep("富士山は3776です。高さは1234です。3776です。"); got != "富士山は3776です。3776です。" {
		t.Errorf("%q", got)
	}
	e = borders
	e.Language = "zh"
	if got := New(e).Keep("有Belgien；有Kilimanjaro。"); got != "有Belgien。" {
		t.Errorf("%q", got)
	}
}

// How many rows have a value in a column, or none, may be said without a name.
func TestSome(t *testing.T) {
	e := Evidence{Language: "es", Question: "¿Qué cosas y en qué año?", Query: "SELECT ?cosa ?año { }",
		Labels: map[string]string{"Q1": "Io", "Q2": "Galilea", "Q3": "", "Q4": "", "Q5": ""},
		Table: &kg.Table{Vars: []string{"cosa", "año"}, Rows: [][]rdf.Term{{item("Q1"), integer("1610")}, {item("Q2"), {}}, {item("Q3"), {}},
			{item("Q4"), integer("1611")}, {item("Q5"), integer("1612")}}}}
	for text, want := range map[string]string{
		"Solo dos tienen etiqueta.": "", "Tres no tienen año.": "", "Tres tienen año, y dos no.": "", "Cuatro no tienen año.": "Cuatro",
		"Dos son famosas.": "Dos", "Dos tienen un año mayor que 1610.": "", "Cuatro tienen un año mayor que 1610.": "Cuatro",
	} {
		if got := pieces(e, text); got != want {
			t.Errorf("%q: %s, want %q", text, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	for in, want := range map[string]string{
		"One. Two!":                    "One.|Two!",
		"St. Moritz lies there. Yes.":  "St. Moritz lies there.|Yes.",
		"Am 3. Oktober 1990. So.":      "Am 3. Oktober 1990.|So.",
		"It is 8848.86. The next one.": "It is 8848.86.|The next one.",
		"Am 3.10. Berlin. So.":         "Am 3.10. Berlin.|So.",
		"山です。川です。":                     "山です。|川です。",
		"هل هو كذلك؟ نعم.":             "هل هو كذلك؟|نعم.",
		"What? ":                       "What?",
	} {
		if got := strings.Join(New(Evidence{}).Sentences(in), "|"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A period after a name such as Apollo 13 or George VI may end a sentence, but does not always do so.
func TestSentencesAfterNames(t *testing.T) {
	e := Evidence{Question: "Which missions and kings?", Query: "SELECT ?x ?year { }",
		Labels: map[string]string{"Q1": "Apollo 13", "Q2": "George VI", "Q3": "Annapurna I"},
		Table: &kg.Table{Vars: []string{"x", "year"}, Rows: [][]rdf.Term{{item("Q1"), decimal("1970")},
			{item("Q2"), decimal("1895")}, {item("Q3"), decimal("8091")}}}}
	for _, tt := range []struct{ language, text, kept string }{
		{"en", "The first is Apollo 13. It cost 999 dollars.", "The first is Apollo 13."},
		{"en", "Wikidata gives 1895 for George VI. The king was a smoker.", "Wikidata gives 1895 for George VI."},
		{"fr", "Wikidata donne 8091 pour Annapurna I. Il a 999 habitants.", "Wikidata donne 8091 pour Annapurna I."},
		{"en", "Wikidata gives 1895 for George VI. of 999.", ""},
		{"de", "Zuerst kommt George VI. Sohn von 999.", ""}, // the sixth's son
		{"de", "Zuerst kommt Apollo 13. Das kostete 999.", "Zuerst kommt Apollo 13."},
		{"de", "Wikidata nennt für Annapurna I 8091. Durch Zufall kostete es 999.", "Wikidata nennt für Annapurna I 8091."},
		{"de", "Am 13. Oktober kostete es 999.", ""},
	} {
		e.Language = tt.language
		if got := New(e).Keep(tt.text); got != tt.kept {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.kept)
		}
	}
}

func TestWordLists(t *testing.T) {
	for _, language := range []string{"en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru"} {
		if n := len(numberWords[language]); n < 10 {
			t.Errorf("%s has %d words for numbers", language, n)
		}
	}
	for _, language := range []string{"en", "de", "fr", "ar", "ja", "zh"} {
		l := wordListOf(language)
		if l == nil {
			t.Errorf("%s has no plain words", language)
			continue
		}
		if n := len(l.words) + len(l.lines); n < 30 {
			t.Errorf("%s has %d plain words", language, n)
		}
	}
	if wordListOf("../x") != nil || wordListOf("sw") != nil {
		t.Error("a word list for no language")
	}
}

func FuzzFaults(f *testing.F) {
	for _, s := range []string{"K2 is 8,611.5 m. 12 345", "1.2.3,4", "−5", "8万人", "Adenauer's 1949", "\xff. \u0301"} {
		f.Add(s)
	}
	c := New(mountains)
	f.Fuzz(func(t *testing.T, s string) {
		if kept := c.Keep(s); len(c.Faults(kept)) > 0 {
			t.Errorf("from %q, Keep returns %q, which has faults", s, kept)
		}
	})
}

// In languages without a word list, a capitalized word is a name, except for the word Wikidata.
// In Polish and Russian, names are inflected.
func TestTrueInOtherLanguages(t *testing.T) {
	table := &kg.Table{Vars: []string{"pais", "poblacion"}}
	for i := range 45 {
		table.Rows = append(table.Rows, []rdf.Term{item([]string{"Q183", "Q142", "Q794", "Q55"}[i%4]), decimal([]string{"84358845",
			"68373433", "86758304", "17590672"}[i%4])})
	}
	for _, tt := range []struct{ language, question, labels, text, lie string }{
		{"es", "¿Qué países de Europa hay, con su población?", "Alemania|Francia|Irán|Países Bajos",
			"Según Wikidata, son 45 países. Encontré cuarenta y cinco países. Alemania tiene 84,4 millones de habitantes.",
			"Según Wikidata, Kosovo también. Encontré cuarenta y seis países. Alemania tiene 68,4 millones."},
		{"it", "Quali Stati europei ci sono, con la popolazione?", "Germania|Francia|Iran|Paesi Bassi",
			"In Wikidata risultano quarantacinque Stati. La Germania ha 84,4 milioni di abitanti.", "In Wikidata ne risultano quarantotto."},
		{"pl", "Jakie są państwa Europy i ilu mają mieszkańców?", "Niemcy|Francja|Iran|Holandia",
			"W Wikidanych jest 45 państw. Jest ich czterdzieści pięć. We Francji mieszka 68,4 mln ludzi. Najwięcej mieszka ich w Niemczech i w Holandii.",
			"We Francji mieszka 84,4 mln ludzi. Wśród nich jest Irak."},
		{"ru", "Какие страны есть в Европе и сколько в них жителей?", "Германия|Франция|Иран|Нидерланды",
			"В Викиданных сорок пять стран. Во Франции 68,4 млн жителей. В Германии их 84 358 845, а в Нидерландах 17 590 672.",
			"Во Франции 84,4 млн жителей. Среди них есть Ирак."},
		{"de", "Welche Länder Europas gibt es?", "Deutschland|Frankreich|Iran|Niederlande", "Es gibt fünfundvierzig Länder.", "Es gibt sechsundvierzig Länder."},
		{"nl", "Welke landen liggen in Europa?", "Duitsland|Frankrijk|Iran|Nederland", "Volgens Wikidata zijn het er vijfenveertig.", "Volgens Wikidata zijn het er zevenenzestig."},
		{"en", "Which countries are there in Europe?", "Germany|France|Iran|Netherlands", "There are forty-five countries.", "There are forty-six countries."},
	} {
		e := Evidence{Language: tt.language, Question: tt.question, Query: "SELECT ?pais ?poblacion { ?pais wdt:P30 wd:Q46 }", Table: table,
			Labels: map[string]string{}}
		for i, label := range strings.Split(tt.labels, "|") {
			e.Labels[[]string{"Q183", "Q142", "Q794", "Q55"}[i]] = label
		}
		c := New(e)
		for _, f := range c.Faults(tt.text) {
			t.Errorf("%s, %s: %s %q", tt.language, f.Sentence, f.Kind, f.Piece)
		}
		for _, s := range c.Sentences(tt.lie) {
			if len(c.Faults(s)) == 0 {
				t.Errorf("%s, not found: %s", tt.language, s)
			}
		}
	}
}

// A name may be written with the accents of the text's language.
func TestAccents(t *testing.T) {
	e := Evidence{Language: "pt", Question: "Quais países?", Query: "SELECT ?pais {}", Labels: map[string]string{"Q1033": "Nigeria", "Q912": "Mali"},
		Table: &kg.Table{Vars: []string{"pais", "n"}, Rows: [][]rdf.Term{{item("Q1033"), integer("211400708")}, {item("Q912"), integer("20250833")}}}}
	for text, ok := range map[string]bool{"O primeiro país é a Nigéria, com 211.400.708.": true, "O primeiro país é a Nigéria, com 20.250.833.": false,
		"O primeiro país é a Argélia.": false} {
		if faults := New(e).Faults(text); (len(faults) == 0) != ok {
			t.Errorf("%s: %+v", text, faults)
		}
	}
}

// Sentences about the table or the query's text make no claim about the world.
func TestPlainSentences(t *testing.T) {
	for language, text := range map[string]string{
		"de": "Die Tabelle zeigt die Länder, soweit Wikidata sie kennt. Bei einigen fehlt die Angabe, deshalb ist die Zelle leer. Die Liste ist absteigend sortiert.",
		"en": "The table shows the countries as far as Wikidata knows them. Some have no value, so the cell is empty. Your query found nothing; it should work now.",
		"ja": "川を長い順に一覧にしました。",
		"fr": "Certains n’ont pas de valeur : la cellule est alors vide. Cette requête les affiche tous, triés par ordre alphabétique.",
	} {
		c := New(Evidence{Language: language, Question: map[string]string{"de": "Welche Länder gibt es?", "en": "Which countries are there?",
			"ja": "川の長さを長い順に示してください。", "fr": "Quels pays ?"}[language], Query: "SELECT ?x { }"})
		for _, f := range c.Faults(text) {
			t.Errorf("%s: %s %q in %s", language, f.Kind, f.Piece, f.Sentence)
		}
	}
}

// A decade stands for its years. A count is the number of rows that have the name as a value.
func TestDecadesAndCounts(t *testing.T) {
	taxa := Evidence{Language: "nl", Question: "Welke taxa zijn er onder Physeteridae?", Query: "SELECT ?taxon ?hoger {}", Labels: map[string]string{"Q1": "Physeteridae",
		"Q2": "Physeter", "Q3": "Physeter simus", "Q4": "Physeter mular"}, Table: &kg.Table{Vars: []string{"taxon", "hoger"},
		Rows: [][]rdf.Term{{item("Q2"), item("Q1")}, {item("Q3"), item("Q2")}, {item("Q4"), item("Q2")}}}}
	labelled := taxa
	labelled.Table = &kg.Table{Vars: []string{"taxon", "taxonLabel", "hoger", "hogerLabel"}}
	for _, row := range taxa.Table.Rows {
		name := func(t rdf.Term) rdf.Term { return rdf.LangString(taxa.Labels[rdf.EntityID(t.Value)], "en") }
		labelled.Table.Rows = append(labelled.Table.Rows, []rdf.Term{row[0], name(row[0]), row[1], name(row[1])})
	}
	labelled.Table.Rows = append(labelled.Table.Rows, labelled.Table.Rows[2], labelled.Table.Rows[2])
	labelled.Table.Rows[3], labelled.Table.Rows[4] = labelled.Table.Rows[0], labelled.Table.Rows[0]
	decades := Evidence{Language: "en", Question: "How many films are there per decade?", Query: "SELECT ?decade ?films {}", Table: &kg.Table{
		Vars: []string{"decade", "films"}, Rows: [][]rdf.Term{{decimal("1980"), integer("12")}, {decimal("1990"), integer("13")}}}}
	for _, tt := range []struct {
		e    Evidence
		text string
		ok   bool
	}{
		{taxa, "Onder Physeter staan twee taxa.", true}, {taxa, "Onder Physeter staan vier taxa.", false},
		{decades, "13 films are from the 1990s.", true}, {decades, "13 films are from the 1980s.", false}, {decades, "1990 has 12 films.", false},
		{labelled, "Onder Physeter staan twee taxa.", true}, {labelled, "Onder Physeter staan drie taxa.", true}, {labelled, "Onder Physeter staan vier taxa.", false}, // of all rows
		{decades, "Most films are from the 1990s.", true}, {decades, "Most films are from the 1970s.", false},
		{films, "Les années 1970 comptent un film.", false}, {chancellors, "Konrad Adenauer started in the 1940s.", true},
		{chancellors, "Konrad Adenauer started in the 1950s.", false},
	} {
		if faults := New(tt.e).Faults(tt.text); (len(faults) == 0) != tt.ok {
			t.Errorf("%s: %+v", tt.text, faults)
		}
	}
}

// A sentence about how the query works makes no claim about the world, in every language with a word list.
func TestHowQueriesWork(t *testing.T) {
	for _, tt := range []struct{ language, question, text string }{
		{"en", "How many people died of it?", "The total comes from a subquery, and since it is not aggregated outside, it has to be in the GROUP BY."},
		{"en", "Which dogs are there?", "OPTIONAL keeps the rows without a value, and DISTINCT removes duplicates. The variable was not bound outside the subquery. The path wdt:P31/wdt:P279* is what makes it slow and time out; the label service is evaluated last, and HAVING filters the groups. A UNION joins both patterns."},
		{"de", "Welche Hunde gibt es?", "OPTIONAL behält die Zeilen ohne Wert, und DISTINCT entfernt doppelte Zeilen. Die Unterabfrage zählt alle; die Variable war außerhalb nicht gebunden. Der Pfad wdt:P31/wdt:P279* macht die Abfrage langsam, daher die Zeitüberschreitung. HAVING filtert die Gruppen."},
		{"fr", "Quels chiens ?", "OPTIONAL garde les lignes sans valeur, et DISTINCT supprime les doublons. La sous-requête compte tout ; la variable n’était pas liée en dehors. Le chemin wdt:P31/wdt:P279* rend la requête lente, d’où le dépassement du délai. HAVING filtre les groupes."},
		{"zh", "有哪些狗？", "OPTIONAL保留没有值的行，DISTINCT去除重复。子查询计算总数。变量在外面没有绑定。路径使查询变慢并超时。"},
		{"ja", "どんな犬がいますか。", "OPTIONALは値のない行を残し、DISTINCTは重複を除きます。サブクエリで総数を数えます。変数は外では使えません。"},
		{"ar", "ما هي الكلاب؟", "يبقي OPTIONAL الصفوف التي بلا قيمة، ويزيل DISTINCT التكرار. الاستعلام الفرعي يحسب العدد الإجمالي. المتغير غير مرتبط خارجه."},
	} {
		c := New(Evidence{Language: tt.language, Question: tt.question, Query: "SELECT ?x { OPTIONAL { ?x wdt:P31/wdt:P279* ?y } } GROUP BY ?x",
			Table: &kg.Table{Vars: []string{"x"}, Rows: [][]rdf.Term{{item("Q1")}, {item("Q2")}}}})
		for _, f := range c.Faults(tt.text) {
			t.Errorf("%s: %s %q in %s", tt.language, f.Kind, f.Piece, f.Sentence)
		}
	}
	// claims about the world that use these words are still found
	e := Evidence{Language: "en", Question: "Which dogs are there?", Query: "SELECT ?dog { }"}
	for _, text := range []string{"The subquery is dangerous.", "HAVING keeps the famous ones.", "The path leads to London."} {
		if len(New(e).Faults(text)) == 0 {
			t.Errorf("%s: kept", text)
		}
	}
}

// A Latin name next to Chinese or Japanese words is found even without a space between them.
func TestLatinNamesInOtherScripts(t *testing.T) {
	for _, tt := range []struct {
		language, question, text string
		ok                       bool
	}{
		{"ja", "山の高さを教えてください。", "Annapurnaの高さは8091メートルです。", true},
		{"ja", "山の高さを教えてください。", "Annapurnaの高さは8167メートルです。", false},
		{"ja", "山の高さを教えてください。", "Kilimanjaroの高さは8091メートルです。", false},
		{"zh", "这些山的高度是多少？", "Annapurna的高度是8091米。", true},
		{"zh", "这些山的高度是多少？", "高度是8091米的是Annapurna。", true},
		{"zh", "这些山的高度是多少？", "Dhaulagiri的高度是8091米。", false},
		{"zh", "这些山的高度是多少？", "Kilimanjaro的高度是8091米。", false},
	} {
		c := New(Evidence{Language: tt.language, Question: tt.question, Query: "SELECT ?m ?h { }",
			Labels: map[string]string{"Q1": "Annapurna", "Q2": "Dhaulagiri"},
			Table:  &kg.Table{Vars: []string{"m", "h"}, Rows: [][]rdf.Term{{item("Q1"), decimal("8091")}, {item("Q2"), decimal("8167")}}}})
		if faults := c.Faults(tt.text); (len(faults) == 0) != tt.ok {
			t.Errorf("%s: %+v", tt.text, faults)
		}
	}
}

// A number of mistakes in the poster's query is not a figure of the result.
func TestCountsErrors(t *testing.T) {
	for _, tt := range []struct {
		e          Evidence
		text, want string
	}{
		{mountains, "There are two mistakes in the query.", ""},
		{mountains, "The query needs two small changes.", ""}, {mountains, "Two things: p:P2044 leads to the statement.", ""},
		{mountains, "There are two mountains in the query.", "two"},
		{borders, "Die Abfrage hat drei Fehler.", ""},
		{borders, "Die Abfrage hat drei Länder.", "drei"},
		{Evidence{Language: "it"}, "Gli errori sono due.", ""},
		{Evidence{Language: "it"}, "I paesi sono due.", "due"},
		{Evidence{Language: "ru"}, "В запросе две ошибки.", ""},
		{Evidence{Language: "ru"}, "В запросе две страны.", "две"}, {Evidence{Language: "ru"}, "Переменная стоит в двух тройках.", ""},
	} {
		var got []string
		for _, f := range New(tt.e).Faults(tt.text) {
			got = append(got, f.Piece)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: %v, want %q", tt.text, got, tt.want)
		}
	}
}

// What LIMIT and OFFSET do can be said with their figures, but ten rows are not twenty.
func TestWindow(t *testing.T) {
	e := Evidence{Language: "pt", Question: "os países do 21.º ao 40.º", Query: "SELECT ?país {} ORDER BY ?país LIMIT 20 OFFSET 20",
		Labels: map[string]string{"Q1": "Gabão", "Q2": "Togo"},
		Table:  &kg.Table{Vars: []string{"país"}, Rows: [][]rdf.Term{{item("Q1")}, {item("Q2")}}}}
	for text, want := range map[string]int{
		"OFFSET 20 salta os primeiros 20 e LIMIT 20 mostra os 20 seguintes.": 0,
		"LIMIT 30 mostra os seguintes.":                                      1,
		"Há 20 países na tabela.":                                            1,
		"Como só 22 países estão nos dados, restam dois.":                    0,
		"Só 23 países estão nos dados.":                                      1,
		"A consulta devolve 22 países, de Gabão a Togo.":                     1,
		"A consulta devolve 22 países.":                                      1,
	} {
		if got := New(e).Faults(text); len(got) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// Several rows may have the same figure.
func TestSharedFigures(t *testing.T) {
	e := Evidence{Language: "en", Question: "Which genres do the games have, and how many games are in each?",
		Query:  "SELECT ?genre (COUNT(DISTINCT ?game) AS ?games) { } GROUP BY ?genre ORDER BY DESC(?games)",
		Labels: map[string]string{"Q1": "role-playing game", "Q2": "action-adventure", "Q3": "survival horror", "Q4": "chess"},
		Table: &kg.Table{Vars: []string{"genre", "games"}, Rows: [][]rdf.Term{{item("Q1"), decimal("9")},
			{item("Q2"), decimal("9")}, {item("Q3"), decimal("4")}, {item("Q4"), decimal("7")}}}}
	for text, want := range map[string]int{
		"Two of them have nine games each.":   0,
		"Three of them have nine games each.": 2,
		"Two of them have seven games each.":  2,
		"Two of them have eight games each.":  2,
	} {
		if got := New(e).Faults(text); len(got) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// How often the query counts something is not in the rows.
func TestCountedAgain(t *testing.T) {
	e := Evidence{Language: "fr", Question: "quelles équipes de basket ont le plus de joueurs ?",
		Query:  "SELECT ?équipe (COUNT(DISTINCT ?joueur) AS ?joueurs) { } GROUP BY ?équipe ORDER BY DESC(?joueurs)",
		Labels: map[string]string{"Q1": "Cleveland Cavaliers", "Q2": "Los Angeles Lakers"},
		Table:  &kg.Table{Vars: []string{"équipe", "joueurs"}, Rows: [][]rdf.Term{{item("Q1"), decimal("13")}, {item("Q2"), decimal("7")}}}}
	for text, want := range map[string]int{
		"Les Cleveland Cavaliers arrivent en tête avec 13 joueurs, devant les Los Angeles Lakers avec 7.": 0,
		"Les Cleveland Cavaliers arrivent en tête avec 7 joueurs.":                                        1,
		"COUNT(DISTINCT) évite de compter trois fois un joueur.":                                          0,
		"Les Cleveland Cavaliers sont comptés trois fois par COUNT.":                                      1,
		"Trois fois, un joueur est compté.":                                                               1,
	} {
		if got := New(e).Faults(text); len(got) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	e = Evidence{Language: "ja", Question: "配偶者との結婚の開始日", Query: "SELECT ?人 { ?人 p:P26 ?文 }",
		Table: &kg.Table{Vars: []string{"人"}, Rows: [][]rdf.Term{{item("Q1")}, {item("Q3")}, {item("Q4")}}}}
	if got := New(e).Faults("夫婦の両方に文がある場合は2回表示されます。"); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	if got := New(e).Faults("2人います。"); len(got) == 0 {
		t.Error("two people of three: kept")
	}
}

// The languages that a query asks for may be named, others may not.
func TestLanguagesOfTheQuery(t *testing.T) {
	for _, tt := range []struct{ language, text, want string }{
		{"ja", "表には英語のラベルを表示しています。", ""}, {"en", "The labels are in Japanese or English.", ""},
		{"en", "The labels are in Polish.", "Polish"}, {"de", "Die Bezeichnungen sind englisch.", ""},
		{"ru", "Названия на английском языке.", ""}, {"es", "Faltan las etiquetas en inglés.", ""},
	} {
		e := Evidence{Language: tt.language, Query: `SELECT ?x { ?x rdfs:label ?l . FILTER(LANG(?l) = "ja") SERVICE wikibase:label { bd:serviceParam wikibase:language "ja,en" } }`}
		var got []string
		for _, f := range New(e).Faults(tt.text) {
			got = append(got, f.Piece)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %q", tt.text, got, tt.want)
		}
	}
}

// "Someone with two positions appears twice" explains the query; with a name or without a variable, it is a claim.
func TestSupposed(t *testing.T) {
	e := Evidence{Language: "en", Question: "Why do parents with a position come up several times? SELECT ?parent ?child { ?parent wdt:P39 ?p1 }",
		Query:  "SELECT DISTINCT ?parent ?child { ?parent wdt:P40 ?child ; wdt:P39 [] }",
		Labels: map[string]string{"Q1": "George Bush", "Q2": "Victoria", "Q3": "Edward", "Q4": "Mary"},
		Table:  &kg.Table{Vars: []string{"parent", "child"}, Rows: [][]rdf.Term{{item("Q1"), item("Q3")}, {item("Q2"), item("Q4")}, {item("Q3"), item("Q2")}}}}
	for text, want := range map[string]int{
		"Each combination of ?p1 and ?child is a row, so someone with two positions appears twice.": 0,
		"Someone with two positions appears twice.":                                                 2,
		"The query finds Victoria; someone with two positions has two rows.":                        0,
		"Someone like George Bush with two positions has two rows.":                                 2,
		"Because of ?p1, George Bush with two positions appears twice.":                             2,
		"Because of ?p1, someone with five positions appears.":                                      1,
	} {
		if got := New(e).Faults(text); len(got) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// The beginning of a long name is enough, and an item's rows may be counted.
func TestBegunNames(t *testing.T) {
	e := Evidence{Language: "pl", Question: "kluby po kolei", Query: "SELECT ?klub ?od ?do {} ORDER BY ?od",
		Labels: map[string]string{"Q1": "LSU Tigers men's basketball", "Q2": "Boston Celtics"},
		Table: &kg.Table{Vars: []string{"klub", "od", "do"}, Rows: [][]rdf.Term{{item("Q1"), date("1989-01-01"), date("1992-01-01")},
			{item("Q2"), date("2010-01-01"), date("2011-01-01")}, {item("Q2"), date("2013-01-01"), date("2017-01-01")}, {item("Q2"), date("2018-01-01"), date("2019-01-01")}}}}
	for text, want := range map[string]int{
		"Zaczynał w LSU Tigers (1989–1992), a potem były Boston Celtics (2010–2011).": 0,
		"Zaczynał w LSU Tigers (1989–2011).":                                          2,
		"LSU grało w 2010.":                                                           1,
		"Boston Celtics mają trzy wiersze.":                                           0,
		"LSU Tigers mają siedem wierszy.":                                             1,
		"Boston Celtics mają dwa wiersze.":                                            0, // the number of clubs
		"Boston Celtics mają siedem wierszy":                                          1,
	} {
		if got := New(e).Faults(text); len(got) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// A period after a short number ends a sentence before a capital letter.
func TestSentencesAfterNumbers(t *testing.T) {
	for _, tt := range []struct {
		language, text string
		want           int
	}{
		{"pt", "A mínima é de 46 e a máxima de 88. São só 11 valores.", 2}, {"en", "The highest is 88. Only 11 count.", 2},
		{"de", "Das Höchste ist 88. Es sind nur 11.", 2}, {"de", "Der 44. Präsident begann am 20. Januar.", 1},
		{"de", "Am 3. Oktober.", 1}, {"pl", "Ma 88. To tylko 11 wartości.", 2}, {"es", "Son 12. 3 no cuentan.", 1},
		{"en", "It is at 601 km. geof:distance returns kilometres.", 2}, {"en", "It is 3 m. high.", 2}, {"en", "M. Dupont is m. Y.", 1},
	} {
		if got := New(Evidence{Language: tt.language}).Sentences(tt.text); len(got) != tt.want {
			t.Errorf("%q", got)
		}
	}
}

// A plain word with another ending is plain.
func TestInflections(t *testing.T) {
	for _, tt := range []struct{ language, text, want string }{
		{"fr", "Des sites sont indiqués.", "sites"}, {"de", "Berühmte gefundenes Ergebnisses.", "Berühmte"}, {"en", "Others exclude deadly ones.", "deadly"},
	} {
		var got []string
		for _, f := range New(Evidence{Language: tt.language}).Faults(tt.text) {
			got = append(got, f.Piece)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %q", tt.text, got, tt.want)
		}
	}
}

// Dates known only to the year are stored as 1 January.
func TestYearOnly(t *testing.T) {
	for text, want := range map[string]int{
		"Years are stored as 1 January.": 0, "Years are stored as January 1.": 0, "Years are stored as 2 January.": 1,
		"K2 is known since 1 January.": 1, "There is 1 row on 1 March.": 2,
	} {
		if got := New(mountains).Faults(text); len(got) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// So may the languages of the texts in the result.
func TestLanguagesOfTheResult(t *testing.T) {
	e := Evidence{Language: "ja", Query: "SELECT ?題名 (LANG(?題名) AS ?言語) {}", Table: &kg.Table{Vars: []string{"題名", "言語"}, Rows: [][]rdf.Term{
		{rdf.String("Une comédie"), rdf.String("fr")}}}}
	for text, want := range map[string]int{"題名はフランス語です。": 0, "題名はドイツ語です。": 1} {
		if got := New(e).Faults(text); len(got) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// Decimals are not split at their third digit, and a place in a ranking or a year from a name is not a figure.
func TestPlacesAndDecimals(t *testing.T) {
	foot := Evidence{Language: "en", Question: "Which units are smaller, and what are their values?", Query: "SELECT ?unit ?value { } ORDER BY ?value",
		Labels: map[string]string{"Q1": "mil", "Q2": "inch", "Q3": "foot of 1959"},
		Table: &kg.Table{Vars: []string{"unit", "value"}, Rows: [][]rdf.Term{{item("Q1"), decimal("0.0000254")}, {item("Q2"), decimal("0.0254")},
			{item("Q3"), decimal("0.3048")}}}}
	for text, want := range map[string]string{
		"The foot of 1959 is last with 0.3048, and the mil has 0.0000254.": "", "The inch has 0.3048.": "0.3048", "The mil has 0.0000255.": "0.0000255",
		"The inch is in place 2.": "", "The inch is in place 1.": "1", "The units are of 1959.": "", "The units are of 1960.": "1960",
	} {
		var got []string
		for _, f := range New(foot).Faults(text) {
			got = append(got, f.Piece)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %q", text, got, want)
		}
	}
	big := Evidence{Language: "fr", Question: "Débuts et âges ?", Query: "SELECT ?x ?début { }", Labels: map[string]string{"Q1": "Univers", "Q2": "Terre"},
		Table: &kg.Table{Vars: []string{"x", "début"}, Rows: [][]rdf.Term{{item("Q1"), date("-13798000000-01-01")}, {item("Q2"), date("-4540000000-01-01")}}}}
	for text, ok := range map[string]bool{"Univers : 13,8 milliards.": true, "Univers : 4,5 milliards.": false, "Terre : 4 540 000 000.": true} {
		if got := New(big).Faults(text); (len(got) == 0) != ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// Sentences end after eras, distinct values are counted, and the part of a name before a comma stands for the name.
func TestErasAndShortNames(t *testing.T) {
	e := Evidence{Language: "pt", Question: "Quem, e quando?", Query: "SELECT ?pessoa ?nascimento ?geração { }",
		Labels: map[string]string{"Q1": "Charles III", "Q2": "Albert, Prince Consort", "Q3": "Diana, Princess of Wales"},
		Table: &kg.Table{Vars: []string{"pessoa", "nascimento", "geração"}, Rows: [][]rdf.Term{{item("Q1"), date("1948-11-14"), integer("1")},
			{item("Q2"), date("1819-08-26"), integer("6")}, {item("Q3"), date("1961-07-01"), integer("1")}}}}
	for text, ok := range map[string]bool{"Charles III nasceu em 1948 e Albert em 1819.": true, "Albert nasceu em 1948.": false, "São duas gerações.": true,
		"Albert é da 6.ª geração.": true, "São cinco gerações.": false} {
		if got := New(e).Faults(text); (len(got) == 0) != ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for text, want := range map[string]int{"Войны шли с 743 по 454 год до н. э. В RDF год другой.": 2, "Er starb 63 v. Chr. in Rom.": 1, "Trwała do 1939 r. Potem nic.": 2,
		"Dauerte bis 63 v. Chr. Danach nichts.": 2, "С 63 г. до н. э. и позже.": 1} {
		if got := New(e).Sentences(text); len(got) != want {
			t.Errorf("%q", got)
		}
	}
	e.Language = "de"
	if got := New(e).Keep("Es gibt zwei Formen, „nữ hoàng“ und „x“; in Asturien 7."); got != "" { // unknown names
		t.Errorf("%q", got)
	}
	if got := clauses("Nur „a“ und „b“ gibt es; der Rest fehlt (a; b)."); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// The figures in a joined text are those of its row.
func TestFiguresInText(t *testing.T) {
	e := Evidence{Language: "fr", Question: "Quels lieux, et quels codes ?", Query: "SELECT ?lieu (GROUP_CONCAT(?code) AS ?codes) { }",
		Labels: map[string]string{"Q1": "Trenton", "Q2": "Princeton"},
		Table: &kg.Table{Vars: []string{"lieu", "codes"}, Rows: [][]rdf.Term{{item("Q1"), rdf.String("08608, 08610, 08650")},
			{item("Q2"), rdf.String("08540, 08542")}}}}
	for text, ok := range map[string]bool{"Trenton : de 08608 à 08650.": true, "Princeton : 08540 et 08542.": true, "Princeton : 08610.": false,
		"Trenton a trois codes.": true, "Princeton a trois codes.": false} {
		if got := New(e).Faults(text); (len(got) == 0) != ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// The rows with a value that is false or zero may be counted.
func TestZeros(t *testing.T) {
	yes, no := rdf.Typed("true", rdf.XSDBoolean), rdf.Typed("false", rdf.XSDBoolean)
	e := Evidence{Language: "nl", Question: "Welke landen hebben een vlag, en hoeveel talen?", Query: "SELECT ?land ?vlag ?talen { }",
		Table: &kg.Table{Vars: []string{"land", "vlag", "talen"}, Rows: [][]rdf.Term{{item("Q1"), yes, integer("0")}, {item("Q2"), no, integer("0")},
			{item("Q3"), no, integer("7")}, {item("Q4"), no, integer("1")}, {item("Q5"), no, integer("3")}}}}
	for text, ok := range map[string]bool{"Vier landen hebben geen vlag.": true, "Twee landen hebben geen talen.": true, "Drie landen hebben geen vlag.": false} {
		if got := New(e).Faults(text); (len(got) == 0) != ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// A part of a sentence may say how many rows have a date, while another part is about a name.
func TestSharedDates(t *testing.T) {
	members := Evidence{Language: "en", Question: "When did each member of the European Union join?",
		Query:  "SELECT ?member ?date { ?member p:P463 ?s . ?s ps:P463 wd:Q458 ; pq:P580 ?date } ORDER BY ?date",
		Labels: map[string]string{"Q142": "France", "Q183": "Germany", "Q191": "Estonia", "Q211": "Latvia", "Q224": "Croatia", "Q27": "Ireland", "Q458": "European Union"},
		Table: &kg.Table{Vars: []string{"member", "date"}, Rows: [][]rdf.Term{{item("Q142"), date("1957-03-25")},
			{item("Q183"), date("1957-03-25")}, {item("Q27"), date("1973-01-01")}, {item("Q191"), date("2004-05-01")},
			{item("Q211"), date("2004-05-01")}, {item("Q224"), date("2013-07-01")}}}}
	for text, want := range map[string]string{
		"Two are dated 25 March 1957, two joined on 1 May 2004, and the latest is Croatia on 1 July 2013.": "",
		"Two joined in 1957, and Croatia joined in 2013.":                                                  "",
		"Two are dated 25 March 1957.":                                                                     "",
		"Two are dated 24 March 1957.":                                                                     "24",
		"Three joined in 1957, and Croatia joined in 2013.":                                                "Three 1957 2013",
		"Two joined in 1957, and Croatia joined in 2004.":                                                  "2004",
		"Two joined in 1973.":                                                                              "Two 1973",
		"The latest is Estonia on 1 May 2004.":                                                             "latest",
		"The earliest are France and Germany.":                                                             "",
	} {
		if got := pieces(members, text); got != want {
			t.Errorf("%s: %s, want %q", text, got, want)
		}
	}
}

// A figure in a label may be used with a translation of the label, but not as a count or of a different row.
func TestFiguresInLabels(t *testing.T) {
	holidays := Evidence{Language: "de", Question: "Welche Feiertage gibt es in Bayern, mit dem Tag im Jahr?",
		Query:  "SELECT ?feiertag ?tag { wd:Q980 wdt:P832 ?feiertag OPTIONAL { ?feiertag wdt:P837 ?tag } }",
		Labels: map[string]string{"Q1": "Second Day of Christmas", "Q2761": "December 26", "Q2": "Epiphany", "Q3": "January 6"},
		Table:  &kg.Table{Vars: []string{"feiertag", "tag"}, Rows: [][]rdf.Term{{item("Q1"), item("Q2761")}, {item("Q2"), item("Q3")}}}}
	for text, want := range map[string]string{
		"Second Day of Christmas: 26. Dezember.": "",
		"Epiphany: 26. Dezember.":                "26",
		"Es gibt 26 Feiertage.":                  "26",
		"Es gibt sechs Feiertage.":               "sechs",
	} {
		var got []string
		for _, f := range New(holidays).Faults(text) {
			if f.Kind == Figure {
				got = append(got, f.Piece)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %q", text, got, want)
		}
	}
}

// The total of a column of counts needs no name.
func TestTotals(t *testing.T) {
	awards := Evidence{Language: "en", Question: "How many awards did he receive in each year?",
		Query: "SELECT ?year (COUNT(DISTINCT ?award) AS ?count) (MAX(?n) AS ?most) { } GROUP BY ?year",
		Table: &kg.Table{Vars: []string{"year", "count", "most"}, Rows: [][]rdf.Term{{integer("1998"), integer("11"), integer("40")},
			{integer("2000"), integer("14"), integer("41")}}}}
	for text, want := range map[string]int{"He received 25 awards.": 0, "He received 26 awards.": 1, "He received 81 awards.": 1} {
		if got := New(awards).Faults(text); len(got) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// The rank of a statement is a term, unlike "the best" of the rows.
func TestBestRank(t *testing.T) {
	for text, want := range map[string]int{
		"The query returns only the statements with the best rank.": 0,
		"K2 is the best of them.":                                   1,
	} {
		if got := New(mountains).Faults(text); len(got) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// sentence is a sentence about a result and the parts of it that are not supported.
type sentence struct {
	e          Evidence
	text, want string
}

func compare(t *testing.T, sentences []sentence) {
	t.Helper()
	for _, s := range sentences {
		if got := pieces(s.e, s.text); got != s.want {
			t.Errorf("%q: %q, want %q", s.text, got, s.want)
		}
	}
}

// Figures and names that live players wrote, and the ones next to them that must not pass.
func TestPlayedSentences(t *testing.T) {
	dogs := Evidence{Language: "fr", Question: "la liste des chiens avec leur date de naissance et leur date de mort",
		Query: "SELECT ?chien ?naissance ?mort {}", Labels: map[string]string{"Q1": "Boris", "Q2": "Bobi", "Q3": "Max"},
		Table: &kg.Table{Vars: []string{"chien", "naissance", "mort"}, Rows: [][]rdf.Term{
			{item("Q1"), date("1901-01-01"), date("1998-01-01")}, {item("Q2"), date("1992-05-11"), date("2023-10-21")},
			{item("Q3"), date("1983-08-09"), date("2013-05-18")}}}}
	tests := Evidence{Language: "de", Question: "Kernwaffentests mit Sprengkraft, Datum und Land", Query: "SELECT ?test ?datum ?land {}",
		Labels: map[string]string{"Q1": "Bighorn", "Q2": "Aztec", "Q3": "Apache", "Q4": "G1", "Q9": "600 Vega"}, Shown: "LaGuardia Airport (Q5) | LGA | London\nQ7 | Test 41 in Nevada\n44 Tests\n1 row\nn | m\n[integer | integer]\n2059 | 88\n17 rows\nx | y\n[item | item, 9 unbound]",
		Table: &kg.Table{Vars: []string{"test", "datum", "land"}, Rows: [][]rdf.Term{{item("Q1"), {}, {}}, {item("Q2"), {}, {}},
			{item("Q3"), date("1956-07-08"), item("Q30")}, {item("Q4"), {}, item("Q145")}}}}
	compare(t, []sentence{
		{dogs, "Parmi les chiens dont les deux dates sont connues, Bobi est mort en 2023.", ""},
		{dogs, "Parmi les deux chiens, Bobi est mort en 2023.", "deux"},
		{dogs, "Les deux premières lignes sont vraisemblables.", ""},
		{dogs, "Les cinq premières lignes sont vraisemblables.", "cinq"},
		{tests, "Bei 2 Tests sind weder Datum noch Land eingetragen.", ""},
		{tests, "Bei 7 Tests sind weder Datum noch Land eingetragen.", "7"},
		{tests, "Nicht dabei ist 600 Vega.", ""},
		{tests, "Nicht dabei sind 600 Tests.", "600"},
		{tests, "Nicht dabei ist LGA.", ""},
		{tests, "Nicht dabei ist LGB.", "LGB"},
		{tests, "Von 2059 Tests fehlt bei 88 das Datum, bei 17 das Land und bei 9 beides.", ""},
		{tests, "Von 2059 Tests haben 1971 ein Datum.", ""},
		{tests, "Nicht dabei ist Test 41 in Nevada.", ""},
		{tests, "Nicht dabei sind in Peru 44 Tests.", "44 Peru"},
	})
	resorts := Evidence{Language: "de", Question: "Wie viele Skigebiete gibt es pro Land?", Query: "SELECT ?land (COUNT(?x) AS ?zahl) {} GROUP BY ?land",
		Labels: map[string]string{"Q142": "France", "Q183": "Germany", "Q77": "Uruguay", "Q30": "United States"},
		Table:  &kg.Table{Vars: []string{"land", "zahl"}, Rows: [][]rdf.Term{{item("Q142"), integer("15")}, {item("Q183"), integer("1")}}}}
	for text, want := range map[string]string{"Frankreich hat 15 Skigebiete.": "", "Deutschland hat 15 Skigebiete.": "15", "Die USA fehlen.": "USA",
		"Die Vereinigten Staaten und Uruguay fehlen.": "", "Italien fehlt.": "Italien"} {
		if got := pieces(resorts, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	capitals := Evidence{Language: "it", Question: "stati europei con la capitale e la popolazione della capitale", Query: "SELECT ?stato ?capitale (MAX(?p) AS ?popolazione) {}",
		Labels: map[string]string{"Q183": "Germany", "Q64": "Berlin", "Q29": "Spain", "Q2807": "Madrid", "Q142": "France", "Q90": "Paris", "Q38": "Italy", "Q220": "Rome"},
		Table: &kg.Table{Vars: []string{"stato", "capitale", "popolazione"}, Rows: [][]rdf.Term{{item("Q183"), item("Q64"), integer("3782202")},
			{item("Q29"), item("Q2807"), integer("3416771")}, {item("Q142"), item("Q90"), {}}, {item("Q38"), item("Q220"), {}}}}}
	for text, want := range map[string]string{"La popolazione è presente solo per 2 capitali: Berlino (3.782.202) e Madrid (3.416.771).": "",
		"La popolazione è presente solo per 3 capitali: Berlino (3.782.202) e Madrid (3.416.771).": "3", "Per Madrid è riportato il valore più alto.": "alto"} {
		if got := pieces(capitals, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	capitals.Shown = "2 rows"
	if got := pieces(capitals, "Per Madrid è riportato il valore più alto."); got != "" {
		t.Error(got)
	}
	trek := Evidence{Language: "zh", Question: "列出所有《星际迷航》电影，哪些演员出演的最多", Query: "SELECT ?film ?actor {} HAVING (COUNT(DISTINCT ?f) > 1)",
		Table: &kg.Table{Vars: []string{"film"}, Rows: [][]rdf.Term{{rdf.String("Star Trek")}, {rdf.String("Star Trek 4")}}}}
	if got := pieces(trek, "表格先列出电影；随后列出出演超过一部的演员。"); got != "" {
		t.Error(got)
	}
}

// In Japanese and Chinese, a name is found between other words, and so is the figure that belongs to it.
func TestUnspacedNames(t *testing.T) {
	ja := Evidence{Language: "ja", Question: "公用語が二つ以上登録されている国の一覧を、公用語の数の多い順にお願いします。", Query: "SELECT ?country ?count {}",
		Labels: map[string]string{"Q889": "Afghanistan", "Q20": "ノルウェー", "Q39": "スイス", "Q96": "Mexico"},
		Table: &kg.Table{Vars: []string{"country", "count"}, Rows: [][]rdf.Term{{item("Q889"), integer("9")},
			{item("Q20"), integer("4")}, {item("Q39"), integer("4")}, {item("Q96"), integer("4")}}}}
	zh := ja
	zh.Language, zh.Question = "zh", "列出有两种以上官方语言的国家，按数量从多到少排列"
	zh.Labels = map[string]string{"Q889": "阿富汗", "Q20": "挪威", "Q39": "瑞士", "Q96": "Mexico"}
	compare(t, []sentence{
		{ja, "最も多いのはアフガニスタンの9、次いでノルウェー、スイス、メキシコの4です。", ""},
		{ja, "最も多いのはアフガニスタンの4、次いでノルウェー、スイス、メキシコの9です。", "9"},
		{ja, "最も多いのはスイスの9です。", "9 最も多"},
		{ja, "Nepalもあります。", "Nepal"},
		{zh, "数量最多的国家是阿富汗，有9；其次是挪威和瑞士，有4。", ""},
		{zh, "其次是挪威，有9。", "9"},
	})
}

// False sentences that a reviewer got past the check.
func TestReviewedSentences(t *testing.T) {
	dogs := Evidence{Language: "en", Question: "dogs with their wins and date of death", Query: "SELECT ?dog ?wins ?died {}",
		Labels: map[string]string{"Q1": "Boris", "Q2": "Bobi", "Q3": "Max", "Q4": "Laika", "Q5": "Rex"},
		Table: &kg.Table{Vars: []string{"dog", "wins", "died"}, Rows: [][]rdf.Term{{item("Q1"), integer("5"), {}}, {item("Q2"), integer("8"), date("2023-10-21")},
			{item("Q3"), integer("12"), date("2013-05-18")}, {item("Q4"), integer("7"), date("1957-11-03")}, {item("Q5"), integer("9"), {}}}}}
	states := Evidence{Language: "de", Question: "Staaten mit Einwohnerzahl", Query: "SELECT ?land ?zahl {}", Labels: map[string]string{"Q30": "United States", "Q142": "France", "Q77": "Uruguay"},
		Table: &kg.Table{Vars: []string{"land", "zahl"}, Rows: [][]rdf.Term{{item("Q30"), integer("331000000")}, {item("Q142"), integer("68000000")}, {item("Q77"), integer("3400000")}}}}
	films := Evidence{Language: "en", Question: "films by Truffaut", Query: "SELECT ?film {}", Labels: map[string]string{"Q1": "The 400 Blows", "Q2": "Jules and Jim"},
		Table: &kg.Table{Vars: []string{"film"}, Rows: [][]rdf.Term{{item("Q1")}, {item("Q2")}}}}
	cities := Evidence{Language: "en", Question: "capitals", Query: "SELECT ?c (MAX(?p) AS ?n) {}", Labels: map[string]string{"Q64": "Berlin", "Q90": "Paris"}, Shown: "1 row\nn\n[integer]\n2059",
		Table: &kg.Table{Vars: []string{"c", "n"}, Rows: [][]rdf.Term{{item("Q64"), integer("3782202")}, {item("Q90"), integer("2103778")}}}}
	india := Evidence{Language: "zh", Question: "印度尼西亚和印度的官方语言", Query: "SELECT ?c ?n {}", Labels: map[string]string{"Q668": "印度", "Q39": "瑞士", "Q889": "阿富汗"},
		Table: &kg.Table{Vars: []string{"c", "n"}, Rows: [][]rdf.Term{{item("Q889"), integer("9")}, {item("Q668"), integer("7")}, {item("Q39"), integer("5")}}}}
	niger := Evidence{Language: "de", Question: "Länder mit Einwohnerzahl", Query: "SELECT ?land ?zahl {}", Labels: map[string]string{"Q1030": "Namibia", "Q1032": "Niger", "Q1033": "Nigeria"},
		Table: &kg.Table{Vars: []string{"land", "zahl"}, Rows: [][]rdf.Term{{item("Q1030"), decimal("2533794")}, {item("Q1032"), decimal("21477348")}, {item("Q1033"), decimal("211400708")}}}}
	compare(t, []sentence{
		{dogs, "Bobi and Max have 2 wins.", "2"},
		{dogs, "Only three dogs have a date of death: Boris, Rex and Max.", "three"},
		{dogs, "Only two dogs have no date of death: Boris and Rex.", ""},
		{dogs, "There are only three dogs.", "three"},
		{dogs, "The first two rows are Max and Rex.", "two"},
		{dogs, "Bobi is the most credible.", "credible"},
		{states, "Frankreich hat unter diesen Staaten 331 Millionen Einwohner.", "331"},
		{states, "Die Vereinigten Staaten haben 331 Millionen Einwohner.", ""},
		{niger, "Die Abfrage findet 2 Länder, von Namibia (2533794) bis Nigeria (211400708).", "2"},
		{niger, "Die Abfrage findet 3 Länder, von Namibia (2533794) bis Nigeria (211400708).", ""},
		{films, "The query finds the 400 films.", "400"},
		{cities, "Paris is the largest of these capitals.", "largest largest"},
		{cities, "Paris has 2059 people.", "2059"},
		{cities, "The data has 2059 cities.", ""},
		{india, "印度尼西亚的官方语言有7。", "7"},
		{india, "瑞士排在首位。", "排在首位"},
	})
}
