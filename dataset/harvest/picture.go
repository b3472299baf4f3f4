package harvest

import (
	"fmt"
	"html"
	"io"
	"maps"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
)

// Reasons lists the reasons for a rejection in the order of the funnel.
func Reasons() []dataset.Reason {
	return []dataset.Reason{dataset.NoQuery, dataset.BotOnly, dataset.BadShortLink, dataset.SyntaxError, dataset.Update, dataset.RefusedHost, dataset.Timeout, dataset.Failed,
		dataset.EndpointDown, dataset.TooLarge, dataset.Empty, dataset.Scholarly}
}

var reasonWords = map[dataset.Reason]string{
	dataset.NoQuery: "no query", dataset.BotOnly: "only our bot posted a query", dataset.BadShortLink: "short link leads to no query", dataset.SyntaxError: "syntax error",
	dataset.Update: "update", dataset.RefusedHost: "service not allowed", dataset.Timeout: "timeout", dataset.Failed: "endpoint gave up", dataset.EndpointDown: "endpoint down",
	dataset.TooLarge: "over 10 MB", dataset.Empty: "no rows", dataset.Scholarly: "scholarly half of the graph",
}

// step is a bar of the funnel.
type step struct {
	name string
	n    int
	lost []dataset.Reason // why discussions of the bar above are missing here
}

func steps(c dataset.Counts) []step {
	return []step{
		{"discussions", c.Discussions, nil},
		{"with a query", c.WithQuery, []dataset.Reason{dataset.NoQuery, dataset.BotOnly, dataset.BadShortLink}},
		{"that may be run", c.Valid, []dataset.Reason{dataset.Update, dataset.SyntaxError, dataset.RefusedHost}},
		{"answered", c.Run, []dataset.Reason{dataset.Timeout, dataset.Failed, dataset.EndpointDown, dataset.SyntaxError, dataset.RefusedHost}},
		{"staged", c.Staged, []dataset.Reason{dataset.TooLarge, dataset.Empty, dataset.Scholarly}},
	}
}

// colors of the picture: bars, the staged ones, lines.
const (
	barColour    = "#9db8d2"
	stagedColour = "#2f6f4f"
	lineColour   = "#d5d9de"
)

// Picture draws the funnel as SVG: a bar for each stage with what was lost on the way, and the years below, staged discussions in green.
func Picture(w io.Writer, f dataset.Funnel) error {
	const width, left, full = 960, 170, 460
	bars := steps(f.Total)
	untold := maps.Clone(f.Total.Rejected) // reasons not told yet
	yearsTop := 96 + len(bars)*58 + 40
	height := yearsTop + 250
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" font-size="14" fill="#1f2933">`+"\n", width, height)
	fmt.Fprintf(&b, `<title>Funnel of the harvest</title><rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="32" y="44" font-size="22" font-weight="600">From discussions to candidates</text>`+"\n")
	fmt.Fprintf(&b, `<text x="32" y="68" fill="#5b6773">%s</text>`+"\n", html.EscapeString(subtitle(f)))
	for i, s := range bars {
		y := 96 + i*58
		length, colour := 0.0, barColour
		if f.Total.Discussions > 0 {
			length = float64(full) * float64(s.n) / float64(f.Total.Discussions)
		}
		if i == len(bars)-1 {
			colour = stagedColour
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-14, y+20, s.name)
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="30" rx="3" fill="%s"/>`, left, y, max(length, 1), colour)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" font-weight="600">%s</text>`+"\n", float64(left)+length+10, y+20, shareText(s.n, f.Total.Discussions))
		if i > 0 {
			fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="12" fill="#8a4b2a">%s</text>`+"\n", left, y-8, html.EscapeString(lost(s, bars[i-1].n, untold)))
		}
	}
	years(&b, f, yearsTop, width)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
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
	return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(of))
}

// lost names what fell out between two bars. A reason that occurs at two bars (a query that the dialect reads and the endpoint refuses) is told at the first as far as that
// one lost discussions, and its rest at the second. What no reason explains waits: for a short link or for the endpoint.
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

// years draws a column for each year.
func years(b *strings.Builder, f dataset.Funnel, top, width int) {
	if len(f.Years) == 0 {
		return
	}
	const height, left, right = 150, 64, 32
	most := 1
	for _, y := range f.Years {
		most = max(most, y.Discussions)
	}
	base := top + 28 + height
	fmt.Fprintf(b, `<text x="32" y="%d" font-weight="600">By year</text>`+"\n", top)
	for i, l := range []struct{ colour, name string }{{"#dfe7ef", "discussions"}, {barColour, "with a query"}, {stagedColour, "staged"}} {
		x := width - right - 330 + i*115
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="12" height="12" rx="2" fill="%s"/><text x="%d" y="%d" font-size="12" fill="#5b6773">%s</text>`+"\n", x, top-11, l.colour, x+18, top, l.name)
	}
	for _, n := range []int{most / 2, most} {
		if n == 0 {
			continue
		}
		y := float64(base) - float64(height)*float64(n)/float64(most)
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="%s"/><text x="%d" y="%.1f" font-size="12" fill="#5b6773" text-anchor="end">%d</text>`+"\n",
			left, width-right, y, y, lineColour, left-8, y+4, n)
	}
	slot := float64(width-left-right) / float64(len(f.Years))
	column := min(slot*0.7, 60)
	for i, y := range f.Years {
		x := float64(left) + slot*(float64(i)+0.5) - column/2
		for _, part := range []struct {
			n      int
			colour string
		}{{y.Discussions, "#dfe7ef"}, {y.WithQuery, barColour}, {y.Staged, stagedColour}} {
			tall := float64(height) * float64(part.n) / float64(most)
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, float64(base)-tall, column, tall, part.colour)
		}
		fmt.Fprintf(b, `<text x="%.1f" y="%d" font-size="12" text-anchor="middle">%d</text><text x="%.1f" y="%d" font-size="12" fill="%s" text-anchor="middle">%d</text>`+"\n",
			x+column/2, base+18, y.Year, x+column/2, base+36, stagedColour, y.Staged)
	}
	fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="#5b6773"/>`+"\n", left, width-right, base, base)
}

// Table writes the funnel as text: a line for each year, and one for all of them.
func Table(w io.Writer, f dataset.Funnel) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s %12s %12s %12s %12s %12s %8s %8s\n", "year", "discussions", "with query", "may be run", "answered", "staged", "pending", "gone")
	line := func(name string, c dataset.Counts) {
		fmt.Fprintf(&b, "%-6s %12d %12d %12d %12d %12d %8d %8d\n", name, c.Discussions, c.WithQuery, c.Valid, c.Run, c.Staged, c.Pending, c.Gone)
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
