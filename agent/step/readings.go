package step

import (
	"strconv"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Reading is an interpretation of a question, with the result of its query.
type Reading struct {
	SPARQL string
	// number of rows in the answer, or the number that is the answer's only value
	Count int
	More  bool         // the true number may be higher than Count
	Probe *event.Probe // the change to the first interpretation's query; nil for a separate answer
}

// Readings returns the two interpretations that a search could not decide between: the first two options, or an answer
// and the first variant of its query that the model saw but did not use. It returns nil if there are fewer than two
// interpretations, or if their counts are the same.
func (s State) Readings(options []Option) []Reading {
	if len(options) == 0 {
		return nil
	}
	lead := options[0].Answer
	out := []Reading{{SPARQL: lead.SPARQL, Count: count(lead.Answers())}}
	p := s.Probed(lead)
	switch {
	case len(options) > 1:
		a := options[1].Answer
		out = append(out, Reading{SPARQL: a.SPARQL, Count: count(a.Answers())})
	case p == nil || len(p.Open) == 0:
		return nil
	default:
		x := p.Open[0]
		other := Reading{SPARQL: x.SPARQL, Count: x.Before + x.Come - x.Gone, More: x.More, Probe: &x}
		if n, ok := onlyNumber(&kg.Table{Vars: x.Vars, Rows: x.NewRows}); ok && x.Before == 1 {
			other.Count = n
		}
		out = append(out, other)
	}
	if out[0].Count == out[1].Count && !out[1].More || out[1].SPARQL == "" {
		return nil
	}
	return out
}

// count returns a result's only value if it is a number, and otherwise the number of rows.
func count(t *kg.Table) int {
	if n, ok := onlyNumber(t); ok {
		return n
	}
	return len(t.Rows)
}

// onlyNumber returns a result's only value if it is a nonnegative integer.
func onlyNumber(t *kg.Table) (int, bool) {
	if t == nil || len(t.Rows) != 1 || len(t.Rows[0]) != 1 || t.Rows[0][0].Datatype != rdf.XSDInteger {
		return 0, false
	}
	n, err := strconv.Atoi(t.Rows[0][0].Value)
	return n, err == nil && n >= 0
}
