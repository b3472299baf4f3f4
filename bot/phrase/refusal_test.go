package phrase

import "testing"

func TestRefuses(t *testing.T) {
	tests := []struct {
		post     string
		no, bare bool
	}{
		{"No.", true, true},
		{"No, that's not what I meant.", true, true},
		{"@SpinachBot: this is wrong", true, true},
		{"Sorry, but no.", true, true},
		{"Nein, das ist falsch.", true, true},
		{"Ce n'est pas ce que je voulais.", true, true},
		{"No es lo que quería decir.", true, true},
		{"Нет, это не то, что я имел в виду", true, true},
		{"違います", true, true},
		{"No, I meant only the living ones.", true, false},
		{"Not what I asked: use P39 instead of P106", true, false},
		{"That is not right, is it?", true, false},
		{"Nein, nur die in Afrika bitte", true, false},
		{"No problem, thanks!", false, false},
		{"Not bad at all", false, false},
		{"Norway is missing", false, false},
		{"Thanks, that works.", false, false},
		{"Could you leave out those without a coast?", false, false},
		{"[query] is what you want", false, false},
		{"", false, false},
	}
	for _, tt := range tests {
		if no, bare := Refuses(tt.post); no != tt.no || bare != tt.bare {
			t.Errorf("%q: says no %v, nothing else %v; want %v, %v", tt.post, no, bare, tt.no, tt.bare)
		}
	}
}
