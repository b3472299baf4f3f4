package show

import (
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/text"
)

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// State returns an entry's state with its reason.
func State(en *bot.Entry) string {
	if en.Reason != "" {
		return string(en.State) + ": " + en.Reason
	}
	return string(en.State)
}

// Ledger shows entries.
type Ledger struct {
	Out *console.Screen
	// Width returns the terminal width in columns, or 0 if there is no terminal.
	Width func() int
	APIs  map[string]string // URLs of api.php by name in WIKIS; "" is the main wiki
}

// Link returns the URL of an entry's thread, or "" if its wiki is unknown.
func (l *Ledger) Link(en *bot.Entry) string {
	wiki, _ := bot.SplitPage(en.Page)
	return en.Link(l.APIs[wiki])
}

// maxColumns is the maximum width of running text.
const maxColumns = 100

var stateStyles = map[bot.State]console.Style{
	bot.Proposed: console.Yellow, bot.Approved: console.Cyan, bot.Posting: console.Cyan, bot.Posted: console.Green,
	bot.GaveUp: console.Red, bot.Rejected: console.Red,
}

// narrow is the width below which a request in the list is shown on separate lines.
const narrow = 80

// List lists entries. If the output is not a terminal, an entry is one line, and its link is the last column. On a
// terminal, the link is on a separate line, so that it is not truncated. On a narrow terminal, the request is on
// separate lines as well.
func (l *Ledger) List(entries []*bot.Entry) error {
	width := l.Width()
	tty, small := width > 0, width > 0 && width < narrow
	t := &console.Table{Header: []string{"ID", "STATE", "ASKED"},
		Fixed: map[int]bool{0: true, 1: true, 2: true, 3: true}}
	if !small {
		t.Header = append(t.Header, "CONF", "REQUEST")
	}
	if !tty {
		t.Header, t.Fixed[5] = append(t.Header, "LINK"), true
	}
	for _, en := range entries {
		row := []string{en.Key, string(en.State), askedAt(en, small)}
		if !small {
			row = append(row, confidenceOf(en), requestOf(en))
		}
		if !tty {
			row = append(row, l.Link(en))
		}
		t.Rows = append(t.Rows, row)
	}
	var b strings.Builder
	if err := t.Write(&b, width, func(s string) string { return l.Out.In(console.Bold, s) }); err != nil {
		return err
	}
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		if i > 0 {
			en := entries[i-1]
			line = strings.Replace(line, string(en.State), l.Out.In(stateStyles[en.State], string(en.State)), 1)
			if small {
				line += "\n  " + strings.Join(console.Wrap(requestOf(en), width-2), "\n  ")
			}
			if tty {
				line += "\n  " + l.Out.In(console.Dim, l.Link(en))
			}
		}
		if _, err := fmt.Fprintln(l.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// askedAt returns the time in a request's signature, to the minute, or only the day.
func askedAt(en *bot.Entry, day bool) string {
	switch {
	case en.Time == nil:
		return "unsigned"
	case day:
		return en.Time.UTC().Format(time.DateOnly)
	}
	return en.Time.UTC().Format("2006-01-02 15:04")
}

func confidenceOf(en *bot.Entry) string {
	if en.Draft == nil {
		return ""
	}
	return fmt.Sprintf("%.2f", en.Draft.Confidence)
}

// requestOf returns who asked, under which heading, and the reason for the entry's state.
func requestOf(en *bot.Entry) string {
	request := text.OneLine(en.Author + ": " + en.Heading)
	if en.Reason != "" {
		request += " (" + text.OneLine(en.Reason) + ")"
	}
	return request
}

// Entry shows one entry: its state with the reason, the question, and the reply as text.
func (l *Ledger) Entry(en *bot.Entry) {
	state := text.OneLine(State(en))
	between := "  "
	if w := l.Width(); w > 0 && console.Cells(en.Key+between+state) > w {
		between = "\n  "
		state = strings.Join(console.Wrap(state, w-2), "\n  ")
	}
	fmt.Fprintf(l.Out, "%s%s%s\n", l.Out.In(console.Bold, en.Key), between, l.Out.In(stateStyles[en.State], state))
	const indent = 13
	row := func(name, value string) {
		if value == "" {
			return
		}
		value = text.OneLine(value)
		if width := l.Width(); width > 0 {
			value = strings.Join(console.Wrap(value, width-indent), "\n"+strings.Repeat(" ", indent))
		}
		fmt.Fprintf(l.Out, "  %-10s %s\n", name, value)
	}
	asked := "unsigned"
	if en.Time != nil {
		asked = minute(*en.Time) + " by " + en.Author
	}
	row("thread", en.Heading)
	row("link", l.Link(en))
	row("asked", asked+map[bool]string{true: " (follow-up)"}[en.Kind == bot.FollowUp])
	row("noticed", minute(en.Created))
	if d := en.Draft; d != nil {
		row("drafted", fmt.Sprintf("%s, confidence %.2f, %s, %.4f USD", minute(d.Made), d.Confidence,
			text.Count(d.Calls, "call"), d.USD))
		if d.EditedBy != "" {
			row("edited", minute(d.Edited)+" by "+d.EditedBy)
		}
	}
	row("approved", en.ApprovedBy)
	if en.NotBefore.After(en.Updated) {
		row("not before", minute(en.NotBefore))
	}
	if en.State == bot.Posted {
		posted := minute(en.Updated)
		if en.Save != nil {
			posted = minute(en.Save.At)
		}
		if en.Rev != 0 {
			posted += fmt.Sprintf(", revision %d", en.Rev)
		}
		row("posted", posted)
	}
	if u := en.Undone; u != nil {
		removed := minute(u.At) + " by " + u.By
		if u.Rev != 0 {
			removed += fmt.Sprintf(", revision %d", u.Rev)
		}
		row("removed", removed)
	}
	if en.Starts+en.Failures+en.Saves+en.Edits > 0 {
		row("trouble", fmt.Sprintf("%d interrupted runs, %d failures, %d lost saves, %d edits by the poster", en.Starts,
			en.Failures, en.Saves, en.Edits))
	}
	l.Block("question", strings.Join(console.Wrap(text.Clean(en.Question), l.columns()), "\n"))
	if en.Draft != nil {
		l.reply(en.Draft)
	}
}

// Block shows text under a title.
func (l *Ledger) Block(title, content string) {
	if content = strings.TrimSpace(text.Clean(content)); content == "" {
		return
	}
	fmt.Fprintf(l.Out, "\n%s\n%s\n", l.Out.In(console.Bold, title), content)
}

// reply shows a draft as its readers will see it, but without the collapsed steps.
func (l *Ledger) reply(d *bot.Draft) {
	r := &d.Reply
	l.Block("reply", strings.Join(console.Wrap(firstLine(d.Wikitext), l.columns()), "\n"))
	if query := r.ShownQuery(); query != "" {
		fmt.Fprintf(l.Out, "\n  %s\n", strings.ReplaceAll(text.Clean(strings.TrimSpace(query)), "\n", "\n  "))
		fmt.Fprintf(l.Out, "\n%s\n", strings.Join(console.Wrap(text.Clean(found(r)), l.columns()), "\n"))
		l.rows(r)
	}
	for i, s := range r.Similar {
		if i == 0 {
			fmt.Fprintln(l.Out, "\nearlier discussions")
		}
		fmt.Fprintf(l.Out, "  %s\n", text.OneLine(s.Heading))
	}
	if len(r.Steps) > 0 {
		steps := fmt.Sprintf("%s: spinachbot trace show %s", text.Count(len(r.Steps), "step"), r.Marker)
		if w := l.Width(); w > 0 && console.Cells(steps) > w { // the command is kept on one line, so that it can be copied
			steps = strings.Replace(steps, ": ", ":\n", 1)
		}
		fmt.Fprintf(l.Out, "\n%s\n", steps)
	}
}

func (l *Ledger) columns() int {
	if w := l.Width(); w > 0 {
		return min(w, maxColumns)
	}
	return maxColumns
}

// firstLine returns the first paragraph of a reply as readers will see it: the text, preceded by the name of the user
// addressed.
func firstLine(wikitext string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(wikitext, ":*#"), "\n")
	line, _, _ = strings.Cut(line, "<!--")
	return html.UnescapeString(line)
}

// found describes what the query returned, and when and where it ran.
func found(r *forum.Reply) string {
	what := text.Count(max(r.Total, len(r.Rows)), "row")
	if r.Boolean != nil {
		what = map[bool]string{true: "yes", false: "no"}[*r.Boolean]
	}
	if r.RanAt.IsZero() {
		return what
	}
	return fmt.Sprintf("%s, run on %s at %s", what, r.Endpoint, minute(r.RanAt))
}

func (l *Ledger) rows(r *forum.Reply) {
	if len(r.Rows) == 0 {
		return
	}
	t := &console.Table{Header: r.Vars}
	for _, row := range r.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = text.OneLine(c.Text)
			if c.ID != "" {
				cells[i] = strings.TrimSpace(text.OneLine(c.Label) + " (" + c.ID + ")")
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	_ = t.Write(l.Out, l.Width(), func(s string) string { return l.Out.In(console.Bold, s) })
}
