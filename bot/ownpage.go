package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/forum"
)

// checkOwn returns an error if the bot may not write to the page with the given title. Apart from its replies, the bot
// may write only to subpages of its account's user page. such is an example of a valid title, for the error message.
func (c *Config) checkOwn(what, title, such string) error {
	namespace, rest, ok := strings.Cut(title, ":")
	name, ok2 := strings.CutPrefix(rest, c.Account+"/")
	if ok && ok2 && namespace != "" && name != "" && title != c.StopPage {
		return nil
	}
	return fmt.Errorf("the page for %s is %q; it must be a subpage of the account's user page, but not the stop page, "+
		"such as User:%s/%s", what, title, c.Account, such)
}

// ErrDenied means that a page does not allow bots.
var ErrDenied = errors.New("the page does not allow bots")

// WriteOwn makes one edit to a subpage of the account's user page. It applies only the gate checks that do not depend
// on a reply: posting mode, operator's stop, stop page, {{nobots}}.
//
// edit is passed the page's current revision. It returns the edit with Section, Text and Summary set, and Create if the
// page is new, or nil if there is nothing to do. WriteOwn calls sending just before it sends the edit, so that the
// caller can record that the edit may be on the wiki. If either function returns an error, WriteOwn returns it. If the
// save fails, WriteOwn returns the error from [Wiki].Save.
func (b *Bot) WriteOwn(ctx context.Context, title string, edit func(*Revision) (*Edit, error),
	sending func() error) (rev int64, err error) {
	if err := b.cfg.checkOwn("the bot", title, "digest"); err != nil {
		return 0, err
	}
	if b.cfg.Posting == Off {
		return 0, errors.New("posting is off")
	}
	run, err := b.stopPage(ctx)
	if err != nil {
		return 0, err
	}
	if run.reason != "" {
		return 0, errors.New(run.reason)
	}
	page, err := b.wiki.Page(ctx, title)
	if err != nil {
		return 0, err
	}
	if forum.Denied(page.Text, b.cfg.Account) {
		return 0, ErrDenied
	}
	e, err := edit(page)
	if err != nil || e == nil {
		return 0, err
	}
	if why, err := b.halted(ctx); err != nil {
		return 0, err
	} else if why != "" {
		return 0, errors.New(why)
	}
	if err := sending(); err != nil {
		return 0, err
	}
	e.Title, e.BaseRev, e.SendBefore = title, page.ID, run.until
	if e.Start.IsZero() {
		e.Start = page.Now
	}
	e.Summary += fmt.Sprintf(" ([[%s|about this bot]])", b.cfg.TaskPage)
	return b.wiki.Save(ctx, *e)
}
