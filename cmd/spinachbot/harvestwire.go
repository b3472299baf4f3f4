package main

import (
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/adapter"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/kg/wikidata"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
	"github.com/spinachbot/spinachbot/internal/store"
)

// wireHarvest assembles the parts of a harvest. model may be nil.
func wireHarvest(lg *slog.Logger, cfg *config.Config, wiki *mediawiki.Client, graph *wikidata.Client, model *llm.Client,
	st *store.Store, now func() time.Time) (harvest.Parts, error) {
	p := harvest.Parts{Log: lg, Wiki: adapter.Archive{Client: wiki}, Labels: graph, Store: st, Jobs: st, Now: now,
		Sleep:     systemClock{}.Sleep,
		Endpoints: []harvest.Endpoint{endpoint(cfg.SPARQLEndpoint, graph.Primary())}}
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
		p.Suggest = &harvest.Advisor{Model: model.Model(), Complete: adapter.Advise(model, cfg.RequestUSD)}
	}
	return p, nil
}

func harvestOptions(cfg *config.Config, dir string) harvest.Options {
	return harvest.Options{
		Dir: dir, Wiki: cfg.WikiAPI, Prefix: cfg.ArchivePrefix, Bots: bots(cfg),
		Forum: forum.Options{ShortLinks: cfg.ShortlinkHosts},
	}
}

// endpoint describes the query service at a URL. Wikidata's services and local services accept queries unchanged.
// QLever requires its own dialect and has the whole graph. Any other service is expected to speak standard SPARQL and
// to have the whole graph.
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

// newShortLinks returns the client for the configured link shorteners.
func newShortLinks(cfg *config.Config) (*adapter.ShortLinks, error) {
	hosts, local := cfg.ShortlinkHosts, true
	for _, h := range hosts {
		local = local && isLoopback("http://"+h)
	}
	// If everything else is on this machine, CONTACT need not be set, but then external shorteners are not called, and
	// their links are left for a later harvest.
	mute := !local && cfg.Contact == "" && isLoopback(cfg.WikiAPI) && isLoopback(cfg.SPARQLEndpoint)
	if mute {
		hosts = slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return !isLoopback("http://" + h) })
	}
	ua, err := userAgent(cfg, local || mute)
	if err != nil {
		return nil, err
	}
	rt, err := politehttp.NewTransport(politehttp.Options{UserAgent: ua, Hosts: hosts, Public: true,
		Neighbor: cfg.WikiAPI})
	if err != nil {
		return nil, fmt.Errorf("SHORTLINK_HOSTS: %w", err)
	}
	s := &adapter.ShortLinks{Transport: rt, Clock: systemClock{}, Local: config.Loopback, Mute: mute}
	if !local {
		s.Pause = time.Second
	}
	return s, nil
}

// harvestProgress shows the progress of a harvest: on a terminal, as a single line that is overwritten; otherwise, as
// one line per page.
type harvestProgress struct {
	screen *console.Screen
	pages  int // page count in the last printed line
}

func (p *harvestProgress) show(x harvest.Progress) {
	if x.Done {
		p.screen.Done()
		fmt.Fprintf(p.screen, "%d pages, %d queries run, %d of them with rows, in %s\n", x.Pages, x.Queries, x.Staged,
			x.Elapsed.Round(time.Second))
		if x.Advised > 0 {
			fmt.Fprintf(p.screen, "%d suggestions requested from the model, %d of them unreadable\n", x.Advised, x.Unusable)
		}
		return
	}
	left := "time left unknown"
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
