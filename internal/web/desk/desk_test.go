package desk_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/web/desk"
	"github.com/spinachbot/spinachbot/internal/web/guard"
	"github.com/spinachbot/spinachbot/internal/web/layout"
	"github.com/spinachbot/spinachbot/internal/web/login"
)

// office is a desk with a real ledger and no logins: requests come from the same machine.
type office struct {
	t      *testing.T
	store  *store.Store
	clock  time.Time
	render func(title, text string) (string, error)
	asked  []string // wikitext sent to the wiki for rendering
	http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	o := &office{t: t, store: st, clock: time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC),
		render: func(_, text string) (string, error) { return "<p>" + text + "</p>", nil }}
	lg, now := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})), func() time.Time { return o.clock }
	site := layout.New(lg)
	door, err := login.New(login.Options{Log: lg, Site: site, Notes: st, Name: "Olga", Local: true, Now: now,
		Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	d := desk.New(desk.Options{Log: lg, Site: site, Door: door, Store: st, Now: now, Limits: desk.Limits{DayUSD: 5, RepliesPerHour: 6},
		Runs: func() map[string]string { return map[string]string{"sb-seen": "/runs/question/sb-seen-1"} },
		Spent: func(_ context.Context, day string) (desk.Spending, error) {
			return desk.Spending{Calls: 12, USD: map[string]float64{"2026-11-22": 1.25}[day]}, nil
		},
		Wikis: map[string]desk.Wiki{
			"": {Page: "Forum", API: "https://wiki.example/w/api.php",
				Render: func(_ context.Context, title, text string) (string, error) {
					o.asked = append(o.asked, text)
					return o.render(title, text)
				}},
			"other": {Page: "Agora", API: "https://other.example/w/api.php", Account: "Otherbot",
				Render: func(_ context.Context, title, text string) (string, error) {
					return "<p>" + title + " on the other wiki: " + text + "</p>", nil
				}}}})
	o.Handler = guard.Guard(d.Handler(), guard.Options{Log: lg})
	return o
}

// proposed adds a reply that is waiting for approval.
func (o *office) proposed(key, heading, short string) {
	o.t.Helper()
	reply := forum.Reply{Language: "en", To: "Alice", Short: short, Marker: key, Signature: "~~~~"}
	text, err := forum.Compose(reply, ":")
	if err != nil {
		o.t.Fatal(err)
	}
	e := &bot.Entry{Key: key, Page: "Forum", Heading: heading, Author: "Alice", Kind: bot.Request, State: bot.Proposed,
		Question: "Which cats are there?", Created: o.clock, Updated: o.clock, Reason: "waits for approval",
		Draft: &bot.Draft{Reply: reply, Wikitext: text, Diff: "@@ -1,1 +1,2 @@\n a <b>line</b>\n+" + text + "\n",
			Revision: 7, Confidence: 0.875, Calls: 3, USD: 0.0123, Made: o.clock, Turn: agent.Turn{}}}
	if ok, err := o.store.Add(o.t.Context(), e); err != nil || !ok {
		o.t.Fatal(ok, err)
	}
}

func (o *office) entry(key string) *bot.Entry {
	o.t.Helper()
	e, err := o.store.Entry(o.t.Context(), key)
	if err != nil {
		o.t.Fatal(err)
	}
	return e
}

func (o *office) send(method, path string, form url.Values) (*http.Response, string) {
	o.t.Helper()
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(form.Encode()))
	r.RemoteAddr = "127.0.0.1:40000"
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	o.ServeHTTP(w, r)
	body, _ := io.ReadAll(w.Result().Body)
	return w.Result(), string(body)
}

func (o *office) get(path string) string {
	o.t.Helper()
	r, body := o.send(http.MethodGet, path, nil)
	if r.StatusCode != http.StatusOK {
		o.t.Errorf("%s: %s %.300s", path, r.Status, body)
	}
	return body
}

