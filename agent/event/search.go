package event

// Tree contains the parameters of a tree search. Zero fields are not used by the policy.
type Tree struct {
	Policy      string  `json:"policy"`
	Samples     int     `json:"samples,omitempty"`     // number of next actions sampled per expansion
	Judgments   int     `json:"judgments,omitempty"`   // number of judgments per new state
	Simulations int     `json:"simulations,omitempty"` // maximum number of simulations
	Depth       int     `json:"depth,omitempty"`       // maximum number of steps in a branch
	Answers     int     `json:"answers,omitempty"`     // number of answers after which the search ends
	Explore     float64 `json:"explore,omitempty"`     // UCT's exploration weight
	Decay       float64 `json:"decay,omitempty"`       // fraction of the reward lost for each step beyond Expected
	Expected    int     `json:"expected,omitempty"`    // expected number of steps in a branch
	Seed        uint64  `json:"seed,omitempty"`
	Gold        bool    `json:"gold,omitempty"` // end when an answer matches the gold answer, regardless of Answers
}

// The reasons why a search ends, besides limits and failures.
const (
	SearchedAnswers     = "answers"     // enough branches ended with an answer
	SearchedSimulations = "simulations" // the maximum number of expansions was reached
	SearchedAll         = "all"         // nothing is left to expand
	SearchedRight       = "right"       // an answer matches the gold answer
)

// Searched reports whether reason is one of the reasons why a search ends, rather than a limit or a failure.
func Searched(reason string) bool {
	switch reason {
	case SearchedAnswers, SearchedSimulations, SearchedAll, SearchedRight:
		return true
	}
	return false
}

// The reasons why a branch ends.
const (
	LeafAnswered = "answered" // the branch ended with a query that has a result
	LeafEmpty    = "empty"    // the branch ended without a query that has a result
	LeafFailed   = "failed"   // the turn could not be read, or the model or the graph failed
	LeafRepeated = "repeated" // the same state had been reached before
	LeafDeep     = "deep"     // the branch reached its maximum number of steps
)

// Group is a set of answers with the same result.
type Group struct {
	Ends   []int   `json:"ends"` // IDs of the events at which the answers were reached
	SPARQL string  `json:"sparql"`
	Rows   int     `json:"rows"`
	Weight float64 `json:"weight"` // number of votes
	Chosen bool    `json:"chosen,omitempty"`
	Why    string  `json:"why,omitempty"` // why the group was or was not chosen
}
