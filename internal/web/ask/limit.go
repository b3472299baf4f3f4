package ask

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// clients counts the questions from each client.
type clients struct {
	perMinute int
	now       func() time.Time

	mu   sync.Mutex
	seen map[string]*bucket
}

// bucket is a token bucket with the number of questions that a client may still ask.
type bucket struct {
	left float64
	at   time.Time
}

// most is the maximum number of clients remembered; beyond that, new clients are rejected.
const most = 10_000

// may reports whether a client may ask a question now, and if so, counts it. A client may use its whole quota for a
// minute at once.
func (c *clients) may(client string) bool {
	if c.perMinute <= 0 {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now, full := c.now(), float64(c.perMinute)
	if len(c.seen) >= most {
		for name, b := range c.seen {
			if now.Sub(b.at) > time.Minute {
				delete(c.seen, name)
			}
		}
	}
	b := c.seen[client]
	if b == nil {
		if len(c.seen) >= most {
			return false // too many addresses
		}
		if c.seen == nil {
			c.seen = map[string]*bucket{}
		}
		b = &bucket{left: full, at: now}
		c.seen[client] = b
	}
	b.left = min(full, b.left+now.Sub(b.at).Minutes()*full)
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// client identifies the sender of a request by its address or, for IPv6, by its network, since the whole network
// usually belongs to one user.
func (s *Server) client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if s.ClientHeader != "" { // the proxy added the last element; the elements before it come from the client
		parts := strings.Split(strings.Join(r.Header.Values(s.ClientHeader), ","), ",")
		if last := strings.TrimSpace(parts[len(parts)-1]); last != "" {
			host = last
		}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if addr = addr.Unmap(); addr.Is6() {
		if p, err := addr.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return addr.String()
}
