package login

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/internal/web/guard"
)

// Number of wrong tokens tolerated within a window. The overall limit for all clients protects against attackers with
// many addresses. It does not apply to clients on this machine, so that a stranger cannot lock out an operator who
// works there.
const (
	window     = 15 * time.Minute
	perClient  = 5
	overall    = 60
	maxTracked = 10_000 // maximum number of clients remembered
	everybody  = ""
)

// tries counts wrong tokens.
type tries struct {
	now func() time.Time

	mu sync.Mutex
	by map[string]*count // by client; the total is under [everybody]
}

// count records a client's failures within the window that started with its first failure.
type count struct {
	since    time.Time
	failures int
	underWay int
}

// begin returns how long a client has to wait before its next attempt, or 0 if it may try now. If it may, the caller
// must call done with the outcome. Until then, the attempt is treated as a failure, so concurrent attempts have no
// advantage over sequential ones.
func (t *tries) begin(client string) (done func(ok bool), wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if t.by == nil {
		t.by = map[string]*count{}
	}
	t.forget(now)
	own, sum := t.at(client, now), t.at(everybody, now)
	for _, c := range []struct {
		*count
		most int
	}{{own, perClient}, {sum, overall}} {
		if c.failures+c.underWay >= c.most && (c.count == own || !guard.Loopback(client)) {
			return nil, max(c.since.Add(window).Sub(now), time.Second)
		}
	}
	own.underWay++
	sum.underWay++
	return func(ok bool) { t.end(client, ok) }, 0
}

func (t *tries) end(client string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	own, sum := t.at(client, now), t.at(everybody, now)
	own.underWay = max(own.underWay-1, 0)
	sum.underWay = max(sum.underWay-1, 0)
	switch {
	case ok:
		own.failures = 0
	default:
		own.failures++
		sum.failures++
	}
}

// at returns a client's count, which starts over when its window has ended.
func (t *tries) at(client string, now time.Time) *count {
	c := t.by[client]
	if c == nil {
		c = &count{since: now}
		t.by[client] = c
	}
	if now.Sub(c.since) >= window {
		c.since, c.failures = now, 0
	}
	return c
}

// forget drops clients whose window has ended, once there are many clients.
func (t *tries) forget(now time.Time) {
	if len(t.by) < maxTracked {
		return
	}
	for k, c := range t.by {
		if k != everybody && c.underWay == 0 && now.Sub(c.since) >= window {
			delete(t.by, k)
		}
	}
}

// clientOf identifies the sender of a request by its address or, for IPv6, by the customer's network. A proxy on this
// machine identifies its client in the last element of X-Forwarded-For, which it added itself.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if all := r.Header.Values("X-Forwarded-For"); guard.Loopback(host) && len(all) > 0 {
		list := strings.Split(all[len(all)-1], ",")
		if last := strings.TrimSpace(list[len(list)-1]); last != "" {
			host = last
		}
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return "unknown" // set by a proxy; all clients of the proxy share one count
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}
