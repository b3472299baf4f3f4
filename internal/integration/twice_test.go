//go:build integration

package integration

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestTwoPostsOfOneMinute simulates a user who asks a question, gets an answer, and posts again in the same minute,
// each time in a different part of the page.
func TestTwoPostsOfOneMinute(t *testing.T) {
	t.Parallel()
	wiki := startWiki(t)
	bin := binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	w.first()
	w.answerOlder()
	for n := range 3 {
		h := fmt.Sprint("Twice a minute ", n)
		w.ask(h)
		w.round()
		w.askAgain(h, n)
		w.settled()
	}
}

// TestSuppressedReply loses the response to a successful save. Then an administrator removes the reply and, depending
// on the case, hides parts of the revision.
func TestSuppressedReply(t *testing.T) {
	t.Parallel()
	wiki := startWiki(t)
	bin := binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	admin := wiki.user("Admin")
	for hide, state := range map[string]string{"comment": "posted", "user|comment|content": "gave_up"} {
		w.fresh()
		w.answerOlder()
		w.ask("To be suppressed")
		before := w.alice.text(w.page)
		w.hooks.reset(nil, func(c call) bool { return !isEdit(c) })
		if out, err := w.bot(nil, "run", "--once", "--unknown-grace", "1s"); err != nil {
			t.Fatalf("run: %v\n%s", err, out)
		}
		w.hooks.reset(nil, nil)
		if n := replies(section(w.alice.text(w.page), "To be suppressed")); n != 1 {
			t.Fatalf("%d replies before the suppression", n)
		}
		out := w.alice.call(url.Values{"action": {"query"}, "prop": {"info"}, "titles": {w.page}})
		pages, _ := dig(out, "query", "pages").([]any)
		rev, _ := dig(pages[0], "lastrevid").(float64)
		admin.edit(url.Values{"title": {w.page}, "text": {before}})
		done := admin.call(url.Values{"action": {"revisiondelete"}, "type": {"revision"}, "target": {w.page},
			"ids": {fmt.Sprintf("%.0f", rev)}, "hide": {hide},
			"token": {admin.token}})
		if str(done, "revisiondelete", "status") != "Success" {
			t.Fatalf("the revision cannot be hidden: %v", done)
		}
		w.asked["To be suppressed"] = 0
		w.settled()
		w.settled()
		if out, err := w.bot(nil, "ledger", "list", "--state", state); err != nil || !strings.Contains(out,
			"To be suppressed") {
			t.Errorf("hide %s: the request is not %s: %v\n%s", hide, state, err, out)
		}
	}
}
