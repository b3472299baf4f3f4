package evalrun

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
)

// Class is an error class. Five classes are from the SPINACH paper's error analysis (section 5.4).
type Class string

// The classes. [ClassRules] lists the rules in the order in which they are tried. An item with an F1 of 1 has no class.
const (
	ServiceError   Class = "service"         // not the agent's error: a service failed
	Format         Class = "format"          // the right facts in a different form
	Exploration    Class = "exploration"     // the agent did not find what the query requires, or ran out of steps
	OverConstraint Class = "over-constraint" // an extra condition excludes correct rows
	Property       Class = "property"        // a wrong property, or a direct path instead of the statement path
	Complex        Class = "complex query"   // the right parts were combined wrongly
)

// Classes lists the classes of the agent's own errors, in the paper's order.
var Classes = []Class{Property, Complex, Exploration, OverConstraint, Format}

// ClassRules describes the rules of [Classify]; the first matching rule decides.
var ClassRules = []struct {
	Class Class
	Rule  string
}{
	{Format, "the fair F1 is 1; or one result is a truth value and the other a table; or the results differ only in the precision of dates; or one is the number of the other's rows"},
	{Complex, "no answer, and half or more of the executed queries failed (syntax, time, size)"},
	{Exploration, "other cases without an answer: limits were reached, or the search was given up"},
	{OverConstraint, "the answer has only some of the gold rows and no others, or both results are one number and the answer's is smaller; and its query has all properties of the gold query (except P31 and P279), and more triples, clauses or a LIMIT"},
	{Property, "a property of the gold query is missing (except P31 and P279); or the gold query uses statements (p:, ps:, pq:) and the answer's query only direct values"},
	{Exploration, "an item of the gold query that is not a class is missing; or a class is missing and the answer's query uses a different one"},
	{Complex, "everything else: a condition is missing, or the right parts are combined in a different way"},
}

// Verdict is the class of an item's error and the reason for it. By is "rules" or "model".
type Verdict struct {
	ID    string `json:"id"`
	Class Class  `json:"class"`
	Why   string `json:"why"`
	By    string `json:"by"`
	Of    string `json:"of,omitempty"` // hash of the request to a model
}

// Classify uses rules to assign a class to an item whose answer is wrong; steps are the steps of its trajectory. ok is
// false if the answer is right or the item is not included in averages.
func Classify(it *ItemData, metric string, steps []agent.Step) (v Verdict, ok bool) {
	s, scored := it.Score(metric)
	if !scored || s.F1 == 1 || it.Reason == skipped {
		return Verdict{}, false
	}
	v = Verdict{ID: it.ID, By: "rules"}
	v.Class, v.Why = classify(it, steps)
	return v, true
}

func classify(it *ItemData, steps []agent.Step) (Class, string) {
	if it.Error != nil {
		return ServiceError, it.Error.Kind
	}
	gold, pred := factsOf(it.GoldSPARQL), factsOf(it.SPARQL)
	if !it.Answered {
		executed, failed := executions(steps)
		if executed > 0 && 2*failed >= executed {
			return Complex, fmt.Sprintf("no answer (%s), %d of %d executed queries failed", it.Reason, failed, executed)
		}
		return Exploration, "no answer: " + it.Reason
	}
	if why := formatOnly(it); why != "" {
		return Format, why
	}
	if !gold.ok || !pred.ok {
		return Complex, "a query in a form that is not supported here"
	}
	return classifyQuery(it, gold, pred, steps)
}

// classifyQuery compares the answer's query with the gold query.
func classifyQuery(it *ItemData, gold, pred queryFacts, steps []agent.Step) (Class, string) {
	noProperty := missing(missing(gold.properties, classProperties), pred.properties)
	if len(noProperty) == 0 && fewer(it) {
		switch {
		case pred.limit && !gold.limit:
			return OverConstraint, "a LIMIT that is not asked for"
		case pred.metrics.Relations > gold.metrics.Relations:
			return OverConstraint, fmt.Sprintf("less than gold, by %d triples to gold's %d", pred.metrics.Relations,
				gold.metrics.Relations)
		case pred.metrics.Clauses > gold.metrics.Clauses:
			return OverConstraint, fmt.Sprintf("less than gold, by %d clauses to gold's %d", pred.metrics.Clauses,
				gold.metrics.Clauses)
		}
	}
	switch {
	case len(noProperty) > 0:
		return Property, "missing: " + strings.Join(noProperty, ", ")
	case gold.has("statement") && !pred.has("statement"):
		return Property, "direct values where gold uses statements"
	}
	lost := missing(gold.items, pred.items)
	things, classes := missing(lost, gold.classes), missing(lost, missing(lost, gold.classes))
	if len(things) > 0 {
		return Exploration, found(things, steps)
	}
	if len(classes) > 0 && len(missing(pred.classes, gold.classes)) > 0 {
		return Exploration, "another class than gold's; " + found(classes, steps)
	}
	if len(classes) > 0 {
		return Complex, "no condition on the class: " + strings.Join(classes, ", ")
	}
	if f := missing(gold.features, pred.features); len(f) > 0 {
		return Complex, "gold also uses: " + strings.Join(f, ", ")
	}
	return Complex, "the same items and properties, put together in another way"
}

