package event

// Tree has the parameters of a branching search. A zero field is not used by its policy.
type Tree struct {
	Policy      string  `json:"policy"`
	Samples     int     `json:"samples,omitempty"`     // of the next action, for each expansion
	Judgments   int     `json:"judgments,omitempty"`   // of each new state
	Simulations int     `json:"simulations,omitempty"` // at most
	Depth       int     `json:"depth,omitempty"`       // steps of a branch, at most
	Answers     int     `json:"answers,omitempty"`     // the search ends after this many
	Explore     float64 `json:"explore,omitempty"`     // UCT's weight for rarely visited nodes
	Decay       float64 `json:"decay,omitempty"`       // what a reward loses for each step beyond Expected, 0 to 1
	Expected    int     `json:"expected,omitempty"`    // steps of a branch, as expected
	Seed        uint64  `json:"seed,omitempty"`
	Gold        bool    `json:"gold,omitempty"` // the search ends when an answer is right by gold, whatever Answers is
}

// The reasons why a search ends, besides limits and failures.
const (
	SearchedAnswers     = "answers"     // enough branches ended with an answer
	SearchedSimulations = "simulations" // the maximum number of expansions was made
	SearchedAll         = "all"         // nothing is left to expand
	SearchedRight       = "right"       // an answer is right by gold
)

// Searched reports whether a search ended for one of these reasons, not for a limit or a failure.
func Searched(reason string) bool {
	switch reason {
	case SearchedAnswers, SearchedSimulations, SearchedAll, SearchedRight:
		return true
	}
	return false
}

// The reasons why a branch ends.
const (
	LeafAnswered = "answered" // with a query that has a result
	LeafEmpty    = "empty"    // the work was ended without one
	LeafFailed   = "failed"   // the turn could not be read, or the model or the graph failed
	LeafRepeated = "repeated" // the same state was met before
	LeafDeep     = "deep"     // the branch has no steps left
)

// Group is a group of answers with the same result.
type Group struct {
	Ends   []int   `json:"ends"` // IDs of the events at which the answers were reached
	SPARQL string  `json:"sparql"`
	Rows   int     `json:"rows"`
	Weight float64 `json:"weight"` // votes
	Chosen bool    `json:"chosen,omitempty"`
	Why    string  `json:"why,omitempty"` // why it was or was not chosen
}