// post sends a form and checks the status.
func (o *office) post(path string, form url.Values, status int) string {
	o.t.Helper()
	r, body := o.send(http.MethodPost, path, form)
	if r.StatusCode != status {
		_, content, _ := strings.Cut(body, "<main")
		o.t.Errorf("%s %.200s: %s, want %d: %.400s", path, form.Encode(), r.Status, status, content)
	}
	return body
}

const (
	cats = "sb-00000000000000c1"
	dogs = "sb-00000000000000d1"
)

func TestDecideOnOne(t *testing.T) {
	o := newOffice(t)
	o.proposed(cats, "Cats", "There are two.")
	page := o.get("/operator/entry/" + cats)
	for _, want := range []string{"Which cats are there?", "88%", "$0.0123", "https://wiki.example/wiki/Forum#Cats",
		"a &lt;b&gt;line&lt;/b&gt;", `class="add"`, "against revision 7"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %s", want)
		}
	}
	shown := o.entry(cats).Draft.Name()
	o.clock = o.clock.Add(time.Minute)
	o.post("/operator/entry/"+cats, url.Values{"do": {"edit"}, "shown": {shown}, "text": {"There are [[three]]."}}, 303)
	e := o.entry(cats)
	if e.State != bot.Proposed || e.Draft.EditedBy != "Olga" || e.Draft.Reply.Short != "There are [[three]]." {
		t.Fatalf("after the edit: %s %+v", e.State, e.Draft)
	}
	// A draft that was shown before the edit is not approved, and the typed text is not lost.
	body := o.post("/operator/entry/"+cats, url.Values{"do": {"approve"}, "shown": {shown}}, 409)
	if !strings.Contains(body, "has changed since it was shown") || o.entry(cats).State != bot.Proposed {
		t.Errorf("an old draft: %s", o.entry(cats).State)
	}
	body = o.post("/operator/entry/"+cats, url.Values{"do": {"edit"}, "shown": {shown}, "text": {"My long work"}}, 409)
	if !strings.Contains(body, "My long work") {
		t.Error("the typed text is lost")
	}
	o.post("/operator/entry/"+cats, url.Values{"do": {"approve"}, "shown": {""}}, 409)
	o.post("/operator/entry/"+cats, url.Values{"do": {"approve"}, "shown": {o.entry(cats).Draft.Name()}}, 303)
	if e = o.entry(cats); e.State != bot.Approved || e.ApprovedBy != "Olga" {
		t.Errorf("approved: %s by %s", e.State, e.ApprovedBy)
	}
	o.post("/operator/entry/"+cats, url.Values{"do": {"reject"}, "why": {" too\nmany "}}, 303)
	if e = o.entry(cats); e.State != bot.Rejected || e.Reason != "too many (Olga)" {
		t.Errorf("rejected: %s: %s", e.State, e.Reason)
	}
	o.post("/operator/entry/"+cats, url.Values{"do": {"retry"}}, 303)
	if e = o.entry(cats); e.State != bot.Noticed {
		t.Errorf("retried: %s", e.State)
	}
	page = o.get("/operator/entry/" + cats)
	for _, want := range []string{"edited by Olga", "approved by Olga", "too many (Olga)", "asked to try again"} {
		if !strings.Contains(page, want) {
			t.Errorf("the history does not mention %q", want)
		}
	}
}

// A reply held back by the checks is shown with the reason, both in the list of waiting replies and on its own page.
func TestHeldReplySaysWhy(t *testing.T) {
	o := newOffice(t)
	o.proposed(cats, "Cats", "It is Felix.")
	e := o.entry(cats)
	e.Reason = `held for the operator: the name "Felix" is neither in the result nor in the query`
	if err := o.store.Update(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/operator", "/operator/entry/" + cats} {
		if page := o.get(path); !strings.Contains(page, "held for the operator: the name &#34;Felix&#34; is neither in") {
			t.Errorf("%s does not say why the reply is held back:\n%s", path, page)
		}
	}
}

