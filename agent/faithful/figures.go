package faithful

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// number is one way to read a figure: its value, and how far it may be from the actual value, since figures are
// rounded.
type number struct {
	value, slack float64
	word         bool    // written as a word, unlike the day in a date
	decade       float64 // the first year of a decade, or 0
}

// numbers returns the ways to read a token as a figure: "8.848" is 8848 in German and 8.848 in English.
func (c *Checker) numbers(t token) []number {
	scale := cmp.Or(t.scale, 1)
	if t.number > 0 {
		n := number{value: float64(t.number) * scale, word: true}
		if scale > 1 {
			n.slack = scale / 2
		}
		return []number{n}
	}
	if !t.figure {
		return nil
	}
	if t.decade {
		first, _ := strconv.ParseFloat(t.folded, 64)
		return []number{{value: first + 4.5, slack: 4.5, decade: first}}
	}
	s := strings.NewReplacer("\u00a0", "", "\u202f", "", " ", "", "’", "", "'", "", "−", "-").Replace(t.text)
	s = strings.TrimRight(s, ".,")
	var out []number
	for _, marks := range []string{",.", ".,"} { // group separator, decimal separator
		whole := strings.ReplaceAll(s, marks[:1], "")
		if strings.Contains(s, marks[:1]) && !grouped.MatchString(strings.ReplaceAll(strings.Split(s, marks[1:])[0], marks[:1], ",")) {
			continue
		}
		whole = strings.ReplaceAll(whole, marks[1:], ".")
		v, err := strconv.ParseFloat(whole, 64)
		if err != nil {
			continue
		}
		slack := 0.0
		if _, after, ok := strings.Cut(whole, "."); ok || scale > 1 {
			slack = 0.5 * math.Pow10(-len(after)) * scale
		} else {
			slack = 0.5 // 8849 for 8848.86
		}
		out = append(out, number{value: v * scale, slack: slack})
	}
	return out
}

var grouped = regexp.MustCompile(`^-?\d{1,3}(,\d{3})+$`)

// is reports whether a figure may be a rounded form of the actual value v.
func (n number) is(v float64) bool {
	if n.decade > 0 {
		return v >= n.decade && v < n.decade+10
	}
	d := math.Abs(n.value - v)
	return d == 0 || d <= n.slack && (n.slack != 0.5 || v != math.Trunc(v))
}

// figuresOf returns the figures in a value: a number, or the year, month and day of a date.
func figuresOf(t rdf.Term) []value {
	if !t.IsLiteral() {
		return nil
	}
	if t.Datatype == rdf.XSDDateTime || t.Datatype == rdf.XSDDate {
		at, ok := dateOf(t)
		if m := longYear.FindStringSubmatch(t.Value); !ok && m != nil { // millions of years ago
			year, _ := strconv.ParseFloat(m[1], 64)
			return []value{{number: year, rows: map[int]bool{}}}
		}
		if !ok {
			return nil
		}
		year, bc := at.Year(), at.Year() < 1
		if bc {
			year = rdf.YearBC(year, int(at.Month()), at.Day())
		}
		both := []value{{number: float64(year), rows: map[int]bool{}, bc: bc}}
		if exact := 1 - at.Year(); bc && exact != year { // the date may be known only to the year
			both = append(both, value{number: float64(exact), rows: map[int]bool{}, bc: bc})
		}
		return append(both, []value{
			{number: float64(at.Day()), year: year, rows: map[int]bool{}, bc: bc},
			{number: float64(at.Month()), year: year, rows: map[int]bool{}, bc: bc}}...)
	}
	v, err := strconv.ParseFloat(t.Value, 64)
	if err != nil && t.Lang == "" && (t.Datatype == "" || t.Datatype == rdf.XSDString) {
		return figuresIn(t.Value)
	}
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return []value{{number: v, rows: map[int]bool{}}}
}

// maxListed is the maximum number of bytes of a text that are searched for figures.
const maxListed = 2000

