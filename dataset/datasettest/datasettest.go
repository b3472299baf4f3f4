// Package datasettest creates a small harvest folder for testing the steps after a harvest. The harvest contains ten
// discussions written for the tests, whose queries return rows in the built-in slice of Wikidata. They cover what
// annotators encounter: an OPTIONAL, a limit, a date, a hint and an image to trim, a list of Wikipedia articles to
// exclude, two near-duplicates, a model's suggestions, and markup that must remain plain text.
package datasettest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
)

// seed is a discussion from which [Candidates] creates a candidate.
type seed struct {
	month, heading, asked, replied, query, trimmed string
	flags                                          []dataset.Flag
	near                                           int // 1-based number of the candidate that is nearly identical
	precise, natural                               string
	verdict                                        dataset.Verdict
	reasons, tell                                  []string
}

// ID returns the ID of the nth candidate, counting from 1.
func ID(n int) string { return fmt.Sprintf("c-%016x", n) }

const labels = "  SERVICE wikibase:label { bd:serviceParam wikibase:language \"[AUTO_LANGUAGE],en\" . }\n"

var seeds = []seed{
	{month: "2018-03", heading: "Landlocked countries of Africa",
		asked:   "Which countries of Africa have no coast? I would like their capitals, too.",
		replied: "Here you are. A capital is not always stated.\n\n[query]",
		query:   "SELECT ?country ?countryLabel ?capital ?capitalLabel WHERE {\n  ?country wdt:P31 wd:Q123480 ;\n           wdt:P30 wd:Q15 .\n  OPTIONAL { ?country wdt:P36 ?capital . }\n" + labels + "}\nORDER BY ?countryLabel",
		precise: "Which landlocked countries are in Africa? For each, also return its capital, if available, ordered by the country's name.", natural: "Which African countries have no coast, and what are their capitals, if known? Sort by name.", verdict: dataset.Include},
	{month: "2018-03", heading: "Highest mountain in Pakistan",
		asked: "What is the highest peak of Pakistan? Border peaks count.", replied: "K2, of course: [query]",
		query:   "SELECT ?mountain ?mountainLabel ?height WHERE {\n  ?mountain wdt:P31 wd:Q8502 ;\n            wdt:P17 wd:Q843 ;\n            wdt:P2044 ?height .\n" + labels + "}\nORDER BY DESC(?height)\nLIMIT 1",
		precise: "Which mountain in Pakistan has the highest elevation above sea level? Return the mountain and its elevation.", natural: "What is the highest mountain in Pakistan, and how high is it?", verdict: dataset.Include, tell: []string{"elevation above sea level, not prominence"}},
	{month: "2019-07", heading: "German heads of government before reunification",
		asked:   "All chancellors who took office before 3 October 1990, with the dates, please.",
		replied: "[query]\nThe end is missing for those who are still there.",
		query:   "SELECT ?person ?personLabel ?start ?end WHERE {\n  ?person p:P39 ?statement .\n  ?statement ps:P39 wd:Q4970706 ;\n             pq:P580 ?start .\n  OPTIONAL { ?statement pq:P582 ?end . }\n  FILTER(?start < \"1990-10-03T00:00:00Z\"^^xsd:dateTime)\n" + labels + "}\nORDER BY ?start",
		precise: "Which people held the position of Federal Chancellor of Germany with a start before 3 October 1990? Return start and, if available, end, ordered by start.", natural: "Who were the chancellors of Germany who took office before 3 October 1990, and when did they start and, if available, end their time, in chronological order?", verdict: dataset.Include},
	{month: "2019-07", heading: "Miyazaki's films, quickly",
		asked:   "My query of the films that Hayao Miyazaki directed times out. Can it be made faster?",
		replied: "A hint helps:\n\n[query]",
		query:   "SELECT ?film ?filmLabel (MIN(YEAR(?date)) AS ?year) WHERE {\n  hint:Query hint:optimizer \"None\" .\n  ?film wdt:P57 wd:Q55400 ;\n        wdt:P577 ?date .\n" + labels + "}\nGROUP BY ?film ?filmLabel\nORDER BY ?year",
		trimmed: "SELECT ?film ?filmLabel (MIN(YEAR(?date)) AS ?year) WHERE {\n  ?film wdt:P57 wd:Q55400 ;\n        wdt:P577 ?date .\n" + labels + "}\nGROUP BY ?film ?filmLabel\nORDER BY ?year",
		flags: []dataset.Flag{{Kind: dataset.Optimization,
			Why: "a hint to the optimiser: hint:Query hint:optimizer \"None\"", Line: 2, Column: 3, Trims: true}},
		precise: "Which films were directed by Hayao Miyazaki? For each, return the earliest year of publication, ordered by year.", natural: "Which films did Hayao Miyazaki direct, and in which year did each first come out, oldest first?", verdict: dataset.Modify, reasons: []string{"the hint changes nothing in the answer"}},
	{month: "2020-01", heading: "Eight-thousanders <b>with pictures</b>",
		asked:   "Mountains of more than 8000 metres, with a picture of each.",
		replied: "[query]\n\n<script>alert(1)</script> is how I show them.",
		query:   "SELECT ?mountain ?mountainLabel ?height ?image WHERE {\n  ?mountain wdt:P31 wd:Q8502 ;\n            wdt:P2044 ?height .\n  OPTIONAL { ?mountain wdt:P18 ?image . }\n  FILTER(?height > 8000)\n" + labels + "}\nORDER BY DESC(?height)",
		trimmed: "SELECT ?mountain ?mountainLabel ?height WHERE {\n  ?mountain wdt:P31 wd:Q8502 ;\n            wdt:P2044 ?height .\n  FILTER(?height > 8000)\n" + labels + "}\nORDER BY DESC(?height)",
		flags: []dataset.Flag{{Kind: dataset.Formatting,
			Why: "an image for display: OPTIONAL { ?mountain wdt:P18 ?image . }", Line: 4, Column: 3, Trims: true}},
		precise: "Which mountains have an elevation above sea level of more than 8000 metres? Return the elevation, highest first.", natural: "Which mountains are higher than 8000 metres, and how high is each, from the highest down?", verdict: dataset.Modify, reasons: []string{"images are formatting"}},
	{month: "2020-06", heading: "Neighbours of Germany",
		asked: "Welche Länder grenzen an Deutschland, und was sind ihre Hauptstädte?", replied: "Bitte sehr: [query]",
		query:   "SELECT ?country ?countryLabel ?capital ?capitalLabel WHERE {\n  wd:Q183 wdt:P47 ?country .\n  ?country wdt:P36 ?capital .\n" + labels + "}\nORDER BY ?countryLabel",
		precise: "Which countries share a border with Germany, and what is the capital of each? Order by the country's name.",
		natural: "Which countries border Germany, and what are their capitals, in alphabetical order?",
		verdict: dataset.Include},
	{month: "2021-02", heading: "English articles on Germany's neighbours",
		asked: "Which neighbours of Germany have an article in the English Wikipedia?", replied: "[query]",
		query: "SELECT ?country ?article WHERE {\n  wd:Q183 wdt:P47 ?country .\n  ?article schema:about ?country ;\n           schema:isPartOf <https://en.wikipedia.org/> .\n}",
		flags: []dataset.Flag{{Kind: dataset.Wikimedia,
			Why: "articles of a Wikipedia: ?article schema:about ?country", Line: 3, Column: 3}},
		precise: "Which countries that share a border with Germany have an article in the English Wikipedia? Return country and article.", natural: "Which neighbours of Germany are described in the English Wikipedia?", verdict: dataset.Exclude, reasons: []string{"only about Wikipedia's articles"}},
	{month: "2021-02", heading: "Monarchs descended from Victoria",
		asked:   "Which British monarchs descend from Queen Victoria, over any number of generations?",
		replied: "[query]\nI needed a path with both parents.",
		query:   "SELECT DISTINCT ?monarch ?monarchLabel WHERE {\n  ?monarch wdt:P39 wd:Q9134365 ;\n           (wdt:P22|wdt:P25)+ wd:Q9439 .\n" + labels + "}",
		precise: "Which people who held the position of monarch of the United Kingdom are descendants of Queen Victoria through father or mother over any number of generations?", natural: "Which monarchs of the United Kingdom descend from Queen Victoria, through fathers or mothers, in any generation?", verdict: dataset.Include},
	{month: "2022-11", heading: "Egypt or Germany?",
		asked: "Do more people live in Egypt than in Germany? I would like both numbers.", replied: "[query]",
		query:   "SELECT ?country ?countryLabel ?population WHERE {\n  VALUES ?country { wd:Q79 wd:Q183 }\n  ?country wdt:P1082 ?population .\n" + labels + "}\nORDER BY DESC(?population)",
		precise: "What are the populations of Egypt and of Germany, the larger first?",
		natural: "How many people live in Egypt and in Germany, the more populous country first?",
		verdict: dataset.Include},
	{month: "2023-05", heading: "Pakistan's top mountain", asked: "Highest mountain of Pakistan?",
		replied: "That was asked before: [query]", near: 2,
		query:   "SELECT ?mountain ?height WHERE {\n  ?mountain wdt:P31 wd:Q8502 ;\n            wdt:P17 wd:Q843 ;\n            wdt:P2044 ?height .\n}\nORDER BY DESC(?height)\nLIMIT 1",
		precise: "Which mountain in Pakistan has the highest elevation above sea level? Return the mountain and its elevation.", natural: "What is Pakistan's highest mountain, and how high is it?", verdict: dataset.Exclude, reasons: []string{"nearly the same as an earlier request"}},
}

