package event

// Features indicate how likely an answer is to be right, based on what is known at the end of the run. They are stored
// in the end event so that a confidence model can be fitted to finished runs. A zero field means that nothing of the
// kind happened or that the preset does not check for it.
type Features struct {
	Preset    string `json:"preset"`              // the preset that found the answer
	Steps     int    `json:"steps"`               // steps in the state that the model requested
	Refusals  int    `json:"refusals,omitempty"`  // actions that were rejected
	Repairs   int    `json:"repairs,omitempty"`   // turns and calls that the model had to correct
	Failures  int    `json:"failures,omitempty"`  // steps in the state that failed
	Empties   int    `json:"empties,omitempty"`   // queries in the state that ran and returned nothing
	Unseen    bool   `json:"unseen,omitempty"`    // the query contains IDs that no observation has shown
	Extracted bool   `json:"extracted,omitempty"` // the query was taken from the run after a limit ended it
	Verdict   string `json:"verdict,omitempty"`   // the judge's verdict on the first answer: done, refine or retry
	Feedbacks int    `json:"feedbacks,omitempty"` // answers that the judge rejected

	Rows    int  `json:"rows"`            // number of rows in the result
	Columns int  `json:"columns"`         // number of columns in the result, excluding labels
	Ask     bool `json:"ask,omitempty"`   // the result is a truth value
	Zero    bool `json:"zero,omitempty"`  // the result is the number 0
	Limit   int  `json:"limit,omitempty"` // the query's LIMIT, or 0 if it has none
	// the result has as many rows as the query's LIMIT, and the question does not name that number
	Cut bool `json:"cut,omitempty"`

	Probes int `json:"probes,omitempty"` // variants of the query that were run before the end
	Moved  int `json:"moved,omitempty"`  // variants that changed the result
	Open   int `json:"open,omitempty"`   // variants counted in Moved whose change is not in the final answer
	// whether the result has the columns that the model announced: kept or broken; "" if it announced none
	Shape string `json:"shape,omitempty"`

	Tries    int  `json:"tries,omitempty"`    // number of independent attempts at the question, in a vote
	Answers  int  `json:"answers,omitempty"`  // attempts with an answer
	Agree    int  `json:"agree,omitempty"`    // attempts with this result
	Compared bool `json:"compared,omitempty"` // a comparison chose between different results
}
