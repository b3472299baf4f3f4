// Package reply turns the agent's outcome into a reply: the part of the result that is shown, the names of its columns,
// and the steps in plain language.
//
//	reply.go    the parts of a reply; readable values
//	columns.go  column headers, and results that are trees
//	steps.go    the steps of a run
//	result.go   the rows in the order shown; a fingerprint of a result, for later comparisons
//	links.go    addresses that are links to queries
//	address.go  addresses as values
package reply

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/faithful"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"

	"golang.org/x/text/language"
)

// QueryServices lists the hosts of Wikidata's query services, whose pages open the query that follows the "#".
var QueryServices = []string{"query.wikidata.org", "query-main.wikidata.org", "query-scholarly.wikidata.org",
	"query-legacy-full.wikidata.org", "query-preview.wikidata.org",
	"commons-query.wikimedia.org", "wcqs-beta.wmflabs.org"}

// noAnswers maps the agent's reasons to the fixed messages of forum.Reply.NoAnswer.
var noAnswers = map[agent.Reason]string{
	agent.NoModel: "no_model", agent.NotFound: "not_found", agent.OutOfActions: "actions", agent.OutOfTime: "time",
	agent.OutOfTokens: "money", agent.RequestMoney: "money", agent.RunMoney: "money", agent.DayMoney: "money",
}

// New turns the agent's outcome into a reply to a user. The reply contains the first rows of the result, the steps, and
// when and where the query was run. The marker is the ledger's key. Everything in the reply except the signature is
// untrusted text, which [forum.Compose] escapes.
func New(out *agent.Outcome, to, operator, marker string) forum.Reply {
	lang, _, _ := strings.Cut(strings.ToLower(out.Language), "-")
	r := forum.Reply{Language: lang, To: to, Short: out.Short, Operator: operator, Marker: marker, Signature: "~~~~",
		Steps: steps(out)}
	if r.Short == "" && (out.Answer == nil || out.Answer.Assumed+out.Answer.Open == "") {
		r.Short = out.Report
	}
	r.Short = wide(r.Short, lang)
	a := out.Answer
	if a == nil && out.Asks != "" {
		r.Asks, r.Short = out.Asks, ""
		return r
	}
	if a == nil {
		formatNumbers(&r, out.Steps)
		noAnswer(&r, out)
		return r
	}
	r.Query, r.RanAt = a.SPARQL, a.RanAt
	setEndpoint(&r, a.Endpoint)
	r.Assumed, r.LeftOpen, r.Open = wide(ended(a.Assumed, lang), lang), wide(ended(a.Open, lang), lang), open(out)
	formatNumbers(&r, out.Steps)
	t := a.Table
	if t == nil {
		return r
	}
	if t.Ask {
		yes := t.Boolean
		r.Boolean = &yes
		return r
	}
	table, labels := Rows(a), legible(a.Labels, lang)
	r.Vars, r.Total, r.Equal = t.Vars, len(table), len(table) < len(t.Rows)
	r.Open = slices.DeleteFunc(r.Open, func(o forum.Open) bool {
		told := o.Kind == "joins" && r.Equal && o.Come == 0 && o.Gone == len(t.Rows)-len(table) // below the table
		lacks := o.Kind == "missing" || o.Kind == "condition"
		return told || lacks && qualifier(a.SPARQL, o.ID) // which items do not lack
	})
	for _, row := range table[:forum.Shown(len(table))] {
		cells := make([]forum.Cell, len(row))
		for i, term := range row {
			cells[i] = cell(term, labels)
		}
		exactYears(row, cells)
		r.Rows = append(r.Rows, cells)
	}
	markAlike(r.Rows)
	withoutLabelColumns(&r, a.SPARQL)
	r.Several = several(table) && !strings.Contains(a.SPARQL, "pq:") // with qualifiers, a row is a statement
	r.Told = len(table) == 1 && len(r.Vars) == 1 && len(r.Rows[0]) == 1 &&
		r.Rows[0][0].Kind == "number" && faithful.Says(r.Short, lang, r.Rows[0][0].Text)
	r.Headers, r.Sorted = headers(a, r.Vars, lang), sortedBy(a.SPARQL)
	nameAsHeaders(&r, a.SPARQL)
	withoutEmptyColumns(&r, t, a.Columns)
	if r.Tree = tree(&r); r.Tree != nil { // each row is an edge of the tree, not an item with its values
		r.Open = slices.DeleteFunc(r.Open, func(o forum.Open) bool { return ofThings[o.Kind] })
	}
	return r
}

