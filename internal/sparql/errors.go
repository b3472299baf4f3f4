package sparql

import (
	"fmt"
	"strings"
)

// Error is one mistake in a query, with its position. Line and Column count from 1 (columns in characters), Offset from
// 0 in bytes.
type Error struct {
	Line, Column, Offset int
	Found                string // the offending piece of the text, shortened; "end of query" at the end
	Expected             string // what was expected there, in words; may be empty
	Message              string // the mistake in one sentence, without the position
	Hint                 string // what to do about it, for common mistakes; may be empty
	Instead              string // what was probably meant by the token at Offset, for a misspelled one; may be empty
}

// Error returns the position, the message and the hint on one line.
func (e *Error) Error() string {
	s := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Errors contains all mistakes found in one text, in order of position. Those that [Parse] returns are never empty.
type Errors []*Error

// Error returns the mistakes, one per line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// First returns the first mistake.
func (es Errors) First() *Error { return es[0] }
