package reply

import (
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/internal/text"
)

// maxTopic is the maximum number of characters of the heading that an edit summary includes.
const maxTopic = 120

// Summary returns the edit summary of a reply. It links to the section, says whether the reply has a query, links to
// the page that describes the bot, and ends with the ledger key, by which the edit can be found even if the section has
// moved. The heading is untrusted: its brackets are removed, so that it cannot end the section link.
func Summary(heading, query, about, key string) string {
	harmless := strings.NewReplacer("*/", "* /", "/*", "/ *", "[", "(", "]", ")", "{", "(", "}", ")", "|", "-", "<",
		" ", ">", " ")
	topic := text.Clip(text.OneLine(harmless.Replace(heading)), maxTopic)
	task := "Reply with a query"
	if query == "" {
		task = "Reply without a query"
	}
	return fmt.Sprintf("/* %s */ %s ([[%s|about this bot]]) %s", topic, task, about, key)
}
