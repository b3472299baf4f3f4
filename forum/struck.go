package forum

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// strikes and struckTemplates are the elements and templates that strike out text.
var (
	strikes         = []string{"s", "del", "strike"}
	struckTemplates = map[string]bool{"s": true, "strike": true, "del": true, "strikethrough": true}
)

// StruckOut reports whether a comment's wikitext starts with struck-out text, in an element or a template. The rest is
// not checked, because users who strike out a reply leave its signature as is.
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
