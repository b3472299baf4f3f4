package adapter

import (
	"context"
	"fmt"
	"slices"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
)

var _ bot.Topics = (*Inbox)(nil)

// Follow finds a comment among those that DiscussionTools recognizes on a page, and subscribes to its topic.
func (i *Inbox) Follow(ctx context.Context, title, heading, name, parent string) (string, error) {
	has, err := i.has(ctx, "DiscussionTools")
	if err != nil {
		return "", err
	}
	if !has {
		return "", bot.ErrNoTopics
	}
	comments, err := i.Client.Comments(ctx, title)
	if err != nil {
		return "", err
	}
	for _, c := range comments {
		if c.Name != name || parent != "" && c.Parent != parent {
			continue
		}
		if echo, err := i.has(ctx, "Echo"); err != nil || !echo || c.Topic == "" {
			return c.ID, err
		}
		return c.ID, i.Client.Subscribe(ctx, title, heading, c.Topic)
	}
	return "", nil
}

var _ bot.Tools = (*Inbox)(nil)

// Answer posts a reply through DiscussionTools.
func (i *Inbox) Answer(ctx context.Context, a bot.Answer) (int64, error) {
	has, err := i.has(ctx, "DiscussionTools")
	if err != nil {
		return 0, fmt.Errorf("%w: %w", bot.ErrNotSaved, err)
	}
	if !has {
		return 0, bot.ErrNoTools
	}
	s, err := i.Client.Answer(ctx, mediawiki.Answer{Title: a.Title, Name: a.Name, Text: a.Text, Summary: a.Summary,
		Token: a.Token, SendBefore: a.SendBefore})
	switch {
	case mediawiki.NoTools(err):
		return 0, fmt.Errorf("%w: %w", bot.ErrNoTools, err)
	case err != nil:
		return 0, saveError(err)
	}
	return s.RevID, nil
}

// has reports whether the wiki has an extension. It requests the list of extensions only once.
func (i *Inbox) has(ctx context.Context, extension string) (bool, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.asked {
		names, err := i.Client.Extensions(ctx)
		if err != nil {
			return false, err
		}
		i.asked, i.extensions = true, names
	}
	return slices.Contains(i.extensions, extension), nil
}
