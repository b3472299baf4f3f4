// Package job has the types of durable work: what must be done, who is doing it, and how long that claim is valid.
//
// A [Job] is a row of the ledger. It exists once, however often it is requested. A worker takes it with a [Claim],
// which is a lease: it ends unless it is renewed, and its fence grows each time that the job changes hands. What the
// worker writes about the job is written only while the claim holds, in the same transaction. So a worker that was
// paused for longer than its lease cannot write over the work of its successor.
package job

import (
	"context"
	"errors"
	"time"
)

// State is what is known about a job.
type State string

// The states. A running job whose claim has ended is waiting for the next worker.
const (
	Waiting State = "waiting" // to be done once it is due
	Running State = "running" // a worker has claimed it
	Done    State = "done"
	Failed  State = "failed" // given up; Reason says why
)

// States lists all states in the order of a job's life.
func States() []State { return []State{Waiting, Running, Done, Failed} }

// Job is a piece of work.
type Job struct {
	Key   string `json:"key"`   // no other job has it
	Kind  string `json:"kind"`  // what is to be done next
	Scope string `json:"scope"` // where it belongs: a page's title, a benchmark run
	State State  `json:"state"`
	// Reason tells why it is in this state.
	Reason   string    `json:"reason,omitempty"`
	Due      time.Time `json:"due,omitzero"`      // nothing is tried before
	Deadline time.Time `json:"deadline,omitzero"` // nothing is tried after
	Attempts int       `json:"attempts"`          // claims so far
	Holder   string    `json:"holder,omitempty"`  // who has it, or had it last
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
}

// Claim is the right to do a job until its lease ends. No other claim on the job has ever had its fence.
type Claim struct {
	Key    string
	Kind   string // when it was claimed
	Holder string
	Fence  int64
}

// Want tells which jobs a worker takes. Empty fields do not restrict.
type Want struct {
	Kinds []string
	Scope string
	Key   string
}

// Forever is the duration of a claim that ends with its process, as determined by the lock of a data folder.
const Forever = time.Duration(0)

// MaxWait is longer than any intended wait. A job that is due later than that was written while a clock was ahead, and
// is due at once: otherwise it would wait for years once the clock is right again.
const MaxWait = 7 * 24 * time.Hour

// Errors of [Queue].
var (
	// ErrLost: the claim has ended, and another worker may have the job. What was to be written was not.
	ErrLost = errors.New("the job's lease has ended, and another worker may have it")
	// ErrNone: there is no such job, it is not due, or another worker has it.
	ErrNone = errors.New("no job to do")
)

// Queue hands out jobs. internal/store implements it on the ledger's database. Leases are measured by the database's
// clock, so that the workers' clocks do not matter; when a job is due is measured by the clock of who made it.
type Queue interface {
	// Claim takes the job that has been due for longest, of those that are wanted and that wait and are due at now, or run
	// under a claim that has ended. A worker that asks again under the same name may get its own job again, with a new
	// fence. It returns [ErrNone] if there is none. The worker decides what happens to a job whose deadline has passed.
	Claim(ctx context.Context, holder string, w Want, now time.Time, lease time.Duration) (*Claim, error)
	// Renew makes a claim last for another lease from now on. It returns [ErrLost] once it has ended.
	Renew(ctx context.Context, c *Claim, lease time.Duration) error
	// GiveBack ends a claim. If due is set, the job is due at that time and the claim does not count as an attempt,
	// because nothing could be done. It does nothing if another worker has the job or it is finished.
	GiveBack(ctx context.Context, c *Claim, due time.Time) error
}
