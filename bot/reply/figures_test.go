package reply

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func TestAddFigures(t *testing.T) {
	number := func(s string) forum.Cell { return forum.Cell{Text: s, Kind: "number"} }
	table := func() *forum.Reply {
		return &forum.Reply{Vars: []string{"m", "h"}, Headers: []string{"mountain", "height"},
			Rows: [][]forum.Cell{{{ID: "Q1"}, number("8611")}, {{ID: "Q2"}, number("100")}}}
	}
	for _, tt := range []struct {
		figures []Figure
		want    string
	}{
		{[]Figure{{Column: "h", Unit: "m"}, {"h", 1, "m", "2020", false, 0}}, "height (m) [8611   100  ]"}, // only one has a date
		{[]Figure{{"h", 0, "m", "2020", false, 0}, {"h", 1, "m", "2021", false, 0}}, "height (m) [8611  2020 100  2021]"},
		{[]Figure{{"h", 0, "m", "2020", false, 0}, {"h", 1, "m", "2020", false, 0}}, "height (m, 2020) [8611   100  ]"},
		{[]Figure{{"h", 0, "", "2020", false, 0}, {"h", 1, "", "2020", false, 0}}, "height (2020) [8611   100  ]"},
		{[]Figure{{Column: "h", Unit: "m"}, {"h", 1, "ft", "", false, 0}}, "height [8611 m  100 ft ]"},
		{[]Figure{{Column: "h", Unit: "m"}}, "height [8611 m  100  ]"},
		{[]Figure{{"h", 5, "m", "", false, 0}, {"x", 0, "m", "", false, 0}, {"m", 0, "m", "", false, 0}}, "height [8611   100  ]"},
	} {
		r := table()
		AddFigures(r, tt.figures)
		a, b := r.Rows[0][1], r.Rows[1][1]
		got := fmt.Sprintf("%s [%s %s %s %s %s %s]", r.Headers[1], a.Text, a.Unit, a.Year, b.Text, b.Unit, b.Year)
		if got != tt.want {
			t.Errorf("%v: %q, want %q", tt.figures, got, tt.want)
		}
	}
	unit := table()
	unit.Headers[1] = "height (m)"
	if AddFigures(unit, []Figure{{Column: "h", Unit: "m"}, {Column: "h", Row: 1, Unit: "m"}}); unit.Headers[1] != "height (m)" {
		t.Errorf("the model wrote the unit: %+v", unit)
	}
	three := table()
	three.Rows = append(three.Rows, []forum.Cell{{ID: "Q3"}, number("200")})
	known := []Figure{{Column: "h", Row: 0, Unit: "m"}, {Column: "h", Row: 2, Unit: "m"}}
	if AddFigures(three, known); three.Headers[1] != "height (m)" || three.Rows[0][1].Unit+three.Rows[2][1].Unit != "" {
		t.Errorf("the graph lacks one unit: %+v", three)
	}
	three.Headers[1] = "height"
	if AddFigures(three, append(known, Figure{Column: "h", Row: 1, Unlike: true})); three.Headers[1] != "height" || three.Rows[0][1].Unit != "m" {
		t.Errorf("one number has no unit: %+v", three)
	}
	several := table()
	several.Rows = append(several.Rows, []forum.Cell{{ID: "Q2"}, number("200")})
	if AddFigures(several, []Figure{{"h", 1, "", "2020", false, 0}}); several.Rows[1][1].Year != "2020" {
		t.Errorf("several rows of an item: %+v", several)
	}
	one := &forum.Reply{Vars: []string{"h"}, Headers: []string{"height"}, Rows: [][]forum.Cell{{number("8611")}}}
	if AddFigures(one, []Figure{{Column: "h", Unit: "m"}}); one.Headers[0] != "height" || one.Rows[0][0].Unit != "m" {
		t.Errorf("a single value: %+v", one)
	}
}

