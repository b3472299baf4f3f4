// Package stats describes a benchmark: how complex its queries are, how much they differ from each other, how long the
// underlying discussions were, and how well known its entities are. The figures are those of Tables 1 and 6 to 9 in the
// SPINACH paper (Liu et al., EMNLP Findings 2024), for any benchmark file that package dataset reads.
//
// Complexity is counted in two ways, which are shown side by side and must not be mixed: on the query's syntax tree, by
// the paper's definitions ([measure.Query]), and on its text, by the faulty regular expressions that produced the
// paper's figures ([measure.Notebook]). Compare published figures only with the second count. Properties and patterns
// are counted on the text, like the published ones; the report also includes the patterns in the tree.
//
// [Compute] returns a [Report]; [Report.WriteText] prints it, and [Report.Charts] draws it. Its JSON form is stable.
package stats

import (
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
)

// Report describes a benchmark. Means are rounded to two digits, as the paper prints them, and shares to four.
type Report struct {
	N    int   `json:"n"`
	Tree Means `json:"tree"` // means over queries that parse; Projections is over all queries
	// means over all queries; Projections is computed from the stored results, or null if there are none
	Notebook         Means  `json:"notebook"`
	UniqueProperties int    `json:"unique_properties"` // P numbers (Table 7)
	UniquePatterns   int    `json:"unique_patterns"`   // distinct, ignoring names, numbers and white space (Table 6)
	Format           string `json:"format"`            // file format; see [dataset.Format]

	UniqueEntities int `json:"unique_entities"` // Q numbers in the queries that parse
	UniqueShapes   int `json:"unique_shapes"`   // patterns by tokens; see [measure.Shape]
	// number of items with a nonempty table; Notebook.Projections is the mean over these items
	Results  int        `json:"results"`
	Unparsed []Unparsed `json:"unparsed"` // queries that package sparql cannot parse
	Words    Words      `json:"question_words"`
	// years of the discussions, taken from the items' URLs, in ascending order; items without a URL are left out
	Years []Share `json:"years"`
	// languages of the questions, guessed if the file does not state them; see [Language]
	Languages     []Share        `json:"languages"`
	Features      []Share        `json:"features"`      // for queries that parse; see [measure.Features]
	Conversations *Conversations `json:"conversations"` // null if unknown for all items
	Popularity    *Popularity    `json:"popularity"`    // null without page views
}

// Means are the averages in SPINACH's Table 1.
type Means struct {
	Clauses     float64  `json:"clauses"`
	Projections *float64 `json:"projections"`
	Relations   float64  `json:"relations"`
	Subjects    float64  `json:"subjects"`
	Predicates  float64  `json:"predicates"`
	Objects     float64  `json:"objects"`
	Literals    float64  `json:"literals"`
}

// Unparsed is a query that package sparql cannot parse.
type Unparsed struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

// Words summarizes the lengths of the questions, in words. Percentiles are by nearest rank.
type Words struct {
	Median int `json:"median"`
	P90    int `json:"p90"`
	Max    int `json:"max"`
}

// Share is the number and the share (0 to 1) of items in which something occurs.
type Share struct {
	Name  string  `json:"name"`
	Count int     `json:"count"`
	Share float64 `json:"share"`
}

// Conversations describes the lengths of the discussions: the number of comments after the request (Table 8). As in the
// paper, discussions without comments are left out.
type Conversations struct {
	N       int     `json:"n"`
	Lengths []Share `json:"lengths"` // 1, 2 … 9, 10+
	Short   Share   `json:"short"`   // 1 to 3
	Medium  Share   `json:"medium"`  // 4 to 6
	Long    Share   `json:"long"`    // 7 or more
	Silent  int     `json:"silent"`  // discussions without an answer; not counted in N
}

