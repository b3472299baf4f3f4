package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/metrics"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	"github.com/spinachbot/spinachbot/internal/sandbox/wiki"
	"github.com/spinachbot/spinachbot/internal/store"
)

// soaking is a soak test. The bot runs in this process; the wiki, graph, and model run in a second process, so that
// their memory is not measured.
type soaking struct {
	t      *testing.T
	url    string
	dir    string
	client *http.Client
	token  string
	asked  int
	ahead  atomic.Int64 // nanoseconds by which the bot's and the wiki's clocks are ahead of the system clock
}

// tick is the time that passes per round, as with the usual WATCH_SCHEDULE.
const tick = 10 * time.Minute

// TestSoak runs many rounds with the bot's real parts and measures resource usage after each quarter of the run.
// Memory, goroutines, and file descriptors must not grow, and disk usage per request must stay constant. SOAK is the
// number of rounds; every fourth round has a request. The bot's and the wiki's clocks advance by ten minutes per round,
// so 20,000 rounds are 139 days.
func TestSoak(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("SOAK"))
	if rounds == 0 {
		t.Skip("takes a long time: run make soak, or set SOAK=200")
	}
	s := &soaking{t: t, dir: t.TempDir()}
	s.open()
	cfg, _, err := config.Load(config.Source{Environ: []string{"DATA_DIR=" + filepath.Join(s.dir, "data"), "WIKI_API=" + s.url + "/w/api.php",
		"WIKI_USER=" + sandboxLogin, "WIKI_PASSWORD=" + soakPassword, "SPARQL_ENDPOINT=" + s.url + "/sparql", "OPENAI_BASE_URL=" + s.url + "/v1",
		"OPENAI_MODEL=scripted", "OPERATOR=" + sandboxOperator, "CONTACT=op@example.org", "POSTING=on", "ANSWER_DELAY=0s",
		"REPLIES_PER_HOUR=1000000", "REPLIES_PER_DAY=0", "REQUESTS_PER_USER=0", "THREAD_COOLDOWN=0s"}})
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := store.Lock(cfg.DataDir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unlock() }()
	st, err := openLedger(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	e := &env{now: s.now}
	b, err := wireBot(t.Context(), quietLogger(), cfg, st, e, modelSettings(cfg), policy(cfg, false, time.Second), metrics.New("soak", e.now))
	if err != nil {
		t.Fatal(err)
	}
	round := func() {
		if _, err := b.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	round()
	var rows []soaked
	t.Logf("%7s %8s %9s %7s %10s %5s %12s %9s %9s", "rounds", "answered", "heap KiB", "RSS KiB", "goroutines", "files",
		"ledger bytes", "per req.", "seconds")
	began := time.Now()
	for n := 1; n <= rounds; n++ {
		s.later()
		if n%4 == 0 {
			s.ask()
		}
		round()
		if n%(rounds/4) == 0 {
			rows = append(rows, s.look(st, n, len(rows), rows, time.Since(began)))
			began = time.Now()
		}
	}
	if last := rows[len(rows)-1]; last.answered != s.asked {
		t.Errorf("%d of %d requests are answered", last.answered, s.asked)
	}
	flat(t, rows)
}

// soaked is a measurement taken after a quarter of the run.
type soaked struct {
	answered, heap, rss, goroutines, files int
	disk, perRequest                       int64
}

// flat compares the last quarter with the second, because caches fill during the first.
func flat(t *testing.T, rows []soaked) {
	t.Helper()
	second, last := rows[1], rows[len(rows)-1]
	for what, v := range map[string][2]float64{"heap": {float64(second.heap), float64(last.heap)},
		"resident memory":    {float64(second.rss), float64(last.rss)},
		"goroutines":         {float64(second.goroutines), float64(last.goroutines)},
		"file descriptors":   {float64(second.files), float64(last.files)},
		"ledger per request": {float64(second.perRequest), float64(last.perRequest)},
	} {
		if v[1] > 1.25*v[0]+4 {
			t.Errorf("%s grows: %.0f after the second quarter, %.0f at the end", what, v[0], v[1])
		}
	}
}

// look takes the measurements. The heap is measured after a garbage collection.
func (s *soaking) look(st *store.Store, n, quarter int, before []soaked, took time.Duration) soaked {
	s.t.Helper()
	s.client.CloseIdleConnections()
	debug.FreeOSMemory() // otherwise, memory used for the previous measurement would be included in the resident memory
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r := soaked{heap: int(m.HeapAlloc >> 10), goroutines: runtime.NumGoroutine(), rss: resident()}
	posted, err := st.Entries(s.t.Context(), bot.Filter{States: []bot.State{bot.Posted}})
	if err != nil {
		s.t.Fatal(err)
	}
	r.answered = len(posted)
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		r.files = len(files)
	}
	err = filepath.WalkDir(filepath.Join(s.dir, "data"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ledgerFile) {
			info, ierr := d.Info()
			if ierr != nil {
				return ierr
			}
			r.disk += info.Size()
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	old := soaked{}
	if quarter > 0 {
		old = before[quarter-1]
	}
	if d := r.answered - old.answered; d > 0 {
		r.perRequest = (r.disk - old.disk) / int64(d)
	}
	s.t.Logf("%7d %8d %9d %7d %10d %5d %12d %9d %9.0f", n, r.answered, r.heap, r.rss, r.goroutines, r.files, r.disk, r.perRequest,
		took.Seconds())
	return r
}

var rssLine = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// resident returns this process's memory in KiB, or 0 if the system does not report it.
func resident() int {
	data, err := os.ReadFile("/proc/self/status")
	if m := rssLine.FindSubmatch(data); err == nil && m != nil {
		n, _ := strconv.Atoi(string(m[1]))
		return n
	}
	return 0
}

const soakPassword = "a password of the soak run"

// TestSoakServer is not a test. It is TestSoak's second process, which runs until its input ends.
func TestSoakServer(t *testing.T) {
	if os.Getenv("SOAK_SERVER") == "" {
		t.Skip("part of TestSoak")
	}
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	w, err := wiki.Open(quietLogger(), wiki.Config{SiteName: "soak", Now: now, Random: rand.Reader, Accounts: []wiki.Account{
		{Name: sandboxBot, Login: sandboxLogin, Password: soakPassword, Groups: []string{"bot"}},
		{Name: "Clerk", Login: "Clerk@soak", Password: soakPassword}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Seed(soakPage, "A page for requests.", "Clerk"); err != nil {
		t.Fatal(err)
	}
	graph, err := sandbox.Graph(embedded.Options{Name: "slice", Now: time.Now, Random: randomUint64, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	script, err := sandbox.Script()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", sandbox.Handler(quietLogger(), sandbox.Parts{Graph: graph, Wiki: w, ForumPage: soakPage, Script: script}))
	mux.HandleFunc("POST /ahead", func(_ http.ResponseWriter, r *http.Request) {
		d, err := time.ParseDuration(r.FormValue("by"))
		if err != nil {
			t.Error(err)
		}
		ahead.Store(int64(d))
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	fmt.Println("SOAK " + srv.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

const soakPage = "Wikidata:Request a query"

// open starts the second process and logs in its users.
func (s *soaking) open() {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), os.Args[0], "-test.run=^TestSoakServer$")
	cmd.Env = append(os.Environ(), "SOAK_SERVER=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for s.url == "" && lines.Scan() {
		s.url, _ = strings.CutPrefix(lines.Text(), "SOAK ")
		if !strings.HasPrefix(s.url, "http") {
			s.url = ""
		}
	}
	if s.url == "" {
		s.t.Fatal("the other process does not report its address")
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.client = &http.Client{Jar: jar, Timeout: time.Minute}
	token := func(kind string) string {
		var got struct {
			Query struct{ Tokens map[string]string }
		}
		out := s.call(url.Values{"action": {"query"}, "meta": {"tokens"}, "type": {kind}})
		if err := json.Unmarshal(out, &got); err != nil {
			s.t.Fatal(err)
		}
		return got.Query.Tokens[kind+"token"]
	}
	answer := s.call(url.Values{"action": {"login"}, "lgname": {"Clerk@soak"}, "lgpassword": {soakPassword}, "lgtoken": {token("login")}})
	if !strings.Contains(string(answer), `"Success"`) {
		s.t.Fatalf("the clerk cannot log in: %s", answer)
	}
	s.token = token("csrf")
}

func (s *soaking) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

func (s *soaking) later() {
	s.t.Helper()
	d := time.Duration(s.ahead.Add(int64(tick)))
	resp, err := s.client.PostForm(s.url+"/ahead", url.Values{"by": {d.String()}})
	if err != nil {
		s.t.Fatal(err)
	}
	resp.Body.Close()
}

// keptThreads is the number of threads kept on the page; older threads are archived.
const keptThreads = 8

// ask posts a request by a new user at the end of the page.
func (s *soaking) ask() {
	s.t.Helper()
	out := s.call(url.Values{"action": {"query"}, "prop": {"revisions"}, "rvprop": {"content"}, "rvslots": {"main"}, "titles": {soakPage}})
	var got struct {
		Query struct {
			Pages []struct {
				Revisions []struct {
					Slots struct{ Main struct{ Content string } }
				}
			}
		}
	}
	if err := json.Unmarshal(out, &got); err != nil || len(got.Query.Pages) == 0 || len(got.Query.Pages[0].Revisions) == 0 {
		s.t.Fatalf("%v: %s", err, out)
	}
	text := got.Query.Pages[0].Revisions[0].Slots.Main.Content
	threads := strings.Split(text, "\n== ")
	if len(threads) > keptThreads {
		threads = append(threads[:1:1], threads[len(threads)-keptThreads:]...)
	}
	s.asked++
	who := fmt.Sprintf("Visitor %d", s.asked)
	threads = append(threads, fmt.Sprintf("Request %d ==\nWhat is the capital of Ivory Coast according to Wikidata? (No. %d) [[User:%s|%s]] ([[User talk:%s|talk]]) %s",
		s.asked, s.asked, who, who, who, s.now().UTC().Format("15:04, 2 January 2006 (UTC)")))
	out = s.call(url.Values{"action": {"edit"}, "title": {soakPage}, "text": {strings.Join(threads, "\n== ")}, "token": {s.token}})
	if !strings.Contains(string(out), `"Success"`) {
		s.t.Fatalf("the request is not posted: %s", out)
	}
}

func (s *soaking) call(v url.Values) []byte {
	s.t.Helper()
	v.Set("format", "json")
	v.Set("formatversion", "2")
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/w/api.php", strings.NewReader(v.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	var raw json.RawMessage
	if err := json.NewDecoder(resp.Body).Decode(&raw); err != nil {
		s.t.Fatal(err)
	}
	return raw
}
