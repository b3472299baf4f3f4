package politehttp

import (
	"context"
	"sync"
	"time"
)

// Pauses records the pauses that servers request. The Retry-After in one response applies to all requests to that
// server. internal/store shares pauses among all processes that use a database; [NewPauses] keeps the pauses of one
// client.
type Pauses interface {
	// Paused returns the time left in the pause that a server requested, or 0. server is a name for the server and
	// contains no secrets.
	Paused(ctx context.Context, server string) (time.Duration, error)
	// Pause records that a server has requested a pause of d, starting now. It does not shorten a longer pause that is
	// already in effect.
	Pause(ctx context.Context, server string, d time.Duration) error
}

// NewPauses returns a Pauses that keeps its data in memory.
func NewPauses(clock Clock) Pauses { return &pauses{clock: clock, until: map[string]time.Time{}} }

type pauses struct {
	clock Clock
	mu    sync.Mutex
	until map[string]time.Time
}

func (p *pauses) Paused(_ context.Context, server string) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.until[server].Sub(p.clock.Now()), 0), nil
}

func (p *pauses) Pause(_ context.Context, server string, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.clock.Now().Add(d); t.After(p.until[server]) {
		p.until[server] = t
	}
	return nil
}