// Popularity describes the page views of the distinct entities in the queries (Table 9). Entities whose page views are
// unknown are treated as having none.
type Popularity struct {
	Entities    int          `json:"entities"`
	Known       int          `json:"known"` // number of entities whose page views are known
	Percentiles []Percentile `json:"percentiles"`
}

// Percentile is an entity whose page views are reached or exceeded by the given percentage of entities: the 10th
// percentile is well known, and the 90th is not.
type Percentile struct {
	Percent int    `json:"percent"`
	Entity  string `json:"entity"`
	Views   int64  `json:"views"`
}

// Compute returns a report on the items. views maps Q numbers to page views, or is nil if there are none.
func Compute(items []dataset.Item, format dataset.Format, views map[string]int64) *Report {
	r := &Report{N: len(items), Format: string(format), Unparsed: []Unparsed{}}
	c := &collector{properties: set{}, patterns: set{}, shapes: set{}, entities: set{}, years: map[string]int{},
		languages: map[string]int{}, features: map[string]int{}}
	for i := range items {
		it := &items[i]
		c.text(it)
		if q, err := sparql.Parse(it.SPARQL); err != nil {
			r.Unparsed = append(r.Unparsed, Unparsed{it.ID, firstLine(err.Error())})
		} else {
			c.tree(q)
		}
	}
	r.Tree, r.Notebook = c.trees.means(c.parsed), c.notebook.means(len(items))
	r.Tree.Projections = mean(c.trees.Projections, c.parsed)
	r.Notebook.Projections = mean(c.columns, c.tables)
	r.UniqueProperties, r.UniquePatterns, r.UniqueShapes, r.UniqueEntities = len(c.properties), len(c.patterns),
		len(c.shapes), len(c.entities)
	r.Results = c.tables
	r.Words = words(c.words)
	r.Years, r.Languages, r.Features = shares(c.years, len(items)), shares(c.languages, len(items)),
		shares(c.features, c.parsed)
	sort.Slice(r.Years, func(i, j int) bool { return r.Years[i].Name < r.Years[j].Name })
	r.Conversations = conversations(c.responses)
	if views != nil {
		r.Popularity = popularity(c.entities, views)
	}
	return r
}

type set map[string]bool

func (s set) add(texts ...string) {
	for _, t := range texts {
		s[t] = true
	}
}

type sums struct{ measure.Metrics }

func (s *sums) add(m measure.Metrics) {
	s.Clauses += m.Clauses
	s.Projections += m.Projections
	s.Relations += m.Relations
	s.Subjects += m.Subjects
	s.Predicates += m.Predicates
	s.Objects += m.Objects
	s.Literals += m.Literals
}

// means divides all sums except the sum of projections by n.
func (s *sums) means(n int) Means {
	by := func(sum int) float64 {
		if m := mean(sum, n); m != nil {
			return *m
		}
		return 0
	}
	return Means{Clauses: by(s.Clauses), Relations: by(s.Relations), Subjects: by(s.Subjects),
		Predicates: by(s.Predicates), Objects: by(s.Objects), Literals: by(s.Literals)}
}

func mean(sum, n int) *float64 {
	if n == 0 {
		return nil
	}
	m := round(float64(sum)/float64(n), 2)
	return &m
}

// round rounds x to the given number of decimal places, as fmt prints it.
func round(x float64, digits int) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
	if err != nil {
		return x // cannot happen: FormatFloat returns a valid number
	}
	return y
}

type collector struct {
	trees, notebook                        sums
	parsed                                 int
	tables, columns                        int // nonempty results, and their columns
	properties, patterns, shapes, entities set
	years, languages, features             map[string]int
	words, responses                       []int
}

