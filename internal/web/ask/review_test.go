package ask

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// turns is a model that returns the given messages one after another.
type turns struct {
	mu   sync.Mutex
	acts []string
}

func (m *turns) Complete(_ context.Context, req llm.Request) (*llm.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := "English"
	if req.Purpose == "act" {
		text, m.acts = m.acts[0], m.acts[1:]
	}
	return &llm.Response{Choices: []llm.Choice{{Content: text}}}, nil
}

// reviewing returns a site that runs the real agent and stores its files in dir, and a function that shuts it down.
func reviewing(t *testing.T, dir string, m *turns) (*site, context.CancelFunc) {
	t.Helper()
	base, cancel := context.WithCancel(t.Context())
	p, err := preset.Named("spinach")
	if err != nil {
		t.Fatal(err)
	}
	lg := slog.New(slog.DiscardHandler)
	return newSite(t, nil, func(o *Options) {
		o.Base, o.Dir, o.Parallel = base, dir, 1
		o.Service = func(_ context.Context, _ Choice, who policy.Reviewer) (*ask.Service, error) {
			g, err := graph()
			if err != nil {
				return nil, err
			}
			e := agent.New(lg, m, agent.Wikibase(g), time.Now, agent.Options{Preset: p, Reviewer: who})
			return &ask.Service{Log: lg, Asker: e, Open: ask.Folder(dir, time.Now), Now: time.Now}, nil
		}
	}), cancel
}

var (
	turnNumber = regexp.MustCompile(`data-turn="(\d+)"`)
	turnPlace  = regexp.MustCompile(`<h3 id="turn-title">[^<]*?(\d+)<`)
	turnText2  = regexp.MustCompile(`(?s)<textarea class="code" name="text"[^>]*>(.*?)</textarea>`)
)

