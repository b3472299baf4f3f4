package release

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Graph runs queries. In production, it is implemented by internal/kg/wikidata; in tests, by internal/kg/embedded.
type Graph interface {
	Query(ctx context.Context, query string) (*kg.Table, error)
}

// Status is the state of a gold query's answer.
type Status string

// The statuses.
const (
	Same    Status = "same"    // the query returned the stored rows
	Changed Status = "changed" // it returned rows that differ from the stored ones
	Ran     Status = "ran"     // it returned rows, but none are stored for comparison
	Empty   Status = "empty"   // it returned no rows: the item can no longer be used
	Failed  Status = "failed"  // the query did not run
)

// Drift is the verification result for one item: a line of `dataset verify --json`.
type Drift struct {
	ID         string      `json:"id"`
	Status     Status      `json:"status"`
	Rows       int         `json:"rows"`
	StoredRows *int        `json:"stored_rows,omitempty"`
	Added      int         `json:"added,omitempty"`   // rows returned now but not stored
	Removed    int         `json:"removed,omitempty"` // rows stored but no longer returned
	Error      *DriftError `json:"error,omitempty"`
	MS         int64       `json:"ms"`
}

// DriftError is the reason why a query did not run. Kind is the error's kind in package kg.
type DriftError struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// OK reports whether the item can still be used.
func (d *Drift) OK() bool { return d.Status != Empty && d.Status != Failed }

// Check is an item to verify, with its stored result, if any.
type Check struct {
	ID     string
	Query  string
	Stored func() (*kg.Table, error) // nil, or returns nil, if there is no stored result
}

// Checks returns checks for golds in a harvest's folder.
func Checks(dir string, golds []Gold) []Check {
	golds = slices.Clone(golds)
	slices.SortStableFunc(golds, func(a, b Gold) int { return byPlace(a.Candidate, b.Candidate) })
	out := make([]Check, len(golds))
	for i := range golds {
		g := &golds[i]
		out[i] = Check{g.Candidate.ID, g.Query, func() (*kg.Table, error) { return Stored(dir, g) }}
	}
	return out
}

// ItemChecks returns checks for the items of a benchmark file.
func ItemChecks(items []dataset.Item) []Check {
	out := make([]Check, len(items))
	for i := range items {
		it := &items[i]
		out[i] = Check{it.ID, it.SPARQL, func() (*kg.Table, error) { return table(it) }}
	}
	return out
}

// Verify runs all queries one after another, at the graph's own pace, and calls report for each. It ends early with
// ctx's error, with an error from report, or if the graph is down or bans us; otherwise every remaining item would be
// reported as broken.
func Verify(ctx context.Context, g Graph, now func() time.Time, checks []Check, report func(Drift) error) error {
	for i := range checks {
		d, err := verify(ctx, g, now, &checks[i])
		if err != nil {
			return err
		}
		if err := report(d); err != nil {
			return err
		}
	}
	return nil
}

func verify(ctx context.Context, g Graph, now func() time.Time, c *Check) (Drift, error) {
	d := Drift{ID: c.ID}
	var stored *kg.Table
	if c.Stored != nil {
		var err error
		if stored, err = c.Stored(); err != nil {
			return d, err
		}
	}
	if stored != nil {
		n := size(stored)
		d.StoredRows = &n
	}
	if strings.TrimSpace(c.Query) == "" {
		d.Status, d.Error = Failed, &DriftError{"no_query", "the item has no query"}
		return d, nil
	}
	if err := refused(c.Query); err != nil {
		d.Status, d.Error = Failed, &DriftError{string(kg.SyntaxError), err.Error()}
		return d, nil
	}
	start := now()
	t, err := g.Query(ctx, sparql.ReplaceAutoLanguage(c.Query, "en"))
	d.MS = now().Sub(start).Milliseconds()
	switch kind := kg.KindOf(err); {
	case err == nil:
	case ctx.Err() != nil, kind == kg.Down, kind == kg.Banned, kind == kg.RateLimited, kind == "":
		return d, err
	default:
		d.Status, d.Error = Failed, &DriftError{string(kind), err.Error()}
		return d, nil
	}
	d.Rows = size(t)
	switch {
	case t.Empty():
		d.Status = Empty
	case stored == nil:
		d.Status = Ran
		return d, nil
	case harvest.HashRows(t) == harvest.HashRows(stored):
		d.Status = Same
		return d, nil
	default:
		d.Status = Changed
	}
	if stored != nil {
		d.Added, d.Removed = compare(stored, t)
		if d.Status == Changed && d.Added == 0 && d.Removed == 0 {
			d.Status = Same // only the column order differs
		}
	}
	return d, nil
}

// refused returns an error if a query must not be sent anywhere.
func refused(query string) error {
	q, err := sparql.Parse(query)
	if err != nil {
		return err
	}
	return sparql.Guard(q, harvest.AllowedService)
}

func size(t *kg.Table) int {
	if t.Ask {
		return 1
	}
	return len(t.Rows)
}

// compare treats the tables as bags of rows and counts the rows that are in only one of them. Cells are matched by
// variable name, and all blank nodes are equal.
func compare(before, after *kg.Table) (added, removed int) {
	if before.Ask || after.Ask {
		if before.Ask != after.Ask || before.Boolean != after.Boolean {
			return size(after), size(before)
		}
		return 0, 0
	}
	count := map[string]int{}
	for _, k := range keys(before) {
		count[k]--
	}
	for _, k := range keys(after) {
		count[k]++
	}
	for _, n := range count {
		if n > 0 {
			added += n
		} else {
			removed -= n
		}
	}
	return added, removed
}

func keys(t *kg.Table) []string {
	order := make([]int, len(t.Vars))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(t.Vars[a], t.Vars[b]) })
	out := make([]string, len(t.Rows))
	var b strings.Builder
	for i, row := range t.Rows {
		b.Reset()
		for _, c := range order {
			if c >= len(row) || !row[c].Bound() {
				continue // unbound cells are absent, as in the JSON form
			}
			v := row[c]
			if v.Kind == rdf.BlankKind {
				v.Value = "b"
			}
			b.WriteString(t.Vars[c] + "=" + v.String() + "\x00")
		}
		out[i] = b.String()
	}
	return out
}

// Summary counts statuses. It is the last line of `dataset verify --json`, under the key summary.
type Summary struct {
	Items  int            `json:"items"`
	Status map[Status]int `json:"status"`
	Errors map[string]int `json:"errors,omitempty"` // errors of failed queries, by kind
}

// Add counts one item.
func (s *Summary) Add(d Drift) {
	if s.Status == nil {
		s.Status, s.Errors = map[Status]int{}, map[string]int{}
	}
	s.Items++
	s.Status[d.Status]++
	if d.Error != nil {
		s.Errors[d.Error.Kind]++
	}
}

// OK reports whether every item can still be used.
func (s *Summary) OK() bool { return s.Status[Empty] == 0 && s.Status[Failed] == 0 }

// MarshalJSON writes {"summary":{…}}.
func (s Summary) MarshalJSON() ([]byte, error) {
	type plain Summary
	return json.Marshal(map[string]plain{"summary": plain(s)})
}
