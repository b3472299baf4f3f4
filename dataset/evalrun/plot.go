package evalrun

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/chart"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Plots are inline SVG in the report's page, without scripts, external URLs, or styles. Colors come from the page's
// classes (s0, s1, … for the runs, axis, grid, label, value), so they follow its light and dark themes. All text is
// escaped here.

// series contains a run's values in a plot.
type series struct {
	name   string
	color  int
	values []float64 // nothing is drawn for NaN
	tips   []string  // bar tooltips
}

// svg is a drawing whose colors come from the page's classes.
type svg struct{ *chart.SVG }

func newSVG(width, height float64, title string) svg { return svg{chart.New(width, height, title, "")} }

func (s svg) text(x, y float64, class, anchor, what string) {
	s.Text(x, y, what, fmt.Sprintf(`class="%s" text-anchor="%s"`, class, anchor))
}

func (s svg) line(x1, y1, x2, y2 float64, class string) { s.Line(x1, y1, x2, y2, `class="`+class+`"`) }

func (s svg) bar(x, y, w, h float64, color int, tip string) {
	s.Rect(x, y, w, h, fmt.Sprintf(`rx="2" class="s%d"`, color%seriesColors), tip)
}

// seriesColors is the number of colors that the page defines for runs.
const seriesColors = 6

// legend draws the names of the runs if there are several.
func (s svg) legend(all []series, y float64) {
	if len(all) < 2 {
		return
	}
	x := 0.0
	for _, one := range all {
		name := text.Clip(one.name, 24)
		s.bar(x, y-9, 10, 10, one.color, "")
		s.text(x+15, y, "label", "start", name)
		x += 32 + 6.6*float64(utf8.RuneCountInString(name))
	}
}

// barsAcross draws a horizontal bar chart with a row per label, a bar per series, and values from 0 to top.
func barsAcross(title string, labels []string, all []series, top float64, format func(float64) string) string {
	const width, left, right, bar, gap = 520.0, 130.0, 46.0, 11.0, 9.0
	row := bar*float64(len(all)) + gap
	head := 8.0
	if len(all) > 1 {
		head = 28
	}
	s := newSVG(width, head+row*float64(len(labels))+22, title)
	s.legend(all, 14)
	scale := (width - left - right) / top
	bottom := head + row*float64(len(labels))
	for i := 0; i <= 4; i++ {
		x := left + top*float64(i)/4*scale
		s.line(x, head, x, bottom, "grid")
		s.text(x, bottom+14, "tick", "middle", format(top*float64(i)/4))
	}
	for i, l := range labels {
		y := head + row*float64(i) + gap/2
		s.text(left-8, y+bar*float64(len(all))/2+4, "label", "end", text.Clip(l, 20))
		for j, one := range all {
			v := one.values[i]
			if math.IsNaN(v) {
				continue
			}
			s.bar(left, y+bar*float64(j), v*scale, bar-1.5, one.color, one.tips[i])
			s.text(left+v*scale+5, y+bar*float64(j)+bar-2.5, "value", "start", format(v))
		}
	}
	return s.String()
}

// barsUp draws a vertical bar chart with a group per label and a bar per series. under is a second line of labels, or
// nil.
func barsUp(title string, labels, under []string, all []series, format func(float64) string) string {
	const width, height, left, right, foot = 520.0, 210.0, 8.0, 8.0, 44.0
	head := 18.0
	if len(all) > 1 {
		head = 36
	}
	top := 0.0
	for _, one := range all {
		for _, v := range one.values {
			if !math.IsNaN(v) {
				top = max(top, v)
			}
		}
	}
	if top == 0 {
		top = 1
	}
	s := newSVG(width, height, title)
	s.legend(all, 14)
	base := height - foot
	scale := (base - head) / top
	group := (width - left - right) / float64(max(len(labels), 1))
	bar := math.Min((group-10)/float64(len(all)), 46)
	s.line(left, base, width-right, base, "axis")
	for i, l := range labels {
		mid := left + group*(float64(i)+0.5)
		s.text(mid, base+15, "tick", "middle", l)
		if under != nil {
			s.text(mid, base+31, "value", "middle", under[i])
		}
		for j, one := range all {
			v := one.values[i]
			if math.IsNaN(v) {
				continue
			}
			x := mid - bar*float64(len(all))/2 + bar*float64(j)
			s.bar(x, base-v*scale, bar-2, v*scale, one.color, one.tips[i])
			if v > 0 && len(all) < 3 {
				s.text(x+bar/2-1, base-v*scale-4, "value", "middle", format(v))
			}
		}
	}
	return s.String()
}

// reliability draws a reliability diagram: for each bin, the fraction of correct answers plotted against the mean
// confidence, with the diagonal of perfect calibration. A dot's area grows with the number of answers.
func reliability(title string, names []string, colors []int, all []Calibration) string {
	const side, left, foot = 240.0, 44.0, 36.0
	top := 30.0
	if len(all) > 1 {
		top = 54
	}
	s := newSVG(520, top+side+foot, title)
	var legend []series
	for i, n := range names {
		legend = append(legend, series{name: n, color: colors[i]})
	}
	s.legend(legend, 14)
	x := func(v float64) float64 { return left + v*side }
	y := func(v float64) float64 { return top + (1-v)*side }
	for i := 0; i <= 4; i++ {
		v := float64(i) / 4
		s.line(x(v), y(0), x(v), y(1), "grid")
		s.line(x(0), y(v), x(1), y(v), "grid")
		s.text(x(v), y(0)+15, "tick", "middle", fmt.Sprintf("%.2f", v))
		s.text(left-6, y(v)+4, "tick", "end", fmt.Sprintf("%.2f", v))
	}
	s.line(x(0), y(0), x(1), y(1), "diagonal")
	s.text(x(0.5), y(0)+31, "label", "middle", "confidence")
	s.text(left, top-8, "label", "start", "fraction of right answers")
	for i, c := range all {
		for _, b := range c.Bins {
			if b.N == 0 {
				continue
			}
			r := 3 + 14*math.Sqrt(float64(b.N)/float64(c.N))
			s.line(x(b.Confidence), y(b.Confidence), x(b.Confidence), y(b.Right), "gap")
			s.Circle(x(b.Confidence), y(b.Right), r, fmt.Sprintf(`class="dot s%d"`, colors[i]%seriesColors),
				fmt.Sprintf("%s: %d answers with confidence %.2f, %.0f%% right, F1 %.1f", names[i], b.N, b.Confidence,
					100*b.Right, 100*b.F1))
		}
		s.text(left+side+24, top+16+float64(i)*62, "label", "start", text.Clip(names[i], 30))
		s.text(left+side+24, top+33+float64(i)*62, "value", "start", fmt.Sprintf("ECE %.3f", c.ECE))
		s.text(left+side+24, top+50+float64(i)*62, "value", "start",
			fmt.Sprintf("Brier %.3f (mean: %.3f)", c.Brier, c.Base))
	}
	return s.String()
}
