package adapter

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
)

// Pages that the wiki has hidden or deleted are treated as removed. Pages that the wiki cannot render are read as
// wikitext. Any other failure ends the harvest.
func TestArchiveErrors(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]string{
			"Hidden":  `{"query":{"pages":[{"title":"Hidden","revisions":[{"revid":3,"slots":{"main":{"contentmodel":"wikitext","texthidden":true}}}]}]}}`,
			"Missing": `{"query":{"pages":[{"title":"Missing","missing":true}]}}`,
			"JSON":    `{"query":{"pages":[{"title":"JSON","revisions":[{"revid":3,"slots":{"main":{"contentmodel":"json","content":"{}"}}}]}]}}`,
			"Odd":     `{"query":{"pages":[]}}`,
			"Good":    `{"query":{"pages":[{"title":"Good","revisions":[{"revid":3,"slots":{"main":{"contentmodel":"wikitext","content":"text"}}}]}]}}`,
		}
		const head = `<!DOCTYPE html><html about="http://x/wiki/Special:Redirect/revision/3">`
		switch r.URL.Path {
		case "/w/api.php":
			_, _ = w.Write([]byte(answers[r.FormValue("titles")]))
		case "/w/rest.php/v1/page/Good/html":
			_, _ = w.Write([]byte(head + `<body><section data-mw-section-id="0"></section></body></html>`))
		case "/w/rest.php/v1/page/Plain/html":
			_, _ = w.Write([]byte(head + `<body></body></html>`))
		case "/w/rest.php/v1/page/Busy/html":
			http.Error(w, "later", http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	c, err := mediawiki.New(slog.New(slog.DiscardHandler),
		mediawiki.Config{API: srv.URL + "/w/api.php", UserAgent: "Test/1 (a@b.example)", Anonymous: true, Attempts: 1},
		nil, testClock{})
	if err != nil {
		t.Fatal(err)
	}
	a := Archive{c}
	for title, want := range map[string]error{"Hidden": harvest.ErrNoPage, "Missing": harvest.ErrNoPage,
		"JSON": harvest.ErrNoPage, "Good": nil} {
		if _, err := a.Wikitext(t.Context(), title); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", title, err, want)
		}
	}
	if _, err := a.Wikitext(t.Context(), "Odd"); err == nil || errors.Is(err, harvest.ErrNoPage) {
		t.Errorf("an answer without a page: %v", err)
	}
	for title, want := range map[string]error{"Good": nil, "Plain": harvest.ErrNoHTML, "Missing": harvest.ErrNoHTML,
		"Busy": harvest.ErrNoHTMLNow} {
		if x, err := a.HTML(t.Context(), title); !errors.Is(err, want) ||
			errors.Is(err, harvest.ErrNoHTMLNow) != (title == "Busy") || err == nil && x.Revision != 3 {
			t.Errorf("%s: %+v, %v, want %v", title, x, err, want)
		}
	}
}

// testClock never waits.
type testClock struct{}

func (testClock) Now() time.Time                                   { return time.Now() }
func (testClock) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// A candidate that exceeds the per-question limit does not stop the suggestions for the others, but an exhausted daily
// budget does.
func TestAdviceOverALimit(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":"{}"}}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`))
	}))
	defer srv.Close()
	cfg := llm.Config{BaseURL: srv.URL, Model: "m", InputUSDPerMTok: 1, OutputUSDPerMTok: 1}
	long := strings.Repeat("x", 1_000_000)
	for _, c := range []struct {
		daily, request float64
		ends           bool
	}{{0, 0.1, false}, {0.1, 0, true}, {0.1, 100, true}} {
		model, err := llm.NewClient(slog.New(slog.DiscardHandler), cfg, http.DefaultTransport, testClock{}, nil,
			llm.NewBudget(llm.NewMemoryDays(), time.Now, llm.Limits{USD: c.daily}))
		if err != nil {
			t.Fatal(err)
		}
		ask := Advise(model, c.request)
		if _, err := ask(t.Context(), "s", long); !errors.Is(err, llm.ErrBudget) ||
			errors.Is(err, harvest.ErrNoAdvice) != c.ends {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := ask(t.Context(), "s", "short"); err != nil {
			t.Errorf("%+v, a short one: %v", c, err)
		}
	}
}
