package reply

import (
	"regexp"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
)

// longNumber matches a number that is hard to read without separators.
var longNumber = regexp.MustCompile(`\b[1-9]\d{4,}\b(?:[.,]\d)?`)

// formatNumbers formats the long numbers in the model's text that are values in a table that the model was shown, since
// the reply's own table may not have them. Other numbers may be codes. [forum.Compose] formats those in its table.
func formatNumbers(r *forum.Reply, steps []agent.Step) {
	shown := map[string]bool{}
	for _, s := range steps {
		readNumbers(s.Observation, shown)
	}
	t := forum.Texts(r.Language)
	for _, text := range []*string{&r.Short, &r.Assumed, &r.LeftOpen} {
		*text = longNumber.ReplaceAllStringFunc(*text, func(n string) string {
			if !shown[n] {
				return n
			}
			return t.Decimal(n)
		})
	}
}

// readNumbers adds the long numbers in the tables of an observation. A table's cells are separated by vertical bars,
// and the line before its rows lists the kinds of its columns in brackets.
func readNumbers(observation string, shown map[string]bool) {
	var kinds []string
	for line := range strings.Lines(observation) {
		line = strings.TrimRight(line, "\n")
		cells := strings.Split(line, " | ")
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			kinds = strings.Split(strings.Trim(line, "[]"), " | ")
			continue
		}
		if len(cells) != len(kinds) {
			kinds = nil
			continue
		}
		for i, cell := range cells {
			if strings.HasPrefix(kinds[i], "integer") || strings.HasPrefix(kinds[i], "decimal") {
				shown[cell] = true
			}
		}
	}
}
