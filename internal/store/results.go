package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/spinachbot/spinachbot/internal/job"
)

// resultTables store the results of jobs that are not ledger entries. Each result is data with a name, like a file.
const resultTables = `CREATE TABLE results (
	key TEXT NOT NULL, -- of the job
	name TEXT NOT NULL,
	data %s NOT NULL,
	PRIMARY KEY (key, name)
);`

// AddJobs adds the jobs that do not exist yet, and restarts those that have failed.
func (s *Store) AddJobs(ctx context.Context, jobs []job.Job) error {
	return s.addJobs(ctx, jobs, "jobs.state = 'failed'")
}

// Redo adds the jobs that do not exist yet, and restarts those that are done or have failed.
func (s *Store) Redo(ctx context.Context, jobs []job.Job) error {
	return s.addJobs(ctx, jobs, "jobs.state IN ('done', 'failed')")
}

// addJobs adds jobs, and restarts existing jobs that satisfy the condition in again.
func (s *Store) addJobs(ctx context.Context, jobs []job.Job, again string) error {
	if len(jobs) == 0 {
		return nil
	}
	err := s.inTx(ctx, func(c conn) error {
		for _, j := range jobs {
			_, err := c.exec(ctx, "INSERT INTO jobs ("+jobColumns+`) VALUES (?, ?, ?, 'waiting', '', ?, ?, 0, '', 0, 0, ?, ?)
ON CONFLICT (key) DO UPDATE SET state = 'waiting', reason = '', attempts = 0, ends = 0, due = excluded.due,
deadline = excluded.deadline, updated = excluded.updated WHERE `+again,
				j.Key, j.Kind, j.Scope, micros(j.Due), micros(j.Deadline), micros(j.Created), micros(j.Updated))
			if err != nil {
				return err
			}
		}
		return nil
	})
	return failed(err, "add %d jobs", len(jobs))
}

// Until records a job's deadline, unless an earlier claim has set one, and returns it. The zero time means that there
// is no deadline.
func (s *Store) Until(ctx context.Context, c *job.Claim, deadline time.Time) (time.Time, error) {
	var at int64
	err := s.row(ctx, `UPDATE jobs SET deadline = CASE WHEN deadline = 0 THEN CAST(? AS BIGINT) ELSE deadline END
WHERE key = ? AND fence = ? AND state = 'running' RETURNING deadline`, micros(deadline), c.Key, c.Fence).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		err = job.ErrLost
	}
	return fromMicros(at), failed(err, "deadline of %s", c.Key)
}

// Later releases a job until due, and records the reason. The claim counts as an attempt. Nothing is written if the
// claim has ended.
func (s *Store) Later(ctx context.Context, c *job.Claim, due time.Time, reason string) error {
	_, err := s.exec(ctx, `UPDATE jobs SET state = 'waiting', ends = 0, due = ?, reason = ?
WHERE key = ? AND fence = ? AND state = 'running'`, micros(due), plain(reason), c.Key, c.Fence)
	return failed(err, "give back %s", c.Key)
}

// Finish marks a claimed job as done or failed and stores its results, replacing the results of any earlier attempt. If
// the claim has ended, the error is [job.ErrLost] and nothing is stored.
func (s *Store) Finish(ctx context.Context, c *job.Claim, to job.State, reason string, files map[string][]byte) error {
	err := s.locked(ctx, func(tx conn) error {
		if err := tx.held(ctx, c); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "DELETE FROM results WHERE key = ?", c.Key); err != nil {
			return err
		}
		for name, data := range files {
			if data == nil {
				data = []byte{}
			}
			_, err := tx.exec(ctx, "INSERT INTO results (key, name, data) VALUES (?, ?, ?)", c.Key, name, data)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		_, err := tx.exec(ctx, "UPDATE jobs SET state = ?, reason = ?, ends = 0 WHERE key = ?", string(to), plain(reason), c.Key)
		return err
	})
	return failed(err, "finish %s", c.Key)
}

// Made returns the stored results of a job, by name.
func (s *Store) Made(ctx context.Context, key string) (map[string][]byte, error) {
	rows, err := s.rows(ctx, "SELECT name, data FROM results WHERE key = ?", key)
	if err != nil {
		return nil, failed(err, "results of %s", key)
	}
	defer rows.Close()
	out := map[string][]byte{}
	for rows.Next() {
		var name string
		var data []byte
		if err := rows.Scan(&name, &data); err != nil {
			return nil, failed(err, "results of %s", key)
		}
		if out[name] = data; data == nil { // SQLite's driver returns nil for an empty blob
			out[name] = []byte{}
		}
	}
	return out, failed(rows.Err(), "results of %s", key)
}