func TestDecideOnSeveral(t *testing.T) {
	o := newOffice(t)
	o.proposed(cats, "Cats", "Two.")
	o.proposed(dogs, "Dogs", "Three.")
	value := func(key string) string { return key + " " + o.entry(key).Draft.Name() }
	o.post("/operator/decide", url.Values{"do": {"approve"}}, 422)
	o.post("/operator/decide", url.Values{"do": {"explode"}, "entry": {value(cats)}}, 400)
	// If one of two replies has changed in the meantime, only the other is approved, and the page shows which one was
	// not.
	old := value(dogs)
	o.post("/operator/entry/"+dogs, url.Values{"do": {"edit"}, "shown": {o.entry(dogs).Draft.Name()}, "text": {"Four."}}, 303)
	body := o.post("/operator/decide", url.Values{"do": {"approve"}, "entry": {value(cats), old}}, 409)
	if o.entry(cats).State != bot.Approved || o.entry(dogs).State != bot.Proposed || !strings.Contains(body, dogs+"</a>:") {
		t.Errorf("%s, %s: %s", o.entry(cats).State, o.entry(dogs).State, body)
	}
	o.post("/operator/decide", url.Values{"do": {"reject"}, "why": {"no"}, "entry": {value(cats), value(dogs)}}, 303)
	if o.entry(cats).State != bot.Rejected || o.entry(dogs).State != bot.Rejected {
		t.Error("the two are not both rejected")
	}
	o.post("/operator/decide", url.Values{"do": {"retry"}, "entry": {cats, dogs, "sb-nothing"}}, 409)
	if o.entry(cats).State != bot.Noticed || o.entry(dogs).State != bot.Noticed {
		t.Error("the two are not both retried")
	}
	if !strings.Contains(o.get("/operator"), "No reply waits") {
		t.Error("the empty desk does not say so")
	}
}

func TestStopAndResume(t *testing.T) {
	o := newOffice(t)
	o.post("/operator/stop", url.Values{"why": {"strange <b>replies</b>"}}, 303)
	h, err := bot.Halted(t.Context(), o.store)
	if err != nil || h == nil || h.By != "Olga" || !h.At.Equal(o.clock) {
		t.Fatalf("%+v %v", h, err)
	}
	if page := o.get("/operator"); !strings.Contains(page, "The bot is stopped") ||
		!strings.Contains(page, "strange &lt;b&gt;replies&lt;/b&gt;") {
		t.Error("the page does not say that the bot is stopped, and why")
	}
	o.post("/operator/resume", nil, 303)
	if h, err := bot.Halted(t.Context(), o.store); h != nil || err != nil {
		t.Errorf("after resuming: %+v %v", h, err)
	}
}

