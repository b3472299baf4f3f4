package earlier

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Rerunner reruns queries on a graph.
type Rerunner struct {
	Source agent.Source
	Now    func() time.Time
}

var _ bot.Rerunner = Rerunner{}

// labeled is the number of rows that get labels. A reply shows that many rows of a long result.
const labeled = 20

// Rerun implements [bot.Rerunner]. If Source.Labels is nil, the result has no labels.
func (r Rerunner) Rerun(ctx context.Context, query, language string) (*agent.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, compareWithin)
	defer cancel()
	language = cmp.Or(language, "en")
	a := &agent.Answer{SPARQL: query, Ran: sparql.ReplaceAutoLanguage(query, language), RanAt: r.Now()}
	if g := r.Source.Explain; g.Statements != kg.Wikibase {
		a.Graph = &g
	}
	var err error
	// Wikidata's service caches results by query text for five minutes, so add a comment that makes the text unique.
	asked := a.Ran + "\n# again at " + a.RanAt.UTC().Format(time.RFC3339Nano)
	if a.Table, err = r.Source.Graph.Query(ctx, asked); err != nil {
		return nil, err
	}
	if a.Table == nil {
		return nil, errors.New("the graph returned no result")
	}
	a.Endpoint = a.Table.Source
	var ids []string
	for _, row := range a.Table.Rows[:min(len(a.Table.Rows), labeled)] {
		for _, term := range row {
			if id := rdf.EntityID(term.Value); term.IsIRI() && id != "" {
				ids = append(ids, id)
			}
		}
	}
	if r.Source.Labels != nil && len(ids) > 0 {
		if a.Labels, err = r.Source.Labels.Labels(ctx, ids, []string{language, "mul", "en"}); err != nil {
			return nil, err
		}
	}
	return a, nil
}
