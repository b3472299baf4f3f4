package sparql

import (
	"fmt"
	"strings"
)

// Error is one mistake in a query, with its position. Line and Column start at 1; Column counts characters. Offset
// starts at 0 and counts bytes.
type Error struct {
	Line, Column, Offset int
	Found                string // the offending piece of the text, shortened; "end of query" at the end
	Expected             string // description of what was expected there; may be empty
	Message              string // the mistake in one sentence, without the position
	Hint                 string // what to do about it, for common mistakes; may be empty
	Instead              string // what the token at Offset was probably meant to be, if it is misspelled; may be empty
}

// Error returns the position, the message and the hint on one line.
func (e *Error) Error() string {
	s := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Errors contains all mistakes found in a text, ordered by position. An Errors returned by [Parse] is never empty.
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
