package main

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/testutil"
)

// The same seed produces the same faults and events; a different seed produces different ones. Each fault in the tables
// occurs.
func TestSchedule(t *testing.T) {
	play := func(seed uint64) string {
		s := newSchedule(seed, 0.3)
		var b strings.Builder
		for range 200 {
			for _, part := range []string{wikiPart, savePart, graphPart, modelPart} {
				f, rng := s.next(part)
				b.WriteString(string(f) + " " + time.Duration(rng.Int64()).String() + "\n")
			}
		}
		for n := range uint64(20) {
			e := event(seed, n, 3, time.Second, time.Second)
			b.WriteString(e.Kind + " " + e.After.String() + e.Length.String() + "\n")
		}
		return b.String()
	}
	once := play(7)
	if once != play(7) {
		t.Error("the same seed plays different faults")
	}
	if once == play(8) {
		t.Error("another seed plays the same faults")
	}
	s := newSchedule(1, 0.5)
	seen, faults := map[Fault]bool{}, 0
	const calls = 20000
	for part, kinds := range faultsOf {
		for range calls {
			f, _ := s.next(part)
			seen[f] = true
			if f != none && part == modelPart {
				faults++
			}
		}
		for f := range kinds {
			if !seen[f] {
				t.Errorf("%s: never %q", part, f)
			}
		}
	}
	if faults < calls*45/100 || faults > calls*55/100 {
		t.Errorf("%d of %d calls fail, want half", faults, calls)
	}
	s.calmDown()
	for range 100 {
		if f, _ := s.next(savePart); f != none {
			t.Fatalf("%q after the end of all faults", f)
		}
	}
}

func TestFaults(t *testing.T) {
	var got atomic.Pointer[string]
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s := r.URL.RawQuery + " " + r.Header.Get("Cookie") + " " + string(body)
		got.Store(&s)
		calls.Add(1)
		_, _ = io.WriteString(w, `{"edit": {"result": "Success"}}`)
	}))
	defer server.Close()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var kills atomic.Int32
	meddled := ""
	p := &proxy{target: u, schedule: newSchedule(1, 0), kill: func() { kills.Add(1) }, meddle: func(h string) { meddled = h }, unit: 10 * time.Millisecond}
	const body = "name=\"action\"\r\n\r\nedit\r\nname=\"text\"\r\n\r\n== A heading ==\nWords\r\nname=\"maxlag\"\r\n\r\n5\r\nname=\"token\"\r\n\r\nab+\\\r\n"
	for f, want := range map[Fault]struct {
		calls  int32
		answer bool
		status int
		kills  int32
		sees   string // contained in the request that reaches the server
	}{
		none: {1, true, 200, 0, "session=1"}, slow: {1, true, 200, 0, ""}, drop: {0, false, 0, 0, ""}, lost: {1, false, 0, 0, ""},
		late: {1, false, 0, 0, ""}, truncated: {1, false, 200, 0, ""}, drip: {1, true, 200, 0, ""}, busy: {0, true, 503, 0, ""},
		limited: {0, true, 429, 0, ""}, webPage: {0, true, 200, 0, ""}, empty: {0, true, 200, 0, ""}, redirect: {0, true, 302, 0, ""},
		kill: {0, false, 0, 1, ""}, killAfter: {1, false, 0, 1, ""}, lag: {1, true, 200, 0, "maxlag\"\r\n\r\n-1"},
		badToken: {1, true, 200, 0, "abx\\"}, loggedOut: {1, true, 200, 0, "a=b  name"}, conflict: {1, true, 200, 0, "A heading"},
	} {
		t.Run(string(f), func(t *testing.T) {
			calls.Store(0)
			kills.Store(0)
			meddled = ""
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				all, _ := io.ReadAll(r.Body)
				p.play(w, r, all, f, rand.New(rand.NewPCG(1, 2)))
			}))
			defer front.Close()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL+"/api.php?a=b", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Cookie", "session=1")
			resp, err := direct.Do(req)
			answer, status := err == nil, 0
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				resp.Body.Close()
				answer, status = err == nil, resp.StatusCode
			}
			if f == late {
				for n := 0; calls.Load() == 0 && n < 500; n++ { // until a fault occurs
					time.Sleep(20 * time.Millisecond)
				}
			}
			if answer != want.answer || status != want.status || calls.Load() != want.calls || kills.Load() != want.kills {
				t.Errorf("answer %v, status %d, %d calls, %d kills; want %+v", answer, status, calls.Load(), kills.Load(), want)
			}
			if want.sees != "" && !strings.Contains(*got.Load(), want.sees) {
				t.Errorf("the server sees %q, want %q", *got.Load(), want.sees)
			}
			if (meddled == "A heading") != (f == conflict) {
				t.Errorf("someone wrote under %q", meddled)
			}
		})
	}
}

// The checker detects a duplicate reply, a wrong reply, and a reply with content that it should not have.
func TestJudge(t *testing.T) {
	const stamp = "12:05, 20 November 2026 (UTC)"
	const signed = "If something is missing, just reply here. --[[User:SpinachBot|SpinachBot]] ([[User talk:SpinachBot|talk]]) " + stamp
	good := ":@Bob: It is Yamoussoukro.<!-- spinachbot:sb-1 -->\n:Query: {{SPARQL|query=\nSELECT ?c WHERE { wd:Q1008 wdt:P36 ?c . }\n}}\n:" + signed
	start := "== Request 1 ==\nWhich? [[User:Bob|Bob]] " + stamp + "\n"
	for name, c := range map[string]struct {
		replies []string
		finds   string
	}{
		"one reply":  {[]string{good}, ""},
		"double":     {[]string{good, good}, "2 replies were posted"},
		"wrong":      {[]string{strings.ReplaceAll(good, "Yamoussoukro", "Abidjan")}, "this is not the answer"},
		"link":       {[]string{strings.ReplaceAll(good, "It is", "[https://example.org x]")}, "with faults"},
		"no answer":  {[]string{":I found no answer.<!-- spinachbot:sb-1 -->\n:" + signed}, ""},
		"none":       {nil, "0 replies were posted"},
		"two in one": {[]string{good + "\n" + good}, "adds 2 replies"},
	} {
		to := &town{history: testutil.NewHistory(account), byHeading: map[string]*thread{}, replies: map[string]int{}}
		to.history.Reply = to.judge
		th := &thread{heading: "Request 1", q: questions[0], asked: time.Now()}
		to.threads, to.byHeading[th.heading] = append(to.threads, th), th
		to.history.Requests[th.heading] = 1
		page := start
		to.history.Add(testutil.Revision{User: "Bob", Text: page})
		for _, r := range c.replies {
			page += r + "\n"
			to.history.Add(testutil.Revision{User: account, Text: page})
		}
		wrong := strings.Join(to.history.Wrong(), "\n")
		if c.finds == "" && wrong != "" || !strings.Contains(wrong, c.finds) {
			t.Errorf("%s: %q, want %q", name, wrong, c.finds)
		}
		if few := to.fewAnswers(); name == "one reply" && few != "" || (name == "none" || name == "no answer") && few == "" {
			t.Errorf("%s: %q", name, few)
		}
		if name == "one reply" && !to.findsDouble() {
			t.Error("a planted double is not found")
		}
	}
}
