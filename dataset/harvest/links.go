package harvest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/forum"
)

// Links resolves short links.
type Links interface {
	// Target makes one request for a short link and returns the URL to which it redirects, without following it. If the
	// service responds without a redirect, the error wraps ErrNoTarget. Any other error may be temporary.
	Target(ctx context.Context, link string) (string, error)
}

// ErrNoTarget means that a short link has no target.
var ErrNoTarget = errors.New("the short link leads nowhere")

// defaultQueryHosts are hosts whose page URLs contain the query.
var defaultQueryHosts = []string{
	"query.wikidata.org", "query-main.wikidata.org", "query-scholarly.wikidata.org", "query-legacy-full.wikidata.org",
	"query-legacy.wikidata.org", "commons-query.wikimedia.org",
	"qlever.dev", "qlever.cs.uni-freiburg.de",
}

// Prefixes of note keys in the store, each followed by an ID or a link.
const (
	linkNote   = "link "
	runNote    = "run "
	adviceNote = "advice "
)

type link struct {
	SPARQL string `json:"sparql,omitempty"` // the query behind it
	Why    string `json:"why,omitempty"`    // why there is no query
}

// linkState counts the failures of short-link hosts in this run.
type linkState struct{ failures map[string]int }

// maxLinkFailures is the number of consecutive failures after which a short-link host is not contacted again in this
// run.
const maxLinkFailures = 3

// resolve requests the short links in a discussion whose targets are not yet known.
func (h *Harvest) resolve(ctx context.Context, d *dataset.Candidate) (did bool, err error) {
	if h.Links == nil {
		return false, nil
	}
	for i := range d.Queries {
		q := &d.Queries[i]
		if q.SPARQL != "" || q.URL == "" || q.Bot {
			continue
		}
		if _, ok, err := h.link(ctx, q.URL); err != nil || ok {
			if err != nil {
				return did, err
			}
			continue
		}
		host := hostOf(q.URL)
		if h.links.failures[host] >= maxLinkFailures {
			continue
		}
		did = true
		target, err := h.Links.Target(ctx, q.URL)
		if ctx.Err() != nil {
			return did, ctx.Err()
		}
		var l link
		switch {
		case errors.Is(err, ErrNoTarget):
			l.Why = err.Error()
		case err != nil:
			h.links.failures[host]++
			h.Log.Warn("short link not resolved, the next harvest retries it", "link", q.URL, "error", err)
			continue
		default:
			l.SPARQL, l.Why = h.queryBehind(target)
		}
		h.links.failures[host] = 0
		data, err := json.Marshal(l)
		if err != nil {
			return did, err
		}
		if err := h.Store.Put(ctx, linkNote+q.URL, data); err != nil {
			return did, err
		}
	}
	return did, nil
}

func (h *Harvest) link(ctx context.Context, address string) (l link, ok bool, err error) {
	data, ok, err := h.Store.Get(ctx, linkNote+address)
	if err != nil || !ok {
		return l, false, err
	}
	return l, true, json.Unmarshal(data, &l)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// queryBehind extracts the query from the target URL of a short link.
func (h *Harvest) queryBehind(target string) (query, why string) {
	u, err := url.Parse(target)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") {
		return "", "the short link leads to something that is not a web address"
	}
	if host := strings.ToLower(u.Hostname()); !slices.Contains(h.o.QueryHosts, host) {
		return "", fmt.Sprintf("the short link leads to %s, which is not a query service", strings.ToValidUTF8(host, ""))
	}
	query, ok := forum.QueryFromURL(target)
	if !ok {
		return "", "the short link leads to a query service, but to no query"
	}
	return query, ""
}
