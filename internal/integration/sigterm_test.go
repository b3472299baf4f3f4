//go:build integration

package integration

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
)

// maxDrain is the maximum time that the program may take to stop after SIGTERM.
const maxDrain = 30 * time.Second

// purpose returns a function that reports whether a call is a model call for the given purpose.
func purpose(of string) func(call) bool {
	return func(c call) bool { return strings.Contains(c.body, `"purpose":"`+of+`"`) }
}

func isQuery(c call) bool { return c.path == "/sparql" }

// isRead reports whether a call fetches a page with its text.
func isRead(c call) bool { return strings.Contains(c.body, "curtimestamp") }

// told starts a program and asks it to stop at the first call for which at returns true. The call is delayed and then
// forwarded. If lost is set, the response is dropped. told returns how long the program took to stop, which may be at
// most 30 seconds.
func (w *world) told(cmd *exec.Cmd, at func(call) bool, hold time.Duration, lost bool) time.Duration {
	w.t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	var mu sync.Mutex
	var first int
	var asked time.Time
	started, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	w.hooks.reset(func(c call) bool {
		<-started
		mu.Lock()
		mine := first == 0 && at(c)
		if mine {
			first, asked = c.n, time.Now()
			_ = syscall.Kill(cmd.Process.Pid, syscall.SIGTERM)
		}
		mu.Unlock()
		if mine {
			select {
			case <-time.After(hold):
			case <-over:
			}
		}
		return true
	}, func(c call) bool {
		mu.Lock()
		defer mu.Unlock()
		return !lost || c.n != first
	})
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	close(started)
	gone := make(chan struct{})
	go func() { _ = cmd.Wait(); close(gone) }()
	for limit := time.Now().Add(time.Minute + maxDrain); ; {
		select {
		case <-gone:
			mu.Lock()
			defer mu.Unlock()
			if first == 0 {
				w.t.Fatalf("it ended before it was asked to:\n%s", &out)
			}
			return time.Since(asked)
		case <-time.After(100 * time.Millisecond):
		}
		mu.Lock()
		late := first != 0 && time.Since(asked) > maxDrain || time.Now().After(limit)
		mu.Unlock()
		if late {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-gone
			w.t.Fatalf("it does not stop:\n%s", &out)
		}
	}
}

// watching returns a command that runs the bot continuously.
func (w *world) watching() *exec.Cmd {
	return w.command(nil, "run", "--lease", "3s", "--unknown-grace", "1s", "--watch-schedule", "@every 1s")
}

// once posts a request that is never repeated. Unlike [world.ask], it does not wait until it is early in a minute.
func (w *world) once(heading string) {
	w.t.Helper()
	w.alice.ask(w.page, heading, capital)
	w.asked[heading] = 1
}

// stops asks the bot to stop at a call while it is working on a request, and checks that the request has one reply
// after a restart.
func (w *world) stops(phase string, at func(call) bool, hold time.Duration, lost bool) {
	w.t.Helper()
	heading := "Told to stop, " + phase
	if phase == "follow-up" {
		s := section(w.alice.text(w.page), older)
		w.bob.reply(w.page, older, signature.FindString(s), "::"+refined)
		w.asked[older]++
	} else {
		w.once(heading)
	}
	took := w.told(w.watching(), at, hold, lost)
	w.t.Logf("%s: stopped after %v", phase, took.Round(time.Millisecond))
	if took > maxDrain {
		w.t.Errorf("%s: it took %v to stop", phase, took)
	}
	w.settled()
	if list, err := w.bot(nil, "ledger", "list", "--json"); err != nil || strings.Contains(list, `"starts":`) ||
		strings.Contains(list, `"failures":`) {
		w.t.Errorf("%s: stopping on request counts as a crash or a failure (%v):\n%s", phase, err, list)
	}
}

// phase is a point at which the bot is asked to stop.
type phase struct {
	name string
	at   func(call) bool
	lost bool
}

