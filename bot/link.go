package bot

import (
	"strings"

	"github.com/spinachbot/spinachbot/bot/title"
)

// Link returns the address of the reply if the wiki has reported one, otherwise of the entry's thread, on the wiki with
// the given address of api.php; see [title.Link].
func (e *Entry) Link(api string) string {
	_, page := SplitPage(e.Page)
	anchor := e.Heading
	if _, id, ok := strings.Cut(e.Anchor, "#"); ok { // the reply itself
		anchor = id
	}
	return title.Link(api, page, anchor)
}
