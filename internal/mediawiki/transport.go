package mediawiki

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync/atomic"

	"github.com/mrjones/oauth"
)

// errHost is the guard's refusal.
var errHost = errors.New("host is not allowed")

// guard lets requests pass to listed hosts only.
type guard struct {
	hosts []string
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if !slices.Contains(g.hosts, r.URL.Host) {
		return nil, fmt.Errorf("%w: %q (allowed: %q)", errHost, r.URL.Host, g.hosts)
	}
	return g.next.RoundTrip(r)
}

// exchange is one request and its answer: it binds the context, which go-mwclient does not know, and remembers what go-mwclient drops.
type exchange struct {
	ctx    context.Context
	next   http.RoundTripper
	status int
	header http.Header
	err    error // of the transport, without the URL that net/http adds

	traced atomic.Bool // the transport reports its steps
	wrote  atomic.Bool // the request's head is on its way
	tried  bool
}

// RoundTrip implements [http.RoundTripper].
func (x *exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	x.tried = true
	trace := &httptrace.ClientTrace{
		GetConn:      func(string) { x.traced.Store(true) },
		WroteHeaders: func() { x.wrote.Store(true) },
	}
	resp, err := x.next.RoundTrip(r.WithContext(httptrace.WithClientTrace(x.ctx, trace)))
	if err != nil {
		x.err = err
		return nil, err
	}
	x.status, x.header = resp.StatusCode, resp.Header.Clone()
	resp.Header.Del("X-Database-Lag") // go-mwclient would swallow the answer
	resp.Body = &limited{ReadCloser: resp.Body, left: maxAnswer, x: x}
	return resp, nil
}

// mayHaveArrived reports whether the server can have seen the request. A transport that reports nothing is taken to have sent it.
func (x *exchange) mayHaveArrived() bool {
	if !x.tried || errors.Is(x.err, errHost) {
		return false
	}
	return x.wrote.Load() || !x.traced.Load()
}

// limited ends a body that is too long with an error, and keeps the body's own error.
type limited struct {
	io.ReadCloser
	left int
	x    *exchange
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	l.left -= n
	if l.left < 0 {
		err = fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	if err != nil && err != io.EOF {
		l.x.err = err
	}
	return n, err
}

// signer puts an OAuth 1.0a signature on each request.
func signer(o OAuth, next http.RoundTripper) (http.RoundTripper, error) {
	consumer := oauth.NewConsumer(o.ConsumerToken, o.ConsumerSecret, oauth.ServiceProvider{})
	consumer.HttpClient = doer{next}
	return consumer.MakeRoundTripper(&oauth.AccessToken{Token: o.AccessToken, Secret: o.AccessSecret})
}

// doer is a transport as the client that the OAuth library wants: no redirects, no cookies of its own.
type doer struct{ next http.RoundTripper }

func (d doer) Do(r *http.Request) (*http.Response, error) { return d.next.RoundTrip(r) }