// nth returns a function that reports whether a call is the nth call to the model or the graph.
func nth(n int) func(call) bool {
	return func(c call) bool {
		if isQuery(c) || modelCall.MatchString(c.path) {
			n--
		}
		return n == 0
	}
}

// lastCall lets the bot answer a request and returns the number of the last call to the model or the graph. The
// proposal follows that call.
func (w *world) lastCall() (n int) {
	w.t.Helper()
	w.once("Watched")
	w.hooks.reset(nil, nil)
	w.round()
	w.hooks.mu.Lock()
	for _, c := range w.hooks.calls {
		if isQuery(c) || modelCall.MatchString(c.path) {
			n++
		}
	}
	w.hooks.mu.Unlock()
	if n < 4 {
		w.t.Fatalf("only %d calls of model and graph for a request", n)
	}
	return n
}

// phases returns the phases to test. The nth call to the model or the graph is the last one before the proposal.
func phases(n int) []phase {
	return []phase{
		{"poll", isRead, false},
		{"triage", purpose("triage"), false},
		{"the model's turn", purpose("act"), false},
		{"query", isQuery, false},
		{"proposal", nth(n), false},
		{"save", isEdit, false},
		{"save whose answer is lost", isEdit, true},
		{"follow-up", purpose("act"), false},
	}
}

// The bot is asked to stop during a call, in each phase of its work. It stops within 30 seconds, and after a restart,
// each request has one reply.
func TestToldToStop(t *testing.T) {
	t.Parallel()
	wiki, bin := startWiki(t), binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	w.first()
	w.answerOlder()
	last := w.lastCall()
	for _, p := range phases(last) {
		w.stops(p.name, p.at, 300*time.Millisecond, p.lost)
	}
	w.stopsProposing(last)
	w.stopsHarvesting()
	w.stopsEvaluating()
}

// stopsProposing asks a bot that only proposes replies to stop at the last call before a proposal. The proposal is
// neither lost nor made twice, and it is posted once when it is approved.
func (w *world) stopsProposing(last int) {
	w.t.Helper()
	w.set("POSTING", "propose")
	defer w.set("POSTING", "on")
	w.once("Told to stop, proposing")
	w.told(w.watching(), nth(last), 300*time.Millisecond, false)
	w.hooks.reset(nil, nil)
	w.round()
	out, err := w.bot(nil, "ledger", "list", "--state", "proposed")
	if err != nil || strings.Count(out, "Told to stop, proposing") != 1 {
		w.t.Fatalf("the proposals (%v):\n%s", err, out)
	}
	if n := replies(section(w.alice.text(w.page), "Told to stop, proposing")); n != 0 {
		w.t.Errorf("%d replies that nobody approved", n)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "Told to stop, proposing") {
			if out, err := w.bot(nil, "ledger", "approve", strings.Fields(line)[0]); err != nil {
				w.t.Fatalf("%v\n%s", err, out)
			}
		}
	}
	w.told(w.watching(), isEdit, 300*time.Millisecond, false)
	w.settled()
}

