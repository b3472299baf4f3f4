package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

var _ politehttp.Pauses = (*Store)(nil)

// A pause is a lease that a server has: nobody acquires it. Its fence is how long it was, in microseconds, by which one
// from before the database's clock was set back is known.
const pauseName = "pause "

// Paused is how long a server still wants no requests; 0 for none.
func (s *Store) Paused(ctx context.Context, server string) (time.Duration, error) {
	var left, length int64
	err := s.row(ctx, "SELECT ends - "+s.now()+", fence FROM leases WHERE name = ?", pauseName+server).Scan(&left, &length)
	if errors.Is(err, sql.ErrNoRows) || err == nil && left > length {
		return 0, nil
	}
	return time.Duration(max(left, 0)) * time.Microsecond, failed(err, "pause of %s", server)
}

// Pause notes that a server wants no requests for d from now on. A longer pause that is noted already stays.
func (s *Store) Pause(ctx context.Context, server string, d time.Duration) error {
	now := s.now()
	_, err := s.exec(ctx, `INSERT INTO leases (name, holder, fence, ends) VALUES (?, '', ?, `+now+` + ?)
ON CONFLICT (name) DO UPDATE SET fence = excluded.fence, ends = excluded.ends
WHERE leases.ends < excluded.ends OR leases.ends - leases.fence > `+now, pauseName+server, d.Microseconds(), d.Microseconds())
	return failed(err, "pause of %s", server)
}
