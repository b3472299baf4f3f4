package bot_test

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/bot"
)

// Even if replies are posted without review, a reply that fails a check waits for the operator. It is posted once the
// operator approves it.
func TestHeldForTheOperator(t *testing.T) {
	w := started(t)
	w.solver.says = "It is Felix, aged 12."
	w.round()
	w.want("Cats:proposed")
	w.wantReplies("Cats", 0)
	e := w.entries()[0]
	if !strings.HasPrefix(e.Reason, "held for the operator: ") || !strings.Contains(e.Reason, `the name "Felix"`) {
		t.Errorf("reason %q", e.Reason)
	}
	w.round()
	w.want("Cats:proposed")
	if _, err := bot.Approve(t.Context(), w.store, w.clock.now(), e.Key, "Olga"); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.want("Cats:posted")
	w.wantReplies("Cats", 1)
}
