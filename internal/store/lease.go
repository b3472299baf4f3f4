package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/spinachbot/spinachbot/internal/leader"
)

var _ leader.Leases = (*Store)(nil)

// Times come from the database's clock, so differences between machine clocks do not matter.
const leaseTable = `CREATE TABLE leases (
	name TEXT PRIMARY KEY,
	holder TEXT NOT NULL,
	fence BIGINT NOT NULL,
	ends BIGINT NOT NULL -- microseconds since 1970
);`

// longest is longer than any lease. A lease that seems to last longer was written while the database's clock was ahead,
// and is treated as expired; otherwise, no process could work until it ended.
const longest = 24 * time.Hour

// Acquire acquires or renews a lease for the duration d. If another process holds the lease, held is false and l
// identifies the holder. A holder whose lease has expired reacquires it with a new fence, as any other process would. A
// holder's name must be unique: no other process may ever have used it.
func (s *Store) Acquire(ctx context.Context, name, holder string, d time.Duration) (l leader.Lease, held bool,
	err error) {
	l = leader.Lease{Name: name, Holder: holder}
	now := s.now()
	err = s.row(ctx, `INSERT INTO leases (name, holder, fence, ends) VALUES (?, ?, 1, `+now+` + ?) ON CONFLICT (name) DO UPDATE SET
fence = leases.fence + CASE WHEN leases.holder = excluded.holder AND leases.ends > `+now+` THEN 0 ELSE 1 END,
holder = excluded.holder, ends = excluded.ends
WHERE leases.holder = excluded.holder OR leases.ends <= `+now+` OR leases.ends > `+now+` + ? RETURNING fence`,
		name, holder, d.Microseconds(), longest.Microseconds()).Scan(&l.Fence)
	if !errors.Is(err, sql.ErrNoRows) {
		return l, err == nil, failed(err, "lease %s", name)
	}
	err = s.row(ctx, "SELECT holder, fence FROM leases WHERE name = ?", name).Scan(&l.Holder, &l.Fence)
	return l, false, failed(err, "lease %s", name)
}

// Release ends a lease early. It does nothing if the lease has already been lost.
func (s *Store) Release(ctx context.Context, l leader.Lease) error {
	_, err := s.exec(ctx, "UPDATE leases SET ends = 0 WHERE name = ? AND fence = ?", l.Name, l.Fence)
	return failed(err, "lease %s", l.Name)
}

// Under returns a store for the holder of a lease. It writes entries and notes only while the lease is held, which it
// checks in the same transaction. Closing s also closes the returned store.
func (s *Store) Under(l leader.Lease) *Store { return &Store{conn: s.conn, lease: &l, ring: s.ring} }

// write runs f in a transaction that ends before the lease can change hands. f must lock the rows that it relies on.
func (s *Store) write(ctx context.Context, f func(conn) error) error {
	return s.locked(ctx, func(tx conn) error {
		if s.lease == nil {
			return f(tx)
		}
		check := "SELECT 1 FROM leases WHERE name = ? AND fence = ? AND ends > " + s.now()
		if s.shared {
			check += " FOR SHARE"
		}
		var one int
		err := tx.row(ctx, check, s.lease.Name, s.lease.Fence).Scan(&one)
		if errors.Is(err, sql.ErrNoRows) {
			return leader.ErrLost
		}
		if err != nil {
			return err
		}
		return f(tx)
	})
}
