package show

import (
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/console"
)

// A reverted reply stays in the state "posted", but its entry shows that the reply was removed, and when.
func TestEntryRemoved(t *testing.T) {
	at := time.Date(2026, 3, 4, 9, 14, 0, 0, time.UTC)
	en := &bot.Entry{Key: "sb-1", State: bot.Posted, Created: at, Updated: at, Rev: 5}
	show := func() string {
		var b strings.Builder
		l := &Ledger{Out: console.New(&b, nil), Width: func() int { return 0 }}
		l.Entry(en)
		return b.String()
	}
	if got := show(); strings.Contains(got, "removed") {
		t.Errorf("not removed:\n%s", got)
	}
	en.Undone = &bot.Undone{By: "Olga", At: at.Add(time.Hour), Rev: 6}
	if got := show(); !strings.Contains(got, "  removed    2026-03-04 10:14 UTC by Olga, revision 6\n") {
		t.Errorf("removed:\n%s", got)
	}
	en.Undone.Rev = 0 // it was already gone
	if got := show(); !strings.Contains(got, "  removed    2026-03-04 10:14 UTC by Olga\n") {
		t.Errorf("already gone:\n%s", got)
	}
}
