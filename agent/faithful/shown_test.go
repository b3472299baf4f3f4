package faithful

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// A note may use the figures of an earlier step next to the name in the same row, and its IDs; the answer may not.
func TestShownRows(t *testing.T) {
	wars := Evidence{Language: "en", Question: "wars with the number of participants", Query: "SELECT ?war ?participants {}",
		Labels: map[string]string{"Q1": "Gulf War", "Q2": "Pacific War", "Q8": "Emu War"},
		Table:  &kg.Table{Vars: []string{"war", "participants"}, Rows: [][]rdf.Term{{item("Q1"), integer("12")}, {item("Q2"), integer("10")}}},
		Shown: "Properties:\n  P1132 number of participants (quantity, 2 uses)\n3 rows\nthing | class | n | founded\n[item | item | integer | dateTime]\n" +
			"Emu War (Q8) | military operation (Q645883) | 3 | 1932-11-02\nÉcole@fr | (no label) (Q3918) | 7 | 1209\nEl Camino (Q5) | 2019 American film by Vince Gilligan@en\n(no label) (Q151622) | 40 |\n"}
	alone := wars
	alone.Shown = ""
	compare(t, []sentence{
		{wars, "The Emu War has 3.", ""},
		{wars, "The Emu War of 1932 has 3.", ""},
		{wars, "The Emu War has 7.", "7"},
		{wars, "The Pacific War has 3.", "3"},
		{wars, "The École has 7.", ""},
		{wars, "The El Camino is from 2019.", ""},
		{wars, "The El Camino is from 2018.", "2018"},
		{wars, "No war has a P1132.", ""},
		{wars, "No war has a P1133.", "P1133"},
		{wars, "Q151622 has 40.", ""},
		{wars, "Q151622 has 41.", "41"},
		{alone, "No war has a P1132.", "P1132"},
		{alone, "Q151622 is a war.", "Q151622"},
	})
}

// A note without a name may use the counts of an earlier step: of rows, of rows with and without a value, and of things
// and statements.
func TestShownCounts(t *testing.T) {
	works := Evidence{Language: "nl", Question: "schilderijen van Van Gogh", Query: "SELECT ?werk {}",
		Labels: map[string]string{"Q1": "Irises"}, Table: &kg.Table{Vars: []string{"werk"}, Rows: [][]rdf.Term{{item("Q1")}, {item("Q2")}}},
		Shown: "21 rows\nwerk | klasse\n[item, 3 unbound | text, 20 empty]\nVan Gogh (Q5582): notable work, 9 statements\n"}
	compare(t, []sentence{
		{works, "Slechts 1 van de 21 is een schilderij; de andere 20 hebben geen soort.", ""},
		{works, "Van de 21 hebben er 18 een naam.", ""},
		{works, "Van de 9 werken ontbreekt de soort.", ""},
		{works, "Van de 17 werken ontbreekt de soort.", "17"},
		{works, "Irises heeft 20 bloemen.", "20"},
		{works, "Irises (20 bloemen) is een schilderij.", "20"},
		{works, "Van 20 werken ontbreekt de soort: Irises is er een van.", ""},
	})
}

