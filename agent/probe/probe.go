// Package probe runs variants of a query that has a result, within a budget, and finds those that change the result.
// Package variant generates the variants. The graph is passed as a function.
package probe

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
)

// Settings are a preset's settings for probes. The zero value disables probes.
type Settings struct {
	Queries int            `json:"queries"` // maximum number of variants to run; none if 0
	Seconds int            `json:"seconds"` // maximum total time for the variants
	Off     []variant.Kind `json:"off"`     // kinds of variants that are not run
}

// On reports whether probes are enabled.
func (s Settings) On() bool { return s.Queries > 0 && s.Seconds > 0 }

// Limits of a probe.
const (
	oneTime  = 6 * time.Second // maximum time for one query
	mostRows = 900             // larger results are not compared
	// maximum number of rows that a probe fetches: as many as a trajectory keeps, so that a replayed run sees the same
	// rows
	mostFetched = 2 * render.TypedRows
	examples    = 5  // maximum number of added or removed rows shown
	classes     = 4  // maximum number of classes shown for the rows that would be added
	named       = 50 // maximum number of entities whose classes are requested
)

// Task is a query with its result and everything needed to probe it.
type Task struct {
	Settings
	Query   string    // the query as it was run
	Table   *kg.Table // its result
	Columns []string  // the answer columns, used to compare rows; all columns if empty
	Options variant.Options
	Time    time.Duration // how much of the run's remaining time probes may take; no limit if 0
	Now     func() time.Time
	Run     func(ctx context.Context, query string) (*kg.Table, error)
	Labels  func(ctx context.Context, ids []string) map[string]string // returns the labels of the IDs that have labels
	ID      func(rdf.Term) string                                     // returns the ID of a node, or ""
}

// prober is the state of a task in progress.
type prober struct {
	Task
	left  int       // number of queries left
	until time.Time // when the time budget runs out
	out   []event.Probe
}

// Run runs the variants of a query until none are left or the budget is used up. A variant that fails does not count
// as a change. If a variant takes too long or the service is down, no further variants are run. An error, such as a
// failure to write the log, ends the run.
func Run(ctx context.Context, t Task) ([]event.Probe, error) {
	if !t.On() || t.Table == nil || len(t.Table.Rows) > mostRows {
		return nil, nil
	}
	t.Options.Off = append(slices.Clip(t.Options.Off), t.Off...)
	variants, err := variant.Of(t.Query, t.Options)
	if err != nil {
		return nil, nil // the query ran, so the graph supports something that our parser does not
	}
	budget := time.Duration(t.Seconds) * time.Second
	if t.Time > 0 {
		budget = min(budget, t.Time)
	}
	p := &prober{Task: t, left: t.Queries, until: t.Now().Add(budget)}
	p.repeated()
	for _, v := range variants {
		if p.left == 0 {
			break
		}
		one, err := p.try(ctx, v)
		if event.IsWriteError(err) {
			return nil, err
		}
		p.out = append(p.out, one)
		if ctx.Err() != nil || one.Failure == kg.Timeout || one.Failure == kg.Down || one.Failure == kg.RateLimited ||
			one.Failure == kg.Banned {
			break
		}
	}
	return p.out, nil
}

// ask runs a query within the budget. If no time is left, it fails without sending the query, so that a replayed run
// stops probing at the same point as the recorded run.
func (p *prober) ask(ctx context.Context, query string) (*kg.Table, error) {
	p.left--
	ctx, cancel := context.WithTimeout(ctx, max(0, min(oneTime, p.until.Sub(p.Now()))))
	defer cancel()
	return p.Run(ctx, query)
}

// try runs a variant and compares its result with the query's.
func (p *prober) try(ctx context.Context, v variant.Variant) (event.Probe, error) {
	out := event.Probe{Kind: string(v.Kind), What: v.What, SPARQL: v.SPARQL}
	if len(v.IRI) > 0 {
		out.About = v.IRI[0]
	}
	began := p.Now()
	text, cut, err := variant.Bounded(v.SPARQL, mostFetched, p.Options.Prefixes)
	if err != nil {
		out.Failure = kg.SyntaxError
		return out, nil
	}
	t, err := p.ask(ctx, text)
	out.MS = p.Now().Sub(began).Milliseconds()
	if err != nil {
		if out.Failure = kg.KindOf(err); out.Failure == "" {
			out.Failure = kg.Timeout // our own time limit
		}
		return out, err
	}
	p.compare(v, t, cut > 0 && int64(len(t.Rows)) >= cut, &out)
	if out.Moved && v.Kind == variant.Class && v.Var != "" {
		p.classesOf(ctx, v, t, &out)
	}
	return out, nil
}

