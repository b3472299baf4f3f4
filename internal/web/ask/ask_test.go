package ask

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
	"github.com/spinachbot/spinachbot/internal/web/guard"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// asker simulates the agent.
type asker func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error)

func (f asker) Ask(ctx context.Context, q agent.Question, rec agent.Recorder, _ agent.Limits) (*agent.Outcome, error) {
	return f(ctx, q, rec)
}

// graph is the built-in graph, shared by all tests.
var graph = sync.OnceValues(func() (*embedded.Graph, error) {
	return sandbox.Graph(embedded.Options{Name: "slice", Now: time.Now, Random: func() uint64 { return 4 }})
})

type site struct {
	*httptest.Server
	t     testing.TB
	pages *Server
}

func newSite(t testing.TB, f asker, change func(*Options)) *site {
	t.Helper()
	base, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	lg := slog.New(slog.DiscardHandler)
	dir := t.TempDir()
	o := Options{Log: lg, Site: layout.New(lg), Base: base, Dir: dir, Parallel: 1000, Now: time.Now,
		Presets: []Preset{{Name: "spinach", Policies: []string{"linear", "mcts"}}, {Name: "bare", Policies: []string{"linear"}}},
		Graphs:  []Graph{{"wikidata", "Wikidata"}},
		Graph: func(context.Context, string) (*agent.Source, error) {
			g, err := graph()
			if err != nil {
				return nil, err
			}
			return agent.Wikibase(g).Main(), nil
		},
		Service: func(context.Context, Choice, policy.Reviewer) (*ask.Service, error) {
			return &ask.Service{Log: lg, Asker: f, Open: ask.Folder(dir, time.Now), Now: time.Now}, nil
		}}
	if change != nil {
		change(&o)
	}
	s := New(o)
	mux := http.NewServeMux()
	for pattern, h := range s.Handlers() {
		mux.Handle(pattern, h)
	}
	mux.HandleFunc("GET /static/", o.Site.ServeStatic)
	server := httptest.NewServer(guard.Guard(mux, guard.Options{Log: lg}))
	t.Cleanup(server.Close)
	server.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 1000 // clients keep connections, as browsers do
	server.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &site{server, t, s}
}

