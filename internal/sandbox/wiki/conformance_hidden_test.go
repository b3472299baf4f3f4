package wiki_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	mwclient "cgt.name/pkg/go-mwclient"
	"cgt.name/pkg/go-mwclient/params"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/mediawiki"
)

// hide has the administrator remove parts of a revision from public view.
func (s *site) hide(t *testing.T, title string, rev int64, what, suppress string) {
	t.Helper()
	admin, err := mwclient.New(s.api, "SpinachBotTest/1 (conformance suite)")
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.Login(s.admin.user, s.admin.password); err != nil {
		t.Fatal(err)
	}
	token, err := admin.GetToken(mwclient.CSRFToken)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := admin.Post(params.Values{"action": "revisiondelete", "type": "revision", "target": title,
		"ids": fmt.Sprint(rev), "hide": what,
		"suppress": suppress, "reason": "a test", "token": token})
	if err != nil {
		t.Fatal(err)
	}
	if status, err := answer.GetString("revisiondelete", "status"); err != nil || status != "Success" {
		t.Fatalf("revision %d, hide %s: %s %v: %v", rev, what, status, err, answer)
	}
}

// testHidden checks what an account can see in revisions whose author, summary or text an administrator has hidden.
func testHidden(t *testing.T, s *site) {
	p := s.page(t, "hidden", "start")
	bot, bob := s.client(t, s.bot), s.client(t, s.bob)
	save := func(c *mediawiki.Client, n int) int64 {
		t.Helper()
		saved, err := c.Save(context.Background(), mediawiki.Edit{Title: p.Title, Text: fmt.Sprint("text ", n),
			Summary: fmt.Sprint("summary ", n), BaseRev: p.RevID})
		if err != nil {
			t.Fatal(err)
		}
		p.RevID = saved.RevID
		return saved.RevID
	}
	type hiding struct {
		by             *mediawiki.Client
		what, suppress string
		want           mediawiki.Revision // as in the list of the bot's edits; if RevID is 0, it must not be listed
	}
	hidings := []hiding{
		{by: bot, want: mediawiki.Revision{RevID: 1, User: "SpinachBot", Summary: "summary 0"}},
		{by: bot, what: "user", want: mediawiki.Revision{RevID: 1, Summary: "summary 1", UserHidden: true, Text: "text 1"}},
		{by: bot, what: "comment", want: mediawiki.Revision{RevID: 1, User: "SpinachBot", SummaryHidden: true,
			Text: "text 2"}},
		{by: bot, what: "comment|content", want: mediawiki.Revision{RevID: 1, User: "SpinachBot", SummaryHidden: true,
			TextHidden: true}},
		{by: bot, what: "user|comment|content", want: mediawiki.Revision{RevID: 1, UserHidden: true, SummaryHidden: true,
			TextHidden: true}},
		{by: bot, what: "user|comment|content", suppress: "yes", want: mediawiki.Revision{RevID: 1, UserHidden: true,
			SummaryHidden: true, TextHidden: true}},
		{by: bob, what: "user", want: mediawiki.Revision{RevID: 1, Summary: "summary 6", UserHidden: true, Text: "text 6"}},
		{by: bob, what: "comment|content"},
		{by: bob},
	}
	ids := make([]int64, len(hidings))
	for i, h := range hidings {
		ids[i] = save(h.by, i)
	}
	var want []mediawiki.Revision
	byName := 0
	for i, h := range hidings {
		if h.what != "" {
			suppress := h.suppress
			if suppress == "" {
				suppress = "nochange"
			}
			s.hide(t, p.Title, ids[i], h.what, suppress)
		}
		if h.want.RevID != 0 {
			h.want.RevID = ids[i]
			want = append([]mediawiki.Revision{h.want}, want...)
		}
		if h.want.User != "" {
			byName++
		}
	}
	got, err := bot.OwnEdits(context.Background(), p.Title, p.Now.Add(-time.Minute))
	for i := range got {
		got[i].Time = time.Time{}
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("own edits: %v\n%s", err, cmp.Diff(want, got))
	}
	if named, err := bot.History(context.Background(), p.Title, "SpinachBot", p.Now.Add(-time.Minute)); err != nil ||
		len(named) != byName {
		t.Errorf("%d edits under the account's name, want %d: %v", len(named), byName, err)
	}
	if now := read(t, bot, p.Title); now.Text != "text 8" {
		t.Errorf("the page says %q", now.Text)
	}
}
