package evalrun

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/safe"
)

// Config configures [Run]. The folder must have been opened with [Begin].
type Config struct {
	Log     *slog.Logger
	Dir     string
	Info    *RunInfo
	Items   []dataset.Item                 // the whole benchmark, with unique IDs; see Unique
	Chosen  map[string]bool                // IDs of the items to ask now; nil for all items
	New     func(Parts) ask.Asker          // returns an asker for one attempt at one item
	Model   func(dataset.Item) agent.Model // the model for one attempt at an item
	Sources agent.Sources                  // the graphs; gold queries run on the first
	Replay  *Recording                     // replaces the model and the graph for the items that it contains; may be nil
	Limits  agent.Limits                   // limits on one item

	Language       string // language of the questions; "" to let the model detect it
	Golden         bool   // show the model the entities in the gold query
	SkipUnscorable bool   // do not ask items whose gold query failed or is empty
	// branching searches continue until an answer reaches this F1, as measured by UntilBy; if 0, they do not use gold
	UntilF1 float64
	UntilBy string // name of the metric

	Jobs  int // number of questions asked at the same time; default 1
	Tries int // attempts at an item or gold query if services fail; default 3
	// total time limit for all attempts at an item; if 0, the time that Limits allows for Tries attempts
	ItemTime time.Duration

	Shared *Shared // shares the work with other processes; if nil, this process does all of it

	Forms    []Form // additional formats in which the outputs are written
	Score    Scorer
	Now      func() time.Time
	Sleep    func(ctx context.Context, d time.Duration) error
	Account  *Account       // if nil, nothing is booked
	Progress func(Progress) // called after each item, one call at a time; may be nil
}

// Errors that stop a run early. Finished items are kept; starting the same run again continues it.
var (
	// ErrBudget means that the run's or the day's cost limit has been reached.
	ErrBudget = errors.New("the cost limit is reached")
	// ErrServiceDown means that too many consecutive items failed because of a service.
	ErrServiceDown = errors.New("a service is still down")
)

// maxInRow is the maximum number of consecutive service failures before the run stops.
const maxInRow = 10

// Run completes a run and assembles its files. Items that had a service failure in an earlier session are asked again.
// The summary covers all items that are done. Run returns it even if there is an error, which is ctx's, [ErrBudget],
// [ErrServiceDown], or a disk error.
func Run(ctx context.Context, cfg Config) (*Summary, error) {
	cfg.Jobs, cfg.Tries = max(cfg.Jobs, 1), max(cfg.Tries, 1)
	r := &runner{Config: cfg, dir: folder(cfg.Dir)}
	work := r.work
	if r.Shared != nil {
		work = r.share
	}
	runErr := work(ctx)
	sum, err := r.assemble(context.WithoutCancel(ctx)) // finished items are assembled even if the run was interrupted
	return sum, errors.Join(runErr, err)
}

// runner is a run in progress.
type runner struct {
	Config
	dir folder

	mu      sync.Mutex
	inRow   int // number of consecutive items with a service failure
	tally   Progress
	counted map[string]ended // items counted in tally, by ID; an item whose job another process held may occur twice
	watch   watching
}

