// Package release creates a benchmark from annotated candidates: it exports them in the formats that other programs
// read ([Items]), splits them into a development part and a test part ([Divide]), reruns every gold query to see how
// its answer has drifted ([Verify]), and describes the benchmark ([Card]).
//
// Answers change, because the graph changes every minute. Therefore, a benchmark stores queries, and evaluations run
// them. The result that a query returned when an annotator approved it is stored with the query ([Keep]), to
// distinguish drift from errors.
package release

import (
	"time"

	"github.com/spinachbot/spinachbot/dataset"
)

// Gold is a candidate that annotators kept, with the query and question they agreed on.
type Gold struct {
	Candidate *dataset.Candidate
	Query     string
	Question  string
	Modified  bool      // Query differs from the harvested one
	Validated bool      // more than one annotator agreed
	By        []string  // names of the annotators
	At        time.Time // of the last verdict
}
