package stats

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/chart"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Chart is a bar chart as a self-contained SVG file, with no scripts or external URLs and with labels for screen
// readers.
type Chart struct {
	Name string // base name of the file, without extension
	SVG  string
}

// bar is one row of a bar chart. If there are two series, the second series' bar is below the first's.
type bar struct {
	label  string
	values []float64
	texts  []string // bar labels
}

const (
	chartWidth = 960
	maxLabel   = 40 // maximum length of a bar's name, in characters
	maxColumns = 24 // maximum number of columns whose labels do not overlap
)

var seriesColors = [...]string{chart.Green, chart.Blue}

const quiet = `fill="` + chart.Quiet + `"`

// Charts draws the content of the report: complexity, features, years, languages if there are several, conversation
// lengths, and page views if known.
func (r *Report) Charts() []Chart {
	charts := []Chart{{"complexity", r.complexity()}}
	percent := func(s []Share, most int) (out []bar) {
		for i, one := range s {
			if i == most {
				break
			}
			out = append(out, bar{one.Name, []float64{one.Share},
				[]string{fmt.Sprintf("%d (%.1f%%)", one.Count, 100*one.Share)}})
		}
		return out
	}
	add := func(name, svg string, worth bool) {
		if worth {
			charts = append(charts, Chart{name, svg})
		}
	}
	add("features", bars("Features of the queries", fmt.Sprintf("share of %d queries", r.N-len(r.Unparsed)), nil,
		percent(r.Features, 40)), len(r.Features) > 0)
	add("years", columnsOf("Years", "items by the year of the discussion", r.Years), len(r.Years) > 1)
	add("languages", bars("Languages of the questions", fmt.Sprintf("share of %d questions", r.N), nil,
		percent(r.Languages, 30)), len(r.Languages) > 1)
	if c := r.Conversations; c != nil {
		add("conversations", columnsOf("Length of the discussions",
			fmt.Sprintf("responses after the request, %d discussions", c.N), c.Lengths), c.N > 0)
	}
	if p := r.Popularity; p != nil {
		out := []bar{}
		for _, q := range p.Percentiles {
			out = append(out, bar{fmt.Sprintf("%dth percentile", q.Percent),
				[]float64{math.Log10(1 + float64(q.Views))}, []string{thousands(q.Views) + "  " + q.Entity}})
		}
		add("popularity", bars("Popularity of the entities",
			fmt.Sprintf("page views in a year on a logarithmic scale, %d entities, well-known ones first", p.Entities),
			nil, out), len(out) > 0)
	}
	return charts
}

func (r *Report) complexity() string {
	tree, notebook := r.Tree.values(), r.Notebook.values()
	rows := []bar{}
	for i, name := range columns {
		b := bar{label: name}
		for _, v := range []*float64{notebook[i], tree[i]} {
			if v == nil {
				b.values, b.texts = append(b.values, 0), append(b.texts, "needs results")
			} else {
				b.values, b.texts = append(b.values, *v), append(b.texts, fmt.Sprintf("%.2f", *v))
			}
		}
		rows = append(rows, b)
	}
	return bars("Complexity", fmt.Sprintf("mean of %d queries", r.N),
		[]string{"as SPINACH's notebook counts", "on the tree"}, rows)
}

// bars draws horizontal bars; legend names the series if there are two.
func bars(title, subtitle string, legend []string, rows []bar) string {
	left, most := 0.0, 0.0
	series := max(len(legend), 1)
	for i := range rows {
		r := &rows[i]
		r.label = text.Clip(r.label, maxLabel)
		left = max(left, float64(60+8*utf8.RuneCountInString(r.label)))
		for _, v := range r.values {
			most = max(most, v)
		}
	}
	pitch := float64(14 + 18*series)
	top := float64(96 + 30*min(len(legend), 1))
	full := chartWidth - left - 180 // width available for bars next to the widest label
	svg := chart.NewFile(chartWidth, top+float64(len(rows))*pitch+20, title, subtitle)
	x := 32.0
	for i, name := range legend {
		svg.Rect(x, 84, 12, 12, filled(i), "")
		svg.Text(x+20, 95, name, quiet)
		x += float64(60 + 8*utf8.RuneCountInString(name))
	}
	for i, r := range rows {
		y := top + float64(i)*pitch
		svg.Text(left-14, y+float64(9*series+5), r.label, `text-anchor="end"`)
		for k, v := range r.values {
			length := 0.0
			if v > 0 {
				length = max(full*v/most, 1)
			}
			svg.Rect(left, y+float64(18*k+1), length, 16, filled(k), "")
			svg.Text(left+length+8, y+float64(18*k+14), r.texts[k], `font-size="13" `+quiet)
		}
	}
	return svg.String()
}

func filled(series int) string { return `rx="2" fill="` + seriesColors[series] + `"` }

// columnsOf draws a column chart for categories with a natural order.
func columnsOf(title, subtitle string, shares []Share) string {
	const bottom, height = 340, 220
	if len(shares) > maxColumns { // the labels do not fit side by side
		rows := make([]bar, len(shares))
		for i, s := range shares {
			rows[i] = bar{s.Name, []float64{float64(s.Count)},
				[]string{fmt.Sprintf("%d (%.1f%%)", s.Count, 100*s.Share)}}
		}
		return bars(title, subtitle, nil, rows)
	}
	most := 1
	for _, s := range shares {
		most = max(most, s.Count)
	}
	svg := chart.NewFile(chartWidth, bottom+60, title, subtitle)
	pitch := float64(chartWidth-64) / float64(max(len(shares), 1))
	for i, s := range shares {
		h := height * float64(s.Count) / float64(most)
		x := 32 + float64(i)*pitch
		svg.Rect(x+pitch*.14, bottom-h, pitch*.72, h, filled(0), "")
		svg.Text(x+pitch/2, bottom-h-8, fmt.Sprint(s.Count), `text-anchor="middle" font-size="13" `+quiet)
		svg.Text(x+pitch/2, bottom+22, s.Name, `text-anchor="middle"`)
		svg.Text(x+pitch/2, bottom+42, fmt.Sprintf("%.1f%%", 100*s.Share),
			`text-anchor="middle" font-size="12" `+quiet)
	}
	svg.Line(32, bottom, chartWidth-32, bottom, `stroke="`+chart.Grid+`"`)
	return svg.String()
}
