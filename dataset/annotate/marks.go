package annotate

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/check"
)

// Mark is a message about a position in a query. Lines and columns count from 1.
type Mark struct {
	Kind    string `json:"kind"` // error, direction, or the kind of a [check.Problem]
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Marks parses a query and returns the problems found in it. The query is nil if it does not parse.
func Marks(query string) (*sparql.Query, []Mark) {
	marks := []Mark{}
	q, err := sparql.Parse(query)
	var all sparql.Errors
	switch {
	case errors.As(err, &all):
		for _, x := range all {
			marks = append(marks, Mark{"error", x.Line, x.Column, x.Message, x.Hint})
		}
	case err != nil:
		marks = append(marks, Mark{"error", 1, 1, err.Error(), ""})
	default:
		for _, p := range check.Query(q, harvest.AllowedService) {
			marks = append(marks, Mark{p.Kind, p.Line, p.Column, p.Message, p.Hint})
		}
	}
	if err != nil {
		q = nil
	}
	return q, append(marks, directions(query)...)
}

// directions warns about directional formatting characters (Unicode Standard Annex 9, section 2), because they hide the
// actual query from readers. It returns at most one mark per line and ten per query.
func directions(query string) []Mark {
	var out []Mark
	for i, line := range strings.Split(query, "\n") {
		at := strings.IndexFunc(line, func(r rune) bool {
			return r >= 0x202A && r <= 0x202E || r >= 0x2066 &&
				r <= 0x2069
		})
		if at < 0 || len(out) == 10 {
			continue
		}
		r, _ := utf8.DecodeRuneInString(line[at:])
		out = append(out, Mark{"direction", i + 1, utf8.RuneCountInString(line[:at]) + 1,
			fmt.Sprintf("an invisible character (%U) changes the order in which this line is shown", r),
			"delete it and read the line again"})
	}
	return out
}
