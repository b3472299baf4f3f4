package figures

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// precisions returns the precision of the dates in the first rows. Wikidata's query service returns a date that is
// known only to the month as the first day of that month, and one that is known only to the year as January 1 (Wikibase
// RDF dump format, "Time"). Columns without such days are not looked up.
func (f Finder) precisions(ctx context.Context, query string, t *kg.Table, rows int) ([]reply.Figure, error) {
	var out []reply.Figure
	for _, c := range append(columns(query, t, firstDays), ofStatements(query, t)...) {
		subjects := c.subjects(t, rows)
		if len(subjects) == 0 {
			continue
		}
		kind, property := "ps", c.property
		if c.qualifier != "" {
			kind, property = "pq", c.qualifier
		}
		found, err := f.Graph.Query(ctx, fmt.Sprintf(`SELECT DISTINCT ?s ?v ?precision WHERE {
  VALUES ?s { wd:%[1]s }
  ?s p:%[2]s ?st . ?st %[3]s:%[4]s ?v ; %[3]sv:%[4]s ?node .
  ?node wikibase:timeValue ?v ; wikibase:timePrecision ?precision .
}`, strings.Join(subjects, " wd:"), c.property, kind, property))
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

// ofStatements returns the columns that contain the first day of a month and are values or qualifiers of statements
// whose items are in the result, as in ?x p:P463 ?s . ?s pq:P580 ?date.
func ofStatements(query string, t *kg.Table) []column {
	q, err := sparql.Parse(query)
	if err != nil {
		return nil
	}
	nodes := map[string]column{} // statements, by variable
	each := func(f func(subject *sparql.Term, predicate, object string)) {
		sparql.Inspect(q, func(n sparql.Node) bool {
			if x, ok := n.(*sparql.Triples); ok {
				for _, p := range x.Properties {
					for _, o := range p.Objects {
						if o.Kind == sparql.Var {
							f(x.Subject, p.Path.IRI(), o.Name)
						}
					}
				}
			}
			return true
		})
	}
	each(func(subject *sparql.Term, predicate, object string) {
		id, ok := strings.CutPrefix(predicate, rdf.Prop)
		switch {
		case !ok || !rdf.ValidID(id):
		case subject.Kind == sparql.Const:
			nodes[object] = column{property: id, subject: rdf.EntityID(subject.Value().Value)}
		case slices.Contains(t.Vars, subject.Name):
			nodes[object] = column{property: id, subject: subject.Name}
		}
	})
	var out []column
	each(func(subject *sparql.Term, predicate, object string) {
		c, known := nodes[subject.Name]
		i := slices.Index(t.Vars, object)
		if subject.Kind != sparql.Var || !known || i < 0 || !firstDays(t, i) || len(out) == maxColumns {
			return
		}
		c.index = i
		if id, ok := strings.CutPrefix(predicate, rdf.Prop+"qualifier/"); ok && rdf.ValidID(id) {
			c.qualifier = id
			out = append(out, c)
		} else if predicate == rdf.Prop+"statement/"+c.property {
			out = append(out, c)
		}
	})
	return out
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
