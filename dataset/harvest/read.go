package harvest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/forum"
)

// readTries is the maximum number of times that a page is read to get HTML and wikitext of the same revision.
const readTries = 3

// maxHTMLFailures is the number of consecutive failures after which no more HTML is requested in this run, because each
// request may take minutes, including waits.
const maxHTMLFailures = 3

// read reads a page and stores its discussions. A discussion that is no longer on the page is marked as gone; only its
// location is kept.
func (h *Harvest) read(ctx context.Context, t *task) error {
	var found []dataset.Candidate
	var heard bool
	p := t.Page
	p.Source = h.o.Source
	err := ErrNoPage
	if t.newest != 0 {
		found, p.Revision, heard, err = h.discussions(ctx, t)
	}
	switch {
	case heard:
		p.Unheard = 0
	case p.Revision != t.Revision || p.Source != t.Source:
		p.Unheard = 1
	default:
		p.Unheard++
	}
	p.Gone = errors.Is(err, ErrNoPage)
	if p.Gone {
		p.Revision = t.newest // the text is hidden; do not request it again until the page changes
	} else if err != nil {
		return &pageError{title: t.Title, err: err}
	}
	if p.Gone {
		p.Unheard = 0
	}
	old, err := h.Store.Discussions(ctx, t.Title)
	if err != nil {
		return err
	}
	here, links := map[string]*dataset.Candidate{}, map[string]bool{}
	for i := range found {
		here[found[i].ID] = &found[i]
		for _, q := range found[i].Queries {
			links[q.URL] = true
		}
	}
	for i := range old {
		if err := h.forgetLinks(ctx, &old[i], links); err != nil {
			return err
		}
		if now := here[old[i].ID]; now != nil {
			if err := h.forgetStale(ctx, &old[i], now); err != nil {
				return err
			}
			continue
		}
		if err := h.forget(ctx, old[i].ID); err != nil {
			return err
		}
		found = append(found, gone(&old[i]))
	}
	if err := h.Store.SavePage(ctx, p, found); err != nil {
		return err
	}
	t.Page = p
	return nil
}

// gone returns a record of a discussion whose text has been removed.
func gone(d *dataset.Candidate) dataset.Candidate {
	p := d.Provenance
	p.Heading, p.Permalink = "", ""
	return dataset.Candidate{Schema: d.Schema, ID: d.ID, Provenance: p, Stage: dataset.Gone, Original: "",
		Queries: []dataset.Query{}, Conversation: dataset.Conversation{Comments: []dataset.Comment{}}}
}