// The items of the first column that have a value may be counted, and those without a label may be listed after their
// number.
func TestSomeItems(t *testing.T) {
	states := Evidence{Language: "ar", Question: "قائمة الدول التي لغتها الرسمية هي العربية مع عاصمة كل دولة", Query: "SELECT ?country ?capital {}",
		Labels: map[string]string{"Q1": "Yemen", "Q2": "Aden", "Q3": "Sanaa", "Q4": "Libya", "Q5": "Tripoli"},
		Table: &kg.Table{Vars: []string{"country", "capital"}, Rows: [][]rdf.Term{{item("Q1"), item("Q2")}, {item("Q1"), item("Q3")},
			{item("Q4"), item("Q5")}, {item("Q817"), {}}, {item("Q842"), {}}, {item("Q858"), {}}}}}
	english := states
	english.Language, english.Question = "en", "countries where Arabic is an official language, with each country's capital"
	compare(t, []sentence{
		{states, "العاصمة مذكورة لـ2 دولة.", ""},
		{states, "العاصمة مذكورة لـ4 دولة.", "4"},
		{english, "Only 2 countries have a capital.", ""},
		{english, "Only 4 countries have a capital.", "4"},
		{english, "4 countries have a capital, from Yemen to Libya.", "4"},
		{english, "2 countries have a capital, from Yemen to Libya.", ""},
		{english, "Three of them (Q817, Q842 and Q858) have no name.", ""},
		{english, "Two of them (Q817, Q842 and Q858) have no name.", "Two"},
		{english, "Libya (2) has a capital.", "2"},
		{english, "Three countries have no name: Q817, Q842 and Q858.", ""},
		{english, "Four countries have no name: Q817, Q842 and Q858.", "Four"},
	})
}

// A year that the result skips may be denied, and in a note, a day that an earlier step showed may be named.
func TestAbsentYears(t *testing.T) {
	e := Evidence{Language: "es", Question: "¿en qué años fue elegido Kobe Bryant?", Query: "SELECT ?date {}",
		Table: &kg.Table{Vars: []string{"date"}, Rows: [][]rdf.Term{{date("1998-01-01")}, {date("2000-01-01")}, {date("2002-01-01")}}},
		Shown: "Nebula Award (Q194285): announcement date (P6949): 14 May 2016\n1 row\nx | d\n[item | dateTime]\nQ1 | 2011-03-09T00:00:00Z"}
	compare(t, []sentence{
		{e, "No hay ninguna elección en 1999 ni en 2001.", ""},
		{e, "Fue elegido en 1999.", "1999"},
		{e, "No hay ninguna elección en 1997.", "1997"},
		{e, "Los datos dan el 14 de mayo de 2016.", ""},
		{e, "Los datos dan el 15 de mayo de 2016.", "15 2016"},
		{e, "Los datos dan el 9 de marzo de 2011.", ""},
		{e, "Los datos dan el 9 de mayo de 2016.", "9 2016"},
	})
}

// The things that the query lists may be counted.
func TestListedThings(t *testing.T) {
	e := Evidence{Language: "pt", Question: "qual país tem mais línguas oficiais: a África do Sul ou a Etiópia?",
		Query: "SELECT ?country ?language { VALUES ?country { wd:Q258 wd:Q115 } ?country wdt:P37 ?language }", Labels: map[string]string{"Q258": "South Africa", "Q1860": "English"},
		Table: &kg.Table{Vars: []string{"country", "language"}, Rows: [][]rdf.Term{{item("Q258"), item("Q1860")}}}}
	compare(t, []sentence{
		{e, "Os dados não permitem dizer qual dos dois países tem mais línguas oficiais.", ""},
		{e, "Os dados não permitem dizer qual dos três países tem mais línguas oficiais.", "três"},
	})
}

// A figure in a name is no count.
func TestFigureOfName(t *testing.T) {
	films := Evidence{Language: "fr", Question: "films", Query: "SELECT ?film ?date {} LIMIT 3", Labels: map[string]string{"Q1": "Apollo 13", "Q2": "True Lies", "Q3": "Alien"},
		Table: &kg.Table{Vars: []string{"film", "date"}, Rows: [][]rdf.Term{{item("Q1"), date("1995-01-01")}, {item("Q2"), date("1994-07-15")}, {item("Q3"), date("1979-07-15")}}}}
	compare(t, []sentence{
		{films, "Voici 13 films ; le premier nom est Apollo 13.", "13"},
		{films, "Voici 3 films ; le premier nom est Apollo 13.", ""},
		{films, "Apollo 13 est de 1995.", ""},
	})
}

