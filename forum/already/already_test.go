package already

import "testing"

func TestMissing(t *testing.T) {
	for text, want := range map[string]bool{
		"The data has neither a release nor a composer": true,
		"The data has a release and a composer.":        false, // nothing is missing
		"No date of release is known, and no composers": true,
		"The composers and dates of release follow.":    false,
		"Für keinen Film ist ein Composer bekannt.":     false, // the first column is not mentioned
		"Release: 不明。Composer: なし。":                     true,
	} {
		if got := Missing(text, []string{"Year of release", "Composer"}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestSays(t *testing.T) {
	for name, says := range map[string]func(string) bool{"Tu consulta usa wdt:P17.": YourQuery, "FILTER excludes them.": Explains,
		"Es fehlt eine Klammer.": Brackets, "La France est sur deux lignes.": Rows} {
		if !says(name) || says("Ten mountains.") {
			t.Error(name)
		}
	}
}
