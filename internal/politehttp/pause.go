package politehttp

import (
	"context"
	"sync"
	"time"
)

// Pauses records how long servers do not want to receive requests. The Retry-After of one answer applies to all
// requests to that server. internal/store shares pauses among all processes on a database; [NewPauses] keeps those of
// one client.
type Pauses interface {
	// Paused returns what remains of the pause that a server requested, or 0. The server is identified by a name that
	// contains no secret.
	Paused(ctx context.Context, server string) (time.Duration, error)
	// Pause records that a server requests a pause of d from now on. It does not shorten a longer pause.
	Pause(ctx context.Context, server string, d time.Duration) error
}

// NewPauses returns pauses that are kept in memory.
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