// text computes the statistics that do not require a syntax tree.
func (c *collector) text(it *dataset.Item) {
	c.notebook.add(measure.Notebook(it.SPARQL))
	c.properties.add(measure.NotebookProperties(it.SPARQL)...)
	c.patterns.add(measure.NotebookPattern(it.SPARQL))
	if rows, ok := it.Bindings(); ok && len(rows) > 0 {
		c.tables++
		for v := range rows[0] {
			if !strings.HasSuffix(v, "Label") && !strings.HasSuffix(v, "Description") {
				c.columns++
			}
		}
	}
	if y := year(it.URL); y != "" {
		c.years[y]++
	}
	language := it.Language
	if language == "" {
		language = Language(it.Question)
	}
	c.languages[language]++
	c.words = append(c.words, len(strings.Fields(it.Question)))
	if it.Responses != nil {
		c.responses = append(c.responses, *it.Responses)
	}
}

func (c *collector) tree(q *sparql.Query) {
	c.parsed++
	c.trees.add(measure.Query(q))
	c.shapes.add(measure.Shape(q))
	c.entities.add(sparql.IDs(sparql.Identifiers(q), false)...)
	for _, f := range measure.Features(q) {
		c.features[f]++
	}
}

// year finds the year in a URL such as …/Archive/2021/07.
func year(address string) string {
	for _, part := range strings.Split(address, "/") {
		part, _, _ = strings.Cut(part, "-")
		if n, err := strconv.Atoi(part); err == nil && len(part) == 4 && n >= 2000 && n < 2100 {
			return part
		}
	}
	return ""
}

// shares returns shares sorted by count, then by name.
func shares(counts map[string]int, of int) []Share {
	out := []Share{}
	for name, n := range counts {
		out = append(out, share(name, n, of))
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Count != out[j].Count {
			return out[i].Count > out[j].Count
		}
		return out[i].Name < out[j].Name
	})
	return out
}

func share(name string, n, of int) Share {
	if of == 0 {
		return Share{Name: name, Count: n}
	}
	return Share{name, n, round(float64(n)/float64(of), 4)}
}

func words(lengths []int) Words {
	if len(lengths) == 0 {
		return Words{}
	}
	sort.Ints(lengths)
	rank := func(percent int) int { return lengths[nearest(percent, len(lengths))] }
	return Words{rank(50), rank(90), rank(100)}
}

// nearest returns the nearest-rank index of a percentile among n sorted values.
func nearest(percent, n int) int {
	return max(int(math.Ceil(float64(percent)/100*float64(n)))-1, 0)
}

func conversations(responses []int) *Conversations {
	if len(responses) == 0 {
		return nil
	}
	c := &Conversations{}
	var lengths [11]int
	for _, n := range responses {
		if n > 0 {
			c.N++
			lengths[min(n, 10)]++
		} else {
			c.Silent++
		}
	}
	sum := func(name string, from, to int) Share {
		n := 0
		for _, k := range lengths[from : to+1] {
			n += k
		}
		return share(name, n, c.N)
	}
	for n := 1; n < 10; n++ {
		c.Lengths = append(c.Lengths, sum(strconv.Itoa(n), n, n))
	}
	c.Lengths = append(c.Lengths, sum("10+", 10, 10))
	c.Short, c.Medium, c.Long = sum("1-3", 1, 3), sum("4-6", 4, 6), sum("7+", 7, 10)
	return c
}

func popularity(entities set, views map[string]int64) *Popularity {
	p := &Popularity{Entities: len(entities), Percentiles: []Percentile{}}
	order := make([]Percentile, 0, len(entities))
	for e := range entities {
		v, ok := views[e]
		if ok {
			p.Known++
		}
		order = append(order, Percentile{Entity: e, Views: v})
	}
	sort.Slice(order, func(i, j int) bool {
		if order[i].Views != order[j].Views {
			return order[i].Views > order[j].Views
		}
		return order[i].Entity < order[j].Entity
	})
	for _, percent := range []int{10, 25, 50, 75, 90} {
		if len(order) > 0 {
			at := order[nearest(percent, len(order))]
			at.Percent = percent
			p.Percentiles = append(p.Percentiles, at)
		}
	}
	return p
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
