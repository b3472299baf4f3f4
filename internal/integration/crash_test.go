//go:build integration

package integration

import (
	"fmt"
	"math/rand"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asked is the number of posts that need an answer, by heading.
type asked map[string]int

// older is the heading of a thread in which users reply to the bot's answer.
const older = "An older request"

// answerOlder posts the older request and lets the bot answer it.
func (w *world) answerOlder() {
	w.t.Helper()
	w.bob.ask(w.page, older, landlocked)
	w.round()
	w.asked = asked{older: 1}
}

// ask posts a request by Alice under the heading, early enough in the minute to leave time for a second post.
func (w *world) ask(heading string) {
	w.t.Helper()
	if s := time.Now().Second(); s > 45 {
		time.Sleep(time.Duration(61-s) * time.Second)
	}
	w.alice.ask(w.page, heading, capital)
	w.asked[heading] = 1
}

// askAgain posts a second time in the same minute: at the top of the page, under an older answer, or in a different
// section.
func (w *world) askAgain(heading string, n int) {
	w.t.Helper()
	switch n % 3 {
	case 0:
		heading += ", above"
		text := w.alice.text(w.page)
		i := strings.Index(text, "== ")
		w.alice.edit(url.Values{"title": {w.page}, "text": {text[:i] + "== " + heading + " ==\n" + capital + " (" + heading + ") ~~~~\n\n" +
			text[i:]}})
		w.asked[heading] = 1
	case 1:
		m := signature.FindString(section(w.alice.text(w.page), older))
		w.alice.reply(w.page, older, m, "::"+refined)
		w.asked[older]++
	case 2:
		heading += ", again"
		w.alice.ask(w.page, heading, capital)
		w.asked[heading] = 1
	}
}

// settled runs rounds until no work is left, and checks that every post has exactly one reply. It examines only the
// page.
func (w *world) settled() {
	w.t.Helper()
	w.hooks.reset(nil, nil)
	var text string
	for i := 0; i < 8; i++ {
		out, err := w.bot(nil, "run", "--once", "--unknown-grace", "1s")
		if err != nil {
			w.t.Fatalf("run after a crash: %v\n%s", err, out)
		}
		text = w.alice.text(w.page)
		open, err := w.bot(nil, "ledger", "list", "--state", "noticed,accepted,proposed,approved,posting")
		if err != nil {
			w.t.Fatalf("ledger: %v\n%s", err, open)
		}
		if strings.HasPrefix(open, "no entries") {
			break
		}
		time.Sleep(300 * time.Millisecond)
	}
	for h, want := range w.asked {
		if s := section(text, h); replies(s) != want {
			list, _ := w.bot(nil, "ledger", "list")
			w.t.Errorf("%d replies under %q, want %d:\n%s\nledger:\n%s", replies(s), h, want, s, list)
		}
	}
}

// fresh switches to an empty page and an empty data folder, because ever-growing pages slow down a wiki.
func (w *world) fresh() {
	w.t.Helper()
	w.pages++
	w.page = fmt.Sprintf("Wikidata:Request a query/Test %d", w.pages)
	w.dir = w.t.TempDir()
	w.set("FORUM_PAGE", w.page)
	w.set("DATA_DIR", filepath.Join(w.dir, "data"))
	w.bob.edit(url.Values{"title": {w.page}, "text": {"A page for requests.\n"}})
	w.hooks.reset(nil, nil)
	w.first()
}

// killed runs the bot and kills it and its child processes at the call with the given number, either before the call is
// forwarded or after the response arrives. It returns false if the run ended before that call.
func (w *world) killed(n int, after bool) bool {
	w.t.Helper()
	cmd := w.command(nil, "run", "--once", "--unknown-grace", "1s")
	hit := false
	kill := func(c call) bool {
		if c.n != n {
			return true
		}
		hit = true
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return false
	}
	started := make(chan struct{})
	wait := func(c call) bool { <-started; return kill(c) }
	if after {
		w.hooks.reset(nil, wait)
	} else {
		w.hooks.reset(wait, nil)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	close(started)
	err := cmd.Wait()
	if !hit && err != nil {
		w.t.Fatalf("run: %v", err)
	}
	return hit
}

// crashStep returns the interval between the calls at which the program is killed: 1, or CRASH_STEP from the
// environment, which the gate sets to test only some of the calls.
func crashStep(t *testing.T) int {
	t.Helper()
	step := 1
	if s := os.Getenv("CRASH_STEP"); s != "" {
		if _, err := fmt.Sscan(s, &step); err != nil {
			t.Fatal(err)
		}
	}
	return step
}

func TestKilledAtEveryOutsideCall(t *testing.T) {
	t.Parallel()
	wiki := startWiki(t)
	bin := binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	w.first()
	w.answerOlder()
	kills, step := 0, crashStep(t)
	for _, after := range []bool{false, true} {
		for n := 1; ; n += step {
			if kills%15 == 14 {
				w.fresh()
				w.answerOlder()
			}
			h := fmt.Sprintf("Crash at call %d, after %v", n, after)
			w.ask(h)
			hit := w.killed(n, after)
			w.askAgain(h, n)
			w.settled()
			if t.Failed() {
				t.Fatalf("killed at call %d, after: %v", n, after)
			}
			if !hit {
				break
			}
			kills++
		}
	}
	t.Logf("killed %d times, one reply each", kills)
	if kills*step < 20 {
		t.Errorf("only %d outside calls: does the test see them all?", kills)
	}
}

// TestKilledAtEveryLedgerWrite uses the system call tracer to kill the program at the nth system call that writes to or
// syncs one of its files, for every n.
func TestKilledAtEveryLedgerWrite(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatalf("strace is missing: %v", err)
	}
	wiki := startWiki(t)
	bin := binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	w.first()
	w.answerOlder()
	kills, step := 0, crashStep(t)
	for _, syscalls := range []string{"fsync,fdatasync", "pwrite64"} {
		for n := 1; ; n += step {
			if kills%15 == 14 {
				w.fresh()
				w.answerOlder()
			}
			h := fmt.Sprintf("Crash at %s %d", strings.ReplaceAll(syscalls, ",", " or "), n)
			w.ask(h)
			w.hooks.reset(nil, nil)
			cmd := w.command(nil, "run", "--once", "--unknown-grace", "1s")
			cmd.Path = "/usr/bin/strace"
			cmd.Args = append([]string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + syscalls,
				"-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", syscalls, n), bin}, cmd.Args[1:]...)
			out, err := cmd.CombinedOutput()
			hit := err != nil
			if hit && !strings.Contains(err.Error(), "killed") {
				t.Fatalf("strace: %v\n%s", err, out)
			}
			w.askAgain(h, n)
			w.settled()
			if t.Failed() {
				t.Fatalf("killed at %s %d", syscalls, n)
			}
			if !hit {
				break
			}
			kills++
		}
	}
	t.Logf("killed %d times, one reply each", kills)
	if kills < 10 {
		t.Errorf("only %d writes: does the test see them all?", kills)
	}
}

func TestKilledAtRandomMoments(t *testing.T) {
	t.Parallel()
	wiki := startWiki(t)
	bin := binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	w.first()
	w.answerOlder()
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	w.ask("Undisturbed") // may have to wait for the next minute
	began := time.Now()
	w.round()
	whole := time.Since(began)
	const moments = 50
	kills, runs := 0, 0
	for ; kills < moments && runs < 4*moments; runs++ {
		if runs%10 == 9 {
			w.settled()
			w.fresh()
			w.answerOlder()
		}
		h := fmt.Sprintf("Crash at moment %d", runs)
		w.ask(h)
		if runs%2 == 0 {
			w.askAgain(h, runs)
		}
		w.hooks.reset(nil, nil)
		cmd := w.command(nil, "run", "--once", "--unknown-grace", "1s")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rnd.Int63n(int64(whole))))
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if err := cmd.Wait(); err != nil {
			kills++
		}
		if runs%2 == 1 {
			w.askAgain(h, runs)
		}
		if t.Failed() {
			t.Fatalf("run %d", runs)
		}
	}
	w.settled()
	t.Logf("killed %d times in mid-run, one reply each", kills)
	if kills < moments {
		t.Errorf("only %d of %d kills hit a running program", kills, runs)
	}
}
