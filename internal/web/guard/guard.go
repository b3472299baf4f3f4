// Package guard protects web pages against requests with unexpected host names (DNS rebinding), cross-site requests,
// oversized and slow requests, and panics. It protects all of the program's pages.
package guard

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
)

// Policy is the Content-Security-Policy for pages: content from this server only, no inline scripts or styles, forms
// that submit to this server only, and no framing.
const Policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// PolicyWith returns the [Policy] for a page whose scripts may create only the Trusted Types policy with the given
// name, or none if the name is empty.
func PolicyWith(trusted string) string {
	if trusted == "" {
		return Policy
	}
	return strings.TrimSuffix(Policy, "'none'") + trusted
}

// Options configures a [Guard].
type Options struct {
	Log *slog.Logger
	// Hosts are the accepted host names, without a port, in addition to the loopback names; "*" accepts any name
	Hosts []string
}

// Guard returns a handler that passes only legitimate requests to next, and sets the headers of every response. A panic
// in next is logged and results in a 500 response.
func Guard(next http.Handler, o Options) http.Handler {
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "This request came from another site and was refused. Open the page itself.", http.StatusForbidden)
	}))
	same := origin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			o.Log.Error("a bug; please report it", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			http.Error(w, `{"error":"This failed because of a bug in the program; its log has details."}`,
				http.StatusInternalServerError)
		}()
		if !o.serves(r.Host) {
			http.Error(w, "This server does not accept this host name. Use the address that it printed when it started.",
				http.StatusMisdirectedRequest)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", Policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		same.ServeHTTP(w, r)
	})
}

// serves reports whether the server accepts the host name in a Host header.
func (o *Options) serves(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if Loopback(host) {
		return true
	}
	for _, h := range o.Hosts {
		if h == "*" || strings.EqualFold(h, host) {
			return true
		}
	}
	return false
}

// Loopback reports whether a host name, without a port, refers to the loopback interface.
func Loopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Local keeps a redirect on this server: if a URL has no host, it returns the path and query, and otherwise "/".
func Local(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(to, "//") ||
		strings.Contains(to, `\`) {
		return "/"
	}
	return u.RequestURI()
}
