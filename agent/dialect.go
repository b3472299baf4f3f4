package agent

import (
	"strings"
)

// dialect is what the agent does with query texts.
type dialect struct{}

func newDialect(func(string) bool) dialect { return dialect{} }

func (dialect) normalForm(q string) string    { return strings.Join(strings.Fields(q), " ") }
func (dialect) check(q string) error          { return nil }
func (dialect) identifiers(q string) []string { return idsIn(q) }
func (dialect) inLanguage(q, lang string) string {
	return strings.ReplaceAll(q, "[AUTO_LANGUAGE]", lang)
}
func (dialect) trimLimit(q string) (string, bool) {
	s, ok := strings.CutSuffix(strings.TrimSpace(q), "LIMIT 10")
	return s, ok
}
func (dialect) postingForm(q string, label func(string) string) (string, error) { return q, nil }
