package sandbox

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestActivity(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	a := NewActivity("SpinachBot", func() time.Time { return now })
	h := a.Watch(http.NotFoundHandler())
	get := func(path, agent string) string {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("User-Agent", agent)
		h.ServeHTTP(httptest.NewRecorder(), r)
		return a.Status()
	}
	for _, c := range []struct{ path, agent, want string }{
		{"/sparql", "Mozilla/5.0", ""}, {"/w/api.php?action=query", "SpinachBot/1", ""}, {"/sparql", "SpinachBot/1",
			"The bot runs a query"},
		{"/wiki/x", "Mozilla/5.0", "The bot runs a query"}, {"/v1/chat/completions", "SpinachBot/1",
			"The bot asks the model"},
		{"/w/api.php?action=wbsearchentities", "SpinachBot/1", "The bot looks up items"},
	} {
		if got := get(c.path, c.agent); got != c.want {
			t.Errorf("%s by %s: %q, want %q", c.path, c.agent, got, c.want)
		}
	}
	now = now.Add(time.Minute)
	if got := a.Status(); got != "" {
		t.Errorf("a minute later: %q", got)
	}
}
