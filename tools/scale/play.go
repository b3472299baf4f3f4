// This file exceeds 500 lines because it contains one simulation, from posts to results, whose processes share the
// state of the simulated clock.

package scale

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/bottest"
	"github.com/spinachbot/spinachbot/bot/limit"
	"github.com/spinachbot/spinachbot/bot/several"
	"github.com/spinachbot/spinachbot/internal/crew"
	"github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/leader"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Setting is one row in the tables: the load, and the system that handles it.
type Setting struct {
	Load    float64 // requests per month, as a multiple of the archive's
	Workers int     // ten per process
	Wikis   int     // number of forums that share the load
	Own     bool    // whether we run our own query service: no budget, and four times as fast
	Raised  bool    // whether the limits on replies and spending grow with the load
	Deaths  float64 // average number of hours until a process is killed; never if 0
	Days    int
	Seed    uint64
}

// Result describes the outcome of the requests.
type Result struct {
	Requests, Answered, GivenUp, Open int
	Median, P95                       time.Duration // time from a post to its reply, over answered requests
	USD                               float64       // per answer
	Spent, Unanswered                 float64       // in US dollars: in total, and on requests without a reply at the end
	Waits                             []Wait        // by cause, longest first
	Deaths                            int           // processes that were killed
}

// Wait is the average time that a request waited for one resource.
type Wait struct {
	For  string
	Mean time.Duration
}

const (
	longLease  = 10 * time.Minute // longer than in production if no process dies, to simulate fewer renewals
	shortLease = time.Minute
	restart    = 30 * time.Second // time until a service manager restarts a process that died
	dailyUSD   = 5.0
	notice     = "their delay and the schedule"
	workers    = "a worker"
	endpoint   = "the query service's budget"
	money      = "the day's money"
	replies    = "the limits on replies"
	publishing = "the wiki and the publisher"
	work       = "model and queries"
)

// system is everything that the processes share.
type system struct {
	Setting
	ledger *bottest.Memory
	wikis  []*wiki
	days   *llm.MemoryDays
	pace   remote.BudgetStore
	model  *service
	graph  *service
	bells  *bells

	mu     sync.Mutex
	leases map[string]leader.Lease
	ends   map[string]time.Time // when each lease expires
	waits  map[string]time.Duration
	held   map[string]int
	calls  map[string]int // number of calls to the model, by entry
	died   int
}

