package reply

import (
	"strings"
	"testing"
)

func TestAsksForNumbers(t *testing.T) {
	for question, want := range map[string]bool{"An item number would be nice.": true, "give me the QIDs": true, "with Q ids, please": true,
		"mit Q-Nummer bitte": true, "les numéros d'éléments": true, "con el número de elemento": true, "How many countries?": false, "a number of lakes": false,
		"Iraqid dynasty": false, "mit Q-Nummern": true, "Objektnummern bitte": true, "les numéros d’éléments": true,
		"i numeri degli elementi": true, "Q-nummers graag": true, "numery elementów": true, "номера элементов": true,
		"項目番号もお願いします": true, "请附上项目编号": true, "مع أرقام العناصر": true, "the IDs of IMDb": false,
		"numéro de téléphone": false, "numero di abitanti": false, "wie viele Objekte": false} {
		if got := AsksForNumbers(question); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
}

// A reply is entirely in one language: the asker's if the bot has messages in it, otherwise the wiki's, otherwise
// English.
func TestLanguage(t *testing.T) {
	for _, tt := range []struct {
		known, wiki, want string
		foreign           bool
	}{
		{"de", "", "de", false}, {"zh-hant", "", "zh-hant", false}, {"pt-br", "es", "pt-br", false}, {"", "", "", false}, {"", "ca es", "ca", false},
		{"sv", "", "en", true}, {"sv", "sv de", "de", true}, {"nb", "sv", "en", true},
	} {
		got, foreign := Language(tt.known, strings.Fields(tt.wiki))
		if got != tt.want || foreign != tt.foreign {
			t.Errorf("%+v: %q %v", tt, got, foreign)
		}
	}
}
