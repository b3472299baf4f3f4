package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/store"
)

var allGroups = []config.Group{
	config.Wiki, config.Forum, config.Bot, config.Data, config.Model, config.Limits, config.Graph, config.Web,
}

func configCommand(e *env) *cobra.Command {
	return group(e, "config", "check or print the settings", configCheckCommand(e), configPrintCommand(e))
}

func configCheckCommand(e *env) *cobra.Command {
	c := newCmdline(e, "check [flags]", "check all settings and name every problem at once",
		"Reads all settings, names every problem at once and shows where each value comes from.", allGroups...)
	forRun := c.fs.Bool("run", false, "also check what the bot needs to run on a wiki")
	return c.command(func(_ context.Context, args []string) int {
		if !c.noArguments(args) {
			return exitUsage
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if *forRun {
			if err := cfg.CheckRun(); err != nil {
				return misuse(e, "the bot cannot run yet:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
			}
		}
		if _, _, err := moreWikis(e, cfg); err != nil {
			return misuse(e, "config check: %v", err)
		}
		if cfg.DatabaseURL != "" {
			if err := store.CheckAddress(cfg.DatabaseURL.Reveal()); err != nil {
				return misuse(e, "config check: %v", err)
			}
		}
		if _, err := graphs.ReadFile(cfg.KGFile); err != nil {
			return graphsFailed(e, "config check", &badSettings{err})
		}
		for _, k := range config.Keys() {
			if o := cfg.Origin(k.Name); o != "default" {
				fmt.Fprintf(e.stdout, "%-28s from %s\n", k.Name, o)
			}
		}
		c.warnOfData(cfg)
		fmt.Fprintln(e.stdout, "settings are consistent")
		return exitOK
	})
}

func configPrintCommand(e *env) *cobra.Command {
	c := newCmdline(e, "print [flags]", "print the settings in force, without secrets",
		"Prints the settings in force. Secrets are never shown.", allGroups...)
	example := c.fs.Bool("example", false, "print a commented .env with all defaults instead")
	return c.command(func(_ context.Context, args []string) int {
		if !c.noArguments(args) {
			return exitUsage
		}
		if *example {
			fmt.Fprint(e.stdout, config.Example())
			return exitOK
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		for _, k := range config.Keys() {
			fmt.Fprintf(e.stdout, "%s=%s\n", k.Name, cfg.Value(k.Name))
		}
		return exitOK
	})
}
