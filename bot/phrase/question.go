package phrase

import (
	"strings"

	"github.com/spinachbot/spinachbot/forum"
)

// Question returns a request in the poster's own words, for use if triage has not reworded it: the heading, if any, the
// text, and the queries in the text.
func Question(heading string, c *forum.Comment) string {
	parts := []string{strings.TrimSpace(c.Text)}
	if heading != "" {
		parts[0] = strings.TrimSpace(heading) + "\n" + parts[0]
	}
	for _, q := range c.Queries {
		parts = append(parts, strings.TrimSpace(q.SPARQL))
	}
	return strings.TrimSpace(strings.Join(parts, "\n\n"))
}
