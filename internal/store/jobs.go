package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/job"
)

var _ job.Queue = (*Store)(nil)

// jobTable stores jobs and the processes that have claimed them. An entry's job has the entry's key. Claim times come
// from the database's clock, so differences between machine clocks do not matter. All other times come from the process
// that wrote the job.
const jobTable = `CREATE TABLE jobs (
	key TEXT PRIMARY KEY,
	kind TEXT NOT NULL,
	scope TEXT NOT NULL,
	state TEXT NOT NULL,
	reason TEXT NOT NULL,
	due BIGINT NOT NULL, -- microseconds since 1970, as all times; 0: at once
	deadline BIGINT NOT NULL, -- 0: none
	attempts BIGINT NOT NULL,
	holder TEXT NOT NULL,
	fence BIGINT NOT NULL, -- grows with each claim
	ends BIGINT NOT NULL, -- of the claim
	created BIGINT NOT NULL,
	updated BIGINT NOT NULL
);
CREATE INDEX jobs_due ON jobs (state, due);
CREATE INDEX jobs_scope ON jobs (scope, state);`

// entryJobs creates the jobs for existing entries, as bot.Entry.Job does. Fractions of seconds in JSON times do not
// matter here.
const (
	entryJobs = `
INSERT INTO jobs (key, kind, scope, state, reason, due, deadline, attempts, holder, fence, ends, created, updated)
SELECT key, ` + kindOfState + `, 'wiki:', ` + jobOfState + `, coalesce(json_extract(data, '$.reason'), ''),
	1000000 * coalesce(CAST(strftime('%s', json_extract(data, '$.not_before')) AS BIGINT), 0), 0, 0, '', 0, 0,
	1000000 * coalesce(CAST(strftime('%s', json_extract(data, '$.created')) AS BIGINT), 0),
	1000000 * coalesce(CAST(strftime('%s', json_extract(data, '$.updated')) AS BIGINT), 0) FROM entries;`
	sharedEntryJobs = `
INSERT INTO jobs (key, kind, scope, state, reason, due, deadline, attempts, holder, fence, ends, created, updated)
SELECT key, ` + kindOfState + `, 'wiki:', ` + jobOfState + `, '',
	coalesce(CAST(extract(epoch FROM substring(data FROM '"not_before":"([0-9TZ:.+-]+)"')::timestamptz) * 1000000 AS BIGINT), 0),
	0, 0, '', 0, 0,
	coalesce(CAST(extract(epoch FROM substring(data FROM '"created":"([0-9TZ:.+-]+)"')::timestamptz) * 1000000 AS BIGINT), 0),
	coalesce(CAST(extract(epoch FROM substring(data FROM '"updated":"([0-9TZ:.+-]+)"')::timestamptz) * 1000000 AS BIGINT), 0)
	FROM entries;` // PostgreSQL cannot parse JSON with \u0000, which a post may contain
	kindOfState = `CASE state WHEN 'noticed' THEN 'judge' WHEN 'accepted' THEN 'solve' WHEN 'proposed' THEN 'propose'
	WHEN 'approved' THEN 'publish' ELSE 'confirm' END`
	jobOfState = `CASE WHEN state IN ('posted', 'skipped') THEN 'done' WHEN state IN ('gave_up', 'rejected') THEN 'failed'
	ELSE 'waiting' END`
)

const jobColumns = "key, kind, scope, state, reason, due, deadline, attempts, holder, fence, ends, created, updated"

// never is the expiration time of a claim that lasts as long as its process.
const never = math.MaxInt64 / 2

// Claim implements [job.Queue].
func (s *Store) Claim(ctx context.Context, holder string, w job.Want, now time.Time,
	lease time.Duration) (*job.Claim, error) {
	clock := s.now()
	ends, args := clock+" + ?", []any{holder, lease.Microseconds()}
	if lease == job.Forever {
		ends, args[1] = "?", int64(never)
	}
	args = append(args, micros(now), micros(now.Add(job.MaxWait)), holder, longest.Microseconds(), int64(never))
	where := "(state = 'waiting' AND (due <= ? OR due > ?) OR state = 'running' AND (holder = ? OR ends <= " + clock +
		" OR ends > " + clock + " + ? AND ends < ?))"
	if w.Key != "" {
		where, args = where+" AND key = ?", append(args, w.Key)
	}
	if w.Scope != "" {
		where, args = where+" AND scope = ?", append(args, w.Scope)
	}
	if len(w.Kinds) > 0 {
		where += " AND kind IN (?" + strings.Repeat(", ?", len(w.Kinds)-1) + ")"
		for _, k := range w.Kinds {
			args = append(args, k)
		}
	}
	lock := ""
	if s.shared {
		lock = " FOR UPDATE SKIP LOCKED"
	}
	c := &job.Claim{Holder: holder}
	err := s.row(ctx, `UPDATE jobs SET state = 'running', holder = ?, ends = `+ends+`, fence = fence + 1, attempts = attempts + 1
WHERE key = (SELECT key FROM jobs WHERE `+where+" ORDER BY due, created, key LIMIT 1"+lock+") RETURNING key, kind, fence", args...).
		Scan(&c.Key, &c.Kind, &c.Fence)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, job.ErrNone
	}
	if err != nil {
		return nil, failed(err, "claim a job")
	}
	return c, nil
}

