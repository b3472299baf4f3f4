package annotate_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/dataset"
	web "github.com/spinachbot/spinachbot/internal/web/annotate"
)

// On a server with logins, names come from the login: the page does not ask for a name and does not trust a cookie.
// Only the boss can assign candidates to annotators, and annotators see their own candidates first.
func TestAccounts(t *testing.T) {
	s := newSite(t)
	who := ""
	o := s.options
	o.Base, o.Notes = "/annotate", s.store
	o.Who = func(*http.Request) string { return who }
	o.Boss = func(*http.Request) bool { return who == "Olga" }
	page, err := web.New(o)
	if err != nil {
		t.Fatal(err)
	}
	send := func(as, method, path, body string) *httptest.ResponseRecorder {
		who = as
		r := httptest.NewRequest(method, "http://bot.example"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.AddCookie(&http.Cookie{Name: "annotator", Value: "Mallory"})
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		return w
	}
	if w := send("", "GET", "/annotate/", ""); w.Code != http.StatusUnauthorized {
		t.Errorf("nobody: %d", w.Code)
	}
	if w := send("Ada", "GET", "/annotate/name", ""); w.Code != http.StatusNotFound {
		t.Errorf("the page that asks for a name: %d", w.Code)
	}
	queue := send("Ada", "GET", "/annotate/", "").Body.String()
	if strings.Contains(queue, "Mallory") || !strings.Contains(queue, `<bdi class="who">Ada</bdi>`) {
		t.Error("the name does not come from the login")
	}
	_, queue, _ = strings.Cut(queue, "<main")
	queue, _, _ = strings.Cut(queue, "</main>")
	for _, part := range strings.Split(queue, `href="`)[1:] {
		if address, _, _ := strings.Cut(part, `"`); strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "/annotate/") {
			t.Errorf("a link leads out of the page: %s", address)
		}
	}
	s.decide("Ada", 1, dataset.Exclude, edit{"reason": "meaning"})
	s.decide("Ben", 2, dataset.Exclude, edit{"reason": "meaning"})
	give := url.Values{"who": {"Ada", "Ben"}, "overlap": {"1"}}.Encode()
	if w := send("Ada", "POST", "/annotate/work", give); w.Code != http.StatusForbidden {
		t.Errorf("Ada assigns candidates: %d", w.Code)
	}
	for _, bad := range []string{"who=Ada&overlap=0", "who=Ada&overlap=2", "who=Eve&overlap=1", "overlap=x"} {
		if w := send("Olga", "POST", "/annotate/work", bad); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", bad, w.Code)
		}
	}
	if w := send("Olga", "POST", "/annotate/work", give); w.Code != http.StatusSeeOther ||
		w.Header().Get("Location") != "/annotate/work" {
		t.Fatalf("Olga assigns candidates: %d %s", w.Code, w.Body)
	}
	all := strings.Count(send("Ada", "GET", "/annotate/?box=all", "").Body.String(), `class="row-link"`)
	mine := strings.Count(send("Ada", "GET", "/annotate/", "").Body.String(), `class="row-link"`)
	if want := all/2 - 1; mine != want { // half of all candidates, minus one that is already decided
		t.Errorf("Ada sees %d of %d first, want %d", mine, all, want)
	}
	if w := send("Ben", "GET", "/annotate/work", ""); !strings.Contains(w.Body.String(), `<th scope="row"><bdi>Ada</bdi></th>`) ||
		strings.Contains(w.Body.String(), "<form method=\"post\" action=\"/annotate/work\"") {
		t.Error("Ben sees the assignments")
	}
}
