package harvest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Jobs is the queue of a harvest's steps: there is a job for each page that must be read, including its queries.
// internal/store implements it.
type Jobs interface {
	job.Queue
	// Redo adds the jobs that do not exist yet, and requeues jobs that are done or have failed.
	Redo(ctx context.Context, jobs []job.Job) error
	// Jobs lists the requested jobs that are in any of the states.
	Jobs(ctx context.Context, w job.Want, states ...job.State) ([]job.Job, error)
	// Until records the time by which a job must be done, unless an earlier claim has already done so, and returns the
	// recorded time.
	Until(ctx context.Context, c *job.Claim, deadline time.Time) (time.Time, error)
	// Later returns a job to the queue and delays it until the given time. The attempt is counted.
	Later(ctx context.Context, c *job.Claim, due time.Time, reason string) error
	// Finish ends a job.
	Finish(ctx context.Context, c *job.Claim, to job.State, reason string, files map[string][]byte) error
}

// Limits on processing pages.
const (
	pageTries = 3             // attempts at a page in one harvest
	pageWait  = time.Minute   // wait before the second attempt; the wait before the third is four times as long
	pageTime  = 6 * time.Hour // time limit from the first attempt, after which the harvest continues without the page
	inARow    = 3             // number of consecutive failed pages after which the wiki is assumed to be at fault
)

// pageJob is the kind of job that reads a page.
const pageJob = "harvest"

// pageError is the error for a page that could not be read or took too long. Other pages may still succeed.
type pageError struct {
	title string
	late  bool
	err   error
}

func (e *pageError) Error() string { return e.title + ": " + e.err.Error() }
func (e *pageError) Unwrap() error { return e.err }

type turn struct {
	*task
	tries int
	due   time.Time
}

func (h *Harvest) jobOf(title string) string { return pageJob + " " + title }

// line queues the pages that must be read and the pages that an earlier harvest did not finish, and returns all pages
// in order.
func (h *Harvest) line(ctx context.Context, todo []task) ([]turn, error) {
	line := make([]turn, len(todo))
	for i := range todo {
		line[i].task = &todo[i]
	}
	if h.Jobs == nil {
		return line, nil
	}
	open, err := h.Jobs.Jobs(ctx, job.Want{Kinds: []string{pageJob}, Scope: h.o.Prefix}, job.Waiting, job.Running,
		job.Failed)
	if err != nil {
		return nil, err
	}
	unfinished := map[string]bool{}
	for _, j := range open {
		unfinished[j.Key] = true
	}
	var jobs []job.Job
	for i := range todo {
		t, now := &todo[i], h.Now()
		if key := h.jobOf(t.Title); t.fresh || unfinished[key] {
			t.queued = true
			jobs = append(jobs, job.Job{Key: key, Kind: pageJob, Scope: h.o.Prefix, Created: now, Updated: now})
		}
	}
	return line, h.Jobs.Redo(ctx, jobs)
}

// steps processes the pages in the queue. A page that fails is retried a few times, after the others. The error is the
// one that stopped the harvest or, if nothing did, the error for the first unfinished page.
func (h *Harvest) steps(ctx context.Context, line []turn, done func(t *task, did bool) error) error {
	var failed error
	for row := 0; len(line) > 0; {
		s := line[0]
		line = line[1:]
		if wait := s.due.Sub(h.Now()); wait > 0 {
			if err := h.Sleep(ctx, wait); err != nil {
				return err
			}
		}
		did, err := h.step(ctx, &s)
		var of *pageError
		switch {
		case err == nil:
			row = 0
			if err := done(s.task, did); err != nil {
				return err
			}
			continue
		case ctx.Err() != nil || !errors.As(err, &of):
			return err
		}
		row++
		switch {
		case h.Sleep == nil || row >= inARow:
			return err
		case s.again(of):
			h.Log.Warn("a page will be retried later", "page", s.Title, "attempt", s.tries, "at", s.due, "error", err)
			line = append(line, s)
		default:
			h.Log.Error("a page is skipped in this harvest", "page", s.Title, "attempts", s.tries, "error", err)
			if failed == nil {
				failed = err
			}
		}
	}
	return failed
}

// again reports whether a failed page will be retried in this harvest.
func (s *turn) again(e *pageError) bool { return s.tries < pageTries && !e.late }

// step processes one page while holding the claim on its job.
func (h *Harvest) step(ctx context.Context, s *turn) (did bool, err error) {
	s.tries++
	c, until, err := h.begin(ctx, s.task)
	if err != nil {
		return false, err
	}
	within, cancel := context.WithTimeout(ctx, until.Sub(h.Now()))
	defer cancel()
	did, err = h.page(within, s.task)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		err = &pageError{s.Title, true, fmt.Errorf("timeout: it was not done within %s", pageTime)}
	}
	s.due = h.Now().Add(pageWait << (2 * (s.tries - 1)))
	return did, errors.Join(err, h.end(context.WithoutCancel(ctx), c, s, err, ctx.Err() != nil))
}

// begin claims the page's job, if the page is queued, and returns the time by which the page must be done.
func (h *Harvest) begin(ctx context.Context, t *task) (*job.Claim, time.Time, error) {
	until := h.Now().Add(pageTime)
	if !t.queued {
		return nil, until, nil
	}
	// Only one harvest works in the folder, and it waits until jobs are due, so a job that is due soon may be claimed.
	c, err := h.Jobs.Claim(ctx, pageJob, job.Want{Key: h.jobOf(t.Title)}, h.Now().Add(job.MaxWait/2), job.Forever)
	if err != nil {
		return nil, until, fmt.Errorf("the job of %s: %w", t.Title, err)
	}
	until, err = h.Jobs.Until(ctx, c, until)
	return c, until, err
}

func (h *Harvest) end(ctx context.Context, c *job.Claim, s *turn, err error, interrupted bool) error {
	var of *pageError
	switch {
	case c == nil:
		return nil
	case interrupted:
		return h.Jobs.GiveBack(ctx, c, time.Time{})
	case errors.As(err, &of) && !s.again(of):
		return h.Jobs.Finish(ctx, c, job.Failed, cause(err), nil)
	case err != nil:
		return h.Jobs.Later(ctx, c, s.due, cause(err))
	case h.stopped != nil: // some or all of its queries were not run
		return h.Jobs.Later(ctx, c, h.Now().Add(restAfterDown), cause(h.stopped))
	}
	return h.Jobs.Finish(ctx, c, job.Done, "", nil)
}

func cause(err error) string { return text.Clip(text.OneLine(err.Error()), 300) }

// run processes all pages and writes the files periodically.
func (h *Harvest) run(ctx context.Context, todo []task) error {
	line, err := h.line(ctx, todo)
	if err != nil {
		return err
	}
	worked, left := 0, len(todo)
	return h.steps(ctx, line, func(t *task, did bool) error {
		h.pace.pageDone(t, did)
		h.tell(t.Title)
		left--
		if did {
			worked++
		}
		if did && worked%filesEvery == 0 && left > 0 {
			_, err := h.export(ctx)
			return err
		}
		return nil
	})
}
