package shape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Text formats a shape for models and users, in English:
//
//	city (Q515): 2,000 of 11,214 direct members looked at, measured 2026-11-22
//	members have
//	  country (P17) 100%: sovereign state (Q3624078) 97%
//	  date of foundation (P571) 64% ?: dateTime
//	other things lead to members by
//	  capital (P36) 21% ?: sovereign state (Q3624078) 40%, region (Q82794) 12%
//	left out: 31 properties of members, 12 that lead to them
//
// The percentage is the share of members. The mark after it is the cardinality (see [kg.ShapePredicate.Cardinality]).
// It is followed by the classes and datatypes of the values, or the classes of the resources that point to the members,
// each with its share. out and in limit the number of predicates shown; 0 means all. For a shape from [Measure], the
// first line does not name a class.
func Text(s *kg.Shape, out, in int) string {
	lines := []string{named(s.Class) + ": " + membersText(s)}
	if s.Class.ID == "" {
		lines[0] = strings.ReplaceAll(membersText(s), "direct member", "thing")
	}
	o, moreOut := first(s.Out, out, s.MoreOut)
	i, moreIn := first(s.In, in, s.MoreIn)
	if len(o) > 0 {
		lines = append(lines, "members have")
		for _, p := range o {
			lines = append(lines, "  "+predicateText(&p))
		}
	}
	if len(i) > 0 {
		lines = append(lines, "other things lead to members by")
		for _, p := range i {
			lines = append(lines, "  "+predicateText(&p))
		}
	}
	if len(s.Declared) > 0 {
		lines = append(lines, "the graph names for this class: "+refs(s.Declared, maxDeclaredShown))
	}
	switch {
	case moreOut > 0 && moreIn > 0:
		lines = append(lines, fmt.Sprintf("left out: %s of members, %d that lead to them", properties(moreOut), moreIn))
	case moreOut > 0:
		lines = append(lines, fmt.Sprintf("left out: %s of members", properties(moreOut)))
	case moreIn > 0:
		lines = append(lines, fmt.Sprintf("left out: %s that lead to members", properties(moreIn)))
	}
	return strings.Join(append(lines, s.Notes...), "\n")
}

const maxDeclaredShown = 20

func properties(n int) string {
	if n == 1 {
		return "1 property"
	}
	return text.Thousands(n) + " properties"
}

// first returns the first n predicates (all if n is 0), and the total number omitted.
func first(ps []kg.ShapePredicate, n, more int) ([]kg.ShapePredicate, int) {
	if n <= 0 || n >= len(ps) {
		return ps, more
	}
	return ps[:n], more + len(ps) - n
}

func membersText(s *kg.Shape) string {
	day := ""
	if !s.At.IsZero() {
		day = ", measured " + s.At.UTC().Format("2006-01-02")
	}
	from := ""
	if s.Source == VoID {
		from = ", from the graph's own description (VoID)"
	}
	switch {
	case s.Sample > 0 && s.Members >= 0:
		return fmt.Sprintf("%s of %s direct members looked at", thousands(s.Sample), thousands(s.Members)) + day
	case s.Sample > 0:
		return fmt.Sprintf("%s direct members looked at, how many there are is not known", thousands(s.Sample)) + day
	case s.Members < 0:
		return "the number of direct members is not known" + from + day
	case s.Members == 1:
		return "1 direct member" + from + day
	}
	return thousands(s.Members) + " direct members" + from + day
}

func thousands(n int64) string { return text.Thousands(int(n)) }

func named(p kg.PropertyRef) string {
	if p.Label == "" || p.Label == p.ID {
		return p.ID
	}
	return text.Clip(text.Fold(p.Label), maxLabel) + " (" + p.ID + ")"
}

// maxLabel is the maximum length of a displayed label, in characters.
const maxLabel = 80

func refs(ps []kg.PropertyRef, most int) string {
	var out []string
	for _, p := range ps[:min(len(ps), most)] {
		out = append(out, named(p))
	}
	if n := len(ps) - len(out); n > 0 {
		out = append(out, fmt.Sprintf("%d more", n))
	}
	return strings.Join(out, ", ")
}

