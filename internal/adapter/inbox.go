package adapter

import (
	"context"
	"fmt"
	"sync"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
)

// Inbox gives the bot access to a wiki's notifications and links.
type Inbox struct {
	Client  *mediawiki.Client
	Account string // without the namespace

	mu         sync.Mutex
	asked      bool
	extensions []string // the wiki's extensions
}

var _ bot.Inbox = (*Inbox)(nil)

// Calls lists the unread notifications about comments addressed to the account.
func (i *Inbox) Calls(ctx context.Context) ([]bot.Call, error) {
	has, err := i.has(ctx, "Echo")
	if err != nil {
		return nil, err
	}
	if !has {
		return nil, bot.ErrNoInbox
	}
	list, err := i.Client.Notifications(ctx, "mention", "edit-user-talk", "dt-subscribed-new-comment")
	if mediawiki.CodeOf(err) == "permissiondenied" {
		return nil, fmt.Errorf("%w: give the bot password or the consumer the right to read notifications: %w",
			bot.ErrNoInbox, err)
	}
	if err != nil {
		return nil, err
	}
	out := make([]bot.Call, len(list))
	for k, n := range list {
		out[k] = bot.Call{ID: n.ID, Title: n.Title, Namespace: n.Namespace, Rev: n.RevID, By: n.Agent}
	}
	return out, nil
}

// Heard marks notifications as read.
func (i *Inbox) Heard(ctx context.Context, ids []string) error { return i.Client.MarkRead(ctx, ids) }

// blockMarker is the template that starts a conversation with the bot.
const blockMarker = "Template:Spinachbot top"

// Naming lists the pages that link to the account's user page or contain the marker.
func (i *Inbox) Naming(ctx context.Context) ([]bot.PageState, error) {
	linking, err := i.Client.Linking(ctx, "User:"+i.Account, nil)
	if err != nil {
		return nil, err
	}
	using, err := i.Client.Using(ctx, blockMarker, nil)
	if err != nil {
		return nil, err
	}
	return states(append(linking, using...)), nil
}

// States looks up pages by title.
func (i *Inbox) States(ctx context.Context, titles []string) ([]bot.PageState, error) {
	found, err := i.Client.States(ctx, titles)
	return states(found), err
}

// states converts the pages to the bot's type and drops duplicates.
func states(list []mediawiki.PageState) []bot.PageState {
	var out []bot.PageState
	known := map[string]bool{}
	for _, p := range list {
		if !known[p.Title] {
			known[p.Title] = true
			out = append(out, bot.PageState{Title: p.Title, Namespace: p.Namespace, Rev: p.RevID, MovedTo: p.MovedTo})
		}
	}
	return out
}
