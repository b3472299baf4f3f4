package forum

import (
	"strings"
	"testing"
	"time"
)

func TestEarlier(t *testing.T) {
	june, march := time.Date(2021, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(2019, 3, 1, 0, 0, 0, 0, time.UTC)
	const page = "Wikidata:Request a query/Archive/2021/06"
	line := func(lang string, es ...Earlier) string {
		t.Helper()
		w, err := Compose(Reply{Language: lang, Short: "Yes.", Signature: "~~~~", Similar: es}, ":")
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(w, "\n") {
			if strings.Contains(l, "[[:") {
				return l
			}
		}
		return ""
	}
	a := Earlier{page, "Films, by year: how?", june, false}
	b := Earlier{"Wikidata:Request a query/Archive/2019/03", "Côte d'Ivoire (2)", march, false}
	for _, c := range []struct{ got, want string }{
		{line("en", a), ":A similar request was answered in [[:" + page + "#Films, by year: how?|June 2021]]."},
		{line("de", a), ":Eine ähnliche Anfrage wurde im [[:" + page +
			"#Films, by year: how?|Juni 2021]] beantwortet."},
		{line("fr", b), ":Une demande similaire a déjà reçu une réponse en [[:Wikidata:Request a query/Archive/2019/03#Côte d'Ivoire (2)|mars 2019]]."},
		{line("sv", a, b, a), ":Similar requests were answered in [[:" + page +
			"#Films, by year: how?|June 2021]] and in [[:Wikidata:Request a query/Archive/2019/03#Côte d'Ivoire (2)|March 2019]]."},
		{line("en", a, Earlier{b.Page, b.Heading, b.Month, true}), ":This was asked before, in [[:" + b.Page +
			"#Côte d'Ivoire (2)|March 2019]]: the query from there returns the same rows today."},
		{line("en"), ""}, {line("en", Earlier{page, "x", time.Time{}, false}), ""},
		{line("en", Earlier{"Category:X|y/z", "x", june, false}), ""}, {line("en", Earlier{"Main", "x", june, false}), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	for _, evil := range []string{"a]] [[b", "{{Q|42}}", "a|b", "<nowiki>", "''bold''", "a#b", "50% off", "~~~~",
		"__NOTOC__", "a&amp;b", "a\x7fb", "..", strings.Repeat("long ", 60), "a_b", "//x", "\u202egnp"} {
		if got := line("en", Earlier{page, evil, june, false}); got != ":A similar request was answered in [[:"+page+
			"|June 2021]]." {
			t.Errorf("%q gave %q", evil, got)
		}
	}
}