// found states whether the agent saw, at any point in the run, the items that are missing from its query.
func found(items []string, steps []agent.Step) string {
	unseen := slices.DeleteFunc(slices.Clone(items), func(id string) bool { return seen(steps, id) })
	if len(unseen) > 0 {
		return "never seen: " + strings.Join(unseen, ", ")
	}
	return "seen and not used: " + strings.Join(items, ", ")
}

// executions counts executed and failed queries.
func executions(steps []agent.Step) (executed, failed int) {
	for _, s := range steps {
		if s.Action == "execute_sparql" {
			executed++
			if s.Failure != "" {
				failed++
			}
		}
	}
	return executed, failed
}

func seen(steps []agent.Step, id string) bool {
	for _, s := range steps {
		for text := s.Observation; ; {
			i := strings.Index(text, id)
			if i < 0 {
				break
			}
			rest := text[i+len(id):]
			if rest == "" || rest[0] < '0' || rest[0] > '9' {
				return true
			}
			text = rest
		}
	}
	return false
}

// formatOnly describes the difference if an answer differs from gold only in form; otherwise, it returns "".
func formatOnly(it *ItemData) string {
	if s, ok := it.Score(MetricFair); ok && s.F1 == 1 {
		return "right by the measure fair"
	}
	gold, pred := it.Gold, it.Result.Result
	if isTable(gold) != isTable(pred) {
		return "a truth value against a table"
	}
	g, p := valuesOf(gold), valuesOf(pred)
	switch {
	case len(g) == 0 || len(p) == 0:
		return ""
	case slices.Equal(dates(g), dates(p)) && !slices.Equal(g, p):
		return "the same up to the precision of dates"
	case len(p) == 1 && len(g) > 1 && isCount(p[0], rowCount(gold)):
		return "the count instead of the list"
	case len(g) == 1 && len(p) > 1 && isCount(g[0], rowCount(pred)):
		return "the list instead of the count"
	}
	return ""
}

func isTable(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '[' }

func rowCount(raw json.RawMessage) int {
	var rows []json.RawMessage
	_ = json.Unmarshal(raw, &rows) // not a table: no rows
	return len(rows)
}

func isCount(value string, n int) bool {
	v, err := strconv.Atoi(value)
	return err == nil && v == n
}

// valuesOf returns the sorted distinct values of a result's cells, ignoring label columns if there are other columns.
func valuesOf(raw json.RawMessage) []string {
	var rows []map[string]struct{ Value string }
	if json.Unmarshal(raw, &rows) != nil {
		return nil
	}
	bare := false
	for _, row := range rows {
		for name := range row {
			bare = bare || !isLabel(name)
		}
	}
	var out []string
	for _, row := range rows {
		for name, cell := range row {
			if !bare || !isLabel(name) {
				out = append(out, cell.Value)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// dates truncates dates to years and leaves other values unchanged.
func dates(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v
		if year, _, ok := strings.Cut(v, "-"); ok && len(year) == 4 && len(v) >= 10 &&
			strings.Trim(year, "0123456789") == "" && v[7] == '-' {
			out[i] = year
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fewer reports whether the answer's values are a subset of gold's, or whether both are single numbers and the answer's
// is smaller.
func fewer(it *ItemData) bool {
	g, p := valuesOf(it.Gold), valuesOf(it.Result.Result)
	if len(g) == 1 && len(p) == 1 {
		x, errX := strconv.ParseFloat(g[0], 64)
		y, errY := strconv.ParseFloat(p[0], 64)
		return errX == nil && errY == nil && y < x
	}
	return len(p) > 0 && len(p) < len(g) && len(missing(p, g)) == 0
}