// A count may follow the name of its only item.
func TestCountAfterName(t *testing.T) {
	films := Evidence{Language: "ja", Question: "宮崎駿監督の映画を公開年順に教えてください。", Query: "SELECT ?film ?date {}", Labels: map[string]string{"Q1": "Spirited Away"},
		Table: &kg.Table{Vars: []string{"film", "date"}, Rows: [][]rdf.Term{{item("Q1"), date("2001-04-04")}, {item("Q2"), {}}, {item("Q3"), {}}}}}
	compare(t, []sentence{
		{films, "宮崎駿監督の作品は3件で、公開日があるのは「Spirited Away」の1件だけです。", ""},
		{films, "公開日があるのは「Spirited Away」の2件だけです。", "2"},
		{films, "黒澤明監督の作品は3件です。", "黒澤明監督の作品は"},
	})
}

// The elements of a list in a cell are names, too.
func TestListedNames(t *testing.T) {
	players := Evidence{Language: "fr", Question: "qui joue d'au moins deux instruments ?", Query: "SELECT ?person ?instruments {}",
		Labels: map[string]string{"Q1": "Justin Bieber", "Q2": "Scott Joplin"},
		Table: &kg.Table{Vars: []string{"person", "instruments"}, Rows: [][]rdf.Term{{item("Q1"), rdf.String("guitar, piano, voice")},
			{item("Q2"), rdf.String("guitar, piano")}}}}
	compare(t, []sentence{
		{players, "Justin Bieber joue de « guitar » et « voice ».", ""},
		{players, "Justin Bieber joue de « guitar » et « drums ».", "drums"},
	})
}

// A capitalized word that addresses the asker is not a name.
func TestAddress(t *testing.T) {
	for language, text := range map[string]string{"pl": "W danych Pana zapytanie nie działa.", "ru": "В данных по Вашему запросу ничего нет."} {
		e := Evidence{Language: language, Table: &kg.Table{Vars: []string{"x"}, Rows: [][]rdf.Term{{item("Q1")}, {item("Q2")}}}}
		compare(t, []sentence{{e, text, ""}, {e, strings.NewReplacer("Pana", "Jana", "Вашему", "Ивану").Replace(text), map[string]string{"pl": "Jana", "ru": "Ивану"}[language]}})
	}
}

