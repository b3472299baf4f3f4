// Package function implements the functions of SPARQL 1.1 (section 17.4) and of Wikidata's dialect.
package function

import (
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/limit"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
)

// Env contains what functions need besides their arguments: the query's limits, the time, a source of randomness, and
// the state that the query keeps between calls.
type Env struct {
	limit.Meter
	now    *value.Moment // nil if there is no clock
	random func() uint64 // nil if there is no randomness
	base   string        // for relative IRIs

	Solution int                      // number of the current solution
	blanks   int                      // number of blank nodes created so far
	byName   map[blankKey]value.Value // blank nodes created by BNODE(text)
	regex    map[string]*regex
}

// NewEnv returns an environment for a query's functions. Without a clock, NOW() is an error. Without randomness,
// RAND(), UUID() and STRUUID() are errors.
func NewEnv(m limit.Meter, now func() time.Time, random func() uint64, base string) Env {
	e := Env{Meter: m, random: random, base: base, regex: map[string]*regex{}}
	if now != nil {
		e.now = value.MomentOf(now())
	}
	return e
}

// blankKey identifies a blank node by its name within a solution.
type blankKey struct {
	text     string
	solution int
}

// NamedBlank returns the blank node with the given name in the current solution.
func (e *Env) NamedBlank(text string) value.Value {
	k := blankKey{text, e.Solution}
	if v, ok := e.byName[k]; ok {
		return v
	}
	if e.byName == nil {
		e.byName = map[blankKey]value.Value{}
	}
	v := e.freshBlank()
	e.byName[k] = v
	_ = e.Alloc(len(text) + 320) // the error is kept in e.Err
	return v
}

func (e *Env) freshBlank() value.Value {
	e.blanks++
	return value.Value{Kind: value.KindBlank, Text: "b" + value.IntDecimal(int64(e.blanks)).String()}
}
