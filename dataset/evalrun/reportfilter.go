package evalrun

import (
	"fmt"
	"slices"
	"strings"
)

// The list of items can be filtered by metric, error class, gold query feature, and number of steps, as on the pages
// for runs in progress. The page has no scripts. Instead, each choice has a CSS class, each item has classes for its
// values, and style rules generated for the page hide items without the selected choice's class.

// pageFilter is a filter above the list. Its first choice is "all", except in the metric filter.
type pageFilter struct {
	Label string
	All   bool // whether there is a choice for all items
	Items []pageChoice
}

// pageChoice is a choice in a filter. Class is the CSS class of its option, such as k-2.
type pageChoice struct{ Class, Text string }

// pageState is the outcome of an item in a run according to one metric.
type pageState struct {
	Class string // CSS class of the metric, such as m-0
	State string
	Word  string
	F1    string
}

// measures returns the report's metrics, starting with the metric by which the report is computed.
func (r *Report) measures() []string {
	out := []string{r.Metric}
	for _, m := range r.Runs[0].Metric {
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// filters returns the filters and the style rules that apply them.
func (r *Report) filters(items []pageRow) (filters []pageFilter, style string) {
	var css strings.Builder
	choices := func(label, kind string, all bool, values []string) {
		if len(values) < 2 && !all || len(values) == 0 {
			return
		}
		f := pageFilter{Label: label, All: all}
		for i, v := range values {
			f.Items = append(f.Items, pageChoice{fmt.Sprintf("%s-%d", kind, i), v})
			if all {
				fmt.Fprintf(&css, ".items:has(.p%[1]s-%[2]d:checked) .item:not(.%[1]s-%[2]d)", kind, i)
				css.WriteString("{display:none}\n")
			}
		}
		filters = append(filters, f)
	}
	measures := r.measures()
	choices("measure", "m", false, measures)
	for i := range measures {
		chosen := ""
		if len(measures) > 1 {
			chosen = fmt.Sprintf(":has(.pm-%d:checked)", i)
			fmt.Fprintf(&css, ".items%s .item .badge:not(.m-%d){display:none}\n", chosen, i)
		}
		for _, state := range append(slices.Clone(States), "differ") {
			fmt.Fprintf(&css, ".items%s:has(.f-%s:checked) .item:not(.m%d-%[2]s){display:none}\n", chosen, state, i)
		}
	}
	var classes, features, steps []string
	for i := range items {
		for _, p := range items[i].Runs {
			classes, features, steps = append(classes, string(p.Class)), append(features, p.features...), append(steps, p.steps)
		}
	}
	known := func(order, have []string) []string {
		return slices.DeleteFunc(slices.Clone(order), func(s string) bool { return !slices.Contains(have, s) })
	}
	var order []string
	for _, c := range Classes {
		order = append(order, string(c))
	}
	classes, steps = known(order, classes), known(stepBins, steps)
	slices.Sort(features)
	features = slices.Compact(features)
	choices("error class", "k", true, classes)
	choices("gold query feature", "q", true, features)
	choices("steps", "s", true, steps)
	for i := range items {
		mark := func(kind string, values []string, v string) {
			if n := slices.Index(values, v); n >= 0 {
				items[i].Marks += fmt.Sprintf(" %s-%d", kind, n)
			}
		}
		for _, p := range items[i].Runs {
			mark("k", classes, string(p.Class))
			mark("s", steps, p.steps)
			for _, f := range p.features {
				mark("q", features, f)
			}
		}
		for n := range measures {
			items[i].Marks += states(n, items[i].Runs)
		}
	}
	return filters, css.String()
}

// states returns the CSS classes for an item's outcomes in all runs, according to the metric with index n.
func states(n int, runs []pageItem) (out string) {
	var seen []string
	for _, p := range runs {
		if s := p.States[n].State; !slices.Contains(seen, s) {
			seen = append(seen, s)
		}
	}
	if len(seen) > 1 {
		seen = append(seen, "differ")
	}
	for _, s := range seen {
		out += fmt.Sprintf(" m%d-%s", n, s)
	}
	return out
}

// statesOf returns an item's outcome according to each metric; the item is nil if the run does not contain it.
func statesOf(it *ItemData, measures []string) (out []pageState) {
	for i, m := range measures {
		p := pageState{Class: fmt.Sprintf("m-%d", i), State: absent, Word: "not asked"}
		if it != nil {
			p.State, p.Word = it.State(m)
			if s, ok := it.Score(m); ok {
				p.F1 = fmt.Sprintf("%.0f", 100*s.F1)
			}
		}
		out = append(out, p)
	}
	return out
}
