package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/store"
)

const archived = `== Countries of Africa ==
Which countries are in Africa? [[User:Ann|Ann]] ([[User talk:Ann|talk]]) 10:00, 3 June 2019 (UTC)
:{{SPARQL|query=SELECT ?country ?countryLabel WHERE { ?country wdt:P31 wd:Q6256 ; wdt:P30 wd:Q15 . SERVICE wikibase:label { bd:serviceParam wikibase:language "[AUTO_LANGUAGE],en". } }}} [[User:Bob|Bob]] ([[User talk:Bob|talk]]) 11:00, 3 June 2019 (UTC)
::Thanks! [[User:Ann|Ann]] ([[User talk:Ann|talk]]) 12:00, 3 June 2019 (UTC)

== Nothing ==
Hello? [[User:Cid|Cid]] ([[User talk:Cid|talk]]) 10:00, 4 June 2019 (UTC)

== Short ==
Is there water? [[User:Cid|Cid]] ([[User talk:Cid|talk]]) 10:00, 5 June 2019 (UTC)
:See SHORTENER/abc. [[User:Bob|Bob]] ([[User talk:Bob|talk]]) 11:00, 5 June 2019 (UTC)
`

// harvestWorld starts a sandbox with an archive and a link shortener, and returns settings that refer to them.
func harvestWorld(t *testing.T) []string {
	t.Helper()
	short := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/abc" || r.Method != http.MethodGet {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Location", "https://query.wikidata.org/#ASK%20%7B%20wd%3AQ15%20wdt%3AP31%20wd%3AQ5107%20%7D")
		w.WriteHeader(http.StatusMovedPermanently)
	}))
	t.Cleanup(short.Close)
	ctx, cancel := context.WithCancel(context.Background())
	sb, err := openSandbox(ctx, quietLogger(), &env{now: time.Now}, sandboxOptions{addr: "127.0.0.1:0",
		title: "Wikidata:Request a query", timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- sb.serve(ctx) }()
	t.Cleanup(func() { cancel(); <-done; sb.close() })
	for month, text := range map[string]string{"2019/06": strings.ReplaceAll(archived, "SHORTENER", short.URL),
		"2020/01": "== Later ==\nNo query. [[User:Ann|Ann]] 10:00, 3 January 2020 (UTC)\n"} {
		if err := sb.wiki.Seed("Wikidata:Request a query/Archive/"+month, text, "Sandbox"); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"WIKI_API=" + sb.url + "/w/api.php", "SPARQL_ENDPOINT=" + sb.url + "/sparql", "SHORTLINK_HOSTS=" +
		strings.TrimPrefix(short.URL, "http://")}
}

func TestHarvestCommand(t *testing.T) {
	environ, dir := harvestWorld(t), filepath.Join(t.TempDir(), "out")
	out, errs, code := invoke(t, environ, "harvest", "--source", "wikitext", "--out", dir)
	if code != exitOK || !strings.Contains(errs, "1 of 2 pages") || !strings.Contains(errs,
		"2 queries run, 2 of them with rows") {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	want := strings.Join(strings.Fields(`year discussions with query may be run answered staged pending gone 2019 3 2 2 2 2 0 0 2020 1 0 0 0 0 0 0 all 4 2 2 2 2 0 0 rejected no query 2`), " ")
	if got := strings.Join(strings.Fields(out), " "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	cs, err := dataset.ReadCandidatesDir(dir)
	if err != nil || len(cs) != 2 {
		t.Fatalf("%d candidates, %v", len(cs), err)
	}
	c := cs[0]
	if c.Labels["Q15"] != "Africa" || c.Result.Rows < 40 || !c.Conversation.Thanked || !strings.Contains(c.Annotated,
		"[Africa]") || cs[1].Features[0] != "ask" {
		t.Errorf("%+v", c)
	}
	for _, name := range []string{dataset.RejectedFile, dataset.FunnelFile, dataset.FunnelPicture, dataset.HarvestDB} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	out, errs, code = invoke(t, environ, "harvest", "--source", "wikitext", "--out", dir, "--json")
	var f dataset.Funnel
	if err := json.Unmarshal([]byte(out), &f); err != nil || code != exitOK || f.Total.Staged != 2 ||
		!strings.Contains(errs, "0 queries run") {
		t.Errorf("exit %d %v\n%s\n%s", code, err, out, errs)
	}
	unlock, err := store.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, errs, code := invoke(t, environ, "harvest", "--out", dir); code != exitFailed || !strings.Contains(errs,
		"in use") {
		t.Errorf("a locked folder: exit %d %s", code, errs)
	}
	_ = unlock()
}

// The endpoint bans us. If a harvest is interrupted, what it has read is kept, and the exit status shows that it is not
// finished.
func TestHarvestEndpointDown(t *testing.T) {
	angry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "You have been banned until tomorrow", http.StatusForbidden)
	}))
	defer angry.Close()
	environ, dir := harvestWorld(t), t.TempDir()
	down := append(environ[:2:2], "SPARQL_ENDPOINT="+angry.URL+"/sparql", environ[2])
	out, errs, code := invoke(t, down, "harvest", "--source", "wikitext", "--out", dir)
	if code != exitService || !strings.Contains(errs, "run harvest again") || !strings.Contains(out, "all") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	if out, errs, code = invoke(t, environ, "harvest", "--source", "wikitext", "--out", dir, "--json"); code != exitOK ||
		!strings.Contains(out, `"staged":2`) {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
}