// compare finds the rows that are only in a variant's result t, and the rows that are only in the query's result. cut
// means that t may be incomplete.
func (p *prober) compare(v variant.Variant, t *kg.Table, cut bool, out *event.Probe) {
	if t.Ask || p.Table.Ask {
		if t.Ask && p.Table.Ask && t.Boolean != p.Table.Boolean {
			out.Come, out.Gone, out.Moved = 1, 1, true
		}
		return
	}
	now, was := p.columns(t)
	if len(now) == 0 || nothing(t) {
		return
	}
	rows := t.Rows
	if v.Kind == variant.Ties {
		rows = tied(t, v)
	}
	before, after := set(p.Table.Rows, was), set(rows, now)
	come, gone := without(rows, now, before), [][]rdf.Term(nil)
	if v.Effect != variant.More && !cut {
		gone = without(p.Table.Rows, was, after)
	}
	out.Before, out.Come, out.Gone, out.More = len(before), len(come), len(gone), cut
	if out.Moved = matters(v, out); out.Moved {
		vars := make([]string, len(now))
		for i, j := range now {
			vars[i] = t.Vars[j]
		}
		out.Vars = vars
		out.NewRows, out.OldRows = some(come, now), some(gone, was)
	}
}

// nothing reports whether a result is empty, that is, whether it has no rows or is a count of 0. In that case, the
// graph lacks what the variant needs.
func nothing(t *kg.Table) bool {
	return len(t.Rows) == 0 || len(t.Rows) == 1 && len(t.Vars) == 1 && t.Rows[0][0].Value == "0"
}

// columns returns the indexes of the compared columns in a variant's result and in the query's.
func (p *prober) columns(t *kg.Table) (now, was []int) {
	for j, name := range t.Vars {
		i := slices.Index(p.Table.Vars, name)
		if i >= 0 && (len(p.Columns) == 0 || slices.Contains(p.Columns, name)) {
			now, was = append(now, j), append(was, i)
		}
	}
	return now, was
}