// work asks the remaining items, Jobs at a time, in the benchmark's order. Any error stops all work, but when the
// budget is spent, items in progress may still finish, since they are already paid for.
func (r *runner) work(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	feeding, stopFeeding := context.WithCancelCause(ctx)
	defer stopFeeding(nil)
	todo, err := r.plan(ctx)
	if err != nil {
		return err
	}
	next := make(chan dataset.Item)
	var wg sync.WaitGroup
	for range r.Jobs {
		wg.Go(func() {
			for it := range next {
				if err := safe.Do(func() error { return r.item(ctx, it, r.deadline()) }); err != nil {
					stopFeeding(err)
					if !errors.Is(err, ErrBudget) {
						stop(err)
					}
				}
			}
		})
	}
feed:
	for _, it := range todo {
		select {
		case next <- it:
		case <-feeding.Done():
			break feed
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(feeding)
}

// plan lists the chosen items that are not yet done and starts the tally.
func (r *runner) plan(ctx context.Context) ([]dataset.Item, error) {
	var todo []dataset.Item
	names := map[string]string{}
	r.tally, r.counted = Progress{Began: r.Now(), Limit: r.limit()}, map[string]ended{}
	for _, it := range r.Items {
		if other, taken := names[FileName(it.ID)]; taken {
			return nil, fmt.Errorf("the items %q and %q would share a file; give one of them another ID", other, it.ID)
		}
		names[FileName(it.ID)] = it.ID
		if r.Chosen != nil && !r.Chosen[it.ID] {
			continue
		}
		r.tally.Items++
		k, err := r.load(it)
		if err != nil {
			return nil, err
		}
		if k.done() {
			r.add(k.item)
			r.see(ctx, it, k)
			continue
		}
		todo = append(todo, it)
	}
	r.tally.Before, r.tally.Now = r.tally.Done, r.Now()
	r.watched(true)
	return todo, nil
}

func (r *runner) limit() float64 {
	if r.Account == nil {
		return 0
	}
	return r.Account.limit
}

// known describes what the folder contains for an item.
type known struct {
	gold *goldFile
	item *itemFile
}

// done reports whether the item is done: the gold query was run, the item was asked, and no service failed.
func (k known) done() bool {
	return k.gold != nil && k.item != nil && k.item.Error == nil
}

func (r *runner) load(it dataset.Item) (known, error) {
	var k known
	var g goldFile
	var i itemFile
	name := FileName(it.ID) + ".json"
	ok, err := r.dir.readJSON(&g, goldDir, name)
	if ok {
		k.gold = &g
	}
	if err == nil {
		if ok, err = r.dir.readJSON(&i, itemsDir, name); ok {
			k.item = &i
		}
	}
	return k, err
}

// deadline returns the deadline for an item that starts now, or the zero time for no limit.
func (r *runner) deadline() time.Time {
	d := r.ItemTime
	if d == 0 && r.Limits.Time > 0 {
		d = time.Duration(r.Tries) * (r.Limits.Time + maxBackoff)
	}
	if d == 0 {
		return time.Time{}
	}
	return r.Now().Add(d)
}

// item completes one item. An error stops the run.
func (r *runner) item(ctx context.Context, it dataset.Item, until time.Time) error {
	k, err := r.load(it)
	if err != nil {
		return err
	}
	if k.gold == nil {
		if k.gold, err = r.gold(ctx, it); err != nil {
			return err
		}
	}
	if k.item == nil || k.item.Error != nil {
		if k.item, err = r.ask(ctx, it, k, until); err != nil {
			return err
		}
		if err := r.dir.writeJSON(k.item, itemsDir, FileName(it.ID)+".json"); err != nil {
			return err
		}
	}
	r.see(ctx, it, k)
	return r.finished(k.item)
}

// finished counts an item, reports progress, and stops the run if a service failed for too many consecutive items.
func (r *runner) finished(i *itemFile) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told(i)
	if i.Error == nil || i.Error.Kind == NoModel {
		r.inRow = 0
		return nil
	}
	if r.inRow++; r.inRow >= maxInRow {
		return fmt.Errorf("%w: it failed %d items in a row, last with: %s", ErrServiceDown, r.inRow,
			i.Attempts[len(i.Attempts)-1].Message)
	}
	return nil
}

func (r *runner) count(i *itemFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told(i)
}

// add counts an item, replacing any earlier count of the same item.
func (r *runner) add(i *itemFile) {
	if before, ok := r.counted[i.ID]; ok {
		r.tally.count(before, -1)
	}
	now := ended{answered: i.Answered, failed: i.Error != nil}
	r.counted[i.ID] = now
	r.tally.count(now, 1)
}

func (r *runner) told(i *itemFile) {
	r.add(i)
	r.tally.Now = r.Now()
	if r.Account != nil {
		r.tally.Cost = r.Account.Sum()
	}
	if r.Progress != nil {
		r.Progress(r.tally)
	}
	r.watched(false)
}

// backoff returns how long to wait after the nth failed attempt, counting from 1.
func backoff(n int) time.Duration {
	return min(2*time.Second<<(2*(n-1)), maxBackoff)
}

const maxBackoff, maxPause = 2 * time.Minute, time.Hour // maxPause limits the pauses that a service may request

// itemFile is a file in items/ that records how the agent's run ended.
type itemFile struct {
	Schema     int       `json:"schema"`
	ID         string    `json:"id"`
	SPARQL     string    `json:"sparql"`
	Result     rawResult `json:"result"`
	Answered   bool      `json:"answered"`
	Reason     string    `json:"reason,omitempty"`
	Error      *Failure  `json:"error,omitempty"`
	Steps      int       `json:"steps"`
	Confidence float64   `json:"confidence"`
	Meta
}

// lostWith returns the cost of failed attempts plus u.
func (i *itemFile) lostWith(u llm.Usage) llm.Usage {
	sum := i.Lost
	sum.Add(u)
	return sum
}
