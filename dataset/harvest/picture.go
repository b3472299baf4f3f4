package harvest

import (
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/chart"
)

// Reasons lists the rejection reasons in funnel order.
func Reasons() []dataset.Reason {
	return []dataset.Reason{dataset.NoQuery, dataset.BotOnly, dataset.BadShortLink, dataset.SyntaxError, dataset.Update,
		dataset.RefusedHost, dataset.Timeout, dataset.Failed,
		dataset.EndpointDown, dataset.TooLarge, dataset.Empty, dataset.Scholarly}
}

var reasonWords = map[dataset.Reason]string{
	dataset.NoQuery: "no query", dataset.BotOnly: "only our bot posted a query",
	dataset.BadShortLink: "short link leads to no query", dataset.SyntaxError: "syntax error",
	dataset.Update: "update", dataset.RefusedHost: "service not allowed", dataset.Timeout: "timeout",
	dataset.Failed: "endpoint gave up", dataset.EndpointDown: "endpoint down",
	dataset.TooLarge: "over 10 MB", dataset.Empty: "no rows", dataset.Scholarly: "scholarly half of the graph",
}

// step is a bar in the funnel chart.
type step struct {
	name string
	n    int
	lost []dataset.Reason // reasons why discussions counted in the previous bar are missing from this one
}

func steps(c dataset.Counts) []step {
	return []step{
		{"discussions", c.Discussions, nil},
		{"with a query", c.WithQuery, []dataset.Reason{dataset.NoQuery, dataset.BotOnly, dataset.BadShortLink}},
		{"that may be run", c.Valid, []dataset.Reason{dataset.Update, dataset.SyntaxError, dataset.RefusedHost}},
		{"answered", c.Run, []dataset.Reason{dataset.Timeout, dataset.Failed, dataset.EndpointDown, dataset.SyntaxError,
			dataset.RefusedHost}},
		{"staged", c.Staged, []dataset.Reason{dataset.TooLarge, dataset.Empty, dataset.Scholarly}},
	}
}

// Picture draws the funnel as SVG: a bar for each stage, with the losses above it, and a chart of the years below.
// Staged discussions are green.
func Picture(w io.Writer, f dataset.Funnel) error {
	const width, left, full = 960, 170, 460
	bars := steps(f.Total)
	untold := maps.Clone(f.Total.Rejected) // reasons not shown yet
	yearsTop := float64(96 + len(bars)*58 + 40)
	svg := chart.NewFile(width, yearsTop+250, "From discussions to candidates", subtitle(f))
	for i, s := range bars {
		y := float64(96 + i*58)
		length, color := 0.0, chart.Blue
		if f.Total.Discussions > 0 {
			length = full * float64(s.n) / float64(f.Total.Discussions)
		}
		if i == len(bars)-1 {
			color = chart.Green
		}
		svg.Text(left-14, y+20, s.name, `text-anchor="end"`)
		svg.Rect(left, y, max(length, 1), 30, `rx="3" fill="`+color+`"`, "")
		svg.Text(left+length+10, y+20, shareText(s.n, f.Total.Discussions), `font-weight="600"`)
		if i > 0 {
			svg.Text(left, y-8, lost(s, bars[i-1].n, untold), `font-size="12" fill="#8a4b2a"`)
		}
	}
	years(svg, f, yearsTop, width)
	_, err := io.WriteString(w, svg.String())
	return err
}

func subtitle(f dataset.Funnel) string {
	s := count(f.Pages.Read, "archive page", "archive pages")
	if n := len(f.Years); n > 0 {
		s += fmt.Sprintf(", %d to %d", f.Years[0].Year, f.Years[n-1].Year)
	}
	if f.Total.Pending > 0 {
		s += "; " + count(f.Total.Pending, "discussion is not finished", "discussions are not finished")
	}
	if f.Total.Gone > 0 {
		s += "; " + count(f.Total.Gone, "is gone from its page", "are gone from their pages")
	}
	return s
}

func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", more)
}

