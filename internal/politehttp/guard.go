package politehttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// RefusedError says that the guard did not let a request out: its host is not among the configured ones.
type RefusedError struct {
	Host string // host and port that were asked for
	Why  string
}

// Error names the host and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("refused to contact %s: %s", e.Host, e.Why)
}

// Permanent says that repeating does not help.
func (e *RefusedError) Permanent() bool { return true }

// Options configure [NewTransport].
type Options struct {
	UserAgent string            // set on each request that has none; see [UserAgent]
	Hosts     []string          // reachable hosts: "www.wikidata.org", "127.0.0.1:8080", or a whole URL, of which host and port count
	Base      http.RoundTripper // nil: a plain transport without proxy whose dialer refuses loopback addresses that Hosts does not name
}

// NewTransport returns a transport that identifies us and reaches only the configured hosts; anything else fails with a *[RefusedError]
// before a byte is sent. A host without port means the ports 80 and 443. Loopback is reachable only when Hosts names it: a public name that
// resolves to a loopback or link-local address is refused while dialling.
// It checks each hop of a redirect too, since http.Client sends each through its transport.
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
		g.base = plainTransport(g.namesLoopback())
	}
	return g, nil
}

// plainTransport is a transport without proxy and with bounded handshakes.
func plainTransport(loopback bool) *http.Transport {
	d := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if !loopback {
		d.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error { return checkAddress(address) }
	}
	return &http.Transport{
		DialContext: d.DialContext, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
		MaxIdleConns: 10, MaxIdleConnsPerHost: 2, IdleConnTimeout: 60 * time.Second,
	}
}

// checkAddress refuses the addresses that a public name must not lead to.
func checkAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	ip := net.ParseIP(host)
	if ip == nil || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() {
		return &RefusedError{Host: address, Why: "the name leads to an address of this machine or of its link, which the settings do not name"}
	}
	return nil
}

// hostPort turns a setting into the "host:port" forms it allows.
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

// canonical returns the host and port of a URL in lower case.
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

func (g *guard) namesLoopback() bool {
	return slices.ContainsFunc(g.hosts, func(hp string) bool {
		h, _, _ := net.SplitHostPort(hp)
		ip := net.ParseIP(h)
		return h == "localhost" || (ip != nil && ip.IsLoopback())
	})
}

// RoundTrip sends the request if its host is a configured one.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.check(req.URL); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // the transport's duty, also when nothing is sent
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
		return &RefusedError{Host: u.Redacted(), Why: "only http and https are spoken"}
	}
	if hp := canonical(u); !slices.Contains(g.hosts, hp) {
		return &RefusedError{Host: hp, Why: "the settings do not name this host"}
	}
	return nil
}

// maxRedirects is how many hops [CheckRedirect] follows.
const maxRedirects = 5

// CheckRedirect is an http.Client's CheckRedirect: at most 5 hops and never from https down to http.
func CheckRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errors.New("stopped after 5 redirects")
	}
	if n := len(via); n > 0 && via[n-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return &RefusedError{Host: canonical(req.URL), Why: "a redirect leads from https to http"}
	}
	return nil
}
