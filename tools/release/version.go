package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

type version struct {
	tag    string    // such as v1.2.0; empty if the commit has no tag
	commit string    // the full hash
	date   time.Time // date of the commit
	git    bool      // whether the sources are a clone
}

// String returns the version in the form used in file names and notes.
func (v version) String() string {
	if v.tag != "" {
		return v.tag
	}
	return "unreleased-" + v.commit[:12]
}

// file returns the base name of a platform's files, without extension.
func (v version) file(target string) string {
	return "spinachbot_" + v.String() + "_" + strings.ReplaceAll(target, "/", "_")
}

// versionOf gets the version from git or from the VERSION file, which `git archive` fills in.
func versionOf(dir string) (version, error) {
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		return gitVersion(dir)
	}
	b, err := os.ReadFile(filepath.Join(dir, "VERSION"))
	if err != nil {
		return version{}, fmt.Errorf("the sources are neither a clone nor an archive of one: %w", err)
	}
	return parseVersion(string(b))
}

func gitVersion(dir string) (version, error) {
	dirty, err := git(dir, "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return version{}, err
	}
	if dirty != "" {
		return version{}, fmt.Errorf("a release is made from the last commit, but the files differ from it: "+
			"commit or stash\n%s", dirty)
	}
	line, err := git(dir, "log", "-1", "--format=%H %cI")
	if err != nil {
		return version{}, err
	}
	tag, err := git(dir, "tag", "--points-at", "HEAD", "--list", "v*", "--sort=-v:refname")
	if err != nil {
		return version{}, err
	}
	tag, _, _ = strings.Cut(tag, "\n")
	v, err := parseVersion(line + " " + tag)
	v.git = true
	return v, err
}

// parseVersion parses a commit, a date, and decorations such as "(HEAD -> main, tag: v1.2.0)" or a bare tag.
func parseVersion(s string) (v version, err error) {
	s = strings.TrimSpace(s)
	if strings.Contains(s, "$Format") {
		return v, errors.New("VERSION is not filled in: create the archive with git archive")
	}
	commit, rest, _ := strings.Cut(s, " ")
	date, tags, _ := strings.Cut(rest, " ")
	if v.date, err = time.Parse(time.RFC3339, date); err != nil || len(commit) < 40 {
		return v, fmt.Errorf("%q: want a commit and its date", s)
	}
	v.commit, v.date = commit, v.date.UTC()
	for _, word := range strings.FieldsFunc(tags, func(r rune) bool { return strings.ContainsRune(" (),", r) }) {
		if strings.HasPrefix(word, "v") && len(word) > 1 && word[1] >= '0' && word[1] <= '9' {
			v.tag = word
			break
		}
	}
	return v, nil
}

// export copies the sources from the last commit, or from the archive, to a new folder.
func export(sources, dir string, v version) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if !v.git {
		return os.CopyFS(dir, os.DirFS(sources))
	}
	archive := exec.Command("git", "-C", sources, "archive", "--format=tar", v.commit)
	unpack := exec.Command("tar", "-x", "-C", dir)
	var complaint bytes.Buffer
	archive.Stderr, unpack.Stderr = &complaint, &complaint
	var err error
	if unpack.Stdin, err = archive.StdoutPipe(); err != nil {
		return err
	}
	if err = unpack.Start(); err == nil {
		err = errors.Join(archive.Run(), unpack.Wait())
	}
	if err != nil {
		return fmt.Errorf("exporting the commit: %w: %s", err, &complaint)
	}
	return nil
}

func git(dir string, args ...string) (string, error) {
	c := exec.Command("git", append([]string{"-C", dir}, args...)...)
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(complaint.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
