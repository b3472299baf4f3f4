package wrap

import (
	"strings"
	"testing"
)

// Words in a table that would be too wide are broken between syllables, and numbers are not broken.
func TestPieces(t *testing.T) {
	for _, tt := range []struct {
		word    string
		letters int
		want    string
		soft    bool
	}{
		{"Sterbedatum", 10, "Sterbe-datum", true}, {"Geburtsdatum", 8, "Geburts-datum", true}, {"population", 8, "popula-tion", true},
		{"équatoriale", 10, "équato-riale", true}, {"население", 8, "насе-ление", true}, {"Geboortedatum", 10, "Geboorte-datum", true}, {"Geboorteplaats", 10, "Geboorte-plaats", true},
		{"Staatsangehörigkeit", 14, "Staats-angehörigkeit", true}, {"Einwohnerzahl", 10, "Einwohner-zahl", true}, {"short", 8, "short", true}, {"screenwriter", 8, "screen-writer", true},
		{"Sprengkraft", 6, "Spreng-kraft", true}, {"McGrath", 6, "McGrath", true}, {"Hampshire", 8, "Hamp-shire", true}, {"Angstschweiß", 6, "Angst-schweiß", true},
		{"X1234567890", 8, "X1234-567890", false}, {"المملكةالمتحدة", 8, "المملكةالمتحدة", true},
	} {
		if parts, soft := Pieces(tt.word, tt.letters); strings.Join(parts, "-") != tt.want || soft != tt.soft {
			t.Errorf("%s: %q, %v", tt.word, parts, soft)
		}
	}
}
