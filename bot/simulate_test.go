package bot_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/bottest"
	"github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/leader"
)

// simulation is one random schedule of users, one or two bot processes, their clocks, and all faults. It is generated
// from one seed and runs in a synctest bubble, in which waiting takes no time. After a few hours, the faults end; in
// the end, every post must have a reply or a reason for having none.
//
// The crowd's goroutine and each process have their own random number generators, and every wait has a different
// length, so two goroutines hardly ever run at the same time, and a seed always produces the same schedule.
type simulation struct {
	*world
	lg     *slog.Logger
	mu     sync.Mutex // guards wiki, store, solver and leases
	crowd  *crowd
	leases leaseTable
	calm   atomic.Bool // nothing goes wrong anymore
	rounds atomic.Int64
	since  time.Time   // rounds that start after this time see all posts; zero until it is known
	seen   atomic.Bool // a round that started after since has ended
	far    bool        // saves may arrive long after the grace period
	lease  time.Duration
	harm   float64 // the probability of each kind of fault per call
}

// leaseTable contains the ledger's leases and uses the database's clock, as in TestLead in package leader.
type leaseTable struct {
	l    leader.Lease
	ends time.Time
}

func (t *leaseTable) acquire(name, holder string, d time.Duration) (leader.Lease, bool) {
	over := !time.Now().Before(t.ends)
	if t.l.Holder != holder && !over {
		return t.l, false
	}
	if t.l.Holder != holder || over {
		t.l = leader.Lease{Name: name, Holder: holder, Fence: t.l.Fence + 1}
	}
	t.ends = time.Now().Add(d)
	return t.l, true
}

func (t *leaseTable) held(l leader.Lease) bool { return t.l == l && time.Now().Before(t.ends) }

// process is one process of the bot. Its calls to other parts of the system take time and may fail, end the process, or
// suspend it.
type process struct {
	s      *simulation
	rng    *rand.Rand
	beat   *rand.Rand   // for lease renewals
	skew   atomic.Int64 // how far the process's clock is ahead, in nanoseconds
	frozen atomic.Int64 // time until which it is suspended, as by SIGSTOP, in nanoseconds
	dead   atomic.Bool
	fenced bool // writes need the lease
	lease  leader.Lease
}

var errCrashed = errors.New("crashed")

func (p *process) now() time.Time { return p.s.clock.now().Add(time.Duration(p.skew.Load())) }

func (p *process) chance(share float64) bool {
	return !p.s.calm.Load() && p.rng.Float64() < share*p.s.harm
}

func (p *process) wait(max time.Duration) { time.Sleep(time.Duration(p.rng.Int64N(int64(max))) + 1) }

// call waits for up to max and then calls f. The process may end before or after the call, or be suspended for a while.
func (p *process) call(max time.Duration, f func()) {
	p.wait(max)
	if p.chance(0.5) {
		runtime.Goexit()
	}
	if p.chance(0.3) {
		d := time.Duration(1+p.rng.IntN(20)) * time.Minute
		p.frozen.Store(time.Now().Add(d).UnixNano())
		time.Sleep(d)
	}
	if p.chance(0.3) {
		p.skew.Store(int64([]time.Duration{0, -time.Minute, time.Minute, -3 * time.Hour, 3 * time.Hour, -1000 * time.Hour,
			10000 * time.Hour}[p.rng.IntN(7)]))
	}
	p.s.mu.Lock()
	f()
	p.s.mu.Unlock()
	if p.chance(0.5) {
		runtime.Goexit()
	}
}

// write makes a call that changes the ledger. If the process needs the lease to write and does not hold it, the call
// fails.
func (p *process) write(f func() error) (err error) {
	p.call(100*time.Millisecond, func() {
		switch {
		case p.fenced && !p.s.leases.held(p.lease):
			err = leader.ErrLost
		case p.chance(0.1):
			err = errors.New("database is locked")
		default:
			err = f()
		}
	})
	return err
}

// ask calls a service that may fail.
func (p *process) ask(max time.Duration, f func() error) (err error) {
	p.call(max, func() {
		if err = f(); p.chance(1) {
			err = errors.New("unavailable")
		}
	})
	return err
}

func (p *process) Entry(ctx context.Context, key string) (e *bot.Entry, err error) {
	p.call(10*time.Millisecond, func() { e, err = p.s.store.Entry(ctx, key) })
	return e, err
}

func (p *process) Entries(ctx context.Context, f bot.Filter) (es []*bot.Entry, err error) {
	p.call(10*time.Millisecond, func() { es, err = p.s.store.Entries(ctx, f) })
	return es, err
}

