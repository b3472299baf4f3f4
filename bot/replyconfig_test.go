package bot

import "testing"

func TestAsksForNumbers(t *testing.T) {
	for question, want := range map[string]bool{"An item number would be nice.": true, "give me the QIDs": true,
		"mit Q-Nummer bitte": true, "les numéros d'éléments": true, "con el número de elemento": true, "How many countries?": false, "a number of lakes": false,
		"Iraqid dynasty": false} {
		if got := asksForNumbers.MatchString(question); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
}
