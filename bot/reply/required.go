package reply

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/forum"
)

// having matches a verb with which a request demands that things have a value, in the languages with spaces.
var having = regexp.MustCompile(`(?i)(?:^|\P{L})(ha(?:ve|s|ving)|hat|haben|besitzen|ont|ayant|possèdent|tienen?|tengan?|hanno|abbiano|t[eêé]m|tenham|possuem|heeft|hebben|` +
	`maj[aą]|ma|posiadają|имеют|имеет|есть|указан[аоы]?)(?:\P{L}|$)`)

// WithoutRequired drops the readings that would add things without a value that the question demands, as in "which of
// them have a location?".
func WithoutRequired(r *forum.Reply, question string) {
	r.Open = slices.DeleteFunc(r.Open, func(o forum.Open) bool {
		return o.Kind == "missing" && (demands(question, o.ID) || demands(question, o.Name))
	})
}

// maxBetween is the maximum number of words between the verb and the value.
const maxBetween = 4

// demands reports whether a question contains a name up to four words after a verb such as "have".
func demands(question, name string) bool {
	if name == "" {
		return false
	}
	question, name = strings.ToLower(question), strings.ToLower(name)
	for _, m := range having.FindAllStringSubmatchIndex(question, -1) {
		after := strings.Fields(question[m[3]:])
		reach := len(strings.Fields(name)) + maxBetween
		if strings.Contains(strings.Join(after[:min(len(after), reach)], " "), name) {
			return true
		}
	}
	return false
}