func (s *site) get(path string) (int, string) {
	s.t.Helper()
	resp, err := s.Client().Get(s.URL + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func (s *site) post(path string, form url.Values) *http.Response {
	s.t.Helper()
	resp, err := s.Client().PostForm(s.URL+path, form)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}

// ask returns the ID of the question.
func (s *site) ask(question string, more ...string) string {
	s.t.Helper()
	form := url.Values{"q": {question}}
	for i := 0; i+1 < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	resp := s.post("/a", form)
	id, ok := strings.CutPrefix(resp.Header.Get("Location"), "/a/")
	if resp.StatusCode != http.StatusSeeOther || !ok {
		s.t.Fatalf("asking returned %s %v", resp.Status, resp.Header)
	}
	return id
}

// wait blocks until a question is no longer in progress.
func (s *site) wait(id string) {
	s.t.Helper()
	for range 500 {
		if s.pages.asked.run(id) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatal("the question is not done")
}

type message struct {
	id   int
	kind string
	data told
}

// listen reads at most the given number of events, or all events until the stream ends.
func (s *site) listen(id string, after, most int, pause time.Duration) (out []message) {
	r, err := http.NewRequest(http.MethodGet, s.URL+"/a/"+id+"/events", nil)
	if err != nil {
		s.t.Error(err)
		return nil
	}
	r.Header.Set("Last-Event-ID", strconv.Itoa(after))
	resp, err := s.Client().Do(r)
	if err != nil {
		s.t.Error(err)
		return nil
	}
	defer resp.Body.Close()
	var m message
	for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
		field, value, _ := strings.Cut(sc.Text(), ": ")
		switch field {
		case "id":
			m.id, _ = strconv.Atoi(value)
		case "event":
			m.kind = value
		case "data":
			if err := json.Unmarshal([]byte(value), &m.data); err != nil {
				s.t.Error(err)
			}
		case "":
			if m.kind != "" && m.kind != "live" {
				out = append(out, m)
			}
			if m = (message{}); most > 0 && len(out) == most {
				return out
			}
			time.Sleep(pause)
		}
	}
	return out
}

// steps records n steps, with a pause before each.
func steps(ctx context.Context, q agent.Question, rec agent.Recorder, n int, pause func()) error {
	for i := range n + 1 {
		e := event.Event{Event: "step", Step: &event.Step{N: i, Thought: fmt.Sprint("thought ", i), Action: "search", Argument: "x"}}
		if i == 0 {
			e = event.Event{Event: "start", Format: event.Format, Question: &q, Preset: "spinach"}
		} else {
			pause()
		}
		if err := rec.Record(ctx, e); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Clients that connect, disconnect and reconnect get every event once and in order, during the run and after it.
func TestEventsOnceAndInOrder(t *testing.T) {
	s := newSite(t, func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error) {
		return &agent.Outcome{}, steps(ctx, q, rec, 40, func() { time.Sleep(2 * time.Millisecond) })
	}, nil)
	id := s.ask("Which?")
	var wg sync.WaitGroup
	for client := range 8 {
		wg.Go(func() {
			var got []message
			for after, ended := 0, false; !ended; {
				part := s.listen(id, after, 3+client*7, time.Duration(client)*time.Millisecond)
				got = append(got, part...)
				if len(part) == 0 {
					t.Errorf("client %d: nothing after %d", client, after)
					return
				}
				after, ended = part[len(part)-1].id, part[len(part)-1].kind == "end"
			}
			if len(got) != 42 || !slices.IsSortedFunc(got, func(a, b message) int { return a.id - b.id }) {
				t.Errorf("client %d got %d events", client, len(got))
			}
			for i, m := range got {
				if m.id != i+1 || m.kind == "step" && m.data.Thought != fmt.Sprint("thought ", i) {
					t.Errorf("client %d: event %d is %+v", client, i, m)
				}
			}
		})
	}
	wg.Wait()
	s.wait(id)
	if got := s.listen(id, 40, 0, 0); len(got) != 2 || got[1].kind != "end" {
		t.Errorf("after the end, from the file: %+v", got)
	}
}

// A client that reads nothing is disconnected; the run and the other clients do not wait for it.
func TestSlowClientIsDropped(t *testing.T) {
	was := slowest
	t.Cleanup(func() { slowest = was }) // after the server has been closed
	slowest = time.Second               // on a busy machine, a quick client may not read for a while
	start := make(chan struct{})
	long := strings.Repeat("long text ", 1900)
	s := newSite(t, func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error) {
		if err := steps(ctx, q, rec, 1, func() {}); err != nil {
			return nil, err
		}
		<-start
		for i := range 600 {
			if err := rec.Record(ctx, event.Event{Event: "feedback", Detail: fmt.Sprint(i, long)}); err != nil {
				return nil, err
			}
		}
		return &agent.Outcome{}, nil
	}, nil)
	id := s.ask("Which?")
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /a/%s/events HTTP/1.1\r\nHost: localhost\r\n\r\n", id)
	time.Sleep(50 * time.Millisecond)
	before := runtime.NumGoroutine()
	close(start)
	if got := s.listen(id, 0, 0, 0); len(got) != 603 || got[602].kind != "end" {
		t.Errorf("a quick client got %d events", len(got))
	}
	dropped := func() bool { return runtime.NumGoroutine() < before }
	for range 500 {
		if dropped() {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if !dropped() {
		t.Error("the slow client still has a goroutine")
	}
}

// Many concurrent questions, each with two listeners, lose no events and leak no goroutines.
func TestManyQuestionsAtOnce(t *testing.T) {
	newSite(t, quick(10), nil).many(60, 10)
}

// quick is a model that answers after n steps without delay.
func quick(n int) asker {
	return func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error) {
		return &agent.Outcome{}, steps(ctx, q, rec, n, func() {})
	}
}

// many asks questions concurrently, each with two listeners, and returns the time until each question's first event.
func (s *site) many(questions, n int) (first []time.Duration) {
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range questions {
		wg.Go(func() {
			start := time.Now()
			id := s.ask("Which?")
			if got := s.listen(id, 0, 1, 0); len(got) == 1 {
				mu.Lock()
				first = append(first, time.Since(start))
				mu.Unlock()
			}
			for range 2 {
				wg.Go(func() {
					got := s.listen(id, 0, 0, 0)
					if len(got) != n+2 || got[n+1].kind != "end" {
						s.t.Errorf("%d events of %d", len(got), n+2)
					}
				})
			}
		})
	}
	wg.Wait()
	s.nothingLeft(before)
	return first
}

// nothingLeft waits until there are no more goroutines than before.
func (s *site) nothingLeft(before int) {
	s.Client().CloseIdleConnections()
	for range 300 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

// Many connections that stay open for many heartbeats leak no goroutines.
func TestManyConnections(t *testing.T) { connections(t, 100, 10, time.Minute) }

// connections opens n streams for one question, waits until each has received its heartbeats, ends the question, and
// checks that no goroutines are left. It returns the total number of heartbeats.
func connections(t testing.TB, n, beats int, limit time.Duration) (signs int64) {
	defer func(h, s time.Duration) { heartbeat, slowest = h, s }(heartbeat, slowest)
	heartbeat, slowest = 10*time.Millisecond, time.Minute // a busy machine must not make clients look slow
	done := make(chan struct{})
	s := newSite(t, func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error) {
		err := steps(ctx, q, rec, 2, func() {})
		<-done
		return &agent.Outcome{}, err
	}, nil)
	id := s.ask("Which?")
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var waiting, all sync.WaitGroup
	var sum atomic.Int64
	for range n {
		waiting.Add(1)
		all.Go(func() {
			alive := sync.OnceFunc(waiting.Done)
			defer alive()
			seen, ends, err := s.beats(ctx, id, func(seen int) {
				if seen >= beats {
					alive()
				}
			})
			sum.Add(int64(seen))
			if err != nil || seen < beats || ends != 1 {
				t.Errorf("%d heartbeats, the last event came %d times (%v)", seen, ends, err)
			}
		})
	}
	waiting.Wait()
	close(done)
	all.Wait()
	s.nothingLeft(before)
	return sum.Load()
}

// beats follows a question over a separate connection until it is answered, and calls tell with the number of
// heartbeats so far.
func (s *site) beats(ctx context.Context, id string, tell func(seen int)) (seen, ends int, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Listener.Addr().String())
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := fmt.Fprintf(conn, "GET /a/%s/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", id); err != nil {
		return 0, 0, err
	}
	sign, end := []byte(": still there\n"), []byte("event: end\n")
	buf, kept := make([]byte, 4096), 0
	for {
		time.Sleep(10 * heartbeat) // several heartbeats per read, to leave more CPU time for the server
		n, err := conn.Read(buf[kept:])
		part := buf[:kept+n]
		seen += bytes.Count(part, sign)
		ends += bytes.Count(part, end)
		tell(seen)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return seen, ends, err
		}
		kept = 0
		for k := min(len(sign)-1, len(part)); k > 0; k-- { // the start of a line whose end has not arrived yet
			if tail := part[len(part)-k:]; bytes.HasPrefix(sign, tail) || bytes.HasPrefix(end, tail) {
				kept = copy(buf, tail)
				break
			}
		}
	}
}

// A connection that is idle for a long time gets a heartbeat and does not leak a goroutine.
func TestHeartbeat(t *testing.T) {
	defer func(d time.Duration) { heartbeat = d }(heartbeat)
	heartbeat = 5 * time.Millisecond
	done := make(chan struct{})
	s := newSite(t, func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error) {
		err := steps(ctx, q, rec, 2, func() {})
		<-done
		return &agent.Outcome{}, err
	}, nil)
	id := s.ask("Which?")
	resp, err := s.Client().Get(s.URL + "/a/" + id + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	beats := 0
	var seen strings.Builder
	for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
		seen.WriteString(sc.Text() + "\n")
		if strings.HasPrefix(sc.Text(), ":") {
			if beats++; beats == 20 {
				close(done)
			}
		}
	}
	if beats < 20 || strings.Count(seen.String(), "event: step") != 2 || !strings.Contains(seen.String(), "event: end") {
		t.Errorf("%d beats\n%s", beats, seen.String())
	}
}

