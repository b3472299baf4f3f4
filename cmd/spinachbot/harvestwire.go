package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/kg/wikidata"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
	"github.com/spinachbot/spinachbot/internal/store"
)

// wireHarvest makes the parts of a harvest. model may be nil.
func wireHarvest(lg *slog.Logger, cfg *config.Config, wiki *mediawiki.Client, graph *wikidata.Client, model *llm.Client, st *store.Store, now func() time.Time) (harvest.Parts, error) {
	p := harvest.Parts{Log: lg, Wiki: archive{wiki}, Labels: graph, Store: st, Now: now, Endpoints: []harvest.Endpoint{endpoint(cfg.SPARQLEndpoint, graph.Primary())}}
	if second := graph.Secondary(); second != nil {
		p.Endpoints = append(p.Endpoints, endpoint(cfg.SPARQLFallback, second))
	}
	if len(cfg.ShortlinkHosts) > 0 {
		links, err := newShortLinks(cfg)
		if err != nil {
			return p, err
		}
		p.Links = links
	}
	if model != nil {
		p.Suggest = &harvest.Advisor{Model: model.Model(), Complete: advise(model, cfg.RequestUSD)}
	}
	return p, nil
}

func harvestOptions(cfg *config.Config, dir string) harvest.Options {
	return harvest.Options{
		Dir: dir, Wiki: cfg.WikiAPI, Prefix: cfg.ArchivePrefix, Bots: bots(cfg), Forum: forum.Options{ShortLinks: cfg.ShortlinkHosts},
	}
}

// endpoint describes a query service by its address. Wikidata's services, and those on this machine, take queries as
// they are. QLever needs its dialect and holds the whole graph. Any other service is expected to speak standard SPARQL
// and to hold the whole graph.
func endpoint(address string, g harvest.Graph) harvest.Endpoint {
	e := harvest.Endpoint{Name: politehttp.ShownURL(address), Graph: g}
	u, err := url.Parse(address)
	if err != nil {
		return e
	}
	switch host := strings.ToLower(u.Hostname()); {
	case strings.Contains(host+strings.ToLower(u.Path), "qlever"):
		e.Dialect, e.Full = rewrite.QLever, true
	case host == "wikidata.org" || strings.HasSuffix(host, ".wikidata.org") || config.Loopback(host):
	default:
		e.Dialect, e.Full = rewrite.Standard, true
	}
	return e
}

// archive is the wiki as the harvest needs it.
type archive struct{ c *mediawiki.Client }

// List returns the pages whose titles begin with prefix.
func (a archive) List(ctx context.Context, prefix string) ([]harvest.Listed, error) {
	pages, err := a.c.List(ctx, prefix)
	out := make([]harvest.Listed, len(pages))
	for i, p := range pages {
		out[i] = harvest.Listed{Title: p.Title, Revision: p.RevID}
	}
	return out, err
}

// Wikitext reads a page's source. A text that was hidden from public view counts as no page: it is not ours to keep. So does a page
// that holds something else than wikitext.
func (a archive) Wikitext(ctx context.Context, title string) (harvest.Text, error) {
	p, err := a.c.Page(ctx, title)
	var e *mediawiki.Error
	switch {
	case errors.As(err, &e) && (e.Code == "texthidden" || e.Code == "contentmodel"):
		return harvest.Text{}, fmt.Errorf("%w: %s", harvest.ErrNoPage, e.Info)
	case err != nil:
		return harvest.Text{}, err
	case p.Missing:
		return harvest.Text{}, harvest.ErrNoPage
	}
	return harvest.Text{Revision: p.RevID, Text: p.Text}, nil
}

// HTML reads a page as Parsoid renders it. If the wiki cannot, for any reason, the wikitext is read instead.
func (a archive) HTML(ctx context.Context, title string) (harvest.Text, error) {
	p, err := a.c.HTML(ctx, title)
	kind, known := mediawiki.KindOf(err)
	switch {
	case ctx.Err() != nil:
		return harvest.Text{}, ctx.Err()
	case known && kind == mediawiki.Transient:
		return harvest.Text{}, fmt.Errorf("%w: %w", harvest.ErrNoHTMLNow, err)
	case err != nil:
		return harvest.Text{}, fmt.Errorf("%w: %w", harvest.ErrNoHTML, err)
	case !bytes.Contains(p.HTML, []byte("data-mw-section-id")):
		return harvest.Text{}, fmt.Errorf("%w: what it gives is not Parsoid's", harvest.ErrNoHTML) // the sandbox's wiki, say: without Parsoid's attributes the reader would guess
	}
	return harvest.Text{Revision: p.RevID, Text: string(p.HTML)}, nil
}

// shortLinkTimeout is how long a shortener may take.
const shortLinkTimeout = 30 * time.Second

// shortLinks asks link shorteners where their links lead. One request a link, nothing is followed.
type shortLinks struct {
	rt    http.RoundTripper
	pause time.Duration // between two requests
	last  time.Time
	clock systemClock
	mute  bool // ask on this machine only
}

