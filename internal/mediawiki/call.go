package mediawiki

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"syscall"
	"time"

	mwclient "cgt.name/pkg/go-mwclient"
	"cgt.name/pkg/go-mwclient/params"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

type request struct {
	op     string // for errors
	title  string // for errors
	params params.Values
	post   bool
	save   bool      // the request changes the wiki: it never waits, and if no response arrives, the error is Unknown
	anon   bool      // do not assert an account, as when logging in
	before time.Time // unless zero, the request is not sent after this time

	in *mwclient.Client // a client with another session's cookies; our own if nil
}

// envelope contains the parts that any response may have besides its result.
type envelope struct {
	Error    *apiError `json:"error"`
	Warnings map[string]struct {
		Warnings string `json:"warnings"`
	} `json:"warnings"`
}

// maxGarbage is the maximum number of consecutive responses that are not JSON before a read request fails.
const maxGarbage = 3

// query sends a read request until it succeeds, and decodes the response into out. Between attempts, it waits as long
// as the wiki requests. It stops after the configured number of attempts, or earlier if the responses are not JSON.
func (c *Client) query(ctx context.Context, r request, out any) error {
	relogged, garbage := false, 0
	for attempt := 1; ; attempt++ {
		if err := c.rest(ctx, r); err != nil {
			return err
		}
		err := c.loggedIn(ctx)
		if err == nil {
			err = c.send(ctx, r, out)
		}
		var e *Error
		if err == nil || !errors.As(err, &e) {
			return err
		}
		if lostSession(e.Code) && !relogged {
			c.lg.Info("wiki session lost, logging in again", "code", e.Code)
			relogged = true
			if err := c.forget(); err == nil {
				continue
			}
		}
		if garbage++; e.Code != notJSON {
			garbage = 0
		}
		if garbage == maxGarbage {
			e.Info = fmt.Sprintf("%d consecutive responses are not JSON; check that WIKI_API is the address of an api.php; "+
				"the last one: %s", garbage, e.Info)
			return e
		}
		wait := e.RetryAfter
		if wait == 0 {
			wait = politehttp.Backoff(firstWait, maxWait, attempt, 1)
		}
		if e.Kind != Transient || attempt >= c.cfg.Attempts || wait > maxWait || ctx.Err() != nil || c.neverThere(e) {
			return err
		}
		c.lg.Info("wiki busy, waiting", "op", r.op, "code", e.Code, "wait", wait, "attempt", attempt)
		if err := c.clock.Sleep(ctx, wait); err != nil {
			return &Error{Op: r.op, Title: r.title, Kind: Transient, Code: "not-sent", Info: e.Code, Err: err}
		}
	}
}

// rest waits until the pause requested by the wiki's last Retry-After is over. A save fails instead of waiting.
func (c *Client) rest(ctx context.Context, r request) error {
	d := c.silence(ctx)
	if d <= 0 {
		return nil
	}
	var err error
	if !r.save && d <= maxWait {
		if err = c.clock.Sleep(ctx, d); err == nil {
			return nil
		}
	}
	return &Error{Op: r.op, Title: r.title, Kind: Transient, Code: "not-sent", Info: "the wiki asked for a pause",
		RetryAfter: d, Err: err}
}

// send makes exactly one HTTP request and decodes the response into out. Its errors are *Error.
func (c *Client) send(ctx context.Context, r request, out any) error {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return &Error{Op: r.op, Title: r.title, Kind: Transient, Code: "not-sent", Err: ctx.Err()}
	}
	if err := ctx.Err(); err != nil {
		return &Error{Op: r.op, Title: r.title, Kind: Transient, Code: "not-sent", Err: err}
	}
	if !r.before.IsZero() && c.clock.Now().After(r.before) {
		return &Error{Op: r.op, Title: r.title, Kind: Transient, Code: Stale,
			Info: "it should have been sent before " + r.before.UTC().Format(time.RFC3339)}
	}
	callCtx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	x := &exchange{ctx: callCtx, next: c.base}
	mw := c.library()
	if r.in != nil {
		mw = *r.in
	}
	mw.SetHTTPClient(&http.Client{Transport: x, CheckRedirect: noRedirect})
	call := mw.GetRaw
	if r.post {
		call = mw.PostRaw
	}
	body, err := call(c.complete(r))
	if err != nil {
		return c.noAnswer(callCtx, r, x)
	}
	c.reached.Store(true)
	return c.judge(r, x, body, out)
}

