// Command chaos is the fault laboratory: it runs the real program on a real MediaWiki with a scripted model. A proxy in
// front of every external service injects faults, and processes are killed, stopped and cut off while users ask
// questions. At the end, each request must have exactly one correct reply, or a recorded reason; a checker that sees
// only the requests and the page's revisions verifies this. See docs/chaos.md.
//
//	go run ./tools/chaos -requests 1000 -workers 3
//
// The seed determines which calls to which service fail and how, and what happens to the processes and when. The same
// seed replays that schedule, but which fault hits which request also depends on timing.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

type options struct {
	seed     uint64
	requests int
	duration time.Duration
	workers  int
	jobs     int
	inflight int
	faults   float64
	every    time.Duration
	lease    time.Duration
	settle   time.Duration
	preset   string
	bin      string
	dir      string
}

func main() {
	o := options{}
	flag.Uint64Var(&o.seed, "seed", 0, "`number` that determines all faults; random if 0")
	flag.IntVar(&o.requests, "requests", 1000, "`number` of requests, not counting follow-ups")
	flag.DurationVar(&o.duration, "duration", 24*time.Hour, "no new requests after this `time`")
	flag.IntVar(&o.workers, "workers", 1, "`number` of processes: 1 with SQLite, more with PostgreSQL")
	flag.IntVar(&o.jobs, "jobs", 2, "with PostgreSQL: the `number` of requests that a process works on at once")
	flag.IntVar(&o.inflight, "inflight", 10, "`number` of requests that may be waiting at once")
	flag.Float64Var(&o.faults, "faults", 0.03, "`share` of calls that fail; saves fail eight times as often")
	flag.DurationVar(&o.every, "every", 25*time.Second, "mean `time` between two events such as kill -9")
	flag.DurationVar(&o.lease, "lease", 5*time.Second, "`time` after which a process counts as gone")
	flag.DurationVar(&o.settle, "settle", 12*time.Minute, "after the last fault: the `time` without change after which open requests count as lost")
	flag.StringVar(&o.preset, "preset", "best", "`name` of the bot's preset")
	flag.StringVar(&o.bin, "bin", "", "the program's `file` (default: a new build)")
	flag.StringVar(&o.dir, "dir", "", "`folder` for logs and data, which is kept (default: a temporary one, deleted if all is well)")
	flag.Parse()
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	if err := run(o); err != nil {
		fmt.Fprintf(os.Stderr, "chaos: %v\nto repeat the schedule: go run ./tools/chaos -seed %d -requests %d -workers %d\n", err, o.seed,
			o.requests, o.workers)
		os.Exit(1)
	}
}

var assignment = regexp.MustCompile(`(?m)^([A-Z_]+)='?(.*?)'?$`)

// script runs one of the repository's scripts and parses the settings that it prints.
func script(env []string, args ...string) (map[string]string, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	out, err := cmd.Output()
	vars := map[string]string{}
	for _, m := range assignment.FindAllStringSubmatch(string(out), -1) {
		vars[m[1]] = m[2]
	}
	return vars, strings.TrimSpace(string(out)), err
}

func run(o options) (err error) {
	keep := o.dir != ""
	if !keep {
		if o.dir, err = os.MkdirTemp("", "chaos"); err != nil {
			return err
		}
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil { //nolint:gosec // PostgreSQL runs as a different user
		return err
	}
	_ = os.Chmod(o.dir, 0o755) //nolint:gosec // the same
	defer func() {
		if err == nil && !keep {
			_ = os.RemoveAll(o.dir)
		}
	}()
	fmt.Printf("seed %d, logs in %s\n", o.seed, o.dir)
	l := &lab{o: o, began: time.Now()}
	defer l.close()
	if err := l.open(); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	l.interrupted = stop
	if err := l.play(); err != nil {
		return err
	}
	wrong := l.verdict()
	l.report()
	if len(wrong) > 0 {
		return fmt.Errorf("%d problems:\n%s", len(wrong), strings.Join(wrong, "\n"))
	}
	fmt.Println("every request has exactly one right reply or a recorded reason, and nobody else's text has changed")
	return nil
}

func (l *lab) table() {
	l.schedule.mu.Lock()
	defer l.schedule.mu.Unlock()
	for _, part := range slices.Sorted(maps.Keys(l.schedule.count)) {
		n := 0
		for _, c := range l.schedule.count[part] {
			n += c
		}
		fmt.Printf("%s: %d calls, %d faults\n", part, l.schedule.calls[part], n)
		for _, f := range slices.Sorted(maps.Keys(l.schedule.count[part])) {
			fmt.Printf("  %5d %s\n", l.schedule.count[part][f], f)
		}
	}
	for _, e := range slices.Sorted(maps.Keys(l.events)) {
		fmt.Printf("%5d %s\n", l.events[e], e)
	}
}
