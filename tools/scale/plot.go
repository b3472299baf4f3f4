package scale

import (
	"fmt"
	"math"

	"github.com/spinachbot/spinachbot/internal/chart"
)

// curve is a line in a plot, with its points from left to right.
type curve struct {
	name   string
	points []point
}

type point struct{ x, y float64 }

// colors are the colors of the curves, chosen so that color-blind people can distinguish them.
var colors = []string{"#d1495b", "#1b6ca8", "#2f6f4f", "#6a4c93"}

// logPlot draws curves on logarithmic axes, each with its name at its right end.
func logPlot(title, subtitle, under string, curves []curve) string {
	const width, height, left, right, top, bottom = 860.0, 420.0, 78.0, 150.0, 96.0, 60.0
	low, high := point{math.Inf(1), math.Inf(1)}, point{}
	for _, c := range curves {
		for _, p := range c.points {
			low = point{min(low.x, p.x), min(low.y, p.y)}
			high = point{max(high.x, p.x), max(high.y, p.y)}
		}
	}
	low.y, high.y = tenth(low.y), tenth(high.y)*10
	at := func(v, from, to, size float64) float64 { return math.Log(v/from) / math.Log(to/from) * size }
	x := func(v float64) float64 { return left + at(v, low.x, max(high.x, 2*low.x), width-left-right) }
	y := func(v float64) float64 { return height - bottom - at(v, low.y, high.y, height-top-bottom) }
	s := chart.NewFile(width, height, title, subtitle)
	for v := low.y; v <= high.y*1.01; v *= 10 {
		s.Line(left, y(v), width-right, y(v), `stroke="`+chart.Grid+`"`)
		s.Text(left-10, y(v)+5, fmt.Sprintf("%g", v), `text-anchor="end" fill="`+chart.Quiet+`"`)
	}
	for v := tenth(low.x); v <= high.x*1.01; v *= 10 {
		if v >= low.x {
			s.Text(x(v), height-bottom+22, fmt.Sprintf("%g", v), `text-anchor="middle" fill="`+chart.Quiet+`"`)
		}
	}
	s.Text((left+width-right)/2, height-14, under, `text-anchor="middle"`)
	for i, c := range curves {
		color := colors[i%len(colors)]
		for j, p := range c.points {
			s.Circle(x(p.x), y(p.y), 4, `fill="`+color+`"`, fmt.Sprintf("%s, %g: %.3g", c.name, p.x, p.y))
			if j > 0 {
				s.Line(x(c.points[j-1].x), y(c.points[j-1].y), x(p.x), y(p.y), `stroke="`+color+`" stroke-width="2"`)
			}
		}
		end := c.points[len(c.points)-1]
		s.Text(x(end.x)+12, y(end.y)+5, c.name, `fill="`+color+`"`)
	}
	return s.String()
}

// tenth returns the largest power of ten that is at most v.
func tenth(v float64) float64 { return math.Pow(10, math.Floor(math.Log10(v))) }
