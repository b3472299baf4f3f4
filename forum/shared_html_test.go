package forum

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func discussionTools(t *testing.T, name string) (got, want []string) {
	t.Helper()
	dir := shared(t, "dt", "cases", name)
	var items []item
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, name+".json"))), &items); err != nil {
		t.Fatal(err)
	}
	flat(items, "", &want)
	f, err := os.Open(filepath.Join(dir, name+".html"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := ParseHTML("T", f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return ours(p), want
}

// TestDiscussionToolsHTML compares our result with the tree that DiscussionTools builds from the same Parsoid HTML.
func TestDiscussionToolsHTML(t *testing.T) {
	if got, want := discussionTools(t, "dt-tags-parsoid"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestDiscussionToolsFrench checks that every comment that DiscussionTools finds on a page of the French Wikipedia is
// found, with its author and time. We find a few more comments, because we also recognize dates typed by hand ("1 sep
// 2004"), from before MediaWiki inserted them.
func TestDiscussionToolsFrench(t *testing.T) {
	got, want := discussionTools(t, "fr-unsigned-parsoid")
	key := func(s string) string {
		s, _, _ = strings.Cut(strings.TrimLeft(s, "."), " < ")
		return s
	}
	have := map[string]int{}
	for _, s := range got {
		have[key(s)]++
	}
	distinct := map[string]bool{}
	for _, s := range want {
		distinct[key(s)] = true
		if have[key(s)] == 0 {
			t.Errorf("not found: %s", key(s))
		}
	}
	if len(distinct) < 80 {
		t.Errorf("only %d comments to find", len(distinct))
	}
}
