package earlier

import (
	"context"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/harvest"
)

// list reads the ledger's solved requests, unless they were read recently.
func (s *Finder) list(ctx context.Context) error {
	now := s.now()
	if s.own != nil && now.Sub(s.listed) < listAgain {
		return nil
	}
	own := &harvest.Similar{}
	if s.Ledger != nil {
		entries, err := s.Ledger(ctx)
		if err != nil {
			return err
		}
		for _, c := range solved(entries, s.Wiki) {
			own.Add(&c)
		}
	}
	s.own, s.listed = own, now
	return nil
}

// solved returns the requests in the ledger from one wiki that were answered with rows, as candidates like those in a
// harvest. If people corrected a reply, the candidate contains their query. A reply that was rejected, struck out or
// removed is omitted.
func solved(entries []*bot.Entry, wiki string) []dataset.Candidate {
	corrected := map[string]string{}
	for _, c := range bot.Corrections(entries, "") {
		corrected[c.Entry.Key] = c.Theirs
	}
	var out []dataset.Candidate
	for _, e := range entries {
		its, title := bot.SplitPage(e.Page)
		if e.State != bot.Posted || e.Kind != bot.Request || e.Draft == nil || its != wiki {
			continue
		}
		query := corrected[e.Key]
		if query == "" && !slices.ContainsFunc(e.Receptions, func(r bot.Reception) bool { return r.Verdict != bot.Thanked }) &&
			e.Undone == nil && e.Draft.Reply.Total > 0 {
			query = e.Draft.Turn.SPARQL
		}
		if query == "" {
			continue
		}
		when := e.Created
		if e.Time != nil {
			when = *e.Time
		}
		c := dataset.Candidate{ID: e.Key, Stage: dataset.Staged, Cleaned: strings.ReplaceAll(query, "[AUTO_LANGUAGE]", "en"),
			Result: &dataset.Result{Rows: max(1, e.Draft.Reply.Total)}}
		c.Provenance = dataset.Provenance{Page: title, Heading: e.Heading, Month: when.UTC().Format("2006-01")}
		c.Conversation.Comments = []dataset.Comment{{Author: e.Author, Text: e.Question}}
		out = append(out, c)
	}
	return out
}
