package annotate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
	"github.com/spinachbot/spinachbot/dataset/datasettest"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	"github.com/spinachbot/spinachbot/internal/store"
	web "github.com/spinachbot/spinachbot/internal/web/annotate"
)

// slice is the built-in graph, loaded once.
var slice = sync.OnceValues(func() (*embedded.Graph, error) {
	return sandbox.Graph(embedded.Options{Name: "slice", Now: time.Now, Random: func() uint64 { return 4 }})
})

// site is a page with ten candidates.
type site struct {
	t    testing.TB
	page *web.Server

	options web.Options
	store   *store.Store
	clock   time.Time
	kept    map[string]int // rows by query
}

func newSite(t testing.TB) *site { return newLargeSite(t, 1) }

// newLargeSite returns a site on which the ten candidates are repeated.
func newLargeSite(t testing.TB, times int) *site {
	t.Helper()
	g, err := slice()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cs, err := datasettest.Write(t.Context(), dir, g)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 * (times - 1) {
		c := cs[i%10]
		c.ID = datasettest.ID(11 + i)
		cs = append(cs, c)
	}
	st, err := store.Open(t.Context(), filepath.Join(dir, "annotations.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	s := &site{t: t, store: st, clock: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), kept: map[string]int{}}
	s.options = web.Options{
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Store: st, Graph: g, GraphName: "slice",
		Candidates: func() ([]dataset.Candidate, error) { return cs, nil },
		Keep:       func(q string, table *kg.Table) error { s.kept[q] = len(table.Rows); return nil },
		Now:        func() time.Time { s.clock = s.clock.Add(time.Second); return s.clock },
	}
	s.page, err = web.New(s.options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// do sends a request on behalf of who, using a loopback host name.
func (s *site) do(who, method, path, kind, body string, head ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8090"+path, strings.NewReader(body))
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if who != "" {
		r.AddCookie(&http.Cookie{Name: "annotator", Value: who})
	}
	for i := 0; i+1 < len(head); i += 2 {
		if head[i] == "Host" {
			r.Host = head[i+1]
		} else {
			r.Header.Set(head[i], head[i+1])
		}
	}
	w := httptest.NewRecorder()
	s.page.ServeHTTP(w, r)
	return w
}

func (s *site) get(who, path string) string {
	s.t.Helper()
	w := s.do(who, http.MethodGet, path, "", "")
	if w.Code != http.StatusOK {
		s.t.Fatalf("%s: status %d: %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// answer is a response from the script API.
type answer struct {
	status    int
	Work      annotate.Work   `json:"work"`
	Current   annotate.Work   `json:"current"`
	Next      string          `json:"next"`
	Error     string          `json:"error"`
	Withdrawn bool            `json:"withdrawn"`
	Pending   bool            `json:"pending"`
	Total     int             `json:"total"`
	Head      []string        `json:"head"`
	Marks     []sparqlMark    `json:"marks"`
	Remarks   json.RawMessage `json:"remarks"`
}

type sparqlMark struct {
	Kind         string
	Line, Column int
}

// edit is a request from the page's script.
type edit map[string]any

func (s *site) post(who, name string, e edit) answer {
	s.t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		s.t.Fatal(err)
	}
	w := s.do(who, http.MethodPost, "/api/"+name, "application/json", string(b))
	a := answer{status: w.Code}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		s.t.Fatalf("%s: %v: %s", name, err, w.Body)
	}
	return a
}

// decide sends a verdict on the n-th candidate, with the harvested query.
func (s *site) decide(who string, n int, verdict dataset.Verdict, more edit) answer {
	s.t.Helper()
	cs, err := datasettest.Candidates()
	if err != nil {
		s.t.Fatal(err)
	}
	e := edit{"candidate": datasettest.ID(n), "query": cs[n-1].Cleaned, "question": cs[n-1].Suggestion.Natural,
		"verdict": verdict, "reason": "other", "note": "a reason"}
	for k, v := range more {
		e[k] = v
	}
	return s.post(who, "decide", e)
}

func TestSaveAndConflict(t *testing.T) {
	s := newSite(t)
	id := datasettest.ID(1)
	first := s.post("Ada", "save", edit{"candidate": id, "query": "SELECT", "question": "Which?"})
	if first.status != 200 || first.Work.Version != 1 || first.Work.Annotator != "Ada" {
		t.Fatalf("first save: %+v", first)
	}
	again := s.post("Ada", "save", edit{"candidate": id, "version": 1, "query": "SELECT", "question": "Which?"})
	if again.Work.Version != 1 {
		t.Errorf("a save without changes makes version %d", again.Work.Version)
	}
	if a := s.post("Ada", "save", edit{"candidate": id, "version": 1, "query": "SELECT",
		"question": "Which one?"}); a.Work.Version != 2 {
		t.Fatalf("second save: %+v", a)
	}
	stale := s.post("Ada", "save", edit{"candidate": id, "version": 1, "query": "SELECT", "question": "What?"})
	if stale.status != http.StatusConflict || stale.Current.Question != "Which one?" || stale.Current.Version != 2 {
		t.Errorf("a save from another tab: %+v", stale)
	}
	if a := s.post("Ben", "save", edit{"candidate": id, "query": "ASK", "question": "Mine"}); a.status != 200 ||
		a.Work.Version != 1 {
		t.Errorf("another annotator's first save: %+v", a)
	}
	page := s.get("Ada", "/item/"+id)
	if !strings.Contains(page, "Which one?") || strings.Contains(page, "Mine") {
		t.Error("the page shows more than the annotator's own text")
	}
	if h := s.get("Ada", "/history/"+id); strings.Contains(h, "Ben") || !strings.Contains(h, "Which one?") {
		t.Error("the history shows someone else's work before the verdict, or lacks the reader's")
	}
	events, err := s.store.WorkEvents(t.Context(), id, "Ada")
	if err != nil || len(events) != 2 || events[0].Work.Question != "Which?" {
		t.Errorf("events: %v %v", events, err)
	}
	restored := s.post("Ada", "restore", edit{"candidate": id, "event": events[0].Seq})
	works, err := s.store.Works(t.Context(), id)
	if restored.status != 200 || err != nil || works[0].Question != "Which?" || works[0].Version != 3 {
		t.Errorf("restore: %+v %v %v", restored, works, err)
	}
	if a := s.post("Ben", "restore", edit{"candidate": id,
		"event": events[0].Seq}); a.status != http.StatusUnprocessableEntity {
		t.Errorf("another's version restored: %+v", a)
	}
}

// The second annotator cannot see the first annotator's verdict before giving their own.
func TestBlind(t *testing.T) {
	s := newSite(t)
	id := datasettest.ID(3)
	secret := "Adenauer to Kohl, in my words?"
	a := s.decide("Ada", 3, dataset.Include, edit{"question": secret, "note": "hidden note"})
	if a.status != 200 || a.Next != "/item/"+datasettest.ID(4)+"?box=todo" {
		t.Fatalf("first verdict: %+v", a)
	}
	for _, path := range []string{"/", "/?box=validate", "/?box=all&q=Adenauer+words", "/item/" + id, "/history/" + id,
		"/agreement"} {
		page := s.get("Ben", path)
		if strings.Contains(page, secret) || strings.Contains(page, "hidden note") || strings.Contains(page,
			"badge include") && path != "/item/"+id {
			t.Errorf("%s reveals Ada's work to Ben", path)
		}
	}
	if page := s.get("Ben", "/?box=all&q=Kohl"); strings.Contains(page, "German heads") {
		t.Error("the search finds words of someone else's question")
	}
	if !strings.Contains(s.get("Ben", "/?box=validate"), "German heads of government") {
		t.Error("it is not in the box to validate")
	}
	if w := s.do("Ben", http.MethodGet, "/compare/"+id, "", ""); w.Code != http.StatusSeeOther {
		t.Errorf("the comparison is open before the verdict: %d", w.Code)
	}
	if a := s.post("Ben", "save", edit{"candidate": id, "resolution": true,
		"query": "x"}); a.status != http.StatusForbidden {
		t.Errorf("a resolution before the verdict: %+v", a)
	}
	b := s.decide("Ben", 3, dataset.Exclude, edit{"reason": "meaning"})
	if b.status != 200 || b.Next != "/compare/"+id+"?box=todo" {
		t.Fatalf("second verdict: %+v", b)
	}
	if page := s.get("Ben", "/compare/"+id); !strings.Contains(page, secret) || !strings.Contains(page,
		"the verdicts differ") || !strings.Contains(page, "Meaning unclear") {
		t.Error("the comparison does not show both")
	}
}

func TestVerdictsMustFit(t *testing.T) {
	s := newSite(t)
	cs, err := datasettest.Candidates()
	if err != nil {
		t.Fatal(err)
	}
	trimmed := cs[3].Trimmed
	for _, c := range []struct {
		name    string
		verdict dataset.Verdict
		more    edit
		want    string
	}{
		{"include without a question", dataset.Include, edit{"question": "  "}, "Write the question first"},
		{"include a changed query", dataset.Include, edit{"query": trimmed}, "choose Modify"},
		{"modify an unchanged query", dataset.Modify, nil, "choose Include"},
		{"modify without a run", dataset.Modify, edit{"query": trimmed}, "Run the changed query first"},
		{"modify into nonsense", dataset.Modify, edit{"query": "SELEKT"}, "cannot be kept"},
		{"modify into an update", dataset.Modify, edit{"query": "DELETE WHERE { ?s ?p ?o }"}, "cannot be kept"},
		{"exclude without a reason", dataset.Exclude, edit{"reason": ""}, "why"},
		{"exclude for other reasons without a note", dataset.Exclude, edit{"note": ""}, "note"},
		{"no such verdict", "maybe", nil, "no verdict"},
	} {
		if a := s.decide("Ada", 4, c.verdict, c.more); a.status < 400 || !strings.Contains(a.Error, c.want) {
			t.Errorf("%s: %d %q, want %q", c.name, a.status, a.Error, c.want)
		}
	}
	run := s.post("Ada", "run", edit{"candidate": datasettest.ID(4), "query": trimmed})
	if run.status != 200 || run.Total != 12 || strings.Join(run.Head, " ") != "film filmLabel year" {
		t.Fatalf("run: %+v", run)
	}
	if a := s.decide("Ada", 4, dataset.Modify, edit{"query": trimmed}); a.status != 200 || s.kept[trimmed] != 12 {
		t.Errorf("modify after a run: %+v, kept %v", a, s.kept)
	}
	if a := s.post("Ada", "run", edit{"query": `SELECT ?x WHERE { wd:Q1 wdt:P2 ?x }`}); a.status != 200 || a.Total != 0 {
		t.Fatalf("a query without rows: %+v", a)
	}
	if a := s.decide("Ada", 5, dataset.Modify, edit{"query": `SELECT ?x WHERE { wd:Q1 wdt:P2 ?x }`}); !strings.Contains(
		a.Error, "no rows") {
		t.Errorf("modify into a query without rows: %+v", a)
	}
	for query, want := range map[string]string{`SELECT ?x WHERE { SERVICE <https://evil.example/sparql> { ?x ?p ?o } }`: "Not run", `SELECT ?x WHERE {`: "Not run"} {
		if a := s.post("Ada", "run", edit{"query": query}); a.status != http.StatusUnprocessableEntity ||
			!strings.Contains(a.Error, want) {
			t.Errorf("run %s: %+v", query, a)
		}
	}
	if a := s.post("Ada", "check", edit{"candidate": datasettest.ID(1),
		"query": `SELECT ?x WHERE { wd:Q183 wdt:P36 ?x SERVICE <https://sparql.uniprot.org/sparql> { ?x ?p ?o } }`}); slices.ContainsFunc(a.Marks, func(m sparqlMark) bool { return m.Kind == "service" }) {
		t.Errorf("a service that the harvest allows was refused: %+v", a.Marks)
	}
	// Changing the query withdraws a verdict; changing the question does not.
	if a := s.post("Ada", "save", edit{"candidate": datasettest.ID(4), "version": 1, "query": trimmed,
		"question": "Better?", "note": ""}); a.Withdrawn || a.Work.Verdict != dataset.Modify {
		t.Errorf("another question: %+v", a)
	}
	if a := s.post("Ada", "save", edit{"candidate": datasettest.ID(4), "version": 2, "query": trimmed + " LIMIT 3",
		"question": "Better?"}); !a.Withdrawn || a.Work.Verdict != "" {
		t.Errorf("another query: %+v", a)
	}
}

func TestCompareAndUndo(t *testing.T) {
	s := newSite(t)
	id := datasettest.ID(2)
	s.decide("Ada", 2, dataset.Include, nil)
	if a := s.decide("Ben", 2, dataset.Include, edit{"question": ""}); a.status != 200 || !strings.HasPrefix(a.Next,
		"/compare/") {
		t.Fatalf("a validator needs no question of his own: %+v", a)
	}
	if page := s.get("Ben", "/compare/"+id); !strings.Contains(page, "agreed: confirm") {
		t.Error("equal verdicts are not in the box to confirm")
	}
	if a := s.decide("Ben", 2, dataset.Skip, edit{"resolution": true}); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a comparison was skipped: %+v", a)
	}
	if a := s.decide("Ben", 2, dataset.Include, edit{"resolution": true, "question": ""}); !strings.Contains(a.Error,
		"question") {
		t.Errorf("a resolution without a question: %+v", a)
	}
	if a := s.decide("Ben", 2, dataset.Include, edit{"resolution": true}); a.status != 200 || a.Work.By != "Ben" {
		t.Fatalf("confirm: %+v", a)
	}
	if a := s.post("Ada", "undo", edit{}); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.Error,
		"resolved by Ben") {
		t.Errorf("a resolved verdict was withdrawn: %+v", a)
	}
	state := func() annotate.State {
		works, err := s.store.Works(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		c := annotate.NewCase(&dataset.Candidate{ID: id}, works)
		return c.State()
	}
	if state() != annotate.Resolved {
		t.Errorf("after confirming: %s", state())
	}
	for _, step := range []struct {
		who, next string
		status    int
		state     annotate.State
	}{
		{"Ben", "/compare/" + id, 200, annotate.Agreed}, {"Ben", "/item/" + id, 200, annotate.Annotated},
		{"Ben", "", http.StatusUnprocessableEntity, annotate.Annotated},
		{"Ada", "/item/" + id, 200, annotate.Open}, {"Ada", "", http.StatusUnprocessableEntity, annotate.Open},
	} {
		if a := s.post(step.who, "undo", edit{}); a.status != step.status || a.Next != step.next || state() != step.state {
			t.Errorf("undo of %s: %+v, state %s; want %+v", step.who, a, state(), step)
		}
	}
	if events, err := s.store.WorkEvents(t.Context(), id, ""); err != nil || len(events) != 6 {
		t.Errorf("%d events, want three verdicts and three undos (%v)", len(events), err)
	}
}

// Undo restores the previous verdict and leaves the texts unchanged.
func TestUndoToTheVerdictBefore(t *testing.T) {
	s := newSite(t)
	s.decide("Ada", 1, dataset.Exclude, edit{"reason": "meaning"})
	s.decide("Ada", 1, dataset.Include, edit{"version": 1, "question": "The newest words?"})
	s.post("Ada", "undo", edit{})
	works, err := s.store.Works(t.Context(), datasettest.ID(1))
	if err != nil || works[0].Verdict != dataset.Exclude || works[0].Reason != "meaning" ||
		works[0].Question != "The newest words?" {
		t.Errorf("after undo: %+v %v", works, err)
	}
}

// slow is a graph that does not respond until it is released.
type slow struct {
	web.Graph
	asked chan string
	open  chan struct{}
}

func (g *slow) Query(ctx context.Context, q string) (*kg.Table, error) {
	g.asked <- q
	select {
	case <-g.open:
		return g.Graph.Query(ctx, q)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Checks do not wait for a slow graph, do not query it twice, and use its names once they have arrived.
func TestCheckWithSlowGraph(t *testing.T) {
	s := newSite(t)
	g := &slow{Graph: s.page.Graph, asked: make(chan string, 10), open: make(chan struct{})}
	page, err := web.New(web.Options{Log: s.page.Log, Store: s.store, Graph: g, Candidates: s.page.Candidates,
		Now: s.page.Now})
	if err != nil {
		t.Fatal(err)
	}
	s.page = page
	e := edit{"candidate": datasettest.ID(3), "query": "SELECT ?p WHERE { ?p wdt:P39 wd:Q4970706 }",
		"question": "Who was German Chancellor?"}
	said := []byte(`"said":true,"text":"Federal Chancellor of Germany (Q4970706)"`)
	for range 2 {
		if a := s.post("Ada", "check", e); a.status != 200 || !a.Pending || bytes.Contains(a.Remarks, said) {
			t.Errorf("before the graph answers: %+v %s", a, a.Remarks)
		}
	}
	close(g.open)
	for s.post("Ada", "check", e).Pending {
		time.Sleep(time.Millisecond)
	}
	if a := s.post("Ada", "check", e); !bytes.Contains(a.Remarks, said) || len(g.asked) != 1 {
		t.Errorf("after it: %s, asked %d times", a.Remarks, len(g.asked))
	}
}

func TestCheckWhileTyping(t *testing.T) {
	s := newSite(t)
	a := s.post("Ada", "check", edit{"candidate": datasettest.ID(1), "query": "SELECT ?x WHERE {\n  ?x wdt:P31 }",
		"question": "?"})
	if a.status != 200 || len(a.Marks) == 0 || a.Marks[0].Kind != "error" || a.Marks[0].Line != 2 {
		t.Errorf("a mistake: %+v", a)
	}
	a = s.post("Ada", "check", edit{"candidate": datasettest.ID(3), "query": "SELECT ?p WHERE { ?p wdt:P39 wd:Q4970706 }",
		"question": "Who was Chancellor of Germany?"})
	if len(a.Marks) != 0 || !bytes.Contains(a.Remarks,
		[]byte(`"said":true,"text":"Federal Chancellor of Germany (Q4970706)"`)) {
		t.Errorf("an alias from the graph is not known: %s %+v", a.Remarks, a.Marks)
	}
}

// Requests from strangers are rejected, and the contents of candidates are always shown as plain text.
func TestStrangers(t *testing.T) {
	s := newSite(t)
	body := fmt.Sprintf(`{"candidate":%q,"query":"x","question":"y"}`, datasettest.ID(1))
	for _, c := range []struct {
		name, who, method, path, kind string
		head                          []string
		want                          int
	}{
		{"own page", "Ada", "POST", "/api/save", "application/json", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"another site", "Ada", "POST", "/api/save", "application/json", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another port of this machine", "Ada", "POST", "/api/save", "application/json", []string{"Sec-Fetch-Site",
			"same-site"}, 403},
		{"another origin, old browser", "Ada", "POST", "/api/save", "application/json", []string{"Origin",
			"https://evil.example"}, 403},
		{"a form", "Ada", "POST", "/api/save", "text/plain", nil, 415},
		{"nobody", "", "POST", "/api/save", "application/json", nil, 401},
		{"a name that points here", "Ada", "GET", "/", "", []string{"Host", "evil.example:8090"}, 421},
		{"localhost", "Ada", "GET", "/", "", []string{"Host", "LOCALHOST:1"}, 200},
		{"IPv6", "Ada", "GET", "/", "", []string{"Host", "[::1]:8090"}, 200},
		{"no such candidate", "Ada", "GET", "/item/c-ffffffffffffffff", "", nil, 404},
		{"a path", "Ada", "GET", "/static/..%2fserver.go", "", nil, 404},
		{"a template", "Ada", "GET", "/static/layout.html", "", nil, 404},
		{"a hostile name", "%3Cscript%3E", "GET", "/", "", nil, 303},
		{"a verdict from an old page", "Ada", "POST", "/api/decide", "application/json", nil, 409},
	} {
		if w := s.do(c.who, c.method, c.path, c.kind, body, c.head...); w.Code != c.want {
			t.Errorf("%s: status %d, want %d: %.200s", c.name, w.Code, c.want, w.Body)
		}
	}
	page := s.get("Ada", "/item/"+datasettest.ID(5))
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<b>with pictures") || !strings.Contains(page,
		"&lt;script&gt;alert(1)") {
		t.Error("text of a candidate became markup")
	}
	if w := s.do("", "POST", "/name", "application/x-www-form-urlencoded",
		"name=Ada&to=//evil.example/"); w.Header().Get("Location") != "/" {
		t.Errorf("the name page redirects to %q", w.Header().Get("Location"))
	}
	if csp := s.do("Ada", "GET", "/", "", "").Header().Get("Content-Security-Policy"); !strings.Contains(csp,
		"default-src 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("policy: %s", csp)
	}
}

func TestQueueFilters(t *testing.T) {
	s := newSite(t)
	for query, want := range map[string]int{"": 10, "flag=formatting": 1, "flag=none": 7, "year=2018": 2,
		"feature=closure": 1, "advice=exclude": 2, "q=pakistan+peak": 1, "q=nothing+of+this": 0, "box=mine": 0,
		"box=nonsense": 10, "verdict=include": 0} {
		page := s.get("Ada", "/?"+query)
		if got := strings.Count(page, `class="row-link"`); got != want {
			t.Errorf("%q shows %d rows, want %d", query, got, want)
		}
	}
	s.decide("Ada", 1, dataset.Skip, nil)
	if page := s.get("Ada", "/?box=skipped"); strings.Count(page, `class="row-link"`) != 1 {
		t.Error("a skipped candidate is not in its box")
	}
	for _, name := range []string{"", strings.Repeat("x", 41), "<b>", "a\x00b"} {
		if w := s.do("", "POST", "/name", "application/x-www-form-urlencoded", "name="+name); w.Code == http.StatusSeeOther {
			t.Errorf("the name %q is taken", name)
		}
	}
}

// BenchmarkQueue shows a queue as long as the paper's (2,171 candidates), three quarters of which have been judged by
// two annotators.
func BenchmarkQueue(b *testing.B) {
	s := newLargeSite(b, 217)
	for n := 1; n <= 1600; n++ {
		for _, who := range []string{"Ada", "Ben"} {
			w := &annotate.Work{Candidate: datasettest.ID(n), Annotator: who, Query: strings.Repeat("# a long query\n", 60) +
				"SELECT ?x WHERE { ?x wdt:P31 wd:Q5 }" + who, Question: strings.Repeat("which ", 30), Verdict: dataset.Include,
				Decided: s.clock}
			if err := s.store.SaveWork(b.Context(), w, &annotate.Event{At: s.clock, Who: who,
				Kind: annotate.Judged}); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		s.get("Ada", "/?box=all")
	}
}
