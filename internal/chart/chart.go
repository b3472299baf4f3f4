// Package chart draws charts as SVG, without scripts or external addresses. It escapes all text.
package chart

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Colors for a chart in a separate file.
const (
	Ink   = "#1f2933"
	Quiet = "#5b6773" // less important text
	Grid  = "#d5d9de" // lines
	Green = "#2f6f4f"
	Blue  = "#9db8d2"
)

// SVG is a drawing. The attributes passed to its methods are written unescaped, so they must not come from untrusted
// input.
type SVG struct{ b strings.Builder }

// New starts a drawing. title is for screen readers.
func New(width, height float64, title, attrs string) *SVG {
	s := &SVG{}
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" role="img" aria-label="%s"%s>`, width, height,
		escape(title), blank(attrs))
	return s
}

// NewLinked starts a drawing that may contain links. A drawing from [New] must not contain links, since screen readers
// present it as a single picture.
func NewLinked(width, height float64, class, title string) *SVG {
	s := &SVG{}
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="%s" viewBox="0 0 %g %g" role="group" aria-label="%s">`,
		class, width, height, escape(title))
	return s
}

// Link starts a link, which [SVG.EndLink] ends. The address must come from the program itself.
func (s *SVG) Link(address string) { s.printf("<a href=\"%s\">", escape(address)) }

// EndLink ends a link.
func (s *SVG) EndLink() { s.printf("</a>\n") }

// NewFile starts a drawing for a separate file, with a fixed size, a white background, a title and a subtitle.
func NewFile(width, height float64, title, subtitle string) *SVG {
	s := New(width, height, title+": "+subtitle, fmt.Sprintf(
		`width="%g" height="%g" font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" font-size="14" fill="%s"`,
		width, height, Ink))
	s.printf("\n<title>%s</title>", escape(title))
	s.Rect(0, 0, width, height, `fill="#ffffff"`, "")
	s.Text(32, 44, title, `font-size="22" font-weight="600"`)
	s.Text(32, 68, subtitle, `fill="`+Quiet+`"`)
	return s
}

// NewFluid starts a drawing that is as wide as its container and has separately sized parts, see [SVG.Part]. title
// and description are for screen readers; css is the drawing's style sheet, which must come from the program.
func NewFluid(width, height float64, title, description, css string) *SVG {
	s := &SVG{}
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" role="img" aria-labelledby="title desc">`,
		width, height)
	s.printf("\n<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n<style>%s</style>\n", escape(title),
		escape(description), css)
	return s
}

// Part starts a part of a drawing with a separate coordinate system. The part fills its container. [SVG.Close] ends it.
func (s *SVG) Part(width, height float64, attrs string) {
	s.printf("<svg width=\"100%%\" height=\"100%%\" viewBox=\"0 0 %g %g\" preserveAspectRatio=\"xMidYMin meet\"%s>\n", width,
		height, blank(attrs))
}

// Group starts a group, which [SVG.EndGroup] ends; tip is as for [SVG.Rect].
func (s *SVG) Group(attrs, tip string) {
	s.printf("<g%s>", blank(attrs))
	if tip != "" {
		s.printf("<title>%s</title>", escape(tip))
	}
	s.printf("\n")
}

// EndGroup ends a group.
func (s *SVG) EndGroup() { s.printf("</g>\n") }

// Close ends a part.
func (s *SVG) Close() { s.printf("</svg>\n") }

// Append adds the contents of another drawing, which must have been started from the zero SVG.
func (s *SVG) Append(other *SVG) { s.b.WriteString(other.b.String()) }

// Path draws a path; d is in SVG path syntax.
func (s *SVG) Path(d, attrs string) { s.printf("<path d=\"%s\"%s/>\n", d, blank(attrs)) }

func (s *SVG) printf(format string, args ...any) { fmt.Fprintf(&s.b, format, args...) }

// Text writes text that starts at x. With the text-anchor attribute, it can end or be centered there instead.
func (s *SVG) Text(x, y float64, what, attrs string) {
	s.printf("<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n", x, y, blank(attrs), escape(what))
}

// Rect draws a rectangle. tip, if not empty, is shown when the mouse is over it. A negative size is treated as 0.
func (s *SVG) Rect(x, y, width, height float64, attrs, tip string) {
	s.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"%s`, x, y, math.Max(width, 0), math.Max(height, 0),
		blank(attrs))
	s.end("rect", tip)
}

// Circle draws a circle; tip is as for [SVG.Rect].
func (s *SVG) Circle(x, y, r float64, attrs, tip string) {
	s.printf(`<circle cx="%.1f" cy="%.1f" r="%.1f"%s`, x, y, r, blank(attrs))
	s.end("circle", tip)
}

// Line draws a line.
func (s *SVG) Line(x1, y1, x2, y2 float64, attrs string) {
	s.printf("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"%s/>\n", x1, y1, x2, y2, blank(attrs))
}

// String returns the drawing.
func (s *SVG) String() string { return s.b.String() + "</svg>\n" }

func (s *SVG) end(element, tip string) {
	if tip == "" {
		s.printf("/>\n")
		return
	}
	s.printf("><title>%s</title></%s>\n", escape(tip), element)
}

func blank(attrs string) string {
	if attrs == "" {
		return ""
	}
	return " " + attrs
}

func escape(s string) string { return html.EscapeString(text.OneLine(text.Clean(s))) }
