// Package release makes a benchmark of annotated candidates: it exports them in the forms that others read ([Items]),
// splits them into a development and a test part ([Divide]), re-runs every gold query to see how its answer has drifted
// ([Verify]), and describes the whole ([Card]).
//
// Answers live: a gold query asks a graph that changes every minute. So a benchmark stores queries, evaluations run
// them, and what a query returned when a person approved of it is kept with it ([Keep]) to tell drift from error.
package release

import (
	"time"

	"github.com/spinachbot/spinachbot/dataset"
)

// Gold is a candidate that annotators keep, with the query and the question they settled on.
type Gold struct {
	Candidate *dataset.Candidate
	Query     string
	Question  string
	Modified  bool      // Query is not the harvested one
	Validated bool      // more than one person agreed
	By        []string  // names of the annotators
	At        time.Time // of the last verdict
}
