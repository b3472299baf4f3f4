package wikidata

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// longestGET is the longest query that goes into the address; longer ones are posted. Only answers to GET are cached by the service (5 minutes).
const longestGET = 1500

// Query runs a SPARQL query; [AUTO_LANGUAGE] must have been replaced. A temporary failure (connection, 5xx, 429 with an
// acceptable Retry-After) is tried again; when the endpoint is down or timed out the fallback, if there is one, is
// asked. Table.Source names the endpoint that answered, without the values of its parameters. Errors: *kg.Error, or
// ctx's.
func (c *Client) Query(ctx context.Context, query string) (*kg.Table, error) {
	t, err := c.queryOn(ctx, c.main, query)
	if k := kg.KindOf(err); c.fallback != nil && (k == kg.Down || k == kg.Timeout) && ctx.Err() == nil {
		c.lg.Info("asking the second endpoint", "endpoint", c.fallback.endpoint, "because", err)
		if t2, err2 := c.queryOn(ctx, c.fallback, query); err2 == nil {
			return t2, nil
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return t, err
}

// Primary is the same client without the second endpoint: a query that fails on the first one fails. Both keep to the same account and send one request at a time.
func (c *Client) Primary() *Client {
	d := *c
	d.fallback = nil
	return &d
}

// Secondary is the same client for the second endpoint alone, nil when there is none.
func (c *Client) Secondary() *Client {
	if c.fallback == nil {
		return nil
	}
	d := *c
	d.main, d.fallback = c.fallback, nil
	return &d
}

// queryOn runs the query on one endpoint with its repetitions.
func (c *Client) queryOn(ctx context.Context, g *gate, query string) (*kg.Table, error) {
	for attempt := 1; ; attempt++ {
		t, err := c.queryOnce(ctx, g, query)
		var ke *kg.Error
		if err == nil || !errors.As(err, &ke) {
			return t, err
		}
		if again := c.again(ctx, attempt, ke); !again {
			return nil, err
		}
	}
}

// again decides whether a failed call is repeated and waits before it. A rate limit's wait happens in the gate, when the next attempt enters.
func (c *Client) again(ctx context.Context, attempt int, e *kg.Error) bool {
	if attempt >= c.cfg.Retry.Attempts {
		return false
	}
	switch e.Kind {
	case kg.RateLimited:
		return e.RetryAfter <= maxWait
	case kg.Down:
		wait, again := c.cfg.Retry.Next(attempt, downResult(e), c.clock.Now(), c.rnd())
		return again && c.clock.Sleep(ctx, wait) == nil
	}
	return false
}

// queryOnce sends the query once, through the gate.
func (c *Client) queryOnce(ctx context.Context, g *gate, query string) (*kg.Table, error) {
	req, err := queryRequest(ctx, g.endpoint, query)
	if err != nil {
		return nil, &kg.Error{Kind: kg.QueryFailed, Message: "the query cannot be sent", Err: err}
	}
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	a := c.exchange(ctx, req, c.cfg.QueryTimeout)
	table, failure := c.readTable(query, a)
	failure = c.shown(failure)
	if err := g.leave(ctx, a.took, failure); err != nil {
		c.lg.Warn("the endpoint's account was not kept", "err", err)
	}
	if err := ctx.Err(); err != nil && table == nil {
		return nil, err
	}
	if failure != nil {
		c.lg.Debug("query failed", "endpoint", politehttp.ShownURL(g.endpoint), "kind", failure.Kind, "ms", a.took.Milliseconds())
		return nil, failure
	}
	table.Elapsed, table.Source = a.took, politehttp.ShownURL(g.endpoint)
	return table, nil
}

func queryRequest(ctx context.Context, endpoint, query string) (*http.Request, error) {
	form := url.Values{"query": {query}}
	var req *http.Request
	var err error
	if len(query) <= longestGET {
		sep := "?"
		if strings.Contains(endpoint, "?") {
			sep = "&"
		}
		req, err = http.NewRequestWithContext(ctx, http.MethodGet, endpoint+sep+form.Encode(), nil)
	} else {
		req, err = http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/sparql-results+json")
	return req, nil
}

// readTable makes a table of the answer, or says what is wrong with it.
func (c *Client) readTable(query string, a answer) (*kg.Table, *kg.Error) {
	var ke *kg.Error
	switch {
	case a.status >= 300:
		return nil, queryFailure(query, a, c.clock.Now())
	case errors.As(a.err, &ke) && ke.Kind == kg.Down && a.status == http.StatusOK:
		return nil, brokenResult(query, a.body)
	case errors.As(a.err, &ke):
		return nil, ke
	case a.err != nil:
		return nil, &kg.Error{Kind: kg.Down, Message: "the request was given up", Err: a.err}
	}
	var t kg.Table
	if err := json.Unmarshal(a.body, &t); err != nil {
		return nil, brokenResult(query, a.body)
	}
	dropContext(&t)
	t.Bytes = int64(len(a.body))
	return &t, nil
}

// dropContext removes the column with the named graph that the service adds to the triples of CONSTRUCT and DESCRIBE.
func dropContext(t *kg.Table) {
	if !slices.Equal(t.Vars, []string{"subject", "predicate", "object", "context"}) {
		return
	}
	t.Vars = t.Vars[:3]
	for i := range t.Rows {
		t.Rows[i] = t.Rows[i][:3]
	}
}