// shown returns the turn that a page shows.
func (s *site) shown(id string) (number, place, turn, page string) {
	s.t.Helper()
	for range 200 {
		_, page = s.get("/a/" + id)
		if n := turnNumber.FindStringSubmatch(page); n != nil {
			return n[1], turnPlace.FindStringSubmatch(page)[1], turnText2.FindStringSubmatch(page)[1], page
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatal("no turn is waiting on the page")
	return
}

func (s *site) decide(id, turn string, form ...string) int {
	s.t.Helper()
	v := url.Values{"turn": {turn}}
	for i := 0; i+1 < len(form); i += 2 {
		v.Set(form[i], form[i+1])
	}
	return s.post("/a/"+id+"/decide", v).StatusCode
}

func say(action string) string { return "Thought: let me see\nAction: " + action }

// A reader decides on each turn using forms, even after the program is restarted, and every decision is in the
// trajectory. While a turn waits, another question may use the only slot.
func TestReviewOnThePage(t *testing.T) {
	dir := t.TempDir()
	s, end := reviewing(t, dir, &turns{acts: []string{say("search_wikidata(Europe)"), say("search_wikidata(Berlin)"),
		say("get_wikidata_entry(Q64)"), say("get_wikidata_entry(Q183)")}})
	if resp := s.post("/a", url.Values{"q": {"Which?"}, "review": {"1"}, "policy": {"mcts"}}); resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a tree search under review: %s", resp.Status)
	}
	id := s.ask("Which?", "review", "1")
	n, place, turn, page := s.shown(id)
	if n != "1" || place != "1" || !strings.Contains(turn, "search_wikidata(Europe)") || strings.Contains(page, "http-equiv=\"refresh\"") {
		t.Fatalf("turn %s, step %s: %s", n, place, turn)
	}
	if got := s.decide(id, "1", "verdict", "edited", "text", " \n"); got != http.StatusUnprocessableEntity {
		t.Errorf("an empty change: %d", got)
	}
	if got := s.decide(id, "1", "verdict", "deleted"); got != http.StatusUnprocessableEntity {
		t.Errorf("an invalid decision: %d", got)
	}
	if got := s.decide(id, "1", "verdict", "edited", "text", "Action: fly(away)"); got != http.StatusSeeOther {
		t.Errorf("a change that cannot be carried out: %d", got)
	}
	n, _, turn, page = s.shown(id)
	if n != "2" || turn != "Action: fly(away)" || !strings.Contains(page, "<p class=\"note bad\" id=\"turn-problem\">") {
		t.Errorf("turn %s: %s", n, turn)
	}
	if got := s.decide(id, "1", "verdict", "accepted"); got != http.StatusConflict {
		t.Errorf("a second decision on the same turn: %d", got)
	}
	s.decide(id, "2", "verdict", "edited", "text", "Thought: better\r\nAction: search_wikidata(Germany)")
	n, place, turn, _ = s.shown(id)
	if n != "3" || place != "2" || !strings.Contains(turn, "Berlin") {
		t.Errorf("turn %s, step %s: %s", n, place, turn)
	}
	s.decide(id, "3", "verdict", "edited", "text", strings.ReplaceAll(turn, "\n", "\r\n")) // without a change
	s.shown(id)

	other := s.ask("And?", "review", "1") // the first question is waiting and does not need a slot
	s.shown(other)
	s.post("/a/"+other+"/stop", nil)
	s.wait(other)

	end() // the program ends while the turn of step 3 is waiting
	s.wait(id)
	again, _ := reviewing(t, dir, &turns{acts: []string{say("get_wikidata_entry(Q183)")}})
	if _, body := again.get("/a/" + id); !strings.Contains(body, "/continue") || strings.Contains(body, "data-turn") {
		t.Error("the run cannot be continued")
	}
	if resp := again.post("/a/"+id+"/continue", nil); resp.StatusCode != http.StatusSeeOther {
		t.Fatal(resp.Status)
	}
	n, place, turn, page = again.shown(id)
	if n != "1" || place != "3" || !strings.Contains(turn, "Q64") || !strings.Contains(page, "You changed this step") {
		t.Errorf("after the restart: turn %s, step %s: %s", n, place, turn)
	}
	again.decide(id, "1", "verdict", "back", "to", "2")
	n, place, turn, page = again.shown(id)
	if n != "2" || place != "2" || !strings.Contains(turn, "Berlin") || !strings.Contains(page, `class="step left"`) {
		t.Errorf("gone back: turn %s, step %s: %s", n, place, turn)
	}
	again.decide(id, "2", "verdict", "skipped", "reason", "Nobody knows.")
	again.wait(id)
	if _, body := again.get("/a/" + id); !strings.Contains(body, "The question was given up.") || !strings.Contains(body, "Nobody knows.") {
		t.Error(body)
	}
	if got := again.decide(id, "3", "verdict", "accepted"); got != http.StatusConflict {
		t.Errorf("a decision after the end: %d", got)
	}
	var verdicts []string
	for _, e := range kept(t, dir, id) {
		if e.Event == "review" {
			verdicts = append(verdicts, e.Review.Verdict+" "+e.Review.By)
		}
	}
	if got := strings.Join(verdicts, ", "); got != "edited the asker, accepted the asker, back the asker, skipped the asker" {
		t.Error(got)
	}
}

// kept reads the trajectory of the given question.
func kept(t *testing.T, dir, id string) []event.Event {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, name(id)+"-*"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	f, err := os.Open(found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := event.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// The stream sends the waiting turn after the events that led to it, and again to a browser that reconnects. If no one
// decides on a turn, the review ends.
func TestReviewInTheStream(t *testing.T) {
	s, _ := reviewing(t, t.TempDir(), &turns{acts: []string{say("search_wikidata(Europe)"), say("search_wikidata(Berlin)")}})
	id := s.ask("Which?", "review", "1")
	read := func(until string) string {
		resp, err := s.Client().Get(s.URL + "/a/" + id + "/events")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var b strings.Builder
		for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
			if b.WriteString(sc.Text() + "\n"); strings.Contains(sc.Text(), until) {
				break
			}
		}
		return b.String()
	}
	for range 2 {
		if got := read(`"turn":"Thought`); !strings.Contains(got, "event: start") || !strings.Contains(got, `data: {"n":1,"place":1,`) {
			t.Error(got)
		}
	}
	defer idle.Store(idle.Load())
	idle.Store(int64(100 * time.Millisecond))
	s.decide(id, "1", "verdict", "accepted")
	if got := read("event: end"); strings.Index(got, "event: step") > strings.Index(got, `{"n":2,"place":2`) && strings.Contains(got, `{"n":2`) {
		t.Error(got)
	}
	s.wait(id)
	if _, body := s.get("/a/" + id); !strings.Contains(body, "/continue") {
		t.Error("an abandoned review cannot be continued")
	}
}

// A waiting turn is shown as plain text, without characters that could hide parts of it.
func TestWaitingTurnIsText(t *testing.T) {
	var decided policy.Decision
	s := newSite(t, nil, func(o *Options) {
		o.Service = func(_ context.Context, _ Choice, who policy.Reviewer) (*ask.Service, error) {
			return &ask.Service{Log: o.Log, Now: time.Now, Open: ask.Folder(o.Dir, time.Now),
				Asker: asker(func(ctx context.Context, q agent.Question, rec agent.Recorder) (out *agent.Outcome, err error) {
					if err := steps(ctx, q, rec, 0, nil); err != nil {
						return nil, err
					}
					decided, err = who.Review(ctx, policy.Look{Place: 1, Turn: evil, Unreadable: evil, Problem: evil,
						Unseen: []string{evil}, Steps: []event.Step{{Action: evil, Argument: evil}}})
					return &agent.Outcome{}, err
				})}, nil
		}
	})
	id := s.ask("Which?", "review", "1")
	n, _, _, page := s.shown(id)
	for _, bad := range []string{"<script>", "<img src=x", "\x00", "\u202e"} {
		if strings.Contains(strings.ToLower(page), bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	s.decide(id, n, "verdict", "skipped", "reason", evil)
	s.wait(id)
	if strings.ContainsAny(decided.Reason, "\x00\u202e\n") || decided.By != byAsker {
		t.Errorf("decided by %s: %+q", decided.By, decided.Reason)
	}
}

// One client cannot use up all reviews, so others can still review.
func TestReviewsOfOneClient(t *testing.T) {
	s := newSite(t, nil, func(o *Options) {
		o.ClientHeader, o.Parallel = "X-Forwarded-For", 1
		o.Service = func(_ context.Context, _ Choice, who policy.Reviewer) (*ask.Service, error) {
			return &ask.Service{Log: o.Log, Now: time.Now, Open: ask.Folder(o.Dir, time.Now),
				Asker: asker(func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error) {
					if err := steps(ctx, q, rec, 0, nil); err != nil {
						return nil, err
					}
					_, err := who.Review(ctx, policy.Look{Place: 1, Turn: "Action: stop()"})
					return &agent.Outcome{}, err
				})}, nil
		}
	})
	ask := func(client string) int {
		t.Helper()
		form := url.Values{"q": {"Which?"}, "review": {"1"}}.Encode()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/a", strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("X-Forwarded-For", client)
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if id, ok := strings.CutPrefix(resp.Header.Get("Location"), "/a/"); ok {
			s.shown(id) // the turn is waiting, so the run's slot is free
		}
		return resp.StatusCode
	}
	for n := range maxClientReviews {
		if got := ask("192.0.2.1"); got != http.StatusSeeOther {
			t.Fatalf("review %d: %d", n+1, got)
		}
	}
	if got := ask("192.0.2.1"); got != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", got)
	}
	if got := ask("192.0.2.2"); got != http.StatusSeeOther {
		t.Errorf("someone else: %d", got)
	}
}

// An accepted decision takes effect even if it arrives at the moment the wait ends.
func TestDecidedAtTheLastMoment(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			slots := make(chan struct{}, 1)
			p := newPerson(slots)
			var told bool
			time.AfterFunc(time.Duration(idle.Load()), func() { told = p.decide(1, policy.Decision{Verdict: event.Accepted}) })
			d, err := p.Review(t.Context(), policy.Look{Turn: "Action: stop()"})
			synctest.Wait()
			if told != (err == nil) || told != (d.Verdict == event.Accepted) || told != (len(slots) == 1) {
				t.Errorf("reported as accepted: %v; %+v %v", told, d, err)
			}
		})
	}
}