func TestAskersWords(t *testing.T) {
	for _, tt := range []struct{ language, variable, question, want string }{
		{"de", "land", "Hallo, welche Länder grenzen an Deutschland?", "Land"},
		{"fr", "réalisateur", "Quels réalisateurs ont fait ce film ?", "réalisateur"},
		{"de", "item", "Bitte alle Items", "Item"},
		{"de", "country", "welche Länder grenzen an Deutschland?", "P47"},
		{"en", "land", "which lands", "P47"},
		{"it", "strumento", "quali strumenti suonava?", "strumento"},
		{"it", "strumento", "quale strumentazione?", "strumento"},
		{"pt", "país", "quais países?", "país"},
		{"de", "ort", "welche Orte", "P47"}, // too short to be sure
		{"es", "año", "¿cuándo se fundó?", "año"},
		{"es", "number", "cuántos number", "cantidad"},
		{"es", "hijos", "el número de hijos", "hijos"},
		{"en", "films", "How many films per decade?", "films"},
		{"en", "cities", "How many films per decade?", "number"},
	} {
		r := &forum.Reply{Language: tt.language, Vars: []string{tt.variable}, Headers: []string{"P47"},
			Rows: [][]forum.Cell{{{ID: "Q1"}}}}
		if i := slices.Index([]string{"number", "hijos", "films", "cities"}, tt.variable); i >= 0 { // a count
			r.Headers[0] = forum.Texts(tt.language).Text("number")
		}
		if AskersWords(r, &agent.Answer{}, tt.question); r.Headers[0] != tt.want {
			t.Errorf("%+v: %q", tt, r.Headers[0])
		}
	}
}

// A header that the model wrote is kept.
func TestAskersWordsKeepsWritten(t *testing.T) {
	r := &forum.Reply{Language: "fr", Vars: []string{"langues"}, Headers: []string{"langues officielles"}, Rows: [][]forum.Cell{{{Text: "x"}}}}
	a := &agent.Answer{Headers: map[string]string{"langues": "langues officielles"}}
	if AskersWords(r, a, "leurs langues ?"); r.Headers[0] != "langues officielles" {
		t.Errorf("%q", r.Headers)
	}
	if AskersWords(r, &agent.Answer{}, "leurs langues ?"); r.Headers[0] != "langues" {
		t.Errorf("%q", r.Headers)
	}
}

// If one variable name is the asker's word, the other names are taken to be in the same language, unless they are
// English. Accents are taken from the question.
func TestNamesInOneLanguage(t *testing.T) {
	for _, tt := range []struct{ language, vars, question, want string }{
		{"pl", "mąż ślub koniec", "kto był mężem i do końca czego?", "mąż ślub koniec"},
		{"pl", "mąż start", "kto był mężem?", "mąż end time"},
		{"pl", "x koniec", "kto?", "spouse end time"}, // nothing shows that this is Polish
		{"pt", "pais habitantes", "quais países, com os habitantes?", "país habitantes"},
		{"pl", "siedziba strona", "firmy z siedzibą i stroną", "siedziba strona"},
		{"es", "canción fecha", "canciones con fecha", "canción fecha"},
		{"de", "praesident ende", "die Präsidenten der USA", "Präsident Ende"},
		{"de", "fluss lange", "Flüsse mit Länge", "Fluss Lange"},
	} {
		r := &forum.Reply{Language: tt.language, Vars: strings.Fields(tt.vars), Headers: []string{"spouse", "start time", "end time"},
			Rows: [][]forum.Cell{{{ID: "Q1"}}}}
		r.Headers = r.Headers[:len(r.Vars)]
		r.Headers[len(r.Vars)-1] = "end time"
		if AskersWords(r, &agent.Answer{}, tt.question); strings.Join(r.Headers, " ") != tt.want {
			t.Errorf("%+v: %q", tt, r.Headers)
		}
	}
}