// Play simulates a setting. It must run in a testing/synctest bubble.
func Play(ctx context.Context, s Setting) (*Result, error) {
	days := s.Days + 3
	sys := &system{Setting: s, ledger: bottest.NewMemory(), days: llm.NewMemoryDays(), pace: remote.NewMemoryStore(),
		leases: map[string]leader.Lease{}, ends: map[string]time.Time{}, waits: map[string]time.Duration{},
		held: map[string]int{}, calls: map[string]int{},
		model: &service{down: newOutages(seeded(s.Seed, "model"), days)},
		graph: &service{down: newOutages(seeded(s.Seed, "graph"), days), taken: taken},
		bells: &bells{wake: map[string][]chan<- struct{}{}}}
	for i := range s.Wikis {
		sys.wikis = append(sys.wikis, newWiki(s.Seed, fmt.Sprint(i), days))
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	errs := make(chan error, 100)
	for n := range (s.Workers + 9) / 10 {
		all.Go(func() { errs <- sys.keep(ctx, n) })
	}
	time.Sleep(20 * time.Minute) // by then, the processes have read the pages for the first time
	for i, w := range sys.wikis {
		all.Go(func() { sys.people(ctx, i, w) })
	}
	time.Sleep(time.Duration(days) * 24 * time.Hour)
	stop()
	all.Wait()
	time.Sleep(2 * time.Hour) // the last bells
	close(errs)
	for err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return sys.result()
}

// people simulates users who post requests for as long as the setting specifies and archive answered threads. Each day
// is as busy as a month drawn from the archive.
func (s *system) people(ctx context.Context, n int, w *wiki) {
	rng := seeded(s.Seed, "people", fmt.Sprint(n))
	keep := min(24*time.Hour, time.Duration(float64(7*24*time.Hour)/s.Load))
	for day := 0; ctx.Err() == nil; day++ {
		start := time.Now()
		var asks []float64
		if day < s.Days {
			a := float64(perMonth[rng.IntN(len(perMonth))]) / 30 * s.Load / float64(s.Wikis)
			for at := rng.ExpFloat64() / a; at < 1; at += rng.ExpFloat64() / a {
				asks = append(asks, at*86400)
			}
		}
		for hour := range 24 {
			for len(asks) > 0 && asks[0] < 3600*float64(hour+1) {
				if sleep(ctx, time.Until(start.Add(seconds(asks[0])))) != nil {
					return
				}
				asks = asks[1:]
				w.ask(fmt.Sprint("User", rng.IntN(max(20, int(20*s.Load)))))
			}
			if sleep(ctx, time.Until(start.Add(time.Duration(hour+1)*time.Hour))) != nil {
				return
			}
			w.archive(keep)
		}
	}
}

// keep runs the nth process and restarts it whenever it is killed, as a service manager does.
func (s *system) keep(ctx context.Context, n int) error {
	rng := seeded(s.Seed, "deaths", fmt.Sprint(n))
	solver, err := s.solver(slog.New(slog.DiscardHandler), n)
	if err != nil {
		return err
	}
	for start := 1; ; start++ {
		p := &process{system: s}
		life, end := context.WithCancel(ctx)
		stop := func() bool { return true }
		if s.Deaths > 0 {
			stop = time.AfterFunc(seconds(rng.ExpFloat64()*s.Deaths*3600), func() {
				p.dead.Store(true)
				end()
			}).Stop
		}
		err := p.crew(fmt.Sprintf("process %d, start %d", n, start), min(10, s.Workers-10*n), solver).Run(life)
		stop()
		end()
		if !p.dead.Load() {
			return err
		}
		s.mu.Lock()
		s.died++
		s.mu.Unlock()
		if sleep(ctx, restart) != nil {
			return nil
		}
	}
}

// process is one process as seen by the ledger and the leases. Once it is dead, nothing it does has any effect.
type process struct {
	*system
	dead atomic.Bool
}

var errDead = errors.New("this process is dead")

func (s *system) lease() time.Duration {
	if s.Deaths > 0 {
		return shortLease
	}
	return longLease
}

// crew creates the process's crew with its share of the workers.
func (p *process) crew(holder string, workers int, solver *solver) *crew.Crew {
	lg := slog.New(slog.DiscardHandler)
	bots := func(holder string, took time.Time) (*several.Bots, error) {
		all := &several.Bots{Log: lg}
		for i, w := range p.wikis {
			cfg := bot.Config{Page: forumPage, Account: account, Operator: "Olga", StopPage: "User:SpinachBot/run",
				Posting: bot.On, AnswerDelay: 15 * time.Minute, FollowupLimit: 5, RepliesPerHour: int(6 * p.more()),
				RepliesPerDay: int(60 * p.more()), RequestsPerUser: 10, ThreadCooldown: time.Minute, ReplyOnFailure: true,
				Holder: holder, Lease: p.lease(), TookOver: took, Held: p.count}
			if i > 0 {
				cfg.Wiki = fmt.Sprint("wiki", i)
			}
			b, err := bot.New(lg, p, w, solver, time.Now, cfg)
			if err != nil {
				return nil, err
			}
			all.Bots = append(all.Bots, b)
		}
		return all, nil
	}
	return &crew.Crew{Log: lg, Leases: p, Holder: holder, Lease: p.lease(), Now: time.Now, Bell: p.bells, Workers: workers,
		Schedule: func(ctx context.Context, _ leader.Lease) error {
			b, err := bots(holder+", scheduler", time.Time{})
			for err == nil && ctx.Err() == nil { // WATCH_SCHEDULE: every ten minutes
				_ = b.Notice(ctx) // after an error, the next round retries
				_ = sleep(ctx, time.Until(time.Now().Truncate(10*time.Minute).Add(10*time.Minute)))
			}
			return err
		},
		Publish: func(leader.Lease) (func(context.Context) error, error) {
			b, err := bots(holder+", publisher", time.Now())
			return b.Publish, err
		},
		Work: func(holder string) (func(context.Context) (bool, error), error) {
			b, err := bots(holder, time.Time{})
			return b.Work, err
		}}
}

// more returns the factor by which the limits exceed their defaults.
func (s *system) more() float64 {
	if s.Raised {
		return max(1, s.Load)
	}
	return 1
}

func (s *system) count(check string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[check]++
}

func (s *system) wait(what string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits[what] += d
}

type clock struct{}

func (clock) Now() time.Time                                   { return time.Now() }
func (clock) Sleep(ctx context.Context, d time.Duration) error { return sleep(ctx, d) }

// The methods of the process's ledger. Those that may leave work to do ring the bell.

func (p *process) Entry(ctx context.Context, key string) (*bot.Entry, error) {
	return p.ledger.Entry(ctx, key)
}
func (p *process) Entries(ctx context.Context, f bot.Filter) ([]*bot.Entry, error) {
	return p.ledger.Entries(ctx, f)
}

func (p *process) Add(ctx context.Context, e *bot.Entry) (bool, error) {
	if p.dead.Load() {
		return false, errDead
	}
	defer p.bells.ring(e.Job())
	return p.ledger.Add(ctx, e)
}

func (p *process) Update(ctx context.Context, e *bot.Entry) error {
	if p.dead.Load() {
		return errDead
	}
	defer p.bells.ring(e.Job())
	return p.ledger.Update(ctx, e)
}

func (p *process) Get(ctx context.Context, key string) ([]byte, bool, error) {
	return p.ledger.Get(ctx, key)
}

func (p *process) Put(ctx context.Context, key string, v []byte) error {
	if p.dead.Load() {
		return errDead
	}
	return p.ledger.Put(ctx, key, v)
}

func (p *process) Change(ctx context.Context, key string, f func([]byte) ([]byte, error)) error {
	if p.dead.Load() {
		return errDead
	}
	return p.ledger.Change(ctx, key, f)
}

func (p *process) Claim(ctx context.Context, holder string, w job.Want, now time.Time,
	lease time.Duration) (*job.Claim, error) {
	if p.dead.Load() {
		return nil, errDead
	}
	return p.ledger.Claim(ctx, holder, w, now, lease)
}

func (p *process) Renew(ctx context.Context, c *job.Claim, lease time.Duration) error {
	if p.dead.Load() {
		return errDead
	}
	return p.ledger.Renew(ctx, c, lease)
}

func (p *process) GiveBack(ctx context.Context, c *job.Claim, due time.Time) error {
	if p.dead.Load() {
		return errDead
	}
	return p.ledger.GiveBack(ctx, c, due)
}

// Acquire implements [leader.Leases].
func (p *process) Acquire(_ context.Context, name, holder string, d time.Duration) (leader.Lease, bool, error) {
	if p.dead.Load() {
		return leader.Lease{}, false, errDead
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l, over := p.leases[name], !time.Now().Before(p.ends[name])
	if l.Holder != holder && !over {
		return l, false, nil
	}
	if l.Holder != holder || over {
		l = leader.Lease{Name: name, Holder: holder, Fence: l.Fence + 1}
	}
	p.leases[name], p.ends[name] = l, time.Now().Add(d)
	return l, true, nil
}

// Release implements [leader.Leases].
func (p *process) Release(_ context.Context, l leader.Lease) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dead.Load() && p.leases[l.Name] == l {
		p.ends[l.Name] = time.Time{}
	}
	return nil
}

// bells wakes waiting workers when work is due, as package bell does.
type bells struct {
	mu   sync.Mutex
	wake map[string][]chan<- struct{}
}

func (b *bells) Listen(ctx context.Context, queue string, wake chan<- struct{}) {
	b.mu.Lock()
	b.wake[queue] = append(b.wake[queue], wake)
	b.mu.Unlock()
	<-ctx.Done()
	b.mu.Lock()
	b.wake[queue] = slices.DeleteFunc(slices.Clone(b.wake[queue]), func(w chan<- struct{}) bool { return w == wake })
	b.mu.Unlock()
}

func (b *bells) ring(j job.Job) {
	queue := crew.QueueOf(j.Kind)
	wait := time.Until(j.Due)
	if j.State != job.Waiting || queue == "" || wait > time.Hour {
		return
	}
	go func() {
		time.Sleep(max(wait, 0) + 20*time.Millisecond)
		b.mu.Lock()
		listeners := slices.Clone(b.wake[queue])
		b.mu.Unlock()
		for _, wake := range listeners {
			select {
			case wake <- struct{}{}:
				return
			case <-time.After(100 * time.Millisecond): // all workers of this process are busy
			}
		}
	}()
}

// result summarizes what happened to the requests and what they waited for.
func (s *system) result() (*Result, error) {
	entries, err := s.ledger.Entries(context.Background(), bot.Filter{})
	if err != nil {
		return nil, err
	}
	r := &Result{Deaths: s.died}
	for _, w := range s.wikis {
		r.Requests += len(w.asked) - 1
		if w.doubled > 0 {
			return nil, fmt.Errorf("%d requests got two replies", w.doubled)
		}
	}
	var delays []time.Duration
	for _, e := range entries {
		name, _ := bot.SplitPage(e.Page)
		var n int
		_, _ = fmt.Sscanf(name, "wiki%d", &n)
		asked := s.wikis[n].asked[e.Heading]
		at := map[bot.State]time.Time{}
		for _, c := range e.History {
			at[c.To] = c.At
		}
		s.waits[notice] += e.Created.Sub(asked)
		drafted, posted := at[bot.Proposed], at[bot.Posted]
		if drafted.IsZero() {
			drafted = cmp.Or(drafted, e.Updated)
		}
		turn := inTurn(e)
		s.waits[replies] += turn
		s.waits[workers] += drafted.Sub(e.Created) - turn // the time of the actual work is subtracted below
		if e.State != bot.Posted {
			r.Unanswered += float64(s.calls[e.Key]) * callUSD
		}
		switch {
		case e.State == bot.Posted:
			r.Answered++
			delays = append(delays, posted.Sub(asked))
			s.waits[s.publisher()] += posted.Sub(drafted)
		case e.State.Open():
			r.Open++
			if !at[bot.Proposed].IsZero() {
				s.waits[s.publisher()] += time.Since(drafted)
			}
		default:
			r.GivenUp++
		}
	}
	r.Open += r.Requests - len(entries)
	s.waits[workers] = max(0, s.waits[workers]-s.waits[work]-s.waits[money])
	s.waits[work] -= s.waits[endpoint]
	slices.Sort(delays)
	r.Spent = s.spent()
	if n := len(delays); n > 0 {
		r.Median, r.P95 = delays[n/2], delays[min(n-1, n*95/100)]
		r.USD = r.Spent / float64(n)
	}
	for what, d := range s.waits {
		r.Waits = append(r.Waits, Wait{what, d / time.Duration(max(1, r.Requests))})
	}
	slices.SortFunc(r.Waits, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.Mean, a.Mean), strings.Compare(a.For, b.For))
	})
	return r, nil
}

