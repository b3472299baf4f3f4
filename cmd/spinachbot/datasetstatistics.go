package main

import (
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// statistics gives the means of a benchmark's complexity as plain text, for its card.
func statistics(items []dataset.Item) (string, error) {
	var sum sparql.Metrics
	for _, it := range items {
		q, err := sparql.Parse(it.SPARQL)
		if err != nil {
			return "", fmt.Errorf("%s: %w", it.ID, err)
		}
		m := sparql.Measure(q)
		sum.Clauses += m.Clauses
		sum.Projections += m.Projections
		sum.Relations += m.Relations
		sum.Subjects += m.Subjects
		sum.Predicates += m.Predicates
		sum.Objects += m.Objects
		sum.Literals += m.Literals
	}
	var b strings.Builder
	n := float64(len(items))
	for _, row := range []struct {
		name string
		sum  int
	}{{"clauses", sum.Clauses}, {"projections", sum.Projections}, {"relations", sum.Relations}, {"subjects", sum.Subjects}, {"predicates", sum.Predicates}, {"objects", sum.Objects}, {"literals", sum.Literals}} {
		fmt.Fprintf(&b, "%-12s %6.2f\n", row.name, float64(row.sum)/n)
	}
	return b.String(), nil
}
