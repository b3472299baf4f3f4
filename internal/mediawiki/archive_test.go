package mediawiki

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

const parsoid = `<!DOCTYPE html>
<html prefix="dc: http://purl.org/dc/terms/" about="http://wiki.example/wiki/Special:Redirect/revision/41"><head></head><body>x</body></html>`

// openHandler opens a client without an account, for a wiki that f simulates.
func openHandler(t *testing.T, f http.HandlerFunc) (*Client, *politehttp.ManualClock, string) {
	t.Helper()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	clock := politehttp.NewManualClock(start)
	c, err := New(slog.New(slog.DiscardHandler), Config{API: srv.URL + "/w/api.php", Anonymous: true,
		UserAgent: "Test/1 (test@example.org)"}, nil, clock)
	if err != nil {
		t.Fatal(err)
	}
	return c, clock, srv.URL
}

func TestHTMLRetries(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []http.HandlerFunc
		waits   []time.Duration
		fails   string
		kind    Kind
	}{
		{"busy", []http.HandlerFunc{says(503, "", "Retry-After", "7"), says(502, ""), says(200, parsoid)},
			[]time.Duration{7 * time.Second, 10 * time.Second}, "", 0},
		{"missing", []http.HandlerFunc{says(404, `{"errorKey":"rest-nonexistent-title"}`)}, nil, "http-404", Refused},
		{"moved", []http.HandlerFunc{says(301, "", "Location", "/elsewhere")}, nil, "http-301", Blocked},
		{"another wiki's page", []http.HandlerFunc{says(200, "<html><body>Welcome</body></html>")}, nil,
			"does not name its revision", Refused},
		{"long pause", []http.HandlerFunc{says(503, "", "Retry-After", "3600")}, nil, "http-503", Transient},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths, n := []string{}, 0
			client, clock, _ := openHandler(t, func(w http.ResponseWriter, r *http.Request) {
				paths = append(paths, r.URL.EscapedPath())
				c.answers[min(n, len(c.answers)-1)](w, r)
				n++
			})
			out, err := client.HTML(context.Background(), "Wikidata:A b/2024/01")
			if c.fails == "" && (err != nil || out.RevID != 41 || string(out.HTML) != parsoid) {
				t.Errorf("%+v, %v", out, err)
			}
			var e *Error
			if c.fails != "" && (!errors.As(err, &e) || !strings.Contains(err.Error(), c.fails) || e.Kind != c.kind) {
				t.Errorf("got %v, want %s of kind %v", err, c.fails, c.kind)
			}
			if got := clock.Slept(); fmt.Sprint(got) != fmt.Sprint(c.waits) {
				t.Errorf("waits %v, want %v", got, c.waits)
			}
			if paths[0] != "/w/rest.php/v1/page/Wikidata:A_b%2F2024%2F01/html" {
				t.Errorf("asked for %s", paths[0])
			}
		})
	}
}

// A listing is read to the end, in order, without the pages that were deleted in the meantime. A namespace is
// recognized by any of its names.
func TestList(t *testing.T) {
	for _, prefix := range []string{"Wikidata:R/", "project:R/", "WD:R/"} {
		client, _, _ := openHandler(t, func(w http.ResponseWriter, r *http.Request) {
			f := r.URL.Query()
			switch {
			case f.Get("maxlag") == "" || f.Has("assert"):
				t.Errorf("a reader without an account asked %v", f)
			case f.Get("meta") == "siteinfo":
				says(200, `{"query":{"namespaces":{"0":{"id":0,"name":""},"4":{"id":4,"name":"Wikidata","canonical":"Project"}},"namespacealiases":[{"id":4,"alias":"WD"}]}}`)(w, r)
			case f.Get("list") == "allpages" && (f.Get("apnamespace") != "4" || f.Get("apprefix") != "R/"):
				t.Errorf("asked for %v", f)
			case f.Get("list") == "allpages" && f.Get("apcontinue") == "":
				says(200, `{"continue":{"apcontinue":"R/2","continue":"-||"},"query":{"allpages":[{"title":"Wikidata:R/1"}]}}`)(w,
					r)
			case f.Get("list") == "allpages":
				says(200, `{"query":{"allpages":[{"title":"Wikidata:R/2"},{"title":"Wikidata:R/3"}]}}`)(w, r)
			case f.Get("titles") == "Wikidata:R/1|Wikidata:R/2|Wikidata:R/3":
				says(200, `{"query":{"pages":[{"title":"Wikidata:R/3","lastrevid":9},{"title":"Wikidata:R/2","missing":true},{"title":"Wikidata:R/1","lastrevid":7}]}}`)(w, r)
			default:
				t.Errorf("asked for %v", f)
			}
		})
		got, err := client.List(context.Background(), prefix)
		if err != nil || fmt.Sprint(got) != "[{Wikidata:R/1 7} {Wikidata:R/3 9}]" {
			t.Errorf("%s: %v, %v", prefix, got, err)
		}
	}
}

// TestEndlessAnswersEnd checks that the client gives up if a wiki's responses continue forever or are never JSON.
func TestEndlessAnswersEnd(t *testing.T) {
	since := start.Add(-time.Hour)
	calls := map[string]func(*Client) error{
		"list":    func(c *Client) error { _, err := c.List(context.Background(), "Archive"); return err },
		"history": func(c *Client) error { _, err := c.History(context.Background(), "T", "", since); return err },
	}
	n := 0
	for name, tt := range map[string]struct {
		answer func() string
		most   int
		want   string
	}{
		"same token": {func() string { return `{"continue":{"continue":"-||","apcontinue":"A"},"query":{}}` }, 2,
			"the wiki repeats a part of its answer"},
		"two tokens": {func() string { return fmt.Sprintf(`{"continue":{"apcontinue":"%d"},"query":{}}`, n%2) }, 3,
			"the wiki repeats a part of its answer"},
		"new tokens": {func() string { return fmt.Sprintf(`{"continue":{"apcontinue":"%d"},"query":{}}`, n) }, maxParts,
			"more than 500 parts"},
		"web page": {func() string { return "<html>" }, maxGarbage,
			"3 consecutive responses are not JSON; check that WIKI_API"},
		"half": {func() string { return `{"query":{"pages":[` }, maxGarbage, "3 consecutive responses are not JSON"},
	} {
		for call, f := range calls {
			n = 0
			c, _, _ := openHandler(t, func(w http.ResponseWriter, _ *http.Request) {
				n++
				_, _ = w.Write([]byte(tt.answer()))
			})
			if err := f(c); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, %s: %v", name, call, err)
			}
			if n != tt.most {
				t.Errorf("%s, %s: %d requests, want %d", name, call, n, tt.most)
			}
		}
	}
}
