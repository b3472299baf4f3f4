package training

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/examples"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// correction is a line of preference data made from a discussion, in the same format as lines made from runs.
type correction struct {
	Prompt   []said           `json:"prompt"`
	Chosen   []said           `json:"chosen"`
	Rejected []said           `json:"rejected"`
	Source   correctionSource `json:"source"`
}

type said struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type correctionSource struct {
	ID         string   `json:"id"`
	License    string   `json:"licence"`
	From       string   `json:"from"` // forum
	Permalink  string   `json:"permalink"`
	Page       string   `json:"page"`
	Heading    string   `json:"heading"`
	Month      string   `json:"month"`
	ChosenBy   string   `json:"chosen_by,omitempty"`
	RejectedBy string   `json:"rejected_by,omitempty"`
	Bot        bool     `json:"bot"` // the bot wrote the rejected query
	Why        string   `json:"why"` // the evidence that the chosen query is right
	Authors    []string `json:"authors,omitempty"`
}

// harvest adds the pairs from the discussions in a harvest folder: an earlier query that answered the request is
// rejected in favor of the one posted last. The discussion must have ended with thanks from the requester or been
// closed as resolved, and its last query must have run, returned rows and been posted by someone other than the bot. A
// user's earlier query is used only if it shares an ID with the last query. Queries in the request are part of the
// prompt. Discussions that were rejected, excluded by annotators or removed from the wiki do not yield pairs.
func (x *Export) harvest(ctx context.Context, path string, o Options) error {
	if o.As != transcript.AsPreference {
		return fmt.Errorf("%s is a harvest, which contains discussions and not runs: export it with --as preference", path)
	}
	candidates, err := dataset.ReadCandidatesDir(path)
	if err != nil {
		return err
	}
	var excluded map[string]bool
	if o.Excluded != nil {
		if excluded, err = o.Excluded(ctx, path); err != nil {
			return err
		}
	}
	for i := range candidates {
		if excluded[candidates[i].ID] {
			x.Out[Excluded]++
			continue
		}
		if err := x.discussion(&candidates[i], o); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

func (x *Export) discussion(c *dataset.Candidate, o Options) error {
	earlier, last := corrected(c)
	why := settled(c)
	request := requested(c)
	switch {
	case len(earlier) == 0:
		x.Out[NoPair]++
		return nil
	case why == "":
		x.Out[Unsettled]++
		return nil
	}
	if o.Not != nil {
		queries := []string{last.SPARQL, c.Cleaned}
		for _, q := range earlier {
			queries = append(queries, q.SPARQL)
		}
		if near := heldBack(o.Not, c, queries); near != "" {
			x.Out[HeldBack+string(near)]++
			return nil
		}
	}
	var authors []string
	for _, m := range c.Conversation.Comments {
		if m.Author != "" && !slices.Contains(authors, m.Author) {
			authors = append(authors, m.Author)
		}
	}
	for _, q := range earlier {
		l := correction{Prompt: []said{{"user", request}}, Chosen: []said{{"assistant", strings.TrimSpace(last.SPARQL)}},
			Rejected: []said{{"assistant", strings.TrimSpace(q.SPARQL)}}, Source: correctionSource{ID: c.ID,
				License: cmp.Or(c.Provenance.License, dataset.License), From: "forum", Permalink: c.Provenance.Permalink,
				Page: c.Provenance.Page, Heading: c.Provenance.Heading, Month: c.Provenance.Month, ChosenBy: last.Author,
				RejectedBy: q.Author, Bot: q.Bot, Why: why, Authors: authors}}
		key, err := json.Marshal([]any{l.Prompt, l.Chosen, l.Rejected})
		if err != nil {
			return err
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(l); err != nil {
			return err
		}
		x.Lines = append(x.Lines, Line{Text: b.Bytes(), From: "forum", License: l.Source.License,
			Link: c.Provenance.Permalink, key: string(key), question: request})
	}
	return nil
}

// heldBack returns the reason why a discussion is too similar to a test item, or "" if it is not.
func heldBack(not *examples.Held, c *dataset.Candidate, queries []string) examples.Reason {
	request := ""
	if len(c.Conversation.Comments) > 0 {
		request = c.Conversation.Comments[0].Text
	}
	questions := []string{request, c.Provenance.Heading + " " + request}
	if c.Suggestion != nil {
		questions = append(questions, c.Suggestion.Precise, c.Suggestion.Natural)
	}
	return not.Near(c.ID, questions, queries)
}

// settled returns the evidence that the last query is right, or "" if there is none.
func settled(c *dataset.Candidate) string {
	switch {
	case c.Stage != dataset.Staged || c.Result == nil || c.Result.Rows == 0:
		return ""
	case c.Conversation.Resolved:
		return "resolved"
	case c.Conversation.Thanked:
		return "thanked"
	}
	return ""
}

// corrected returns the last query of a discussion, and the earlier, different ones that answered the request. There
// are no earlier queries if the last query was posted by the bot or is part of the request.
func corrected(c *dataset.Candidate) (earlier []dataset.Query, last dataset.Query) {
	if len(c.Queries) == 0 {
		return nil, last
	}
	last = c.Queries[len(c.Queries)-1]
	if last.Bot || last.Comment == 0 || strings.TrimSpace(last.SPARQL) != strings.TrimSpace(c.Original) {
		return nil, last
	}
	names := named(last.SPARQL)
	seen := map[string]bool{sparql.NormalForm(last.SPARQL): true}
	for _, q := range c.Queries[:len(c.Queries)-1] {
		form := sparql.NormalForm(q.SPARQL)
		common := q.Bot || slices.ContainsFunc(named(q.SPARQL), func(id string) bool { return slices.Contains(names, id) })
		if q.Comment > 0 && q.Comment < last.Comment && common && !seen[form] {
			seen[form] = true
			earlier = append(earlier, q)
		}
	}
	return earlier, last
}

// named returns the Q and P numbers in a query, or nil if it does not parse.
func named(query string) []string {
	q, err := sparql.Parse(query)
	if err != nil {
		return nil
	}
	ids := sparql.Identifiers(q)
	return append(sparql.IDs(ids, false), sparql.IDs(ids, true)...)
}

// requested returns the text of the request, with its queries in their original positions.
func requested(c *dataset.Candidate) string {
	out := c.Provenance.Heading
	if len(c.Conversation.Comments) > 0 {
		out = strings.TrimSpace(out + "\n\n" + c.Conversation.Comments[0].Text)
	}
	for _, q := range c.Queries {
		if q.Comment != 0 {
			continue
		}
		if at := strings.Index(out, place); at >= 0 {
			out = out[:at] + "\n" + strings.TrimSpace(q.SPARQL) + "\n" + out[at+len(place):]
		}
	}
	return out
}

// place marks the position of a query in a comment's text; see [dataset.Comment].
const place = "[query]"