// stopsHarvesting asks a harvest to stop while it is reading a page, rendering a page, or running a query. The next
// harvest produces the same files as an uninterrupted harvest.
func (w *world) stopsHarvesting() {
	w.t.Helper()
	for i, month := range []string{"2021/01", "2021/02"} {
		text := ""
		for n := range 3 {
			text += fmt.Sprintf("== Month %s, %d ==\nWhich ones? %s\n:{{SPARQL|query=%s\n}} %s\n\n", month, n,
				stamp("Ann", 10, 3), countries(10*i+n+1), stamp("Bob", 11, 4))
		}
		w.alice.edit(url.Values{"title": {w.wiki.vars["FORUM_ARCHIVE_PREFIX"] + month}, "text": {text}})
	}
	w.set("FORUM_ARCHIVE_PREFIX", w.wiki.vars["FORUM_ARCHIVE_PREFIX"])
	site := &harvestSite{t: w.t}
	whole, dir := filepath.Join(w.dir, "whole"), filepath.Join(w.dir, "stopped")
	harvest := func(dir string) *exec.Cmd { return w.command(nil, "harvest", "--no-suggest", "--out", dir) }
	w.hooks.reset(nil, nil)
	if out, err := harvest(whole).CombinedOutput(); err != nil {
		w.t.Fatalf("the undisturbed harvest: %v\n%s", err, out)
	}
	if n := len(site.read(whole, dataset.CandidatesFile)); n != 6 {
		w.t.Fatalf("%d candidates, want 6", n)
	}
	for phase, at := range map[string]func(call) bool{
		"list":   func(c call) bool { return strings.Contains(c.body, "allpages") },
		"render": func(c call) bool { return strings.Contains(c.path, "rest.php") },
		"query":  isQuery,
	} {
		took := w.told(harvest(dir), at, 300*time.Millisecond, false)
		w.t.Logf("harvest, %s: stopped after %v", phase, took.Round(time.Millisecond))
	}
	w.hooks.reset(nil, nil)
	if out, err := harvest(dir).CombinedOutput(); err != nil {
		w.t.Fatalf("the harvest after the stops: %v\n%s", err, out)
	}
	for name, want := range site.content(whole) {
		if got := site.content(dir)[name]; got != want {
			w.t.Errorf("%s after the stops:\n%s\nundisturbed:\n%s", name, got, want)
		}
	}
}

// stopsEvaluating asks a benchmark run to stop while it is asking a question. The next run produces the same results as
// an uninterrupted run.
func (w *world) stopsEvaluating() {
	w.t.Helper()
	whole, dir := filepath.Join(w.dir, "evaluated"), filepath.Join(w.dir, "evaluated in pieces")
	if out, err := evalRun(w.bin, whole).CombinedOutput(); err != nil {
		w.t.Fatalf("the undisturbed run: %v\n%s", err, out)
	}
	for stop := range 3 {
		cmd := evalRun(w.bin, dir)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			w.t.Fatal(err)
		}
		for begun, n := files(dir, "trajectories"), 0; files(dir, "trajectories") == begun && files(dir, "items") < 12 && n < 5000; n++ {
			time.Sleep(2 * time.Millisecond)
		}
		asked := time.Now()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		gone := make(chan struct{})
		go func() { _ = cmd.Wait(); close(gone) }()
		select {
		case <-gone:
			w.t.Logf("eval run, stop %d: stopped after %v", stop, time.Since(asked).Round(time.Millisecond))
		case <-time.After(maxDrain):
			_ = cmd.Process.Kill()
			w.t.Fatal("eval run does not stop")
		}
	}
	if out, err := evalRun(w.bin, dir).CombinedOutput(); err != nil {
		w.t.Fatalf("the run after the stops: %v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(whole, "results.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "results.jsonl")); err != nil || !bytes.Equal(got, want) {
		w.t.Errorf("the results after the stops (%v):\n%s\nundisturbed:\n%s", err, got, want)
	}
}

// The bot is asked to stop while a service hangs. It aborts the call and stops within 30 seconds, and each request has
// one reply after a restart. The test uses SQLite and then several processes on PostgreSQL. On PostgreSQL, it also
// tests each phase, as TestToldToStop does.
func TestToldToStopWhileServicesHang(t *testing.T) {
	t.Parallel()
	wiki, bin := startWiki(t), binary(t)
	sandbox := startSandbox(t, bin)
	for i, shared := range []bool{false, true} {
		w := newWorld(t, wiki, bin, sandbox)
		w.pages = 10 * (i + 1)
		w.set("OPENAI_TIMEOUT", "100s")
		w.fresh()
		if shared {
			w.set("DATABASE_URL", database(t))
			w.first()
		}
		w.answerOlder()
		for _, p := range phases(w.lastCall()) {
			if shared {
				w.stops(p.name, p.at, 300*time.Millisecond, p.lost)
			}
			if p.name == "the model's turn" || p.name == "query" || p.name == "save" {
				w.stops(p.name+" that hangs", p.at, time.Minute, true)
			}
		}
	}
}
