package faithful

import (
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
			"Emu War (Q8) | military operation (Q645883) | 3 | 1932-11-02\nÉcole@fr | (no label) (Q3918) | 7 | 1209\n(no label) (Q151622) | 40 |\n"}
	alone := wars
	alone.Shown = ""
	compare(t, []sentence{
		{wars, "The Emu War has 3.", ""},
		{wars, "The Emu War of 1932 has 3.", ""},
		{wars, "The Emu War has 7.", "7"},
		{wars, "The Pacific War has 3.", "3"},
		{wars, "The École has 7.", ""},
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

// A capitalized word that addresses the asker is not a name.
func TestAddress(t *testing.T) {
	for language, text := range map[string]string{"pl": "W danych Pana zapytanie nie działa.", "ru": "В данных по Вашему запросу ничего нет."} {
		e := Evidence{Language: language, Table: &kg.Table{Vars: []string{"x"}, Rows: [][]rdf.Term{{item("Q1")}, {item("Q2")}}}}
		compare(t, []sentence{{e, text, ""}, {e, strings.NewReplacer("Pana", "Jana", "Вашему", "Ивану").Replace(text), map[string]string{"pl": "Jana", "ru": "Ивану"}[language]}})
	}
}
