package shape

import (
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// View is a shape in the JSON format that the program prints. Unknown counts are null.
type View struct {
	Class    Ref         `json:"class"`
	Members  *int64      `json:"members"`
	Sample   int64       `json:"sample"` // number of members examined; all if 0
	Source   string      `json:"source"` // void, endpoint or sample
	At       *time.Time  `json:"at"`
	Out      []Predicate `json:"out"`
	In       []Predicate `json:"in"`
	MoreOut  int         `json:"more_out"` // number of predicates omitted
	MoreIn   int         `json:"more_in"`
	Declared []Ref       `json:"declared,omitempty"`
	Notes    []string    `json:"notes,omitempty"`
}

// Ref is an entity and its label.
type Ref struct {
	ID    string `json:"id"`
	Label string `json:"label,omitempty"`
}

// Predicate is a predicate in a [View].
type Predicate struct {
	Ref
	Variants    []string  `json:"variants,omitempty"` // wdt, p
	Coverage    *float64  `json:"coverage"`           // share of members that have it, 0 to 1
	Mean        *float64  `json:"mean"`               // mean number of values per member that has any
	Cardinality string    `json:"cardinality"`        // "", ?, + or *
	Targets     []Target  `json:"targets"`
	More        int       `json:"more"` // number of targets omitted
	Allowed     []Ref     `json:"allowed,omitempty"`
	Example     *exampled `json:"example,omitempty"`
}

// Target is a class or datatype of a predicate's values.
type Target struct {
	ID       string  `json:"id,omitempty"` // ID of the class; "[]" for unnamed nodes
	Label    string  `json:"label,omitempty"`
	Datatype string  `json:"datatype,omitempty"` // datatype of literals
	Share    float64 `json:"share"`
}

type exampled struct {
	Subject Ref    `json:"subject"`
	Value   string `json:"value"`
	Label   string `json:"label,omitempty"`
}

// NewView returns a view of a shape.
func NewView(s *kg.Shape) View {
	v := View{Class: Ref(s.Class), Members: known(s.Members), Sample: s.Sample, Source: s.Source,
		Out: predicateViews(s.Out),
		In:  predicateViews(s.In), MoreOut: s.MoreOut, MoreIn: s.MoreIn, Declared: refViews(s.Declared), Notes: s.Notes}
	if !s.At.IsZero() {
		v.At = &s.At
	}
	return v
}

// known returns a pointer to n, or nil if n is negative (unknown).
func known[N int64 | float64](n N) *N {
	if n < 0 {
		return nil
	}
	return &n
}

func refViews(refs []kg.PropertyRef) (out []Ref) {
	for _, r := range refs {
		out = append(out, Ref(r))
	}
	return out
}

func predicateViews(ps []kg.ShapePredicate) []Predicate {
	out := []Predicate{}
	for _, p := range ps {
		v := Predicate{Ref: Ref(p.Property), Variants: p.Variants, Coverage: known(p.Coverage), Targets: []Target{},
			More:    p.More,
			Allowed: refViews(p.Allowed)}
		if v.Coverage != nil {
			v.Mean, v.Cardinality = known(p.Mean), p.Cardinality()
		}
		for _, t := range p.Targets {
			v.Targets = append(v.Targets, Target{t.Class.ID, t.Class.Label, t.Datatype, t.Share})
		}
		if e := p.Example; e != nil {
			v.Example = &exampled{Ref(e.Subject), e.Value.Term.Value, e.Value.Label}
		}
		out = append(out, v)
	}
	return out
}
