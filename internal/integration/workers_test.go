//go:build integration

package integration

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/testutil"
)

// postgres is a server that belongs to the test, so the test can restart it.
type postgres struct {
	t   *testing.T
	dir string
	url string
}

func startPostgres(t *testing.T) *postgres {
	t.Helper()
	p := &postgres{t: t, dir: filepath.Join(t.TempDir(), "pg")}
	for dir := p.dir; dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) { // the server may run as a different user
		_ = exec.Command("chmod", "o+x", dir).Run()
	}
	out, err := exec.Command("bash", "../../tools/postgres/start.sh", p.dir).Output()
	if err != nil {
		t.Fatalf("PostgreSQL does not start: %v", err)
	}
	_, p.url, _ = strings.Cut(strings.TrimSpace(string(out)), "=")
	t.Cleanup(func() { _ = exec.Command("bash", "../../tools/postgres/stop.sh", p.dir).Run() })
	return p
}

// restart drops all connections at once, like a crash, and restarts the server.
func (p *postgres) restart() {
	p.t.Helper()
	out, err := exec.Command("bash", "../../tools/postgres/restart.sh", p.dir).CombinedOutput()
	if err != nil {
		p.t.Fatalf("PostgreSQL does not restart: %v\n%s", err, out)
	}
}

// history returns all revisions of the given page.
func (u *user) history(page string) (all []testutil.Revision) {
	u.t.Helper()
	more := url.Values{}
	for {
		v := url.Values{"action": {"query"}, "prop": {"revisions"}, "rvprop": {"user|content"}, "rvslots": {"main"},
			"rvlimit": {"50"}, "rvdir": {"newer"}, "titles": {page}}
		for k := range more {
			v.Set(k, more.Get(k))
		}
		out := u.call(v)
		pages, _ := dig(out, "query", "pages").([]any)
		for _, p := range pages {
			revs, _ := dig(p, "revisions").([]any)
			for _, r := range revs {
				all = append(all, testutil.Revision{User: str(r, "user"), Text: str(r, "slots", "main", "content")})
			}
		}
		next := str(out, "continue", "rvcontinue")
		if next == "" {
			return all
		}
		more.Set("rvcontinue", next)
	}
}

// slowModel makes each call to the model take at least the given time.
func (w *world) slowModel(d time.Duration) {
	w.hooks.reset(func(c call) bool {
		if strings.HasSuffix(c.path, "/chat/completions") {
			time.Sleep(d)
		}
		return true
	}, nil)
}

// TestThreeWorkers runs three processes that share a database. While users ask questions, one process is killed, one is
// suspended for longer than its lease, and the database is restarted. What each process is doing at those moments is
// random. The page's history determines whether the test passes.
func TestThreeWorkers(t *testing.T) {
	t.Parallel()
	wiki, bin := startWiki(t), binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	db := startPostgres(t)
	w.set("DATABASE_URL", db.url)
	w.set("REQUESTS_PER_USER", "1000")
	w.first()
	w.slowModel(300 * time.Millisecond)
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	names := []string{"a", "b", "c"}
	rng.Shuffle(3, func(i, j int) { names[i], names[j] = names[j], names[i] })
	procs := map[string]*process{}
	for _, n := range []string{"a", "b", "c"} {
		procs[n] = w.works(n)
	}
	w.eventually("one leads", func() bool {
		for _, p := range procs {
			if strings.Contains(p.said(), "this process leads") {
				return true
			}
		}
		return false
	})
	requests := map[string]int{}
	for i := range 12 {
		heading := fmt.Sprint("Request ", i+1)
		w.alice.ask(w.page, heading, capital)
		requests[heading] = 1
		switch i {
		case 2:
			procs[names[0]].signal(syscall.SIGKILL)
		case 4:
			procs[names[1]].signal(syscall.SIGSTOP)
		case 7:
			db.restart()
		case 9:
			procs[names[1]].signal(syscall.SIGCONT)
			w.works(names[0] + " again")
		}
		time.Sleep(time.Duration(200+rng.IntN(1200)) * time.Millisecond)
	}
	var wrong []string
	var history []testutil.Revision
	w.eventually("all are answered", func() bool {
		history = w.alice.history(w.page)
		wrong = testutil.CheckHistory("SpinachBot", requests, history)
		return wrong == nil
	})
	time.Sleep(6 * time.Second) // longer than a lease and the grace period
	if wrong = testutil.CheckHistory("SpinachBot", requests, w.alice.history(w.page)); wrong != nil {
		t.Errorf("the history of the page:\n%s", strings.Join(wrong, "\n"))
	}
	open, err := w.bot(nil, "ledger", "list", "--state", "noticed,accepted,proposed,approved,posting,gave_up")
	if err != nil || !strings.HasPrefix(open, "no entries") {
		t.Errorf("not settled (%v):\n%s", err, open)
	}
	for n, p := range procs {
		if n != names[0] {
			w.drains(n, p)
		}
	}
	if t.Failed() {
		return
	}
	// If a second reply is planted in the history, the check finds it.
	last := history[len(history)-1]
	m := signature.FindString(section(last.Text, "Request 1"))
	planted := append(history, testutil.Revision{User: "SpinachBot", Text: strings.Replace(last.Text, m, m+"\n:Once more. "+m, 1)})
	if wrong := testutil.CheckHistory("SpinachBot", requests, planted); len(wrong) != 1 {
		t.Errorf("a planted double: %q", wrong)
	}
}

// drains asks a process to stop and checks that it does so within 30 seconds.
func (w *world) drains(name string, p *process) {
	w.t.Helper()
	began := time.Now()
	_ = syscall.Kill(p.cmd.Process.Pid, syscall.SIGTERM)
	gone := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(gone) }()
	select {
	case <-gone:
		w.t.Logf("%s stopped after %v", name, time.Since(began).Round(time.Millisecond))
	case <-time.After(30 * time.Second):
		w.t.Errorf("%s does not stop", name)
	}
}

var modelCall = regexp.MustCompile(`/chat/completions$`)

// TestThroughput measures how many requests per minute one to three processes answer if each call to the model takes
// one second. It fails only if requests go unanswered. The figures are for docs/operator.md.
func TestThroughput(t *testing.T) {
	wiki, bin := startWiki(t), binary(t)
	sandbox := startSandbox(t, bin)
	const n = 12
	for workers := 1; workers <= 3; workers++ {
		w := newWorld(t, wiki, bin, sandbox)
		w.pages = workers
		w.fresh()
		w.set("DATABASE_URL", database(t))
		w.set("REQUESTS_PER_USER", "1000")
		w.first()
		requests := map[string]int{}
		for i := range n {
			heading := fmt.Sprint("Request ", i+1)
			w.alice.ask(w.page, heading, capital)
			requests[heading] = 1
		}
		w.slowModel(time.Second)
		began := time.Now()
		for i := range workers {
			w.works(fmt.Sprint("w", workers, i))
		}
		for {
			if testutil.CheckHistory("SpinachBot", requests, w.alice.history(w.page)) == nil {
				break
			}
			if time.Since(began) > 4*time.Minute {
				t.Fatal("not answered")
			}
			time.Sleep(500 * time.Millisecond)
		}
		took := time.Since(began)
		w.hooks.mu.Lock()
		calls := 0
		for _, c := range w.hooks.calls {
			if modelCall.MatchString(c.path) {
				calls++
			}
		}
		w.hooks.mu.Unlock()
		t.Logf("%d workers: %d requests in %v, %.1f a minute; %d calls to the model", workers, n, took.Round(time.Millisecond),
			n/took.Minutes(), calls)
	}
}
