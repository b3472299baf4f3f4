package wiki_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/mediawiki"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/sandbox/wiki"
)

// site is a wiki with the accounts that the suite needs, accessed through the product's own client.
type site struct {
	api             string
	bot, alice, bob login
	admin           login
	run             string // part of page titles; different in each run
}

type login struct{ name, user, password string }

// TestSandboxConforms runs the suite on the sandbox. With the integration build tag, the same suite runs on a real
// MediaWiki.
func TestSandboxConforms(t *testing.T) {
	accounts := []wiki.Account{
		{Name: "SpinachBot", Login: "SpinachBot@posts", Password: "bot-password", Groups: []string{"bot"}},
		{Name: "Alice", Login: "Alice@posts", Password: "alice-password"},
		{Name: "Bob", Login: "Bob@posts", Password: "bob-password"},
		{Name: "Admin", Login: "Admin@posts", Password: "admin-password", Groups: []string{"sysop"}},
	}
	w, err := wiki.Open(slog.New(slog.DiscardHandler), wiki.Config{Accounts: accounts, Now: time.Now, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(wiki.NewHandler(w))
	defer srv.Close()
	conform(t, &site{api: srv.URL + "/w/api.php", run: "x",
		bot:   login{"SpinachBot", "SpinachBot@posts", "bot-password"},
		alice: login{"Alice", "Alice@posts", "alice-password"},
		bob:   login{"Bob", "Bob@posts", "bob-password"},
		admin: login{"Admin", "Admin@posts", "admin-password"}})
}

// conform runs every test of the suite as a subtest.
func conform(t *testing.T, s *site) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *site)
	}{
		{"account", testAccount}, {"login", testLogin}, {"missing page", testMissing}, {"new section", testNewSection},
		{"section edit", testSectionEdit}, {"section numbers", testSectionNumbers}, {"conflicts", testConflicts},
		{"no change", testNoChange},
		{"history", testHistory}, {"stale token", testStaleToken}, {"lost session", testLostSession}, {"lag", testLag},
		{"signatures", testSignatures}, {"preview", testPreview}, {"html", testHTML}, {"list", testList},
		{"odd text", testOddText}, {"titles", testTitles},
		{"hidden", testHidden}, {"notifications", testNotifications}, {"naming", testNaming},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, s) })
	}
}

