package forum

import (
	"fmt"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/text"
)

const maxDiffs = 50

// Diff compares two readings of a page and describes the differences in what must be equal: threads (heading, level,
// whether resolved), comments (id, author, time, level, parent, subheading, text) and queries (kind, name, text,
// whether salvaged; for short links, the URL). At most fifty differences are described. Diff returns nil for equal
// readings.
func Diff(a, b *Page) []string {
	d := differ{}
	if len(a.Threads) != len(b.Threads) {
		d.say("%d threads against %d", len(a.Threads), len(b.Threads))
	}
	for i := 0; i < len(a.Threads) && i < len(b.Threads); i++ {
		x, y := &a.Threads[i], &b.Threads[i]
		d.at = fmt.Sprintf("thread %d %q", i+1, text.Clip(x.Heading, 60))
		if x.Heading != y.Heading {
			d.say("the heading is %q against %q", text.Clip(x.Heading, 60), text.Clip(y.Heading, 60))
			if len(a.Threads) != len(b.Threads) {
				break // everything after this differs
			}
		}
		if x.Level != y.Level {
			d.say("level %d against %d", x.Level, y.Level)
		}
		if x.Resolved != y.Resolved {
			d.say("resolved: %t against %t", x.Resolved, y.Resolved)
		}
		d.comments(x.Comments, y.Comments)
	}
	return d.said
}

type differ struct {
	at   string
	said []string
}

func (d *differ) say(format string, args ...any) {
	if len(d.said) < maxDiffs {
		s := fmt.Sprintf(format, args...)
		if d.at != "" {
			s = d.at + ": " + s
		}
		d.said = append(d.said, s)
	}
}

func (d *differ) comments(a, b []Comment) {
	at := d.at
	defer func() { d.at = at }()
	if len(a) != len(b) {
		d.say("%d comments against %d", len(a), len(b))
	}
	for i := 0; i < len(a) && i < len(b); i++ {
		x, y := &a[i], &b[i]
		d.at = fmt.Sprintf("%s, comment %d", at, i+1)
		for _, f := range []struct{ what, x, y string }{
			{"author", deref(x.Author), deref(y.Author)}, {"time", when(x.Time), when(y.Time)}, {"id", x.ID, y.ID},
			{"parent", x.Parent, y.Parent}, {"sub-heading", x.Under, y.Under},
			{"level", fmt.Sprint(x.Level), fmt.Sprint(y.Level)}, {"text", x.Text, y.Text},
		} {
			if f.x != f.y {
				p := apart(f.x, f.y)
				d.say("%s %q against %q", f.what, text.Clip(f.x[p:], 60), text.Clip(f.y[p:], 60))
			}
		}
		d.queries(x.Queries, y.Queries)
	}
}

func (d *differ) queries(a, b []Query) {
	if len(a) != len(b) {
		d.say("%d queries against %d", len(a), len(b))
	}
	for i := 0; i < len(a) && i < len(b); i++ {
		x, y := a[i], b[i]
		if x.SPARQL != "" {
			x.URL, y.URL = "", ""
		}
		if x.SPARQL != y.SPARQL {
			p := apart(x.SPARQL, y.SPARQL)
			d.say("query %d goes on %q against %q from its byte %d on", i+1, text.Clip(x.SPARQL[p:], 60),
				text.Clip(y.SPARQL[p:], 60), p)
			y.SPARQL = x.SPARQL
		}
		if x != y {
			d.say("query %d is %s %s (salvaged: %t) %s against %s %s (salvaged: %t) %s", i+1, x.Kind, x.Name,
				x.Salvaged, x.URL, y.Kind, y.Name, y.Salvaged, y.URL)
		}
	}
}

// apart returns an offset shortly before the first difference between two strings, at a character boundary in both.
func apart(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	i = max(0, i-10)
	for i > 0 && a[i]&0xC0 == 0x80 {
		i--
	}
	return i
}

func deref(s *string) string {
	if s == nil {
		return "nobody"
	}
	return *s
}

func when(t *time.Time) string {
	if t == nil {
		return "none"
	}
	return strings.TrimSuffix(t.Format(time.RFC3339), ":00Z")
}
