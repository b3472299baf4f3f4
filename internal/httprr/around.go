package httprr

import (
	"context"
	"errors"
	"net/http"
)

// Below is the transport to pass to [Record] for a recorder that several clients share through [Recorder.Around].
var Below http.RoundTripper = innermost{}

// Around returns a transport that records the requests sent through rt and their responses. Several clients can share a
// file; each has a separate transport, and therefore separate limits on the hosts that it may reach. The recorder must
// have been created with [Below].
func (r *Recorder) Around(rt http.RoundTripper) http.RoundTripper { return through{r, rt} }

// through sends requests through a recorder, which forwards them to rt, the transport that the client would use
// otherwise.
type through struct {
	recorder http.RoundTripper
	rt       http.RoundTripper
}

type transportKey struct{}

// RoundTrip passes the request to the recorder, which passes it to [innermost].
func (t through) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.recorder.RoundTrip(r.WithContext(context.WithValue(r.Context(), transportKey{}, t.rt)))
}

// innermost is the transport below the recorder. It uses the transport stored in the request's context.
type innermost struct{}

// RoundTrip sends the request.
func (innermost) RoundTrip(r *http.Request) (*http.Response, error) {
	rt, ok := r.Context().Value(transportKey{}).(http.RoundTripper)
	if !ok {
		return nil, errors.New("a request reached the recorder without a transport")
	}
	return rt.RoundTrip(r)
}