// setEndpoint sets the short form of the endpoint, such as query.wikidata.org, and the address of its query page.
func setEndpoint(r *forum.Reply, endpoint string) {
	r.Endpoint = endpoint
	if _, address, ok := strings.Cut(endpoint, "://"); ok {
		r.Endpoint = address
		u, err := url.Parse(endpoint)
		if err == nil && slices.Contains(QueryServices, u.Hostname()) {
			r.Endpoint, r.QueryPage = u.Hostname(), "https://"+u.Hostname()+"/#"
		}
	}
}

// noAnswer sets the reason that there is no answer and, if there is one, the query that shows it.
func noAnswer(r *forum.Reply, out *agent.Outcome) {
	r.NoAnswer = noAnswers[out.Reason]
	// "no model is configured, so I have not looked" would be wrong above a search's steps
	looked := slices.ContainsFunc(r.Steps, func(s forum.Step) bool { return s.Kind != forum.StepNames })
	if r.NoAnswer == "" || r.NoAnswer == "no_model" && looked {
		r.NoAnswer = "failed"
	}
	if t := out.Attempt; out.Reason == agent.NotFound && t != nil && t.Table != nil && forum.CheckQuery(t.SPARQL) == nil {
		r.Tried, r.RanAt = t.SPARQL, t.RanAt
		setEndpoint(r, t.Endpoint)
	}
}

// exactYears corrects the BC years in a row if at least one of its BC dates must be exact to the year, because all of
// them probably are (see [rdf.YearBC]).
func exactYears(row []rdf.Term, cells []forum.Cell) {
	years, exact := map[int]int{}, false
	for i, t := range row {
		var year, month, day int
		if _, err := fmt.Sscanf(t.Value, "-%d-%d-%dT", &year, &month, &day); err != nil || t.Datatype != rdf.XSDDateTime {
			continue
		}
		years[i] = -year
		exact = exact || rdf.YearBC(-year, month, day) == year+1
	}
	for i, year := range years {
		if exact && cells[i].Kind == "year" {
			cells[i].Text = strconv.Itoa(year)
		}
	}
}

// ofThings contains the kinds of variants whose messages are about the items in the rows, or about subclasses or places
// of these items.
var ofThings = map[string]bool{"missing": true, "places": true, "places_one": true, "subclasses": true,
	"subclasses_none": true}

// markAlike marks entities that have the same label as a different entity in their column.
func markAlike(rows [][]forum.Cell) {
	type place struct {
		column int
		label  string
	}
	first, alike := map[place]string{}, map[place]bool{}
	for _, row := range rows {
		for i, c := range row {
			at := place{i, c.Label}
			if first[at] == "" {
				first[at] = c.ID
			}
			alike[at] = alike[at] || c.Label != "" && c.ID != first[at]
		}
	}
	for _, row := range rows {
		for i := range row {
			row[i].Alike = alike[place{i, row[i].Label}]
		}
	}
}

// visible drops format characters, which a cell does not show, except joiners, which change the adjacent letters.
func visible(r rune) rune {
	if unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d' {
		return -1
	}
	return r
}

// open returns the changes that variants of the answer's query would make but that the model decided against.
func open(out *agent.Outcome) []forum.Open {
	if out.Probed == nil {
		return nil
	}
	var points []forum.Open
	for _, p := range out.Probed.Open {
		points = append(points, Point(out, p))
	}
	return points
}

