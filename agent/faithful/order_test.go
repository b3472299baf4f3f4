package faithful

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// ordered returns evidence about four mountains with heights, first ascents and countries. Everest is the highest;
// Lhotse is the lowest and was climbed last.
func ordered(language string, names ...string) Evidence {
	e := Evidence{Language: language, Labels: map[string]string{"Q513": "Everest", "Q43512": "K2", "Q168702": "Lhotse", "Q131018": "Makalu", "Q837": "Nepal",
		"Q843": "Pakistan"}, Query: "SELECT ?mountain ?height ?climbed ?country { } ORDER BY DESC(?height)",
		Question: map[string]string{"en": "How high are these mountains, when were they climbed first, and in which country do they lie?",
			"de": "Wie hoch sind diese Berge, wann wurden sie zuerst bestiegen, und in welchem Land liegen sie?",
			"fr": "Quelle est l’altitude de ces montagnes, et dans quel pays sont-elles ? Lesquelles ont été gravies en premier, et en dernier ?",
			"ar": "ما ارتفاع هذه الجبال ومتى صعدت لأول مرة وفي أي بلد تقع؟"}[language],
		Table: &kg.Table{Vars: []string{"mountain", "height", "climbed", "country"}, Rows: [][]rdf.Term{
			{item("Q513"), decimal("8848.86"), date("1953-05-29"), item("Q837")}, {item("Q43512"), decimal("8611"), date("1954-07-31"), item("Q843")},
			{item("Q168702"), decimal("8516"), date("1956-05-18"), item("Q837")}, {item("Q131018"), decimal("8481"), date("1955-05-15"), item("Q837")}}}}
	for i, name := range names {
		e.Labels[[]string{"Q513", "Q43512", "Q168702", "Q131018"}[i]] = name
	}
	return e
}

