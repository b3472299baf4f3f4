package figures

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// precisions returns the precision of the dates in the first rows. Wikidata's query service returns a date that is
// known to the month as the first day of that month, and one that is known to the year as January 1 (Wikibase RDF dump
// format, "Time"). Columns without such days are not looked up.
func (f Finder) precisions(ctx context.Context, query string, t *kg.Table, rows int) ([]reply.Figure, error) {
	var out []reply.Figure
	for _, c := range columns(query, t, firstDays) {
		subjects := c.subjects(t, rows)
		if len(subjects) == 0 {
			continue
		}
		found, err := f.Graph.Query(ctx, fmt.Sprintf(`SELECT ?s ?v ?precision WHERE {
  VALUES ?s { wd:%[2]s }
  ?s p:%[1]s ?st . ?st ps:%[1]s ?v ; psv:%[1]s ?node . ?node wikibase:timePrecision ?precision .
}`, c.property, strings.Join(subjects, " wd:")))
		if err != nil {
			return out, err
		}
		for i, row := range t.Rows[:min(rows, len(t.Rows))] {
			if p := precision(found, c.of(t, row), row[c.index].Value); p > 0 {
				out = append(out, reply.Figure{Column: t.Vars[c.index], Row: i, Precision: p})
			}
		}
	}
	return out, nil
}

// firstDays reports whether a column contains the first day of a month.
func firstDays(t *kg.Table, i int) bool {
	for _, row := range t.Rows {
		if i < len(row) && row[i].Datatype == rdf.XSDDateTime && strings.HasSuffix(row[i].Value, "-01T00:00:00Z") {
			return true
		}
	}
	return false
}

// precision returns the precision of a subject's date, or 0 if it is not known or its statements disagree.
func precision(found *kg.Table, subject, date string) int {
	only := 0
	for _, row := range found.Rows {
		if len(row) < 3 || rdf.EntityID(row[0].Value) != subject || row[1].Value != date {
			continue
		}
		p, err := strconv.Atoi(row[2].Value)
		if err != nil || only > 0 && only != p {
			return 0
		}
		only = p
	}
	return only
}
