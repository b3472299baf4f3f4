package harvest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/forum"
)

// candidates converts a page's threads to candidates whose Stage is Found.
func (h *Harvest) candidates(t *task, revision int64, page *forum.Page) []dataset.Candidate {
	out := make([]dataset.Candidate, 0, len(page.Threads))
	taken := map[string]bool{}
	read := h.Now().UTC().Truncate(time.Second)
	for i := range page.Threads {
		th := &page.Threads[i]
		c := dataset.Candidate{
			Schema: dataset.CandidateSchema, ID: identity(h.o.Wiki, t.Title, th, taken), Stage: dataset.Found,
			Provenance: dataset.Provenance{
				Wiki: h.o.Wiki, Page: t.Title, Revision: revision, Section: i + 1, Heading: th.Heading,
				Permalink: permalink(h.o.Wiki, revision, th.Anchor), URL: pageURL(h.o.Wiki, t.Title), Month: t.Month,
				Read: read, License: dataset.License,
			},
		}
		conv := th.Conversation(h.o.Bots...)
		c.Conversation = conversation(th, &conv)
		c.Queries = make([]dataset.Query, 0, len(conv.Queries))
		for _, q := range conv.Queries {
			c.Queries = append(c.Queries, dataset.Query{Kind: q.Kind, SPARQL: q.SPARQL, Comment: q.Comment,
				Author: q.Author, Bot: q.Bot, Salvaged: q.Salvaged, URL: q.URL})
		}
		out = append(out, c)
	}
	return out
}

func conversation(th *forum.Thread, conv *forum.Conversation) dataset.Conversation {
	out := dataset.Conversation{
		Requester: conv.Requester, Responses: conv.Responses, Thanked: conv.Thanked, Resolved: conv.Resolved,
		Comments: make([]dataset.Comment, len(th.Comments)),
	}
	if conv.Asked != nil {
		out.Asked = conv.Asked.UTC()
	}
	for i := range th.Comments {
		m := &th.Comments[i]
		out.Comments[i] = dataset.Comment{Level: m.Level, Text: m.Text}
		if m.Author != nil {
			out.Comments[i].Author = *m.Author
		}
		if m.Time != nil {
			out.Comments[i].Time = m.Time.UTC()
		}
	}
	return out
}

// identity returns a discussion's ID. It is derived from the wiki, the page, and the ID of the first comment (author
// and time, or a hash of the text if unsigned), so it survives new replies and heading changes. If several discussions
// have the same first comment, the later discussions are distinguished by their headings and then by their order.
func identity(wiki, page string, th *forum.Thread, taken map[string]bool) string {
	first := "empty\x00" + th.Heading
	if len(th.Comments) > 0 {
		first = th.Comments[0].ID
	}
	key := wiki + "\x00" + page + "\x00" + first
	for n := 0; ; n++ {
		sum := sha256.Sum256([]byte(key))
		id := "c-" + hex.EncodeToString(sum[:8])
		if !taken[id] {
			taken[id] = true
			return id
		}
		key += "\x00" + th.Heading + "\x00" + strconv.Itoa(n)
	}
}

// script returns the URL of the wiki's index.php, which is in the same folder as its api.php, and the URL of its pages:
// /wiki/ if api.php is in /w/, as on Wikimedia's wikis, and otherwise index.php?title=.
func script(api string) (index, article string) {
	base, ok := strings.CutSuffix(api, "api.php")
	if !ok {
		return api, api + "?title="
	}
	if root, ok := strings.CutSuffix(base, "/w/"); ok {
		return base + "index.php", root + "/wiki/"
	}
	return base + "index.php", base + "index.php?title="
}

// permalink returns the URL of a section in a revision.
func permalink(api string, revision int64, anchor string) string {
	index, _ := script(api)
	u := index + "?oldid=" + strconv.FormatInt(revision, 10)
	if anchor != "" {
		u += "#" + (&url.URL{Fragment: strings.ReplaceAll(anchor, " ", "_")}).EscapedFragment()
	}
	return u
}

// pageURL returns the URL of the given page, written as in the SPINACH dataset: slashes and colons in the title are not
// escaped.
func pageURL(api, title string) string {
	_, article := script(api)
	return article + strings.NewReplacer("%2F", "/", "%3A",
		":").Replace(url.PathEscape(strings.ReplaceAll(title, " ", "_")))
}