func (p *process) Add(ctx context.Context, e *bot.Entry) (added bool, err error) {
	err = p.write(func() error { added, err = p.s.store.Add(ctx, e); return err })
	return added, err
}

func (p *process) Update(ctx context.Context, e *bot.Entry) error {
	return p.write(func() error { return p.s.store.Update(ctx, e) })
}

func (p *process) Claim(ctx context.Context, holder string, w job.Want, now time.Time,
	lease time.Duration) (c *job.Claim, err error) {
	err = p.write(func() error { c, err = p.s.store.Claim(ctx, holder, w, now, lease); return err })
	return c, err
}

func (p *process) Renew(ctx context.Context, c *job.Claim, lease time.Duration) error {
	return p.write(func() error { return p.s.store.Renew(ctx, c, lease) })
}

func (p *process) GiveBack(ctx context.Context, c *job.Claim, due time.Time) error {
	return p.write(func() error { return p.s.store.GiveBack(ctx, c, due) })
}

func (p *process) Get(ctx context.Context, key string) (v []byte, ok bool, err error) {
	p.call(10*time.Millisecond, func() { v, ok, err = p.s.store.Get(ctx, key) })
	return v, ok, err
}

func (p *process) Put(ctx context.Context, key string, value []byte) error {
	return p.write(func() error { return p.s.store.Put(ctx, key, value) })
}

func (p *process) Change(ctx context.Context, key string, f func([]byte) ([]byte, error)) error {
	return p.write(func() error { return p.s.store.Change(ctx, key, f) })
}

func (p *process) Page(ctx context.Context, title string) (r *bot.Revision, err error) {
	err = p.ask(time.Second, func() error { r, err = p.s.wiki.Page(ctx, title); return err })
	return r, err
}

func (p *process) OwnEdits(ctx context.Context, title string, since time.Time) (es []bot.OwnEdit, err error) {
	err = p.ask(time.Second, func() error { es, err = p.s.wiki.OwnEdits(ctx, title, since); return err })
	return es, err
}

func (p *process) Texts(ctx context.Context, title string, from, to time.Time) (out []string, err error) {
	err = p.ask(time.Second, func() error { out, err = p.s.wiki.Texts(ctx, title, from, to); return err })
	return out, err
}

// Save sends an edit that is applied now, later or never. The response may be lost.
func (p *process) Save(ctx context.Context, e bot.Edit) (rev int64, err error) {
	p.call(time.Second, func() {
		if ctx.Err() != nil {
			err = ctx.Err()
			return
		}
		if !p.now().Before(e.SendBefore) {
			err = bot.ErrStale
			return
		}
		e.SendBefore = p.s.clock.now().Add(time.Second)
		switch {
		case p.chance(0.5):
			err = bot.ErrConflict
		case p.chance(0.5):
			err = bot.ErrNotSaved
		case p.chance(1):
			err = bot.ErrUnknown // never
		case p.chance(2):
			p.late(e)
			err = bot.ErrUnknown
		default:
			if rev, err = p.s.wiki.Save(ctx, e); err == nil && p.chance(3) {
				err = bot.ErrUnknown
			}
			p.s.watched(p.rng)
		}
	})
	if errors.Is(err, bot.ErrUnknown) {
		p.wait(30 * time.Second)
	}
	return rev, err
}

// late applies an edit after a delay of up to two minutes or, if no one else writes in the thread, up to an hour.
func (p *process) late(e bot.Edit) {
	d := time.Duration(p.rng.Int64N(int64(110 * time.Second)))
	if p.s.far && p.rng.IntN(2) == 0 {
		d = time.Duration(p.rng.Int64N(int64(time.Hour)))
	}
	rng := rand.New(rand.NewPCG(p.rng.Uint64(), 0))
	go func() {
		time.Sleep(d)
		p.s.mu.Lock()
		defer p.s.mu.Unlock()
		_, _ = p.s.wiki.apply(e) // nobody receives the answer
		p.s.watched(rng)
	}()
}

func (p *process) Triage(ctx context.Context, key, heading string, posts []agent.Post) (t *agent.Triage, err error) {
	err = p.ask(5*time.Second, func() error { t, err = p.s.solver.Triage(ctx, key, heading, posts); return err })
	return t, err
}

func (p *process) Solve(ctx context.Context, key string, q agent.Question) (o *agent.Outcome, err error) {
	err = p.ask(5*time.Minute, func() error { o, err = p.s.solver.Solve(ctx, key, q); return err })
	return o, err
}

