package wiki

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// visitor simulates a browser without JavaScript.
type visitor struct {
	t    *testing.T
	base string
	hc   *http.Client
}

func visit(t *testing.T, h http.Handler) *visitor {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t, srv.URL, &http.Client{Jar: jar}}
}

func (v *visitor) get(path string) *goquery.Document {
	v.t.Helper()
	resp, err := v.hc.Get(v.base + path)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	doc, err := goquery.NewDocumentFromReader(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return doc
}

// submit fills in and submits a form.
func (v *visitor) submit(form *goquery.Selection, fill map[string]string) (status int, body string) {
	v.t.Helper()
	if form.Length() != 1 {
		v.t.Fatalf("%d forms", form.Length())
	}
	values := url.Values{}
	form.Find("input, textarea").Each(func(_ int, s *goquery.Selection) {
		name, _ := s.Attr("name")
		value, _ := s.Attr("value")
		values.Set(name, value)
	})
	for k, s := range fill {
		if _, ok := values[k]; !ok {
			v.t.Fatalf("the form has no field %q", k)
		}
		values.Set(k, s)
	}
	action, _ := form.Attr("action")
	resp, err := v.hc.PostForm(v.base+action, values)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

const forumTitle = "Wikidata:Request a query"

const forumText = `Ask here.

== First ==
A question. [[User:A|A]] ([[User talk:A|talk]]) 08:00, 1 March 2026 (UTC)
:An answer: {{SPARQL|query=
ASK { wd:Q1 ?p ?o }
}}
:{| class="wikitable"
! x
|-
| 1
|}
:which is all. [[User:B|B]] ([[User talk:B|talk]]) 08:01, 1 March 2026 (UTC)
::Thanks. [[User:A|A]] ([[User talk:A|talk]]) 08:02, 1 March 2026 (UTC)
:Another. [[User:C|C]] ([[User talk:C|talk]]) 08:03, 1 March 2026 (UTC)

== Second ==
More. [[User:D|D]] ([[User talk:D|talk]]) 08:04, 1 March 2026 (UTC)`

func openForum(t *testing.T) (*Wiki, *Handler, *visitor) {
	t.Helper()
	w := openTest(t, "")
	if err := w.Seed(forumTitle, forumText, "Setup"); err != nil {
		t.Fatal(err)
	}
	h := NewHandler(w)
	h.Forum, h.SPARQL, h.QueryURL = forumTitle, "/sparql", "/query#"
	return w, h, visit(t, h)
}

// sig is a visitor's signature without the timestamp.
func sig(name string) string {
	return "[[User:" + name + "|" + name + "]] ([[User talk:" + name + "|talk]]) "
}

func TestReplies(t *testing.T) {
	for n, c := range []struct{ at, after string }{
		{"under the request", "08:03, 1 March 2026 (UTC)\n:"},  // after all replies
		{"under the answer", "08:02, 1 March 2026 (UTC)\n::"},  // after its reply
		{"under the thanks", "08:02, 1 March 2026 (UTC)\n:::"}, //
		{"under the other", "08:03, 1 March 2026 (UTC)\n::"},   //
		{"in the second", "08:04, 1 March 2026 (UTC)\n:"},      // at the page's end
	} {
		w, _, v := openForum(t)
		forms := v.get("/wiki/Wikidata:Request_a_query").Find("details.reply form")
		if forms.Length() != 5 {
			t.Fatalf("%d reply forms", forms.Length())
		}
		status, _ := v.submit(forms.Eq(n), map[string]string{"name": "eve",
			"text": "One\r\n\r\ntwo {{SPARQL|query=\r\nASK {}\r\n}}\r\n"})
		if status != 200 {
			t.Fatalf("status %d", status)
		}
		rev := w.Page(forumTitle)
		indent := c.after[strings.LastIndex(c.after, "\n")+1:]
		want := strings.Replace(forumText, strings.TrimRight(c.after, "\n:"), c.after+"One\n"+indent+
			"two {{SPARQL|query=\nASK {}\n}} "+sig("Eve")+"TIME", 1)
		stampAt := strings.Index(rev.Text, sig("Eve")) + len(sig("Eve"))
		got := rev.Text[:stampAt] + "TIME" + rev.Text[stampAt+len("09:01, 1 March 2026 (UTC)"):]
		if got != want {
			t.Errorf("%s: page is\n%s\nwant\n%s", c.at, got, want)
		}
		if rev.User != "Eve" || !strings.HasPrefix(rev.Summary, "/* ") || !strings.HasSuffix(rev.Summary, " */ Reply") {
			t.Errorf("%s: by %q, %q", c.at, rev.User, rev.Summary)
		}
	}
}

// A reply written while other people were posting is placed below the comment that it replies to.
func TestReplyToAnOldPage(t *testing.T) {
	w, _, v := openForum(t)
	forms := v.get("/wiki/Wikidata:Request_a_query").Find("details.reply form")
	if s, _ := v.submit(forms.Eq(3), map[string]string{"name": "Eve", "text": "first"}); s != 200 {
		t.Fatal(s)
	}
	if s, _ := v.submit(forms.Eq(3), map[string]string{"name": "Eve", "text": "second"}); s != 200 {
		t.Fatal(s)
	}
	if _, err := w.save(change{title: forumTitle, section: "1", text: "== First ==\nmoved to the archive",
		user: "Archiver"}); err != nil {
		t.Fatal(err)
	}
	if s, body := v.submit(forms.Eq(3), map[string]string{"name": "Eve",
		"text": "third, <not> lost"}); s != http.StatusConflict || !strings.Contains(body, "third, &lt;not&gt; lost") {
		t.Errorf("status %d: %s", s, body)
	}
	if s, _ := v.submit(forms.Eq(4), map[string]string{"name": "Eve", "text": "fourth"}); s != 200 {
		t.Errorf("status %d", s)
	}
	texts := []string{}
	for _, rev := range w.History(forumTitle) {
		texts = append(texts, rev.Text)
	}
	if second := texts[2]; !strings.Contains(second, "::first "+sig("Eve")) || strings.Index(second,
		"::second") < strings.Index(second, "::first") {
		t.Errorf("page is\n%s", second)
	}
	if last := texts[len(texts)-1]; strings.Contains(last, "third") || !strings.Contains(last, "\n:fourth "+sig("Eve")) {
		t.Errorf("page is\n%s", last)
	}
}

func TestNewRequest(t *testing.T) {
	w, _, v := openForum(t)
	form := v.get("/wiki/Wikidata:Request_a_query").Find("#new-request form")
	fill := map[string]string{"name": "Eve", "heading": " == Rivers\n of <b>France</b> == ", "text": "Which rivers?"}
	for range 2 { // a second click posts nothing
		if s, _ := v.submit(form, fill); s != 200 {
			t.Fatal(s)
		}
	}
	text := w.Page(forumTitle).Text
	if !strings.Contains(text, "\n\n== Rivers of <b>France</b> ==\n\nWhich rivers? "+sig("Eve")) || strings.Count(text,
		"Which rivers?") != 1 {
		t.Errorf("page is\n%s", text)
	}
	page := v.get("/wiki/Wikidata:Request_a_query")
	if got := page.Find("#new-request input[name=name]").AttrOr("value", ""); got != "Eve" {
		t.Errorf("the name is remembered as %q", got)
	}
	if page.Find("nav.contents li").Length() != 3 || page.Find("section.thread h2").Length() != 4 {
		t.Error("contents or threads are missing")
	}
}

func TestFormsRefuse(t *testing.T) {
	w, _, v := openForum(t)
	form := func() *goquery.Selection { return v.get("/wiki/Wikidata:Request_a_query").Find("#new-request form") }
	for name, c := range map[string]struct {
		fill   map[string]string
		status int
	}{
		"bot's name":   {map[string]string{"name": "spinachBot", "heading": "h", "text": "kept text"}, 400},
		"no name":      {map[string]string{"name": "", "heading": "h", "text": "kept text"}, 400},
		"no heading":   {map[string]string{"name": "Eve", "heading": "==", "text": "kept text"}, 400},
		"no text":      {map[string]string{"name": "Eve", "heading": "h", "text": " \n "}, 400},
		"long text":    {map[string]string{"name": "Eve", "heading": "h", "text": strings.Repeat("x", maxPost+1)}, 400},
		"token":        {map[string]string{"name": "Eve", "heading": "h", "text": "kept text", "token": "0000"}, 403},
		"long heading": {map[string]string{"name": "Eve", "heading": strings.Repeat("x", 201), "text": "kept text"}, 400},
	} {
		status, body := v.submit(form(), c.fill)
		if status != c.status || c.fill["text"] == "kept text" && !strings.Contains(body, "kept text") {
			t.Errorf("%s: status %d\n%s", name, status, body)
		}
	}
	stranger := visit(t, http.NotFoundHandler())
	stranger.base = v.base
	if status, _ := stranger.submit(form(), map[string]string{"name": "Eve", "heading": "h", "text": "x"}); status != 403 {
		t.Errorf("another visitor's form: status %d", status)
	}
	req, err := http.NewRequest(http.MethodPost, v.base+"/wiki/Wikidata:Request_a_query?action=new", strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	resp, err := v.hc.Do(req)
	if err != nil || resp.StatusCode != 403 {
		t.Errorf("from another site: %v, %v", resp, err)
	}
	if n := len(w.History(forumTitle)); n != 1 {
		t.Errorf("%d revisions", n)
	}
}

// A rejected form is shown again at the same position, with a message, the typed text, and a valid token.
func TestRefusedFormsComeBack(t *testing.T) {
	w, _, v := openForum(t)
	path := "/wiki/Wikidata:Request_a_query"
	for name, c := range map[string]struct {
		form, back string
		fill       map[string]string
		message    string
	}{
		"request": {"#new-request form", "#new-request form", map[string]string{"name": "192.0.2.7", "heading": "Rivers",
			"text": "Which\nrivers?"}, "not with a network address"},
		"reply": {"details.reply:nth-of-type(1) form", "details.reply[open] form", map[string]string{"name": "SpinachBot",
			"text": "Which\nrivers?"}, "someone else's account"},
		"old token": {"#new-request form", "#new-request form", map[string]string{"name": "Eve", "heading": "Rivers",
			"text": "Which\nrivers?", "token": "00"},
			"Please send this again"},
	} {
		form := v.get(path).Find(c.form).First()
		action := form.AttrOr("action", "")
		status, body := v.submit(form, c.fill)
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(body))
		if err != nil || status < 400 {
			t.Fatalf("%s: %d, %v", name, status, err)
		}
		back := doc.Find(c.back)
		if back.Length() != 1 || doc.Find(".error").Length() != 1 || !strings.Contains(back.Find(".error[role=alert]").Text(),
			c.message) {
			t.Fatalf("%s: the message is not at its form:\n%s", name, body)
		}
		if got := back.Find("textarea").Text(); got != c.fill["text"] || back.Find("input[name=heading]").AttrOr("value",
			"") != c.fill["heading"] {
			t.Errorf("%s: the text is %q", name, got)
		}
		if back.Find("input[name=name]").AttrOr("value", "") != c.fill["name"] || back.AttrOr("action", "") != action {
			t.Errorf("%s: name or place is lost", name)
		}
		before := len(w.History(forumTitle))
		fill := map[string]string{"name": "Eve", "text": "Which rivers?"} // the heading is kept
		if status, _ := v.submit(back, fill); status != 200 || len(w.History(forumTitle)) != before+1 {
			t.Errorf("%s: the form does not work the second time: %d", name, status)
		}
	}
	edit := v.get("/wiki/Notes?action=edit").Find("form.edit")
	if status, body := v.submit(edit, map[string]string{"name": "", "text": "kept <text>"}); status != 400 ||
		!strings.Contains(body, "kept &lt;text&gt;</textarea>") ||
		!strings.Contains(body, "Please enter a name") {
		t.Errorf("edit: %d %s", status, body)
	}
}

// After posting, the visitor lands on their own comment, whose anchor does not change.
func TestPageStaysAtMyComment(t *testing.T) {
	_, _, v := openForum(t)
	v.hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	seen := map[string]bool{}
	for n, form := range []string{"details.reply:nth-of-type(1) form", "#new-request form",
		"details.reply:nth-of-type(1) form"} {
		f := v.get("/wiki/Wikidata:Request_a_query").Find(form).First()
		values := url.Values{"name": {"eve"}, "text": {"Post number " + strconv.Itoa(n)}, "heading": {"H"}}
		f.Find("input[type=hidden]").Each(func(_ int, s *goquery.Selection) {
			values.Set(s.AttrOr("name", ""),
				s.AttrOr("value", ""))
		})
		resp, err := v.hc.PostForm(v.base+f.AttrOr("action", ""), values)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		_, at, ok := strings.Cut(resp.Header.Get("Location"), "#")
		seen[at] = true
		if !ok || resp.StatusCode != http.StatusSeeOther || !strings.HasPrefix(at, "c-") {
			t.Fatalf("redirect %d to %q", resp.StatusCode, resp.Header.Get("Location"))
		}
		for old := range seen {
			if v.get("/wiki/Wikidata:Request_a_query").Find("details#"+old).Length() != 1 {
				t.Errorf("after post %d there is no place %s", n, old)
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("places %v", seen)
	}
}

// Follow-ups are offered only below the bot's comments, and each only once. One click posts one.
func TestFollowUps(t *testing.T) {
	w, h, v := openForum(t)
	h.Notice = "Played by a <script>."
	h.FollowUps = []FollowUp{{"First", "Adela", "And now the \"others\", please."}, {"Second", "Dora", "In vain."}}
	if v.get("/").Find("form.suggest").Length() != 0 {
		t.Error("a follow-up is offered below people's comments")
	}
	bot := strings.Replace(forumText, "which is all. [[User:B|B]] ([[User talk:B|talk]])",
		"which is all. [[User:SpinachBot|SpinachBot]] ([[User talk:SpinachBot|talk]])", 1)
	if _, err := w.save(change{title: forumTitle, text: bot, user: "SpinachBot"}); err != nil {
		t.Fatal(err)
	}
	page := v.get("/")
	form := page.Find("form.suggest")
	if form.Length() != 1 || form.Find("button").Text() != "Try: “And now the \"others\", please.”" ||
		page.Find(".banner").Text() != h.Notice {
		t.Fatalf("offered: %s, banner %q", form.Text(), page.Find(".banner").Text())
	}
	if status, _ := v.submit(form, nil); status != 200 {
		t.Errorf("status %d", status)
	}
	if text := w.Page(forumTitle).Text; !strings.Contains(text, "\n::And now the \"others\", please. "+sig("Adela")) {
		t.Errorf("page is\n%s", text)
	}
	if v.get("/").Find("form.suggest").Length() != 0 {
		t.Error("it is offered a second time")
	}
	if v.get("/wiki/Elsewhere?action=edit").Find(".banner").Length() != 0 {
		t.Error("the banner is on other pages")
	}
}

func TestStatus(t *testing.T) {
	_, h, v := openForum(t)
	h.Status = func() string { return "The bot runs a query" }
	if got := v.get("/wiki/Wikidata:Request_a_query?action=revid").Text(); !strings.Contains(got,
		`"status":"The bot runs a query"`) {
		t.Error(got)
	}
}

func TestEditPageAndHistory(t *testing.T) {
	w, _, v := openForum(t)
	form := v.get("/wiki/User:SpinachBot/stop?action=edit").Find("form.edit")
	if s, _ := v.submit(form, map[string]string{"name": "Eve", "text": "stop <now>", "summary": "enough <b>"}); s != 200 {
		t.Fatal(s)
	}
	if got := w.Page("User:SpinachBot/stop"); got == nil || got.Text != "stop <now>" {
		t.Errorf("page %+v", got)
	}
	history := v.get("/wiki/User:SpinachBot/stop?action=history")
	if row := history.Find("tbody tr").Text(); !strings.Contains(row, "Eve") || !strings.Contains(row, "enough <b>") ||
		!strings.Contains(row, "+10") {
		t.Errorf("history: %s", row)
	}
	if got := v.get("/wiki/User:SpinachBot/stop?action=edit").Find("textarea").Text(); got != "stop <now>" {
		t.Errorf("text to edit: %q", got)
	}
	if s, _ := v.submit(v.get("/wiki/User:SpinachBot/stop?action=edit").Find("form.edit"), map[string]string{"name": "Eve",
		"text": "run"}); s != 200 {
		t.Fatal(s)
	}
	old := v.get("/wiki/User:SpinachBot/stop?oldid=2")
	if !strings.Contains(old.Find(".wikitext").Text(), "stop <now>") || !strings.Contains(old.Find(".note").Text(),
		"version of") {
		t.Error("the old version is not shown")
	}
	if s, body := v.submit(form, map[string]string{"name": "Eve", "text": "other",
		"base": "2"}); s != http.StatusConflict || !strings.Contains(body, "other") {
		t.Errorf("edit of an old version: %d", s)
	}
}

func TestHeadersAndPaths(t *testing.T) {
	_, _, v := openForum(t)
	for path, status := range map[string]int{
		"/": 200, "/wiki/Wikidata:Request_a_query": 200, "/wiki/Nowhere": 404, "/wiki/": 400, "/wiki/a|b": 400,
		"/static/style.css": 200, "/static/forum.js": 200,
		"/static/../web.go": 404, "/static/page.html": 404, "/query": 200, "/nothing": 404,
		"/wiki/Wikidata:Request_a_query?action=history":           200,
		"/w/rest.php/v1/page/Wikidata%3ARequest%20a%20query/html": 200, "/w/rest.php/v1/page/None/html": 404,
		"/w/rest.php/v1/page/a/b/html": 404,
	} {
		resp, err := v.hc.Get(v.base + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("%s: status %d, want %d", path, resp.StatusCode, status)
		}
		if kind := resp.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/html") &&
			!strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: no policy", path)
		}
	}
	page := v.get("/")
	if page.Find("script:not([src]), style, [style], [onclick]").Length() != 0 {
		t.Error("the page has inline scripts or styles, which its own policy forbids")
	}
	if page.Find("html[lang]").Length() != 1 || page.Find("main").Length() != 1 || page.Find("h1").Length() != 1 {
		t.Error("the page's frame is not accessible")
	}
	page.Find("input:not([type=hidden]), textarea").Each(func(_ int, s *goquery.Selection) {
		if s.ParentsFiltered("label").Length() != 1 {
			t.Error("a field has no label")
		}
	})
}

func TestWithoutRandomness(t *testing.T) {
	w, h, v := openForum(t)
	w.cfg.Random = strings.NewReader("")
	stranger := visit(t, h)
	_, _ = stranger.submit(stranger.get("/").Find("#new-request form"), map[string]string{"name": "Eve", "heading": "h",
		"text": "x"})
	if n := len(w.History(forumTitle)); n != 1 {
		t.Error("posted with a guessable token")
	}
	_ = v
}

func TestExtraActions(t *testing.T) {
	_, h, v := openForum(t)
	h.Extra = map[string]http.HandlerFunc{"wbsearchentities": func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "searched "+r.FormValue("search"))
	}}
	resp, err := v.hc.Get(v.base + "/w/api.php?action=wbsearchentities&search=x")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); string(b) != "searched x" {
		t.Errorf("got %s", b)
	}
}

// TestManyAtOnce has many visitors post concurrently. No post may be lost. With -race, the test also looks for data
// races.
func TestManyAtOnce(t *testing.T) {
	w, h, _ := openForum(t)
	var wg sync.WaitGroup
	for i := range 8 {
		v := visit(t, h)
		form := v.get("/").Find("#new-request form")
		wg.Go(func() {
			v.submit(form, map[string]string{"name": "Eve", "heading": "h", "text": "post no. " + string(rune('a'+i))})
		})
	}
	wg.Wait()
	for i := range 8 {
		if !strings.Contains(w.Page(forumTitle).Text, "post no. "+string(rune('a'+i))) {
			t.Errorf("post %d is lost", i)
		}
	}
}