// narrower maps each kind of variant that may add or remove rows to the kind used if it removes rows.
var narrower = map[string]string{"ranks": "ranks_best", "subclasses": "subclasses_none", "places": "places_one",
	"ends": "ends_out"}

// Point returns the change that a variant of an answer's query would make.
func Point(out *agent.Outcome, p agent.Probe) forum.Open {
	o := forum.Open{Kind: p.Kind, Come: p.Come, Gone: p.Gone, More: p.More}
	if narrow := narrower[p.Kind]; narrow != "" && p.Gone > p.Come {
		o.Kind = narrow
	}
	yesOrNo := out.Answer != nil && out.Answer.Table != nil && out.Answer.Table.Ask
	if p.Before == 1 && p.Come == 1 && p.Gone == 1 || yesOrNo || p.Come > 0 && p.Gone > 0 && grouped(out.Answer) {
		// the numbers differ, not the rows
		o.Come, o.Gone = 0, 0
		o.Now = newFigure(out, p)
	}
	o.Rows = rowNames(out, p)
	o.Name, o.ID = nameOf(out, p, rdf.EntityID(p.About))
	if m := replacedClass.FindStringSubmatch(p.What); m != nil {
		o.Other, o.OtherID = nameOf(out, p, m[1])
	}
	return o
}

// grouped reports whether an answer's rows are groups, each with a number such as a count.
func grouped(a *agent.Answer) bool {
	if a == nil {
		return false
	}
	q, err := sparql.Parse(a.SPARQL)
	return err == nil && q.Body != nil && q.Body.GroupBy != nil
}

// nameOf returns the label of an entity that a variant is about, or "" if there is none, and the entity's ID. The label
// is taken from the variant, the answer, or the results shown to the model.
func nameOf(out *agent.Outcome, p agent.Probe, id string) (label, entity string) {
	if id == "" {
		return "", ""
	}
	label = p.Names[id]
	if out.Answer != nil {
		label = cmp.Or(label, out.Answer.Labels[id])
	}
	if label == "" {
		label = labelsIn(out)[id]
	}
	return readable(label), id
}

// legible returns labels. If lang uses the Latin script, it leaves out those in other languages whose script its
// readers cannot read.
func legible(labels map[string]string, lang string) map[string]string {
	if slices.Contains([]string{"ar", "ja", "ru", "zh"}, lang) {
		return labels
	}
	out := maps.Clone(labels)
	maps.DeleteFunc(out, func(_, label string) bool {
		latin := func(r rune) bool { return unicode.Is(unicode.Latin, r) }
		name, _, _ := cutLast(label, "@")
		return readable(label) != label && strings.ContainsFunc(name, unicode.IsLetter) && !strings.ContainsFunc(name, latin)
	})
	return out
}