func newShortLinks(cfg *config.Config) (*shortLinks, error) {
	hosts, local := cfg.ShortlinkHosts, true
	for _, h := range hosts {
		local = local && isLoopback("http://"+h)
	}
	// Where everything else is on this machine nobody needs to set CONTACT, and foreign shorteners are not asked: their links wait.
	mute := !local && cfg.Contact == "" && isLoopback(cfg.WikiAPI) && isLoopback(cfg.SPARQLEndpoint)
	if mute {
		hosts = slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return !isLoopback("http://" + h) })
	}
	ua, err := userAgent(cfg, local || mute)
	if err != nil {
		return nil, err
	}
	rt, err := politehttp.NewTransport(politehttp.Options{UserAgent: ua, Hosts: hosts, Public: true, Neighbor: cfg.WikiAPI})
	if err != nil {
		return nil, fmt.Errorf("SHORTLINK_HOSTS: %w", err)
	}
	s := &shortLinks{mute: mute, rt: rt}
	if !local {
		s.pause = time.Second
	}
	return s, nil
}

// Target implements [harvest.Links].
func (s *shortLinks) Target(ctx context.Context, link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("%w: it is not an address", harvest.ErrNoTarget)
	}
	if s.mute && !config.Loopback(u.Hostname()) {
		return "", errors.New("link shorteners want a web or mail address in the User-Agent: set CONTACT to ask " + u.Hostname())
	}
	if u.Scheme != "https" && !config.Loopback(u.Hostname()) {
		u.Scheme = "https" // shorteners answer http with a redirect to https, and there is one request only
	}
	u.Fragment, u.User = "", nil
	if err := s.clock.Sleep(ctx, s.pause-s.clock.Now().Sub(s.last)); err != nil {
		return "", err
	}
	s.last = s.clock.Now()
	ctx, cancel := context.WithTimeout(ctx, shortLinkTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", harvest.ErrNoTarget, err)
	}
	resp, err := s.rt.RoundTrip(req) // no http.Client: that reads the redirect, too, and fails on one that names no address
	if err != nil {
		return "", err
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	_ = resp.Body.Close()
	switch at := resp.Header.Get("Location"); {
	case resp.StatusCode >= 300 && resp.StatusCode < 400 && at != "":
		to, err := u.Parse(at)
		if err != nil {
			return "", fmt.Errorf("%w: it names no address", harvest.ErrNoTarget)
		}
		return to.String(), nil
	case politehttp.TransientStatus(resp.StatusCode):
		return "", fmt.Errorf("%s answered with status %d", u.Host, resp.StatusCode)
	}
	return "", fmt.Errorf("%w: %s answered with status %d", harvest.ErrNoTarget, u.Host, resp.StatusCode)
}

// advise asks the model with a limit in money for each candidate. Failures that will meet the next candidate, too, end the asking.
func advise(model *llm.Client, usd float64) func(context.Context, string, string) (string, error) {
	return func(ctx context.Context, system, user string) (string, error) {
		ctx = llm.WithAllowance(ctx, llm.NewAllowance(llm.Limits{USD: usd}))
		resp, err := model.Complete(ctx, llm.Request{
			Purpose: "suggest", JSON: true, MaxTokens: 1500, Messages: []llm.Message{{Role: llm.System, Content: system}, {Role: llm.User, Content: user}},
		})
		var e *llm.Error
		var over *llm.BudgetError
		switch {
		case err == nil:
			return resp.Text(), nil
		case errors.As(err, &over) && over.Account == llm.RequestAccount: // a long candidate; the next may be shorter
			return "", err
		case errors.Is(err, llm.ErrBudget), errors.Is(err, llm.ErrNoModel),
			errors.As(err, &e) && (e.Status == 0 || e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || e.Status == http.StatusNotFound):
			return "", fmt.Errorf("%w: %w", harvest.ErrNoAdvice, err)
		}
		return "", err
	}
}

// harvestProgress shows how far a harvest is: one line that is written over on a terminal, else a line a page.
type harvestProgress struct {
	screen *console.Screen
	pages  int // of the last line that was printed
}

func (p *harvestProgress) show(x harvest.Progress) {
	if x.Done {
		p.screen.Done()
		fmt.Fprintf(p.screen, "%d pages, %d queries run, %d of them with rows, in %s\n", x.Pages, x.Queries, x.Staged, x.Elapsed.Round(time.Second))
		if x.Advised > 0 {
			fmt.Fprintf(p.screen, "%d suggestions requested from the model, %d of them unreadable\n", x.Advised, x.Unusable)
		}
		return
	}
	left := "time left not known yet"
	if x.Left >= 0 {
		left = "about " + x.Left.Round(time.Second).String() + " left"
	}
	line := fmt.Sprintf("%d of %d pages, %d queries run, %s: %s", x.Pages, x.Of, x.Queries, left, x.Page)
	switch {
	case p.screen.Terminal():
		p.screen.Progress(line)
	case x.Pages > p.pages:
		p.pages = x.Pages
		fmt.Fprintln(p.screen, line)
	}
}
