package harvest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/forum"
)

// readTries is how often a page is read until its HTML and its wikitext are of one revision.
const readTries = 3

// read reads a page and keeps its discussions. What stood there when it was read last and does not now is gone: nothing but its place is kept of it.
func (h *Harvest) read(ctx context.Context, t *task) error {
	var found []dataset.Candidate
	p := t.Page
	p.Source = h.o.Source
	err := ErrNoPage
	if t.newest != 0 {
		found, p.Revision, err = h.discussions(ctx, t)
	}
	p.Gone = errors.Is(err, ErrNoPage)
	if p.Gone {
		p.Revision = t.newest // hidden text: not asked for again until the page moves
	} else if err != nil {
		return fmt.Errorf("%s: %w", t.Title, err)
	}
	old, err := h.Store.Discussions(ctx, t.Title)
	if err != nil {
		return err
	}
	here := map[string]bool{}
	for i := range found {
		here[found[i].ID] = true
	}
	for i := range old {
		if here[old[i].ID] {
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

// gone is what is kept of a discussion whose text was taken away: that it was there.
func gone(d *dataset.Candidate) dataset.Candidate {
	p := d.Provenance
	p.Heading, p.Permalink = "", ""
	return dataset.Candidate{Schema: d.Schema, ID: d.ID, Provenance: p, Stage: dataset.Gone, Original: "", Queries: []dataset.Query{}, Conversation: dataset.Conversation{Comments: []dataset.Comment{}}}
}

// forget drops what was worked out about a discussion.
func (h *Harvest) forget(ctx context.Context, id string) error {
	for _, kind := range []string{runNote, adviceNote} {
		if err := h.Store.Forget(ctx, kind+id); err != nil {
			return err
		}
	}
	return h.removeResult(id)
}

// discussions reads a page's threads. The error wraps ErrNoPage when there is nothing (more) to read.
func (h *Harvest) discussions(ctx context.Context, t *task) ([]dataset.Candidate, int64, error) {
	var source, rendered Text
	var note string
	for try := 1; ; try++ {
		var err error
		if source, err = h.Wiki.Wikitext(ctx, t.Title); err != nil {
			return nil, 0, err
		}
		if h.o.Source == Wikitext {
			break
		}
		rendered, err = h.Wiki.HTML(ctx, t.Title)
		if errors.Is(err, ErrNoHTML) {
			note = "read from the wikitext only: " + reason(err, ErrNoHTML)
			break
		}
		if err != nil && !errors.Is(err, ErrNoPage) {
			return nil, 0, err
		}
		if err == nil && rendered.Revision == source.Revision {
			break
		}
		if try == readTries {
			rendered = Text{}
			note = "read from the wikitext only: the HTML is of another revision"
			break
		}
	}
	opts := h.o.Forum
	var plain, page *forum.Page
	if rendered.Text != "" {
		opts.Wikitext = source.Text
		var err error
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
	return out, source.Revision, nil
}

func reason(err, sentinel error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), sentinel.Error()), ": ")
}

// differences says, for each thread of the HTML, where the wikitext reads otherwise.
func differences(html, plain *forum.Page) map[int][]string {
	out := map[int][]string{}
	if len(forum.Diff(html, plain)) == 0 {
		return out
	}
	for i := range html.Threads {
		if len(html.Threads) != len(plain.Threads) && (i >= len(plain.Threads) || html.Threads[i].Heading != plain.Threads[i].Heading) {
			out[i] = []string{fmt.Sprintf("HTML and wikitext differ: %d threads against %d on the page", len(html.Threads), len(plain.Threads))}
			continue
		}
		for _, d := range forum.Diff(&forum.Page{Threads: html.Threads[i : i+1]}, &forum.Page{Threads: plain.Threads[i : i+1]}) {
			out[i] = append(out[i], "HTML and wikitext differ: "+d)
		}
	}
	return out
}
