package forum

import (
	"slices"
	"testing"
)

func comment(t *testing.T, text string) *Comment {
	t.Helper()
	p := Parse("P", "== H ==\n"+text+" [[User:Ann|Ann]] 10:20, 5 June 2024 (UTC)\n", Options{})
	if len(p.Threads) != 1 || len(p.Threads[0].Comments) != 1 {
		t.Fatalf("%q is not read as one comment: %+v", text, p.Threads)
	}
	return &p.Threads[0].Comments[0]
}

func TestMentioned(t *testing.T) {
	for text, want := range map[string]bool{
		"[[User:SpinachBot]] which cats?": true, "{{ping|SpinachBot}} cats?": true, "{{Ping|1=spinachBot}} cats?": true,
		"{{reply to|Bob|2=SpinachBot}}": true,
		"{{ping|User:SpinachBot}}":      true, "{{ping|1= spinachBot <!-- him -->}}": true,
		"{{ping|text=SpinachBot}}": false, "{{cite|1=SpinachBot}}": false,
		"@SpinachBot": true, "@SpinachBot, which cats?": true, "@SpinachBot: cats": true, "Cats (@spinachbot)?": true,
		"Cats? @spinachBot!": true, "'''@SpinachBot''' cats?": true,
		"@User:SpinachBot cats?": true, "Cats,\n@SpinachBot?": true, "SpinachBot's query is wrong": false,
		"it's @SpinachBot": true, "12\" @SpinachBot": true, "<small>@SpinachBot</small>": true,
		"@SpinachBot2": false, "@SpinachBots": false, "@Spinach Bot": false, "@SpinachBot_x": false,
		"@ SpinachBot": false, "me@SpinachBot.org": false,
		"https://x.org/@SpinachBot": false, "@@SpinachBot": false,
		"He said \"@SpinachBot cats?\" to me": false, "“@SpinachBot cats?”": false, "„@SpinachBot Katzen?“": false,
		"« @SpinachBot chats ? »": false, "''@SpinachBot cats?'' no": false,
		"<blockquote>@SpinachBot cats?</blockquote> I do not understand": false, "<q>@SpinachBot</q>": false,
		"<blockquote>{{ping|SpinachBot}} [[User:SpinachBot]]</blockquote> what?": false,
		"{{tq|@SpinachBot cats?}} what?":                                         false,
		"> @SpinachBot cats?\nNo.":                                               false,
		":: > @SpinachBot cats?\n:: No.":                                         false,
		"&gt; @SpinachBot cats?\nNo.":                                            false,
		"<nowiki>@SpinachBot</nowiki> calls it":                                  false,
		"<code>@SpinachBot</code> calls it":                                      false,
		"<!-- @SpinachBot --> x":                                                 false,
		"<s>@SpinachBot dogs?</s> Done.":                                         false,
		"&#64;SpinachBot":                                                        false,
		"<code>a</code> @SpinachBot <code>b</code>":                              true, "“a” @SpinachBot “b”": true,
		"\"a\" @SpinachBot": true, "''a'' @SpinachBot ''b''": true,
	} {
		if got := comment(t, text).Mentioned("SpinachBot"); got != want {
			t.Errorf("%q: mentioned %v", text, got)
		}
	}
	for _, text := range []string{"@Spinach Bot, cats?", "@Spinach_Bot, cats?", "{{ping|1=spinach_Bot}}",
		"@spinach bot"} {
		if !comment(t, text).Mentioned("Spinach_Bot") {
			t.Errorf("%q does not mention Spinach Bot", text)
		}
	}
	if c := comment(t, "@ @SpinachBot"); c.Mentioned("") {
		t.Error("nobody is mentioned")
	}
	if got := comment(t, "x").Mentioned("Ann"); got {
		t.Error("the signature is taken for a mention")
	}
}

func TestLinks(t *testing.T) {
	for text, want := range map[string][]string{
		"See https://w.wiki/7Xyz.":                             {"https://w.wiki/7Xyz"},
		"See [https://w.wiki/7Xyz my query] or [//w.wiki/8 8]": {"https://w.wiki/7Xyz", "//w.wiki/8"},
		"{{small|https://w.wiki/7Xyz}}":                        {"https://w.wiki/7Xyz"},
		"<nowiki>https://w.wiki/7</nowiki> <!-- https://w.wiki/8 --> <syntaxhighlight>https://w.wiki/9</syntaxhighlight> {{SPARQL|query=SELECT * { ?a <https://w.wiki/7> ?b }}}": nil,
		"none":                      nil,
		"w.wiki/7Xyz is not a link": nil,
		"[[User:Bob|https://x.y]]":  {"https://x.y"},
	} {
		if got := comment(t, text).Links; !slices.Equal(got, want) {
			t.Errorf("%q: links %q, want %q", text, got, want)
		}
	}
}
