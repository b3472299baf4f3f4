// Package digest summarizes for the operator what happened during a period, as text and as a section of a wiki page.
package digest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Digest describes for the operator what happened during a period.
type Digest struct {
	From, To  time.Time
	Posted    []*bot.Entry // replies that were posted
	Thanked   []*bot.Entry // someone thanked us for the reply
	Corrected []*bot.Entry // someone else's query in the thread returns a different result
	Refused   []*bot.Entry // someone rejected the reply, struck it out or removed it
	Undone    []*bot.Entry // posted replies that the operator withdrew
	Returned  []*bot.Entry // noticed follow-ups: someone responded to a reply
	Rejected  []*bot.Entry // by the operator
	GaveUp    []*bot.Entry
	Skipped   int          // comments that were judged not to be requests
	Waiting   []*bot.Entry // replies that were waiting for the operator at the end of the period
	Queued    int          // requests not started because the day's replies are all reserved
	Open      int          // other requests in progress
}

// New returns a digest of the changes between two times. Waiting lists the replies that are waiting now.
func New(entries []*bot.Entry, from, to time.Time) *Digest {
	d := &Digest{From: from, To: to}
	within := func(t time.Time) bool { return !t.Before(from) && t.Before(to) || t.Equal(to) }
	for _, e := range entries {
		switch {
		case e.State == bot.Proposed:
			d.Waiting = append(d.Waiting, e)
		case e.State == bot.Noticed && e.Queued:
			d.Queued++
		case e.State.Open():
			d.Open++
		}
		if e.Kind == bot.FollowUp && within(e.Created) && e.State != bot.Skipped {
			d.Returned = append(d.Returned, e)
		}
		d.received(e, within)
		if e.Undone != nil && within(e.Undone.At) {
			d.Undone = append(d.Undone, e)
		}
		changes := e.Changes()
		last := changes[len(changes)-1]
		if !within(last.At) {
			continue
		}
		switch last.To {
		case bot.Posted:
			d.Posted = append(d.Posted, e)
		case bot.Rejected:
			d.Rejected = append(d.Rejected, e)
		case bot.GaveUp:
			d.GaveUp = append(d.GaveUp, e)
		case bot.Skipped:
			d.Skipped++
		}
	}
	for _, list := range [][]*bot.Entry{d.Posted, d.Thanked, d.Corrected, d.Refused, d.Undone, d.Returned, d.Rejected,
		d.GaveUp, d.Waiting} {
		slices.SortStableFunc(list, func(a, b *bot.Entry) int {
			return cmp.Compare(a.Updated.UnixNano(), b.Updated.UnixNano())
		})
	}
	return d
}

// received adds an entry to the list for each kind of reaction that its reply got. If the operator removed the reply,
// its absence is not a reaction.
func (d *Digest) received(e *bot.Entry, within func(time.Time) bool) {
	thanked, refused := false, false
	for _, r := range e.Receptions {
		if within(r.At) {
			thanked = thanked || r.Verdict == bot.Thanked
			refused = refused || r.Verdict != bot.Thanked && (r.Verdict != bot.Removed || e.Undone == nil)
		}
	}
	if thanked {
		d.Thanked = append(d.Thanked, e)
	}
	if refused {
		d.Refused = append(d.Refused, e)
	}
	if s := e.Solution; s != nil && within(s.At) && !s.Same && s.Failed == "" {
		d.Corrected = append(d.Corrected, e)
	}
}

func (d *Digest) counts() string {
	text := fmt.Sprintf("%d posted, %d thanked, %d corrected, %d refused, %d undone, %d came back, %d rejected, "+
		"%d given up, %d skipped, %d waiting", len(d.Posted), len(d.Thanked), len(d.Corrected), len(d.Refused),
		len(d.Undone), len(d.Returned), len(d.Rejected), len(d.GaveUp), d.Skipped, len(d.Waiting))
	if d.Queued > 0 {
		text += fmt.Sprintf(", %d not begun (today's replies are spoken for)", d.Queued)
	}
	return text
}

func (d *Digest) groups() []struct {
	Title string
	List  []*bot.Entry
	Why   bool   // show each entry's reason
	Next  string // what the operator can do about the entries
} {
	return []struct {
		Title string
		List  []*bot.Entry
		Why   bool
		Next  string
	}{{"Waiting for you", d.Waiting, true, " (spinachbot ledger review)"}, {"Posted", d.Posted, false, ""},
		{"Thanked", d.Thanked, false, ""}, {"Corrected by another query", d.Corrected, false, ""},
		{"Refused, struck out or removed", d.Refused, false, ""}, {"Taken back by the operator", d.Undone, false, ""},
		{"Came back to a reply", d.Returned, false, ""}, {"Rejected by the operator", d.Rejected, true, ""},
		{"Given up", d.GaveUp, true, " (spinachbot ledger retry ID)"}}
}

const dayFormat = "2006-01-02 15:04"

// Text returns the digest as plain text. link returns the address of an entry's thread; spent is the cost for the
// period.
func (d *Digest) Text(spent string, link func(*bot.Entry) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "SpinachBot, %s to %s UTC\n", d.From.UTC().Format(dayFormat), d.To.UTC().Format(dayFormat))
	fmt.Fprintf(&b, "%s, %d in progress; spent: %s\n", d.counts(), d.Open, spent)
	for _, g := range d.groups() {
		for i, e := range g.List {
			if i == 0 {
				fmt.Fprintf(&b, "\n%s%s\n", g.Title, g.Next)
			}
			fmt.Fprintf(&b, "  %s  %s\n", e.Key, text.OneLine(text.Clean(e.Author+": "+e.Heading)))
			if g.Why && e.Reason != "" {
				fmt.Fprintf(&b, "    %s\n", text.OneLine(text.Clean(e.Reason)))
			}
			fmt.Fprintf(&b, "    %s\n", link(e))
		}
	}
	return b.String()
}

// Wikitext returns the digest as a section of a wiki page. It does not ping anyone, and it escapes text written by
// others. It reports which check held a reply back, but leaves out all other reasons, which operators and services
// wrote, and the headings of removed posts.
func (d *Digest) Wikitext(spent string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "== %s ==\n", d.To.UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "%s; spent: %s.\n", d.counts(), forum.Plain(spent, 100))
	for _, g := range d.groups() {
		for i, e := range g.List {
			if i == 0 {
				fmt.Fprintf(&b, "; %s\n", g.Title)
			}
			line := forum.Plain(e.Heading, 200)
			if line == "" || e.Lapsed {
				line = e.Key
			}
			fmt.Fprintf(&b, ": %s%s\n", line, heldBy(e))
		}
	}
	return b.String()
}

// heldBy returns what was wrong with a waiting reply, or "" if it was not held by a check.
func heldBy(e *bot.Entry) string {
	if e.State != bot.Proposed || e.Lapsed || e.Draft == nil || len(e.Draft.Faults) == 0 {
		return ""
	}
	return " (held: " + forum.Plain(strings.Join(e.Draft.Faults, "; "), 300) + ")"
}
