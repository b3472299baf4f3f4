package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// notesOf extracts a version's section from the changelog: its heading is "## TAG", or "## Unreleased" for a commit
// without a tag, alone or followed by a date.
func notesOf(changelog, tag string) (string, error) {
	want := tag
	if want == "" {
		want = "Unreleased"
	}
	var out []string
	in := false
	for _, line := range strings.Split(changelog, "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			words := strings.Fields(heading)
			in = len(words) > 0 && words[0] == want
			continue
		}
		if in {
			out = append(out, line)
		}
	}
	text := strings.TrimSpace(strings.Join(out, "\n"))
	if text == "" {
		return "", fmt.Errorf("CHANGELOG.md has no %q section: write it before the release", "## "+want)
	}
	return text, nil
}

// writeNotes writes NOTES.txt: what changed and how to verify a download. It mentions a signature only if there is a
// key.
func writeNotes(src string, o options, v version) error {
	changelog, err := os.ReadFile(filepath.Join(src, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	text, err := notesOf(string(changelog), v.tag)
	if err != nil {
		return err
	}
	check := "    sha256sum -c --ignore-missing SHA256SUMS\n"
	if o.key == "" {
		check += "\nThis release is not signed. `make release` at this commit produces the same files.\n"
	} else {
		check += fmt.Sprintf("    ssh-keygen -Y verify -n %s -I %s -f allowed_signers -s SHA256SUMS.sig < SHA256SUMS\n\n"+
			"Compare `allowed_signers` with the one that you know from earlier releases.\n", namespace, signer)
	}
	notes := fmt.Sprintf("# SpinachBot %s\n\nCommit %s of %s.\n\n%s\n\n## Checking your download\n\n%s",
		v, v.commit, v.date.Format("2006-01-02"), text, check)
	return os.WriteFile(filepath.Join(o.out, "NOTES.txt"), []byte(notes), 0o644)
}
