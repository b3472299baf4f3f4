package reply

import (
	"testing"

	"github.com/spinachbot/spinachbot/forum"
)

func TestWithoutRequired(t *testing.T) {
	for question, want := range map[string]int{
		"Which of them have a location (P276), and where are they?":              0,
		"Which of these paintings has a known location?":                         0,
		"Welche davon haben einen Eintrag in P276?":                              0,
		"¿Cuáles tienen P276?":                                                   0,
		"У каких картин указано P276?":                                           0,
		"All paintings with their location (P276).":                              1,
		"I have a list of paintings of many kinds and want to see the location.": 1,
		"Gemälde mit P276":                                                       1,
		"":                                                                       1,
	} {
		r := &forum.Reply{Open: []forum.Open{{Kind: "missing", ID: "P276", Name: "location"}, {Kind: "ranks", ID: "P276"}}}
		if WithoutRequired(r, question); len(r.Open) != want+1 {
			t.Errorf("%q: %+v", question, r.Open)
		}
	}
}

// A request that states a limit in words excludes what is exactly at it, or includes it.
func TestStatedLimit(t *testing.T) {
	for question, want := range map[string]int{"Which species live longer than 40 years?": 0, "Arten, die älter als 40 werden": 0,
		"des villes de plus de 1000 habitants": 0, "人口が100万以上の都市": 0, "Films between 1990 and 2000": 1, "serie televisive degli anni '70": 0, "Spiele der 1990er Jahre": 0, "1970年代の映画": 0, "films of the 1970s": 0, "Kriege im 19. Jahrhundert": 1} {
		r := &forum.Reply{Open: []forum.Open{{Kind: "ends", Come: 1}, {Kind: "ranks"}}}
		if WithoutRequired(r, question); len(r.Open) != want+1 {
			t.Errorf("%q: %+v", question, r.Open)
		}
	}
}

// The variant that includes things that have ended is not mentioned if the request asks only for current ones, or if the
// reply says that it lists only these.
func TestCurrentOnly(t *testing.T) {
	for _, tt := range []struct {
		question, short, assumed string
		want                     int
	}{
		{question: "On which stock exchanges is Siemens listed?", want: 1},
		{question: "Borse di Siemens", want: 1},
		{question: "Who are the current members of the EU?"},
		{question: "Welche Abgeordneten sitzen derzeit im Bundestag?"},
		{question: "les ministres actuels"},
		{question: "現在の知事"},
		{question: "нынешние министры"},
		{question: "Borse di Siemens", short: "Attualmente Siemens è quotata a Francoforte."},
		{question: "members of the EU", assumed: "Only members of today are listed."},
		{question: "a notebook of actors", want: 1},
	} {
		r := &forum.Reply{Short: tt.short, Assumed: tt.assumed, Open: []forum.Open{{Kind: "past", Come: 2}, {Kind: "ranks"}}}
		if WithoutRequired(r, tt.question); len(r.Open) != tt.want+1 {
			t.Errorf("%+v: %+v", tt, r.Open)
		}
	}
}

// Statements of other ranks are not mentioned again if the reply mentions ranks.
func TestRanksOnce(t *testing.T) {
	for assumed, want := range map[string]int{"": 2, "Franka is meant.": 2, "Only statements with the best rank are listed.": 1,
		"La déclaration, qui n’a pas le meilleur rang, est gardée.": 1, "Учтены все ранги.": 1} {
		r := &forum.Reply{Assumed: assumed, Open: []forum.Open{{Kind: "ranks_best", Gone: 1}, {Kind: "limit", Come: 1}}}
		if WithoutRequired(r, "prizes"); len(r.Open) != want {
			t.Errorf("%q: %+v", assumed, r.Open)
		}
	}
}

// Another class is mentioned only if it adds rows or changes a figure.
func TestNarrowerClass(t *testing.T) {
	r := &forum.Reply{Open: []forum.Open{{Kind: "class", Name: "country", Other: "sovereign state", Gone: 1, Rows: []string{"Sudan"}},
		{Kind: "class", Name: "a", Come: 2, Gone: 1}, {Kind: "class", Name: "b", Now: "12"}, {Kind: "subclasses_none", Name: "c", Gone: 3}}}
	if WithoutRequired(r, "Which countries border Egypt?"); len(r.Open) != 3 || r.Open[0].Name != "a" {
		t.Errorf("%+v", r.Open)
	}
}

// Other ranks are not mentioned if the reply says how many rows there are with them.
func TestCountedRanks(t *testing.T) {
	for said, want := range map[string]int{"The data names 11 cast members in all.": 0, "Seven more are less prominent.": 0,
		"The data names four.": 1, "": 1} {
		r := &forum.Reply{Language: "en", Total: 4, Assumed: said, Open: []forum.Open{{Kind: "ranks", Come: 7}}}
		if WithoutRequired(r, "Who are the main actresses?"); len(r.Open) != want {
			t.Errorf("%q: %+v", said, r.Open)
		}
	}
}