// A question can be stopped from its page, and the page shows that it was stopped.
func TestStop(t *testing.T) {
	s := newSite(t, func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error) {
		_ = steps(ctx, q, rec, 1, func() {})
		<-ctx.Done()
		return nil, ctx.Err()
	}, nil)
	id := s.ask("Which?")
	if status, body := s.get("/a/" + id); status != 200 || !strings.Contains(body, "http-equiv=\"refresh\"") {
		t.Errorf("%d %s", status, body)
	}
	if resp := s.post("/a/"+id+"/stop", nil); resp.StatusCode != http.StatusSeeOther {
		t.Error(resp.Status)
	}
	s.wait(id)
	if _, body := s.get("/a/" + id + "?lang=de"); !strings.Contains(body, "Die Suche wurde angehalten") || strings.Contains(body, "refresh") {
		t.Error(body)
	}
}

func TestLimits(t *testing.T) {
	wait := make(chan struct{})
	now := time.Now()
	s := newSite(t, func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error) {
		<-wait
		return &agent.Outcome{}, steps(ctx, q, rec, 0, func() {})
	}, func(o *Options) { o.Rate, o.Parallel, o.Now = 3, 2, func() time.Time { return now } })
	defer close(wait)
	first := s.ask("one")
	s.ask("two")
	for _, tt := range []struct {
		form url.Values
		want int
	}{
		{url.Values{"q": {"three"}}, http.StatusServiceUnavailable},
		{url.Values{"q": {"four"}}, http.StatusTooManyRequests},
		{url.Values{"q": {" \n"}}, http.StatusUnprocessableEntity},
		{url.Values{"q": {strings.Repeat("x", 4001)}}, http.StatusUnprocessableEntity},
		{url.Values{"q": {strings.Repeat("x", 70_000)}}, http.StatusRequestEntityTooLarge},
		{url.Values{"q": {"x"}, "graph": {"https://evil.example/"}}, http.StatusUnprocessableEntity},
		{url.Values{"q": {"x"}, "preset": {"../spinach"}}, http.StatusUnprocessableEntity},
		{url.Values{"q": {"x"}, "preset": {"bare"}, "policy": {"mcts"}}, http.StatusUnprocessableEntity},
		{url.Values{"q": {"x"}, "follows": {"../../etc/passwd"}}, http.StatusNotFound},
	} {
		if resp := s.post("/a", tt.form); resp.StatusCode != tt.want {
			t.Errorf("%.60v: %s, want %d", tt.form, resp.Status, tt.want)
		}
	}
	now = now.Add(time.Minute)
	if resp := s.post("/a", url.Values{"q": {"five"}}); resp.StatusCode != http.StatusServiceUnavailable ||
		resp.Header.Get("Retry-After") == "" {
		t.Errorf("after a minute: %s", resp.Status)
	}
	if status, _ := s.get("/a/" + first); status != http.StatusOK {
		t.Error(status)
	}
	for _, path := range []string{"/a/aaaaaaaaaaaaaaaa", "/a/*", "/a/..%2f..%2fx", "/a/" + first + "/row/1", "/a/" + first + "/step/9",
		"/a/" + first + "/result/exe", "/a/" + first + "/missing?item=x"} {
		if status, _ := s.get(path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestClientNames(t *testing.T) {
	s := &Server{}
	for _, tt := range []struct{ remote, header, value, want string }{
		{"192.0.2.7:5", "", "9.9.9.9", "192.0.2.7"},
		{"[2001:db8:1:2:3::4]:5", "", "", "2001:db8:1:2::/64"},
		{"[::ffff:192.0.2.7]:5", "", "", "192.0.2.7"},
		{"127.0.0.1:5", "X-Forwarded-For", "1.1.1.1, 192.0.2.9", "192.0.2.9"},
		{"127.0.0.1:5", "X-Forwarded-For", "", "127.0.0.1"},
	} {
		s.ClientHeader = tt.header
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = tt.remote
		r.Header.Set("X-Forwarded-For", tt.value)
		if got := s.client(r); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// evil is a string that could come from a stranger, a model or a label.
const evil = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&\u202e[[x]]{{x}}|\x00`"

// Text from the question, the model and the graph remains plain text on every page and in every file, and links lead
// only to http URLs.
func TestNothingBecomesMarkup(t *testing.T) {
	table := &kg.Table{Vars: []string{"item", "itemLabel", evil}, Rows: [][]rdf.Term{
		{rdf.IRI(rdf.Entity + "Q1"), rdf.LangString(evil, "en"), rdf.String(evil)},
		{rdf.IRI("javascript:alert(1)"), rdf.String("x"), rdf.IRI("data:text/html,<script>alert(1)</script>")},
		{rdf.IRI("https://user:pw@evil.example/"), rdf.Term{}, rdf.IRI(commonsFile + "a%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E.jpg")},
	}}
	s := newSite(t, func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error) {
		for _, e := range []event.Event{
			{Event: "start", Format: event.Format, Question: &q, Preset: evil, Policy: evil},
			{Event: "step", Step: &event.Step{N: 1, Thought: evil, Action: evil, Argument: `{"` + "a<b" + `":"<script>alert(1)</script>"}`, Observation: evil}},
			{Event: "rollback", Reason: evil, To: new(int), Step: &event.Step{Action: evil, Argument: evil}},
			{Event: "feedback", Detail: evil},
			{Event: "probe", Detail: evil},
			{Event: "vote", Detail: evil},
			{Event: "final", SPARQL: "SELECT ?item WHERE { ?item ?p \"" + `<script>alert(1)</script>` + "\" } # " + strings.ReplaceAll(evil, "\x00", ""), Table: table, Endpoint: evil, KG: evil, Assumed: evil, Open: evil},
			{Event: "end", Report: evil, Asks: evil, Detail: evil},
		} {
			if err := rec.Record(ctx, e); err != nil {
				return nil, err
			}
		}
		return &agent.Outcome{}, nil
	}, nil)
	id := s.ask(evil)
	s.wait(id)
	for _, path := range []string{"/?q=" + url.QueryEscape(evil) + "&preset=" + url.QueryEscape(evil), "/a/" + id, "/a/" + id + "?filter=" + url.QueryEscape(evil) + "&sort=" + url.QueryEscape(evil),
		"/a/" + id + "/step/1", "/a/" + id + "/row/1", "/a/" + id + "/missing?item=" + url.QueryEscape(evil) + "&column=" + url.QueryEscape(evil)} {
		status, body := s.get(path)
		lower := strings.ToLower(body)
		for _, bad := range []string{"<script>", "<img src=x", "href=\"javascript:", "href=\"data:", "href=\"https://user", "\x00"} {
			if strings.Contains(lower, bad) {
				t.Errorf("%s (%d) holds %q", path, status, bad)
			}
		}
	}
	r, err := http.NewRequest(http.MethodGet, s.URL+"/a/"+id+"/rows", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	var rows rowsOut
	err = json.NewDecoder(resp.Body).Decode(&rows)
	_ = resp.Body.Close()
	if err != nil || resp.Header.Get("X-Content-Type-Options") != "nosniff" || rows.Rows[1][0].URL != "" || rows.Rows[2][0].URL != "" {
		t.Errorf("%v %+v", err, rows)
	}
	if _, wiki := s.get("/a/" + id + "/result/wiki"); strings.Contains(wiki, "{{x}}") || strings.Contains(wiki, "[[x]]") || strings.Contains(wiki, "<script") {
		t.Error(wiki)
	}
	if _, md := s.get("/a/" + id + "/result/md"); strings.Contains(md, "<script") || strings.Contains(md, "<img") {
		t.Error(md)
	}
	for _, kind := range []string{"csv", "tsv", "json", "md", "wiki", "rq"} {
		resp, err := s.Client().Get(s.URL + "/a/" + id + "/result/" + kind)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if d := resp.Header.Get("Content-Disposition"); d != "attachment; filename=spinachbot-"+id+"."+kind {
			t.Errorf("%s: %s", kind, d)
		}
	}
}

// Pages outlive the program, and a follow-up question includes the whole conversation so far.
func TestFollowUp(t *testing.T) {
	var asked []agent.Question
	s := newSite(t, func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error) {
		asked = append(asked, q)
		err := steps(ctx, q, rec, 1, func() {})
		_ = rec.Record(ctx, event.Event{Event: "end", Report: "Because " + q.Text})
		return &agent.Outcome{}, err
	}, nil)
	first := s.ask("one")
	s.wait(first)
	second := s.ask("two", "follows", first)
	s.wait(second)
	third := s.ask("three", "follows", second)
	s.wait(third)
	if h := asked[2].History; len(h) != 2 || h[0].Question != "one" || h[1].Report != "Because two" || len(h[1].Steps) != 1 {
		t.Errorf("%+v", h)
	}
	again := newSite(t, nil, func(o *Options) { o.Dir = s.pages.Dir })
	if status, body := again.get("/a/" + third); status != 200 || !strings.Contains(body, "Because two") || !strings.Contains(body, "2 earlier questions") {
		t.Errorf("%d %s", status, body)
	}
}

// If a question's run was cut off, its page says so, and its stream ends.
func TestCutOff(t *testing.T) {
	s := newSite(t, nil, nil)
	id := "abcdefghijklmnop"
	f, err := event.Create(s.pages.Dir + "/web-" + id + "-20261122T100000.000.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := steps(t.Context(), agent.Question{Text: "Which?"}, f, 2, func() {}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, body := s.get("/a/" + id); !strings.Contains(body, "was cut off") {
		t.Error(body)
	}
	if got := s.listen(id, 0, 0, 0); len(got) != 4 || got[3].kind != "interrupted" {
		t.Errorf("%+v", got)
	}
	if entries, err := os.ReadDir(s.pages.Dir); err != nil || len(entries) != 1 {
		t.Error(entries, err)
	}
}

// BenchmarkManyQuestions measures the load of 200 concurrent questions, each with three listeners.
func BenchmarkManyQuestions(b *testing.B) {
	var first []time.Duration
	s := newSite(b, quick(20), func(o *Options) { o.Parallel = 200 })
	for b.Loop() {
		first = append(first, s.many(200, 20)...)
	}
	slices.Sort(first)
	b.ReportMetric(float64(first[len(first)/2].Milliseconds()), "ms-first-median")
	b.ReportMetric(float64(first[len(first)*95/100].Milliseconds()), "ms-first-p95")
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB-heap-after")
	b.ReportMetric(float64(m.Sys)/1e6, "MB-system")
}

// With -beats 10000, BenchmarkConnections runs the full load that the page must handle. This takes minutes; see
// docs/developer.md.
var beats = flag.Int("beats", 5, "heartbeats of each connection in BenchmarkConnections")

// BenchmarkConnections measures 2,000 connections that stay open for many heartbeats.
func BenchmarkConnections(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var signs int64
	for b.Loop() {
		signs += connections(b, 2000, *beats, 110*time.Minute)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(signs)/float64(b.N), "signs")
	b.ReportMetric(float64(signs)/b.Elapsed().Seconds(), "signs/s")
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/1e6, "MB-heap-more")
	b.ReportMetric(float64(after.Sys)/1e6, "MB-system")
}