// A superlative next to a name is compared with the rows.
func TestOrder(t *testing.T) {
	for _, tt := range []struct {
		language, text string
		ok             bool
	}{
		{"en", "The highest is Everest.", true}, {"en", "The highest is K2.", false}, {"en", "K2 is the highest of them.", false},
		{"en", "Everest is the highest, Makalu the lowest.", true}, {"en", "Everest is the highest, Lhotse the lowest.", false},
		{"en", "The lowest is Makalu, the highest Everest.", true}, {"en", "The highest in Pakistan is K2.", true},
		{"en", "The lowest in Nepal is Lhotse.", false}, {"en", "K2 is the second highest.", true}, {"en", "Makalu is the second highest.", false}, {"en", "K2 is one of the highest.", true},
		{"en", "The two highest are Everest and K2.", true}, {"en", "The two highest are Everest and Lhotse.", true}, // the first is right
		{"en", "The two highest are Makalu and Lhotse.", false}, {"en", "The highest are K2 and Everest.", true},
		{"en", "The first is Everest.", true}, {"en", "The first is Lhotse.", false}, {"en", "The last is Lhotse.", true}, {"en", "The last is K2.", false},
		{"en", "The highest is in Nepal.", true}, {"en", "The highest is in Pakistan.", false}, {"en", "K2 is not the highest.", true},
		{"de", "Der höchste ist Everest.", true}, {"de", "Der höchste ist K2.", false}, {"de", "Der zweithöchste ist K2.", true}, {"de", "Der zweithöchste ist Makalu.", false}, {"de", "K2 ist am höchsten.", false}, {"de", "Am niedrigsten ist Makalu.", true},
		{"de", "Am niedrigsten ist Everest.", false}, {"de", "Der erste ist K2.", false},
		{"fr", "Everest est la plus haute.", true}, {"fr", "K2 est la plus haute.", false}, {"fr", "La plus haute est Everest.", true},
		{"es", "El más alto es Everest.", true}, {"es", "El más alto es K2.", false}, {"es", "K2 es más alto que Lhotse.", true},
		{"it", "Il più alto è Everest.", true}, {"it", "Il più alto è K2.", false}, {"it", "K2 è più alto di Lhotse.", true},
		{"pt", "O mais alto é Everest.", true}, {"pt", "O mais alto é K2.", false}, {"nl", "De hoogste is Everest.", true}, {"nl", "De hoogste is K2.", false},
		{"pl", "Najwyższy jest Everest.", true}, {"pl", "Najwyższy jest K2.", false},
		{"ru", "Самый высокий — Everest.", true}, {"ru", "Самый высокий — K2.", false},
		{"en", "Everest comes first.", true}, {"en", "K2 comes first.", false}, {"en", "Everest comes first, ahead of K2.", true},
		{"de", "An der Spitze steht Everest.", true}, {"de", "K2 steht an der Spitze.", false}, {"de", "Vor K2 liegt Everest vorn.", true},
		{"fr", "Everest arrive en premier, devant K2.", true}, {"fr", "K2 arrive en premier.", false},
		{"es", "En primer lugar está Everest, con 8848,86.", true}, {"es", "K2 está en primer lugar.", false},
		{"it", "Al primo posto c'è Everest.", true}, {"it", "Al primo posto c'è K2.", false}, {"pt", "Em primeiro lugar está K2.", false},
		{"nl", "Op de eerste plaats staat Everest.", true}, {"nl", "Op de eerste plaats staat K2.", false},
		{"pl", "Na pierwszym miejscu jest Everest.", true}, {"pl", "Na pierwszym miejscu jest K2.", false},
		{"ru", "На первом месте Everest.", true}, {"ru", "На первом месте K2.", false},
	} {
		faults := New(ordered(tt.language)).Faults(tt.text)
		if (len(faults) == 0) != tt.ok {
			t.Errorf("%s: %+v", tt.text, faults)
		}
	}
	// Ages: the oldest was born first. If a result is sorted by a value that is not shown, the highest row is first.
	e := chancellors
	e.Question = "The oldest and the youngest, please."
	for text, ok := range map[string]bool{"The oldest is Adenauer.": true, "The oldest is Kohl.": false, "The youngest is Kohl.": true} {
		if faults := New(e).Faults(text); (len(faults) == 0) != ok {
			t.Errorf("%s: %+v", text, faults)
		}
	}
	e.Table = &kg.Table{Vars: []string{"person", "born", "age"}, Rows: [][]rdf.Term{{item("Q2492"), date("1876-01-05"), integer("91")},
		{item("Q2571"), date("1919-07-08"), integer("97")}}}
	for text, ok := range map[string]bool{"The youngest is Adenauer.": true, "The oldest is Scheel.": true} { // by age or birth
		if faults := New(e).Faults(text); (len(faults) == 0) != ok {
			t.Errorf("%s: %+v", text, faults)
		}
	}
	e = ordered("en")
	e.Query = "SELECT ?mountain { ?mountain wdt:P2044 ?height } ORDER BY DESC(?height)"
	e.Table = &kg.Table{Vars: []string{"mountain"}, Rows: [][]rdf.Term{{item("Q513")}, {item("Q43512")}, {item("Q168702")}}}
	for text, ok := range map[string]bool{"The highest is Everest.": true, "The highest is K2.": false, "The lowest is K2.": true} { // nothing is known of the lowest
		if faults := New(e).Faults(text); (len(faults) == 0) != ok {
			t.Errorf("without heights: %s: %+v", text, faults)
		}
	}
}

// If names come before their figures, both are in the same order.
func TestRespectively(t *testing.T) {
	for text, ok := range map[string]bool{
		"Egypt and Germany have 114,535,772 and 84,358,845 people.": true, "Egypt and Germany have 84,358,845 and 114,535,772 people.": false,
		"There are 114,535,772 and 84,358,845 people in Egypt and Germany.": true,
		"Egypt and Germany have 114,535,772 and 84,358,846 people.":         false,
	} {
		if faults := New(egypt).Faults(text); (len(faults) == 0) != ok {
			t.Errorf("%s: %+v", text, faults)
		}
	}
}

