package forum

import (
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/forum/escape"
)

// Earlier is an earlier discussion to which a reply links.
type Earlier struct {
	Page    string    // title of the archive page
	Heading string    // heading of the discussion, without markup
	Month   time.Time // month of the discussion
	Same    bool      // the discussion's query now returns the same rows as the reply's query
}

// maxEarlier is the maximum number of earlier discussions to which a reply links.
const maxEarlier = 2

// earlier adds the line that links to earlier discussions: "A similar request was answered in June 2021 and in March
// 2019." Each month links to the section; discussions whose pages cannot be linked safely are left out.
func (c *composer) earlier() {
	var links []string
	for _, e := range c.r.Similar {
		if link := c.earlierLink(e); link != "" && e.Same {
			c.block(c.line(c.t.Text("asked_before", "first", link)))
			return
		}
	}
	for _, e := range c.r.Similar {
		if link := c.earlierLink(e); link != "" && len(links) < maxEarlier {
			links = append(links, link)
		}
	}
	switch len(links) {
	case 0:
	case 1:
		c.block(c.line(c.t.Text("similar", "first", links[0])))
	default:
		c.block(c.line(c.t.Text("similar_two", "first", links[0], "second", links[1])))
	}
}

// earlierLink returns a link to a section of an archive page. The heading is untrusted: if it contains anything but
// plain text, the link goes to the page instead.
func (c *composer) earlierLink(e Earlier) string {
	if e.Month.IsZero() || !escape.Title(e.Page) || !strings.ContainsAny(e.Page, "/:") || strings.Contains(e.Page, "#") ||
		strings.HasPrefix(e.Page, "/") {
		return ""
	}
	target := e.Page
	if h := strings.Join(strings.Fields(e.Heading), " "); h != "" && escape.Title(h) && len(h) < 200 {
		target += "#" + h
	}
	return "[[:" + target + "|" + c.t.Month(e.Month) + "]]"
}
