package forum

import (
	"strings"
	"testing"
)

func TestOnlySignature(t *testing.T) {
	const own = "[[User:Our bot|Our bot]] ([[User talk:Our bot|talk]]) "
	for s, want := range map[string]bool{
		own + "10:00, 5 June 2024 (UTC)":            true,
		own + "10:00, 5 June 2024 (UTC) \n":         true,
		"[[user:our_bot]] 10:00, 5 June 2024 (UTC)": true,
		"[[Benutzer:Our bot|Our bot]] ([[Benutzer Diskussion:Our bot|Diskussion]]) 12:00, 5. Jun. 2024 (CEST)": true,
		own:                                  false,
		"":                                   false,
		"10:00, 5 June 2024 (UTC)":           false,
		own + "10:00 (UTC)":                  false,
		own + "No. 10:00, 5 June 2024 (UTC)": false,
		own + "10:00, 5 June 2024 (UTC) No.": false,
		own + "10:00, 5 June 2024 (UTC) 10:01, 5 June 2024 (UTC)":            false,
		own + `10:00, 5 June 2024 (UTC)" 10:01, 5 June 2024 (UTC)`:           false,
		"No. " + own + "10:00, 5 June 2024 (UTC)":                            false,
		own + "[[Q42]] 10:00, 5 June 2024 (UTC)":                             false,
		own + "{{no}} 10:00, 5 June 2024 (UTC)":                              false,
		own + "[[User:Ann|Ann]] 10:00, 5 June 2024 (UTC)":                    false,
		"[[User:Ann|Ann]] ([[User talk:Ann|talk]]) 10:00, 5 June 2024 (UTC)": false,
		"[[User:Our bot/x|Our bot]] 10:00, 5 June 2024 (UTC)":                false,
	} {
		if got := OnlySignature(s, "Our bot", Options{}); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestWithout(t *testing.T) {
	const page = "Top\n= A =\nab\n== B ==\ncd\n= C =\nef\n"
	th := Parse("T", page, Options{}).Threads
	if got, err := Without(page, &th[0], 10, 13); err != nil || got != "= A =\n== B ==\ncd\n" {
		t.Errorf("level 1: %q, %v", got, err)
	}
	if got, err := Without(page, &th[1], 21, 24); err != nil || got != "== B ==\n" {
		t.Errorf("level 2: %q, %v", got, err)
	}
	for _, c := range [][2]int{{0, 12}, {12, 40}, {13, 12}, {24, 32}} {
		if got, err := Without(page, &th[0], c[0], c[1]); err == nil {
			t.Errorf("%v: %q", c, got)
		}
	}
}

// A reply written without a model does not mention a model.
func TestNoticeWithoutModel(t *testing.T) {
	for reason, want := range map[string]bool{"no_model": false, "not_found": true} {
		w, err := Compose(Reply{To: "Ann", NoAnswer: reason, Operator: "Olga", Signature: "~~~~"}, ":")
		if err != nil || strings.Contains(w, "help of a language model") != want || !strings.Contains(w, "I am a bot") {
			t.Errorf("%s: %v\n%s", reason, err, w)
		}
	}
}

// A reply that explains why there is no answer does not ask for details.
func TestInviteAfterExplanation(t *testing.T) {
	for short, want := range map[string]string{"Wikidata has no page views.": "If I have misunderstood you, just reply here.", "": "I will try again"} {
		w, err := Compose(Reply{Language: "en", Short: short, NoAnswer: "not_found", Signature: "~~~~"}, ":")
		if err != nil || !strings.Contains(w, want) {
			t.Errorf("%q: %v\n%s", short, err, w)
		}
	}
}
