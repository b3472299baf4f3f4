package bot

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/bot/phrase"
)

// A request that the same user reposts word for word within repeatWithin is not answered twice. People repost if
// nothing happens for a while; after repeatWithin, they more likely want current data. Two posts in the same minute are
// both answered. Under different headings, the text must have at least repeatRunes characters, so that polite phrases
// are not mistaken for reposts.
const (
	repeatWithin = 7 * 24 * time.Hour
	repeatRunes  = 150
)

// repeats returns a reason to skip an entry that repeats an earlier request by the same user, naming that request, or
// "" if there is none. If both are open, the one noticed first is answered, and the other one waits (NotBefore).
func (b *Bot) repeats(ctx context.Context, e *Entry, p place) (string, error) {
	if e.Kind != Request || e.Author == "" || e.Time == nil || e.Forced {
		return "", nil
	}
	others, err := b.store.Entries(ctx, Filter{Page: b.page, Text: e.Text, Author: e.Author,
		States: append([]State{Posted}, openStates...)})
	if err != nil {
		return "", err
	}
	for _, o := range others {
		same := strings.EqualFold(phrase.Spaced(o.Heading), phrase.Spaced(e.Heading)) ||
			utf8.RuneCountInString(phrase.Spaced(p.comment.Text)) >= repeatRunes
		first := o.Created.Before(e.Created) || o.Created.Equal(e.Created) && o.Key < e.Key
		switch {
		case o.Key == e.Key || o.Kind != Request || !same || !first || b.now().Sub(o.Created) > repeatWithin:
		case o.Time != nil && o.Time.Equal(*e.Time):
		case o.State == Posted && (o.failed() || o.Draft != nil && o.Draft.Reply.NoAnswer != ""):
		case o.State != Posted && b.gone(ctx, p, o):
		default:
			if o.State != Posted {
				e.NotBefore = b.later(1)
			}
			return fmt.Sprintf("it repeats the request %s of the same person", o.Key), nil
		}
	}
	return "", nil
}

// gone reports whether an open entry can no longer be answered because its comment is no longer on the page.
func (b *Bot) gone(ctx context.Context, p place, o *Entry) bool {
	_, _, present, err := b.find(ctx, p.view, o)
	return err == nil && !present
}