// figuresIn returns the figures in a text, such as a list of codes that the query joined, and the length of the list.
func figuresIn(text string) []value {
	var out []value
	if n := len(listMark.Split(text, -1)); n > 1 {
		out = append(out, value{number: float64(n), rows: map[int]bool{}})
	}
	for _, w := range figureInText.FindAllString(text[:min(len(text), maxListed)], -1) {
		if n, err := strconv.ParseFloat(w, 64); err == nil {
			out = append(out, value{number: n, rows: map[int]bool{}})
		}
	}
	return out
}

// figuresInLabel returns the figures in an entity's label, which may be written in another language: 26. Dezember for
// December 26.
func figuresInLabel(t rdf.Term, labels map[string]string) []value {
	id := rdf.EntityID(t.Value)
	if !t.IsIRI() || id == "" {
		return nil
	}
	var out []value
	for _, w := range figureInText.FindAllString(labels[id], -1) {
		if n, err := strconv.ParseFloat(w, 64); err == nil {
			out = append(out, value{number: n, rows: map[int]bool{}, digits: true, label: true})
		}
	}
	return out
}

// ofName reports whether the result has the figure at i only in labels, and the sentence has the whole name with the
// figure elsewhere: "here are 13 films; the first is Apollo 13".
func (c *Checker) ofName(toks []token, named []found, i int) bool {
	readings := c.numbers(toks[i])
	if slices.ContainsFunc(c.values, func(v value) bool {
		return !v.label && slices.ContainsFunc(readings, func(n number) bool { return n.is(v.number) })
	}) {
		return false
	}
	return slices.ContainsFunc(named, func(n found) bool {
		return slices.ContainsFunc(toks[n.from:n.to], func(t token) bool { return t.folded == toks[i].folded })
	})
}

// listMark matches what usually separates values that a query joined.
var listMark = regexp.MustCompile(`[,;|/] `)

var figureInText = regexp.MustCompile(`\d+(\.\d+)?`)

// longYear matches a BC date with more than four digits in its year.
var longYear = regexp.MustCompile(`^-(\d{5,15})-\d\d-\d\d`)

