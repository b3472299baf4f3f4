package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

var _ politehttp.Pauses = (*Store)(nil)

// A pause is stored as a lease that no process acquires. Its fence is the length of the pause in microseconds, so if
// more time than that remains, the database's clock has been set back.
const pauseName = "pause "

// Paused returns the time left in the pause that a server requested, or 0.
func (s *Store) Paused(ctx context.Context, server string) (time.Duration, error) {
	var left, length int64
	err := s.row(ctx, "SELECT ends - "+s.now()+", fence FROM leases WHERE name = ?", pauseName+server).Scan(&left, &length)
	if errors.Is(err, sql.ErrNoRows) || err == nil && left > length {
		return 0, nil
	}
	return time.Duration(max(left, 0)) * time.Microsecond, failed(err, "pause of %s", server)
}

// Pause records that a server requested a pause of duration d, starting now. It does not shorten a longer pause.
func (s *Store) Pause(ctx context.Context, server string, d time.Duration) error {
	now := s.now()
	_, err := s.exec(ctx, `INSERT INTO leases (name, holder, fence, ends) VALUES (?, '', ?, `+now+` + ?)
ON CONFLICT (name) DO UPDATE SET fence = excluded.fence, ends = excluded.ends
WHERE leases.ends < excluded.ends OR leases.ends - leases.fence > `+now, pauseName+server, d.Microseconds(), d.Microseconds())
	return failed(err, "pause of %s", server)
}
