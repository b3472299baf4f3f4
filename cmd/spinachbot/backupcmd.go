package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/backup"
	"github.com/spinachbot/spinachbot/internal/harden"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/text"
)

func backupCommand(e *env) *cobra.Command {
	c := newCmdline(e, "backup FILE", "write everything that the bot has to a file",
		`Writes the ledger (also one at DATABASE_URL), the trajectories, the harvest and the annotations to a new FILE, a
gzipped tar archive, or to standard output for -. The bot may keep running. Indexes are left out: index build makes
them again.`, config.Data)
	return c.command(func(ctx context.Context, rest []string) int {
		name, ok := c.oneFile(rest)
		if !ok {
			return exitUsage
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		m, err := backUp(ctx, e, cfg, name)
		if err != nil {
			return fail(e, err)
		}
		fmt.Fprintf(e.stderr, "%s, %d kB\n", text.Count(len(m.Files), "file"), m.Bytes()/1000)
		return exitOK
	})
}

func (c *cmdline) oneFile(rest []string) (string, bool) {
	if len(rest) != 1 {
		misuse(c.e, "%s: specify one file", c.cmd.Name())
		return "", false
	}
	return rest[0], true
}

func backUp(ctx context.Context, e *env, cfg *config.Config, name string) (m *backup.Manifest, err error) {
	if _, err := os.Stat(cfg.DataDir); err != nil {
		return nil, fmt.Errorf("there is no folder %s; specify a different one with --data-dir", cfg.DataDir)
	}
	src := backup.Source{Dir: cfg.DataDir, Version: version(), Skip: []string{"lock", "index", sessions, picturesFolder},
		Copy: store.CopyFile}
	if hasLedger(cfg) {
		st, err := openLedger(ctx, cfg)
		if err != nil {
			return nil, err
		}
		defer st.Close()
		src.Databases = map[string]func(context.Context, string) error{ledgerFile: st.Snapshot}
	}
	if name == "-" {
		out := bufio.NewWriter(e.stdout)
		m, err = backup.Write(ctx, out, src, e.now())
		return m, errors.Join(err, out.Flush())
	}
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s already exists: specify a new file", name)
	}
	const partPrefix = ".spinachbot-backup-"
	if err := backup.RemoveStale(filepath.Dir(name), partPrefix, e.now()); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), partPrefix) // readable only by its owner
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }() // no effect after a successful rename
	defer f.Close()
	if m, err = backup.Write(ctx, f, src, e.now()); err != nil {
		return nil, err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	return m, os.Rename(f.Name(), name)
}

func restoreCommand(e *env) *cobra.Command {
	c := newCmdline(e, "restore FILE", "put back what backup wrote",
		`Puts the files of a backup into DATA_DIR, which must be missing or empty, after it has compared each with what was
written. FILE is - for standard input. The ledger is then a file; migrate moves it to DATABASE_URL. What the bot posted
after the backup is found again on the wiki by the marks of its replies, and nothing is posted twice.`, config.Data)
	return c.command(func(ctx context.Context, rest []string) int {
		name, ok := c.oneFile(rest)
		if !ok {
			return exitUsage
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		in := e.stdin
		if name != "-" {
			f, err := os.Open(name)
			if err != nil {
				return fail(e, err)
			}
			defer f.Close()
			if exposed := harden.Exposed("the backup", name); exposed != "" {
				fmt.Fprintln(e.stderr, "spinachbot: warning:", exposed)
			}
			in = f
		}
		m, err := backup.Restore(ctx, bufio.NewReader(in), cfg.DataDir)
		if err != nil {
			return fail(e, err)
		}
		fmt.Fprintf(e.stderr, "%s of %s in %s\n", text.Count(len(m.Files), "file"), m.Made.Format("2006-01-02 15:04 MST"),
			cfg.DataDir)
		if cfg.DatabaseURL != "" {
			fmt.Fprintln(e.stderr, "The ledger is in that folder. To move it to the database at DATABASE_URL: spinachbot migrate")
		}
		return exitOK
	})
}
