package main

import (
	"context"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// build is what the program knows about its own making.
type build struct {
	version string    // the module's version; empty when it was built without one
	commit  string    // twelve hexadecimal digits; empty when not known
	date    time.Time // of the commit; zero when not known
	dirty   bool      // the files differed from the commit
	goes    string    // Go's version
}

// pseudo matches the end of a version that Go makes up for a commit without a tag: time and commit.
var pseudo = regexp.MustCompile(`[.-](\d{14})-([0-9a-f]{12})(\+dirty)?$`)

// readBuild reads what the Go tool wrote into the program. `go build` in a clone records the commit; `go install` of a
// version records the version, which names the commit unless it is a tag.
func readBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) build {
	b := build{goes: info.GoVersion}
	if v := info.Main.Version; v != "(devel)" {
		b.version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = s.Value[:min(12, len(s.Value))]
		case "vcs.time":
			b.date, _ = time.Parse(time.RFC3339, s.Value)
		case "vcs.modified":
			b.dirty = s.Value == "true"
		}
	}
	if m := pseudo.FindStringSubmatch(b.version); m != nil {
		if b.commit == "" {
			b.commit = m[2]
			b.date, _ = time.Parse("20060102150405", m[1])
		}
		b.version = ""
	}
	b.dirty = b.dirty || strings.HasSuffix(b.version, "+dirty")
	b.version = strings.TrimSuffix(b.version, "+dirty")
	return b
}

// String returns one line for --version, such as
//
//	spinachbot v1.2.0 (commit 2cc30a5d893e of 2026-11-22, with local changes; go1.26.8)
func (b build) String() string {
	name := b.version
	if name == "" {
		name = "unreleased"
	}
	commit := "commit not recorded: built without version control"
	if b.commit != "" {
		commit = "commit " + b.commit
		if !b.date.IsZero() {
			commit += " of " + b.date.UTC().Format("2006-01-02")
		}
	} else if b.version != "" {
		commit = ""
	}
	if b.dirty {
		commit += ", with local changes"
	}
	return fmt.Sprintf("spinachbot %s (%s)", name, strings.TrimPrefix(strings.TrimPrefix(commit, ", ")+"; "+b.goes, "; "))
}

// short names the build in one word: for the User-Agent and the records of runs.
func (b build) short() string {
	switch {
	case b.version != "":
		return b.version
	case b.commit != "":
		return b.commit
	}
	return "unknown"
}

// version names the program's build in one word.
func version() string { return readBuild().short() }

func versionCommand(e *env) *cobra.Command {
	c := newCmdline(e, "version", "print the version, its commit and date", `Prints the version, the commit with its
date, and the version of Go. "with local changes" means that the files differed from the commit.`)
	return c.command(func(_ context.Context, args []string) int {
		if !c.noArguments(args) {
			return exitUsage
		}
		fmt.Fprintln(e.stdout, readBuild())
		return exitOK
	})
}
