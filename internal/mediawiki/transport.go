package mediawiki

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/mrjones/oauth"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// exchange is one request and its response. It adds the context, which go-mwclient does not accept, and keeps the parts
// of the response that go-mwclient drops.
type exchange struct {
	ctx    context.Context
	next   http.RoundTripper
	status int
	header http.Header
	err    error // the transport's error, without the URL that net/http adds

	traced atomic.Bool // whether the transport supports tracing
	wrote  atomic.Bool // whether the request's headers have been written
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
	resp.Header.Del("X-Database-Lag") // with this header, go-mwclient would drop the response
	resp.Body = &watched{politehttp.LimitBody(resp.Body, maxAnswer), x}
	return resp, nil
}

// mayHaveArrived reports whether the server may have received the request. A transport without tracing is assumed to
// have sent it.
func (x *exchange) mayHaveArrived() bool {
	var refused *politehttp.RefusedError
	if !x.tried || errors.As(x.err, &refused) {
		return false
	}
	return x.wrote.Load() || !x.traced.Load()
}

// watched is a response body that records its read error, which go-mwclient hides.
type watched struct {
	io.ReadCloser
	x *exchange
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		w.x.err = err
	}
	return n, err
}

// signer adds an OAuth 1.0a signature to each request.
func signer(o OAuth, next http.RoundTripper) (http.RoundTripper, error) {
	consumer := oauth.NewConsumer(o.ConsumerToken, o.ConsumerSecret, oauth.ServiceProvider{})
	consumer.HttpClient = doer{next}
	return consumer.MakeRoundTripper(&oauth.AccessToken{Token: o.AccessToken, Secret: o.AccessSecret})
}

// doer turns a transport into the client that the OAuth library requires. It does not follow redirects or use cookies.
type doer struct{ next http.RoundTripper }

func (d doer) Do(r *http.Request) (*http.Response, error) { return d.next.RoundTrip(r) }