// The wiki's rendering is shown in a frame with no permissions, and only its plain structure remains.
func TestPreview(t *testing.T) {
	o := newOffice(t)
	o.proposed(cats, "Cats", "Two.")
	o.render = func(_, _ string) (string, error) {
		return `<div class="mw-parser-output" id="x" style="position:fixed" onclick="alert(1)"><p>Two <b>cats</b>
<a href="javascript:alert(1)" class="external">here</a><img src="https://evil.example/pixel"><svg onload=alert(1)></svg>
<script>alert(1)</script><style>body{background:url(//evil.example)}</style><form action="//evil.example"><input name=token></form>
<iframe src="//evil.example"></iframe><base href="//evil.example"><meta http-equiv="refresh" content="0;url=//evil.example">
<table class="wikitable"><tr><td colspan="2">7</td></tr></table></div>`, nil
	}
	r, body := o.send("GET", "/operator/preview/"+cats, nil)
	_, content, _ := strings.Cut(body, "<body>")
	for _, bad := range []string{"alert", "evil.example", "onclick", "style=", "id=", "href", "<img", "<svg", "<form", "<input",
		"<iframe", "<base", "<meta", "<script"} {
		if strings.Contains(content, bad) {
			t.Errorf("the preview contains %s: %s", bad, content)
		}
	}
	for _, good := range []string{"Two <b>cats</b>", `class="external"`, `<table class="wikitable">`, `<td colspan="2">7</td>`} {
		if !strings.Contains(content, good) {
			t.Errorf("the preview lacks %s: %s", good, content)
		}
	}
	policy := r.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "sandbox; default-src 'none';") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy: %s", policy)
	}
	if !strings.Contains(o.asked[0], "[[User:SpinachBot|SpinachBot]] 20:00, 22 November 2026 (UTC)") ||
		strings.Contains(o.asked[0], "~~~~") {
		t.Errorf("the wiki was asked for %q", o.asked[0])
	}
	o.get("/operator/preview/" + cats)
	if len(o.asked) != 1 {
		t.Errorf("the wiki was asked %d times for one draft", len(o.asked))
	}
	o.proposed(dogs, "Dogs", "Three.")
	o.render = func(string, string) (string, error) { return "", errors.New("down at /secret") }
	if r, body := o.send("GET", "/operator/preview/"+dogs, nil); r.StatusCode != http.StatusBadGateway ||
		!strings.Contains(body, "could not be asked") || strings.Contains(body, "secret") {
		t.Errorf("without a wiki: %s %s", r.Status, body)
	}
}

// Text from strangers remains plain text on every page.
func TestHostileTexts(t *testing.T) {
	o := newOffice(t)
	const evil = `<script>alert(1)</script>"><img src=x onerror=alert(1)> javascript:alert(1) ` + "\u202eevil\x00"
	o.proposed(cats, evil, evil)
	e := o.entry(cats)
	e.Author, e.Question, e.Reason = evil, evil, evil
	e.Receptions = []bot.Reception{{Verdict: bot.Refused, By: evil, At: o.clock}}
	e.Solution = &bot.Solution{By: evil, SPARQL: evil, At: o.clock}
	e.Draft.Diff, e.Draft.EditedBy, e.Draft.Drafted = "+"+evil, evil, evil
	if err := o.store.Update(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/operator", "/operator/requests", "/operator/requests?state=proposed&q=" + url.QueryEscape(evil),
		"/operator/entry/" + cats, "/operator/changes", "/operator/accounts"} {
		page := o.get(path)
		if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img src=x") || strings.Contains(page, "\u202e") ||
			strings.Contains(page, `href="javascript:`) {
			t.Errorf("%s: a text became markup or changed direction", path)
		}
	}
}

