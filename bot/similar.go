package bot

import (
	"context"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
)

// Similar finds at most n earlier discussions that are like a question and whose query still returns rows, best first.
// It runs the queries within the endpoint's budget. Finding none is not an error.
type Similar interface {
	Similar(ctx context.Context, question string, n int) ([]agent.Example, error)
}

// maxSimilar is how many earlier discussions a reply points to.
const maxSimilar = 2

// similar looks for earlier discussions to add to the reply to a request; replies to follow-ups have none. If it fails,
// the reply is sent without them.
func (b *Bot) similar(ctx context.Context, e *Entry) []forum.Earlier {
	if b.cfg.Similar == nil || e.Kind != Request {
		return nil
	}
	found, err := guard("the search for earlier discussions", func() ([]agent.Example, error) {
		return b.cfg.Similar.Similar(ctx, e.Question, maxSimilar)
	})
	if err != nil {
		b.lg.Warn("the search for earlier discussions failed", "entry", e.Key, "error", err)
		return nil
	}
	var out []forum.Earlier
	for _, x := range found[:min(len(found), maxSimilar)] {
		out = append(out, forum.Earlier{Page: x.Page, Heading: x.Heading, Month: x.Month})
	}
	return out
}