// Names with no label in Cyrillic or Arabic letters are recognized by their consonants.
func TestOtherScripts(t *testing.T) {
	artists := Evidence{Query: "SELECT ?artist ?born { }", Labels: map[string]string{"Q1": "Gustav Klimt", "Q2": "Wolfgang Amadeus Mozart", "Q3": "Slovenia",
		"Q4": "Hamburg", "Q5": "Jane Austen", "Q6": "Mali"},
		Table: &kg.Table{Vars: []string{"artist", "born"}, Rows: [][]rdf.Term{{item("Q1"), integer("1862")}, {item("Q2"), integer("1756")},
			{item("Q3"), integer("1991")}, {item("Q4"), integer("1189")}, {item("Q5"), integer("1775")}, {item("Q6"), integer("1960")}}}}
	for _, tt := range []struct{ language, text, want string }{
		{"ru", "В таблице Густав Климт (1862).", ""}, {"ru", "Год Густава Климта — 1862.", ""}, {"ru", "Здесь есть Моцарт (1756).", ""},
		{"ru", "Это Словения (1991).", ""}, {"ru", "Это Словакия (1991).", "Словакия"}, {"ru", "В Гамбурге это 1189.", ""},
		{"ru", "Это Джейн Остин (1775).", ""}, {"ru", "Здесь есть и Густав, и Эгон.", "Эгон"}, {"ru", "Это Эгон Шиле.", "Эгон Шиле"}, {"ru", "Год Густава Климта — 1756.", "1756"},
		{"ar", "في الجدول غوستاف كليمت (1862).", ""}, {"ar", "هنا هامبورغ وسلوفينيا.", ""}, {"ar", "هنا بيكاسو.", "بيكاسو"},
		{"ar", "غوستاف كليمت 1756.", "1756"},
	} {
		e := artists
		e.Language = tt.language
		e.Question = map[string]string{"ru": "Какие художники в таблице?", "ar": "من هم الفنانون؟"}[tt.language]
		var got []string
		for _, f := range New(e).Faults(tt.text) {
			got = append(got, f.Piece)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// Arabic attaches articles, prepositions and possessives to words.
func TestArabicWords(t *testing.T) {
	e := Evidence{Language: "ar", Question: "ما هي أنهار أوروبا وما طولها وما مصب كل نهر؟", Query: "SELECT ?river ?length { }",
		Labels: map[string]string{"Q1": "الراين", "Q2": "الدانوب", "Q3": "أوروبا", "P2043": "الطول"},
		Table:  &kg.Table{Vars: []string{"river", "length"}, Rows: [][]rdf.Term{{item("Q1"), integer("1233")}, {item("Q2"), integer("2850")}}}}
	for text, ok := range map[string]bool{
		"يعرض الجدول نهرين من أنهار أوروبا مع أطوالها.":               true,
		"وجد الاستعلام نهرين في أوروبا، وطول نهر الراين 1233.":        true,
		"بعض الأنهار ليس لها قيمة في ويكي بيانات، لذا فالخلية فارغة.": true,
		"الأنهار مرتبة تنازليا حسب الطول، وأطولها الدانوب.":           true,
		"نهر الدانوب جميل جدا.":                                       false, // beautiful
		"طول نهر الراين 2850.":                                        false,
		"ينبع الراين من سويسرا.":                                      false, // rises in Switzerland
		"دمرت الحرب جسور نهر الراين.":                                 false, // destroyed the bridges
	} {
		if faults := New(e).Faults(text); (len(faults) == 0) != ok {
			t.Errorf("%s: %+v", text, faults)
		}
	}
}

// Numbers spelled out in Arabic, and words that share a root with a word in the question.
func TestArabicNumbers(t *testing.T) {
	e := Evidence{Language: "ar", Question: "ما هي الدول المجاورة لفرنسا وما عواصمها؟", Query: "SELECT ?country {}", Labels: map[string]string{},
		Table: &kg.Table{Vars: []string{"country"}}}
	for i := range 11 {
		e.Table.Rows = append(e.Table.Rows, []rdf.Term{item([]string{"Q31", "Q39", "Q183", "Q29", "Q38", "Q155", "Q228", "Q235", "Q29999", "Q32", "Q730"}[i])})
	}
	for text, ok := range map[string]bool{"تجاور فرنسا إحدى عشرة دولة، ويعرض الجدول عاصمة كل منها.": true, "تجاور فرنسا خمس عشرة دولة.": false,
		"تجاور فرنسا خمسة وأربعون دولة.": false, "تجاور فرنسا تسع دول.": false} {
		if faults := New(e).Faults(text); (len(faults) == 0) != ok {
			t.Errorf("%s: %+v", text, faults)
		}
	}
}

// A sentence without a name may describe a row by several of its figures, if what the sentence says about the row, such
// as that it is the longest, is correct.
func TestRowWithoutName(t *testing.T) {
	e := Evidence{Question: "самые долгие войны", Query: "SELECT ?война ?начало ?конец ?лет { } ORDER BY DESC(?лет)",
		Labels: map[string]string{"Q1": "Three Hundred and Thirty Five Years' War", "Q2": "Cayuse War", "Q3": "Böckler War"},
		Table: &kg.Table{Vars: []string{"война", "начало", "конец", "лет"}, Rows: [][]rdf.Term{
			{item("Q1"), date("1651-03-30"), date("1986-04-17"), decimal("335")},
			{item("Q2"), date("1847-01-01"), date("1855-01-01"), decimal("8")},
			{item("Q3"), date("1468-01-01"), date("1469-01-01"), decimal("1")}}}}
	for _, tt := range []struct {
		language, text string
		ok             bool
	}{
		{"ru", "Самая долгая война длилась 335 лет, с 1651 по 1986 год.", true},
		{"ru", "Самая долгая война длилась 335 лет, с 1651 по 1855 год.", false},
		{"ru", "Самая долгая война длилась 8 лет, с 1847 по 1855 год.", false},
		{"ru", "Самая короткая война длилась 335 лет, с 1651 по 1986 год.", false},
		{"ru", "Самая продолжительная война — Cayuse War.", false},
		{"en", "The longest war lasted 335 years, from 1651 to 1986.", true},
		{"en", "The longest war lasted 8 years, from 1847 to 1855.", false},
		{"en", "The second longest war lasted 8 years, from 1847 to 1855.", true},
		{"en", "The longest war lasted 8 years.", false},
		{"en", "The shortest war lasted from 1468 to 1469.", true},
	} {
		e.Language = tt.language
		if tt.language == "en" {
			e.Question = "the longest and the shortest war and how long each lasted"
		}
		if faults := New(e).Faults(tt.text); (len(faults) == 0) != tt.ok {
			t.Errorf("%s: %+v", tt.text, faults)
		}
	}
}

// "The most common" is compared with the counts.
func TestMostCommon(t *testing.T) {
	for _, tt := range []struct {
		language, text string
		want           int
	}{
		{"en", "Apple is the most common fruit with 7.", 0}, {"en", "Cherry is the most common fruit.", 1},
		{"en", "Cherry is the least common fruit.", 0}, {"de", "Am häufigsten ist Apple.", 0}, {"de", "Am häufigsten ist Cherry.", 1},
		{"es", "La fruta más frecuente es Cherry.", 1}, {"es", "La fruta más frecuente es Apple.", 0},
		{"it", "Il frutto più comune è Cherry.", 1}, {"it", "Il frutto più comune è Apple.", 0}, {"ru", "Самый частый — Cherry.", 1},
		{"pl", "Najczęstszy jest Cherry.", 1}, {"fr", "Le plus fréquent est Cherry.", 1}, {"fr", "Cherry est en tête.", 1}, {"fr", "Apple est en tête.", 0}, {"pt", "A fruta mais comum é Cherry.", 1},
	} {
		c := New(Evidence{Language: tt.language, Question: "Which fruit is frequent? häufig fréquent Frucht fruit", Query: "SELECT ?fruit (COUNT(*) AS ?count) {}",
			Labels: map[string]string{"Q1": "Apple", "Q2": "Banana", "Q3": "Cherry"},
			Table:  &kg.Table{Vars: []string{"fruit", "count"}, Rows: [][]rdf.Term{{item("Q1"), integer("7")}, {item("Q2"), integer("5")}, {item("Q3"), integer("2")}}}})
		if got := c.Faults(tt.text); len(got) != tt.want {
			t.Errorf("%s: %+v", tt.text, got)
		}
	}
}

// Superlatives in Chinese and Japanese are compared, too.
func TestUnspacedOrder(t *testing.T) {
	for _, tt := range []struct {
		language, text string
		want           int
	}{
		{"zh", "次数最多的是Los Angeles Lakers，共10次。", 0}, {"zh", "次数最多的是凯尔特人。", 1}, {"zh", "次数最少的是凯尔特人，共1次。", 0},
		{"zh", "凯尔特人是次数最多的球队之一。", 0}, {"zh", "次数最多的有10次。", 0},
		{"ja", "最も多いのはLos Angeles Lakersです。", 0}, {"ja", "回数が最も多いのは凯尔特人です。", 1}, {"ja", "一番少ないのは凯尔特人です。", 0},
	} {
		c := New(Evidence{Language: tt.language, Question: "每支球队赢得的次数", Query: "SELECT ?球队 (COUNT(*) AS ?次数) {} ORDER BY DESC(?次数)",
			Labels: map[string]string{"Q1": "Los Angeles Lakers", "Q2": "凯尔特人", "Q3": "Miami Heat"},
			Table:  &kg.Table{Vars: []string{"球队", "次数"}, Rows: [][]rdf.Term{{item("Q1"), integer("10")}, {item("Q3"), integer("4")}, {item("Q2"), integer("1")}}}})
		var got []Fault
		for _, f := range c.Faults(tt.text) {
			if f.Kind == Order {
				got = append(got, f)
			}
		}
		if len(got) != tt.want {
			t.Errorf("%s: %+v", tt.text, got)
		}
	}
}