// TestAskersWordsElsewhere covers columns that are not shown, and languages written without spaces.
func TestAskersWordsElsewhere(t *testing.T) {
	plural := &forum.Reply{Language: "es", Vars: []string{"persona", "declaraciones"}, Headers: []string{"persona", "cantidad"},
		Rows: [][]forum.Cell{{{ID: "Q1"}, {Text: "6", Kind: "number"}}}}
	if AskersWords(plural, &agent.Answer{}, "personas con más de una declaración"); plural.Headers[1] != "declaraciones" {
		t.Error(plural.Headers)
	}
	r := &forum.Reply{Language: "es", Vars: []string{"hijo"}, Headers: []string{"child"}, NoValues: []string{"mother"},
		NoValueVars: []string{"madre"}, Rows: [][]forum.Cell{{{ID: "Q1"}}}}
	if AskersWords(r, &agent.Answer{}, "los hijos y sus madres"); r.Headers[0] != "hijo" || r.NoValues[0] != "madre" {
		t.Errorf("%q %q", r.Headers, r.NoValues)
	}
	number := forum.Texts("ja").Text("number")
	r = &forum.Reply{Language: "ja", Vars: []string{"国の数"}, Headers: []string{number}, Rows: [][]forum.Cell{{{Text: "3"}}}}
	if AskersWords(r, &agent.Answer{}, "同じ通貨を使っている国の数を数えたいです。"); r.Headers[0] != "国の数" {
		t.Errorf("%q", r.Headers)
	}
	r.Headers[0] = number
	if AskersWords(r, &agent.Answer{}, "通貨を数えたいです。"); r.Headers[0] != number {
		t.Errorf("not in the question: %q", r.Headers)
	}
}

// A variable name from the poster's own query is the poster's word for the column, unless it was copied from an example
// in a different language.
func TestOwnVariables(t *testing.T) {
	const theirs = "SELECT ?komponist ?country ?staatLabel ?x1 ?ort WHERE { ?komponist wdt:P19 ?ort ; wdt:P569 ?dob }"
	for _, tt := range []struct{ language, variable, want string }{
		{"de", "komponist", "Komponist"}, {"de", "staatLabel", "Staat"}, {"de", "staat", "Staat"}, {"de", "ort", "Ort"},
		{"de", "country", "P47"}, {"en", "country", "country"}, {"de", "kompon", "P47"}, {"de", "x1", "P47"},
		{"en", "komponist", "komponist"}, {"de", "werk", "P47"}, {"en", "dob", "P47"},
	} {
		r := &forum.Reply{Language: tt.language, Vars: []string{tt.variable}, Headers: []string{"P47"},
			Rows: [][]forum.Cell{{{ID: "Q1"}}}}
		if AskersWords(r, &agent.Answer{}, "Was stimmt hier nicht?", "ASK {}", theirs); r.Headers[0] != tt.want {
			t.Errorf("%+v: %q", tt, r.Headers[0])
		}
	}
}

// If all variables are named in the asker's language, their names are better than labels that exist only in English.
func TestForeignNames(t *testing.T) {
	for _, tt := range []struct{ vars, want string }{{"carrera puesto piloto", "race puesto piloto"}, {"country puesto piloto", "race ranking participant"}} {
		r := &forum.Reply{Language: "es", Vars: strings.Fields(tt.vars), Headers: []string{"race", "ranking", "participant"},
			Rows: [][]forum.Cell{{{ID: "Q1"}, {Text: "1"}, {ID: "Q2"}}}}
		if AskersWords(r, &agent.Answer{}, "¿Quién ganó?"); strings.Join(r.Headers, " ") != tt.want {
			t.Errorf("%s: %q", tt.vars, r.Headers)
		}
	}
}

