// This file exceeds 500 lines because it contains one run, from start to verdict, whose parts share the record of what
// happened.

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type lab struct {
	o           options
	began       time.Time
	wiki        map[string]string
	sandbox     string
	database    string // URL without faults; "" for SQLite
	pgdir       string
	sandboxCmd  *exec.Cmd
	schedule    *schedule
	workers     []*worker
	tunnels     []*tunnel
	wikiDown    atomic.Bool
	town        *town
	reasons     []string
	events      map[string]int
	eventsMu    sync.Mutex
	endEvents   chan struct{}
	eventsDone  sync.WaitGroup
	interrupted <-chan os.Signal
}

func (l *lab) open() error {
	if l.o.bin == "" {
		l.o.bin = filepath.Join(l.o.dir, "spinachbot")
		if out, err := exec.Command("go", "build", "-o", l.o.bin, "./cmd/spinachbot").CombinedOutput(); err != nil { //nolint:noctx // a build
			return fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	var err error
	if l.o.bin, err = filepath.Abs(l.o.bin); err != nil {
		return err
	}
	_, mw, err := script(nil, "tools/realwiki/next.sh")
	if err != nil {
		return fmt.Errorf("unpacking MediaWiki: %w", err)
	}
	if l.wiki, _, err = script([]string{"REALWIKI_MW=" + mw}, "tools/realwiki/start.sh", filepath.Join(l.o.dir, "wiki")); err != nil {
		return fmt.Errorf("starting MediaWiki: %w", err)
	}
	if err := l.quickSaves(); err != nil {
		return err
	}
	if l.o.workers > 1 {
		l.pgdir = filepath.Join(l.o.dir, "postgres")
		for dir := l.o.dir; dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) { // the server may run as a different user
			_ = exec.Command("chmod", "o+x", dir).Run() //nolint:noctx // at once
		}
		vars, _, err := script(nil, "tools/postgres/start.sh", l.pgdir)
		if err != nil {
			return fmt.Errorf("starting PostgreSQL: %w", err)
		}
		l.database = vars["STORE_TEST_DATABASE_URL"]
	}
	if err := l.openSandbox(); err != nil {
		return err
	}
	l.events, l.endEvents = map[string]int{}, make(chan struct{})
	l.schedule = newSchedule(l.o.seed, l.o.faults)
	if l.town, err = newTown(l.wiki, l.o.seed); err != nil {
		return err
	}
	if err := l.town.plainQueries(); err != nil {
		return err
	}
	for i := range l.o.workers {
		if err := l.openWorker(i); err != nil {
			return err
		}
	}
	return l.first()
}

// quickSaves disables work that the wiki does for its readers after each save, such as notifications of new comments.
// That work makes the wiki parse the page two more times, which PHP's built-in server does before it responds.
func (l *lab) quickSaves() error {
	file := filepath.Join(l.o.dir, "wiki", "LocalSettings.php")
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	quick := strings.NewReplacer("'Echo', ", "", ", 'Thanks', 'AbuseFilter'", "").Replace(string(data))
	return os.WriteFile(file, []byte(quick), 0o600)
}

var loopback = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

func (l *lab) openSandbox() error {
	cmd := exec.Command(l.o.bin, "sandbox", "--addr", "127.0.0.1:0") //nolint:noctx // ended by close
	cmd.Dir = l.o.dir
	cmd.Env = []string{"HOME=" + l.o.dir, "PATH=" + os.Getenv("PATH")}
	// Run the sandbox in its own process group. Otherwise, Ctrl-C or timeout would signal it together with the laboratory,
	// and the last requests would have no model.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	l.sandboxCmd = cmd
	lines := bufio.NewScanner(out)
	for l.sandbox == "" && lines.Scan() {
		l.sandbox = loopback.FindString(lines.Text())
	}
	if l.sandbox == "" {
		return errors.New("the sandbox did not print an address")
	}
	go func() {
		for lines.Scan() {
		}
	}()
	return nil
}

// settings returns the program's settings, with its services at the given addresses.
func (l *lab) settings(dir, wiki, rest, database string) []string {
	path := strings.TrimPrefix(l.wiki["WIKI_API"], l.wiki["REALWIKI_URL"])
	return []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "WIKI_API=" + wiki + path, "WIKI_USER=" + l.wiki["WIKI_USER"],
		"WIKI_PASSWORD=" + l.wiki["WIKI_PASSWORD"], "FORUM_PAGE=" + l.wiki["FORUM_PAGE"], "OPERATOR=" + operator,
		"CONTACT=https://example.org/spinachbot", "STOP_PAGE=User:SpinachBot/run", "SPARQL_ENDPOINT=" + rest + "/sparql",
		"OPENAI_BASE_URL=" + rest + "/v1", "OPENAI_MODEL=scripted", "OPENAI_TIMEOUT=20s", "DATA_DIR=" + filepath.Join(dir, "data"),
		"DATABASE_URL=" + database, "POSTING=on", "ANSWER_DELAY=0s", "REPLIES_PER_HOUR=100000", "REPLIES_PER_DAY=0", "REQUESTS_PER_USER=0",
		"THREAD_COOLDOWN=0s", "FOLLOWUP_LIMIT=100", "ANSWER_PRESET=" + l.o.preset}
}