// A usage error does not create a folder.
func TestHarvestMisuse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{{"--from", "2021-02", "--to", "2020-12"}, {"--from", "2021-13"}, {"--source", "pdf"},
		{"--benchmark", filepath.Join(dir, "none.json")}, {"more"}} {
		if _, errs, code := invoke(t, nil, append([]string{"harvest", "--out", dir}, args...)...); code != exitUsage {
			t.Errorf("%q: exit %d %s", args, code, errs)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder: %v", err)
	}
}

// If everything runs on one machine, CONTACT need not be set. In that case, external shorteners are not called, and
// their links are left for a later harvest.
func TestHarvestWithoutContact(t *testing.T) {
	environ, dir := harvestWorld(t), t.TempDir()
	environ[2] += ",w.wiki"
	out, errs, code := invoke(t, environ, "harvest", "--source", "wikitext", "--out", dir, "--json")
	if code != exitOK || !strings.Contains(out, `"staged":2`) {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	for setting, want := range map[string]string{"": "CONTACT", "CONTACT=ann@example.org": "w.wiki"} {
		cfg, _, err := config.Load(config.Source{Environ: append(environ[:2:2], "SHORTLINK_HOSTS=w.wiki", setting)})
		if err != nil {
			t.Fatal(err)
		}
		s, err := newShortLinks(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // no request may leave this machine
		if _, err := s.Target(ctx, "https://w.wiki/abc"); err == nil || errors.Is(err, harvest.ErrNoTarget) ||
			want == "CONTACT" != strings.Contains(err.Error(), "CONTACT") {
			t.Errorf("%q: %v", setting, err)
		}
	}
	away := append(environ[:1:1], "SPARQL_ENDPOINT=https://query.example.org/sparql", environ[2])
	if _, errs, code := invoke(t, away, "harvest", "--out", dir); code != exitFailed || !strings.Contains(errs,
		"CONTACT") {
		t.Errorf("an endpoint elsewhere: exit %d %s", code, errs)
	}
}

func TestEndpointKinds(t *testing.T) {
	for address, want := range map[string]string{
		"https://query.wikidata.org/sparql": " false", "http://127.0.0.1:9/sparql": " false",
		"https://qlever.dev/api/wikidata": "qlever true", "http://127.0.0.1:9/qlever": "qlever true",
		"https://wikidata.example.org/sparql": "standard true", "https://evilwikidata.org/sparql": "standard true",
	} {
		e := endpoint(address, nil)
		if got := string(e.Dialect) + " " + map[bool]string{true: "true", false: "false"}[e.Full]; got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestShortLinkTargets(t *testing.T) {
	followed := false
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/to":
			http.Redirect(w, r, "/next", http.StatusFound)
		case "/next":
			followed = true
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/odd":
			w.Header().Set("Location", "http://[::1")
			w.WriteHeader(http.StatusFound)
		case "/empty":
			w.WriteHeader(http.StatusFound)
		}
	}))
	defer srv.Close()
	cfg, _, err := config.Load(config.Source{Environ: []string{"SHORTLINK_HOSTS=" + strings.TrimPrefix(srv.URL,
		"http://")}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newShortLinks(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/to": srv.URL + "/next", "/page": "none", "/empty": "none", "/odd": "none",
		"/busy": "later"} {
		got, err := s.Target(t.Context(), srv.URL+path)
		switch {
		case err == nil:
		case strings.Contains(err.Error(), harvest.ErrNoTarget.Error()):
			got = "none"
		default:
			got = "later"
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", path, got, err, want)
		}
	}
	if followed {
		t.Error("a redirect was followed")
	}
	if _, err := s.Target(t.Context(), "http://127.0.0.1:1/x"); err == nil {
		t.Error("a host that the settings do not name was called")
	}
}