func (p *process) Acquire(_ context.Context, name, holder string, d time.Duration) (l leader.Lease, held bool, err error) {
	time.Sleep(time.Until(time.Unix(0, p.frozen.Load())))
	time.Sleep(time.Duration(p.beat.IntN(1e9)) + 1)
	if p.dead.Load() || !p.s.calm.Load() && p.beat.Float64() < 0.5*p.s.harm {
		return l, false, errors.New("no connection")
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	l, held = p.s.leases.acquire(name, holder, d)
	return l, held, nil
}

func (p *process) Release(_ context.Context, l leader.Lease) error {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if !p.dead.Load() && p.s.leases.l == l {
		p.s.leases.ends = time.Time{}
	}
	return nil
}

func (p *process) rounds(ctx context.Context, cfg bot.Config) error {
	b, err := bot.New(p.s.lg, p, p, p, p.now, cfg)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		// If an error stops a round, the bot logs it, and the next round continues.
		began := time.Now()
		p.s.rounds.Add(1)
		switch _, err := b.Round(ctx); {
		case err != nil && ctx.Err() == nil:
			p.s.lg.Warn("round", "err", err)
		case err == nil && p.s.calm.Load() && began.After(p.s.since):
			p.s.seen.Store(true)
		}
		p.wait(15 * time.Minute)
	}
	return ctx.Err()
}

// live runs the process once and returns when it has ended or crashed.
func (p *process) live(ctx context.Context, name string) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	work := func(ctx context.Context, cfg bot.Config) error {
		done := make(chan error, 1)
		go func() {
			err := errCrashed
			defer func() {
				if errors.Is(err, errCrashed) {
					p.dead.Store(true)
					end()
				}
				done <- err
			}()
			err = p.rounds(ctx, cfg)
		}()
		return <-done
	}
	if p.s.lease == 0 {
		_ = work(ctx, p.s.cfg)
		return
	}
	p.fenced = true
	_ = leader.Lead(ctx, p.s.lg, p,
		leader.Options{Name: "bot", Holder: name, Lease: p.s.lease, Now: p.now},
		func(ctx context.Context, l leader.Lease) error {
			cfg := p.s.cfg
			p.lease, cfg.TookOver = l, p.now()
			return work(ctx, cfg)
		})
}

// keep restarts the nth process whenever it ends, as systemd does.
func (s *simulation) keep(ctx context.Context, n int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, uint64(100+n)))
	for start := 0; ctx.Err() == nil; start++ {
		p := &process{s: s, rng: rng, beat: rand.New(rand.NewPCG(seed, uint64(1000*n+start)))}
		p.live(ctx, fmt.Sprintf("process %d, start %d", n, start))
		p.wait(2 * time.Minute)
	}
}

// watched simulates an administrator who watches the page and sometimes removes the newest reply within a minute.
func (s *simulation) watched(rng *rand.Rand) {
	if !s.crowd.hides || s.calm.Load() || rng.IntN(4) > 0 {
		return
	}
	d := time.Duration(rng.Int64N(int64(time.Minute)))
	go func() {
		time.Sleep(d)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.crowd.hide()
	}()
}

func (s *simulation) operator(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil {
		time.Sleep(time.Duration(rng.IntN(1200)+1) * time.Second)
		s.mu.Lock()
		proposed, _ := bot.List(ctx, s.store, bot.Proposed)
		for _, e := range proposed {
			_, _ = bot.Approve(ctx, s.store, s.clock.now(), e.Key, "Olga") // ignore the error: its state may have changed
		}
		s.mu.Unlock()
	}
}

// people simulates users who write on the page for up to a few hours. Most schedules are short, because most faults
// need only a few posts.
func (s *simulation) people(rng *rand.Rand) {
	for range 1 + rng.IntN(1+rng.IntN(5)) {
		for range 1 + rng.IntN(3) {
			s.mu.Lock()
			s.crowd.act()
			s.mu.Unlock()
			time.Sleep(time.Duration(rng.IntN(40)+1)*time.Second + time.Duration(rng.IntN(1000)))
		}
		if rng.IntN(3) > 0 {
			time.Sleep(time.Duration(rng.IntN(20*60)) * time.Second)
		}
	}
}

// idle reports whether the ledger has no open entries.
func (s *simulation) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries() {
		if e.State.Open() {
			return false
		}
	}
	return true
}

