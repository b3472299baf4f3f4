package bot

import (
	"context"
	"errors"
	"strings"

	"github.com/spinachbot/spinachbot/forum"
)

// Topics is a wiki's own discussion parser. An adapter around internal/mediawiki implements it.
type Topics interface {
	// Follow finds a comment as the wiki's parser sees it, by the comment's name and, if parent is not empty, its parent's
	// name. It subscribes to the comment's topic and returns the wiki's ID for the comment, for use in links, or "" if the
	// wiki does not recognize it. It returns [ErrNoTopics] if the wiki does not parse discussions.
	Follow(ctx context.Context, title, heading, name, parent string) (id string, err error)
}

// ErrNoTopics means that the wiki does not parse discussions.
var ErrNoTopics = errors.New("the wiki has no discussion tools")

// maxFollows is the maximum number of times that the bot asks the wiki for the ID of a reply.
const maxFollows = 3

// follow records the wiki's own ID for one of our replies and subscribes to its topic, so that the bot is notified of
// new comments there. Nothing depends on this. If it fails, the bot retries a few times when it reads the page again.
func (b *Bot) follow(ctx context.Context, e *Entry, p place, quiet func() (bool, error)) (changed bool, err error) {
	if b.cfg.Topics == nil || e.Anchor != "" || e.Follows >= maxFollows {
		return false, nil
	}
	t, reply := forum.FindReply(p.view.page, p.view.rev.Text, e.Key, b.cfg.Account)
	if reply == nil {
		return false, nil
	}
	if no, err := quiet(); err != nil || no {
		return false, err
	}
	parent := ""
	if strings.HasPrefix(reply.Parent, "c-") {
		parent = baseID(reply.Parent)
	}
	id, err := b.cfg.Topics.Follow(ctx, b.title, t.Heading, baseID(reply.ID), parent)
	if errors.Is(err, ErrNoTopics) || ctx.Err() != nil {
		return false, nil
	}
	if err != nil {
		b.lg.Warn("the topic of a reply cannot be followed", "entry", e.Key, "err", err)
	}
	if id != "" {
		e.Anchor = b.title + "#" + id
	}
	e.Follows++
	return true, nil
}
