package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/config"
)

func runConfig(_ context.Context, e *env, args []string) int {
	c := newCmdline(e, "config", "check|print [flags]",
		"check reads all settings, names every problem at once and says what each value's source is.\nprint shows the settings as they are in force; secrets are never shown.",
		config.Wiki, config.Forum, config.Bot, config.Data, config.Model, config.Limits, config.Graph)
	example := c.fs.Bool("example", false, "print: a commented .env with all defaults instead")
	forRun := c.fs.Bool("run", false, "check: also what the bot needs to run on a wiki")
	rest, done, code := c.parse(args)
	if done {
		return code
	}
	if len(rest) != 1 || (rest[0] != "check" && rest[0] != "print") {
		return misuse(e, "config: want check or print; see spinachbot config -h")
	}
	if rest[0] == "print" && *example {
		fmt.Fprint(e.stdout, config.Example())
		return exitOK
	}
	cfg, ok := c.load()
	if !ok {
		return exitUsage
	}
	if rest[0] == "print" {
		for _, k := range config.Keys() {
			fmt.Fprintf(e.stdout, "%s=%s\n", k.Name, cfg.Value(k.Name))
		}
		return exitOK
	}
	if *forRun {
		if err := cfg.CheckRun(); err != nil {
			return misuse(e, "the bot cannot run yet:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		}
	}
	for _, k := range config.Keys() {
		if o := cfg.Origin(k.Name); o != "default" {
			fmt.Fprintf(e.stdout, "%-28s from %s\n", k.Name, o)
		}
	}
	fmt.Fprintln(e.stdout, "settings are consistent")
	return exitOK
}
