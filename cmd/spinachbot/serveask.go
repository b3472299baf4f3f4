package main

import (
	"context"
	"log/slog"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	search "github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/kg/registry"
	"github.com/spinachbot/spinachbot/internal/metrics"
	webask "github.com/spinachbot/spinachbot/internal/web/ask"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// askFlags are the flags for the page where visitors ask questions.
type askFlags struct {
	rate, parallel int
	header         string
}

func (f *askFlags) declare(c *cmdline) {
	c.fs.IntVar(&f.rate, "ask-rate", 10, "questions a minute that one client may ask on the page; 0: no limit")
	c.fs.IntVar(&f.parallel, "ask-jobs", 8, "questions from the page that are worked on at once")
	c.fs.StringVar(&f.header, "client-header", "", "`header` in which a proxy names the client, such as X-Forwarded-For (default: the connection's address)")
}

// askPages adds the page where visitors ask questions.
func (s *serving) askPages(ctx context.Context, lg *slog.Logger, cfg *config.Config, model agent.Model,
	shelf *graphs.Shelf, opts agent.Options, counts *metrics.Metrics, dir string,
	site *layout.Site, reg *registry.Registry) *webask.Server {
	o := webask.Options{Log: lg, Site: site, Base: ctx, Dir: dir, Rate: s.ask.rate, Parallel: s.ask.parallel,
		ClientHeader: s.ask.header, Now: s.e.now}
	o.Pictures = newPictures(lg, s.e, cfg, counting(counts, "pictures"))
	o.Presets = append(o.Presets, webask.Preset{Name: opts.Preset.Name, About: opts.Preset.About,
		Policies: search.For(opts.Preset.Policies)})
	for _, name := range preset.Names() {
		if name == opts.Preset.Name || strings.ContainsAny(name, ":") || strings.HasPrefix(name, "grasp-") {
			continue
		}
		if p, err := preset.Named(name); err == nil {
			o.Presets = append(o.Presets, webask.Preset{Name: name, About: p.About, Policies: search.For(p.Policies)})
		}
	}
	for _, name := range shelf.Names() {
		g := webask.Graph{Name: name, Title: name}
		if e, err := reg.Named(name); err == nil && e.Title != "" {
			g.Title = e.Title
		}
		if name == s.graph {
			o.Graphs = append([]webask.Graph{g}, o.Graphs...)
		} else {
			o.Graphs = append(o.Graphs, g)
		}
	}
	if len(o.Graphs) == 0 || o.Graphs[0].Name != s.graph { // s.graph names several graphs
		o.Graphs = append([]webask.Graph{{Name: s.graph, Title: s.graph}}, o.Graphs...)
	}
	o.Graph = func(ctx context.Context, name string) (*agent.Source, error) {
		sources, err := shelf.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		return sources.Main(), nil
	}
	o.Service = func(ctx context.Context, c webask.Choice, who search.Reviewer) (*ask.Service, error) {
		sources, err := shelf.Get(ctx, strings.Split(c.Graph, ",")...)
		if err != nil {
			return nil, err
		}
		with := opts
		if c.Preset != opts.Preset.Name {
			if with.Preset, err = preset.Named(c.Preset); err != nil {
				return nil, err
			}
			with.Policy = ""
		}
		if c.Policy != "" {
			with.Policy = c.Policy
		}
		with.Reviewer, with.Stream = who, true
		service := newAsk(lg, agent.New(lg, model, sources, s.e.now, with), cfg, dir, s.e.now)
		service.Open = counts.Opener(service.Open, with.Preset.Tools)
		return service, nil
	}
	return webask.New(o)
}
