package mediawiki

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cgt.name/pkg/go-mwclient/params"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Listed is a page in a listing, with its newest revision.
type Listed struct {
	Title string
	RevID int64
}

// Rendered is a page as rendered by Parsoid: HTML that keeps the structure of the wikitext in its attributes
// (https://www.mediawiki.org/wiki/Specs/HTML).
type Rendered struct {
	RevID int64
	HTML  []byte
}

// batch is the maximum number of titles in one request; larger requests would require the apihighlimits right.
const batch = 50

// List returns the pages whose titles start with prefix, sorted by title. The prefix includes the namespace's name
// ("Wikidata:Request a query/Archive/"). List omits redirects, and pages that are moved or deleted while it runs.
func (c *Client) List(ctx context.Context, prefix string) ([]Listed, error) {
	if err := checkTitle("list", prefix); err != nil {
		return nil, err
	}
	ns, rest, err := c.namespace(ctx, prefix)
	if err != nil {
		return nil, err
	}
	p := params.Values{"action": "query", "list": "allpages", "apnamespace": strconv.Itoa(ns), "apprefix": rest,
		"aplimit": "max", "apfilterredir": "nonredirects"}
	var titles []string
	err = c.parts(ctx, request{op: "list", title: prefix, params: p}, func(a *answer) {
		for _, x := range a.Query.AllPages {
			titles = append(titles, x.Title)
		}
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(titles)
	titles = slices.Compact(titles)
	var out []Listed
	for part := range slices.Chunk(titles, batch) {
		var a answer
		p := params.Values{"action": "query", "prop": "info", "titles": strings.Join(part, "|")}
		err := c.query(ctx, request{op: "list", title: prefix, params: p}, &a)
		if err != nil {
			return nil, err
		}
		for _, x := range a.Query.Pages {
			if !x.Missing && !x.Invalid && x.LastRevID > 0 {
				out = append(out, Listed{Title: x.Title, RevID: x.LastRevID})
			}
		}
	}
	slices.SortFunc(out, func(a, b Listed) int { return strings.Compare(a.Title, b.Title) })
	return out, nil
}

// maxParts is the maximum number of parts in a response. It is enough for a listing of 250,000 pages, or for 25,000
// edits to a page.
const maxParts = 500

// parts sends a read request, then requests further parts for as long as the wiki's responses contain a continuation.
// It calls read for each part. If the wiki repeats a part or sends more than maxParts, the error is Refused.
func (c *Client) parts(ctx context.Context, r request, read func(*answer)) error {
	fail := func(info string) error {
		return &Error{Op: r.op, Title: r.title, Kind: Refused, Code: "continue", Info: info}
	}
	first, seen := r.params, map[string]bool{}
	for range maxParts {
		var a answer
		if err := c.query(ctx, r, &a); err != nil {
			return err
		}
		read(&a)
		if len(a.Continue) == 0 {
			return nil
		}
		at := fmt.Sprint(a.Continue) // maps are printed in key order
		if seen[at] {
			return fail("the wiki repeats a part of its answer: " + c.text(at))
		}
		seen[at] = true
		r.params = maps.Clone(first)
		maps.Copy(r.params, a.Continue)
	}
	return fail(fmt.Sprintf("the wiki's answer has more than %d parts", maxParts))
}

// namespace splits the beginning of a title into its namespace's number on this wiki and the rest. A title that does
// not start with the name of a namespace is in the main namespace (0).
func (c *Client) namespace(ctx context.Context, title string) (number int, rest string, err error) {
	name, rest, ok := strings.Cut(title, ":")
	if !ok {
		return 0, title, nil
	}
	var a struct {
		Query struct {
			Namespaces map[string]struct {
				ID        int    `json:"id"`
				Name      string `json:"name"`
				Canonical string `json:"canonical"`
			} `json:"namespaces"`
			Aliases []struct {
				ID    int    `json:"id"`
				Alias string `json:"alias"`
			} `json:"namespacealiases"`
		} `json:"query"`
	}
	p := params.Values{"action": "query", "meta": "siteinfo", "siprop": "namespaces|namespacealiases"}
	err = c.query(ctx, request{op: "list", title: title, params: p}, &a)
	if err != nil {
		return 0, "", err
	}
	name = strings.TrimSpace(strings.ReplaceAll(name, "_", " "))
	for _, n := range a.Query.Namespaces {
		if strings.EqualFold(n.Name, name) || n.Canonical != "" && strings.EqualFold(n.Canonical, name) {
			return n.ID, strings.TrimLeft(rest, " "), nil
		}
	}
	for _, n := range a.Query.Aliases {
		if strings.EqualFold(n.Alias, name) {
			return n.ID, strings.TrimLeft(rest, " "), nil
		}
	}
	return 0, title, nil
}

// revisionOf finds the revision in the root element that Parsoid writes: <html …
// about="https://…/Special:Redirect/revision/123">.
var revisionOf = regexp.MustCompile(`<html[^>]*\babout="[^"]*/revision/(\d+)"`)

// HTML returns a page's newest revision as rendered by Parsoid. It uses the wiki's REST API, which is in the same
// directory as api.php. Requests are retried like any other read. If the wiki does not have this API or cannot render
// the page, the error is Refused or Blocked; the caller should then read the wikitext instead.
//
// Source: https://www.mediawiki.org/wiki/API:REST_API/Reference#Get_HTML.
func (c *Client) HTML(ctx context.Context, title string) (*Rendered, error) {
	if err := checkTitle("html", title); err != nil {
		return nil, err
	}
	base, ok := strings.CutSuffix(c.cfg.API, "api.php")
	if !ok {
		return nil, &Error{Op: "html", Title: title, Kind: Refused, Code: "no-rest",
			Info: "WIKI_API does not end in api.php, so the REST API's address is unknown"}
	}
	// A slash inside the title must be written as %2F; otherwise, the router looks up a different path.
	addr := base + "rest.php/v1/page/" + url.PathEscape(strings.ReplaceAll(title, " ", "_")) + "/html"
	for attempt := 1; ; attempt++ {
		body, err := c.fetch(ctx, title, addr)
		if err == nil {
			return rendered(title, body)
		}
		var e *Error
		if !errors.As(err, &e) || e.Kind != Transient || attempt >= c.cfg.Attempts || ctx.Err() != nil ||
			c.neverThere(e) {
			return nil, err
		}
		wait := e.RetryAfter
		if wait == 0 {
			wait = politehttp.Backoff(firstWait, maxWait, attempt, 1)
		}
		if wait > maxWait {
			return nil, err
		}
		c.lg.Info("wiki busy, waiting", "op", "html", "code", e.Code, "wait", wait, "attempt", attempt)
		if err := c.clock.Sleep(ctx, wait); err != nil {
			return nil, &Error{Op: "html", Title: title, Kind: Transient, Code: "not-sent", Info: e.Code, Err: err}
		}
	}
}

func rendered(title string, body []byte) (*Rendered, error) {
	m := revisionOf.FindSubmatch(body[:min(len(body), 4096)])
	if m == nil {
		return nil, &Error{Op: "html", Title: title, Kind: Refused, Code: "answer",
			Info: "the wiki's HTML does not name its revision, so it is not from Parsoid"}
	}
	rev, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		return nil, &Error{Op: "html", Title: title, Kind: Refused, Code: "answer", Err: err}
	}
	return &Rendered{RevID: rev, HTML: body}, nil
}

// fetch sends one request to the REST API.
func (c *Client) fetch(ctx context.Context, title, addr string) ([]byte, error) {
	r := request{op: "html", title: title}
	if err := c.rest(ctx, r); err != nil {
		return nil, err
	}
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, &Error{Op: r.op, Title: title, Kind: Transient, Code: "not-sent", Err: ctx.Err()}
	}
	callCtx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(callCtx, http.MethodGet, addr, nil)
	if err != nil {
		return nil, &Error{Op: r.op, Title: title, Kind: Refused, Code: "address", Err: err}
	}
	x := &exchange{ctx: callCtx, next: c.base}
	hc := &http.Client{Transport: x, CheckRedirect: noRedirect}
	resp, err := hc.Do(req)
	if err != nil {
		return nil, c.noAnswer(callCtx, r, x)
	}
	defer resp.Body.Close()
	c.reached.Store(true)
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, c.noAnswer(callCtx, r, x)
	}
	if resp.StatusCode == http.StatusOK {
		return body, nil
	}
	kind := kindOfStatus(resp.StatusCode, false)
	if resp.StatusCode == http.StatusNotFound {
		kind = Refused // the page does not exist
	}
	e := &Error{Op: r.op, Title: title, Kind: kind, Code: fmt.Sprintf("http-%d", resp.StatusCode),
		Info: c.text(string(body))}
	if e.RetryAfter, _ = politehttp.RetryAfter(resp.Header, c.clock.Now()); e.RetryAfter > 0 {
		c.keepSilent(ctx, e.RetryAfter)
	}
	return nil, e
}
