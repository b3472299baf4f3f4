package digest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/digest"
)

func TestDigest(t *testing.T) {
	now := time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)
	hour := func(n int) time.Time { return now.Add(time.Duration(-n) * time.Hour) }
	entry := func(key string, state bot.State, created, changed int, reason string) *bot.Entry {
		return &bot.Entry{Key: key, Page: "Forum", Heading: "About " + key + " [[x]] {{y}}", Author: "Ann", Kind: bot.Request,
			State: state, Reason: reason, Created: hour(created), Updated: hour(changed),
			History: []bot.Change{{At: hour(changed), To: state, Reason: reason}}}
	}
	entries := []*bot.Entry{
		entry("posted", bot.Posted, 30, 3, ""), entry("old", bot.Posted, 90, 50, ""),
		entry("waits", bot.Proposed, 70, 60, "waits for approval"), entry("no", bot.Rejected, 9, 8, "wrong ~~~~ <b>"),
		entry("gone", bot.GaveUp, 9, 7, "removed"), entry("chat", bot.Skipped, 5, 5, "not a request"),
		entry("new", bot.Noticed, 1, 1, "")}
	for _, why := range []string{"waits: today's replies are spoken for",
		"waits: today's replies are spoken for by drafts that nobody has approved yet"} {
		later := entry("later", bot.Noticed, 1, 1, why)
		later.Queued = true
		entries = append(entries, later)
	}
	entries[0].Kind = bot.FollowUp // noticed before the period, so it is not listed as a response
	back := entry("back", bot.Accepted, 2, 2, "")
	back.Kind = bot.FollowUp
	entries[0].Receptions = []bot.Reception{{Verdict: bot.Thanked, At: hour(2)}, {Verdict: bot.Struck, At: hour(1)}}
	entries[1].Receptions = []bot.Reception{{Verdict: bot.Thanked, At: hour(40)}} // before the time
	entries[1].Solution = &bot.Solution{By: "Ben", SPARQL: "SELECT", At: hour(2)}
	entries[1].Undone = &bot.Undone{By: "Op", At: hour(2)} // so a missing reply is not counted as a rejection
	entries[1].Receptions = append(entries[1].Receptions, bot.Reception{Verdict: bot.Removed, At: hour(1)})
	entries[2].Draft = &bot.Draft{Faults: []string{"the figure \"63 [[y]]\" is neither in the result nor in the query", "it is long"}}
	d := digest.New(append(entries, back), hour(24), now)
	keys := func(list []*bot.Entry) (out string) {
		for _, e := range list {
			out += " " + e.Key
		}
		return strings.TrimSpace(out)
	}
	for name, got := range map[string][2]string{"posted": {keys(d.Posted), "posted"}, "waiting": {keys(d.Waiting), "waits"},
		"rejected": {keys(d.Rejected), "no"}, "thanked": {keys(d.Thanked), "posted"},
		"refused": {keys(d.Refused), "posted"}, "undone": {keys(d.Undone), "old"}, "corrected": {keys(d.Corrected), "old"}, "given up": {keys(d.GaveUp), "gone"}, "returned": {keys(d.Returned), "back"}} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", name, got[0], got[1])
		}
	}
	if d.Skipped != 1 || d.Open != 2 || d.Queued != 2 {
		t.Errorf("%d skipped, %d in progress, %d not begun", d.Skipped, d.Open, d.Queued)
	}
	text := d.Text("$1.25 of $5.00", func(e *bot.Entry) string { return e.Link("https://wiki.example/w/api.php") })
	for _, want := range []string{"2026-11-21 20:00 to 2026-11-22 20:00 UTC", "1 posted, 1 thanked, 1 corrected, 1 refused, " +
		"1 undone, 1 came back, 1 rejected, 1 given up, 1 skipped, 1 waiting, 2 not begun (today's replies are spoken for), 2 in progress; spent: $1.25 of $5.00", "\nWaiting for you (spinachbot ledger review)\n  waits  Ann: About waits [[x]]",
		"    wrong ~~~~ <b>\n    https://wiki.example/wiki/Forum#About_no"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	// The wikitext escapes other people's text and does not quote other pages or removed posts.
	entries[4].Lapsed = true
	wiki := d.Wikitext("$1.25")
	for _, bad := range []string{"[[", "{{", "~~~", "<b>", "wrong", "(removed)", "About gone"} {
		if strings.Contains(wiki, bad) {
			t.Errorf("the wikitext holds %s:\n%s", bad, wiki)
		}
	}
	if !strings.HasPrefix(wiki, "== 2026-11-22 ==\n1 posted, 1 thanked") || !strings.Contains(wiki, " (held: the figure ") ||
		!strings.Contains(wiki, "in the query; it is long)\n") {
		t.Errorf("the wikitext:\n%s", wiki)
	}
}
