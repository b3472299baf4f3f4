//go:build integration

package integration

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/spinachbot/spinachbot/dataset"
)

// takenAway harvests two pages. Then one discussion and some words of another are removed from the first page, the
// revision that contains them is hidden, and the second page is deleted. No file in the folder may still contain any of
// the removed text.
func (s *harvestSite) takenAway(t *testing.T) {
	const prefix = "Wikidata:Request a query/Archive/"
	thread := func(heading, words, query string) string {
		return fmt.Sprintf("== %s ==\n%s %s\n:{{SPARQL|query=%s\n}} %s\n\n", heading, words, stamp("Ann", 10, len(heading)),
			query, stamp("Bob", 11, 4))
	}
	const secret = "SECRETPHONE"
	kept := thread("Kept", "Which ones?", countries(501))
	s.admin.edit(url.Values{"title": {prefix + "2021/03"}, "text": {kept + thread("Told too much", "Call me at "+secret+
		", will you?", countries(502)) +
		thread("To go", "Please?", `SELECT ?c ("`+secret+`" AS ?s) WHERE { ?c wdt:P31 wd:Q6256 } LIMIT 5`)}})
	s.admin.edit(url.Values{"title": {prefix + "2021/04"}, "text": {thread(secret, "A page to be deleted.",
		countries(503))}})
	dir := filepath.Join(t.TempDir(), "out")
	s.whole(dir)
	ids := map[string]string{}
	for _, c := range s.read(dir, dataset.CandidatesFile) {
		ids[c.Provenance.Heading] = c.ID
	}
	if ids["To go"] == "" || ids[secret] == "" || len(filesWith(t, dir, secret)) < 2 {
		t.Fatalf("%q, in %q", ids, filesWith(t, dir, secret))
	}
	s.admin.edit(url.Values{"title": {prefix + "2021/03"}, "text": {kept + thread("Told too much", "Will you?",
		countries(502))}})
	revisions := s.admin.call(url.Values{"action": {"query"}, "prop": {"revisions"}, "titles": {prefix + "2021/03"},
		"rvprop": {"ids"}, "rvlimit": {"2"}})
	page := revisions["query"].(map[string]any)["pages"].([]any)[0].(map[string]any)["revisions"].([]any)
	old := fmt.Sprintf("%.0f", page[1].(map[string]any)["revid"])
	hidden := s.admin.call(url.Values{"action": {"revisiondelete"}, "type": {"revision"}, "target": {prefix + "2021/03"},
		"ids": {old}, "hide": {"content"}, "token": {s.admin.token}})
	if str(hidden, "revisiondelete", "status") != "Success" {
		t.Fatalf("the revision cannot be hidden: %v", hidden)
	}
	deleted := s.admin.call(url.Values{"action": {"delete"}, "title": {prefix + "2021/04"}, "reason": {"test"},
		"token": {s.admin.token}})
	if str(deleted, "delete", "title") == "" {
		t.Fatalf("the page cannot be deleted: %v", deleted)
	}
	s.whole(dir)
	if with := filesWith(t, dir, secret); len(with) > 0 {
		t.Errorf("%q still contain removed text", with)
	}
	for _, heading := range []string{"To go", secret} {
		name, err := dataset.ResultPath(dir, ids[heading])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(name); !os.IsNotExist(err) {
			t.Errorf("the rows of %s are still there (%v)", heading, err)
		}
	}
	found := map[string]bool{}
	for _, c := range s.read(dir, dataset.CandidatesFile) {
		found[c.Provenance.Heading] = true
	}
	if f, err := dataset.ReadFunnel(dir); err != nil || f.Total.Gone != 2 || f.Pages.Gone != 1 || !found["Kept"] ||
		!found["Told too much"] {
		t.Errorf("%+v, %v", f, err)
	}
}

// filesWith returns the files in the given folder that contain the given string.
func filesWith(t *testing.T, dir, text string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(text)) {
			out = append(out, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