// A small number is not rounded to zero or to a different value that is in the data, too.
func TestSmallNumbers(t *testing.T) {
	for in, want := range map[string]string{"0.0000254": "0.0000254", "0.0000254001": "0.0000254001", "0.3048": "0.3048",
		"0.333333333333": "0.333333", "12.34567891": "12.3457", "233.61238938": "233.61", "0": "0"} {
		if got := shortNumber(in, keptDigits, calculated(in)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// The years 400 and 399 BC are two years apart in a row of the same kind of dates; alone, a round year is one that is
// only known to the century.
func TestExactYears(t *testing.T) {
	year := func(s string) rdf.Term { return rdf.Typed(s+"-01-01T00:00:00Z", rdf.XSDDateTime) }
	for _, tt := range []struct{ a, b, want string }{{"-0400", "-0398", "401 BC, 399 BC"}, {"-0400", "-0300", "400 BC, 300 BC"}, {"-0400", "1200", "400 BC, 1200"}} {
		out := &agent.Outcome{Language: "en", Report: "S.", Answer: &agent.Answer{SPARQL: "SELECT ?a ?b { ?a ?p ?b }",
			Table: &kg.Table{Vars: []string{"a", "b"}, Rows: [][]rdf.Term{{year(tt.a), year(tt.b)}}}}}
		w, err := forum.Compose(New(out, "A", "O", "sb-1"), ":")
		if err != nil || !strings.Contains(w, "\n| "+strings.Replace(tt.want, ", ", " || ", 1)+"\n") {
			t.Errorf("%+v: %v\n%s", tt, err, w)
		}
	}
}

// Foreign names in a Polish sentence do not make it Spanish.
func TestOtherLanguage(t *testing.T) {
	const polish = "Ponad milion maja dwa elementy: Carolina Panthers (3 087 165) i Los Angeles Kings (1 169 600). Obie to druzyny."
	said := func(s string) forum.Reply { return forum.Reply{Short: s} }
	named := forum.Reply{Short: polish, Rows: [][]forum.Cell{{{Label: "Carolina Panthers"}}, {{Label: "Los Angeles Kings"}}}}
	if OtherLanguage(named, "pl") || OtherLanguage(said(strings.Replace(polish, "maja", "mają", 1)), "pl") {
		t.Error("Polish is another language")
	}
	const german = "Die Abfrage liefert alle Berge, die höher als achttausend Meter sind, mit ihrer Höhe und dem Land, in dem sie liegen."
	if !OtherLanguage(said(german), "en") || OtherLanguage(said(german), "de") {
		t.Error("German is not another language than English")
	}
}

// In German, a compound is not shortened to the variable's name, so that two dates have headers of the same kind.
func TestCompounds(t *testing.T) {
	r := &forum.Reply{Language: "de", Vars: []string{"geburt", "tod"}, Headers: []string{"Geburtsdatum", "Sterbedatum"},
		Rows: [][]forum.Cell{{{Text: "1946-05-18", Kind: "day"}, {Text: "1970-06-29", Kind: "day"}}}}
	AskersWords(r, &agent.Answer{}, "mit Geburts- und Todesdatum?")
	if got := strings.Join(r.Headers, ", "); got != "Geburtsdatum, Sterbedatum" {
		t.Error(got)
	}
}

// A date is shown as exactly as it is known. The query service returns the first day of the month or year in any case.
func TestDatePrecision(t *testing.T) {
	day, year := func(s string) forum.Cell { return forum.Cell{Text: s, Kind: "day"} }, forum.Cell{Text: "1950", Kind: "year"}
	for _, tt := range []struct {
		cell      forum.Cell
		precision int
		want      string
	}{
		{day("1950-05-01"), 11, "day 1950-05-01"},
		{day("1950-05-01"), 10, "month 1950-05-01"},
		{day("1950-05-01"), 9, "year 1950"},
		{day("0950-05-01"), 9, "year 950"},
		{day("1950-05-01"), 0, "day 1950-05-01"},
		{year, 0, "year 1950"},
		{year, 7, "year 1950"},
		{year, 9, "year 1950"},
		{year, 10, "month 1950-01-01"},
		{year, 11, "day 1950-01-01"},
		{forum.Cell{Text: "79", Kind: "year"}, 11, "day 0079-01-01"},
		{forum.Cell{Text: "-43", Kind: "year"}, 11, "year -43"},
		{day("-0043-03-01"), 10, "day -0043-03-01"},
		{forum.Cell{Text: "1950", Kind: "number"}, 10, "number 1950"},
		{forum.Cell{Text: "1950-05-01"}, 10, " 1950-05-01"},
	} {
		r := &forum.Reply{Vars: []string{"b"}, Rows: [][]forum.Cell{{tt.cell}}}
		AddFigures(r, []Figure{{Column: "b", Precision: tt.precision}})
		if got := r.Rows[0][0].Kind + " " + r.Rows[0][0].Text; got != tt.want {
			t.Errorf("%+v with precision %d: %q, want %q", tt.cell, tt.precision, got, tt.want)
		}
	}
}