// openWorker creates a worker and its proxies, but does not start anything yet.
func (l *lab) openWorker(i int) error {
	w := &worker{name: fmt.Sprint("worker ", i+1), bin: l.o.bin, dir: filepath.Join(l.o.dir, fmt.Sprint("worker", i+1)),
		args: []string{"run", "--lease", l.o.lease.String(), "--unknown-grace", "15s", "--watch-schedule", "@every 1s",
			"--retry-delay", "10s", "--workers", fmt.Sprint(l.o.jobs)}}
	wiki, err := l.proxy(w, l.wiki["REALWIKI_URL"])
	if err != nil {
		return err
	}
	rest, err := l.proxy(w, l.sandbox)
	if err != nil {
		return err
	}
	database := l.database
	if database != "" {
		u, err := url.Parse(database)
		if err != nil {
			return err
		}
		t := &tunnel{target: u.Host, off: &w.off}
		if err := t.start(); err != nil {
			return err
		}
		l.tunnels = append(l.tunnels, t)
		u.Host = t.l.Addr().String()
		database = u.String()
	}
	w.env = l.settings(w.dir, wiki, rest, database)
	l.workers = append(l.workers, w)
	return nil
}

// proxy puts a proxy between a worker and a server and returns its address.
func (l *lab) proxy(w *worker, target string) (string, error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", err
	}
	p := &proxy{target: u, schedule: l.schedule, off: &w.off, down: &atomic.Bool{},
		kill: func() { w.signal(syscall.SIGKILL) }, meddle: l.meddle, unit: time.Second}
	if target == l.wiki["REALWIKI_URL"] {
		p.down = &l.wikiDown
	}
	err = p.start()
	return p.addr, err
}

// meddle makes a user edit the section with the given heading immediately.
func (l *lab) meddle(heading string) {
	select {
	case l.town.meddling <- heading:
	case <-time.After(3 * time.Second):
	}
}

// command runs the program without faults.
func (l *lab) command(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.o.bin, args...)
	cmd.Dir, cmd.Env = l.workers[0].dir, l.settings(l.workers[0].dir, l.wiki["REALWIKI_URL"], l.sandbox, l.database)
	out, err := cmd.Output()
	return string(out), err
}

// first makes the bot read the page for the first time, so that it answers later requests.
func (l *lab) first() error {
	for _, w := range l.workers {
		if err := os.MkdirAll(w.dir, 0o700); err != nil {
			return err
		}
	}
	if out, err := l.command("run", "--once"); err != nil {
		return fmt.Errorf("the first round: %w\n%s", err, out)
	}
	return l.town.look()
}

// play posts requests while faults occur, and then waits until every request is settled.
func (l *lab) play() error {
	for _, w := range l.workers {
		if err := w.start(); err != nil {
			return err
		}
	}
	l.eventsDone.Go(l.playEvents)
	said := time.Now()
	for !l.done() {
		if err := l.step(); err != nil {
			return err
		}
		if time.Since(said) > 30*time.Second {
			said = time.Now()
			l.progress("")
		}
	}
	close(l.endEvents)
	l.eventsDone.Wait()
	l.schedule.calmDown()
	l.progress("no more faults")
	return l.settled()
}

