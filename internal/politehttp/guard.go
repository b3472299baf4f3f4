package politehttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// RefusedError reports that a request was not sent because its host is not among the configured ones.
type RefusedError struct {
	Host string // host and port of the request
	Why  string
}

// Error names the host and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("refused to contact %s: %s", e.Host, e.Why)
}

// Permanent reports that retrying the request will not help.
func (e *RefusedError) Permanent() bool { return true }

// Options configure [NewTransport].
type Options struct {
	UserAgent string            // set on each request that does not have one; see [UserAgent]
	Hosts     []string          // reachable hosts, such as "www.wikidata.org", "127.0.0.1:8080" or a URL
	Base      http.RoundTripper // if nil, a direct transport that rejects loopback addresses unless Hosts names one
	Public    bool              // if Base is nil, also reject private networks, unless Hosts or Neighbor is in one
	Neighbor  string            // host or URL; resolved when needed
}

// NewTransport returns a transport that sets our User-Agent and contacts only the configured hosts. Any other request
// fails with a *[RefusedError] before a byte is sent. A host without a port allows ports 80 and 443. Loopback addresses
// are reachable only if Hosts includes one: a name that resolves to a loopback or link-local address is rejected during
// dialing.
//
// The transport also checks each hop of a redirect, since http.Client sends every hop through its transport.
func NewTransport(o Options) (http.RoundTripper, error) {
	g := &guard{agent: o.UserAgent, base: o.Base}
	for _, h := range o.Hosts {
		hp, err := hostPort(h)
		if err != nil {
			return nil, err
		}
		g.hosts = append(g.hosts, hp...)
	}
	if g.base == nil {
		d := &dialGuard{loopback: g.names(isLoopback), private: !o.Public || g.names(isPrivate)}
		if o.Neighbor != "" {
			hp, err := hostPort(o.Neighbor)
			if err != nil {
				return nil, err
			}
			d.neighbor, _, _ = net.SplitHostPort(hp[0])
		}
		g.base = plainTransport(d)
	}
	return g, nil
}

// plainTransport returns a transport that does not use a proxy and limits the duration of handshakes.
func plainTransport(g *dialGuard) *http.Transport {
	d := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	d.ControlContext = func(ctx context.Context, _, address string, _ syscall.RawConn) error {
		return g.check(ctx,
			address)
	}
	return &http.Transport{
		DialContext: d.DialContext, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
		MaxIdleConns: 10, MaxIdleConnsPerHost: 2, IdleConnTimeout: 60 * time.Second,
	}
}

// dialGuard rejects addresses that a host name must not resolve to.
type dialGuard struct {
	loopback bool   // loopback and link-local addresses are allowed
	private  bool   // addresses of private networks are allowed
	neighbor string // host; if its address is private, other hosts may also have private addresses
}

// check returns an error if the address about to be dialed is not allowed.
func (g *dialGuard) check(ctx context.Context, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return &RefusedError{Host: address, Why: "it is not an IP address"}
	case !g.loopback && isLoopback(ip):
		return &RefusedError{Host: address, Why: "the name resolves to an address of this machine or its link, which the settings do not name"}
	case !g.private && isPrivate(ip) && !g.neighborIsPrivate(ctx):
		return &RefusedError{Host: address, Why: "the name resolves to an address of a private network, which the settings do not name"}
	}
	return nil
}

func (g *dialGuard) neighborIsPrivate(ctx context.Context) bool {
	if g.neighbor == "" {
		return false
	}
	if ip, err := netip.ParseAddr(g.neighbor); err == nil {
		return isPrivate(ip) || isLoopback(ip)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", g.neighbor)
	return err == nil && slices.ContainsFunc(ips, func(ip netip.Addr) bool { return isPrivate(ip) || isLoopback(ip) })
}

// isLoopback reports whether an address is loopback or link-local, or cannot be dialed at all.
func isLoopback(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast()
}

// otherPrivate lists the private ranges that [netip.Addr.IsPrivate] omits: "this network", carrier-grade NAT (RFC
// 6598), protocol assignments, benchmarking addresses, and IPv4 addresses embedded in IPv6 (NAT64, 6to4), whose meaning
// depends on the network.
var otherPrivate = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

func isPrivate(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsPrivate() || slices.ContainsFunc(otherPrivate, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// hostPort returns the "host:port" strings that a setting allows.
func hostPort(s string) ([]string, error) {
	if strings.Contains(s, "://") {
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, fmt.Errorf("host guard: %q is not an http or https address", s)
		}
		return []string{canonical(u)}, nil
	}
	if _, _, err := net.SplitHostPort(s); err == nil {
		return []string{strings.ToLower(s)}, nil
	}
	s = strings.ToLower(strings.Trim(s, "[]"))
	if s == "" || strings.ContainsAny(s, "/ @?#") {
		return nil, fmt.Errorf("host guard: %q is not a host", s)
	}
	return []string{net.JoinHostPort(s, "80"), net.JoinHostPort(s, "443")}, nil
}

// canonical returns the host and port of a URL, in lower case.
func canonical(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	return net.JoinHostPort(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port)
}

type guard struct {
	agent string
	hosts []string
	base  http.RoundTripper
}

// names reports whether any configured host is localhost or an address of the given kind.
func (g *guard) names(kind func(netip.Addr) bool) bool {
	return slices.ContainsFunc(g.hosts, func(hp string) bool {
		h, _, _ := net.SplitHostPort(hp)
		ip, err := netip.ParseAddr(h)
		return h == "localhost" || err == nil && kind(ip)
	})
}

// RoundTrip sends the request if its host is configured.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.check(req.URL); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a transport must close the body even if it sends nothing
		}
		return nil, err
	}
	if g.agent != "" && req.Header.Get("User-Agent") == "" {
		req = req.Clone(req.Context())
		req.Header.Set("User-Agent", g.agent)
	}
	return g.base.RoundTrip(req)
}

func (g *guard) check(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return &RefusedError{Host: u.Redacted(), Why: "only http and https are supported"}
	}
	if hp := canonical(u); !slices.Contains(g.hosts, hp) {
		return &RefusedError{Host: hp, Why: "the settings do not name this host"}
	}
	return nil
}

// maxRedirects is the maximum number of redirects that [CheckRedirect] follows.
const maxRedirects = 5

// CheckRedirect can be used as the CheckRedirect of an http.Client. It allows at most 5 redirects and none from https
// to http.
func CheckRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errors.New("stopped after 5 redirects; check the address")
	}
	if n := len(via); n > 0 && via[n-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return &RefusedError{Host: canonical(req.URL), Why: "a redirect leads from https to http"}
	}
	return nil
}
