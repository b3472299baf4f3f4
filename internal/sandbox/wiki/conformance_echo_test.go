package wiki_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/mediawiki"
	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
)

// testNotifications checks which edits each account is notified of. A wiki without Echo notifies no one.
func testNotifications(t *testing.T, s *site) {
	ctx := context.Background()
	c, alice := s.client(t, s.bot), s.client(t, s.alice)
	names, err := c.Extensions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p := s.page(t, "notifications", "== One ==\nFirst.")
	unread := func() (types []string, ids []string) {
		t.Helper()
		all, err := c.Notifications(ctx, "mention", "edit-user-talk")
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range all {
			if n.Title == p.Title {
				types, ids = append(types, n.Type+" by "+n.Agent), append(ids, n.ID)
			}
		}
		return types, ids
	}
	save := func(text string) {
		t.Helper()
		now := read(t, alice, p.Title)
		if _, err := alice.Save(ctx, mediawiki.Edit{Title: p.Title, Text: now.Text + text, BaseRev: now.RevID}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	link := "[[User:" + s.bot.name + "]]"
	save("\n\n== Two ==\n" + link + " what is this? ~~~~")
	save("\n\nUnsigned " + link)
	save("\n\n== Three ==\nNothing for the bot. ~~~~")
	got, ids := unread()
	if !slices.Contains(names, "Echo") {
		if len(got) > 0 {
			t.Errorf("without Echo: %q", got)
		}
		return
	}
	if !slices.Equal(got, []string{"mention by " + s.alice.name}) {
		t.Errorf("unread: %q", got)
	}
	if err := c.MarkRead(ctx, ids); err != nil {
		t.Fatal(err)
	}
	if err := c.MarkRead(ctx, ids); err != nil {
		t.Errorf("marking twice: %v", err)
	}
	if got, _ := unread(); len(got) > 0 {
		t.Errorf("marked as read: %q", got)
	}
}

// testNaming checks the lists of pages that link to a page and of pages that use a template.
func testNaming(t *testing.T, s *site) {
	ctx := context.Background()
	c := s.client(t, s.bot)
	user := "User:Linked " + s.run
	linking := s.page(t, "linking", "See [["+user+"|them]].")
	using := s.page(t, "using", "{{spinachbot top}}\nText.")
	s.page(t, "neither", "<nowiki>Linked</nowiki> "+s.run)
	check := func(what string, got []mediawiki.PageState, err error, want *mediawiki.Page, alone bool) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(got, func(p mediawiki.PageState) bool { return p.Title == want.Title })
		if i < 0 || got[i].RevID != want.RevID || alone && len(got) != 1 {
			t.Errorf("%s: %+v, want %q at revision %d", what, got, want.Title, want.RevID)
		}
	}
	got, err := c.Linking(ctx, user, nil)
	check("linking", got, err, linking, true)
	got, err = c.Using(ctx, "Template:Spinachbot top", nil)
	check("using", got, err, using, false)
	got, err = c.States(ctx, []string{linking.Title, "No such page " + s.run, "Bad|title"})
	if err != nil || len(got) != 2 || got[0].RevID != linking.RevID || got[0].Missing || !got[1].Missing {
		t.Errorf("states: %+v, %v", got, err)
	}
}
