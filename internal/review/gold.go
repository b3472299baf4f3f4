package review

import (
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Gold is what is known to be right.
type Gold struct {
	SPARQL string // a query, "" for none
	Answer string // its result, as lines; "" for none
}

// Find returns the item of a benchmark with an ID or, in any spelling of white space, a question.
func Find(items []dataset.Item, asked string) (dataset.Item, error) {
	for _, it := range items {
		if it.ID == asked {
			return it, nil
		}
	}
	for _, it := range items {
		if strings.EqualFold(text.Fold(it.Question), text.Fold(asked)) {
			return it, nil
		}
	}
	return dataset.Item{}, fmt.Errorf("there is no question with the ID or the words %q", text.Clip(asked, 80))
}

// GoldOf returns what an item says is right.
func GoldOf(it dataset.Item) Gold {
	g := Gold{SPARQL: it.SPARQL}
	if q, err := sparql.Parse(it.SPARQL); err == nil { // as the model's query will be shown at the end
		g.SPARQL = strings.TrimSpace(q.String())
	}
	if b, ok := it.Boolean(); ok {
		g.Answer = fmt.Sprint(b)
	}
	rows, _ := it.Bindings()
	columns := it.Columns(rows)
	for i, row := range rows {
		if i == mostRows {
			g.Answer += fmt.Sprintf("… and %s\n", text.Count(len(rows)-i, "more row"))
			break
		}
		var cells []string
		for _, c := range columns {
			cells = append(cells, strings.TrimPrefix(text.OneLine(row[c].Value), rdf.Entity))
		}
		g.Answer += strings.Join(cells, "  ") + "\n"
	}
	g.Answer = strings.TrimSpace(g.Answer)
	return g
}

// mostRows is how many rows of the right answer are shown.
const mostRows = 10
