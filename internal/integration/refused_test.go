//go:build integration

package integration

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// sql runs SQL statements on the wiki's database.
func (w *realWiki) sql(statements ...string) {
	w.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.vars["REALWIKI_DIR"], "data", "wiki.sqlite"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(w.t.Context(), s); err != nil {
			w.t.Fatalf("%s: %v", s, err)
		}
	}
}

// filter creates an abuse filter that matches every edit by the bot, and removes earlier filters.
func (w *realWiki) filter(name, consequence, parameters string) {
	w.t.Helper()
	w.sql("DELETE FROM abuse_filter", "DELETE FROM abuse_filter_action", `INSERT INTO abuse_filter (af_id, af_pattern, af_actor, af_timestamp,
af_enabled, af_comments, af_public_comments, af_hidden, af_hit_count, af_throttled, af_deleted, af_actions, af_global, af_group)
SELECT 1, 'user_name == "SpinachBot"', actor_id, '20261101000000', 1, '', '`+name+`', 0, 0, 0, 0, '`+consequence+`', 0, 'default'
FROM actor WHERE actor_name = 'Admin'`,
		`INSERT INTO abuse_filter_action VALUES (1, '`+consequence+`', '`+parameters+`')`)
}

// gaveUp returns the ledger's line for the request with the given heading, which the bot must have abandoned.
func (w *world) gaveUp(heading string) string {
	w.t.Helper()
	out, err := w.bot(nil, "ledger", "list", "--json", "--state", "gave_up")
	if err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, heading) {
			return line
		}
	}
	return ""
}

// TestAbuseFilter makes the real extension warn about edits by the bot, disallow them, and block the bot. The bot must
// not try to evade the filter, even though repeating the edit after a warning would save it.
func TestAbuseFilter(t *testing.T) {
	t.Parallel()
	wiki, bin := startNewerWiki(t), binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	w.first()
	edits := func() (n int) {
		w.hooks.mu.Lock()
		defer w.hooks.mu.Unlock()
		for _, c := range w.hooks.calls {
			if isEdit(c) {
				n++
			}
		}
		return n
	}
	for consequence, message := range map[string]string{"warn": "abusefilter-warning", "disallow": "abusefilter-disallowed"} {
		wiki.filter("Robots that "+consequence, consequence, message)
		heading := "A filter that " + consequence
		w.alice.ask(w.page, heading, capital)
		w.hooks.reset(nil, nil)
		w.round()
		w.round()
		if n := replies(section(w.alice.text(w.page), heading)); n != 0 || edits() != 1 {
			t.Errorf("%s: %d replies, %d edits were tried, want none and one", consequence, n, edits())
		}
		if why := w.gaveUp(heading); !strings.Contains(why, "Robots that "+consequence) {
			t.Errorf("%s: the ledger does not name the filter: %s", consequence, why)
		}
	}

	wiki.filter("Robots that block", "block", "blocktalk\nindefinite\nindefinite")
	w.alice.ask(w.page, "A filter that blocks", capital)
	w.hooks.reset(nil, nil)
	first, _ := w.bot(nil, "run", "--once", "--unknown-grace", "1s")
	wiki.sql("DELETE FROM abuse_filter")
	w.alice.ask(w.page, "While blocked", capital)
	second, err := w.bot(nil, "run", "--once", "--unknown-grace", "1s")
	if err == nil || !strings.Contains(second, "block") {
		t.Errorf("blocked, the bot does not stop: %v\n%s\nthe round before:\n%s", err, second, first)
	}
	if n := replies(section(w.alice.text(w.page), "While blocked")); n != 0 {
		t.Errorf("%d replies of a blocked account", n)
	}
	wiki.sql("DELETE FROM block", "DELETE FROM block_target")
	w.round()
	if n := replies(section(w.alice.text(w.page), "While blocked")); n != 1 {
		t.Errorf("%d replies after the block, want one", n)
	}
	if n, why := replies(section(w.alice.text(w.page), "A filter that blocks")), w.gaveUp("A filter that blocks"); n == 0 && why == "" || n > 1 {
		t.Errorf("the request that caused the block has %d replies: %s", n, why)
	}
}
