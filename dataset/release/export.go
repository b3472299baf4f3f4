package release

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// Formats are the names of the formats in which a benchmark file can be written.
var Formats = []string{"spinach", "grasp", "qald"}

// Write writes items in one of [Formats]; for GRASP, queries are ported to QLever. name is the benchmark's name, which
// only QALD's format stores.
func Write(w io.Writer, format, name string, items []dataset.Item) error {
	switch format {
	case "spinach":
		return dataset.WriteSPINACH(w, items)
	case "grasp":
		return dataset.WriteGRASP(w, forQLever(items))
	case "qald":
		return dataset.WriteQALD(w, name, items)
	}
	return fmt.Errorf("there is no format %q; use %s", format, strings.Join(Formats, ", "))
}

// forQLever ports queries to QLever, on which GRASP runs them: it declares prefixes and replaces the label service with
// statements. The annotated query is stored in info as wdqs_sparql. A query that QLever cannot run is left unchanged,
// with the reason in info as not_on_qlever.
func forQLever(items []dataset.Item) []dataset.Item {
	out := slices.Clone(items)
	for i := range out {
		it := &out[i]
		it.Info = maps.Clone(it.Info)
		if it.Info == nil {
			it.Info = map[string]json.RawMessage{}
		}
		w, err := rewrite.Query(it.SPARQL, rewrite.QLever, rewrite.Options{Language: "en"})
		if err != nil {
			it.Info["not_on_qlever"] = text(err.Error())
			continue
		}
		it.Info["wdqs_sparql"] = text(it.SPARQL)
		it.SPARQL = strings.TrimSpace(w.Text)
	}
	return out
}

func text(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`) // encoding a string never fails
	}
	return b
}

// Items returns benchmark items, sorted by month, page, section and ID. dir is the harvest's folder, which contains the
// answers to queries whose rows are stored. Only QALD's and GRASP's formats store answers; SPINACH's evaluation runs
// the queries itself. If answers is false, Items omits them.
func Items(dir string, golds []Gold, answers bool) ([]dataset.Item, error) {
	golds = slices.Clone(golds)
	slices.SortStableFunc(golds, func(a, b Gold) int { return byPlace(a.Candidate, b.Candidate) })
	out := make([]dataset.Item, 0, len(golds))
	for i := range golds {
		it, err := item(&golds[i])
		if err != nil {
			return nil, err
		}
		if answers {
			t, err := Stored(dir, &golds[i])
			if err != nil {
				return nil, err
			}
			if t != nil {
				it.Head = t.Vars
				if it.Answers, err = rows(t); err != nil {
					return nil, fmt.Errorf("%s: %w", it.ID, err)
				}
			}
		}
		out = append(out, it)
	}
	return out, nil
}

// item makes one item. Info contains the attribution to the discussion's authors: the permanent link and the license.
func item(g *Gold) (dataset.Item, error) {
	c := g.Candidate
	responses := c.Conversation.Responses
	it := dataset.Item{ID: c.ID, Title: c.Provenance.Heading, URL: c.Provenance.URL,
		Question: strings.TrimSpace(g.Question), Language: "en",
		SPARQL: strings.TrimSpace(g.Query), Responses: &responses, Info: map[string]json.RawMessage{}}
	if _, err := sparql.Parse(it.SPARQL); err != nil {
		return it, fmt.Errorf("%s (%s): the gold query does not parse: %w", c.ID, it.Title, err)
	}
	for key, value := range map[string]any{"permalink": c.Provenance.Permalink, "month": c.Provenance.Month,
		"licence": c.Provenance.License, "modified": g.Modified, "validated": g.Validated} {
		b, err := json.Marshal(value)
		if err != nil {
			return it, err
		}
		it.Info[key] = b
	}
	return it, nil
}

// byPlace orders candidates as in the archive, oldest first, so that new harvests append theirs at the end.
func byPlace(a, b *dataset.Candidate) int {
	return slices.Compare([]string{a.Provenance.Month, a.Provenance.Page,
		fmt.Sprintf("%06d", a.Provenance.Section), a.ID},
		[]string{b.Provenance.Month, b.Provenance.Page, fmt.Sprintf("%06d", b.Provenance.Section), b.ID})
}
