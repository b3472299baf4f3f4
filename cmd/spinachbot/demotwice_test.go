package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/sandbox/wiki"
)

// Someone posts a request in the demo, is answered, and in the same minute replies to an older answer higher on the
// page: both are answered.
func TestDemoAnswersTwoPostsOfOneMinute(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	demo := func() string {
		t.Helper()
		page, errs, code := invoke(t, []string{"DATA_DIR=" + data}, "demo", "--once")
		if code != exitOK {
			t.Fatalf("exit %d: %s", code, errs)
		}
		return page
	}
	now := time.Now().UTC()
	sign := "[[User:Visitor|Visitor]] ([[User talk:Visitor|talk]]) " + now.Format("15:04, 2 January 2006 (UTC)")

	page := demo()
	const heading = "How many countries without a coast?"
	before := ours(page, heading)
	appendRevision(t, data, page+"\n\n== The capital ==\nWhat is the capital of Ivory Coast according to Wikidata? An item number would be nice. "+sign)
	page = demo()
	if n := len(ours(page, "The capital")); n != 1 {
		t.Fatalf("%d replies to the first post", n)
	}
	if len(before) != 1 {
		t.Fatalf("%d older answers", len(before))
	}
	at := strings.Index(page, "== "+heading)
	at += strings.Index(page[at:], "[[User:"+sandboxBot+"|")
	at += strings.IndexByte(page[at:], '\n')
	appendRevision(t, data, page[:at]+"\n::Great. Could you list them by name, with the capital of each? "+sign+page[at:])
	page = demo()
	if n := len(ours(page, heading)); n != 2 {
		t.Errorf("%d replies under the older thread, want 2:\n%s", n, page)
	}
	if n := len(ours(page, "The capital")); n != 1 {
		t.Errorf("%d replies to the first post", n)
	}
	if again := demo(); again != page {
		t.Error("another round changes the page")
	}
}

// ours lists the bot's comments in a thread.
func ours(page, heading string) []forum.Comment {
	var out []forum.Comment
	for _, th := range forum.Parse("Wikidata:Request a query", page, forum.Options{}).Threads {
		for _, c := range th.Comments {
			if th.Heading == heading && c.By(sandboxBot) {
				out = append(out, c)
			}
		}
	}
	return out
}

// appendRevision saves a new text of the demo's forum page, as its wiki would write it.
func appendRevision(t *testing.T, data, text string) {
	t.Helper()
	file := filepath.Join(data, wikiName)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	rev := wiki.Revision{ID: int64(len(lines)) + 1, Page: "Wikidata:Request a query",
		Time: time.Now().UTC().Truncate(time.Second), User: "Visitor", Text: text}
	for _, l := range lines {
		var old wiki.Revision
		if err := json.Unmarshal([]byte(l), &old); err != nil {
			t.Fatal(err)
		}
		if old.Page == rev.Page {
			rev.Parent = old.ID
		}
	}
	line, err := json.Marshal(rev)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(fmt.Sprintf("%s\n%s\n", strings.TrimSpace(string(raw)), line)),
		0o600); err != nil {
		t.Fatal(err)
	}
}
