// Package figures finds the units and dates of the numbers in a result, and the precision of its dates. A query for
// Wikidata's direct values returns none of these, because they are parts of statements.
package figures

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Graph runs queries on Wikidata.
type Graph interface {
	Query(ctx context.Context, query string) (*kg.Table, error)
}

// Finder finds units, dates and precisions. It runs one query per column of numbers, for at most [maxColumns] columns,
// and one per column of dates that may be less exact than a day. Other numbers, such as sums, get a unit if all the
// statements that they are computed from have the same unit.
type Finder struct{ Graph Graph }

var _ bot.Figures = Finder{}

const (
	maxColumns = 3
	within     = 20 * time.Second // for all of the queries
	noUnit     = "Q199"           // the number one
	yearly     = 9                // precision of a date that is exact to the year
)

// column is a column of a result that contains values of a property.
type column struct {
	index     int
	property  string
	subject   string // name of the variable that the values belong to, or an item's ID
	qualifier string // the qualifier, on the property's statements, that holds the values, or ""
}

// Find returns the units and dates of the numbers in the first rows of a result, and the precision of its dates, by
// column, in the given language. Columns for which it finds none of these are left out. Even if there is an error, Find
// returns what it found.
func (f Finder) Find(ctx context.Context, a *agent.Answer, rows int, language string) ([]reply.Figure, error) {
	if a.Table == nil || a.Table.Ask {
		return nil, nil
	}
	t := &kg.Table{Vars: a.Table.Vars, Rows: reply.Rows(a)}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var out []reply.Figure
	direct := columns(a.SPARQL, t, numeric)
	for _, c := range direct {
		subjects := c.subjects(t, rows)
		if len(subjects) == 0 {
			continue
		}
		found, err := f.Graph.Query(ctx, statements(c.property, subjects, language))
		if err != nil {
			return out, err
		}
		for i, row := range t.Rows[:min(rows, len(t.Rows))] {
			subject := c.of(t, row)
			if fig, ok := match(found, subject, row[c.index].Value, language); ok {
				fig.Column, fig.Row = t.Vars[c.index], i
				out = append(out, fig)
			}
		}
	}
	asked := len(direct)
	for i, name := range t.Vars {
		isDirect := slices.ContainsFunc(direct, func(c column) bool { return c.index == i })
		if isDirect || asked >= maxColumns || !numeric(t, i) {
			continue
		}
		asked++
		unit, err := f.sharedUnit(ctx, a.SPARQL, name, language)
		if err != nil {
			return out, err
		}
		for row := range t.Rows[:min(rows, len(t.Rows))] {
			if unit != "" {
				out = append(out, reply.Figure{Column: name, Row: row, Unit: unit})
			}
		}
	}
	dates, err := f.precisions(ctx, a.SPARQL, t, rows)
	return append(out, dates...), err
}

// columns returns the columns that contain direct values of a property and satisfy suits.
func columns(query string, t *kg.Table, suits func(t *kg.Table, column int) bool) []column {
	q, err := sparql.Parse(query)
	if err != nil {
		return nil
	}
	var out []column
	seen := map[int]bool{}
	sparql.Inspect(q, func(n sparql.Node) bool {
		x, ok := n.(*sparql.Triples)
		if !ok {
			return true
		}
		subject := x.Subject.Name
		if x.Subject.Kind == sparql.Const {
			subject = rdf.EntityID(x.Subject.Value().Value)
		}
		for _, p := range x.Properties {
			id, direct := strings.CutPrefix(p.Path.IRI(), rdf.Direct)
			for _, o := range p.Objects {
				i := slices.Index(t.Vars, o.Name)
				if !direct || o.Kind != sparql.Var || i < 0 || seen[i] || subject == "" || !suits(t, i) {
					continue
				}
				if x.Subject.Kind == sparql.Var && !slices.Contains(t.Vars, subject) || len(out) == maxColumns {
					continue
				}
				seen[i] = true
				out = append(out, column{index: i, property: id, subject: subject})
			}
		}
		return true
	})
	return out
}

func numeric(t *kg.Table, i int) bool {
	for _, row := range t.Rows {
		if i < len(row) && row[i].Value != "" {
			d := row[i].Datatype
			return d == rdf.XSDDecimal || d == rdf.XSDInteger || d == rdf.XSDDouble
		}
	}
	return false
}

// of returns the ID of the item that a row's value belongs to.
func (c column) of(t *kg.Table, row []rdf.Term) string {
	if i := slices.Index(t.Vars, c.subject); i >= 0 {
		return rdf.EntityID(row[i].Value)
	}
	return c.subject
}

func (c column) subjects(t *kg.Table, rows int) []string {
	seen := map[string]bool{}
	for _, row := range t.Rows[:min(rows, len(t.Rows))] {
		if id := c.of(t, row); strings.HasPrefix(id, "Q") {
			seen[id] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// statements returns a query for the items' statements with the property.
func statements(property string, subjects []string, language string) string {
	return fmt.Sprintf(`SELECT ?s ?v ?unit ?symbol ?name ?when ?precision WHERE {
  VALUES ?s { wd:%[2]s }
  ?s p:%[1]s ?st . ?st ps:%[1]s ?v .
  OPTIONAL { ?st psv:%[1]s ?node . ?node wikibase:quantityUnit ?unit .
    OPTIONAL { ?unit wdt:P5061 ?symbol . FILTER(LANG(?symbol) IN ("mul", "en", %[3]q)) }
    OPTIONAL { ?unit rdfs:label ?name . FILTER(LANG(?name) IN ("mul", "en", %[3]q)) } }
  OPTIONAL { ?st pq:P585 ?when .
    OPTIONAL { ?st pqv:P585 ?date . ?date wikibase:timeValue ?when ; wikibase:timePrecision ?precision . } }
}`, property, strings.Join(subjects, " wd:"), cmp.Or(language, "en"))
}

// match finds the unit and date of a subject's statement with the given value. If several statements match, it leaves
// out what they disagree on.
func match(t *kg.Table, subject, value, language string) (fig reply.Figure, ok bool) {
	at := func(row []rdf.Term, name string) rdf.Term {
		if i := slices.Index(t.Vars, name); i >= 0 && i < len(row) {
			return row[i]
		}
		return rdf.Term{}
	}
	units, dates, names := map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, row := range t.Rows {
		if rdf.EntityID(at(row, "s").Value) != subject || !equal(at(row, "v").Value, value) {
			continue
		}
		units[rdf.EntityID(at(row, "unit").Value)] = true
		when := at(row, "when").Value
		if p, err := strconv.Atoi(at(row, "precision").Value); err == nil && p < yearly {
			when = "" // the date is a whole decade or century
		}
		dates[when] = true
		if s := at(row, "symbol"); s.Value != "" {
			names[s.Lang] = s.Value
		}
		if s := at(row, "name"); s.Value != "" {
			names["name "+s.Lang] = s.Value
		}
	}
	delete(units, "") // ignore statements whose unit is not in the graph
	for id := range units {
		if len(units) == 1 && id != noUnit {
			fig.Unit = unitName(id, names, language)
		}
	}
	fig.Unlike = len(units) > 1 || units[noUnit]
	if len(dates) == 1 {
		for d := range dates {
			if year, _, ok := strings.Cut(d, "-"); ok && len(year) == 4 {
				fig.Year = year
			}
		}
	}
	return fig, fig.Unit != "" || fig.Year != "" || fig.Unlike
}

func equal(a, b string) bool {
	x, ok := new(big.Rat).SetString(a)
	y, also := new(big.Rat).SetString(b)
	return ok && also && x.Cmp(y) == 0
}
