package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/internal/buildinfo"
)

// version returns the program's version as a single word.
func version() string { return buildinfo.Read().Short() }

func versionCommand(e *env) *cobra.Command {
	c := newCmdline(e, "version", "print the version, its commit and date", `Prints the version, the commit with its
date, and the version of Go. "with local changes" means that the files differed from the commit.`)
	return c.command(func(_ context.Context, args []string) int {
		if !c.noArguments(args) {
			return exitUsage
		}
		fmt.Fprintln(e.stdout, buildinfo.Read())
		return exitOK
	})
}
