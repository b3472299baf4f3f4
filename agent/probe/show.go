package probe

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Shown is a probe in the form shown to the model.
type Shown struct {
	What    string
	Come    int
	Gone    int
	More    bool     // the number of added rows may be higher than Come
	Swap    bool     // the only row would change
	New     []string // the first rows that would be added
	Old     []string
	Classes []string // classes of the rows that would be added: "9 film (Q11424)"
}

// Moved returns the probes that change the result.
func Moved(probes []event.Probe) []event.Probe {
	return slices.DeleteFunc(slices.Clone(probes), func(p event.Probe) bool { return !p.Moved })
}

// Show converts the probes that change the result to their shown form. names contains the labels of the IDs that [IDs]
// returns.
func Show(probes []event.Probe, id func(rdf.Term) string, names render.Names) []Shown {
	labels := names.Labels
	var out []Shown
	for _, p := range Moved(probes) {
		s := Shown{What: labelled(p.What, labels), Come: p.Come, Gone: p.Gone, More: p.More,
			Swap: p.Before == 1 && p.Come == 1 && p.Gone == 1}
		for _, r := range p.NewRows {
			s.New = append(s.New, render.Row(p.Vars, r, names))
		}
		for _, r := range p.OldRows {
			s.Old = append(s.Old, render.Row(p.Vars, r, names))
		}
		for _, c := range p.Classes {
			s.Classes = append(s.Classes, c.N+" "+render.Labelled(id(c.Term), labels[id(c.Term)]))
		}
		out = append(out, s)
	}
	return out
}

// labelled adds labels to the IDs in a text, as in "city (wd:Q515)".
func labelled(what string, labels map[string]string) string {
	words := strings.Split(what, " ")
	for i, w := range words {
		bare := strings.TrimRight(w, ",.")
		_, id, prefixed := strings.Cut(bare, ":")
		if label := cmp.Or(labels[bare], labels[id]); prefixed && label != "" && label != id {
			words[i] = render.Clip(render.Fold(label), 60) + " (" + bare + ")" + w[len(bare):]
		}
	}
	return strings.Join(words, " ")
}

// Open returns the probes whose change is not in the answer: the model saw the change but did not adopt it. same means
// that the answer's query is the query that was probed. has reports whether the answer's result has a row with the
// given values in the columns vars.
func Open(probes []event.Probe, same bool, has func(vars []string, row []rdf.Term) bool) []event.Probe {
	return slices.DeleteFunc(Moved(probes), func(p event.Probe) bool {
		switch {
		case same:
			return false
		case len(p.NewRows) > 0:
			return has(p.Vars, p.NewRows[0])
		case len(p.OldRows) > 0:
			return !has(p.Vars, p.OldRows[0])
		}
		return true
	})
}