// simulate runs the schedule for a seed and returns every violation.
func simulate(t *testing.T, seed uint64, loud bool) (posts int, rounds int64, broken []string) {
	rng := rand.New(rand.NewPCG(seed, 11))
	w := worldOn(t, "")
	w.clock.run()
	s := &simulation{world: w, lg: slog.New(slog.DiscardHandler), harm: []float64{0, 0.01, 0.03, 0.1}[rng.IntN(4)]}
	if loud {
		s.lg = slog.New(slog.NewTextHandler(w.log, nil))
	}
	w.store.(*bottest.Memory).Strict = seed%128 == 0
	w.cfg.FollowupLimit, w.cfg.RepliesPerHour, w.cfg.MaxStarts, w.cfg.MaxFailures = 1000, 10000, 1000, 1000
	w.cfg.MaxSaves = 1000
	if seed%4 == 1 { // set a low limit, so that some requests have to wait
		w.cfg.RepliesPerHour = 1 + int(seed%3)
	}
	w.cfg.AnswerDelay = []time.Duration{0, 15 * time.Minute}[rng.IntN(2)]
	w.wiki.skew = []time.Duration{0, 0, -time.Hour, time.Hour}[rng.IntN(4)]
	w.solver.echo, w.solver.brief = true, true
	w.wiki.put(stopPage, "run")
	w.wiki.post("Old", "Which cats were there?", "Alice")
	w.round()
	s.crowd = &crowd{w: w, rng: rand.New(rand.NewPCG(seed, 12)), times: map[string]int{}, edits: map[string]int{},
		gone: map[string]int{}, refused: map[string]bool{}, known: map[string]bool{}, words: map[string]string{}, quiet: rng.IntN(4) == 0, hides: rng.IntN(2) == 0}
	s.far = s.crowd.quiet && !s.crowd.hides
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	if rng.IntN(6) == 0 {
		w.cfg.Posting = bot.Propose
		all.Go(func() { s.operator(ctx, rand.New(rand.NewPCG(seed, 13))) })
	}
	processes := 1
	if rng.IntN(3) == 0 {
		processes, s.lease = 2, 5*time.Minute
	}
	for n := range processes {
		all.Go(func() { s.keep(ctx, n, seed) })
	}
	s.people(rng)
	s.mu.Lock()
	text := strings.ReplaceAll(w.wiki.text(), resolved, "")
	w.wiki.put(page, text)
	s.mu.Unlock()
	// Saves in progress must arrive before a round can have seen all posts.
	s.since = time.Now().Add(w.cfg.AnswerDelay + 2*time.Minute)
	if s.far {
		s.since = time.Now().Add(time.Hour)
	}
	s.calm.Store(true)
	for range 1000 {
		if s.seen.Load() && s.idle() {
			break
		}
		time.Sleep(10 * time.Minute)
	}
	stop()
	all.Wait()
	s.crowd.check(func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) })
	if loud {
		t.Log(w.log)
		for _, e := range w.entries() {
			t.Log(e.Key, e.State, e.Kind, e.Heading, e.Reason)
		}
		for _, r := range w.wiki.pages[page] {
			t.Log(r.ID, r.Timestamp, "summary:", w.wiki.summary[r.ID], "hidden:", w.wiki.hidden[r.ID], len(r.Text))
		}
		t.Logf("page:\n%s\narchive:\n%s", brief(w.wiki.text()), brief(s.crowd.archive))
	}
	return len(s.crowd.posts), s.rounds.Load(), broken
}

// number returns the numeric value of an environment variable, or otherwise if it is not set.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// Users write posts, up to twice a minute, and edit, move, archive, and hide them. Meanwhile, bot processes crash, are
// suspended, and lose their leases; clocks jump; services fail; and saves are lost or late. Each post must get at most
// one reply, no reply may be lost, and no one else's text may change. `make simulate N=1000000` runs more schedules;
// SIMULATE_FROM=seed SIMULATE=1 repeats one schedule and prints its log.
func TestSimulation(t *testing.T) {
	n, from := number(t, "SIMULATE", 100), number(t, "SIMULATE_FROM", 0)
	if testing.Short() {
		n = min(n, 20)
	}
	var next, posts, rounds, failed atomic.Uint64
	workers := runtime.GOMAXPROCS(0)
	t.Run("schedules", func(t *testing.T) {
		for range workers {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()
				for i := next.Add(1) - 1; i < n && failed.Load() == 0; i = next.Add(1) - 1 {
					seed := from + i
					synctest.Test(t, func(t *testing.T) {
						written, played, broken := simulate(t, seed, n == 1)
						posts.Add(uint64(written))
						rounds.Add(uint64(played))
						if done := i + 1; n >= 10000 && done%10000 == 0 {
							fmt.Printf("%s: %d schedules\n", os.Args[0], done)
						}
						if len(broken) > 0 {
							failed.Add(1)
							t.Errorf("seed %d: %s", seed, strings.Join(broken, "\n"))
						}
					})
				}
			})
		}
	})
	t.Logf("%d schedules, %d posts, %d rounds", n, posts.Load(), rounds.Load())
	if posts.Load() < n+n/2 && failed.Load() == 0 {
		t.Errorf("only %d posts: nothing was tested", posts.Load())
	}
}
