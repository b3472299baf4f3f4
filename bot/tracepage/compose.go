package tracepage

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/message"
)

// Limits on a page. They are low because people read the page; the trajectory contains the whole run.
const (
	maxPage  = 100_000 // bytes
	maxSeen  = 2500    // characters of an action's observation
	maxAsked = 1500    // characters of an action's argument, and of the question
	maxSaid  = 1000    // characters of a thought
	maxName  = 60
	// bytes reserved for the end of a page
	reserve = 500
)

// marker returns the HTML comment that identifies an entry's page.
func marker(key string) string { return "<!-- spinachbot-steps:" + key + " -->" }

type composer struct {
	t    *message.Texts
	b    strings.Builder
	hide []string
}

// compose returns the steps of an entry's reply as wikitext without headings. All text written by others is escaped, so
// that it remains plain text and notifies no one. The strings in hide do not appear in the result.
func compose(e *bot.Entry, hide []string) string {
	c := &composer{t: forum.Texts(e.Draft.Reply.Language), hide: hide}
	reply := c.t.Text("trace_reply")
	if e.Rev > 0 {
		reply = "[[Special:Diff/" + strconv.FormatInt(e.Rev, 10) + "|" + reply + "]]"
	}
	c.line(marker(e.Key) + c.t.Text("trace_about", "reply", reply))
	c.block(c.t.Text("trace_question"), e.Draft.Turn.Question, maxAsked)
	for i, s := range e.Draft.Turn.Steps {
		before := c.b.Len()
		text := c.b.String()
		c.step(i+1, s)
		if c.b.Len() > maxPage-reserve {
			c.b.Reset()
			c.b.WriteString(text[:before])
			c.line(c.t.Text("steps_more", "count", len(e.Draft.Turn.Steps)-i))
			break
		}
	}
	return strings.TrimRight(c.b.String(), "\n")
}

// gone returns the text of a trace page whose steps have been removed.
func gone(e *bot.Entry, at time.Time) string {
	language := ""
	if e.Draft != nil {
		language = e.Draft.Reply.Language
	}
	t := forum.Texts(cmp.Or(language, e.Language))
	return marker(e.Key) + t.Text("trace_gone", "date", t.Date(at))
}

func (c *composer) line(s string) { c.b.WriteString(s + "\n\n") }

func (c *composer) step(n int, s agent.Step) {
	c.line("'''" + c.t.Text("trace_step", "number", n) + "'''")
	if thought := forum.Plain(c.shown(s.Thought), maxSaid); thought != "" {
		c.b.WriteString(": ''" + c.t.Text("trace_thought") + "'' " + thought + "\n")
	}
	c.b.WriteString(": ''" + c.t.Text("trace_action") + "'' " + forum.Plain(c.shown(s.Action), maxName) + "\n")
	argument := s.Argument
	if lines := event.ArgumentLines(argument); lines != nil || strings.TrimSpace(argument) == "{}" {
		argument = strings.Join(lines, "\n") // arguments of a native call
	}
	c.pre(argument, maxAsked)
	if s.Observation != "" {
		c.b.WriteString(": ''" + c.t.Text("trace_seen") + "''\n")
		c.pre(s.Observation, maxSeen)
	}
	c.b.WriteString("\n")
}

// block writes a title with preformatted text below it.
func (c *composer) block(title, s string, limit int) {
	c.line("'''" + title + "'''")
	c.pre(s, limit)
	c.b.WriteString("\n")
}

// pre writes multi-line text preformatted, truncated to limit characters.
func (c *composer) pre(s string, limit int) {
	s = strings.Trim(c.shown(s), "\n")
	if strings.TrimSpace(s) == "" {
		return
	}
	cut := ""
	if n := utf8.RuneCountInString(s); n > limit {
		s = string([]rune(s)[:limit])
		cut = "\n" + c.t.Text("trace_cut", "count", n-limit)
	}
	c.b.WriteString(`<pre dir="auto">` + escape(s) + cut + "</pre>\n")
}

// shown returns s without the secrets in hide.
func (c *composer) shown(s string) string {
	for _, secret := range c.hide {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "…")
		}
	}
	return s
}

// escape replaces every character that could be markup in any context with a numeric entity, which both of MediaWiki's
// parsers treat as text, in <pre> and elsewhere. Control characters and characters that change the text direction are
// omitted.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d', r == utf8.RuneError:
		case strings.ContainsRune(`&<>{}[]|~'_=:*#;!-("@`, r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
