package bot

import (
	"context"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/bot/title"
	"github.com/spinachbot/spinachbot/forum"
)

// PageName returns the name of a page in the ledger: its title, preceded by its wiki's name unless that is the main
// wiki. Titles cannot contain the separating bar, so pages on different wikis do not share entries, keys or notes.
func PageName(wiki, title string) string {
	if wiki == "" {
		return title
	}
	return wiki + "|" + title
}

// SplitPage splits a [PageName] into its parts.
func SplitPage(page string) (wiki, title string) {
	if wiki, title, ok := strings.Cut(page, "|"); ok {
		return wiki, title
	}
	return "", page
}

// visit describes what differs on a page where the bot was called.
type visit struct {
	own bool // the page is the account's talk page, on which every new thread is addressed to the bot
}

// at returns the bot for a page, given the page's name in the ledger. Entries for the forum page and for pages where
// the bot was called go through the same stages; only the selection of comments differs.
func (b *Bot) at(page string) *Bot {
	if page == b.page {
		return b
	}
	there := *b
	there.page = page
	_, there.title = SplitPage(page)
	there.visit = nil
	if page != PageName(b.cfg.Wiki, b.cfg.Page) {
		there.visit = &visit{own: title.OwnTalk(there.title, b.cfg.Account)}
	}
	return &there
}

// mine reports whether this bot handles a page in the ledger.
func (b *Bot) mine(page string) bool {
	wiki, _ := SplitPage(page)
	return wiki == b.cfg.Wiki && (b.cfg.Inbox != nil || page == PageName(b.cfg.Wiki, b.cfg.Page))
}

// visits returns the bots for the pages, other than the forum page, on which there is work to do; see [Bot.at].
func (b *Bot) visits(ctx context.Context) ([]*Bot, error) {
	if b.cfg.Inbox == nil {
		return nil, nil
	}
	open, err := b.store.Entries(ctx, Filter{States: openStates})
	if err != nil {
		return nil, err
	}
	var out []*Bot
	listed := map[string]bool{b.page: true}
	for _, e := range open {
		if b.mine(e.Page) && !listed[e.Page] {
			listed[e.Page] = true
			out = append(out, b.at(e.Page))
		}
	}
	return out, nil
}

// recoverVisits determines the outcome of interrupted saves on visits, and returns the visits.
func (b *Bot) recoverVisits(ctx context.Context) ([]*Bot, error) {
	pages, err := b.visits(ctx)
	if err != nil {
		return nil, err
	}
	for _, there := range pages {
		if err := there.recoverVisit(ctx); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// recoverVisit is like [Bot.recover] for a page that the round has not read yet.
func (b *Bot) recoverVisit(ctx context.Context) error {
	posting, err := b.store.Entries(ctx, Filter{Page: b.page, States: []State{Posting}})
	if err != nil || len(posting) == 0 {
		return err
	}
	v, err := b.read(ctx)
	if err != nil {
		b.lg.Warn("a page cannot be read", "page", b.page, "err", err)
		return ctx.Err()
	}
	return b.recover(ctx, v)
}

// mentionable reports whether the bot answers on a page if it is called there; see [Config].MentionPages.
func (c *Config) mentionable(s PageState) bool {
	return title.OwnTalk(s.Title, c.Account) || title.Listed(c.MentionPages, s.Title, s.Namespace)
}

// welcome reports whether the page invites us, with {{bots|allow=…}} and our name above the first heading.
func (b *Bot) welcome(v *view) bool { return forum.Welcomed(b.head(v), b.cfg.Account) }

// userDenied reports whether a user has opted out of our replies, with {{nobots}} or {{bots|deny=…}} on the user's talk
// page, or with a link on the opt-out list. If the user was renamed, both names are checked.
func (b *Bot) userDenied(ctx context.Context, author string) (bool, error) {
	if author == "" {
		return false, nil
	}
	talk, err := b.wiki.Page(ctx, "User talk:"+author)
	if err != nil {
		return false, err
	}
	names := []string{author}
	if to := forum.RenamedTo(talk.Text); to != "" && to != forum.UserName(author) {
		if talk, err = b.wiki.Page(ctx, "User talk:"+to); err != nil {
			return false, err
		}
		names = append(names, to)
	}
	denied := forum.Denied(forum.Head(talk.Text), b.cfg.Account)
	if denied || b.cfg.OptOutPage == "" {
		return denied, nil
	}
	list, err := b.wiki.Page(ctx, b.cfg.OptOutPage)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(names, func(name string) bool { return forum.Lists(list.Text, name) }), nil
}
