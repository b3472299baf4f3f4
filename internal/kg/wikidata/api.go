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
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// get calls the API with the parameters and decodes the response into out. It retries temporary failures.
func (c *Client) get(ctx context.Context, params url.Values, out any) error {
	params.Set("format", "json")
	return c.api.Do(ctx, func(ctx context.Context) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.cfg.API+"?"+params.Encode(), nil)
		if err == nil {
			req.Header.Set("Accept", "application/json")
		}
		return req, err
	}, func(a remote.Answer, now time.Time) *kg.Error { return readAPI(a, now, out) })
}

// readAPI decodes a response from the API, or returns its failure. API errors have status 200 and an "error" member.
func readAPI(a remote.Answer, now time.Time, out any) *kg.Error {
	if e := readStatus(a, now); e != nil {
		return e
	}
	var e struct {
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &e); err != nil {
		return &kg.Error{Kind: kg.Down, Message: "the API's answer is not JSON", Err: err}
	}
	if e.Error != nil {
		return e.Error.failure(a, now)
	}
	return decode(a, out)
}

func decode(a remote.Answer, out any) *kg.Error {
	if err := json.Unmarshal(a.Body, out); err != nil {
		return &kg.Error{Kind: kg.Down, Message: "the API's answer has an unknown form", Err: err}
	}
	return nil
}

// readList decodes a response from a service that returns lists and reports errors only through the status code.
func readList(a remote.Answer, now time.Time, out any) *kg.Error {
	if e := readStatus(a, now); e != nil {
		return e
	}
	return decode(a, out)
}

// readStatus returns the failure indicated by a response's status, or by the absence of a response.
func readStatus(a remote.Answer, now time.Time) *kg.Error {
	var ke *kg.Error
	switch {
	case a.Status == http.StatusTooManyRequests:
		return remote.Throttled(a, now)
	case a.Status == http.StatusForbidden:
		return remote.Forbidden(a, now)
	case a.Status == http.StatusNotFound:
		return kg.Errorf(kg.Down, "the API is not at its address (404)")
	case a.Status >= 500:
		return kg.Errorf(kg.Down, "the API answered with status %d", a.Status)
	case a.Status >= 300:
		return kg.Errorf(kg.QueryFailed, "the API answered with status %d", a.Status)
	case errors.As(a.Err, &ke):
		return ke
	case a.Err != nil:
		return &kg.Error{Kind: kg.Down, Message: "the request was given up", Err: a.Err}
	}
	return nil
}

// apiError is the error member of a MediaWiki API response.
type apiError struct {
	Code string `json:"code"`
	Info string `json:"info"`
}

// failure converts an API error to a failure of the right kind. Source: mediawiki.org, API:Errors and warnings;
// Wikibase, repo/includes/Api.
func (e *apiError) failure(a remote.Answer, now time.Time) *kg.Error {
	f := &kg.Error{Kind: kg.QueryFailed, Message: "the API refused the request: " + remote.Tidy(e.Info) + " (" +
		remote.Tidy(e.Code) + ")"}
	switch {
	case e.Code == "maxlag", e.Code == "ratelimited":
		f.Kind, f.RetryAfter = kg.RateLimited, remote.DefaultAfter
		if after, ok := politehttp.RetryAfter(a.Header, now); ok {
			f.RetryAfter = after
		}
	case e.Code == "no-such-entity", e.Code == "no-such-entity-id", e.Code == "no-such-entity-link":
		f.Kind = kg.NotFound
	case e.Code == "readonly", strings.HasPrefix(e.Code, "internal_api_error"), e.Code == "cirrussearch-too-busy-error",
		e.Code == "search-backend-error":
		f.Kind = kg.Down
	}
	return f
}
