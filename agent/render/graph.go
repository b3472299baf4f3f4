package render

import (
	"github.com/spinachbot/spinachbot/internal/kg"
)

// Lacks describes, for the prompt, what a graph lacks: one item per line, with the date of the measurement. It
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

// First returns the page with only the first n values of each property. If values are omitted, the page states the
// total number. This shortens, for example, a property with 200 languages before a model reads it.
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
