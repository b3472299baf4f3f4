package main

import (
	"fmt"

	"github.com/spinachbot/spinachbot/internal/chart"
)

// line is a curve in a plot, with its confidence intervals.
type line struct {
	name string
	dots []dot
}

type dot struct{ x, y, low, high float64 }

// colors are the colors of the lines, chosen so that color-blind people can distinguish them.
var colors = []string{"#1b6ca8", "#d1495b", "#2f6f4f", "#b07c0c", "#6a4c93", "#5b6773", "#0f8b8d", "#000000"}

// plot draws lines with x from 0.5 to 1 and F1 from low to 100, each with its name at its right end.
func plot(title, subtitle string, lines []line) string {
	const height, left, top, bottom = 480.0, 70.0, 92.0, 56.0
	right := 190.0
	for _, l := range lines {
		right = max(right, 30+8*float64(len(l.name)))
	}
	width := 670 + right
	low := 100.0
	for _, l := range lines {
		for _, d := range l.dots {
			low = min(low, float64(int(d.low/10)*10))
		}
	}
	low = min(low, 90)
	x := func(v float64) float64 { return left + (v-0.5)/0.5*(width-left-right) }
	y := func(v float64) float64 { return height - bottom - (v-low)/(100-low)*(height-top-bottom) }
	s := chart.NewFile(width, height, title, subtitle)
	for v := low; v <= 100; v += 10 {
		s.Line(left, y(v), width-right, y(v), `stroke="`+chart.Grid+`"`)
		s.Text(left-10, y(v)+5, fmt.Sprintf("%.0f", v), `text-anchor="end" fill="`+chart.Quiet+`"`)
	}
	for i := 5; i <= 10; i++ {
		s.Text(x(float64(i)/10), height-bottom+22, fmt.Sprintf("%.1f", float64(i)/10), `text-anchor="middle" fill="`+
			chart.Quiet+`"`)
	}
	s.Text((left+width-right)/2, height-12, "probability of a correct choice", `text-anchor="middle"`)
	names := apart(lines, y)
	for i, l := range lines {
		stroke := fmt.Sprintf(`stroke="%s" stroke-width="2"`, colors[i%len(colors)])
		for j, d := range l.dots {
			shift := 2 * float64(i-len(lines)/2) // keep bars from hiding each other
			s.Line(x(d.x)+shift, y(d.low), x(d.x)+shift, y(d.high), `stroke="`+colors[i%len(colors)]+`" opacity="0.45"`)
			s.Circle(x(d.x), y(d.y), 3, `fill="`+colors[i%len(colors)]+`"`, fmt.Sprintf("%s, %.2f: %.1f (%.1f–%.1f)",
				l.name, d.x, d.y, d.low, d.high))
			if j > 0 {
				s.Line(x(l.dots[j-1].x), y(l.dots[j-1].y), x(d.x), y(d.y), stroke)
			}
		}
		s.Text(width-right+12, names[i]+5, l.name, `fill="`+colors[i%len(colors)]+`"`)
	}
	return s.String()
}

// apart returns the heights of the lines' names: those of the lines' last dots, adjusted so that the names do not
// overlap.
func apart(lines []line, y func(float64) float64) []float64 {
	const room = 18
	out := make([]float64, len(lines))
	for i, l := range lines {
		out[i] = y(l.dots[len(l.dots)-1].y)
	}
	for range 10 * len(lines) {
		for i := range out {
			for j := range out {
				if d := out[i] - out[j]; i != j && d >= 0 && d < room && (d > 0 || i > j) {
					out[i], out[j] = out[i]+(room-d)/2, out[j]-(room-d)/2
				}
			}
		}
	}
	return out
}