// key returns a key for comparing rows: the row's cells in the given columns.
func key(row []rdf.Term, cols []int) string {
	var b strings.Builder
	for _, j := range cols {
		if j < len(row) {
			b.WriteString(unordered(row[j]))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// unordered returns a term as a string. The parts of a text that may come from GROUP_CONCAT are sorted, since their
// order is not defined.
func unordered(t rdf.Term) string {
	if !t.IsLiteral() || t.Lang != "" || t.Datatype != "" && t.Datatype != rdf.XSDString {
		return t.String()
	}
	parts := separator.Split(t.Value, -1)
	slices.Sort(parts)
	return strings.Join(parts, "\x00")
}

var separator = regexp.MustCompile(`\s*[,;|،、，/]\s*|\n`)

func set(rows [][]rdf.Term, cols []int) map[string]bool {
	out := make(map[string]bool, len(rows))
	for _, r := range rows {
		out[key(r, cols)] = true
	}
	return out
}

// without returns the distinct rows that are not in a set, except for rows without any value.
func without(rows [][]rdf.Term, cols []int, have map[string]bool) [][]rdf.Term {
	var out [][]rdf.Term
	seen := map[string]bool{}
	for _, r := range rows {
		valued := slices.ContainsFunc(cols, func(j int) bool { return j < len(r) && r[j].Bound() })
		if k := key(r, cols); valued && !have[k] && !seen[k] {
			seen[k] = true
			out = append(out, r)
		}
	}
	return out
}

// some returns the given columns of the first few rows.
func some(rows [][]rdf.Term, cols []int) [][]rdf.Term {
	var out [][]rdf.Term
	for _, r := range rows[:min(len(rows), examples)] {
		cells := make([]rdf.Term, len(cols))
		for i, j := range cols {
			cells[i] = r[j]
		}
		out = append(out, cells)
	}
	return out
}

// tied returns the rows after the LIMIT that have the same key as the last row before it.
func tied(t *kg.Table, v variant.Variant) [][]rdf.Term {
	n, j := int(v.N), slices.Index(t.Vars, v.Key)
	if j < 0 || n == 0 || len(t.Rows) <= n || !t.Rows[n-1][j].Bound() {
		return nil
	}
	end := n
	for end < len(t.Rows) && t.Rows[end][j] == t.Rows[n-1][j] {
		end++
	}
	return t.Rows[n:end]
}

// repeated adds a probe if the result has duplicate rows. It does not run a query.
func (p *prober) repeated() {
	if p.Table.Ask || slices.Contains(p.Options.Off, variant.Joins) {
		return
	}
	all := make([]int, len(p.Table.Vars))
	for i := range all {
		all[i] = i
	}
	if n := len(set(p.Table.Rows, all)); n < len(p.Table.Rows) {
		p.out = append(p.out, event.Probe{Kind: string(variant.Joins), What: "each different row once (DISTINCT)",
			Before: len(p.Table.Rows), Gone: len(p.Table.Rows) - n, Moved: true})
	}
}

// matters reports whether the model should see a change. The model should not see a change that shows only that the
// graph lacks a structure, that a condition is essential to the question, or that a single value is the best of
// several. The thresholds were determined with tools/probes; see docs/probes.md.
func matters(v variant.Variant, p *event.Probe) bool {
	switch {
	case p.Come+p.Gone == 0:
		return false
	case v.Effect == variant.Fewer && p.Gone == p.Before: // the graph does not use ranks or precisions
		return false
	case v.Kind == variant.Ranks && v.Effect == variant.More && p.Before == 1:
		return false
	case v.Kind == variant.Class && v.Var != "": // the class condition excludes few rows and keeps many
		return 5*p.Come <= p.Before
	case v.Effect == variant.More && v.Kind != variant.Limit:
		return p.Come <= max(10, 2*p.Before)
	}
	return true
}

// classesOf queries the graph for the classes of the entities that would be added.
func (p *prober) classesOf(ctx context.Context, v variant.Variant, t *kg.Table, out *event.Probe) {
	j := slices.Index(t.Vars, v.Var)
	now, was := p.columns(t)
	if j < 0 || p.left == 0 || len(p.Options.Types) == 0 {
		return
	}
	var values []string
	for _, r := range without(t.Rows, now, set(p.Table.Rows, was)) {
		if r[j].IsIRI() && len(values) < named {
			values = append(values, "<"+r[j].Value+">")
		}
	}
	if len(values) == 0 {
		return
	}
	table, err := p.ask(ctx, "SELECT ?class (COUNT(DISTINCT ?x) AS ?n) WHERE { VALUES ?x { "+strings.Join(values, " ")+
		" } ?x <"+p.Options.Types[0]+"> ?class } GROUP BY ?class ORDER BY DESC(?n) ?class LIMIT "+
		"10")
	if err != nil {
		return
	}
	for _, r := range table.Rows {
		if len(out.Classes) < classes && len(r) == 2 && r[0].IsIRI() && !slices.Contains(v.IRI, r[0].Value) {
			out.Classes = append(out.Classes, event.Count{Term: r[0], N: r[1].Value})
		}
	}
}

// IDs returns the IDs shown with the probes. Their labels must be looked up.
func IDs(probes []event.Probe, id func(rdf.Term) string) []string {
	var out []string
	add := func(t rdf.Term) {
		if s := id(t); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, p := range probes {
		for _, r := range slices.Concat(p.NewRows, p.OldRows) {
			for _, c := range r {
				add(c)
			}
		}
		for _, c := range p.Classes {
			add(c.Term)
		}
		for _, s := range append(render.IDs(p.What), prefixed(p.What)...) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// prefixed returns the prefixed names, such as "v:Book", that occur in a probe's texts and are not Wikibase IDs.
func prefixed(what string) []string {
	return slices.DeleteFunc(strings.Fields(strings.NewReplacer(",", " ").Replace(what)), func(w string) bool {
		_, local, ok := strings.Cut(w, ":")
		return !ok || local == "" || len(render.IDs(w)) > 0
	})
}
