package forum

import "testing"

func TestRenamedTo(t *testing.T) {
	for text, want := range map[string]string{
		"#REDIRECT [[User talk:Anna Lee]]":            "Anna Lee",
		"\n#redirect: [[user_talk:anna_Lee#Top|x]]":   "Anna Lee",
		"# redirect [[User talk:Anna]]":               "",
		"#WEITERLEITUNG [[Benutzer Diskussion:Anna]]": "Anna",
		"#REDIRECT [[User talk:Anna/Archive]]":        "",
		"#REDIRECT [[Talk:Anna]]":                     "",
		"# a list with [[User talk:Anna]]":            "",
		"See #REDIRECT [[User talk:Anna]]":            "",
		"":                                            "",
	} {
		if got := RenamedTo(text); got != want {
			t.Errorf("%q leads to %q, want %q", text, got, want)
		}
	}
}
