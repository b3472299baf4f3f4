package annotate

import (
	"cmp"
	"slices"
	"time"
)

// Assignment maps each candidate's ID to the names of the annotators who should judge it.
type Assignment map[string][]string

// Assign assigns every unresolved candidate to overlap annotators. Annotators who have already judged a candidate are
// considered assigned to it. Annotators keep the candidates they already have. Other candidates go to the annotators
// who have the fewest, so that all have about the same number. Candidates assigned to annotators who are no longer in
// people are reassigned.
func Assign(cases []Case, have Assignment, people []string, overlap int) Assignment {
	out := Assignment{}
	load := map[string]int{}
	for i := range cases {
		id := cases[i].Candidate.ID
		var names []string
		for _, w := range cases[i].Decided() {
			names = append(names, w.Annotator)
		}
		for _, n := range have[id] {
			if slices.Contains(people, n) && !slices.Contains(names, n) && len(names) < overlap {
				names = append(names, n)
			}
		}
		for _, n := range names {
			load[n]++
		}
		if len(names) > 0 {
			out[id] = names
		}
	}
	for i := range cases {
		if cases[i].State() == Resolved {
			continue
		}
		id := cases[i].Candidate.ID
		for len(out[id]) < overlap {
			best := ""
			for _, n := range people {
				if !slices.Contains(out[id], n) && (best == "" || load[n] < load[best]) {
					best = n
				}
			}
			if best == "" {
				break // fewer annotators than overlap
			}
			out[id] = append(out[id], best)
			load[best]++
		}
	}
	return out
}

// Pace is an annotator's progress.
type Pace struct {
	Name     string
	Assigned int
	Done     int     // assigned candidates that the annotator has finished
	Week     int     // candidates judged in the last seven days, assigned or not
	PerDay   float64 // candidates per day in that week
	Days     int     // days required for the remaining candidates at this pace; -1 if unknown
}

const paceTime = 7 * 24 * time.Hour

// Paces returns the progress of every annotator who has candidates or has recently judged any.
func Paces(cases []Case, a Assignment, events []Event, now time.Time) []Pace {
	by := map[string]*Pace{}
	of := func(name string) *Pace {
		if by[name] == nil {
			by[name] = &Pace{Name: name}
		}
		return by[name]
	}
	for i := range cases {
		for _, n := range a[cases[i].Candidate.ID] {
			p := of(n)
			p.Assigned++
			if own := cases[i].Of(n); own != nil && own.HasVerdict() || cases[i].State() == Resolved {
				p.Done++
			}
		}
	}
	type judged struct{ who, candidate string }
	seen := map[judged]bool{}
	for _, e := range events {
		key := judged{e.Who, e.Work.Candidate}
		if e.Kind != Judged || e.Work.Annotator == Resolution || !e.Work.HasVerdict() || seen[key] ||
			now.Sub(e.At) > paceTime {
			continue
		}
		seen[key] = true
		of(e.Who).Week++
	}
	var out []Pace
	for _, p := range by {
		p.PerDay = float64(p.Week) / 7
		left := p.Assigned - p.Done
		switch {
		case left == 0:
			p.Days = 0
		case p.Week == 0:
			p.Days = -1
		default:
			p.Days = (left*7 + p.Week - 1) / p.Week
		}
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Pace) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Shared is the number of candidates assigned to both annotators in a pair.
type Shared struct {
	A, B string
	N    int
}

// Overlaps counts the candidates assigned to both annotators in each pair.
func (a Assignment) Overlaps() []Shared {
	n := map[[2]string]int{}
	for _, names := range a {
		for i, x := range names {
			for _, y := range names[i+1:] {
				n[[2]string{min(x, y), max(x, y)}]++
			}
		}
	}
	out := make([]Shared, 0, len(n))
	for pair, count := range n {
		out = append(out, Shared{pair[0], pair[1], count})
	}
	slices.SortFunc(out, func(a, b Shared) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	return out
}

// Left returns the number of assigned candidates not yet judged.
func (p Pace) Left() int { return p.Assigned - p.Done }
