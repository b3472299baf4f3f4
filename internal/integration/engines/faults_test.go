//go:build integration

package engines

import (
	"strings"
)

// fault is something that an engine does otherwise than the standard says, or cannot do.
type fault struct {
	engine  string
	name    string
	query   string // the smallest query that shows it on the built-in data
	message string // part of the engine's message when it refuses; "" when it gives other rows
	reason  string
	covers  func(text string) bool // whether other rows of this query may come from the fault; nil for refusals
}

var faults = []fault{}

// known returns the fault that explains what an engine did with a query, or nil.
func known(engine, text string, err error) *fault {
	for i := range faults {
		f := &faults[i]
		if f.engine != engine {
			continue
		}
		if err != nil && f.message != "" && strings.Contains(err.Error(), f.message) || err == nil && f.message == "" && f.covers(text) {
			return f
		}
	}
	return nil
}