func dateOf(t rdf.Term) (time.Time, bool) {
	if t.Datatype != rdf.XSDDateTime && t.Datatype != rdf.XSDDate {
		return time.Time{}, false
	}
	day, _, _ := strings.Cut(t.Value, "T")
	day, before := strings.CutPrefix(day, "-")
	at, err := time.Parse(time.DateOnly, day)
	if before {
		at = time.Date(-at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	}
	return at, err == nil
}

// between returns the number of days and the number of years between two dates in the same row.
func between(row []rdf.Term, i int) []value {
	var dates []time.Time
	for _, t := range row {
		if at, ok := dateOf(t); ok {
			dates = append(dates, at)
		}
	}
	if len(dates) != 2 {
		return nil
	}
	days := math.Abs(dates[1].Sub(dates[0]).Hours() / 24)
	rows := map[int]bool{i: true}
	return []value{{number: days, rows: rows}, {number: math.Floor(days / 365.25), rows: rows}}
}

// figures returns the unsupported figures in a sentence: those that the result does not have, and those that cannot be
// paired with a name. A count does not need a name. Any other figure from the result must belong to the name before it,
// or to the name after it, consistently throughout the sentence.
func (c *Checker) figures(toks []token, named []found) (unknown, unpaired []string) {
	counted, years := countsOf(named), map[int]bool{}
	for _, t := range toks {
		years[0] = years[0] || eras[t.folded] || ancient.MatchString(t.text)
		if more[t.folded] { // as in "K2 and thirteen others"
			counted[float64(c.rows-len(named))] = len(named) > 0
		}
		for _, n := range c.numbers(t) {
			if n.value > 0 {
				years[int(math.Ceil(n.value))] = true
			}
		}
	}
	keys := c.keys(toks, years)
	if rows := c.described(toks, named); rows != nil {
		keys = rows
	}
	shared := c.shared(toks, named)
	var open []int // figures that must be paired with a name
	for i, t := range toks {
		readings := c.numbers(t)
		if len(readings) == 0 || covered(named, i) || shared[i] || c.aboutQuery(toks, named, i) {
			continue
		}
		near := nextToName(toks, named, i) || len(named) > 0 && !saysHaving(toks, i)
		switch ok, pair := c.supports(readings, counted, years, keys, len(named), near); {
		case pair && !c.ofName(toks, named, i):
			open = append(open, i)
		case pair || !ok && !c.elsewhere(toks, named, i):
			unknown = append(unknown, t.text)
		}
	}
	if !c.paired(toks, named, open, years, true) && !c.paired(toks, named, open, years, false) &&
		!c.respectively(toks, named, open, years) {
		for _, i := range open {
			unpaired = append(unpaired, toks[i].text)
		}
	}
	return unknown, unpaired
}

// countsOf returns how many rows each of the names has, as in "five of them lie in Pakistan".
func countsOf(named []found) map[float64]bool {
	counted := map[float64]bool{}
	for _, n := range named {
		if len(n.counts) > 0 {
			counted[float64(len(n.rows))], counted[float64(len(n.counts))] = true, true
		} else if len(n.rows) > 1 { // Riverdale has two rows
			counted[float64(len(n.rows))] = true
		}
	}
	return counted
}

// elsewhere reports whether the figure at i comes from an earlier step, or is a year that the result lacks and that the
// sentence says it lacks.
func (c *Checker) elsewhere(toks []token, named []found, i int) bool {
	return c.inShownRow(toks, named, i) || c.onShownDay(toks, named, i) || c.absent(toks, named, i)
}

// aboutQuery reports whether the figure at i belongs to a statement about the query or about how data is stored, which
// the rows cannot confirm.
func (c *Checker) aboutQuery(toks []token, named []found, i int) bool {
	return countsErrors(toks, i) || c.supposed(toks, named, i) || c.countedAgain(toks, named, i) ||
		c.inWindow(toks, named, c.numbers(toks[i])) || yearOnly(toks, named, i) ||
		c.ofRow(toks, named, i) || len(named) == 0 && c.firstRows(toks, i) || c.ofSome(toks, named, i) ||
		c.inNames(toks, i) || c.inLabel(toks, i) || c.beyond(toks, named, i) || c.placed(toks, named, i)
}

// supports reports whether the result supports a figure with the given readings, and whether the figure must be
// compared with the rows of a name. counted contains counts of the sentence's names, keys contains the rows that the
// sentence is about, names is the number of its names, and near is true if the figure may apply to one of them.
func (c *Checker) supports(readings []number, counted map[float64]bool, years, keys map[int]bool, names int,
	near bool) (ok, pair bool) {
	for _, n := range readings {
		for v := range c.free {
			ok = ok || n.is(v)
		}
		ok = ok || counted[n.value] || !near && c.shown[n.value]
	}
	switch {
	case ok || !c.inResult(readings, years, nil):
		return ok, false
	case c.rows == 1:
		return true, false
	case names > 0:
		return true, true
	case len(keys) > 0: // the rows are about years or other figures
		return c.inResult(readings, years, keys), false
	}
	return c.edge(readings), false
}

// described returns the rows that have all the figures in a sentence without a name, if at least two of them are not
// counts, as in "it lasted 335 years, from 1651 to 1986". If no row has all of them, it returns nil.
func (c *Checker) described(toks []token, named []found) map[int]bool {
	if len(named) > 0 || c.rows < 2 {
		return nil
	}
	var rows map[int]bool
	different := map[float64]bool{}
	for _, t := range toks {
		readings := c.numbers(t)
		if len(readings) == 0 || slices.ContainsFunc(readings, func(n number) bool { return c.free[n.value] }) {
			continue
		}
		having := map[int]bool{}
		for _, v := range c.values {
			if v.year == 0 && !v.bc && slices.ContainsFunc(readings, func(n number) bool { return n.is(v.number) }) {
				different[v.number] = true
				for r := range v.rows {
					having[r] = rows == nil || rows[r]
				}
			}
		}
		maps.DeleteFunc(having, func(_ int, both bool) bool { return !both })
		if rows = having; len(rows) == 0 {
			return nil
		}
	}
	if len(different) < 2 {
		return nil
	}
	return rows
}

// keys returns the rows whose figure in the first column is in a sentence, if the result has no names.
func (c *Checker) keys(toks []token, years map[int]bool) map[int]bool {
	if len(c.names) > 0 {
		return nil
	}
	rows := map[int]bool{}
	for _, v := range c.values {
		for _, t := range toks {
			for _, n := range c.numbers(t) {
				if v.key && v.year == 0 && (!v.bc || years[0]) && n.is(v.number) {
					for r := range v.rows {
						rows[r] = true
					}
				}
			}
		}
	}
	return rows
}

// more contains words that follow the number of items that a sentence leaves out, as in "and three more".
var more = map[string]bool{"other": true, "others": true, "more": true, "weitere": true, "weiteren": true, "andere": true,
	"anderen": true, "autres": true, "otros": true, "otras": true, "altri": true, "altre": true, "outros": true, "outras": true,
	"overige": true}

func covered(named []found, i int) bool {
	for _, n := range named {
		if n.from <= i && i < n.to {
			return true
		}
	}
	return false
}

// eras maps words in the names of eras to whether a date with the word may be BC, as in BC, v. Chr., av. J.-C., a. C.,
// p.n.e. and до н. э.
var eras = map[string]bool{"bc": true, "bce": true, "chr": true, "v.chr": true, "j": true, "c": true, "a.c": true, "a.e.c": true,
	"p.n.e": true, "до": true, "ق.م": true, "ad": false, "ce": false, "n.chr": false, "d.c": false, "n.e": false}

// era reports whether a token belongs to the preceding year, such as the "Chr" in "63 v. Chr.".
func (c *Checker) era(toks []token, i int) bool {
	_, known := eras[toks[i].folded]
	return known && slices.ContainsFunc(toks[max(i-3, 0):i], func(t token) bool { return t.figure })
}

// ancient matches BC markers in scripts without spaces.
var ancient = regexp.MustCompile(`元前`)

// inResult reports whether a figure is in one of the given rows, or in any row if rows is nil. years contains the years
// in the sentence, and 0 if the sentence is about BC dates.
func (c *Checker) inResult(readings []number, years map[int]bool, rows map[int]bool) bool {
	for _, v := range c.values {
		if v.year != 0 && !years[v.year] || v.bc && !years[0] {
			continue
		}
		if rows != nil && !meet(v.rows, rows) {
			continue
		}
		for _, n := range readings {
			if n.is(v.number) && !(n.word && (v.year != 0 || v.digits)) {
				return true
			}
		}
	}
	return false
}

func (c *Checker) edge(readings []number) bool {
	for _, v := range c.values {
		for _, n := range readings {
			if v.edge && n.is(v.number) {
				return true
			}
		}
	}
	return false
}

// paired reports whether every figure belongs to the name before it or, if before is false, to the name after it.
func (c *Checker) paired(toks []token, named []found, open []int, years map[int]bool, before bool) bool {
	for _, i := range open {
		var rows map[int]bool
		for _, n := range named {
			switch {
			case before && n.from < i && !n.head && meet(rows, n.rows): // Justin Bieber plays guitar and was born in 1994
				rows = both(rows, n.rows)
			case before && n.from < i || !before && n.from > i && rows == nil:
				rows = n.rows
			}
		}
		if rows == nil && len(named) == 1 {
			rows = named[0].rows
		}
		if rows == nil || !c.inResult(c.numbers(toks[i]), years, rows) {
			return false
		}
	}
	return true
}

// respectively reports whether a sentence has as many names as figures, in the same order, with all names before the
// figures or all after them, as in "Germany and France have 84 and 68 million people".
func (c *Checker) respectively(toks []token, named []found, open []int, years map[int]bool) bool {
	if len(named) < 2 || len(named) != len(open) ||
		named[len(named)-1].from > open[0] && named[0].from < open[len(open)-1] {
		return false
	}
	for i, at := range open {
		if !c.inResult(c.numbers(toks[at]), years, named[i].rows) {
			return false
		}
	}
	return true
}

func both(a, b map[int]bool) map[int]bool {
	out := map[int]bool{}
	for i := range a {
		if b[i] {
			out[i] = true
		}
	}
	return out
}

func meet(a, b map[int]bool) bool {
	for i := range a {
		if b[i] {
			return true
		}
	}
	return false
}
