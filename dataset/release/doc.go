// Package release makes a benchmark from annotated candidates: it exports them in the forms that other programs read
// ([Items]), splits them into a development and a test part ([Divide]), re-runs every gold query to see how its answer
// has drifted ([Verify]), and describes the whole ([Card]).
//
// Answers change: a gold query asks a graph that changes every minute. So a benchmark stores queries and evaluations
// run them. What a query returned when a person approved it is stored with it ([Keep]) to distinguish drift from
// errors.
package release

import (
	"time"

	"github.com/spinachbot/spinachbot/dataset"
)

// Gold is a candidate that annotators kept, with the query and the question they agreed on.
type Gold struct {
	Candidate *dataset.Candidate
	Query     string
	Question  string
	Modified  bool      // Query is not the harvested one
	Validated bool      // more than one person agreed
	By        []string  // names of the annotators
	At        time.Time // of the last verdict
}
