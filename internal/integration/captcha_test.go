//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The wiki requires a captcha for each edit, as the ConfirmEdit extension does for accounts without the skipcaptcha
// right. The bot tries once, stops and reports the reason; its reply stays pending. Once the account has the right, the
// reply is posted.
func TestCaptcha(t *testing.T) {
	t.Parallel()
	wiki, bin := startNewerWiki(t), binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	w.first()
	w.answerOlder()
	captcha := filepath.Join(wiki.vars["REALWIKI_DIR"], "captcha")
	for name, question := range map[string]string{
		"by a section edit":  capital,
		"by DiscussionTools": "What was the shoe size of each president of the United States?",
	} {
		heading := "A captcha " + name
		w.alice.ask(w.page, heading, question)
		w.asked[heading] = 1
		if err := os.WriteFile(captcha, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for try := range 2 {
			edits := 0
			w.hooks.reset(func(c call) bool {
				if isEdit(c) || strings.Contains(c.body, "discussiontoolsedit") {
					edits++
				}
				return true
			}, nil)
			out, err := w.bot(nil, "run", "--once", "--unknown-grace", "1s")
			if err == nil || !strings.Contains(out, "captcha") || !strings.Contains(out, "skipcaptcha") {
				t.Fatalf("%s, try %d: the bot does not stop, or does not say why (%v):\n%s", name, try, err, out)
			}
			if edits != 1 {
				t.Errorf("%s, try %d: %d edits were tried, want 1", name, try, edits)
			}
		}
		if n := replies(section(w.alice.text(w.page), heading)); n != 0 {
			t.Errorf("%s: %d replies past the captcha", name, n)
		}
		list, err := w.bot(nil, "ledger", "list", "--state", "approved")
		if err != nil || !strings.Contains(list, heading) {
			t.Errorf("%s: the reply is not held (%v):\n%s", name, err, list)
		}
		if err := os.Remove(captcha); err != nil {
			t.Fatal(err)
		}
		w.settled()
	}
}
