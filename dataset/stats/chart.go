package stats

import (
	"fmt"
	"html"
	"math"
	"strings"
	"unicode/utf8"
)

// Chart is a bar chart as an SVG file that needs nothing else: no script, no outside address, readable names for screen readers.
type Chart struct {
	Name string // of the file, without an ending
	SVG  string
}

// bar is a bar of a chart; with two series the second figure is under the first.
type bar struct {
	label  string
	values []float64
	texts  []string // what is written at the bars
}

// The look of the charts, that of the harvest's funnel.
const (
	chartFont   = `font-family="system-ui, -apple-system, 'Segoe UI', sans-serif"`
	inkColour   = "#1f2933"
	quietColour = "#5b6773"
	lineColour  = "#d5d9de"
	chartWidth  = 960
	maxLabel    = 40 // characters of a bar's name
	maxColumns  = 24 // columns whose texts do not run into each other
)

var seriesColours = [...]string{"#2f6f4f", "#9db8d2"}

// Charts draws what the report holds: complexity, features, years and languages where there are several, conversation lengths and page views where known.
func (r *Report) Charts() []Chart {
	charts := []Chart{{"complexity", r.complexity()}}
	percent := func(s []Share, most int) (out []bar) {
		for i, one := range s {
			if i == most {
				break
			}
			out = append(out, bar{one.Name, []float64{one.Share}, []string{fmt.Sprintf("%d (%.1f %%)", one.Count, 100*one.Share)}})
		}
		return out
	}
	add := func(name, svg string, worth bool) {
		if worth {
			charts = append(charts, Chart{name, svg})
		}
	}
	add("features", bars("Features of the queries", fmt.Sprintf("share of %d queries", r.N-len(r.Unparsed)), nil, percent(r.Features, 40)), len(r.Features) > 0)
	add("years", columnsOf("Years", "items by the year of the discussion", r.Years), len(r.Years) > 1)
	add("languages", bars("Languages of the questions", fmt.Sprintf("share of %d questions", r.N), nil, percent(r.Languages, 30)), len(r.Languages) > 1)
	if c := r.Conversations; c != nil {
		add("conversations", columnsOf("Length of the discussions", fmt.Sprintf("responses after the request, %d discussions", c.N), c.Lengths), c.N > 0)
	}
	if p := r.Popularity; p != nil {
		out := []bar{}
		for _, q := range p.Percentiles {
			out = append(out, bar{fmt.Sprintf("%dth percentile", q.Percent), []float64{math.Log10(1 + float64(q.Views))}, []string{thousands(q.Views) + "  " + q.Entity}})
		}
		add("popularity", bars("Popularity of the entities", fmt.Sprintf("page views in a year on a logarithmic scale, %d entities, well-known ones first", p.Entities), nil, out), len(out) > 0)
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
	return bars("Complexity", fmt.Sprintf("mean of %d queries", r.N), []string{"as SPINACH's notebook counts", "on the tree"}, rows)
}

// bars draws horizontal bars; legend names the series when there are two.
func bars(title, subtitle string, legend []string, rows []bar) string {
	left, most := 0, 0.0
	series := max(len(legend), 1)
	for i := range rows {
		r := &rows[i]
		if label := []rune(r.label); len(label) > maxLabel {
			r.label = string(label[:maxLabel-1]) + "…"
		}
		left = max(left, 46+8*utf8.RuneCountInString(r.label)+14)
		for _, v := range r.values {
			most = max(most, v)
		}
	}
	pitch := 14 + 18*series
	top := 96 + 30*min(len(legend), 1)
	full := float64(chartWidth - left - 180) // what is left of the widest text
	var b strings.Builder
	open(&b, title, subtitle, top+len(rows)*pitch+20)
	x := 32
	for i, name := range legend {
		fmt.Fprintf(&b, `<rect x="%d" y="84" width="12" height="12" rx="2" fill="%s"/><text x="%d" y="95" fill="%s">%s</text>`+"\n", x, seriesColours[i], x+20, quietColour, html.EscapeString(name))
		x += 60 + 8*utf8.RuneCountInString(name)
	}
	for i, r := range rows {
		y := top + i*pitch
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", left-14, y+9*series+5, html.EscapeString(r.label))
		for k, v := range r.values {
			length := 0.0
			if most > 0 {
				length = full * v / most
			}
			if v > 0 {
				length = max(length, 1)
			}
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="16" rx="2" fill="%s"/><text x="%.1f" y="%d" font-size="13" fill="%s">%s</text>`+"\n",
				left, y+18*k+1, length, seriesColours[k], float64(left)+length+8, y+18*k+14, quietColour, html.EscapeString(r.texts[k]))
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// columnsOf draws upright columns, for what has an order of its own.
func columnsOf(title, subtitle string, shares []Share) string {
	const bottom, height = 340, 220
	if len(shares) > maxColumns { // too many for texts beside each other: one below the other
		rows := make([]bar, len(shares))
		for i, s := range shares {
			rows[i] = bar{s.Name, []float64{float64(s.Count)}, []string{fmt.Sprintf("%d (%.1f %%)", s.Count, 100*s.Share)}}
		}
		return bars(title, subtitle, nil, rows)
	}
	most := 1
	for _, s := range shares {
		most = max(most, s.Count)
	}
	var b strings.Builder
	open(&b, title, subtitle, bottom+60)
	pitch := float64(chartWidth-64) / float64(max(len(shares), 1))
	for i, s := range shares {
		h := height * float64(s.Count) / float64(most)
		x := 32 + float64(i)*pitch
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2" fill="%s"/>`, x+pitch*.14, bottom-h, pitch*.72, h, seriesColours[0])
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle" font-size="13" fill="%s">%d</text>`, x+pitch/2, bottom-h-8, quietColour, s.Count)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, x+pitch/2, bottom+22, html.EscapeString(s.Name))
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle" font-size="12" fill="%s">%.1f %%</text>`+"\n", x+pitch/2, bottom+42, quietColour, 100*s.Share)
	}
	fmt.Fprintf(&b, `<line x1="32" y1="%d" x2="%d" y2="%d" stroke="%s"/>`+"\n</svg>\n", bottom, chartWidth-32, bottom, lineColour)
	return b.String()
}

// open writes the head of a chart.
func open(b *strings.Builder, title, subtitle string, height int) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s" %s font-size="14" fill="%s">`+"\n",
		chartWidth, height, chartWidth, height, html.EscapeString(title+": "+subtitle), chartFont, inkColour)
	fmt.Fprintf(b, `<title>%s</title><rect width="%d" height="%d" fill="#ffffff"/>`+"\n", html.EscapeString(title), chartWidth, height)
	fmt.Fprintf(b, `<text x="32" y="44" font-size="22" font-weight="600">%s</text><text x="32" y="68" fill="%s">%s</text>`+"\n", html.EscapeString(title), quietColour, html.EscapeString(subtitle))
}
