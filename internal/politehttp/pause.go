package politehttp

import (
	"context"
	"sync"
	"time"
)

// Pauses keep for how long servers want no requests: what the Retry-After of one answer said holds for all who ask that
// server. internal/store keeps them for all processes on a database; [NewPauses] makes those of one client.
type Pauses interface {
	// Paused is how long a server, known by a name that holds no secret, still wants no requests; 0 for none.
	Paused(ctx context.Context, server string) (time.Duration, error)
	// Pause notes that a server wants no requests for d from now on. A longer pause that is noted already stays.
	Pause(ctx context.Context, server string, d time.Duration) error
}

// NewPauses keeps pauses in memory.
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
