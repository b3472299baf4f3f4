package review

import (
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Summary describes in one line how much effort a review took.
func Summary(c event.ReviewCount) string {
	out := []string{text.Count(c.Turns, "turn"), text.Count(c.Interventions, "intervention")}
	if c.Back > 0 {
		out = append(out, text.Count(c.Back, "time")+" back")
	}
	out = append(out, fmt.Sprintf("%s in, %s out", text.Count(c.Usage.InputTokens, "token"),
		text.Thousands(c.Usage.OutputTokens)))
	if c.Usage.USD > 0 {
		out = append(out, fmt.Sprintf("%.4f USD", c.Usage.USD))
	}
	who := ""
	if len(c.By) > 0 {
		who = " by " + text.OneLine(text.Clean(strings.Join(c.By, ", ")))
	}
	if c.Skipped {
		who += ", given up"
	}
	return "reviewed" + who + ": " + strings.Join(out, ", ")
}
