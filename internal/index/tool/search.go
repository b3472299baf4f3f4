// Package tool builds and searches label indexes. It implements the index command, except for its flags.
package tool

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Search is one run of "index search".
type Search struct {
	Index lookup.Searcher
	Query lookup.Query // settings for every query; its Text is not used
	JSON  bool         // one line of JSON per query
	Out   *bufio.Writer
	Err   io.Writer // errors and notes, unless JSON is set

	failed error
}

// Failed returns the error from the last query that could not be answered, or nil.
func (s *Search) Failed() error { return s.failed }

// maxQuery is the maximum length of a query line in bytes.
const maxQuery = 1 << 20

// Lines answers one query per line; blank lines are skipped.
func (s *Search) Lines(ctx context.Context, r io.Reader) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxQuery)
	for sc.Scan() {
		if q := strings.TrimSpace(sc.Text()); q != "" {
			if err := s.Answer(ctx, q); err != nil {
				return err
			}
			if err := s.Out.Flush(); err != nil { // another program may be waiting for this answer
				return err
			}
		}
	}
	return sc.Err()
}

// answer is the line of JSON for one query.
type answer struct {
	Query  string `json:"query"`
	Hits   []hit  `json:"hits"`
	More   bool   `json:"more,omitempty"`
	Ranked string `json:"ranked,omitempty"`
	Note   string `json:"note,omitempty"`
	Error  string `json:"error,omitempty"`
}

type hit struct {
	IRI      string   `json:"iri"`
	Type     string   `json:"type"`
	Label    string   `json:"label"`
	Score    float64  `json:"score"`
	Aliases  []string `json:"aliases"`
	Info     string   `json:"info"`
	Uses     *int64   `json:"uses"` // null: unknown
	Language string   `json:"language"`
	Match    string   `json:"match"`
	Name     string   `json:"name"` // the label or alias that matched
	External bool     `json:"external,omitempty"`
	Likeness *float64 `json:"likeness,omitempty"`
}

// Answer answers one query. It returns an error only if ctx is done or writing fails; a query that cannot be answered
// is reported in the output.
func (s *Search) Answer(ctx context.Context, query string) error {
	q := s.Query
	q.Text = query
	p, err := s.Index.Search(ctx, q)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.failed = err
		if !s.JSON {
			_, err := fmt.Fprintf(s.Err, "spinachbot: index search: %q: %v\n", query, err)
			return err
		}
	}
	if s.JSON {
		a := answer{Query: query, Hits: []hit{}, More: p.More, Ranked: p.Ranked, Note: p.Note}
		if err != nil {
			a.Error = err.Error()
		}
		for i := range p.Hits {
			a.Hits = append(a.Hits, hitOf(&p.Hits[i]))
		}
		b, err := json.Marshal(a)
		if err != nil {
			return err
		}
		_, err = s.Out.Write(append(b, '\n'))
		return err
	}
	return s.print(query, p)
}

func hitOf(h *lookup.Hit) hit {
	out := hit{IRI: h.IRI, Type: string(h.Type), Label: h.Label, Score: h.Score, Aliases: h.Aliases,
		Info:     strings.Join(h.Infos, "; "),
		Language: h.Language, Match: string(h.Match), Name: h.Name, External: h.External}
	if out.Aliases == nil {
		out.Aliases = []string{}
	}
	if h.Uses >= 0 {
		out.Uses = &h.Uses
	}
	if h.Match == lookup.Meaning {
		out.Likeness = &h.Similarity
	}
	return out
}

// Limits on a hit as displayed.
const (
	shownAliases = 5
	shownName    = 64
	shownInfo    = 128
)

// print writes the hits in readable form: label, other names, IRI, number of uses, and description.
func (s *Search) print(query string, p lookup.Page) error {
	if p.Note != "" {
		fmt.Fprintln(s.Err, "spinachbot: index search:", p.Note)
	}
	if len(p.Hits) == 0 {
		_, err := fmt.Fprintf(s.Out, "nothing was found for %q\n", query)
		return err
	}
	for i, h := range p.Hits {
		fmt.Fprintf(s.Out, "%d. %s", s.Query.Offset+i+1, clean(h.Label, shownName))
		var also []string
		for _, a := range h.Aliases[:min(len(h.Aliases), shownAliases)] {
			also = append(also, clean(a, shownName))
		}
		if h.Name != h.Label && len(h.Aliases) > shownAliases {
			also = append(also, "…")
		}
		if len(also) > 0 {
			fmt.Fprintf(s.Out, ", also known as %s", strings.Join(also, ", "))
		}
		fmt.Fprintf(s.Out, " <%s>", clean(h.IRI, 1000))
		if h.Uses >= 0 {
			fmt.Fprintf(s.Out, ", %s", text.Count(int(h.Uses), "use"))
		}
		if len(h.Infos) > 0 {
			fmt.Fprintf(s.Out, ": %s", clean(strings.Join(h.Infos, "; "), shownInfo))
		}
		if _, err := fmt.Fprintln(s.Out); err != nil {
			return err
		}
	}
	if p.More {
		_, err := fmt.Fprintln(s.Out, "There are more; see --limit and --offset.")
		return err
	}
	return nil
}

// clean returns text from the graph on one line, shortened and without control characters.
func clean(t string, n int) string { return text.Clip(text.OneLine(text.Clean(t)), n) }