// Candidates returns the ten candidates, without results.
func Candidates() ([]dataset.Candidate, error) {
	out := make([]dataset.Candidate, len(seeds))
	for i, s := range seeds {
		page := "Wikidata:Request a query/Archive/" + strings.ReplaceAll(s.month, "-", "/")
		asked, err := time.Parse("2006-01-02 15:04", s.month+"-12 09:30")
		if err != nil {
			return nil, err
		}
		q, err := sparql.Parse(s.query)
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", i+1, err)
		}
		m := measure.Query(q)
		metrics := dataset.Metrics(m)
		ids := sparql.Identifiers(q)
		c := dataset.Candidate{
			Schema: dataset.CandidateSchema, ID: ID(i + 1),
			Provenance: dataset.Provenance{Wiki: "https://www.wikidata.org/w/api.php", Page: page,
				Revision: int64(1000 + i), Section: i%2 + 1, Heading: s.heading, Month: s.month,
				Read: asked.AddDate(1, 0, 0), License: dataset.License,
				Permalink: fmt.Sprintf("https://www.wikidata.org/w/index.php?oldid=%d#%d", 1000+i, i+1),
				URL:       "https://www.wikidata.org/wiki/" + strings.ReplaceAll(page, " ", "_")},
			Conversation: dataset.Conversation{Requester: "Ada Example", Asked: asked, Responses: 2, Thanked: true,
				Resolved: i%3 == 0, Comments: []dataset.Comment{
					{Author: "Ada Example", Time: asked, Level: 1, Text: s.asked},
					{Author: "Helpful Helen", Time: asked.Add(3 * time.Hour), Level: 2, Text: s.replied},
					{Author: "Ada Example", Time: asked.Add(4 * time.Hour), Level: 3, Text: "Thank you, that is it!"}}},
			Queries:  []dataset.Query{{Kind: "template", SPARQL: s.query, Comment: 1, Author: "Helpful Helen"}},
			Original: s.query, Cleaned: sparql.ReplaceAutoLanguage(s.query, "en"),
			Trimmed: sparql.ReplaceAutoLanguage(s.trimmed, "en"), Stage: dataset.Staged, Metrics: &metrics,
			Entities: sparql.IDs(ids, false), Properties: sparql.IDs(ids, true),
			Features: measure.Features(q), Pattern: measure.Shape(q), Flags: s.flags,
			Suggestion: &dataset.Suggestion{Model: "scripted", Precise: s.precise, Natural: s.natural,
				Verdict: s.verdict, Reasons: s.reasons, Disambiguate: s.tell},
		}
		if s.near > 0 {
			c.Near = []dataset.Near{{ID: ID(s.near), Source: "candidates", Similarity: 0.93,
				Why: "same numbers, one column more"}}
		}
		out[i] = c
	}
	return out, nil
}

