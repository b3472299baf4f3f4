package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
)

// proposed returns a world in which one draft is waiting for approval.
func proposed(t *testing.T) (*world, *bot.Entry) {
	w := started(t)
	w.cfg.Posting = bot.Propose
	w.round()
	w.want("Cats:proposed")
	return w, w.entries()[0]
}

func TestRevise(t *testing.T) {
	w, drafted := proposed(t)
	ctx, now := t.Context(), w.clock.now()
	e, err := bot.Revise(ctx, w.store, now, drafted.Key, "  There are\n two kinds of cats.\n", "Olga")
	if err != nil {
		t.Fatal(err)
	}
	d := e.Draft
	if e.State != bot.Proposed || d.EditedBy != "Olga" || d.Drafted != drafted.Draft.Reply.Short ||
		d.Turn.Report != "There are two kinds of cats." {
		t.Errorf("%+v", e)
	}
	if !strings.Contains(d.Wikitext, "There are two kinds of cats.") ||
		strings.Contains(d.Wikitext, drafted.Draft.Reply.Short) {
		t.Errorf("wikitext %s", d.Wikitext)
	}
	if want := strings.Replace(drafted.Draft.Diff, drafted.Draft.Reply.Short, "There are two kinds of cats.",
		1); d.Diff != want {
		t.Errorf("diff\n%s\nwant\n%s", d.Diff, want)
	}
	if _, err := bot.Approve(ctx, w.store, now, e.Key, "Olga"); err != nil {
		t.Fatal(err)
	}
	if e, err = bot.Revise(ctx, w.store, now, e.Key, "Three kinds.", "Ben"); err != nil || e.State != bot.Proposed ||
		e.ApprovedBy != "" || e.Draft.Drafted != d.Drafted {
		t.Errorf("an approved entry, edited: %+v, %v", e, err)
	}
	w.round()
	w.want("Cats:proposed")
	if _, err := bot.Approve(ctx, w.store, now, e.Key, "Olga"); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.want("Cats:posted")
	if !strings.Contains(w.wiki.text(), "Three kinds.") {
		t.Error("the edited text is not on the page")
	}
	if _, err := bot.Revise(ctx, w.store, now, e.Key, "Four kinds.", "Olga"); err == nil {
		t.Error("a posted entry was edited")
	}
}

// An edited draft needs approval even if other replies are posted without it, because the operator's text is not
// checked.
func TestRevisedWaits(t *testing.T) {
	w, e := proposed(t)
	if _, err := bot.Revise(t.Context(), w.store, w.clock.now(), e.Key, "There are 9000 kinds of cats.", "Olga"); err != nil {
		t.Fatal(err)
	}
	w.cfg.Posting = bot.On
	w.round()
	w.want("Cats:proposed")
	if _, err := bot.Approve(t.Context(), w.store, w.clock.now(), e.Key, "Olga"); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.want("Cats:posted")
}

// An operator's text is sanitized in the same way as the model's: all markup in the reply is the bot's own, and the
// query is the one that was run.
func TestReviseIsHarmless(t *testing.T) {
	w, e := proposed(t)
	for _, evil := range []string{
		"{{delete}} [[Category:Cats]] ~~~~ <nowiki> <!-- x --> <ref>y</ref>", "* a\n# b\n== c ==\n{| d",
		"{{SPARQL|query=SELECT * {}}}",
		"-->{{x}}", "https://evil.example/ __NOTOC__", "\x1b[31m \u202eabc",
	} {
		got, err := bot.Revise(t.Context(), w.store, w.clock.now(), e.Key, evil, "Olga")
		if err != nil {
			t.Fatal(err)
		}
		line, rest, _ := strings.Cut(got.Draft.Wikitext, "\n")
		line = strings.Replace(line, "<!-- spinachbot:"+e.Key+" -->", "", 1)
		for _, markup := range []string{"{{", "}}", "[[", "]]", "~~~", "<", "{|", "__", "://", "\x1b", "\u202e"} {
			if strings.Contains(line, markup) {
				t.Errorf("%q is left in %q", markup, line)
			}
		}
		if _, old, _ := strings.Cut(e.Draft.Wikitext, "\n"); rest != old {
			t.Errorf("more than the text has changed:\n%s\nwas\n%s", rest, old)
		}
		if q := forum.Parse("P", "== H ==\n"+got.Draft.Wikitext+"\n",
			forum.Options{}).Threads[0].Comments[0].Queries; len(q) != 1 || q[0].SPARQL != query {
			t.Errorf("queries of the reply: %+v", q)
		}
	}
}

func TestReviseRefuses(t *testing.T) {
	w, e := proposed(t)
	for text, want := range map[string]string{" \n": "empty", strings.Repeat("x", forum.MaxShort+1): "1201 characters",
		"a\xff": "UTF-8"} {
		if _, err := bot.Revise(t.Context(), w.store, time.Now(), e.Key, text, "Olga"); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	if got := w.entries()[0]; got.Draft.Wikitext != e.Draft.Wikitext {
		t.Error("a refused edit has changed the draft")
	}
}