// False sentences that a second reviewer got past the check.
func TestReviewedAgain(t *testing.T) {
	cities := Evidence{Language: "en", Question: "Which cities of Germany and France have a mayor?", Query: "SELECT ?city ?country ?mayor {}",
		Labels: map[string]string{"Q183": "Germany", "Q142": "France"}, Table: &kg.Table{Vars: []string{"city", "country", "mayor"}}}
	for i, name := range []string{"Bonn", "Köln", "Mainz", "Trier", "Kassel", "Ulm", "Lille", "Nice", "Brest", "Metz", "Dijon", "Tours"} {
		id, country, mayor := fmt.Sprint("Q", 1000+i), item("Q183"), item(fmt.Sprint("Q", 5000+i))
		if i > 5 {
			country = item("Q142")
		}
		if i == 5 || i > 7 { // one in Germany and four in France
			mayor = rdf.Term{}
		}
		cities.Labels[id], cities.Labels[fmt.Sprint("Q", 5000+i)] = name, "Mayor of "+name
		cities.Table.Rows = append(cities.Table.Rows, []rdf.Term{item(id), country, mayor})
	}
	in := func(language, germany string) Evidence {
		e := cities
		e.Language, e.Labels = language, maps.Clone(cities.Labels)
		e.Labels["Q183"] = germany
		return e
	}
	lexemes := Evidence{Language: "es", Question: "lexemes with the most senses", Query: "SELECT ?lexeme ?lemma ?n {} ORDER BY DESC(?n)",
		Table: &kg.Table{Vars: []string{"lexeme", "lemma", "n"}, Rows: [][]rdf.Term{{item("L1234"), rdf.String("water"), integer("90")},
			{item("L2345"), rdf.String("house"), integer("70")}, {item("L3456"), rdf.String("Baum"), integer("50")},
			{item("L4567"), rdf.String("Fluss"), integer("40")}}}}
	wars := Evidence{Language: "en", Question: "wars with the number of participants", Query: "SELECT ?war ?participants {}",
		Labels: map[string]string{"Q1": "Gulf War", "Q2": "Pacific War"},
		Table:  &kg.Table{Vars: []string{"war", "participants"}, Rows: [][]rdf.Term{{item("Q1"), integer("12")}, {item("Q2"), integer("10")}}},
		Shown: "21 rows\nwork | class\n[item | text, 20 empty]\n4 rows\nthing | class | n | born\n[item | item | integer | dateTime]\n" +
			"Emu War (Q8) | war (Q198) | 3 | 1932-11-02T00:00:00Z\nCod War (Q9) | war (Q198) | 7 | 1958-09-01T00:00:00Z\n" +
			"Korean War (Q10) | war (Q198) | 18 | 1950-06-25T00:00:00Z\nBC War (Q11) | war (Q198) | 5 | 0000-00-00T00:00:00Z\n" +
			"2 rows\ngender | n\n[item | integer]\nmale (Q6581097) | 37\nfemale (Q6581072) | 11\n2 rows\nlang | n\n[text | integer]\nen | 6543\nno | 612\n"}
	spanish := wars
	spanish.Language = "es"
	compare(t, []sentence{
		{cities, "In Germany, 5 cities have no mayor.", "5"},
		{cities, "Germany: 5 without a mayor.", "5"},
		{in("fr", "Allemagne"), "En Allemagne, 5 villes n'ont pas de maire.", "5 maire"},
		{in("es", "Alemania"), "En Alemania, 5 ciudades no tienen alcalde.", "5"},
		{in("ru", "Германия"), "Германия — 5 городов без мэра.", "5"},
		{cities, "5 cities have a mayor, for example Metz.", "5"},
		{cities, "5 cities have a mayor: Metz, Dijon and Tours.", "5"},
		{cities, "5 cities have no mayor, for example Metz.", ""},
		{cities, "In Germany, 5 cities have no mayor: Ulm, Brest, Metz, Dijon and Tours.", "5"},
		{cities, "5 cities have a mayor, but not Metz.", "5"},
		{in("es", "Alemania"), "Solo 5 ciudades son grandes, por ejemplo Metz.", "5"},
		{in("es", "Alemania"), "El alcalde de Bonn es Pan Lei.", "Pan Lei"},
		{lexemes, "El más alto es Baum, y el más bajo es house.", "alto"},
		{lexemes, "La entrada L123499 tiene 90.", "90 L123499"},
		{wars, "The Emu War has 7 and the Cod War has 3.", "7 3"},
		{wars, "The Emu War has 3 and the Cod War has 7.", ""},
		{wars, "Pacific War: 20.", "20"},
		{wars, "The Pacific War is a war with 18.", "18"},
		{wars, "The Emu War has 11.", "11"},
		{wars, "The Emu War of November 1932 has 3.", ""},
		{spanish, "Hay 612 participantes y no tienen war.", "612"},
	})
}

