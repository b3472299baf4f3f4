package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/adapter"
	"github.com/spinachbot/spinachbot/internal/text"
)

const undoDoc = `Removes posted replies from the wiki, one edit each. A reply is removed only while it is still word
for word what the bot wrote and nobody has answered it. The edits go through the same checks as
replies: POSTING, the stop page, {{nobots}}. So stop the bot by its process, or on the desk, and then undo.
Nothing is posted instead of what was removed.

spinachbot ledger list --state posted lists all replies of the bot.`

func ledgerUndoCommand(e *env) *cobra.Command {
	c := newCmdline(e, "undo [flags] ID...", "remove posted replies from the wiki", undoDoc, config.Data, config.Wiki,
		config.Forum, config.Bot)
	by := byFlag(c)
	yes := c.fs.Bool("yes", false, "do not ask first")
	c.cmd.ValidArgsFunction = c.completeEntries(bot.ActUndo.On()...)
	return c.command(func(ctx context.Context, args []string) int {
		if len(args) == 0 {
			return misuse(e, "ledger undo: which replies? spinachbot ledger list --state posted shows their IDs")
		}
		return c.withLedger(ctx, false, func(l *ledger) error {
			return l.undo(ctx, c.logger(slog.LevelWarn), args, l.operator(*by), *yes)
		})
	})
}

func (l *ledger) undo(ctx context.Context, lg *slog.Logger, ids []string, by string, yes bool) error {
	entries, err := l.find(ctx, ids)
	if err != nil {
		return err
	}
	for _, en := range entries {
		fmt.Fprintf(l.e.stdout, "%s  %s  %s: %s\n", en.Key, en.State, en.Author, text.OneLine(en.Heading))
	}
	if !yes {
		which := "this reply"
		if len(entries) > 1 {
			which = fmt.Sprintf("these %d replies", len(entries))
		}
		fmt.Fprintf(l.e.stderr, "Remove %s from the wiki? [y/N] ", which)
		said, _ := bufio.NewReader(l.e.stdin).ReadString('\n') // no answer means no
		if s := strings.ToLower(strings.TrimSpace(said)); s != "y" && s != "yes" {
			return errors.New("nothing was undone; answer y or use --yes")
		}
	}
	bots := map[string]*bot.Bot{} // by wiki
	for _, en := range entries {
		wiki, _ := bot.SplitPage(en.Page)
		if bots[wiki] == nil {
			if bots[wiki], err = l.undoer(lg, wiki); err != nil {
				return fmt.Errorf("nothing was undone: %s: %w", en.Key, err)
			}
		}
	}
	var errs []error
	for _, before := range entries {
		wiki, _ := bot.SplitPage(before.Page)
		en, err := bots[wiki].Undo(ctx, before.Key, by)
		switch {
		case err != nil:
			errs = append(errs, err)
		case before.Undone != nil && before.Undone.Rev != 0 && before.Undone.Rev == en.Undone.Rev:
			fmt.Fprintf(l.e.stdout, "%s  was removed before, in revision %d, and is not on the page\n", en.Key, en.Undone.Rev)
		case en.Undone.Rev == 0:
			fmt.Fprintf(l.e.stdout, "%s  the reply is not on the page\n", en.Key)
		default:
			fmt.Fprintf(l.e.stdout, "%s  removed in revision %d\n", en.Key, en.Undone.Rev)
		}
	}
	return errors.Join(errs...)
}

// undoer returns a bot that can undo replies on a wiki.
func (l *ledger) undoer(lg *slog.Logger, wiki string) (*bot.Bot, error) {
	cfg := l.cfg
	if wiki != "" {
		_, others, err := moreWikis(l.e, cfg)
		if err != nil {
			return nil, err
		}
		if cfg = others[wiki]; cfg == nil {
			return nil, fmt.Errorf("it is on the wiki %q, which is not in WIKIS: add it there or edit the page", wiki)
		}
	}
	client, err := newWiki(lg, cfg, "", l.st)
	if err != nil {
		return nil, err
	}
	pol := policy(cfg, false, 2*time.Minute)
	pol.Wiki = wiki
	return bot.New(lg, l.st, adapter.Wiki{Client: client}, nil, l.e.now, pol)
}
