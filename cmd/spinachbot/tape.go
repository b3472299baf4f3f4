package main

import (
	"errors"
	"net/http"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/httprr"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// tape returns the wrapper for --record or --replay, and a function that closes the file. A replay uses no network, so
// if no model is configured, tape sets a model address that is never called.
func tape(cfg *config.Config, record, replay string) (wrap wrapper, closeTape func() error, err error) {
	scrub := politehttp.NewScrubber(append(cfg.Secrets(), politehttp.URLSecrets(cfg.SPARQLEndpoint)...)...).Text
	nothing := func() error { return nil }
	switch {
	case record != "" && replay != "":
		return nil, nil, usageError{errors.New("--record and --replay cannot be used together")}
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
	r, err := httprr.Record(record, httprr.Below, scrub)
	if err != nil {
		return nil, nil, err
	}
	return r.Around, r.Close, nil
}