// noRedirect returns a redirect to the caller instead of following it. A POST that follows a redirect could become a
// GET, or be sent to a different server.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// complete copies the parameters and adds the ones common to all requests. go-mwclient modifies the map passed to it,
// and adds format and formatversion.
func (c *Client) complete(r request) params.Values {
	p := params.Values{"maxlag": strconv.Itoa(c.cfg.MaxLag)}
	for k, v := range r.params {
		p[k] = v
	}
	if r.anon || c.cfg.Anonymous {
		return p
	}
	p["assert"] = "user"
	if c.cfg.Bot {
		p["assert"] = "bot"
	}
	if account := c.Account(); account != "" {
		p["assertuser"] = account
	}
	return p
}

// noAnswer returns the error for a request without a complete HTTP response. It does not use the library's own error,
// which may contain the parameters.
func (c *Client) noAnswer(ctx context.Context, r request, x *exchange) error {
	e := &Error{Op: r.op, Title: r.title, Kind: Transient, Code: "network", Err: c.scrub.Error(x.err)}
	var refused *politehttp.RefusedError
	var large *politehttp.TooLargeError
	if ctx.Err() != nil {
		e.Err = ctx.Err()
	}
	switch {
	case errors.As(x.err, &refused):
		e.Kind = Blocked
	case r.save && x.mayHaveArrived():
		e.Kind = Unknown
	case errors.Is(x.err, syscall.ECONNREFUSED):
		e.Code, e.Err = noServer, nil
		e.Info = "nothing answers at " + politehttp.ShownURL(c.cfg.API) +
			" (connection refused): start the wiki, or correct WIKI_API"
		return e
	case errors.As(x.err, &large):
		e.Code, e.Kind = unusable, Refused
	case !x.tried:
		e.Code, e.Kind = "not-sent", Refused
	}
	if e.Err == nil {
		e.Err = errors.New("no answer")
	}
	return e
}

// neverThere reports whether no server is listening at the wiki's address, and none has been since this client was
// created. If so, the address is wrong or the wiki is down, and waiting is useless. A wiki that has responded before
// may just be restarting.
func (c *Client) neverThere(e *Error) bool {
	return e.Code == noServer && !c.reached.Load()
}

// judge turns an HTTP response into a result or an error.
func (c *Client) judge(r request, x *exchange, body []byte, out any) error {
	e := &Error{Op: r.op, Title: r.title}
	e.RetryAfter, _ = politehttp.RetryAfter(x.header, c.clock.Now())
	if e.RetryAfter > 0 && (x.status != http.StatusOK || x.header.Get("MediaWiki-API-Error") != "") {
		c.keepSilent(x.ctx, e.RetryAfter)
	}
	var env envelope
	jsonErr := json.Unmarshal(body, &env)
	switch {
	case jsonErr == nil && env.Error != nil:
		e.Code, e.Info = c.text(env.Error.Code), c.text(env.Error.info())
		e.Kind = kindOfCode(env.Error.Code, r.save)
		if e.Kind == Refused && x.status != http.StatusOK {
			e.Kind = kindOfStatus(x.status, r.save)
		}
		if e.Kind == Transient && e.RetryAfter > 0 {
			c.keepSilent(x.ctx, e.RetryAfter)
		}
		return e
	case x.status != http.StatusOK:
		e.Code, e.Info, e.Kind = fmt.Sprintf("http-%d", x.status), c.text(string(body)), kindOfStatus(x.status, r.save)
		if at := x.header.Get("Location"); at != "" && x.status < 400 {
			e.Info = c.text("moved to " + politehttp.ShownURL(at) + ": set WIKI_API to the new address")
		}
		return e
	case jsonErr != nil:
		e.Code, e.Info, e.Err = notJSON, c.text(string(body)), c.scrub.Error(jsonErr)
		if r.save {
			e.Kind = Unknown
		}
		return e
	}
	for module, w := range env.Warnings {
		c.lg.Warn("wiki warning", "op", r.op, "module", c.text(module), "text", c.text(w.Warnings))
	}
	if err := json.Unmarshal(body, out); err != nil {
		e.Code, e.Err, e.Kind = unusable, c.scrub.Error(err), Refused
		if r.save {
			e.Kind = Unknown
		}
		return e
	}
	return nil
}