func predicateText(p *kg.ShapePredicate) string {
	s := named(p.Property)
	// variants are worth mentioning only if wdt is not one of them
	if len(p.Variants) > 0 && !slices.Contains(p.Variants, "wdt") {
		s += " [" + strings.Join(p.Variants, ", ") + " only]"
	}
	if p.Coverage >= 0 {
		s += " " + percent(p.Coverage)
		if m := p.Cardinality(); m != "" {
			s += " " + m
		}
	}
	var targets []string
	for _, t := range p.Targets {
		targets = append(targets, targetText(t))
	}
	if p.More > 0 {
		targets = append(targets, fmt.Sprintf("%d more", p.More))
	}
	if len(targets) > 0 {
		s += ": " + strings.Join(targets, ", ")
	}
	if len(p.Allowed) > 0 {
		s += "; values should be " + refs(p.Allowed, 3)
	}
	if e := p.Example; e != nil && e.Subject.ID != "" {
		s += "; example: " + named(e.Subject)
		if v := exampleValue(e.Value); v != "" {
			s += " has " + v
		}
	}
	return s
}

func exampleValue(v kg.Value) string {
	if id := rdf.EntityID(v.Term.Value); v.Term.IsIRI() && id != "" {
		return named(kg.PropertyRef{ID: id, Label: v.Label})
	}
	return text.Clip(text.Fold(strings.TrimSuffix(v.Term.Value, "T00:00:00Z")), maxLabel)
}

func targetText(t kg.ShapeTarget) string {
	s := named(t.Class)
	switch t.Class.ID {
	case "":
		s = t.Datatype[strings.LastIndexAny(t.Datatype, "#/")+1:]
	case NoName:
		s = "nodes without a name"
	}
	if t.Share > 0 && t.Share < 0.995 {
		s += " " + percent(t.Share)
	}
	return s
}

// percent formats a share as a percentage. Only shares of exactly 0 and 1 become 0% and 100%.
func percent(share float64) string {
	switch p := share * 100; {
	case p > 0 && p < 1:
		return "<1%"
	case p > 99 && p < 100:
		return ">99%"
	default:
		return fmt.Sprintf("%.0f%%", p)
	}
}

// maxFrequent is the maximum number of predicates that a hint names.
const maxFrequent = 10

// Text formats the hint for models and users, in English, on one line.
func (h Hint) Text() string {
	who := h.Subject
	if who == "" {
		who = "a node of a path"
	}
	classes := refs(h.Classes, 5)
	if h.Kind == UnknownClass {
		s := fmt.Sprintf("%s has the class %s, which has no direct members in this graph.", who, classes)
		if len(h.Known) > 0 {
			s += " It has: " + refs(h.Known, maxDeclaredShown) + "."
		}
		return s
	}
	verb := "has the class"
	if h.Inferred {
		verb = "is a value of " + h.From + ", so it has the class"
	}
	s := fmt.Sprintf("%s %s %s, and %s %s.", who, verb, classes, h.members(), h.Predicate)
	if h.Wide {
		s += " Members of narrower classes were not looked at."
	}
	if h.Points {
		s += " " + h.Predicate + " leads to them instead: turn the direction around."
	}
	if len(h.Frequent) > 0 {
		var names []string
		for _, p := range h.Frequent[:min(len(h.Frequent), maxFrequent)] {
			n := named(p.Property)
			if p.Coverage >= 0 {
				n += " " + percent(p.Coverage)
			}
			names = append(names, n)
		}
		s += " Most frequent: " + strings.Join(names, ", ") + "."
	}
	return s
}

func (h Hint) members() string {
	switch {
	case h.Looked < 0:
		return "no member has"
	case h.Sampled:
		return fmt.Sprintf("0 of %s sampled members have", thousands(h.Looked))
	}
	return fmt.Sprintf("0 of its %s members have", thousands(h.Looked))
}
