package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/digest"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/buildinfo"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/setup"
	"github.com/spinachbot/spinachbot/internal/store"
)

const digestDoc = `Prints what happened in the last day: what waits for you, what was posted, the reactions to replies,
what was withdrawn, rejected or given up, and what it cost.

With --wiki it is wikitext, to be pasted into a page. With DIGEST_PAGE, the bot writes it once a day itself.`

func ledgerDigestCommand(e *env) *cobra.Command {
	c := newCmdline(e, "digest [flags]", "what happened since yesterday", digestDoc, config.Data, config.Wiki,
		config.Limits)
	days := c.fs.Int("days", 1, "how many `days` back")
	wiki := c.fs.Bool("wiki", false, "print wikitext")
	return c.command(func(ctx context.Context, args []string) int {
		if len(args) > 0 || *days < 1 || *days > 366 {
			return misuse(e, "ledger digest: takes no arguments, and --days from 1 to 366")
		}
		return c.withLedger(ctx, false, func(l *ledger) error {
			entries, err := bot.List(ctx, l.st)
			if err != nil {
				return err
			}
			now := e.now()
			d := digest.New(entries, now.AddDate(0, 0, -*days), now)
			spent, err := spentLately(ctx, l.st, l.cfg, now, *days)
			if err != nil {
				return err
			}
			if *wiki {
				_, err = fmt.Fprint(e.stdout, d.Wikitext(spent))
			} else {
				_, err = fmt.Fprint(l.Out, d.Text(spent, l.Link))
			}
			return err
		})
	})
}

// spentLately describes total spending in recent days and the daily limit. Days start at midnight UTC; the whole first
// day is included.
func spentLately(ctx context.Context, st *store.Store, cfg *config.Config, now time.Time, days int) (string, error) {
	usd := 0.0
	for i := range days + 1 {
		u, err := st.Spent(ctx, now.UTC().AddDate(0, 0, -i).Format(time.DateOnly))
		if err != nil {
			return "", err
		}
		usd += u.USD
	}
	s := fmt.Sprintf("$%.2f", usd)
	if cfg.DailyUSD > 0 {
		s += fmt.Sprintf(" (daily limit: $%.2f)", cfg.DailyUSD)
	}
	return s, nil
}

// setupPages writes drafts of the pages that an operator must create before the bot may run.
func setupPages(e *env, cfg *config.Config, dir string) int {
	host := func(address string) string {
		u, err := url.Parse(address)
		if err != nil {
			return ""
		}
		return u.Host
	}
	built := version()
	if built == buildinfo.Unknown {
		built = ""
	}
	server := "api.openai.com"
	if cfg.OpenAIBaseURL != "" {
		server = host(cfg.OpenAIBaseURL)
	}
	drafts, err := setup.Drafts(setup.About{
		Account: account(cfg.WikiUser), Operator: cfg.Operator, Forum: cfg.ForumPage, StopPage: cfg.StopPage,
		OptOutPage: cfg.OptOutPage, DigestPage: cfg.DigestPage, TracePage: cfg.TracePage,
		Confident: cfg.AnswerConfidence > 0, Corrects: cfg.CorrectAfter > 0 && cfg.Posting == "on", Mentions: cfg.Mentions == "on", Model: cfg.OpenAIModel, Server: server,
		Endpoint: host(cfg.SPARQLEndpoint), Posting: cfg.Posting, PerHour: cfg.RepliesPerHour, FollowUps: cfg.FollowupLimit,
		Contact: cfg.Contact, Version: built,
	})
	if err != nil {
		return misuse(e, "run --setup: %v", err)
	}
	if err := setup.Write(dir, drafts); err != nil {
		return fail(e, err)
	}
	out := console.New(e.stdout, e.environ)
	for _, d := range drafts {
		fmt.Fprintf(out, "%s/%s  for  %s\n", dir, d.File, d.Title)
	}
	if cfg.OptOutPage == "" {
		fmt.Fprintln(e.stderr, "OPT_OUT_PAGE is not set: set it, or the list of people who want no replies has no effect.")
	}
	if of, _, ok := strings.Cut(strings.TrimPrefix(cfg.StopPage, "User:"), "/"); ok && strings.HasPrefix(cfg.StopPage, "User:") &&
		of != account(cfg.WikiUser) {
		fmt.Fprintf(e.stderr, "STOP_PAGE is a page of User:%s: set it to User:%s/run, or another page where people can stop this bot.\n",
			of, account(cfg.WikiUser))
	}
	fmt.Fprintln(e.stderr, "Read them, correct what is not true, fill in what is in parentheses, and paste them into these pages of the wiki.\n"+
		"The bot does not write them.")
	if cfg.Posting != "on" {
		fmt.Fprintf(e.stderr, "They describe the settings as they are, POSTING=%s. If you ask for approval of replies without review, make\n"+
			"them again: spinachbot run --setup FOLDER --posting on\n", cfg.Posting)
	}
	return exitOK
}
