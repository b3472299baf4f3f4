package testutil

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Revision is a page after one edit.
type Revision struct {
	User string
	Text string // wikitext
}

// CheckHistory checks, using only requests and revisions, whether an account did its job. requests maps each heading to
// the number of posts that need an answer. revisions is the page's whole history, oldest first. CheckHistory returns
// what is wrong: a revision by the account that does more than insert one reply, a missing reply, a superfluous reply
// at any time (even one removed later), or a reply in the wrong place.
func CheckHistory(account string, requests map[string]int, revisions []Revision) (wrong []string) {
	h := NewHistory(account)
	h.Requests = requests
	for _, r := range revisions {
		h.Add(r)
	}
	return h.Wrong()
}

// History is like [CheckHistory], but for a page that is still being edited.
type History struct {
	Requests map[string]int // number of posts that need an answer, by heading
	Posted   map[string]int // number of posted replies, by heading
	// Reply, if not nil, returns what is wrong with the text of a reply, or "" if it is correct.
	Reply func(heading, reply string) string

	account string
	signed  *regexp.Regexp
	seen    int
	text    string // the text of the last revision
	wrong   []string
}

// NewHistory returns a History that checks an account's edits.
func NewHistory(account string) *History {
	return &History{Requests: map[string]int{}, Posted: map[string]int{}, account: account,
		signed: regexp.MustCompile(`\[\[User:` + regexp.QuoteMeta(account) + `\|[^\]]*\]\][^\n]*\d\d:\d\d, \d+ \w+ \d{4} \(UTC\)`)}
}

// Text returns the text of the last revision.
func (h *History) Text() string { return h.text }

// Add checks the page's next revision.
func (h *History) Add(r Revision) {
	h.seen++
	before := h.text
	h.text = r.Text
	if r.User != h.account {
		return
	}
	say := func(format string, args ...any) {
		h.wrong = append(h.wrong, fmt.Sprintf("revision %d ", h.seen)+fmt.Sprintf(format, args...))
	}
	at, added, pure := insertion(before, r.Text)
	n := len(h.signed.FindAllString(added, -1))
	switch heading := headingAt(r.Text, at); {
	case !pure:
		say("changes more than it adds")
	case n != 1:
		say("adds %d replies", n)
	case h.Requests[heading] == 0:
		say("adds a reply under %q, where no one asked", heading)
	default:
		h.Posted[heading]++
		if h.Reply == nil {
			return
		}
		if fault := h.Reply(heading, added); fault != "" {
			say("adds a reply under %q %s", heading, fault)
		}
	}
}

// Broken returns what is already wrong and cannot be fixed by later revisions.
func (h *History) Broken() []string {
	wrong := slices.Clone(h.wrong)
	for _, heading := range slices.Sorted(maps.Keys(h.Requests)) {
		if want, got := h.Requests[heading], h.Posted[heading]; got > want {
			wrong = append(wrong, fmt.Sprintf("%d replies were posted under %q, want %d", got, heading, want))
		}
	}
	return wrong
}

// Wrong returns what is wrong with the revisions so far, assuming that no more follow.
func (h *History) Wrong() []string {
	wrong := slices.Clone(h.wrong)
	for _, heading := range slices.Sorted(maps.Keys(h.Requests)) {
		if want, got := h.Requests[heading], h.Posted[heading]; got != want {
			wrong = append(wrong, fmt.Sprintf("%d replies were posted under %q, want %d", got, heading, want))
		}
	}
	return wrong
}

// insertion returns the part of text that was inserted into before, and its position. pure is false if part of before
// is missing.
func insertion(before, text string) (at int, added string, pure bool) {
	before, text = strings.TrimRight(before, "\n"), strings.TrimRight(text, "\n")
	for at < len(before) && at < len(text) && before[at] == text[at] {
		at++
	}
	tail := before[at:]
	if len(text) < len(before) || !strings.HasSuffix(text, tail) {
		return at, "", false
	}
	return at, text[at : len(text)-len(tail)], true
}

var sectionLine = regexp.MustCompile(`(?m)^== *(.*?) *==[ \t]*$`)

// headingAt returns the heading of the section that contains an offset.
func headingAt(text string, at int) string {
	all := sectionLine.FindAllStringSubmatch(text[:at], -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}