// forgetLinks deletes the targets of short links that were in a discussion and are no longer on its page. If another
// page contains the same link, the link is requested again.
func (h *Harvest) forgetLinks(ctx context.Context, was *dataset.Candidate, links map[string]bool) error {
	for _, q := range was.Queries {
		if q.SPARQL == "" && q.URL != "" && !links[q.URL] {
			if err := h.Store.Forget(ctx, linkNote+q.URL); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetStale deletes data derived from text that was removed from a discussion: advice, in which the model may repeat
// the text, and the outcome of a query that is no longer the candidate.
func (h *Harvest) forgetStale(ctx context.Context, was, now *dataset.Candidate) error {
	lost := was.Provenance.Heading != now.Provenance.Heading
	for _, c := range was.Conversation.Comments {
		lost = lost || !slices.ContainsFunc(now.Conversation.Comments,
			func(n dataset.Comment) bool { return n.Text == c.Text })
	}
	if lost {
		if err := h.Store.Forget(ctx, adviceNote+was.ID); err != nil {
			return err
		}
	}
	p, err := h.pick(ctx, now)
	if err != nil {
		return err
	}
	if text := clean(p.sparql).text; text != "" {
		if o, err := h.known(ctx, was.ID, text); err != nil || o != nil {
			return err
		}
	}
	return h.Store.Forget(ctx, runNote+was.ID)
}

func (h *Harvest) forget(ctx context.Context, id string) error {
	for _, kind := range []string{runNote, adviceNote} {
		if err := h.Store.Forget(ctx, kind+id); err != nil {
			return err
		}
	}
	return h.removeResult(id)
}

// discussions reads a page's threads. heard is false if the page's HTML is unavailable now but may be available later.
// If there is nothing (or nothing more) to read, the error wraps ErrNoPage.
func (h *Harvest) discussions(ctx context.Context, t *task) (list []dataset.Candidate, revision int64, heard bool,
	err error) {
	heard = true
	var source, rendered Text
	var note string
	for try := 1; ; try++ {
		if source, err = h.Wiki.Wikitext(ctx, t.Title); err != nil {
			return nil, 0, false, err
		}
		if h.o.Source == Wikitext {
			break
		}
		if h.htmlFailures >= maxHTMLFailures {
			note, heard = "read from the wikitext only: the wiki gave no HTML of the pages before", false
			break
		}
		rendered, err = h.Wiki.HTML(ctx, t.Title)
		if errors.Is(err, ErrNoHTML) {
			note, heard = "read from the wikitext only: "+reason(err, ErrNoHTMLNow, ErrNoHTML),
				!errors.Is(err, ErrNoHTMLNow)
			if !heard {
				h.htmlFailures++
				h.Log.Warn("no HTML; the next harvest asks again", "page", t.Title, "error", err)
			}
			break
		}
		if err != nil && !errors.Is(err, ErrNoPage) {
			return nil, 0, false, err
		}
		if err == nil {
			h.htmlFailures = 0
		}
		if err == nil && rendered.Revision == source.Revision {
			break
		}
		if try == readTries {
			rendered, heard = Text{}, false
			note = "read from the wikitext only: the HTML is of another revision"
			break
		}
	}
	opts := h.o.Forum
	var plain, page *forum.Page
	if rendered.Text != "" {
		opts.Wikitext = source.Text
		if page, err = forum.ParseHTML(t.Title, strings.NewReader(rendered.Text), opts); err != nil {
			page, note = nil, "read from the wikitext only: its HTML cannot be read: "+err.Error()
		}
	}
	opts.Wikitext = ""
	if page == nil || h.o.Source == Both {
		plain = forum.Parse(t.Title, source.Text, opts)
	}
	differ := make(map[int][]string)
	switch {
	case page == nil:
		page = plain
	case plain != nil:
		differ = differences(page, plain)
	}
	out := h.candidates(t, source.Revision, page)
	for i := range out {
		if note != "" {
			out[i].Notes = append(out[i].Notes, note)
		}
		out[i].Notes = append(out[i].Notes, differ[i]...)
	}
	return out, source.Revision, heard, nil
}

// reason returns an error's message without the sentinel's message at its start.
func reason(err error, sentinels ...error) string {
	text := err.Error()
	for _, s := range sentinels {
		text = strings.TrimPrefix(text, s.Error())
	}
	return strings.TrimPrefix(text, ": ")
}

// differences describes, for each thread in the HTML, how the wikitext differs.
func differences(html, plain *forum.Page) map[int][]string {
	out := map[int][]string{}
	if len(forum.Diff(html, plain)) == 0 {
		return out
	}
	for i := range html.Threads {
		if len(html.Threads) != len(plain.Threads) && (i >= len(plain.Threads) ||
			html.Threads[i].Heading != plain.Threads[i].Heading) {
			out[i] = []string{fmt.Sprintf("HTML and wikitext differ: %d threads against %d on the page",
				len(html.Threads), len(plain.Threads))}
			continue
		}
		for _, d := range forum.Diff(&forum.Page{Threads: html.Threads[i : i+1]},
			&forum.Page{Threads: plain.Threads[i : i+1]}) {
			out[i] = append(out[i], "HTML and wikitext differ: "+d)
		}
	}
	return out
}
