package wikidata

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// get calls the API with the parameters and decodes the answer into out. Temporary failures are tried again.
func (c *Client) get(ctx context.Context, params url.Values, out any) error {
	params.Set("format", "json")
	for attempt := 1; ; attempt++ {
		err := c.getOnce(ctx, params, out)
		var ke *kg.Error
		if err == nil || !errors.As(err, &ke) {
			return err
		}
		if !c.again(ctx, attempt, ke) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return err
		}
	}
}

func (c *Client) getOnce(ctx context.Context, params url.Values, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.cfg.API+"?"+params.Encode(), nil)
	if err != nil {
		return &kg.Error{Kind: kg.QueryFailed, Message: "the request cannot be sent", Err: err}
	}
	req.Header.Set("Accept", "application/json")
	if err := c.api.enter(ctx); err != nil {
		return err
	}
	a := c.exchange(ctx, req, c.cfg.APITimeout)
	failure := c.shown(c.readAPI(a, out))
	if err := c.api.leave(ctx, a.took, failure); err != nil {
		c.lg.Warn("the endpoint's account was not kept", "err", err)
	}
	if failure == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.lg.Debug("API call failed", "action", params.Get("action"), "kind", failure.Kind, "message", failure.Message)
	return failure
}

// readAPI decodes an answer of the API, or says what is wrong with it. Errors of the API come with status 200 and an "error" member.
func (c *Client) readAPI(a answer, out any) *kg.Error {
	var ke *kg.Error
	now := c.clock.Now()
	switch {
	case a.status == http.StatusTooManyRequests:
		return throttled(a, now)
	case a.status == http.StatusForbidden:
		return forbidden(a, now)
	case a.status == http.StatusNotFound:
		return kg.Errorf(kg.Down, "the API is not at its address (404)")
	case a.status >= 500:
		return kg.Errorf(kg.Down, "the API answered with status %d", a.status)
	case a.status >= 300:
		return kg.Errorf(kg.QueryFailed, "the API answered with status %d", a.status)
	case errors.As(a.err, &ke):
		return ke
	case a.err != nil:
		return &kg.Error{Kind: kg.Down, Message: "the request was given up", Err: a.err}
	}
	var e struct {
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(a.body, &e); err != nil {
		return &kg.Error{Kind: kg.Down, Message: "the API's answer is not JSON", Err: err}
	}
	if e.Error != nil {
		return e.Error.failure(a, now)
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		return &kg.Error{Kind: kg.Down, Message: "the API's answer has an unknown form", Err: err}
	}
	return nil
}

// apiError is the error member of an answer of MediaWiki's API.
type apiError struct {
	Code string `json:"code"`
	Info string `json:"info"`
}

// failure sets the kind of the API's error. Source: mediawiki.org, API:Errors and warnings; Wikibase, repo/includes/Api.
func (e *apiError) failure(a answer, now time.Time) *kg.Error {
	f := &kg.Error{Kind: kg.QueryFailed, Message: "the API refused the request: " + tidy(e.Info) + " (" + tidy(e.Code) + ")"}
	switch {
	case e.Code == "maxlag", e.Code == "ratelimited":
		f.Kind, f.RetryAfter = kg.RateLimited, defaultAfter
		if after, ok := politehttp.RetryAfter(a.header, now); ok {
			f.RetryAfter = after
		}
	case e.Code == "no-such-entity", e.Code == "no-such-entity-id", e.Code == "no-such-entity-link":
		f.Kind = kg.NotFound
	case e.Code == "readonly", strings.HasPrefix(e.Code, "internal_api_error"), e.Code == "cirrussearch-too-busy-error", e.Code == "search-backend-error":
		f.Kind = kg.Down
	}
	return f
}
