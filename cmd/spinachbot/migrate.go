package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/text"
)

func migrateCommand(e *env) *cobra.Command {
	c := newCmdline(e, "migrate [flags]", "move the ledger from a file to a PostgreSQL database",
		`Copies the ledger, the notes and the daily totals from DATA_DIR to the empty database at DATABASE_URL, compares both
row by row, and marks the file, so that bots no longer use it. Stop the bot first. Trajectories and harvests stay
where they are. If it fails, nothing is lost: run it again.`, config.Data)
	return c.command(func(ctx context.Context, rest []string) int {
		if !c.noArguments(rest) {
			return exitUsage
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if cfg.DatabaseURL == "" {
			return misuse(e, "migrate: DATABASE_URL is empty: where should the ledger be moved?")
		}
		m, err := migrate(ctx, cfg)
		if err != nil {
			return fail(e, err)
		}
		fmt.Fprintf(e.stdout, "moved %s with their jobs, %s and the totals of %s\n", text.Count(m.Entries, "entry"),
			text.Count(m.Notes, "note"), text.Count(m.Days, "day"))
		return exitOK
	})
}

func migrate(ctx context.Context, cfg *config.Config) (m store.Moved, err error) {
	file := *cfg
	file.DatabaseURL = ""
	if !hasLedger(&file) {
		return m, fmt.Errorf("there is no ledger in %s; specify a different folder with --data-dir", cfg.DataDir)
	}
	unlock, err := store.Lock(cfg.DataDir)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	from, err := store.Open(ctx, filepath.Join(cfg.DataDir, ledgerFile))
	if errors.Is(err, store.ErrMoved) {
		return m, fmt.Errorf("nothing to do: the ledger in %s has already been moved to a PostgreSQL database", cfg.DataDir)
	}
	if err != nil {
		return m, err
	}
	defer from.Close()
	to, err := openLedger(ctx, cfg)
	if err != nil {
		return m, err
	}
	defer to.Close()
	return store.Move(ctx, from, to)
}
