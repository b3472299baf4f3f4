package bot

import (
	"strings"

	"github.com/spinachbot/spinachbot/bot/title"
)

// Link returns the URL of the reply if the wiki has reported its anchor, and otherwise of the entry's thread. api is
// the URL of the wiki's api.php; see [title.Link].
func (e *Entry) Link(api string) string {
	_, page := SplitPage(e.Page)
	anchor := e.Heading
	if _, id, ok := strings.Cut(e.Anchor, "#"); ok { // the reply itself
		anchor = id
	}
	return title.Link(api, page, anchor)
}