func (l *lab) progress(what string) {
	replies := 0
	for _, n := range l.town.history.Posted {
		replies += n
	}
	fmt.Printf("%6s  %d requests, %d replies, %d archivings, %d wrong %s\n", time.Since(l.began).Round(time.Second), len(l.town.threads), replies,
		l.town.archives, len(l.town.history.Broken()), what)
}

// done reports whether the faults may end: all requests are posted, and all of them are answered or waiting for a
// retry.
func (l *lab) done() bool {
	select {
	case <-l.interrupted:
		return true
	default:
	}
	if len(l.town.history.Broken()) > 0 {
		return true
	}
	late := time.Since(l.began) > l.o.duration
	return (late || len(l.town.threads) >= l.o.requests) && l.town.open(2*time.Minute) == 0
}

// step lets the simulated users act once: they read, ask, follow up, comment and archive.
func (l *lab) step() error {
	t := l.town
	select {
	case heading := <-t.meddling:
		t.meddled++
		return t.remark(heading)
	case <-time.After(1500 * time.Millisecond): // each check costs the wiki a tenth as much as a save
	}
	if err := t.look(); err != nil {
		return err
	}
	if len(t.threads) < l.o.requests && time.Since(l.began) < l.o.duration && t.open(2*time.Minute) < l.o.inflight {
		if err := t.ask(); err != nil {
			return err
		}
	}
	if err := t.followUps(); err != nil {
		return err
	}
	if t.rng.Float64() < 0.03 && len(t.threads) > 0 {
		if err := t.remark(t.threads[len(t.threads)-1].heading); err != nil {
			return err
		}
	}
	return t.tidy(l.noticed)
}

// playEvents triggers the events that happen to processes and servers.
func (l *lab) playEvents() {
	for n := uint64(1); ; n++ {
		e := event(l.o.seed, n, l.o.workers, l.o.every, l.o.lease)
		select {
		case <-l.endEvents:
			return
		case <-time.After(e.After):
		}
		l.eventsMu.Lock()
		l.events[e.Kind]++
		l.eventsMu.Unlock()
		w := l.workers[e.Worker]
		switch e.Kind {
		case evKill:
			w.signal(syscall.SIGKILL)
		case evTerm:
			w.signal(syscall.SIGTERM)
		case evStop:
			w.signal(syscall.SIGSTOP)
			time.Sleep(e.Length)
			w.signal(syscall.SIGCONT)
		case evCutOff:
			w.off.Store(true)
			time.Sleep(e.Length)
			w.off.Store(false)
		case evWikiDown:
			l.wikiDown.Store(true)
			time.Sleep(e.Length)
			l.wikiDown.Store(false)
		case evReadOnly:
			file := filepath.Join(l.o.dir, "wiki", "readonly")
			if err := os.WriteFile(file, []byte("maintenance"), 0o644); err == nil { //nolint:gosec // the wiki reads it
				time.Sleep(e.Length)
				_ = os.Remove(file)
			}
		case evDatabase:
			if _, _, err := script(nil, "tools/postgres/restart.sh", l.pgdir); err != nil {
				fmt.Println("PostgreSQL does not restart:", err)
			}
			for _, t := range l.tunnels {
				t.reset()
			}
		}
	}
}

type entry struct {
	ID, State, Reason, Heading string
}

