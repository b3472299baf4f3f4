package buildinfo

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{
			{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "2cc30a5d893ed0d7760a90efcb5dcee254ad4151"},
			{Key: "vcs.time", Value: "2026-11-22T08:10:33Z"}, {Key: "vcs.modified", Value: modified},
		}
	}
	for _, c := range []struct {
		what, version string
		settings      []debug.BuildSetting
		long, short   string
	}{
		{"go build in a clone", "v0.0.0-20261122081033-2cc30a5d893e", vcs("false"),
			"spinachbot unreleased (commit 2cc30a5d893e of 2026-11-22; go1.26.8)", "2cc30a5d893e"},
		{"with changed files", "v0.0.0-20261122081033-2cc30a5d893e+dirty", vcs("true"),
			"spinachbot unreleased (commit 2cc30a5d893e of 2026-11-22, with local changes; go1.26.8)", "2cc30a5d893e"},
		{"a clone at a tag", "v1.2.0", vcs("false"), "spinachbot v1.2.0 (commit 2cc30a5d893e of 2026-11-22; go1.26.8)",
			"v1.2.0"},
		{"a changed clone at a tag", "v1.2.0+dirty", vcs("true"),
			"spinachbot v1.2.0 (commit 2cc30a5d893e of 2026-11-22, with local changes; go1.26.8)", "v1.2.0"},
		{"go install of a tag", "v1.2.0", nil, "spinachbot v1.2.0 (go1.26.8)", "v1.2.0"},
		{"go install of a commit", "v0.0.0-20261122081033-2cc30a5d893e", nil,
			"spinachbot unreleased (commit 2cc30a5d893e of 2026-11-22; go1.26.8)", "2cc30a5d893e"},
		{"go install of a commit after a tag", "v1.2.1-0.20261122081033-2cc30a5d893e", nil,
			"spinachbot unreleased (commit 2cc30a5d893e of 2026-11-22; go1.26.8)", "2cc30a5d893e"},
		{"go run", "(devel)", nil, "spinachbot unreleased (commit not recorded: built without version control; go1.26.8)",
			"unknown"},
	} {
		b := of(&debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: c.version}, Settings: c.settings})
		if b.String() != c.long || b.Short() != c.short {
			t.Errorf("%s: %q, %q, want %q, %q", c.what, b, b.Short(), c.long, c.short)
		}
	}
}

func TestReleased(t *testing.T) {
	const commit = "2cc30a5d893ed0d7760a90efcb5dcee254ad4151"
	for _, c := range []struct{ tag, long, short string }{
		{"v1.2.0", "spinachbot v1.2.0 (commit 2cc30a5d893e of 2026-11-22; go1.26.8)", "v1.2.0"},
		{"", "spinachbot unreleased (commit 2cc30a5d893e of 2026-11-22; go1.26.8)", "2cc30a5d893e"},
	} {
		b := released("go1.26.8", c.tag, commit, "2026-11-22T08:10:33Z")
		if b.String() != c.long || b.Short() != c.short {
			t.Errorf("tag %q: %q, %q, want %q, %q", c.tag, b, b.Short(), c.long, c.short)
		}
	}
}
