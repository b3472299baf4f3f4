package opensearch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/index/opensearch/played"
)

func play(t *testing.T) (*played.Server, *httptest.Server) {
	p := played.New()
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return p, s
}

var entries = []lookup.Entry{
	{IRI: "q:einstein", Label: "Albert Einstein", Language: "en", Aliases: []string{"Einstein", "A. Einstein"},
		Infos: []string{"physicist"}, Score: 300, Uses: 300},
	{IRI: "q:einstein", Label: "Альберт Эйнштейн", Language: "ru", Score: 300, Uses: 300},
	{IRI: "q:albert", Label: "Albert", Score: 20, Uses: -1},
	{IRI: "q:prince", Label: "Prince Albert", Score: 900, Uses: 900},
	{IRI: "q:albertville", Label: "Albertville", Score: 80},
	{IRI: "q:eastman", Label: "Eastman", Score: 1000},
	{IRI: "q:college", Label: "Albert Einstein College of Medicine", Score: 40},
	{IRI: "q:duck", Label: "Duck Soup", Score: 3}, {IRI: "q:duckpainting", Label: "Duck", Score: 500, Noise: true},
	{IRI: "q:sao", Label: "São Tomé", Score: 10},
	{IRI: "p:imdb", Type: lookup.Property, Label: "IMDb ID", Score: 70, External: true},
	{IRI: "p:director", Type: lookup.Property, Label: "director", Aliases: []string{"directed by"}, Score: 400},
}

func rows(add func(lookup.Entry) error) error {
	for _, e := range entries {
		if err := add(e); err != nil {
			return err
		}
	}
	return nil
}

func client(t *testing.T, s *httptest.Server) *Client {
	t.Helper()
	c, err := New(s.URL, "labels", Login{}, s.Client().Transport)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAgreesWithMemory checks that the server finds the same hits as the in-memory index, in the same order and with
// the same kinds of matches.
func TestAgreesWithMemory(t *testing.T) {
	_, s := play(t)
	c, ctx := client(t, s), context.Background()
	if err := c.Create(ctx, "labels-1", rows); err != nil {
		t.Fatal(err)
	}
	m := lookup.NewMemory(entries)
	for _, q := range []lookup.Query{
		{Text: "Albert E"}, {Text: "albert"}, {Text: "EINSTEIN"}, {Text: "einstein albert"}, {Text: "sao tome"},
		{Text: "Albrt Einstein"}, {Text: "Eaastman"},
		{Text: "Эйнштейн", Language: "en"}, {Text: "duc"}, {Text: "duck"}, {Text: "duc",
			External: true}, {Text: "imdb"}, {Text: "imdb id"},
		{Text: "d", Type: lookup.Property}, {Text: "albert", Among: []string{"q:college", "q:albert"}}, {Text: "albert",
			Among: []string{}},
		{Text: "albert", Offset: 2, Limit: 2}, {Text: "albert",
			Limit: 1}, {Text: " "}, {Text: "xyzzy"}, {Text: "quick brown \" fox } of"},
	} {
		want, err := m.Search(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Search(ctx, q)
		if err != nil {
			t.Fatal(q, err)
		}
		if show(got) != show(want) {
			t.Errorf("%+v:\n got %s\nwant %s", q, show(got), show(want))
		}
	}
	if e, ok, err := c.Get(ctx, "q:einstein", "ru"); err != nil || !ok || e.Label != "Альберт Эйнштейн" {
		t.Errorf("got %+v, %v, %v", e, ok, err)
	}
	if e, ok, err := c.Get(ctx, "q:einstein", "fi"); err != nil || !ok || e.Label == "" {
		t.Errorf("got %+v, %v, %v", e, ok, err)
	}
	if _, ok, err := c.Get(ctx, "q:nobody", ""); ok || err != nil {
		t.Error(ok, err)
	}
}

func show(p lookup.Page) string {
	var out []string
	for _, h := range p.Hits {
		out = append(out, fmt.Sprintf("%s %q %q %s %v", h.IRI, h.Label, h.Name, h.Match, h.Uses))
	}
	return fmt.Sprint(strings.Join(out, "; "), " more ", p.More)
}

func TestRebuilt(t *testing.T) {
	p, s := play(t)
	c, ctx := client(t, s), context.Background()
	for i := range 2 {
		if err := c.Create(ctx, fmt.Sprintf("labels-%d", i), rows); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.Indices) != 1 || p.Alias["labels"] != "labels-1" {
		t.Errorf("indexes %d, alias %v", len(p.Indices), p.Alias)
	}
	wrong := errors.New("wrong line")
	if err := c.Create(ctx, "labels-2", func(func(lookup.Entry) error) error { return wrong }); !errors.Is(err, wrong) ||
		len(p.Indices) != 1 || p.Alias["labels"] != "labels-1" {
		t.Errorf("%v, %d indexes, alias %v", err, len(p.Indices), p.Alias)
	}
}

func TestFailures(t *testing.T) {
	p, s := play(t)
	c, ctx := client(t, s), context.Background()
	if _, err := c.Search(ctx, lookup.Query{Text: "a"}); err == nil || !strings.Contains(err.Error(),
		"status 404: no such index [labels]") {
		t.Errorf("no index: %v", err)
	}
	for _, q := range []lookup.Query{{Text: "a", Limit: -1}, {Text: "a", Limit: 2000}, {Text: "a", Among: make([]string,
		MaxAmong+1)}} {
		if _, err := c.Search(ctx, q); !errors.Is(err, lookup.ErrQuery) {
			t.Errorf("got %v", err)
		}
	}
	for name, b := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string
	}{
		"HTML": {func(w http.ResponseWriter) { fmt.Fprint(w, "<html>proxy</html>") },
			"is this the address of OpenSearch?"},
		"busy": {func(w http.ResponseWriter) { w.WriteHeader(429); fmt.Fprint(w, `{"error":"too many"}`) },
			"status 429: \"too many\""},
		"elsewhere": {func(w http.ResponseWriter) { w.Header().Set("Location", "http://example.org/"); w.WriteHeader(302) },
			"status 302"},
		"cut": {func(w http.ResponseWriter) { w.Header().Set("Content-Length", "99"); fmt.Fprint(w, "{") },
			"is incomplete"},
		"slow": {func(w http.ResponseWriter) { fmt.Fprint(w, `{"timed_out":true}`) }, "took too long"},
	} {
		p.Broken = func(w http.ResponseWriter, _ *http.Request) bool { b.answer(w); return true }
		if _, err := c.Search(ctx, lookup.Query{Text: "a"}); err == nil || !strings.Contains(err.Error(), b.want) {
			t.Errorf("%s: got %v, want %q", name, err, b.want)
		}
	}
	s.Close()
	if _, err := c.Search(ctx, lookup.Query{Text: "a"}); err == nil || !strings.Contains(err.Error(), "does not respond") {
		t.Errorf("closed: %v", err)
	}
	for _, a := range [][2]string{{"ftp://x", "a"}, {"http://u:p@x", "a"}, {"http://x", "A"}, {"http://x", ""},
		{"http://x?k=1", "a"}} {
		if _, err := New(a[0], a[1], Login{}, nil); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("New(%q, %q): %v", a[0], a[1], err)
		}
	}
}
