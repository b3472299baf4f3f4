package evalrun

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/safe"
)

// Queue contains the items and results of a run shared by several processes. internal/store implements it.
type Queue interface {
	job.Queue
	// AddJobs adds missing jobs and requeues failed ones.
	AddJobs(ctx context.Context, jobs []job.Job) error
	// Jobs lists the jobs matching w that are in any of the states.
	Jobs(ctx context.Context, w job.Want, states ...job.State) ([]job.Job, error)
	// Finish ends a job and stores the files that it produced. The error is [job.ErrLost] if the claim has ended.
	Finish(ctx context.Context, c *job.Claim, to job.State, reason string, files map[string][]byte) error
	// Until records a job's deadline, unless an earlier claim has already done so, and returns the recorded deadline.
	Until(ctx context.Context, c *job.Claim, deadline time.Time) (time.Time, error)
	// Made returns the files that a job produced, by name.
	Made(ctx context.Context, key string) (map[string][]byte, error)
}

// Shared describes how a process participates in a run shared with other processes. Each process has its own folder; at
// the end, every folder contains all items.
type Shared struct {
	Queue  Queue
	Run    string        // name of the run; the same for all processes
	Holder string        // a name that no other process has ever used
	Lease  time.Duration // how long other processes wait for the items of a process that has died
	Poll   time.Duration // how often to check for items while other processes work on the rest
}

const itemJob = "item"

func (s *Shared) key(it dataset.Item) string { return s.Run + " " + FileName(it.ID) }

// share completes a run jointly with other processes.
func (r *runner) share(ctx context.Context) error {
	todo, err := r.plan(ctx)
	if err != nil {
		return err
	}
	missing := map[string]bool{}
	for _, it := range todo {
		missing[it.ID] = true
	}
	items := map[string]dataset.Item{} // by job key
	var jobs []job.Job
	var here []dataset.Item
	for i, it := range r.Items {
		if r.Chosen != nil && !r.Chosen[it.ID] {
			continue
		}
		key := r.Shared.key(it)
		items[key] = it
		// this preserves the benchmark's order
		at := r.Info.AsOf.Add(time.Duration(i) * time.Microsecond)
		jobs = append(jobs, job.Job{Key: key, Kind: itemJob, Scope: r.Shared.Run, Created: at, Updated: at})
		if !missing[it.ID] {
			here = append(here, it)
		}
	}
	if err := r.Shared.Queue.AddJobs(ctx, jobs); err != nil {
		return err
	}
	for _, it := range here {
		if err := r.offer(ctx, it); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for n := range r.Jobs {
		wg.Go(func() {
			if err := safe.Do(func() error {
				return r.takeItems(ctx, fmt.Sprintf("%s, %d", r.Shared.Holder, n+1), items)
			}); err != nil {
				stop(err)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return r.fetch(ctx, todo)
}

// offer makes an item that an earlier session stored in this folder available to the other processes.
func (r *runner) offer(ctx context.Context, it dataset.Item) error {
	c, err := r.Shared.Queue.Claim(ctx, r.Shared.Holder, job.Want{Key: r.Shared.key(it)}, r.Now(), r.Shared.Lease)
	if errors.Is(err, job.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	return r.finish(ctx, c, it)
}

// takeItems processes items one at a time until this process or others have finished all items.
func (r *runner) takeItems(ctx context.Context, holder string, items map[string]dataset.Item) error {
	s := r.Shared
	want := job.Want{Kinds: []string{itemJob}, Scope: s.Run}
	for {
		c, err := s.Queue.Claim(ctx, holder, want, r.Now(), s.Lease)
		if errors.Is(err, job.ErrNone) {
			left, err := s.Queue.Jobs(ctx, want, job.Waiting, job.Running)
			if err != nil || len(left) == 0 {
				return err
			}
			if err := r.Sleep(ctx, s.Poll); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		it, known := items[c.Key]
		if !known { // chosen by another process; leave it alone for a while
			if err := s.Queue.GiveBack(ctx, c, r.Now().Add(s.Lease)); err != nil {
				return err
			}
			continue
		}
		if err := r.claimed(ctx, c, it); err != nil {
			return err
		}
	}
}

// claimed processes an item while holding the claim on it.
func (r *runner) claimed(ctx context.Context, c *job.Claim, it dataset.Item) error {
	until, err := r.Shared.Queue.Until(ctx, c, r.deadline())
	switch {
	case errors.Is(err, job.ErrLost):
		return nil
	case err != nil:
		return errors.Join(err, r.Shared.Queue.GiveBack(context.WithoutCancel(ctx), c, time.Time{}))
	}
	kept, stop := job.Keep(ctx, r.Log, r.Shared.Queue, c, r.Shared.Lease)
	err = r.item(kept, it, until)
	lost := errors.Is(context.Cause(kept), job.ErrLost)
	stop()
	switch {
	case lost && ctx.Err() == nil:
		r.Log.Warn("an item was lost to another process", "item", it.ID)
		return nil
	case err != nil:
		return errors.Join(err, r.Shared.Queue.GiveBack(context.WithoutCancel(ctx), c, time.Time{}))
	}
	return r.finish(ctx, c, it)
}

// finish ends an item's job and stores the item's files from this folder.
func (r *runner) finish(ctx context.Context, c *job.Claim, it dataset.Item) error {
	k, err := r.load(it)
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	name := FileName(it.ID)
	paths := []string{filepath.Join(goldDir, name+".json"), filepath.Join(itemsDir, name+".json")}
	if k.item != nil && k.item.Trajectory != "" {
		paths = append(paths, filepath.FromSlash(k.item.Trajectory))
	}
	for _, path := range paths {
		data, err := os.ReadFile(r.dir.path(path))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		files[filepath.ToSlash(path)] = data
	}
	to, why := job.Done, ""
	if !k.done() {
		to = job.Failed
		if k.item != nil && k.item.Error != nil {
			why = string(k.item.Error.Kind)
		}
	}
	err = r.Shared.Queue.Finish(ctx, c, to, why, files)
	if errors.Is(err, job.ErrLost) { // another process will repeat the item with the same result
		return nil
	}
	return err
}

// fetch retrieves the items that other processes have finished.
func (r *runner) fetch(ctx context.Context, items []dataset.Item) error {
	for _, it := range items {
		if k, err := r.load(it); err != nil {
			return err
		} else if k.done() {
			continue
		}
		files, err := r.Shared.Queue.Made(ctx, r.Shared.key(it))
		if err != nil {
			return err
		}
		name := FileName(it.ID)
		// in this order, so that an item's file appears last; see [Run]
		for _, path := range []string{trajDir + "/" + name + ".jsonl", goldDir + "/" + name + ".json",
			itemsDir + "/" + name + ".json"} {
			if data, ok := files[path]; ok {
				if err := r.dir.write(data, filepath.FromSlash(path)); err != nil {
					return err
				}
			}
		}
		if k, err := r.load(it); err != nil {
			return err
		} else if k.item != nil {
			r.see(ctx, it, k)
			r.count(k.item)
		}
	}
	return nil
}