// False sentences that a third reviewer got past the check, and true ones next to them.
func TestReviewedOnceMore(t *testing.T) {
	films := Evidence{Language: "it", Question: "film con anno e regista", Query: "SELECT ?film ?year ?director {}",
		Labels: map[string]string{"Q1": "Alpha", "Q2": "Beta", "Q3": "Gamma", "Q4": "Delta", "Q5": "Zeta", "Q6": "Eta", "Q7": "Ann Lee"},
		Table: &kg.Table{Vars: []string{"film", "year", "director"}, Rows: [][]rdf.Term{{item("Q1"), integer("1980"), item("Q7")},
			{item("Q2"), integer("1983"), item("Q7")}, {item("Q3"), integer("1994"), item("Q7")}, {item("Q4"), integer("2003"), item("Q7")},
			{item("Q5"), integer("2010"), {}}, {item("Q6"), integer("2010"), {}}}}}
	english := films
	english.Language, english.Question = "en", "films with year and director"
	players := Evidence{Language: "en", Question: "who plays what, and was born when?", Query: "SELECT ?person ?instruments ?born {}",
		Labels: map[string]string{"Q1": "Justin Bieber", "Q2": "Scott Joplin"},
		Table: &kg.Table{Vars: []string{"person", "instruments", "born"}, Rows: [][]rdf.Term{
			{item("Q1"), rdf.String("guitar, piano, voice"), date("1994-03-01")}, {item("Q2"), rdf.String("guitar, piano"), date("1868-11-24")}}}}
	resorts := Evidence{Language: "fr", Question: "combien de stations par pays ?", Query: "SELECT ?pays ?n {}",
		Labels: map[string]string{"Q148": "People's Republic of China", "Q142": "France"},
		Table:  &kg.Table{Vars: []string{"pays", "n"}, Rows: [][]rdf.Term{{item("Q148"), integer("40")}, {item("Q142"), integer("15")}}}}
	dutch := resorts
	dutch.Language = "nl"
	wars := Evidence{Language: "es", Question: "guerras con participantes", Query: "SELECT ?war ?participants {}",
		Labels: map[string]string{"Q1": "Gulf War", "Q2": "Pacific War"},
		Table:  &kg.Table{Vars: []string{"war", "participants"}, Rows: [][]rdf.Term{{item("Q1"), integer("12")}, {item("Q2"), integer("10")}}},
		Shown: "21 rows\nthing | class | n | born\nEmu War (Q8) | war (Q198) | 3 | 1932-11-02T00:00:00Z\nThe War of the Triple Alliance of " +
			"Argentina, Brazil and Uruguay (Q77) | military conflict (Q198) | 18 | 1864-05-25T00:00:00Z\n"}
	arabic := Evidence{Language: "ar", Question: "قائمة الدول", Query: "SELECT ?country {}",
		Table: &kg.Table{Vars: []string{"country"}, Rows: [][]rdf.Term{{item("Q1")}, {item("Q4")}}}}
	compare(t, []sentence{
		{english, "Zeta is from 1999 and has no director.", "1999"},
		{english, "Alpha is from 1985, not from 1980.", "1985"},
		{english, "The film from 1999 has no director.", "1999"},
		{english, "There is no film from 1985.", ""},
		{films, "Zeta è del 1999 e non ha regista.", "1999"},
		{films, "Non ci sono film prima del 1985.", "1985"},
		{films, "Non ci sono film del 1985.", ""},
		{english, "4 films don't have a director, for example Alpha.", "4"},
		{english, "2 films have a director, but not Zeta.", "2"},
		{english, "4 films have a director, for example Alpha.", ""},
		{players, "Justin Bieber plays piano and was born in 1868.", "1868"},
		{players, "Justin Bieber plays piano and was born in 1994.", ""},
		{resorts, "La France compte 15 stations, la Chine aussi 15.", "15 15"},
		{resorts, "La Chine compte 40 stations.", ""},
		{dutch, "De Volksrepubliek China heeft 40.", ""},
		{dutch, "De Volksrepubliek China heeft 15.", "15"},
		{wars, "Con 21 participantes, Gulf War es la primera.", "21"},
		{wars, "Gulf War tiene 3, como Emu War.", "3"},
		{wars, "Pacific War: 3, Emu War: 10.", "3"},
		{wars, "Pacific War es un military conflict con 18.", "18"},
		{wars, "Emu War (1932) tiene 11 participantes.", "11"},
		{wars, "Pacific War es del 2 de noviembre de 1932.", "1932"},
		{wars, "Emu War es del 2 de noviembre de 1932.", ""},
		{wars, "En 1864 hay 25 guerras.", "1864 25"},
		{arabic, "هناك 15ـ دولة.", "15"},
	})
}

