package earlier

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Comparer compares the results of two queries on a graph.
type Comparer struct{ Graph harvest.Graph }

var _ bot.Comparer = Comparer{}

// compareWithin is the time limit for both queries together. It is longer than the 60 seconds that Wikidata's service
// allows for a query, so that the service itself reports a query that is too slow.
const compareWithin = 90 * time.Second

// maxQuery is the maximum length in bytes of someone else's query.
const maxQuery = 64 << 10

// reaches matches keywords that an unparsable query might use to access another service, and escapes that might hide
// such keywords.
var reaches = regexp.MustCompile(`(?i)service|from|load|\\u`)

// safe rejects someone else's query that must not be sent to our graph: a query that is too long, is an update, or
// makes the graph contact other hosts. A query that cannot be parsed may be sent if it is otherwise harmless.
func safe(query string) error {
	if len(query) > maxQuery {
		return kg.Errorf(kg.Refused, "it is %d bytes long, at most %d are allowed", len(query), maxQuery)
	}
	q, err := sparql.Parse(query)
	if err == nil {
		err = sparql.Guard(q, nil)
	} else if !reaches.MatchString(query) {
		err = nil
	}
	if err != nil {
		return &kg.Error{Kind: kg.Refused, Message: err.Error(), Err: err}
	}
	return nil
}

// Compare implements [bot.Comparer]. Two rows are equal if they have the same values, regardless of the names and order
// of the columns. Label columns are ignored.
func (c Comparer) Compare(ctx context.Context, ours, theirs string) (bot.Comparison, error) {
	ctx, cancel := context.WithTimeout(ctx, compareWithin)
	defer cancel()
	their, err := c.rows(ctx, theirs)
	if err != nil {
		return bot.Comparison{Slow: kg.KindOf(err) == kg.Timeout}, fmt.Errorf("their query: %w", err)
	}
	out := bot.Comparison{Theirs: len(their)}
	if ours == "" {
		return out, nil
	}
	our, err := c.rows(ctx, ours)
	if err != nil {
		return out, fmt.Errorf("our query: %w", err)
	}
	for row := range our {
		if their[row] {
			out.Common++
		}
	}
	out.Ours = len(our)
	out.Same = out.Common == out.Ours && out.Common == out.Theirs
	return out, nil
}

// rows runs a query and returns the distinct rows, each encoded as a string.
func (c Comparer) rows(ctx context.Context, query string) (map[string]bool, error) {
	query = strings.ReplaceAll(query, "[AUTO_LANGUAGE]", "en")
	if err := safe(query); err != nil {
		return nil, err
	}
	t, err := c.Graph.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, errors.New("the graph returned no result")
	}
	if t.Ask {
		return map[string]bool{fmt.Sprint(t.Boolean): true}, nil
	}
	out := map[string]bool{}
	for _, row := range t.Rows {
		out[rowText(t, row)] = true
	}
	return out, nil
}

func rowText(t *kg.Table, row []rdf.Term) string {
	var values []string
	for i, term := range row {
		if i < len(t.Vars) && strings.HasSuffix(t.Vars[i], "Label") && slices.Contains(t.Vars,
			strings.TrimSuffix(t.Vars[i], "Label")) {
			continue
		}
		values = append(values, term.String())
	}
	slices.Sort(values)
	return strings.Join(values, "\x00")
}
