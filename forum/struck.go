package forum

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// strikes are the elements that strike out text; templates that do so begin with one of struckTemplates.
var (
	strikes         = []string{"s", "del", "strike"}
	struckTemplates = map[string]bool{"s": true, "strike": true, "del": true, "strikethrough": true}
)

// StruckOut reports whether the first line of a comment's wikitext, or the part before its first template, is struck
// out: people strike out a reply there and leave its signature.
func StruckOut(text string) bool {
	line, _, _ := strings.Cut(strings.TrimLeft(text, ":*# \t\n"), "\n")
	low := strings.ToLower(strings.TrimLeft(line, "' "))
	for _, tag := range strikes {
		if strings.HasPrefix(low, "<"+tag+">") || strings.HasPrefix(low, "<"+tag+" ") {
			return true
		}
	}
	name, _, found := strings.Cut(strings.TrimPrefix(low, "{{"), "|")
	return found && strings.HasPrefix(low, "{{") && struckTemplates[wikitext.CanonicalName(name)]
}