// readable formats a label that is not in one of the requested languages: "Straße (de)" for "Straße@de".
func readable(label string) string {
	name, tag, ok := cutLast(label, "@")
	if _, err := language.Parse(tag); !ok || name == "" || err != nil || strings.ToLower(tag) != tag {
		return label
	}
	return name + " (" + tag + ")"
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// several reports whether some items in the first column have several rows because they have several values, such as
// dates. If the rows of an item contain different items, if there are three or more rows per item, or if the second
// column contains items from the first one, the rows are about pairs, and no one expects one row per item. The same
// applies if there is only one item, or if an item's rows differ in several columns.
func several(table [][]rdf.Term) bool {
	rows, second, last := map[string]int{}, map[string]bool{}, map[string][]rdf.Term{}
	for _, row := range table {
		id := ""
		if len(row) > 1 && row[0].IsIRI() {
			id = rdf.EntityID(row[0].Value)
			second[rdf.EntityID(row[1].Value)] = true
		}
		if !strings.HasPrefix(id, "Q") {
			return false
		}
		rows[id]++
		differ := 0
		for i, t := range last[id] {
			if i < len(row) && t != row[i] && rdf.EntityID(t.Value) != "" && rdf.EntityID(row[i].Value) != "" {
				return false
			}
			if i < len(row) && t != row[i] && t.Bound() && row[i].Bound() {
				differ++
			}
		}
		if differ > 1 { // a row is a statement, such as a term of office with its start and its end
			return false
		}
		last[id] = row
	}
	for id := range rows {
		if second[id] {
			return false
		}
	}
	return len(rows) > 1 && len(rows) < len(table) && 3*len(rows) > len(table)
}

// replacedClass matches the description of a variant that replaces the query's class.
var replacedClass = regexp.MustCompile(`^wd:(Q\d+) instead of wd:Q\d+$`)

// withoutLabelColumns drops every column ?xLabel that the label service fills or that contains the labels shown with
// the entities in column ?x, and likewise every column ?y if the query contains ?x rdfs:label ?y. An entity without a
// label gets the one in the column.
func withoutLabelColumns(r *forum.Reply, query string) {
	of := labelled(query)
	at := make(map[string]int, len(r.Vars))
	for i, v := range r.Vars {
		at[v] = i
	}
	repeats := func(label, entity int) bool {
		for _, row := range r.Rows {
			e, text := row[entity], row[label].Text // the query service returns the ID as the label of an entity without one
			e.Alike = false
			if e == (forum.Cell{}) && row[label] == (forum.Cell{}) {
				continue
			}
			if e.ID == "" || row[label].ID != "" || e.Label != text && e.Label != "" && e.ID != text {
				return false
			}
		}
		return len(r.Rows) > 0
	}
	var keep []int
	for i, v := range r.Vars {
		name, ok := strings.CutSuffix(v, "Label")
		if !ok {
			name = of[v]
		}
		entity, ok := at[name]
		if !ok || entity == i || !fromService(query, v) && !repeats(i, entity) {
			keep = append(keep, i)
			continue
		}
		for _, row := range r.Rows {
			if text := row[i].Text; row[entity].Label == "" && text != row[entity].ID {
				row[entity].Label = text
			}
		}
	}
	keepColumns(r, keep)
}

// fromService reports whether the label service binds a variable named xLabel.
func fromService(query, v string) bool {
	return strings.HasSuffix(v, "Label") && strings.Contains(query, "SERVICE wikibase:label") &&
		!strings.Contains(query, "label ?"+v) && !strings.Contains(query, "AS ?"+v+")")
}

// withoutEmptyColumns drops the columns that have no value in any row of the full result, and records their names.
// Empty strings do not count as values, because a GROUP_CONCAT of nothing returns an empty string. If the columns that
// answer the question are known, the names of the others are not recorded.
func withoutEmptyColumns(r *forum.Reply, t *kg.Table, answer []string) {
	var keep []int
	for i, v := range r.Vars {
		at := slices.Index(t.Vars, v)
		if slices.ContainsFunc(t.Rows, func(row []rdf.Term) bool { return at < len(row) && row[at].Value != "" }) {
			keep = append(keep, i)
		}
	}
	if len(keep) == 0 || len(keep) == len(r.Vars) {
		return
	}
	for i, name := range r.Headers {
		of, label := strings.CutSuffix(r.Vars[i], "Label") // a label variable that nothing in the query binds
		if len(answer) > 0 && !slices.Contains(answer, of) && !slices.Contains(answer, r.Vars[i]) {
			continue
		}
		if !slices.Contains(keep, i) && !slices.Contains(r.NoValues, name) && !(label && slices.Contains(r.Vars, of)) {
			r.NoValues, r.NoValueVars = append(r.NoValues, name), append(r.NoValueVars, of)
		}
	}
	keepColumns(r, keep)
}

// keepColumns drops all columns of a reply except those with the given indexes.
func keepColumns(r *forum.Reply, keep []int) {
	r.Vars, r.Headers = at(r.Vars, keep), at(r.Headers, keep)
	for k, row := range r.Rows {
		r.Rows[k] = at(row, keep)
	}
}

// at returns the elements with the given indexes, skipping indexes that are out of range.
func at[T any](list []T, indexes []int) []T {
	var out []T
	for _, i := range indexes {
		if i < len(list) {
			out = append(out, list[i])
		}
	}
	return out
}

// cell prepares a term for display: an entity with its label, a point as latitude and longitude, an address in readable
// form, and numbers and dates with their kind. Wikidata's query service returns a date with year precision as January
// 1, so such a date is shown as the year.
func cell(t rdf.Term, labels map[string]string) forum.Cell {
	if id := rdf.EntityID(t.Value); t.IsIRI() && id != "" {
		return forum.Cell{ID: id, Label: readable(labels[id])}
	}
	if t.Kind == rdf.BlankKind || t.IsIRI() && strings.Contains(t.Value, "/.well-known/genid/") {
		return forum.Cell{Kind: "unknown"}
	}
	if m := point.FindStringSubmatch(t.Value); m != nil && t.IsLiteral() {
		return forum.Cell{Kind: "place",
			Text: shortNumber(m[2], placeDigits, placeDigits) + " " + shortNumber(m[1], placeDigits, placeDigits)}
	}
	if t.IsIRI() {
		return addressCell(t.Value)
	}
	switch t.Datatype {
	case rdf.XSDDateTime, rdf.XSDDate:
		day, _, _ := strings.Cut(t.Value, "T")
		year, january := strings.CutSuffix(day, "-01-01")
		if n, err := strconv.Atoi(year); january && err == nil {
			if n <= 0 { // a year that is not numbered as in XSD
				n = 1 - rdf.YearBC(n, 1, 1)
			}
			return forum.Cell{Text: strconv.Itoa(n), Kind: "year"}
		}
		if len(strings.TrimPrefix(day, "-")) == len("2006-01-02") && (len(t.Value) == len(day) || strings.HasSuffix(t.Value, "T00:00:00Z")) {
			return forum.Cell{Text: day, Kind: "day"}
		}
	case rdf.XSDBoolean:
		if t.Value == "true" || t.Value == "false" {
			return forum.Cell{Text: t.Value, Kind: "boolean"}
		}
	case rdf.XSDInteger, rdf.XSDDecimal, rdf.XSDDouble, rdf.XSDFloat:
		return forum.Cell{Text: shortNumber(t.Value, keptDigits, calculated(t.Value)), Kind: "number"}
	}
	return forum.Cell{Text: t.Value}
}

const (
	placeDigits = 4 // decimal places in a coordinate: about ten meters
	keptDigits  = 6 // a number with at most this many decimal places is shown unchanged
)

// calculated returns the number of decimal places to show for a calculated number, such as a mean.
func calculated(number string) int {
	switch f, _ := strconv.ParseFloat(number, 64); {
	case math.Abs(f) >= 100:
		return 2
	case math.Abs(f) >= 1:
		return 4
	default:
		return keptDigits
	}
}

// shortNumber rounds a number with more than kept decimal places, or with an exponent, to the given number of decimal
// places. A number that would become 0 or is very large is left unchanged.
func shortNumber(number string, kept, digits int) string {
	_, fraction, _ := strings.Cut(number, ".")
	exponent := strings.ContainsAny(number, "eE")
	f, err := strconv.ParseFloat(number, 64)
	if math.Abs(f) < 1 && kept == keptDigits { // significant digits
		kept = max(kept, len(fraction)-len(strings.TrimLeft(fraction, "0"))+kept)
		digits = max(digits, kept)
	}
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || math.Abs(f) >= 1e15 || len(fraction) <= kept && !exponent {
		return number
	}
	short := strconv.FormatFloat(f, 'f', digits, 64)
	if strings.Contains(short, ".") {
		short = strings.TrimRight(strings.TrimRight(short, "0"), ".")
	}
	if strings.Trim(short, "-0.") == "" && f != 0 {
		return number
	}
	return short
}

// point matches a location in the query service's format, longitude first.
var point = regexp.MustCompile(`^(?i:point)\(([-+0-9.eE]+) ([-+0-9.eE]+)\)$`)
