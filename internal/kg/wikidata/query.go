package wikidata

import (
	"context"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// Query runs a SPARQL query. [AUTO_LANGUAGE] must already have been replaced. It retries temporary failures: a broken
// connection, a 5xx status, or a 429 with an acceptable Retry-After. If the endpoint is down, timed out, or accepts no
// more queries for now, the query is sent to the fallback, if configured. Table.Source is the URL of the endpoint that
// answered, without its parameter values. The error is a *kg.Error or the error of ctx.
func (c *Client) Query(ctx context.Context, query string) (*kg.Table, error) {
	t, err := c.main.Query(ctx, query)
	if c.fallback != nil && c.elsewhere(kg.KindOf(err)) && ctx.Err() == nil {
		c.lg.InfoContext(ctx, "asking the second endpoint", "endpoint", c.fallback.Shown(), "because", err)
		if t2, err2 := c.fallback.Query(ctx, query); err2 == nil {
			return t2, nil
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return t, err
}

// elsewhere reports whether a query may be sent to the second endpoint after the first has failed with an error of kind
// k. A limit or a ban applies to the whole host that imposed it.
func (c *Client) elsewhere(k kg.Kind) bool {
	switch k {
	case kg.Down, kg.Timeout:
		return true
	case kg.RateLimited, kg.Banned:
		return c.main.Host() != c.fallback.Host()
	}
	return false
}

// Primary returns a copy of the client without the second endpoint, so that a query fails if the first endpoint fails.
// The two clients share an account, and only one of them sends a request at a time.
func (c *Client) Primary() *Client {
	d := *c
	d.fallback = nil
	return &d
}

// Secondary returns the same client, but with only the second endpoint, or nil if there is no second endpoint.
func (c *Client) Secondary() *Client {
	if c.fallback == nil {
		return nil
	}
	d := *c
	d.main, d.fallback = c.fallback, nil
	return &d
}

// speaker is a query service and its dialect, which may differ from Wikidata's.
type speaker struct {
	*remote.Service
	to rewrite.Target
}

// Query runs the query. If the service's dialect differs, Query first rewrites it and sets Table.Asked to the rewritten
// query. If the dialect cannot express the query, the error is kg.Refused.
func (s *speaker) Query(ctx context.Context, query string) (*kg.Table, error) {
	if s.to == rewrite.WDQS {
		return s.Service.Query(ctx, query)
	}
	res, err := rewrite.Query(query, s.to, rewrite.Options{})
	if err != nil {
		return nil, &kg.Error{Kind: kg.Refused, Message: err.Error(), Err: err}
	}
	t, err := s.Service.Query(ctx, res.Text)
	if err == nil {
		t.Asked = res.Text
	}
	return t, err
}
