package bot

import (
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
)

// postsQuery reports whether a comment contains a query or a link to one.
func (b *Bot) postsQuery(c *forum.Comment) bool {
	if len(c.Queries) > 0 {
		return true
	}
	for _, l := range c.Links {
		if reply.LinksQuery(l, b.cfg.QueryHosts) {
			return true
		}
	}
	return false
}