// Graph answers the queries. The built-in slice implements it.
type Graph interface {
	Query(ctx context.Context, query string) (*kg.Table, error)
	Labels(ctx context.Context, ids, languages []string) (map[string]string, error)
}

// Write creates a harvest folder with the candidates and the rows that the graph returns.
func Write(ctx context.Context, dir string, g Graph) ([]dataset.Candidate, error) {
	cs, err := Candidates()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, dataset.ResultsFolder), 0o755); err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	for i := range cs {
		if err := run(ctx, dir, &cs[i], g); err != nil {
			return nil, fmt.Errorf("%s: %w", cs[i].Provenance.Heading, err)
		}
		if err := dataset.WriteCandidate(&lines, &cs[i]); err != nil {
			return nil, err
		}
	}
	total := dataset.Counts{Discussions: 14, WithQuery: 13, Valid: 12, Run: 11, Staged: len(cs),
		Rejected: map[dataset.Reason]int{dataset.NoQuery: 1, dataset.SyntaxError: 1, dataset.Timeout: 1,
			dataset.Empty: 1}}
	funnel, err := json.Marshal(dataset.Funnel{Schema: 1, Total: total,
		Years: []dataset.Counts{{Year: 2018}, {Year: 2023}}, Pages: dataset.PageCount{Listed: 6, Read: 6}})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, dataset.FunnelFile), funnel, 0o644); err != nil {
		return nil, err
	}
	return cs, os.WriteFile(filepath.Join(dir, dataset.CandidatesFile), lines.Bytes(), 0o644)
}

