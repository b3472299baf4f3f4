package forum

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const stampA = "[[User:Ann|Ann]] 10:00, 1 May 2024 (UTC)"

func conversation(t *testing.T, opts Options, lines ...string) Conversation {
	t.Helper()
	p := Parse("T", "== H ==\n"+strings.Join(lines, "\n")+"\n", opts)
	if len(p.Threads) != 1 {
		t.Fatalf("%d threads", len(p.Threads))
	}
	return p.Threads[0].Conversation("SpinachBot", "Other bot")
}

func TestConversation(t *testing.T) {
	c := conversation(t, Options{},
		"How many? {{SPARQL|query=SELECT ?a { ?a wdt:P31 wd:Q1 } }} "+stampA,
		":Like <code>ASK { wd:Q1 wdt:P31 wd:Q2 }</code> and [https://query.wikidata.org/#SELECT%20%3Fb%20%7B%20%3Fb%20wdt%3AP31%20wd%3AQ5%20%7D this] [[User:Bob|Bob]] 10:01, 1 May 2024 (UTC)",
		"::{{SPARQL|query=SELECT ?c { ?c wdt:P31 wd:Q3 } }} [[User:spinachBot]] 10:02, 1 May 2024 (UTC)",
		":::Thanks, Bob! "+strings.Replace(stampA, "10:00", "10:03", 1),
		"{{Section resolved|1=[[User:Ann]] 10:04, 1 May 2024 (UTC)}}")
	if c.Requester != "Ann" || !c.Asked.Equal(time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)) || c.Responses != 3 ||
		!c.Thanked || !c.Resolved || !c.Closed {
		t.Errorf("%+v", c)
	}
	var got []string
	for _, q := range c.Queries {
		by := q.Author
		if q.Bot {
			by += " (bot)"
		}
		got = append(got, by+": "+q.SPARQL)
	}
	want := []string{"Ann: SELECT ?a { ?a wdt:P31 wd:Q1 }", "Bob: ASK { wd:Q1 wdt:P31 wd:Q2 }",
		"Bob: SELECT ?b { ?b wdt:P31 wd:Q5 }", "SpinachBot (bot): SELECT ?c { ?c wdt:P31 wd:Q3 }"}
	if !slices.Equal(got, want) || c.Last != 2 {
		t.Errorf("queries %q, last %d", got, c.Last)
	}
}

func TestConversationEdges(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		ok    func(c Conversation) bool
	}{
		"nobody signs": {[]string{"What?", ":This. [[User:Bob]] 10:01, 1 May 2024 (UTC)"},
			func(c Conversation) bool { return c.Requester == "" && c.Responses == 1 && c.Last == -1 && !c.Closed }},
		"thanks in the request": {[]string{"How? Thanks! " + stampA},
			func(c Conversation) bool { return !c.Thanked && c.Responses == 0 }},
		"thanks before an answer": {[]string{"How? " + stampA, ":Thanks for reading. " + stampA},
			func(c Conversation) bool { return !c.Thanked && c.Responses == 1 }},
		"someone else thanks": {[]string{"How? " + stampA, ":So. [[User:Bob]] 10:01, 1 May 2024 (UTC)",
			"::Thanks! [[User:Cid]] 10:02, 1 May 2024 (UTC)"}, func(c Conversation) bool { return !c.Thanked }},
		"someone else resolves": {[]string{"How? " + stampA,
			"{{Section resolved|1=[[User:Bob]] 10:01, 1 May 2024 (UTC)}}"},
			func(c Conversation) bool { return c.Resolved && !c.Closed }},
		"only the bot posts queries": {[]string{"How? " + stampA,
			":{{SPARQL|query=ASK { ?a ?b ?c } }} [[User:SpinachBot]] 10:01, 1 May 2024 (UTC)"},
			func(c Conversation) bool { return len(c.Queries) == 1 && c.Last == -1 }},
		"an unsigned query is a query": {[]string{"How? " + stampA, ":{{SPARQL|query=ASK { ?a ?b ?c } }}"},
			func(c Conversation) bool { return c.Last == 0 && c.Queries[0].Author == "" }},
	} {
		if got := conversation(t, Options{}, c.lines...); !c.ok(got) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for heading, want := range map[string]bool{"[SOLVED] Cats": true, "Cats (resolved)": true, "Unsolved cats": false,
		"Solved problems": false} {
		if c := (&Thread{Heading: heading}).Conversation(); c.Resolved != want || c.Closed {
			t.Errorf("%q: %+v", heading, c)
		}
	}
}

func TestThanks(t *testing.T) {
	for text, want := range map[string]bool{
		"Thanks!": true, "Great, thank you very much, it works": true, "Vielen Dank": true,
		"@Bob Merci beaucoup !": true, "Большое спасибо": true, "非常感谢": true, "ありがとう": true, "thx :-)": true,
		"Perfect!": false, "It works.": false, "No, thanks": false, "Danke im Voraus": false,
		"Any idea? Thanks in advance!": false, "It hangs. Merci d'avance. Thanks for the first one.": true,
		"thankless": false, "Tak": false, "": false,
	} {
		if got := (&Comment{Text: text}).Thanks(); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}

func TestShortLinks(t *testing.T) {
	const text = "See https://w.wiki/4xyz, [https://w.wiki/5abc here] and https://w.wiki/. SELECT ?x { ?x ?y ?z } # https://w.wiki/6def"
	page := "== H ==\n" + text + " " + stampA + "\n"
	off, on := Parse("T", page, Options{}), Parse("T", page, Options{ShortLinks: []string{"W.wiki"}})
	var got []string
	for _, q := range on.Threads[0].Comments[0].Queries {
		got = append(got, q.Kind+" "+q.Name+" "+q.URL+" "+q.SPARQL)
	}
	want := []string{"link w.wiki https://w.wiki/4xyz ", "link w.wiki https://w.wiki/5abc ",
		"code   SELECT ?x { ?x ?y ?z }", "link w.wiki https://w.wiki/6def "}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := len(off.Threads[0].Comments[0].Queries); n != 1 {
		t.Errorf("%d queries without the option", n)
	}
	if a, b := off.Threads[0].Comments[0].Text, on.Threads[0].Comments[0].Text; a != b {
		t.Errorf("the option changes the text from %q to %q", a, b)
	}
	if c := on.Threads[0].Conversation(); c.Queries[c.Last].URL != "https://w.wiki/6def" {
		t.Errorf("last %+v", c.Queries[c.Last])
	}
}

func TestQueryFromURL(t *testing.T) {
	const q = "SELECT ?a { ?a wdt:P31|wdt:P279 wd:Q5 }"
	const enc = "SELECT%20%3Fa%20%7B%20%3Fa%20wdt%3AP31%7Cwdt%3AP279%20wd%3AQ5%20%7D"
	for u, want := range map[string]string{
		"https://query.wikidata.org/#" + enc: q, "https://query.wikidata.org/embed.html#" + enc: q,
		"//query.wikidata.org/#" + enc:                                             q,
		"https://qlever.dev/wikidata?query=" + strings.ReplaceAll(enc, "%20", "+"): q,
		"https://w.wiki/4xyz":                                                      "",
		"https://query.wikidata.org/":                                              "", "": "", "query": "",
		"//": "", "{//": "",
	} {
		if got, ok := QueryFromURL(u); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", u, got, ok)
		}
	}
}