// inTurn returns how long a request waited because all permitted replies were already allotted.
func inTurn(e *bot.Entry) (d time.Duration) {
	for i, c := range e.History {
		if c.Reason == limit.Spoken {
			until := e.Updated
			if i+1 < len(e.History) {
				until = e.History[i+1].At
			}
			d += until.Sub(c.At)
		}
	}
	return d
}

// publisher returns what delays drafts: the limits on replies if they have been reached, and otherwise publishing.
func (s *system) publisher() string {
	if s.held["hour"]+s.held["day"] > 0 {
		return replies
	}
	return publishing
}

func (s *system) spent() (usd float64) {
	for day := time.Now().AddDate(0, 0, -s.Days-5); !day.After(time.Now()); day = day.AddDate(0, 0, 1) {
		u, err := s.days.Spent(context.Background(), day.UTC().Format(time.DateOnly))
		if err == nil {
			usd += u.USD
		}
	}
	return usd
}

// Print writes a row in the table.
func (r *Result) Print(w io.Writer, s Setting) {
	share := func(n int) string { return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(max(1, r.Requests))) }
	graph, limits := "WDQS", "default"
	if s.Own {
		graph = "own"
	}
	if s.Raised {
		limits = "raised"
	}
	binds := "nothing"
	for _, x := range r.Waits {
		if x.For != notice && x.For != work && x.Mean > 10*time.Minute {
			binds = fmt.Sprintf("%s (%s)", x.For, round(x.Mean))
			break
		}
	}
	fmt.Fprintf(w, "| %g | %d | %d | %s | %s | %d | %d | %s | %s | $%.3f | %s | %s | %s |\n", s.Load, s.Workers,
		s.Wikis, graph, limits, r.Deaths, r.Requests, round(r.Median), round(r.P95), r.USD, share(r.GivenUp),
		share(r.Open), binds)
}

func round(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.1f d", d.Hours()/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}
