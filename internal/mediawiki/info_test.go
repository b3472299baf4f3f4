package mediawiki

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/text"
)

// AbuseFilter's default message is longer than the excerpt that an error shows, so the filter's name must come first.
func TestLongMessageKeepsTheFilter(t *testing.T) {
	var e apiError
	e.Info = strings.Repeat("This action has been automatically identified as harmful. ", 20)
	e.AbuseFilter = &struct {
		ID          any      `json:"id"`
		Description string   `json:"description"`
		Actions     []string `json:"actions"`
	}{7, "No robots", []string{"disallow"}}
	shown := text.Clip(text.OneLine("wiki: save \"Wikidata:Request a query\": abusefilter-disallowed ("+oneLine(e.info())), 300)
	if !strings.Contains(shown, "Filter 7, No robots, actions disallow") {
		t.Errorf("%q", shown)
	}
}