func shareText(n, of int) string {
	if of == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d (%.1f%%)", n, 100*float64(n)/float64(of))
}

// lost describes the losses between two bars. A reason that applies to two bars, such as a query that parses but is
// rejected by the endpoint, is shown at the first bar, up to the number of discussions lost there; the rest is shown at
// the second bar. Discussions without a reason are waiting for a short link or for the endpoint.
func lost(s step, before int, untold map[dataset.Reason]int) string {
	left := before - s.n
	if left == 0 {
		return ""
	}
	text, sep := fmt.Sprintf("− %d", left), ": "
	for _, r := range s.lost {
		n := min(untold[r], left)
		if n <= 0 {
			continue
		}
		untold[r] -= n
		left -= n
		text += fmt.Sprintf("%s%s %d", sep, reasonWords[r], n)
		sep = ", "
	}
	if left > 0 {
		text += fmt.Sprintf("%snot finished %d", sep, left)
	}
	return text
}

func years(svg *chart.SVG, f dataset.Funnel, top, width float64) {
	if len(f.Years) == 0 {
		return
	}
	const height, left, right = 150, 64, 32
	const small, pale = `font-size="12" `, "#dfe7ef"
	const quiet = small + `fill="` + chart.Quiet + `"`
	most := 1
	for _, y := range f.Years {
		most = max(most, y.Discussions)
	}
	base := top + 28 + height
	svg.Text(32, top, "By year", `font-weight="600"`)
	for i, l := range []struct{ color, name string }{{pale, "discussions"}, {chart.Blue, "with a query"},
		{chart.Green, "staged"}} {
		x := width - right - 330 + float64(i*115)
		svg.Rect(x, top-11, 12, 12, `rx="2" fill="`+l.color+`"`, "")
		svg.Text(x+18, top, l.name, quiet)
	}
	for _, n := range []int{most / 2, most} {
		if n == 0 {
			continue
		}
		y := base - height*float64(n)/float64(most)
		svg.Line(left, y, width-right, y, `stroke="`+chart.Grid+`"`)
		svg.Text(left-8, y+4, fmt.Sprint(n), quiet+` text-anchor="end"`)
	}
	slot := (width - left - right) / float64(len(f.Years))
	column := min(slot*0.7, 60)
	for i, y := range f.Years {
		x := left + slot*(float64(i)+0.5) - column/2
		for _, part := range []struct {
			n     int
			color string
		}{{y.Discussions, pale}, {y.WithQuery, chart.Blue}, {y.Staged, chart.Green}} {
			tall := height * float64(part.n) / float64(most)
			svg.Rect(x, base-tall, column, tall, `fill="`+part.color+`"`, "")
		}
		svg.Text(x+column/2, base+18, fmt.Sprint(y.Year), small+`text-anchor="middle"`)
		svg.Text(x+column/2, base+36, fmt.Sprint(y.Staged), small+`fill="`+chart.Green+`" text-anchor="middle"`)
	}
	svg.Line(left, base, width-right, base, `stroke="`+chart.Quiet+`"`)
}

// Table writes the funnel as text: one line per year and a line for all years.
func Table(w io.Writer, f dataset.Funnel) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s %12s %12s %12s %12s %12s %8s %8s\n", "year", "discussions", "with query", "may be run",
		"answered", "staged", "pending", "gone")
	line := func(name string, c dataset.Counts) {
		fmt.Fprintf(&b, "%-6s %12d %12d %12d %12d %12d %8d %8d\n", name, c.Discussions, c.WithQuery, c.Valid, c.Run,
			c.Staged, c.Pending, c.Gone)
	}
	for _, y := range f.Years {
		line(fmt.Sprint(y.Year), y)
	}
	line("all", f.Total)
	none := true
	for _, r := range Reasons() {
		n := f.Total.Rejected[r]
		if n == 0 {
			continue
		}
		if none {
			b.WriteString("\nrejected\n")
			none = false
		}
		fmt.Fprintf(&b, "  %-30s %6d\n", reasonWords[r], n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