// run runs a candidate's query and fills in the result.
func run(ctx context.Context, dir string, c *dataset.Candidate, g Graph) error {
	t, err := g.Query(ctx, c.Cleaned)
	if err != nil {
		return err
	}
	if t.Empty() {
		return fmt.Errorf("no rows")
	}
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	name, err := dataset.ResultPath(dir, c.ID)
	if err != nil {
		return err
	}
	if err := dataset.WriteGzip(name, body); err != nil {
		return err
	}
	var parts struct {
		Results struct {
			Bindings []json.RawMessage `json:"bindings"`
		} `json:"results"`
	}
	if err := json.Unmarshal(body, &parts); err != nil {
		return err
	}
	sample, err := json.Marshal(parts.Results.Bindings[:min(20, len(parts.Results.Bindings))])
	if err != nil {
		return err
	}
	c.Result = &dataset.Result{Endpoint: "embedded", RanAt: c.Provenance.Read, MS: 12, Rows: len(t.Rows),
		Bytes: int64(len(body)), Hash: harvest.HashRows(t), Head: t.Vars, Sample: sample}
	if c.Labels, err = g.Labels(ctx, append(append([]string{}, c.Entities...), c.Properties...),
		[]string{"en"}); err != nil {
		return err
	}
	q, err := sparql.Parse(c.Cleaned)
	if err != nil {
		return err
	}
	c.Annotated = sparql.Print(q, sparql.PrintOptions{Label: func(id string) string { return c.Labels[id] }})
	return nil
}