// Languages that the graph has only in English have their names in the text's language.
func TestTranslatedLanguages(t *testing.T) {
	poland := Evidence{Language: "fr", Question: "Quelles langues parle-t-on en Pologne ?", Query: "SELECT ?langue {}",
		Labels: map[string]string{"Q188": "German", "Q33690": "Kashubian", "Q9083": "Lithuanian"},
		Table:  &kg.Table{Vars: []string{"langue"}, Rows: [][]rdf.Term{{item("Q188")}, {item("Q33690")}, {item("Q9083")}}}}
	german := poland
	german.Language, german.Question = "de", "Welche Sprachen spricht man in Polen?"
	compare(t, []sentence{
		{poland, "On y parle l'allemand, le kachoube et le lituanien.", ""},
		{poland, "On y parle l'allemand et le tchèque.", "tchèque"},
		{german, "Die Sprachen sind Deutsch, Kaschubisch und Litauisch.", ""},
		{german, "Die Sprachen sind Deutsch und Tschechisch.", "Tschechisch"},
		{german, "Zu den Ländern gehört Litauen.", "Litauen"},
		{poland, "L'Allemagne compte trois langues.", "Allemagne"},
	})
}

// A range before a list is compared with all rows, and each figure in the list with those of its name.
func TestRangeBeforeList(t *testing.T) {
	charmed := Evidence{Language: "en", Question: "when were the main actresses of Charmed born?", Query: "SELECT ?actress ?birth {}",
		Labels: map[string]string{"Q1": "Shannen Doherty", "Q2": "Alyssa Milano", "Q3": "Rose McGowan", "Q4": "Holly Marie Combs"},
		Table: &kg.Table{Vars: []string{"actress", "birth"}, Rows: [][]rdf.Term{{item("Q1"), date("1971-04-12")}, {item("Q2"), date("1972-12-19")},
			{item("Q3"), date("1973-09-05")}, {item("Q4"), date("1973-12-03")}}}}
	compare(t, []sentence{
		{charmed, "The four main actresses of Charmed were born between 1971 and 1973: Shannen Doherty on 12 April 1971, Alyssa Milano on 19 December 1972, " +
			"Rose McGowan on 5 September 1973 and Holly Marie Combs on 3 December 1973.", ""},
		{charmed, "The four were born between 1971 and 1973: Shannen Doherty in 1971, Alyssa Milano in 1973.", "1971 1973"},
		{charmed, "The four were born between 1970 and 1973: Shannen Doherty in 1971, Alyssa Milano in 1972.", "1970 1973 1971 1972"},
		{charmed, "The four were born between 1972 and 1973: Shannen Doherty in 1971, Alyssa Milano in 1972.", "1972 1973 1971 1972"},
		{charmed, "The five were born: Shannen Doherty in 1971, Alyssa Milano in 1972.", "five"},
		{charmed, "Shannen Doherty was born: Alyssa Milano in 1971, Rose McGowan in 1973.", "1971 1973"},
		{charmed, "The earliest were born between 1971 and 1973: Holly Marie Combs in 1973, Shannen Doherty in 1971.", "earliest earliest"},
	})
	films := Evidence{Language: "en", Question: "films with year and director", Query: "SELECT ?film ?year ?director {}",
		Labels: map[string]string{"Q1": "Alpha", "Q2": "Beta", "Q3": "Zeta", "Q4": "Eta", "Q7": "Ann Lee"},
		Table: &kg.Table{Vars: []string{"film", "year", "director"}, Rows: [][]rdf.Term{{item("Q1"), integer("1980"), item("Q7")},
			{item("Q2"), integer("1983"), item("Q7")}, {item("Q3"), integer("2010"), {}}, {item("Q4"), integer("2010"), {}}}}}
	compare(t, []sentence{
		{films, "Two films have no director: Alpha (1980) and Beta (1983).", "Two"},
		{films, "The films from 2010 are: Alpha (1980) and Beta (1983).", "2010 1980 1983"},
		{films, "Two films have no director: Zeta (2010) and Eta (2010).", ""},
	})
}
