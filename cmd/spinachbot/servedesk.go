package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/web/annotate"
	"github.com/spinachbot/spinachbot/internal/web/desk"
	"github.com/spinachbot/spinachbot/internal/web/layout"
	"github.com/spinachbot/spinachbot/internal/web/login"
	"github.com/spinachbot/spinachbot/internal/web/runs"
)

// private adds the pages with restricted access: the login, the operator's desk, and the runs whose trajectories are in
// dir.
func (s *serving) private(ctx context.Context, lg *slog.Logger, cfg *config.Config, st *store.Store, dir string,
	site *layout.Site, pages map[string]http.Handler) error {
	host, _, _ := net.SplitHostPort(s.addr)
	local := config.Loopback(host) && len(s.hosts) == 0
	door, err := login.New(login.Options{Log: lg, Site: site, Notes: st, Token: cfg.OperatorToken.Reveal(),
		Name: cfg.Operator, Now: s.e.now, Random: rand.Reader, Local: local})
	if err != nil {
		return err
	}
	if cfg.OperatorToken == "" && !local {
		lg.Warn("the operator's desk is closed: other machines can reach this server, and OPERATOR_TOKEN is not set")
	}
	wikis, err := deskWikis(lg, cfg)
	if err != nil {
		return err
	}
	history := runs.New(runs.Options{Log: lg, Site: site, Trajectories: dir, Benchmarks: s.benchmarks, Now: s.e.now,
		Request: func(ctx context.Context, key string) string {
			if _, err := st.Entry(ctx, key); err != nil {
				return ""
			}
			return desk.Address(key)
		}})
	d := desk.New(desk.Options{
		Log: lg, Site: site, Door: door, Store: st, Wikis: wikis, Now: s.e.now, Runs: history.Latest,
		Limits: desk.Limits{DayUSD: cfg.DailyUSD, RequestUSD: cfg.RequestUSD, RepliesPerHour: cfg.RepliesPerHour},
		Spent: func(ctx context.Context, day string) (desk.Spending, error) {
			u, err := st.Spent(ctx, day)
			return desk.Spending{Calls: u.Calls, USD: u.USD}, err
		},
	})
	pages["/operator"], pages["/operator/"] = d.Handler(), d.Handler()
	seen := door.Operator(history.Handler())
	pages["/runs"], pages["/runs/"] = seen, seen
	logins := door.Handler()
	pages["/login"], pages["/logout"] = logins, logins
	if s.annotate == "" {
		return nil
	}
	return s.annotators(ctx, lg, cfg, site, door, pages)
}

// annotators adds the annotation page, which every logged-in user can open.
func (s *serving) annotators(ctx context.Context, lg *slog.Logger, cfg *config.Config, site *layout.Site,
	door *login.Door, pages map[string]http.Handler) error {
	graph, _, _ := strings.Cut(s.graph, ",")
	o, works, err := annotating(ctx, lg, s.e, cfg, graph, s.annotate)
	if err != nil {
		return fmt.Errorf("--annotate: %w", err)
	}
	s.closing = append(s.closing, works)
	o.Base, o.Site = "/annotate", site
	o.Who = func(r *http.Request) string { return login.Of(r.Context()).Name }
	o.Free = func(r *http.Request) bool { return login.Of(r.Context()).Free }
	o.Boss = func(r *http.Request) bool { return login.Of(r.Context()).Operator }
	o.People = func(ctx context.Context) ([]string, error) {
		all, err := door.Accounts(ctx)
		names := make([]string, len(all))
		for i, a := range all {
			names[i] = a.Name
		}
		return names, err
	}
	page, err := annotate.New(o)
	if err != nil {
		return err
	}
	pages["/annotate/"] = door.Anybody(page)
	return nil
}

func (s *serving) close() {
	for _, c := range s.closing {
		_ = c.Close() // all writes are already durable
	}
}

// deskWikis returns the configured wikis in the form that the desk needs.
func deskWikis(lg *slog.Logger, cfg *config.Config) (map[string]desk.Wiki, error) {
	all, err := wikisToRead(cfg)
	if err != nil { // the main wiki's requests are still shown
		lg.Warn("requests on other wikis have no links or previews", "error", err)
	}
	out := map[string]desk.Wiki{}
	add := func(name string, cfg *config.Config) error {
		wiki, err := newPreviewer(lg, cfg)
		if err != nil {
			return err
		}
		out[name] = desk.Wiki{API: cfg.WikiAPI, Page: cfg.ForumPage, Account: account(cfg.WikiUser),
			Render: func(ctx context.Context, title, wikitext string) (string, error) {
				p, err := wiki.Preview(ctx, title, wikitext)
				if err != nil {
					return "", err
				}
				return p.HTML, nil
			}}
		return nil
	}
	for name, other := range all {
		if err := add(name, other); err != nil {
			return nil, err
		}
	}
	return out, add("", cfg)
}

// newPreviewer returns a client that asks the wiki to render wikitext. It has no account, so it cannot write.
func newPreviewer(lg *slog.Logger, cfg *config.Config) (*mediawiki.Client, error) {
	ua, err := userAgent(cfg, isLoopback(cfg.WikiAPI))
	if err != nil {
		ua, err = politehttp.UserAgent(programName, version(), "https://www.wikidata.org/wiki/User:SpinachBot")
	}
	if err != nil {
		return nil, err
	}
	return mediawiki.New(lg, mediawiki.Config{API: cfg.WikiAPI, UserAgent: ua, Anonymous: true, Attempts: 2}, nil,
		systemClock{})
}
