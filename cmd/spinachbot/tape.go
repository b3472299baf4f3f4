package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/httprr"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// tape returns the wrapper that --record or --replay want, and what closes the file. A replay reaches no network, so it needs no model: an address that is never
// called is used.
func tape(cfg *config.Config, record, replay string) (wrap wrapper, closeTape func() error, err error) {
	scrub := politehttp.NewScrubber(append(cfg.Secrets(), politehttp.URLSecrets(cfg.SPARQLEndpoint)...)...).Text
	nothing := func() error { return nil }
	switch {
	case record != "" && replay != "":
		return nil, nil, errors.New("--record and --replay cannot be used together")
	case replay != "":
		p, err := httprr.Replay(replay, scrub)
		if err != nil {
			return nil, nil, err
		}
		if !cfg.HasModel() {
			cfg.OpenAIBaseURL = "http://127.0.0.1:9/v1"
		}
		return func(http.RoundTripper) http.RoundTripper { return p }, nothing, nil
	case record == "":
		return nil, nothing, nil
	}
	r, err := httprr.Record(record, innermost{}, scrub)
	if err != nil {
		return nil, nil, err
	}
	return func(rt http.RoundTripper) http.RoundTripper { return through{r, rt} }, r.Close, nil
}

// through sends requests through one recorder to the transport that each client would have used without it: model and graph share a file, but each keeps
// its own guard over the hosts it may reach.
type through struct {
	recorder http.RoundTripper
	rt       http.RoundTripper
}

type transportKey struct{}

// RoundTrip passes the request to the recorder, which passes it to [innermost].
func (t through) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.recorder.RoundTrip(r.WithContext(context.WithValue(r.Context(), transportKey{}, t.rt)))
}

// innermost is the transport below the recorder: the one that the request carries.
type innermost struct{}

// RoundTrip sends the request.
func (innermost) RoundTrip(r *http.Request) (*http.Response, error) {
	rt, ok := r.Context().Value(transportKey{}).(http.RoundTripper)
	if !ok {
		return nil, errors.New("a request reached the recorder without a transport")
	}
	return rt.RoundTrip(r)
}