func TestRequestsAndChanges(t *testing.T) {
	o := newOffice(t)
	o.proposed(cats, "Cats", "Two.")
	o.clock = o.clock.Add(-72 * time.Hour)
	o.proposed(dogs, "Dogs", "Three.")
	o.clock = o.clock.Add(72 * time.Hour)
	for path, want := range map[string]string{"": "Cats Dogs", "?q=DOG": "Dogs", "?state=proposed&q=CATS+are": "Cats Dogs",
		"?state=posted": "", "?q=nothing+of+this": ""} {
		page := o.get("/operator/requests" + path)
		var got []string
		for _, h := range []string{"Cats", "Dogs"} {
			if strings.Contains(page, "<strong>"+h+"</strong>") {
				got = append(got, h)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s shows %v, want %s", path, got, want)
		}
	}
	if page := o.get("/operator/changes"); !strings.Contains(page, ">Cats</a>") || strings.Contains(page, ">Dogs</a>") {
		t.Error("changes since yesterday")
	}
	if page := o.get("/operator/changes?days=7"); !strings.Contains(page, ">Dogs</a>") || !strings.Contains(page, "1.25<") {
		t.Error("changes of a week")
	}
}

func TestAccountsPage(t *testing.T) {
	o := newOffice(t)
	page := o.post("/operator/accounts", url.Values{"do": {"add"}, "name": {"Ada"}}, 200)
	_, rest, _ := strings.Cut(page, `<code class="token">`)
	token, _, _ := strings.Cut(rest, "<")
	if len(token) != 32 {
		t.Fatalf("the token is %q", token)
	}
	if strings.Contains(o.get("/operator/accounts"), token) {
		t.Error("the token was shown again")
	}
	o.post("/operator/accounts", url.Values{"do": {"add"}, "name": {"ada"}}, 422)
	o.post("/operator/accounts", url.Values{"do": {"add"}, "name": {"<b>"}}, 409)
	o.post("/operator/accounts", url.Values{"do": {"nothing"}, "name": {"Ada"}}, 400)
	o.post("/operator/accounts", url.Values{"do": {"remove"}, "name": {"Ada"}}, 200)
	o.post("/operator/accounts", url.Values{"do": {"remove"}, "name": {"Ada"}}, 404)
}

func TestBadRequests(t *testing.T) {
	o := newOffice(t)
	o.proposed(cats, "Cats", "Two.")
	for path, status := range map[string]int{"/operator/entry/sb-zz": 404, "/operator/preview/sb-zz": 404,
		"/operator/entry/..%2f..%2fetc": 404, "/operator/nothing": 404, "/operator/decide": 405} {
		if r, _ := o.send("GET", path, nil); r.StatusCode != status {
			t.Errorf("GET %s: %s, want %d", path, r.Status, status)
		}
	}
	o.post("/operator/entry/"+cats, url.Values{"do": {"edit"}, "text": {strings.Repeat("x", 300<<10)}}, 413)
	o.post("/operator/entry/sb-zz", url.Values{"do": {"approve"}, "shown": {"x"}}, 404)
	r := httptest.NewRequest("POST", "http://127.0.0.1/operator/stop", strings.NewReader("why=x"))
	r.RemoteAddr = "127.0.0.1:40000"
	r.Header.Set("Origin", "https://evil.example")
	w := httptest.NewRecorder()
	o.ServeHTTP(w, r)
	if h, _ := bot.Halted(t.Context(), o.store); w.Code != http.StatusForbidden || h != nil {
		t.Errorf("a form from another site: %d, %+v", w.Code, h)
	}
}

// A request on another wiki is linked and previewed there. The page for a request shows if its wiki is no longer in the
// settings.
func TestOtherWikis(t *testing.T) {
	o := newOffice(t)
	for key, page := range map[string]string{cats: bot.PageName("other", "Agora"), dogs: bot.PageName("gone", "Forum")} {
		o.proposed(key, "Cats", "Two.")
		e := o.entry(key)
		e.Page = page
		if err := o.store.Update(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if page := o.get("/operator/entry/" + cats); !strings.Contains(page, `href="https://other.example/wiki/Agora#Cats"`) {
		t.Error("the thread is not linked on its own wiki")
	}
	if page := o.get("/operator/preview/" + cats); !strings.Contains(page, "Agora on the other wiki") ||
		!strings.Contains(page, "User:Otherbot") {
		t.Errorf("the preview is not of its own wiki: %s", page)
	}
	if r, body := o.send("GET", "/operator/preview/"+dogs, nil); r.StatusCode != http.StatusBadGateway {
		t.Errorf("a wiki that is no longer in the settings: %s %s", r.Status, body)
	}
	o.get("/operator")
}

// Wherever a request with a run is shown, there is a link to its steps; a request without a run has no link.
func TestRunsAreLinked(t *testing.T) {
	o := newOffice(t)
	o.proposed("sb-seen", "Cats", "Two cats.")
	o.proposed("sb-other", "Dogs", "No dogs.")
	for _, path := range []string{"/operator", "/operator/requests", "/operator/entry/sb-seen"} {
		if n := strings.Count(o.get(path), `href="/runs/question/sb-seen-1"`); n != 1 {
			t.Errorf("%s: %d links to the run", path, n)
		}
	}
	if strings.Contains(o.get("/operator/entry/sb-other"), `href="/runs/`) {
		t.Error("a link to a run that does not exist")
	}
}
