package bot

import "testing"

func TestAsksForNumbers(t *testing.T) {
	for question, want := range map[string]bool{"An item number would be nice.": true, "give me the QIDs": true, "with Q ids, please": true,
		"mit Q-Nummer bitte": true, "les numéros d'éléments": true, "con el número de elemento": true, "How many countries?": false, "a number of lakes": false,
		"Iraqid dynasty": false, "mit Q-Nummern": true, "Objektnummern bitte": true, "les numéros d’éléments": true,
		"i numeri degli elementi": true, "Q-nummers graag": true, "numery elementów": true, "номера элементов": true,
		"項目番号もお願いします": true, "请附上项目编号": true, "مع أرقام العناصر": true, "the IDs of IMDb": false,
		"numéro de téléphone": false, "numero di abitanti": false, "wie viele Objekte": false} {
		if got := asksForNumbers.MatchString(question); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
}