// Renew implements [job.Queue].
func (s *Store) Renew(ctx context.Context, c *job.Claim, lease time.Duration) error {
	ends, args := s.now()+" + ?", []any{lease.Microseconds()}
	if lease == job.Forever {
		ends, args[0] = "?", int64(never)
	}
	r, err := s.exec(ctx, "UPDATE jobs SET ends = "+ends+" WHERE key = ? AND fence = ? AND state = 'running' AND ends > "+
		s.now(), append(args, c.Key, c.Fence)...)
	if err != nil {
		return failed(err, "renew the claim of %s", c.Key)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return failed(errors.Join(err, job.ErrLost), "renew the claim of %s", c.Key)
	}
	return nil
}

// GiveBack implements [job.Queue].
func (s *Store) GiveBack(ctx context.Context, c *job.Claim, due time.Time) error {
	j := job.Job{Key: c.Key, State: job.Waiting}
	var at int64
	err := s.row(ctx, `UPDATE jobs SET state = 'waiting', ends = 0,
attempts = attempts - CASE WHEN CAST(? AS BIGINT) > 0 THEN 1 ELSE 0 END, due = CASE WHEN CAST(? AS BIGINT) > 0 THEN CAST(? AS BIGINT) ELSE due END WHERE key = ? AND fence = ? AND state = 'running' RETURNING kind, due`,
		micros(due), micros(due), micros(due), c.Key, c.Fence).Scan(&j.Kind, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return failed(err, "give back %s", c.Key)
	}
	j.Due = fromMicros(at)
	s.rung(ctx, j)
	return nil
}

// held returns [job.ErrLost] unless the claim is valid. A valid claim stays valid until the transaction ends.
func (c conn) held(ctx context.Context, claim *job.Claim) error {
	check := "SELECT 1 FROM jobs WHERE key = ? AND fence = ? AND state = 'running' AND ends > " + c.now()
	if c.shared {
		check += " FOR UPDATE"
	}
	var one int
	err := c.row(ctx, check, claim.Key, claim.Fence).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return job.ErrLost
	}
	return err
}

// putJob replaces the job with the same key. A running job keeps running under its worker's claim if that worker is the
// writer (own) or if the kind of work has not changed. Otherwise, the worker loses its claim.
func (c conn) putJob(ctx context.Context, j job.Job, own bool) error {
	const goesOn = "jobs.state = 'running' AND excluded.state = 'waiting' AND (? = 1 OR jobs.kind = excluded.kind)"
	mine := 0
	if own {
		mine = 1
	}
	_, err := c.exec(ctx, "INSERT INTO jobs ("+jobColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, 0, '', 0, 0, ?, ?)
ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, scope = excluded.scope, reason = excluded.reason,
due = excluded.due, deadline = excluded.deadline, updated = excluded.updated,
attempts = CASE WHEN jobs.state IN ('done', 'failed') AND excluded.state = 'waiting' THEN 0 ELSE jobs.attempts END,
ends = CASE WHEN `+goesOn+` THEN jobs.ends ELSE 0 END, state = CASE WHEN `+goesOn+` THEN jobs.state ELSE excluded.state END`,
		j.Key, j.Kind, j.Scope, string(j.State), plain(j.Reason), micros(j.Due), micros(j.Deadline), micros(j.Created),
		micros(j.Updated), mine, mine)
	return err
}

// plain returns text without the characters that PostgreSQL does not accept.
func plain(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "") }

// Jobs returns the matching jobs in one of the states (in any state if none is given), in the order in which they are
// due. A job whose claim has expired is considered waiting.
func (s *Store) Jobs(ctx context.Context, w job.Want, states ...job.State) ([]job.Job, error) {
	where, args := "1 = 1", []any{}
	if w.Key != "" {
		where, args = where+" AND key = ?", append(args, w.Key)
	}
	if w.Scope != "" {
		where, args = where+" AND scope = ?", append(args, w.Scope)
	}
	if len(w.Kinds) > 0 {
		where += " AND kind IN (?" + strings.Repeat(", ?", len(w.Kinds)-1) + ")"
		for _, k := range w.Kinds {
			args = append(args, k)
		}
	}
	state := "CASE WHEN state = 'running' AND ends <= " + s.now() + " THEN 'waiting' ELSE state END"
	if len(states) > 0 {
		where += " AND " + state + " IN (?" + strings.Repeat(", ?", len(states)-1) + ")"
		for _, st := range states {
			args = append(args, string(st))
		}
	}
	rows, err := s.rows(ctx, "SELECT key, kind, scope, "+state+", reason, due, deadline, attempts, holder, created, updated FROM jobs WHERE "+
		where+" ORDER BY due, created, key", args...)
	if err != nil {
		return nil, failed(err, "list jobs")
	}
	defer rows.Close()
	var out []job.Job
	for rows.Next() {
		var j job.Job
		var due, deadline, created, updated int64
		if err := rows.Scan(&j.Key, &j.Kind, &j.Scope, &j.State, &j.Reason, &due, &deadline, &j.Attempts, &j.Holder,
			&created, &updated); err != nil {
			return nil, failed(err, "list jobs")
		}
		j.Due, j.Deadline = fromMicros(due), fromMicros(deadline)
		j.Created, j.Updated = fromMicros(created), fromMicros(updated)
		out = append(out, j)
	}
	return out, failed(rows.Err(), "list jobs")
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
