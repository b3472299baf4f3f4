package render

import (
	"github.com/spinachbot/spinachbot/internal/kg"
)

// Lacks describes what a graph lacks, for the prompt: one item per line, with the day on which it was measured. It
// returns "" if nothing is known to be missing.
func Lacks(d *kg.Description) string {
	if len(d.Lacks) == 0 {
		return ""
	}
	name := d.Title
	if name == "" {
		name = d.Name
	}
	data := map[string]any{"Graph": name, "Lines": d.Lacks, "Day": ""}
	if !d.MeasuredAt.IsZero() {
		data["Day"] = d.MeasuredAt.UTC().Format("2006-01-02")
	}
	return say("lacks", data)
}

// First returns the page with only the first n values of each property. If some are left out, the page says how many
// there are. This cuts, for example, a property with two hundred languages before a model reads it.
func (p Page) First(n int) Page {
	out := Page{props: make([]pageProp, len(p.props))}
	for i, prop := range p.props {
		if len(prop.values) > n {
			prop.more += len(prop.values) - n
			prop.values = prop.values[:n]
			prop.total = true
		}
		out.props[i] = prop
	}
	return out
}
