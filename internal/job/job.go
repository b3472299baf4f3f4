// Package job defines the types for durable work: what must be done, who is doing it, and how long that worker's claim
// is valid.
//
// A [Job] is a row in the ledger. It exists only once, no matter how often it is requested. A worker takes it with a
// [Claim], which is a lease: it expires unless it is renewed, and its fence increases each time the job changes hands.
// The worker's writes check in the same transaction that the claim is still valid. So a worker that was paused for
// longer than its lease cannot overwrite its successor's work.
package job

import (
	"context"
	"errors"
	"time"
)

// State is the state of a job.
type State string

// The states. A running job whose claim has expired is waiting for another worker.
const (
	Waiting State = "waiting" // will be run when it is due
	Running State = "running" // claimed by a worker
	Done    State = "done"
	Failed  State = "failed" // abandoned; Reason explains why
)

// States lists all states in life-cycle order.
func States() []State { return []State{Waiting, Running, Done, Failed} }

// Job is a piece of work.
type Job struct {
	Key   string `json:"key"`   // unique among all jobs
	Kind  string `json:"kind"`  // what must be done next
	Scope string `json:"scope"` // what the job belongs to: a page title or a benchmark run
	State State  `json:"state"`
	// Reason explains why the job is in this state.
	Reason   string    `json:"reason,omitempty"`
	Due      time.Time `json:"due,omitzero"`      // the job is not run before this time
	Deadline time.Time `json:"deadline,omitzero"` // the job is not run after this time
	Attempts int       `json:"attempts"`          // claims so far
	Holder   string    `json:"holder,omitempty"`  // the worker that has, or last had, the job
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
}

// Claim is the right to work on a job until its lease expires. No other claim on the job ever has the same fence.
type Claim struct {
	Key    string
	Kind   string // the job's kind when it was claimed
	Holder string
	Fence  int64
}

// Want describes the jobs that a worker takes. Empty fields match all jobs.
type Want struct {
	Kinds []string
	Scope string
	Key   string
}

// Forever is the lease of a claim that lasts as long as its process. The lock on the data folder shows whether that
// process is still running.
const Forever = time.Duration(0)

// MaxWait is longer than any intended wait. If a job is due further in the future than that, the clock was wrong when
// the due time was written. The job is treated as due now; otherwise, it could wait for years after the clock is
// corrected.
const MaxWait = 7 * 24 * time.Hour

// Errors of [Queue].
var (
	// ErrLost means that the claim has expired and another worker may have the job. Nothing was written.
	ErrLost = errors.New("the job's lease has expired, and another worker may have it")
	// ErrNone means that no such job exists, that it is not due, or that another worker has it.
	ErrNone = errors.New("no job to do")
)

// Queue hands out jobs. internal/store implements it on the ledger's database. Leases are measured by the database's
// clock, so the workers' clocks do not matter. Due times come from the clock of the process that created the job.
type Queue interface {
	// Claim takes the job that has been due for the longest time. It considers the jobs matching w that are waiting and
	// due, and running jobs whose claims have expired. A worker that calls Claim again under the same name may get the
	// same job again, with a new fence. Claim returns [ErrNone] if there is no such job. The worker decides what happens
	// to a job whose deadline has passed.
	Claim(ctx context.Context, holder string, w Want, now time.Time, lease time.Duration) (*Claim, error)
	// Renew extends a claim for another lease period, starting now. It returns [ErrLost] if the claim has expired.
	Renew(ctx context.Context, c *Claim, lease time.Duration) error
	// GiveBack ends a claim. If due is set, the job becomes due at that time, and the claim is not recorded as an attempt,
	// because nothing could be done. It does nothing if another worker has the job or the job is finished.
	GiveBack(ctx context.Context, c *Claim, due time.Time) error
}
