package bot

import (
	"context"
	"errors"
	"strings"

	"github.com/spinachbot/spinachbot/forum"
)

// Topics is a wiki's own reading of its discussions. internal/mediawiki implements it through an adapter.
type Topics interface {
	// Follow finds a comment by its name, and its parent's where that is not empty, in the wiki's reading of a page,
	// subscribes to its topic, and returns the wiki's ID of the comment, by which links lead to it; "" when the wiki
	// does not see it. The error is [ErrNoTopics] on a wiki without such a reading.
	Follow(ctx context.Context, title, heading, name, parent string) (id string, err error)
}

// ErrNoTopics: the wiki does not read discussions.
var ErrNoTopics = errors.New("the wiki has no discussion tools")

// maxFollows is how often a reply is looked for in the wiki's reading.
const maxFollows = 3

// follow notes the wiki's own ID of a reply of ours and subscribes to its topic, so that what people write there is
// heard. Nothing depends on it: a failure is tried again when the page is read the next time, a few times.
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