func (l *lab) ledger(states string) ([]entry, error) {
	out, err := l.command("ledger", "list", "--json", "--state", states)
	if err != nil {
		return nil, fmt.Errorf("ledger list: %w\n%s", err, out)
	}
	var all []entry
	dec := json.NewDecoder(strings.NewReader(out))
	for dec.More() {
		var e entry
		if err := dec.Decode(&e); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// noticed returns the number of ledger entries for each heading, or nil if the ledger cannot be read.
func (l *lab) noticed() map[string]int {
	all, err := l.ledger(openStates + ",posted,skipped,gave_up")
	if err != nil {
		return nil
	}
	n := map[string]int{}
	for _, e := range all {
		n[e.Heading]++
	}
	return n
}

const openStates = "noticed,accepted,proposed,approved,posting"

// settled waits until no request is open, or until nothing has changed for the time set in the options: on a slow
// machine, a long queue is not a failure, but stalled work is.
func (l *lab) settled() error {
	quiet, last, changed := 0, "", time.Now()
	for quiet < 3 && time.Since(changed) < l.o.settle {
		time.Sleep(3 * time.Second)
		if err := l.town.look(); err != nil {
			return err
		}
		open, err := l.ledger(openStates)
		if err != nil {
			return err
		}
		if now := fmt.Sprint(open); now != last {
			last, changed = now, time.Now()
			l.progress(fmt.Sprintf("%d open", len(open)))
		}
		if quiet++; len(open) > 0 {
			quiet = 0
		}
	}
	time.Sleep(20 * time.Second) // longer than the grace period
	return l.town.look()
}

// verdict stops the workers and returns a list of what is wrong.
func (l *lab) verdict() (wrong []string) {
	for _, w := range l.workers {
		if took := w.stop(); took > 30*time.Second {
			wrong = append(wrong, fmt.Sprintf("%s needs %v to stop", w.name, took))
		}
		for _, d := range w.drains {
			if d > 30*time.Second {
				wrong = append(wrong, fmt.Sprintf("%s needed %v to stop after SIGTERM", w.name, d))
			}
		}
		wrong = append(wrong, w.panics()...)
	}
	open, err := l.ledger(openStates)
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	for _, e := range open {
		wrong = append(wrong, fmt.Sprintf("still open: %s %s %q: %s", e.ID, e.State, e.Heading, e.Reason))
	}
	over, err := l.ledger("gave_up,skipped")
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	want := l.town.history.Requests
	for _, e := range over {
		if e.Reason != "" && l.town.history.Posted[e.Heading] < want[e.Heading] {
			want[e.Heading]-- // not answered, but with a recorded reason
			l.reasons = append(l.reasons, e.State+": "+e.Reason)
		}
	}
	wrong = append(wrong, l.town.history.Wrong()...)
	if few := l.town.fewAnswers(); few != "" {
		wrong = append(wrong, few)
	}
	if !l.town.findsDouble() {
		wrong = append(wrong, "the checker did not find a planted second reply")
	}
	elsewhere, err := l.town.elsewhere()
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	for _, title := range elsewhere {
		wrong = append(wrong, "the bot has edited "+title)
	}
	return wrong
}

func (l *lab) report() {
	t := l.town
	l.table()
	starts, kills, drains := 0, 0, 0
	var longest time.Duration
	for _, w := range l.workers {
		starts, kills, drains = starts+w.starts, kills+w.kills, drains+len(w.drains)
		longest = max(longest, slices.Max(append(w.drains, 0)))
		for _, s := range w.strange {
			fmt.Printf("%s ended by itself: %.300s\n", w.name, s)
		}
	}
	fmt.Printf("%d starts, %d kills, %d times SIGTERM, the longest drain %v\n", starts, kills, drains, longest.Round(time.Millisecond))
	fmt.Printf("%d requests, %d saves that met an edit of someone else's, %d remarks, %d archivings\n", len(t.threads), t.meddled, t.remarks, t.archives)
	for _, kind := range []string{"answer", "no answer"} {
		fmt.Printf("%d replies with: %s\n", t.replies[kind], kind)
	}
	for _, s := range t.noAnswer {
		fmt.Printf("  said instead of an answer: %.400s\n", s)
	}
	fmt.Printf("%d requests without a reply, with a recorded reason\n", len(l.reasons))
	slices.Sort(l.reasons)
	for _, r := range l.reasons {
		fmt.Printf("  %.250s\n", r)
	}
	if n := len(t.waits); n > 0 {
		slices.Sort(t.waits)
		fmt.Printf("waiting time for a reply: half within %v, nine of ten within %v, the longest %v\n", t.waits[n/2].Round(time.Second),
			t.waits[n*9/10].Round(time.Second), t.waits[n-1].Round(time.Second))
	}
	fmt.Printf("%v in all, %.1f replies a minute\n", time.Since(l.began).Round(time.Second), float64(len(t.waits))/time.Since(l.began).Minutes())
}

func (l *lab) close() {
	for _, w := range l.workers {
		if w.done != nil {
			w.stop()
		}
	}
	if l.sandboxCmd != nil {
		_ = l.sandboxCmd.Process.Kill()
		_ = l.sandboxCmd.Wait()
	}
	if l.wiki != nil {
		_, _, _ = script(nil, "tools/realwiki/stop.sh", filepath.Join(l.o.dir, "wiki"))
	}
	if l.database != "" {
		_, _, _ = script(nil, "tools/postgres/stop.sh", l.pgdir)
	}
}
