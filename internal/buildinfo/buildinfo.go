// Package buildinfo reports the commit that the program was built from, as recorded by a release or by the Go tool.
package buildinfo

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// Build is the program's build information.
type Build struct {
	Version string    // the module's version; empty if the program was built without one
	Commit  string    // twelve hexadecimal digits; empty if unknown
	Date    time.Time // date of the commit; zero if unknown
	Dirty   bool      // the files differed from the commit
	Go      string    // Go's version
}

// pseudo matches the time and commit at the end of a pseudo-version, which Go generates for a commit without a tag.
var pseudo = regexp.MustCompile(`[.-](\d{14})-([0-9a-f]{12})(\+dirty)?$`)

// A release sets these variables with the linker's -X flag (tools/release), so that builds from a clone and from an
// archive without history are identical.
var tag, commit, date string

// Read reads the build information that a release or the Go tool embedded in the program. `go build` in a clone records
// the commit; `go install` with a version records the version, which includes the commit unless it is a tag.
func Read() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{}
	}
	if commit != "" {
		return released(info.GoVersion, tag, commit, date)
	}
	return of(info)
}

func released(goVersion, tag, commit, date string) Build {
	b := Build{Version: tag, Commit: commit[:min(12, len(commit))], Go: goVersion}
	b.Date, _ = time.Parse(time.RFC3339, date)
	return b
}

func of(info *debug.BuildInfo) Build {
	b := Build{Go: info.GoVersion}
	if v := info.Main.Version; v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value[:min(12, len(s.Value))]
		case "vcs.time":
			b.Date, _ = time.Parse(time.RFC3339, s.Value)
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		}
	}
	if m := pseudo.FindStringSubmatch(b.Version); m != nil {
		if b.Commit == "" {
			b.Commit = m[2]
			b.Date, _ = time.Parse("20060102150405", m[1])
		}
		b.Version = ""
	}
	b.Dirty = b.Dirty || strings.HasSuffix(b.Version, "+dirty")
	b.Version = strings.TrimSuffix(b.Version, "+dirty")
	return b
}

// String returns one line for --version, such as
//
//	spinachbot v1.2.0 (commit 2cc30a5d893e of 2026-11-22, with local changes; go1.26.8)
func (b Build) String() string {
	name := b.Version
	if name == "" {
		name = "unreleased"
	}
	commit := "commit not recorded: built without version control"
	if b.Commit != "" {
		commit = "commit " + b.Commit
		if !b.Date.IsZero() {
			commit += " of " + b.Date.UTC().Format("2006-01-02")
		}
	} else if b.Version != "" {
		commit = ""
	}
	if b.Dirty {
		commit += ", with local changes"
	}
	return fmt.Sprintf("spinachbot %s (%s)", name, strings.TrimPrefix(strings.TrimPrefix(commit, ", ")+"; "+b.Go, "; "))
}

// Short returns a one-word identifier of the build, for the User-Agent header and for run records.
func (b Build) Short() string {
	switch {
	case b.Version != "":
		return b.Version
	case b.Commit != "":
		return b.Commit
	}
	return Unknown
}

// Unknown is the version of a program that was built without version information.
const Unknown = "unknown"