// client returns the product's client for an account.
func (s *site) client(t *testing.T, l login, change ...func(*mediawiki.Config, *http.RoundTripper)) *mediawiki.Client {
	t.Helper()
	cfg := mediawiki.Config{API: s.api, User: l.user, Password: l.password,
		UserAgent: "SpinachBotTest/1 (conformance suite)", Bot: l.name == "SpinachBot"}
	var transport http.RoundTripper
	for _, f := range change {
		f(&cfg, &transport)
	}
	c, err := mediawiki.New(slog.New(slog.DiscardHandler), cfg, transport, politehttp.NewManualClock(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// page creates a page with the given text, and returns its title and revision.
func (s *site) page(t *testing.T, name, text string) *mediawiki.Page {
	t.Helper()
	c := s.client(t, s.alice)
	title := "Wikidata:Conformance " + s.run + " " + name
	if _, err := c.Save(context.Background(), mediawiki.Edit{Title: title, Text: text, Summary: "set up",
		Create: true}); err != nil {
		t.Fatal(err)
	}
	p, err := c.Page(context.Background(), title)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t *testing.T, c *mediawiki.Client, title string) *mediawiki.Page {
	t.Helper()
	p, err := c.Page(context.Background(), title)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func code(err error) string {
	var e *mediawiki.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

func wantKind(t *testing.T, err error, kind mediawiki.Kind, wantCode string) {
	t.Helper()
	if got, ok := mediawiki.KindOf(err); !ok || got != kind || code(err) != wantCode {
		t.Errorf("got %v, want %v with code %s", err, kind, wantCode)
	}
}

func testAccount(t *testing.T, s *site) {
	c := s.client(t, s.bot)
	self, err := c.Self(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if self.Name != "SpinachBot" || c.Account() != "SpinachBot" || self.ID == 0 || self.Blocked != "" || self.Messages {
		t.Errorf("self = %+v, account %q", self, c.Account())
	}
	if !strings.Contains(strings.Join(self.Groups, " "), "bot") {
		t.Errorf("groups = %q", self.Groups)
	}
}

func testLogin(t *testing.T, s *site) {
	wrong := s.alice
	wrong.password = "wrong-wrong-wrong-wrong-wrong-wrong"
	_, err := s.client(t, wrong).Self(context.Background())
	wantKind(t, err, mediawiki.Blocked, "login-failed")
	other := s.client(t, s.alice, func(c *mediawiki.Config, _ *http.RoundTripper) { c.Account = "Bob" })
	_, err = other.Self(context.Background())
	wantKind(t, err, mediawiki.Blocked, "wrong-account")
	noBot := s.client(t, s.alice, func(c *mediawiki.Config, _ *http.RoundTripper) { c.Bot = true })
	_, err = noBot.Self(context.Background())
	wantKind(t, err, mediawiki.Blocked, "assertbotfailed")
}

func testMissing(t *testing.T, s *site) {
	c, title := s.client(t, s.bot), "Wikidata:Conformance "+s.run+" nowhere"
	p := read(t, c, title)
	if !p.Missing || p.RevID != 0 || p.Text != "" || p.Now.IsZero() {
		t.Errorf("page = %+v", p)
	}
	for _, text := range []string{"short", strings.Repeat("long enough for a multipart request ", 400)} {
		_, err := c.Save(context.Background(), mediawiki.Edit{Title: title, Text: text, BaseRev: 1, Start: p.Now})
		wantKind(t, err, mediawiki.Conflict, "missingtitle")
	}
	if p = read(t, c, title); !p.Missing {
		t.Error("an edit with nocreate made the page")
	}
	if revs, err := c.OwnEdits(context.Background(), title, time.Time{}.AddDate(2000, 0, 0)); err != nil ||
		len(revs) != 0 {
		t.Errorf("edits of a missing page: %v, %v", revs, err)
	}
}

func testNewSection(t *testing.T, s *site) {
	p := s.page(t, "new section", "Lead.\n\n== One ==\ntext one")
	c := s.client(t, s.bob)
	saved, err := c.Save(context.Background(), mediawiki.Edit{Title: p.Title, Section: "new", Heading: "Two",
		Text: "text two\n\n"})
	if err != nil {
		t.Fatal(err)
	}
	now := read(t, c, p.Title)
	if want := "Lead.\n\n== One ==\ntext one\n\n== Two ==\n\ntext two"; now.Text != want {
		t.Errorf("page is %q, want %q", now.Text, want)
	}
	if now.RevID != saved.RevID || saved.OldRev != p.RevID || now.User != "Bob" || now.Timestamp.IsZero() ||
		!saved.Time.Equal(now.Timestamp) {
		t.Errorf("saved %+v, page %+v", saved, now)
	}
}

const four = "Lead.\n\n== One ==\n1a\n\n1b\n\n1c\n\n== Two ==\n2a\n\n2b\n\n2c\n\n== Three ==\n3a\n\n=== Sub ===\n3b\n\n== Four ==\n4a"

func testSectionEdit(t *testing.T, s *site) {
	p := s.page(t, "section edit", four)
	c := s.client(t, s.bot)
	_, err := c.Save(context.Background(), mediawiki.Edit{Title: p.Title, Section: "3",
		Text:    "== Three ==\n3a\n:reply\n\n=== Sub ===\n3b\n:reply\n",
		Summary: "/* Three */ reply [key]", BaseRev: p.RevID, Start: p.Now})
	if err != nil {
		t.Fatal(err)
	}
	now := read(t, c, p.Title)
	want := strings.Replace(strings.Replace(four, "3a\n", "3a\n:reply\n", 1), "3b\n", "3b\n:reply\n", 1)
	if now.Text != want {
		t.Errorf("page is\n%s\nwant\n%s", now.Text, want)
	}
	revs, err := c.OwnEdits(context.Background(), p.Title, p.Now.Add(-time.Minute))
	if err != nil || len(revs) != 1 || revs[0].Summary != "/* Three */ reply [key]" || revs[0].RevID != now.RevID ||
		revs[0].User != "SpinachBot" {
		t.Errorf("own edits %+v, %v", revs, err)
	}
}

// testSectionNumbers edits each section of a page with unusual headings by its number.
func testSectionNumbers(t *testing.T, s *site) {
	text := "Lead\n\n== A ==\na\n\n<!--\n== no ==\n-->\n=== B ===\nb\n\n<nowiki>\n== no ==\n</nowiki>\n\n==C== \nc\n\n<pre>\n== no ==\n</pre>\n\n" +
		"== D == <!-- comment -->\nd\n\n{{Nothing|x=\n== T ==\n}}\n\n=E=\ne\n\n<syntaxhighlight lang=\"sparql\">\n== no ==\n</syntaxhighlight>\n\n==F\nnot\n\n====== G ======\ng\n\n== H ==\nh {{unclosed\n\n== I ==\ni"
	p := s.page(t, "numbers", text)
	c := s.client(t, s.bot)
	for n, head := range []string{"A", "B", "C", "D", "E", "G", "H", "I"} {
		section := fmt.Sprint(n + 1)
		if n >= 4 {
			section = fmt.Sprint(n + 2) // the heading in the template has a number, but no section to edit
		}
		_, err := c.Save(context.Background(), mediawiki.Edit{Title: p.Title, Section: section, Text: "== hit " + head +
			" ==", BaseRev: p.RevID})
		if err != nil {
			t.Errorf("section %s: %v", section, err)
			continue
		}
		now := read(t, c, p.Title)
		if before := strings.Index(now.Text, "hit"); !strings.HasPrefix(text[before-3:], headingLine(text, head)) {
			t.Errorf("section %s is not %s:\n%s", section, head, now.Text)
		}
		p, err = put(c, p.Title, text)
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.Save(context.Background(), mediawiki.Edit{Title: p.Title, Section: "5", Text: "== hit T ==",
		BaseRev: p.RevID})
	wantKind(t, err, mediawiki.Conflict, "nosuchsection")
}

// headingLine returns the part of the page that starts at the heading with the given text.
func headingLine(text, head string) string {
	for _, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(l, "=") && strings.Contains(l, head) && len(head) > 0 &&
			strings.TrimSpace(strings.Trim(strings.Split(l, "<")[0], "= ")) == head {
			return l
		}
	}
	return "no such heading"
}

// put replaces the entire text of a page.
func put(c *mediawiki.Client, title, text string) (*mediawiki.Page, error) {
	p, err := c.Page(context.Background(), title)
	if err != nil {
		return nil, err
	}
	if _, err := c.Save(context.Background(), mediawiki.Edit{Title: title, Text: text, BaseRev: p.RevID,
		Create: true}); err != nil {
		return nil, err
	}
	return c.Page(context.Background(), title)
}

func testConflicts(t *testing.T, s *site) {
	without := func(from, to string) string { // returns four without the text between from and to
		a, b := strings.Index(four, from), len(four)
		if to != "" {
			b = strings.Index(four, to)
		}
		return strings.TrimRight(four[:a]+four[b:], "\n")
	}
	for _, c := range []struct {
		name    string
		theirs  string // the page after someone else's edit
		by      login
		section string
		mine    string
		want    string // the page afterwards, or the error's code
	}{
		{"other section", strings.Replace(four, "1b", "1b changed", 1), s.bob, "2", "== Two ==\n2a\n\n2b\n\n2c\n:reply",
			strings.Replace(strings.Replace(four, "1b", "1b changed", 1), "2c", "2c\n:reply", 1)},
		{"section inserted above", strings.Replace(four, "== One", "== New ==\nn\n\n== One", 1), s.bob, "2",
			"== Two ==\n2a\n\n2b\n\n2c\n:reply",
			strings.Replace(strings.Replace(four, "== One", "== New ==\nn\n\n== One", 1), "2c", "2c\n:reply", 1)},
		{"section above archived", without("== One", "== Two"), s.bob, "3", "== Three ==\n3a\n\n=== Sub ===\n3b\n:reply",
			strings.Replace(without("== One", "== Two"), "3b", "3b\n:reply", 1)},
		{"same line", strings.Replace(four, "2c", "2c\n:theirs", 1), s.bob, "2", "== Two ==\n2a\n\n2b\n\n2c\n:reply",
			"editconflict"},
		{"far lines of the same section", strings.Replace(four, "2a", "2a changed", 1), s.bob, "2",
			"== Two ==\n2a\n\n2b\n\n2c\n:reply",
			strings.Replace(strings.Replace(four, "2a", "2a changed", 1), "2c", "2c\n:reply", 1)},
		{"section removed", without("== Two", "== Three"), s.bob, "2", "== Two ==\n2a\n\n2b\n\n2c\n:reply", "editconflict"},
		{"last section, one before it archived", without("== One", "== Two"), s.bob, "5", "== Four ==\n4a\n:reply",
			"nosuchsection"},
		{"own edit of the same place", strings.Replace(four, "2c", "2c\n:first", 1), s.bot, "2",
			"== Two ==\n2a\n\n2b\n\n2c\n:reply", "editconflict"},
		{"new section after the last", four + "\n\n== Five ==\n5", s.bob, "5", "== Four ==\n4a\n:reply", "editconflict"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := s.page(t, "conflict "+c.name, four)
			if _, err := put(s.client(t, c.by), p.Title, c.theirs); err != nil {
				t.Fatal(err)
			}
			bot := s.client(t, s.bot)
			_, err := bot.Save(context.Background(), mediawiki.Edit{Title: p.Title, Section: c.section, Text: c.mine,
				BaseRev: p.RevID, Start: p.Now})
			now := read(t, bot, p.Title).Text
			if c.want == "editconflict" || c.want == "nosuchsection" {
				wantKind(t, err, mediawiki.Conflict, c.want)
				if now != c.theirs {
					t.Errorf("a conflict changed the page:\n%s", now)
				}
			} else if err != nil || now != c.want {
				t.Errorf("%v; page is\n%s\nwant\n%s", err, now, c.want)
			}
		})
	}
	t.Run("foreign revision", func(t *testing.T) {
		p, other := s.page(t, "conflict foreign", four), s.page(t, "conflict foreign 2",
			"== A ==\na\n\n== B ==\nb\n\n== C ==\nc")
		_, err := s.client(t, s.bot).Save(context.Background(), mediawiki.Edit{Title: p.Title, Section: "2",
			Text: "== Two ==\n:x", BaseRev: other.RevID})
		wantKind(t, err, mediawiki.Conflict, "editconflict")
		_, err = s.client(t, s.bot).Save(context.Background(), mediawiki.Edit{Title: p.Title, Section: "2",
			Text: "== Two ==\n:x", BaseRev: 1 << 40})
		wantKind(t, err, mediawiki.Conflict, "editconflict")
	})
}

func testNoChange(t *testing.T, s *site) {
	p := s.page(t, "no change", four)
	saved, err := s.client(t, s.bot).Save(context.Background(), mediawiki.Edit{Title: p.Title, Section: "2",
		Text: "== Two ==\n2a\n\n2b\n\n2c", BaseRev: p.RevID})
	if err != nil || !saved.NoChange || saved.RevID != 0 {
		t.Errorf("saved %+v, %v", saved, err)
	}
}

func testHistory(t *testing.T, s *site) {
	p := s.page(t, "history", "start")
	bot, bob := s.client(t, s.bot), s.client(t, s.bob)
	for i := range 54 {
		c := bot
		if i%18 == 9 {
			c = bob
		}
		saved, err := c.Save(context.Background(), mediawiki.Edit{Title: p.Title, Text: fmt.Sprint("edit ", i),
			Summary: fmt.Sprint("no. ", i), BaseRev: p.RevID})
		if err != nil {
			t.Fatal(err)
		}
		p.RevID = saved.RevID
	}
	own, err := bot.OwnEdits(context.Background(), p.Title, p.Now.Add(-time.Minute))
	if err != nil || len(own) != 51 || own[0].Summary != "no. 53" || own[50].Summary != "no. 0" ||
		own[0].RevID != p.RevID {
		t.Errorf("%d own edits, %v", len(own), err)
	}
	all, err := bot.History(context.Background(), p.Title, "", p.Now.Add(-time.Minute))
	if err != nil || len(all) != 55 || all[54].User != "Alice" {
		t.Errorf("%d edits, %v", len(all), err)
	}
	for i := 1; i < len(all); i++ {
		if all[i].RevID >= all[i-1].RevID || all[i].Time.After(all[i-1].Time) {
			t.Errorf("edits out of order at %d", i)
		}
	}
	texts, err := bot.Texts(context.Background(), p.Title, p.Now.Add(-time.Minute), p.Now.Add(time.Hour))
	if err != nil || len(texts) != 55 || texts[0] != "start" || texts[54] != "edit 53" {
		t.Errorf("%d texts of 55 revisions, %v", len(texts), err)
	}
	if late, err := bot.OwnEdits(context.Background(), p.Title, p.Now.Add(time.Hour)); err != nil || len(late) != 0 {
		t.Errorf("edits since an hour in the future: %v, %v", late, err)
	}
}

func testSignatures(t *testing.T, s *site) {
	p := s.page(t, "signatures", "A ~~~~\n:B ~~~ and ~~~~~\n<nowiki>~~~~</nowiki> <!-- ~~~~ -->\n<syntaxhighlight lang=\"sparql\">~~~~</syntaxhighlight>\n~~ ~~~~~~")
	sig := "[[User:Alice|Alice]] ([[User talk:Alice|talk]])"
	var when string
	for _, at := range []time.Time{p.Timestamp, p.Timestamp.Add(-time.Second), p.Timestamp.Add(-2 * time.Second)} {
		when = at.UTC().Format("15:04, 2 January 2006") + " (UTC)"
		if strings.Contains(p.Text, when) {
			break
		}
	}
	want := "A " + sig + " " + when + "\n:B " + sig + " and " + when +
		"\n<nowiki>~~~~</nowiki> <!-- ~~~~ -->\n<syntaxhighlight lang=\"sparql\">~~~~</syntaxhighlight>\n~~ " + when + "~"
	if p.Text != want {
		t.Errorf("page is\n%s\nwant\n%s", p.Text, want)
	}
}

func testPreview(t *testing.T, s *site) {
	query := "SELECT ?a WHERE { ?a wdt:P31/wdt:P279* wd:Q5 . FILTER(?a > 1 {{!}}{{!}} 'é' != \"~\") } # 100%"
	p, err := s.client(t, s.bot).Preview(context.Background(), "Wikidata:Sandbox", ":{{SPARQL|query=\n"+query+
		"\n}}\n:done ~~~~")
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.ReplaceAll(query, "{{!}}", "|")
	found := false
	for _, l := range p.Links {
		_, q, _ := strings.Cut(l, "#")
		q, err := url.PathUnescape(q)
		found = found || err == nil && q == plain
	}
	if !found {
		t.Errorf("no link runs the query: %q", p.Links)
	}
	if !strings.Contains(strings.Join(p.Templates, " "), "Template:SPARQL") || !strings.Contains(p.HTML, "mw-highlight") ||
		!strings.Contains(p.HTML, "User:SpinachBot") {
		t.Errorf("templates %q, html %s", p.Templates, p.HTML)
	}
}

func testHTML(t *testing.T, s *site) {
	p := s.page(t, "html/with a slash", "Lead\n\n== Heading & more ==\nText '''bold''' ~~~~\n:answer")
	out, err := s.client(t, s.bot).HTML(context.Background(), p.Title)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h2", "Heading &amp; more", "bold</b>", "<dd", "answer"} {
		if !strings.Contains(string(out.HTML), want) {
			t.Errorf("%q is not in the HTML:\n%s", want, out.HTML)
		}
	}
	if out.RevID != p.RevID {
		t.Errorf("the HTML is of revision %d, want %d", out.RevID, p.RevID)
	}
	_, err = s.client(t, s.bot).HTML(context.Background(), p.Title+" none")
	wantKind(t, err, mediawiki.Refused, "http-404")
}

// testList lists pages by title prefix, with their newest revisions, as an anonymous reader sees them.
func testList(t *testing.T, s *site) {
	a, b := s.page(t, "list/2024/01", "one"), s.page(t, "list/2024/02", "two")
	prefix := strings.TrimSuffix(a.Title, "2024/01")
	reader := s.client(t, s.bot, func(cfg *mediawiki.Config, _ *http.RoundTripper) {
		cfg.Anonymous, cfg.User, cfg.Password, cfg.Account = true, "", "", ""
	})
	got, err := reader.List(context.Background(), prefix)
	want := []mediawiki.Listed{{Title: a.Title, RevID: a.RevID}, {Title: b.Title, RevID: b.RevID}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if none, err := reader.List(context.Background(), prefix+"none"); err != nil || len(none) > 0 {
		t.Errorf("got %v, %v; want none", none, err)
	}
	_, err = reader.Save(context.Background(), mediawiki.Edit{Title: a.Title, Text: "x", BaseRev: a.RevID})
	wantKind(t, err, mediawiki.Blocked, "anonymous")
}

// testOddText checks that the page has the text that was sent, after normalization to NFC and changes to line endings
// and trailing space.
func testOddText(t *testing.T, s *site) {
	long := strings.Repeat("0123456789 äöü 漢字 🌱 & + % = ; ' \" < > \\ \n", 500) + "end"
	for _, c := range []struct{ name, send, want string }{
		{"long", long, long}, {"crlf", "a\r\nb", "a\nb"}, {"space", "  a \n\n b \n\n", "  a \n\n b"}, {"nfc", "e\u0301", "é"},
	} {
		if c.name == "nfc" && strings.Contains(s.api, "/w/api.php") {
			continue // the sandbox stores the text unchanged
		}
		if p := s.page(t, "odd "+c.name, c.send); p.Text != c.want {
			t.Errorf("%s: page is %.200q, want %.200q", c.name, p.Text, c.want)
		}
	}
}

func testTitles(t *testing.T, s *site) {
	p := s.page(t, "titles", "x")
	c := s.client(t, s.bot)
	for _, title := range []string{"project:conformance_" + s.run + "_titles", "  Wikidata:Conformance  " + s.run +
		" titles", ":Wikidata:conformance " + s.run + " titles"} {
		if got := read(t, c, title); got.Title != p.Title || got.RevID != p.RevID {
			t.Errorf("%q is %q", title, got.Title)
		}
	}
	for _, title := range []string{"", "a|b", "a[b", "a\nb", "{{x}}", strings.Repeat("x", 256)} {
		_, err := c.Page(context.Background(), title)
		wantKind(t, err, mediawiki.Refused, "invalidtitle")
	}
	_, err := c.Save(context.Background(), mediawiki.Edit{Title: p.Title, Text: "x", BaseRev: p.RevID,
		Summary: strings.Repeat("ä", 501)})
	wantKind(t, err, mediawiki.Refused, "not-sent")
}
