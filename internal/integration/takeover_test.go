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
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// process is a running bot.
type process struct {
	cmd *exec.Cmd
	mu  sync.Mutex
	out bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// works starts a bot with its own data folder and a three-second lease.
func (w *world) works(name string) *process {
	w.t.Helper()
	p := &process{cmd: w.command(nil, "run", "--lease", "3s", "--unknown-grace", "2s", "--watch-schedule", "@every 1s",
		"--data-dir", filepath.Join(w.dir, name))}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		p.signal(syscall.SIGKILL)
		_ = p.cmd.Wait()
		if w.t.Failed() {
			w.t.Logf("%s said:\n%s", name, p.said())
		}
	})
	return p
}

// eventually waits for a condition to become true.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	for range 300 {
		if ok() {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	w.t.Fatalf("it did not happen: %s", what)
}

// within waits for a channel to be closed.
func (w *world) within(what string, done <-chan struct{}) {
	w.t.Helper()
	select {
	case <-done:
	case <-time.After(time.Minute):
		w.t.Fatalf("it did not happen: %s", what)
	}
}

// database creates an empty database for a test and returns its address.
func database(t *testing.T) string {
	t.Helper()
	address := os.Getenv("STORE_TEST_DATABASE_URL")
	if address == "" {
		t.Fatal("STORE_TEST_DATABASE_URL is not set; make integration starts PostgreSQL")
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("bot_%d", time.Now().UnixNano())
	if out, err := exec.Command("psql", address, "-c", "CREATE DATABASE "+name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	u.Path = "/" + name
	return u.String()
}

// TestTakeover suspends the leading process for longer than its lease while its reply is being sent. Another process
// takes over and replies. Then the first reply arrives, and the first process wakes up. It must not add a second reply.
func TestTakeover(t *testing.T) {
	t.Parallel()
	wiki := startWiki(t)
	bin := binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	w.set("DATABASE_URL", database(t))
	w.first()
	reply := func(heading string) int { return replies(section(w.alice.text(w.page), heading)) }

	a := w.works("a")
	w.eventually("a leads", func() bool { return strings.Contains(a.said(), "this process leads") })
	b := w.works("b")
	w.eventually("b stands by", func() bool { return strings.Contains(b.said(), "standing by") })
	stopped, held, arrived := make(chan struct{}), make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	t.Cleanup(release)
	var mine atomic.Int64 // call number of this process's first edit
	w.hooks.reset(func(c call) bool {
		if isEdit(c) && mine.CompareAndSwap(0, int64(c.n)) {
			a.signal(syscall.SIGSTOP)
			close(stopped)
			<-held
		}
		return true
	}, func(c call) bool {
		if int64(c.n) == mine.Load() {
			close(arrived)
		}
		return true
	})
	w.alice.ask(w.page, "Held up", capital)
	w.within("a edits", stopped)
	w.eventually("b replies", func() bool { return reply("Held up") == 1 })
	release()
	w.within("the first edit arrives", arrived)
	a.signal(syscall.SIGCONT)
	w.eventually("a notices", func() bool { return strings.Contains(a.said(), "no longer leads") })
	time.Sleep(5 * time.Second)
	if n := reply("Held up"); n != 1 {
		t.Fatalf("%d replies, want one:\n%s", n, section(w.alice.text(w.page), "Held up"))
	}

	w.hooks.reset(nil, nil)
	b.signal(syscall.SIGKILL)
	w.alice.ask(w.page, "After a death", capital)
	w.eventually("a replies", func() bool { return reply("After a death") == 1 })
	time.Sleep(3 * time.Second)
	if one, two := reply("Held up"), reply("After a death"); one != 1 || two != 1 {
		t.Errorf("%d and %d replies, want one each", one, two)
	}
	open, err := w.bot(nil, "ledger", "list", "--state", "noticed,accepted,proposed,approved,posting,gave_up")
	if err != nil || !strings.HasPrefix(open, "no entries") {
		t.Errorf("not settled (%v):\n%s", err, open)
	}
}
